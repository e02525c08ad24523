"""Rows that are published linked: the units that they make, and which of these are alike to every reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hedgerow.types import IntArray


@dataclass(frozen=True, eq=False)
class LinkedRows:
    """Rows, the units that they make, and the groups that they are in.

    Two units are alike if their rows are of the same groups, as often: then they have as many rows, too.

    Attributes
    ----------
    unit_of, group_of
        Unit and group of every row, both numbered from 0.
    numbers
        Published number of every unit; −1: none that can be read.

    Examples
    --------
    >>> rows = LinkedRows.of(np.array([0, 0, 1, 2, 2, 3]), np.array([5, 7, 5, 7, 5, 5]), ["1", "3", "2", "4"])
    >>> rows.alike, rows.member_of, rows.numbered
    (array([2, 2, 2, 2]), array([0, 1, 2, 1, 0, 2]), True)
    """

    unit_of: IntArray
    group_of: IntArray
    numbers: IntArray

    @classmethod
    def of(cls, unit_of: npt.NDArray[np.int64], group_of: IntArray, texts: Sequence[str] = ()) -> LinkedRows:
        """Take units by the number of their cell, −1 where a row has none: all of those are one."""
        units = len(texts) or int(unit_of.max(initial=-1)) + 1
        numbers = np.full(units, -1, np.int64)
        for place, text in enumerate(texts):
            if text.isascii() and text.isdigit() and len(text) < 18 and not text.startswith("0"):
                numbers[place] = int(text)
        if (unit_of < 0).any():
            unit_of, numbers = np.where(unit_of < 0, units, unit_of), np.append(numbers, -1)
        return cls(unit_of, group_of, numbers)

    @property
    def units(self) -> int:
        """Number of units."""
        return len(self.numbers)

    @property
    def numbered(self) -> bool:
        """Tell whether the units have the numbers from 1 on, each once."""
        return bool((np.sort(self.numbers) == np.arange(1, self.units + 1)).all())

    @cached_property
    def sizes(self) -> IntArray:
        """Rows of every unit."""
        return np.bincount(self.unit_of, minlength=self.units)

    @cached_property
    def kind_of(self) -> IntArray:
        """Number, for every unit, of what it is published as."""
        known: dict[tuple[int, ...], int] = {}
        return np.array([known.setdefault(unit, len(known)) for unit in self.contents([self.group_of])], np.int64)

    @cached_property
    def kinds(self) -> IntArray:
        """Number of units of every kind."""
        return np.bincount(self.kind_of).astype(np.int64)

    @property
    def alike(self) -> IntArray:
        """How many units are published as each unit is, itself included."""
        return self.kinds[self.kind_of] if self.units else self.kind_of

    @cached_property
    def _members(self) -> tuple[IntArray, int]:
        known: dict[tuple[int, int], int] = {}
        pairs = zip(self.kind_of[self.unit_of].tolist(), self.group_of.tolist(), strict=True)
        return np.array([known.setdefault(pair, len(known)) for pair in pairs], np.int64), len(known)

    @property
    def member_of(self) -> IntArray:
        """Number, for every row, of the published member of a kind of unit that it is."""
        return self._members[0]

    @property
    def members(self) -> int:
        """How many such members there are."""
        return self._members[1]

    def contents(self, columns: Sequence[IntArray]) -> list[tuple[int, ...]]:
        """Return what every unit has in some columns: its rows in order, one after the other."""
        order = np.lexsort((*columns[::-1], self.unit_of))
        cells = np.stack([column[order] for column in columns], axis=1) if columns else np.zeros((len(order), 1), int)
        ends = np.cumsum(self.sizes).tolist()
        starts = [0, *ends[:-1]]
        return [tuple(cells[start:end].ravel().tolist()) for start, end in zip(starts, ends, strict=True)]

    def differing(self, codes: IntArray) -> int:
        """Return how many units have different values of a column."""
        pairs = np.unique(np.stack([self.unit_of, codes]), axis=1)
        return int((np.bincount(pairs[0], minlength=self.units) > 1).sum())
