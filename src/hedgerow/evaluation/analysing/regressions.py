"""Linear and logistic regression with weights, and how far the intervals of two of them overlap.

A few dozen lines of linear algebra: all that is wanted are coefficients and their standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
NORMAL = 1.959963984540054  # of a standard normal variable, 2.5 % lie beyond
MOST_STEPS = 50
CLOSE = 1e-10


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients and their standard errors."""

    coefficients: Floats
    errors: Floats

    @property
    def intervals(self) -> Floats:
        """Lower and upper ends of the 95 % confidence intervals."""
        reach = NORMAL * self.errors
        return np.stack([self.coefficients - reach, self.coefficients + reach], axis=1)


def linear(design: Floats, outcome: Floats, weights: Floats | None = None) -> Fit:
    """Fit least squares; weights count as those of a sample, scaled to the number of rows.

    Examples
    --------
    >>> x = np.array([0.0, 1, 2, 3])
    >>> linear(np.stack([np.ones(4), x], axis=1), 1 + 2 * x + np.array([1, -1, -1, 1])).coefficients.round(6).tolist()
    [1.0, 2.0]
    """
    weights = _scaled(weights, len(outcome))
    root = np.sqrt(weights)
    solved, *_ = np.linalg.lstsq(design * root[:, None], outcome * root, rcond=None)
    rest = outcome - design @ solved
    free = max(len(outcome) - design.shape[1], 1)
    spread = float((weights * rest * rest).sum() / free)
    inverse = np.linalg.pinv((design * weights[:, None]).T @ design)
    return Fit(solved, np.sqrt(np.maximum(np.diag(inverse), 0) * spread))


def logistic(design: Floats, outcome: Floats, weights: Floats | None = None) -> Fit:
    """Fit by maximum likelihood (Newton's method); the outcome is 0 or 1."""
    weights = _scaled(weights, len(outcome))
    found: Floats = np.zeros(design.shape[1])
    inverse: Floats = np.zeros((design.shape[1],) * 2)
    for _ in range(MOST_STEPS):
        chance = chances(design, found)
        curvature = weights * np.maximum(chance * (1 - chance), 1e-9)
        inverse = np.linalg.pinv((design * curvature[:, None]).T @ design)
        step = inverse @ (design.T @ (weights * (outcome - chance)))
        longest = float(np.abs(step).max(initial=0))
        found = found + step * min(1.0, 5.0 / max(longest, 1e-12))
        if longest < CLOSE:
            break
    return Fit(found, np.sqrt(np.maximum(np.diag(inverse), 0)))


def chances(design: Floats, coefficients: Floats) -> Floats:
    """The chance of 1 that a logistic regression gives every row."""
    return 1 / (1 + np.exp(-np.clip(design @ coefficients, -35, 35)))


def overlaps(one: Fit, other: Fit) -> Floats:
    """How much of the confidence intervals of two fits overlaps (Karr et al. 2006): 1 if they are equal, 0 if apart."""
    a, b = one.intervals, other.intervals
    shared = np.minimum(a[:, 1], b[:, 1]) - np.maximum(a[:, 0], b[:, 0])
    wide = np.stack([a[:, 1] - a[:, 0], b[:, 1] - b[:, 0]])
    shares = np.where(wide > 0, shared / np.where(wide > 0, wide, 1), (shared >= 0).astype(np.float64))
    found: Floats = np.clip(shares.mean(axis=0), 0, 1)
    return found


def _scaled(weights: Floats | None, rows: int) -> Floats:
    return np.ones(rows) if weights is None else weights * (rows / weights.sum())
