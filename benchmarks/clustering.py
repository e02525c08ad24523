"""Greedy k-member clustering: the search index against the compiled scan, and its growth to a million records."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from benchmarks import adult
from benchmarks.results import Report
from benchmarks.scan import cluster_by_scan
from hedgerow.anonymization.clustering import KMember
from hedgerow.anonymization.clustering.costs import cost_tables
from hedgerow.microdata import Microdata, encode_table, read_table

K = 10
MILLION = 1_000_000


def run(report: Report) -> None:
    """Measure on Adult with k = 10."""
    plan = adult.plan(K)
    table = adult.records()
    microdata = encode_table(read_table(table, plan), plan)
    KMember(2)(microdata)  # compile
    index = min(_seconds(lambda: KMember(K)(microdata)) for _ in range(5))
    scan, different = _scan(microdata)
    report.count("records", microdata.records)
    report.time("search index", index)
    report.time("compiled O(n²) scan", scan)
    report.count("records that the two group differently", different)
    report.ratio("times faster", scan / index)
    large = encode_table(read_table(adult.resampled(table, MILLION), plan), plan)
    report.count("profiles of the million", len(large.profiles))
    seconds = _seconds(lambda: KMember(K)(large))
    report.time("search index on a million", seconds)
    report.ratio("growth exponent", math.log(seconds / index) / math.log(MILLION / microdata.records))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _scan(microdata: Microdata) -> tuple[float, int]:
    codes = microdata.profiles[microdata.profile_of_unit].astype("uint16")
    costs = cost_tables(microdata)
    cluster_by_scan(codes[:50], costs.offset, costs.width, costs.costs, 2)  # compile
    start = time.perf_counter()
    by_scan = cluster_by_scan(codes, costs.offset, costs.width, costs.costs, K)
    seconds = time.perf_counter() - start
    by_index = KMember(K)(microdata).group_of
    return seconds, int((by_index[by_scan >= 0] != by_scan[by_scan >= 0]).sum())
