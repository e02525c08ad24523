"""The store of a release's history: what it does, whatever database it lies in."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from hedgerow.errors import DataError, DoneBut, HedgerowError, Problem
from hedgerow.maintenance.store.rows import few_rows, rows_of, unkeepable
from hedgerow.maintenance.store.schema import (
    AUDIT,
    ERASURES,
    FIRST,
    FORMAT,
    GROUPS,
    INDEX,
    META,
    NUMBER,
    PLACES,
    RECORDS,
    STEPS,
    TEXT,
    VERSIONS,
    StoredTable,
)
from hedgerow.maintenance.store.state import latest
from hedgerow.maintenance.store.version import Erasure, NewVersion, VersionRow, canonical, chained, digest_of_groups
from hedgerow.outside.outputs.moment import record, suspect, undisturbed
from hedgerow.outside.server import is_keepable
from hedgerow.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

PATIENCE = 5.0  # seconds to wait for another writer
OWN = ("format", "schema")  # names in meta that the store itself needs
SINCE_LAYOUT = {INDEX: 3, AUDIT: 4}
A_PIECE = 1 << 22  # bytes of the index, or of the audit, in one row
PLAIN = ("counts", "scores", "facts", "verification", "audit")  # columns of versions that hold JSON


class Taken(Exception):
    """Something that must be there once is there already; the database said so."""


@dataclass(frozen=True, eq=False)
class Deed:
    """What a transaction does, so that it can be said, and found out about.

    Attributes
    ----------
    what
        In the words of whoever asks: "version 3 is in the store".
    version
        The version it writes, if it writes one.
    keys
        The keys it removes, as a JSON array, if it removes any.
    """

    what: str
    version: NewVersion | None = None
    keys: str = ""


class Store(ABC):
    """The history of one release. :func:`~hedgerow.maintenance.store.open_store` gives one, for a ``with`` statement.

    Attributes
    ----------
    shown
        Where the store is, as messages show it: never with a password.
    begun
        Whether the store has been started.
    """

    steps: tuple[tuple[StoredTable, ...], ...] = STEPS  # tests shorten it to act as an older Hedgerow

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.begun = False

    # ---- reading -----------------------------------------------------------------------------------------

    def meta(self) -> dict[str, str]:
        """What the release as a whole says of itself, and the store's own ``format`` and ``schema`` (its layout)."""
        if not self.begun:
            return {}
        rows = self._read(f"SELECT {_columns(META)} FROM {self._name(META)}", META.arrow)
        return dict(zip(*rows.to_pydict().values(), strict=True))

    def head(self) -> int:
        """The number of the newest version; 0 if there is none."""
        return self._newest()[0]

    def versions(self) -> list[VersionRow]:
        """What the store says of every version, oldest first."""
        found = []
        for row in self._version_rows():
            try:
                plain = {name: json.loads(row[name]) for name in PLAIN}
            except ValueError:
                plain = {}
            if not all(isinstance(plain.get(name), dict) for name in PLAIN):
                raise self._problem(
                    "store-damaged", f"What the store says of version {row['version']} is not readable."
                )
            rest = {name: row[name] for name in row if name not in (*PLAIN, "version")}
            found.append(VersionRow(number=row["version"], **rest, **plain))
        return found

    def records(self, version: int | None = None) -> pa.Table:
        """Return the records as of a version: ``version`` (that wrote it), ``key``, ``content``. None: the newest."""
        return self._state(RECORDS, version)

    def places(self, version: int | None = None) -> pa.Table:
        """Return where every record lies as of a version: ``version``, ``key``, ``cluster``, ``group_number``."""
        return self._state(PLACES, version)

    def groups(self, version: int | None = None) -> pa.Table:
        """Return every group as of a version: ``version``, ``number``, ``shown``, ``region``, ``size``, ``counts``."""
        return self._state(GROUPS, version)

    def all_records(self, upto: int | None = None) -> pa.Table:
        """Every record ever written, or written up to a version, in order of version and key."""
        return self._events(RECORDS, upto)

    def all_places(self, upto: int | None = None) -> pa.Table:
        """Every change of place, or those up to a version, in order of version and key."""
        return self._events(PLACES, upto)

    def all_groups(self, upto: int | None = None) -> pa.Table:
        """Every change of a group, or those up to a version, in order of version and number."""
        return self._events(GROUPS, upto)

    def records_since(self, version: int) -> pa.Table:
        """Records written after a version, in order of version and key."""
        return self._since(RECORDS, version)

    def places_since(self, version: int) -> pa.Table:
        """Changes of place after a version, in order of version and key."""
        return self._since(PLACES, version)

    def groups_since(self, version: int) -> pa.Table:
        """Changes of groups after a version, in order of version and number."""
        return self._since(GROUPS, version)

    def records_of(self, keys: Sequence[str]) -> pa.Table:
        """Return the newest records with some keys."""
        return self._latest_of(RECORDS, keys)

    def places_of(self, keys: Sequence[str]) -> pa.Table:
        """Return where records with some keys lie now."""
        return self._latest_of(PLACES, keys)

    def groups_of(self, numbers: Sequence[int]) -> pa.Table:
        """Return groups with some numbers, as they are now."""
        return self._latest_of(GROUPS, numbers)

    def index(self) -> bytes:
        """Return what the version that was last checked in full left for later changes; empty if nothing."""
        return self._pieces(INDEX)

    def audit_state(self) -> bytes:
        """Return the audit of all versions so far, as the newest version left it; empty if it left none."""
        return self._pieces(AUDIT)

    def erasures(self) -> list[Erasure]:
        """When people were erased and how many rows, oldest first; never who."""
        if self._layout() < 2:
            return []
        query = f"SELECT {_columns(ERASURES)} FROM {self._name(ERASURES)} ORDER BY {_quoted('number')}"
        return [Erasure(**row) for row in self._read(query, ERASURES.arrow).to_pylist()]

    def check_chain(self) -> list[int]:
        """Find versions that are not as they were written.

        Hashes every version and its groups again, and compares with what it and its successor say. A version that was
        cut off at the end is not noticed: compare :meth:`head`, or the last ``chain``, with a copy kept elsewhere.

        Returns
        -------
        list of int
            Numbers of versions that do not fit, of versions that follow a gap, and of versions that only have groups.
        """
        import numpy as np

        rows = self._version_rows()
        groups = self.all_groups()
        written = {row["version"] for row in self._version_rows()}  # asked again: others may be writing
        of_version = groups["version"].to_numpy()
        wrong = set(np.unique(of_version).tolist()) - written
        before, chain = 0, ""
        for row in rows:
            number = row["version"]
            begin, end = np.searchsorted(of_version, [number, number + 1])
            digest = digest_of_groups(groups.slice(begin, end - begin))
            follows = number == before + 1 and row["previous"] == chain
            if not follows or chained(chain, row, digest) != row["chain"]:
                wrong.add(number)
            before, chain = number, row["chain"]
        return sorted(wrong)

    # ---- writing -----------------------------------------------------------------------------------------

    def start(self, meta: Mapping[str, str], first: NewVersion) -> None:
        """Begin the store with its first version, in one transaction; if it fails, nothing is left behind.

        Raises
        ------
        DataError
            ``store-exists`` if there is a store by now, ``store-text``, ``store-busy``, ``output``.
        """
        if self.begun:
            raise self._exists()
        if first.number != 1:
            raise ValueError(f"the first version must have the number 1. Got {first.number} instead.")
        if own := [name for name in OWN if name in meta]:
            raise ValueError(f"these names are the store's own: {own}")
        told = {**meta, "format": FORMAT, "schema": str(len(self.steps))}
        prepared = _prepare(first)
        try:
            with self._founding(Deed(f"version 1 is in the store: {self.shown}", first)):
                for table in (table for step in self.steps for table in step):
                    self._run(self._create(table))
                self._insert(META, few_rows(META, [{"name": name, "value": told[name]} for name in sorted(told)]))
                self._write(first, prepared, "")
        except Taken:
            raise self._exists() from None
        self.begun = True

    def append(self, version: NewVersion) -> None:
        """Write the next version, in one transaction; an older layout is brought up to date in the same.

        Raises
        ------
        DataError
            ``store-changed`` if somebody else has written that version, ``store-busy`` if somebody else is writing,
            ``store-newer``, ``store-text``, ``output``. Nothing is changed then.
        """
        self._need()
        prepared = _prepare(version)
        try:
            with self._transaction(Deed(f"version {version.number} is in the store: {self.shown}", version)):
                self._migrate()
                self._append(version, prepared)
        except Taken:
            raise self._overtaken(version) from None

    def _append(self, version: NewVersion, prepared: Mapping[StoredTable, pa.Table]) -> None:
        """Write the next version, inside a transaction."""
        head, chain = self._newest()
        if head >= version.number:
            raise Taken
        if head != version.number - 1:
            message = f"The next version of the store is {head + 1}. Got {version.number} instead."
            raise self._problem("store-changed", message)
        self._write(version, prepared, chain)

    def _overtaken(self, version: NewVersion) -> DataError:
        message = f"Somebody else has written version {version.number} meanwhile; nothing was changed."
        return self._problem("store-changed", message, "run it again")

    def erase(self, keys: Sequence[str], without: NewVersion | None = None) -> int:
        """Remove every row about some people from the private tables, in every version.

        Who is still in the release must leave it with a new version, ``without`` them, which is written in the same
        transaction. Erasing people who are gone already is harmless: what may linger of them is removed once more.

        That something was erased is logged with the number of rows, not with the keys. What was published, and the
        chain, stay as they are.

        In SQLite the file is then written anew, because deleted text otherwise lingers in unused parts of it. What
        the file system or a backup still holds of the old file is out of reach.

        In PostgreSQL deleted rows stay in the table's files, unreachable for everybody, until the server vacuums
        (which it does by itself, sooner or later); ``VACUUM FULL`` on ``records`` and ``places`` rewrites the files
        at once. The write-ahead log, its archive and backups keep them as long as the administrator does.

        Returns
        -------
        int
            How many rows were removed; 0 if nobody has such a key.

        Raises
        ------
        DoneBut
            If they are erased, but the file could not be written anew.
        """
        if isinstance(keys, str):
            raise TypeError("'keys' must be a sequence of keys, not one text")
        self._need()
        wanted = sorted(set(keys))
        if not all(map(is_keepable, wanted)):
            raise unkeepable("keys")
        if not wanted:
            return 0
        as_json = json.dumps(wanted)
        prepared = None if without is None else _prepare(without)
        try:
            with self._transaction(Deed(f"they are erased from the store: {self.shown}", without, as_json)):
                self._migrate()
                if without is not None and prepared is not None:
                    self._append(without, prepared)
                rows = self._delete(RECORDS, as_json) + self._delete(PLACES, as_json)
                for table in SINCE_LAYOUT:
                    self._replace_pieces(table, b"")  # they hold them too; the next change makes them again
                if rows:
                    number = len(self.erasures()) + 1
                    log = {"number": number, "made_at": _now(), "head": self._newest()[0], "rows": rows}
                    self._insert(ERASURES, few_rows(ERASURES, [log]))
        except Taken:
            raise (self._busy() if without is None else self._overtaken(without)) from None
        self._forget()
        return rows

    # ---- what both databases share -----------------------------------------------------------------------

    def look(self) -> bool:
        """Look whether there is a store, and whether it is one that can be used; sets :attr:`begun`.

        Raises
        ------
        DataError
            ``not-a-store``, ``store-newer``, ``store-damaged``, ``no-connection``, ``no-file``.
        """
        names = self._tables()
        if names is not None:
            if not names >= {table.name for table in FIRST}:
                raise self._foreign()
            self.begun = True
            if self.meta().get("format") != FORMAT:
                self.begun = False
                raise self._foreign()
            self._layout()
        return self.begun

    def _layout(self) -> int:
        """How many steps the store has taken."""
        self._need()
        said = self.meta().get("schema", "")
        if not (said.isascii() and said.isdigit() and int(said) >= 1):
            raise self._problem("store-damaged", "The store does not say which layout it has.")
        if int(said) > len(self.steps):
            message = (
                f"The store has layout {said}; this Hedgerow ({__version__}) knows layouts up to {len(self.steps)}."
            )
            raise self._problem("store-newer", message, "use the Hedgerow that made it, or a later one")
        return int(said)

    def _migrate(self) -> None:
        """Take the steps that an older store has not taken, inside the transaction that needs them."""
        if self._layout() == len(self.steps):
            return
        self._lock()
        for step in self.steps[self._layout() :]:  # asked again: somebody else may have taken them meanwhile
            for table in step:
                self._run(self._create(table))
        value, name = _quoted("value"), _quoted("name")
        self._run(f"UPDATE {self._name(META)} SET {value} = ? WHERE {name} = ?", str(len(self.steps)), "schema")

    def _write(self, version: NewVersion, prepared: Mapping[StoredTable, pa.Table], previous: str) -> None:
        row = {
            "version": version.number,
            "parent": version.parent,
            "verb": version.verb,
            "made_at": _now(),
            "tool": f"hedgerow {__version__}",
            "plan_digest": version.plan_digest,
            **{name: canonical(getattr(version, name)) for name in PLAIN},
            "previous": previous,
        }
        row["chain"] = chained(previous, row, digest_of_groups(prepared[GROUPS]))
        self._insert(VERSIONS, few_rows(VERSIONS, [row]))  # first, because its key decides between two writers
        for table, rows in prepared.items():
            try:
                self._insert(table, rows)
            except Taken:
                raise ValueError(f"one version says two things of the same {table.key[-1]} in {table.name!r}") from None
        for table, piece in ((INDEX, version.index), (AUDIT, version.audit_state)):
            if piece is not None:
                self._replace_pieces(table, piece)

    def _pieces(self, table: StoredTable) -> bytes:
        """Return what lies in a table in pieces."""
        if self._layout() < SINCE_LAYOUT[table]:
            return b""
        query = f"SELECT {_columns(table)} FROM {self._name(table)} ORDER BY {_quoted('part')}"
        return b"".join(self._read(query, table.arrow)["content"].to_pylist())

    def _replace_pieces(self, table: StoredTable, whole: bytes) -> None:
        if len(self.steps) < SINCE_LAYOUT[table]:
            return
        self._run(f"DELETE FROM {self._name(table)}")
        pieces = [whole[at : at + A_PIECE] for at in range(0, len(whole), A_PIECE)]
        self._insert(table, few_rows(table, [{"part": part, "content": one} for part, one in enumerate(pieces)]))

    def _version_rows(self) -> list[dict[str, Any]]:
        if not self.begun:
            return []
        query = f"SELECT {_columns(VERSIONS)} FROM {self._name(VERSIONS)} ORDER BY {_quoted('version')}"
        return list(self._read(query, VERSIONS.arrow).to_pylist())

    def _newest(self) -> tuple[int, str]:
        """The number and the chain of the newest version."""
        if not self.begun:
            return 0, ""
        number, chain = _quoted("version"), _quoted("chain")
        query = f"SELECT {number}, {chain} FROM {self._name(VERSIONS)} ORDER BY {number} DESC LIMIT 1"
        rows = self._read(query, _only(VERSIONS, "version", "chain")).to_pylist()
        return (rows[0]["version"], rows[0]["chain"]) if rows else (0, "")

    def _events(self, table: StoredTable, upto: int | None = None) -> pa.Table:
        self._need()
        query = f"SELECT {_columns(table)} FROM {self._name(table)}"
        if upto is not None:
            query += f" WHERE {_quoted('version')} <= ?"
        query += " ORDER BY " + ", ".join(map(_quoted, table.key))
        return self._read(query, table.arrow, *(() if upto is None else (upto,)))

    def _since(self, table: StoredTable, version: int) -> pa.Table:
        self._need()
        order = ", ".join(map(_quoted, table.key))
        query = f"SELECT {_columns(table)} FROM {self._name(table)} WHERE {_quoted('version')} > ? ORDER BY {order}"
        return self._read(query, table.arrow, version)

    def _latest_of(self, table: StoredTable, named: Sequence[Any]) -> pa.Table:
        """Return the newest rows of a table about those that are named."""
        self._need()
        by, order = table.key[-1], ", ".join(map(_quoted, table.key))
        which = f"CAST({_quoted(by)} AS {self._kinds[TEXT]})" if table.kinds[by] == NUMBER else _quoted(by)
        query = f"SELECT {_columns(table)} FROM {self._name(table)} WHERE {which} IN {self._among} ORDER BY {order}"
        return latest(self._read(query, table.arrow, json.dumps(list(map(str, named)))), by)

    def _state(self, table: StoredTable, version: int | None) -> pa.Table:
        self._need()
        if version is not None and not 1 <= version <= self.head():
            message = f"The store has versions 1 to {self.head()}. Got {version} instead."
            raise self._problem("no-version", message, "hedgerow release history lists them")
        return latest(self._events(table, version), table.key[-1])

    def _create(self, table: StoredTable) -> str:
        columns = [
            f"{_quoted(name)} {self._kinds[kind]}" + ("" if name in table.optional else " NOT NULL")
            for name, kind in table.columns
        ]
        key = f"PRIMARY KEY ({', '.join(map(_quoted, table.key))})"
        return f"CREATE TABLE {self._name(table)} ({', '.join([*columns, key])}){self._suffix}"

    @contextlib.contextmanager
    def _transaction(self, deed: Deed) -> Iterator[None]:
        self._begin()
        try:
            yield
            self._prepare_end()
        except BaseException:
            self._rollback()
            raise
        with undisturbed(f"It is not known whether {deed.what}."):  # the moment of truth
            try:
                self._commit()
            except Exception as error:
                self._rollback()
                self._find_out(deed, error)
            except BaseException:  # a second signal: whoever holds the store goes on with a connection that is free
                self._rollback()
                raise
            record(deed.what)

    def _find_out(self, deed: Deed, error: Exception) -> None:
        """Find out whether a transaction was committed that failed to say so; returns if it was, and all is well."""
        try:
            happened = self._was_committed(deed)
        except HedgerowError:
            suspect(f"It is not known whether {deed.what}.")
            message = f"The end of the change failed, and it is not known whether {deed.what}."
            hint = "run 'hedgerow release history': either all of it happened, or nothing"
            raise DoneBut(Problem("in-doubt", message, self.shown, hint)) from None
        if not happened:
            raise error
        if not self._survives_loss:
            record(deed.what)
            message = f"The disk did not confirm the end of the change, but {deed.what}."
            raise DoneBut(Problem("done-but", message, self.shown, "check the disk")) from None

    def _holds(self, deed: Deed) -> bool:
        """Tell whether what was to be written is there."""
        self.look()
        if not self.begun:
            return False
        if deed.keys and (self._count(RECORDS, deed.keys) or self._count(PLACES, deed.keys)):
            return False
        if deed.version is None:
            return True
        plain = {name: canonical(getattr(deed.version, name)) for name in PLAIN}
        return any(
            row["version"] == deed.version.number and all(row[name] == plain[name] for name in PLAIN)
            for row in self._version_rows()
        )

    def _need(self) -> None:
        if not self.begun:
            raise self._problem("no-store", "There is no store here yet.")

    def _problem(self, code: str, message: str, hint: str = "") -> DataError:
        return DataError(Problem(code, message, self.shown, hint))

    def _exists(self) -> DataError:
        return self._problem("store-exists", "There is a store already; it is left as it is.", "choose another place")

    def _foreign(self) -> DataError:
        message = "What is here is not a store that Hedgerow wrote; it is left as it is."
        return self._problem("not-a-store", message, "check the address, or choose another place")

    def _busy(self) -> DataError:
        message = f"Somebody else is using the store, and was not done after {PATIENCE:g} seconds. Nothing was changed."
        return self._problem("store-busy", message, "run it again later")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown!r})"

    # ---- what each database does in its own way ------------------------------------------------------------

    _kinds: Mapping[str, str]  # the type of a column of each kind
    _suffix: str = ""  # what follows a table's columns
    _among: str  # the texts of a JSON array that is given for ?, as a query
    _survives_loss = False  # whether what is committed is safe even if we never heard of it

    @abstractmethod
    def close(self) -> None:
        """Let go of the database. What was not committed is undone."""

    @abstractmethod
    def _name(self, table: StoredTable) -> str:
        """The name of a table as statements write it."""

    @abstractmethod
    def _tables(self) -> frozenset[str] | None:
        """The names of the tables that are there; none if there is nothing at all."""

    @abstractmethod
    def _founding(self, deed: Deed) -> contextlib.AbstractContextManager[None]:
        """A transaction at a place that holds nothing; if it fails, the place holds nothing again."""

    @abstractmethod
    def _begin(self) -> None:
        """Begin a transaction that writes."""

    @abstractmethod
    def _prepare_end(self) -> None:
        """Do what must be done before a transaction ends, so that its end can be found out about later."""

    @abstractmethod
    def _commit(self) -> None:
        """End it, keeping what was written."""

    @abstractmethod
    def _was_committed(self, deed: Deed) -> bool:
        """Tell whether the last transaction was committed, though its end failed; raises if that cannot be known."""

    @abstractmethod
    def _rollback(self) -> None:
        """End it, undoing what was written; never fails."""

    @abstractmethod
    def _lock(self) -> None:
        """Keep others from changing the layout until the transaction ends."""

    @abstractmethod
    def _run(self, query: str, *values: Any) -> None:
        """Run a statement that returns nothing; every ``?`` in it stands for one of the values."""

    @abstractmethod
    def _read(self, query: str, columns: pa.Schema, *values: Any) -> pa.Table:
        """Run a statement that returns rows of these columns."""

    @abstractmethod
    def _insert(self, table: StoredTable, rows: pa.Table) -> None:
        """Add rows; raises :class:`Taken` if one has a key that is there already."""

    @abstractmethod
    def _delete(self, table: StoredTable, keys: str) -> int:
        """Remove the rows with any of the keys, which are given as a JSON array; returns how many."""

    @abstractmethod
    def _count(self, table: StoredTable, keys: str) -> int:
        """Count the rows with any of the keys, which are given as a JSON array."""

    @abstractmethod
    def _forget(self) -> None:
        """See to it that nothing of deleted rows lingers, as far as the database lets us."""


def _prepare(version: NewVersion) -> dict[StoredTable, pa.Table]:
    return {
        GROUPS: rows_of(GROUPS, version.groups, version.number),
        RECORDS: rows_of(RECORDS, version.records, version.number),
        PLACES: rows_of(PLACES, version.places, version.number),
    }


def _only(table: StoredTable, *names: str) -> pa.Schema:
    import pyarrow as pa

    return pa.schema([table.arrow.field(name) for name in names])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _columns(table: StoredTable) -> str:
    return ", ".join(map(_quoted, table.names))


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
