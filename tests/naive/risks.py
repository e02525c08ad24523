"""Risks of being found, record by record (El Emam and Dankar 2008), with the table as the population.

A record has one risk: one over the people that it cannot be told from.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

STANDS_FOR = {"0.33": Fraction(1, 3), "0.09": Fraction(1, 11)}
"""Thresholds that are written rounded where they come from."""


def highest(alike: Sequence[int]) -> Fraction:
    """The greatest risk of a record; 0 if there is none."""
    return max((Fraction(1, people) for people in alike), default=Fraction(0))


def average(alike: Sequence[int]) -> Fraction:
    """The mean risk of the records: the share that somebody who matches them all finds."""
    return sum((Fraction(1, people) for people in alike), Fraction(0)) / len(alike) if alike else Fraction(0)


def share_above(alike: Sequence[int], threshold: str) -> Fraction:
    """The share of records whose risk is above a threshold."""
    limit = STANDS_FOR.get(threshold, Fraction(threshold))
    return Fraction(sum(Fraction(1, people) > limit for people in alike), len(alike)) if alike else Fraction(0)
