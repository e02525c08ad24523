"""DuckDB as an engine: files larger than memory, streamed into a private database that is removed at the end."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.engines.dialect import SqlDialect
from hedgerow.engines.hearing import Hearing
from hedgerow.engines.relay import Relay
from hedgerow.engines.sql import Kind, SqlColumn
from hedgerow.errors import DataError, Problem
from hedgerow.microdata.notes import notes_of
from hedgerow.microdata.read import read_batches
from hedgerow.outside.outputs import PrivateFolder
from hedgerow.plan import DataFormat, Plan

if TYPE_CHECKING:
    import pyarrow as pa

KINDS: dict[str, Kind] = {
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "FLOAT": "float",
    "DOUBLE": "float",
    "TINYINT": "integer",
    "SMALLINT": "integer",
    "INTEGER": "integer",
    "BIGINT": "integer",
    "UTINYINT": "integer",
    "USMALLINT": "integer",
    "UINTEGER": "integer",
    "UBIGINT": "integer",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_S": "timestamp",
    "TIMESTAMP_MS": "timestamp",
    "TIMESTAMP_NS": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
}
BATCH = 1 << 18
MEMORY = "3GB"
"""What the database holds in memory before it uses its private folder."""
AT_REST = "256MB"
"""What it keeps of that between statements: while groups are formed and checked, the memory is theirs."""


class DuckDBSession(SqlDialect):
    """A private database that holds the columns which a plan needs of one file or table, and nothing else.

    DuckDB does not tell names apart that differ in capitals only, so columns have names of our own in it.
    """

    source = "records"
    text_type = "VARCHAR"
    binary = ""
    as_text = frozenset({"text", "other"})
    scattered = "HASH({})"

    def __init__(self, data: Any, plan: Plan, library: str, tell: Callable[[int], None] | None = None) -> None:
        import duckdb

        self.library = library
        self.origin = data
        self.place = str(data) if isinstance(data, str | Path) else "data"
        rows = read_batches(data, plan)
        self.format: DataFormat | None = rows.format
        self.notes = notes_of(rows.schema)
        self._names = rows.names
        self._inside = {name: f"column {number}" for number, name in enumerate(rows.schema.names)}
        self._outside = {inside: name for name, inside in self._inside.items()}
        zoned = [
            field for field in rows.schema if str(field.type).startswith("timestamp[") and field.type.tz is not None
        ]
        self._zoned = {field.name: field.type for field in zoned}  # DuckDB keeps neither their unit nor their zone
        self._heard = Hearing(lambda: self._connection.interrupt())
        self._folder = PrivateFolder()
        settings: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": str(self._folder.path / "spilled"),
            "memory_limit": MEMORY,
            "preserve_insertion_order": "false",
        }
        try:
            with self._own_words():
                self._connection = duckdb.connect(str(self._folder.path / "records.db"), config=settings)
                self._connection.execute("SET TimeZone = 'UTC'")
            self._load(rows.schema, rows.batches, tell)
        except BaseException:
            self.close()
            raise

    def _load(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch], tell: Callable[[int], None] | None) -> None:
        import pyarrow as pa

        inside = pa.schema([field.with_name(self._inside[field.name]) for field in schema])

        def told() -> Iterator[pa.RecordBatch]:
            rows = 0
            for batch in batches:
                rows += batch.num_rows
                if tell is not None:
                    tell(rows)
                yield pa.RecordBatch.from_arrays(batch.columns, schema=inside)

        relay = Relay(inside, told())
        try:
            with self._own_words():
                self._connection.register("incoming", relay.reader())
                self._heard(lambda: self._connection.execute("CREATE TABLE records AS SELECT * FROM incoming"))
        except DataError:
            if relay.failed is not None:  # what is wrong with the file, in its own words
                raise relay.failed from None
            raise
        self._connection.unregister("incoming")
        self._rest()

    @property
    def has_zones(self) -> bool:
        """Whether there are moments with a time zone or a unit that the database does not keep."""
        return bool(self._zoned)

    def quote(self, name: str) -> str:
        """Write the name of a column."""
        return '"' + self._inside.get(name, name).replace('"', '""') + '"'

    def literal(self, text: str) -> str:
        """Write a text."""
        return "'" + text.replace("'", "''") + "'"

    def columns(self) -> tuple[SqlColumn, ...]:
        """Return the columns of the source; those that the plan does not need are known by name only."""
        found = self.ask("SELECT column_name, column_type FROM (DESCRIBE records)").to_pylist()
        kinds = {self._outside[row["column_name"]]: kind_of(row["column_type"]) for row in found}
        return tuple(SqlColumn(name, kinds.get(name, "other"), self._zoned.get(name)) for name in self._names)

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        """Run a query and give its rows in batches, in order."""
        import pyarrow as pa

        with self._own_words():
            batches = iter(self._heard(lambda: self._connection.sql(query).to_arrow_reader(BATCH)))
            while (batch := self._heard(lambda: next(batches, None))) is not None:
                yield from self._outward(pa.Table.from_batches([batch])).to_batches()
            batches = iter(())  # let go of the reader
            self._rest()

    def ask(self, query: str) -> pa.Table:
        """Run a query of few rows."""
        with self._own_words():
            return self._outward(self._heard(lambda: self._connection.sql(query).to_arrow_table()))

    def schema_of(self, query: str) -> pa.Schema:
        """Return the columns of a query."""
        return self.ask(f"SELECT * FROM ({query}) AS q LIMIT 0").schema

    def upload(self, name: str, rows: pa.Table) -> str:
        """Make a temporary table, replacing one of that name."""
        self._connection.register("incoming", rows)
        try:
            with self._own_words():
                statement = f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM incoming"
                self._heard(lambda: self._connection.execute(statement))
        finally:
            self._connection.unregister("incoming")
        self._rest()
        return name

    def keep(self, name: str, query: str) -> str:
        """Keep the rows of a query in a temporary table, replacing one of that name."""
        with self._own_words():
            self._heard(lambda: self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}"))
        return name

    def _rest(self) -> None:
        """Give memory back until the next statement; what is in no file yet goes to the private folder."""
        import duckdb

        with contextlib.suppress(duckdb.OutOfMemoryException):  # it keeps what somebody is still reading
            self._heard(lambda: self._connection.execute(f"SET memory_limit = '{AT_REST}'"))
        self._connection.execute(f"SET memory_limit = '{MEMORY}'")

    def close(self) -> None:
        """Close the database and remove it."""
        import duckdb

        try:
            if hasattr(self, "_connection") and not self._heard.stuck:
                with contextlib.suppress(duckdb.Error):  # it goes anyway
                    self._connection.close()
        finally:
            self._folder.remove()

    def _outward(self, found: pa.Table) -> pa.Table:
        """Give columns of the source their own names, and their own types."""
        import pyarrow as pa

        names = [self._outside.get(name, name) for name in found.column_names]
        types = [
            self._zoned.get(name, field.type) if pa.types.is_timestamp(field.type) else field.type  # else coarsened
            for name, field in zip(names, found.schema, strict=True)
        ]
        return found.rename_columns(names).cast(pa.schema(list(zip(names, types, strict=True))))

    @contextlib.contextmanager
    def _own_words(self) -> Iterator[None]:
        """Say what went wrong in our own words: those of the database may hold values."""
        import duckdb
        import pyarrow as pa

        try:
            yield
        except (duckdb.OutOfMemoryException, duckdb.IOException, duckdb.FatalException):
            message = "The work does not fit into memory and the folder for temporary files."
            raise DataError(Problem("output", message, self.place, "free some space, or set TMPDIR")) from None
        except (duckdb.Error, pa.ArrowException):
            message = "The table cannot be worked on: a column holds what the database does not take."
            raise DataError(
                Problem("format", message, self.place, "give text, numbers, dates or truth values")
            ) from None


def kind_of(type_name: str) -> Kind:
    """Return what a column of a type holds."""
    return "decimal" if type_name.startswith("DECIMAL") else KINDS.get(type_name, "other")
