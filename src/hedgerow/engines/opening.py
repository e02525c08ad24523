"""Finding the engine for some data, among all that there are: the one that is asked for, or the one that suits it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.anonymization.resolving import resolve
from hedgerow.engines.base import Engine
from hedgerow.engines.descriptor import AUTO, ENGINES, EngineDescriptor, EngineWish, engine_words
from hedgerow.engines.kinds_of_data import is_local
from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.microdata import Microdata
from hedgerow.microdata.frames import taken_over
from hedgerow.microdata.people import at_hand, is_elsewhere, people_asked, people_of, plan_of_people
from hedgerow.microdata.read import column_names, file_extent
from hedgerow.outside.server import check_path, is_server
from hedgerow.outside.stores import is_in_spark
from hedgerow.plan import DataFormat, Plan
from hedgerow.plan.formats import by_name, is_packed

__all__ = ["CELL", "LARGE_FILE", "is_large_file", "is_local", "open_engine", "read_microdata", "suited"]

LARGE_FILE = 256 << 20
"""Bytes from which on a file is not read into memory."""
CELL = 24
"""Bytes that a cell of text takes in memory, roughly: its place, and what it shares with others like it."""


@contextlib.contextmanager
def open_engine(
    data: Any,
    plan: Plan,
    engine: str = AUTO,
    master: str | None = None,
    driver_profiles: int | None = None,
    whole: bool = False,
    tell: Callable[[int], None] | None = None,
) -> Iterator[Engine]:
    """Open the engine for some data, and close it at the end.

    Parameters
    ----------
    data, plan
        The data, and the plan that says which columns matter.
    engine
        ``local`` reads everything into memory, ``duckdb`` works on files larger than that, ``spark`` on a Parquet path
        or a table of a Spark session. ``auto`` chooses. The release is the same.
    master
        The Spark cluster, where the session is ours to start.
    driver_profiles
        Records up to which a Spark driver works by itself; with more, they stay on the executors.
    whole
        Whether the numbers of records are needed, which only the local engine knows.
    tell
        Called with the number of rows read so far.
    """
    data = taken_over(data)
    chosen = _chosen(data, engine, _why_numbered(plan, whole))
    given = {"master": master, "driver_profiles": driver_profiles}
    options = {name: value for name, value in given.items() if value is not None}
    if options.keys() - chosen.options.keys():
        _refuse_options(set(options))
    opened: Engine = chosen.opened(EngineWish(data, plan, options, tell))
    try:
        with _people_at_hand(plan, master):
            yield opened
    finally:
        opened.close()


@contextlib.contextmanager
def _opened_there(place: str, master: str | None = None) -> Iterator[Any]:
    """Open the engine of a table on a server, or where only Spark reaches."""
    options = {} if master is None or is_server(place) else {"master": master}
    with contextlib.closing(suited(place).opened(EngineWish(place, None, options))) as engine:
        yield engine


def _names(engine: Any) -> tuple[str, ...]:
    return tuple(column.name for column in engine.session.columns())


def columns_of(place: str, plan: Plan) -> tuple[str, ...]:
    """Return the names of the columns of a table of people, wherever it is."""
    if not is_elsewhere(place):
        return column_names(Path(place), DataFormat(missing=plan.data.missing))
    with _opened_there(place) as engine:
        return _names(engine)


@contextlib.contextmanager
def _people_at_hand(plan: Plan, master: str | None) -> Iterator[None]:
    """Fetch the people whom a plan counts in, if they are where only an engine reaches: counted there, and once."""
    asked = plan.population
    if asked is None or asked.file is None or not is_elsewhere(asked.file):
        yield
        return
    with _opened_there(asked.file, master) as engine:
        asked = people_asked(plan, _names(engine), engine.place)
        also = () if asked.count is None else (asked.count,)
        table = engine.read(plan_of_people(asked, plan.data.missing), also)
        people = people_of(asked, table.columns, table.counts, engine.place)
    with at_hand(asked, people):
        yield


def is_large_file(data: Any) -> bool:
    """Tell whether data is a file that is better not read into memory: by its size, or what a Parquet file unpacks to.

    Columns of few values take next to no room in a Parquet file, and all of it in memory.
    """
    if not isinstance(data, str | Path) or not Path(data).is_file():
        return False
    if Path(data).stat().st_size > LARGE_FILE:
        return True
    written = None if is_packed(Path(data).name) else by_name(Path(data).name)
    if written is None or not written.tells_extent:
        return False
    try:
        told = file_extent(Path(data), DataFormat(format=written.name))
    except DataError:
        return False  # whoever reads it says what is wrong with it
    return max(told.unpacked, (told.rows or 0) * told.columns * CELL) > LARGE_FILE


@dataclass(frozen=True)
class _Numbered:
    """Why the numbers of records are needed, which most engines do not know: what needs them, how to do without."""

    what: str
    without: str


def _why_numbered(plan: Plan, linked: bool) -> _Numbered | None:
    """Say why a plan, or a link table, needs the numbers of records; None: it does not."""
    if plan.unit is not None:
        return _Numbered("Units that are linked need", "leave 'unit' out of the plan")
    if plan.weight is not None:
        return _Numbered("Sampling weights need", "leave 'weight' out of the plan")
    return _Numbered("A link table needs", "leave the link out") if linked else None


def _chosen(data: Any, engine: str, numbered: _Numbered | None) -> EngineDescriptor:
    if engine not in engine_words():
        message = f"There is no engine {engine!r}."
        raise HedgerowError(Problem("usage", message, hint=f"one of {', '.join(engine_words())}"))
    if (engine == AUTO and not is_in_spark(data)) or (engine != AUTO and not ENGINES[engine].anywhere):
        check_path(data)
    if engine == AUTO:
        chosen = suited(data, numbered is not None)
    else:
        chosen = ENGINES[engine]
        _check_taken(data, chosen)
    if numbered is not None and not chosen.numbers_records:
        knows = " or ".join(one.title for one in ENGINES if one.numbers_records)
        message = f"{numbered.what} the numbers of records, which only the {knows} engine knows."
        hint = f"{numbered.without}, or export the table to a file first"
        if is_local(data):
            hint = f"omit --engine and write to a folder, or {numbered.without}"
        raise HedgerowError(Problem("usage", message, hint=hint))
    return chosen


def suited(data: Any, whole: bool = False) -> EngineDescriptor:
    """Return the engine for some data if nobody asks for another; ``whole``: the numbers of records are needed."""
    return next(one for one in reversed(ENGINES.all) if one.suits(data, whole))


def _check_taken(data: Any, chosen: EngineDescriptor) -> None:
    """Refuse data that the engine which was asked for does not read."""
    if chosen.takes(data):
        return
    message = f"The {chosen.name} engine does not read this kind of data."
    if is_local(data):
        message = f"The {chosen.title} engine reads {chosen.reads}, not other tables in memory."
    raise HedgerowError(Problem("usage", message, hint="leave the engine to us"))


def _refuse_options(given: set[str]) -> None:
    """Say whose options these are."""
    owner = next(one for one in ENGINES if one.options.keys() & given)
    words = ", and ".join(owner.options.values())
    message = f"{words[:1].upper()}{words[1:]}, are for the {owner.title} engine only."
    raise HedgerowError(Problem("usage", message, hint=f"use --engine {owner.name}, or leave them out"))


def read_microdata(data: Any, plan: Plan, engine: str = AUTO, master: str | None = None) -> tuple[Microdata, Plan]:
    """Read data where it lies, and encode it as a plan says; the plan comes back as it is meant for this table."""
    with open_engine(data, plan, engine, master) as source:
        return resolve(source.read(plan), plan)
