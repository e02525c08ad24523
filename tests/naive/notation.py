"""Numbers in other notations, read sign by sign."""

from __future__ import annotations

from decimal import Decimal

BLANKS = " \u00a0\u2009\u202f"
APOSTROPHES = "'\u2019"
DIGITS = "0123456789"


def read_number(text: str, decimal: str, thousands: str | None) -> Decimal | None:
    """Read a number that has this sign before its fraction and that between groups of three digits; None if it is none."""
    text = text.strip()
    mantissa, power = text, ""
    for sign in "eE":
        if sign in text:
            mantissa, _, power = text.partition(sign)
            unsigned = power[1:] if power[:1] in ("+", "-") else power
            if not 1 <= len(unsigned) <= 3 or any(digit not in DIGITS for digit in unsigned):
                return None
            break
    sign = ""
    if mantissa[:1] in ("+", "-"):
        sign, mantissa = mantissa[0], mantissa[1:]
    if mantissa.count(decimal) > 1:
        return None
    whole, _, fraction = mantissa.partition(decimal)
    digits = _ungrouped(whole, thousands)
    if digits is None or any(digit not in DIGITS for digit in fraction) or not digits + fraction:
        return None
    return Decimal(f"{sign}{digits or '0'}.{fraction or '0'}{'e' + power if power else ''}")


def _ungrouped(whole: str, thousands: str | None) -> str | None:
    """Take the signs between thousands out; None if they do not stand by threes, or are not all the same."""
    alike = {" ": BLANKS, "'": APOSTROPHES, None: ""}.get(thousands, thousands or "")
    used = {sign for sign in whole if sign in alike}
    if not used:
        return whole if all(digit in DIGITS for digit in whole) else None
    if len(used) > 1:
        return None
    first, *others = whole.split(used.pop())
    groups_fit = 1 <= len(first) <= 3 and all(len(group) == 3 for group in others)
    digits = first + "".join(others)
    return digits if groups_fit and all(digit in DIGITS for digit in digits) else None
