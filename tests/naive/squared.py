"""Squared error within groups by distances of pairs, MDAV by plain loops, and the least error there is.

The sum of squared distances of records to the centre of their group is that of all its pairs over its size, so all
that is needed is how far two records are apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import sqrt

from .trees import Tree

Group = tuple[int, ...]
Apart = Callable[[int, int], float]


def numbers_apart(values: Sequence[float | None]) -> Apart:
    """Squared distance of standardized numbers; a missing one lies at their mean, and 1 further from all of them."""
    known = [value for value in values if value is not None]
    mean = sum(known) / max(len(known), 1)
    spread = sqrt(sum((value - mean) ** 2 for value in known) / max(len(known), 1))

    def place(value: float | None) -> float:
        return 0.0 if value is None or spread == 0 else (value - mean) / spread

    def apart(i: int, j: int) -> float:
        one, other = values[i], values[j]
        return (place(one) - place(other)) ** 2 + ((one is None) != (other is None))

    return apart


def leaves_apart(values: Sequence[str], tree: Tree) -> Apart:
    """Height of the lowest common ancestor over that of the tree."""

    def apart(i: int, j: int) -> float:
        if values[i] == values[j]:
            return 0.0
        return tree.height(tree.lca([values[i], values[j]])) / max(tree.height(tree.root), 1)

    return apart


def error_of(group: Group, aparts: Sequence[tuple[float, Apart]]) -> float:
    """Squared error of a group: over the columns, weighted."""
    return sum(weight * apart(i, j) / len(group) for weight, apart in aparts for i, j in combinations(sorted(group), 2))


def mdav(points: Sequence[Sequence[float]], k: int) -> list[list[int]]:
    """MDAV (Domingo-Ferrer and Torra 2005); ties go to the first record."""

    def squared(a: Sequence[float], b: Sequence[float]) -> float:
        total = 0.0
        for x, y in zip(a, b, strict=True):
            total += (x - y) * (x - y)
        return total

    def take(left: list[int], about: int) -> list[int]:
        nearest = sorted(left, key=lambda i: squared(points[i], points[about]))[:k]
        left[:] = [i for i in left if i not in nearest]
        return sorted(nearest)

    left, groups = list(range(len(points))), []
    while len(left) >= 2 * k:
        twice = len(left) >= 3 * k
        centre = [sum(points[i][j] for i in left) / len(left) for j in range(len(points[0]))]
        far = max(left, key=lambda i: squared(points[i], centre))
        groups.append(take(left, far))
        if twice:
            other = max(left, key=lambda i: squared(points[i], points[far]))
            groups.append(take(left, other))
    return [*groups, left] if left else groups
