"""One huge block on all cores, and a change of a large release as a whole command: each against itself.

The block: groups of an encoded table, everything of them but reading and encoding. The change: ``release insert`` of
one per cent into a million records, against ``release create`` in the same run; both with their checks. CPU seconds
count all threads and child processes.
"""

from __future__ import annotations

import csv
import os
import tempfile
import time
from pathlib import Path

from benchmarks.page import table
from benchmarks.partition import census_plan, microdata_of
from benchmarks.processes import PYTHON, Used, use
from benchmarks.results import Report, Section
from hedgerow.anonymization.solving import solve
from hedgerow.evaluation.synthetic import census
from hedgerow.measures import ntil

MILLION = 1_000_000
K = 10
CHUNK = 500_000
COLUMNS = 8
METHOD = {"name": "cluster", "improve": "quick", "limits": "ignore"}


def run(report: Report) -> None:
    """Measure a block with one thread and with two, and a maintained release."""
    _block(report)
    with tempfile.TemporaryDirectory(prefix="hedgerow-bench-") as scratch:
        _release(report, Path(scratch))


def _block(report: Report) -> None:
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


def _release(report: Report, folder: Path) -> None:
    plan = _write(folder)
    store = str(folder / "people.store")
    created = _command(["release", "create", str(folder / "people.csv"), plan, "--store", store])
    inserted = _command(["release", "insert", str(folder / "more.csv"), "--store", store])
    for verb, used in (("create", created), ("insert", inserted)):
        report.time(f"release {verb}", used.seconds)
        report.cpu(f"release {verb}", used.cpu)
        report.memory(f"release {verb}", used.megabytes)
    report.ratio("release insert, over create", inserted.cpu / created.cpu)


def _write(folder: Path) -> str:
    """Make up a census with numbers for keys: a million people, and one per cent more."""
    number = 0
    for name, sizes in (("people", [CHUNK] * (MILLION // CHUNK)), ("more", [MILLION // 100])):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            for at, size in enumerate(sizes):
                made = census(size, number, COLUMNS)
                if not at:
                    writer.writerow(["id", *made.columns])
                rows = zip(*made.columns.values(), strict=True)
                writer.writerows([number + place, *row] for place, row in enumerate(rows))
                number += size
    for file_name, lines in made.hierarchies.items():
        (folder / file_name).parent.mkdir(exist_ok=True)
        (folder / file_name).write_text("".join(";".join(line) + "\n" for line in lines), encoding="utf-8")
    plan = folder / "plan.yaml"
    keyed = made.plan.replace("attributes:\n", "key: id\nattributes:\n  id: identifier\n", 1)
    plan.write_text(keyed, encoding="utf-8")
    return str(plan)


def _command(words: list[str]) -> Used:
    return use([PYTHON, "-c", "from hedgerow.cli import main; main()", *words], limit=3_600)


def blocks(section: Section) -> dict[str, str]:
    """Two threads beside one, and a change beside the beginning."""
    rows = [
        [f"one block of {MILLION:,}, `quick`, {threads}", section.cell(name, "time"), section.cell(name, "cpu"), "–"]
        for threads, name in (("one thread", "one block, 1 threads"), ("two threads", "one block, 2 threads"))
    ]
    rows += [
        [f"`release {verb}`, {what}", *(section.cell(f"release {verb}", kind) for kind in ("time", "cpu", "memory"))]  # type: ignore[arg-type]
        for verb, what in (("create", f"{MILLION:,} records"), ("insert", f"{MILLION // 100:,} more"))
    ]
    return {"cores": table(["", "time", "CPU", "peak memory"], rows)}
