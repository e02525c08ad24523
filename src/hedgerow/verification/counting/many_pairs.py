"""Judging very many pairs of original and published cells at once: cells are read once, pairs compared by numbers.

Every answer is that of :class:`~hedgerow.verification.counting.pairs.PairSums`, which judges pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hedgerow.types import BoolArray, IntArray
from hedgerow.verification.counting.arrays import sums
from hedgerow.verification.counting.pairs import Pair, PairSums
from hedgerow.verification.values.columns import Cell, Column, FreeJudge, TreeJudge
from hedgerow.verification.values.numbers import Exact, Span, read_number, read_span

NONE = -1
"""The place of what is no number."""
SHIFT = 1 << 31
"""More than there are cells in a task."""
Cells = tuple[Sequence[Cell], IntArray]
"""The cells of a column, and by row which one it has."""


@dataclass(frozen=True, eq=False)
class ManyPairs:
    """Pairs of cells.

    Attributes
    ----------
    values, labels
        The distinct original and published cells.
    value_of, label_of, counts
        By pair: its cells, and how many records have it.
    """

    values: Sequence[Cell]
    labels: Sequence[Cell]
    value_of: IntArray
    label_of: IntArray
    counts: IntArray

    def judged(self, judge: Column) -> PairSums:
        """Judge all pairs."""
        if isinstance(judge, TreeJudge):
            covered, broken = self._on_lines(judge)
        elif isinstance(judge, FreeJudge):
            covered, broken = self._in_spans(judge)
        else:
            return PairSums.of(judge, self._one_by_one())
        shown = int(self.counts[self._shows()].sum())
        return PairSums((int(self.counts[~covered].sum()), 0), (int(self.counts[broken].sum()), 0), shown, shown)

    def _one_by_one(self) -> list[Pair]:
        pairs = zip(self.value_of.tolist(), self.label_of.tolist(), self.counts.tolist(), strict=True)
        return [Pair((self.values[value],), self.labels[label], count, 0) for value, label, count in pairs]

    def _on_lines(self, judge: TreeJudge) -> tuple[BoolArray, BoolArray]:
        """Tell which labels stand on the way up from their values, and which stand there above the limit."""
        number = {label: at for at, label in enumerate(self.labels)}
        true, beyond = list[int](), list[int]()
        for at, value in enumerate(self.values):
            start = at * len(self.labels)
            for line in judge.lines(value):
                here = {label for label in line.published if label in number}
                true += [start + number[label] for label in here]
                beyond += [start + number[label] for label in here if line.breaks(label)]
        key = self.value_of * len(self.labels) + self.label_of
        return np.isin(key, np.array(true, np.int64)), np.isin(key, np.array(beyond, np.int64))

    def _in_spans(self, judge: FreeJudge) -> tuple[BoolArray, BoolArray]:
        """Tell which labels hold the numbers of their values, and which are themselves beyond the limit."""
        numbers, spans = self._numbers, self._spans
        at, low, high = self._places()
        kind = np.array([_kind(judge, span) for span in spans], np.int64)[self.label_of]
        number, first, last = at[self.value_of], low[self.label_of], high[self.label_of]
        whole = np.array([isinstance(one, int) for one in numbers], bool)[self.value_of]
        within = (number >= first) & np.where(kind == HALF_OPEN, number < last, number <= last)
        held = (number != NONE) & (kind != UNKNOWN) & within & (whole | (kind != WHOLE))
        lacks_value = np.array([value is None for value in self.values], bool)[self.value_of]
        lacks_label = np.array([label is None for label in self.labels], bool)[self.label_of]
        covered = np.where(lacks_value | lacks_label, lacks_value & lacks_label, held)
        beyond = np.array([judge.breaks(None, label) for label in self.labels], bool)
        return covered, beyond[self.label_of]

    def _shows(self) -> BoolArray:
        """Tell where an end of the published interval is the original number."""
        at, low, high = self._places()
        number = at[self.value_of]
        shown: BoolArray = (number != NONE) & ((number == low[self.label_of]) | (number == high[self.label_of]))
        return shown

    @property
    def _numbers(self) -> list[Exact | None]:
        return [None if value is None else read_number(value) for value in self.values]

    @property
    def _spans(self) -> list[Span | None]:
        return [None if label is None else read_span(label) for label in self.labels]

    def _places(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the places of numbers, and of the ends of intervals, among all of these; −2: no interval."""
        numbers, spans = self._numbers, self._spans
        there = {number for number in numbers if number is not None}
        there |= {end for span in spans if span is not None for end in (span.low, span.high)}
        place = {number: at for at, number in enumerate(sorted(there))}
        return (
            np.array([NONE if number is None else place[number] for number in numbers], np.int64),
            np.array([NONE - 1 if span is None else place[span.low] for span in spans], np.int64),
            np.array([NONE - 1 if span is None else place[span.high] for span in spans], np.int64),
        )


@dataclass
class PairCounter:
    """Counts pairs of cells, some at a time.

    Examples
    --------
    >>> found = PairCounter()
    >>> found.add((["7", None], np.array([0, 1, 0])), (["5-9", None], np.array([0, 1, 0])), np.array([1, 1, 2]))
    >>> found.add((["7"], np.array([0])), (["7"], np.array([0])), np.array([5]))
    >>> found.many.values, found.many.labels, found.many.counts.tolist()
    (['7', None], ['5-9', None, '7'], [3, 5, 1])
    """

    values: dict[Cell, int] = field(default_factory=dict)
    labels: dict[Cell, int] = field(default_factory=dict)
    keys: list[IntArray] = field(default_factory=list)
    counts: list[IntArray] = field(default_factory=list)

    def add(self, values: Cells, labels: Cells, counts: IntArray) -> None:
        """Add pairs, and how many records have each."""
        key = _numbered(values, self.values) * SHIFT + _numbered(labels, self.labels)
        found, place = np.unique(key, return_inverse=True)
        self.keys.append(found)
        self.counts.append(sums(place.reshape(-1), counts, len(found)))

    @property
    def many(self) -> ManyPairs:
        """All pairs that were added."""
        none = np.zeros(0, np.int64)
        found, place = np.unique(np.concatenate([none, *self.keys]), return_inverse=True)
        counts = sums(place.reshape(-1), np.concatenate([none, *self.counts]), len(found))
        return ManyPairs([*self.values], [*self.labels], found // SHIFT, found % SHIFT, counts)


def _numbered(cells: Cells, known: dict[Cell, int]) -> IntArray:
    """Number cells as they are first met."""
    return np.array([known.setdefault(text, len(known)) for text in cells[0]], np.int64)[cells[1]]


UNKNOWN, CLOSED, HALF_OPEN, WHOLE = range(4)
"""What an interval holds: nothing, as it is none of this column; all up to its ends; not the last; whole numbers."""


def _kind(judge: FreeJudge, span: Span | None) -> int:
    if span is None or not judge.on_grid(span):
        return UNKNOWN
    return {"half-open": HALF_OPEN, "whole": WHOLE}.get(span.style, CLOSED)
