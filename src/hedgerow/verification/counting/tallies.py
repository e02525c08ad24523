"""Counting with DuckDB what is better not held: the distinct rows of a stream, and a number for every row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


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

    def _table(self, query: str, **tables: Mapping[str, Any]) -> pa.Table:
        import pyarrow as pa

        for name, columns in tables.items():
            self.connection.register(name, pa.table(dict(columns)))
        try:
            return self.connection.sql(query).to_arrow_table()
        finally:
            for name in tables:
                self.connection.unregister(name)
