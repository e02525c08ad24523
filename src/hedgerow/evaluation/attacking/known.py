"""A release as an attacker sees it, and what the attacker knows of people.

The release is read as the independent check reads it, whoever made it. Nothing of what is known is ever shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hedgerow.types import BoolArray, IntArray
from hedgerow.verification import Cell, Original, RowEvidence, distinct_cells, find_groups, read_number, read_span

FloatMatrix = npt.NDArray[np.float64]
AT_ONCE = 1 << 24
"""Pairs of a person and a group that are looked at together, at most."""


@dataclass(frozen=True, eq=False)
class ColumnSeen:
    """One published column, by group.

    Attributes
    ----------
    labels
        The different cells that are published.
    label_of
        Which of them each group shows.
    values
        The different values of the people who are looked for; those of the original first.
    covers
        Whether a value (rows) may be behind a label (columns).
    distance
        How far a value is from a label: for numbers from the middle of its range, as a share of the range of all; else
        the share of all other values that the label may stand for, or 1 where it cannot stand for this one.
    """

    labels: tuple[Cell, ...]
    label_of: IntArray
    values: tuple[Cell, ...]
    covers: BoolArray
    distance: FloatMatrix


@dataclass(frozen=True, eq=False)
class SeenRelease:
    """A release as somebody sees it: groups of rows that are published alike.

    Attributes
    ----------
    evidence
        The release and what it was made from, read as the check reads them.
    """

    evidence: RowEvidence

    @cached_property
    def group_of(self) -> IntArray:
        """Group of every row."""
        return find_groups(list(self.evidence.cells.values()), self.evidence.published.rows)

    @cached_property
    def sizes(self) -> IntArray:
        """Rows of every group."""
        return np.bincount(self.group_of)

    @cached_property
    def rows_by_group(self) -> IntArray:
        """All rows, those of a group beside each other."""
        return np.argsort(self.group_of, kind="stable")

    @cached_property
    def starts(self) -> IntArray:
        """Where each group begins among these, and the end."""
        return np.append(0, np.cumsum(self.sizes))

    def shown(self, name: str, values: Sequence[Cell]) -> ColumnSeen:
        """Work out which values may be behind which labels of a column."""
        texts, codes = distinct_cells(self.evidence.cells[name])
        labels: tuple[Cell, ...] = (*texts, None)
        first = np.full(len(self.sizes), -1, np.int64)
        first[self.group_of[::-1]] = np.arange(len(self.group_of))[::-1]
        label_of = np.where(codes[first] < 0, len(texts), codes[first])
        judge = self.evidence.judges[name]
        numbers = [None if value is None else read_number(value) for value in values]
        spans = [None if label is None else read_span(label) for label in labels]
        in_numbers = self.evidence.plan.attributes[name].free and all(
            number is not None for number, value in zip(numbers, values, strict=True) if value is not None
        )
        if not in_numbers:
            covers = np.array([[judge.covers(value, label) for label in labels] for value in values], bool)
            covers = covers.reshape(len(values), len(labels))
            share = (covers.sum(axis=0) - 1) / max(len(values) - 1, 1)
            return ColumnSeen(labels, label_of, tuple(values), covers, np.where(covers, share[None, :], 1.0))
        low = np.array([np.nan if span is None else float(span.low) for span in spans])
        high = np.array([np.nan if span is None else float(span.high) for span in spans])
        at = np.array([np.nan if number is None else float(number) for number in numbers])
        open_end = np.array([span is not None and span.style == "half-open" for span in spans])
        covers = (low[None, :] <= at[:, None]) & np.where(
            open_end[None, :], at[:, None] < high[None, :], at[:, None] <= high[None, :]
        )
        if self.evidence.plan.attributes[name].publish is not None:  # a mean contradicts no number
            covers = ~np.isnan(at)[:, None] & ~np.isnan(low)[None, :]
        covers |= np.isnan(at)[:, None] & np.isnan(low)[None, :]
        known = at[~np.isnan(at)]
        reach = float(known.max() - known.min()) if len(known) else 0.0
        apart = np.abs(at[:, None] - (low + high)[None, :] / 2) / (reach or 1.0)
        gone = np.isnan(at)[:, None] & np.isnan(low)[None, :]
        return ColumnSeen(labels, label_of, tuple(values), covers, np.where(gone, 0.0, np.nan_to_num(apart, nan=1.0)))


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What an attacker knows of some people.

    Attributes
    ----------
    columns
        The columns that are known.
    shown
        By column, how it is published.
    codes
        By column, which value each person is thought to have.
    true
        By column, which value each has: the same without noise.
    """

    columns: tuple[str, ...]
    shown: Mapping[str, ColumnSeen]
    codes: Mapping[str, IntArray]
    true: Mapping[str, IntArray]

    @property
    def people(self) -> int:
        """How many people are looked for."""
        return len(next(iter(self.codes.values())))

    def candidates(self, groups: int) -> Iterator[tuple[IntArray, BoolArray]]:
        """Yield people, and for each which groups contradict least of what is known: those that fit, if any do."""
        for those in _parts(self.people, groups):
            against = np.zeros((len(those), groups), np.int16)
            for name in self.columns:
                shown = self.shown[name]
                against += ~shown.covers[self.codes[name][those]][:, shown.label_of]
            yield those, against == against.min(axis=1, keepdims=True)

    def behind(self, groups: IntArray) -> Iterator[tuple[IntArray, BoolArray]]:
        """Yield some of the groups, by their places, and who (rows) of all people contradicts each (columns) least."""
        for those in _parts(len(groups), self.people):
            against = np.zeros((self.people, len(those)), np.int16)
            for name in self.columns:
                shown = self.shown[name]
                against += ~shown.covers[:, shown.label_of[groups[those]]][self.codes[name]]
            yield those, against == against.min(axis=0, keepdims=True)

    def nearest(self, groups: int) -> Iterator[tuple[IntArray, BoolArray]]:
        """Yield people, and for each the groups whose published values are nearest, all columns together."""
        for those in _parts(self.people, groups):
            far = np.zeros((len(those), groups))
            for name in self.columns:
                shown = self.shown[name]
                far += shown.distance[self.codes[name][those]][:, shown.label_of]
            yield those, far <= far.min(axis=1, keepdims=True) + 1e-9

    def possible(self, groups: int) -> Iterator[tuple[IntArray, BoolArray]]:
        """Yield people, and for each the groups that may be theirs: nothing published contradicts any value."""
        for those in _parts(self.people, groups):
            fits = np.ones((len(those), groups), bool)
            for name, shown in self.shown.items():
                fits &= shown.covers[self.true[name][those]][:, shown.label_of]
            yield those, fits


def _parts(people: int, groups: int) -> Iterator[IntArray]:
    step = max(1, AT_ONCE // max(groups, 1))
    return (np.arange(start, min(start + step, people)) for start in range(0, people, step))


def knowledge(
    seen: SeenRelease,
    table: Original,
    people: IntArray,
    columns: Sequence[str],
    noise: float,
    draw: np.random.Generator,
) -> Knowledge:
    """Say what is known of some people of a table; each known cell is wrong, another of its column, so often.

    Of columns that the table has not, nothing is known.
    """
    shown, codes, true = {}, {}, {}
    for name in (name for name in seen.evidence.cells if name in table.columns):
        texts, cells = distinct_cells(table.columns[name])
        own = np.where(cells < 0, len(texts), cells)
        shown[name] = seen.shown(name, (*texts, None))
        true[name] = own[people]
        wrong = draw.random(len(people)) < noise
        codes[name] = np.where(wrong, own[draw.integers(0, len(own), len(people))], true[name])
    return Knowledge(tuple(columns), shown, codes, true)
