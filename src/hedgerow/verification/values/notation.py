"""Numbers in other notations than that of plans, such as 1.234,50; written anew, as everything that checks."""

from __future__ import annotations

import re

from hedgerow.plan import Plan
from hedgerow.verification.values.numbers import FROM, MOST_CHARACTERS, TO, read_number, read_span

SAME = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}
"""Signs between thousands that count as one."""
STRANGE = "\0"
"""Put before a cell that only another notation takes for a number."""


def in_notation(plan: Plan, name: str, role: str = "quasi-identifier") -> bool:
    """Tell whether values of a column of some role are looked at as numbers, in a notation of the plan's own.

    Sensitive values may be numbers without a hierarchy, too.
    """
    attribute = plan.attributes.get(name)
    if attribute is None or attribute.role != role or (plan.data.decimal == "." and plan.data.thousands is None):
        return False
    spec = attribute.hierarchy
    if spec is None or attribute.free:
        return attribute.free or role == "sensitive"
    return spec.bands is not None or spec.cuts is not None


def usual(text: str, decimal: str, thousands: str | None) -> str:
    r"""Return a cell with the number in it as plans write numbers; one that is no number stays as it is.

    Examples
    --------
    >>> usual("1.234,50", ",", "."), usual("12.34", ",", "."), usual("1 234", ",", " "), usual("none", ",", None)
    ('1234.50', '\x0012.34', '1234', 'none')
    """
    stripped = text.strip()
    for sign in (FROM, TO):
        if stripped.endswith(sign):
            point = usual(stripped.removesuffix(sign), decimal, thousands)
            return point + sign if read_number(point) is not None else text
    whole = stripped.partition(decimal)[0]
    plain = _joined(whole, thousands)
    number = None if plain is None else plain + stripped[len(whole) :].replace(decimal, ".", 1)
    if number is None or len(stripped) >= MOST_CHARACTERS or read_number(number) is None or number.count(".") > 1:
        return f"{STRANGE}{text}" if read_number(text) is not None else text
    return number


def _joined(whole: str, thousands: str | None) -> str | None:
    """Take the signs between thousands out of the digits before the fraction; None if they do not stand by threes."""
    if "." in whole and thousands != ".":
        return None
    if thousands is None:
        return whole
    signs = SAME.get(thousands, thousands)
    used = {sign for sign in whole if sign in signs}
    if not used:
        return whole
    sign = whole[0] if whole[0] in "+-" else ""
    first, *others = whole[len(sign) :].split(used.pop())
    power = ""
    if others and "e" in others[-1].lower():
        at = others[-1].lower().index("e")
        others[-1], power = others[-1][:at], others[-1][at:]
    threes = all(len(group) == 3 and group.isascii() and group.isdigit() for group in others)
    if used or not threes or not (1 <= len(first) <= 3 and first.isascii() and first.isdigit()):
        return None
    return sign + first + "".join(others) + power


_COMMA = re.compile(r"-?[0-9]+,[0-9]+")
_OPEN = re.compile(r"(-?[0-9]+,[0-9]+)(\+| or less)")
_ENDS = re.compile(r"\[(-?[0-9]+(?:,[0-9]+)?); (-?[0-9]+(?:,[0-9]+)?)([\])])")


def with_points(label: str) -> str:
    r"""Read a published number or interval that has decimal commas; one with points is nothing that is published.

    Examples
    --------
    >>> with_points("72,5"), with_points("[70,5; 80)"), with_points("70-79"), with_points("72.5")
    ('72.5', '[70.5, 80)', '70-79', '\x0072.5')
    """
    if _COMMA.fullmatch(label):
        return label.replace(",", ".")
    if found := _OPEN.fullmatch(label):
        return found[1].replace(",", ".") + found[2]
    if ends := _ENDS.fullmatch(label):
        low, high = ends[1].replace(",", "."), ends[2].replace(",", ".")
        return f"[{low}, {high}{ends[3]}"
    strange = "." in label and (read_number(label) is not None or read_span(label) is not None)
    return f"{STRANGE}{label}" if strange or label.startswith("[") else label
