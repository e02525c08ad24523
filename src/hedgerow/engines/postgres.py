"""PostgreSQL as an engine: everything in one transaction of one connection, so that all statements see the same rows.

Temporary tables are filled by COPY. The released table is made by one statement under a hidden name, verified, and
renamed; only the end of the transaction shows it. A client that dies leaves nothing: the server undoes it all.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from hedgerow.engines.dialect import SqlDialect
from hedgerow.engines.hearing import Found, Hearing
from hedgerow.engines.place import MARK, TablePlace, quoted
from hedgerow.engines.relay import Relay
from hedgerow.engines.sql import Kind, SqlColumn
from hedgerow.errors import DataError, DoneBut, HedgerowError, Problem
from hedgerow.outside.outputs.moment import record, suspect, undisturbed
from hedgerow.outside.server import LONGEST, TRANSACTION, connect, find_driver, how_it_ended
from hedgerow.plan import DataFormat

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
CODECS = {
    "LATIN1": "latin-1",
    "LATIN2": "iso8859-2",
    "LATIN5": "iso8859-9",
    "LATIN9": "iso8859-15",
    "WIN1250": "cp1250",
    "WIN1251": "cp1251",
    "WIN1252": "cp1252",
    "WIN1253": "cp1253",
    "WIN1254": "cp1254",
    "WIN1257": "cp1257",
    "KOI8R": "koi8-r",
}
"""What Python calls the encodings of databases that cannot hold every character."""
TYPES = {
    "bool": "BOOLEAN",
    "int8": "SMALLINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "uint8": "SMALLINT",
    "uint16": "INTEGER",
    "uint32": "BIGINT",
    "float": "REAL",
    "double": "DOUBLE PRECISION",
    "date32[day]": "DATE",
    "string": "TEXT",
}
COMPOUND = frozenset("ACGRT")
"""Categories of types whose values are not plain: lists, records, figures, ranges, lengths of time."""
UNPLAIN = frozenset({"bytea", "json", "jsonb", "xml", "tsvector", "tsquery"})
"""Other types of the kind."""
BATCH = 1 << 16
SETTINGS = {
    "enable_nestloop": "off",  # else every row is compared with every other where the server has no statistics
    "TimeZone": "UTC",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "idle_in_transaction_session_timeout": "0",
}
"""What a role may have set otherwise: how values are written as text, and how long the server waits for us."""

FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""The years 1 to 9999, in days since 1970."""

#: What the server's codes mean, and what to do about it.
MEANINGS = {
    "42501": (
        "no-right",
        "The role has no right to read this, or not all columns that the plan needs.",
        "ask for the rights that the documentation lists",
    ),
    "22P05": (
        "encoding",
        "The database's encoding lacks a character of the plan.",
        "use a database in UTF8, or a folder",
    ),
    "25006": ("output", "The database may be read but not written to.", "use the server that takes changes"),
    "42P01": ("no-table", "There is no such table.", "check the schema and the name; capitals count"),
    "3F000": ("no-table", "There is no such schema.", "check its name; capitals count"),
    "42P07": ("output-in-use", "A table of that name was made meanwhile.", "choose another name, or --replace"),
    "55P03": ("no-connection", "Somebody else holds the table.", "run it again"),
    "40P01": ("no-connection", "Somebody else holds the table.", "run it again"),
    "57014": ("no-connection", "The server stopped the statement.", "ask for a longer statement_timeout"),
    "2BP01": ("output-in-use", "Other objects of the database need the table.", "choose another name"),
}


