"""Releases on a MariaDB server: made under a hidden name, verified there, and renamed.

A comment is too short there for a plan and facts, so they stand in a table of their own beside the release, whose
comment says what they must be. One statement renames both. There is no transaction that would undo a table, so a client
that dies may leave hidden ones; each is made under a lock of its connection, and the next who writes there removes
those whose lock nobody holds.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import re
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hedgerow.engines import mariadb_rows as rows_of
from hedgerow.engines.place import TablePlace, quoted
from hedgerow.errors import DataError, DoneBut, Problem
from hedgerow.outside.mariadb import LONGEST, connect, is_name
from hedgerow.outside.outputs.moment import record, suspect, undisturbed

if TYPE_CHECKING:
    import pyarrow as pa

BESIDE = "_hedgerow"
"""Ends the name of the table that holds the plan and the facts of a release."""
MARK = "Hedgerow release; plan and facts: "
"""Begins the comment of a table that is a release: only such a table is replaced."""
HIDDEN = re.compile(r"(\.hedgerow-[0-9a-f]{32})(-old)?(?:_hedgerow)?")
"""Names of tables that are not shown to anybody."""
ENDING = 10.0
"""Seconds that the server gets to end a statement whose client is gone."""


class Releases:
    """What a session on a MariaDB server does with releases; the rest of it is ``MariaDbSession``."""

    at: TablePlace
    place: str
    binary: str
    _driver: Any
    _connection: Any
    _database: str | None
    _writing: TablePlace | None
    _unshown: list[TablePlace]
    run: Any
    ask: Any
    literal: Any
    _one: Any
    _insert: Any
    _problem: Any
    _is_called: Any

    def check_free(self, target: TablePlace, replace: bool) -> None:
        """Refuse a target that exists, or that may not be replaced: only a release may."""
        with self._about(target) as target:
            if not is_name(target.table + BESIDE):
                message = f"The name of the output table has more than {LONGEST - len(BESIDE)} characters."
                raise DataError(Problem("table-address", message, target.shown, "choose a shorter name"))
            there = self._exists(target), self._exists(_beside(target))
            if not any(there):
                return
            if not replace:
                message = "The output table exists already."
                hint = "choose another name, or replace it with --replace"
                if not there[0]:
                    message, hint = (
                        "The table for plan and facts, which goes with the output, exists already.",
                        hint[:19],
                    )
                raise DataError(Problem("output-in-use", message, target.shown, hint))
            if not there[0] or not self._mark(target).startswith(MARK):
                message = "The output table is not a release, so it is not replaced."
                raise DataError(Problem("output-in-use", message, target.shown, "choose another name"))

    def make(self, target: TablePlace, query: str) -> TablePlace:
        """Make a table of a query's rows under a hidden name beside the target."""
        with self._about(target) as target:
            hidden = self._hide(target)
            self.run(f"CREATE TABLE {hidden.sql} AS {query}")
        return hidden

    def fill(self, target: TablePlace, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> TablePlace:
        """Make a table of rows from elsewhere under a hidden name beside the target."""
        odd = [name for name in schema.names if not is_name(name)]
        if odd:
            message = f"The server cannot keep the name of column {odd[0]!r}: it is too long, or has an odd character."
            raise DataError(Problem("output", message, target.shown, "rename it, or write to a folder"))
        with self._about(target) as target:
            hidden = self._hide(target)
            kinds = [(field.name, rows_of.type_name(field.type)) for field in schema]
            columns = ", ".join(
                f"{quoted(name)} {kind} NULL{self.binary if kind == 'LONGTEXT' else ''}" for name, kind in kinds
            )
            self.run(f"CREATE TABLE {hidden.sql} ({columns})")
            self.run("BEGIN")
            self._insert(hidden.sql, schema, batches)
            self.run("COMMIT")
        return hidden

    def show(self, hidden: TablePlace, target: TablePlace, comment: str, replace: bool) -> None:
        """Put a table and what is said of it into place, by one statement."""
        with self._about(target) as target:
            facts = _beside(hidden)
            self.run(f"CREATE TABLE {facts.sql} (document LONGTEXT NOT NULL) CHARACTER SET utf8mb4{self.binary}")
            self.run(f"INSERT INTO {facts.sql} VALUES ({self.literal(comment)})")
            mark = MARK + _digest(comment)
            self.run(f"ALTER TABLE {hidden.sql} COMMENT = {self.literal(mark)}")
            moves = [(hidden, target), (facts, _beside(target))]
            old = dataclasses.replace(hidden, table=hidden.table + "-old")
            replaced = replace and self._exists(target)
            if replaced:
                self.check_free(target, replace)
                had = [(target, old), (_beside(target), _beside(old))]
                moves = [*(move for move in had if self._exists(move[0])), *moves]
            statement = ", ".join(f"{before.sql} TO {after.sql}" for before, after in moves)
            what = f"the table is in place: {target.shown}"
            with undisturbed(f"It is not known whether {what}."):  # the moment of truth
                try:
                    self.run(f"RENAME TABLE {statement}")
                except DataError as error:
                    self._find_out(hidden, target, mark, what, error)
                record(what)
            self._unshown.remove(hidden)
            if replaced:
                with contextlib.suppress(DataError):  # else the next who writes there does it
                    self.run(f"DROP TABLE IF EXISTS {old.sql}, {_beside(old).sql}")

    def comment(self, place: TablePlace) -> str | None:
        """Return what is said of a table that is a release, if it is what its comment says it must be."""
        mark = self._mark(place)
        if not mark.startswith(MARK) or not self._exists(_beside(place)):
            return None
        found = self.ask(f"SELECT document FROM {_beside(place).sql} LIMIT 2").column("document").to_pylist()
        return found[0] if len(found) == 1 and mark == MARK + _digest(found[0]) else None

    # -- hidden tables -----------------------------------------------------------------------------------------------

    def _hide(self, target: TablePlace) -> TablePlace:
        """Choose a hidden name beside a target, and note that somebody works on it."""
        self._sweep(target)
        hidden = dataclasses.replace(target, table=f".hedgerow-{uuid.uuid4().hex}")
        self._one(f"SELECT GET_LOCK({self.literal(hidden.table)}, 0)")
        self._unshown.append(hidden)
        return hidden

    def _sweep(self, target: TablePlace) -> None:
        """Remove hidden tables that nobody works on any more."""
        found = self.ask(
            "SELECT TABLE_NAME AS name FROM information_schema.TABLES"
            f" WHERE {self._is_called('TABLE_SCHEMA', target.schema)} AND TABLE_NAME LIKE '.hedgerow-%'"
        )
        for name in found.column("name").to_pylist():
            hidden = HIDDEN.fullmatch(name)
            if hidden and self._one(f"SELECT IS_USED_LOCK({self.literal(hidden[1])})") is None:
                with contextlib.suppress(DataError):
                    self.run(f"DROP TABLE IF EXISTS {dataclasses.replace(target, table=name).sql}")

    def _forget(self) -> None:
        """Remove hidden tables that were not put into place."""
        while self._unshown:
            hidden = self._unshown.pop()
            self.run(f"DROP TABLE IF EXISTS {hidden.sql}, {_beside(hidden).sql}")

    def _find_out(self, hidden: TablePlace, target: TablePlace, mark: str, what: str, error: DataError) -> None:
        """Find out whether tables were renamed, if that failed; returns if they were."""
        if {problem.code for problem in error.problems} != {"no-connection"} or self._connection.open:
            raise error
        state = None
        with contextlib.suppress(DataError, self._driver.Error, OSError):
            state = self._looked_up(hidden, target, mark)
        if state is None:
            suspect(f"It is not known whether {what}.")
            message = "The connection was lost while the table was put into place: it is there whole, or not at all."
            hint = "check whether it is there; if not, run the same again"
            raise DoneBut(Problem("in-doubt", message, self.place, hint)) from None
        if not state:
            raise error

    def _looked_up(self, hidden: TablePlace, target: TablePlace, mark: str) -> bool | None:
        """Ask by another connection whether a table has its name, once nobody renames it any more."""
        other = connect(self._driver, target.url, self.place, connect_timeout=5)
        with contextlib.closing(other), other.cursor() as cursor:

            def comment(table: str) -> str | None:
                cursor.execute(
                    "SELECT TABLE_COMMENT FROM information_schema.TABLES"
                    " WHERE TABLE_SCHEMA = %s AND BINARY TABLE_NAME = BINARY %s",
                    (target.schema, table),
                )
                found = cursor.fetchone()
                return None if found is None else str(found[0])

            end = time.monotonic() + ENDING
            while time.monotonic() < end:
                cursor.execute(
                    "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = %s", (self._connection.thread_id(),)
                )
                if cursor.fetchone() is None:
                    return comment(hidden.table) is None and comment(target.table) == mark
                time.sleep(0.05)
        return None

    # -- what is there -----------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _about(self, target: TablePlace) -> Iterator[TablePlace]:
        """Let messages speak of the output; yields it with its schema: that of the address."""
        before, self._writing = self._writing, target
        try:
            if target.schema is None:
                if self._database is None:
                    raise self._problem(1049)
                target = dataclasses.replace(target, schema=self._database)
            yield target
        finally:
            self._writing = before

    def _exists(self, place: TablePlace) -> bool:
        return bool(self._about_table(place, "1 AS found").num_rows)

    def _mark(self, place: TablePlace) -> str:
        found = self._about_table(place, "TABLE_COMMENT AS found").column("found").to_pylist()
        return str(found[0] or "") if found else ""

    def _about_table(self, place: TablePlace, what: str) -> pa.Table:
        schema = place.schema if place.schema is not None else self._database
        found: pa.Table = self.ask(
            f"SELECT {what} FROM information_schema.TABLES"
            f" WHERE {self._is_called('TABLE_SCHEMA', schema)} AND {self._is_called('TABLE_NAME', place.table)}"
        )
        return found


def _beside(place: TablePlace) -> TablePlace:
    return dataclasses.replace(place, table=place.table + BESIDE)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
