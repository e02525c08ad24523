"""Free intervals: a numeric attribute without a tree, generalized to [min, max] (Truta and Campan 2007).

Numbers are held as whole multiples of 10^−decimals, so that arithmetic on them is exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hedgerow.errors import DataError, Problem
from hedgerow.plan.hierarchy.numbers import Number, closed_label, half_open_label, number_label, parse_number, simplest
from hedgerow.types import IntArray

MOST_DIGITS = 18


@dataclass(frozen=True, eq=False)
class Intervals:
    """The distinct numbers of a column, ascending; code = rank.

    With a grid, numbers of one step of the grid are one: nothing finer is published, so nothing finer is looked at.

    Attributes
    ----------
    scaled
        The numbers, or the starts of their steps of the grid, times 10^decimals, as integers.
    decimals
        Number of decimal places of the numbers; 0 means that all are whole.
    snap
        Grid to which published ends are moved outward, if given.

    Examples
    --------
    >>> ages = Intervals.over(["32", "30", "42"])
    >>> ages.label(0, 1), ages.label(1, 1)
    ('30-32', '32')
    >>> Intervals.over(["32", "30", "42"], snap=5).label(0, 0)
    '30-34'
    """

    scaled: IntArray
    decimals: int
    snap: Number | None = None

    @classmethod
    def over(
        cls, labels: Iterable[str], snap: Number | None = None, column: str = "", least_decimals: int = 0
    ) -> Intervals:
        """Build from labels, all of which must be numbers; with so many decimal places at least."""
        numbers = {parse_number(label) for label in labels} - {None}
        decimals = max((_decimals(number) for number in numbers if number is not None), default=0)
        decimals = max(decimals, least_decimals)
        if snap is not None:
            decimals = max(decimals, _decimals(snap))
        scaled = sorted(_scale(number, decimals) for number in numbers if number is not None)
        if decimals > MOST_DIGITS or any(abs(number) >= 10**MOST_DIGITS for number in (scaled[:1] + scaled[-1:])):
            message = f"Column {column!r} has numbers of more than {MOST_DIGITS} digits."
            raise DataError(Problem("too-precise", message, hint="round the column, or use a hierarchy of bands"))
        steps = _on_grid(np.array(scaled, np.int64), snap, decimals)
        return cls(np.unique(steps), decimals, snap)

    def number(self, code: int) -> Number:
        """Return the number with this code."""
        return simplest(Decimal(int(self.scaled[code])).scaleb(-self.decimals))

    def scale(self, number: Number) -> int:
        """Return a number as a multiple of 10^−decimals, rounded down."""
        return int((Decimal(number).scaleb(self.decimals)).to_integral_value(rounding="ROUND_FLOOR"))

    def codes(self, labels: Iterable[str]) -> IntArray:
        """Return the codes of labels that are all present."""
        numbers = np.array([_scale(parse_number(label) or 0, self.decimals) for label in labels], np.int64)
        return np.searchsorted(self.scaled, _on_grid(numbers, self.snap, self.decimals)).astype(np.int64)

    @property
    def whole(self) -> bool:
        """Tell whether all numbers are whole."""
        return self.decimals == 0

    @property
    def low_ends(self) -> IntArray:
        """Published lower end of an interval that starts at each number, scaled."""
        return self.scaled

    @cached_property
    def high_ends(self) -> IntArray:
        """Published upper end of an interval that ends at each number, scaled.

        On a grid of whole numbers the last number of the step; otherwise the end of the step.
        """
        if self.snap is None:
            return self.scaled
        return self.scaled + _scale(self.snap, self.decimals) - (1 if self.whole else 0)

    @property
    def span(self) -> int:
        """Greatest minus least published end, scaled; 0 for a column of one number."""
        return int(self.high_ends[-1] - self.low_ends[0]) if len(self.scaled) else 0

    def label(self, lo: int, hi: int) -> str:
        """Name the published interval of numbers with codes ``lo`` to ``hi``."""
        low = simplest(Decimal(int(self.low_ends[lo])).scaleb(-self.decimals))
        high = simplest(Decimal(int(self.high_ends[hi])).scaleb(-self.decimals))
        if self.snap is not None and not self.whole:
            return half_open_label(low, high, whole=False)
        return closed_label(low, high, self.whole)

    def __repr__(self) -> str:
        ends = f"{number_label(self.number(0))} … {number_label(self.number(-1))}" if len(self.scaled) else "empty"
        return f"Intervals({ends}, {len(self.scaled):,} numbers)"


def _decimals(number: Number) -> int:
    exponent = simplest(number).as_tuple().exponent if isinstance(simplest(number), Decimal) else 0  # type: ignore[union-attr]
    return max(0, -int(exponent))


def _scale(number: Number, decimals: int) -> int:
    return int(Decimal(number).scaleb(decimals)) if decimals else int(number)


def _on_grid(scaled: IntArray, snap: Number | None, decimals: int) -> IntArray:
    if snap is None:
        return scaled
    grid = _scale(snap, decimals)
    return np.floor_divide(scaled, grid) * grid


def segments(intervals: Intervals, cuts: Iterable[Number]) -> npt.NDArray[np.int64]:
    """Segment number of every code: numbers on the same side of every cut point share it."""
    points = sorted(Decimal(cut) for cut in cuts)
    scaled = [int(point.scaleb(intervals.decimals).to_integral_value(rounding="ROUND_CEILING")) for point in points]
    return np.searchsorted(np.array(scaled, np.int64), intervals.scaled, side="right").astype(np.int64)
