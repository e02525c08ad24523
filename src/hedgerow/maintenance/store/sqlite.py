"""A store in one file: SQLite."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, DoneBut, Problem
from hedgerow.maintenance.store import store as shared
from hedgerow.maintenance.store.schema import BYTES, KEY, NUMBER, TEXT, StoredTable
from hedgerow.maintenance.store.store import Deed, Store, Taken

if TYPE_CHECKING:
    import pyarrow as pa

AT_ONCE = 256  # rows fetched at once: so few that Python's garbage collector never wakes up, which halves the time
A_BATCH = 50_000  # rows that become one piece of an Arrow table

SETTINGS = (
    "PRAGMA synchronous = EXTRA",  # FULL, and the folder is synced too: what was committed survives a power cut
    "PRAGMA secure_delete = ON",  # what is deleted is overwritten
    "PRAGMA cache_size = -65536",  # 64 MiB, so that a large version is not written to the disk twice
    "PRAGMA trusted_schema = OFF",  # a file from elsewhere must not run functions of its own
)


class SqliteStore(Store):
    """A store in a SQLite file that only its owner may read.

    There is no write-ahead log: the whole store is one file, and what was erased is in no other.
    """

    _kinds = {NUMBER: "BIGINT", TEXT: "TEXT", KEY: "TEXT", BYTES: "BLOB"}  # noqa: RUF012 - never changed
    _suffix = " WITHOUT ROWID"
    _among = "(SELECT value FROM json_each(?))"

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Let go of the file. What was not committed is undone."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # ---- the file ------------------------------------------------------------------------------------------

    def _tables(self) -> frozenset[str] | None:
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            raise self._no_file(error) from None
        if not stat.S_ISREG(status.st_mode):
            raise self._foreign()
        # A process that was killed while it began a store leaves a journal, by which SQLite empties the file again.
        if status.st_size == 0 and not Path(f"{self.path}-journal").exists():
            return None
        self._connect()
        names = self._names()
        if not names and self.path.stat().st_size == 0:
            self.close()
            return None
        return names

    def _names(self) -> frozenset[str]:
        with self._translated():
            found = self._db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        return frozenset(str(name) for (name,) in found)

    @contextlib.contextmanager
    def _founding(self, deed: Deed) -> Iterator[None]:
        made = self._make_file()
        file = _identity(self.path)
        try:
            self._connect()
            with self._transaction(deed):
                if self._names():
                    raise Taken
                if _identity(self.path) != file:
                    raise self._busy()
                yield
        except BaseException as error:
            cleared = _identity(self.path) != file  # another process began a store here, failed, and cleared it away
            self._discard(made and not cleared)
            if cleared and isinstance(error, DataError):
                raise self._busy() from None
            raise

    def _make_file(self) -> bool:
        """Make an empty file that only its owner may read; False if there is one, which must be empty."""
        self.close()
        try:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
                return True
            if self._tables() is not None:
                raise Taken
            self.path.chmod(0o600)
            return False
        except (OSError, ValueError) as error:
            reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "unknown reason"
            hint = "name a file in a folder that you may write to"
            raise self._problem("output", f"The store cannot be made: {reason}.", hint) from None

    def _discard(self, made: bool) -> None:
        """Clear an unfinished store away; while its file is locked, so that nobody else can begin one in it."""
        with contextlib.suppress(sqlite3.Error, OSError, DataError):
            if made and self._connection is not None:
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("BEGIN EXCLUSIVE")
                if not self._names():
                    self.path.unlink()
        self.close()

    def _connect(self) -> None:
        self.close()
        with self._translated():
            address = self.path.absolute().as_uri() + "?mode=rw"
            self._connection = sqlite3.connect(address, uri=True, timeout=shared.PATIENCE, isolation_level=None)
            for setting in SETTINGS:
                self._connection.execute(setting)

    # ---- statements ----------------------------------------------------------------------------------------

    @property
    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            raise self._problem("no-store", "The store is closed.")
        return self._connection

    def _name(self, table: StoredTable) -> str:
        return f'"{table.name}"'

    def _begin(self) -> None:
        self._run("BEGIN IMMEDIATE")

    def _prepare_end(self) -> None:
        """Nothing to do: the file tells."""

    def _commit(self) -> None:
        self._run("COMMIT")

    def _was_committed(self, deed: Deed) -> bool:
        # SQLite undoes it if the journal is still there, which opening the file finds out. Else it was committed, and
        # only the folder could not be synced.
        self._connect()
        return self._holds(deed)

    def _rollback(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _lock(self) -> None:
        """Nothing to do: only one writes to the file at a time."""

    def _run(self, query: str, *values: Any) -> None:
        with self._translated():
            self._db.execute(query, values)

    def _read(self, query: str, columns: pa.Schema, *values: Any) -> pa.Table:
        import pyarrow as pa

        batches = []
        try:
            with self._translated():
                for cells in _in_batches(self._db.execute(query, values), len(columns)):
                    arrays = [pa.array(column, kind) for column, kind in zip(cells, columns.types, strict=True)]
                    batches.append(pa.RecordBatch.from_arrays(arrays, schema=columns))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise self._damaged() from None
        return pa.Table.from_batches(batches, schema=columns)

    def _events(self, table: StoredTable, upto: int | None = None) -> pa.Table:
        # Version by version: a number that is the same in a million rows need not be fetched a million times.
        import pyarrow as pa

        self._need()
        name, rest = self._name(table), pa.schema(list(table.arrow)[1:])
        columns = ", ".join(f'"{column}"' for column in rest.names)
        pieces = [table.arrow.empty_table()]
        self._run("BEGIN")
        try:
            smallest = f'SELECT MIN("version") AS "version" FROM {name} WHERE "version" > ?'
            version = self._first(smallest, 0)
            while version is not None and (upto is None or version <= upto):
                query = f'SELECT {columns} FROM {name} WHERE "version" = ? ORDER BY "{table.key[-1]}"'
                rows = self._read(query, rest, version)
                number = pa.repeat(pa.scalar(version, pa.int64()), rows.num_rows)
                pieces.append(rows.add_column(0, table.arrow.field(0), number))
                version = self._first(smallest, version)
        finally:
            self._rollback()
        return pa.concat_tables(pieces)

    def _latest_of(self, table: StoredTable, named: Sequence[Any]) -> pa.Table:
        # Version by version, the newest first, by the table's own order: nothing is read but what is named.
        if table.kinds[table.key[-1]] == NUMBER:
            return super()._latest_of(table, named)
        import pyarrow as pa

        left, pieces = set(named), [table.arrow.empty_table()]
        by, columns = table.key[-1], ", ".join(f'"{column}"' for column in table.names)
        query = f'SELECT {columns} FROM {self._name(table)} WHERE "version" = ? AND "{by}" IN {self._among}'
        for version in range(self.head(), 0, -1):
            if left:
                pieces.append(self._read(query, table.arrow, version, json.dumps(sorted(left))))
                left.difference_update(pieces[-1].column(by).to_pylist())
        return pa.concat_tables(pieces)

    def _first(self, query: str, value: int) -> int | None:
        with self._translated():
            found = self._db.execute(query, (value,)).fetchone()[0]
        if found is not None and not isinstance(found, int):
            raise self._damaged()
        return found

    def _insert(self, table: StoredTable, rows: pa.Table) -> None:
        names = ", ".join(f'"{name}"' for name in rows.column_names)
        query = f"INSERT INTO {self._name(table)} ({names}) VALUES ({', '.join('?' * rows.num_columns)})"
        with self._translated():
            for batch in rows.to_batches(max_chunksize=A_BATCH):
                self._db.executemany(query, zip(*(column.to_pylist() for column in batch.columns), strict=True))

    def _delete(self, table: StoredTable, keys: str) -> int:
        query = f'DELETE FROM {self._name(table)} WHERE "key" IN {self._among}'
        with self._translated():
            return self._db.execute(query, (keys,)).rowcount

    def _count(self, table: StoredTable, keys: str) -> int:
        query = f'SELECT COUNT(*) FROM {self._name(table)} WHERE "key" IN {self._among}'
        with self._translated():
            return int(self._db.execute(query, (keys,)).fetchone()[0])

    def _forget(self) -> None:
        # Overwriting what is deleted is not enough: pages that were split before keep copies in their unused parts.
        try:
            self._run("VACUUM")
        except DataError as error:
            (reason,) = error.problems
            message = "The rows are erased, but the file could not be written anew, so copies may linger in it."
            why = reason.message.replace(" Nothing was changed.", "")
            hint = f"{why} Erase the same keys again when that is mended."
            raise DoneBut(Problem("done-but", message, self.shown, hint)) from None

    # ---- what went wrong -----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Say in our own words what went wrong: the driver's may hold a value of a record."""
        try:
            yield
        except sqlite3.ProgrammingError:  # a mistake of ours, not of the file
            raise
        except sqlite3.DatabaseError as error:
            raise self._what_it_means(error) from None
        except UnicodeDecodeError:  # names in a damaged file, which the driver quotes when it complains of them
            raise self._damaged() from None

    def _what_it_means(self, error: sqlite3.Error) -> Exception:
        kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        same = "Nothing was changed."
        if kind == sqlite3.SQLITE_CONSTRAINT:
            return Taken()
        if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return self._busy()
        if kind == sqlite3.SQLITE_NOTADB:
            return self._foreign()
        if kind == sqlite3.SQLITE_FULL:
            return self._problem("output", f"The disk is full. {same}", "make room, then run it again")
        if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            message = f"The store may be read but not written to. {same}"
            return self._problem("output", message, "ask for the right to write to the file and its folder")
        if kind == sqlite3.SQLITE_CANTOPEN:
            message = "The file, or the journal beside it, cannot be opened."
            return self._problem("no-file", message, "you need to read and write both the file and its folder")
        if kind == sqlite3.SQLITE_IOERR:
            return self._problem("output", f"The disk could not be read or written. {same}", "is it full, or broken?")
        return self._damaged()

    def _damaged(self) -> DataError:
        message = "The store is not as Hedgerow wrote it: its file is damaged, or was changed by another program."
        return self._problem("store-damaged", message, "go back to a copy that is whole")

    def _no_file(self, error: Exception) -> DataError:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a path"
        return self._problem("no-file", f"The store cannot be opened: {reason}.")


def _in_batches(cursor: sqlite3.Cursor, width: int) -> Iterator[list[list[Any]]]:
    """Yield the cells of many rows at a time, column by column."""
    columns: list[list[Any]] = [[] for _ in range(width)]
    while rows := cursor.fetchmany(AT_ONCE):
        for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(cells)
        if len(columns[0]) >= A_BATCH:
            yield columns
            columns = [[] for _ in range(width)]
    if columns[0]:
        yield columns


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
