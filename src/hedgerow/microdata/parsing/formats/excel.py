"""Excel workbooks, and those of LibreOffice: one sheet, whose first row holds the names of the columns."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError, Problem
from hedgerow.microdata.notes import ColumnNote
from hedgerow.microdata.parsing.form import Form
from hedgerow.microdata.parsing.texts import Cells, TextTable, cell_text, check_cells, parsing, texts
from hedgerow.outside.sandbox.limits import ROOM, most_unpacked
from hedgerow.plan.formats import FormatDescriptor

MOST_PARTS = 10_000
"""Files inside a workbook."""
PIECE = 1 << 20


def open_excel(path: Path, form: Form) -> TextTable:
    """Open a workbook, and read the sheet that is asked for."""
    size = path.stat().st_size
    with parsing(form):
        import python_calamine

        _check_archive(path, form, size)
        with path.open("rb") as file:
            workbook = python_calamine.CalamineWorkbook.from_filelike(file)
            sheet = workbook.get_sheet_by_name(_sheet(workbook, form))
            check_cells(form, size, sheet.total_height, sheet.total_width)
            filled = [row for row in sheet.to_python(skip_empty_area=True) if any(cell != "" for cell in row)]
        if not filled:
            hint = "give a sheet whose first row holds the names of the columns: data.sheet names one"
            raise DataError(Problem("empty", "The sheet is empty.", form.place, hint))
        header: Sequence[Any] = filled[0] if form.header else form.numbered(len(filled[0]))
        rows = filled[1:] if form.header else filled
        columns = list(zip(*rows, strict=True)) if rows else [() for _ in header]
        kept = [at for at, name in enumerate(header) if name != "" or any(cell != "" for cell in columns[at])]
        names = [(cell_text(header[at]) or "").strip() for at in kept]
    form.check_names(names)
    cells = {name: columns[at] for name, at in zip(names, kept, strict=True)}
    if len(cells) < len(names):  # two of one name: whoever asks for the columns refuses that
        return _twice(form, names, len(rows), size)

    def write(cell: Any) -> str | None:
        text = cell_text(cell)
        return form.written(text) if text is not None and isinstance(cell, float) else text

    def load(wanted: Sequence[str]) -> dict[str, Cells]:
        return {name: texts(cells[name], write) for name in wanted}

    return TextTable(form, {name: ColumnNote() for name in names}, len(rows), size, load)


class _Twice(TextTable):
    """A sheet on which names stand twice: it has a schema, and no rows that anybody could ask for by name."""

    @property
    def schema(self) -> Any:
        import pyarrow as pa

        return pa.schema([pa.field(name, pa.string()) for name in self.load(())])


def _twice(form: Form, names: Sequence[str], rows: int, size: int) -> TextTable:
    return _Twice(form, {}, rows, size, lambda wanted: names)  # type: ignore[arg-type,return-value]


def sheet_names(path: Path, form: Form) -> list[str]:
    """Return the names of the sheets that can be seen."""
    with parsing(form):
        import python_calamine

        _check_archive(path, form, path.stat().st_size)
        with path.open("rb") as file:
            return _visible(python_calamine.CalamineWorkbook.from_filelike(file))


def _sheet(workbook: Any, form: Form) -> str:
    """Return the sheet that the plan names, else the first that can be seen."""
    names = list(workbook.sheet_names)
    if form.sheet is not None:
        if form.sheet not in names:
            message = f"The workbook has no sheet {form.sheet!r}; it has {len(names):,} of other names."
            raise DataError(Problem("format", message, form.place, "correct data.sheet in the plan"))
        return form.sheet
    return str((_visible(workbook) or names)[0])


def _visible(workbook: Any) -> list[str]:
    from python_calamine import SheetVisibleEnum

    return [str(one.name) for one in workbook.sheets_metadata if one.visible == SheetVisibleEnum.Visible]


def _check_archive(path: Path, form: Form, size: int) -> None:
    """Refuse a workbook that unpacks to far more than its size, before anything unpacks it for real."""
    if not zipfile.is_zipfile(path):
        return  # .xls is not compressed
    most, taken = most_unpacked(size, form.room), 0
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > most:
            raise _bomb(form, most)
        for part in parts:  # what a part says may be a lie: it is unpacked once, and thrown away
            with archive.open(part) as opened:
                while piece := opened.read(PIECE):
                    taken += len(piece)
                    if taken > most:
                        raise _bomb(form, most)


def _bomb(form: Form, most: int) -> DataError:
    message = f"The workbook unpacks to more than {most >> 20:,} MiB, too much for its size."
    return form.too_much(message, f"if you trust it, set {ROOM}=10 in the environment")


DESCRIPTOR = FormatDescriptor(
    name="excel",
    title="Excel",
    help="one sheet, by its name; its first row holds the names of the columns; dates are dates, all else is as typed",
    order=40,
    endings=(".xlsx", ".xlsm", ".xls", ".ods"),
    opened=open_excel,
    options=("sheet", "header", "decimal", "thousands"),
    ending="xlsx",
    needs=("python_calamine", "xlsxwriter"),
    writer="hedgerow.engines.excel_export:EXCEL",
    density=16,
)
