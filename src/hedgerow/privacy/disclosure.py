"""Attribute disclosures: groups that share one sensitive value, so that it is known of every member.

How far a group is from that: the share of the value that most of its records have.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.microdata import Microdata
from hedgerow.privacy.requirement import tally_of
from hedgerow.types import IntArray

LISTED = 1000
"""Most disclosures that are listed one by one; all are counted."""


def attribute_disclosures(microdata: Microdata, group_of: IntArray, groups: int) -> dict[str, Any]:
    """Count the pairs of a group and a sensitive column that has one value in it, and list the first of them.

    Groups are numbered from 0 in the order in which they stand in the release; pairs are in the order of groups, then
    of the names of columns.
    """
    listed: list[tuple[int, str]] = []
    by_attribute = {}
    for position, column in enumerate(microdata.sensitive):
        single = np.flatnonzero(tally_of(microdata, position, group_of, groups).distinct == 1)
        by_attribute[column.name] = len(single)
        listed += [(int(group), column.name) for group in single]
    return {"count": len(listed), "by_attribute": by_attribute, "listed": sorted(listed)[:LISTED]}


def largest_shares(microdata: Microdata, group_of: IntArray, groups: int) -> dict[str, float]:
    """Return, for every sensitive column, the greatest share that one value has in any group; missing is no value.

    Whoever knows a person's group is right so often if they guess its most frequent value.
    """
    found = {}
    for position, column in enumerate(microdata.sensitive):
        tally = tally_of(microdata, position, group_of, groups)
        found[column.name] = round(float((tally.count / tally.total[tally.group]).max(initial=0)), 12)
    return found
