"""The people of a table as combinations of columns see them: a number per column, and nothing of what it says.

A *unit* stands for all records that agree in the chosen columns (and belong to one person, where a column names
persons). Groups of units are whatever a combination of columns cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.microdata.ordering import number_rows
from hedgerow.types import IntArray


@dataclass(frozen=True, eq=False)
class Crowd:
    """The units of a table.

    Attributes
    ----------
    codes
        For every chosen column, a number per unit: equal where the values are.
    records
        Records that each unit stands for.
    person
        Number of the person that each unit belongs to; None if every record is a person of its own.
    unit_of
        Unit of every row of the table as it was read; −1 where the row is left out.
    """

    codes: tuple[IntArray, ...]
    records: IntArray
    person: IntArray | None
    unit_of: IntArray

    @classmethod
    def of(
        cls, codes: Sequence[IntArray], counts: IntArray, person: IntArray | None, kept: npt.NDArray[np.bool_]
    ) -> Crowd:
        """Collapse rows, each of which stands for so many records, to units."""
        rows = np.flatnonzero(kept)
        keys = [column[rows] for column in codes] + ([] if person is None else [person[rows]])
        number, units = number_rows(keys)
        first = np.zeros(units, np.int64)
        first[number[::-1]] = np.arange(len(rows))[::-1]
        records = np.zeros(units, np.int64)
        np.add.at(records, number, counts[rows])
        unit_of = np.full(len(kept), -1, np.int64)
        unit_of[rows] = number
        *columns, last = [key[first] for key in keys]
        if person is None:
            return cls((*columns, last), records, None, unit_of)
        return cls(tuple(columns), records, last, unit_of)

    @property
    def units(self) -> int:
        """Number of units."""
        return len(self.records)

    def in_groups(self, group: IntArray, groups: int) -> IntArray:
        """Count the people of every group of units."""
        if self.person is None:
            return np.bincount(group, weights=self.records, minlength=groups).astype(np.int64)
        pair, pairs = numbered(group * (int(self.person.max(initial=0)) + 1) + self.person)
        of_pair = np.zeros(pairs, np.int64)
        of_pair[pair] = group
        return np.bincount(of_pair, minlength=groups)

    def number(self, units: npt.NDArray[np.bool_]) -> int:
        """Count the people that some units belong to."""
        if self.person is None:
            return int(self.records[units].sum())
        return len(np.unique(self.person[units]))


def numbered(keys: IntArray) -> tuple[IntArray, int]:
    """Number what is different, in whatever order; returns every one's number and how many there are."""
    import pyarrow as pa

    encoded = pa.array(keys).dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), len(encoded.dictionary)


def split(group: IntArray, column: IntArray, values: int) -> tuple[IntArray, int]:
    """Tell the units of every group apart by one more column.

    Examples
    --------
    >>> split(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2)
    (array([0, 1, 2, 2]), 3)
    """
    return numbered(group * values + column)
