"""A release as a table of a Spark session's catalogue: under a hidden name first, then renamed.

The catalogue decides what a table is: Parquet files in Spark's own, Delta or Iceberg where that is the session's
default or the catalogue's own. Plan and facts are properties of the table, in pieces, as some catalogues keep no more
than 4,000 characters of one.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hedgerow.engines.spark import SparkTable
from hedgerow.errors import DataError, DoneBut, Problem
from hedgerow.outside.outputs.moment import record, suspect, undisturbed
from hedgerow.outside.outputs.workers import is_left, seconds_since, this_worker
from hedgerow.outside.stores import TABLE

MARK, WORKER, SINCE = "hedgerow.release", "hedgerow.worker", "hedgerow.since"
PIECE = 3000
"""Characters of a property."""
MOST_PIECES = 100_000
HIDDEN, ASIDE = "hedgerow_new_", "hedgerow_old_"
PART = re.compile(r"`(?:[^`]|``)+`|[^`.]+")


@dataclass(frozen=True)
class CatalogueTable:
    """A table of a catalogue: the parts of its name, the last being its own."""

    parts: tuple[str, ...]

    @property
    def sql(self) -> str:
        """The table, as a statement names it."""
        return ".".join("`" + part.replace("`", "``") + "`" for part in self.parts)

    @property
    def space(self) -> str:
        """What it lies in, as a statement names it."""
        return CatalogueTable(self.parts[:-1]).sql

    @property
    def without_catalogue(self) -> str:
        """The table, as a statement names it that has named the catalogue already."""
        return CatalogueTable(self.parts[1:]).sql

    @property
    def shown(self) -> str:
        """What messages show."""
        return TABLE + ".".join(self.parts)

    def beside(self, name: str) -> CatalogueTable:
        """Another table of the same space."""
        return CatalogueTable((*self.parts[:-1], name))


def read_name(address: str) -> tuple[str, ...]:
    """Read the name of a table after ``table:``.

    Examples
    --------
    >>> read_name("table:register.persons"), read_name("table:`odd.name`.persons")
    (('register', 'persons'), ('odd.name', 'persons'))
    """
    text = address.removeprefix(TABLE)
    found = PART.findall(text)
    if not found or ".".join(found) != text:
        hint = "for example table:register.release, with back-ticks around a part that holds a dot"
        raise DataError(Problem("table-address", "This is not the name of a table.", address, hint))
    return tuple(part[1:-1].replace("``", "`") if part.startswith("`") else part for part in found)


class Catalogue:
    """The tables that a session sees, as far as a release needs them."""

    def __init__(self, session: SparkTable, address: str) -> None:
        self.session = session
        name = read_name(address)
        if len(name) < 3:
            here = session.where()
            name = (here[0], *name) if len(name) == 2 else (*here, *name)
        self.target = CatalogueTable(name)

    def exists(self, table: CatalogueTable) -> bool:
        """Tell whether there is a table, or a view, of that name."""
        return self.session.has_table(table.sql)

    def properties(self, table: CatalogueTable) -> dict[str, str]:
        """Return the properties of a table that are ours."""
        rows = self.session.ask(f"SHOW TBLPROPERTIES {table.sql}").to_pylist()
        return {row["key"]: row["value"] for row in rows if str(row["key"]).startswith("hedgerow.")}

    def check_free(self, replace: bool) -> None:
        """Refuse a target that exists, or that may not be replaced: only a release may."""
        self.sweep()
        if not self.exists(self.target):
            return
        if not replace:
            message = "The output table exists already."
            hint = "choose another name, or replace it with --replace"
            raise DataError(Problem("output-in-use", message, self.target.shown, hint))
        self._check_release()

    def _check_release(self) -> None:
        if f"{MARK}.0" not in self.properties(self.target):
            message = "The output table is not a release, so it is not replaced."
            raise DataError(Problem("output-in-use", message, self.target.shown, "choose another name"))

    def make(self, query: str) -> CatalogueTable:
        """Make a table of the rows of a query under a hidden name beside the target.

        It is made empty, and filled then: what a killed run leaves can be found, and has a word of who worked on it.
        """
        hidden = self.target.beside(HIDDEN + uuid.uuid4().hex)
        said = _property_list({WORKER: this_worker(), SINCE: str(time.time())})
        self._run(f"CREATE TABLE {hidden.sql} TBLPROPERTIES ({said}) AS SELECT * FROM ({query}) AS q WHERE 1 = 0")
        try:
            self._run(f"INSERT INTO {hidden.sql} {query}")
        except BaseException:
            self.drop(hidden)
            raise
        return hidden

    def show(self, hidden: CatalogueTable, text: str, replace: bool) -> None:
        """Put a table into place, with what is said of it."""
        pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        said = {f"{MARK}.{number}": piece for number, piece in enumerate(pieces)}
        self._run(f"ALTER TABLE {hidden.sql} SET TBLPROPERTIES ({_property_list(said)})")
        what = f"the table is in place: {self.target.shown}"
        aside = self.target.beside(ASIDE + uuid.uuid4().hex)

        def put() -> None:
            if replace and self.exists(self.target):
                self._check_release()
                said = _property_list({f"{MARK}.was": self.target.parts[-1]})
                self._run(f"ALTER TABLE {self.target.sql} SET TBLPROPERTIES ({said})")
                self._rename(self.target, aside)
            try:
                self._rename(hidden, self.target)
            except DataError:
                if self.exists(aside) and not self.exists(self.target):
                    self._rename(aside, self.target)
                raise

        with undisturbed(f"It is not known whether {what}."):
            self._settled(put, what, lambda: not self.exists(hidden) and self.exists(self.target))
            record(what)
        self.drop(aside)  # if that fails, the next run does it
        with contextlib.suppress(DataError):
            self._run(f"ALTER TABLE {self.target.sql} UNSET TBLPROPERTIES ('{WORKER}', '{SINCE}')")

    def drop(self, table: CatalogueTable) -> None:
        """Drop a table of ours."""
        with contextlib.suppress(DataError):
            self._run(f"DROP TABLE IF EXISTS {table.sql}")

    def sweep(self) -> None:
        """Drop what killed runs have left, and put back what one had renamed to replace it."""
        for prefix in (HIDDEN, ASIDE):
            found = self.session.ask(f"SHOW TABLES IN {self.target.space} LIKE '{prefix}*'").to_pylist()
            for row in found:
                table = self.target.beside(str(row["tableName"]))
                said = self.properties(table)
                if prefix == ASIDE:
                    if said.get(f"{MARK}.was") != self.target.parts[-1]:
                        continue
                    if not self.exists(self.target):
                        self._rename(table, self.target)
                        continue
                elif not is_left(said.get(WORKER), seconds_since(_seconds(said.get(SINCE)))):
                    continue
                self.drop(table)

    def text(self) -> str | None:
        """Return what is said of the target, if it is a release."""
        said = self.properties(self.target)
        pieces = []
        for number in range(MOST_PIECES):
            piece = said.get(f"{MARK}.{number}")
            if piece is None:
                break
            pieces.append(piece)
        return "".join(pieces) or None

    def _rename(self, table: CatalogueTable, target: CatalogueTable) -> None:
        self._run(f"ALTER TABLE {table.sql} RENAME TO {target.without_catalogue}")

    def _settled(self, put: Callable[[], None], what: str, is_there: Callable[[], bool]) -> None:
        try:
            put()
        except DataError as error:
            try:
                done = is_there()
            except DataError:
                suspect(f"It is not known whether {what}.")
                message = "Spark was lost while the table was put into place: it is there whole, or not at all."
                hint = "check whether it is there; if not, run the same again"
                raise DoneBut(Problem("in-doubt", message, self.target.shown, hint)) from None
            if not done:
                raise error

    def _run(self, statement: str) -> None:
        self.session.run(statement)


def said_of(plan: str, facts: Mapping[str, object]) -> str:
    """Put plan and facts into one text."""
    return json.dumps({"plan": plan, "facts": facts})


def _property_list(properties: Mapping[str, str]) -> str:
    return ", ".join(f"'{key}' = '{_quoted(value)}'" for key, value in properties.items())


def _quoted(text: str) -> str:
    """Write a text between quotation marks.

    Examples
    --------
    >>> len(_quoted("o'er"))
    5
    """
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _seconds(text: str | None) -> float:
    try:
        return float(text or "0")
    except ValueError:
        return 0.0
