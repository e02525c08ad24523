"""How often each class of a sensitive column occurs in each group, and what follows for the group alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.types import FloatArray, IntArray
from hedgerow.verification.counting.arrays import sums

DENSE_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Histograms:
    """Counts by group and class, where they are not 0, sorted by group.

    Attributes
    ----------
    groups, classes
        How many there are.
    group, code, count
        Group, class and how often it occurs there.

    Examples
    --------
    >>> found = Histograms.of(np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, -1, -1]), groups=3, classes=2)
    >>> found.distinct, found.totals, found.greatest
    (array([2, 1, 0]), array([3, 1, 0]), array([2, 1, 0]))
    """

    groups: int
    classes: int
    group: IntArray
    code: IntArray
    count: IntArray

    @classmethod
    def of(
        cls, group_of: IntArray, codes: IntArray, groups: int, classes: int, counts: IntArray | None = None
    ) -> Histograms:
        """Count, each row as often as ``counts`` says; a code of −1 is a missing value and never counts."""
        there, width = codes >= 0, max(classes, 1)
        pairs = group_of[there] * width + codes[there]
        if counts is None:
            keys, count = np.unique(pairs, return_counts=True)
        else:
            keys, row_of = np.unique(pairs, return_inverse=True)
            count = sums(row_of, counts[there], len(keys))
        return cls(groups, classes, keys // width, keys % width, count.astype(np.int64))

    @cached_property
    def distinct(self) -> IntArray:
        """Number of different values of every group."""
        return np.bincount(self.group, minlength=self.groups).astype(np.int64)

    @cached_property
    def totals(self) -> IntArray:
        """Number of records of every group that have a value."""
        return self._sum(self.count)

    @cached_property
    def greatest(self) -> IntArray:
        """How often the most frequent value of every group occurs."""
        greatest = np.zeros(self.groups, np.int64)
        np.maximum.at(greatest, self.group, self.count)
        return greatest

    @cached_property
    def entropies(self) -> FloatArray:
        """Entropy of every group, natural; 0 for one without values."""
        share = self.count / self.totals[self.group]
        return np.asarray(np.bincount(self.group, -share * np.log(share), self.groups), np.float64)

    def tails(self, start: int) -> IntArray:
        """Sum up every group's counts from the ``start``-th most frequent value on."""
        order = np.lexsort((-self.count, self.group))
        first = np.concatenate([[0], np.cumsum(self.distinct)[:-1]]) if self.groups else np.zeros(0, np.int64)
        rank = np.arange(len(order)) - first[self.group[order]]
        late = np.zeros(len(order), np.int64)
        late[order] = np.where(rank >= start - 1, self.count[order], 0)
        return self._sum(late)

    def dense(self) -> Iterator[tuple[slice, IntArray]]:
        """Return the counts as tables of groups and classes, each small enough to hold."""
        size = max(1, DENSE_CELLS // max(self.classes, 1))
        for start in range(0, self.groups, size):
            stop = min(start + size, self.groups)
            low, high = np.searchsorted(self.group, [start, stop])
            table = np.zeros((stop - start, self.classes), np.int64)
            table[self.group[low:high] - start, self.code[low:high]] = self.count[low:high]
            yield slice(start, stop), table

    def _sum(self, numbers: IntArray) -> IntArray:
        return sums(self.group, numbers, self.groups)
