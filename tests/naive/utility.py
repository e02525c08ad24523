"""Utility-driven clustering and its baselines, bottom-up by NCP and Euclidean.

One cluster per distinct combination of codes, numbered from 0 in canonical order (records sorted by codes). Every
cluster that is under, ascending, is merged into the cluster of its cell that makes the cheapest one; ties go to
the lowest number. A box holds the least and greatest code of every column.

Decided here: in the rounds for other models, a cluster that was merged into is not merged away in the same round,
but more may be merged into it; a cluster that fails and has no partner left in its cell is withheld in the end.
Where ranges of a column must not overlap: see ``apart``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import floor, lcm
from typing import Any, Literal

from .attributes import Record, Shown
from .constrained import parts_within_width
from .k_member import canonical_order
from .privacy import Demands, Sensitive
from .research_value import Column, FreeNumbers, Settings, normalized_weights

UNIT = 2**36
Method = Literal["utility", "bottom-up", "euclidean"]
Range = tuple[int, int]
"""Least and greatest code."""
Ranges = tuple[Range, ...]
"""A box: the range of every column."""


# ---- whole-number gains and costs ------------------------------------------------------------------------


def weight_units(columns: Sequence[Column]) -> list[int]:
    """Normalized weights in units of 2^-36, rounded down."""
    return [floor(UNIT * weight) for weight in normalized_weights(columns)]


def rules_kept(column: Column, range_: Range, base: Fraction) -> tuple[int, int]:
    """Base and importances of the rules that a range keeps, and of all, as whole numbers; (1, 1) if that is 0."""
    importances = [Fraction(rule.importance) for rule in column.rules]
    broken = column.broken(*range_)
    kept = [i for i, rule in zip(importances, column.rules, strict=True) if rule not in broken]
    whole = lcm(base.denominator, *(importance.denominator for importance in importances))
    total = int(whole * (base + sum(importances)))
    return (int(whole * (base + sum(kept))), total) if total else (1, 1)


def gain(column: Column, unit: int, range_: Range, settings: Settings) -> int:
    """Weighted value of a range, rounded down at every step; at most the weight."""
    kept, total = rules_kept(column, range_, settings.base)
    span = column.span(*range_)
    if settings.blend is None:
        return (unit * kept // total) // span
    p, q = settings.blend.numerator, settings.blend.denominator
    return unit * p // (q * span) + (unit * (q - p) // q) * kept // total


def ncp_cost(column: Column, unit: int, range_: Range) -> int:
    """Weighted share of the domain, rounded down; 0 if the domain has no extent."""
    whole = column.whole_extent
    return unit * column.extent_of(column.show(*range_)) // whole if whole else 0


def euclidean_cost(column: Column, range_: Range) -> Fraction:
    """Steps of numbers, or values more than one; unweighted."""
    return column.span(*range_) - 1


# ---- clusters --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cluster:
    """Positions in the canonical order, the box, the (position, column) pairs suppressed, and the part it is in.

    A part is a cell, or a run of one if a width is limited. The box is that of the cells that are shown.
    """

    members: tuple[int, ...]
    box: Ranges
    suppressed: frozenset[tuple[int, int]]
    part: int


@dataclass(frozen=True)
class Clusters:
    """Clusters by their numbers, ascending, and withheld positions of the canonical order."""

    clusters: tuple[Cluster, ...]
    withheld: tuple[int, ...]

    @property
    def suppressed(self) -> int:
        """Number of suppressed cells."""
        return sum(len(cluster.suppressed) for cluster in self.clusters)


@dataclass(frozen=True)
class Offer:
    """What merging one cluster into another costs, and makes of them."""

    cost: int | Fraction
    into: int
    merged: Cluster


@dataclass(frozen=True, eq=False)
class Task:
    """A table in canonical order, what is asked of every cluster, and how it is clustered."""

    columns: Sequence[Column]
    records: Sequence[Record]
    k: int
    method: Method
    settings: Settings
    suppress: bool
    sensitive: Sequence[Sensitive]
    demands: Demands
    persons: Sequence[int] | None
    cell_rank: Callable[[Record], int]
    known: dict[tuple[int, Range], int | Fraction] = field(default_factory=dict)
    """Costs computed before: by column and range."""

    @cached_property
    def units(self) -> list[int]:
        return weight_units(self.columns)

    # ---- what a cluster must have ----

    def is_under(self, members: Sequence[int]) -> bool:
        """Fewer than k records, or fewer different sensitive values than a counting model asks for."""
        values = [self.sensitive[member] for member in members]
        return len(members) < self.k or not self.demands.only_counting().hold(values)

    def has_k(self, members: Sequence[int]) -> bool:
        """At least k records, or persons if there are persons."""
        return len(members if self.persons is None else {self.persons[member] for member in members}) >= self.k

    def holds(self, members: Sequence[int]) -> bool:
        """At least k records (persons), and all models."""
        return self.has_k(members) and self.demands.hold([self.sensitive[member] for member in members])

    # ---- where clustering starts ----

    def parts(self) -> list[list[int]]:
        """Positions cell by cell, or run by run of a cell if a width is limited; without those that must go."""
        found: dict[object, list[int]] = {}
        for position, record in enumerate(self.records):
            key = tuple(column.cell(code) for column, code in zip(self.columns, record, strict=True))
            found.setdefault(key, []).append(position)
        counting = self.demands.only_counting()
        kept = [
            cell
            for cell in found.values()
            if self.has_k(cell) and counting.hold([self.sensitive[position] for position in cell])
        ]
        return [part for cell in kept for part in self.runs(cell)]

    def runs(self, cell: list[int]) -> list[list[int]]:
        """The runs of a cell within a greatest width, or the cell itself; also if the number is missing in it."""
        limited = [
            (place, column)
            for place, column in enumerate(self.columns)
            if isinstance(column, FreeNumbers) and column.attribute.width is not None
        ]
        for place, column in limited:
            if column.snap is not None or self.persons is not None or any(self.demands.models):
                raise ValueError("a greatest width is defined here without a grid, persons or models.")
            if self.records[cell[0]][place] == column.missing_code:
                return [cell]
        attributes = [column.attribute for column in self.columns]
        return parts_within_width(attributes, self.records, cell, self.k, self.persons)

    def start(self) -> dict[int, Cluster]:
        """One cluster per distinct record of a part, by number."""
        found: dict[tuple[Record, int], list[int]] = {}
        for part, positions in enumerate(self.parts()):
            for position in positions:
                found.setdefault((self.records[position], part), []).append(position)
        return {
            number: Cluster(tuple(found[key]), tuple((code, code) for code in key[0]), frozenset(), key[1])
            for number, key in enumerate(sorted(found, key=lambda key: (self.cell_rank(key[0]), key)))
        }

    # ---- merging ----

    def best_offer(self, alive: dict[int, Cluster], small: int) -> Offer | None:
        """The cheapest merge of a cluster into another of its part; the first of several (``min`` keeps it)."""
        others = [n for n in sorted(alive) if n != small and alive[n].part == alive[small].part]
        return min((self.offer(alive, small, n) for n in others), key=lambda offer: offer.cost, default=None)

    def offer(self, alive: dict[int, Cluster], small: int, into: int) -> Offer:
        one, other = alive[small], alive[into]
        hull = tuple(self.hull(alive, small, into, place) for place in range(len(self.columns)))
        merged = Cluster(one.members + other.members, hull, one.suppressed | other.suppressed, other.part)
        if not self.suppress:
            return Offer(self.cost(hull), into, merged)
        ways = [merged, self.suppressing(one, other, merged), self.suppressing(other, one, merged)]
        values = [sum(self.gains(hull)), self.value(one, other, hull), self.value(other, one, hull)]
        best = values.index(max(values))  # the first of several: none, in the small one, in the other
        return Offer(sum(self.units) - values[best], into, ways[best])

    def hull(self, alive: dict[int, Cluster], small: int, into: int, place: int) -> Range:
        """Range of two clusters in a column."""
        one, other = alive[small].box[place], alive[into].box[place]
        return min(one[0], other[0]), max(one[1], other[1])

    def cost(self, box: Ranges) -> int | Fraction:
        return sum((self.cost_in(place, range_) for place, range_ in enumerate(box)), 0)

    def cost_in(self, place: int, range_: Range) -> int | Fraction:
        """What one column adds to the cost of a box."""
        if (place, range_) not in self.known:
            column, unit = self.columns[place], self.units[place]
            if self.method == "utility":
                self.known[place, range_] = unit - gain(column, unit, range_, self.settings)
            elif self.method == "bottom-up":
                self.known[place, range_] = ncp_cost(column, unit, range_)
            else:
                self.known[place, range_] = euclidean_cost(column, range_)
        return self.known[place, range_]

    def gains(self, box: Ranges) -> list[int]:
        """Gain of every column of a box, with the method ``utility``."""
        return [int(unit - self.cost_in(place, box[place])) for place, unit in enumerate(self.units)]

    # ---- suppressing ----

    def gains_of_suppressing(self, hidden: Cluster, shown: Cluster) -> list[int]:
        """Gains if every column were suppressed in one cluster and shown as the other has it."""
        size = len(hidden.members) + len(shown.members)
        return [value * len(shown.members) // size for value in self.gains(shown.box)]

    def pays(self, hidden: Cluster, shown: Cluster, hull: Ranges) -> list[bool]:
        """Whether it is better to suppress a column in one cluster than to show the hull; it must not be limited."""
        triples = zip(self.columns, self.gains_of_suppressing(hidden, shown), self.gains(hull), strict=True)
        return [not column.is_limited and without > with_it for column, without, with_it in triples]

    def value(self, hidden: Cluster, shown: Cluster, hull: Ranges) -> int:
        """Total gain with the columns suppressed in one cluster where that pays."""
        triples = zip(
            self.pays(hidden, shown, hull), self.gains_of_suppressing(hidden, shown), self.gains(hull), strict=True
        )
        return sum(without if pays else with_it for pays, without, with_it in triples)

    def suppressing(self, hidden: Cluster, shown: Cluster, merged: Cluster) -> Cluster:
        """The merged cluster, with the columns suppressed in one of the two where that pays."""
        pays = self.pays(hidden, shown, merged.box)
        box = tuple(s if p else m for p, s, m in zip(pays, shown.box, merged.box, strict=True))
        gone = {(member, place) for member in hidden.members for place, p in enumerate(pays) if p}
        return replace(merged, box=box, suppressed=merged.suppressed | gone)


# ---- clustering ------------------------------------------------------------------------------------------


def task_of(
    columns: Sequence[Column],
    records: Sequence[Record],
    k: int,
    method: Method = "utility",
    settings: Settings | None = None,
    suppress: bool = False,
    sensitive: Sequence[Sensitive] | None = None,
    demands: Demands | None = None,
    persons: Sequence[int] | None = None,
    cell_rank: Callable[[Record], int] = lambda record: 0,
) -> Task:
    """Put records (in any order) in canonical order, with what is asked of their clusters.

    ``cell_rank`` numbers the clusters of some cells before those of others: a rank that is the same for all
    records of a cell. It matters only where clusters of one cell change what others are published as.
    """
    if suppress and method != "utility":
        raise ValueError("only utility-driven clustering suppresses.")
    order = canonical_order(records)
    return Task(
        columns=columns,
        records=[records[i] for i in order],
        k=k,
        method=method,
        settings=settings or Settings(),
        suppress=suppress,
        sensitive=[() if sensitive is None else sensitive[i] for i in order],
        demands=demands or Demands((), (), ()),
        persons=None if persons is None else [persons[i] for i in order],
        cell_rank=cell_rank,
    )


def cluster(*asked: Any, **more: Any) -> Clusters:
    """Cluster records, given as ``task_of`` takes them, within the columns' limits."""
    task = task_of(*asked, **more)
    alive = task.start()
    merge_under(task, alive)
    merge_failing(task, alive)
    return clusters_of(task, alive)


