"""Which values of a column each of its labels may stand for, for comparing many pairs of them at once."""

from __future__ import annotations

import bisect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.types import BoolArray, IntArray
from hedgerow.verification.counting.bipartite import TooMuch
from hedgerow.verification.values.columns import Cell, Column, FreeJudge, SuppressibleJudge, TreeJudge
from hedgerow.verification.values.figures import FigureJudge
from hedgerow.verification.values.numbers import Exact, read_number, read_span
from hedgerow.verification.values.sets import SetJudge

MOST_CELLS = 1 << 26
"""Cells of the greatest table of values and labels."""


class Fits(ABC):
    """Which values of a column each of its labels may stand for; both by number, −1 is missing."""

    @abstractmethod
    def test(self, values: IntArray, labels: IntArray) -> BoolArray:
        """Tell, pair by pair, whether a label may stand for a value."""

    def under(self, values: IntArray) -> Callable[[int], BoolArray]:
        """Return what tells of a label which of these values it may stand for."""
        return lambda label: self.test(values, np.full(len(values), label))


@dataclass(frozen=True, eq=False)
class InTable(Fits):
    """Told by a table of values and labels, of which the last are the missing ones."""

    table: BoolArray

    def test(self, values: IntArray, labels: IntArray) -> BoolArray:
        """Look it up."""
        found: BoolArray = self.table[values, labels]
        return found


@dataclass(frozen=True, eq=False)
class InOrder(Fits):
    """Told by the order of numbers: each label stands for a range of their ranks.

    Attributes
    ----------
    rank, whole
        Of every value, its place in the order, and whether it is a whole number; the last is the missing one's.
    low, high, only_whole
        Of every label, the first rank and the one after the last, and whether it stands for whole numbers only.
    """

    rank: IntArray
    whole: BoolArray
    low: IntArray
    high: IntArray
    only_whole: BoolArray

    def test(self, values: IntArray, labels: IntArray) -> BoolArray:
        """Compare ranks."""
        rank = self.rank[values]
        within: BoolArray = (self.low[labels] <= rank) & (rank < self.high[labels])
        return within & (self.whole[values] | ~self.only_whole[labels])

    def under(self, values: IntArray) -> Callable[[int], BoolArray]:
        """Look up the ranks once for many labels."""
        rank, whole = self.rank[values], self.whole[values]

        def stands_for(label: int) -> BoolArray:
            within: BoolArray = (self.low[label] <= rank) & (rank < self.high[label])
            return within & whole if self.only_whole[label] else within

        return stands_for


def fits_of(
    judge: Column, values: Sequence[Cell], labels: Sequence[Cell], keeps: bool, level: int | None, within: bool
) -> Fits:
    """Work out which values each label may stand for.

    Parameters
    ----------
    judge
        What knows the column.
    values, labels
        The distinct values of the original and labels of the release, the missing one last.
    keeps
        Whether limits are kept.
    level, within
        On the lattice, the level of the column and whether every value stops at its own limit.

    Raises
    ------
    TooMuch
        If there are too many of both.
    """
    if isinstance(judge, SuppressibleJudge):
        inner = fits_of(judge.column, values, labels, keeps, level, within)
        return AnyForMissing(inner, len(labels) - 1)
    if isinstance(judge, FreeJudge):
        return _in_order(judge, values, labels, keeps)
    if len(values) * len(labels) > MOST_CELLS:
        raise TooMuch
    if isinstance(judge, SetJudge | FigureJudge):
        fitting = [
            [judge.covers(value, label) and not (keeps and judge.breaks(value, label)) for label in labels]
            for value in values
        ]
        return InTable(np.array(fitting, bool).reshape(len(values), len(labels)))
    assert isinstance(judge, TreeJudge)
    at = {label: number for number, label in enumerate(labels)}
    table = np.zeros((len(values), len(labels)), bool)
    for number, value in enumerate(values):
        if level is not None:
            above = judge.at_level(value, level, within)
        else:
            above = {label for line in judge.lines(value) for label in line.labels}
        for label in above:
            if label in at and not (keeps and judge.breaks(value, label)):
                table[number, at[label]] = True
    return InTable(table)


@dataclass(frozen=True, eq=False)
class AnyForMissing(Fits):
    """A missing label may stand for anything, since cells may be suppressed."""

    inner: Fits
    missing: int

    def test(self, values: IntArray, labels: IntArray) -> BoolArray:
        """Ask the column itself where the label is not missing."""
        found: BoolArray = (labels < 0) | (labels == self.missing) | self.inner.test(values, labels)
        return found


def _in_order(judge: FreeJudge, values: Sequence[Cell], labels: Sequence[Cell], keeps: bool) -> InOrder:
    numbers = [None if value is None else read_number(value) for value in values]
    known: list[Exact] = sorted({number for number in numbers if number is not None})
    place = {number: rank for rank, number in enumerate(known)}
    rank = np.array([-2 if number is None else place[number] for number in numbers], np.int64)
    rank[-1] = -1
    low, high = np.zeros(len(labels), np.int64), np.zeros(len(labels), np.int64)
    only_whole = np.zeros(len(labels), bool)
    for number, label in enumerate(labels):
        span = None if label is None else read_span(label)
        if label is None:
            low[number], high[number] = -1, 0
        elif span is not None and judge.knows(label) and not (keeps and judge.breaks(None, label)):
            low[number] = bisect.bisect_left(known, span.low)
            after = bisect.bisect_left if span.style == "half-open" else bisect.bisect_right
            high[number] = after(known, span.high)
            only_whole[number] = span.style == "whole"
    whole = np.array([number is None or isinstance(number, int) for number in numbers])
    return InOrder(rank, whole, low, high, only_whole)
