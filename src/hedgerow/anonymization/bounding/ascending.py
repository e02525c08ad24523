"""Raising the bound of a piece: rounds of listing all boxes that matter, and of looking for better prices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.bounding.pieces import Piece
from hedgerow.anonymization.kernels.codes import BREATH, DONE, FULL
from hedgerow.anonymization.kernels.tuples.bounding import BoxDesk, BoxSearch, Found, Ranges, Walk
from hedgerow.anonymization.kernels.tuples.searching import Prices
from hedgerow.types import IntArray

FIRST, BOXES, MEMBERS = 1 << 14, 1 << 22, 1 << 25
"""Boxes there is room for at first; boxes, and profiles in them, there is room for at most: 96 and 128 MB."""
SLICE = 20_000_000  # steps between two looks at the world outside
START = (9, 10)  # share of what a record pays in the release that it is priced at first
GROWTH, MARGIN = (12, 10), (1, 20)  # prices may rise to so much of themselves, and this share of the mean loss
STEPS, LENGTH = 200, 0.1  # of the ascent in a round: how many, and the least length that it begins with
TRIES = 6  # listing boxes may take this part of the effort that is left, or is tried with less room for prices
LEAST_ROOM, LOWER = 64, (3, 4)  # until it is this part of the usual; as long as there is no bound, prices are lowered
ENOUGH = 10_000  # the search ends where two rounds together add less than one part in so many


@dataclass(eq=False)
class Ascent:
    """The bound of a piece, as it is found.

    Attributes
    ----------
    piece, codes, ranges, prices, k
        What is asked: blocks, their profiles with the block before the codes, ranges and costs.
    most
        What withholding a record costs, which no price is above.
    effort
        Steps to make at most.
    go_on
        Asked now and then, with the steps made since it was last asked, whether to go on.
    bound
        The greatest bound found so far, in whole multiples of 1/UNIT.
    price
        Prices by profile with which it was found.
    spent, rounds, boxes
        Steps made, rounds done, and how many boxes the last of them listed.
    """

    piece: Piece
    codes: npt.NDArray[np.uint32]
    ranges: Ranges
    prices: Prices
    k: int
    most: int
    effort: int
    go_on: Callable[[int], bool] = lambda steps: True
    bound: int = 0
    price: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    spent: int = 0
    rounds: int = 0
    boxes: int = 0
    _told: int = 0

    def run(self) -> None:
        """Raise the bound until the effort is spent, or it hardly rises any more, or nothing is left to gain."""
        counts, known = self.piece.counts, self.piece.known
        self.price = np.zeros(len(counts), np.int64)
        start = np.minimum(self.piece.paid * START[0] // (counts * START[1]), self.most)
        margin = known * MARGIN[0] // (self.piece.records * MARGIN[1])
        length, before = np.ones(1), [0, 0]
        room = 1  # how many times smaller than usual the room for prices is
        while self.bound < known and self._may_go_on():
            up = start * (GROWTH[0] - GROWTH[1]) // GROWTH[1] + margin
            cap = np.minimum(start + up // room, self.most)
            order = np.argsort(-cap, kind="stable")
            listed = self._list(order, cap[order], (self.effort - self.spent) // TRIES)
            if listed is None:  # too many boxes: leave prices less room, or lower them
                if self.bound and room < LEAST_ROOM:
                    room *= 4
                elif self.bound:
                    break
                else:
                    start, room = start * LOWER[0] // LOWER[1], 4
                continue
            start = self._climb(order, cap[order], start, *listed, np.maximum(length, LENGTH, out=length))
            self.rounds += 1
            gained = self.bound - before[0]
            before = [before[1], self.bound]
            if self.rounds > 2 and gained * ENOUGH <= self.bound:
                break

    def _may_go_on(self) -> bool:
        made, self._told = self.spent - self._told, self.spent
        return self.go_on(made) and self.spent < self.effort

    def _list(self, order: IntArray, cap: IntArray, effort: int) -> tuple[Found, int] | None:
        """List all boxes that can be below 0 if no price is above its cap; None if that takes too much."""
        find = kernels.load("closed_boxes").find_boxes
        search = BoxSearch(np.ascontiguousarray(self.codes[order]), self.piece.counts[order], cap, self.k)
        desk = _new_desk(len(order), self.ranges)
        found = _room(FIRST, 8 * FIRST)
        state = np.array([1, 0, 0, 0], np.int64)
        began = self.spent
        while True:
            reason = find(search, self.ranges, self.prices, desk, found, state, SLICE)
            self.spent = began + int(state[3])
            if reason == DONE:
                self.boxes = int(state[1])
                return found, self.boxes
            if (reason == BREATH and state[3] > effort) or not self._may_go_on():
                return None
            if reason == FULL:
                boxes, members = len(found.cost), len(found.member)
                if boxes >= BOXES or members >= MEMBERS:
                    return None
                found = _copied(found, _room(min(2 * boxes, BOXES), min(2 * members + len(order), MEMBERS)))

    def _climb(
        self, order: IntArray, cap: IntArray, start: IntArray, found: Found, boxes: int, length: npt.NDArray[Any]
    ) -> IntArray:
        """Look for better prices, and return those to go on from; the bound and its prices are kept if they are."""
        ascend = kernels.load("ascent").ascend
        counts, known = self.piece.counts[order], self.piece.known
        walk = Walk(np.minimum(start[order], cap).astype(np.float64), np.zeros(len(order)), length)
        best, state = np.minimum(start[order], cap), np.array([-1, 0, 0], np.int64)
        visits = int(found.start[boxes]) + boxes + 4 * len(order)
        left = STEPS
        while left and not state[2] and (state[0] < 0 or self._may_go_on()):
            now = min(left, SLICE // visits + 1)
            ascend(found, boxes, counts, cap, self.k, known, now, walk, best, state)
            self.spent += now * visits
            left -= now
        price = np.empty_like(best)
        price[order] = best
        if state[0] > self.bound:
            self.bound, self.price = int(state[0]), price
        return price


def _new_desk(profiles: int, ranges: Ranges) -> BoxDesk:
    columns, nodes = len(ranges.levels), len(ranges.cost)
    lists = 1 + int(np.where(ranges.levels > 0, ranges.levels, 5).sum())
    steps = min(nodes, profiles * lists) + 4 * columns + 4
    listed = np.empty(profiles * lists + columns, np.int32)
    listed[:profiles] = np.arange(profiles)
    frame = np.empty((steps, 14), np.int64)
    frame[0] = 0
    frame[0, 3] = frame[0, 4] = profiles
    number = np.zeros(columns, np.int64)
    node = np.zeros(nodes, np.int64)
    return BoxDesk(
        frame, listed, number, number.copy(), node, node.copy(), node.copy(), np.empty(profiles, np.int64)
    )  # fmt: skip


def _room(boxes: int, members: int) -> Found:
    return Found(
        np.zeros(boxes + 1, np.int64), np.empty(members, np.int32), np.empty(boxes, np.int64), np.empty(boxes, np.int64)
    )


def _copied(found: Found, room: Found) -> Found:
    pairs: Any = zip(found, room, strict=True)
    for old, new in pairs:
        new[: len(old)] = old
    return room
