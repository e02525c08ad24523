"""What groups are published as in place of a node or an interval: the set, the mean or the median of their values."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.plan import Attribute
from hedgerow.plan.hierarchy.intervals import Intervals
from hedgerow.plan.hierarchy.numbers import number_label, simplest
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


USUAL_DECIMALS = 1
LARGEST = 1 << 62
MOST_FIGURE = 10**15
"""What a figure stays below, without its point: so many digits every program keeps."""


@dataclass(frozen=True, eq=False)
class Figures:
    """Groups are published as the mean or the median of their numbers, rounded once, a half to even.

    Where two groups are rounded alike, so are both together: their figure lies between the two.

    Attributes
    ----------
    figure
        Which of the two it is.
    scaled, places
        The number of every code, times 10^places.
    decimals
        Decimal places that are published.

    Examples
    --------
    >>> ages = Figures("mean", np.array([30, 31, 42]), 0, 1)
    >>> ages.labels(ages.of_groups(np.array([0, 1, 1, 2]), np.array([0, 0, 0, 1]), 2))
    ['30.7', '42']
    """

    figure: Literal["mean", "median"]
    scaled: IntArray
    places: int
    decimals: int

    def of_groups(self, codes: IntArray, group_of: IntArray, groups: int) -> IntArray:
        """Return the figure of every group, times 10^decimals; 0 where a group has no numbers."""
        known = codes < len(self.scaled)  # a missing value has the last code
        numbers, group = self.scaled[codes[known]], group_of[known]
        total, count = _middles(numbers, group, groups) if self.figure == "median" else _sums(numbers, group, groups)
        up, down = 10**self.decimals, 10**self.places
        found = [
            _rounded(up * one, down * many) if many else 0 for one, many in zip(total, count.tolist(), strict=True)
        ]
        return np.array(found, np.int64).reshape(-1, 1)

    def labels(self, told: IntArray) -> list[str]:
        """Write the figures."""
        return [number_label(simplest(Decimal(one).scaleb(-self.decimals))) for one in told[:, 0].tolist()]

    def nearest(self, told: IntArray) -> IntArray:
        """Return the code of the number that is nearest to each figure: what a reader takes it for."""
        if not len(self.scaled):
            return np.zeros(len(told), np.int64)
        figure = told[:, 0] / 10.0**self.decimals
        numbers = self.scaled / 10.0**self.places
        above = np.clip(np.searchsorted(numbers, figure), 0, len(numbers) - 1)
        below = np.maximum(above - 1, 0)
        return np.where(np.abs(numbers[below] - figure) <= np.abs(numbers[above] - figure), below, above)


def _sums(numbers: IntArray, group: IntArray, groups: int) -> tuple[list[int], IntArray]:
    """Add the numbers of every group up, beyond 64 bits where need be; and count them."""
    size = np.bincount(group, minlength=groups)
    if int(np.abs(numbers).max(initial=0)) * int(size.max(initial=0)) < LARGEST:
        found = np.zeros(groups, np.int64)
        np.add.at(found, group, numbers)
        return found.tolist(), size
    total = [0] * groups
    for one, at in zip(numbers.tolist(), group.tolist(), strict=True):
        total[at] += one
    return total, size


def _middles(numbers: IntArray, group: IntArray, groups: int) -> tuple[list[int], IntArray]:
    """Add the two numbers in the middle of every group up, which may be one; and say that they are two, or none."""
    ordered = numbers[np.lexsort((numbers, group))]
    size = np.bincount(group, minlength=groups)
    first, some = np.cumsum(size) - size, size > 0
    total = [0] * groups
    for at in np.flatnonzero(some).tolist():
        total[at] = int(ordered[first[at] + (size[at] - 1) // 2]) + int(ordered[first[at] + size[at] // 2])
    return total, 2 * some


def _rounded(part: int, whole: int) -> int:
    """Divide whole numbers and round, a half to even."""
    found, rest = divmod(part, whole)
    return found + (2 * rest > whole or (2 * rest == whole and found % 2 == 1))


def figures_of(name: str, attribute: Attribute, intervals: Intervals) -> Figures | None:
    """Return the figures that a column of numbers is published as; None if it publishes intervals.

    Raises
    ------
    DataError
        The numbers have too many digits.
    """
    if attribute.publish not in ("mean", "median"):
        return None
    decimals = USUAL_DECIMALS if attribute.decimals is None else attribute.decimals
    up = 10 ** max(decimals - intervals.decimals, 0)
    if int(np.abs(intervals.scaled).max(initial=0)) * up >= MOST_FIGURE:
        message = f"Column {name!r} has numbers of too many digits for a {attribute.publish} with {decimals} decimals."
        raise DataError(Problem("too-precise", message, hint="ask for fewer decimals, or round the column"))
    return Figures(attribute.publish, intervals.scaled, intervals.decimals, decimals)
