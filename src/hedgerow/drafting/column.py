"""What a draft looks at in a column: its different values and how often each occurs, in no order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.hierarchy.numbers import Number, is_whole, parse_number
from hedgerow.microdata.columns import distinct_labels

if TYPE_CHECKING:
    import pyarrow as pa

NEARLY_UNIQUE = 0.95
"""Share of different values above which a column is taken to name its records."""


@dataclass(frozen=True)
class Column:
    """The different values of a column with their counts. Nothing here depends on the order of the records.

    Attributes
    ----------
    counts
        Records by value, without missing ones.
    readable
        Whether its values can be told apart; not so of lists, bytes and the like.
    """

    name: str
    records: int
    counts: Mapping[str, int]
    readable: bool = True

    @classmethod
    def of(cls, name: str, values: pa.ChunkedArray, records: int) -> Column:
        """Count the values of a column as it was read."""
        import pyarrow as pa

        kind = values.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            return cls(name, records, {}, readable=False)
        try:
            labels, indices = distinct_labels(values)
        except pa.ArrowNotImplementedError:
            return cls(name, records, {}, readable=False)
        counts: dict[str, int] = {}
        for label, count in zip(labels, np.bincount(indices, minlength=len(labels)).tolist(), strict=True):
            if label is not None and count:
                counts[label] = counts.get(label, 0) + count
        return cls(name, records, counts)

    def without(self, markers: Iterable[str]) -> Column:
        """Take the cells with a missing marker as missing."""
        dropped = set(markers)
        left = {label: count for label, count in self.counts.items() if label not in dropped}
        return Column(self.name, self.records, left, self.readable)

    @property
    def distinct(self) -> int:
        """Number of different values."""
        return len(self.counts)

    @cached_property
    def filled(self) -> int:
        """Number of records that have a value."""
        return sum(self.counts.values())

    @property
    def variety(self) -> float:
        """Different values per record that has one."""
        return self.distinct / self.filled

    @property
    def nearly_unique(self) -> bool:
        """Tell whether the values are nearly as many as the records, and these not just a handful."""
        return self.filled > 20 and self.variety > NEARLY_UNIQUE

    @cached_property
    def longest(self) -> int:
        """Number of characters of the longest value."""
        return max(map(len, self.counts), default=0)

    @cached_property
    def numbers(self) -> dict[Number, int]:
        """Records by number, of the values that are numbers."""
        found = ((parse_number(label), count) for label, count in self.counts.items())
        numbers: dict[Number, int] = {}
        for number, count in found:
            if number is not None:
                numbers[number] = numbers.get(number, 0) + count
        return numbers

    @cached_property
    def numeric_share(self) -> float:
        """Share of the filled records whose value is a number."""
        return sum(self.numbers.values()) / self.filled

    @property
    def whole(self) -> bool:
        """Tell whether all its numbers are whole."""
        return all(map(is_whole, self.numbers))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the column's name."""
        apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", self.name)
        return frozenset(re.split(r"[\W_]+", apart.casefold())) - {""}
