"""Reading the data that a release was made from, independently of what made the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.plan import Plan
from hedgerow.types import IntArray
from hedgerow.verification.reading.cells import Kind, as_text, distinct_cells, kind_of, map_distinct, trim
from hedgerow.verification.reading.formats import open_original
from hedgerow.verification.reading.tables import open_in_memory
from hedgerow.verification.values.notation import in_notation, usual
from hedgerow.verification.values.treatments import TreatedColumn

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Original:
    """The data that a release was made from.

    Attributes
    ----------
    columns
        The cells of the columns that matter, as trimmed text; null where missing.
    kinds
        What these columns held before.
    records
        Number of records.
    counts
        In counted form, how many records each row of ``columns`` stands for; None: one each.
    persons
        In counted form, the number of the person behind them where persons are counted; −1: none.
    weights
        The sampling weights before any treatment, where the plan names them.
    """

    columns: Mapping[str, pa.ChunkedArray]
    kinds: Mapping[str, Kind]
    records: int
    counts: IntArray | None = None
    persons: IntArray | None = None
    weights: pa.ChunkedArray | None = None

    def distinct(self, name: str) -> list[str | None]:
        """Return the distinct cells of a column."""
        return list(self.columns[name].unique().to_pylist())

    def tally(self, name: str) -> list[tuple[str | None, int]]:
        """Return the distinct cells of a column, and how many records have each."""
        texts, at = distinct_cells(self.columns[name])
        labels = [*texts, None]
        counts = np.ones(len(at), np.int64) if self.counts is None else self.counts
        total = np.zeros(len(labels), np.int64)
        np.add.at(total, at, counts)  # missing is −1: the last
        return [(label, count) for label, count in zip(labels, total.tolist(), strict=True) if count]

    def missing(self, name: str) -> int:
        """Return how many records have no value in a column."""
        column = self.columns[name]
        if self.counts is None:
            return int(column.null_count)
        return int(self.counts[column.is_null().to_numpy()].sum())


def read_original(source: Any, plan: Plan) -> Original:
    """Read the columns that a release was made from, and the key of persons or units, from a path or a table."""
    keys = (plan.person, None if plan.unit is None else plan.unit.column)
    also = (*keys, None if plan.weight is None else plan.weight.column)
    wanted = list(dict.fromkeys([*plan.released_columns, *(name for name in also if name is not None)]))
    if not isinstance(source, str | Path):
        opened = open_in_memory(source, "original")
    elif Path(source).is_file():
        opened = open_original(Path(source), plan.data)
    else:
        message = "The original does not exist or is no file."
        raise DataError(Problem("no-file", message, str(source), "check the path"))
    at = positions(opened.header, wanted, opened.place)
    table = opened.table([at[name] for name in wanted])
    found = dict(zip(wanted, table.columns, strict=True))
    kinds = {name: kind_of(column) for name, column in found.items()}
    columns = {name: as_text(column) for name, column in found.items()}
    weights = None if plan.weight is None else columns[plan.weight.column]
    columns = {name: meant(column, name, plan, kinds[name]) for name, column in columns.items()}
    return Original(columns, kinds, table.num_rows, weights=weights)


def meant(column: pa.ChunkedArray, name: str, plan: Plan, kind: Kind) -> pa.ChunkedArray:
    """Bring cells of the original to what is compared: trimmed, treated, numbers in the usual notation."""
    written = kind == "text"
    if written:
        column = trim(column, plan.data.markers(name))
    attribute = plan.attributes.get(name)
    rule = None if attribute is None else TreatedColumn.of(attribute, plan.data)
    if rule is not None:
        of_value = rule.of_value
        column = map_distinct(column, lambda value: of_value(value, written))
    return settled(column, name, plan) if written else column


def settled(column: pa.ChunkedArray, name: str, plan: Plan) -> pa.ChunkedArray:
    """Bring cells of text to what they mean under the plan: trimmed, missing, or a number in the usual notation."""
    column = trim(column, plan.data.markers(name))
    if not in_notation(plan, name):
        return column
    return map_distinct(column, lambda text: usual(text, plan.data.decimal, plan.data.thousands))


def positions(header: Sequence[str], wanted: Sequence[str], place: str) -> dict[str, int]:
    """Find the columns of the original that the plan names."""
    problems = []
    for name in wanted:
        if name not in header:
            message = f"The original has no column {name!r}, which the plan names."
            hint = "is this the file that the release was made from?"
            problems.append(Problem("missing-column", message, place, hint))
        elif header.count(name) > 1:
            message = f"The original has {header.count(name)} columns named {name!r}."
            problems.append(Problem("duplicate-column", message, place, "rename them apart"))
    if problems:
        raise DataError(problems)
    return {name: header.index(name) for name in wanted}
