"""Reading a table in counted form from where it lies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem
from hedgerow.plan import DataFormat, Plan
from hedgerow.verification.counting.distinct_rows import CountedRows, collect, count, text_of
from hedgerow.verification.counting.fingerprints import Fingerprints
from hedgerow.verification.counting.statements import count_rows, count_surplus, fetch_rows
from hedgerow.verification.counting.tallies import Tallies
from hedgerow.verification.reading import formats
from hedgerow.verification.reading.cells import Kind, decoded, map_distinct, read_as, trim
from hedgerow.verification.reading.original import Original, meant, positions
from hedgerow.verification.reading.places import InDatabase, Where
from hedgerow.verification.reading.published import Published
from hedgerow.verification.reading.stated import read_facts
from hedgerow.verification.reading.tables import OpenTable, open_in_memory
from hedgerow.verification.values.treatments import TreatedColumn

if TYPE_CHECKING:
    import pyarrow as pa


class Source(ABC):
    """A table that is counted, or read batch by batch.

    Attributes
    ----------
    header
        The names of all its columns, in order.
    place
        How messages name it.
    """

    header: tuple[str, ...]
    place: str

    @abstractmethod
    def count(self, names: Sequence[str], person: str | None, missing: Sequence[str]) -> CountedRows:
        """Count the distinct rows of some columns and, where asked for, of the number of the person."""

    @abstractmethod
    def batches(self, names: Sequence[str]) -> Iterator[list[tuple[pa.ChunkedArray, Kind]]]:
        """Return all rows of some columns in batches: each column as text, and what it holds."""


@dataclass(frozen=True)
class DatabaseSource(Source):
    """A table in a database: the rows are counted there."""

    table: InDatabase

    @property
    def header(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of its columns."""
        return tuple(name for name, _ in self.table.columns)

    @property
    def place(self) -> str:  # type: ignore[override]
        """How statements name it."""
        return self.table.relation

    def count(self, names: Sequence[str], person: str | None, missing: Sequence[str]) -> CountedRows:
        """Count the distinct rows on the spot."""
        kinds = dict(self.table.columns)
        batches = self.table.lender.stream(count_rows(self.table, names, person, missing))
        return collect(batches, names, [kinds[name] for name in names], person is not None)

    def batches(self, names: Sequence[str]) -> Iterator[list[tuple[pa.ChunkedArray, Kind]]]:
        """Fetch the rows, a batch at a time."""
        kinds = dict(self.table.columns)
        for batch in self.table.lender.stream(fetch_rows(self.table, names)):
            yield [text_of(cells, kinds[name]) for name, cells in zip(names, batch.columns, strict=True)]


