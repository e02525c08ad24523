"""Counting equal rows, batch by batch, so that all rows are never held: a table that was read, in counted form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import IntArray
from hedgerow.verification.counting.tallies import Tallies
from hedgerow.verification.reading.cells import Kind, as_text, kind_of, map_distinct, narrowest, read_as

if TYPE_CHECKING:
    import pyarrow as pa

Codes = npt.NDArray[np.int32]
MISSING = -1
KINDS: Mapping[str, Kind] = {
    "integer": "number",
    "decimal": "number",
    "float": "float",
    "boolean": "truth",
    "date": "date",
    "timestamp": "moment",
}
"""What columns of a database hold that it may hand over as text."""


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Distinct rows, and how many rows each stands for.

    Attributes
    ----------
    columns
        The cells, as dictionary-encoded text.
    kinds
        What the columns held before.
    counts
        How many rows.
    first
        The first of them, from 1, where rows have an order.
    persons
        The number of the person behind them, where asked for; −1: none.
    """

    columns: Mapping[str, pa.ChunkedArray]
    kinds: Mapping[str, Kind]
    counts: IntArray
    first: IntArray | None = None
    persons: IntArray | None = None


@dataclass
class Encoder:
    """Gives every distinct cell of a column, as text, a number: batch after batch.

    Attributes
    ----------
    declared
        What the column holds, as a database says.
    kind
        What it holds, as its cells show.
    parse
        Whether the cells come as text that stands for something else, so that 1.50 and 1.5 are one number.
    numbers
        The number of every text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> encoder = Encoder()
    >>> encoder.encode(pa.array([7, None, 5])), encoder.encode(pa.array([5, 3, 7]))
    (array([ 0, -1,  1], dtype=int32), array([1, 2, 0], dtype=int32))
    >>> encoder.column(np.array([2, -1], np.int32)).to_pylist(), encoder.kind
    (['3', None], 'number')
    """

    declared: str = "other"
    kind: Kind = "text"
    parse: bool = False
    numbers: dict[str, int] = field(default_factory=dict)

    def encode(self, cells: pa.Array) -> Codes:
        """Number the cells of a batch; −1 is missing."""
        cells = plain(cells)
        self.kind, self.parse = read_kind(cells, self.declared)
        known = distinct(cells)
        numbers = self.numbers
        texts = _texts(known.dictionary)
        found = [MISSING if text is None else numbers.setdefault(text, len(numbers)) for text in texts]
        lookup: Codes = np.array([*found, MISSING], np.int32)
        return lookup[_numbers(known.indices)]  # −1, missing, is the last

    def read(self, chunks: Iterable[pa.Array]) -> pa.ChunkedArray:
        """Number the cells of several chunks and return them by their numbers: dictionary-encoded text."""
        return self.column(np.concatenate([np.zeros(0, np.int32), *map(self.encode, chunks)]))

    def column(self, codes: Codes) -> pa.ChunkedArray:
        """Return cells by their numbers."""
        import pyarrow as pa

        labels = pa.array(list(self.numbers), pa.string())
        indices = pa.array(codes.astype(narrowest(len(labels)), copy=False), mask=codes == MISSING)
        column = pa.chunked_array([pa.DictionaryArray.from_arrays(indices, labels)])
        return map_distinct(column, read_as(self.kind)) if self.parse else column


def read_kind(cells: pa.Array, declared: str) -> tuple[Kind, bool]:
    """Return what cells hold, and whether they are text that stands for it."""
    kind = kind_of(cells)
    return (KINDS[declared], True) if kind == "text" and declared in KINDS else (kind, False)


def text_of(cells: pa.Array, declared: str = "other") -> tuple[pa.ChunkedArray, Kind]:
    """Return cells as text, and what they hold."""
    import pyarrow as pa

    cells = plain(cells)
    kind, parse = read_kind(cells, declared)
    column = as_text(pa.chunked_array([cells]))
    return map_distinct(column, read_as(kind)) if parse else column, kind


def plain(cells: pa.Array) -> pa.Array:
    """Return cells without what a driver wraps them in."""
    import pyarrow as pa

    while isinstance(cells.type, pa.BaseExtensionType):
        cells = cells.storage
    return cells


def distinct(cells: pa.Array) -> pa.DictionaryArray:
    """Dictionary-encode cells, of whatever type."""
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        return cells
    if pa.types.is_nested(cells.type):
        cells = as_text(pa.chunked_array([cells])).combine_chunks()
    return cells.dictionary_encode()


def _texts(values: pa.Array) -> list[str | None]:
    import pyarrow as pa

    return list(as_text(pa.chunked_array([values])).to_pylist())


def collect(batches: Iterable[pa.RecordBatch], names: Sequence[str], kinds: Sequence[str], person: bool) -> CountedRows:
    """Take over rows that were counted: one column for every name, the person if there is one, and the count."""
    encoders = [Encoder(declared=kind) for kind in kinds]
    codes: list[list[Codes]] = [[] for _ in names]
    counts, persons = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for batch in batches:
        for encoder, found, cells in zip(encoders, codes, batch.columns, strict=False):
            found.append(encoder.encode(cells))
        counts.append(_numbers(batch.column(batch.num_columns - 1)))
        if person:
            persons.append(_numbers(batch.column(len(names))))
    columns = {
        name: encoder.column(np.concatenate([np.zeros(0, np.int32), *found]))
        for name, encoder, found in zip(names, encoders, codes, strict=True)
    }
    kinds_found = {name: encoder.kind for name, encoder in zip(names, encoders, strict=True)}
    rows = CountedRows(columns, kinds_found, np.concatenate(counts), None, np.concatenate(persons) if person else None)
    return rows if names or rows.counts.any() else CountedRows({}, {}, np.zeros(0, np.int64))


def count(batches: Iterator[pa.RecordBatch], names: Sequence[str], person: bool = False) -> CountedRows:
    """Count the distinct rows of batches that have one column for every name, and then the person if there is one."""
    encoders = [Encoder() for _ in names]
    failures: list[Exception] = []
    tallies = Tallies.open()  # one that is closed at once: it does not give memory back before
    try:
        found = tallies.count_stream(_encoded(batches, encoders, person, failures), len(names), person)
    finally:
        tallies.close()
    if failures:  # what goes wrong while DuckDB reads would come back in its words, which may hold cells
        raise failures[0]
    columns = {
        name: encoder.column(found.column(f"c{number}").to_numpy())
        for number, (name, encoder) in enumerate(zip(names, encoders, strict=True))
    }
    kinds = {name: encoder.kind for name, encoder in zip(names, encoders, strict=True)}
    first, counts = found.column("first").to_numpy(), found.column("n").to_numpy()
    return CountedRows(columns, kinds, counts, first, _numbers(found.column("p")) if person else None)


def _encoded(
    batches: Iterator[pa.RecordBatch], encoders: list[Encoder], person: bool, failures: list[Exception]
) -> Iterator[dict[str, Any]]:
    row = 1
    try:
        for batch in batches:
            table: dict[str, Any] = {
                f"c{number}": encoder.encode(batch.column(number)) for number, encoder in enumerate(encoders)
            }
            if person:
                table["p"] = plain(batch.column(len(encoders)))
            table["row"] = np.arange(row, row + batch.num_rows)
            row += batch.num_rows
            yield table
    except Exception as error:
        failures.append(error)


def _numbers(cells: pa.Array | pa.ChunkedArray) -> IntArray:
    """Return whole numbers; −1 is missing."""
    import pyarrow as pa

    return np.asarray(cells.cast(pa.int64()).fill_null(MISSING).to_numpy(), np.int64)
