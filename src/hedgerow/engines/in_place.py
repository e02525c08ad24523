"""Searching the lattice of a table whose profiles do not fit here: its frequency sets are counted where it lies.

The thesis counts the groups of a string of levels by one ``GROUP BY`` (Morton 2013), and so do we, if profiles would
take more than :data:`CLIENT_BYTES`. What comes here are the values of each column by itself, and the groups of the
levels that were found. Everything that a search and a release need to know of profiles besides follows from these:

- What levels are worth, which values there are, how often each occurs: from the columns by themselves.
- Whether a string passes: from its frequency set. Values are numbered on the spot once; a test joins, column by column,
  the number of a value with the node that it is published as, and counts.
- What the release loses, and what it tells of sensitive values: from its groups, and from how often each value of a
  column occurs under each node. *Stand-ins* have the same: in every group as many records, with its sensitive values,
  and in every column all values as often as the table, dealt out in order. They are not the table's records.

The rows are then selected where they lie, joined by their nodes. The independent check reads the original as ever.

That is for searches by research value where k is all that is asked of groups and nothing may be withheld; what else
there is needs the profiles themselves, and gets them as ever.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.anonymization.lattice import Patience, Research
from hedgerow.anonymization.lattice.bench import Bench
from hedgerow.anonymization.lattice.checked import Checked
from hedgerow.anonymization.lattice.crew import Alone
from hedgerow.anonymization.lattice.space import Node, Space, make_space
from hedgerow.anonymization.resolving import resolve
from hedgerow.anonymization.solving import search_levels
from hedgerow.engines.base import published_labels
from hedgerow.engines.rows import CountedLink, Rows, Selected
from hedgerow.engines.sql import CollapsedTable, SqlSession, SqlSource, cleaned, gathered
from hedgerow.errors import HedgerowError, Problem
from hedgerow.microdata import Microdata
from hedgerow.microdata.microdata import ranks
from hedgerow.microdata.ordering import number_rows
from hedgerow.microdata.read import check_columns
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray, Steps

if TYPE_CHECKING:
    import pyarrow as pa

CLIENT_BYTES = 100_000_000
"""Bytes that profiles may take here; with more, frequency sets are counted where the table lies."""
VARIABLE = "HEDGEROW_PROFILE_BYTES"
"""Variable of the environment: another bound."""
CELL_BYTES = 8
"""What a code of a profile, or its number of records, takes."""


def bytes_here() -> int:
    """Return how many bytes profiles may take here."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return CLIENT_BYTES
    if text.isascii() and text.isdigit():
        return int(text)
    message = f"{VARIABLE} in the environment is not a whole number of bytes."
    raise HedgerowError(Problem("usage", message, hint=f"for example {VARIABLE}={CLIENT_BYTES}, or leave it out"))


def is_for(plan: Plan) -> bool:
    """Tell whether frequency sets are all that a plan needs of profiles."""
    method = plan.method
    asked = any(plan.privacy.demands(name) for name in plan.columns("sensitive"))
    return (
        METHODS[method.name].needs_levels
        and method.objective == "research-value"
        and plan.person is None
        and plan.weights is None
        and (plan.withhold is None or not plan.withhold.records(1 << 40))
        and not asked
    )


@dataclass(frozen=True, eq=False)
class FoundInPlace:
    """What was found without the profiles.

    Attributes
    ----------
    table
        Stand-ins for the records.
    research
        What the search came to.
    counted
        How many frequency sets were counted.
    """

    table: StandIns
    research: Research
    counted: int


