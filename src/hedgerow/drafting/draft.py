"""Drafting a plan: what a table's columns look like, and what a person must decide about them.

A draft is a starting point. It proposes the safe choice: what looks like the name or number of a person is left out,
and everything else is coarsened. It never calls a column sensitive or harmless, because
nothing in a table shows what people outside know; where a column's name raises the question, the draft asks it.

A draft shows types, rounded counts and round band widths, but no value of any record, not even the smallest.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hedgerow.drafting.column import Column, as_text
from hedgerow.drafting.examination import PREVIEW, Examination, Preview
from hedgerow.errors import DataError, Problem
from hedgerow.microdata import Table, column_names, read_table
from hedgerow.microdata.read import check_file
from hedgerow.plan import DataFormat, Plan
from hedgerow.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

Found = TypeVar("Found")
LOOKING = "looking at columns"
"""The stage that a progress callback is told, with the number of columns done and of all."""


def examine_here(
    source: Any, form: DataFormat | None = None, progress: Progress | None = None, rows: int = PREVIEW
) -> Examination:
    """Look at a file or a table in memory.

    Parameters
    ----------
    source
        A path (CSV, Parquet, Arrow) or a pandas, polars or pyarrow table.
    form
        How a file is written; what it leaves out is found out.
    progress
        Called for every column.
    rows
        Rows to show in the preview.
    """
    table = in_likely_encoding(source, form or DataFormat(), lambda likely: _read_all(source, likely))
    columns = []
    for done, (name, values) in enumerate(table.columns.items()):
        if progress is not None:
            progress(LOOKING, done, len(table.columns))
        columns.append(Column.of(name, values, table.records))
    if isinstance(source, str | Path) and table.format.delimiter is not None:
        check_header(columns, str(source))
    first = {name: values.slice(0, rows) for name, values in table.columns.items()}
    return Examination.of(columns, table.format, form, preview_of(first, [*first]))


# -- reading ---------------------------------------------------------------------------------------------------------


def in_likely_encoding(source: Any, form: DataFormat, read: Callable[[DataFormat], Found]) -> Found:
    """Read a source; a CSV file that is not UTF-8 is tried in the encodings it is likely to have."""
    if "encoding" in form.model_fields_set or not isinstance(source, str | Path):
        return read(form)
    try:
        return read(form)
    except DataError as error:
        if {problem.code for problem in error.problems} != {"encoding"}:
            raise
    with Path(source).open("rb") as file:
        marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if not marked:
        try:
            return read(form.model_copy(update={"encoding": "cp1252"}))
        except DataError:
            pass  # it has bytes that no Windows text has
    return read(form.model_copy(update={"encoding": "utf-16" if marked else "latin-1"}))


def reading_plan(names: Sequence[str], form: DataFormat) -> Plan:
    """Return a plan under which columns are read."""
    roles = dict.fromkeys(names, "quasi-identifier")
    return Plan.from_dict({"data": form, "attributes": roles, "privacy": {"k": 2}})


def preview_of(columns: Mapping[str, pa.ChunkedArray], names: Sequence[str]) -> Preview:
    """Return a few records as rows of text; of columns that were not read nothing is shown."""
    length = len(next(iter(columns.values()), ()))
    texts = [as_text(columns[name]) if name in columns else [None] * length for name in names]
    return tuple(zip(*texts, strict=True))


def check_some(names: Sequence[str]) -> None:
    """Refuse a table without columns."""
    if not names:
        raise DataError(Problem("empty", "The table has no columns.", hint="give a table with columns"))


def check_header(columns: Sequence[Column], place: str) -> None:
    """Refuse a file whose first line is a record: its cells would stand in the draft as column names."""
    suspicious = sum(column.name in column.counts for column in columns)
    if 2 * suspicious > len(columns):
        message = "The first line seems to be a record, not the names of the columns: its cells are values below it."
        raise DataError(Problem("format", message, place, "add a first line with the column names"))


def _read_all(source: Any, form: DataFormat) -> Table:
    """Read a table as under a plan that releases every column."""
    check_file(source)
    names = column_names(source, form)
    check_some(names)
    return read_table(source, reading_plan(names, form))
