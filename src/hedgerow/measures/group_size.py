"""Measures that look at group sizes only: discernibility and normalized average group size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow.plan.concepts import MeasureDescriptor
from hedgerow.types import IntArray


def discernibility(sizes: IntArray, groups: IntArray, withheld: int) -> int:
    """Σ|group|² + n·withheld: every record is charged the number of records it cannot be told from.

    ``groups`` says how many groups have each of the sizes.

    Examples
    --------
    >>> discernibility(np.array([3, 2]), np.array([1, 1]), withheld=1)
    19
    """
    pairs = list(zip(sizes.tolist(), groups.tolist(), strict=True))
    records: int = sum(size * times for size, times in pairs) + withheld
    squares: int = sum(size * size * times for size, times in pairs)
    return squares + records * withheld


def normalized_average_group_size(sizes: IntArray, groups: IntArray, withheld: int, k: int) -> Fraction | None:
    """Records / (groups · k): 1 is the best that k allows; None without groups.

    Examples
    --------
    >>> normalized_average_group_size(np.array([3, 2]), np.array([1, 1]), withheld=1, k=2)
    Fraction(3, 2)
    """
    return Fraction(int(np.dot(sizes, groups)) + withheld, int(groups.sum()) * k) if len(sizes) else None


DESCRIPTORS = (
    MeasureDescriptor(
        name="discernibility",
        title="discernibility",
        meaning="Every record counts as often as there are records like it, and a withheld one as often as there "
        "are records at all: less is better.",
        help="Σ group size² + records · withheld",
        order=50,
        of_release=lambda measured: discernibility(measured.sizes[0], measured.sizes[1], measured.withheld),
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
            measured.sizes[0], measured.sizes[1], measured.withheld, measured.plan.privacy.k
        ),
        objective="group-size",
        sizes="many",
        score_of_node=lambda found, records, k: records / (found.groups * k) if found.groups else float("inf"),
    ),
)
