"""What every task must know of the columns of a table: their values, and what each is encoded as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.engines.sql import SqlColumn, cleaned
from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier
from hedgerow.microdata.columns import Encoded, encode
from hedgerow.microdata.meaning import meant
from hedgerow.microdata.microdata import order_of_columns, ranks
from hedgerow.microdata.ordering import pack, shares_of_words, unpack
from hedgerow.microdata.recoding import Recoding
from hedgerow.microdata.sensitive import SensitiveColumn, encode_sensitive
from hedgerow.plan import Plan
from hedgerow.types import BoolArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

Arrays = Sequence[IntArray]


@dataclass(frozen=True, eq=False)
class Book:
    """The columns of a table, and what their values are encoded as.

    A value is known by its number among the values of its column; quasi-identifiers come first, then sensitive columns.

    Attributes
    ----------
    columns, index_order, sensitive
        As in microdata.
    values
        The values of every column, as they are read.
    counts
        How many of the records that are left have each value.
    codes
        By column, the code of every value: of a quasi-identifier, −1 where it has no leaf; of a sensitive column, −1
        where it is missing.
    ranks
        By sensitive column, the place of every value in the order in which values are released, and how many there are.
    no_leaf
        By sensitive column, which values have no leaf.
    twofold
        Columns of which several values mean the same.
    """

    columns: tuple[QuasiIdentifier, ...]
    index_order: tuple[int, ...]
    sensitive: tuple[SensitiveColumn, ...]
    values: tuple[pa.Array, ...]
    counts: tuple[IntArray, ...]
    codes: tuple[IntArray, ...]
    ranks: tuple[tuple[IntArray, int], ...]
    no_leaf: tuple[BoolArray, ...]
    twofold: tuple[int, ...]

    @classmethod
    def of(
        cls,
        plan: Plan,
        kinds: Mapping[str, SqlColumn],
        values: Sequence[pa.Array],
        counts: Arrays,
        strict: bool,
    ) -> Book:
        """Encode the values of every column that some record has."""
        import pyarrow as pa

        encoded: list[Encoded] = []
        sensitive: list[SensitiveColumn] = []
        codes, places, no_leaf = list[IntArray](), list[tuple[IntArray, int]](), list[BoolArray]()
        problems, twofold = list[Problem](), list[int]()
        names = plan.columns("quasi-identifier", "sensitive")
        order = [*plan.quasi_identifiers, *plan.columns("sensitive")]
        for name in names:
            at = order.index(name)
            there = np.flatnonzero(counts[at])
            column = cleaned(pa.chunked_array([values[at].take(pa.array(there))]), kinds[name], plan.data.markers(name))
            try:
                said = meant(name, plan.attributes[name], column, plan.data)
                if plan.attributes[name].role == "sensitive":
                    found, code, unknown = encode_sensitive(name, plan.attributes[name], said, counts[at][there])
                    sensitive.append(found)
                    lost = np.zeros(len(there), bool)
                    lost[unknown] = True
                    no_leaf.append(_spread(there, lost, len(counts[at]), False))
                    rank, size = ranks(column)
                    places.append((_spread(there, rank, len(counts[at]), 0), size))
                    unlike = len(np.unique(rank))
                else:
                    one = encode(name, plan.attributes[name], said, counts[at][there], strict)
                    encoded.append(one)
                    code = one.codes.astype(np.int64)
                    unlike = len(np.unique(code))
                    if one.unknown is not None:
                        code = np.where(one.unknown, -1, code)
                codes.append(_spread(there, code, len(counts[at]), -1))
                if unlike < len(there):
                    twofold.append(at)
            except HedgerowError as error:
                problems += error.problems
        if problems:
            raise DataError(problems)
        by_name = dict(zip(names, codes, strict=True))
        columns = tuple(one.column for one in encoded)
        distinct = [len(np.unique(by_name[column.name][by_name[column.name] >= 0])) for column in columns]
        return cls(
            columns,
            order_of_columns(columns, distinct),
            tuple(sensitive),
            tuple(values),
            tuple(counts),
            tuple(by_name[name] for name in order),
            tuple(places),
            tuple(no_leaf),
            tuple(sorted(twofold)),
        )

    @property
    def sizes(self) -> list[int]:
        """How many values each column has."""
        return [len(values) for values in self.values]

    @property
    def words(self) -> list[str]:
        """Names of the columns that the numbers of a record's values are packed into."""
        return [f"w{number}" for number in range(len(shares_of_words(self.sizes)))]

    @property
    def keys(self) -> list[str]:
        """Names of the columns that what a record is published as is packed into."""
        return [f"k{number}" for number in range(len(shares_of_words(self.key_sizes)))]

    @property
    def key_sizes(self) -> list[int]:
        """How many numbers there are for each part of what is published: see :meth:`published_keys`."""
        sizes = []
        for column in self.columns:
            if isinstance(column, FreeColumn):
                sizes += [column.domain_size + 1, column.domain_size + 1]
            else:
                sizes.append(len(column.hierarchy.names) + 1)
        return sizes

    def without_leaf(self) -> tuple[BoolArray, ...]:
        """By column, which values have no leaf."""
        quasi = tuple(codes < 0 for codes in self.codes[: len(self.columns)])
        return (*quasi, *self.no_leaf)

    def published_keys(self, recoding: Recoding) -> list[IntArray]:
        """Numbers of what groups are published as, column by column; they order groups as a release does."""
        keys = []
        for position, column in enumerate(self.columns):
            shown = recoding.shown(position)
            absent = column.is_missing(shown)
            if isinstance(column, FreeColumn):
                keys += [np.where(absent, 0, shown.lo + 1), np.where(absent, 0, shown.hi + 1)]
            else:
                keys.append(np.where(absent, 0, column.order_keys(shown)[0] + 1))
        return [word.astype(np.int64) for word in pack(keys, self.key_sizes)]

    def labels(self, words: Sequence[Any]) -> list[pa.DictionaryArray]:
        """What records are published as, column by column, from the packed numbers."""
        import pyarrow as pa

        keys, at, found = unpack(words, self.key_sizes), 0, []
        for column in self.columns:
            if isinstance(column, FreeColumn):
                pair = keys[at] * (column.domain_size + 1) + keys[at + 1]
                at += 2
                known, which = np.unique(pair, return_inverse=True)
                ends = [divmod(one, column.domain_size + 1) for one in known.tolist()]
                names = [None if lo == 0 else column.intervals.label(lo - 1, hi - 1) for lo, hi in ends]
            else:
                known, which = np.unique(keys[at], return_inverse=True)
                at += 1
                names = [None if key == 0 else column.hierarchy.names[key - 1] for key in known.tolist()]
            numbers = pa.array(which.reshape(-1).astype(np.int32))
            found.append(pa.DictionaryArray.from_arrays(numbers, pa.array(names, pa.string())))
        return found

    def by_code(self, position: int) -> IntArray:
        """Count the records that are left by code of a quasi-identifier."""
        codes, size = self.codes[position], self.columns[position].domain_size
        there = codes >= 0
        found = np.zeros(size, np.int64)
        np.add.at(found, codes[there], self.counts[position][there])
        return found


