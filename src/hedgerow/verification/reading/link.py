"""Reading the link table: which record is behind which row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.types import IntArray
from hedgerow.verification.reading.delimited import Dialect
from hedgerow.verification.reading.tables import arrow_table, open_csv


@dataclass(frozen=True)
class Link:
    """Which record of the original each row of the release was made from, both counted from 1."""

    record: IntArray
    row: IntArray

    def order(self, rows: int, records: int) -> tuple[IntArray | None, str]:
        """Return, for every row of the release, the index of its record; or None and what is wrong.

        Examples
        --------
        >>> Link(np.array([3, 1]), np.array([1, 2])).order(rows=2, records=3)[0]
        array([2, 0])
        >>> Link(np.array([3, 3]), np.array([1, 2])).order(rows=2, records=3)[1]
        '1 records are linked to more than one row'
        """
        outside = int(np.sum((self.row < 1) | (self.row > rows))) + int(
            np.sum((self.record < 1) | (self.record > records))
        )
        if outside:
            return None, f"{outside} links point outside the release or the original"
        for numbers, what in ((self.record, "records are linked to more than one row"),
                              (self.row, "rows are linked to more than one record")):  # fmt: skip
            doubled = int(np.sum(np.bincount(numbers, minlength=1) > 1))
            if doubled:
                return None, f"{doubled} {what}"
        if len(self.row) != rows:
            return None, f"{rows - len(self.row)} rows of the release have no link"
        order = np.empty(rows, np.int64)
        order[self.row - 1] = self.record - 1
        return order, ""


def read_link(source: Any) -> Link:
    """Read a link table: a CSV file ``record,row``, a table in memory, or a pair of arrays (record, row)."""
    if isinstance(source, str | Path):
        return _read_link_csv(Path(source))
    if isinstance(source, tuple | list) and len(source) == 2:
        return Link(_whole_numbers(source[0], "link"), _whole_numbers(source[1], "link"))
    table = arrow_table(source)
    if set(table.column_names) != {"record", "row"}:
        raise _no_link("link")
    return Link(*(_whole_numbers(table.column(name).to_numpy(), "link") for name in ("record", "row")))


def _read_link_csv(path: Path) -> Link:
    import pyarrow as pa

    opened = open_csv(path, Dialect())
    if [name.strip() for name in opened.header] != ["record", "row"]:
        raise _no_link(str(path))
    try:
        record, row = (column.cast(pa.int64()).to_numpy() for column in opened.table([0, 1]).columns)
    except pa.ArrowInvalid:
        raise _no_link(str(path)) from None
    return Link(record, row)


def _whole_numbers(numbers: Any, place: str) -> IntArray:
    array = np.asarray(numbers)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise _no_link(place)
    return array.astype(np.int64)


def _no_link(place: str) -> DataError:
    message = "A link table must have two columns of whole numbers, 'record' and 'row'."
    return DataError(Problem("format", message, place, "give the table that anonymize wrote"))
