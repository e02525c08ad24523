"""What a draft looks at in a column: its different values and how often each occurs, in no order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.errors import DataError
from hedgerow.evaluation.drafting.days import SeenDays, days_of
from hedgerow.microdata.columns import distinct_labels
from hedgerow.microdata.read import check_types
from hedgerow.plan.hierarchy.numbers import Number, is_whole, parse_number
from hedgerow.plan.notation import Notation
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

NEARLY_UNIQUE = 0.95
"""Share of different values above which a column is taken to name its records."""
MOSTLY_NUMBERS = 0.9
"""Share of the records with a value from which on a column is taken for numbers."""


@dataclass(frozen=True)
class SeenColumn:
    """The different values of a column with their counts. Nothing here depends on the order of the records.

    Attributes
    ----------
    counts
        Records by value, without missing ones. Of very many values, those that most records have, and some others.
    readable
        Whether its values can be told apart; not so of lists, bytes and the like.
    allowed
        Whether its values may be read; not so where the role on a server has no right to it.
    unlisted, unlisted_records
        How many values there are besides those that are counted, and how many records have one of them.
    drawn
        Values that were drawn from the rarer ones: they stand for those that are not counted too.
    month_first, forms
        Whether 2/5/1984 is in February where nothing in the column tells; forms of days that somebody has stated.
    misfit_rows
        The first records, from 1, whose value is no day in a column of days.
    """

    name: str
    records: int
    counts: Mapping[str, int] = field(repr=False)
    readable: bool = True
    allowed: bool = True
    unlisted: int = 0
    unlisted_records: int = 0
    drawn: frozenset[str] = field(default=frozenset(), repr=False)
    month_first: bool = True
    forms: tuple[str, ...] = ()
    misfit_rows: tuple[int, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, name: str, values: pa.ChunkedArray, records: int, counts: IntArray | None = None) -> SeenColumn:
        """Count the values of a column as it was read; ``counts``: how many records each of them stands for."""
        import pyarrow as pa

        if not is_plain(values.type):
            return cls(name, records, {}, readable=False)
        try:
            labels, indices = distinct_labels(values)
        except pa.ArrowNotImplementedError:
            return cls(name, records, {}, readable=False)
        counted = np.bincount(indices, counts, len(labels)).astype(np.int64)
        found: dict[str, int] = {}
        for label, count in zip(labels, counted.tolist(), strict=True):
            if label is not None and count:
                found[label] = found.get(label, 0) + count
        return cls(name, records, found)

    def without(self, markers: Iterable[str]) -> SeenColumn:
        """Take the cells with a missing marker as missing."""
        dropped = set(markers)
        left = {label: count for label, count in self.counts.items() if label not in dropped}
        return replace(self, counts=left)

    def meant(self, notation: Notation) -> SeenColumn:
        """Return the column with its numbers in the usual notation, if nearly all of its values are numbers.

        Examples
        --------
        >>> SeenColumn("costs", 3, {"1.234,5": 1, "1234,5": 2}).meant(Notation(",", ".")).counts
        {'1234.5': 3}
        """
        if notation.usual:
            return self
        numbers = {label: notation.number(label) for label in self.counts}
        fitting = sum(self.weights[label] for label, number in numbers.items() if number is not None)
        if not fitting or fitting < MOSTLY_NUMBERS * sum(self.weights.values()):
            return self
        counts: dict[str, int] = {}
        for label, count in self.counts.items():
            text = notation.meant(label) if numbers[label] is not None else label
            counts[text] = counts.get(text, 0) + count
        drawn = frozenset(notation.meant(label) if numbers[label] is not None else label for label in self.drawn)
        return replace(self, counts=counts, drawn=drawn)

    @cached_property
    def days(self) -> SeenDays | None:
        """How its days are written; None if it holds none."""
        return days_of(self.weights, self.month_first, self.forms) if self.counts else None

    @property
    def zeros_first(self) -> bool:
        """Tell whether some of its values are digits that begin with 0, which numbers would lose."""
        return any(len(label) > 1 and label[0] == "0" and label.isdecimal() for label in self.counts)

    @property
    def partial(self) -> bool:
        """Tell whether there are values that were not looked at."""
        return self.unlisted > 0

    @property
    def distinct(self) -> int:
        """Number of different values."""
        return len(self.counts) + self.unlisted

    @cached_property
    def filled(self) -> int:
        """Number of records that have a value."""
        return sum(self.counts.values()) + self.unlisted_records

    @cached_property
    def weights(self) -> Mapping[str, int]:
        """Records by value, those that are not counted laid to the values that stand for them."""
        standing = sum(self.counts.get(label, 0) for label in self.drawn)
        if not self.partial or not standing:
            return self.counts
        share = 1 + self.unlisted_records / standing
        return {label: round(n * share) if label in self.drawn else n for label, n in self.counts.items()}

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
        found = ((parse_number(label), count) for label, count in self.weights.items())
        numbers: dict[Number, int] = {}
        for number, count in found:
            if number is not None:
                numbers[number] = numbers.get(number, 0) + count
        return numbers

    @cached_property
    def numeric_share(self) -> float:
        """Share of the filled records whose value is a number."""
        return sum(self.numbers.values()) / sum(self.weights.values())

    @property
    def whole(self) -> bool:
        """Tell whether all its numbers are whole."""
        return all(map(is_whole, self.numbers))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the column's name."""
        apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", self.name)
        return frozenset(re.split(r"[\W_]+", apart.casefold())) - {""}


def is_plain(kind: pa.DataType) -> bool:
    """Tell whether values of a type can be released: not lists, records, bytes and lengths of time."""
    import pyarrow as pa

    try:
        check_types(pa.schema([("values", kind)]), "")
    except DataError:
        return False
    return True


def as_text(values: pa.ChunkedArray) -> list[str | None]:
    """Return the cells of a few records as they are counted; nothing for cells that are not plain."""
    import pyarrow as pa

    if not is_plain(values.type):
        return [None] * len(values)
    if pa.types.is_dictionary(values.type):  # its dictionary may hold the values of all records
        values = pa.chunked_array([chunk.dictionary_decode() for chunk in values.chunks], values.type.value_type)
    try:
        labels, which = distinct_labels(values)
    except pa.ArrowNotImplementedError:
        return [None] * len(values)
    return [labels[number] for number in which.tolist()]
