"""How closely columns go together, and the weights that follow: who is told by the others weighs less (Morton 2013).

Two columns of labels: Cramér's V with Bergsma's correction for bias. A column of numbers and one of labels: the
correlation ratio η. Two columns of numbers: the absolute value of Spearman's rank correlation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.microdata import FreeColumn, Microdata
from hedgerow.outside.notebook import html_table
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy.numbers import counted_as

Floats = npt.NDArray[np.float64]
LEAST_WEIGHT = 0.01
DECIMALS = 6


@dataclass(frozen=True, eq=False)
class Association:
    """How closely quasi-identifiers go together.

    Attributes
    ----------
    names
        The columns.
    in_numbers
        Which of them are numbers; the others are labels.
    matrix
        Between 0 and 1 for every pair.
    weights
        Weight of every column, the greater the less it goes with the others; they sum to 1.
    """

    names: tuple[str, ...]
    in_numbers: tuple[bool, ...]
    matrix: Floats
    weights: tuple[float, ...]

    def by_name(self) -> dict[str, float]:
        """Weight of every column, by its name."""
        return dict(zip(self.names, self.weights, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "columns": list(self.names),
            "numeric": dict(zip(self.names, self.in_numbers, strict=True)),
            "association": [[round(float(cell), DECIMALS) for cell in row] for row in self.matrix],
            "weights": self.by_name(),
        }

    def _repr_html_(self) -> str:
        rows = (
            (name, weight, *map(float, row))
            for name, weight, row in zip(self.names, self.weights, self.matrix, strict=True)
        )
        return html_table("How closely quasi-identifiers go together", ("", "weight", *self.names), rows)


def associate(microdata: Microdata, plan: Plan) -> Association:
    """Measure how closely the quasi-identifiers of microdata go together."""
    in_numbers = [plan.attributes[column.name].in_numbers for column in microdata.columns]
    codes = [microdata.codes(position).astype(np.int64) for position in range(len(microdata.columns))]
    numbers = [
        _numbers(column) if number else None for column, number in zip(microdata.columns, in_numbers, strict=True)
    ]
    counts = microdata.counts
    matrix = np.eye(len(codes))
    for i in range(len(codes)):
        for j in range(i):
            one, other = numbers[i], numbers[j]
            if one is not None and other is not None:
                close = rank_correlation(one[codes[i]], other[codes[j]], counts)
            elif one is not None:
                close = correlation_ratio(one[codes[i]], codes[j], counts)
            elif other is not None:
                close = correlation_ratio(other[codes[j]], codes[i], counts)
            else:
                close = cramers_v(codes[i], codes[j], counts)
            matrix[i, j] = matrix[j, i] = close
    names = tuple(column.name for column in microdata.columns)
    return Association(names, tuple(in_numbers), matrix, weights_of(matrix))


def weights_of(matrix: Floats) -> tuple[float, ...]:
    """Weigh columns: one minus their mean association with the others, normalized to 1.

    Examples
    --------
    >>> weights_of(np.array([[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1.0]]))
    (0.272727, 0.272727, 0.454545)
    """
    columns = len(matrix)
    if columns == 1:
        return (1.0,)
    apart = 1 - (matrix.sum(axis=1) - matrix.diagonal()) / (columns - 1)
    apart = np.maximum(np.round(apart, 12), LEAST_WEIGHT)
    return tuple(round(float(share), DECIMALS) for share in apart / apart.sum())


def cramers_v(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> float:
    """Cramér's V of two columns of codes, corrected for bias (Bergsma 2013).

    Examples
    --------
    >>> cramers_v(np.array([0, 1]), np.array([0, 1]), np.array([50, 50]))
    1.0
    """
    rows, one = np.unique(one, return_inverse=True)
    columns, other = np.unique(other, return_inverse=True)
    r, c, n = len(rows), len(columns), int(counts.sum())
    if r < 2 or c < 2 or n < 2:
        return 0.0
    cells, where = np.unique(one * c + other, return_inverse=True)
    seen = np.bincount(where, weights=counts)
    by_row, by_column = np.bincount(one, weights=counts), np.bincount(other, weights=counts)
    square = float((seen * (seen / (by_row[cells // c] * by_column[cells % c]))).sum()) - 1  # χ² / n
    corrected = max(0.0, square - (r - 1) * (c - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min(1.0, float(np.sqrt(corrected / least))) if least > 0 else 0.0


def correlation_ratio(numbers: Floats, codes: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> float:
    """Share of the spread of numbers that the codes explain, as its square root η; NaN is left out."""
    known = ~np.isnan(numbers)
    numbers, codes, counts = numbers[known], codes[known], counts[known]
    if not len(numbers) or numbers.min() == numbers.max():
        return 0.0
    numbers = numbers - numbers.min()
    mean = np.average(numbers, weights=counts)
    whole = float((counts * (numbers - mean) ** 2).sum())
    if whole <= 0:
        return 0.0
    _, group = np.unique(codes, return_inverse=True)
    sizes = np.bincount(group, weights=counts)
    means = np.bincount(group, weights=counts * numbers) / sizes
    return min(1.0, float(np.sqrt((sizes * (means - mean) ** 2).sum() / whole)))


def rank_correlation(one: Floats, other: Floats, counts: npt.NDArray[np.int64]) -> float:
    """|Spearman| of two columns of numbers, equal ones sharing their mean rank; NaN is left out."""
    known = ~(np.isnan(one) | np.isnan(other))
    counts = counts[known]
    if not len(counts) or one[known].min() == one[known].max() or other[known].min() == other[known].max():
        return 0.0
    one, other = _ranks(one[known], counts), _ranks(other[known], counts)
    one, other = one - np.average(one, weights=counts), other - np.average(other, weights=counts)
    spread = float((counts * one**2).sum()) * float((counts * other**2).sum())
    return min(1.0, abs(float((counts * one * other).sum())) / float(np.sqrt(spread))) if spread > 0 else 0.0


def _ranks(numbers: Floats, counts: npt.NDArray[np.int64]) -> Floats:
    """Mean rank of every number, each standing for so many records."""
    _, group = np.unique(numbers, return_inverse=True)
    sizes = np.bincount(group, weights=counts)
    ranks: Floats = (np.cumsum(sizes) - (sizes - 1) / 2)[group]
    return ranks


def _numbers(column: Any) -> Floats:
    """Number of every code; NaN where it is none."""
    if isinstance(column, FreeColumn):
        numbers = column.intervals.scaled.astype(np.float64)
        return np.append(numbers, np.nan) if column.has_missing else numbers
    parsed = [counted_as(leaf) for leaf in column.hierarchy.leaves]
    return np.array([np.nan if number is None else float(number) for number in parsed])
