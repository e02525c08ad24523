"""One huge block on all cores: groups of an encoded table, by one thread and by two; reading and encoding left out.

CPU seconds count all threads.
"""

from __future__ import annotations

import os
import time

from benchmarks.page import table
from benchmarks.partition import census_plan, microdata_of
from benchmarks.results import Report, Section
from hedgerow.anonymization.solving import solve
from hedgerow.measures import ntil

MILLION = 1_000_000
K = 10
COLUMNS = 8
METHOD = {"name": "cluster", "improve": "quick", "limits": "ignore"}


def run(report: Report) -> None:
    """Measure a block with one thread and with two."""
    plan = census_plan().replace(method=METHOD)
    solve(microdata_of(1_000, plan), plan, threads=1)  # compile
    microdata = microdata_of(MILLION, plan)
    seconds, losses = {}, set()
    for threads in (1, 2):
        start, busy = time.perf_counter(), time.process_time()
        recoding = solve(microdata, plan, threads=threads).recoding
        seconds[threads] = time.perf_counter() - start
        report.time(f"one block, {threads} threads", seconds[threads])
        report.cpu(f"one block, {threads} threads", time.process_time() - busy)
        losses.add(float(ntil(microdata, recoding)))
    assert len(losses) == 1, "threads changed the groups"
    report.loss("one block", losses.pop())
    report.ratio("one block: times faster with two threads", seconds[1] / seconds[2])
    report.count("one block: processors", os.cpu_count() or 1)


def blocks(section: Section) -> dict[str, str]:
    """Two threads beside one."""
    rows = [
        [f"one block of {MILLION:,}, `quick`, {threads}", section.cell(name, "time"), section.cell(name, "cpu"), "–"]
        for threads, name in (("one thread", "one block, 1 threads"), ("two threads", "one block, 2 threads"))
    ]
    return {"cores": table(["", "time", "CPU", "peak memory"], rows)}
