"""Where clusterings are run and strings tested: here, or wherever an engine has more hands. The result is the same."""

from __future__ import annotations

from typing import Protocol

from hedgerow.anonymization.clustering import Cells
from hedgerow.anonymization.lattice.crew import Hire, hire
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.types import Steps


class Clustering(Protocol):
    """Forms groups of microdata inside cells."""

    def __call__(self, microdata: Microdata, *, cells: Cells, progress: Steps | None = None) -> Recoding:
        """Form groups; those of a cell do not depend on other cells."""


class Executor(Protocol):
    """Runs a clustering, and says who tests the strings of a lattice."""

    def run(self, clustering: Clustering, microdata: Microdata, cells: Cells, progress: Steps | None) -> Recoding:
        """Run a clustering inside cells."""

    def hire(self, microdata: Microdata, processes: int) -> Hire:
        """Return what hires a crew for a search; ``processes``: how many there may be on this machine."""


class InThisProcess:
    """Runs a clustering here, which has threads of its own; strings are tested here and in processes beside."""

    def run(self, clustering: Clustering, microdata: Microdata, cells: Cells, progress: Steps | None) -> Recoding:
        """Run a clustering inside cells."""
        return clustering(microdata, progress=progress, cells=cells)

    def hire(self, microdata: Microdata, processes: int) -> Hire:
        """Return what hires a crew for a search."""
        return hire(processes)


HERE = InThisProcess()
