"""What groups are published as in place of a node or an interval: the set of their values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.types import BoolArray, IntArray

SEPARATOR = "|"
MOST_VALUES = 512
"""Values of a column whose groups are published as sets: sets of so many say nothing."""
WORD = 32
"""Values that one number of a set stands for, so that numbers never are negative."""


@dataclass(frozen=True)
class Sets:
    """Groups are published as the values that their records have, in order, with a separator between them.

    Attributes
    ----------
    values
        The value that every code stands for.

    Examples
    --------
    >>> sets = Sets(("Federal", "Private", "State"))
    >>> told = sets.of_groups(np.array([2, 1, 1]), np.array([0, 0, 1]), 2)
    >>> sets.labels(told), sets.sizes(told).tolist()
    (['Private|State', 'Private'], [2, 1])
    """

    values: tuple[str, ...]

    def of_groups(self, codes: IntArray, group_of: IntArray, groups: int) -> IntArray:
        """Return the set of every group, a row of bits, given the code and the group of every record."""
        told = np.zeros((groups, -(-len(self.values) // WORD)), np.int64)
        pairs = np.unique(group_of * len(self.values) + codes)
        group, code = pairs // len(self.values), pairs % len(self.values)
        np.bitwise_or.at(told, (group, code // WORD), np.int64(1) << (code % WORD))
        return told

    def members(self, told: IntArray) -> BoolArray:
        """Tell which values (columns) are in each set (rows)."""
        codes = np.arange(len(self.values))
        found: BoolArray = (told[:, codes // WORD] >> (codes % WORD) & 1).astype(bool)
        return found

    def sizes(self, told: IntArray) -> IntArray:
        """Count the values of each set."""
        found: IntArray = np.bitwise_count(told).sum(axis=1).astype(np.int64)
        return found

    def labels(self, told: IntArray) -> list[str]:
        """Write the sets."""
        return [
            SEPARATOR.join(value for value, there in zip(self.values, row, strict=True) if there)
            for row in self.members(told).tolist()
        ]


def sets_of(name: str, values: tuple[str, ...]) -> Sets:
    """Return the sets that a column can be published as.

    Raises
    ------
    DataError
        A value holds the separator, or there are too many values.
    """
    split = sum(SEPARATOR in value for value in values)
    if split:
        message = (
            f"Column {name!r}: {split:,} different values hold {SEPARATOR!r}, which stands between those of a set."
        )
        raise DataError(Problem("not-a-set", message, hint="write them without it, or leave 'publish: set' out"))
    if len(values) > MOST_VALUES:
        message = f"Column {name!r} has {len(values):,} different values; sets can be of {MOST_VALUES} at most."
        raise DataError(Problem("not-a-set", message, hint="give the column a hierarchy, or leave 'publish: set' out"))
    return Sets(values)