def search_in_place(
    session: SqlSession,
    plan: Plan,
    progress: Steps | None = None,
    patience: Patience | None = None,
) -> FoundInPlace | None:
    """Search the lattice where a table lies.

    Returns None where profiles fit here, where they are needed all the same, and where nothing passes: then they are
    read as ever, and it is said what blocks.
    """
    plan = plan.settled()
    source = SqlSource(session, plan)
    check_columns(tuple(source.kinds), plan, session.place)
    if not is_for(plan) or fits(session, source, bytes_here()):
        return None
    values = {alias: Values.of(session, source, alias) for alias in source.names()}
    records = values["c0"].records
    table = _by_columns(source, plan, values, records, session)
    microdata, settled = resolve(table, plan)
    requirement = Requirement.of_plan(settled, microdata)
    if len(microdata.unknown) or microdata.people() < requirement.k:
        return None
    there = _Numbered(session, source, values, table, microdata)
    checkers: list[SqlChecker] = []

    def counted(space: Space, members: Node | None) -> SqlChecker:
        checkers.append(there.checker(space, members, requirement.k))
        return checkers[-1]

    def hire(bench: Bench) -> Alone:
        there.number(bench.space)
        bench.checked_by(counted)
        return Alone(bench)

    method = settled.method
    space = make_space(microdata, method.limits, most_nodes=None, chosen=method.levels)
    research = search_levels(space, settled, requirement, 0, progress, patience, hire)
    if research.best is None:
        return None
    stand_ins = there.stand_ins(space, research.best.node, plan)
    return FoundInPlace(stand_ins, research, sum(checker.counted for checker in checkers))


def fits(session: SqlSession, source: SqlSource, most_bytes: int) -> bool:
    """Tell whether the profiles of a table take no more than so many bytes here."""
    row = CELL_BYTES * (len(source.names()) + 1)
    records = int(
        session.ask(f"SELECT CAST(COUNT(*) AS {session.whole}) AS n FROM {session.source} AS t").column("n")[0].as_py()
    )
    if records * row <= most_bytes:
        return True
    counted = session.ask(f"SELECT CAST(COUNT(*) AS {session.whole}) AS n FROM ({source.collapse()}) AS q")
    return int(counted.column("n")[0].as_py()) * row <= most_bytes


# -- columns by themselves -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a column, as they were read, and how many records have each."""

    raw: pa.Array
    counts: IntArray

    @classmethod
    def of(cls, session: SqlSession, source: SqlSource, alias: str) -> Values:
        """Read the values of a column."""
        found = gathered(session, source.values(alias))
        return cls(found.column(alias).combine_chunks(), found.column("n").to_numpy().astype(np.int64))

    @classmethod
    def by_column(cls, found: pa.Table, names: Sequence[str]) -> list[Values]:
        """Part the values of columns, ``j`` being the place of their column."""
        import pyarrow as pa

        column = found.column("j").to_numpy()
        values = []
        for at, alias in enumerate(names):
            mine = found.take(pa.array(np.flatnonzero(column == at)))
            values.append(cls(mine.column(alias).combine_chunks(), mine.column("n").to_numpy().astype(np.int64)))
        return values

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    def ends(self, order: IntArray) -> IntArray:
        """Where the records of each value end, if values come in some order."""
        return np.cumsum(self.counts[order])


def _by_columns(
    source: SqlSource, plan: Plan, values: Mapping[str, Values], records: int, session: SqlSession
) -> StandIns:
    """A table with the same columns, each by itself: records are put together by chance."""
    ends = {alias: found.ends(np.arange(len(found.counts))) for alias, found in values.items()}
    edges = np.unique(np.concatenate([*ends.values(), [records]]))
    starts = np.concatenate([[0], edges[:-1]])
    which = {alias: np.searchsorted(end, starts, side="right") for alias, end in ends.items()}
    return _table(source, plan, values, which, np.diff(np.append(starts, records)), session)


def _table(
    source: SqlSource,
    plan: Plan,
    values: Mapping[str, Values],
    which: Mapping[str, IntArray],
    counts: IntArray,
    session: SqlSession,
) -> StandIns:
    import pyarrow as pa

    names = source.names()
    raw = pa.table({alias: values[alias].raw.take(pa.array(which[alias])) for alias in names})
    columns = {
        name: cleaned(raw.column(alias), source.kinds[name], plan.data.markers(name)) for alias, name in names.items()
    }
    released = set(plan.released_columns)
    return StandIns(
        columns,
        int(counts.sum()),
        tuple(name for name in source.kinds if name not in released),
        session.format or plan.data,
        counts,
        raw=raw,
        names=names,
        which=which,
    )


@dataclass(frozen=True)
class StandIns(CollapsedTable):
    """Records that agree with those of a table in all that a release tells, but are not them.

    Attributes
    ----------
    which
        For every column and row, which of its values it has.
    levels
        How statements name the tables that say, column by column, as what each value is published at each level.
    group
        The group of every row at the levels that were found.
    nodes
        The nodes of every group, by column; None where all are published alike.
    node
        The levels that were found.
    """

    which: Mapping[str, IntArray] = field(default_factory=dict)
    levels: Sequence[str] = ()
    group: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    nodes: Sequence[IntArray] = ()
    node: Node = ()


