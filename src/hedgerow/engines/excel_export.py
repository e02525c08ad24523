"""Writing releases as Excel workbooks of one sheet.

Text is written as text, so that no program takes a cell for a formula. A day before March 1900, about which programs do
not agree, makes its column one of text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hedgerow.engines.labelled import ReleasedColumn, released_columns
from hedgerow.engines.release_dialect import ReleaseDialect
from hedgerow.engines.rows import Rows
from hedgerow.engines.writer import Writer, read_text_back
from hedgerow.errors import DataError, Problem

MOST_ROWS, MOST_COLUMNS, LONGEST_TEXT = 1_048_575, 16_384, 32_767
FIRST_DAY = dt.date(1900, 3, 1)
"""Excel takes 1900 for a leap year: before this day, programs do not agree on dates."""
LONG_AGO = dt.datetime(2000, 1, 1)
FORMATS = {"day": "yyyy-mm-dd", "moment": "yyyy-mm-dd hh:mm:ss"}


def write_excel(rows: Rows, path: Path, dialect: ReleaseDialect) -> None:
    """Write a workbook."""
    import xlsxwriter

    columns = [_without_early_days(column) for column in released_columns(rows, with_codes=False, with_kinds=False)]
    _check(columns)
    book = xlsxwriter.Workbook(path, {"in_memory": True, "strings_to_numbers": False, "strings_to_urls": False})
    book.set_properties({"created": LONG_AGO})  # when it was written is nobody's business
    sheet = book.add_worksheet("data")
    for at, column in enumerate(columns):
        sheet.write_string(0, at, column.name)
        form = book.add_format({"num_format": FORMATS[column.kind]}) if column.kind in FORMATS else None
        for row, cell in enumerate(column.cells, start=1):
            if cell is None:
                continue
            if column.kind == "text":
                sheet.write_string(row, at, cell)
            elif column.kind == "number":
                sheet.write_number(row, at, cell)
            else:
                sheet.write_datetime(row, at, cell, form)
    book.close()


def _without_early_days(column: ReleasedColumn) -> ReleasedColumn:
    days = [cell for cell in column.cells if cell is not None] if column.kind in FORMATS else []
    if all(day.isoformat() >= FIRST_DAY.isoformat() for day in days):
        return column
    cells: Sequence[Any] = [None if cell is None else _written(cell) for cell in column.cells]
    return ReleasedColumn(column.name, column.title, "text", cells)


def _written(cell: dt.date) -> str:
    return cell.isoformat(sep=" ") if isinstance(cell, dt.datetime) else cell.isoformat()


def _check(columns: Sequence[ReleasedColumn]) -> None:
    rows = max((len(column.cells) for column in columns), default=0)
    if rows > MOST_ROWS or len(columns) > MOST_COLUMNS:
        message = f"The release is larger than an Excel sheet: {rows:,} rows, {len(columns):,} columns."
        raise DataError(Problem("output", message, hint="write another format: --format csv"))
    for column in columns:
        if column.kind == "text" and any(cell is not None and len(cell) > LONGEST_TEXT for cell in column.cells):
            message = f"Column {column.name!r} holds texts too long for a cell of Excel."
            raise DataError(Problem("output", message, hint="write another format: --format csv"))


EXCEL = Writer(write_excel, read_text_back)
