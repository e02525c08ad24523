"""How much columns of mixed kinds tell about each other, and weights from it.

A column is a list of values, None if missing. Missing is a category of its own among categories; where a number
is missing, the record is left out of the pair. Squares are exact fractions; the root is taken last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import sqrt

from .attributes import Number

LEAST_WEIGHT = 0.01
DECIMALS = 6


def cramers_v(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """Cramér's V with Bergsma's (2013) correction of its bias; 0 where that leaves nothing to divide by."""
    n = len(one)
    rows, columns = Counter(one), Counter(other)
    if len(rows) < 2 or len(columns) < 2:
        return 0.0
    pairs = Counter(zip(one, other, strict=True))
    phi_squared = sum((Fraction(pairs[x, y] ** 2, rows[x] * columns[y]) for x, y in pairs), Fraction(-1))
    r, c = len(rows), len(columns)
    phi_squared = max(Fraction(0), phi_squared - Fraction((r - 1) * (c - 1), n - 1))
    smaller = min(size - 1 - Fraction((size - 1) ** 2, n - 1) for size in (r, c))
    return sqrt(phi_squared / smaller) if smaller > 0 else 0.0


def correlation_ratio(numbers: Sequence[Number | None], labels: Sequence[Hashable]) -> float:
    """η: root of the sum of squares between the labels over the total one; 0 if that is 0."""
    groups: dict[Hashable, list[Fraction]] = {}
    for number, label in zip(numbers, labels, strict=True):
        if number is not None:
            groups.setdefault(label, []).append(Fraction(number))
    everything = [number for group in groups.values() for number in group]
    total = squares_around_mean(everything)
    within = sum((squares_around_mean(group) for group in groups.values()), Fraction(0))
    return sqrt((total - within) / total) if total else 0.0


def spearman(one: Sequence[Number | None], other: Sequence[Number | None]) -> float:
    """|Pearson's correlation| of average ranks; 0 if either is constant."""
    pairs = [(x, y) for x, y in zip(one, other, strict=True) if x is not None and y is not None]
    xs, ys = average_ranks([x for x, _ in pairs]), average_ranks([y for _, y in pairs])
    spread = squares_around_mean(xs) * squares_around_mean(ys)
    if not spread:
        return 0.0
    middle = Fraction(len(pairs) + 1, 2)
    together = sum(((x - middle) * (y - middle) for x, y in zip(xs, ys, strict=True)), Fraction(0))
    return sqrt(together**2 / spread)


def average_ranks(numbers: Sequence[Number]) -> list[Fraction]:
    """Rank of every number from 1; equal ones share the mean of their ranks."""
    return [
        Fraction(2 * sum(y < x for y in numbers) + sum(y == x for y in numbers) + 1, 2)  # lower + (equal + 1) / 2
        for x in numbers
    ]


def squares_around_mean(numbers: Sequence[Fraction]) -> Fraction:
    """Sum of squared differences from the mean."""
    if not numbers:
        return Fraction(0)
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return sum(((number - mean) ** 2 for number in numbers), Fraction(0))


Values = Sequence[Hashable | None]


def association(one: Values, one_is_numeric: bool, other: Values, other_is_numeric: bool) -> float:
    """Association of two columns, in [0, 1]."""
    if one_is_numeric and other_is_numeric:
        return spearman(one, other)  # type: ignore[arg-type]
    if one_is_numeric:
        return correlation_ratio(one, other)  # type: ignore[arg-type]
    if other_is_numeric:
        return correlation_ratio(other, one)  # type: ignore[arg-type]
    return cramers_v(one, other)


def association_matrix(columns: Sequence[Values], numeric: Sequence[bool]) -> list[list[float]]:
    """Association of every pair; 1 on the diagonal."""
    places = range(len(columns))
    return [
        [1.0 if x == y else association(columns[x], numeric[x], columns[y], numeric[y]) for y in places] for x in places
    ]


def association_weights(columns: Sequence[Values], numeric: Sequence[bool]) -> list[float]:
    """1 less the mean association with the other columns, at least 0.01, normalized to 1, to 6 decimals."""
    matrix = association_matrix(columns, numeric)
    if len(columns) == 1:
        return [1.0]
    raw = [
        max(LEAST_WEIGHT, 1 - sum(row[:place] + row[place + 1 :]) / (len(columns) - 1))
        for place, row in enumerate(matrix)
    ]
    return [round(weight / sum(raw), DECIMALS) for weight in raw]