# -- counting where the table lies -----------------------------------------------------------------------------------


class _Numbered:
    """A table whose values are numbered where it lies, and counted: one row for all records that agree in all codes."""

    def __init__(
        self,
        session: SqlSession,
        source: SqlSource,
        values: Mapping[str, Values],
        table: StandIns,
        microdata: Microdata,
    ) -> None:
        self._session, self._source, self._values = session, source, values
        self._aliases = [alias for alias in source.names() if alias.startswith("c")]
        self._sensitive = [alias for alias in source.names() if alias.startswith("s")]
        self._code_of = []
        rows = microdata.record_of
        for position, alias in enumerate(self._aliases):
            code_of = np.zeros(len(values[alias].counts), np.int64)
            code_of[table.which[alias][rows]] = microdata.codes(position)[microdata.profile_of_unit]
            self._code_of.append(code_of)
        self.levels: list[str] = []
        self.codes: list[str] = []
        self.profiles = ""

    def checker(self, space: Space, members: Node | None, k: int) -> SqlChecker:
        """Return what counts the groups of some columns, or of all, at levels of a lattice."""
        positions = tuple(range(len(self._aliases))) if members is None else members
        return SqlChecker(self._session, self.profiles, self.codes, positions, space, k)

    def number(self, space: Space) -> None:
        """Make the tables of levels, and that of profiles, if they are not there yet."""
        import pyarrow as pa

        if self.levels:
            return
        session = self._session
        for position, (alias, code_of, maps) in enumerate(zip(self._aliases, self._code_of, space.maps, strict=True)):
            first = np.zeros(len(maps[0]), np.int64)  # values that are written differently may have one code
            first[code_of] = np.arange(len(code_of))
            columns = {"code": pa.array(code_of)}
            for level, nodes in enumerate(maps):
                columns[f"l{level}"] = pa.array(nodes[code_of].astype(np.int64))
            codes = pa.table(columns)
            values = codes.add_column(0, "v", self._values[alias].raw)
            self.levels.append(session.upload(f"hedgerow_values_{position}", values))
            self.codes.append(
                session.upload(f"hedgerow_codes_{position}", codes.take(pa.array(np.unique(first[code_of]))))
            )
        joins = "".join(
            f" JOIN {levels} AS m{position} ON {self._source.same(alias, f'm{position}.v', self._has_missing(alias))}"
            for position, (alias, levels) in enumerate(zip(self._aliases, self.levels, strict=True))
        )
        numbers = [f"m{position}.code AS c{position}" for position in range(len(self.levels))]
        kept = [f"t.{alias}" for alias in self._sensitive]
        grouped = ", ".join([*(f"m{position}.code" for position in range(len(self.levels))), *kept])
        self.profiles = session.keep(
            "hedgerow_numbered",
            f"SELECT {', '.join([*numbers, *kept])}, CAST(COUNT(*) AS {session.whole}) AS n"
            f" FROM ({self._source.every_row()}) AS t{joins} GROUP BY {grouped}",
        )

    def _has_missing(self, alias: str) -> bool:
        return bool(self._values[alias].raw.null_count)

    def stand_ins(self, space: Space, node: Node, plan: Plan) -> StandIns:
        """Fetch the groups of a node, and deal the values of every column out to them."""
        shown = [maps[level][code] for maps, level, code in zip(space.maps, node, self._code_of, strict=True)]
        joins = "".join(_at_level(table, position) for position, table in enumerate(self.codes))
        keys = [f"m{position}.l{level}" for position, level in enumerate(node)]
        kept = [f"p.{alias}" for alias in self._sensitive]
        named = [f"{key} AS k{position}" for position, key in enumerate(keys)]
        groups = gathered(
            self._session,
            f"SELECT {', '.join([*named, *kept])}, CAST(SUM(p.n) AS {self._session.whole}) AS n"
            f" FROM {self.profiles} AS p{joins}"
            f" GROUP BY {', '.join([*keys, *kept])}",
        )
        counts = groups.column("n").to_numpy().astype(np.int64)
        nodes = [groups.column(f"k{position}").to_numpy().astype(np.int64) for position in range(len(node))]
        which_sensitive = {
            alias: _places(self._values[alias].raw, groups.column(alias).combine_chunks()) for alias in self._sensitive
        }
        order = np.lexsort((*which_sensitive.values(), *reversed(nodes)))
        counts, nodes = counts[order], [of_one[order] for of_one in nodes]
        row_of = np.repeat(np.arange(len(counts)), counts)
        changes = np.append(True, row_of[1:] != row_of[:-1])
        dealt = {}
        for alias, of_row, of_value in zip(self._aliases, nodes, shown, strict=True):
            dealt[alias] = _dealt(of_row[row_of], of_value, self._values[alias].counts)
            changes[1:] |= dealt[alias][1:] != dealt[alias][:-1]
        starts = np.flatnonzero(changes)
        which = {alias: found[starts] for alias, found in dealt.items()}
        which |= {alias: found[order][row_of[starts]] for alias, found in which_sensitive.items()}
        group, count = number_rows(nodes)
        first = np.zeros(count, np.int64)
        first[group] = np.arange(len(group))
        table = _table(self._source, plan, self._values, which, np.diff(np.append(starts, len(row_of))), self._session)
        found = replace(
            table,
            levels=tuple(self.levels),
            group=group[row_of[starts]],
            nodes=[of_one[first] for of_one in nodes],
            node=node,
        )
        return replace(found, rows=partial(rows_in_place, found))


