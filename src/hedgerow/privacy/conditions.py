"""Two necessary conditions for p-sensitivity, known before any run (Truta and Vinay 2006, Theorems 1–2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.types import IntArray


def max_p(frequencies: Sequence[IntArray]) -> int:
    """Condition 1: no release can have more different values per group than the table has.

    Examples
    --------
    >>> max_p([np.array([300, 300, 200, 100, 100]), np.array([500, 300, 100, 40, 35, 25])])
    5
    """
    return min((int((counts > 0).sum()) for counts in frequencies), default=0)


def cumulative_frequencies(frequencies: Sequence[IntArray]) -> list[int]:
    """cf_i: the greatest sum, over the attributes, of an attribute's i largest frequencies; i = 1 … maxP."""
    sums = [np.cumsum(np.sort(counts)[::-1]) for counts in frequencies]
    return [max(int(total[i]) for total in sums) for i in range(max_p(frequencies))]


def max_groups(frequencies: Sequence[IntArray], n: int, p: int) -> int:
    """Condition 2: no p-sensitive release of n records has more groups than this.

    Records without a value are counted among those that help no group: pass n without them for the sharper bound.

    Examples
    --------
    >>> max_groups([np.array([900, 90, 5, 3, 2])], 1000, 3)
    10
    """
    if p <= 1:
        return n
    if p > max_p(frequencies):
        return 0
    cf = cumulative_frequencies(frequencies)
    return min((n - cf[p - i - 1]) // i for i in range(1, p))
