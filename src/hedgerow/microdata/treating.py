"""Treating columns: what becomes of every value before anything else is done with it.

A treatment is a function of the value alone, so it is done where a table is read: whatever comes after, encoding,
privacy models, groups and rows, knows nothing but treated values. Numbers at or beyond a point become text such as
``90+``, others are rounded, days become months. Numbers are rounded first, so that none lies at a point: what is
treated already stays as it is. The arithmetic is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.microdata.columns import distinct_labels, in_records
from hedgerow.plan import Attribute, DataFormat, Plan
from hedgerow.plan.hierarchy.builders import date_label, parse_day
from hedgerow.plan.hierarchy.numbers import (
    MOST_CHARACTERS,
    Number,
    bottom_label,
    is_whole,
    number_label,
    parse_number,
    simplest,
    top_label,
)
from hedgerow.plan.model import Treatment
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa


def treated_columns(columns: dict[str, pa.ChunkedArray], plan: Plan) -> dict[str, pa.ChunkedArray]:
    """Return columns with those treated that a plan treats, and report the problems of all of them together.

    Where the points of a treatment are found in the data, the column stays as it is.
    """
    found, problems = dict(columns), list[Problem]()
    for name, attribute in plan.attributes.items():
        if attribute.treat is not None and attribute.treat.found and name in columns:
            try:
                found[name] = treated(name, attribute, columns[name], plan.data)
            except HedgerowError as error:
                problems += error.problems
    if problems:
        raise DataError(problems)
    return found


def weights_as_read(columns: Mapping[str, pa.ChunkedArray], plan: Plan) -> pa.ChunkedArray | None:
    """Return the sampling weights as they were read, where the plan treats them; else they are in their column."""
    if plan.weight is None or plan.weight.column not in plan.attributes or plan.weight.column not in columns:
        return None
    return None if plan.attributes[plan.weight.column].treat is None else columns[plan.weight.column]


def treated(
    name: str, attribute: Attribute, column: pa.ChunkedArray, data: DataFormat, counts: IntArray | None = None
) -> pa.ChunkedArray:
    """Return a column with every value treated; one of numbers stays one where all values stay numbers.

    Raises
    ------
    DataError
        If a value is no number, or no day, and the plan does not say what happens to it.
    """
    import pyarrow as pa

    assert attribute.treat is not None
    labels, indices = distinct_labels(column)
    change = treatment(attribute.treat, data, written=_is_text(column.type))
    changed = [None if label is None else change(label) for label in labels]
    lost = [label is not None and new is None for label, new in zip(labels, changed, strict=True)]
    if any(lost) and attribute.unknown == "error":
        what = "are not numbers" if attribute.treat.of_numbers else "are not days"
        bad = np.array(lost, bool)[indices]
        message = f"Column {name!r}: {in_records(bad, counts, f' ({sum(lost):,} different values) {what}')}."
        hint = "add a missing marker to data.missing, or set 'unknown: own-leaf-under-root' to publish them as they are"
        raise DataError(Problem("not-a-number" if attribute.treat.of_numbers else "no-leaf", message, hint=hint))
    texts = [label if new is None else new for label, new in zip(labels, changed, strict=True)]
    if _is_number(column.type) and not attribute.treat.open_ends and attribute.treat.of_numbers:
        kind = column.type
        if pa.types.is_integer(kind) and attribute.treat.round is not None and not is_whole(attribute.treat.round):
            kind = pa.float64()
        return pa.chunked_array([_numbers(texts, kind).take(pa.array(indices))])
    place = {text: at for at, text in enumerate(sorted({text for text in texts if text is not None}))}
    of_label = np.array([-1 if text is None else place[text] for text in texts], np.int32)
    codes = of_label[indices]
    array = pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(list(place), pa.string()))
    return pa.chunked_array([array])


def treatment(treat: Treatment, data: DataFormat, written: bool = True) -> Callable[[str], str | None]:
    """Return what becomes of a cell; None of one that it does not know.

    ``written``: whether cells are written as the plan says numbers are, and are to be so again.

    Examples
    --------
    >>> pay = treatment(Treatment(top=90000, bottom=10000, round=1000), DataFormat())
    >>> [pay(cell) for cell in ("90000", "89700", "1500.50", "about 7", "40500", "41500")]
    ['90000+', '90000+', '10000 or less', None, '40000', '42000']
    >>> treatment(Treatment(dates="quarter"), DataFormat(dates="%d.%m.%Y"))("24.12.1999")
    '1999-Q4'
    """
    if treat.dates is not None:
        level, form = treat.dates, treat.form or data.dates

        def period(cell: str) -> str | None:
            day = parse_day(cell, form if written else None)
            return None if day is None else date_label(day, level)

        return period
    read = _reader(data, written)

    def number(cell: str) -> str | None:
        found = read(cell)
        if found is None:
            return None
        label = _label(found, treat)
        return label.replace(".", data.decimal) if written else label

    return number


def number_of(data: DataFormat, kind: pa.DataType) -> Callable[[str], Number | None]:
    """Return what reads the numbers of a column of some type, from its labels."""
    return _reader(data, _is_text(kind))


def _reader(data: DataFormat, written: bool) -> Callable[[str], Number | None]:
    notation = data.notation
    return lambda cell: parse_number(notation.meant(cell) if written else cell)


def _label(number: Number, treat: Treatment) -> str:
    if treat.round is not None:
        number = rounded(number, treat.round)
    top, bottom = (None if point is None else point.at for point in (treat.top, treat.bottom))
    if top is not None and number >= top:
        return top_label(top)
    if bottom is not None and number <= bottom:
        return bottom_label(bottom)
    return number_label(number)


def rounded(number: Number, base: Number) -> Number:
    """Round a number to a multiple of another, halves to even multiples, so that sums do not drift.

    Examples
    --------
    >>> rounded(1250, 100), rounded(1350, 100), rounded(-49, 100), rounded(Decimal("0.3"), Decimal("0.25"))
    (1200, 1400, 0, Decimal('0.25'))
    """
    times = round(Fraction(number) / Fraction(base))
    if isinstance(base, int):
        return times * base
    with localcontext(prec=2 * MOST_CHARACTERS):
        return simplest(times * base)


def _numbers(texts: list[str | None], kind: pa.DataType) -> pa.Array:
    """Write numbers in the type that they had, or in the widest of its kind where that has no room for them."""
    import pyarrow as pa

    if pa.types.is_floating(kind):
        return pa.array([None if text is None else float(text) for text in texts], kind)
    numbers: list[Any] = [None if text is None else Decimal(text) for text in texts]
    wide: Any = pa.decimal128(38, max(kind.scale, 0)) if pa.types.is_decimal(kind) else pa.int64()
    if pa.types.is_integer(kind):
        numbers = [None if number is None else int(number) for number in numbers]
    try:
        return pa.array(numbers, kind)
    except (pa.ArrowInvalid, OverflowError):
        return pa.array(numbers, wide)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
