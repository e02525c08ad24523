"""Lower loss for groups that a clustering has made: regrouping pools of groups, then exchanging records.

Greedy clustering looks at one group at a time, and leaves loss on the table. The search goes on from its groups, inside
the same cells: it takes groups that lose much apart together with groups near them, and groups them anew. At first it
also accepts a somewhat greater loss, later it does not (annealing). In the end records are moved and swapped as long as
that lowers the loss. After every step k and all models hold, and no group crosses a cell, so limits hold too. Records
that the clustering withheld stay withheld. The loss of a cell is never greater than before.

This is ours: no paper has it. Pseudocode stands in ``docs/explanation/clustering.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.asked import demands_of, with_scratch
from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.costs import LOSS, Costs, Objective, cost_tables
from hedgerow.anonymization.clustering.exact import least_losses, solve_part
from hedgerow.anonymization.clustering.layout import lay_out
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.anonymization.clustering.parts import Part
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.kernels.codes import NOTHING
from hedgerow.anonymization.kernels.tuples.asked import Demands
from hedgerow.anonymization.kernels.tuples.improving import Records, Starts
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray, Steps

WINDOW = 4  # profiles before and after that a search for neighbours starts with
MOST = 3  # times k: larger groups stay as they are


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Attributes
    ----------
    tries
        Pools that are regrouped for every k records; half as many again where more than k is asked, because fewer of
        them can be.
    neighbours
        Profiles near a record whose groups it may join.
    patience
        Nodes of the index that a search for neighbours looks at, at most.
    heat
        By how much a try may raise the loss at first, in thousandths of what a group loses on average.
    passes
        Rounds of exchanges, at most.
    looks
        How much of an effort to make to solve a small block exactly before anything is searched; see ``exact.py``.
    """

    tries: int
    neighbours: int
    patience: int
    heat: int
    passes: int
    looks: int = 0


EFFORTS = {
    "quick": Effort(tries=12, neighbours=24, patience=400, heat=300, passes=0, looks=40_000),
    "thorough": Effort(tries=130, neighbours=50, patience=2_000, heat=450, passes=2, looks=200_000),
}


@dataclass(frozen=True)
class Improved:
    """A clustering whose groups are improved.

    Attributes
    ----------
    clustering
        What makes the groups.
    requirement
        What must hold of every group.
    effort
        How long to search.
    objective
        What is to be least.

    Examples
    --------
    >>> from hedgerow.anonymization.clustering import ConstrainedKMember, find_cells
    >>> from hedgerow.microdata import encode_table, read_table
    >>> from hedgerow.plan import Plan
    >>> import pyarrow as pa
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> microdata = encode_table(read_table(pa.table({"sex": ["F", "M", "F", "M", "M"]}), plan), plan)
    >>> Improved(ConstrainedKMember(k=2), Requirement(k=2))(microdata, find_cells(microdata, Requirement(k=2)))
    Recoding(5 records in 2 groups)
    """

    clustering: Any
    requirement: Requirement
    effort: Literal["quick", "thorough"] = "quick"
    objective: Objective = LOSS
    seed: int = 0
    threads: int = 1

    def __call__(self, microdata: Microdata, cells: Cells, progress: Steps | None = None) -> Recoding:
        """Form groups within the cells that need not be withheld."""
        groups = self.clustering(microdata, cells=cells, progress=progress)
        effort = EFFORTS[self.effort]
        return improve(
            microdata, cells, groups, self.requirement, effort, self.objective, self.seed, self.threads, progress
        ).groups


@dataclass(frozen=True, eq=False)
class Improvement:
    """Groups that lose less, and what all of them lost before and lose after, in whole multiples of 1/UNIT.

    ``groups.proven`` says which of them lie in a block of which no groups would lose less.
    """

    groups: Recoding
    before: int
    after: int