class PostgresSession(SqlDialect):
    """A table or view on a server."""

    library = "pyarrow"
    text_type = "TEXT"
    binary = ' COLLATE "C"'
    as_text = frozenset({"text", "decimal", "other"})
    scattered = "HASHTEXTEXTENDED({}, 0)"
    format: DataFormat | None = None
    origin: Any = None

    def __init__(self, place: TablePlace) -> None:
        self._driver = find_driver("A table on a PostgreSQL server")
        self.at = place
        self.place = place.shown
        self._cursors: list[Any] = []
        self._writing: TablePlace | None = None
        self._hearing = Hearing(self._cancel)
        self._codec: str | None = None
        self._connection = connect(self._driver, place.url, place.shown)
        try:
            self.run("SET client_encoding TO 'UTF8'")  # what the driver takes every text for
            self.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
            for setting, value in SETTINGS.items():
                self.run(f"SET LOCAL {setting} = '{value}'")
            self._codec = self._encoding()
            self.at = self._found(place)
            self.source = self.at.sql
            self._first_schema = self._settle_path()
        except BaseException:
            self.close()
            raise

    def _encoding(self) -> str | None:
        """Return the encoding of the database, if it cannot hold every character."""
        name = self.ask("SELECT pg_catalog.current_setting('server_encoding') AS name").column("name")[0].as_py()
        if name == "SQL_ASCII":
            message = "The database does not say how its text is encoded (SQL_ASCII), so it cannot be compared."
            raise DataError(Problem("encoding", message, self.place, "use a database in UTF8, or export the table"))
        return CODECS.get(name)

    def _found(self, place: TablePlace) -> TablePlace:
        """Name the schema of a table that is there: a temporary table of that name would hide it later."""
        if place.schema is not None:
            return place
        schema = self.ask(
            "SELECT CAST(n.nspname AS TEXT) AS name FROM pg_catalog.pg_class AS c"
            " JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
            f" WHERE c.oid = pg_catalog.to_regclass({self.literal(place.sql)})"
        ).column("name")
        return dataclasses.replace(place, schema=schema[0].as_py()) if len(schema) else place

    def _settle_path(self) -> str | None:
        """Let our statements mean the server's own functions and operators; returns where new tables would go."""
        found = self.ask(
            "SELECT CAST(pg_catalog.current_schema() AS TEXT) AS first,"
            " pg_catalog.current_setting('search_path') AS path"
        )
        first, path = (found.column(name)[0].as_py() for name in ("first", "path"))
        path = f"pg_catalog, {path}" if path.strip() else "pg_catalog"
        self.ask(f"SELECT pg_catalog.set_config('search_path', {self.literal(path)}, true) AS path")
        schema: str | None = first
        return schema

    # -- what every session offers -----------------------------------------------------------------------------------

    def quote(self, name: str) -> str:
        """Write a name."""
        return quoted(name)

    def literal(self, text: str) -> str:
        """Write a text; a backslash means itself whatever the server's settings are."""
        if self._codec is not None and text.isspace():  # a list of signs: what the database cannot hold is not there
            text = text.encode(self._codec, "ignore").decode(self._codec) or text
        plain = text.replace("'", "''")
        return f"'{plain}'" if "\\" not in text else "E'" + plain.replace("\\", "\\\\") + "'"

    def columns(self) -> tuple[SqlColumn, ...]:
        """Return the columns of the table."""
        return self.columns_of(self.at)

    def columns_of(self, place: TablePlace) -> tuple[SqlColumn, ...]:
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

    def withheld(self) -> dict[str, str]:
        """Return the columns that are better not looked at, and why: they hold no plain values, or may not be read."""
        found = self.ask(
            "SELECT CAST(a.attname AS TEXT) AS name, CAST(t.typname AS TEXT) AS type,"
            " CAST(t.typcategory AS TEXT) AS category,"
            " pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS allowed"
            " FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid"
            f" WHERE a.attrelid = pg_catalog.to_regclass({self.literal(self.at.sql)}) AND a.attnum > 0"
            " AND NOT a.attisdropped"
        ).to_pylist()
        return {
            row["name"]: "right" if not row["allowed"] else "kind"
            for row in found
            if not row["allowed"] or row["category"] in COMPOUND or row["type"] in UNPLAIN
        }

    def read_only(self) -> None:
        """From now on write nothing, until the transaction ends."""
        self.run("SET TRANSACTION READ ONLY")

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        """Run a query and give its rows in batches as the server sends them."""
        with self._cursor() as cursor:
            self._heard(lambda: cursor.execute(query))
            batches = iter(cursor.fetch_record_batch())
            while (batch := self._heard(lambda: next(batches, None))) is not None:
                yield _plain(batch)

    def ask(self, query: str) -> pa.Table:
        """Run a query of few rows."""
        import pyarrow as pa

        with self._cursor() as cursor:
            self._heard(lambda: cursor.execute(query))
            found = self._heard(cursor.fetch_arrow_table)
            batches = [_plain(batch) for batch in found.to_batches()]
        return pa.Table.from_batches(batches, batches[0].schema) if batches else found

    def schema_of(self, query: str) -> pa.Schema:
        """Return the columns of a query."""
        import pyarrow as pa

        with self._cursor() as cursor:
            self._heard(lambda: cursor.execute(f"SELECT * FROM ({query}) AS q LIMIT 0"))
            schema = self._heard(cursor.fetch_arrow_table).schema
        empty = pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
        return _plain(empty).schema

    def upload(self, name: str, rows: pa.Table) -> str:
        """Make a temporary table by COPY, replacing one of that name."""
        self.run(f"DROP TABLE IF EXISTS pg_temp.{name}")
        with self._cursor() as cursor:
            batches = rows.to_reader(max_chunksize=BATCH)  # the driver holds a batch as text of COPY
            self._heard(lambda: cursor.adbc_ingest(name, batches, mode="create", temporary=True))
        self.run(f"ANALYZE pg_temp.{name}")
        return f"pg_temp.{name}"

    def keep(self, name: str, query: str) -> str:
        """Keep the rows of a query in a temporary table, replacing one of that name."""
        self.run(f"DROP TABLE IF EXISTS pg_temp.{name}")
        self.run(f"CREATE TEMPORARY TABLE {name} AS {query}")
        self.run(f"ANALYZE pg_temp.{name}")
        return f"pg_temp.{name}"

    def close(self) -> None:
        """Undo what was not committed, and let go of the connection."""
        if (
            self._hearing.stuck
        ):  # a statement that could not be stopped still uses it; the server notices when we are gone
            return
        with contextlib.suppress(self._driver.Error):
            for cursor in self._cursors:  # of rows that nobody wants any more
                cursor.close()
            self._connection.close()

    # -- the released table ------------------------------------------------------------------------------------------

    def check_free(self, target: TablePlace, replace: bool) -> None:
        """Refuse a target that exists, or that may not be replaced: only a release may."""
        with self._about(target) as target:
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
        with self._about(target) as target:
            hidden = _hidden(target)
            self.run(f"CREATE TABLE {hidden.sql} AS {query}")
        return hidden

    def fill(self, target: TablePlace, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> TablePlace:
        """Make a table of rows from elsewhere under a hidden name beside the target."""
        import pyarrow as pa

        long = [name for name in schema.names if len(name.encode()) > LONGEST]
        if long:
            message = f"Column {long[0]!r} has a name of more than {LONGEST} bytes, which the server would cut off."
            raise DataError(Problem("output", message, target.shown, "rename it, or write to a folder"))
        there = pa.schema([pa.field(field.name, _kept_as(field.type)) for field in schema])

        def converted() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                columns = [
                    column.cast(field.type, safe=False) for column, field in zip(batch.columns, there, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=there)

        with self._about(target) as target:
            hidden = _hidden(target)
            columns = ", ".join(f"{quoted(field.name)} {_type_name(field.type)}" for field in there)
            self.run(f"CREATE TABLE {hidden.sql} ({columns})")
            relay = Relay(there, converted())
            rows = relay.reader()
            try:
                with self._cursor() as cursor:
                    self._heard(
                        lambda: cursor.adbc_ingest(hidden.table, rows, mode="append", db_schema_name=hidden.schema)
                    )
            except DataError:
                if isinstance(relay.failed, HedgerowError):  # what is wrong elsewhere, in its own words
                    raise relay.failed from None
                raise
        return hidden

    def show(self, hidden: TablePlace, target: TablePlace, comment: str, replace: bool) -> None:
        """Put a table into place, with its comment, and end the transaction."""
        with self._about(target) as target:
            self.run(f"COMMENT ON TABLE {hidden.sql} IS {self.literal(comment)}")
            if replace and self._exists(target):
                self.check_free(target, replace)
                self.run(f"DROP TABLE {target.sql}")
            self.run(f"ALTER TABLE {hidden.sql} RENAME TO {quoted(target.table)}")
            number = self.ask(TRANSACTION).column("name")[0].as_py()
            what = f"the table is in place: {target.shown}"
            with undisturbed(f"It is not known whether {what}."):  # the moment of truth
                try:
                    self.run("COMMIT")
                except DataError as error:
                    self._find_out(number, what, error)
                record(what)

    def _find_out(self, number: str, what: str, error: DataError) -> None:
        """Find out whether a transaction was committed whose end failed; returns if it was."""

        def ask(query: str) -> str:
            with connect(self._driver, self.at.url, self.place) as connection, connection.cursor() as cursor:
                cursor.execute(query)
                return str(cursor.fetch_arrow_table().column("name")[0].as_py())

        try:
            ended = how_it_ended(number, ask)
        except (DataError, self._driver.Error):
            ended = None
        if ended is None:
            suspect(f"It is not known whether {what}.")
            message = "The connection was lost while the table was put into place: it is there whole, or not at all."
            hint = "check whether it is there; if not, run the same again"
            raise DoneBut(Problem("in-doubt", message, self.place, hint)) from None
        if not ended:
            raise error

    @contextlib.contextmanager
    def _about(self, target: TablePlace) -> Iterator[TablePlace]:
        """Let messages speak of the output; yields it with its schema: the first that the server looks in."""
        before, self._writing = self._writing, target
        try:
            if target.schema is None:
                if self._first_schema is None:
                    raise self._problem("3F000")
                target = dataclasses.replace(target, schema=self._first_schema)
            yield target
        finally:
            self._writing = before

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
            self._heard(lambda: cursor.execute(statement))

    def _heard(self, work: Callable[[], Found]) -> Found:
        return self._hearing(work)

    def _cancel(self) -> None:
        with contextlib.suppress(self._driver.Error):
            self._connection.adbc_cancel()

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[Any]:
        """Yield a cursor; say in our own words what went wrong: the server's may hold a value of a record."""
        import pyarrow as pa

        try:
            cursor = self._connection.cursor()
            self._cursors.append(cursor)
            try:
                yield cursor
            finally:
                if not self._hearing.stuck:
                    cursor.close()
                    self._cursors.remove(cursor)
        except self._driver.Error as error:
            raise self._problem(getattr(error, "sqlstate", None)) from None
        except pa.ArrowInvalid:
            message = "A number or a date is infinite, is NaN, or is not in the years 1 to 9999."
            raise DataError(
                Problem("format", message, self.place, "make these cells NULL, or leave the column out")
            ) from None
        except OSError:  # while rows came in; it does not say why
            raise self._problem(None) from None

    def _problem(self, state: str | None) -> DataError:
        same = "Nothing was written."
        place = self.place if self._writing is None else self._writing.shown
        if (state is None and self._is_lost()) or (state or "").startswith(("08", "57P")):
            message, code, hint = "The connection to the database was lost.", "no-connection", "run it again"
        elif state is not None and state.startswith("53"):
            message, code, hint = "The server has no room left: disk, memory or connections.", "output", "make room"
        elif state == "42501" and self._writing is not None:
            code, message = "no-right", "The role has no right to make a table there, or to replace this one."
            hint = "ask for the rights that the documentation lists"
        elif state in MEANINGS:
            code, message, hint = MEANINGS[state]
        else:
            why = "" if state is None else f" (SQLSTATE {state})"
            message, code = f"The server could not do what was asked{why}.", "output"
            hint = "the server's log tells more"
        return DataError(Problem(code, f"{message} {same}", place, hint))

    def _is_lost(self) -> bool:
        """Tell whether the server is gone: else it answers, if only that the transaction has failed."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT 1")
        except self._driver.Error as error:
            return getattr(error, "sqlstate", None) is None
        return False


def _hidden(target: TablePlace) -> TablePlace:
    return dataclasses.replace(target, table=f".hedgerow-{uuid.uuid4().hex}")


def _column(name: str, type_name: str, modifier: int) -> SqlColumn:
    import pyarrow as pa

    if type_name != "numeric":
        return SqlColumn(name, KINDS.get(type_name, "other"))
    size = _decimal(modifier)
    return SqlColumn(name, "other") if size is None else SqlColumn(name, "decimal", pa.decimal128(*size))


def _kept_as(kind: pa.DataType) -> pa.DataType:
    """Return the type in which the server can keep a column of some Arrow type: text, if there is no better one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> _kept_as(pa.uint64()), _kept_as(pa.time32("s"))
    (Decimal128Type(decimal128(20, 0)), DataType(string))
    """
    import pyarrow as pa

    if pa.types.is_decimal128(kind) or (pa.types.is_timestamp(kind) and kind.unit == "us") or str(kind) in TYPES:
        return kind
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return {"uint64": pa.decimal128(20, 0), "date64[ms]": pa.date32()}.get(str(kind), pa.string())


def _type_name(kind: pa.DataType) -> str:
    """Return the type that a column of some Arrow type gets on the server."""
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return f"NUMERIC({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz is None else "TIMESTAMPTZ"
    return TYPES.get(str(kind), "TEXT")


def _decimal(modifier: int) -> tuple[int, int] | None:
    """Read the digits, and those after the point, of a numeric type; None if it has none, or more than fit."""
    if modifier < 4:
        return None
    digits, after = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    return (digits, after) if digits <= 38 and after <= digits else None


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Turn types of the driver's own into plain ones: decimals with fixed digits, everything else text.

    Raises
    ------
    pa.ArrowInvalid
        For a number or a date that has no such form: infinite ones.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    columns, fields = [], []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if isinstance(column, pa.ExtensionArray):
            column = column.storage
            modifier = (field.metadata or {}).get(b"POSTGRESQL:typmod", b"-1")
            size = _decimal(int(modifier)) if re.fullmatch(rb"-?\d+", modifier) else None
            if pa.types.is_string(column.type) and size is not None:
                column = column.cast(pa.decimal128(*size))
        if pa.types.is_date32(column.type) or pa.types.is_timestamp(column.type):
            moments = column.cast(pa.int32() if pa.types.is_date32(column.type) else pa.int64())
            day = 1 if pa.types.is_date32(column.type) else 86_400_000_000
            ends = pc.min_max(moments).as_py()
            if ends["min"] is not None and not FIRST_DAY * day <= ends["min"] <= ends["max"] < (LAST_DAY + 1) * day:
                raise pa.ArrowInvalid("not a moment that can be written")
        columns.append(column)
        fields.append(pa.field(field.name, column.type))
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))
