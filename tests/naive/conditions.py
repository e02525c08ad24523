"""The two necessary conditions and the two checks of p-sensitive k-anonymity (Truta and Vinay 2006).

Both conditions are computed once on the initial microdata. They bind every release with at least one group
that is made from it by generalizing and then withholding, so Condition 2 speaks of the groups that are
*released*: of ``groups`` before withholding at most ``budget`` records, at least ``groups - budget`` are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .privacy import Sensitive, distinct_values, histogram

Frequencies = Sequence[Sequence[int]]
"""For every sensitive attribute, how often its values occur, most frequent first."""


def frequencies(sensitive: Sequence[Sensitive]) -> list[list[int]]:
    """Descending frequencies of every sensitive attribute; missing values are not counted."""
    places = range(len(sensitive[0])) if sensitive else ()
    return [sorted(histogram(row[place] for row in sensitive).values(), reverse=True) for place in places]


def max_p(found: Frequencies) -> int:
    """Condition 1: p is at most the least number of distinct values of a sensitive attribute."""
    return min(len(column) for column in found)


def greatest_cumulative(found: Frequencies, i: int) -> int:
    """cf_i: the greatest sum of the i largest frequencies of one attribute."""
    return max(sum(column[:i]) for column in found)


def max_groups(found: Frequencies, n: int, p: int) -> int:
    """Condition 2: at most min over i = 1..p−1 of ⌊(n − cf_{p−i}) / i⌋ groups; n if p asks for nothing."""
    return min([n, *((n - greatest_cumulative(found, p - i)) // i for i in range(1, p))])


def max_groups_by_attribute(found: Frequencies, n: int, ps: Sequence[int]) -> int:
    """Condition 2 when every attribute has its own p: the least of their bounds."""
    return min([n, *(max_groups([column], n, p) for column, p in zip(found, ps, strict=True))])


@dataclass(frozen=True)
class Check:
    """Whether a release is p-sensitive k-anonymous, and how often a group's distinct values were counted."""

    holds: bool
    scans: int


def check(groups: Sequence[Sequence[int]], sensitive: Sequence[Sensitive], k: int, p: int) -> Check:
    """Algorithm 1: k first, then p group by group and attribute by attribute, up to the first failure."""
    if any(len(group) < k for group in groups):
        return Check(False, 0)
    scans = 0
    for group in groups:
        for place in range(len(sensitive[0])):
            scans += 1
            if distinct_values([sensitive[i] for i in group], place) < p:
                return Check(False, scans)
    return Check(True, scans)


def check_with_conditions(groups: Sequence[Sequence[int]], sensitive: Sequence[Sensitive], k: int, p: int) -> Check:
    """Algorithm 2: both conditions on the initial microdata (all of ``sensitive``), then Algorithm 1."""
    found = frequencies(sensitive)
    if p > max_p(found) or len(groups) > max_groups(found, len(sensitive), p):
        return Check(False, 0)
    return check(groups, sensitive, k, p)
