"""DuckDB as an engine: very many records stay in its private folder wherever work is done block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hedgerow.engines.duckdb_tasks import DuckDBTasks
from hedgerow.engines.room import check_room
from hedgerow.engines.sql import CollapsedTable, SqlEngine
from hedgerow.plan import Plan
from hedgerow.types import Progress

if TYPE_CHECKING:
    from hedgerow.engines.spread.rounds import SpreadRelease

HERE = 1_000_000
"""Records up to which what tells them apart is held in memory, which is a little faster."""
PLAIN = (None, "csv", "parquet", "arrow")
"""Formats in which cells are what they are, so that release and original can be compared where they lie."""


@dataclass(frozen=True, eq=False)
class DuckDBEngine(SqlEngine):
    """A table in a private database."""

    session: DuckDBTasks

    def make_in_tasks(self, plan: Plan, tell: Progress, threads: int | None = None) -> SpreadRelease | None:
        """Make a release whose records stay on disk, if there are many; None if there are few, or it cannot be."""
        from hedgerow.engines.spread.rounds import make_in_tasks  # which few need

        session = self.session
        written = None if session.format is None else session.format.format
        records = self._records()
        if records <= HERE or written not in PLAIN or session.notes or session.has_zones:
            return None
        doing = ""

        def told(what: str, done: int, total: int) -> None:
            nonlocal doing
            doing = what
            tell(what, done, total)

        session.watch = lambda done, tasks: tell(doing, records * done // tasks, records)
        session.cores = threads or session.cores
        try:
            return make_in_tasks(session, plan, told)
        finally:
            session.watch = None

    def read(self, plan: Plan, also: Sequence[str] = ()) -> CollapsedTable:
        """Read distinct values with counts, if there is memory for them and for what comes after.

        Raises
        ------
        DataError
            ``no-memory``, before any work, where there cannot be enough.
        """
        if self._records() > HERE:
            check_room(self.session, plan, also)
        return super().read(plan, also)

    def _records(self) -> int:
        return int(self.session.ask(f"SELECT COUNT(*) AS n FROM {self.session.source}").column("n")[0].as_py())
