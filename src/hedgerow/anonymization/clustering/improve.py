"""Lower loss for groups that a clustering has made: regrouping pools of groups, then exchanging records.

Greedy clustering looks at one group at a time, and leaves loss on the table. The search goes on from its groups, inside
the same cells: it takes groups that lose much apart together with groups near them, and groups them anew. At first it
also accepts a somewhat greater loss, later it does not (annealing). In the end records are moved and swapped as long as
that lowers the loss. After every step k and all models hold, and no group crosses a cell, so limits hold too. Records
that the clustering withheld stay withheld. The loss of a cell is never greater than before.

This is ours: no paper has it. Pseudocode stands in ``docs/explanation/clustering.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.asked import demands_of, with_scratch
from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.costs import LOSS, Costs, Objective, cost_tables
from hedgerow.anonymization.clustering.diverse import DiverseClustering
from hedgerow.anonymization.clustering.exact import least_losses, solve_part
from hedgerow.anonymization.clustering.k_member import ConstrainedKMember
from hedgerow.anonymization.clustering.layout import lay_out
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.anonymization.clustering.parts import Part
from hedgerow.anonymization.clustering.stretches import in_stretches, in_stretches_that_hold
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.kernels import desks
from hedgerow.anonymization.kernels.codes import NOTHING
from hedgerow.anonymization.kernels.tuples.asked import Demands
from hedgerow.anonymization.kernels.tuples.improving import Records, Searches, Starts
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, Improve, IntArray, Steps

MOST = 3  # times k: larger groups stay as they are
PARTNERS = 16
IN_SMALL_CELLS = 2  # rounds of exchanges at least: there they cost little
IF_MORE_IS_ASKED = 1  # likewise, where more than k is: a round does more than as much time spent on tries
HASTY = Searches(nearest=20, window=4, patience=200, partner_patience=800)
PATIENT = Searches(nearest=30, window=4, patience=1_000, partner_patience=5_000)


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Attributes
    ----------
    help
        What that comes to, in a few words.
    tries
        Pools that are regrouped for every k records.
    passes
        Rounds of exchanges, at most.
    searches
        How neighbours are sought.
    looks
        How much of an effort to make to solve a small block exactly before anything is searched; see ``exact.py``.
    tries_at_ten
        As many tries where k is 10 or more, and between the two where it is between 5 and 10; None: no fewer.
    """

    help: str
    tries: int
    passes: int
    searches: Searches
    looks: int = 0
    tries_at_ten: int | None = None

    def tries_for(self, k: int) -> int:
        """Tries for a k: a try costs the more the larger k is, so the shortest search makes fewer from 7 on.

        >>> [EFFORTS["quick"].tries_for(k) for k in (2, 5, 6, 8, 10, 25)]
        [12, 12, 12, 10, 8, 8]
        """
        fewest = self.tries if self.tries_at_ten is None else self.tries_at_ten
        return self.tries - (self.tries - fewest) * min(max(k - 5, 0), 5) // 5


EFFORTS: dict[str, Effort] = {
    "quick": Effort("searches for groups that lose less", 12, 0, HASTY, looks=40_000, tries_at_ten=8),
    "thorough": Effort("searches some six times as long", 110, 2, PATIENT, looks=200_000),
    "longest": Effort(
        "searches for minutes on large tables, for what is published once a year", 800, 3, PATIENT, looks=1_000_000
    ),
}
"""By name, each longer than the one before; see :data:`hedgerow.types.Improve`."""


