"""From a solution to a release: facts, rows and a plan that needs no other file."""

from __future__ import annotations

from hedgerow.engines.base import Engine
from hedgerow.engines.local import LocalEngine
from hedgerow.microdata import Microdata, Table, TreeColumn
from hedgerow.plan import Plan
from hedgerow.release import Release
from hedgerow.reports.facts import private_facts, release_facts
from hedgerow.withholding import Settled


def make_release(table: Table, settled: Settled, engine: Engine | None = None) -> Release:
    """Put what is settled into rows, plan and facts; what comes out is not verified yet."""
    engine = engine or LocalEngine()
    microdata, solution = settled.microdata, settled.solution
    plan = self_contained(settled.plan, table, microdata)
    return Release(
        engine.apply(plan, table, settled.whole, microdata, solution.recoding),
        plan,
        release_facts(plan, table, microdata, solution),
        engine.library,
        private_facts(plan, settled.whole, solution),
    )


def self_contained(plan: Plan, table: Table, microdata: Microdata) -> Plan:
    """Return the plan with everything filled in that was found out from the data."""
    attributes = dict(plan.attributes)
    for column in microdata.columns:
        if isinstance(column, TreeColumn):
            attributes[column.name] = attributes[column.name].model_copy(update={"hierarchy": column.spec})
    for sensitive in microdata.sensitive:
        attributes[sensitive.name] = attributes[sensitive.name].model_copy(update={"hierarchy": sensitive.spec})
    return plan.model_copy(update={"attributes": attributes, "data": table.format})
