"""Risk of being found in a sample, from how many people of the population each record stands for.

Whoever looks for somebody in a sample does not know whether that person is in it. If ``f`` records agree in the key
columns and their sampling weights add up to ``F``, some ``F`` people of the population agree there. The chance that a
match is the right one is then the posterior mean of 1/F, where F, given f, is negative binomial with success chance
f/F (Benedetti and Franconi 1998).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hedgerow.types import IntArray

Floats = npt.NDArray[np.float64]
TERMS = 80
"""Terms of the series: each is at most half of the one before, or the group so large that they vanish sooner."""
LARGE = 64
"""Groups from which on the series needs no more terms, however small the sample."""


def individual_risks(records: IntArray, people: Floats) -> Floats:
    """Return the chance of finding a record of every group, from its records and the people they stand for.

    Where a group stands for no more people than it has records, the sample is all there is, and the risk 1/records.

    The mean is the integral of π·u^(f − 1)/(π + (1 − π)·u) from 0 to 1, with π = f/F. Small π: by recurrence over
    f, which damps errors there. Large π, or many records: by the series of its integration by parts.

    Examples
    --------
    >>> individual_risks(np.array([1, 2, 3]), np.array([100.0, 200.0, 3.0])).round(6).tolist()
    [0.046517, 0.009631, 0.333333]
    """
    records = np.asarray(records, np.int64)
    share = np.minimum(1.0, records / np.maximum(people, 1e-300))
    rest = 1.0 - share
    found = np.empty(len(records), np.float64)
    by_series = (share >= 0.5) | (records >= LARGE)
    found[by_series] = _series(records[by_series], share[by_series], rest[by_series])
    found[~by_series] = _recurrence(records[~by_series], share[~by_series], rest[~by_series])
    return found


def household_risks(risk: Floats, household: IntArray, households: int) -> Floats:
    """Return the chance that at least one member of every household is found, from the risks of its members.

    Examples
    --------
    >>> household_risks(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 1]), 2).round(6).tolist()
    [0.75, 0.1]
    """
    sure = np.bincount(household, weights=risk >= 1.0, minlength=households) > 0
    with np.errstate(divide="ignore"):
        escaped = np.bincount(household, weights=np.where(risk < 1.0, np.log1p(-risk), 0.0), minlength=households)
    return np.where(sure, 1.0, -np.expm1(escaped))


def _series(records: IntArray, share: Floats, rest: Floats) -> Floats:
    term = np.ones(len(records))
    total = term.copy()
    for place in range(1, TERMS):
        term *= rest * place / (records + place)
        total += term
    return share / records * total


def _recurrence(records: IntArray, share: Floats, rest: Floats) -> Floats:
    integral = -np.log(share) / rest
    for place in range(1, int(records.max(initial=1))):
        going_on = records > place
        step = (1.0 / place - share[going_on] * integral[going_on]) / rest[going_on]
        integral[going_on] = step
    return share * integral
