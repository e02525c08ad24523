"""Running a kernel over cells in threads; no group spans two cells, so the answer does not depend on the threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import numpy as np

from hedgerow.types import IntArray, Steps

POLL_SECONDS = 0.05


def run_in_threads(
    work: Callable[[int, int, IntArray, IntArray], None], records: IntArray, threads: int, progress: Steps | None
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
