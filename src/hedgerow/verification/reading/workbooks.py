"""Workbooks of Excel and LibreOffice as the check reads them; run in a child process.

The archive is taken apart by python-calamine, as for the maker; what a cell means is worked out here, anew.
"""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError, Problem
from hedgerow.outside.sandbox import TaskResult
from hedgerow.outside.sandbox.limits import ROOM, most_cells, most_unpacked
from hedgerow.verification.reading.refusals import check_names
from hedgerow.verification.values.numbers import exact, name_number

ROWS = 1 << 16
MOST_ENTRIES = 10_000


def workbook_header(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return the names of the columns: the first row that is not empty."""
    return TaskResult({"header": _sheet(files[0], request)[0]})


def workbook_rows(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Return columns by position, as text."""
    import pyarrow as pa

    _, columns = _sheet(files[0], request)
    write = partial(_text, decimal=request["decimal"])
    wanted = [pa.array([write(cell) for cell in columns[at]], pa.string()) for at in request["columns"]]
    table = pa.table(wanted, names=[f"f{at}" for at in request["columns"]])
    return TaskResult({}, table.schema, table.to_batches(ROWS))


def _sheet(path: str, request: Mapping[str, Any]) -> tuple[list[str], list[Sequence[Any]]]:
    place, room = request["place"], request["room"]
    size = Path(path).stat().st_size
    try:
        import python_calamine

        raw = Path(path).read_bytes()
        _bound(raw, place, room)
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw))
        visible = [one.name for one in book.sheets_metadata if one.visible == python_calamine.SheetVisibleEnum.Visible]
        sheet = book.get_sheet_by_name(request["sheet"] or (visible or book.sheet_names)[0])
        if sheet.total_height * sheet.total_width > most_cells(size, room):
            raise _too_much(place, f"{most_cells(size, room):,} cells")
        rows = [row for row in sheet.to_python() if any(cell != "" for cell in row)]
        if not rows:
            raise DataError(Problem("empty", "The sheet is empty.", place))
        columns = list(zip(*rows, strict=True))
        columns = [column for column in columns if any(cell != "" for cell in column)]
        named = request["header"]
        header = [(_text(column[0]) or "").strip() if named else f"column {at}" for at, column in enumerate(columns, 1)]
    except (DataError, MemoryError):
        raise
    except Exception:  # its words may hold cells
        message = "The file cannot be read as Excel, or has no sheet of that name."
        raise DataError(Problem("format", message, place, "check that the file is whole, and data.sheet")) from None
    check_names(header, place)
    return header, [column[1:] if named else column for column in columns]


def _bound(raw: bytes, place: str, room: float) -> None:
    """Refuse an archive that unpacks to too much: by what it says first, then by what comes out."""
    if not raw.startswith(b"PK"):
        return
    most = left = most_unpacked(len(raw), room)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_ENTRIES or sum(entry.file_size for entry in entries) > most:
            raise _too_much(place, f"{most >> 20:,} MiB")
        for entry in entries:
            with archive.open(entry) as file:
                while block := file.read(1 << 18):
                    left -= len(block)
                    if left < 0:
                        raise _too_much(place, f"{most >> 20:,} MiB")


def _too_much(place: str, what: str) -> DataError:
    message = f"The workbook unpacks to more than {what}, too much for its size."
    return DataError(Problem("too-much", message, place, f"if you trust it, set {ROOM}=10 in the environment"))


def _text(cell: Any, decimal: str = ".") -> str | None:
    if cell == "" or cell is None or cell != cell:
        return None
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int | float):
        if abs(cell) == float("inf"):
            return repr(cell)
        return name_number(exact(Decimal(repr(cell)))).replace(".", decimal)
    if isinstance(cell, dt.timedelta):
        sign, span = ("-", -cell) if cell.days < 0 else ("", cell)
        whole, rest = divmod(span, dt.timedelta(seconds=1))
        part = f".{rest.microseconds:06}".rstrip("0") if rest else ""
        return f"{sign}{whole // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}{part}"
    return cell.isoformat(" ") if isinstance(cell, dt.datetime) else str(cell.isoformat())
