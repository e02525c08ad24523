"""Cells that mean a missing value: words that mean it in every table, and numbers that stand far off in a column."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.plan.hierarchy.numbers import Number, parse_number
from hedgerow.plan.notation import Notation

MISSING_MARKERS = (
    *("?", "*", "-", "--", ".", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "(null)"),
    *("k.A.", "k. A.", "k.A", "kA", "keine Angabe", "n.a.", "N.A.", "n. a.", "#NV", "#NULL!", "n/v", "fehlend"),
    *("NR", "n.r.", "non renseigné", "n.c.", "s/d", "missing", "not available", "(missing)", "(blank)", "(leer)"),
)
"""Cells that usually mean a missing value."""
LEAST = 3
"""Records that must have a number before it is taken for a marker."""
NINES = re.compile(r"-?(9{2,5}|8{2,5}|7{2,5})")
BELOW = frozenset({-1, -7, -8, -9})


def markers_in(columns: Sequence[SeenColumn]) -> tuple[str, ...]:
    """Return the words that mean a missing value and occur in some column."""
    return tuple(marker for marker in MISSING_MARKERS if any(marker in column.counts for column in columns))


def numbers_that_stand_out(column: SeenColumn, notation: Notation) -> tuple[str, ...]:
    """Return numbers such as 999 that mean a missing value, if they lie far from all others of the column.

    Examples
    --------
    >>> heights = {str(height): 2 for height in range(150, 195)} | {"999": 9}
    >>> numbers_that_stand_out(SeenColumn("height", 99, heights), Notation())
    ('999',)
    >>> numbers_that_stand_out(SeenColumn("age", 100, {str(age): 1 for age in range(100)}), Notation())
    ()
    """
    numbers: dict[str, Number] = {}
    for label in column.counts:
        text = notation.number(label)
        if text is not None and (number := parse_number(text)) is not None:
            numbers[label] = number
    coded = {label for label, number in numbers.items() if _could_mean_missing(number)}
    rest = [number for label, number in numbers.items() if label not in coded]
    if len(rest) < 5 or not coded or len(numbers) < 0.9 * column.distinct:
        return ()
    low, high = min(rest), max(rest)
    found = []
    for label in sorted(coded, key=lambda label: numbers[label]):
        number = numbers[label]
        above = float(number - high)
        far = above > max(float(high - low), abs(float(high)) / 2) or (number < 0 <= low and low - number >= 1)
        if far and column.counts[label] >= LEAST:
            found.append(label)
    return tuple(found)


def _could_mean_missing(number: Number) -> bool:
    return number in BELOW or (number == int(number) and bool(NINES.fullmatch(str(int(number)))))
