"""GreedyPKClustering and GreedyCPKA by plain scans, for any combination of models (Campan, Truta and Cooper 2010).

Canonical order: by codes, then by sensitive codes (missing last), then by person if persons are given.
Ties between records go to the first in canonical order, ties between groups to the lowest group number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from .attributes import Attribute, FreeAttribute, Record
from .cells import cells, is_large_enough
from .constrained import Clustering
from .costs import Costs, round_half_up
from .k_member import Group, Table
from .privacy import Demands, Sensitive, distinct_values

DIVERSITY_UNIT = 2**20
Joining = Literal["increase", "loss"]
"""What a record left over minimises: the increase of loss (INC, Byun), or the loss itself (CPKA as printed)."""


def canonical_order(
    records: Sequence[Record], sensitive: Sequence[Sensitive], persons: Sequence[int] | None = None
) -> list[int]:
    """Arrival numbers of the records, in canonical order; equal records keep their arrival order."""

    def key(i: int) -> tuple[Record, list[tuple[bool, int]], int]:
        values = [(code is None, code or 0) for code in sensitive[i]]
        return records[i], values, 0 if persons is None else persons[i]

    return sorted(range(len(records)), key=key)


# ---- diversity -------------------------------------------------------------------------------------------


def default_weights(microdata: Sequence[Sensitive]) -> list[Fraction]:
    """Inversely proportional to the number of distinct values; 0 for an attribute that has none."""
    counts = [distinct_values(microdata, place) for place in range(len(microdata[0]) if microdata else 0)]
    inverse = [Fraction(1, count) if count else Fraction(0) for count in counts]
    return [share / sum(inverse) if share else share for share in inverse]


def integer_weights(weights: Sequence[Fraction]) -> list[int]:
    """Weights in units of 2^-20, rounded half up."""
    if any(weights) and sum(weights) != 1:
        raise ValueError("diversity weights must sum to 1.")
    return [round_half_up(DIVERSITY_UNIT * weight) for weight in weights]


@dataclass(frozen=True, eq=False)
class DiverseTable(Table):
    """Records in canonical order with their sensitive codes, and what is asked of every group."""

    sensitive: Sequence[Sensitive]
    weights: Sequence[int]
    demands: Demands
    k: int

    def diversity(self, one: int, other: int) -> int:
        """Of two records; a missing value equals a missing one and differs from any other."""
        pairs = zip(self.sensitive[one], self.sensitive[other], strict=True)
        return sum(weight for weight, (x, y) in zip(self.weights, pairs, strict=True) if x != y)

    def diversity_to(self, position: int, group: Group) -> int:
        """Of a record and a group: what the record would add to the group's values."""
        total = 0
        for place, weight in enumerate(self.weights):
            code = self.sensitive[position][place]
            if code is not None and code not in {self.sensitive[member][place] for member in group.members}:
                total += weight
        return total

    def values(self, group: Group) -> list[Sensitive]:
        return [self.sensitive[member] for member in group.members]

    def models_hold(self, group: Group) -> bool:
        return self.demands.hold(self.values(group))

    def lack(self, group: Group) -> int:
        return self.demands.lack(self.values(group))

    def is_complete(self, group: Group) -> bool:
        """Whether the group has k records (persons) and all models hold."""
        return self.distinct_persons(group.members) >= self.k and self.models_hold(group)


# ---- clustering ------------------------------------------------------------------------------------------


def cluster(
    table: DiverseTable, positions: Sequence[int], seed: int, joining: Joining
) -> tuple[list[Group], list[int]]:
    """Groups of some records (in canonical order), and those of them that are withheld.

    The record at place ``seed mod n`` is the first reference and is not removed. The first group that cannot
    be completed ends the search; its records, and with persons those still remaining, join the kept groups.
    If none was kept, all records become one group if that is complete, or are withheld.
    """
    remaining = list(positions)
    kept: list[Group] = []
    left_over: list[int] = []
    reference = positions[seed % len(positions)]
    while remaining:
        reference = most_diverse(table, reference, remaining)
        remaining.remove(reference)
        group = grow(table, table.start(reference), remaining)
        if not table.is_complete(group):
            left_over = sorted([*group.members, *remaining])
            break
        kept.append(group)
    if kept:
        return join_left_over(table, kept, left_over, joining)
    whole = table.start(positions[0])
    for position in positions[1:]:
        whole = table.join(whole, position)
    return ([whole], []) if table.is_complete(whole) else ([], list(positions))


def most_diverse(table: DiverseTable, reference: int, remaining: Sequence[int]) -> int:
    """The remaining record most diverse from the reference; the first of several (``max`` keeps it)."""
    return max(remaining, key=lambda position: table.diversity(position, reference))


def grow(table: DiverseTable, group: Group, remaining: list[int]) -> Group:
    """Add records, taking them from ``remaining``, until the group is complete or no new person remains."""
    while not table.is_complete(group):
        present = {table.persons[member] for member in group.members}
        eligible = [position for position in remaining if table.persons[position] not in present]
        if not eligible:
            break
        position = cheapest(table, group, candidates(table, group, eligible))
        group = table.join(group, position)
        remaining.remove(position)
    return group


