"""What is asked of sensitive columns and what columns are, changed as a person says on a screen. No screen here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.plan import Plan
from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.plan.model import EVERY
from hedgerow.studio.views import ColumnView


def with_demand(
    privacy: Mapping[str, Any], sensitive: Sequence[str], column: str, model: str, value: Any
) -> dict[str, Any]:
    """Ask something of one sensitive column, or no longer (None); what was asked of all is asked of each.

    Examples
    --------
    >>> with_demand({"k": 5}, ["illness", "pay"], "pay", "p", 3)
    {'k': 5, 'p': {'pay': 3}}
    >>> with_demand({"k": 5, "p": {"*": 3}}, ["illness", "pay"], "pay", "p", None)
    {'k': 5, 'p': {'illness': 3}}
    """
    asked = privacy.get(model) or {}
    every = asked.get(EVERY)
    by_column = {name: asked.get(name, every) for name in sensitive} | {column: value}
    kept = {name: demand for name, demand in by_column.items() if demand is not None}
    same = len(kept) == len(by_column) and len({str(demand) for demand in kept.values()}) == 1
    found = {**privacy, model: ({EVERY: value} if same else kept) or None}
    return {name: part for name, part in found.items() if part is not None}


def with_role(plan: Plan, columns: Sequence[ColumnView], role: str, values: int | None = None) -> dict[str, Any]:
    """Give columns a role; returns the keys of the plan that change.

    A quasi-identifier gets the hierarchy that was proposed for it. With ``values`` every group must have so many
    different values of each of the columns, which are sensitive then. What was asked of columns that are so no longer
    goes.
    """
    raw = plan.to_dict()
    attributes = dict(raw["attributes"])
    for column in columns:
        if attributes.get(column.name, {}).get("role") != role:
            attributes[column.name] = {"role": role, **(_coarsened(column) if role == column.role else {})}
    sensitive = [name for name, part in attributes.items() if part["role"] == "sensitive"]
    privacy = dict(raw["privacy"])
    for model in PRIVACY_MODELS.names:
        left = {name: asked for name, asked in (privacy.get(model) or {}).items() if name in {EVERY, *sensitive}}
        if not sensitive or not left:
            privacy.pop(model, None)
        else:
            privacy[model] = left
    if role == "sensitive":
        before = plan.columns("sensitive")
        for column in columns:
            known = [name for name in sensitive if name in before or name == column.name]
            privacy = with_demand(privacy, known, column.name, "p", values)
            before = (*before, column.name)
    return {"attributes": attributes, "privacy": privacy}


def _coarsened(column: ColumnView) -> dict[str, Any]:
    """Return how a column is proposed to be coarsened."""
    if column.role != "quasi-identifier":
        return {}
    rule = {"hierarchy": column.rule} if column.rule else {}
    return {**rule, **({"unknown": column.unknown} if column.unknown else {})}