def improve(
    microdata: Microdata,
    cells: Cells,
    groups: Recoding,
    requirement: Requirement,
    effort: Effort,
    objective: Objective = LOSS,
    seed: int = 0,
    threads: int = 1,
    progress: Steps | None = None,
) -> Improvement:
    """Lower the loss of groups inside cells.

    Every group must hold, and lie in one cell that need not be withheld.
    """
    layout = lay_out(microdata, cells, requirement.k)
    costs = cost_tables(microdata, objective)
    rounded = costs.rounded()
    asked = demands_of(microdata, layout, requirement)
    start = _cut(microdata, groups.group_of, requirement)
    effort = replace(effort, heat=round(effort.heat * objective.warmth))
    losses = np.zeros((len(layout.records), 2), np.int64)
    proven = np.zeros(len(layout.units), np.bool_)

    def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
        part = Part.of(layout, first, last)
        units = layout.units[part.units]
        as_it_was = part.numbered(groups.group_of[units])
        mine = with_scratch(asked, part.units, layout.persons)
        solved = solve_part(part, part.numbered(start[units]), costs, mine, effort.looks, done, stop)
        found, (open_part, at) = solved.place, part.some(~solved.proven)
        if len(at):
            begun = open_part.numbered(found[at])
            searched = _search(open_part, begun, rounded, asked, layout.persons, effort, seed, done, stop)
            found[at] = np.where(searched < 0, -1, searched + part.group_start[-1])  # apart from those of other cells
            found = part.numbered(found)
        lost = losses[first:last]
        lost[:, 0], lost[:, 1] = part.losses(as_it_was, costs), part.losses(found, costs)
        better = lost[:, 1] < lost[:, 0]
        lost[:, 1] = lost.min(axis=1)
        best = solved.proven | (lost[:, 1] == least_losses(part, found, costs))
        proven[part.units] = np.repeat(best, part.records)
        place = np.where(np.repeat(better, part.records), part.numbered(found), as_it_was)
        layout.group_of[part.units] = np.where(place < 0, WITHHELD, place + layout.group_start[first])

    run_in_threads(work, layout.records, threads, progress)
    before, after = losses.sum(axis=0).tolist()
    group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
    group_of[layout.units] = layout.group_of
    return Improvement(_with_proof(recoding_of(microdata, group_of), layout.units[proven]), before, after)


def _with_proof(groups: Recoding, units: IntArray) -> Recoding:
    """Say which groups lie in solved blocks, given the units of these."""
    proven = np.zeros(groups.groups + 1, np.bool_)
    proven[groups.group_of[units]] = True  # that of withheld ones is the last
    return replace(groups, proven=proven[:-1])


def _cut(microdata: Microdata, group_of: IntArray, requirement: Requirement) -> IntArray:
    """Cut groups of 2k records or more into parts of k or more along the order of records, where every part holds.

    The box of a part lies within that of the whole, so cutting never raises the loss.
    """
    inside = np.flatnonzero(group_of >= 0)
    inside = inside[np.argsort(group_of[inside], kind="stable")]
    group = group_of[inside]
    size = np.bincount(group)
    rank = np.arange(len(group)) - (np.cumsum(size) - size)[group]
    parts = np.maximum(size // requirement.k, 1)
    first = np.cumsum(parts) - parts
    part_of = np.full(len(group_of), WITHHELD, np.int64)
    part_of[inside] = first[group] + np.minimum(rank // requirement.k, parts[group] - 1)
    failing = requirement.fails(microdata, part_of, int(parts.sum()))
    whole = np.bitwise_or.reduceat(failing, first) if len(first) else failing
    part_of[inside[whole[group]]] = first[group[whole[group]]]
    return part_of


def _search(
    part: Part,
    place: IntArray,
    costs: Costs,
    asked: Demands,
    persons: int,
    effort: Effort,
    seed: int,
    done: IntArray,
    stop: IntArray,
) -> IntArray:
    """Improve the groups of some cells, given by unit; returns them likewise."""
    k = asked.k
    neighbours, regrouping, exchanges = map(kernels.load, ("neighbours", "regrouping", "exchanges"))
    lower, upper = costs.ends(part.codes, part.codes)
    most = int(np.diff(part.cell_start).max()) - 1
    shape = (len(part.codes), max(1, min(effort.neighbours, most)))
    near, distance, least = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(len(part.codes), np.int32)
    counts = np.diff(part.unit_start)
    neighbours.nearest_in_cells(
        lower, upper, counts, part.cell_start, costs.prices, k, WINDOW, effort.patience, near, distance, least, stop
    )
    cells = Starts(profile=part.cell_start, group=part.group_start, unit=part.unit_start)
    records = Records(lower, upper, part.profile, near, distance, least)
    room, capacity, q = MOST * k, int(part.group_start[-1]), part.codes.shape[1]
    groups = part.groups(place, costs, room)
    mine = with_scratch(asked, part.units, persons)
    desk, tries = regrouping.new_desk(q, room, k, capacity), effort.tries
    tries += 0 if asked.what == NOTHING else tries // 2
    regrouping.regroup_cells(
        cells, records, groups, costs.prices, mine, desk, tries, effort.heat, part.seeds(seed), done, stop
    )
    if effort.passes:
        desk = exchanges.new_desk(q, room, capacity)
        exchanges.exchange_in_cells(cells, records, groups, costs.prices, mine, desk, effort.passes, stop)
    return groups.place.astype(np.int64)