def _dealt(node_of: IntArray, node_of_value: IntArray, counts: IntArray) -> IntArray:
    """Give every record a value under its node, each value to as many records as have it."""
    values = np.argsort(node_of_value, kind="stable")
    dealt = np.empty(len(node_of), np.int64)
    dealt[np.argsort(node_of, kind="stable")] = np.repeat(values, counts[values])
    return dealt


def _places(values: pa.Array, wanted: pa.Array) -> IntArray:
    """Find values of a column among all that it has; a missing one too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(wanted.type):
        wanted = wanted.cast(wanted.type.value_type)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    places: IntArray = pc.index_in(wanted, value_set=values).to_numpy().astype(np.int64)
    return places


def _at_level(table: str, position: int) -> str:
    """Join what the codes of a column become."""
    return f" JOIN {table} AS m{position} ON m{position}.code = p.c{position}"


class SqlChecker:
    """Checks k by frequency sets: one statement for each string."""

    views_stand_alone = True

    def __init__(
        self, session: SqlSession, profiles: str, codes: Sequence[str], members: Node, space: Space, k: int
    ) -> None:
        self._session, self._profiles, self._k = session, profiles, k
        self._codes, self._members, self._maps = codes, members, space.maps
        self.counted = 0

    def base(self) -> Any:
        """Return the view of all profiles."""
        return None

    def roll_up(self, view: Any, node: Node) -> Any:
        """Return the same view: what is counted stays where it is."""
        return view

    def check(self, view: Any, node: Node) -> Checked:
        """Count the frequency set of a string."""
        self.counted += 1
        found = self._session.ask(self.statement(node)).to_pylist()[0]
        return Checked(int(found["lost"]), int(found["lost"]), 0.0, int(found["held"]), 0.0)

    def statement(self, node: Node) -> str:
        """Write the statement that counts records in groups of fewer than k, and the groups that hold."""
        joins, keys = [], []
        for position, level, maps in zip(self._members, node, self._maps, strict=True):
            if level == 0:
                keys.append(f"p.c{position}")
            elif len(np.unique(maps[level])) > 1:
                joins.append(_at_level(self._codes[position], position))
                keys.append(f"m{position}.l{level}")
        grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
        whole = self._session.whole
        sets = f"SELECT CAST(SUM(p.n) AS {whole}) AS n FROM {self._profiles} AS p{''.join(joins)}{grouped}"
        return (
            f"SELECT CAST(COALESCE(SUM(CASE WHEN f.n < {self._k:d} THEN f.n ELSE 0 END), 0) AS {whole}) AS lost,"
            f" CAST(SUM(CASE WHEN f.n < {self._k:d} THEN 0 ELSE 1 END) AS {whole}) AS held FROM ({sets}) AS f"
        )


# -- the rows --------------------------------------------------------------------------------------------------------


def rows_in_place(table: StandIns, session: SqlSession, plan: Plan, microdata: Microdata, recoding: Recoding) -> Rows:
    """Give the rows of a release of stand-ins: those of the table, joined by their nodes."""
    import pyarrow as pa

    source = SqlSource(session, plan)
    group_of = np.full(len(table.nodes[0]), -1, np.int64)
    group_of[table.group[microdata.record_of]] = recoding.group_of
    parts = pa.table({**{f"k{j}": pa.array(nodes) for j, nodes in enumerate(table.nodes)}, "g": pa.array(group_of)})
    groups = published_labels(microdata, recoding)
    labels = pa.table(
        [pa.array(np.arange(recoding.groups)), *groups], names=["g", *(f"l{i}" for i in range(len(groups)))]
    )
    missing = frozenset(name for name in table.raw.column_names if table.raw.column(name).null_count)
    joined = _Joined(session, plan, source, table, parts, missing)

    def select() -> Selected:
        query = source.released_by_nodes(joined.sql, session.upload("hedgerow_labels", labels))
        return Selected(session.schema_of(query), lambda: session.stream(query), query)

    return Rows(select, _Link(joined, labels.rename_columns(["g", *plan.quasi_identifiers])))


@dataclass(frozen=True, eq=False)
class _Joined:
    """The table, every row with the group that it is released in."""

    session: SqlSession
    plan: Plan
    source: SqlSource
    table: StandIns
    parts: pa.Table
    missing: frozenset[str]

    @cached_property
    def sql(self) -> str:
        """What stands after FROM: the table's rows are ``t``, with columns ``c0`` and so on, and their parts ``p``."""
        parts = self.session.upload("hedgerow_parts", self.parts)
        joins = []
        for position, levels in enumerate(self.table.levels):
            alias = f"c{position}"
            same = self.source.same(alias, f"m{position}.v", alias in self.missing)
            joins.append(f" JOIN {levels} AS m{position} ON {same}")
        same = " AND ".join(f"p.k{j} = m{j}.l{level}" for j, level in enumerate(self.table.node))
        return f"({self.source.every_row()}) AS t{''.join(joins)} JOIN {parts} AS p ON {same}"


