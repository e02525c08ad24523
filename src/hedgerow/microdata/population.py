"""The people whom the records were drawn from, counted by what a release shows of them.

A population is a table of its own, with some of the quasi-identifiers. It is encoded over its own values and those of
the records together, so that a published node or interval covers a run of codes here as it does there. Somebody of the
population *fits* a published combination if it is true of them in every column that the table has and, where limits are
kept, breaks none of theirs. A cell that is published as missing says nothing, so it is true of everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hedgerow.errors import DataError, Problem
from hedgerow.microdata.columns import FreeColumn, QuasiIdentifier, Shown, TreeColumn, distinct_labels, encode
from hedgerow.microdata.ordering import number_rows
from hedgerow.microdata.people import fetched, in_file, is_elsewhere
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy.numbers import number_label
from hedgerow.plan.model import PopulationTable
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

ANY_DEPTH = 1 << 40
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Population:
    """A population, encoded so that the published values of some microdata can be looked up in it.

    Attributes
    ----------
    source
        Where it was read: private.
    asked
        The columns by which people are looked for, and that of counts, as a plan names them.
    positions
        Positions of these columns among those of the microdata.
    columns
        The columns, over the values of population and records, with the limits of the plan.
    codes
        A row for all people who agree in these columns: their codes.
    counts
        How many people these are.
    of_code
        By column, the code here of every code of the microdata.
    left_out
        People with a value that the hierarchies do not have; they fit nothing.
    marked
        The limits that each column of the microdata had, as its nodes; here they have counterparts.
    """

    source: str
    asked: PopulationTable
    positions: tuple[int, ...]
    columns: tuple[QuasiIdentifier, ...]
    codes: IntArray
    counts: IntArray
    of_code: tuple[IntArray, ...]
    left_out: int
    marked: tuple[tuple[int, ...], ...] = ()

    @property
    def people(self) -> int:
        """Number of people, with those who fit nothing."""
        return int(self.counts.sum()) + self.left_out

    def fitting(self, columns: tuple[QuasiIdentifier, ...], shown: list[Shown], within_limits: bool) -> IntArray:
        """Count the people who fit each of some groups, by what the groups are published as in every column."""
        ranges = [
            self._ranges(at, columns[position], shown[position], within_limits)
            for at, position in enumerate(self.positions)
        ]
        return _count(self.codes, self.counts, ranges)

    def _ranges(self, at: int, column: QuasiIdentifier, shown: Shown, within_limits: bool) -> _Ranges:
        """Say which codes are behind a published value of each group."""
        here, everybody = self.columns[at], column.is_missing(shown)
        if isinstance(column, FreeColumn):
            of_code = self.of_code[at]
            lo, hi = of_code[shown.lo], of_code[shown.hi]
            return _Ranges(np.where(everybody, -1, lo), np.where(everybody, here.domain_size, hi))
        assert isinstance(here, TreeColumn)
        same = _same_nodes(column, here)
        if column.marked != self.marked[at]:  # the limits were changed, or lifted, after the table was read
            here = replace(here, marked=tuple(int(same[node]) for node in column.marked if same[node] >= 0))
        node = same[shown.node]
        tree, known = here.hierarchy, node >= 0
        lo = np.where(everybody, -1, np.where(known, tree.first_leaf[node], 0))
        hi = np.where(everybody, here.domain_size, np.where(known, tree.last_leaf[node], -1))
        if not (within_limits and here.marked):
            return _Ranges(lo, hi)
        depths = tree.depths[tree.node_of_label]  # what repeats its label up a chain means the same
        return _Ranges(lo, hi, depths[here.limit_keys], np.where(everybody, ANY_DEPTH, depths[node]))

    def at_levels(
        self,
        columns: tuple[QuasiIdentifier, ...],
        codes: IntArray,
        levels: Mapping[str, int],
        within_limits: bool,
    ) -> IntArray:
        """Count the people who fit each of some groups where every column is published at one level.

        ``codes`` are those of one record of each group, columns in the plan's order. Whoever would be published
        otherwise at these levels does not fit, even if what is published is true of them too.
        """
        ranges, theirs = [], []
        for at, position in enumerate(self.positions):
            here, column = self.columns[at], columns[position]
            assert isinstance(here, TreeColumn)
            nodes = _nodes_at(here, levels[column.name], within_limits)
            own = nodes[self.of_code[at][codes[:, position]]]
            leaf = here.hierarchy.leaf_nodes[here.missing] if here.missing >= 0 else -1
            theirs.append(nodes[self.codes[:, at]])
            ranges.append(
                _Ranges(np.where(own == leaf, -1, own), np.where(own == leaf, len(here.hierarchy.names), own))
            )
        number, count = number_rows(theirs)
        first, people = np.zeros(count, np.int64), np.zeros(count, np.int64)
        first[number] = np.arange(len(number))
        np.add.at(people, number, self.counts)
        return _count(np.stack(theirs, axis=1)[first], people, ranges)

    def as_they_are(self, columns: tuple[QuasiIdentifier, ...], profiles: IntArray) -> IntArray:
        """Count the people who have each combination of codes of the microdata (columns in the plan's order)."""
        shown = []
        for position, column in enumerate(columns):
            codes = profiles[:, position].astype(np.int64)
            leaf = column.hierarchy.leaf_nodes[codes] if isinstance(column, TreeColumn) else codes
            shown.append(Shown(codes, codes, leaf))
        return self.fitting(columns, shown, within_limits=False)


def _nodes_at(column: TreeColumn, level: int, within_limits: bool) -> IntArray:
    """Return the node that each code becomes so many steps up; within limits it stops at its own."""
    tree = column.hierarchy
    nodes = tree.leaf_nodes
    for _ in range(level):
        nodes = np.maximum(tree.parent[nodes], 0)
    if not (within_limits and column.marked):
        return nodes
    limit = column.limit_keys
    return np.where(tree.depths[nodes] < tree.depths[limit], limit, nodes)


@dataclass(frozen=True, eq=False)
class _Ranges:
    """What is published of each group in one column: codes from ``lo`` to ``hi`` whose limit is not below it."""

    lo: IntArray
    hi: IntArray
    limits: IntArray | None = None
    depth: IntArray | None = None

    def number(self) -> tuple[IntArray, IntArray]:
        """Number the different ones; returns the number of each group, and a group of each number."""
        keys = [self.lo + 1, self.hi + 1] + ([] if self.depth is None else [self.depth])
        number, count = number_rows(keys)
        first = np.zeros(count, np.int64)
        first[number] = np.arange(len(number))
        return number, first

    def holds(self, codes: IntArray, group: int) -> Mask:
        """Tell which codes are behind what a group is published as."""
        inside: Mask = (codes >= self.lo[group]) & (codes <= self.hi[group])
        if self.limits is not None and self.depth is not None:
            inside &= self.limits[codes] <= self.depth[group]
        return inside


def _count(codes: IntArray, counts: IntArray, ranges: list[_Ranges]) -> IntArray:
    """Count people by group: what groups share in one column is looked up once, that of few values first."""
    groups = len(ranges[0].lo)
    numbered = [one.number() for one in ranges]
    order = sorted(range(len(ranges)), key=lambda at: (len(numbered[at][1]), at))
    found = np.zeros(groups, np.int64)
    todo = [(0, np.arange(groups), np.arange(len(codes)))]
    while todo:
        depth, some, rows = todo.pop()
        if depth == len(order) or not len(rows):
            found[some] = int(counts[rows].sum())
            continue
        at = order[depth]
        number = numbered[at][0][some]
        sorting = np.argsort(number, kind="stable")
        starts = np.flatnonzero(np.append(True, np.diff(number[sorting]) != 0))
        column = codes[rows, at]
        for part in np.split(some[sorting], starts[1:]):
            todo.append((depth + 1, part, rows[ranges[at].holds(column, int(part[0]))]))
    return found


def _same_nodes(column: TreeColumn, here: TreeColumn) -> IntArray:
    """Find the nodes of one hierarchy in another, which has its leaves and more: by name, or by their ways up."""
    one, other = column.hierarchy, here.hierarchy
    if one.meanings or other.meanings:
        known = {other.way(node): node for node in range(len(other.names))}
        found = [known.get(one.way(node), -1) for node in range(len(one.names))]
    else:
        found = [other.node(name) if name in other else -1 for name in one.names]
    found[0] = 0
    return np.array(found, np.int64)


def populate(plan: Plan, columns: tuple[QuasiIdentifier, ...]) -> Population | None:
    """Return the population that a plan names, encoded beside the columns of microdata; None if it names none.

    Raises
    ------
    DataError
        If it cannot be read, or lacks a column that the plan looks people up by.
    """
    if plan.population is None and not plan.privacy.of_population:
        return None
    if plan.estimates_k_map and plan.privacy.presence is None:  # for presence, weights are not enough
        return None
    if plan.population is None or plan.population.file is None:
        message = "The plan counts people in a population, but no table of it is given."
        hint = "name it in the plan, as population: census.csv, or give it with --population"
        raise DataError(Problem("no-population", message, hint=hint))
    place = plan.population.file
    asked, people = fetched(place) if is_elsewhere(place) else in_file(plan, Path(place))
    assert asked.columns is not None
    names = [column.name for column in columns]
    positions = tuple(names.index(name) for name in asked.columns)
    parts = [
        _beside(plan, columns[position], people.columns[name])
        for position, name in zip(positions, asked.columns, strict=True)
    ]
    codes = np.stack([part.codes for part in parts], axis=1)
    known = ~np.logical_or.reduce([part.unknown for part in parts])
    number, count = number_rows([codes[known][:, at] for at in range(codes.shape[1])])
    first = np.zeros(count, np.int64)
    first[number] = np.flatnonzero(known)
    counts = np.zeros(count, np.int64)
    np.add.at(counts, number, people.counts[known])
    return Population(
        place,
        asked,
        positions,
        tuple(part.column for part in parts),
        codes[first],
        counts,
        tuple(part.of_code for part in parts),
        int(people.counts[~known].sum()),
        tuple(_marked(columns[position]) for position in positions),
    )


def _marked(column: QuasiIdentifier) -> tuple[int, ...]:
    return column.marked if isinstance(column, TreeColumn) else ()


@dataclass(frozen=True, eq=False)
class _Beside:
    """A column of the population, encoded with the values of the records."""

    column: QuasiIdentifier
    codes: IntArray
    unknown: Mask
    of_code: IntArray


def _beside(plan: Plan, column: QuasiIdentifier, values: pa.ChunkedArray) -> _Beside:
    import pyarrow as pa

    attribute = plan.attributes[column.name]
    changes: dict[str, object] = {} if attribute.unknown == "own-leaf-under-root" else {"unknown": "withhold"}
    if isinstance(column, TreeColumn):
        changes["hierarchy"] = column.spec
        own = [None if name.startswith("\0") else name for name in column.hierarchy.leaves]
    else:
        own = [number_label(column.intervals.number(code)) for code in range(len(column.intervals.scaled))]
        own += [None] * column.has_missing
    attribute = attribute.model_copy(update=changes)
    labels, indices = distinct_labels(values)
    both = pa.chunked_array([pa.array([*own, *labels], pa.string())])
    found = encode(column.name, attribute, both, strict=False)
    of_code, of_label = found.codes[: len(own)].astype(np.int64), found.codes[len(own) :].astype(np.int64)
    unknown = np.zeros(len(both), bool) if found.unknown is None else found.unknown
    return _Beside(found.column, of_label[indices], unknown[len(own) :][indices], of_code)
