"""Counting with DuckDB, on raw values: groups, labels, pairs, differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

IntArray = npt.NDArray[np.int64]


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

    def groups(self, columns: Sequence[pa.ChunkedArray], rows: int, persons: pa.ChunkedArray | None) -> Groups:
        """Count the groups of rows that agree in all columns; missing is a value of its own."""
        if rows == 0:
            return Groups(0, 0, 0, None if persons is None else 0)
        table = {f"c{i}": column for i, column in enumerate(columns)}
        if persons is not None:
            table["person"] = persons
        by = ", ".join(f"c{i}" for i in range(len(columns))) or "()"
        counted = "count(DISTINCT person)" if persons is not None else "0"
        found = self._ask(
            "SELECT count(*), min(size), max(size), min(people) FROM "
            f"(SELECT count(*) AS size, {counted} AS people FROM cells GROUP BY {by})",
            cells=table | {"row": _numbers(rows)},
        )[0]
        return Groups(found[0], found[1], found[2], None if persons is None else found[3])

    def group_of(self, columns: Sequence[pa.ChunkedArray], rows: int) -> IntArray:
        """Return the group of every row; groups are numbered from 0 in the order in which they first appear."""
        by = ", ".join(f"c{i}" for i in range(len(columns)))
        first = self._table(
            f"SELECT row, min(row) OVER ({f'PARTITION BY {by}' if by else ''}) AS first FROM cells",
            cells={f"c{i}": column for i, column in enumerate(columns)} | {"row": _numbers(rows)},
        )
        group_of = np.empty(rows, np.int64)
        group_of[first.column("row").to_numpy() - 1] = np.unique(first.column("first").to_numpy(), return_inverse=True)[
            1
        ]
        return group_of

    def labels(self, column: pa.ChunkedArray) -> list[tuple[str | None, int, int]]:
        """Return every distinct cell with its count and the first row that has it."""
        return self._ask(
            "SELECT label, count(*), min(row) FROM cells GROUP BY label",
            cells={"label": column, "row": _numbers(len(column))},
        )

    def pairs(
        self, original: pa.ChunkedArray, published: pa.ChunkedArray
    ) -> list[tuple[str | None, str | None, int, int]]:
        """Return every distinct pair of an original and a published cell with its count and its first row."""
        return self._ask(
            "SELECT value, label, count(*), min(row) FROM cells GROUP BY value, label",
            cells={"value": original, "label": published, "row": _numbers(len(published))},
        )

    def differences(self, original: pa.ChunkedArray, published: pa.ChunkedArray) -> tuple[int, int]:
        """Return how many rows differ, missing being equal to missing only, and the first that does."""
        found = self._ask(
            "SELECT count(*), coalesce(min(row), 0) FROM cells WHERE value IS DISTINCT FROM label",
            cells={"value": original, "label": published, "row": _numbers(len(published))},
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


def _numbers(rows: int) -> pa.Array:
    """Number rows from 1."""
    import pyarrow as pa

    return pa.array(np.arange(1, rows + 1))
