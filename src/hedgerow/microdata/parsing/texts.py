"""Tables whose cells become text one by one, whatever else stands in their column: as a CSV file would have them.

So the type of a column does not depend on any of its cells, and a release does not depend on those it withholds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hedgerow.errors import HedgerowError
from hedgerow.microdata.notes import ColumnNote
from hedgerow.microdata.parsing.form import Form
from hedgerow.outside.sandbox.limits import ROOM, most_cells
from hedgerow.plan.hierarchy.numbers import number_label

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 1 << 16
EXACT = 10**15
"""Whole numbers below this are exact in a float, and written without an exponent."""

Cells = Sequence[str | None]


@dataclass(frozen=True)
class TextTable:
    """A file whose columns come as text.

    Attributes
    ----------
    notes
        What is said of each column, by name and in order.
    load
        Reads some columns whole.
    """

    form: Form
    notes: Mapping[str, ColumnNote]
    rows: int | None
    unpacked: int
    load: Callable[[Sequence[str]], Mapping[str, Cells]]

    @property
    def schema(self) -> pa.Schema:
        """All columns are text."""
        import pyarrow as pa

        return pa.schema([note.on(name) for name, note in self.notes.items()])

    def read(self, wanted: Sequence[str]) -> pa.Table:
        """Read some columns whole."""
        import pyarrow as pa

        whole = self.schema
        schema = pa.schema([whole.field(name) for name in wanted])
        with parsing(self.form):
            found = self.load(wanted)
            return pa.table([pa.array(found[name], pa.string()) for name in wanted], schema=schema)

    def batches(self, wanted: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns piece by piece."""
        yield from self.read(wanted).to_batches(BATCH)


@contextmanager
def parsing(form: Form) -> Iterator[None]:
    """Say in our own words that a file cannot be read: a library's may hold cells."""
    try:
        yield
    except (HedgerowError, MemoryError):
        raise
    except Exception:  # whatever a parser raises of a stranger's bytes
        raise form.unreadable() from None


def check_cells(form: Form, size: int, rows: int, columns: int) -> None:
    """Refuse more cells than a file of so many bytes may have."""
    most = most_cells(size, form.room)
    if rows * max(columns, 1) > most:
        message = f"The file unpacks to more than {most:,} cells, too many for its size."
        raise form.too_much(message, f"if you trust it, set {ROOM}=10 in the environment")


def texts(cells: Sequence[Any], write: Callable[[Any], str | None]) -> list[str | None]:
    """Write the cells of a column; equal ones of one type are written once."""
    known = {cell: write(cell[1]) for cell in {(type(cell), cell) for cell in cells}}
    return [known[type(cell), cell] for cell in cells]


def cell_text(cell: Any) -> str | None:
    """Write a cell in the one form that its value has.

    Examples
    --------
    >>> cell_text(31.0), cell_text(0.1), cell_text("007"), cell_text(True), cell_text(float("nan"))
    ('31', '0.1', '007', 'true', None)
    >>> cell_text(dt.date(1899, 3, 1)), cell_text(dt.datetime(2024, 2, 29, 7, 5)), cell_text(dt.timedelta(hours=26))
    ('1899-03-01', '2024-02-29 07:05:00', '26:00:00')
    """
    if cell is None or isinstance(cell, str):
        return cell or None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int):
        return str(cell)
    if isinstance(cell, float):
        return number_text(cell)
    if isinstance(cell, dt.datetime):
        return cell.replace(tzinfo=None).isoformat(sep=" ")
    if isinstance(cell, dt.timedelta):
        return _duration(cell)
    return str(cell.isoformat())


def number_text(number: float) -> str | None:
    """Write a number; NaN is missing."""
    if number != number:
        return None
    if -EXACT < number < EXACT and number == int(number):
        return str(int(number))
    return str(number) if number in (float("inf"), float("-inf")) else number_label(Decimal(repr(number)))


def _duration(cell: dt.timedelta) -> str:
    sign, cell = ("-", -cell) if cell < dt.timedelta() else ("", cell)
    seconds = cell.days * 86_400 + cell.seconds
    fraction = f".{cell.microseconds:06}".rstrip("0") if cell.microseconds else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
