"""Side by side on Adult: Hedgerow, installed peers, baselines in numpy, and the naive reference; whole processes.

Everybody reads the same CSV file and writes one. The loss is computed from the written cells alone (``penalty.py``),
and pycanon counts the smallest group of everybody's release.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks import adult
from benchmarks.drawing import draw_points
from benchmarks.page import DOCS, table
from benchmarks.processes import PEERS, Failed
from benchmarks.results import Report, Section
from benchmarks.task import Task
from benchmarks.tools import OTHERS, Tool, hedgerow_tools, smallest_group
from hedgerow.reports.charts.axes import Axis

K = 10
SIZES = (1_000, 30_162)
RECORDED = (  # the best public Python result and its k-member clustering, on other machines, by their own account
    ("kNN clustering, public Python code, recorded elsewhere", 320, "320 s", 0.1187),
    ("k-member clustering, the same code, recorded elsewhere", 3600, "about an hour", None),
)


def task(records: int) -> Task:
    """The first records of Adult, with the trees that the public Python tools have."""
    cells = {name: adult.records().column(name).to_pylist()[:records] for name in adult.records().column_names}
    return Task(K, cells, adult.PUBLIC_BANDS, adult.public_paths())


def run(report: Report) -> None:
    """Run every tool on a few records, where all of them finish, and on all records."""
    if not PEERS.exists():
        report.note("peers", "there is no environment .peers: make peers")
    with tempfile.TemporaryDirectory(prefix="hedgerow-bench-") as scratch:
        folder = Path(scratch)
        for records in SIZES:
            asked = task(records)
            asked.write(folder)
            for tool in (*hedgerow_tools(), *OTHERS):
                _measure(report, tool, asked, folder)


def _measure(report: Report, tool: Tool, asked: Task, folder: Path) -> None:
    name = f"{asked.records:,} records: {tool.name}"
    if asked.records > tool.most:
        report.note(name, f"not run: takes too long beyond {tool.most:,} records")
        return
    try:
        if asked.records == SIZES[0] and tool.name.startswith("Hedgerow"):
            tool.run(folder)  # compiles what is not in the cache
        used = tool.run(folder)
        loss, withheld = asked.penalty_of(folder / tool.release)
    except Failed as failed:
        report.note(name, str(failed))
        return
    report.time(name, used.seconds)
    report.cpu(name, used.cpu)
    report.memory(name, used.megabytes)
    report.loss(name, loss)
    if withheld:
        report.count(f"{name}: withheld", withheld)
    try:
        report.count(name, smallest_group(folder / tool.release))
    except (Failed, ValueError) as failed:
        report.note(name, f"not counted by pycanon: {failed}")


# ---- the page ------------------------------------------------------------------------------------------------


def blocks(section: Section) -> dict[str, str]:
    """A table for every size."""
    return {f"peers-{records}": _table(section, records) for records in SIZES}


def _table(section: Section, records: int) -> str:
    start = f"{records:,} records: "
    rows = []
    for name in section.names(start):
        if name.endswith(": withheld"):
            continue
        cells = [section.cell(name, kind) for kind in ("time", "cpu", "memory")]
        loss = section.value(name, "loss")
        shown = section.notes.get(name, "–") if loss is None else f"{loss:.2%}"
        rows.append([name.removeprefix(start), *cells, shown, section.cell(name, "count")])
    if records == SIZES[-1]:
        rows += [
            [what, seconds, "–", "–", "–" if loss is None else f"{loss:.2%}", "–"]
            for what, _, seconds, loss in RECORDED
        ]
    return table(["", "time", "CPU", "peak memory", "NCP", "smallest group"], rows)


def draw(section: Section) -> None:
    """Loss against CPU time, on all records."""
    start = f"{SIZES[-1]:,} records: "
    points = []
    for name in section.names(start):
        cpu, loss = section.value(name, "cpu"), section.value(name, "loss")
        if cpu is not None and loss is not None:
            points.append((name.removeprefix(start), cpu, 100 * loss))
    points += [(what.partition(",")[0] + " (elsewhere)", cpu, 100 * loss) for what, cpu, _, loss in RECORDED if loss]
    x, y = Axis("CPU seconds of the whole process", logarithmic=True), Axis("loss (NCP, %)", logarithmic=True)
    draw_points(DOCS / "benchmarks-peers.svg", f"Loss against CPU time, {SIZES[-1]:,} records", points, x, y)
