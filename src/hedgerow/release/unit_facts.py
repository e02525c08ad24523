"""What a release with linked units says of them: how many households are alike, with all their members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.anonymization.solving import solve
from hedgerow.anonymization.withholding import Settled
from hedgerow.errors import NoSolution
from hedgerow.measures.loss import ntil
from hedgerow.microdata import Microdata
from hedgerow.microdata.households import kinds_of_households, released_households, sizes_of_households
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy.requirement import tally_of
from hedgerow.types import IntArray

NOT_LINKED = "ntil_not_linked"


def with_price_of_link(settled: Settled, threads: int | None) -> Settled:
    """Add to the facts what the same records lose if they are grouped one by one: the rest is the price of the link."""
    if settled.plan.unit is None:
        return settled
    alone = replace(settled.microdata, households=None)
    plan = settled.plan.model_copy(update={"unit": None, "withhold": None})
    apart = _one_by_one(alone, plan, threads)
    price = {NOT_LINKED: None if apart is None else round(float(ntil(alone, apart)), 12)}
    return replace(settled, solution=replace(settled.solution, details={**settled.solution.details, "units": price}))


def _one_by_one(microdata: Microdata, plan: Plan, threads: int | None) -> Recoding | None:
    """Group records of which none need be withheld; None if some must be all the same."""
    try:
        found = solve(microdata, plan, threads).recoding
    except NoSolution:
        return None
    return found if (found.group_of >= 0).all() else None


def unit_facts(microdata: Microdata, recoding: Recoding, price: Mapping[str, Any]) -> dict[str, Any]:
    """Count the units of a release, by their size and by how many are published alike.

    Returns
    -------
    dict
        ``units``; ``records_of_units``, units by their records; ``groups`` of units that are published alike, with
        ``smallest_group``, ``largest_group`` and ``group_sizes``; ``disclosures``, by sensitive column, the pairs of
        such a group and a published member of it of whom one value is all that occurs: whoever knows the whole unit
        knows that value then; and ``price``: ``ntil_not_linked``, what the same records would lose if they were not
        linked, None if not all of them could be released then.
    """
    part, group_of = released_households(microdata, recoding.group_of)
    households = part.households
    assert households is not None
    kind_of = kinds_of_households(households, group_of)
    sizes = np.bincount(kind_of) if len(kind_of) else np.zeros(0, np.int64)
    member_of = kind_of[households.of] * max(recoding.groups, 1) + group_of
    _, number = np.unique(member_of, return_inverse=True)
    number = number.reshape(-1)
    members = int(number.max(initial=-1)) + 1
    return {
        "units": households.count,
        "records_of_units": _counted(sizes_of_households(households)),
        "groups": len(sizes),
        "smallest_group": int(sizes.min(initial=households.count)),
        "largest_group": int(sizes.max(initial=0)),
        "group_sizes": _counted(sizes),
        "disclosures": {
            column.name: int((tally_of(part, position, number, members).distinct == 1).sum())
            for position, column in enumerate(part.sensitive)
        },
        **price,
    }


def _counted(sizes: IntArray) -> dict[str, int]:
    values, counts = np.unique(sizes, return_counts=True)
    return {str(size): int(count) for size, count in zip(values, counts, strict=True)}
