"""What treated values must be published as, worked out anew: points, rounding and periods.

A value that is no number, or no day, stays as it is: whether it may is up to the plan.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.plan import Attribute, DataFormat, Plan
from hedgerow.plan.model import Point
from hedgerow.verification.values.dates import period_of
from hedgerow.verification.values.notation import usual
from hedgerow.verification.values.numbers import FROM, TO, Exact, exact, name_number, read_number, read_open


@dataclass(frozen=True)
class TreatedColumn:
    """What a plan says of the values of a column, and how they are written.

    Attributes
    ----------
    top, bottom, base
        Points, and what numbers are multiples of.
    period
        What days become.
    forms
        How days are written; none: as ISO says.
    decimal, thousands
        How numbers are written in cells of text.
    strays
        Whether what is no number, or no day, may be published as it is.
    beyond
        Of points that were found in the data: what is published beyond them, and of how many, or of which share, at
        least.
    """

    top: Exact | None = None
    bottom: Exact | None = None
    base: Exact | None = None
    period: str | None = None
    forms: tuple[str, ...] = ()
    decimal: str = "."
    thousands: str | None = None
    strays: bool = False
    beyond: tuple[tuple[str, int | None, Fraction | None], ...] = ()

    @classmethod
    def of(cls, attribute: Attribute, form: DataFormat) -> TreatedColumn | None:
        """Read what a plan says; None if it treats the column in no way."""
        asked = attribute.treat
        if asked is None:
            return None
        top, bottom = (
            None if point is None or point.at is None else exact(point.at) for point in (asked.top, asked.bottom)
        )
        said = asked.form or form.dates
        return cls(
            top,
            bottom,
            None if asked.round is None else exact(asked.round),
            asked.dates,
            (said,) if isinstance(said, str) else tuple(said or ()),
            form.decimal,
            form.thousands,
            attribute.unknown != "error",
            tuple(_promised(asked.top, FROM, True) + _promised(asked.bottom, TO, False)),
        )

    def of_value(self, value: str, written: bool) -> str:
        """Return what a value must be published as; ``written``: it is a cell of text, as the plan says cells are.

        Examples
        --------
        >>> pay = TreatedColumn(top=900, bottom=-5, base=Fraction(5, 2), decimal=",")
        >>> [pay.of_value(value, True) for value in ("900,0", "899", "-5", "1,25", "3,75", "none")]
        ['900+', '900+', '-5 or less', '0', '5', 'none']
        >>> TreatedColumn(period="month", forms=("%d.%m.%Y",)).of_value("24.12.1999", True)
        '1999-12'
        """
        if self.period is not None:
            return self._of_day(value, self.forms if written else ())
        number = read_number(usual(value, self.decimal, self.thousands) if written else value)
        if number is None:
            return value
        return self._written(self._of_number(number), written)

    def _of_number(self, number: Exact) -> str:
        if self.base is not None:
            number = _nearest(number, self.base)
        if self.top is not None and not number < self.top:
            return name_number(self.top) + FROM
        if self.bottom is not None and not number > self.bottom:
            return name_number(self.bottom) + TO
        return name_number(number)

    def _of_day(self, value: str, forms: tuple[str, ...]) -> str:
        for form in forms or (None,):
            with suppress(ValueError):
                day = dt.datetime.strptime(value, form) if form else dt.datetime.fromisoformat(value)
                month = f"{day.year:04d}-{day.month:02d}"
                quarter = f"{day.year:04d}-Q{(day.month - 1) // 3 + 1}"
                return {"month": month, "quarter": quarter}.get(str(self.period), f"{day.year:04d}")
        return value

    def _written(self, label: str, written: bool) -> str:
        return label.replace(".", self.decimal) if written else label

    def makes(self, label: str, usual_signs: bool = False) -> bool:
        """Tell whether some value may be published as this; ``usual_signs``: numbers have decimal points for certain.

        Examples
        --------
        >>> pay = TreatedColumn(top=900, base=100)
        >>> [pay.makes(label) for label in ("900+", "900", "850", "1000", "800", "90+", "none")]
        [True, False, False, False, True, False, False]
        """
        if self.period is not None:
            found = period_of(label)
            if found is not None and found[2] != "day":
                return found[2] == self.period
            return self.strays and self._of_day(label, self.forms) == label
        signs = (".",) if usual_signs else (self.decimal, ".")
        return any(self._makes(label, sign) for sign in dict.fromkeys(signs))

    def _makes(self, label: str, sign: str) -> bool:
        if sign != "." and "." in label:
            return False
        plain = label.replace(sign, ".")
        if self.top is not None and plain == name_number(self.top) + FROM:
            return True
        if self.bottom is not None and plain == name_number(self.bottom) + TO:
            return True
        number = read_number(plain)
        if number is None:
            return self.strays and read_open(plain) is None
        if (self.top is not None or self.bottom is not None) and plain != name_number(number):
            return False  # a column that is only rounded keeps its type, and how that writes numbers
        if self.base is not None and Fraction(number) % Fraction(self.base) != 0:
            return False
        return (self.top is None or number < self.top) and (self.bottom is None or number > self.bottom)


def rules_of(plan: Plan, names: Collection[str]) -> dict[str, TreatedColumn]:
    """Return what a plan says of those columns that it treats."""
    known = {name: TreatedColumn.of(plan.attributes[name], plan.data) for name in names if name in plan.attributes}
    return {name: rule for name, rule in known.items() if rule is not None}


def _promised(point: Point | None, sign: str, up: bool) -> list[tuple[str, int | None, Fraction | None]]:
    if point is None or (point.fewest is None and point.quantile is None):
        return []
    name = "" if point.at is None else name_number(exact(point.at)) + sign
    share = None if point.quantile is None else Fraction(point.quantile)
    return [(name, point.fewest, None if share is None else 1 - share if up else share)]


def _nearest(number: Exact, base: Exact) -> Exact:
    """Return the nearest multiple; of two that are as near, the even one."""
    whole, rest = divmod(Fraction(number), Fraction(base))
    twice = 2 * rest - Fraction(base)
    up = twice > 0 or (twice == 0 and whole % 2 == 1)
    return exact((whole + up) * Fraction(base))
