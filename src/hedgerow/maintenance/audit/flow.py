"""Which old rows may be which new rows: overlap of boxes, components, and rows that can be placed elsewhere.

Somebody who holds two versions can only take an old row for a new row of the same sensitive value whose published
region meets the old one. How many rows of a new group are forced to be old ones is a maximum flow. It is found from the
true placement, which the publisher knows: only the rows in the group in question have to find another place, along
augmenting paths (Ford and Fulkerson 1956). Boxes are compared in blocks of neighbours, and blocks only where something
of their part of the space is in reach: limits keep most regions apart. The boxes of two versions are never compared all
with all unless they all meet.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import IntArray

BLOCK = 128
TOGETHER = 16
FAR = 1 << 60
COORDINATE = np.int32  # boxes are told apart by ranks

Coordinates = npt.NDArray[np.signedinteger[Any]]


class RegionBoxes:
    """Boxes that can be asked which of them meet a given box; both ends belong to a box.

    Parameters
    ----------
    lo, hi
        One row per box, one column per dimension.

    Examples
    --------
    >>> boxes = RegionBoxes(np.array([[0], [4], [8]]), np.array([[3], [6], [9]]))
    >>> boxes.meeting(np.array([3]), np.array([5])).tolist()
    [0, 1]
    """

    def __init__(self, lo: IntArray, hi: IntArray) -> None:
        part = parts_apart(lo, hi)
        self._order, self._start, self._first_block = _blocks(lo + hi, part)
        self._lo, self._hi = (ends[self._order].T.astype(COORDINATE) for ends in (lo, hi))
        self._block_lo, self._block_hi = _hulls(self._lo, self._hi, self._start)
        self._part_lo, self._part_hi = _hulls(self._block_lo, self._block_hi, self._first_block)
        self._block = np.repeat(np.arange(len(self._start) - 1), np.diff(self._start))
        self._left = np.ones(len(lo), bool)
        self._left_in = np.diff(self._start)
        self._place = np.empty(len(lo), np.int64)
        self._place[self._order] = np.arange(len(lo))

    def meeting(self, lo: IntArray, hi: IntArray) -> IntArray:
        """Return the boxes that meet one box, ascending."""
        lo, hi = lo.astype(COORDINATE), hi.astype(COORDINATE)
        blocks = _within(self._first_block, np.flatnonzero(_meet(self._part_lo, self._part_hi, lo, hi)))
        blocks = blocks[_meet(self._block_lo[:, blocks], self._block_hi[:, blocks], lo, hi)]
        at = _within(self._start, blocks)
        return np.sort(self._order[at[_meet(self._lo[:, at], self._hi[:, at], lo, hi)]])

    def take(self, lo: IntArray, hi: IntArray) -> IntArray:
        """Return the boxes that meet any of several boxes and have not been taken before; they are taken now."""
        taken = []
        lo, hi = lo.astype(COORDINATE), hi.astype(COORDINATE)
        order = np.argsort(self._first_part(lo, hi), kind="stable") if len(lo) > TOGETHER else np.arange(len(lo))
        for first in range(0, len(lo), TOGETHER):
            some = order[first : first + TOGETHER]
            some_lo, some_hi = lo[some], hi[some]
            least, most = some_lo.min(axis=0), some_hi.max(axis=0)
            blocks = _within(self._first_block, np.flatnonzero(_meet(self._part_lo, self._part_hi, least, most)))
            blocks = blocks[self._left_in[blocks] > 0]
            blocks = blocks[_meet(self._block_lo[:, blocks], self._block_hi[:, blocks], least, most)]
            blocks = blocks[_meet_any(self._block_lo[:, blocks], self._block_hi[:, blocks], some_lo, some_hi)]
            at = _within(self._start, blocks)
            at = at[self._left[at]]
            at = at[_meet(self._lo[:, at], self._hi[:, at], least, most)]
            if len(at):
                at = at[_meet_any(self._lo[:, at], self._hi[:, at], some_lo, some_hi)]
                self._left[at] = False
                np.subtract.at(self._left_in, self._block[at], 1)
                taken.append(self._order[at])
        return np.sort(np.concatenate(taken)) if taken else np.zeros(0, np.int64)

    def take_one(self, box: int) -> bool:
        """Take a box by its number; false if it was taken before."""
        at = self._place[box]
        was_left = bool(self._left[at])
        self._left[at] = False
        self._left_in[self._block[at]] -= was_left
        return was_left

    def _first_part(self, lo: Coordinates, hi: Coordinates) -> IntArray:
        """The first part of the space that each of several boxes reaches."""
        found = np.full(len(lo), len(self._first_block), np.int64)
        for part in reversed(range(len(self._first_block) - 1)):
            found[_meet(lo.T, hi.T, self._part_lo[:, part], self._part_hi[:, part])] = part
        return found


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


def _blocks(centres: IntArray, part_of: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Order boxes so that neighbours stand together, in blocks halved along the longest side, part by part.

    Returns the order, where blocks begin in it, and the first block of every part.
    """
    by_part = np.argsort(part_of, kind="stable")
    done: list[IntArray] = []
    firsts = [0]
    for whole in np.split(by_part, np.flatnonzero(np.diff(part_of[by_part])) + 1) if len(by_part) else []:
        waiting = [whole]
        while waiting:
            some = waiting.pop()
            spread = np.ptp(centres[some], axis=0) if centres.shape[1] else np.zeros(1, np.int64)
            side = int(spread.argmax())
            if len(some) <= BLOCK or not spread[side]:
                done.append(some)
                continue
            by_side = some[np.argsort(centres[some, side], kind="stable")]
            waiting += [by_side[: len(some) // 2], by_side[len(some) // 2 :]]
        firsts.append(len(done))
    start = np.cumsum([0, *map(len, done)]).astype(np.int64)
    return np.concatenate(done) if done else by_part, start, np.array(firsts, np.int64)


def _hulls(lo: Coordinates, hi: Coordinates, start: IntArray) -> tuple[Coordinates, Coordinates]:
    """What runs of boxes (columns) lie in."""
    if len(start) < 2:
        return lo[:, :0], hi[:, :0]
    return np.minimum.reduceat(lo, start[:-1], axis=1), np.maximum.reduceat(hi, start[:-1], axis=1)


def _within(start: IntArray, runs: IntArray) -> IntArray:
    """Positions in some runs, of which each begins where ``start`` says, one after the other."""
    if len(runs) == len(start) - 1:
        return np.arange(int(start[-1]))
    length = start[runs + 1] - start[runs]
    before = np.cumsum(length) - length
    found: IntArray = np.arange(int(length.sum())) + np.repeat(start[runs] - before, length)
    return found


def _meet(lo: Coordinates, hi: Coordinates, other_lo: Coordinates, other_hi: Coordinates) -> npt.NDArray[np.bool_]:
    """Which boxes (columns) meet one other box."""
    meets: npt.NDArray[np.bool_] = np.logical_and.reduce((lo <= other_hi[:, None]) & (hi >= other_lo[:, None]), axis=0)
    return meets


def _meet_any(
    lo: Coordinates, hi: Coordinates, others_lo: Coordinates, others_hi: Coordinates
) -> npt.NDArray[np.bool_]:
    """Which boxes (columns) meet any of several other boxes (rows)."""
    meets = np.ones((len(others_lo), lo.shape[1]), bool)
    for j in range(len(lo)):
        meets &= (lo[j] <= others_hi[:, j, None]) & (hi[j] >= others_lo[:, j, None])
    found: npt.NDArray[np.bool_] = np.logical_or.reduce(meets, axis=0)
    return found


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
    sides = (RegionBoxes(old_lo, old_hi), RegionBoxes(new_lo, new_hi))
    lo, hi = (old_lo, new_lo), (old_hi, new_hi)
    component = (np.full(len(old_lo), -1, np.int64), np.full(len(new_lo), -1, np.int64))
    number = 0
    for side, seeds in enumerate((old_seeds, new_seeds)):
        for seed in seeds.tolist():
            if component[side][seed] >= 0:
                continue
            sides[side].take_one(seed)
            component[side][seed] = number
            waiting = [(side, np.array([seed]))]
            while waiting:
                at, boxes = waiting.pop()
                found = sides[1 - at].take(lo[at][boxes], hi[at][boxes])
                if len(found):
                    component[1 - at][found] = number
                    waiting.append((1 - at, found))
            number += 1
    return component


class Placement:
    """Old rows of one sensitive value, each placed in a new group, and where else they could be placed.

    Parameters
    ----------
    old_lo, old_hi, rows
        Boxes of the old groups, and how many rows of the value each has.
    new_lo, new_hi, room
        The same for the new groups.
    link_old, link_new, link_rows
        The placement known to be true: rows of an old group that are in a new group. The boxes of the two must meet.

    Attributes
    ----------
    complete
        Whether every old row has a place, that is, whether all old rows can be among the new ones.
    slack
        For every new group the rows that hold no old row.

    Examples
    --------
    One old group with two rows; three new ones with room for two, one, one, the last of which is out of reach.

    >>> new = np.array([[0], [3], [9]])
    >>> links = np.array([0]), np.array([0]), np.array([2])
    >>> placement = Placement(
    ...     np.array([[0]]), np.array([[5]]), np.array([2]), new, new + 2, np.array([2, 1, 1]), *links
    ... )
    >>> placement.complete, placement.out_of(0)
    (True, 1)
    """

    def __init__(
        self,
        old_lo: IntArray,
        old_hi: IntArray,
        rows: IntArray,
        new_lo: IntArray,
        new_hi: IntArray,
        room: IntArray,
        link_old: IntArray,
        link_new: IntArray,
        link_rows: IntArray,
    ) -> None:
        self._old_lo, self._old_hi = old_lo, old_hi
        self._new = RegionBoxes(new_lo, new_hi)
        self._meeting: dict[int, IntArray] = {}
        self._held: list[dict[int, int]] = [{} for _ in room]
        for old, new, count in zip(link_old.tolist(), link_new.tolist(), link_rows.tolist(), strict=True):
            self._held[new][old] = count
        placed_old = np.bincount(link_old, link_rows, len(rows)).astype(np.int64)
        placed_new = np.bincount(link_new, link_rows, len(room)).astype(np.int64)
        self.slack = room - placed_new
        self._moves: list[tuple[int, int, int]] = []
        self._hops = self._hops_to_slack(new_lo, new_hi, link_old, link_new)
        homeless = {old: count for old, count in enumerate((rows - placed_old).tolist()) if count}
        self.complete = self._place(dict(homeless), closed=-1) == sum(homeless.values())

    def out_of(self, new: int) -> int:
        """Return how many of the old rows placed in a new group can be placed in others, all at once."""
        self._moves = []
        found = self._place(dict(self._held[new]), closed=new)
        for old, group, step in reversed(self._moves):
            self._move(old, group, -step)
        return found

    def _place(self, homeless: dict[int, int], closed: int) -> int:
        """Find places for old rows outside a closed group; returns for how many."""
        placed = 0
        room = int(self.slack.sum()) - (int(self.slack[closed]) if closed >= 0 else 0)
        while placed < room:
            path = self._path([old for old, count in homeless.items() if count], closed)
            if not path:
                break
            for old, new, step in path:
                self._move(old, new, step)
                self._moves.append((old, new, step))
            homeless[path[-1][0]] -= 1
            placed += 1
        return placed

    def _path(self, sources: list[int], closed: int) -> list[tuple[int, int, int]]:
        """Find a place for one old row, others moving on to make room; returns the moves, those of the source last."""
        waiting = [(int(self._hops[old]), old) for old in sources if self._hops[old] < FAR]
        heapq.heapify(waiting)
        pushed_by: dict[int, tuple[int, int]] = {old: (-1, -1) for _, old in waiting}
        tried = np.zeros(len(self._held), bool)
        if closed >= 0:
            tried[closed] = True
        while waiting:
            _, old = heapq.heappop(waiting)
            reach = self._reach(old)
            reach = reach[~tried[reach]]
            free = reach[self.slack[reach] > 0]
            if len(free):
                return self._moves_along(pushed_by, old, int(free[0]))
            tried[reach] = True
            for new in reach.tolist():
                for holder in self._held[new]:
                    if holder not in pushed_by and self._hops[holder] < FAR:
                        pushed_by[holder] = (old, new)
                        heapq.heappush(waiting, (int(self._hops[holder]), holder))
        return []

    @staticmethod
    def _moves_along(pushed_by: dict[int, tuple[int, int]], old: int, new: int) -> list[tuple[int, int, int]]:
        moves = [(old, new, 1)]
        pusher, left = pushed_by[old]
        while pusher >= 0:
            moves += [(old, left, -1), (pusher, left, 1)]
            old = pusher
            pusher, left = pushed_by[old]
        return moves

    def _move(self, old: int, new: int, step: int) -> None:
        held = self._held[new]
        held[old] = held.get(old, 0) + step
        if not held[old]:
            del held[old]
        self.slack[new] -= step

    def _reach(self, old: int) -> IntArray:
        """New groups that meet an old one."""
        if old not in self._meeting:
            self._meeting[old] = self._new.meeting(self._old_lo[old], self._old_hi[old])
        return self._meeting[old]

    def _hops_to_slack(self, new_lo: IntArray, new_hi: IntArray, link_old: IntArray, link_new: IntArray) -> IntArray:
        """How many rows have to move until a row of each old group has another place; FAR if none ever has.

        It directs the search and stays true where it says FAR: paths never leave the groups that reach slack, so
        moving rows along them opens no way for the others.
        """
        hops = np.full(len(self._old_lo), FAR, np.int64)
        old = RegionBoxes(self._old_lo, self._old_hi)
        seen = self.slack > 0
        frontier, hop = np.flatnonzero(seen), 1
        while len(frontier):
            hops[old.take(new_lo[frontier], new_hi[frontier])] = hop
            frontier = np.unique(link_new[hops[link_old] == hop])
            frontier = frontier[~seen[frontier]]
            seen[frontier] = True
            hop += 1
        return hops
