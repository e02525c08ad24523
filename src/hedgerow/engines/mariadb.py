"""MariaDB as an engine: the columns that are needed, copied into a temporary table, and all work there.

A statement that makes a table ends a transaction in MariaDB, and one that writes what it selects reads under locks, or
sees what others have written since. So one statement copies the columns that a plan needs: it sees one state of the
table whatever keeps it, and holds up nobody. Everything else is asked of the copy, which nobody else sees, and which is
gone with the connection. Columns are copied with their own types and character sets.

Texts compare by bytes, without regard to their ends: that is said in every statement. Names stand in double quotes and
a backslash is a backslash: that is set for the connection.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hedgerow.engines import mariadb_rows as rows_of
from hedgerow.engines.dialect import SqlDialect
from hedgerow.engines.hearing import Found, Hearing
from hedgerow.engines.mariadb_release import Releases
from hedgerow.engines.place import TablePlace, quoted
from hedgerow.engines.sql import Kind, SqlColumn
from hedgerow.errors import DataError, Problem
from hedgerow.outside.mariadb import connect, find_driver, is_name, read_url
from hedgerow.plan import DataFormat

if TYPE_CHECKING:
    import pyarrow as pa

KINDS: dict[str, Kind] = {
    **dict.fromkeys(["char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set"], "text"),
    **dict.fromkeys(["tinyint", "smallint", "mediumint", "int", "bigint", "year", "bit"], "integer"),
    **dict.fromkeys(["float", "double"], "float"),
    **dict.fromkeys(["datetime", "timestamp"], "timestamp"),
    "date": "date",
}
"""Truth values are whole numbers there, 0 and 1, and stay so."""
BYTES = frozenset({"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"})
FIGURES = frozenset({"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"}) | {
    "geometrycollection",
    "geomcollection",
}
UNPLAIN = BYTES | FIGURES | {"json", "vector"}
"""Types whose values are not plain."""
MODE = "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"
SETTINGS = {
    "sql_mode": f"'{MODE}'",
    "time_zone": "'+00:00'",
    "wait_timeout": "31536000",  # while groups are formed nothing is asked
    "net_write_timeout": "31536000",
    "lock_wait_timeout": "60",
    "group_concat_max_len": "1024",
}
"""What a server may have set otherwise: how values are written as text, and how long it waits for us."""
OLDEST = {True: ((10, 6), "utf8mb4_nopad_bin"), False: ((8, 0, 31), "utf8mb4_0900_bin")}
"""The oldest versions that have all we need, MariaDB's and MySQL's, and what makes text compare by its bytes."""
BATCH = 1 << 15
SORTED_BYTES = (1 << 10, 1 << 23)
"""At how many bytes of a text the server looks when it sorts: what it does by itself, and at most."""
SORT_BUFFER = 1 << 24
EVERYTHING = (1 << 64) - 1
"""More rows than there can be: a limit, without which an order inside a statement would be forgotten."""

LOST = frozenset({2003, 2006, 2013, 2014, 2055, 1927, 1053, 1080, 4031})
NO_ROOM = frozenset({3, 5, 28, 1021, 1037, 1038, 1041, 1114, 1135, 3169})
#: What the server's numbers mean, and what to do about it.
MEANINGS = {
    **dict.fromkeys(
        [1044, 1142, 1143, 1227, 1370, 1345],
        (
            "no-right",
            "The role has no right to read this, or to make temporary tables in its database.",
            "ask for the rights that the documentation lists",
        ),
    ),
    **dict.fromkeys(
        [1146, 1049, 1356],
        ("no-table", "There is no such table, or not for this role.", "check the name; capitals count"),
    ),
    **dict.fromkeys([1205, 1213], ("no-connection", "Somebody else holds the table.", "run it again")),
    **dict.fromkeys([1317, 1969, 3024], ("no-connection", "The server stopped the statement.", "run it again")),
    **dict.fromkeys(
        [1290, 1792, 1836], ("output", "The server may be read but not written to.", "use the one that takes changes")
    ),
    1050: ("output-in-use", "A table of that name was made meanwhile.", "choose another name, or --replace"),
    1118: ("output", "A row of the table would be longer than the server takes.", "use a folder, or fewer columns"),
    1153: ("output", "A value is longer than the server takes at once.", "raise its max_allowed_packet"),
    1665: ("output", "The server's log takes statements only (binlog_format).", "ask for binlog_format MIXED or ROW"),
}


class MariaDbSession(Releases, SqlDialect):
    """A table or view on a server.

    Parameters
    ----------
    place
        Where it lies.
    wanted
        The columns that will be asked for; None: all that may be read.
    """

    library = "pyarrow"
    text_type = "CHAR"
    as_text = frozenset({"text", "other"})
    scattered = "MD5({})"
    whole = "SIGNED"
    nan: str | None = None  # it keeps no such number
    format: DataFormat | None = None
    origin: Any = None

    def __init__(self, place: TablePlace, wanted: Sequence[str] | None = None) -> None:
        self.at = place
        self.place = place.shown
        self._driver = find_driver()
        self._wanted = wanted
        self._copied = False
        self._single = False
        self._longest = SORTED_BYTES[0] // 4
        self._writing: TablePlace | None = None
        self._unshown: list[TablePlace] = []
        self._hearing = Hearing(self._cancel)
        own = read_url(place.url).database
        found = {} if own is not None or place.schema is None else {"database": place.schema}
        self._connection = connect(self._driver, place.url, place.shown, conv={}, **found)
        try:
            self._settle(own or place.schema)
        except BaseException:
            self.close()
            raise

    def _settle(self, database: str | None) -> None:
        version = str(self._one("SELECT VERSION()"))
        self._is_mariadb = "mariadb" in version.lower()
        oldest, collation = OLDEST[self._is_mariadb]
        digits = re.search(r"(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)", version)
        if digits is None or tuple(map(int, digits.groups())) < oldest:
            message = "The server is older than MariaDB 10.6 or MySQL 8.0.31, and lacks what is needed."
            raise DataError(Problem("no-connection", message, self.place, "use a newer server, or export the table"))
        self.binary = f" COLLATE {collation}"
        self.run(f"SET NAMES utf8mb4 COLLATE {collation}")
        self.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        settings = dict(SETTINGS)
        if self._is_mariadb:
            settings |= {"max_statement_time": "0"}
        self.run("SET " + ", ".join(f"SESSION {name} = {value}" for name, value in settings.items()))
        self._packet = min(int(self._one("SELECT @@max_allowed_packet")) // 2, 1 << 22)
        self._folds = bool(int(self._one("SELECT @@lower_case_table_names")))
        self._database = database
        if self.at.schema is None and database is not None:
            self.at = dataclasses.replace(self.at, schema=database)

    # -- what every session offers -----------------------------------------------------------------------------------

    @property
    def source(self) -> str:
        """The copy of the table; it is made when it is first asked for."""
        if not self._copied:
            self._copy()
            self._copied = True
        return self._temporary("hedgerow_source")

    def _copy(self) -> None:
        """Copy the columns that are wanted, and measure the longest text."""
        columns = self._columns(self.at)
        wanted = [one for one in columns if one.may_read and (self._wanted is None or one.name in self._wanted)]
        if self._wanted is not None and not {one.name for one in columns if not one.may_read}.isdisjoint(self._wanted):
            raise self._problem(1143)
        odd = [one.name for one in wanted if not is_name(one.name)]
        if odd and self._wanted is not None:
            message = f"The server cannot select column {odd[0]!r} by its name: it begins with a space or the like."
            raise DataError(Problem("format", message, self.place, "rename it, or make a view with other names"))
        wanted = [one for one in wanted if one.name not in odd]
        if not wanted:
            raise self._problem(1143)
        names = ", ".join(f"{one.copied} AS {quoted(one.name)}" for one in wanted)
        self._drop_temporary("hedgerow_source")
        name = self._temporary("hedgerow_source")
        self.run(f"CREATE TEMPORARY TABLE {name} AS SELECT {names} FROM {self.at.sql}")
        texts = [one.name for one in wanted if one.column.kind in self.as_text]
        if texts:
            lengths = ", ".join(f"COALESCE(MAX(CHAR_LENGTH(t.{quoted(text)})), 0)" for text in texts)
            self._longest = max(int(self._one(f"SELECT GREATEST({lengths}, 0) FROM {name} AS t")), self._longest)
        self._sort_whole_texts()

    def _sort_whole_texts(self) -> None:
        """Have the server look at all of a text where it sorts."""
        least, most = SORTED_BYTES
        bytes_ = min(max(4 * self._longest + 8, least), most)
        self.run(f"SET SESSION max_sort_length = {bytes_:d}")
        if bytes_ > least:
            self.run(f"SET SESSION sort_buffer_size = {max(SORT_BUFFER, 20 * bytes_):d}")

    def quote(self, name: str) -> str:
        """Write a name."""
        return quoted(name)

    def literal(self, text: str) -> str:
        """Write a text; a backslash means itself."""
        return rows_of.literal(text)

    def last(self, expression: str) -> str:
        """Order by an expression, with what is missing last."""
        return f"{expression} IS NULL, {expression}"

    def trimmed(self, text: str, signs: str) -> str:
        """Take some signs away at both ends of a text."""
        those = "".join(f"\\x{{{ord(sign):X}}}" for sign in signs)
        return f"REGEXP_REPLACE({text}, '\\A[{those}]+|[{those}]+\\z', '')"

    def same(self, left: str, right: str, neutral: str) -> str:
        """Whether two values are equal, or both missing."""
        return f"{left} <=> {right}"

    def columns(self) -> tuple[SqlColumn, ...]:
        """Return the columns of the table."""
        return self.columns_of(self.at)

    def columns_of(self, place: TablePlace) -> tuple[SqlColumn, ...]:
        """Return the columns of a table."""
        return tuple(one.column for one in self._columns(place))

    def _columns(self, place: TablePlace) -> list[_Column]:
        found = self.ask(
            "SELECT COLUMN_NAME AS name, LOWER(DATA_TYPE) AS type, NUMERIC_PRECISION AS digits,"
            " PRIVILEGES AS rights FROM information_schema.COLUMNS"
            f" WHERE {self._is_called('TABLE_SCHEMA', place.schema)} AND {self._is_called('TABLE_NAME', place.table)}"
            " ORDER BY ORDINAL_POSITION"
        ).to_pylist()
        if not found:
            raise self._problem(1146)
        self._single |= any(row["type"] == "float" for row in found)
        return [_Column.of(row["name"], row["type"], row["digits"], row["rights"] or "") for row in found]

    def withheld(self) -> dict[str, str]:
        """Return the columns that are better not looked at, and why: they hold no plain values, or may not be read."""
        return {
            one.name: "right" if not one.may_read else "kind"
            for one in self._columns(self.at)
            if not one.may_read or one.type in UNPLAIN or not is_name(one.name)
        }

    def read_only(self) -> None:
        """Nothing is written but temporary tables."""

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        """Run a query and give its rows in batches as the server sends them."""
        yield from self._run(query)[1]

    def ask(self, query: str) -> pa.Table:
        """Run a query of few rows."""
        import pyarrow as pa

        schema, batches = self._run(query)
        return pa.Table.from_batches(list(batches), schema)

    def schema_of(self, query: str) -> pa.Schema:
        """Return the columns of a query."""
        schema, batches = self._run(f"SELECT * FROM ({query}) AS q LIMIT 0")
        for _ in batches:
            pass
        return schema

    def upload(self, name: str, rows: pa.Table) -> str:
        """Make a temporary table, replacing one of that name, by which rows of others are found."""
        self._drop_temporary(name)
        there = self._temporary(name)
        types = rows_of.types_of(rows)
        columns = ", ".join(
            f"{quoted(column)} {kind}{self.binary if 'CHAR' in kind or 'TEXT' in kind else ''}"
            for column, kind in types.items()
        )
        self.run(f"CREATE TEMPORARY TABLE {there} ({columns})")
        self._insert(there, rows.schema, iter(rows.to_batches(max_chunksize=BATCH)))
        key = rows_of.key_of(rows, types)
        if key and rows.num_rows > 1:
            self.run(f"CREATE INDEX hedgerow ON {there} ({', '.join(key)})")
        return there

    def keep(self, name: str, query: str) -> str:
        """Keep the rows of a query in a temporary table, replacing one of that name."""
        self._drop_temporary(name)
        self.run(f"CREATE TEMPORARY TABLE {self._temporary(name)} AS {query}")
        return self._temporary(name)

    def close(self) -> None:
        """Remove what was not put in place, and let go of the connection."""
        if self._hearing.stuck:  # the server notices when we are gone
            return
        try:
            with contextlib.suppress(DataError):
                self._forget()
        finally:
            with contextlib.suppress(self._driver.Error, OSError):
                self._connection.close()

    # -- statements --------------------------------------------------------------------------------------------------

    def _temporary(self, name: str) -> str:
        """How statements name a temporary table: one of that name hides no other."""
        return quoted(f".{name}")

    def _drop_temporary(self, name: str) -> None:
        self.run(f"DROP TEMPORARY TABLE IF EXISTS {self._temporary(name)}")

    def _is_called(self, column: str, name: str | None) -> str:
        """Compare a name in a list of the server's; most servers tell capitals apart, but not in their lists."""
        said = self.literal(name or "")
        return f"{column} = {said}" + ("" if self._folds else f" AND BINARY {column} = BINARY {said}")

    def _one(self, query: str) -> Any:
        """The only cell of a query's answer."""
        with self._cursor() as cursor:
            self._heard(lambda: cursor.execute(query))
            return cursor.fetchall()[0][0]

    def run(self, statement: str) -> None:
        """Run a statement that gives no rows."""
        with self._cursor() as cursor:
            self._heard(lambda: cursor.execute(statement))

    def _run(self, query: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Start a query; its columns are known at once."""
        import pyarrow as pa

        narrow: list[str] = []
        if self._single:
            sent = self._schema(query)
            narrow = [field.name for field in sent if pa.types.is_float32(field.type)]
            query = _widened(query, sent.names, narrow) if narrow else query
        batches = self._batches(query)
        schema: pa.Schema = next(batches)
        if narrow:
            named = [pa.field(one.name, pa.float32() if one.name in narrow else one.type) for one in schema]
            schema = pa.schema(named)
            return schema, (batch.cast(schema) for batch in batches)
        return schema, batches

    def _schema(self, query: str) -> pa.Schema:
        """The columns of a query as the server sends them."""
        with self._cursor() as cursor:
            self._heard(lambda: cursor.execute(f"SELECT * FROM ({query}) AS q LIMIT 0"))
            return rows_of.schema_of(rows_of.fields_of(cursor))

    def _batches(self, query: str) -> Iterator[Any]:
        """Run a query: its schema comes first, then its rows in batches."""
        with self._cursor(streamed=True) as cursor:
            self._heard(lambda: cursor.execute(query))
            fields = rows_of.fields_of(cursor)
            yield rows_of.schema_of(fields)
            while rows := self._heard(lambda: cursor.fetchmany(BATCH)):
                yield rows_of.batch_of(fields, rows)

    def _insert(self, there: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> None:
        """Insert rows, as many at once as the server takes."""
        for statement in rows_of.inserts(there, schema, batches, self._packet, self.place):
            self.run(statement)

    def _heard(self, work: Callable[[], Found]) -> Found:
        return self._hearing(work)

    def _cancel(self) -> None:
        with contextlib.suppress(DataError, self._driver.Error, OSError):
            other = connect(self._driver, self.at.url, self.place, connect_timeout=5)
            with contextlib.closing(other), other.cursor() as cursor:
                cursor.execute(f"KILL QUERY {self._connection.thread_id():d}")

    @contextlib.contextmanager
    def _cursor(self, streamed: bool = False) -> Iterator[Any]:
        """Yield a cursor; say in our own words what went wrong: the server's may hold a value of a record."""
        import pyarrow as pa
        from pymysql.cursors import SSCursor

        try:
            cursor = self._connection.cursor(SSCursor if streamed else None)
            whole = False
            try:
                yield cursor
                whole = True
            finally:
                if not self._hearing.stuck:
                    if streamed and not whole:
                        self._cancel()  # else all that nobody wants any more would be read
                    with contextlib.suppress(self._driver.Error):
                        cursor.close()
        except (self._driver.Error, OSError) as error:
            number = error.args[0] if error.args and isinstance(error.args[0], int) else None
            raise self._problem(number if isinstance(error, self._driver.Error) else 2013) from None
        except pa.ArrowInvalid:
            message = "A date has no day, no month or no year, or a number is none."
            raise DataError(
                Problem("format", message, self.place, "make these cells NULL, or leave the column out")
            ) from None

    def _problem(self, number: int | None) -> DataError:
        same = "Nothing was written."
        place = self.place if self._writing is None else self._writing.shown
        if number in LOST or (number in (None, 0) and not self._connection.open):
            message, code, hint = "The connection to the database was lost.", "no-connection", "run it again"
        elif number in NO_ROOM:
            message, code, hint = "The server has no room left: disk, memory or connections.", "output", "make room"
        elif number in MEANINGS and MEANINGS[number][0] == "no-right" and self._writing is not None:
            code, message = "no-right", "The role has no right to make a table there, or to replace this one."
            hint = "ask for the rights that the documentation lists"
        elif number in MEANINGS:
            code, message, hint = MEANINGS[number]
        else:
            why = "" if number is None else f" (error {number})"
            message, code = f"The server could not do what was asked{why}.", "output"
            hint = "the server's log tells more"
        return DataError(Problem(code, f"{message} {same}", place, hint))


def _widened(query: str, names: Sequence[str], narrow: Sequence[str]) -> str:
    """Have numbers of single precision sent as others: of them the server sends six digits only."""
    shown = ", ".join(
        f"CAST(q.{quoted(name)} AS DOUBLE) AS {quoted(name)}" if name in narrow else f"q.{quoted(name)}"
        for name in names
    )
    if not re.search(r" LIMIT \d+$", query):
        query = f"{query} LIMIT {EVERYTHING}"
    return f"SELECT {shown} FROM ({query}) AS q"


@dataclasses.dataclass(frozen=True)
class _Column:
    """A column of a table, as the server describes it.

    Attributes
    ----------
    column
        Its name and kind.
    type
        The word for its type.
    may_read
        Whether the role may read it.
    """

    column: SqlColumn
    type: str
    may_read: bool

    @classmethod
    def of(cls, name: str, type_name: str, digits: int | None, rights: str) -> _Column:
        kind = KINDS.get(type_name, "other")
        if type_name == "decimal" and digits is not None and digits <= rows_of.MOST_DIGITS:
            kind = "decimal"
        return cls(SqlColumn(name, kind), type_name, "select" in rights.lower().split(","))

    @property
    def name(self) -> str:
        """Its name."""
        return self.column.name

    @property
    def copied(self) -> str:
        """What is copied of it: its values; bytes and figures as text, and no zero with a sign."""
        name = quoted(self.name)
        if self.type == "bit":
            return f"CAST({name} AS UNSIGNED)"
        if self.type in BYTES:
            return f"LOWER(HEX({name}))"
        if self.type in FIGURES:
            return f"ST_AsText({name})"
        if self.column.kind == "float":
            return f"CAST(CASE WHEN {name} = 0 THEN 0 ELSE {name} END AS {self.type.upper()})"
        return name
