"""Days in months, quarters, years, decades, and twenty or forty years."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from hedgerow.verification.values.trees import ROOT, Ladder, Line, Marks, pieces


@dataclass(frozen=True)
class Dates(Ladder):
    """Days in months, quarters, years, decades, and twenty or forty years."""

    marks: Marks
    levels: tuple[str, ...]
    form: str | tuple[str, ...] | None = None

    def lines(self, value: str) -> tuple[Line, ...]:
        """Return the ISO day, its periods and the root.

        Examples
        --------
        >>> Dates(Marks(), ("month", "year"), "%d.%m.%Y").lines("29.02.2024")[0].labels
        ('2024-02-29', '2024-02', '2024', '*')
        """
        forms = (self.form,) if self.form is None or isinstance(self.form, str) else self.form
        for form in forms:
            with suppress(ValueError):
                parsed = dt.datetime.strptime(value, form) if form else dt.datetime.fromisoformat(value)
                return (self._line(parsed.date()),)
        return ()

    def _line(self, day: dt.date) -> Line:
        names = {
            "month": f"{day.year:04d}-{day.month:02d}",
            "quarter": f"{day.year:04d}-Q{(day.month - 1) // 3 + 1}",
            "year": f"{day.year:04d}",
            "decade": f"{day.year // 10:03d}0s",
            **{
                level: f"{day.year - day.year % many:04d}-{day.year - day.year % many + many - 1:04d}"
                for level, many in SPANS.items()
            },
        }
        return self.marks.line((day.isoformat(), *(names[level] for level in self.levels), ROOT))

    def knows(self, label: str) -> bool:
        """Tell whether a label is a day, or a period of one of the levels."""
        period = period_of(label)
        return label == ROOT or (period is not None and (period[2] == "day" or period[2] in self.levels))

    def witnesses(self, label: str) -> Iterator[Line]:
        """Return the lines of one day from each piece into which the marks cut a period."""
        marked = [period[:2] for period in map(period_of, self.marks.names) if period is not None]
        period = period_of(label)
        low, end = (1, dt.date.max.toordinal() + 1) if period is None else period[:2]
        for start, _ in pieces(low, end, marked):
            yield self._line(dt.date.fromordinal(int(start)))


SPANS = {"20-years": 20, "40-years": 40}
_PERIOD = re.compile(r"([0-9]{4})(?:(s)|-(?:([0-9]{2})|Q([1-4]))(?:-([0-9]{2}))?)?")
_SPAN = re.compile(r"([0-9]{4})-([0-9]{4})")


def period_of(label: str) -> tuple[int, int, str] | None:
    """Read the first day, the day after the last and the level of a period."""
    span = _SPAN.fullmatch(label)
    if span is not None:
        first, many = int(span[1]), int(span[2]) - int(span[1]) + 1
        level = next((name for name, years in SPANS.items() if years == many and first % years == 0), None)
        begin = max(first, 1)
        return None if level is None else (*_months(begin, 1, 12 * (first + many - begin)), level)
    match = _PERIOD.fullmatch(label)
    if match is None or (match[4] and match[5]):
        return None
    year = int(match[1])
    try:
        if match[5]:
            day = dt.date(year, int(match[3]), int(match[5])).toordinal()
            return day, day + 1, "day"
        if match[3]:
            return *_months(year, int(match[3]), 1), "month"
        if match[4]:
            return *_months(year, 3 * int(match[4]) - 2, 3), "quarter"
        if match[2]:
            return (*_months(max(year, 1), 1, 120 if year else 108), "decade") if year % 10 == 0 else None
        return *_months(year, 1, 12), "year"
    except ValueError:
        return None


def _months(year: int, month: int, count: int) -> tuple[int, int]:
    after = year * 12 + month - 1 + count
    last = dt.date.max.toordinal() + 1
    end = last if after // 12 > dt.MAXYEAR else dt.date(after // 12, after % 12 + 1, 1).toordinal()
    return dt.date(year, month, 1).toordinal(), end
