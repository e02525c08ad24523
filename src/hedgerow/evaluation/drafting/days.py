"""How the days of a column are written: in one form or several, with the day or the month first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hedgerow.plan.hierarchy.builders import parse_day

MOSTLY = 0.9
"""Share of the records with a value from which on a column is taken for days."""
FIRST, LAST = 1800, 2200
"""Years that days of people's lives are in."""
_SHAPE = re.compile(r"\d+")
_DAYS = {
    r"N4-N-N": ("%Y-%m-%d",),
    r"N4/N/N": ("%Y/%m/%d",),
    r"N4.N.N": ("%Y.%m.%d",),
    r"N8": ("%Y%m%d",),
    r"N.N.N4": ("%d.%m.%Y", "%m.%d.%Y"),
    r"N/N/N4": ("%d/%m/%Y", "%m/%d/%Y"),
    r"N-N-N4": ("%d-%m-%Y", "%m-%d-%Y"),
    r"N.N.N2": ("%d.%m.%y", "%m.%d.%y"),
    r"N/N/N2": ("%d/%m/%y", "%m/%d/%y"),
    r"N-N-N2": ("%d-%m-%y", "%m-%d-%y"),
}
"""Forms by shape; of two the day comes first in the first."""
_TIMES = {"": "", " N:N": " %H:%M", " N:N:N": " %H:%M:%S", "TN:N": "T%H:%M", "TN:N:N": "T%H:%M:%S"}
ISO = ("%Y-%m-%d", "%Y%m%d")
"""How the forms begin that are read if a plan says nothing."""


@dataclass(frozen=True)
class SeenDays:
    """How the days of a column are written.

    Attributes
    ----------
    forms
        The forms, that of most records first; none: all are written as in 2024-02-29.
    ambiguous
        Forms of which nothing in the column tells whether the day or the month comes first.
    misfits
        Values that fit none of the forms, with how many records have them.
    two_digits
        Whether years are written with two digits.
    """

    forms: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()
    misfits: Mapping[str, int] = field(default_factory=dict, repr=False)
    two_digits: bool = False

    @property
    def form(self) -> str | tuple[str, ...] | None:
        """The forms as a plan has them."""
        return None if not self.forms else self.forms[0] if len(self.forms) == 1 else self.forms


def days_of(values: Mapping[str, int], month_first: bool = True, given: Sequence[str] = ()) -> SeenDays | None:
    """Find out how the days of a column are written, given records by value; None if it holds none.

    Whether the day comes first is told by the values of each form: one with a number above 12 decides it for all.
    Where none does, an unambiguous form of the same column decides, then ``month_first`` for slashes. Forms that are
    ``given`` are taken if they fit.

    Examples
    --------
    >>> seen = days_of({"1984-05-02": 10, "31.12.1984": 15, "2/5/1984": 14, "in May": 1})
    >>> seen.forms, seen.ambiguous, dict(seen.misfits)
    (('%d.%m.%Y', '%d/%m/%Y', '%Y-%m-%d'), ('%d/%m/%Y',), {'in May': 1})
    """
    records = sum(values.values())
    if given:
        misfits = {label: count for label, count in values.items() if not is_day(label, tuple(given))}
        fits = sum(misfits.values()) <= (1 - MOSTLY) * records
        return SeenDays(tuple(given), (), misfits, any("%y" in form for form in given)) if fits else None
    shapes: dict[str, dict[str, int]] = {}
    for label, count in values.items():
        shapes.setdefault(_shape(label), {})[label] = count
    fitting = {shape: found for shape, labels in shapes.items() if (found := _forms(shape, labels))}
    inside = sum(sum(labels.values()) for shape, labels in shapes.items() if shape in fitting)
    if not fitting or inside < MOSTLY * records:
        return None
    first = {_has_day_first(found[0][0]) for found in fitting.values() if len(found) == 1}
    chosen: Counter[str] = Counter()
    ambiguous = []
    for shape, found in fitting.items():
        forms = [form for form, _ in found]
        form = forms[0]
        if len(forms) == 2:
            months = month_first and "/" in shape if first - {None} in (set(), {True, False}) else first == {False}
            form = forms[1] if months else forms[0]
            ambiguous.append(form)
        chosen[form] += sum(shapes[shape].values())
    written = tuple(form for form, _ in chosen.most_common())
    misfits = {label: count for label, count in values.items() if not is_day(label, written)}
    if all(form.startswith(ISO) for form in written) and all(
        is_day(label, None) for label in values if label not in misfits
    ):
        written = ()
    if sum(misfits.values()) > (1 - MOSTLY) * records:
        return None
    return SeenDays(
        written,
        tuple(ambiguous),
        misfits,
        any("%y" in form for form in written),
    )


def is_day(label: str, form: str | tuple[str, ...] | None) -> bool:
    """Tell whether a value is a day that people live in."""
    day = parse_day(label, form)
    return day is not None and FIRST <= day.year <= LAST


def _shape(label: str) -> str:
    """Return a value with its numbers as N, and their digits where a year may stand.

    Examples
    --------
    >>> _shape("2/5/1984"), _shape("1984-05-02 10:30"), _shape("May")
    ('N/N/N4', 'N4-N-N N:N', 'May')
    """
    day, sign, time = label.partition("T") if "T" in label else label.partition(" ")

    def sized(match: re.Match[str]) -> str:
        size = len(match[0])
        last = not any(map(str.isdigit, day[match.end() :]))
        return f"N{size}" if size in (4, 8) or (last and size == 2 and match.start()) else "N"

    if re.fullmatch(r"\d{4}-\d\d?-\d\d?", day):
        return f"N4-N-N{sign}{_SHAPE.sub('N', time)}"
    return f"{_SHAPE.sub(sized, day)}{sign}{_SHAPE.sub('N', time)}"


def _forms(shape: str, labels: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the forms of a shape in which nearly all of its values are days, and in how many records they are."""
    cut = next((at for at, sign in enumerate(shape) if sign in " T"), len(shape))
    day, time = shape[:cut], _TIMES.get(shape[cut:])
    if day not in _DAYS or time is None:
        return []
    found = []
    for form in _DAYS[day]:
        fitting = sum(count for label, count in labels.items() if is_day(label, form + time))
        found.append((form + time, fitting))
    most = max(fitting for _, fitting in found)
    if most < MOSTLY * sum(labels.values()):
        return []
    return [(form, fitting) for form, fitting in found if fitting == most]


def _has_day_first(form: str) -> bool | None:
    return None if form.startswith("%Y") else form.startswith("%d")
