"""Greedy k-member clustering: the search index against the compiled scan, and its growth to a million records."""

from __future__ import annotations

import math
import os
import resource
import time
from collections.abc import Callable
from typing import Any

from benchmarks import adult
from benchmarks.scan import cluster_by_scan
from hedgerow.clustering import KMember
from hedgerow.clustering.costs import cost_tables
from hedgerow.microdata import Microdata, encode_table, read_table

K = 10
MILLION = 1_000_000


def run(report: Callable[[str, Any], None]) -> None:
    """Measure on Adult with k = 10."""
    plan = adult.plan(K)
    table = adult.records()
    microdata = encode_table(read_table(table, plan), plan)
    KMember(2)(microdata)  # compile
    index = min(_seconds(lambda: KMember(K)(microdata)) for _ in range(5))
    scan, same = _scan(microdata)
    report("records × attributes, k", f"{microdata.records:,} × {len(microdata.columns)}, {K}")
    report("search index, one core, s", round(index, 3))
    report("compiled O(n²) scan, one core, s", round(scan, 2))
    report("same groups", same)
    report("times faster", round(scan / index, 1))
    large = encode_table(read_table(adult.resampled(table, MILLION), plan), plan)
    report("profiles of the million", f"{len(large.profiles):,}")
    seconds = _seconds(lambda: KMember(K)(large))
    report("search index on a million, one core, s", round(seconds, 2))
    report("growth exponent", round(math.log(seconds / index) / math.log(MILLION / microdata.records), 3))
    report("peak memory of this process, GB", round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2))
    report("processors", os.cpu_count())


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _scan(microdata: Microdata) -> tuple[float, bool]:
    codes = microdata.profiles[microdata.profile_of_unit].astype("uint16")
    costs = cost_tables(microdata)
    cluster_by_scan(codes[:50], costs.offset, costs.width, costs.costs, 2)  # compile
    start = time.perf_counter()
    by_scan = cluster_by_scan(codes, costs.offset, costs.width, costs.costs, K)
    seconds = time.perf_counter() - start
    by_index = KMember(K)(microdata).group_of
    return seconds, bool((by_index[by_scan >= 0] == by_scan[by_scan >= 0]).all())
