"""Greedy k-member clustering, with and without limits (Byun et al. 2007; CKA, GreedyCKA; SPEC §4).

Deviations from the papers: ties go to the first record in canonical order, where the papers say "one of them"; the
seed picks the record from which the first furthest one is sought, position ``seed mod n`` of the cell. With a person
key, a group takes records of different persons until it has k of them, as long as k persons remain.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow import kernels
from hedgerow.clustering.cells import Cells, find_cells
from hedgerow.clustering.costs import cost_tables
from hedgerow.microdata import Microdata
from hedgerow.microdata.ordering import starts_of_runs
from hedgerow.recoding import WITHHELD, Recoding

IntArray = npt.NDArray[np.int64]
Progress = Callable[[int, int], None]
POLL_SECONDS = 0.05


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

    def __call__(self, microdata: Microdata, progress: Progress | None = None) -> Recoding:
        """Form groups of at least k."""
        cells = find_cells(microdata, self.k, ignore_limits=True)
        return _cluster(microdata, cells, self.k, self.seed, self.threads, progress)


@dataclass(frozen=True)
class ConstrainedKMember:
    """GreedyCKA: withhold the cells with fewer than k, cluster inside each of the others."""

    k: int
    seed: int = 0
    threads: int = 1

    def __call__(self, microdata: Microdata, progress: Progress | None = None, cells: Cells | None = None) -> Recoding:
        """Form groups of at least k within limits; ``cells`` may be given if they are known already."""
        cells = find_cells(microdata, self.k) if cells is None else cells
        return _cluster(microdata, cells, self.k, self.seed, self.threads, progress)


def _cluster(
    microdata: Microdata, cells: Cells, k: int, seed: int, threads: int, progress: Progress | None
) -> Recoding:
    """Run the kernel over all cells that are large enough, and put its result in terms of units."""
    kept_cells = np.flatnonzero(~cells.withheld(k))
    rank = np.full(len(cells.people), -1, np.int64)
    rank[kept_cells] = np.arange(len(kept_cells))
    cell = rank[cells.cell_of]
    units = np.flatnonzero(cell >= 0)
    units = units[np.argsort(cell[units], kind="stable")]  # by cell, canonical order within
    profile = microdata.profile_of_unit[units]
    starts = starts_of_runs([cell[units].astype(np.uint64), profile.astype(np.uint64)])  # pieces of profiles
    unit_start = np.append(starts, len(units)).astype(np.int64)
    piece_cell = cell[units[starts]]
    cell_start = np.searchsorted(piece_cell, np.arange(len(kept_cells) + 1)).astype(np.int64)
    records = np.diff(unit_start[cell_start])
    group_start = np.concatenate([[0], np.cumsum(records // k)]).astype(np.int64)
    q, capacity = microdata.profiles.shape[1], int(group_start[-1])
    group_of = np.full(len(units), WITHHELD, np.int64)
    box_lo = np.zeros((capacity, q), microdata.profiles.dtype)
    box_hi = np.zeros((capacity, q), microdata.profiles.dtype)
    size = np.zeros(capacity, np.int64)
    person, persons = np.zeros(0, np.int64), 0
    if microdata.person_of is not None:
        person, persons = microdata.person_of[units], int(microdata.person_of.max(initial=-1)) + 1
    codes = np.ascontiguousarray(microdata.profiles[profile[starts]])
    prices = cost_tables(microdata).prices
    kernel = kernels.load("k_member").cluster_cells

    def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
        kernel(
            codes, unit_start, person, persons, cell_start, first, last, group_start, prices, k, seed,
            group_of, box_lo, box_hi, size, done, stop,
        )  # fmt: skip

    _run_in_threads(work, records, threads, progress)
    used = np.flatnonzero(size > 0)
    number = np.full(capacity + 1, WITHHELD, np.int64)
    number[used] = np.arange(len(used))
    of_unit = np.full(len(microdata.record_of), WITHHELD, np.int64)
    of_unit[units] = number[group_of]
    to_plan_order = np.argsort(microdata.index_order)
    lo = box_lo[used][:, to_plan_order].astype(np.int64)
    hi = box_hi[used][:, to_plan_order].astype(np.int64)
    return Recoding(of_unit, lo, hi)


def _run_in_threads(
    work: Callable[[int, int, IntArray, IntArray], None], records: IntArray, threads: int, progress: Progress | None
) -> None:
    """Run ``work`` over ranges of cells of about equal weight; the caller's thread watches, so Ctrl-C works."""
    total = int(records.sum())
    if not total:
        return
    edges = np.searchsorted(np.cumsum(records), np.arange(1, 4 * threads) * (total / (4 * threads)))
    ranges = np.unique(np.concatenate([[0], edges, [len(records)]]))
    done = [np.zeros(1, np.int64) for _ in range(len(ranges) - 1)]
    stop = np.zeros(1, np.int64)
    with ThreadPoolExecutor(threads) as pool:
        jobs = [
            pool.submit(work, int(first), int(last), count, stop)
            for first, last, count in zip(ranges, ranges[1:], done, strict=False)
        ]
        try:
            while wait(jobs, timeout=POLL_SECONDS, return_when=FIRST_EXCEPTION).not_done:
                if progress is not None:
                    progress(sum(int(count[0]) for count in done), total)
        except BaseException:
            stop[0] = 1
            raise
    for job in jobs:
        job.result()
    if progress is not None:
        progress(total, total)