@dataclass(frozen=True)
class FileSource(Source):
    """A file, a folder of files or a table in memory, read in batches."""

    opened: OpenTable

    @property
    def header(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of its columns."""
        return self.opened.header

    @property
    def place(self) -> str:  # type: ignore[override]
        """The path."""
        return self.opened.place

    def count(self, names: Sequence[str], person: str | None, missing: Sequence[str]) -> CountedRows:
        """Count the distinct rows in a database of our own."""
        at = self._at([*names, *([person] if person is not None else [])])
        batches = self.opened.batches(at)
        if person is not None:
            batches = (_with_key_trimmed(batch, missing) for batch in batches)
        rows = count(batches, names, person is not None)
        if not self.opened.guarded:
            return rows
        return replace(rows, columns={name: self.opened.meant(name, column) for name, column in rows.columns.items()})

    def batches(self, names: Sequence[str]) -> Iterator[list[tuple[pa.ChunkedArray, Kind]]]:
        """Read the rows, a batch at a time."""
        for batch in self.opened.batches(self._at(names)):
            columns = [text_of(cells) for cells in batch.columns]
            if self.opened.guarded:
                columns = [
                    (self.opened.meant(name, column), kind) for name, (column, kind) in zip(names, columns, strict=True)
                ]
            yield columns

    def _at(self, names: Sequence[str]) -> list[int]:
        return [self.header.index(name) for name in names]


def _with_key_trimmed(batch: pa.RecordBatch, missing: Sequence[str]) -> pa.RecordBatch:
    """Trim the last column, if it is text."""
    import pyarrow as pa

    key = pa.chunked_array([batch.column(batch.num_columns - 1)])
    if pa.types.is_dictionary(key.type):
        key = decoded(key)
    if pa.types.is_string(key.type) or pa.types.is_large_string(key.type):
        key = trim(key.cast(pa.string()), missing)
    arrays = [*batch.columns[:-1], key.combine_chunks()]
    return pa.RecordBatch.from_arrays(arrays, [f"f{number}" for number in range(len(arrays))])


# -- the release -----------------------------------------------------------------------------------------------------


def open_released(where: Where, plan: Plan | None = None) -> Source:
    """Open the table of a release; of some formats only the plan tells what their cells mean."""
    if isinstance(where, InDatabase):
        return DatabaseSource(where)
    return FileSource(formats.open_released(Path(where.path), plan))


def count_released(source: Source, plan: Plan, facts: Mapping[str, Any]) -> Published:
    """Count the quasi-identifiers and the sensitive columns of a release together."""
    names = [name for name in (*plan.quasi_identifiers, *plan.columns("sensitive")) if name in source.header]
    rows = source.count(names, None, ())
    sound, faults = read_facts(facts, plan)
    total = int(rows.counts.sum())
    return Published(
        plan, sound, tuple(faults), source.header, rows.columns, rows.kinds, total, rows.counts, rows.first
    )


# -- the original ----------------------------------------------------------------------------------------------------


def open_original(where: Where, form: DataFormat) -> Source:
    """Open the table that a release was made from."""
    if isinstance(where, InDatabase):
        return DatabaseSource(where)
    if not isinstance(where.path, str | Path):
        return FileSource(open_in_memory(where.path, "data"))
    path = Path(where.path)
    if not path.exists():
        raise DataError(Problem("no-file", "The original does not exist or is no file.", str(path), "check the path"))
    return FileSource(formats.open_original(path, form))


def count_original(source: Source, plan: Plan, persons: bool) -> Original:
    """Count the quasi-identifiers, the sensitive columns and, where asked for, the persons of the original together."""
    names = [*plan.quasi_identifiers, *plan.columns("sensitive")]
    person = plan.person if persons else None
    needed = dict.fromkeys([*plan.released_columns, *([person] if person is not None else [])])
    positions(source.header, list(needed), source.place)
    rows = source.count(names, person, () if person is None else plan.data.markers(person))
    columns = {name: meant(column, name, plan, rows.kinds[name]) for name, column in rows.columns.items()}
    return Original(columns, rows.kinds, int(rows.counts.sum()), rows.counts, rows.persons)


# -- columns that are released as they are ---------------------------------------------------------------------------


def surplus(
    released: Source,
    original: Source,
    names: Sequence[str],
    form: DataFormat,
    tallies: Tallies,
    rules: Mapping[str, TreatedColumn] | None = None,
) -> int:
    """Return how many released rows of some columns remain when each takes an equal row of the original away.

    Where both lie in one database, it compares them. Otherwise both are read, and only a fingerprint of each row is
    kept; so they are where ``rules`` say how values of the original are treated first.
    """
    if not rules and isinstance(released, DatabaseSource) and isinstance(original, DatabaseSource):
        here, there = released.table, original.table
        if here.lender is there.lender:
            found = here.lender.ask(count_surplus(here, there, names, form))
            return int(found.column(0)[0].as_py())
    known, shown = Fingerprints(tallies), Fingerprints(tallies)
    kinds: list[Kind] = ["text"] * len(names)
    for columns in original.batches(names):
        kinds = [kind for _, kind in columns]
        known.add(
            [
                _treated(trim(column, form.markers(name)) if kind == "text" else column, (rules or {}).get(name), kind)
                for name, (column, kind) in zip(names, columns, strict=True)
            ]
        )
    empty = [text for text in form.missing if not text]
    for columns in released.batches(names):
        shown.add(
            [column if own != "text" else _written_as(kind, trim(column, empty))
             for (column, own), kind in zip(columns, kinds, strict=True)]
        )  # fmt: skip
    return shown.surplus(known)


def _treated(column: pa.ChunkedArray, rule: TreatedColumn | None, kind: Kind) -> pa.ChunkedArray:
    return column if rule is None else map_distinct(column, lambda value: rule.of_value(value, kind == "text"))


def _written_as(kind: Kind, column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column if kind == "text" else map_distinct(column, read_as(kind))
