"""Points from which on values are not told apart, found in the data: by a share of the people, or by their number.

``fewest: 10`` is the highest point that ten people lie at or above; ``quantile: 0.99`` the highest that one in a
hundred does. Of all numbers that the same people lie at or above the roundest is taken, so that a point is not the
value of somebody where it need not be. A person with several records lies where the outermost of them does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.microdata.columns import distinct_labels
from hedgerow.microdata.treating import number_of, rounded, treated
from hedgerow.plan import Attribute, DataFormat, Plan
from hedgerow.plan.hierarchy.numbers import Number, simplest
from hedgerow.plan.model import Point, Treatment
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

    from hedgerow.microdata.read import Table


def found_in(
    name: str,
    attribute: Attribute,
    column: pa.ChunkedArray,
    data: DataFormat,
    counts: IntArray | None = None,
    person: IntArray | None = None,
) -> Treatment:
    """Return the treatment of a column with its points found in the records.

    Parameters
    ----------
    counts
        How many records each row stands for; None: one each.
    person
        The number of every record's person, where persons are counted.
    """
    treat = attribute.treat
    assert treat is not None
    labels, indices = distinct_labels(column)
    read = number_of(data, column.type)
    numbers = [None if label is None else read(label) for label in labels]
    if treat.round is not None:
        numbers = [None if number is None else rounded(number, treat.round) for number in numbers]
    order = sorted({number for number in numbers if number is not None})
    place = {number: at for at, number in enumerate(order)}
    of_label = np.array([-1 if number is None else place[number] for number in numbers], np.int64)
    rank = of_label[indices]
    points = {}
    for end, up in (("top", True), ("bottom", False)):
        point = getattr(treat, end)
        if point is not None and point.at is None:
            people = _people(rank, len(order), counts, person, up)
            points[end] = _point(name, end, point, order if up else order[::-1], people if up else people[::-1], treat)
    done = treat.model_copy(update=points)
    low, high = (None if point is None else point.at for point in (done.bottom, done.top))
    if low is not None and high is not None and low >= high:
        message = f"Column {name!r}: the bottom that was found does not lie below the top."
        raise DataError(
            Problem("point", message, hint="ask for fewer people beyond the points, or give them as numbers")
        )
    return done


def _people(rank: IntArray, size: int, counts: IntArray | None, person: IntArray | None, up: bool) -> IntArray:
    """Count the people of every number, the lowest first: each at the outermost of theirs."""
    there = rank >= 0
    if person is None:
        weights = None if counts is None else counts[there]
        return np.bincount(rank[there], weights=weights, minlength=size).astype(np.int64)
    outermost = np.full(int(person.max(initial=-1)) + 1, -1 if up else size, np.int64)
    (np.maximum if up else np.minimum).at(outermost, person[there], rank[there])
    return np.bincount(outermost[(outermost >= 0) & (outermost < size)], minlength=size).astype(np.int64)


def _point(name: str, end: str, point: Point, numbers: list[Number], people: IntArray, treat: Treatment) -> Point:
    """Find a point among numbers, the outermost last, and the people of each."""
    total = int(people.sum())
    share = Fraction(0) if point.quantile is None else Fraction(point.quantile)
    fewest = point.fewest or max(math.ceil((1 - share if end == "top" else share) * total), 1)
    if fewest > total:
        message = f"Column {name!r}: {total:,} people have a value, so no {fewest:,} lie beyond a point."
        raise DataError(Problem("point", message, hint="ask for fewer, or leave the column out"))
    at = int(np.flatnonzero(np.cumsum(people[::-1]) >= fewest)[0])
    value, inner = numbers[len(numbers) - 1 - at], numbers[: len(numbers) - 1 - at]
    if treat.round is None and inner:
        value = roundest(inner[-1], value) if end == "top" else -roundest(-inner[-1], -value)
    return point.model_copy(update={"at": value})


def roundest(above: Number, at_most: Number) -> Number:
    """Return the multiple of the greatest power of ten that lies above one number, and not above another.

    Examples
    --------
    >>> roundest(86_900, 87_431), roundest(92, 93), roundest(Decimal("0.11"), Decimal("0.17")), roundest(-3, 5)
    (87000, 93, Decimal('0.17'), 0)
    """
    low, high = Fraction(above), Fraction(at_most)
    exponent = len(str(max(abs(int(low)), abs(int(high)), 1)))
    while True:
        step = Fraction(10) ** exponent
        found = (high // step) * step
        if found > low:
            break
        exponent -= 1
    whole = int(found / step)
    return simplest(whole * 10**exponent if exponent >= 0 else Decimal(whole).scaleb(exponent))


# -- of whole tables ---------------------------------------------------------------------------------------------------


def points_of(table: Table, plan: Plan, rows: IntArray | None = None) -> dict[str, Treatment]:
    """Return the treatments whose points are found in the data, as some rows of a table, or all, have them found."""
    import pyarrow as pa

    person = None if plan.person is None else _numbered(table.columns[plan.person])
    found = {}
    for name, column in table.untreated.items():
        part = column if rows is None else column.take(pa.array(rows))
        people = person if rows is None or person is None else person[rows]
        found[name] = found_in(name, plan.attributes[name], part, plan.data, None, people)
    return found


def treated_by(table: Table, plan: Plan, treatments: Mapping[str, Treatment]) -> Table:
    """Return a table with the columns whose points are found in the data treated by these."""
    columns = dict(table.columns)
    for name, treat in treatments.items():
        attribute = plan.attributes[name].model_copy(update={"treat": treat})
        columns[name] = treated(name, attribute, table.untreated[name], plan.data)
    return replace(table, columns=columns, treatments=treatments)


def _numbered(column: pa.ChunkedArray) -> IntArray:
    labels, indices = distinct_labels(column)
    number = {label: at for at, label in enumerate(dict.fromkeys(labels))}
    return np.array([number[label] for label in labels], np.int64)[indices]
