"""Where a clustering is run: in this process, or wherever an engine has more hands. The result is the same."""

from __future__ import annotations

from typing import Protocol

from hedgerow.anonymization.clustering import Cells
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.types import Steps


class Clustering(Protocol):
    """Forms groups of microdata inside cells."""

    def __call__(self, microdata: Microdata, *, cells: Cells, progress: Steps | None = None) -> Recoding:
        """Form groups; those of a cell do not depend on other cells."""


class Executor(Protocol):
    """Runs a clustering."""

    def run(self, clustering: Clustering, microdata: Microdata, cells: Cells, progress: Steps | None) -> Recoding:
        """Run a clustering inside cells."""


class InThisProcess:
    """Runs a clustering here; it has threads of its own."""

    def run(self, clustering: Clustering, microdata: Microdata, cells: Cells, progress: Steps | None) -> Recoding:
        """Run a clustering inside cells."""
        return clustering(microdata, progress=progress, cells=cells)


HERE = InThisProcess()
