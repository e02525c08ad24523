"""Which old rows may be which new rows: regions that meet, components of them, and rows that can be placed elsewhere.

Somebody who holds two versions can only take an old row for a new row of the same sensitive value whose published
region meets the old one. How many rows of a new group are forced to be old ones is a maximum flow, found from the true
placement, which the publisher knows. The kernels (``regions.py``) serve the audit alone; here is laid out what they
take. Limits keep most regions apart, so boxes stand in an order that goes through one part of the space after another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.anonymization import kernels
from hedgerow.anonymization.kernels.codes import HELD, MOVES
from hedgerow.anonymization.kernels.tuples.regions import HoldingDesk, Holdings, Hulls
from hedgerow.types import IntArray

FANOUT = 8  # as in the kernel
BITS = 62  # of a place along the order within a part
AT_ONCE = 256  # groups looked at by one call of the kernel, so that Ctrl-C works
MOVES_AT_FIRST = 1 << 14


def components_of(
    old_lo: IntArray, old_hi: IntArray, new_lo: IntArray, new_hi: IntArray, old_seeds: IntArray, new_seeds: IntArray
) -> tuple[IntArray, IntArray]:
    """Number the components of the graph of old and new boxes that meet, as far as they hold a seed.

    Returns
    -------
    tuple
        Component of every old and of every new box; −1 in components without a seed, which are not walked.

    Examples
    --------
    >>> old, new = np.array([[0], [4], [8]]), np.array([[2], [7]])
    >>> parts = components_of(old, old + 2, new, new + 2, np.array([0]), np.array([], int))
    >>> [part.tolist() for part in parts]
    [[0, 0, -1], [0, -1]]
    """
    orders, sides, seeds = [], [], []
    for lo, hi, of_side in ((old_lo, old_hi, old_seeds), (new_lo, new_hi, new_seeds)):
        order = in_order(lo, hi)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        orders.append(order)
        sides.append(hulls_of(lo, hi, order, order, np.array([0, len(order)])))
        seeds.append(place[of_side])
    found = [np.full(len(order), -1, np.int64) for order in orders]
    total = len(orders[0]) + len(orders[1])
    queue, meeting = np.zeros(total + 1, np.int64), np.zeros(max(map(len, orders)) + 1, np.int64)
    kernels.load("regions").connect(*sides, *seeds, *found, queue, meeting)
    parts = []
    for order, part in zip(orders, found, strict=True):
        whole = np.empty(len(order), np.int64)
        whole[order] = part
        parts.append(whole)
    return parts[0], parts[1]


@dataclass(frozen=True, eq=False)
class RowsInCells:
    """Rows of two versions in cells, a cell being the rows of one value in one group, and how they may belong together.

    Attributes
    ----------
    old_lo, old_hi, new_lo, new_hi
        Boxes of the groups.
    old_group, old_value, old_rows
        Group, value and rows of every old cell, sorted by group and value.
    new_group, new_value, new_rows
        The same of the new cells.
    link_old, link_new, link_rows
        The placement that is known to be true: rows of an old cell that are in a new cell. The boxes of the two meet.
    """

    old_lo: IntArray
    old_hi: IntArray
    old_group: IntArray
    old_value: IntArray
    old_rows: IntArray
    new_lo: IntArray
    new_hi: IntArray
    new_group: IntArray
    new_value: IntArray
    new_rows: IntArray
    link_old: IntArray
    link_new: IntArray
    link_rows: IntArray

    def hidden(self, groups: IntArray, codes: IntArray, k: int, p: tuple[int, ...]) -> tuple[IntArray, IntArray] | None:
        """Return among how many rows of new groups that need not be old ones somebody can hide, and of how many values.

        Parameters
        ----------
        groups
            The groups.
        codes
            Values (rows) by column as numbers, −1 if missing.
        k, p
            How many rows, and values of every column, are enough: more are not counted.

        Returns
        -------
        tuple or None
            Rows of every group, and values by column (columns). None if the old rows cannot all be among the new ones.

        Examples
        --------
        One old group with two rows; three new ones with room for two, one, one, the last of which is out of reach.

        >>> new, one = np.array([[0], [3], [9]]), np.zeros(1, np.int64)
        >>> cells = np.arange(3), np.zeros(3, np.int64), np.array([2, 1, 1])
        >>> rows = RowsInCells(
        ...     np.array([[0]]), np.array([[5]]), one, one, one + 2, new, new + 2, *cells, one, one, one + 2
        ... )
        >>> rows.hidden(np.arange(3), np.zeros((1, 0), np.int64), 5, ())[0].tolist()
        [1, 1, 1]
        """
        values = max(int(side.max(initial=-1)) for side in (self.old_value, self.new_value)) + 1
        hulls, rows, desk = self._hulls(values), self._holdings(), self._desk()
        kernel = kernels.load("regions")
        lost = self.old_rows - np.bincount(self.link_old, self.link_rows, len(self.old_rows)).astype(np.int64)
        homeless = np.flatnonzero(lost)
        many, value = lost[homeless], self.old_value[homeless]
        while (ended := kernel.settle(hulls, rows, desk, homeless, many, value)) < 0:
            rows, desk = _with_room(rows, desk)
        if not ended:
            return None
        rows, desk = _with_room(rows, desk)
        start = np.searchsorted(self.new_group, np.arange(len(self.new_lo) + 1)).astype(np.int64)
        width = int(codes.max(initial=-1)) + 1
        by_column = np.ascontiguousarray(codes.T, np.int64).reshape(codes.shape[1], len(codes))
        stamps = np.zeros((codes.shape[1], max(width, 1)), np.int64)
        wanted = np.array(p, np.int64)
        least, distinct = np.zeros(len(groups), np.int64), np.zeros((len(groups), len(p)), np.int64)
        groups, at = np.ascontiguousarray(groups, np.int64), 0
        while at < len(groups):
            last = min(at + AT_ONCE, len(groups))
            at = kernel.hide(hulls, rows, desk, groups, start, by_column, stamps, k, wanted, at, last, least, distinct)
            if at < last:
                stamps[:] = 0
                rows, desk = _with_room(rows, desk)
        return least, distinct

    def _hulls(self, values: int) -> Hulls:
        """Boxes of the new cells, value by value."""
        place = np.empty(len(self.new_lo), np.int64)
        place[in_order(self.new_lo, self.new_hi)] = np.arange(len(place))
        order = np.lexsort((place[self.new_group], self.new_value))
        first = np.searchsorted(self.new_value[order], np.arange(values + 1)).astype(np.int64)
        return hulls_of(self.new_lo, self.new_hi, self.new_group[order], order, first)

    def _holdings(self) -> Holdings:
        cells, links = len(self.new_group), len(self.link_old)
        order = np.argsort(self.link_new, kind="stable")
        at = self.link_new[order]
        head, follow = np.full(cells, -1, np.int64), np.arange(1, links + 1)
        first = np.flatnonzero(np.append(True, at[1:] != at[:-1])) if links else np.zeros(0, np.int64)
        head[at[first]] = first
        follow[np.append(first[1:] - 1, links - 1) if links else first] = -1
        free = self.new_rows - np.bincount(self.link_new, self.link_rows, cells).astype(np.int64)
        return Holdings(
            _small(self.old_lo), _small(self.old_hi), _whole(self.old_group), _whole(self.new_group),
            _whole(self.new_value), free, head, _longer(follow), _longer(self.link_old[order]),
            _longer(self.link_rows[order]), np.array([links, 0, 0]),
        )  # fmt: skip

    def _desk(self) -> HoldingDesk:
        old, new = len(self.old_group), len(self.new_group)
        none = (np.zeros(size, np.int64) for size in (old, new, old, new, old + 1, new + 1))
        return HoldingDesk(np.zeros(old, bool), *none, *(np.zeros(MOVES_AT_FIRST, np.int64) for _ in range(3)))


def _with_room(rows: Holdings, desk: HoldingDesk) -> tuple[Holdings, HoldingDesk]:
    """Make room for twice as many moves; those that were made before are for good."""
    size = 2 * len(desk.move_old)
    rows.used[MOVES] = 0
    held, room = int(rows.used[HELD]), int(rows.used[HELD]) + size
    follow, holder, counted = (_longer(part[:held], room) for part in (rows.follow, rows.holder, rows.rows))
    old, new, step = (np.zeros(size, np.int64) for _ in range(3))
    return (
        rows._replace(follow=follow, holder=holder, rows=counted),
        desk._replace(move_old=old, move_new=new, move_step=step),
    )


def _longer(numbers: IntArray, size: int = 0) -> IntArray:
    """The same numbers with room behind them."""
    found = np.zeros(size or len(numbers) + MOVES_AT_FIRST, np.int64)
    found[: len(numbers)] = numbers
    return found


def _whole(numbers: IntArray) -> IntArray:
    return np.ascontiguousarray(numbers, np.int64)


def _small(ends: IntArray) -> np.ndarray:
    return np.ascontiguousarray(ends, np.int32)


# -- boxes -------------------------------------------------------------------------------------------------


def hulls_of(lo: IntArray, hi: IntArray, box: IntArray, item: IntArray, first: IntArray) -> Hulls:
    """Lay boxes out in runs, given which box stands at every position and where each run begins, with their hulls."""
    sizes, levels = np.diff(first), 1
    while FANOUT**levels < int(sizes.max(initial=0)):
        levels += 1
    nodes = np.stack([-(-sizes // FANOUT ** (above + 1)) for above in range(levels)], axis=1)
    level = (np.cumsum(nodes) - nodes.reshape(-1)).reshape(nodes.shape).astype(np.int64)
    total = int(nodes.sum())
    ends = [np.zeros((total, lo.shape[1]), np.int32) for _ in range(2)]
    found = Hulls(
        _small(lo), _small(hi), _whole(box), _whole(item), _whole(first), level, ends[0], ends[1],
        np.zeros(total, np.int64),
    )  # fmt: skip
    kernels.load("regions").enclose(found)
    return found


def in_order(lo: IntArray, hi: IntArray) -> IntArray:
    """Order boxes so that neighbours stand together: part by part, along a curve through all columns (Morton 1966).

    Examples
    --------
    >>> in_order(np.array([[9], [0], [5], [1]]), np.array([[9], [2], [6], [3]])).tolist()
    [1, 3, 2, 0]
    """
    boxes, columns = lo.shape
    if not boxes or not columns:
        return np.arange(boxes)
    bits = min(BITS // columns, 16)
    place = np.zeros(boxes, np.int64)
    ranks = []
    for column in range(columns):
        _, rank, count = np.unique(lo[:, column] + hi[:, column], return_inverse=True, return_counts=True)
        ranks.append(((np.cumsum(count) - count) * (1 << bits) // boxes)[rank.reshape(-1)])
    for bit in reversed(range(bits)):
        for rank in ranks:
            place = (place << 1) | (rank >> bit & 1)
    order: IntArray = np.lexsort((place, parts_apart(lo, hi)))
    return order


def parts_apart(lo: IntArray, hi: IntArray) -> IntArray:
    """Number the parts of the space that boxes lie in: boxes of two parts never meet.

    Examples
    --------
    >>> parts_apart(np.array([[0, 0], [2, 0], [5, 0], [6, 4]]), np.array([[3, 1], [4, 1], [7, 1], [9, 5]])).tolist()
    [0, 0, 1, 2]
    """
    number = np.zeros(len(lo), np.int64)
    for column in range(lo.shape[1] if len(lo) else 0):
        order = np.argsort(lo[:, column], kind="stable")
        reach = np.maximum.accumulate(hi[order, column])
        part = np.zeros(len(lo), np.int64)
        part[order[1:]] = np.cumsum(lo[order[1:], column] > reach[:-1])
        number = np.unique(number * (int(part.max()) + 1) + part, return_inverse=True)[1].reshape(-1)
    return number
