"""How the values of a column are spread, small enough for a chart. For the owner's eyes: it shows values of records."""

from __future__ import annotations

import datetime as dt
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Literal

import numpy as np

from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.evaluation.drafting.days import is_day
from hedgerow.evaluation.drafting.propose import is_code, names_records
from hedgerow.plan.hierarchy.builders import date_label, parse_day
from hedgerow.plan.hierarchy.numbers import Number, half_open_label, is_whole, number_label, parse_number, simplest

MOST_BINS = 24
MOSTLY = 0.9
"""Share of the records with a value from which on a column is taken for numbers."""

Kind = Literal["numbers", "categories", "names"]
Bars = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Distribution:
    """How the values of a column are spread.

    Attributes
    ----------
    kind
        ``numbers``: bins in order, of numbers or of days; ``categories``: values, those of most records first;
        ``names``: nearly every record has its own, or none is plain, so nothing is shown.
    values
        Bins or values, and how many records have them: about as many, where a column has too many values to look at
        each. Bins that nobody has stand between the others.
    other, other_values
        How many records have another value, and how many values these are.
    missing, distinct, records
        Records without a value, different values, and records in all.
    """

    kind: Kind
    values: Bars = field(repr=False)
    other: int
    other_values: int
    missing: int
    distinct: int
    records: int

    @property
    def bars(self) -> Bars:
        """The values, and the others as one, for a chart."""
        if not self.other:
            return self.values
        more = "1 other value" if self.other_values == 1 else f"{self.other_values:,} other values"
        return (*self.values, (more, self.other))


def distribution(column: SeenColumn, most: int = 12) -> Distribution:
    """Put numbers and days into bins of round width; of other values list those that most records have.

    Parameters
    ----------
    column
        The column with its counts.
    most
        Values to list. Numbers of not more different values are listed, not put into bins.

    Examples
    --------
    >>> found = distribution(SeenColumn("age", 100, {str(age): 2 for age in range(20, 65)}))
    >>> found.kind, found.values[:3], found.missing
    ('numbers', (('20-21', 4), ('22-23', 4), ('24-25', 4)), 10)
    >>> distribution(SeenColumn("ward", 9, {"a": 3, "c": 2, "b": 2, "d": 1}), most=2).bars
    (('a', 3), ('b', 2), ('2 other values', 3))
    """
    kind, bars, other, other_values = _bars(column, most)
    missing = column.records - column.filled
    return Distribution(kind, bars, other, other_values, missing, column.distinct, column.records)


def _bars(column: SeenColumn, most: int) -> tuple[Kind, Bars, int, int]:
    """Return kind, bins or values, other records, and other values; the kinds in the order of a draft's."""
    if not column.readable or not column.allowed:
        return "names", (), 0, 0
    if not column.counts:
        return "categories", (), 0, 0
    if column.distinct > most and (days := column.days) is not None:
        return "numbers", _bins_of_days(column.weights, days.form), sum(days.misfits.values()), len(days.misfits)
    if names_records(column) or (column.nearly_unique and column.numeric_share < 1):
        return "names", (), 0, 0
    if column.numeric_share >= MOSTLY and len(column.numbers) > most and not is_code(column):
        odd = [count for label, count in column.weights.items() if parse_number(label) is None]
        return "numbers", _bins(column.numbers), sum(odd), len(odd)
    first = sorted(column.counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    shown = sum(count for _, count in first)
    return "categories", tuple(first), column.filled - shown, column.distinct - len(first)


# -- numbers ---------------------------------------------------------------------------------------------------------


def _bins(numbers: Mapping[Number, int]) -> Bars:
    """Put numbers into bins of the least width 1, 2 or 5 times a power of ten that makes few enough of them.

    Where few numbers lie far out, those beyond the middle 98 % of the records may share an open bin at either end.
    """
    ordered, whole = sorted(numbers), all(map(is_whole, numbers))
    low, high = _middle(ordered, numbers)
    for step, power in _widths(Fraction(high) - Fraction(low), whole):
        place = partial(_place, step=step, power=power)
        closed = place(ordered[-1]) - place(ordered[0]) < MOST_BINS
        if closed or place(high) - place(low) < MOST_BINS - 2:
            break
    counts: Counter[int] = Counter()
    for number, count in numbers.items():
        counts[place(number)] += count
    places = range(place(ordered[0]), place(ordered[-1]) + 1) if closed else range(place(low), place(high) + 1)
    edges = [simplest(Decimal(f"{number * step}e{power}")) for number in (*places, places[-1] + 1)]
    bins = [
        (half_open_label(*ends, whole), counts.pop(number, 0))
        for number, ends in zip(places, itertools.pairwise(edges), strict=True)
    ]
    below = sum(count for number, count in counts.items() if number < places[0])
    above = sum(count for number, count in counts.items() if number > places[-1])
    first = [(f"under {number_label(edges[0])}", below)] if below else []
    last = [(f"{number_label(edges[-1])} or more", above)] if above else []
    return (*first, *bins, *last)


def _middle(ordered: list[Number], numbers: Mapping[Number, int]) -> tuple[Number, Number]:
    """Return the ends of the middle 98 % of the records; of all, where these are one number."""
    upto = np.cumsum([numbers[number] for number in ordered])
    low, high = (ordered[int(np.searchsorted(upto, share * upto[-1]))] for share in (0.01, 0.99))
    return (low, high) if low < high else (ordered[0], ordered[-1])


def _widths(span: Fraction, whole: bool) -> Iterator[tuple[int, int]]:
    """Give round widths, as digit and power of ten, from one that is surely too small."""
    least = len(str(int(span)))
    while Fraction(10) ** least * MOST_BINS > span > 0:
        least -= 1
    for power in itertools.count(max(least, 0) if whole else least):
        yield from ((step, power) for step in (1, 2, 5))


def _place(number: Number, step: int, power: int) -> int:
    return int(Fraction(number) // (step * Fraction(10) ** power))


# -- days ------------------------------------------------------------------------------------------------------------


def _bins_of_days(labels: Mapping[str, int], form: str | tuple[str, ...] | None) -> Bars:
    """Count days by themselves, by month, quarter or year, or by several years: the finest of few enough bins."""
    counts: Counter[dt.date] = Counter()
    for label, count in labels.items():
        if is_day(label, form) and (day := parse_day(label, form)) is not None:
            counts[day] += count
    for name, place in _CALENDAR:
        first, last = place(min(counts)), place(max(counts))
        if last - first < MOST_BINS:
            names = {place(day): name(day) for day in _between(min(counts), max(counts))}
            bins: Counter[int] = Counter()
            for day, count in counts.items():
                bins[place(day)] += count
            return tuple((names[number], bins[number]) for number in range(first, last + 1))
    years: Counter[Number] = Counter()
    for day, count in counts.items():
        years[day.year] += count
    return _bins(years)


def _between(first: dt.date, last: dt.date) -> Iterator[dt.date]:
    return (first + dt.timedelta(days=days) for days in range((last - first).days + 1))


_CALENDAR: tuple[tuple[Callable[[dt.date], str], Callable[[dt.date], int]], ...] = (
    (dt.date.isoformat, dt.date.toordinal),
    (lambda day: date_label(day, "month"), lambda day: day.year * 12 + day.month),
    (lambda day: date_label(day, "quarter"), lambda day: day.year * 4 + (day.month - 1) // 3),
    (lambda day: date_label(day, "year"), lambda day: day.year),
)
"""How a day is named, and its number, by ever coarser steps."""
