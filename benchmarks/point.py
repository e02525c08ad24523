"""``python -m benchmarks.point JOBS``: make groups as plans ask, in a process of its own, and print what that took.

JOBS is a JSON list of ``{"data": file, "plan": file}``. Kernels are loaded on a few records of each job before it is
timed; a job with ``"bare": true`` ends there. What is timed is making the groups of an encoded table on one core. Each
job prints one line of JSON; a job without an answer says why.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from hedgerow.anonymization.solving import Solution, solve
from hedgerow.errors import HedgerowError
from hedgerow.measures import mean_ncp
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan

FEW = 1_000
LONG = 1.0
"""Seconds after which nothing is repeated; shorter jobs are, and the fastest counts."""


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Do one job."""
    plan = Plan.load(job["plan"]).settled()
    microdata = encode_table(read_table(job["data"], plan), plan)
    warm(microdata, plan)
    if job.get("bare"):
        return {}
    solution, seconds, cpu = timed(microdata, plan)
    loss = float(mean_ncp(microdata, solution.recoding))
    return {"seconds": seconds, "cpu": cpu, "ncp": loss, "profiles": len(microdata.profiles)}


def warm(microdata: Microdata, plan: Plan) -> None:
    """Load the kernels that a plan needs, on a few records."""
    solve(microdata.of_units(np.arange(min(FEW, len(microdata.record_of)))), plan, threads=1)


def timed(microdata: Microdata, plan: Plan) -> tuple[Solution, float, float]:
    """Make groups on one core, several times if that is quick; returns the least seconds and CPU seconds."""
    clock: list[float] = []
    cpu: list[float] = []
    while not clock or (sum(clock) < LONG and len(clock) < 5):
        start, busy = time.perf_counter(), time.process_time()
        solution = solve(microdata, plan, threads=1)
        clock.append(time.perf_counter() - start)
        cpu.append(time.process_time() - busy)
    return solution, min(clock), min(cpu)


def main() -> None:
    """Do all jobs."""
    for job in json.loads(sys.argv[1]):
        try:
            told = measure(job)
        except HedgerowError as error:
            told = {"failed": str(error).splitlines()[0]}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
