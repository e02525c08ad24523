"""Risks of being found in a release, by group size, as an intruder of each kind sees them.

The *prosecutor* knows that a certain person is in the table, the *journalist* wants to find anybody who is in it, and
the *marketer* wants to find as many as can be (El Emam and Dankar 2008). The journalist is measured against a
population; without a table of one, the table itself is taken as the population, and the journalist's risk is the
prosecutor's.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.errors import HedgerowError, Problem
from hedgerow.privacy.tally import IntArray

NO_POPULATION = "as for prosecutor: the table is taken as the population"


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
        A risk that is just acceptable; the share of released records with a higher one is reported.
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
    if not 0 <= threshold <= 1:
        message = f"The 'threshold' parameter must be from 0 to 1. Got {threshold} instead."
        raise HedgerowError(Problem("usage", message, hint="0.2 is the risk in a group of 5"))
    sizes = np.asarray(sizes, np.int64)
    alike = sizes if matching is None else np.asarray(matching, np.int64)
    sizes, alike = sizes[sizes > 0], alike[sizes > 0]
    released = int(sizes.sum())
    limit = Fraction(str(threshold))  # exact: a group of 5 has a risk of 0.2, which is not above a threshold of 0.2
    too_small = alike < -(-limit.denominator // limit.numerator) if limit else sizes > 0
    above = int(sizes[too_small].sum())
    expected = len(sizes) if matching is None else float((sizes / alike).sum())
    prosecutor = {
        "highest": _share(1, int(alike.min())) if released else 0.0,
        "average": _share(expected, released),
        "share_above_threshold": _share(above, released),
    }
    return {
        "threshold": threshold,
        "released": released,
        "withheld": withheld,
        "groups": len(sizes),
        "prosecutor": prosecutor,
        "journalist": {**prosecutor, "population": NO_POPULATION},
        "marketer": {"average": prosecutor["average"]},
    }


def _share(part: float, whole: int) -> float:
    return round(part / whole, 12) if whole else 0.0
