"""Exact numbers and the names of intervals, read back from what was published.

Written anew on purpose: verification shares no code with what made the release. A number is an ``int`` or a
``Fraction``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal

Exact = int | Fraction
Style = Literal["number", "whole", "half-open", "closed"]

FROM, TO = "+", " or less"
"""What stands after the point of a value that is open at its upper, or its lower end."""
MOST_CHARACTERS = 2000
SHORT = 64  # characters; what such texts say is remembered, because the same stand beside many others
REMEMBERED = 1 << 16
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_WHOLE = re.compile(r"(-?[0-9]+)-(-?[0-9]+)")
_BRACKETS = re.compile(r"\[([0-9.-]+), ([0-9.-]+)([\])])")


def exact(number: int | Decimal | Fraction) -> Exact:
    """Return a number as an int where it is whole, else as a fraction."""
    fraction = Fraction(number)
    return fraction.numerator if fraction.denominator == 1 else fraction


def read_number(text: str) -> Exact | None:
    """Read a number exactly, or return None if the text is not one.

    Examples
    --------
    >>> read_number("39.0"), read_number(" 0.25"), read_number("about 39")
    (39, Fraction(1, 4), None)
    """
    return _read_short_number(text) if len(text) <= SHORT else _read_number(text)


def _read_number(text: str) -> Exact | None:
    text = text.strip()
    if text.isascii() and text.isdigit() and len(text) < MOST_CHARACTERS:
        return int(text)
    if len(text) >= MOST_CHARACTERS or not _NUMBER.fullmatch(text):
        return None
    return exact(Fraction(text))


_read_short_number = lru_cache(REMEMBERED)(_read_number)


def name_number(number: Exact) -> str:
    """Write a number in its one canonical form.

    Examples
    --------
    >>> name_number(39), name_number(Fraction(-1, 4))
    ('39', '-0.25')
    """
    if isinstance(number, int):
        return str(number)
    places = 0
    while 10**places % number.denominator:
        places += 1
    digits = str(abs(number.numerator) * 10**places // number.denominator).rjust(places + 1, "0")
    return f"{'-' if number < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def read_open(text: str) -> tuple[Exact, bool] | None:
    """Read what is open at one end: its point, and whether it goes up from there.

    Examples
    --------
    >>> read_open("90+"), read_open("-2.5 or less"), read_open("90.0+"), read_open("90")
    ((90, True), (Fraction(-5, 2), False), None, None)
    """
    for sign, up in ((FROM, True), (TO, False)):
        number = read_number(text[: -len(sign)]) if text.endswith(sign) else None
        if number is not None and name_number(number) + sign == text:
            return number, up
    return None


@dataclass(frozen=True)
class Span:
    """A published number or interval.

    Attributes
    ----------
    low, high
        Its ends as they are written.
    style
        ``number`` (7), ``whole`` (30-39: the whole numbers from 30 to 39), ``half-open`` ([30, 40)) or
        ``closed`` ([1.5, 2]).
    """

    low: Exact
    high: Exact
    style: Style

    def holds(self, number: Exact) -> bool:
        """Tell whether a number lies within."""
        if self.style == "half-open":
            return self.low <= number < self.high
        return self.low <= number <= self.high and (self.style != "whole" or isinstance(number, int))

    def covers(self, other: Span) -> bool:
        """Tell whether every number of another span is in this one."""
        if self.low > other.low or (self.style == "whole" and other.style in ("closed", "half-open")):
            return False
        if self.style == "number":
            return other.style == "number" and self.low == other.low
        inside = other.low if other.style == "number" else other.high
        if self.style == "half-open":
            return inside <= self.high if other.style == "half-open" else inside < self.high
        return inside <= self.high and (self.style != "whole" or isinstance(other.low, int))

    @property
    def end(self) -> Exact:
        """The first number that no longer belongs to it, for spans of whole numbers and half-open ones."""
        return self.high + 1 if self.style in ("number", "whole") else self.high

    def __str__(self) -> str:
        low, high = name_number(self.low), name_number(self.high)
        if self.style == "number":
            return low
        if self.style == "whole":
            return f"{low}-{high}"
        return f"[{low}, {high}" + ("]" if self.style == "closed" else ")")


def read_span(text: str) -> Span | None:
    """Read a number or interval in its canonical form, or return None.

    Examples
    --------
    >>> read_span("-10--1"), read_span("[1.5, 2]").style, read_span("39.0"), read_span("9-3")
    (Span(low=-10, high=-1, style='whole'), 'closed', None, None)
    """
    return _read_short_span(text) if len(text) <= SHORT else _read_span(text)


def _read_span(text: str) -> Span | None:
    found: tuple[Exact | None, Exact | None, Style]
    if whole := _WHOLE.fullmatch(text):
        found = read_number(whole[1]), read_number(whole[2]), "whole"
    elif brackets := _BRACKETS.fullmatch(text):
        style: Style = "closed" if brackets[3] == "]" else "half-open"
        found = read_number(brackets[1]), read_number(brackets[2]), style
    else:
        number = read_number(text)
        found = number, number, "number"
    low, high, style = found
    if low is None or high is None or (style != "number" and low >= high):
        return None
    span = Span(low, high, style)
    return span if str(span) == text else None


_read_short_span = lru_cache(REMEMBERED)(_read_span)


def spans_of_band(low: Exact, end: Exact) -> tuple[Span, ...]:
    """Return the ways to write the band from ``low`` up to, but without, ``end``; that of whole numbers first.

    Examples
    --------
    >>> [str(span) for span in spans_of_band(30, 40)], [str(span) for span in spans_of_band(0, Fraction(1, 2))]
    (['30-39', '[30, 40)'], ['[0, 0.5)'])
    """
    half_open = Span(low, end, "half-open")
    if not isinstance(low, int) or not isinstance(end, int):
        return (half_open,)
    return Span(low, end - 1, "number" if end - low == 1 else "whole"), half_open
