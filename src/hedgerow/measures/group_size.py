"""Measures that look at group sizes only: discernibility and normalized average group size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow.plan.concepts import MeasureDescriptor
from hedgerow.types import IntArray


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


DESCRIPTORS = (
    MeasureDescriptor(
        name="discernibility",
        title="discernibility",
        meaning="Every record counts as often as there are records like it, and a withheld one as often as there "
        "are records at all: less is better.",
        help="Σ group size² + records · withheld",
        order=50,
        of_release=lambda measured: discernibility(measured.recoding.sizes, measured.withheld),
        compared=6,
        objective="discernibility",
        sizes="even",
        score_of_node=lambda found, records, k: found.squares + float(records) * found.withheld,
    ),
    MeasureDescriptor(
        name="normalized_average_group_size",
        title="normalized average group size",
        meaning="How many times larger than k groups are on average: 1 is the best there is.",
        help="records / (groups · k): 1 is the best that k allows",
        order=60,
        of_release=lambda measured: normalized_average_group_size(
            measured.recoding.sizes, measured.withheld, measured.plan.privacy.k
        ),
        objective="group-size",
        sizes="many",
        score_of_node=lambda found, records, k: records / (found.groups * k) if found.groups else float("inf"),
    ),
)
