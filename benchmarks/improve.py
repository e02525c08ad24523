"""Lower loss: greedy groups, and the same improved, beside ARX's recorded figures; on tables it was not tuned on too.

CPU seconds are those of making the groups of an encoded table, from its profiles to the finished recoding, on one core
after warm-up; the fastest of several if they are short.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks import adult, lattice
from benchmarks.page import table
from benchmarks.point import timed, warm
from benchmarks.results import Report, Section, shown
from benchmarks.tables import census_table, deaths_table, known
from hedgerow.measures import granularity, mean_ncp
from hedgerow.microdata import encode_table, read_table
from hedgerow.plan import Plan

OTHER_RECORDS = 30_000
METHODS: dict[str, dict[str, Any]] = {
    "cluster": {"name": "cluster"},
    "cluster, improve: quick": {"name": "cluster", "improve": "quick"},
    "cluster, improve: thorough": {"name": "cluster", "improve": "thorough"},
    "cluster, improve: longest": {"name": "cluster", "improve": "longest"},
    "partition, improve: quick": {"name": "partition", "improve": "quick"},
}


@dataclass(frozen=True)
class Case:
    """A table, what is asked of it, and what others reached, recorded elsewhere: (who, loss, CPU seconds)."""

    title: str
    objective: str
    recorded: tuple[tuple[str, float, str], ...] = ()

    @property
    def measure(self) -> Callable[..., Fraction]:
        """The loss that is shown."""
        return granularity if self.objective == "granularity" else mean_ncp


CASES = {
    "arx": Case(
        "ARX's Adult, nine columns, k = 5, granularity", "granularity",
        (("ARX 3.9.2, local recoding, 33 steps", 0.0591, "3.1 s"),
         ("ARX 3.9.2, local recoding, 148 steps", 0.0540, "12.8 s")),
    ),
    "diverse": Case(
        "ARX's Adult, eight columns, k = 5, three occupations in every group, granularity", "granularity",
        (("ARX 3.9.2, local recoding", 0.0367, "0.36 s + 0.9 s"),),
    ),
    "public": Case(
        "Adult, eight columns as the public Python tools have them, k = 10, NCP", "ncp",
        (("kNN clustering, public Python code", 0.1187, "320 s"),),
    ),
    "census": Case("census, eight columns, within its limits, k = 5, NCP", "ncp"),
    "deaths": Case("deaths, twelve columns, k = 5, NCP", "ncp"),
}  # fmt: skip


def run(report: Report) -> None:
    """Measure every case with every method that this version knows."""
    methods = known({name: {**method, "objective": "ncp"} for name, method in METHODS.items()})
    for name in METHODS.keys() - methods.keys():
        report.note(name, "this version does not know it")
    with tempfile.TemporaryDirectory(prefix="hedgerow-bench-") as scratch:
        for key, case in CASES.items():
            source, plan = _source(key, Path(scratch))
            for name, method in methods.items():
                objective = {"objective": case.objective} if "objective" in method else {}
                asked = plan.replace(method={**METHODS[name], **objective}).settled()
                _measure(report, case, name, source, asked)


def _source(key: str, folder: Path) -> tuple[Any, Plan]:
    if key in ("arx", "diverse"):
        return adult.FOLDER / "arx-adult" / "adult.csv", lattice.plan("a" if key == "arx" else "c")
    if key == "public":
        return adult.records(), adult.public_plan(10)
    if key == "census":
        return census_table(folder, OTHER_RECORDS)
    return deaths_table(folder, OTHER_RECORDS, 12)


def _measure(report: Report, case: Case, name: str, source: Any, plan: Plan) -> None:
    microdata = encode_table(read_table(source, plan), plan)
    warm(microdata, plan)
    solution, _, cpu = timed(microdata, plan)
    report.cpu(f"{case.title}: {name}", cpu)
    report.loss(f"{case.title}: {name}", float(case.measure(microdata, solution.recoding)))
    withheld = microdata.records - solution.recoding.released
    if withheld:
        report.count(f"{case.title}: {name}: withheld", withheld)


def blocks(section: Section) -> dict[str, str]:
    """A table for every case."""
    found = {}
    for key, case in CASES.items():
        rows = []
        for method in METHODS:
            name = f"{case.title}: {method}"
            loss = section.value(name, "loss")
            if loss is not None:
                rows.append([f"Hedgerow, `{method}`", f"{loss:.4f}", shown(section.value(name, "cpu") or 0, "s")])
        rows += [[f"{who} (recorded elsewhere)", f"{loss:.4f}", cpu] for who, loss, cpu in case.recorded]
        found[f"improve-{key}"] = f"**{case.title}**\n\n" + table(["", "loss", "CPU"], rows)
    return found
