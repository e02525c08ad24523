"""The chance that n records reach k in every cell, computed and not simulated (Morton 2013, Table 12).

n records fall into cells with given probabilities, independently. What is the chance that every cell gets k of them, or
that every cell that gets any gets k?

*Method.* Given their sum, independent Poisson counts with rates λ·p are the multinomial counts, for any λ > 0. So

    P = Π P(X_i good) · P(Σ Y_i = n) / P(X = n)

with X_i Poisson of rate λ·p_i, Y_i = X_i given that it is good, and X Poisson of rate λ. λ is chosen such that the mean
of Σ Y_i is n; then the middle factor is the height of a law near its middle, and not a tail that rounding would
swallow (:mod:`hedgerow.evaluation.reach.sums` computes it). Everything is in logs, so a chance of 10⁻¹⁸⁷³⁸ is
as precise as one of ½. Cells with equal probabilities share a factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hedgerow.evaluation.reach.cells import CellProbabilities, whole_number
from hedgerow.evaluation.reach.poisson import GoodCounts, deviance, stirling_error
from hedgerow.evaluation.reach.sums import mass_of_sum

BY_COUNTING = "by counting"
BOUND = "upper bound"
MOST_RECORDS = 10**15


@dataclass(frozen=True)
class Chance:
    """The chance that every cell has k records.

    Attributes
    ----------
    empty_allowed
        Whether a cell may also have none.
    probability
        The chance; 0 if it is too small for a number.
    log10_probability
        Its logarithm, or None if the chance is nil.
    method
        How it was computed: ``by counting`` (nothing to compute), ``exact convolution``, ``characteristic function``,
        or ``saddlepoint`` for numbers of records so large that its error is below rounding. All are exact up to it.
    """

    cells: int
    k: int
    records: int
    empty_allowed: bool
    probability: float
    log10_probability: float | None
    method: str

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)


def chance_of_reaching(
    cells: int | Sequence[float] | CellProbabilities, records: int, k: int, *, empty_allowed: bool = False
) -> Chance:
    """Compute the chance that every cell has k or more of the records.

    Parameters
    ----------
    cells
        A number of equally likely cells, the probability of each cell, or probabilities with how many cells have each.
    records
        How many records fall into the cells, independently.
    k
        How many records a cell needs.
    empty_allowed
        Whether a cell without records is good too: the table as it stands is then k-anonymous.

    Examples
    --------
    >>> chance_of_reaching(2**3, 50, 3).probability
    0.69326076595...
    >>> chance_of_reaching(2**18, 2_000_000, 5).log10_probability
    -18738.530...
    >>> chance_of_reaching([0.5, 0.3, 0.2], 30, 5, empty_allowed=True).probability
    0.71857289...
    """
    among = CellProbabilities.of(cells)
    whole_number("k", k, 1)
    whole_number("records", records, 0, MOST_RECORDS)
    log, method = log_chance(among, records, GoodCounts(k, empty_allowed))
    log = min(log, 0.0)
    return Chance(
        cells=among.number,
        k=k,
        records=records,
        empty_allowed=empty_allowed,
        probability=math.exp(log),
        log10_probability=None if log == -math.inf else log / math.log(10),
        method=method,
    )


def log_chance(
    cells: CellProbabilities, records: int, good: GoodCounts, interest: float = -math.inf
) -> tuple[float, str]:
    """Return the log of the chance and how it was computed; only a bound if that is below what is of interest."""
    least = good.k if good.empty_allowed else cells.number * good.k
    if good.empty_allowed and (records == 0 or good.k == 1):
        return 0.0, BY_COUNTING
    if records < least:
        return -math.inf, BY_COUNTING
    if records == least and not good.empty_allowed:  # exactly k everywhere: one multinomial probability
        ways = math.lgamma(records + 1) - cells.number * math.lgamma(good.k + 1)
        return ways + good.k * cells.total(np.log(cells.shares)), BY_COUNTING
    rate = _tilt(cells, records, good)
    rates = rate * cells.shares
    log_good = cells.total(good.log_probability(rates))
    log_poisson = -stirling_error(records) - float(deviance(float(records), np.array([rate]))[0])
    log_poisson -= 0.5 * math.log(2 * math.pi * records)
    if log_good - log_poisson < interest:
        return log_good - log_poisson, BOUND
    mass, method = mass_of_sum(cells, records, good, rates)
    return log_good + math.log(mass) - log_poisson, method


def _tilt(cells: CellProbabilities, records: int, good: GoodCounts) -> float:
    """Find λ such that good counts sum to the records on average; any λ would do, a near one is precise."""

    def excess(log_rate: float) -> float:
        return cells.total(good.mean(math.exp(log_rate) * cells.shares)) - records

    least = 0 if good.empty_allowed else cells.number * good.k
    tolerance = 1e-3 * math.sqrt(records - least)
    high = math.log(records)
    high_value = excess(high)
    while high_value < 0:
        high += 1
        high_value = excess(high)
    low, low_value, step = high, high_value, 0.05
    while low_value > 0:
        high, high_value = low, low_value
        low, step = low - step, 2 * step
        low_value = excess(low)
    for _ in range(200):  # regula falsi, halving the weight of an end that stays (Illinois)
        if high - low < 1e-14 * max(1.0, abs(high)):
            break
        middle = high - high_value * (high - low) / (high_value - low_value)
        value = excess(middle)
        if abs(value) <= tolerance:
            return math.exp(middle)
        if value > 0:
            high, high_value, low_value = middle, value, low_value / 2
        else:
            low, low_value, high_value = middle, value, high_value / 2
    return math.exp((low + high) / 2)
