"""Where the people come from whom records were drawn from: a file, a table in memory, or one that an engine fetches.

A table on a server, or where only Spark reaches, is counted there by the columns that people are looked up by, once for
all work on it: see :func:`hedgerow.engines.opening.open_engine`. Here it is only at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.microdata.columns import distinct_labels
from hedgerow.microdata.read import check_file, column_names, read_table, stream_table
from hedgerow.outside.outputs import PrivateFolder
from hedgerow.outside.server import check_path, is_server, shown
from hedgerow.outside.stores import is_in_spark
from hedgerow.plan import DataFormat, Plan
from hedgerow.plan.hierarchy.numbers import parse_number
from hedgerow.plan.model import PopulationTable
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

MOST_PEOPLE = 1 << 40


@dataclass(frozen=True, eq=False)
class Populace:
    """People as they were read: what they are looked up by, under the plan's names; how many each row stands for."""

    columns: Mapping[str, pa.ChunkedArray]
    counts: IntArray


Fetched = Mapping[str, tuple[PopulationTable, Populace]]
_AT_HAND: ContextVar[Fetched | None] = ContextVar("people who were fetched", default=None)


def is_elsewhere(place: str) -> bool:
    """Tell whether people are on a server, or where only Spark reaches: an engine fetches their counts then."""
    return is_server(place) or is_in_spark(place)


@contextmanager
def at_hand(asked: PopulationTable, people: Populace) -> Iterator[None]:
    """Have people at hand who were fetched from elsewhere, as long as work is done with them."""
    assert asked.file is not None
    token = _AT_HAND.set({**(_AT_HAND.get() or {}), asked.file: (asked, people)})
    try:
        yield
    finally:
        _AT_HAND.reset(token)


def fetched(place: str) -> tuple[PopulationTable, Populace]:
    """Return people who are at hand, and the columns by which they are looked up."""
    found = (_AT_HAND.get() or {}).get(place)
    if found is None:
        message = "The population is on a server or in Spark, and was not fetched for this."
        raise DataError(Problem("no-population", message, shown(place), "name a file under 'population'"))
    return found


@contextmanager
def counted_in(plan: Plan, population: Any) -> Iterator[Plan]:
    """Have a plan count people in a table that is given: a path, an address, or a table in memory."""
    if population is None:
        yield plan
        return
    if isinstance(population, str | Path):
        if not is_in_spark(population):
            check_path(population)
        yield plan.counting_in(str(population))
        return
    import pyarrow.parquet

    check_file(population)
    with PrivateFolder() as scratch:  # so that it is read as every other, wherever that happens
        path = scratch.path / "population.parquet"
        pyarrow.parquet.write_table(stream_table(population), path)
        yield plan.counting_in(str(path))


def in_file(plan: Plan, path: Path) -> tuple[PopulationTable, Populace]:
    """Read people from a file, and say which of its columns they are looked up by."""
    if not path.is_file():
        message = "The population does not exist or is no file."
        raise DataError(Problem("no-file", message, str(path), "check the path under 'population' in the plan"))
    asked = people_asked(plan, column_names(path, DataFormat(missing=plan.data.missing)), str(path))
    assert asked.columns is not None
    missing = tuple(plan.data.missing)
    state = path.stat()
    return asked, _read(str(path), state.st_mtime_ns, state.st_size, tuple(asked.columns.items()), asked.count, missing)


def plan_of_people(asked: PopulationTable, missing: Sequence[str]) -> Plan:
    """Return the plan by which the table of a population is read, like any other table."""
    assert asked.columns is not None
    roles = dict.fromkeys(asked.columns.values(), "quasi-identifier")
    roles |= {} if asked.count is None else {asked.count: "other"}
    return Plan.from_dict({"attributes": roles, "privacy": {"k": 2}, "data": {"missing": list(missing)}})


def people_of(asked: PopulationTable, columns: Mapping[str, pa.ChunkedArray], rows: IntArray, place: str) -> Populace:
    """Take people from a table that was read, of which each row is there so many times."""
    assert asked.columns is not None
    counts = rows if asked.count is None else rows * _people(columns[asked.count], place)
    return Populace({own: columns[theirs] for own, theirs in asked.columns.items()}, counts)


@lru_cache(maxsize=2)
def _read(
    path: str,
    changed: int,
    size: int,
    columns: tuple[tuple[str, str], ...],
    count: str | None,
    missing: tuple[str, ...],
) -> Populace:
    """Read a population once, as long as its file does not change."""
    asked = PopulationTable(columns=dict(columns), count=count)
    table = read_table(path, plan_of_people(asked, missing))
    return people_of(asked, table.columns, np.ones(table.records, np.int64), path)


def _people(values: pa.ChunkedArray, place: str) -> IntArray:
    """Read how many people rows stand for."""
    labels, indices = distinct_labels(values)
    numbers = [None if label is None else parse_number(label) for label in labels]
    wrong = [number is None or number != int(number) or not 0 <= number < MOST_PEOPLE for number in numbers]
    if any(wrong):
        rows = np.array(wrong)[indices]
        message = f"{int(rows.sum()):,} rows do not say how many people they stand for; the first is row "
        message += f"{int(np.argmax(rows)) + 1:,}."
        raise DataError(
            Problem("no-population", message, place, "write whole numbers, 0 or more, in the column of counts")
        )
    return np.array([int(number or 0) for number in numbers], np.int64)[indices]


def people_asked(plan: Plan, there: Sequence[str], place: str) -> PopulationTable:
    """Fill in the columns by which people are looked for: if none are named, those that both tables have."""
    asked = plan.population
    assert asked is not None
    if asked.columns is None:
        both = {name: name for name in plan.quasi_identifiers if name in there}
        if not both:
            message = "The population has none of the quasi-identifiers of the plan."
            hint = "name them in the plan: population: {file: …, columns: {age: AGE}}"
            raise DataError(Problem("missing-column", message, place, hint))
        asked = asked.model_copy(update={"columns": both})
    assert asked.columns is not None
    wanted = [*asked.columns.values(), *([] if asked.count is None else [asked.count])]
    lacking = [name for name in wanted if name not in there]
    if lacking:
        problems = [
            Problem("missing-column", f"The population has no column {name!r}, which the plan names.", place)
            for name in lacking
        ]
        raise DataError([replace(problem, hint="name another one under 'population'") for problem in problems])
    ordered = {name: asked.columns[name] for name in plan.quasi_identifiers if name in asked.columns}
    return asked.model_copy(update={"columns": ordered})
