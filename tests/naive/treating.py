"""What becomes of values that a plan treats, and of numbers in bands that end at a point: one value at a time."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

from .notation import read_number


def treated(
    cell: str,
    top: Decimal | None = None,
    bottom: Decimal | None = None,
    base: Decimal | None = None,
    decimal: str = ".",
    thousands: str | None = None,
) -> str | None:
    """Return what a number is published as, in the signs that it is written in; None if the cell is no number."""
    number = read_number(cell, decimal, thousands)
    if number is None:
        return None
    value = Fraction(number)
    if base is not None:
        value = nearest(value, Fraction(base))
    if top is not None and value >= top:
        return written(Fraction(top), decimal) + "+"
    if bottom is not None and value <= bottom:
        return written(Fraction(bottom), decimal) + " or less"
    return written(value, decimal)


def nearest(value: Fraction, base: Fraction) -> Fraction:
    """Walk to the multiple that is nearest; of two that are as near, take the even one."""
    below = (value // base) * base
    above = below + base
    if value - below != above - value:
        return below if value - below < above - value else above
    return below if (below / base) % 2 == 0 else above


def written(value: Fraction, decimal: str = ".") -> str:
    """Write a number whose fraction ends, digit by digit."""
    sign, value = ("-" if value < 0 else ""), abs(value)
    whole, rest = int(value), value - int(value)
    digits = ""
    while rest:
        rest *= 10
        digits += str(int(rest))
        rest -= int(rest)
    return f"{sign}{whole}" + (decimal + digits if digits else "")


def period(cell: str, level: str, form: str = "%Y-%m-%d") -> str | None:
    """Return the month, quarter or year of a day; None if the cell is none."""
    try:
        day = dt.datetime.strptime(cell, form)
    except ValueError:
        return None
    if level == "month":
        return f"{day.year:04d}-{day.month:02d}"
    if level == "quarter":
        return f"{day.year:04d}-Q{[1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4][day.month - 1]}"
    return f"{day.year:04d}"


def way_up(number: int, widths: list[int], top: int | None, bottom: int | None) -> list[str]:
    """Return a whole number, its bands and the root; beyond a point it is one value on every level."""
    if top is not None and number >= top:
        return [f"{top}+"] * (len(widths) + 1) + ["*"]
    if bottom is not None and number <= bottom:
        return [f"{bottom} or less"] * (len(widths) + 1) + ["*"]
    names = [str(number)]
    for width in widths:
        band = [one for one in range(number - width, number + width + 1) if one // width == number // width]
        inside = [one for one in band if (top is None or one < top) and (bottom is None or one > bottom)]
        names.append(str(number) if len(inside) == 1 else f"{inside[0]}-{inside[-1]}")
    return [*names, "*"]


def highest_point(values: list[Fraction], people: list[int], fewest: int, base: Fraction | None = None) -> Fraction:
    """Return the roundest point that as many people lie at or above as at the highest value with ``fewest`` of them.

    A person lies where the highest of their values does. With a base the values are rounded, and the point is one.
    """
    if base is not None:
        values = [nearest(value, base) for value in values]
    for value in sorted(set(values), reverse=True):
        if len({person for one, person in zip(values, people, strict=True) if one >= value}) >= fewest:
            lower = [one for one in values if one < value]
            return value if base is not None or not lower else roundest(max(lower), value)
    raise ValueError("fewer people than asked for")


def roundest(above: Fraction, at_most: Fraction) -> Fraction:
    """Return the multiple of the greatest power of ten that lies above one number, and not above another."""
    for exponent in range(40, -40, -1):
        step = Fraction(10) ** exponent
        found = (at_most // step) * step
        if found > above:
            return found
    return at_most
