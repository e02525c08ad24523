"""What each limit saves, as facts: how much its column may lose with it. And, for the owner, whom it costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.clustering import find_cells
from hedgerow.anonymization.explanation import find_causes, most_loss, most_shares
from hedgerow.microdata import Microdata
from hedgerow.microdata.columns import without_limit
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement


def limits_by_attribute(microdata: Microdata, plan: Plan, recoding: Recoding) -> dict[str, dict[str, Any]]:
    """Say, for every column with a limit that the release keeps, what the limit is, and what it saves.

    Returns
    -------
    dict
        By column, in the plan's order: ``limit`` in words; ``may_lose``, the greatest share of the column that a
        release can lose which keeps the limit and withholds the same records, None where single cells may be
        suppressed.
    """
    if not plan.keeps_limits:
        return {}
    released = _released_by_profile(microdata, recoding)
    found = {}
    for position, column in enumerate(microdata.columns):
        limit = plan.attributes[column.name].limit
        if limit is not None:
            kept = float((most_shares(column)[microdata.codes(position)] * released).sum())
            gone = microdata.records - int(released.sum())
            found[column.name] = {
                "limit": limit.describe(),
                "may_lose": None if plan.method.suppress else round((kept + gone) / microdata.records, 12),
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


def bound_of_loss(microdata: Microdata, plan: Plan, recoding: Recoding) -> float | None:
    """Return the greatest loss (NTIL) of a release that keeps the limits and withholds the same records.

    None where single cells may be suppressed: a limit does not bound what such a cell loses.
    """
    if plan.method.suppress:
        return None
    if not plan.keeps_limits:
        microdata = microdata.with_columns(tuple(map(without_limit, microdata.columns)))
    return most_loss(microdata, microdata.counts - _released_by_profile(microdata, recoding))


def _released_by_profile(microdata: Microdata, recoding: Recoding) -> npt.NDArray[np.int64]:
    in_group = recoding.group_of >= 0
    return np.bincount(microdata.profile_of_unit[in_group], minlength=len(microdata.profiles))
