"""Risk in samples by its definition: sums, record by record (Benedetti and Franconi 1998)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from math import factorial


def frequencies(records: Sequence[Hashable], weights: Sequence[float]) -> tuple[list[int], list[float]]:
    """Of every record: how many agree with it, and how many people these stand for."""
    count: dict[Hashable, int] = defaultdict(int)
    people: dict[Hashable, float] = defaultdict(float)
    for record, weight in zip(records, weights, strict=True):
        count[record] += 1
        people[record] += weight
    return [count[record] for record in records], [people[record] for record in records]


def individual_risk(records: int, people: float, least: float = 1e-18) -> float:
    """The posterior mean of 1/F: over h from f on, C(h − 1, f − 1)·π^f·(1 − π)^(h − f)/h."""
    chance = min(1.0, records / people)
    total, number, term = 0.0, records, chance**records
    while term / number > least * total or number < people:
        total += term / number
        term *= (1 - chance) * number / (number - records + 1)
        number += 1
    return total


def household_risk(risks: Sequence[float]) -> float:
    """The chance that at least one of a household is found."""
    nobody = 1.0
    for risk in risks:
        nobody *= 1 - risk
    return 1 - nobody


def score(smallest_sizes: Sequence[int], columns: int) -> int:
    """SUDA2's score of somebody whom smallest combinations of these sizes single out, among so many columns."""
    return sum(factorial(columns - size) for size in smallest_sizes)


def chance_that_a_unique_match_is_right(unique: int, in_pairs: int, fraction: float) -> float:
    """Skinner and Elliot (2002), from how many are unique in a sample and how many are in pairs."""
    return unique * fraction / (unique * fraction + in_pairs * (1 - fraction))


def dis_scores(scores: Sequence[int], unique: int, in_pairs: int, columns: int, fraction: float) -> list[float]:
    """The chance, shared out by the scores of the records."""
    right = chance_that_a_unique_match_is_right(unique, in_pairs, fraction)
    power = 1 + (8 - columns) / 20
    whole = sum(one**-power for one in scores if one)
    found = []
    for one in scores:
        wrong = unique / right - unique if one else 0.0
        found.append(1 / (1 + wrong / (one**power * whole)) if one else 0.0)
    return found
