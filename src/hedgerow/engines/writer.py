"""What every format that releases are written in gives: see ``export.py``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hedgerow.engines.release_dialect import ReleaseDialect
from hedgerow.engines.rows import Rows, Selected
from hedgerow.microdata.read import file_batches
from hedgerow.plan import DataFormat


@dataclass(frozen=True)
class Writer:
    """How rows are written to a file of some format, and taken from one that was written so."""

    write: Callable[[Rows, Path, ReleaseDialect], None]
    read_back: Callable[[Path, DataFormat, ReleaseDialect], Rows]


def read_text_back(path: Path, form: DataFormat, dialect: ReleaseDialect) -> Rows:
    """Take rows from a file all of whose cells are read as text."""
    schema, batches = file_batches(path, DataFormat(labels=form.labels))
    return Rows(lambda: Selected(schema, batches))
