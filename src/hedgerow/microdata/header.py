"""Whether what should be the names of columns is a record: a file without a header line.

Names of columns are shown, and stand in plans. Cells must not, so a first record that is taken for names is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hedgerow.errors import Problem
from hedgerow.plan.hierarchy.numbers import parse_number

FEWEST_COUNTED = 3
"""Whole numbers that count up by one are names, as years side by side are, if there are at least so many."""

_NUMBER = re.compile(r"[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?\s*[%€$£]?", re.ASCII)
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ T]\d{1,2}:\d{2}.*)?", re.ASCII)
_TIME = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?", re.ASCII)
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)


def values_among(names: Iterable[str]) -> int:
    """Count names that are values: numbers, dates, times, e-mail addresses, UUIDs; but not numbers that count up.

    Examples
    --------
    >>> values_among(["name", "sex", "income 2024"]), values_among(["Smith", "f", "48200", "1984-05-02"])
    (0, 2)
    >>> values_among(["country", "2019", "2020", "2021"])
    0
    """
    cleaned = [name.strip() for name in names]
    numbers = [name for name in cleaned if _NUMBER.fullmatch(name)]
    others = sum(any(kind.fullmatch(name) for kind in (_DATE, _TIME, _ADDRESS, _UUID)) for name in cleaned)
    return others if _count_up(numbers) else others + sum(not _DATE.fullmatch(name) for name in numbers)


def first_record(names: Sequence[str], place: str, hint: str = "") -> Problem | None:
    """Return the problem of names that are a record, or None; none of them is in it."""
    found = values_among(names)
    if not found:
        return None
    what = "1 is a value" if found == 1 else f"{found:,} are values"
    return no_header(f"of {len(names):,} names {what}, such as numbers or dates", place, hint)


def no_header(why: str, place: str, hint: str = "") -> Problem:
    """Return the problem of a table whose first record was taken for the names of its columns."""
    message = f"The first line seems to be a record, not the names of the columns: {why}."
    also = f"; {hint}" if hint else ""
    return Problem("no-header", message, place, f"add a first line with the names of the columns{also}")


def _count_up(numbers: Sequence[str]) -> bool:
    found = [parse_number(text) for text in numbers]
    first = found[0] if found else None
    return (
        len(found) >= FEWEST_COUNTED
        and isinstance(first, int)
        and all(number == first + step for step, number in enumerate(found))
    )
