"""Whole households of the made-up census: formed, written and checked, beside the same persons without the link."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import hedgerow as hr
from benchmarks.page import table
from benchmarks.results import Report, Section
from hedgerow.evaluation.synthetic import write_demo
from hedgerow.evaluation.synthetic.households import household_census

HOUSEHOLDS = 100_000
METHODS: dict[str, Any] = {
    "cluster": "cluster",
    "quick": {"name": "cluster", "improve": "quick"},
    "partition": "partition",
}


def run(report: Report) -> None:
    """Measure ``anonymize`` whole: reading, grouping, writing, and the check, which counts households for itself."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        data, path = write_demo(folder, household_census(HOUSEHOLDS))
        plan = hr.Plan.load(path)
        hr.anonymize(*write_demo(folder / "few", household_census(300)))  # compile
        for name, method in METHODS.items():
            begin, used = time.perf_counter(), time.process_time()
            facts = hr.anonymize(data, plan.replace(method=method), folder / name).facts
            report.time(name, time.perf_counter() - begin)
            report.cpu(name, time.process_time() - used)
            report.count(f"{name}: records", facts["records"])
            report.count(f"{name}: withheld", facts["withheld"])
            report.count(f"{name}: groups of units", facts["units"]["groups"])
            report.loss(name, facts["ntil"])
            report.loss(f"{name}: not linked", facts["units"]["ntil_not_linked"])
        begin = time.perf_counter()
        found = hr.attack(folder / "cluster", data)
        report.time("attack", time.perf_counter() - begin)
        assert found.units is not None
        report.count("attack: fewest units left", found.units.fewest)


def blocks(section: Section) -> dict[str, str]:
    """A row for every method."""
    rows = [
        [f"`{name}`", section.cell(name, "time"), section.cell(name, "cpu"), section.cell(f"{name}: withheld", "count"),
         section.cell(f"{name}: groups of units", "count"), section.cell(name, "loss"),
         section.cell(f"{name}: not linked", "loss")]
        for name in METHODS
    ]  # fmt: skip
    head = ["method", "time", "of all cores", "records withheld", "groups of households", "loss (NTIL)", "not linked"]
    return {"households": table(head, rows)}
