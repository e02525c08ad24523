"""Drafting a plan: what a table's columns look like, and what a person must decide about them.

A draft is a starting point. It proposes the safe choice: what looks like the name or number of a person is left out,
and everything else is coarsened. It never calls a column sensitive or harmless, because
nothing in a table shows what people outside know; where a column's name raises the question, the draft asks it.

A draft shows types, rounded counts and round band widths, but no value of any record, not even the smallest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.evaluation.drafting.column import SeenColumn, as_text
from hedgerow.evaluation.drafting.examination import PREVIEW, Examination, Preview
from hedgerow.microdata import Table, column_names, read_table
from hedgerow.microdata.columns import MOST_NAMED, distinct_labels
from hedgerow.microdata.header import first_record, no_header
from hedgerow.microdata.read import check_file, duplicates, place_of, sniffed
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
    likely, reasons = sniffed(source, form or DataFormat())
    table = _read_all(source, likely, trust_names)
    columns = []
    for done, (name, values) in enumerate(table.columns.items()):
        if progress is not None:
            progress(LOOKING, done, len(table.columns))
        columns.append(SeenColumn.of(name, values, table.records))
    if not trust_names and likely.header:
        check_header(columns, place_of(source))
    first = {name: values.slice(0, rows) for name, values in table.columns.items()}

    def rows_with(name: str, labels: frozenset[str]) -> tuple[int, ...]:
        known, which = distinct_labels(table.columns[name])
        found = np.flatnonzero(np.array([label in labels for label in known], bool)[which])
        return tuple(int(row) + 1 for row in found[:MOST_NAMED])

    preview = preview_of(first, [*first])
    return Examination.of(columns, table.format, form, preview, table.notes, reasons, rows_with)


# -- reading ---------------------------------------------------------------------------------------------------------


def in_likely_encoding(source: Any, form: DataFormat, read: Callable[[DataFormat], Found]) -> Found:
    """Read a source; how a file of text is written is found out, as far as it is not stated."""
    return read(sniffed(source, form)[0])


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
    check_names(names, place_of(source), trust_names or not form.header)
    return read_table(source, reading_plan(names, form))
