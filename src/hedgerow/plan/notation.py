"""How numbers are written in cells of text: which sign stands before the fraction, and which between thousands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from hedgerow.plan.hierarchy.numbers import ABOVE, BELOW, MOST_CHARACTERS, parse_number

BLANKS = " \u00a0\u2009\u202f"
"""Blanks that stand between thousands: the usual one, one that no line breaks at, and two narrow ones."""
APOSTROPHES = "'\u2019"
NO_NUMBER = "\0"
"""What a cell begins with that would be a number in the usual notation, and is none in its own."""


@dataclass(frozen=True)
class Notation:
    """A way to write numbers.

    Attributes
    ----------
    decimal, thousands
        The sign before the fraction; the one between groups of three digits, None for none. A blank stands for any.

    Examples
    --------
    >>> german = Notation(",", ".")
    >>> [german.number(text) for text in ("1.234,50", "1234,5", "-7", "72.5", "12.34", "ca. 7")]
    ['1234.50', '1234.5', '-7', None, None, None]
    """

    decimal: str = "."
    thousands: str | None = None

    @property
    def usual(self) -> bool:
        """Tell whether it is the notation of plans: a decimal point, and nothing between thousands."""
        return self.decimal == "." and self.thousands is None

    def number(self, text: str) -> str | None:
        """Write a number in the usual notation; None if the text is no number in this one."""
        text = text.strip()
        if len(text) > MOST_CHARACTERS or not _pattern(self.decimal, self.thousands).fullmatch(text):
            return None
        for sign in _alike(self.thousands):
            text = text.replace(sign, "")
        return text.replace(self.decimal, ".")

    def meant(self, text: str) -> str:
        r"""Return a cell as what it means: a number in the usual notation, and anything else as it is.

        What is a number in the usual notation only is marked, so that nobody takes it for one.

        Examples
        --------
        >>> Notation(",").meant("72,5"), Notation(",").meant("72.5"), Notation(",").meant("about 72")
        ('72.5', '\x0072.5', 'about 72')
        >>> Notation(",").meant("72,5+")
        '72.5+'
        """
        number = self.number(text)
        if number is not None:
            return number
        for sign in (ABOVE, BELOW):
            point = self.number(text.removesuffix(sign)) if text.endswith(sign) else None
            if point is not None:
                return point + sign
        return f"{NO_NUMBER}{text}" if parse_number(text) is not None else text


@cache
def _pattern(decimal: str, thousands: str | None) -> re.Pattern[str]:
    whole = r"[0-9]+"
    if thousands is not None:
        whole += rf"|[0-9]{{1,3}}([{re.escape(_alike(thousands))}])[0-9]{{3}}(?:\1[0-9]{{3}})*"
    sign = re.escape(decimal)
    return re.compile(rf"[+-]?(?:(?:{whole})(?:{sign}[0-9]*)?|{sign}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?")


def _alike(thousands: str | None) -> str:
    """Return the signs that count as the one that is given."""
    return {" ": BLANKS, "'": APOSTROPHES, None: ""}.get(thousands, thousands or "")
