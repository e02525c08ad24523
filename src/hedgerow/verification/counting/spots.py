"""Where something is wrong: how many cells of a column, and the first row that has one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Spot = tuple[int, int]
"""How many cells of a column are concerned, and the first row of the release that has one; 0: rows have no numbers."""


def spot(cells: Iterable[Spot]) -> Spot:
    """Put spots of one column together.

    Examples
    --------
    >>> spot([(3, 7), (1, 2)]), spot([])
    ((4, 2), (0, 0))
    """
    counts, rows = [0], []
    for count, row in cells:
        counts.append(count)
        rows.append(row)
    return sum(counts), min(rows, default=0)


def where(spots: Mapping[str, Spot]) -> str:
    """Say how many cells of which columns are concerned; nothing if none is.

    Examples
    --------
    >>> where({"age": (2, 5), "sex": (0, 0), "zip": (1, 0)})
    'age: 2 cells, first in row 5; zip: 1 cells'
    """
    return "; ".join(f"{name}: {count} cells{first_in_row(row)}" for name, (count, row) in spots.items() if count)


def first_in_row(row: int) -> str:
    """Name a row, if rows have numbers."""
    return f", first in row {row}" if row else ""