def clusters_of(task: Task, alive: dict[int, Cluster]) -> Clusters:
    """The clusters in the order of their numbers, and what is in none."""
    released = {position for found in alive.values() for position in found.members}
    withheld = tuple(position for position in range(len(task.records)) if position not in released)
    return Clusters(tuple(alive[number] for number in sorted(alive)), withheld)


def merge_under(task: Task, alive: dict[int, Cluster]) -> None:
    """One pass: every cluster that is under, ascending, is merged away."""
    for number in sorted(alive):
        if task.is_under(alive[number].members):
            merge(task, alive, number)


def merge_failing(task: Task, alive: dict[int, Cluster]) -> None:
    """Rounds in which every cluster that fails and has a partner is merged away once; what fails then is withheld."""
    while True:
        failing = [number for number in sorted(alive) if not task.holds(alive[number].members)]
        grown: set[int] = set()
        for number in failing:
            if number not in grown and (offer := merge(task, alive, number)) is not None:
                grown.add(offer.into)
        if not grown:
            break
    for number in failing:
        del alive[number]


def merge(task: Task, alive: dict[int, Cluster], number: int) -> Offer | None:
    """Merge a cluster into its best partner, if it has one; its number is gone."""
    offer = task.best_offer(alive, number)
    if offer is not None:
        alive[offer.into] = replace(offer.merged, members=tuple(sorted(offer.merged.members)))
        del alive[number]
    return offer


def published(columns: Sequence[Column], found: Clusters) -> list[tuple[Shown | None, ...] | None]:
    """What every position of the canonical order publishes: None if withheld, a cell of it None if suppressed."""
    places = range(len(columns))
    rows: dict[int, tuple[Shown | None, ...] | None] = dict.fromkeys(found.withheld)
    for group in found.clusters:
        shown = [columns[place].show(*group.box[place]) for place in places]
        for member in group.members:
            rows[member] = tuple(None if (member, place) in group.suppressed else shown[place] for place in places)
    return [rows[position] for position in sorted(rows)]


def groups(found: Clusters) -> list[tuple[tuple[int, ...], Ranges, tuple[int, ...]]]:
    """Members, box and suppressed columns of what is published alike: a cluster, split by what is suppressed."""
    split: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for number, group in enumerate(found.clusters):
        for member in group.members:
            hidden = tuple(place for place in range(len(group.box)) if (member, place) in group.suppressed)
            split.setdefault((number, hidden), []).append(member)
    return [(tuple(members), found.clusters[number].box, hidden) for (number, hidden), members in split.items()]
