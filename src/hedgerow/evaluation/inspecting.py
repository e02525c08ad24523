"""How a table is read, before there is a plan: what is assumed of its file and why, what is odd about its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError
from hedgerow.evaluation.drafting.assumptions import Assumption, ColumnRemarks, assumptions_of, remarks_on
from hedgerow.evaluation.drafting.examination import Examination
from hedgerow.evaluation.drafting.examining import examine
from hedgerow.evaluation.people import Repeat, repeats_seen
from hedgerow.microdata.read import sheet_names
from hedgerow.outside.server import is_server
from hedgerow.plan import DataFormat
from hedgerow.types import Progress

NO_NAMES = "its first line looks like a record, not like names"


@dataclass(frozen=True)
class Inspection:
    """How a table is read.

    Attributes
    ----------
    records
        Number of records.
    form
        How it is written, as a plan has it below ``data``.
    assumptions
        What is assumed, each with its reason.
    columns
        The columns, and what is odd about them.
    repeats
        Identifiers that repeat: people with several rows.
    sheets
        The sheets of a workbook.
    """

    records: int
    form: Mapping[str, Any]
    assumptions: tuple[Assumption, ...]
    columns: tuple[ColumnRemarks, ...]
    repeats: tuple[Repeat, ...] = ()
    sheets: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "repeats": [{**asdict(one), "sentence": one.sentence} for one in self.repeats]}


def inspect(source: Any, form: DataFormat | None = None, progress: Progress | None = None) -> Inspection:
    """Tell how a table is read.

    Parameters
    ----------
    source
        A path, a table in memory, or the address of a table on a server.
    form
        What is stated of how it is written; the rest is found out.
    progress
        As for :func:`hedgerow.evaluation.drafting.examine`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = inspect(pa.table({"born": ["31.12.1984", "2.5.1990"] * 30, "ward": ["a", "k.A.", "b"] * 20}))
    >>> [(one.key, one.value) for one in found.assumptions if not one.sure]
    [('missing', ('', 'k.A.'))]
    """
    seen = examine_with_or_without_names(source, form, progress)
    is_file = isinstance(source, str | Path) and not is_server(source)
    sheets = sheet_names(Path(source), form or DataFormat()) if is_file else ()
    return inspection_of(seen, sheets)


def inspection_of(seen: Examination, sheets: tuple[str, ...] = ()) -> Inspection:
    """Say how a table is read that was looked at."""
    told = assumptions_of(seen)
    if len(sheets) > 1 and "sheet" not in seen.stated:
        why = f"the first of {len(sheets)} sheets that can be seen"
        told.insert(0, Assumption("sheet", "Sheet", sheets[0], sheets[0], why, sure=False))
    written = seen.form.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    return Inspection(seen.records, written, tuple(told), tuple(remarks_on(seen)), repeats_seen(seen), sheets)


def examine_with_or_without_names(
    source: Any, form: DataFormat | None = None, progress: Progress | None = None, **more: Any
) -> Examination:
    """Look at a table; one whose first line looks like a record is read as one without names of columns."""
    try:
        return examine(source, form, progress, **more)
    except DataError as error:
        stated = form is not None and "header" in form.model_fields_set
        if stated or {problem.code for problem in error.problems} != {"no-header"} or not _has_header(source, form):
            raise
    without = (form or DataFormat()).model_copy(update={"header": False})
    return examine(source, without, progress, **more)


def _has_header(source: Any, form: DataFormat | None) -> bool:
    """Tell whether a source is a file of a format in which the first line may or may not name the columns."""
    from hedgerow.microdata.read import file_format

    if not isinstance(source, str | Path) or is_server(source):
        return False
    return "header" in file_format(Path(source), form or DataFormat()).options
