"""The SQL engine: one text of statements for DuckDB, PostgreSQL, MariaDB and Spark. Rows stay where they are.

Reading is one GROUP BY: distinct quasi-identifier and sensitive values come out, with counts. Applying uploads three
small tables — the distinct values with the number of their class, which records of a class go to which group, and what
groups are published as — and one SELECT gives the released rows. A *class* is what the algorithms cannot tell apart:
equal codes, person and sensitive values. Its records are numbered there, in the order of the other released columns.

Inside statements columns have names of our own (``c0``, ``s0``, ``k0``), so no name of the owner's can clash or harm.
Identifier columns are never mentioned.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from hedgerow.anonymization.executing import HERE, Executor
from hedgerow.engines.base import published_labels
from hedgerow.engines.export import write
from hedgerow.engines.release_dialect import STANDARD, ReleaseDialect
from hedgerow.engines.rows import CountedLink, Rows, Selected
from hedgerow.engines.treated_source import treated_source
from hedgerow.errors import DataError, Problem
from hedgerow.microdata import Microdata, Table
from hedgerow.microdata.classes import number_classes
from hedgerow.microdata.notes import ColumnNote
from hedgerow.microdata.read import check_columns, clean, gather, needed_columns
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import DataFormat, Plan
from hedgerow.types import IntArray, Progress

if TYPE_CHECKING:
    import pyarrow as pa

    from hedgerow.engines.spread.rounds import SpreadRelease

Kind = Literal["text", "integer", "decimal", "float", "boolean", "date", "timestamp", "other"]

#: What stands for a missing value where two columns are compared that may hold some; they are told apart besides.
NEUTRAL = {
    "integer": "0",
    "decimal": "0",
    "float": "0",
    "boolean": "FALSE",
    "date": "DATE '1970-01-01'",
    "timestamp": "TIMESTAMP '1970-01-01 00:00:00'",
}
#: What str.strip() takes away.
SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + ("\u2028\u2029\u202f\u205f\u3000")
)


@dataclass(frozen=True)
class SqlColumn:
    """A column of a table in a database.

    Attributes
    ----------
    name
        Its name.
    kind
        What it holds; a column of another kind is read as text.
    type
        What its values become here, where that is not what the driver gives.
    """

    name: str
    kind: Kind
    type: pa.DataType | None = None


class SqlSession(Protocol):
    """What a database must offer: everything else is the same text for all.

    Attributes
    ----------
    place
        How messages name the data; never with a password.
    library
        As an engine's.
    text_type
        The type of any text.
    binary
        What makes text compare by bytes, put after an expression.
    as_text
        Kinds of columns whose values are read as text.
    format
        How the source is written, with everything found out filled in; None: as the plan says.
    origin
        The file or table in memory that the source was read from; None: the source is the data itself.
    whole, nan
        What its :class:`~hedgerow.engines.dialect.SqlDialect` says.
    """

    place: str
    library: str
    text_type: str
    binary: str
    as_text: frozenset[str]
    format: DataFormat | None
    origin: Any
    whole: str
    nan: str | None

    @property
    def source(self) -> str:
        """The table, as it stands after FROM."""

    def last(self, expression: str) -> str:
        """Order by an expression, with what is missing last."""

    def trimmed(self, text: str, signs: str) -> str:
        """Take some signs away at both ends of a text."""

    def same(self, left: str, right: str, neutral: str) -> str:
        """Whether two values are equal, or both missing."""

    def quote(self, name: str) -> str:
        """Write a name."""

    def literal(self, text: str) -> str:
        """Write a text."""

    def columns(self) -> tuple[SqlColumn, ...]:
        """Return the columns of the source, in order."""

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        """Run a query and give its rows in batches, in order, never all at once."""

    def ask(self, query: str) -> pa.Table:
        """Run a query of few rows."""

    def upload(self, name: str, rows: pa.Table) -> str:
        """Make a temporary table, replacing one of that name, and return how a query names it."""

    def keep(self, name: str, query: str) -> str:
        """Keep the rows of a query in a temporary table, replacing one of that name; return how a query names it."""

    def schema_of(self, query: str) -> pa.Schema:
        """Return the columns of a query as ``stream`` gives them, without running it for its rows."""

    def close(self) -> None:
        """End it; temporary tables are gone afterwards."""


@dataclass(frozen=True)
class CollapsedTable(Table):
    """A table of which every row stands for all records that agree in it.

    Attributes
    ----------
    raw
        The values as they were read, before any cleaning, under their names in statements: ``c0``…, ``s0``…, ``p``.
    names
        Their real names.
    rows
        Gives the rows of a release where these are not the table's own; None: they are.
    """

    raw: pa.Table = None
    names: Mapping[str, str] = field(default_factory=dict)
    rows: Callable[[SqlSession, Plan, Microdata, Recoding], Rows] | None = None


@dataclass(frozen=True, eq=False)
class SqlEngine:
    """A table in a database."""

    session: SqlSession

    @property
    def place(self) -> str:
        """How messages name the data."""
        return self.session.place

    @property
    def library(self) -> str:
        """The library of the table that was given."""
        return self.session.library

    @property
    def notes(self) -> Mapping[str, ColumnNote]:
        """What the file that was loaded says of its columns; nothing of a table that was never a file."""
        found: Mapping[str, ColumnNote] = getattr(self.session, "notes", {})
        return found

    def read(self, plan: Plan, also: Sequence[str] = ()) -> CollapsedTable:
        """Read distinct values of quasi-identifiers and sensitive columns, with counts; ``also``: more columns."""
        import pyarrow as pa

        session, source = self.session, SqlSource(self.session, plan)
        check_columns(tuple(source.kinds), plan, session.place)
        raw = gathered(session, source.collapse(also))
        pa.default_memory_pool().release_unused()  # what came in batches is not needed any more
        counts = raw.column("n").to_numpy().astype(np.int64)
        if not len(counts):
            message = "The table has no records."
            raise DataError(Problem("empty", message, session.place, "give a table with records"))
        names = source.names(also)
        columns = {}
        for alias, name in names.items():
            column = raw.column(alias)
            columns[name] = column if alias == "p" else cleaned(column, source.kinds[name], plan.data.markers(name))
        released = set(plan.released_columns)
        stay = tuple(name for name in source.kinds if name not in released)
        return CollapsedTable(
            columns,
            int(counts.sum()),
            stay,
            session.format or plan.data,
            counts,
            self.notes,
            source.treatments,
            raw=raw.select([*names]),
            names=names,
        )

    def records(self, plan: Plan) -> Table:
        """Read every record, in no order: the columns that a plan needs, and the key."""
        session, source = self.session, SqlSource(self.session, plan)
        check_columns(tuple(source.kinds), plan, session.place)
        wanted = needed_columns(plan, key=True)
        raw = gathered(session, source.plain(wanted))
        if not raw.num_rows:
            message = "The table has no records."
            raise DataError(Problem("empty", message, session.place, "give a table with records"))
        columns = {
            name: cleaned(raw.column(f"r{i}"), source.kinds[name], plan.data.markers(name))
            for i, name in enumerate(wanted)
        }
        released = set(plan.released_columns)
        stay = tuple(name for name in source.kinds if name not in released)
        form = session.format or plan.data
        return Table(columns, raw.num_rows, stay, form, notes=self.notes, treatments=source.treatments)

    @property
    def executor(self) -> Executor:
        """Where clusterings are run."""
        return HERE

    def apply(self, plan: Plan, table: Table, whole: Microdata, microdata: Microdata, recoding: Recoding) -> Rows:
        """Give the rows of a release, in the order of published values; it is uploaded when they are needed.

        Of a class that is released in part the first records are, so all of its rows are uploaded, to be numbered.
        """
        import pyarrow as pa

        assert isinstance(table, CollapsedTable)
        if table.rows is not None:
            return table.rows(self.session, plan, microdata, recoding)
        source = SqlSource(self.session, plan)
        class_of_row = number_classes(plan, table, whole)
        profiles = table.raw.append_column("class", pa.array(class_of_row))
        if (class_of_row < 0).any():
            profiles = profiles.filter(pa.array(class_of_row >= 0))
        parts = parts_of(class_of_row[microdata.record_of], recoding.group_of)
        groups = published_labels(microdata, recoding)
        labels = pa.table(
            [pa.array(np.arange(recoding.groups)), *groups],
            names=["g", *(f"l{i}" for i in range(len(groups)))],
        )
        missing = frozenset(name for name in table.raw.column_names if table.raw.column(name).null_count)
        link = CountedLink(
            _claimed(profiles, table.names),
            _counted_parts(parts),
            labels.rename_columns(["g", *plan.quasi_identifiers]),
        )
        names = table.names

        def select() -> Selected:
            uploaded = Uploaded(
                self.session.upload("hedgerow_profiles", profiles),
                self.session.upload("hedgerow_parts", parts),
                self.session.upload("hedgerow_labels", labels),
            )
            query = source.released(names, uploaded, missing)
            return Selected(self.session.schema_of(query), lambda: self.session.stream(query), query)

        return Rows(select, link)

    def make_in_tasks(self, plan: Plan, tell: Progress, threads: int | None = None) -> SpreadRelease | None:
        """Make a release whose records never come here, where an engine has tasks for that; None: it has not."""
        return None

    def write(self, rows: Rows, folder: Path, form: str, dialect: ReleaseDialect = STANDARD) -> str:
        """Write released rows into a folder."""
        return write(rows, folder, form, dialect)

    def close(self) -> None:
        """End the session."""
        self.session.close()


# -- the text --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Uploaded:
    """How statements name the tables that a recoding is uploaded as."""

    profiles: str
    parts: str
    labels: str


class SqlSource:
    """The statements over one table under one plan."""

    def __init__(self, session: SqlSession, plan: Plan) -> None:
        self.session = session
        self.plan = plan
        self.relation = session.source
        self.kinds: Mapping[str, SqlColumn] = {column.name: column for column in session.columns()}
        there = treated_source(self)
        self.relation, self.kinds, self.treatments = there.relation, there.columns, there.treatments

    def names(self, also: Sequence[str] = ()) -> dict[str, str]:
        """Return the real name of every column that is collapsed by, under its name in the statements."""
        plan = self.plan
        names = {f"c{i}": name for i, name in enumerate(plan.quasi_identifiers)}
        names |= {f"s{i}": name for i, name in enumerate(plan.columns("sensitive"))}
        if plan.person is not None:
            names["p"] = plan.person
        more = [name for name in dict.fromkeys(also) if name not in names.values()]
        return names | {f"a{i}": name for i, name in enumerate(more)}

    def collapse(self, also: Sequence[str] = ()) -> str:
        """Distinct values with the number of records that have them."""
        inner = {alias: self._counted_by(alias, name) for alias, name in self.names(also).items()}
        names = ", ".join(inner)
        counted = f"CAST(COUNT(*) AS {self.session.whole}) AS n"
        return f"SELECT {names}, {counted} FROM ({self._select(inner)}) AS t GROUP BY {names}"

    def about_distinct(self, fingerprints: Callable[[Sequence[str]], Sequence[str]], also: Sequence[str] = ()) -> str:
        """About how many distinct values there are; ``fingerprints`` writes a number of values."""
        inner = {alias: self._counted_by(alias, name) for alias, name in self.names(also).items() if alias != "p"}
        return f"SELECT APPROX_COUNT_DISTINCT({fingerprints([*inner])[0]}) AS n FROM ({self._select(inner)}) AS t"

    def values(self, alias: str) -> str:
        """The distinct values of one column with the number of records that have them."""
        inner = self._select({alias: self._counted_by(alias, self.names()[alias])})
        return f"SELECT {alias}, CAST(COUNT(*) AS {self.session.whole}) AS n FROM ({inner}) AS t GROUP BY {alias}"

    def shown_values(self, alias: str) -> str:
        """The distinct values of one column (``v``), and as what they are released if they are released (``s``)."""
        name = self.names()[alias]
        inner = self._select({"v": self._counted_by(alias, name), "s": self._shown(name)})
        return f"SELECT v, s FROM ({inner}) AS t GROUP BY v, s"

    def keyed(self, others: bool = False) -> str:
        """All rows: what they are counted by, but of the person (``p``) the key; ``others``: ``o0`` and so on."""
        keys = {alias: self._counted_by(alias, name) for alias, name in self.names().items() if alias != "p"}
        if self.plan.person is not None:
            keys["p"] = self._shown(self.plan.person)
        if others:
            keys |= {f"o{at}": self._shown(name) for at, name in enumerate(self.plan.columns("other"))}
        return self._select(keys)

    def every_row(self) -> str:
        """All rows: what they are counted by, and what is released of them as it is (``k0`` and so on)."""
        keys = {alias: self._counted_by(alias, name) for alias, name in self.names().items()}
        return self._select(keys | self._kept())

    def released_by_nodes(self, joined: str, labels: str) -> str:
        """The released rows, in order, of a table ``t`` that is joined with the group ``p.g`` of every row."""
        plan, kept = self.plan, list(self._kept())
        alias_of = dict(zip(plan.columns("sensitive", "other"), kept, strict=True)) | {
            name: f"l{i}" for i, name in enumerate(plan.quasi_identifiers)
        }
        out = ", ".join(
            f"{'l' if name in plan.quasi_identifiers else 't'}.{alias_of[name]} AS {self.session.quote(name)}"
            for name in plan.released_columns
        )
        order = ", ".join(["l.g", *(self.session.last(f"t.{alias}") for alias in kept)])
        return f"SELECT {out} FROM {joined} JOIN {labels} AS l ON l.g = p.g ORDER BY {order}"

    def _kept(self) -> dict[str, str]:
        return {f"k{i}": self._shown(name) for i, name in enumerate(self.plan.columns("sensitive", "other"))}

    def plain(self, names: Sequence[str]) -> str:
        """Every record, as it is; columns are called ``r0``, ``r1``, … in the order of these names."""
        return self._select({f"r{i}": self.value(name) for i, name in enumerate(names)})

    def sample(self, most: int, scattered: str) -> str:
        """Values of the first quasi-identifier with their counts (``n``): all, or not more than ``most`` of them.

        One half are the values that most records have; the others (``s``) are drawn from the rest. Every row says how
        many values there are in all (``v``), how many records have one (``f``), and how many records there are (``r``).
        ``scattered`` gives a text a number by which it is drawn. Among values of as many records the half takes those
        of the least numbers, so the others have the greatest: where the half ends no value is less likely to be drawn.
        """
        number = scattered.format(f"CAST(c.c0 AS {self.session.text_type}){self.session.binary}")
        filled = "CASE WHEN t.c0 IS NULL THEN 0 ELSE t.n END"
        return (
            f"SELECT t.c0, t.n, t.place > {most // 2:d} AS s, t.v, t.f, t.r FROM ("
            "SELECT t.c0, t.n, t.h, ROW_NUMBER() OVER (ORDER BY t.n DESC, t.h, t.c0) AS place,"
            f" COUNT(t.c0) OVER () AS v, CAST(SUM({filled}) OVER () AS {self.session.whole}) AS f,"
            f" CAST(SUM(t.n) OVER () AS {self.session.whole}) AS r"
            f" FROM (SELECT c.c0, c.n, {number} AS h FROM ({self.collapse()}) AS c) AS t) AS t"
            f" ORDER BY t.place > {most // 2:d}, t.h DESC, t.c0 LIMIT {most:d}"
        )

    def first(self, count: int) -> str:
        """Some rows, in the order in which the database gives them."""
        columns = {f"c{i}": self.value(name) for i, name in enumerate(self.plan.quasi_identifiers)}
        return f"{self._select(columns)} LIMIT {count:d}"

    def released(self, names: Mapping[str, str], uploaded: Uploaded, missing: frozenset[str]) -> str:
        """The released rows, in order: of every class, the records that a part names, as its group is published.

        ``names`` are the columns of the profiles; ``missing`` those that hold missing values, which equal nothing in
        SQL.
        """
        plan, session = self.plan, self.session
        keys = {alias: self._counted_by(alias, name) for alias, name in names.items()}
        kept = plan.columns("sensitive", "other")
        shown = self._kept()
        alias_of = dict(zip(kept, shown, strict=True)) | {
            name: f"l{i}" for i, name in enumerate(plan.quasi_identifiers)
        }
        same = " AND ".join(self._same(alias, name, alias in missing, f"p.{alias}") for alias, name in names.items())
        others = [session.last(f"t.{alias_of[name]}") for name in plan.columns("other")]
        columns = ", ".join(["p.class", *(f"t.{alias}" for alias in shown)])
        numbered = (
            f"SELECT {columns}, ROW_NUMBER() OVER (PARTITION BY p.class ORDER BY {', '.join(others or ['p.class'])})"
            f" AS number FROM ({self._select(keys | shown)}) AS t JOIN {uploaded.profiles} AS p ON {same}"
        )
        out = ", ".join(
            f"{'l' if name in plan.quasi_identifiers else 'r'}.{alias_of[name]} AS {session.quote(name)}"
            for name in plan.released_columns
        )
        order = ", ".join(["l.g", *(session.last(f"r.{alias_of[name]}") for name in kept)])
        return (
            f"SELECT {out} FROM ({numbered}) AS r"
            f" JOIN {uploaded.parts} AS a ON a.class = r.class AND r.number BETWEEN a.first AND a.last"
            f" JOIN {uploaded.labels} AS l ON l.g = a.g ORDER BY {order}"
        )

    def _select(self, expressions: dict[str, str]) -> str:
        inner = ", ".join(f"{expression} AS {alias}" for alias, expression in expressions.items())
        return f"SELECT {inner} FROM {self.relation} AS t"

    def _counted_by(self, alias: str, name: str) -> str:
        """What a column is counted by: its value, or the person's number."""
        if alias != "p":
            return self.value(name)
        person = self._shown(name)
        return f"CASE WHEN {person} IS NULL THEN NULL ELSE DENSE_RANK() OVER (ORDER BY {self.session.last(person)}) END"

    def different(self, name: str) -> str:
        """The different values of any column (``v``), and how many records have each (``n``)."""
        inner = self._select({"v": self.value(name)})
        return f"SELECT v, CAST(COUNT(*) AS {self.session.whole}) AS n FROM ({inner}) AS t GROUP BY v"

    def value(self, name: str) -> str:
        """The value of a column as it is."""
        column, quoted = self.kinds[name], f"t.{self.session.quote(name)}"
        if column.kind not in self.session.as_text:
            return self._number(quoted) if column.kind == "float" else quoted
        return f"CAST({quoted} AS {self.session.text_type}){self.session.binary}"

    def _shown(self, name: str) -> str:
        """The value of a column as it is released: text trimmed, missing where it says so."""
        column, session = self.kinds[name], self.session
        if column.kind not in ("text", "other"):
            quoted = f"t.{session.quote(name)}"
            return self._number(quoted) if column.kind == "float" else quoted
        text = f"CAST(t.{session.quote(name)} AS {session.text_type}){session.binary}"
        text = session.trimmed(text, SPACES)
        for marker in self.plan.data.markers(name):
            text = f"NULLIF({text}, {session.literal(marker)})"
        return text + session.binary

    def same(self, alias: str, other: str, missing: bool) -> str:
        """Whether a row has a value in a column; ``missing``: that may be a missing one, too."""
        return self._same(alias, self.names()[alias], missing, other)

    def _same(self, alias: str, name: str, missing: bool, other: str) -> str:
        """Whether a row and a profile agree in a column."""
        if not missing:
            return f"t.{alias} = {other}"
        column = self.kinds[name]
        neutral = "''" if column.kind in self.session.as_text else NEUTRAL[column.kind]
        neutral = "0" if alias == "p" else neutral
        return self.session.same(f"t.{alias}", other, neutral)

    def _number(self, value: str) -> str:
        """A floating-point number that is missing where it is none, and has no sign where it is zero."""
        if self.session.nan is None:
            return value
        return f"CASE WHEN {value} = 0 THEN ABS({value}) WHEN {value} = {self.session.nan} THEN NULL ELSE {value} END"