class _Link(CountedLink):
    """What is behind the rows, counted where the table lies when the check asks for it."""

    def __init__(self, joined: _Joined, labels: pa.Table) -> None:
        object.__setattr__(self, "_joined", joined)
        object.__setattr__(self, "labels", labels)

    @cached_property
    def _classes(self) -> tuple[pa.Table, pa.Table]:
        """Profiles with their class, and parts: a class is a group and the sensitive values that its records share."""
        import pyarrow as pa

        joined: _Joined = self._joined  # type: ignore[attr-defined]
        names = joined.source.names()
        keys = [f"t.{alias}" for alias in names]
        query = (
            f"SELECT {', '.join(keys)}, p.g AS g, CAST(COUNT(*) AS {joined.session.whole}) AS n FROM {joined.sql}"
            f" GROUP BY {', '.join(keys)}, p.g"
        )
        found = gathered(joined.session, query)
        group = found.column("g").to_numpy().astype(np.int64)
        kinds, data = joined.source.kinds, joined.plan.data
        sensitive = [  # what is missing may be written in several ways
            ranks(cleaned(found.column(alias), kinds[name], data.markers(name)))[0]
            for alias, name in names.items()
            if alias.startswith("s")
        ]
        class_of, classes = number_rows([group, *sensitive])
        first = np.zeros(classes, np.int64)
        first[class_of] = np.arange(len(class_of))
        records = np.bincount(class_of, weights=found.column("n").to_numpy(), minlength=classes).astype(np.int64)
        profiles = found.select(list(names)).rename_columns(list(names.values()))
        parts = {"class": pa.array(np.arange(classes)), "g": pa.array(group[first]), "n": pa.array(records)}
        return profiles.append_column("class", pa.array(class_of)), pa.table(parts)

    @property
    def profiles(self) -> pa.Table:
        """The values of all records, and their class."""
        return self._classes[0]

    @property
    def parts(self) -> pa.Table:
        """So many records of a class are in a group."""
        return self._classes[1]
