"""What every engine offers: reading a table where it lies, collapsed; applying a recoding to it.

An engine has a table of somebody's. ``read`` gives its columns, domains and profiles with counts: a local engine gives
every record, an SQL engine one row for all records that agree. Everything in between — encoding, clustering, searching
— knows nothing of engines. ``apply`` says what is released as which group; the rows come in the canonical order, so
that a file made of them is the same from every engine, and no order of rows tells the order of the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from hedgerow.anonymization.executing import Executor
from hedgerow.engines.release_dialect import STANDARD, ReleaseDialect
from hedgerow.engines.rows import Rows
from hedgerow.microdata import Microdata, Table
from hedgerow.microdata.ordering import number_rows
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan

if TYPE_CHECKING:
    import pyarrow as pa


class Engine(Protocol):
    """A table where it lies.

    Messages name it by its place, never with a password. The library is that of the table that was given: ``pandas``,
    ``polars``, ``spark`` or ``pyarrow``.
    """

    @property
    def place(self) -> str:
        """How messages name the data."""

    @property
    def library(self) -> str:
        """The library of the table that was given."""

    def read(self, plan: Plan, also: Sequence[str] = ()) -> Table:
        """Read the columns that a plan needs, collapsed as far as the engine does; ``also``: further columns."""

    @property
    def executor(self) -> Executor:
        """Runs clusterings: here, or where the engine has more hands; the result is the same."""

    def apply(self, plan: Plan, table: Table, whole: Microdata, microdata: Microdata, recoding: Recoding) -> Rows:
        """Give the rows of a release, in the order of published values.

        ``whole`` is all of the table, ``microdata`` the released records of it, which ``recoding`` groups.
        """

    def write(self, rows: Rows, folder: Path, form: str, dialect: ReleaseDialect = STANDARD) -> str:
        """Write released rows into a folder, as ``csv``, ``parquet`` or ``parts``, and return the file's name."""

    def close(self) -> None:
        """Let go of what was opened, and remove what was made on the way."""


def published_labels(microdata: Microdata, recoding: Recoding) -> list[pa.DictionaryArray]:
    """Return what every group is published as, by quasi-identifier; each distinct value is named once."""
    import pyarrow as pa

    columns = []
    for position, column in enumerate(microdata.columns):
        shown, shows = recoding.shown(position), recoding.shows(position)
        told = [] if shown.told is None else list(shown.told.T)
        which, count = number_rows([shown.lo, shown.hi, shown.node + 1, shows, *told])
        first = np.zeros(count, np.int64)
        first[which] = np.arange(len(which))
        labels = column.labels(shown[first])
        values = [label if there else None for label, there in zip(labels, shows[first].tolist(), strict=True)]
        columns.append(pa.DictionaryArray.from_arrays(pa.array(which.astype(np.int32)), pa.array(values, pa.string())))
    return columns
