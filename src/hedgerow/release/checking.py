"""The check of what was written, before anybody can see it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.engines.base import Engine
from hedgerow.engines.descriptor import EngineWish
from hedgerow.engines.local import LocalEngine
from hedgerow.engines.opening import LARGE_FILE, is_local, suited
from hedgerow.engines.rows import CountedLink
from hedgerow.engines.sql import SqlColumn, SqlEngine, SqlSession
from hedgerow.errors import BrokenPromise, Problem
from hedgerow.microdata.frames import taken_over
from hedgerow.outside.server import check_path, is_server
from hedgerow.outside.stores import is_in_spark
from hedgerow.plan.formats import release_formats
from hedgerow.release.facts import facts_to_json
from hedgerow.release.release import Release
from hedgerow.verification import (
    InDatabase,
    InFile,
    PlacedClaim,
    Verification,
    Where,
    verify_in_place,
    verify_release,
    verify_release_in_place,
)
from hedgerow.verification import LinkClaim as Claim

ROWS = "data.parquet"


def verify_before_publishing(release: Release, written: Path | InDatabase, engine: Engine) -> Verification:
    """Check what was written against the original; nothing may be published that does not pass."""
    with where_found(release.population) as people:
        found = _found(release, written, engine, people)
    try:
        found.raise_if_broken()
    except BrokenPromise as error:
        hint = "if the data did not change meanwhile, please report this: it is our fault; no data is lost"
        raise BrokenPromise(
            Problem(problem.code, f"{problem.message} Nothing was written.", hint=hint) for problem in error.problems
        ) from None
    return found


def _found(release: Release, written: Path | InDatabase, engine: Engine, people: Where | None) -> Verification:
    """Check what was written, with people counted where they are."""
    import pyarrow as pa

    link = release.rows.link
    if isinstance(link, CountedLink):
        claim, rows = _claim_of(link, written, engine)
        if isinstance(written, Path):
            return verify_release_in_place(written, where_is(engine), claim, people, rows)
        facts = json.loads(facts_to_json(dict(release.facts)))  # as a reader of the table's comment gets them
        return verify_in_place(release.plan, facts, written, where_is(engine), claim, people)
    assert isinstance(engine, LocalEngine)
    assert isinstance(written, Path)
    places = np.arange(1, len(release.record_of_row) + 1)
    numbers = pa.table({"record": release.record_of_row + 1, "row": places})
    return verify_release(written, engine.data, numbers, release.before, people)


def _claim_of(
    link: CountedLink, written: Path | InDatabase, engine: Engine
) -> tuple[Claim | PlacedClaim, InDatabase | None]:
    """Return what became of the records: where it lies, if what was written can be read there too, or else fetched."""
    session: Any = engine.session if isinstance(engine, SqlEngine) else None
    if link.claim and isinstance(written, InDatabase) and written.lender is session:
        return PlacedClaim(link.claim), None
    if link.claim and isinstance(written, Path) and hasattr(session, "lay_out"):
        return PlacedClaim(link.claim, session), None
    if link.claim and isinstance(written, Path) and (written / ROWS).is_dir():
        parts = sorted(str(part.absolute()) for part in (written / ROWS).iterdir())
        rows = in_database(session, *session.open_files([f"file://{part}" for part in parts]))
        return PlacedClaim(link.claim), rows
    return Claim(link.profiles, link.parts, link.labels), None


def where_is(engine: Engine) -> Where:
    """Say where the check finds the original: it reads files itself, and has its own statements run in a database."""
    if isinstance(engine, LocalEngine):
        return InFile(engine.data)
    assert isinstance(engine, SqlEngine)
    session = engine.session
    if session.origin is not None:
        return InFile(session.origin)
    return in_database(session, session.source, session.columns())


@contextlib.contextmanager
def where_found(original: Any, master: str | None = None) -> Iterator[Where | None]:
    """Say where the check finds a table that somebody names: in a file or in memory, on a server, in Spark."""
    original = taken_over(original)
    if not is_in_spark(original):
        check_path(original)
    if original is None or is_local(original):
        yield None if original is None else InFile(original)
        return
    options = {} if master is None or is_server(original) else {"master": master}
    with contextlib.closing(suited(original).opened(EngineWish(original, options=options))) as engine:
        yield where_is(engine)


def is_large(folder: Path) -> bool:
    """Tell whether the rows of a release are in several files, or in one that is better not read into memory."""
    files = [folder / one.released_file for one in release_formats()]
    return any(file.is_dir() or (file.is_file() and file.stat().st_size > LARGE_FILE) for file in files)


def in_database(session: SqlSession, relation: str, columns: tuple[SqlColumn, ...]) -> InDatabase:
    """Name a table for the check."""
    return InDatabase(session, relation, tuple((column.name, column.kind) for column in columns))
