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
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.costs import LOSS, Costs, Objective, cost_tables
from hedgerow.anonymization.clustering.diverse import model_tables, value_tables
from hedgerow.anonymization.clustering.layout import Layout, lay_out
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.anonymization.clustering.parts import Part
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.kernels.codes import EVERYTHING, NOTHING, VALUES
from hedgerow.anonymization.kernels.tuples.asked import Demands
from hedgerow.anonymization.kernels.tuples.improving import Records, Searches, Starts
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, Improve, IntArray, Steps

MOST = 3  # times k: larger groups stay as they are
PARTNERS = 16
IN_SMALL_CELLS = 2  # rounds of exchanges at least: there they cost little
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
        Pools that are regrouped for every k records; a quarter more where more than k is asked, because fewer of
        them can be.
    passes
        Rounds of exchanges, at most.
    searches
        How neighbours are sought.
    """

    help: str
    tries: int
    passes: int
    searches: Searches


EFFORTS: dict[str, Effort] = {
    "quick": Effort("searches for groups that lose less", 12, 0, HASTY),
    "thorough": Effort("searches some six times as long", 90, 2, PATIENT),
    "longest": Effort("searches for minutes on large tables, for what is published once a year", 450, 3, PATIENT),
}
"""By name, each longer than the one before; see :data:`hedgerow.types.Improve`."""


def heat_of(k: int) -> int:
    """By how much a try may raise the loss at first, in thousandths of what a group loses: the less the larger k is.

    >>> [heat_of(k) for k in (2, 5, 10, 25)]
    [321, 203, 143, 97]
    """
    return min(500, max(150, math.isqrt(490_000 // k))) * 65 // 100


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
        groups = self.clustering(microdata, cells=cells, progress=progress)
        efforts = efforts_up_to(self.effort)
        return improve(
            microdata, cells, groups, self.requirement, efforts, self.objective, self.seed, self.threads, progress
        ).groups


@dataclass(frozen=True, eq=False)
class Improvement:
    """Groups that lose less, and what all of them lost before and lose after, in whole multiples of 1/UNIT."""

    groups: Recoding
    before: int
    after: int


def efforts_up_to(name: Improve) -> list[Effort]:
    """An effort by its name, after all lesser ones.

    >>> [effort.tries for effort in efforts_up_to("thorough")]
    [12, 130]
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
    the one before it came to; so more effort never loses more there. In larger ones only the last is made.
    """
    layout = lay_out(microdata, cells, requirement.k)
    costs = cost_tables(microdata, objective)
    asked = asked_of(microdata, layout, requirement)
    start = _cut(microdata, groups.group_of, requirement)
    losses = np.zeros((len(layout.records), 2), np.int64)

    def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
        part = Part.of(layout, first, last)
        units = layout.units[part.units]
        as_it_was, place = part.numbered(groups.group_of[units]), part.numbered(start[units])
        before = part.losses(as_it_was, costs)
        after, better = before, np.zeros(len(before), bool)
        for effort in efforts:
            is_last = effort is efforts[-1]
            wanted = part.small | is_last
            if wanted.any() and not stop[0]:
                search = Search.of(part, costs.rounded(), effort.searches, asked, layout.persons, seed, stop)
                found = search.go_on(place, effort, wanted, done if is_last else np.zeros(1, np.int64))
                lost = part.losses(found, costs)
                gains = lost < after
                place = part.numbered(np.where(np.repeat(gains, part.records), found, place))
                after, better = np.minimum(lost, after), better | gains
        place = np.where(np.repeat(better, part.records), place, as_it_was)
        losses[first:last] = np.stack([before, after], axis=1)
        layout.group_of[part.units] = np.where(place < 0, WITHHELD, place + layout.group_start[first])

    run_in_threads(work, layout.records, threads, progress)
    before, after = losses.sum(axis=0).tolist()
    group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
    group_of[layout.units] = layout.group_of
    return Improvement(recoding_of(microdata, group_of), before, after)


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
class Search:
    """A search in some cells: what every effort looks at."""

    part: Part
    costs: Costs
    asked: Demands
    cells: Starts
    records: Records
    seeds: npt.NDArray[np.uint64]
    stop: IntArray

    @classmethod
    def of(
        cls, part: Part, costs: Costs, searches: Searches, asked: Demands, persons: int, seed: int, stop: IntArray
    ) -> Search:
        """Find the neighbours of all profiles."""
        lower, upper = costs.ends(part.codes, part.codes)
        others, n = max(1, int(part.profiles.max()) - 1), len(part.codes)
        searches = searches._replace(nearest=min(searches.nearest, others))
        shape = (n, searches.nearest + min(PARTNERS, others))
        near, distance, least = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(n, np.int32)
        kernels.load("neighbours").nearest_in_cells(
            lower, upper, np.diff(part.unit_start), part.cell_start, costs.prices, asked.k, searches, near, distance,
            least, stop,
        )  # fmt: skip
        records = Records(lower, upper, part.profile, near, distance, least, searches.nearest)
        cells = Starts(profile=part.cell_start, group=part.group_start, unit=part.unit_start)
        return cls(part, costs, _with_scratch(asked, part.units, persons), cells, records, part.seeds(seed), stop)

    def go_on(self, place: IntArray, effort: Effort, wanted: BoolArray, done: IntArray) -> IntArray:
        """Improve the groups of the wanted cells, given by unit; returns all of them likewise."""
        k, q = self.asked.k, self.part.codes.shape[1]
        room, capacity = MOST * k, int(self.part.group_start[-1])
        groups = self.part.groups(place, self.costs, room)
        regrouping = kernels.load("regrouping")
        desk = regrouping.new_desk(q, room, k, capacity, groups.place)
        tries = effort.tries + (0 if self.asked.what == NOTHING else effort.tries // 4)
        regrouping.regroup_cells(
            self.cells, self.records, groups, self.costs.prices, self.asked, desk, np.where(wanted, tries, 0),
            heat_of(k), self.seeds, done, self.stop,
        )  # fmt: skip
        passes = np.where(self.part.small, np.maximum(effort.passes, IN_SMALL_CELLS), effort.passes) * wanted
        if passes.any():
            # Anew for all cells: where members stand in a group must not depend on the cells beside it.
            groups = self.part.groups(groups.place.astype(np.int64), self.costs, room)
            exchanges = kernels.load("exchanges")
            desk = exchanges.new_desk(q, room, capacity)
            exchanges.exchange_in_cells(
                self.cells, self.records, groups, self.costs.prices, self.asked, desk,
                passes, self.stop,
            )  # fmt: skip
        return groups.place.astype(np.int64)


def asked_of(microdata: Microdata, layout: Layout, requirement: Requirement) -> Demands:
    """What is asked of every group, as the kernels take it, for units in the order of the layout; no scratch space."""
    what = NOTHING if not layout.persons and not requirement.models else EVERYTHING
    if what and requirement.survives_growth:
        what = VALUES
    sensitive = (
        microdata.sensitive_of[layout.units] if requirement.models else np.zeros((len(layout.units), 0), np.int64)
    )
    value_start, overall = value_tables(microdata)
    models, trees = model_tables(requirement, microdata)
    nothing = np.zeros(0, np.int64)
    return Demands(
        k=requirement.k,
        what=what,
        person=layout.person,
        stamp=nothing,
        sensitive=np.ascontiguousarray(sensitive),
        value_start=value_start,
        overall=overall,
        models=models,
        trees=trees,
        wanted=requirement.distinct_wanted(sensitive.shape[1]),
        histogram=nothing,
        tally=nothing,
        lasts=requirement.survives_growth,
    )


def _with_scratch(asked: Demands, units: slice, persons: int) -> Demands:
    """What is asked of some of the units, with scratch space of its own."""
    return asked._replace(
        person=asked.person[units] if persons else asked.person,
        stamp=np.zeros(persons + 1, np.int64),
        sensitive=asked.sensitive[units],
        histogram=np.zeros_like(asked.overall),
        tally=np.zeros(len(asked.wanted) + 1, np.int64),
    )
