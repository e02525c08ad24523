"""Numbers as people write them, kept exact.

A number is an ``int`` or a ``Decimal``, never a float, so that 0.1 + 0.2 is 0.3 and equal numbers have one label.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

Number = int | Decimal

MOST_CHARACTERS = 1000
"""Longer texts of digits are not numbers that anything is counted in, and Python itself does not read them all."""
ABOVE, BELOW = "+", " or less"
"""What stands after a number in the name of everything from it up, and from it down."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z", re.ASCII)


def parse_number(text: str) -> Number | None:
    """Read a number, or return None if the text is not one.

    Examples
    --------
    >>> parse_number("39"), parse_number(" 39.50 "), parse_number("about 39")
    (39, Decimal('39.5'), None)
    """
    text = text.strip()
    if len(text) > MOST_CHARACTERS or not _NUMBER.match(text):
        return None
    try:
        return simplest(Decimal(text))
    except InvalidOperation:  # pragma: no cover - the pattern admits only what Decimal reads
        return None


def simplest(number: Decimal | int) -> Number:
    """Return an int where the number is whole, else a Decimal without trailing zeros."""
    if isinstance(number, int):
        return number
    if number == number.to_integral_value():
        return int(number)
    return number.normalize()


def number_label(number: Number) -> str:
    """Write a number in its one canonical form.

    Examples
    --------
    >>> number_label(Decimal("0.50")), number_label(Decimal("1E+3")), number_label(-4)
    ('0.5', '1000', '-4')
    """
    number = simplest(number)
    return str(number) if isinstance(number, int) else format(number, "f")


def is_whole(number: Number) -> bool:
    """Tell whether a number has no fraction."""
    return isinstance(number, int) or number == number.to_integral_value()


def half_open_label(low: Number, high: Number, whole: bool) -> str:
    """Name the interval from ``low`` up to, but without, ``high``.

    Examples
    --------
    >>> half_open_label(30, 40, whole=True), half_open_label(30, 40, whole=False)
    ('30-39', '[30, 40)')
    """
    if whole:
        return closed_label(low, high - 1, whole=True)
    return f"[{number_label(low)}, {number_label(high)})"


def parse_half_open(name: str) -> tuple[Number, Number] | None:
    """Read the name of an interval back: where it starts, and where the next one would start.

    Examples
    --------
    >>> parse_half_open("30-39"), parse_half_open("[30, 40)"), parse_half_open("-5--1")
    ((30, 40), (30, 40), (-5, 0))
    >>> parse_half_open("Kansas"), parse_half_open("37")
    (None, None)
    """
    text = name.strip()
    if text.startswith("[") and text.endswith(")") and "," in text:
        low, high = (parse_number(part) for part in text[1:-1].split(",", 1))
    else:
        cut = text.find("-", 1)
        if cut < 0:
            return None
        low, last = parse_number(text[:cut]), parse_number(text[cut + 1 :])
        high = None if last is None else last + 1
    return None if low is None or high is None else (low, high)


def closed_label(low: Number, high: Number, whole: bool) -> str:
    """Name the interval from ``low`` to ``high``, both within.

    Examples
    --------
    >>> closed_label(30, 42, whole=True), closed_label(Decimal("1.5"), 2, whole=False), closed_label(7, 7, True)
    ('30-42', '[1.5, 2]', '7')
    """
    if low == high:
        return number_label(low)
    if whole:
        return f"{number_label(low)}-{number_label(high)}"
    return f"[{number_label(low)}, {number_label(high)}]"


def top_label(point: Number) -> str:
    """Name all numbers at or above a point.

    Examples
    --------
    >>> top_label(90), bottom_label(Decimal("2.5"))
    ('90+', '2.5 or less')
    """
    return number_label(point) + ABOVE


def bottom_label(point: Number) -> str:
    """Name all numbers at or below a point."""
    return number_label(point) + BELOW


def counted_as(label: str) -> Number | None:
    """Return the number that a value counts as where spans are measured: an open end counts as its point alone.

    How far the numbers beyond a point reach is for nobody to know, so no measure may depend on it.

    Examples
    --------
    >>> counted_as("90+"), counted_as("7.50"), counted_as("none")
    (90, Decimal('7.5'), None)
    """
    number, ends = parse_number(label), parse_open(label)
    return ends[0] if number is None and ends is not None else number


def parse_open(text: str) -> tuple[Number, str] | None:
    """Read the name of an open end back: its point, and which of ``ABOVE`` and ``BELOW`` stands after it.

    Examples
    --------
    >>> parse_open("90+"), parse_open("2.5 or less"), parse_open("90"), parse_open("90.0+")
    ((90, '+'), (Decimal('2.5'), ' or less'), None, None)
    """
    for sign in (ABOVE, BELOW):
        if text.endswith(sign):
            number = parse_number(text.removesuffix(sign))
            if number is not None and number_label(number) + sign == text:
                return number, sign
    return None
