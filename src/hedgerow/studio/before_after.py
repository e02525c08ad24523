"""Some records as they were beside what they became. It shows records, so it is for the owner's screen only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.engines import local
from hedgerow.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

GROUPS, WITHHELD = 4, 4
"""Groups that are shown, and withheld records."""
OF_A_GROUP = 12
"""Records that are shown of one group: all of most groups, so that it can be seen how many look alike."""
FARTHEST = 2_000
"""Rows on either side among which those of a group are counted."""
FIRST_ROWS = 20
LONGEST = 60


def before_and_after(release: Release, data: str) -> dict[str, Any]:
    """Pick records from all over a release, a few of each group, and some that were withheld.

    Parameters
    ----------
    release
        A release that was just made.
    data
        What it was made from. Where records have no numbers (in databases and very large files) nothing says what
        became of which, and only released rows are picked.

    Returns
    -------
    dict
        ``columns``; ``linked``, whether originals are known; ``sizes``, how many rows each group has, and whether it
        may have more; ``rows``, each with ``group`` (rows of one group stand together), ``before`` and ``after``:
        texts, None where a cell is missing. ``after`` is None for a record that was withheld, ``before`` is None where
        originals are not known.
    """
    columns = list(release.plan.released_columns)
    if not isinstance(release.rows.link, np.ndarray):
        return {"columns": columns, "linked": False, "sizes": [], "rows": _first_rows(release, columns)}
    record_of_row, table = release.record_of_row, release.table
    source = local.read(data, release.plan.untreated())
    behind = np.setdiff1d(np.arange(source.records), record_of_row)
    withheld = [int(record) for record in behind[_spread(len(behind), WITHHELD)]]
    picked: dict[int, int] = {}
    sizes: list[tuple[int, bool]] = []
    for place in _spread(table.num_rows, GROUPS):
        if place in picked:
            continue
        rows_like, more = _rows_like(table, release.plan.quasi_identifiers, place)
        if rows_like[0] in picked:
            continue  # a large group that is shown already
        picked |= dict.fromkeys(rows_like[:OF_A_GROUP], len(sizes))
        sizes.append((len(rows_like), more))
    records = [*(int(record_of_row[row]) for row in picked), *withheld]
    before = _texts((source.columns[name] for name in columns), records)
    after = _texts((table.column(name) for name in columns), list(picked))
    rows: list[dict[str, Any]] = [
        {"group": group, "before": old, "after": new}
        for group, old, new in zip(picked.values(), before, after, strict=False)
    ]
    rows += [{"group": None, "before": old, "after": None} for old in before[len(picked) :]]
    return {"columns": columns, "linked": True, "sizes": sizes, "rows": rows}


def _first_rows(release: Release, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the first released rows, without reading all of them."""
    import pyarrow as pa

    first = next((batch for batch in release.rows.batches() if batch.num_rows), None)
    if first is None:
        return []
    table = pa.Table.from_batches([first.slice(0, FIRST_ROWS)])
    shown = _texts((table.column(name) for name in columns), range(table.num_rows))
    return [{"group": None, "before": None, "after": row} for row in shown]


def _spread(size: int, most: int) -> list[int]:
    """Return up to ``most`` places that lie evenly among ``size``.

    Examples
    --------
    >>> _spread(100, 4), _spread(2, 4)
    ([12, 37, 62, 87], [0, 1])
    """
    most = min(most, size)
    return [size * (2 * number + 1) // (2 * most) for number in range(most)]


def _rows_like(table: pa.Table, quasi_identifiers: Sequence[str], place: int) -> tuple[list[int], bool]:
    """Return the rows of the group at a place, which lie beside each other, and whether there may be more of them."""
    first = max(0, place - FARTHEST)
    near = table.select(list(quasi_identifiers)).slice(first, place - first + FARTHEST + 1)
    here = near.slice(place - first, 1).to_pylist()[0]
    alike = np.ones(near.num_rows, bool)
    for name in quasi_identifiers:
        values = near.column(name).to_pylist()
        alike &= np.array([value == here[name] for value in values])
    low = high = place - first
    while low and alike[low - 1]:
        low -= 1
    while high + 1 < len(alike) and alike[high + 1]:
        high += 1
    more = (low == 0 and first > 0) or (high + 1 == len(alike) and first + high + 1 < table.num_rows)
    return list(range(first + low, first + high + 1)), bool(more)


def _texts(columns: Iterable[pa.ChunkedArray], rows: Iterable[int]) -> list[list[str | None]]:
    import pyarrow as pa

    numbers = pa.array(list(rows), pa.int64())
    found = [[_text(value) for value in column.take(numbers).to_pylist()] for column in columns]
    return [list(row) for row in zip(*found, strict=True)]


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