def _spread(places: IntArray, found: Any, size: int, otherwise: Any) -> Any:
    """Put what is known of some values at their places among all of them."""
    whole = np.full(size, otherwise, np.asarray(found).dtype)
    whole[places] = found
    return whole


@dataclass(frozen=True, eq=False)
class SummedMicrodata(Microdata):
    """Microdata of which only this is here: columns, how many records there are, and how many have each code.

    Attributes
    ----------
    left
        How many records are not withheld.
    persons
        How many persons they are.
    by_code
        How many of them have each code, by quasi-identifier.
    gone
        How many records are withheld.
    """

    left: int = 0
    persons: int = 0
    by_code: tuple[IntArray, ...] = field(default_factory=tuple)
    gone: int = 0

    @classmethod
    def of(cls, book: Book, records: int, persons: int, gone: int) -> SummedMicrodata:
        """Say what is known of the records that are left."""
        none = np.zeros(0, np.int64)
        nothing = np.zeros((0, len(book.columns)), np.uint32)
        by_code = tuple(book.by_code(position) for position in range(len(book.columns)))
        return cls(
            book.columns, book.index_order, nothing, np.zeros(1, np.int64), none, None, none, book.sensitive,
            np.zeros((0, len(book.sensitive)), np.int64), left=records, persons=persons, by_code=by_code, gone=gone,
        )  # fmt: skip

    @property
    def records(self) -> int:
        """Number of records, with those that are withheld."""
        return self.left + self.gone

    def people(self) -> int:
        """Return the number of persons."""
        return self.persons

    def records_by_code(self, position: int) -> IntArray:
        """Count the records of every code of a quasi-identifier."""
        return self.by_code[position]
