"""A store in a schema of a PostgreSQL database, for a team."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError
from hedgerow.maintenance.store import store as shared
from hedgerow.maintenance.store.address import StoreAddress
from hedgerow.maintenance.store.schema import BYTES, KEY, META, NUMBER, TEXT, StoredTable
from hedgerow.maintenance.store.store import Deed, Store, Taken
from hedgerow.outside.server import TRANSACTION, connect, find_driver, how_it_ended

if TYPE_CHECKING:
    import pyarrow as pa


class PostgresStore(Store):
    """A store in a schema of its own. Rows go in by COPY, inside the transaction of their version."""

    _kinds = {NUMBER: "BIGINT", TEXT: "TEXT", KEY: 'TEXT COLLATE "C"', BYTES: "BYTEA"}  # noqa: RUF012 - never changed
    _among = "(SELECT json_array_elements_text(CAST(? AS json)))"
    _survives_loss = True  # the server has synced it before it says so

    def __init__(self, address: StoreAddress) -> None:
        super().__init__(address.shown)
        self.address = address
        self._connection: Any = None
        self._number = ""
        self._driver = find_driver("A store on a PostgreSQL server")

    def close(self) -> None:
        """Let go of the connection. What was not committed is undone."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(self._driver.Error):
                connection.close()

    # ---- the schema ----------------------------------------------------------------------------------------

    def _tables(self) -> frozenset[str] | None:
        if self._connection is None:
            self._connect()
        names = self._names()
        return names or None

    def _names(self) -> frozenset[str]:
        query = (
            "SELECT CAST(c.relname AS TEXT) AS name FROM pg_catalog.pg_class AS c"
            " JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
            " WHERE n.nspname = CAST(? AS TEXT) AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')"
        )
        return frozenset(self._texts(query, self.address.schema))

    def _texts(self, query: str, *values: Any) -> list[str]:
        import pyarrow as pa

        found: list[str] = self._read(query, pa.schema([("name", pa.string())]), *values)["name"].to_pylist()
        return found

    @contextlib.contextmanager
    def _founding(self, deed: Deed) -> Iterator[None]:
        if self._connection is None:
            self._connect()
        with self._transaction(deed):
            if self._names():
                raise Taken
            query = "SELECT CAST(nspname AS TEXT) AS name FROM pg_catalog.pg_namespace WHERE nspname = CAST(? AS TEXT)"
            if not self._texts(query, self.address.schema):  # an administrator may have made it for us
                self._run(f"CREATE SCHEMA {self._schema}")
            yield

    def _connect(self) -> None:
        self._connection = connect(self._driver, self.address.url, self.shown)

    # ---- statements ----------------------------------------------------------------------------------------

    @property
    def _schema(self) -> str:
        return '"' + self.address.schema.replace('"', '""') + '"'

    def _name(self, table: StoredTable) -> str:
        return f'{self._schema}."{table.name}"'

    def _begin(self) -> None:
        self._run("BEGIN")
        self._run(f"SET LOCAL lock_timeout = {int(shared.PATIENCE * 1000)}")

    def _prepare_end(self) -> None:
        (self._number,) = self._texts(TRANSACTION)

    def _commit(self) -> None:
        self._run("COMMIT")

    def _was_committed(self, deed: Deed) -> bool:
        self.close()
        self._connect()
        ended = how_it_ended(self._number, lambda query: self._texts(query)[0])
        if ended is None:
            return self._holds(deed)
        return ended

    def _rollback(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(self._driver.Error), self._connection.cursor() as cursor:
                cursor.execute("ROLLBACK")

    def _lock(self) -> None:
        self._run(f"LOCK TABLE {self._name(META)} IN SHARE ROW EXCLUSIVE MODE")

    def _run(self, query: str, *values: Any) -> None:
        with self._cursor() as cursor:
            cursor.execute(_numbered(query), values or None)

    def _read(self, query: str, columns: pa.Schema, *values: Any) -> pa.Table:
        import pyarrow as pa

        with self._cursor() as cursor:
            cursor.execute(_numbered(query), values or None)
            rows = cursor.fetch_arrow_table()
        try:
            return rows.cast(columns)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
            raise self._damaged() from None

    def _insert(self, table: StoredTable, rows: pa.Table) -> None:
        with self._cursor() as cursor:
            cursor.adbc_ingest(table.name, rows, mode="append", db_schema_name=self.address.schema)

    def _delete(self, table: StoredTable, keys: str) -> int:
        import pyarrow as pa

        query = (
            f'WITH gone AS (DELETE FROM {self._name(table)} WHERE "key" IN'
            f" {self._among} RETURNING 1) SELECT COUNT(*) AS rows FROM gone"
        )
        return int(self._read(query, pa.schema([("rows", pa.int64())]), keys)["rows"][0].as_py())

    def _count(self, table: StoredTable, keys: str) -> int:
        import pyarrow as pa

        query = f'SELECT COUNT(*) AS rows FROM {self._name(table)} WHERE "key" IN {self._among}'
        return int(self._read(query, pa.schema([("rows", pa.int64())]), keys)["rows"][0].as_py())

    def _forget(self) -> None:
        """Nothing to do: the server vacuums by itself."""

    # ---- what went wrong -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[Any]:
        """Yield a cursor; say in our own words what went wrong: the server's may hold a value of a record."""
        if self._connection is None:
            raise self._problem("no-store", "The store is closed.")
        try:
            with self._connection.cursor() as cursor:
                yield cursor
        except self._driver.Error as error:
            raise self._what_it_means(getattr(error, "sqlstate", None)) from None

    def _what_it_means(self, state: str | None) -> Exception:
        same = "Nothing was changed."
        if state in ("23505", "42P06", "42P07"):  # a key, a schema, a table that is there already
            return Taken()
        if state in ("55P03", "40P01", "40001"):
            return self._busy()
        if state is None or state.startswith(("08", "57P")):
            message = "The connection to the database was lost. No version is half written."
            return self._problem("no-connection", message, "look at the history, then run it again")
        if state == "42501":
            message = f"The role has no right to do this. {same}"
            return self._problem("no-connection", message, "ask for the right to use the schema, or to create it")
        if state == "25006":
            message = f"The database may be read but not written to. {same}"
            return self._problem("output", message, "use the address of the server that takes changes")
        if state.startswith("53"):
            message = f"The server has no room left: disk, memory or connections. {same}"
            return self._problem("output", message, "make room, then run it again")
        if state in ("22021", "22P05"):
            message = f"A text holds a character that the encoding of the database does not have. {same}"
            return self._problem("store-text", message, "use a database with the encoding UTF8")
        if state.startswith("42"):
            return self._damaged()
        message = f"The server could not do what was asked (SQLSTATE {state}). {same}"
        return self._problem("output", message, "the server's log tells more")

    def _damaged(self) -> DataError:
        message = "The store is not as Hedgerow wrote it: its tables were changed by another program."
        return self._problem("store-damaged", message, "go back to a copy that is whole")


def _numbered(query: str) -> str:
    """Write ``$1``, ``$2``, … for every ``?`` that is not part of a quoted name.

    Examples
    --------
    >>> _numbered('SELECT "a?" FROM "b""?" WHERE c = ? AND d = ?')
    'SELECT "a?" FROM "b""?" WHERE c = $1 AND d = $2'
    """
    numbers = itertools.count(1)
    return re.sub(r'"[^"]*"|\?', lambda found: f"${next(numbers)}" if found[0] == "?" else found[0], query)
