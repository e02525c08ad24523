"""Households that are published linked: matching members, grouping, counting who is alike, and an attacker.

A household is a list of its members' records. All of it is in plain loops, from the definitions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from .attributes import Attribute, Record
from .constrained import greedy_cka
from .costs import Costs
from .k_member import canonical_order

Member = TypeVar("Member", bound=Hashable)
Household = tuple[Record, ...]
PASSES = 2


def members_in_order(attributes: Sequence[Attribute], members: Sequence[Record], places: Sequence[int]) -> Household:
    """Order members by what limits keep apart, each limit named by its least code; ``places`` are the attributes'."""

    def least(attribute: Attribute, code: int) -> int:
        return next(one for one in range(code + 1) if attribute.cell(one) == attribute.cell(code))

    def key(member: Record) -> list[int]:
        return [least(attribute, member[place]) for attribute, place in zip(attributes, places, strict=True)]

    return tuple(sorted(members, key=key))


def cluster_households(
    wide_of: Callable[[int], tuple[Sequence[Attribute], Callable[[Household], Record]]],
    households: Sequence[Household],
    k: int,
    seed: int,
) -> tuple[list[list[Household]], list[Household]]:
    """Greedy k-member clustering of the households of each size: groups, and the households that are withheld.

    ``wide_of`` gives, for a size, the attributes of all members and what lays a household out as one record of them.
    """
    groups: list[list[Household]] = []
    withheld: list[Household] = []
    for size in sorted({len(household) for household in households}):
        attributes, lay_out = wide_of(size)
        those = [household for household in households if len(household) == size]
        records = [lay_out(household) for household in those]
        order = canonical_order(records)
        found = greedy_cka(attributes, records, k, seed)
        groups += [[those[order[position]] for position in sorted(group)] for group in found.groups]
        withheld += [those[order[position]] for position in found.withheld]
    return groups, withheld


def match(attributes: Sequence[Attribute], group: Sequence[Household]) -> list[Household]:
    """Swap members of one household after the other as long as the group loses less; nobody leaves their limits."""
    costs = Costs(attributes)
    matched = [list(household) for household in group]
    size = len(matched[0])
    for _ in range(PASSES):
        moved = False
        for turn, household in enumerate(matched):
            others = [matched[i] for i in range(len(matched)) if i != turn]

            def cost(place: int, member: Record, others: list[list[Record]] = others) -> int:
                return costs.cost(costs.box([*(other[place] for other in others), member]))

            for _ in range(size):
                swapped = False
                for one in range(size):
                    for other in range(one + 1, size):
                        a, b = household[one], household[other]
                        cells = [tuple(c.cell(code) for c, code in zip(attributes, m, strict=True)) for m in (a, b)]
                        if cells[0] != cells[1]:
                            continue
                        if cost(one, b) + cost(other, a) < cost(one, a) + cost(other, b):
                            household[one], household[other] = b, a
                            swapped = moved = True
                if not swapped:
                    break
        if not moved:
            break
    return [tuple(household) for household in matched]


def kinds(units: Sequence[Hashable], published: Sequence[Member]) -> dict[tuple[tuple[Member, int], ...], int]:
    """Count households by the multiset of what their members are published as."""
    members: dict[Hashable, list[Member]] = defaultdict(list)
    for unit, row in zip(units, published, strict=True):
        members[unit].append(row)
    counted = Counter(frozenset(Counter(rows).items()) for rows in members.values())
    return {tuple(sorted(kind, key=repr)): count for kind, count in counted.items()}


def values_by_member(
    units: Sequence[Hashable], published: Sequence[Member], sensitive: Sequence[Hashable]
) -> list[list[Hashable]]:
    """Return the sensitive values of each published member of each kind of household."""
    members: dict[Hashable, list[tuple[Member, Hashable]]] = defaultdict(list)
    for unit, row, value in zip(units, published, sensitive, strict=True):
        members[unit].append((row, value))
    found: dict[Hashable, list[Hashable]] = defaultdict(list)
    for rows in members.values():
        kind = frozenset(Counter(row for row, _ in rows).items())
        for row, value in rows:
            found[kind, row].append(value)
    return list(found.values())


def candidates(
    known: Sequence[Member], households: Sequence[Sequence[Member]], covers: Callable[[Member, Member], bool]
) -> int:
    """Count the published households in which every known member can be somebody of their own, and nobody is left over."""
    return sum(len(shown) == len(known) and _can_be(known, shown, covers) for shown in households)


def _can_be(known: Sequence[Member], shown: Sequence[Member], covers: Callable[[Member, Member], bool]) -> bool:
    """Tell whether all who are known can be paired with somebody who is shown, one each (augmenting paths)."""
    taken: dict[int, int] = {}

    def place(person: int, seen: set[int]) -> bool:
        for spot in range(len(shown)):
            if spot not in seen and covers(known[person], shown[spot]):
                seen.add(spot)
                if spot not in taken or place(taken[spot], seen):
                    taken[spot] = person
                    return True
        return False

    return all(place(person, set()) for person in range(len(known)))
