"""Poisson numbers to full precision, and their laws when small counts are left out.

Multinomial counts are independent Poisson counts given their sum, so every question about cells that hold enough
records becomes one about Poisson numbers that leave some counts out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hedgerow.types import FloatArray

REACH = 12  # standard deviations that a law is written out for: what lies beyond is below 1e-30 of it


def stirling_error(count: int) -> float:
    """Return log(count!) minus Stirling's formula for it.

    Examples
    --------
    >>> round(stirling_error(1), 12), round(stirling_error(100), 12)
    (0.081061466795, 0.000833330556)
    """
    if count <= 15:
        return math.lgamma(count + 1) - (count + 0.5) * math.log(count) + count - 0.5 * math.log(2 * math.pi)
    square = float(count) ** 2
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / count


def deviance(count: float, rate: FloatArray) -> FloatArray:
    """Return count · log(count / rate) + rate − count, without cancellation where the two are near (Loader 2000).

    Examples
    --------
    >>> deviance(10.0, np.array([10.0, 20.0, 10.001])).round(12).tolist()
    [0.0, 3.068528194401, 4.9997e-08]
    """
    ratio = (count - rate) / (count + rate)
    near = np.abs(ratio) < 0.1
    small = np.where(near, ratio, 0.0)
    series = (count - rate) * small
    power = 2 * count * small
    for term in range(1, 12):
        power = power * small * small
        series = series + power / (2 * term + 1)
    return np.where(near, series, count * np.log(count / rate) + rate - count)


def log_mass(count: int, rate: FloatArray) -> FloatArray:
    """Return the log of the probability that a Poisson number is exactly ``count``.

    Examples
    --------
    >>> float(np.exp(log_mass(2, np.array([3.0])))[0])
    0.2240418076553...
    """
    if count == 0:
        return -rate
    return -stirling_error(count) - deviance(float(count), rate) - 0.5 * math.log(2 * math.pi * count)


def log_at_least(k: int, rate: FloatArray) -> FloatArray:
    """Return the log of the probability that a Poisson number is k or more.

    Examples
    --------
    >>> np.exp(log_at_least(5, np.array([1.0, 5.0, 50.0]))).round(12).tolist()
    [0.003659846827, 0.559506714935, 1.0]
    """
    if k == 0:
        return np.zeros_like(rate)
    low = rate < k
    term = np.ones_like(rate)
    total = np.ones_like(rate)
    up = np.where(low, rate, 0.0)  # sums upwards from k where that is short, and downwards from k − 1 elsewhere
    down = np.where(low, np.inf, rate)
    step = 0
    while bool((term > 1e-18 * total).any()):
        step += 1
        term = term * np.where(low, up / (k + step), max(k - step, 0) / down)
        total = total + term
    upper = log_mass(k, rate) + np.log(total)
    with np.errstate(invalid="ignore", divide="ignore"):
        lower = np.log1p(-np.exp(np.where(low, -np.inf, log_mass(k - 1, rate) + np.log(total))))
    return np.where(low, upper, lower)


@dataclass(frozen=True)
class GoodCounts:
    """Which numbers of records are good for a cell: k or more, and none at all if cells may be empty.

    Examples
    --------
    >>> good = GoodCounts(5, empty_allowed=True)
    >>> np.exp(good.log_probability(np.array([1.0]))).round(6).tolist(), good.mean(np.array([1.0])).round(6).tolist()
    ([0.371539], [0.051107])
    """

    k: int
    empty_allowed: bool

    def log_probability(self, rate: FloatArray) -> FloatArray:
        """Return the log of the probability that a Poisson number is good."""
        enough = log_at_least(self.k, rate)
        return np.logaddexp(-rate, enough) if self.empty_allowed else enough

    def mean(self, rate: FloatArray) -> FloatArray:
        """Return the mean of a Poisson number given that it is good."""
        return rate * np.exp(log_at_least(self.k - 1, rate) - self.log_probability(rate))

    def law(self, rate: float, up_to: int = 0) -> Law:
        """Return the law of a Poisson number given that it is good, up to a number even if it is improbable."""
        peak = max(self.k, math.floor(rate))
        span = math.ceil(REACH * math.sqrt(max(peak, rate)) + 60)
        above = np.arange(peak + 1, max(peak + span, up_to) + 1, dtype=np.int64)
        below = np.arange(peak, max(self.k, peak - span), -1, dtype=np.int64)
        rising = np.cumsum(np.log1p((rate - above) / above))  # logs of the ratios to the probability of the peak
        falling = np.cumsum(np.log1p((below - rate) / rate))
        counts = np.concatenate([below[::-1] - 1, [peak], above])
        logs = np.concatenate([falling[::-1], [0.0], rising])
        if self.empty_allowed:
            none = -(float(log_mass(peak, np.array([rate]))[0]) + rate)
            counts, logs = np.append(0, counts), np.append(none, logs)
        shares = np.exp(logs - logs.max())
        kept = shares > 1e-300  # what is too improbable for a number, such as none at all, is left out
        return Law(counts[kept], shares[kept] / shares[kept].sum())


@dataclass(frozen=True, eq=False)
class Law:
    """Counts, ascending, and their probabilities."""

    counts: npt.NDArray[np.int64]
    shares: FloatArray

    @property
    def likeliest(self) -> int:
        """The most probable count."""
        return int(self.counts[np.argmax(self.shares)])

    @cached_property
    def cumulants(self) -> tuple[float, float, float, float]:
        """Mean, variance, third and fourth cumulant of the count."""
        mean = self.likeliest + float(self.shares @ (self.counts - self.likeliest))
        off = self.counts - mean
        second, third, fourth = (float(self.shares @ off**power) for power in (2, 3, 4))
        return mean, second, third, fourth - 3 * second**2

    def log_moment(self, slope: float) -> float:
        """Return the log of the mean of exp(slope · (count − the likeliest count))."""
        logs = slope * (self.counts - self.likeliest) + np.log(self.shares)
        most = float(logs.max())
        return most + math.log(float(np.exp(logs - most).sum()))
