"""Reading the people whom records were drawn from, independently of what counted them first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.plan import DataFormat, Plan
from hedgerow.types import IntArray
from hedgerow.verification.counting.sources import DatabaseSource
from hedgerow.verification.reading.cells import as_text, distinct_cells, kind_of, trim
from hedgerow.verification.reading.formats import open_original
from hedgerow.verification.reading.places import InDatabase, InFile
from hedgerow.verification.reading.tables import open_in_memory
from hedgerow.verification.values.columns import Cell
from hedgerow.verification.values.numbers import read_number

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class PeopleRead:
    """People, by what the plan looks them up by.

    Attributes
    ----------
    values
        The different cells of every column, by the plan's names.
    codes
        Which of them each row has: a column for each of these.
    counts
        How many people each row stands for.
    """

    values: Mapping[str, list[Cell]]
    codes: IntArray
    counts: IntArray


def read_people(source: Any, plan: Plan) -> PeopleRead:
    """Read the columns by which a plan looks people up, from a path, a table in memory, or one in a database."""
    asked = plan.population
    if asked is None or asked.columns is None:
        message = "The plan of this release counts nobody in a population."
        raise DataError(Problem("usage", message, hint="leave the table of the population out"))
    wanted = [*asked.columns.values(), *([] if asked.count is None else [asked.count])]
    if isinstance(source, InDatabase):
        columns, counts, place = _counted(source, wanted, plan)
    else:
        columns, counts, place = _row_by_row(source.path if isinstance(source, InFile) else source, wanted, plan)
    if asked.count is not None:
        labels, indices = distinct_cells(columns.pop())
        numbers = [read_number(label) for label in labels]
        if any(number is None or number != int(number) or number < 0 for number in numbers) or (indices < 0).any():
            message = "Rows of the population do not say how many people they stand for."
            raise DataError(Problem("no-population", message, place, "write whole numbers there"))
        counts = counts * np.array([int(number or 0) for number in numbers], np.int64)[indices]
    values: dict[str, list[Cell]] = {}
    codes = []
    for name, column in zip(asked.columns, columns, strict=True):
        labels, indices = distinct_cells(column)
        values[name] = [*labels, None]
        codes.append(np.where(indices < 0, len(labels), indices))
    rows, number = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    people = np.zeros(len(rows), np.int64)
    np.add.at(people, number.reshape(-1), counts)
    return PeopleRead(values, rows, people)


def _row_by_row(source: Any, wanted: Sequence[str], plan: Plan) -> tuple[list[pa.ChunkedArray], IntArray, str]:
    """Read columns of a file or of a table in memory; every row stands for one."""
    if not isinstance(source, str | Path):
        opened = open_in_memory(source, "population")
    elif Path(source).is_file():
        opened = open_original(Path(source), DataFormat(missing=plan.data.missing))
    else:
        raise DataError(
            Problem("no-file", "The population does not exist or is no file.", str(source), "check the path")
        )
    _check(opened.header, wanted, opened.place)
    table = opened.table([opened.header.index(name) for name in wanted])
    columns = []
    for column in table.columns:
        text = as_text(column)
        columns.append(trim(text, plan.data.missing) if kind_of(column) == "text" else text)
    return columns, np.ones(table.num_rows, np.int64), opened.place


def _counted(source: InDatabase, wanted: Sequence[str], plan: Plan) -> tuple[list[pa.ChunkedArray], IntArray, str]:
    """Have the rows of a table in a database counted there, by a statement of the check's own."""
    table = DatabaseSource(source)
    _check(table.header, wanted, table.place)
    rows = table.count(list(dict.fromkeys(wanted)), None, ())
    trimmed = {
        name: trim(column, plan.data.missing) if rows.kinds[name] == "text" else column
        for name, column in rows.columns.items()
    }
    return [trimmed[name] for name in wanted], rows.counts, table.place


def _check(header: Sequence[str], wanted: Sequence[str], place: str) -> None:
    lacking = [name for name in wanted if list(header).count(name) != 1]
    if lacking:
        message = f"The population does not have exactly one column {', '.join(map(repr, lacking))}."
        raise DataError(Problem("missing-column", message, place, "is this the table that was counted in?"))