# -- parts ---------------------------------------------------------------------------------------------------------


def parts_of(class_of_unit: IntArray, group_of: IntArray) -> pa.Table:
    """Say which records of which class are in which group: ``class``, ``first``, ``last`` (from 1) and ``g``.

    Examples
    --------
    >>> parts_of(np.array([0, 0, 0, 1, 1]), np.array([4, 4, -1, 4, 2])).to_pydict()
    {'class': [0, 1, 1], 'first': [1, 1, 2], 'last': [2, 1, 2], 'g': [4, 4, 2]}
    """
    import pyarrow as pa

    kind = np.int32 if len(class_of_unit) < 1 << 31 else np.int64
    begins = np.ones(len(class_of_unit), bool)
    begins[1:] = class_of_unit[1:] != class_of_unit[:-1]
    changes = begins.copy()
    changes[1:] |= group_of[1:] != group_of[:-1]
    starts = np.flatnonzero(changes).astype(kind)
    ends = np.append(starts[1:], kind(len(class_of_unit)))
    before = np.flatnonzero(begins).astype(kind)[np.cumsum(begins[starts], dtype=kind) - 1]  # units of earlier classes
    kept = group_of[starts] >= 0
    starts, ends, before = starts[kept], ends[kept], before[kept]
    named = {"class": class_of_unit[starts], "first": starts - before + 1, "last": ends - before, "g": group_of[starts]}
    return pa.table({name: pa.array(numbers.astype(kind, copy=False)) for name, numbers in named.items()})


