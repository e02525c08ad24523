"""Means and medians of groups, which a column of numbers publishes in place of intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from hedgerow.plan import Attribute
from hedgerow.verification.values.judge import Cell, Column, Risk
from hedgerow.verification.values.numbers import Exact, exact, read_number

USUAL_DECIMALS = 1


@dataclass(frozen=True)
class FigureJudge(Column):
    """A column of numbers whose groups are published as one number each.

    What a figure is of cannot be seen in a cell: that it is right is asked of whole groups, with what lies behind.

    Attributes
    ----------
    median
        Whether that is the median; else it is the mean.
    decimals
        Decimal places that it has at most.
    cuts, width
        Points that the numbers of a group do not lie on both sides of, and the greatest difference of two of them.
    least, greatest, has_missing
        Where the original is at hand: its least and greatest number, and whether it has missing values.

    Examples
    --------
    >>> ages = FigureJudge(width=20, decimals=1)
    >>> [ages.knows(label) for label in ("39.5", "39", "39.55", "30-39", None)]
    [True, True, False, False, True]
    >>> ages.figure([(30, 2), (31, 1)]), ages.too_far([30, 51]), ages.too_far([30, 50])
    (Fraction(303, 10), True, False)
    """

    median: bool = False
    decimals: int = USUAL_DECIMALS
    cuts: tuple[Exact, ...] = ()
    width: Exact | None = None
    least: Exact | None = None
    greatest: Exact | None = None
    has_missing: bool = True

    @classmethod
    def of(cls, attribute: Attribute) -> FigureJudge:
        """Read what a plan says of a column."""
        limit = attribute.limit
        return cls(
            attribute.publish == "median",
            USUAL_DECIMALS if attribute.decimals is None else attribute.decimals,
            tuple(exact(cut) for cut in (limit.cuts or ())) if limit is not None else (),
            None if limit is None or limit.width is None else exact(limit.width),
        )

    def given(self, values: Collection[Cell]) -> FigureJudge:
        """Return the judge that knows which numbers the original has."""
        read = [read_number(value) for value in values if value is not None]
        numbers = [number for number in read if number is not None]
        least, greatest = (min(numbers), max(numbers)) if numbers else (None, None)
        return replace(self, least=least, greatest=greatest, has_missing=None in values)

    def knows(self, label: Cell) -> bool:
        """Tell whether a cell is a number of no more decimals; with the original, within its numbers."""
        if label is None:
            return self.has_missing
        number = read_number(label)
        if number is None or Fraction(number) * 10**self.decimals % 1:
            return False
        if self.least is None or self.greatest is None:
            return True
        near = Fraction(1, 2 * 10**self.decimals)  # a figure is rounded
        return self.least - near <= number <= self.greatest + near

    def covers(self, value: Cell, label: Cell) -> bool:
        """Tell whether both are numbers, or both missing: a group's figure is true of each of its numbers."""
        if value is None or label is None:
            return value is label
        return read_number(value) is not None and read_number(label) is not None

    def holds(self, value: Cell, inner: Cell, outer: Cell) -> bool:
        """Tell whether both are the same: no figure holds another."""
        return inner == outer

    def breaks(self, value: Cell, label: Cell) -> bool:
        """No cell breaks a limit by itself: see :meth:`too_far`."""
        return False

    def risk(self, label: Cell) -> Risk:
        """No cell breaks a limit by itself."""
        return "none"

    def too_far(self, numbers: Collection[Exact]) -> bool:
        """Tell whether numbers lie too far apart for one group, or on both sides of a cut."""
        low, high = min(numbers), max(numbers)
        return (self.width is not None and high - low > self.width) or any(low < cut <= high for cut in self.cuts)

    def figure(self, counted: Iterable[tuple[Exact, int]]) -> Fraction:
        """Return the figure of numbers with how often each occurs, rounded, a half to even."""
        ordered = sorted(counted)
        total = sum(count for _, count in ordered)
        if not self.median:
            return round(Fraction(sum(number * count for number, count in ordered)) / total, self.decimals)
        return round(Fraction(_at(ordered, (total - 1) // 2) + _at(ordered, total // 2)) / 2, self.decimals)


def _at(ordered: list[tuple[Exact, int]], place: int) -> Exact:
    """Return the number at a place of the row of all, from 0."""
    for number, count in ordered:
        if place < count:
            return number
        place -= count
    raise IndexError(place)
