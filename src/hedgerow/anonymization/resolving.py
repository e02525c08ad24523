"""From what the owner asks to what a table makes of it: the one place where a plan is filled in from data."""

from __future__ import annotations

from decimal import Decimal

from hedgerow.measures.association import associate
from hedgerow.microdata import Microdata, Table, TreeColumn, encode_table
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy.numbers import simplest


def resolve(table: Table, plan: Plan, in_order: bool = False, strict: bool = True) -> tuple[Microdata, Plan]:
    """Encode a table, and return with it the plan as it is meant for this table; a release publishes that plan.

    What the method does not use is left out, weights that come from the data are in their place, hierarchies have
    everything filled in that was found out from the data, and so has the format of the file.
    """
    plan = plan.settled()
    microdata = encode_table(table, plan, in_order, strict)
    if plan.weights == "association":
        plan = _weighted(plan, microdata)
        microdata = encode_table(table, plan, in_order, strict)  # as the published plan does: order depends on weights
    return microdata, _filled(plan, table, microdata)


def _weighted(plan: Plan, microdata: Microdata) -> Plan:
    """Put the weights that association gives in their place."""
    found = {name: simplest(Decimal(str(weight))) for name, weight in associate(microdata, plan).by_name().items()}
    attributes = {
        name: attribute.model_copy(update={"weight": found[name]}) if name in found else attribute
        for name, attribute in plan.attributes.items()
    }
    return plan.model_copy(update={"attributes": attributes, "weights": None})


def _filled(plan: Plan, table: Table, microdata: Microdata) -> Plan:
    """Fill in what was found out from the data, so that the plan needs nothing else."""
    attributes = dict(plan.attributes)
    for column in microdata.columns:
        if isinstance(column, TreeColumn):
            attributes[column.name] = attributes[column.name].model_copy(update={"hierarchy": column.spec})
    for sensitive in microdata.sensitive:
        attributes[sensitive.name] = attributes[sensitive.name].model_copy(update={"hierarchy": sensitive.spec})
    return plan.model_copy(update={"attributes": attributes, "data": table.format})
