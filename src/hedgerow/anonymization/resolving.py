"""From what the owner asks to what a table makes of it: the one place where a plan is filled in from data."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from hedgerow.errors import PlanError
from hedgerow.measures.association import associate
from hedgerow.microdata import Microdata, Table, TreeColumn, encode_table
from hedgerow.microdata.columns import KeptEnds
from hedgerow.plan import Plan
from hedgerow.plan.check_levels import known_height, too_few, too_high
from hedgerow.plan.hierarchy.numbers import simplest
from hedgerow.plan.model import Point


def resolve(
    table: Table,
    plan: Plan,
    in_order: bool = False,
    strict: bool = True,
    ends: Mapping[str, KeptEnds] | None = None,
) -> tuple[Microdata, Plan]:
    """Encode a table, and return with it the plan as it is meant for this table; a release publishes that plan.

    What the method does not use is left out, weights that come from the data are in their place, hierarchies have
    everything filled in that was found out from the data, and so has the format of the file. ``ends`` are intervals
    that must be possible in columns of numbers, as :func:`~hedgerow.microdata.encode_table` takes them.
    """
    plan = with_points(plan, table).settled()
    microdata = encode_table(table, plan, in_order, strict, ends)
    if strict:
        refuse_levels(plan, microdata)
    if plan.weights == "association":
        plan = _weighted(plan, microdata)
        # Encoded again as the published plan does it: the order depends on weights.
        microdata = encode_table(table, plan, in_order, strict, ends)
    return microdata, filled(plan, table, microdata)


def with_points(plan: Plan, table: Table) -> Plan:
    """Return the plan with the points of treatments that were found in a table."""
    if not table.treatments:
        return plan
    attributes = {
        name: attribute.model_copy(update={"treat": table.treatments[name]}) if name in table.treatments else attribute
        for name, attribute in plan.attributes.items()
    }
    return plan.model_copy(update={"attributes": attributes})


def with_kept_points(plan: Plan, table: Table) -> Plan:
    """Return the plan with points that were found in a table as plain numbers, which later records do not move."""
    attributes = dict(plan.attributes)
    for name, treat in table.treatments.items():
        ends = {"top": treat.top, "bottom": treat.bottom}
        kept = {end: Point(at=point.at) for end, point in ends.items() if point is not None}
        attributes[name] = attributes[name].model_copy(update={"treat": treat.model_copy(update=kept)})
    return plan.model_copy(update={"attributes": attributes}).settled() if table.treatments else plan


def refuse_levels(plan: Plan, microdata: Microdata) -> None:
    """Refuse levels, and worths of levels, that do not fit hierarchies whose height only the data tells."""
    problems = []
    for column in microdata.columns:
        if not isinstance(column, TreeColumn) or known_height(plan.attributes[column.name]) is not None:
            continue
        height = column.hierarchy.height
        level = (plan.method.levels or {}).get(column.name, 0)
        if level > height:
            problems.append(too_high(column.name, level, height))
        worths = (plan.research_value.levels or {}).get(column.name)
        if worths is not None and len(worths) != height + 1:
            problems.append(too_few(column.name, len(worths), height))
    if problems:
        raise PlanError(problems)


def _weighted(plan: Plan, microdata: Microdata) -> Plan:
    """Put the weights that association gives in their place."""
    found = {name: simplest(Decimal(str(weight))) for name, weight in associate(microdata, plan).by_name().items()}
    attributes = {
        name: attribute.model_copy(update={"weight": found[name]}) if name in found else attribute
        for name, attribute in plan.attributes.items()
    }
    return plan.model_copy(update={"attributes": attributes, "weights": None})


def filled(plan: Plan, table: Table, microdata: Microdata) -> Plan:
    """Fill in what was found out from the data, so that the plan needs nothing else."""
    attributes = dict(plan.attributes)
    for column in microdata.columns:
        if isinstance(column, TreeColumn):
            attributes[column.name] = attributes[column.name].model_copy(update={"hierarchy": column.spec})
    for sensitive in microdata.sensitive:
        attributes[sensitive.name] = attributes[sensitive.name].model_copy(update={"hierarchy": sensitive.spec})
    for name, note in table.notes.items():
        if note.title and name in plan.released_columns and attributes[name].title is None:
            attributes[name] = attributes[name].model_copy(update={"title": note.title})
    changes: dict[str, Any] = {"attributes": attributes, "data": table.format}
    if microdata.population is not None:  # its file is for the owner alone
        changes["population"] = microdata.population.asked.model_copy(update={"file": None})
    return plan.model_copy(update=changes)
