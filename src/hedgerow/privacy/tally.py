"""How often each value of a sensitive column occurs in each group; what the models look at."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.types import IntArray


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts by (group, value), sorted, without zeros; missing values are not counted.

    Attributes
    ----------
    groups, values
        Number of groups and of values.
    group, value, count
        One entry for each value that occurs in a group.
    overall
        Counts by value in the whole table.
    tree, leaf_node
        The column's hierarchy and the node of every value in it, if it has one.
    """

    groups: int
    values: int
    group: IntArray
    value: IntArray
    count: IntArray
    overall: IntArray
    tree: Hierarchy | None = None
    leaf_node: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of_codes(
        cls,
        group_of: IntArray,
        codes: IntArray,
        groups: int,
        overall: IntArray,
        tree: Hierarchy | None = None,
        leaf_node: IntArray | None = None,
    ) -> Tally:
        """Count codes (−1: missing) by group (−1: in none)."""
        counted = (group_of >= 0) & (codes >= 0)
        values = max(len(overall), 1)
        keys, count = np.unique(group_of[counted] * values + codes[counted], return_counts=True)
        at = np.zeros(0, np.int64) if leaf_node is None else leaf_node
        return cls(groups, len(overall), keys // values, keys % values, count, overall, tree, at)

    @classmethod
    def of_values(cls, values: Iterable[Hashable | None], overall: Iterable[Hashable | None] | None = None) -> Tally:
        """Count the values of a single group; None is missing."""
        own = list(values)
        whole = own if overall is None else list(overall)
        order = {value: code for code, value in enumerate(dict.fromkeys([*whole, *own])) if value is not None}
        rank = {value: code for code, value in enumerate(sorted(order, key=lambda v: (str(type(v)), v)))}
        codes = np.array([NO_VALUE if value is None else rank[value] for value in own], np.int64)
        counts = np.bincount([rank[value] for value in whole if value is not None], minlength=len(rank))
        return cls.of_codes(np.zeros(len(own), np.int64), codes, 1, counts.astype(np.int64))

    @cached_property
    def distinct(self) -> IntArray:
        """Number of different values of every group."""
        return np.bincount(self.group, minlength=self.groups)

    @cached_property
    def total(self) -> IntArray:
        """Number of counted records of every group."""
        return np.bincount(self.group, weights=self.count, minlength=self.groups).astype(np.int64)

    def dense(self, first: int, last: int) -> IntArray:
        """Counts of the groups first … last − 1 (rows) by value (columns)."""
        a, b = np.searchsorted(self.group, [first, last])
        table = np.zeros((last - first, self.values), np.int64)
        table[self.group[a:b] - first, self.value[a:b]] = self.count[a:b]
        return table


NO_VALUE = -1
