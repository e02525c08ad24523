"""Sets of values in place of a node: what they are, what they cost, and how values are dealt where a set is limited."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product


def label(values: Iterable[str]) -> str:
    """The different values, in order."""
    return "|".join(sorted(set(values)))


def lost(objective: str, size: int, domain: int) -> Fraction:
    """What a value loses in a set of so many, in a column that has so many."""
    if objective == "ncp":
        return Fraction(size, domain) if size > 1 else Fraction(0)
    return Fraction(size - 1, domain - 1) if domain > 1 else Fraction(0)


def mean_lost(objective: str, groups: Sequence[Sequence[str]]) -> Fraction:
    """Mean over all records."""
    everybody = [value for group in groups for value in group]
    domain = len(set(everybody))
    total = sum(len(group) * lost(objective, len(set(group)), domain) for group in groups)
    return Fraction(total) / len(everybody)


def most_kept(people: Sequence[int], most: int, k: int) -> int:
    """How many people bundles of so many values can hold at most, each with k of them: all ways are tried."""
    best = 0
    for bundle_of in product(range(-1, len(people)), repeat=len(people)):
        bundles = [[i for i, at in enumerate(bundle_of) if at == b] for b in set(bundle_of) - {-1}]
        if all(len(b) <= most and sum(people[i] for i in b) >= k for b in bundles):
            best = max(best, sum(people[i] for b in bundles for i in b))
    return best
