"""Measures that look at group sizes only: discernibility and normalized average group size (SPEC §3)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow.recoding import IntArray


def discernibility(sizes: IntArray, withheld: int) -> int:
    """Σ|group|² + n·withheld: every record is charged the number of records it cannot be told from.

    Examples
    --------
    >>> discernibility(np.array([3, 2]), withheld=1)
    19
    """
    n = int(sizes.sum()) + withheld
    return int(np.dot(sizes.astype(object), sizes)) + n * withheld if len(sizes) else n * withheld


def normalized_average_group_size(sizes: IntArray, withheld: int, k: int) -> Fraction | None:
    """Records / (groups · k): 1 is the best that k allows; None without groups.

    Examples
    --------
    >>> normalized_average_group_size(np.array([3, 2]), withheld=1, k=2)
    Fraction(3, 2)
    """
    return Fraction(int(sizes.sum()) + withheld, len(sizes) * k) if len(sizes) else None
