"""Greedy k-member clustering by plain scans (Byun et al. 2007).

Canonical order: records sorted as tuples of codes (then by person, if persons are given); equal ones keep
their arrival order. Ties between records go to the first in canonical order, ties between groups to the
lowest group number (groups are numbered as they are made).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .attributes import Box, Record
from .costs import Costs


@dataclass(frozen=True)
class Group:
    """Members in the order they joined, and their box."""

    members: tuple[int, ...]
    box: Box


@dataclass(frozen=True, eq=False)
class Table:
    """Records in canonical order, the person of each, and what boxes of them cost."""

    records: Sequence[Record]
    persons: Sequence[int]
    costs: Costs

    def start(self, position: int) -> Group:
        return Group((position,), self.costs.box([self.records[position]]))

    def join(self, group: Group, position: int) -> Group:
        return Group((*group.members, position), self.costs.widen(group.box, self.records[position]))

    def cost(self, group: Group) -> int:
        return self.costs.cost(group.box)

    def distance(self, one: int, other: int) -> int:
        return self.costs.distance(self.records[one], self.records[other])

    def distinct_persons(self, positions: Sequence[int]) -> int:
        return len({self.persons[position] for position in positions})


def canonical_order(records: Sequence[Record], persons: Sequence[int] | None = None) -> list[int]:
    """Arrival numbers of the records, in canonical order."""
    if persons is None:
        return sorted(range(len(records)), key=lambda i: records[i])
    return sorted(range(len(records)), key=lambda i: (records[i], persons[i]))


def greedy_k_member(
    records: Sequence[Record],
    costs: Costs,
    k: int,
    seed: int,
    persons: Sequence[int] | None = None,
) -> list[list[int]]:
    """Groups as lists of positions in the canonical order, each in the order its members joined.

    The record at position ``seed mod n`` is the first reference point and is not removed. With
    ``persons``, k counts persons: groups are started while k distinct persons remain and grown from
    persons they do not have yet; records left over join any group.
    """
    order = canonical_order(records, persons)
    who = order if persons is None else [persons[i] for i in order]
    table = Table([records[i] for i in order], who, costs)
    remaining = list(range(len(order)))
    if table.distinct_persons(remaining) < k:
        raise ValueError("there must be at least 'k' records (or persons) to cluster.")

    groups: list[Group] = []
    reference = seed % len(order)
    while table.distinct_persons(remaining) >= k:
        reference = furthest(table, reference, remaining)
        group = table.start(reference)
        remaining.remove(reference)
        while len(group.members) < k:
            position = cheapest(table, group, remaining)
            group = table.join(group, position)
            remaining.remove(position)
        groups.append(group)
    for position in remaining:
        number = least_grown(table, groups, position)
        groups[number] = table.join(groups[number], position)
    return [list(group.members) for group in groups]


def furthest(table: Table, reference: int, remaining: Sequence[int]) -> int:
    """The remaining record furthest from the reference; the first of several (``max`` keeps it)."""
    return max(remaining, key=lambda position: table.distance(reference, position))


def cheapest(table: Table, group: Group, remaining: Sequence[int]) -> int:
    """The remaining record of a new person with the least cost once joined; the first of several."""
    present = {table.persons[member] for member in group.members}
    allowed = [position for position in remaining if table.persons[position] not in present]
    return min(allowed, key=lambda position: table.cost(table.join(group, position)))


def least_grown(table: Table, groups: Sequence[Group], position: int) -> int:
    """Number of the group whose loss, size · cost, grows least by the record; the lowest of several."""

    def growth(number: int) -> int:
        group = groups[number]
        size = len(group.members)
        return (size + 1) * table.cost(table.join(group, position)) - size * table.cost(group)

    return min(range(len(groups)), key=growth)
