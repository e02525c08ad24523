"""People or rows: whether a column that names people repeats, so that k, which counts rows, promises too little."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.engines import opening
from hedgerow.engines.counting import count_values
from hedgerow.engines.place import read_place
from hedgerow.engines.servers import open_server
from hedgerow.errors import HedgerowError
from hedgerow.evaluation.drafting.draft import reading_plan
from hedgerow.evaluation.drafting.examination import Examination
from hedgerow.microdata.read import read_table
from hedgerow.outside.server import is_server
from hedgerow.plan import Plan

LEAST_ROWS, MOST_ROWS = 1.05, 200.0
"""Rows of a person on average, where a column may be one that names people."""
PARTS_OF_NAMES = {"name", "first", "last", "given", "family", "middle", "maiden", "surname", "forename", "vorname"} | {
    *(
        "nachname",
        "familienname",
        "firstname",
        "lastname",
        "fullname",
        "nom",
        "prenom",
        "prénom",
        "apellido",
        "apellidos",
    )
}
"""Of columns called so, repeated values are namesakes."""


@dataclass(frozen=True)
class Repeat:
    """A column of identifiers that has the same value in several rows.

    Examples
    --------
    >>> print(Repeat("patient", 2_700, 5_000).sentence)
    2,700 different values of patient in 5,000 rows: k counts rows here, so one person may fill a group.
    """

    column: str
    people: int
    rows: int

    @property
    def sentence(self) -> str:
        """What that means."""
        many = f"{self.people:,} different values of {self.column} in {self.rows:,} rows"
        return f"{many}: k counts rows here, so one person may fill a group."

    @classmethod
    def found(cls, column: str, values: int, filled: int) -> Repeat | None:
        """Tell whether a column may name people with several rows each."""
        words = set(re.split(r"[\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", column).casefold()))
        if words & PARTS_OF_NAMES or values < 2 or not LEAST_ROWS <= filled / values <= MOST_ROWS:
            return None
        return cls(column, values, filled)


def repeats_seen(seen: Examination) -> tuple[Repeat, ...]:
    """Find such columns among those that a draft leaves out, those with most people first.

    Examples
    --------
    >>> from hedgerow.evaluation.drafting.column import SeenColumn
    >>> from hedgerow.plan import DataFormat
    >>> number = SeenColumn("patient_id", 300, {f"p{n}": 2 for n in range(150)})
    >>> seen = Examination.of([number, SeenColumn("ward", 300, {"a": 300})], DataFormat())
    >>> repeats_seen(seen)
    (Repeat(column='patient_id', people=150, rows=300),)
    """
    columns = (
        column
        for column, proposal in zip(seen.columns, seen.proposals, strict=True)
        if proposal.role == "identifier" and column.counts
    )
    return _in_order(Repeat.found(column.name, column.distinct, column.filled) for column in columns)


def repeated_people(data: Any, plan: Plan | str | Path) -> tuple[Repeat, ...]:
    """Find such columns among the identifiers of a plan that names no person; they are counted where the table lies.

    Parameters
    ----------
    data, plan
        As for :func:`hedgerow.explain`. Of a Spark table nothing is said.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"id": list("aabbcc"), "sex": list("ffmmff")})
    >>> plan = Plan.from_dict({"attributes": {"id": "identifier", "sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> [repeat.people for repeat in repeated_people(table, plan)], repeated_people(table, plan.replace(person="id"))
    ([3], ())
    """
    asked = plan if isinstance(plan, Plan) else Plan.load(plan)
    unit = None if asked.unit is None else asked.unit.column  # its rows are meant to be of one household or person
    names = () if asked.person is not None else tuple(name for name in asked.columns("identifier") if name != unit)
    if not names:
        return ()
    try:
        return _in_order(Repeat.found(*counted) for counted in _counted(data, asked, names))
    except HedgerowError:
        return ()  # whoever reads the table says what is wrong with it


def _in_order(found: Iterator[Repeat | None]) -> tuple[Repeat, ...]:
    return tuple(sorted((one for one in found if one is not None), key=lambda one: (-one.people, one.column)))


def _counted(data: Any, plan: Plan, names: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Count the values of some columns, and the rows that have one."""
    if is_server(data) or opening.is_large_file(data):
        with contextlib.closing(_session(data, plan, names)) as session:
            for name in names:
                found = count_values(session, reading_plan([name], plan.data), 1)
                values, filled = len(found.values) + found.unlisted, int(found.counts.sum()) + found.unlisted_records
                yield name, values - found.values.null_count, filled
    elif isinstance(data, str | Path) or opening.is_local(data):
        for name, column in read_table(data, reading_plan(names, plan.data)).columns.items():
            different = column.unique()
            yield name, len(different) - different.null_count, len(column) - column.null_count


def _session(data: Any, plan: Plan, names: Sequence[str]) -> Any:
    if is_server(data):
        session = open_server(read_place(str(data)), names)
        session.read_only()
        return session
    from hedgerow.engines.duckdb import DuckDBSession

    return DuckDBSession(Path(data), reading_plan(names, plan.data), "pyarrow", lambda done: None)
