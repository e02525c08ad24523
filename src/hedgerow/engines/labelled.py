"""Released columns as programs with types and labels want them: numbers, days, text, or codes with labels.

What a column becomes depends on its released cells alone, and on what its file said of it. A column that is neither all
numbers nor all days is text where it was text. Otherwise its cells get codes: those that the file had keep theirs, and
coarsened values get new ones from the next hundred on.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hedgerow.engines.rows import Rows
from hedgerow.errors import DataError, Problem
from hedgerow.microdata.notes import WHY, ColumnNote
from hedgerow.microdata.parsing.texts import number_text

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["number", "text", "day", "moment", "coded"]
MOST_CODES = 10_000
"""Different cells of a column that gets codes; one with more is text."""
STEP = 100


@dataclass(frozen=True)
class ReleasedColumn:
    """A column as it is written.

    Attributes
    ----------
    cells
        Floats, days, moments, texts or codes; None is missing.
    labels
        The labels of codes.
    whys
        Of which kind each missing cell is; None: of no kind that is known.
    kinds
        The code that the file had for each kind of missing value.
    """

    name: str
    title: str
    kind: Kind
    cells: Sequence[Any]
    labels: Mapping[Any, str] = field(default_factory=dict)
    whys: Sequence[str | None] | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Tell whether all its numbers are whole."""
        return self.kind in ("number", "coded") and all(cell is None or cell == int(cell) for cell in self.cells)


def released_columns(rows: Rows, with_codes: bool, with_kinds: bool) -> list[ReleasedColumn]:
    """Return all columns of a release.

    Parameters
    ----------
    rows
        The rows, all of which are taken into memory.
    with_codes
        Whether cells may get codes with labels.
    with_kinds
        Whether a missing cell can say of which kind it is; a column ``x (missing)`` is part of column ``x`` then.
    """
    import pyarrow as pa

    table = pa.Table.from_batches(rows.batches(), rows.schema)
    found = []
    for name in table.column_names:
        if with_kinds and name.endswith(WHY) and name.removesuffix(WHY) in table.column_names:
            continue
        note = rows.notes.get(name, ColumnNote())
        column = _column(name, table.column(name), note, with_codes)
        if with_kinds and name + WHY in table.column_names:
            whys = _as_text(table.column(name + WHY)).to_pylist()
            if any(why is not None and cell is not None for why, cell in zip(whys, column.cells, strict=True)):
                message = (
                    f"Where {name + WHY!r} says why a cell is missing, {name!r} is not: one of them was coarsened."
                )
                hint = "make it sensitive or other, leave it out, or write another format: --format csv"
                raise DataError(Problem("output", message, hint=hint))
            column = ReleasedColumn(
                name, column.title, column.kind, column.cells, column.labels, whys, note.missing
            )  # fmt: skip
        found.append(column)
    return found


def _column(name: str, column: pa.ChunkedArray, note: ColumnNote, with_codes: bool) -> ReleasedColumn:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = [None if cell is None or cell != cell else float(cell) for cell in column.to_pylist()]
        return ReleasedColumn(name, note.title, "number", numbers, _labels(set(numbers), note))
    if pa.types.is_date(kind):
        return ReleasedColumn(name, note.title, "day", column.to_pylist())
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return ReleasedColumn(name, note.title, "moment", column.cast(pa.timestamp("us")).to_pylist())
    return _of_text(name, _as_text(column).to_pylist(), note, with_codes)


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa

    return column.cast(pa.string())


def _of_text(name: str, cells: list[str | None], note: ColumnNote, with_codes: bool) -> ReleasedColumn:
    different = {cell for cell in cells if cell is not None}
    if note.kind != "text" and different:
        labelled = note.published and not different.isdisjoint(note.codes)
        values: dict[str, Any] | None = None if labelled else _all(different, _number)
        if values is not None:
            return ReleasedColumn(
                name, note.title, "number", _given(cells, values), _labels(set(values.values()), note)
            )  # fmt: skip
        days = _all(different, _day)
        if days is not None:
            return ReleasedColumn(name, note.title, "day", _given(cells, days))
        moments = _all(different, _moment)
        if moments is not None:
            return ReleasedColumn(name, note.title, "moment", _given(cells, moments))
        if with_codes and note.published and note != ColumnNote() and len(different) <= MOST_CODES:
            codes = _codes(different, note)
            labels = {code: cell for cell, code in codes.items() if _number(cell) != code}
            return ReleasedColumn(name, note.title, "coded", _given(cells, codes), labels)
    of_text = {} if note.published else {code: label for label, code in note.codes.items() if code in different}
    return ReleasedColumn(name, note.title, "text", cells, of_text)


def _given(cells: Sequence[str | None], values: Mapping[str, Any]) -> list[Any]:
    return [None if cell is None else values[cell] for cell in cells]


def _all(different: set[str], read: Any) -> dict[str, Any] | None:
    """Read all different cells; None if one cannot be read."""
    found = {}
    for cell in different:
        value = read(cell)
        if value is None:
            return None
        found[cell] = value
    return found


def _labels(values: set[Any], note: ColumnNote) -> dict[float, str]:
    """Return the labels of those codes that are there, where codes were kept."""
    if note.published:
        return {}
    known = {_number(code): label for label, code in note.codes.items()}
    return {code: label for code, label in known.items() if code is not None and code in values}


def _codes(different: set[str], note: ColumnNote) -> dict[str, float]:
    """Give every cell a code: that of the file, else the cell itself if it is a number, else a new one."""
    codes: dict[str, float] = {}
    taken: set[float] = set()
    rest = []
    for cell in sorted(different, key=_in_order):
        code = _number(note.codes[cell]) if cell in note.codes else _number(cell)
        if code is None or code in taken:
            rest.append(cell)
        else:
            codes[cell] = code
            taken.add(code)
    free = (int(max(taken, default=0)) // STEP + 1) * STEP + 1 if max(taken, default=0) >= 0 else STEP + 1
    return codes | {cell: float(free + at) for at, cell in enumerate(rest)}


def _in_order(cell: str) -> tuple[float, str]:
    """Order cells by the number they begin with, then as text.

    Examples
    --------
    >>> sorted(["10-14", "*", "5-9"], key=_in_order)
    ['5-9', '10-14', '*']
    """
    first = re.match(r"[\[(]?(-?\d{1,15}(?:\.\d{1,9})?)", cell)
    return (float(first[1]) if first else float("inf"), cell)


def _number(cell: str) -> float | None:
    """Read a number that is written as we write it, and that a float holds."""
    if not re.fullmatch(r"-?\d{1,16}(\.\d{1,17})?", cell, re.ASCII):
        return None
    number = float(cell)
    return number if number_text(number) == cell else None


def _day(cell: str) -> dt.date | None:
    return dt.date.fromisoformat(cell) if re.fullmatch(r"\d{4}-\d\d-\d\d", cell, re.ASCII) and _is_day(cell) else None


def _is_day(cell: str) -> bool:
    try:
        dt.date.fromisoformat(cell[:10])
    except ValueError:
        return False
    return True


def _moment(cell: str) -> dt.datetime | None:
    """Read a moment in whole seconds."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d ([01]\d|2[0-3]):[0-5]\d:[0-5]\d", cell, re.ASCII) or not _is_day(cell):
        return None
    return dt.datetime.fromisoformat(cell)
