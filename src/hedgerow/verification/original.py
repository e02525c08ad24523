"""Reading the original data and the link table, independently of what made the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from hedgerow.errors import DataError, Problem
from hedgerow.plan import DataFormat, Plan
from hedgerow.verification.parsing import Dialect
from hedgerow.verification.tables import (
    Kind,
    arrow_table,
    as_text,
    kind_of,
    read_columnar,
    read_csv,
    read_csv_header,
    trim,
)

if TYPE_CHECKING:
    import pyarrow as pa

IntArray = npt.NDArray[np.int64]
ENDINGS: dict[str, Literal["parquet", "arrow"]] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


@dataclass(frozen=True)
class Original:
    """The data that a release was made from.

    Attributes
    ----------
    columns
        The cells of the columns that matter, as trimmed text; null where missing.
    kinds
        What these columns held before.
    records
        Number of records.
    counts
        In counted form, how many records each row of ``columns`` stands for; None: one each.
    persons
        In counted form, the number of the person behind them where persons are counted; −1: none.
    """

    columns: Mapping[str, pa.ChunkedArray]
    kinds: Mapping[str, Kind]
    records: int
    counts: IntArray | None = None
    persons: IntArray | None = None

    def distinct(self, name: str) -> list[str | None]:
        """Return the distinct cells of a column."""
        return list(self.columns[name].unique().to_pylist())

    def missing(self, name: str) -> int:
        """Return how many records have no value in a column."""
        column = self.columns[name]
        if self.counts is None:
            return int(column.null_count)
        return int(self.counts[column.is_null().to_numpy()].sum())


def read_original(source: Any, plan: Plan) -> Original:
    """Read the columns that a release was made from, and the person key, from a path or a table in memory."""
    wanted = [*plan.released_columns, *([plan.person] if plan.person is not None else [])]
    if not isinstance(source, str | Path):
        table, place = arrow_table(source), "original"
    else:
        path, place = Path(source), str(source)
        if not path.is_file():
            raise DataError(Problem("no-file", "The original does not exist or is no file.", place, "check the path"))
        kind = plan.data.format or ENDINGS.get(path.suffix.lower(), "csv")
        if kind == "csv":
            return _read_csv(path, plan.data, wanted)
        table = read_columnar(path, "parquet" if kind == "parquet" else "arrow")
    at = positions(table.column_names, wanted, place)
    found = {name: table.column(at[name]) for name in wanted}
    kinds = {name: kind_of(column) for name, column in found.items()}
    columns = {}
    for name, column in found.items():
        text = as_text(column)
        columns[name] = trim(text, plan.data.missing) if kinds[name] == "text" else text
    return Original(columns, kinds, table.num_rows)


def _read_csv(path: Path, form: DataFormat, wanted: list[str]) -> Original:
    dialect = Dialect(form.delimiter or guess_delimiter(path, form), form.quote, form.encoding)
    header = [name.strip() for name in read_csv_header(path, dialect)]
    at = positions(header, wanted, str(path))
    cells = read_csv(path, dialect, [at[name] for name in wanted], len(header))
    columns = {name: trim(column, form.missing) for name, column in zip(wanted, cells, strict=True)}
    return Original(columns, dict.fromkeys(wanted, "text"), len(cells[0]))


def guess_delimiter(path: Path, form: DataFormat) -> str:
    """Return the delimiter that cuts the header into most cells; the plan of a release normally names it."""
    return max(",;\t|", key=lambda one: len(read_csv_header(path, Dialect(one, form.quote, form.encoding))))


def positions(header: list[str], wanted: list[str], place: str) -> dict[str, int]:
    """Find the columns of the original that the plan names."""
    problems = []
    for name in wanted:
        if name not in header:
            message = f"The original has no column {name!r}, which the plan names."
            hint = "is this the file that the release was made from?"
            problems.append(Problem("missing-column", message, place, hint))
        elif header.count(name) > 1:
            message = f"The original has {header.count(name)} columns named {name!r}."
            problems.append(Problem("duplicate-column", message, place, "rename them apart"))
    if problems:
        raise DataError(problems)
    return {name: header.index(name) for name in wanted}


# -- the link table --------------------------------------------------------------------------------------------------


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

    header = [name.strip() for name in read_csv_header(path, Dialect())]
    if header != ["record", "row"]:
        raise _no_link(str(path))
    cells = read_csv(path, Dialect(), [0, 1], 2)
    try:
        record, row = (column.cast(pa.int64()).to_numpy() for column in cells)
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