def _claimed(profiles: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """Give the columns of profiles their own names; further columns do not make a class."""
    told = {alias: name for alias, name in names.items() if not alias.startswith("a")}
    if len(told) < len(names):
        profiles = profiles.group_by([*told, "class"], use_threads=False).aggregate([])
    columns = [*told, "class"]
    return profiles.select(columns).rename_columns(
        ["person" if name == "p" else told.get(name, name) for name in columns]
    )


def _counted_parts(parts: pa.Table) -> pa.Table:
    """Say how many records of a class are in a group."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = pc.add(pc.subtract(parts.column("last"), parts.column("first")), 1)
    return pa.table({"class": parts.column("class"), "g": parts.column("g"), "n": counts})


def cleaned(column: pa.ChunkedArray, there: SqlColumn, missing: tuple[str, ...]) -> pa.ChunkedArray:
    """Bring a column that a query gave to the form that reading it from a file gives."""
    return clean(column if there.type is None else _given(column, there.type, there.name), missing)


def _given(column: pa.ChunkedArray, kind: pa.DataType, name: str) -> pa.ChunkedArray:
    """Turn a column into what it is in its table, where the driver gives something else."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return column.cast(kind)
    try:
        return pa.chunked_array([column.cast(pa.string()).combine_chunks().cast(kind)])
    except pa.ArrowInvalid:  # its text holds the value
        message = f"Column {name!r}: values are not numbers."
        raise DataError(Problem("not-a-number", message, hint="make NaN missing (NULL)")) from None


def gathered(session: SqlSession, query: str) -> pa.Table:
    """Gather the rows of a query column by column; the columns of one without rows are those of the query."""
    batches = session.stream(query)
    first = next(batches, None)
    if first is None:
        return session.schema_of(query).empty_table()
    return gather(first.schema, itertools.chain([first], batches))
