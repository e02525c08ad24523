"""Greedy k-member clustering, with and without limits (Byun et al. 2007; Miller, Campan and Truta 2008, GreedyCKA).

Deviations from the papers: ties go to the first record in canonical order, where the papers say "one of them"; the
seed picks the record from which the first furthest one is sought, position ``seed mod n`` of the cell. With a person
key, a group takes records of different persons until it has k of them, as long as k persons remain.
"""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.cells import Cells, find_cells
from hedgerow.anonymization.clustering.costs import LOSS, Objective, cost_tables
from hedgerow.anonymization.clustering.layout import as_recoding, lay_out, without_records
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray, Steps


@dataclass(frozen=True)
class KMember:
    """Cluster without regard to limits.

    Examples
    --------
    >>> from hedgerow.microdata import encode_table, read_table
    >>> from hedgerow.plan import Plan
    >>> import pyarrow as pa
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> table = read_table(pa.table({"sex": ["F", "M", "F", "M", "M"]}), plan)
    >>> KMember(k=2)(encode_table(table, plan))
    Recoding(5 records in 2 groups)
    """

    k: int
    seed: int = 0
    threads: int = 1
    objective: Objective = LOSS

    def __call__(self, microdata: Microdata, progress: Steps | None = None, cells: Cells | None = None) -> Recoding:
        """Form groups of at least k; ``cells`` may be given if they are known already."""
        cells = cells or find_cells(microdata, Requirement(self.k), ignore_limits=True)
        return cluster_k_members(microdata, cells, self.k, self.seed, self.threads, progress, self.objective)


@dataclass(frozen=True)
class ConstrainedKMember:
    """GreedyCKA: withhold the cells with fewer than k, cluster inside each of the others."""

    k: int
    seed: int = 0
    threads: int = 1
    objective: Objective = LOSS

    def __call__(self, microdata: Microdata, progress: Steps | None = None, cells: Cells | None = None) -> Recoding:
        """Form groups of at least k within limits; ``cells`` may be given if they are known already."""
        cells = cells or find_cells(microdata, Requirement(self.k))
        return cluster_k_members(microdata, cells, self.k, self.seed, self.threads, progress, self.objective)


def cluster_k_members(
    microdata: Microdata,
    cells: Cells,
    k: int,
    seed: int,
    threads: int,
    progress: Steps | None,
    objective: Objective = LOSS,
) -> Recoding:
    """Run the kernel over all cells that are large enough."""
    layout = lay_out(microdata, cells, k, sets=objective.counts_sets)
    prices = cost_tables(microdata, objective, sets=True).prices
    kernel = kernels.load("k_member").cluster_cells

    def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
        kernel(
            layout.codes, layout.unit_start, layout.person, layout.persons, layout.cell_start, first, last,
            layout.group_start, prices, k, seed, layout.group_of, layout.lo, layout.hi, layout.size, done, stop,
        )  # fmt: skip

    run_in_threads(work, layout.records, threads, progress)
    layout = without_records(layout)
    return as_recoding(microdata, layout)
