"""Counting the values of one column at a time, where the table lies, and looking at its first rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from hedgerow.engines.sql import SqlSession, SqlSource, cleaned
from hedgerow.errors import DataError, Problem
from hedgerow.plan import Plan
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa


class CountingSession(SqlSession, Protocol):
    """A database that can also scatter texts.

    Attributes
    ----------
    scattered
        What gives each text a number that has nothing to do with its order, ``{}`` standing for the text.
    """

    scattered: str


@dataclass(frozen=True)
class CountedValues:
    """The different values of a column: all of them; or those that most records have, and some of the others.

    Attributes
    ----------
    values
        Each value once, in the form in which a table is read; those that are written differently may be equal.
    counts
        How many records have it.
    drawn
        Whether it is one of the others.
    records
        Number of records of the table.
    unlisted, unlisted_records
        How many values there are besides, and how many records have one of them.
    """

    values: pa.ChunkedArray
    counts: IntArray
    drawn: npt.NDArray[np.bool_]
    records: int
    unlisted: int
    unlisted_records: int


def count_values(session: CountingSession, plan: Plan, most: int) -> CountedValues:
    """Count the values of the only column of a plan by one GROUP BY; not more than ``most`` of them come here.

    Raises
    ------
    DataError
        If the table has no records (``empty``), or values that have no form here, such as infinite dates (``format``).
    """
    source = SqlSource(session, plan)
    (name,) = plan.quasi_identifiers
    raw = session.ask(source.sample(most, session.scattered))
    if not raw.num_rows:
        message = "The table has no records."
        raise DataError(Problem("empty", message, session.place, "give a table with records"))
    counts = raw.column("n").to_numpy().astype(np.int64)
    values, filled, records = (int(raw.column(total)[0].as_py()) for total in ("v", "f", "r"))
    there = raw.column("c0").is_valid().to_numpy()
    drawn = raw.column("s").to_numpy().astype(bool)
    column = cleaned(raw.column("c0"), source.kinds[name], plan.data.markers(name))
    return CountedValues(column, counts, drawn, records, values - int(there.sum()), filled - int(counts[there].sum()))


def first_rows(session: SqlSession, plan: Plan, count: int) -> dict[str, pa.ChunkedArray]:
    """Return some rows, column by column, in the order in which the database gives them."""
    source = SqlSource(session, plan)
    raw = session.ask(source.first(count))
    return {
        name: cleaned(raw.column(i), source.kinds[name], plan.data.markers(name))
        for i, name in enumerate(plan.quasi_identifiers)
    }
