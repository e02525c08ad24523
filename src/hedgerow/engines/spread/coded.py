"""Records as tasks see them: the numbers of their values, packed, the key of the person, and how many are alike."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.engines.spread.book import Book
from hedgerow.microdata import Microdata
from hedgerow.microdata.columns import Encoded, QuasiIdentifier
from hedgerow.microdata.microdata import collapse
from hedgerow.microdata.ordering import pack, unpack
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK = 1 << 18
"""Rows that are worked on together where they need not all be."""
PERSON = "p"


@dataclass(frozen=True, eq=False)
class Sent:
    """What goes along with every task.

    Attributes
    ----------
    book
        The columns.
    person
        Whether records have a person key.
    cache
        Where compiled kernels are kept, if the driver was told.
    """

    book: Book
    person: bool
    cache: str | None

    def settle(self) -> None:
        """Let kernels be found where the driver keeps them."""
        if self.cache is not None:
            os.environ.setdefault("HEDGEROW_CACHE", self.cache)

    @property
    def names(self) -> list[str]:
        """The columns that records are told apart by."""
        return [*self.book.words, *([PERSON] if self.person else [])]


def gathered(batches: Iterable[pa.RecordBatch], rows: int = CHUNK) -> Iterator[pa.Table]:
    """Put batches together to tables of some size."""
    import pyarrow as pa

    some: list[Any] = []
    count = 0
    for batch in batches:
        some.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield pa.Table.from_batches(some).combine_chunks()
            some, count = [], 0
    if count:
        yield pa.Table.from_batches(some).combine_chunks()


def whole(batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
    """Put all batches together; None without rows."""
    return next(gathered(batches, 1 << 62), None)


def summed(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Make one row of all that agree in some columns, ``n`` added up."""
    found = table.group_by(list(names), use_threads=False).aggregate([("n", "sum")])
    return found.rename_columns(["n" if name == "n_sum" else name for name in found.column_names])


def numbers(table: pa.Table, name: str) -> IntArray:
    """Return a column of whole numbers."""
    import pyarrow as pa

    return np.asarray(table.column(name).cast(pa.int64()).to_numpy(), np.int64)


def values_of(book: Book, table: pa.Table) -> list[IntArray]:
    """Return the number of the value of every row in every column."""
    return unpack([numbers(table, name) for name in book.words], book.sizes)


def find_values(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the values of every column by itself: ``j``, the value in a column of the same name, and ``n``."""
    import pyarrow as pa

    for table in gathered(batches):
        for at, name in enumerate(table.column_names):
            counted = table.column(name).combine_chunks().value_counts()
            columns = {other: pa.nulls(len(counted), table.schema.field(other).type) for other in table.column_names}
            columns[name] = counted.field("values")
            j = pa.array(np.full(len(counted), at, np.int32))
            yield pa.record_batch({"j": j, **columns, "n": counted.field("counts")})


def encode_rows(sent: Sent, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Number the values of records and count those that agree; records with a value without a leaf are left out."""
    import pyarrow as pa

    book = sent.book
    lost = book.without_leaf()
    for table in gathered(batches):
        found = found_values(book, table)
        gone = np.zeros(table.num_rows, bool)
        for of_column, without in zip(found, lost, strict=True):
            gone |= without[of_column]
        words = pack(found, book.sizes)
        columns = {name: pa.array(word.astype(np.int64)) for name, word in zip(book.words, words, strict=True)}
        if sent.person:
            columns[PERSON] = table.column(PERSON)
        columns["n"] = pa.array(np.ones(table.num_rows, np.int64))
        yield from summed(pa.table(columns).filter(pa.array(~gone)), sent.names).select([*sent.names, "n"]).to_batches()


def found_values(book: Book, table: pa.Table) -> list[IntArray]:
    """Find the values of rows among those of their columns."""
    import pyarrow.compute as pc

    found = []
    for at, values in enumerate(book.values):
        column = table.column(at)
        places = pc.index_in(column.cast(values.type), value_set=values)
        if places.null_count:
            raise ValueError("the data changed while it was read")
        found.append(np.asarray(places.to_numpy(), np.int64))
    return found


def microdata_of(sent: Sent, table: pa.Table, columns: Sequence[QuasiIdentifier] | None = None) -> Microdata:
    """Put the microdata of some records together; its rows are those of the table, which must all differ."""
    book = sent.book
    found = values_of(book, table)
    quasi = len(book.columns)
    encoded = [
        Encoded(column, codes[of_row].astype(np.uint32), None)
        for column, codes, of_row in zip(columns or book.columns, book.codes, found, strict=False)
    ]
    nowhere = np.zeros(0, np.int64)
    sensitive = [
        (column, codes[of_row], nowhere)
        for column, codes, of_row in zip(book.sensitive, book.codes[quasi:], found[quasi:], strict=True)
    ]
    ties = [(rank[of_row], size) for (rank, size), of_row in zip(book.ranks, found[quasi:], strict=True)]
    ties += [(found[at], book.sizes[at]) for at in book.twofold]
    person = None
    if sent.person:
        place, persons = ranked(table.column(PERSON))
        person = (place, persons)
    return collapse(encoded, sensitive, person, ties, numbers(table, "n"), book.index_order)


def ranked(keys: pa.ChunkedArray) -> tuple[IntArray, int]:
    """Number the keys of persons in their order; only these persons are compared."""
    import pyarrow.compute as pc

    found = keys.combine_chunks().dictionary_encode()
    order = pc.array_sort_indices(found.dictionary).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place[found.indices.to_numpy()], max(len(order), 1)
