"""Means and medians of groups, as fractions, rounded once: a half to even."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def figure(name: str, numbers: Sequence[Fraction], decimals: int) -> Fraction:
    """What a group of numbers is published as."""
    if name == "mean":
        return rounded(sum(numbers, Fraction(0)) / len(numbers), decimals)
    ordered = sorted(numbers)
    return rounded((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2, decimals)


def rounded(number: Fraction, decimals: int) -> Fraction:
    """The nearest multiple of 10^−decimals; of two, the even one."""
    up = number * 10**decimals
    below = up.numerator // up.denominator
    nearest = min((below, below + 1), key=lambda whole: (abs(up - whole), whole % 2))
    return Fraction(nearest, 10**decimals)
