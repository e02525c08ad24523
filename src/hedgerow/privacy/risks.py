"""Risks of being found in a release, by group size, as an intruder of each kind sees them.

The *prosecutor* knows that a certain person is in the table, the *journalist* wants to find anybody who is in it, and
the *marketer* wants to find as many as can be (El Emam and Dankar 2008). The journalist is measured against a
population; without a table of one, the table itself is taken as the population, and the journalist's risk is the
prosecutor's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.errors import HedgerowError, Problem
from hedgerow.types import IntArray

NO_POPULATION = "as for prosecutor: the table is taken as the population"
COMMON_THRESHOLDS = {0.33: Fraction(1, 3), 0.2: Fraction(1, 5), 0.09: Fraction(1, 11), 0.05: Fraction(1, 20)}
"""Thresholds that are in use, and the risks that they stand for: 0.09 is how EMA Policy 0070 writes 1/11."""


def risks(
    sizes: IntArray, withheld: int = 0, threshold: float = 0.2, matching: IntArray | None = None
) -> dict[str, Any]:
    """Return the risks of the prosecutor, the journalist and the marketer.

    Parameters
    ----------
    sizes
        Size of every group of the release: records, or persons where k counts persons.
    withheld
        Records that are not released; nobody finds them, and they are in no share or average.
    threshold
        A risk that is just acceptable; the share of released records with a higher one is reported. 0.33 and 0.09
        stand for 1/3 and 1/11, as they do where they come from.
    matching
        Records that a record of every group cannot be told from; by default those of its group.

    Returns
    -------
    dict
        ``highest``, ``average`` and ``share_above_threshold`` of the records' risks, each 1 / matching records.

    Examples
    --------
    >>> found = risks(np.array([2, 3, 5]), withheld=1)
    >>> found["prosecutor"]
    {'highest': 0.5, 'average': 0.3, 'share_above_threshold': 0.5}
    >>> found["journalist"]["population"]
    'as for prosecutor: the table is taken as the population'
    >>> found["marketer"]
    {'average': 0.3}
    """
    sizes = np.asarray(sizes, np.int64)
    alike = sizes if matching is None else np.asarray(matching, np.int64)
    sizes, alike = sizes[sizes > 0], alike[sizes > 0]
    distinct, number = np.unique(alike, return_inverse=True)
    records = np.zeros(len(distinct), np.int64)
    np.add.at(records, number.reshape(-1), sizes)
    found = risks_of_sizes(dict(zip(distinct.tolist(), records.tolist(), strict=True)), threshold, withheld)
    return {**found, "groups": len(sizes)}


def risks_of_sizes(
    records_by_size: Mapping[str, int] | Mapping[int, int], threshold: float = 0.2, withheld: int = 0
) -> dict[str, Any]:
    """Return the same risks from how many records have how many that they cannot be told from.

    Parameters
    ----------
    records_by_size
        Released records by the number of people (records, where k counts records) that each cannot be told from; as
        ``group_risk_sizes`` in ``facts.json``.
    threshold, withheld
        As for :func:`risks`.

    Examples
    --------
    >>> risks_of_sizes({"2": 2, "3": 3, "5": 5}, 0.2)["prosecutor"]
    {'highest': 0.5, 'average': 0.3, 'share_above_threshold': 0.5}
    """
    limit = accepted_risk(threshold)
    by_size = {int(size): records for size, records in records_by_size.items() if records}
    released = sum(by_size.values())
    above = sum(records for size, records in by_size.items() if limit * size < 1)
    whole = sum(records // size for size, records in by_size.items())  # whole groups are counted exactly
    parts = math.fsum(records % size / size for size, records in sorted(by_size.items()))
    prosecutor = {
        "highest": _share(1, min(by_size)) if released else 0.0,
        "average": _share(whole + parts, released),
        "share_above_threshold": _share(above, released),
    }
    return {
        "threshold": threshold,
        "released": released,
        "withheld": withheld,
        "prosecutor": prosecutor,
        "journalist": {**prosecutor, "population": NO_POPULATION},
        "marketer": {"average": prosecutor["average"]},
    }


def journalist_among(records_by_people: Mapping[int, int], threshold: float, population: int) -> dict[str, Any]:
    """Return the journalist's risk from how many records fit how many people of a population.

    Examples
    --------
    >>> journalist_among({20: 10, 50: 10}, 0.04, 1000)
    {'highest': 0.05, 'average': 0.035, 'share_above_threshold': 0.5, 'population': '1,000 people'}
    """
    found = risks_of_sizes(records_by_people, threshold)["prosecutor"]
    return {**found, "population": f"{population:,} people"}


def accepted_risk(threshold: float) -> Fraction:
    """Return the risk that a threshold stands for, exactly: that of a group of 5 is 0.2, and not above 0.2.

    Examples
    --------
    >>> accepted_risk(0.09), accepted_risk(0.1)
    (Fraction(1, 11), Fraction(1, 10))
    """
    if not 0 <= threshold <= 1:
        message = f"The 'threshold' parameter must be from 0 to 1. Got {threshold} instead."
        raise HedgerowError(Problem("usage", message, hint="0.2 is the risk in a group of 5"))
    return COMMON_THRESHOLDS.get(threshold) or Fraction(str(threshold))


def _share(part: float, whole: int) -> float:
    return round(part / whole, 12) if whole else 0.0
