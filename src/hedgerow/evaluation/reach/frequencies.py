"""Attributes whose values are not equally likely: how likely every combination of them is.

Combinations that are equally likely are one entry with their number, so that many alike attributes cost little: twelve
attributes of two values have 4,096 combinations, but no more than 13 different chances.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

import numpy as np

from hedgerow.evaluation.reach.cells import CellProbabilities, usage
from hedgerow.outside.intake import read_bytes

MOST_CHANCES = 100_000
"""Different chances of combinations that are looked at."""
MOST_BYTES = 1 << 20
SUM_TO_1 = Fraction(1, 1000)
"""How far shares may be from 1 in sum, for they are rounded."""

Shares = tuple[Fraction, ...]


def shares_of(frequencies: Sequence[object]) -> Shares:
    """Return the share of every value of an attribute; whole numbers are taken for counts.

    Examples
    --------
    >>> shares_of(["0.5", "0.3", "0.2"]), shares_of([30, 10])
    ((Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), (Fraction(3, 4), Fraction(1, 4)))
    """
    try:
        given = [Fraction(Decimal(str(one).strip())) for one in frequencies]
    except (InvalidOperation, ValueError, OverflowError):
        raise usage("Frequencies must be numbers.", "write them like 0.5,0.3,0.2") from None
    if not given or any(one <= 0 for one in given):
        raise usage(
            "Frequencies must be above 0, at least one for every attribute.", "leave out values that nobody has"
        )
    total = sum(given, Fraction(0))
    counts = all(one.denominator == 1 for one in given)
    if not counts and abs(total - 1) > SUM_TO_1:
        message = f"The frequencies of an attribute sum to {float(total):g}, not to 1."
        raise usage(message, "give shares that sum to 1, or counts")
    return tuple(one / total for one in given)


def combined(attributes: Sequence[Shares]) -> CellProbabilities:
    """Return how likely the combinations of independent attributes are, those with equal chances together.

    Examples
    --------
    >>> found = combined([shares_of(["0.9", "0.1"])] * 2)
    >>> [round(share, 2) for share in found.shares.tolist()], found.times
    ([0.01, 0.09, 0.81], (1, 2, 1))
    """
    found: Counter[Fraction] = Counter({Fraction(1): 1})
    for shares in attributes:
        alike = Counter(shares)
        if len(found) * len(alike) > MOST_CHANCES * 4:
            raise _too_many()
        following: Counter[Fraction] = Counter()
        for chance, times in found.items():
            for share, number in alike.items():
                following[chance * share] += times * number
        if len(following) > MOST_CHANCES:
            raise _too_many()
        found = following
    ordered = sorted(found)
    return CellProbabilities(np.array([float(chance) for chance in ordered]), tuple(found[one] for one in ordered))


def read_frequencies(path: str | Path) -> list[list[str]]:
    """Read a file with a line of frequencies for every attribute; empty lines and those after ``#`` say nothing."""
    text = read_bytes(path, MOST_BYTES, "The frequencies").decode("utf-8-sig", "replace")
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    found = [line.replace(";", ",").split(",") for line in lines if line]
    if not found:
        raise usage("The file of frequencies is empty.", "write a line such as 0.5,0.3,0.2 for every attribute")
    return found


def rounds(attributes: Sequence[Shares]) -> Iterator[CellProbabilities]:
    """Give the combinations of the first attribute, of the first two, and so on."""
    for number in range(1, len(attributes) + 1):
        yield combined(attributes[:number])


def number_of_cells(attributes: Sequence[Shares]) -> int:
    """Return the number of combinations."""
    return math.prod(map(len, attributes))


def _too_many() -> Exception:
    message = f"The combinations have more than {MOST_CHANCES:,} different chances."
    return usage(message, "leave attributes out, or round their frequencies")
