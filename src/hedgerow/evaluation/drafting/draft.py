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

from hedgerow.errors import DataError, Problem
from hedgerow.evaluation.drafting.column import SeenColumn, as_text
from hedgerow.evaluation.drafting.examination import PREVIEW, Examination, Preview
from hedgerow.microdata import Table, column_names, read_table
from hedgerow.microdata.header import first_record, no_header
from hedgerow.microdata.read import check_file, duplicates, place_of
from hedgerow.plan import DataFormat, Plan
from hedgerow.types import Progress

if TYPE_CHECKING:
    import pyarrow as pa

Found = TypeVar("Found")
LOOKING = "looking at columns"
"""What a progress callback is told, with the number of columns done and of all."""


TRUST = "if they are names, say so: --trust-names (in Python trust_names=True)"


def examine_here(
    source: Any,
    form: DataFormat | None = None,
    progress: Progress | None = None,
    rows: int = PREVIEW,
    trust_names: bool = False,
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
    trust_names
        Take the names of the columns for names, though they look like values.
    """
    table = in_likely_encoding(source, form or DataFormat(), lambda likely: _read_all(source, likely, trust_names))
    columns = []
    for done, (name, values) in enumerate(table.columns.items()):
        if progress is not None:
            progress(LOOKING, done, len(table.columns))
        columns.append(SeenColumn.of(name, values, table.records))
    if not trust_names:
        check_header(columns, place_of(source))
    first = {name: values.slice(0, rows) for name, values in table.columns.items()}
    return Examination.of(columns, table.format, form, preview_of(first, [*first]), table.notes)


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
    return Plan.from_dict({"data": form.model_dump(exclude_none=True), "attributes": roles, "privacy": {"k": 2}})


def preview_of(columns: Mapping[str, pa.ChunkedArray], names: Sequence[str]) -> Preview:
    """Return a few records as rows of text; of columns that were not read nothing is shown."""
    length = len(next(iter(columns.values()), ()))
    texts = [as_text(columns[name]) if name in columns else [None] * length for name in names]
    return tuple(zip(*texts, strict=True))


def check_some(names: Sequence[str]) -> None:
    """Refuse a table without columns."""
    if not names:
        raise DataError(Problem("empty", "The table has no columns.", hint="give a table with columns"))


def check_names(names: Sequence[str], place: str, trust_names: bool) -> None:
    """Refuse names that are values or stand twice: they would stand in the draft, and in messages."""
    record = None if trust_names else first_record(names, place, TRUST)
    problems = duplicates(names, (), place) if record is None else [record]
    if problems:
        raise DataError(problems)


def check_header(columns: Sequence[SeenColumn], place: str) -> None:
    """Refuse a table whose first line is a record, by what stands below it: its cells would be names in the draft.

    So it seems where more than half of the names are values of their columns, or a quarter and at least two are.
    """
    found = sum(column.name in column.counts for column in columns)
    if 2 * found > len(columns) or (found >= 2 and 4 * found >= len(columns)):
        why = f"of {len(columns):,} names {found:,} are also values of their columns"
        raise DataError(no_header(why, place, TRUST))


def _read_all(source: Any, form: DataFormat, trust_names: bool) -> Table:
    """Read a table as under a plan that releases every column."""
    check_file(source)
    names = column_names(source, form)
    check_some(names)
    check_names(names, place_of(source), trust_names)
    return read_table(source, reading_plan(names, form))
