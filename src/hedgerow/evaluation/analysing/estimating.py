"""Estimates from coarsened columns, between what they would be at least and at most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A figure from coarsened values.

    Attributes
    ----------
    value
        The figure if values spread evenly over what they are published as.
    at_least, at_most
        Between these it lies, wherever in their intervals the true values are: no assumption is made for that.
    unknown
        Share of the rows that say nothing of it, such as those published as ``*``. They are left out, of the bounds of
        a mean too; the bounds of a proportion count them as all out, and as all in.
    """

    value: float
    at_least: float
    at_most: float
    unknown: float = 0.0

    def __str__(self) -> str:
        said = f"{self.value:.6g}, between {self.at_least:.6g} and {self.at_most:.6g}"
        return said if not self.unknown else f"{said}; {self.unknown:.1%} of the rows say nothing of it"


def mean_between(low: Shares, high: Shares) -> Estimate:
    """Estimate a mean of values between given ends; an end that is not known is NaN.

    Examples
    --------
    >>> print(mean_between(np.array([30.0, 40, np.nan]), np.array([39.0, 49, np.nan])))
    39.5, between 35 and 44; 33.3% of the rows say nothing of it
    """
    known = ~np.isnan(low) & ~np.isnan(high)
    if not known.any():
        return Estimate(np.nan, np.nan, np.nan, 1.0 if len(known) else 0.0)
    low, high = low[known], high[known]
    return Estimate(float((low + high).mean() / 2), float(low.mean()), float(high.mean()), float(1 - known.mean()))


def proportion_of(shares: Shares) -> Estimate:
    """Estimate a proportion from the share of each row that lies within what is asked; NaN where nothing is known.

    Examples
    --------
    >>> print(proportion_of(np.array([1, 0.5, 0, 0])))
    0.375, between 0.25 and 0.5
    """
    known = ~np.isnan(shares)
    if not known.any():
        return Estimate(np.nan, 0.0, 1.0, 1.0 if len(known) else 0.0)
    unknown = float(1 - known.mean())
    certain = float((shares[known] >= 1).sum()) / len(shares)
    possible = float((shares[known] > 0).sum()) / len(shares) + unknown
    return Estimate(float(shares[known].mean()), certain, possible, unknown)
