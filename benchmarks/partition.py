"""The partitioner: time and loss beside clustering, and what splitting cells before clustering saves and costs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from benchmarks.page import table
from benchmarks.results import Report, Section, shown
from hedgerow.anonymization.clustering import ConstrainedKMember, Partition, find_cells, split_cells
from hedgerow.anonymization.solving import solve
from hedgerow.evaluation.synthetic import census
from hedgerow.evaluation.synthetic.table import write_demo
from hedgerow.measures import ntil
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement

K = 10
COLUMNS = 9  # eight quasi-identifiers and the benefits
SIZES = (30_000, 300_000)
SPLIT_SIZE = 100_000
SPLITS = (30_000, 10_000, 3_000, 1_000)


def run(report: Report) -> None:
    """Measure on the made-up census with k = 10, on one core after warm-up."""
    plan = census_plan()
    requirement = Requirement(K)
    ConstrainedKMember(2)(microdata_of(1_000, plan))  # compile
    for size in SIZES:
        microdata = microdata_of(size, plan)
        cells = find_cells(microdata, requirement)
        report.count(f"{size:,} records: profiles", len(microdata.profiles))
        report.count(f"{size:,} records: cells", len(cells.people))
        partitioned, seconds = _timed(lambda: Partition(requirement)(microdata, cells=cells), 3)  # noqa: B023
        report.time(f"{size:,} records: partition", seconds)
        report.loss(f"{size:,} records: partition", _ntil(microdata, partitioned))
        clustered, slower = _timed(lambda: ConstrainedKMember(K)(microdata, cells=cells), 1)  # noqa: B023
        report.time(f"{size:,} records: cluster", slower)
        report.loss(f"{size:,} records: cluster", _ntil(microdata, clustered))
    _split(report, plan)


def _split(report: Report, plan: Plan) -> None:
    """Cluster one huge cell, whole and split."""
    microdata = microdata_of(SPLIT_SIZE, plan)
    requirement = Requirement(K)
    cells = find_cells(microdata, requirement, ignore_limits=True)
    report.count("one cell: profiles", len(microdata.profiles))
    whole, slow = _timed(lambda: ConstrainedKMember(K)(microdata, cells=cells), 1)
    loss = _ntil(microdata, whole)
    report.time("one cell: not split", slow)
    report.loss("one cell: not split", loss)
    for most in SPLITS:
        split, cutting = _timed(lambda: split_cells(microdata, cells, requirement, most), 1)  # noqa: B023
        made, clustering = _timed(lambda: ConstrainedKMember(K)(microdata, cells=split.cells), 1)  # noqa: B023
        method = {"name": "cluster", "split": most, "limits": "ignore"}
        told = solve(microdata, plan.replace(method=method), threads=1).details["split"]
        report.time(f"one cell: split: {most:,}", cutting + clustering)
        report.count(f"one cell: split: {most:,}", told["parts"])
        report.loss(f"one cell: split: {most:,}", _ntil(microdata, made))
        report.loss(f"one cell: split: {most:,}, as the facts sample it", told["sampled_loss_ratio"])


def census_plan() -> Plan:
    """The plan of the census with eight quasi-identifiers, hierarchies in it."""
    with tempfile.TemporaryDirectory() as folder:
        _, path = write_demo(f"{folder}/census", census(1_000, attributes=COLUMNS))
        return Plan.load(path).replace(privacy={"k": K}).settled()


def microdata_of(records: int, plan: Plan) -> Microdata:
    """A census of so many records."""
    return encode_table(read_table(pa.table(census(records, attributes=COLUMNS).columns), plan), plan)


def _ntil(microdata: Microdata, recoding: Recoding) -> float:
    return float(ntil(microdata, recoding))


def _timed(work: Callable[[], Any], times: int) -> tuple[Any, float]:
    """What the work gives, and the seconds of the fastest of several times."""
    least = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        found = work()
        least = min(least, time.perf_counter() - start)
    return found, least


def blocks(section: Section) -> dict[str, str]:
    """Partition beside cluster, and what splitting saves and costs."""
    rows = []
    for size in SIZES:
        start = f"{size:,} records: "
        one, other = (
            (section.value(start + name, "time") or 1, section.value(start + name, "loss") or 1)
            for name in ("partition", "cluster")
        )
        rows.append(
            [f"{size:,}", section.cell(start + "profiles", "count"), shown(one[0], "s"), shown(other[0], "s"),
             f"{other[0] / one[0]:.1f}", f"{one[1]:.4f} / {other[1]:.4f}", f"{one[1] / other[1]:.3f}"]
        )  # fmt: skip
    head = ["records", "profiles", "`partition`", "`cluster`", "times faster", "loss (NTIL)", "times the loss"]
    whole = section.value("one cell: not split", "loss") or 1
    parts = [["none", "", section.cell("one cell: not split", "time"), "1", ""]]
    for most in SPLITS:
        name = f"one cell: split: {most:,}"
        sampled = section.value(f"{name}, as the facts sample it", "loss") or 0
        loss = f"{(section.value(name, 'loss') or 0) / whole:.3f}"
        parts.append([f"{most:,}", section.cell(name, "count"), section.cell(name, "time"), loss, f"{sampled:.3f}"])
    split_head = ["`split`", "parts", "time", "loss", "as the facts sample it"]
    return {"partition": table(head, rows), "partition-split": table(split_head, parts)}
