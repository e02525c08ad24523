"""Spark as an engine: its executors write the release, and do the work where the driver would have too much to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.anonymization.clustering import Cells
from hedgerow.anonymization.executing import HERE, Clustering
from hedgerow.anonymization.lattice.crew import Hire
from hedgerow.engines.release_dialect import STANDARD, ReleaseDialect
from hedgerow.engines.room import check_room
from hedgerow.engines.rows import Rows
from hedgerow.engines.spark import SparkTable, is_remote
from hedgerow.engines.spark_cells import cluster_in_tasks
from hedgerow.engines.spark_strings import Tasks
from hedgerow.engines.sql import CollapsedTable, SqlEngine
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.types import Progress, Steps

if TYPE_CHECKING:
    from hedgerow.engines.spread.rounds import SpreadRelease

DRIVER_PROFILES = 200_000
"""Records up to which the driver works by itself, and profiles up to which it tests strings of levels by itself."""


@dataclass(frozen=True, eq=False)
class SparkExecutor:
    """Runs clusterings and tests strings on the driver, or in tasks if there are many profiles.

    Over Spark Connect nothing can be broadcast, so what was fetched is worked on here.
    """

    session: SparkTable
    driver_profiles: int

    def run(self, clustering: Clustering, microdata: Microdata, cells: Cells, progress: Steps | None) -> Recoding:
        """Run a clustering inside cells."""
        if len(microdata.profiles) <= self.driver_profiles or is_remote(self.session.spark):
            return HERE.run(clustering, microdata, cells, progress)
        return cluster_in_tasks(self.session.spark, clustering, microdata, cells, progress)

    def hire(self, microdata: Microdata, processes: int) -> Hire:
        """Return what hires a crew for a search."""
        if len(microdata.profiles) <= self.driver_profiles or is_remote(self.session.spark):
            return HERE.hire(microdata, processes)
        return lambda bench: Tasks(self.session.spark, bench)


@dataclass(frozen=True, eq=False)
class SparkEngine(SqlEngine):
    """A table in Spark.

    Attributes
    ----------
    driver_profiles
        Profiles up to which the driver clusters and searches by itself; with more, tasks do.
    """

    session: SparkTable
    driver_profiles: int = DRIVER_PROFILES

    @property
    def executor(self) -> SparkExecutor:
        """Where clusterings are run."""
        return SparkExecutor(self.session, self.driver_profiles)

    def make_in_tasks(self, plan: Plan, tell: Progress, threads: int | None = None) -> SpreadRelease | None:
        """Make a release whose records never come here, if there are many; None if there are few, or it cannot be."""
        from hedgerow.engines.spread.rounds import make_in_tasks  # which few need

        return make_in_tasks(self.session, plan, tell) if self._records > self.driver_profiles else None

    def read(self, plan: Plan, also: Sequence[str] = ()) -> CollapsedTable:
        """Read distinct values with counts; if there are many records, only if there is memory for them here.

        Raises
        ------
        DataError
            ``no-memory``, before any work, where there cannot be enough.
        """
        if self._records > self.driver_profiles:
            check_room(self.session, plan, also)
        return super().read(plan, also)

    @cached_property
    def _records(self) -> int:
        return int(self.session.ask(f"SELECT COUNT(*) AS n FROM {self.session.source}").column("n")[0].as_py())

    def write(self, rows: Rows, folder: Path, form: str, dialect: ReleaseDialect = STANDARD) -> str:
        """Write released rows into a folder; ``parts`` are written by the executors."""
        if form != "parts":
            return super().write(rows, folder, form, dialect)
        assert rows.query is not None
        self.session.write_parquet(rows.query, folder / "data.parquet")
        return "data.parquet"
