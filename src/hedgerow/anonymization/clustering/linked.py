"""Groups of whole households: every household is one unit, with the values of all its members, and one of k.

A clustering of any kind groups the households of one size. A member of each household in a group is then published
as one: the first of all, the second of all, and so on. Which member is the first is told by values alone
(:mod:`hedgerow.microdata.households`); where only k is asked, members are matched anew inside every group as long as
that loses less: one household after the other, with two of its members swapped where the others' values fit better.
This is ours: no paper has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.anonymization.clustering.cells import Cells, find_cells, has_width, number_cells, of_members
from hedgerow.anonymization.clustering.costs import Costs, Objective, cost_tables
from hedgerow.anonymization.clustering.numbering import dense, recoding_of
from hedgerow.microdata import Microdata
from hedgerow.microdata.households import Wide, widen
from hedgerow.microdata.recoding import Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray, Steps

PASSES = 2
"""How often each household is matched anew with the others of its group."""
MOST_IN_TURN = 50
"""Households of one group that are matched anew; all further ones stay as they are."""


@dataclass(frozen=True)
class Linked:
    """A clustering of households.

    Attributes
    ----------
    requirement
        What must hold of every group, of the members that are published as one.
    make
        Makes the clustering of units that each stand for a household.
    objective
        What is to be least.
    ignore_limits
        Whether to group as if there were no limits.
    """

    requirement: Requirement
    make: Callable[[Microdata, Requirement], Any]
    objective: Objective
    ignore_limits: bool = False

    def __call__(self, microdata: Microdata, progress: Steps | None = None, cells: Cells | None = None) -> Recoding:
        """Form groups; a group of the result are the members of several households that are published as one."""
        cells = cells or find_cells(microdata, self.requirement, self.ignore_limits)
        cluster_of = np.full(len(microdata.record_of), -1, np.int64)
        clusters = done = 0
        asked = False
        for wide in widen(microdata, self.ignore_limits):
            clustering = self.make(wide.microdata, of_members(self.requirement, wide))
            told = None if progress is None else _part(progress, done, wide.members.size, len(cluster_of))
            found = clustering(wide.microdata, cells=_cells_of(wide, cells), progress=told)
            asked = asked or found.proven is not None
            inside = found.group_of >= 0
            members = wide.members[inside]
            if not self.requirement.models and not self._has_widths(microdata):
                members = match(microdata, members, found.group_of[inside], self.objective, self.ignore_limits)
            cluster_of[members] = clusters + found.group_of[inside][:, None] * wide.size + np.arange(wide.size)
            clusters += found.groups * wide.size
            done += wide.members.size
        recoding = recoding_of(microdata, cluster_of)
        if not asked:
            return recoding
        proven = np.zeros(recoding.groups, bool)  # who is matched with whom is not proven to be the best
        return Recoding(recoding.group_of, recoding.lo, recoding.hi, recoding.node, None, proven)

    def _has_widths(self, microdata: Microdata) -> bool:
        return not self.ignore_limits and any(has_width(column) for column in microdata.columns)


def _part(progress: Steps, done: int, records: int, whole: int) -> Steps:
    """Count the work on some of the records as a part of the whole."""
    return lambda steps, total: progress(done + records * steps // max(total, 1), whole)


def _cells_of(wide: Wide, cells: Cells) -> Cells:
    """Take cells of records for the households that lie in them."""
    numbers, cell_of = dense(cells.cell_of[wide.members[:, 0]])
    records = np.bincount(cell_of, minlength=len(numbers))
    return Cells(cell_of, cells.people[numbers], records, cells.failing[numbers], cells.proven)


def match(
    microdata: Microdata, members: IntArray, group_of: IntArray, objective: Objective, ignore_limits: bool
) -> IntArray:
    """Match the members of households anew, so that groups lose less; nobody leaves their limits.

    ``members`` has a household in every row and those who are published as one in every column.
    """
    households, size = members.shape
    if size == 1 or not households:
        return members
    order = np.argsort(group_of, kind="stable")
    members, group = members[order].copy(), np.unique(group_of[order], return_inverse=True)[1].reshape(-1)
    starts = np.searchsorted(group, np.arange(group[-1] + 1))
    turn_of = np.arange(households) - starts[group]
    codes = microdata.profiles[microdata.profile_of_unit].astype(np.int64)
    limits = number_cells(microdata, ignore_limits)
    costs = cost_tables(microdata, objective)
    for _ in range(PASSES):
        moved = False
        for turn in range(min(int(turn_of.max()) + 1, MOST_IN_TURN)):
            rows = np.flatnonzero(turn_of == turn)
            those = members[rows]
            if len(rows) < group[-1] + 1:  # some groups have no household for this turn
                lo, hi = (box[group[rows]] for box in _others(codes[members], starts, turn_of == turn))
            else:
                lo, hi = _others(codes[members], starts, turn_of == turn)
            better = _assigned(_prices(costs, lo, hi, codes[those]), limits[those], those)
            moved = moved or bool((better != those).any())
            members[rows] = better
        if not moved:
            break
    found = np.empty_like(members)
    found[order] = members
    return found


def _others(
    codes: IntArray, starts: IntArray, left_out: np.ndarray[Any, np.dtype[np.bool_]]
) -> tuple[IntArray, IntArray]:
    """Return the least and greatest codes of every group, for each who are published as one, but for one household."""
    far = np.int64(1) << 40
    lo = np.minimum.reduceat(np.where(left_out[:, None, None], far, codes), starts)
    hi = np.maximum.reduceat(np.where(left_out[:, None, None], -1, codes), starts)
    return lo, hi


def _prices(costs: Costs, lo: IntArray, hi: IntArray, codes: IntArray) -> IntArray:
    """Return what a group costs at each place (columns), with each member of the household (last) in it."""
    groups, size, _ = codes.shape
    prices = np.empty((groups, size, size), np.int64)
    for member in range(size):
        for place in range(size):
            low, high = np.minimum(lo[:, place], codes[:, member]), np.maximum(hi[:, place], codes[:, member])
            prices[:, place, member] = costs.of_boxes(*costs.ends(low, high))
    return prices


def _assigned(prices: IntArray, limits: IntArray, members: IntArray) -> IntArray:
    """Swap members between places of the same limits as long as that costs less."""
    groups, size = members.shape
    who = np.broadcast_to(np.arange(size), (groups, size)).copy()
    at = np.arange(groups)
    for _ in range(size):
        swapped = False
        for one, other in _pairs(size):
            here, there = who[:, one], who[:, other]
            now = prices[at, one, here] + prices[at, other, there]
            then = prices[at, one, there] + prices[at, other, here]
            better = (then < now) & (limits[at, here] == limits[at, there])
            if better.any():
                who[better, one], who[better, other] = there[better], here[better]
                swapped = True
        if not swapped:
            break
    return np.take_along_axis(members, who, axis=1)


def _pairs(size: int) -> Iterator[tuple[int, int]]:
    return ((one, other) for one in range(size) for other in range(one + 1, size))
