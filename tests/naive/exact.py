"""The least that any groups of a few records lose: all ways to divide them are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

Group = tuple[int, ...]


def groupings(items: Group, may: Callable[[Group], bool]) -> Iterator[list[Group]]:
    """All ways to divide some records into groups that may stand."""
    if not items:
        yield []
        return
    first, others = items[0], items[1:]
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            group = (first, *chosen)
            if may(group):
                rest = tuple(item for item in others if item not in chosen)
                for more in groupings(rest, may):
                    yield [group, *more]


def least_loss(items: Sequence[int], may: Callable[[Group], bool], cost: Callable[[Group], int]) -> int | None:
    """Least of Σ size × cost over all groupings; None if there is none. Each group is looked at once."""
    allowed: dict[Group, bool] = {}
    costs: dict[Group, int] = {}

    def may_once(group: Group) -> bool:
        if group not in allowed:
            allowed[group] = may(group)
        return allowed[group]

    def lost(group: Group) -> int:
        if group not in costs:
            costs[group] = len(group) * cost(group)
        return costs[group]

    return min((sum(map(lost, groups)) for groups in groupings(tuple(items), may_once)), default=None)
