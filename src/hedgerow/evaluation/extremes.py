"""Numbers far from all others: few people have them, and whoever hears one may know whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hedgerow.plan.hierarchy.numbers import Number

FAR = 3
"""Numbers are far out if they lie so many times the distance of the quartiles beyond these: Tukey's outer fence."""
FEW_VALUES = 12
"""Columns of at most so many different numbers hold codes or categories, of which none is far from others."""
FEW_PEOPLE, FEW_SHARE = 10, 0.01
"""So many records, or this share of all, are few."""
PROPOSED = f"{{fewest: {FEW_PEOPLE}}}"
"""The point that is proposed: so many people lie at it or beyond."""


@dataclass(frozen=True)
class Extremes:
    """How many records of a column lie far above, and far below all others; which numbers these are is not said."""

    column: str
    above: int
    below: int

    @property
    def treat(self) -> str:
        """What a plan could say of the column, on one line.

        Examples
        --------
        >>> Extremes("income", 3, 0).treat, Extremes("balance", 1, 2).treat
        ('{top: {fewest: 10}}', '{top: {fewest: 10}, bottom: {fewest: 10}}')
        """
        ends = [("top", self.above), ("bottom", self.below)]
        return "{" + ", ".join(f"{end}: {PROPOSED}" for end, count in ends if count) + "}"


def extremes_of(column: str, numbers: Mapping[Number, int]) -> Extremes | None:
    """Find numbers far from all others, given how many records have each; None if there are none, or not few.

    Examples
    --------
    >>> pay = dict.fromkeys(range(20_000, 60_000, 500), 5)
    >>> extremes_of("pay", pay | {7_300_000: 1}), extremes_of("pay", pay), extremes_of("sex", {1: 300, 2: 1})
    (Extremes(column='pay', above=1, below=0), None, None)
    """
    if len(numbers) <= FEW_VALUES:
        return None
    low, high = _quartiles(numbers)
    if low == high:  # most have the same number, such as 0
        others = {number: count for number, count in numbers.items() if number != low}
        low, high = _quartiles(others)
    reach = FAR * (high - low)
    above = sum(count for number, count in numbers.items() if number > high + reach)
    below = sum(count for number, count in numbers.items() if number < low - reach)
    few = max(FEW_PEOPLE, FEW_SHARE * sum(numbers.values()))
    above, below = (count if count <= few else 0 for count in (above, below))
    return Extremes(column, above, below) if above or below else None


def _quartiles(numbers: Mapping[Number, int]) -> tuple[Number, Number]:
    total, found, reached = sum(numbers.values()), list[Number](), 0
    for number in sorted(numbers):
        reached += numbers[number]
        while len(found) < 2 and 4 * reached >= (1, 3)[len(found)] * total:
            found.append(number)
    return found[0], found[1]