def candidates(table: DiverseTable, group: Group, eligible: Sequence[int]) -> list[int]:
    """The eligible records that serve the models best.

    Counting models: those that add most diversity, or all once the models hold. Other models: those that
    leave least lacking, which is nothing (0) wherever that can be had.
    """
    if not table.demands.are_counting:
        lacks = [table.lack(table.join(group, position)) for position in eligible]
        return [position for position, lack in zip(eligible, lacks, strict=True) if lack == min(lacks)]
    if table.models_hold(group):
        return list(eligible)
    added = [table.diversity_to(position, group) for position in eligible]
    return [position for position, diversity in zip(eligible, added, strict=True) if diversity == max(added)]


def cheapest(table: DiverseTable, group: Group, among: Sequence[int]) -> int:
    """The record with the least cost once joined; the first of several."""
    return min(among, key=lambda position: table.cost(table.join(group, position)))


def join_left_over(
    table: DiverseTable, groups: Sequence[Group], left_over: Sequence[int], joining: Joining
) -> tuple[list[Group], list[int]]:
    """Each record joins its best group, if the models still hold in any with it; otherwise it is withheld."""
    grown = list(groups)
    withheld: list[int] = []
    for position in left_over:
        joined = [table.join(group, position) for group in grown]
        fit = [number for number, group in enumerate(joined) if table.models_hold(group)]
        if not fit:
            withheld.append(position)
            continue
        prices = [joining_price(table, old, new, joining) for old, new in zip(grown, joined, strict=True)]
        best = min(fit, key=prices.__getitem__)
        grown[best] = joined[best]
    return grown, withheld


def joining_price(table: DiverseTable, old: Group, new: Group, joining: Joining) -> int:
    """Loss (size · cost) of the group with the record, less that without it if the increase is minimised."""
    loss = len(new.members) * table.cost(new)
    return loss if joining == "loss" else loss - len(old.members) * table.cost(old)


def greedy_pk(
    attributes: Sequence[Attribute],
    records: Sequence[Record],
    sensitive: Sequence[Sensitive],
    k: int,
    demands: Demands,
    seed: int,
    weights: Sequence[Fraction] | None = None,
    persons: Sequence[int] | None = None,
    joining: Joining = "increase",
) -> Clustering:
    """GreedyPKClustering over the whole table, limits ignored; positions are those of ``canonical_order``.

    ``weights`` of the sensitive attributes sum to 1. With ``persons``, k counts persons, and a group grows
    from persons it does not have yet.
    """
    table = table_of(attributes, records, sensitive, k, demands, weights, persons)
    everything = [list(range(len(records)))] if records else []
    return cluster_parts(table, everything, seed, joining)


def greedy_cpka(
    attributes: Sequence[Attribute],
    records: Sequence[Record],
    sensitive: Sequence[Sensitive],
    k: int,
    demands: Demands,
    seed: int,
    weights: Sequence[Fraction] | None = None,
    persons: Sequence[int] | None = None,
    joining: Joining = "increase",
) -> Clustering:
    """GreedyPKClustering inside every cell that is not OUT, with the same seed in each.

    Cells come in order of first appearance in the canonical order. Default weights and the overall
    distribution are those of the whole microdata.
    """
    if any(isinstance(attribute, FreeAttribute) and attribute.width is not None for attribute in attributes):
        raise ValueError("a greatest width is not defined here.")
    table = table_of(attributes, records, sensitive, k, demands, weights, persons)
    who = None if persons is None else table.persons
    kept = [
        cell
        for cell in cells(attributes, table.records)
        if not is_out(cell, table.sensitive, k, demands.only_counting(), who)
    ]
    return cluster_parts(table, kept, seed, joining)


def table_of(
    attributes: Sequence[Attribute],
    records: Sequence[Record],
    sensitive: Sequence[Sensitive],
    k: int,
    demands: Demands,
    weights: Sequence[Fraction] | None,
    persons: Sequence[int] | None,
) -> DiverseTable:
    """The table in canonical order; without persons every record is one."""
    order = canonical_order(records, sensitive, persons)
    return DiverseTable(
        records=[records[i] for i in order],
        persons=order if persons is None else [persons[i] for i in order],
        costs=Costs(attributes),
        sensitive=[sensitive[i] for i in order],
        weights=integer_weights(default_weights(sensitive) if weights is None else weights),
        demands=demands,
        k=k,
    )


def cluster_parts(table: DiverseTable, parts: Sequence[Sequence[int]], seed: int, joining: Joining) -> Clustering:
    """Cluster every part by itself; what no group holds is withheld."""
    groups = [group.members for part in parts for group in cluster(table, part, seed, joining)[0]]
    released = {position for group in groups for position in group}
    return Clustering(tuple(groups), tuple(p for p in range(len(table.records)) if p not in released))


# ---- OUT -------------------------------------------------------------------------------------------------


def is_out(
    cell: Sequence[int], sensitive: Sequence[Sensitive], k: int, counting: Demands, persons: Sequence[int] | None
) -> bool:
    """Whether no group of the cell's records can have k records (persons) and satisfy the counting models."""
    return not (is_large_enough(cell, k, persons) and counting.hold([sensitive[i] for i in cell]))


def out_records(
    attributes: Sequence[Attribute],
    records: Sequence[Record],
    sensitive: Sequence[Sensitive],
    k: int,
    demands: Demands,
    persons: Sequence[int] | None = None,
) -> list[int]:
    """OUT: numbers of the records whose cell is too small or fails a counting model, ascending."""
    counting = demands.only_counting()
    out = [cell for cell in cells(attributes, records) if is_out(cell, sensitive, k, counting, persons)]
    return sorted(number for cell in out for number in cell)
