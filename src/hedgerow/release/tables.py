"""Putting a release into a table on a server: under a hidden name, checked there, then renamed into place.

The table appears whole and checked, or not at all. Plan and facts go with it: as its comment, or beside it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from hedgerow.engines.base import Engine
from hedgerow.engines.place import MARK, TablePlace
from hedgerow.engines.rows import Rows, Selected
from hedgerow.engines.servers import ServerSession, open_server
from hedgerow.engines.sql import SqlEngine
from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.outside.intake import read_json
from hedgerow.plan import Plan
from hedgerow.release.checking import in_database, verify_before_publishing
from hedgerow.release.facts import facts_to_json
from hedgerow.release.release import Release
from hedgerow.types import Progress, silent
from hedgerow.verification import Verification, Where, verify_in_place

if TYPE_CHECKING:
    import pyarrow as pa


def check_table(target: TablePlace, engine: Engine, replace: bool) -> None:
    """Refuse, before any work, a table that is there already, or that may not be replaced."""
    if not isinstance(engine, SqlEngine):
        message = "The local engine does not write to a server: a table there is checked by counts, which it lacks."
        raise HedgerowError(Problem("usage", message, hint="leave the engine to us, or write to a folder"))
    with _session(target, engine) as (session, _):
        session.check_free(target, replace)


def publish_table(
    release: Release, target: TablePlace, engine: Engine, replace: bool = False, tell: Progress = silent
) -> Release:
    """Make a table of a release, checked against its data first.

    Returns the release with what the check found, and its rows as they are in the table.
    """
    with _session(target, engine) as (session, same):
        session.check_free(target, replace)
        tell("writing", 0, 0)
        if same and release.rows.query is not None:
            hidden = session.make(target, release.rows.query)
        else:
            hidden = session.fill(target, release.rows.schema, release.rows.batches())
        tell("verifying", 0, 0)
        written = in_database(session, hidden.sql, session.columns_of(hidden))
        found = verify_before_publishing(release, written, engine)
        schema = session.schema_of(f"SELECT * FROM {hidden.sql}")
        session.show(hidden, target, _comment(release), replace)
    return dataclasses.replace(release, rows=_rows(target, schema), verification=found)


def verify_table(target: TablePlace, original: Where | None = None, population: Where | None = None) -> Verification:
    """Check a table that is a release, with the plan and the facts in its comment."""
    session = open_server(target)
    try:
        columns = session.columns()
        plan, facts = _read_comment(session.comment(target), target)
        released = in_database(session, session.source, columns)
        return verify_in_place(plan, facts, released, original, population=population)
    finally:
        session.close()


def read_table(target: TablePlace) -> tuple[Plan, dict[str, Any]]:
    """Read the plan and the facts of a table that is a release, which are in its comment."""
    session = open_server(target)
    try:
        return _read_comment(session.comment(target), target)
    finally:
        session.close()


@contextlib.contextmanager
def _session(target: TablePlace, engine: Engine) -> Iterator[tuple[ServerSession, bool]]:
    """Yield a session on the server of a target, and whether it is that of the engine itself."""
    own = engine.session if isinstance(engine, SqlEngine) else None
    at = getattr(own, "at", None)
    if isinstance(at, TablePlace) and at.url == target.url:
        yield cast("ServerSession", own), True
        return
    other = open_server(target)
    try:
        yield other, False
    finally:
        other.close()


def _rows(target: TablePlace, schema: pa.Schema) -> Rows:
    """Take rows from a table, whenever they are asked for."""

    def batches() -> Iterator[pa.RecordBatch]:
        session = open_server(target)
        try:
            yield from session.stream(f"SELECT * FROM {target.sql}")
        finally:
            session.close()

    return Rows(lambda: Selected(schema, batches))


def _comment(release: Release) -> str:
    facts = json.loads(facts_to_json(dict(release.facts)))
    return json.dumps({MARK: {"plan": release.plan.to_yaml(), "facts": facts}}, ensure_ascii=False)


def _read_comment(text: str | None, target: TablePlace) -> tuple[Plan, dict[str, Any]]:
    try:
        said = read_json(text or "")[MARK]
        plan, facts = said["plan"], said["facts"]
        if isinstance(plan, str) and isinstance(facts, dict):
            return Plan.loads(plan, file=f"the plan of {target.shown}", base=None), facts
    except (ValueError, KeyError, TypeError):
        pass
    message = "The table is not a release: its comment does not hold a plan and facts."
    raise DataError(Problem("not-a-release", message, target.shown, "name a table that anonymize made"))
