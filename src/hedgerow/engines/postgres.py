"""PostgreSQL as an engine: everything in one transaction of one connection, so that all statements see the same rows.

Temporary tables are filled by COPY. The released table is made by one statement under a hidden name, verified, and
renamed; only the end of the transaction shows it. A client that dies leaves nothing: the server undoes it all.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.engines.place import TablePlace, quoted
from hedgerow.engines.sql import Column, Kind
from hedgerow.errors import DataError, Problem
from hedgerow.plan import DataFormat
from hedgerow.server import connect, find_driver

if TYPE_CHECKING:
    import pyarrow as pa

KINDS: dict[str, Kind] = {
    "text": "text",
    "varchar": "text",
    "bool": "boolean",
    "date": "date",
    "int2": "integer",
    "int4": "integer",
    "int8": "integer",
    "float4": "float",
    "float8": "float",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
}
MARK = "hedgerow"
"""Begins the comment of a table that is a release: only such a table is replaced."""

#: What the server's codes mean, and what to do about it.
MEANINGS = {
    "42501": ("no-right", "The role has no right to do this.", "ask for the rights that the documentation lists"),
    "25006": ("output", "The database may be read but not written to.", "use the server that takes changes"),
    "42P01": ("no-table", "There is no such table.", "check the schema and the name; capitals count"),
    "3F000": ("no-table", "There is no such schema.", "check its name; capitals count"),
    "42P07": ("output-in-use", "A table of that name was made meanwhile.", "choose another name, or --replace"),
    "55P03": ("no-connection", "Somebody else holds the table.", "run it again"),
    "40P01": ("no-connection", "Somebody else holds the table.", "run it again"),
    "57014": ("no-connection", "The server stopped the statement.", "ask for a longer statement_timeout"),
    "2BP01": ("output-in-use", "Other objects of the database need the table.", "choose another name"),
}


class PostgresSession:
    """A table or view on a server."""

    library = "pyarrow"
    text_type = "TEXT"
    binary = ' COLLATE "C"'
    as_text = frozenset({"text", "decimal", "other"})
    format: DataFormat | None = None
    file: Path | None = None

    def __init__(self, place: TablePlace) -> None:
        self._driver = find_driver("A table on a PostgreSQL server")
        self.at = place
        self.place = place.shown
        self.source = place.sql
        self._connection = connect(self._driver, place.url, place.shown)
        try:
            self.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
            self.run("SET LOCAL TimeZone = 'UTC'")
        except BaseException:
            self.close()
            raise

    # -- what every session offers -----------------------------------------------------------------------------------

    def quote(self, name: str) -> str:
        """Write a name."""
        return quoted(name)

    def literal(self, text: str) -> str:
        """Write a text; a backslash means itself whatever the server's settings are."""
        plain = text.replace("'", "''")
        return f"'{plain}'" if "\\" not in text else "E'" + plain.replace("\\", "\\\\") + "'"

    def columns(self) -> tuple[Column, ...]:
        """Return the columns of the table."""
        return self.columns_of(self.at)

    def columns_of(self, place: TablePlace) -> tuple[Column, ...]:
        """Return the columns of a table."""
        found = self.ask(
            "SELECT CAST(a.attname AS TEXT) AS name, CAST(t.typname AS TEXT) AS type, a.atttypmod AS modifier"
            " FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid"
            f" WHERE a.attrelid = pg_catalog.to_regclass({self.literal(place.sql)}) AND a.attnum > 0"
            " AND NOT a.attisdropped ORDER BY a.attnum"
        ).to_pylist()
        if not found:
            raise self._problem("42P01")
        return tuple(_column(row["name"], row["type"], row["modifier"]) for row in found)

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        """Run a query and give its rows in batches as the server sends them."""
        with self._cursor() as cursor:
            cursor.execute(query)
            for batch in cursor.fetch_record_batch():
                yield _plain(batch)

    def ask(self, query: str) -> pa.Table:
        """Run a query of few rows."""
        import pyarrow as pa

        with self._cursor() as cursor:
            cursor.execute(query)
            found = cursor.fetch_arrow_table()
        batches = [_plain(batch) for batch in found.to_batches()]
        return pa.Table.from_batches(batches, batches[0].schema) if batches else found

    def schema_of(self, query: str) -> pa.Schema:
        """Return the columns of a query."""
        import pyarrow as pa

        with self._cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({query}) AS q LIMIT 0")
            schema = cursor.fetch_arrow_table().schema
        empty = pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
        return _plain(empty).schema

    def upload(self, name: str, rows: pa.Table) -> str:
        """Make a temporary table by COPY, replacing one of that name."""
        self.run(f"DROP TABLE IF EXISTS pg_temp.{name}")
        with self._cursor() as cursor:
            cursor.adbc_ingest(name, rows, mode="create", temporary=True)
        self.run(f"ANALYZE pg_temp.{name}")
        return f"pg_temp.{name}"

    def close(self) -> None:
        """Undo what was not committed, and let go of the connection."""
        with contextlib.suppress(self._driver.Error):
            self._connection.close()

    # -- the released table ------------------------------------------------------------------------------------------

    def check_free(self, target: TablePlace, replace: bool) -> None:
        """Refuse a target that exists, or that may not be replaced: only a release may."""
        if not self._exists(target):
            return
        if not replace:
            message = "The output table exists already."
            raise DataError(
                Problem("output-in-use", message, target.shown, "choose another name, or replace it with --replace")
            )
        if not (self.comment(target) or "").startswith(f'{{"{MARK}"'):
            message = "The output table is not a release, so it is not replaced."
            raise DataError(Problem("output-in-use", message, target.shown, "choose another name"))

    def make(self, target: TablePlace, query: str) -> TablePlace:
        """Make a table of a query's rows under a hidden name beside the target."""
        hidden = TablePlace(target.url, target.schema, f".hedgerow-{os.getpid()}", target.shown)
        self.run(f"CREATE TABLE {hidden.sql} AS {query}")
        return hidden

    def fill(self, target: TablePlace, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> TablePlace:
        """Make a table of rows from elsewhere under a hidden name beside the target."""
        import pyarrow as pa

        hidden = TablePlace(target.url, target.schema, f".hedgerow-{os.getpid()}", target.shown)
        columns = ", ".join(f"{quoted(field.name)} {_type_name(field.type)}" for field in schema)
        self.run(f"CREATE TABLE {hidden.sql} ({columns})")
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        with self._cursor() as cursor:
            cursor.adbc_ingest(hidden.table, reader, mode="append", db_schema_name=hidden.schema)
        return hidden

    def show(self, hidden: TablePlace, target: TablePlace, comment: str, replace: bool) -> None:
        """Put a table into place, with its comment, and end the transaction."""
        self.run(f"COMMENT ON TABLE {hidden.sql} IS {self.literal(comment)}")
        if replace and self._exists(target):
            self.check_free(target, replace)
            self.run(f"DROP TABLE {target.sql}")
        self.run(f"ALTER TABLE {hidden.sql} RENAME TO {quoted(target.table)}")
        self.run("COMMIT")

    def comment(self, place: TablePlace) -> str | None:
        """Return the comment of a table."""
        found = self.ask(
            f"SELECT pg_catalog.obj_description(pg_catalog.to_regclass({self.literal(place.sql)}), 'pg_class') AS text"
        )
        text: str | None = found.column("text")[0].as_py()
        return text

    def _exists(self, place: TablePlace) -> bool:
        found = self.ask(f"SELECT pg_catalog.to_regclass({self.literal(place.sql)}) IS NOT NULL AS there")
        return bool(found.column("there")[0].as_py())

    # -- statements --------------------------------------------------------------------------------------------------

    def run(self, statement: str) -> None:
        """Run a statement that gives no rows."""
        with self._cursor() as cursor:
            cursor.execute(statement)

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[Any]:
        """Yield a cursor; say in our own words what went wrong: the server's may hold a value of a record."""
        try:
            with self._connection.cursor() as cursor:
                yield cursor
        except self._driver.Error as error:
            raise self._problem(getattr(error, "sqlstate", None)) from None

    def _problem(self, state: str | None) -> DataError:
        same = "Nothing was written."
        if state is None or state.startswith(("08", "57P")):
            message, code, hint = "The connection to the database was lost.", "no-connection", "run it again"
        elif state.startswith("53"):
            message, code, hint = "The server has no room left: disk, memory or connections.", "output", "make room"
        elif state in MEANINGS:
            code, message, hint = MEANINGS[state]
        else:
            message, code = f"The server could not do what was asked (SQLSTATE {state}).", "output"
            hint = "the server's log tells more"
        return DataError(Problem(code, f"{message} {same}", self.place, hint))


def _column(name: str, type_name: str, modifier: int) -> Column:
    import pyarrow as pa

    if type_name != "numeric":
        return Column(name, KINDS.get(type_name, "other"))
    size = _decimal(modifier)
    return Column(name, "other") if size is None else Column(name, "decimal", pa.decimal128(*size))


def _type_name(kind: pa.DataType) -> str:
    """Return the type that a column of some Arrow type gets on the server."""
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return f"NUMERIC({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz is None else "TIMESTAMPTZ"
    names = {"int8": "SMALLINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "uint8": "SMALLINT",
             "uint16": "INTEGER", "uint32": "BIGINT", "float": "REAL", "double": "DOUBLE PRECISION",
             "bool": "BOOLEAN", "date32[day]": "DATE"}  # fmt: skip
    return names.get(str(kind), "TEXT")


def _decimal(modifier: int) -> tuple[int, int] | None:
    """Read the digits, and those after the point, of a numeric type; None if it has none, or more than fit."""
    if modifier < 4:
        return None
    digits, after = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    return (digits, after) if digits <= 38 and after <= digits else None


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Turn types of the driver's own into plain ones: decimals with fixed digits, everything else text."""
    import pyarrow as pa

    columns, fields = [], []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if isinstance(column, pa.ExtensionArray):
            column = column.storage
            modifier = (field.metadata or {}).get(b"POSTGRESQL:typmod", b"-1")
            size = _decimal(int(modifier)) if re.fullmatch(rb"-?\d+", modifier) else None
            if pa.types.is_string(column.type) and size is not None:
                column = column.cast(pa.decimal128(*size))
        columns.append(column)
        fields.append(pa.field(field.name, column.type))
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
