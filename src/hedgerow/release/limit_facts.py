"""What each limit saves, as facts: how much its column may lose with it. And, for the owner, whom it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.anonymization.clustering import find_cells
from hedgerow.anonymization.explanation import find_causes, most_shares
from hedgerow.microdata import Microdata, QuasiIdentifier
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray


def limits_by_attribute(
    columns: Sequence[QuasiIdentifier], plan: Plan, released: Sequence[IntArray], records: int
) -> dict[str, dict[str, Any]]:
    """Say, for every column with a limit that the release keeps, what the limit is, and what it saves.

    Parameters
    ----------
    columns, plan
        The quasi-identifiers, and what was asked.
    released
        Released records by code, by column.
    records
        How many there are, with those that are withheld.

    Returns
    -------
    dict
        By column, in the plan's order: ``limit`` in words; ``may_lose``, the greatest share of the column that a
        release can lose which keeps the limit and withholds the same records, None where single cells may be
        suppressed.
    """
    if not plan.keeps_limits:
        return {}
    found = {}
    for column, by_code in zip(columns, released, strict=True):
        limit = plan.attributes[column.name].limit
        if limit is not None:
            kept = float((most_shares(column) * by_code).sum())
            gone = records - int(by_code.sum())
            found[column.name] = {
                "limit": limit.describe(),
                "may_lose": None if plan.method.suppress else round((kept + gone) / records, 12),
            }
    return found


def withheld_by_limits(whole: Microdata, plan: Plan) -> dict[str, dict[str, Any]]:
    """Say what each limit costs, which depends on those who are withheld because of it: for the owner alone.

    Returns
    -------
    dict
        By column: ``withholds``, how many records fewer would have to be withheld without its limit; ``alone``, how
        many would have to be if it were the only one.
    """
    if not plan.keeps_limits:
        return {}
    withheld = find_cells(whole, Requirement.of_plan(plan, whole)).withheld
    causes = find_causes(whole, plan, withheld)
    return {cause.attribute: {"withholds": cause.saves, "alone": cause.alone} for cause in causes}
