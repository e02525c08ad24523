"""Samarati's binary search on height, with the necessary conditions for p (Truta and Vinay 2006, Algorithms 1–3).

Two departures from the printed Algorithm 3, both needed for a right answer: Condition 2 skips the node at hand, not the
rest of its level; and since records of failing groups may be withheld, a node is skipped only if it has more groups
than Condition 2 allows *plus* those that the budget could empty. The search assumes that a height has a feasible node
whenever a lower one has. That holds where the models survive growth or nothing may be withheld; otherwise every height
is looked at, from the lowest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.anonymization.lattice.checker import group_profiles, make_checker, rises
from hedgerow.anonymization.lattice.space import Node, Space
from hedgerow.privacy import Requirement, max_groups, max_p


@dataclass(frozen=True)
class LowestNodes:
    """What the search came to.

    Attributes
    ----------
    node
        A feasible node of least height, or None.
    nodes, checked, skipped
        Nodes in the lattice, nodes checked, and nodes that Condition 2 ruled out.
    """

    node: Node | None
    nodes: int
    checked: int
    skipped: int


def samarati(space: Space, requirement: Requirement, budget: int = 0) -> LowestNodes:
    """Find one feasible node of least height; of several the one with the lowest levels from the first column on."""
    checker = make_checker(space, requirement, "loss")
    most_groups = _most_groups(space, requirement, budget)
    by_height: dict[int, list[Node]] = {}
    for node in np.ndindex(*space.shape):
        by_height.setdefault(sum(node), []).append(node)
    checked = skipped = 0
    view = checker.base()

    def first_at(height: int) -> Node | None:
        nonlocal checked, skipped
        for node in by_height[height]:
            if most_groups is not None and group_profiles(space, node)[1] > most_groups:
                skipped += 1
                continue
            checked += 1
            if checker.check(view, node).withheld <= budget:
                return node
        return None

    low, high = 0, max(by_height)
    if most_groups == -1:
        return LowestNodes(None, space.nodes, 0, 0)
    if not rises(requirement, budget):
        for height in range(high + 1):
            lowest = first_at(height)
            if lowest is not None:
                return LowestNodes(lowest, space.nodes, checked, skipped)
        return LowestNodes(None, space.nodes, checked, skipped)
    best = None
    while low <= high:
        middle = (low + high) // 2
        here = first_at(middle)
        if here is None:
            low = middle + 1
        else:
            best, high = here, middle - 1
    return LowestNodes(best, space.nodes, checked, skipped)


def _most_groups(space: Space, requirement: Requirement, budget: int) -> int | None:
    """Groups that a feasible node can have at most; None if nothing follows, −1 if no node is feasible."""
    microdata = space.microdata
    wanted = requirement.distinct_wanted(len(microdata.sensitive)).tolist()
    p = max(wanted, default=0)
    records = len(microdata.record_of)
    if p <= 1 or budget >= records:
        return None
    counts = [column.counts for column, asked in zip(microdata.sensitive, wanted, strict=True) if asked == p]
    if p > max_p(counts):
        return -1  # Condition 1
    return max_groups(counts, records, p) + budget
