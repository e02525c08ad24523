"""Who is withheld, and a release that does not depend on them.

Whoever reads a release, and knows how it is made, must learn nothing about a record that is not in it. So a release is
made in rounds. A round encodes the records that are left as if there had never been others: domains, ranges, heights,
lengths, weights by association, the distribution that t-closeness compares with, all come from them alone. If it cannot
release all of them, the rest is left out, and the next round begins. The last round releases every record that it
sees. What it makes, rows, plan and facts, is a function of these records, the plan and the number of all others.

Rounds are few. Cells that must fail, and values without a leaf, are left out before anything is clustered, so with k,
p or distinct l alone one clustering is made. Other models may leave records over that fit no group; should that go on,
a cell with such records becomes one group. On the lattice the levels are searched for once more, for those who stay
and with nobody else withheld. There are such levels: those found before, unless t-closeness is asked, whose reference
moves with the records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.anonymization.clustering import Cells
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.anonymization.executing import HERE, Executor
from hedgerow.anonymization.lattice import Patience, Research
from hedgerow.anonymization.resolving import resolve
from hedgerow.anonymization.solving import Solution, cells_of, of_clusters, refuse_too_many, solve
from hedgerow.errors import NoSolution
from hedgerow.measures.research_value import column_values, rules_fit
from hedgerow.microdata import Microdata, Table, TreeColumn
from hedgerow.microdata.classes import number_classes
from hedgerow.microdata.columns import KeptEnds
from hedgerow.microdata.microdata import ranks
from hedgerow.microdata.read import dictionary_encoded
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS
from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, IntArray, Steps

if TYPE_CHECKING:
    import pyarrow as pa

PATIENT_TURNS = 3  # clusterings that may leave records over; after these, their cells become one group each


@dataclass(frozen=True, eq=False)
class Settled:
    """A table of which it is settled who is released and how.

    Attributes
    ----------
    plan
        The plan, with weights that come from the released records.
    whole
        All records that have a leaf everywhere: private.
    microdata
        The released records, encoded without the others, which are only counted. Rows are those of the table.
    solution
        Their groups. Why others are withheld is private.
    """

    plan: Plan
    whole: Microdata
    microdata: Microdata
    solution: Solution

    def over_whole(self) -> Recoding:
        """Return the groups as groups of all records, to compare what is released with what there was: private.

        Where a hierarchy made from all records has no node of a published name, the lowest above the group stands in.
        """
        recoding, whole = self.solution.recoding, self.whole
        if self.microdata is whole:
            return recoding
        group_of = np.full(len(whole.record_of), WITHHELD, np.int64)
        group_of[_same_units(self.microdata.record_of, whole.record_of)] = recoding.group_of
        found = recoding_of(whole, group_of)
        node = found.node.copy()
        for position, (column, there) in enumerate(zip(self.microdata.columns, whole.columns, strict=True)):
            if isinstance(column, TreeColumn) and isinstance(there, TreeColumn):
                known = _same_nodes(column.hierarchy, there.hierarchy, recoding.node[:, position])
                node[:, position] = np.where(known < 0, node[:, position], known)
        return replace(found, node=node, hidden=recoding.hidden)


def _same_nodes(tree: Hierarchy, other: Hierarchy, nodes: IntArray) -> IntArray:
    """Find nodes again in another hierarchy by their names, −1 where it has none; by their ways up, if need be."""
    if not tree.meanings:
        names = [tree.names[node] for node in nodes.tolist()]
        return np.array([other.node(name) if name in other else -1 for name in names], np.int64)
    known = {other.way(node): node for node in range(len(other.names))}
    return np.array([known.get(tree.way(node), -1) for node in nodes.tolist()], np.int64)


def _same_units(rows: IntArray, all_rows: IntArray) -> IntArray:
    """Find units again among those of all records, by their rows; of those of one row, the first."""
    order, among = np.argsort(rows, kind="stable"), np.argsort(all_rows, kind="stable")
    first = np.searchsorted(rows[order], rows[order])
    place = np.empty(len(rows), np.int64)
    place[order] = among[np.searchsorted(all_rows[among], rows[order]) + np.arange(len(rows)) - first]
    return place


def settle(
    table: Table,
    plan: Plan,
    threads: int | None = None,
    progress: Steps | None = None,
    patience: Patience | None = None,
    executor: Executor = HERE,
    in_order: bool = False,
    resolved: tuple[Microdata, Plan] | None = None,
    research: Research | None = None,
) -> Settled:
    """Settle who of a table is released and how, so that nothing in it depends on a record that is not.

    Parameters are those of :func:`hedgerow.anonymization.solving.solve`; ``in_order`` is that of the encoding;
    ``resolved`` is the table under the plan, if it is known already; ``research`` what a search for levels came to.

    Raises
    ------
    NoSolution
        Naming the attribute, the limit and the change that matter most.
    """
    whole, settled = resolved or resolve(table, plan, in_order)
    if plan.rules:
        rules_fit(column_values(whole, settled))
    because, blocks_withheld, least = Counter[str](), 0, None
    left, microdata, searched = Left.of(table, whole, plan), whole, list[dict[str, Any]]()
    if len(whole.unknown):
        refuse_too_many(whole, settled, len(whole.unknown))
        left, microdata, settled = left.encode(plan, in_order)
    turn = _Turn(threads, progress, patience, executor, research)
    while True:
        if METHODS[plan.method.name].needs_levels:
            solution = turn.search(microdata, settled)
            searched.append(
                {name: solution.details[name] for name in ("lattice", "search") if name in solution.details}
            )
            if turn.turns == 1 and len(microdata.unknown) and not (solution.recoding.group_of < 0).any():
                solution = turn.search(microdata, settled)  # as for others who are withheld, with no budget any more
            gone, reason = solution.recoding.group_of < 0, "failing_group"
        else:
            cells = cells_of(microdata, settled)
            gone, reason = cells.failing[cells.cell_of], "failing_block"
            if least is None:  # the cells of all: no release within the limits keeps more of them
                least = len(microdata.unknown) + int(gone.sum()) if cells.proven else -1
            blocks_withheld += int(cells.failing.sum())
            if not gone.any():
                solution = turn.cluster(microdata, settled, cells)
                gone, reason = solution.recoding.group_of < 0, "fits_no_group"
        if not gone.any():
            break
        because[reason] += int(gone.sum())
        refuse_too_many(whole, settled, len(microdata.unknown) + int(gone.sum()))
        left, microdata, settled = left.without(plan, microdata, gone).encode(plan, in_order)
    because["no_leaf"] = len(microdata.unknown) - because.total()
    if not all(search.get("search", {}).get("proven", True) for search in searched):
        solution.details["search"]["proven"] = False  # that of the last round may be; but the first choice was not
    solution = replace(
        solution,
        search_of_all=searched[0] if len(searched) > 1 else {},
        withheld_because={reason: because[reason] for reason in solution.withheld_because},
        withheld_is_least=least == len(microdata.unknown),
        blocks_withheld=None if least is None else blocks_withheld,
    )
    return Settled(settled, whole, microdata, solution)


@dataclass(frozen=True, eq=False)
class Left:
    """The records that are left.

    Attributes
    ----------
    table
        All records.
    counts
        How many records of every row are left.
    """

    table: Table
    counts: IntArray

    @classmethod
    def of(cls, table: Table, microdata: Microdata, plan: Plan) -> Left:
        """Take the records of a table that are in some microdata; of units that are linked, those that are whole."""
        rows = table.records if table.counts is None else len(table.counts)
        counts = np.bincount(microdata.record_of, minlength=rows)
        if plan.unit is not None and len(microdata.unknown):
            unit_of = ranks(table.columns[plan.unit.column])[0]
            counts[np.isin(unit_of, unit_of[microdata.unknown])] = 0
        return cls(table, counts)

    def without(self, plan: Plan, microdata: Microdata, gone: BoolArray) -> Left:
        """Leave units out: of those that nothing tells apart, the last ones.

        An engine that collapses a table cannot say which of them an algorithm left out, only how many. Where units are
        linked, it is these very records: their unit goes as a whole.
        """
        if plan.unit is not None:
            leaving_rows = np.bincount(microdata.record_of[gone], minlength=len(self.counts))
            return Left(self.table, self.counts - leaving_rows)
        class_of = number_classes(plan, self.table, microdata)[microdata.record_of]
        starts = np.flatnonzero(np.append(True, class_of[1:] != class_of[:-1]))
        leaving = np.add.reduceat(gone.astype(np.int64), starts)
        ends = np.append(starts[1:], len(gone))
        last = np.arange(len(gone)) >= np.repeat(ends - leaving, ends - starts)
        return Left(self.table, self.counts - np.bincount(microdata.record_of[last], minlength=len(self.counts)))

    def encode(
        self, plan: Plan, in_order: bool = False, ends: Mapping[str, KeptEnds] | None = None
    ) -> tuple[Left, Microdata, Plan]:
        """Encode what is left as if there had been nothing else; the other records are only counted.

        A value may have lost its leaf: 431** is the name of a group as soon as five characters are the most there are.
        """
        microdata, settled = resolve(part_of(self.table, self.counts), plan, in_order, strict=False, ends=ends)
        microdata = as_part(microdata, self.table, self.counts)
        known = Left.of(self.table, microdata, plan)
        return (self, microdata, settled) if (known.counts == self.counts).all() else known.encode(plan, in_order, ends)


def part_of(table: Table, counts: IntArray) -> Table:
    """Return so many records of each row of a table, as if there were no others."""
    rows = np.flatnonzero(counts)
    columns = {name: taken(column, rows) for name, column in table.columns.items()}
    again = None if table.counts is None else counts[rows]
    records = int(counts.sum())
    weights = None if table.weights is None else taken(table.weights, rows)
    shared = (table.not_released, table.format, again, table.notes, table.treatments)
    return Table(columns, records, *shared, weights=weights)


def as_part(microdata: Microdata, table: Table, counts: IntArray) -> Microdata:
    """Let microdata of a part of a table name the rows of the whole, and count the records that are not in it."""
    record_of = np.flatnonzero(counts)[microdata.record_of]
    every = np.ones(len(counts), np.int64) if table.counts is None else table.counts
    unknown = np.repeat(np.arange(len(counts)), every - np.bincount(record_of, minlength=len(counts)))
    return replace(microdata, record_of=record_of, unknown=unknown)


def taken(column: pa.ChunkedArray, rows: IntArray) -> pa.ChunkedArray:
    """Take some rows of a column; values that none of them has are forgotten."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column.take(pa.array(rows))
    encoded = dictionary_encoded(column)
    indices = encoded.indices.take(pa.array(rows))
    used = indices.unique().drop_null().sort()
    number = np.full(len(encoded.dictionary) + 1, -1, np.int64)
    number[used.to_numpy(zero_copy_only=False)] = np.arange(len(used))
    missing = indices.is_null().to_numpy(zero_copy_only=False)
    numbers = number[indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)]
    again = pa.array(numbers.astype(np.int32), mask=missing)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(again, encoded.dictionary.take(used))])