def heat_of(k: int, more: bool = False) -> int:
    """By how much a try may raise the loss at first, in thousandths of what a group loses: the less the larger k is.

    Half more where more than k is asked: there fewer tries come to groups that hold, and a cold search gets stuck.

    >>> [heat_of(k) for k in (2, 5, 10, 25)]
    [321, 203, 143, 97]
    >>> heat_of(5, more=True)
    304
    """
    heat = min(500, max(150, math.isqrt(490_000 // k))) * 65 // 100
    return heat * 3 // 2 if more else heat


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
    effort: Improve = "quick"
    objective: Objective = LOSS
    seed: int = 0
    threads: int = 1

    def __call__(self, microdata: Microdata, cells: Cells, progress: Steps | None = None) -> Recoding:
        """Form groups within the cells that need not be withheld."""
        greedy = isinstance(self.clustering, ConstrainedKMember | DiverseClustering)
        within = in_stretches_that_hold(microdata, cells, self.requirement) if greedy else cells
        groups = self.clustering(microdata, cells=within, progress=progress)
        efforts = efforts_up_to(self.effort)
        return improve(
            microdata, cells, groups, self.requirement, efforts, self.objective, self.seed, self.threads, progress
        ).groups


@dataclass(frozen=True, eq=False)
class Improvement:
    """Groups that lose less, and what all of them lost before and lose after, in whole multiples of 1/UNIT.

    ``groups.proven`` says which of them lie in a block of which no groups would lose less.
    """

    groups: Recoding
    before: int
    after: int


def efforts_up_to(name: Improve) -> list[Effort]:
    """An effort by its name, after all lesser ones.

    >>> [effort.tries for effort in efforts_up_to("thorough")]
    [12, 110]
    """
    names = list(EFFORTS)
    return [EFFORTS[one] for one in names[: names.index(name) + 1]]


def improve(
    microdata: Microdata,
    cells: Cells,
    groups: Recoding,
    requirement: Requirement,
    efforts: Sequence[Effort],
    objective: Objective = LOSS,
    seed: int = 0,
    threads: int = 1,
    progress: Steps | None = None,
) -> Improvement:
    """Lower the loss of groups inside cells.

    Every group must hold, and lie in one cell that need not be withheld. In a small cell, one effort goes on from where
    the one before it came to; so more effort never loses more there. In larger ones only the last is made, and huge
    ones are searched in stretches.
    """
    within = in_stretches(microdata, cells, requirement, groups.group_of)
    layout = lay_out(microdata, within, requirement.k, sets=objective.counts_sets)
    costs = cost_tables(microdata, objective, sets=True)
    rounded = costs.rounded()
    asked = demands_of(microdata, layout, requirement)
    start = _cut(microdata, groups.group_of, requirement)
    heat = round(heat_of(requirement.k, asked.what != NOTHING) * objective.warmth)
    losses = np.zeros((len(layout.records), 2), np.int64)
    proven = np.zeros(len(layout.units), np.bool_)

    def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
        part = Part.of(layout, first, last)
        units = layout.units[part.units]
        as_it_was, place = part.numbered(groups.group_of[units]), part.numbered(start[units])
        before = part.losses(as_it_was, costs)
        after, better, best = before, np.zeros(len(before), np.bool_), np.zeros(len(before), np.bool_)
        for effort in efforts:
            is_last = effort is efforts[-1]
            wanted = ~best & (part.small | is_last)
            some, at = part.some(wanted)
            if not len(at) or stop[0]:
                continue
            attempt = _Attempt(some, costs, rounded, asked, layout.persons, effort, heat, seed, stop)
            found, solved = attempt.go_on(some.numbered(place[at]), done if is_last else np.zeros(1, np.int64))
            now = place.copy()
            now[at] = np.where(found < 0, -1, found + part.group_start[-1])  # apart from those of other cells
            now = part.numbered(now)
            lost = part.losses(now, costs)
            gains = lost < after
            place = part.numbered(np.where(np.repeat(gains, part.records), now, place))
            after, better = np.minimum(lost, after), better | gains
            best[wanted] = solved
        place = np.where(np.repeat(better, part.records), place, as_it_was)
        best |= after == least_losses(part, place, costs)
        losses[first:last] = np.stack([before, after], axis=1)
        proven[part.units] = np.repeat(best, part.records)
        layout.group_of[part.units] = np.where(place < 0, WITHHELD, place + layout.group_start[first])

    run_in_threads(work, layout.records, threads, progress)
    before, after = losses.sum(axis=0).tolist()
    group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
    group_of[layout.units] = layout.group_of
    return Improvement(with_proof(recoding_of(microdata, group_of), layout.units[proven]), before, after)


def with_proof(groups: Recoding, units: IntArray) -> Recoding:
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


@dataclass(frozen=True, eq=False)
class _Attempt:
    """One effort, made in some cells."""

    part: Part
    costs: Costs
    rounded: Costs
    asked: Demands
    persons: int
    effort: Effort
    heat: int
    seed: int
    stop: IntArray

    def go_on(self, place: IntArray, done: IntArray) -> tuple[IntArray, BoolArray]:
        """Improve groups, given by unit; returns them likewise, and for each cell whether they are proven the best."""
        mine = with_scratch(self.asked, self.part.units, self.persons)
        solved = solve_part(self.part, place, self.costs, mine, self.effort.looks, done, self.stop)
        found, (rest, at) = solved.place, self.part.some(~solved.proven)
        if len(at):
            searched = self._search(rest, rest.numbered(found[at]), done)
            found[at] = np.where(searched < 0, -1, searched + self.part.group_start[-1])  # apart from the others
            found = self.part.numbered(found)
        return found, solved.proven

    def _search(self, part: Part, place: IntArray, done: IntArray) -> IntArray:
        """Regroup, then exchange."""
        k, q, costs = self.asked.k, part.codes.shape[1], self.rounded
        room, capacity = MOST * k, int(part.group_start[-1])
        cells = Starts(profile=part.cell_start, group=part.group_start, unit=part.unit_start)
        records = neighbours_of(part, costs, k, self.effort.searches, self.stop)
        asked = with_scratch(self.asked, part.units, self.persons)
        groups = part.groups(place, costs, room)
        regrouping = kernels.load("regrouping")
        desk = desks.for_regrouping(q, room, k, capacity, groups.place)
        tries = np.full(len(part.records), self.effort.tries_for(k))
        regrouping.regroup_cells(
            cells, records, groups, costs.prices, asked, desk, tries, self.heat,
            part.seeds(self.seed), done, self.stop,
        )  # fmt: skip
        most = max(self.effort.passes, 0 if asked.what == NOTHING else IF_MORE_IS_ASKED)
        passes = np.where(part.small, max(most, IN_SMALL_CELLS), most)
        if passes.any():
            # Anew for all cells: where members stand in a group must not depend on the cells beside it.
            groups = part.groups(groups.place.astype(np.int64), costs, room)
            exchanges = kernels.load("exchanges")
            scratch = desks.for_exchanges(q, room, capacity)
            exchanges.exchange_in_cells(cells, records, groups, costs.prices, asked, scratch, passes, self.stop)
        return groups.place.astype(np.int64)


def neighbours_of(part: Part, costs: Costs, k: int, searches: Searches, stop: IntArray) -> Records:
    """Find the nearest others and the partners of all profiles of some cells, each in its cell."""
    lower, upper = costs.ends(part.codes, part.codes)
    two, known = costs.of_two(), (np.ascontiguousarray(end[:, : costs.columns]) for end in (lower, upper))
    others, n = max(1, int(part.profiles.max()) - 1), len(part.codes)
    searches = searches._replace(nearest=min(searches.nearest, others))
    shape = (n, searches.nearest + min(PARTNERS, others))
    near, distance, least = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(n, np.int32)
    kernels.load("neighbours").nearest_in_cells(
        *known, np.diff(part.unit_start), part.cell_start, two.prices, k, searches, near, distance, least, stop
    )
    return Records(lower, upper, part.profile, near, distance, least, searches.nearest)
