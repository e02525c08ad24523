"""The formats of files, by their names: how a file of each is opened. A new one is one entry."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.errors import DataError, Problem
from hedgerow.outside.unpacking import unpacked
from hedgerow.plan import DataFormat, Plan
from hedgerow.plan.formats import by_ending, by_name, is_packed
from hedgerow.verification.reading.cells import unguard
from hedgerow.verification.reading.columnar import Kind
from hedgerow.verification.reading.delimited import Dialect
from hedgerow.verification.reading.packages import KINDS_OF
from hedgerow.verification.reading.tables import (
    RELEASED,
    OpenTable,
    check_quotes,
    open_columnar,
    open_csv,
    open_texts,
    read_csv_header,
)
from hedgerow.verification.values.notation import in_notation

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes
    ----------
    original
        Opens a file that a release was made from.
    released
        Opens the data of a release, given its plan; None if no release is written so.
    """

    original: Callable[[Path, DataFormat], OpenTable]
    released: Callable[[Path, Plan | None], OpenTable] | None = None


def open_original(path: Path, form: DataFormat) -> OpenTable:
    """Open a file or a folder that a release was made from: what the plan says it is, else what its name says."""
    if is_packed(path.name) and not path.is_dir():
        return _inside(path, form)
    return _open(path, path.name, form)


def _open(path: Path, called: str, form: DataFormat) -> OpenTable:
    told = by_name(called)
    name = "parquet" if path.is_dir() else form.format or (told.name if told is not None else "csv")
    if name not in FORMATS:
        message = "The check has no reader of its own for files of this format."
        raise DataError(Problem("format", message, str(path), "give the original in another format"))
    return FORMATS[name].original(path, form)


def _inside(path: Path, form: DataFormat) -> OpenTable:
    """Open the file that is in a compressed one; it is there as long as the table."""
    held = contextlib.ExitStack()
    inner, called = held.enter_context(unpacked(path, "The file"))
    with _told_of(path):
        opened = _open(inner, called, form)

    def batches(at: Sequence[int], held: object = held) -> Iterator[pa.RecordBatch]:
        with _told_of(path):
            yield from opened.batches(at)

    return replace(opened, place=str(path), batches=batches)


@contextlib.contextmanager
def _told_of(path: Path) -> Iterator[None]:
    """Let messages name the file that was given, not the one inside."""
    try:
        yield
    except DataError as error:
        raise DataError([replace(problem, place=str(path)) for problem in error.problems]) from None


def open_released(path: Path, plan: Plan | None = None) -> OpenTable:
    """Open the data of a release, which is named after its format; of some the plan tells what their cells mean."""
    told = by_ending(path.suffix)
    released = None if told is None else FORMATS[told.name].released
    if released is None:
        raise DataError(Problem("format", "No release is written in this format.", str(path)))
    return released(path, plan)


def guess_delimiter(path: Path, form: DataFormat) -> str:
    """Return the delimiter that cuts the header into most cells; the plan of a release normally names it."""
    return max(",;\t|", key=lambda one: len(read_csv_header(path, Dialect(one, form.quote, form.encoding))))


def _original_csv(path: Path, form: DataFormat) -> OpenTable:
    delimiter = form.delimiter or guess_delimiter(path, form)
    opened = open_csv(path, Dialect(delimiter, form.quote, form.encoding, header=form.header))
    return replace(opened, header=tuple(name.strip() for name in opened.header))


def _released_csv(path: Path, plan: Plan | None) -> OpenTable:
    dialect = RELEASED
    if plan is not None and plan.data.output == "as-read":
        form = plan.data
        dialect = Dialect(form.delimiter or ",", form.quote, form.encoding, empty_is_missing=True)
    opened = open_csv(path, dialect)
    check_quotes(path, dialect)
    opened = replace(opened, header=tuple(map(unguard, opened.header)), guarded=True)
    if plan is None or plan.data.output != "as-read" or plan.data.decimal == ".":
        return opened
    return replace(opened, with_commas=frozenset(name for name in opened.header if in_notation(plan, name)))


def _original_columnar(kind: Kind, path: Path, form: DataFormat) -> OpenTable:
    return open_columnar(kind, path)


def _package(name: str, path: Path, form: DataFormat) -> OpenTable:
    return open_texts("packages:package", path, 8, package=name, labels=form.labels)


def _original_workbook(path: Path, form: DataFormat) -> OpenTable:
    asked = {"sheet": form.sheet, "header": form.header, "decimal": form.decimal}
    return open_texts("workbooks:workbook", path, 16, **asked)


def _released_workbook(path: Path, plan: Plan | None) -> OpenTable:
    return open_texts("workbooks:workbook", path, 16, sheet="data", header=True, decimal=".")


def _released_parquet(path: Path, plan: Plan | None) -> OpenTable:
    return open_columnar("parquet", path)


def _released_package(name: str, path: Path, plan: Plan | None) -> OpenTable:
    labels = "publish" if plan is None else plan.data.labels
    opened = open_texts("packages:package", path, 8, package=name, labels=labels, all_used=True)
    if plan is None:
        return opened
    for column, title in zip(opened.header, opened.titles, strict=True):
        if title and (column not in plan.attributes or not (plan.attributes[column].title or "").startswith(title)):
            raise DataError(Problem("format", "A column has a title that the plan does not give it.", str(path)))
    return _as_planned(opened, plan)


def _as_planned(opened: OpenTable, plan: Plan) -> OpenTable:
    """Put the columns that say why others are missing where the plan has them: the file has no place for them."""
    import pyarrow as pa

    why = [name for name in plan.released_columns if name.endswith(KINDS_OF) and name in opened.header]
    header = [name for name in opened.header if name not in why]
    for name in why:
        header.insert(plan.released_columns.index(name), name)
    at = [opened.header.index(name) for name in header]
    schema = pa.schema([opened.schema.field(position) for position in at])
    return replace(
        opened,
        header=tuple(header),
        schema=schema,
        batches=lambda wanted: opened.batches([at[position] for position in wanted]),
    )


FORMATS: dict[str, Format] = {
    "csv": Format(_original_csv, _released_csv),
    "parquet": Format(partial(_original_columnar, "parquet"), _released_parquet),
    "arrow": Format(partial(_original_columnar, "arrow")),
    "excel": Format(_original_workbook, _released_workbook),
    "spss": Format(partial(_package, "spss"), partial(_released_package, "spss")),
    "stata": Format(partial(_package, "stata"), partial(_released_package, "stata")),
    "sas": Format(partial(_package, "sas")),
}