class _Turn:
    """Finds releases, one round after the other."""

    def __init__(
        self,
        threads: int | None,
        progress: Steps | None,
        patience: Patience | None,
        executor: Executor,
        research: Research | None,
    ) -> None:
        self._threads, self._progress, self._patience, self._executor = threads, progress, patience, executor
        self._research = research
        self.turns = 0

    def search(self, microdata: Microdata, plan: Plan) -> Solution:
        """Search the lattice: at first as the plan asks, later for levels at which all who are left stay."""
        self.turns += 1
        if self.turns > 1:
            if self._patience is not None:
                self._patience.restart()
            try:
                return self._solve(microdata, plan, budget=0)
            except NoSolution:  # a distribution that fewer records have may be farther from that of some group
                pass
        return self._solve(microdata, plan)

    def cluster(self, microdata: Microdata, plan: Plan, cells: Cells) -> Solution:
        """Cluster; when that left records over time and again, cells in which it does become one group."""
        self.turns += 1
        solution = self._solve(microdata, plan, cells)
        if self.turns <= PATIENT_TURNS:
            return solution
        assert solution.cluster_of is not None
        over = solution.cluster_of < 0
        if not over.any() or solution.recoding.hidden is not None or microdata.households is not None:
            return solution
        return _with_whole_cells(microdata, plan, cells, solution, np.isin(cells.cell_of, cells.cell_of[over]))

    def _solve(
        self, microdata: Microdata, plan: Plan, cells: Cells | None = None, budget: int | None = None
    ) -> Solution:
        return solve(
            microdata,
            plan,
            self._threads,
            self._progress,
            self._patience,
            self._executor,
            cells,
            budget,
            self._research,
        )


def _with_whole_cells(microdata: Microdata, plan: Plan, cells: Cells, solution: Solution, units: BoolArray) -> Solution:
    """Make one group of every cell of these units, if it meets what is asked; else the cell is left out."""
    assert solution.cluster_of is not None
    requirement = Requirement.of_plan(plan, microdata)
    found = of_clusters(microdata, plan, cells, whole_cells(microdata, requirement, cells, solution.cluster_of, units))
    return replace(found, details={**solution.details, **found.details})


def whole_cells(
    microdata: Microdata, requirement: Requirement, cells: Cells, cluster_of: IntArray, units: BoolArray
) -> Recoding:
    """Let clusters be as they are, but for cells of these units: each is one, or is left out if it is not enough."""
    numbers = int(cluster_of.max(initial=-1)) + 1
    cluster_of = np.where(units, numbers + cells.cell_of, cluster_of)
    failing = requirement.fails(microdata, cluster_of, numbers + len(cells.people))
    failing[:numbers] = False  # as the clustering made them
    return recoding_of(microdata, np.where(failing[cluster_of], -1, cluster_of))
