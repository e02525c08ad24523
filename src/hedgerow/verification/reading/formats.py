"""The formats of files, by their names: how a file of each is opened. A new one is one entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from hedgerow.errors import DataError, Problem
from hedgerow.plan import DataFormat
from hedgerow.plan.formats import by_ending
from hedgerow.verification.reading.cells import unguard
from hedgerow.verification.reading.columnar import Kind
from hedgerow.verification.reading.delimited import Dialect
from hedgerow.verification.reading.tables import OpenTable, check_quotes, open_columnar, open_csv, read_csv_header


@dataclass(frozen=True)
class Format:
    """A format.

    Attributes
    ----------
    original
        Opens a file that a release was made from.
    released
        Opens the data of a release; None if no release is written so.
    """

    original: Callable[[Path, DataFormat], OpenTable]
    released: Callable[[Path], OpenTable] | None = None


def open_original(path: Path, form: DataFormat) -> OpenTable:
    """Open a file or a folder that a release was made from: what the plan says it is, else what its name says."""
    told = by_ending(path.suffix)
    name = "parquet" if path.is_dir() else form.format or (told.name if told is not None else "csv")
    if name not in FORMATS:
        message = "The check has no reader of its own for files of this format."
        raise DataError(Problem("format", message, str(path), "give the original in another format"))
    return FORMATS[name].original(path, form)


def open_released(path: Path) -> OpenTable:
    """Open the data of a release, which is named after its format."""
    released = FORMATS[path.suffix[1:].lower()].released
    assert released is not None
    return released(path)


def guess_delimiter(path: Path, form: DataFormat) -> str:
    """Return the delimiter that cuts the header into most cells; the plan of a release normally names it."""
    return max(",;\t|", key=lambda one: len(read_csv_header(path, Dialect(one, form.quote, form.encoding))))


def _original_csv(path: Path, form: DataFormat) -> OpenTable:
    opened = open_csv(path, Dialect(form.delimiter or guess_delimiter(path, form), form.quote, form.encoding))
    return replace(opened, header=tuple(name.strip() for name in opened.header))


def _released_csv(path: Path) -> OpenTable:
    opened = open_csv(path, Dialect(empty_is_missing=True))
    check_quotes(path)
    return replace(opened, header=tuple(map(unguard, opened.header)), guarded=True)


def _original_columnar(kind: Kind, path: Path, form: DataFormat) -> OpenTable:
    return open_columnar(kind, path)


FORMATS: dict[str, Format] = {
    "csv": Format(_original_csv, _released_csv),
    "parquet": Format(partial(_original_columnar, "parquet"), partial(open_columnar, "parquet")),
    "arrow": Format(partial(_original_columnar, "arrow")),
}
