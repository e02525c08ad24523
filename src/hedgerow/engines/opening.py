"""Finding the engine for some data: a PostgreSQL address, a Spark frame, a large file, or anything else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hedgerow.engines.base import Engine
from hedgerow.engines.local import LocalEngine
from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.microdata.read import file_extent
from hedgerow.plan import DataFormat, Plan
from hedgerow.server import check_path, is_server

ENGINES = ("auto", "local", "duckdb", "spark")
LARGE_FILE = 256 << 20
"""Bytes from which on a file is not read into memory."""
CELL = 24
"""Bytes that a cell of text takes in memory, roughly: its place, and what it shares with others like it."""


@contextlib.contextmanager
def open_engine(
    data: Any,
    plan: Plan,
    engine: str = "auto",
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
        Profiles up to which a Spark driver clusters by itself; with more, tasks of the cluster do.
    whole
        Whether the numbers of records are needed, which only the local engine knows.
    tell
        Called with the number of rows read so far.
    """
    chosen = _chosen(data, engine, whole)
    if chosen != "spark" and (master is not None or driver_profiles is not None):
        message = "A master, and a bound on the driver's profiles, are for the Spark engine only."
        raise HedgerowError(Problem("usage", message, hint="use --engine spark, or leave them out"))
    opened = _open(data, plan, chosen, master, driver_profiles, tell)
    try:
        yield opened
    finally:
        opened.close()


def is_local(data: Any) -> bool:
    """Tell whether data is a file or a table in memory."""
    return not is_server(data) and type(data).__module__.split(".")[0] != "pyspark"


def is_large_file(data: Any) -> bool:
    """Tell whether data is a file that is better not read into memory: by its size, or what a Parquet file unpacks to.

    Columns of few values take next to no room in a Parquet file, and all of it in memory.
    """
    if not isinstance(data, str | Path) or not Path(data).is_file():
        return False
    if Path(data).stat().st_size > LARGE_FILE:
        return True
    if Path(data).suffix.lower() not in (".parquet", ".pq"):
        return False
    try:
        told = file_extent(Path(data), DataFormat(format="parquet"))
    except DataError:
        return False  # whoever reads it says what is wrong with it
    return max(told.unpacked, (told.rows or 0) * told.columns * CELL) > LARGE_FILE


def _chosen(data: Any, engine: str, whole: bool) -> str:
    if engine not in ENGINES:
        message = f"There is no engine {engine!r}."
        raise HedgerowError(Problem("usage", message, hint=f"one of {', '.join(ENGINES)}"))
    if engine != "spark":  # which reads from other places too
        check_path(data)
    if is_server(data):
        natural = "postgres"
    elif not is_local(data):
        natural = "spark"
    else:
        natural = "duckdb" if is_large_file(data) and not whole else "local"
    if engine != "auto" and natural in ("postgres", "spark") and engine != natural:
        message = f"The {engine} engine does not read this kind of data."
        raise HedgerowError(Problem("usage", message, hint="leave the engine to us"))
    if engine == "spark" and natural != "spark" and not isinstance(data, str | Path):
        message = "The Spark engine reads Spark frames, Parquet paths and tables of Spark, not other tables in memory."
        raise HedgerowError(Problem("usage", message, hint="leave the engine to us"))
    chosen = natural if engine == "auto" else engine
    if whole and chosen != "local":
        message = "A link table needs the numbers of records, which only the local engine knows."
        raise HedgerowError(Problem("usage", message, hint="leave the link out, or export the table to a file first"))
    return chosen


def _open(
    data: Any,
    plan: Plan,
    engine: str,
    master: str | None,
    driver_profiles: int | None,
    tell: Callable[[int], None] | None,
) -> Engine:
    if engine == "local":
        return LocalEngine(data)
    if engine == "spark":
        from hedgerow.engines.spark import open_table
        from hedgerow.engines.spark_engine import DRIVER_PROFILES, SparkEngine

        bound = DRIVER_PROFILES if driver_profiles is None else driver_profiles
        return SparkEngine(open_table(data, master), bound)
    from hedgerow.engines.sql import SqlEngine

    if engine == "postgres":
        from hedgerow.engines.place import read_place
        from hedgerow.engines.postgres import PostgresSession

        return SqlEngine(PostgresSession(read_place(data)))
    from hedgerow.engines.duckdb import DuckDBSession

    return SqlEngine(DuckDBSession(data, plan, LocalEngine(data).library, tell))
