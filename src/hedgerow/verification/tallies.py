"""Counting with DuckDB, on raw values: groups, labels, pairs, differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

IntArray = npt.NDArray[np.int64]
Counts = IntArray | None
"""How many rows each row stands for; None: one each."""


@dataclass(frozen=True)
class Groups:
    """Number of groups, rows of the smallest and the largest, and persons of the one with fewest."""

    groups: int
    smallest: int
    largest: int
    fewest_persons: int | None


@dataclass(frozen=True)
class Tallies:
    """A connection to an in-memory database that reads no files and loads no extensions."""

    connection: duckdb.DuckDBPyConnection

    @classmethod
    def open(cls) -> Tallies:
        """Open a database that keeps to memory: private values must not be spilled beside the user's files."""
        import duckdb

        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "enable_external_access": "false",
            "temp_directory": "",
        }
        return cls(duckdb.connect(":memory:", config=settings))

    def close(self) -> None:
        """Close the database."""
        self.connection.close()

    def groups(
        self, columns: Sequence[pa.ChunkedArray], rows: int, persons: pa.ChunkedArray | None, counts: Counts = None
    ) -> Groups:
        """Count the groups of rows that agree in all columns; missing is a value of its own."""
        if rows == 0:
            return Groups(0, 0, 0, None if persons is None else 0)
        table = _cells(columns) | _numbers(rows, counts)
        if persons is not None:
            table["person"] = persons
        by = ", ".join(f"c{i}" for i in range(len(columns))) or "()"
        counted = "count(DISTINCT person)" if persons is not None else "0"
        found = self._ask(
            "SELECT count(*), min(size), max(size), min(people) FROM "
            f"(SELECT CAST(sum(n) AS BIGINT) AS size, {counted} AS people FROM cells GROUP BY {by})",
            cells=table,
        )[0]
        return Groups(found[0], found[1], found[2], None if persons is None else found[3])

    def group_of(self, columns: Sequence[pa.ChunkedArray], rows: int, order: IntArray | None = None) -> IntArray:
        """Return the group of every row; groups are numbered from 0 in the order in which they first appear.

        That is the order of the rows, or of the numbers ``order``.
        """
        by = ", ".join(f"c{i}" for i in range(len(columns)))
        numbers = _numbers(rows)
        first = self._table(
            f"SELECT row, min(place) OVER ({f'PARTITION BY {by}' if by else ''}) AS first FROM cells",
            cells=_cells(columns) | numbers | {"place": numbers["row"] if order is None else order},
        )
        group_of = np.empty(rows, np.int64)
        group_of[first.column("row").to_numpy() - 1] = np.unique(first.column("first").to_numpy(), return_inverse=True)[
            1
        ]
        return group_of

    def labels(self, column: pa.ChunkedArray, counts: Counts = None) -> list[tuple[str | None, int, int]]:
        """Return every distinct cell with its count and the first row that has it."""
        found = self._ask(
            "SELECT c0, CAST(sum(n) AS BIGINT), min(row) FROM cells GROUP BY c0",
            cells=_cells([column]) | _numbers(len(column), counts),
        )
        text = _texts(column)
        return [(text(cell), count, row) for cell, count, row in found]

    def pairs(
        self, original: pa.ChunkedArray, published: pa.ChunkedArray, counts: Counts = None
    ) -> list[tuple[str | None, str | None, int, int]]:
        """Return every distinct pair of an original and a published cell with its count and its first row."""
        found = self._ask(
            "SELECT c0, c1, CAST(sum(n) AS BIGINT), min(row) FROM cells GROUP BY c0, c1",
            cells=_cells([original, published]) | _numbers(len(published), counts),
        )
        value, label = _texts(original), _texts(published)
        return [(value(cell), label(other), count, row) for cell, other, count, row in found]

    def count_stream(self, batches: Iterator[Mapping[str, Any]], columns: int, person: bool) -> pa.Table:
        """Count the distinct rows of batches with numbers c0, c1 and so on, and ``row``: n of them, and the first.

        A key p of persons is replaced by its place in the order of all keys, from 1.
        """
        import pyarrow as pa

        by = [*(f"c{i}" for i in range(columns)), *(["p"] if person else [])]
        tables = (pa.record_batch(dict(batch)) for batch in batches)
        start = next(tables, None)
        if start is None:
            start = pa.record_batch({name: pa.array([], pa.int32()) for name in [*by, "row"]})
        rows = pa.RecordBatchReader.from_batches(start.schema, itertools.chain([start], tables))
        numbered = "CASE WHEN p IS NOT NULL THEN dense_rank() OVER (ORDER BY p NULLS LAST) END AS p"
        found = [numbered if name == "p" else name for name in by]
        counted = ", ".join([*by, "count(*) AS n", "min(row) AS first"])
        grouped = f"SELECT {counted} FROM rows GROUP BY {', '.join(by) or '()'}"
        self.connection.register("rows", rows)
        try:
            return self.connection.sql(
                f"SELECT {', '.join([*found, 'n', 'first'])} FROM ({grouped}) WHERE n > 0"
            ).to_arrow_table()
        finally:
            self.connection.unregister("rows")

    def fingerprints(self, columns: Sequence[pa.ChunkedArray]) -> npt.NDArray[np.uint64]:
        """Return a number for every row, such that different rows have different numbers, all but certainly."""
        cells = {f"c{i}": column for i, column in enumerate(columns)}
        found = self._table(f"SELECT hash({', '.join(cells)}) AS mark FROM cells", cells=cells)
        return np.asarray(found.column("mark").to_numpy(), np.uint64)

    def differences(self, original: pa.ChunkedArray, published: pa.ChunkedArray) -> tuple[int, int]:
        """Return how many rows differ, missing being equal to missing only, and the first that does."""
        found = self._ask(
            "SELECT count(*), coalesce(min(row), 0) FROM cells WHERE value IS DISTINCT FROM label",
            cells={"value": original, "label": published} | _numbers(len(published)),
        )[0]
        return found[0], found[1]

    def surplus(self, published: pa.ChunkedArray, original: pa.ChunkedArray) -> int:
        """Return how many published cells remain when each takes an equal original cell away."""
        found = self._ask(
            "SELECT count(*) FROM (SELECT label FROM released EXCEPT ALL SELECT label FROM known)",
            released={"label": published},
            known={"label": original},
        )[0]
        return int(found[0])

    def _ask(self, query: str, **tables: Mapping[str, Any]) -> list[Any]:
        answer = self._table(query, **tables)
        return list(zip(*(column.to_pylist() for column in answer.columns), strict=True))

    def _table(self, query: str, **tables: Mapping[str, Any]) -> pa.Table:
        import pyarrow as pa

        for name, columns in tables.items():
            self.connection.register(name, pa.table(dict(columns)))
        try:
            return self.connection.sql(query).to_arrow_table()
        finally:
            for name in tables:
                self.connection.unregister(name)


def _cells(columns: Sequence[pa.ChunkedArray]) -> dict[str, Any]:
    """Return columns as they are counted: text as it is, dictionary-encoded text by its numbers."""
    import pyarrow as pa

    return {
        f"c{i}": pa.chunked_array([chunk.indices for chunk in column.unify_dictionaries().chunks], pa.int32())
        if pa.types.is_dictionary(column.type)
        else column
        for i, column in enumerate(columns)
    }


def _texts(column: pa.ChunkedArray) -> Callable[[Any], str | None]:
    """Return what turns a counted cell back to text."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return lambda cell: None if cell is None else str(cell)
    whole = column.unify_dictionaries()
    labels = whole.chunk(0).dictionary.to_pylist() if whole.num_chunks else []
    return lambda cell: None if cell is None else labels[cell]


def _numbers(rows: int, counts: Counts = None) -> dict[str, Any]:
    """Number rows from 1, and say how many rows each stands for; such rows have no numbers of their own."""
    import pyarrow as pa

    numbers = pa.array(np.arange(1, rows + 1))
    if counts is None:
        return {"row": numbers, "n": pa.array(np.ones(rows, np.int8))}
    return {"row": pa.array(np.zeros(rows, np.int64)), "n": pa.array(counts)}
