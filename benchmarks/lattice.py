"""The best node of the lattice on ARX's Adult, beside ARX's own figures and against evaluating every node."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import adult
from benchmarks.page import table
from benchmarks.results import Report, Section
from hedgerow.anonymization.lattice import find_minimal, find_optimum, make_space
from hedgerow.anonymization.lattice.checker import make_checker
from hedgerow.microdata import read_table
from hedgerow.microdata.microdata import collapse, encode_columns
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement

ARX_MS = {"a": 32, "b": 839, "c": 358}  # ARX 3.9.2, Java 17, warm, median of 5, CPU, on a 2-core machine
COLUMNS = [
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
]  # fmt: skip


def plan(case: str) -> Plan:
    """k = 5; b and c withhold up to 5 %; c has occupation sensitive, three different values."""
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": {"file": f"adult_hierarchy_{name}.csv"}} for name in COLUMNS
    }
    privacy: dict[str, Any] = {"k": 5}
    if case == "c":
        attributes["occupation"] = "sensitive"
        privacy["p"] = 3
    return Plan.from_dict({"attributes": attributes, "privacy": privacy}, base=adult.FOLDER / "arx-adult")


def run(report: Report) -> None:
    """Measure CPU milliseconds, the least of nine runs after warm-up."""
    for case in "abc":
        _run_case(case, report)


def _run_case(case: str, report: Report) -> None:
    asked = plan(case)
    read = read_table(adult.FOLDER / "arx-adult" / "adult.csv", asked)
    encoded, sensitive = encode_columns(read, asked)
    microdata = collapse(encoded, sensitive)
    requirement = Requirement.of_plan(asked, microdata)
    budget = 0 if case == "a" else int(0.05 * microdata.records)
    collapsing = _least(lambda: collapse(encoded, sensitive))
    searching = _least(lambda: find_optimum(make_space(microdata), requirement, budget, "granularity"))
    space = make_space(microdata)
    best = find_optimum(space, requirement, budget, "granularity")
    assert best is not None
    report.loss(f"{case}: best node", best.score)
    report.count(f"{case}: withheld", best.withheld)
    report.count(f"{case}: nodes", best.nodes)
    report.count(f"{case}: nodes looked at", best.checked)
    report.cpu(f"{case}: profiles", collapsing, "ms")
    report.cpu(f"{case}: search", searching, "ms")
    checker = make_checker(space, requirement, "granularity")
    every = _least(lambda: [checker.check(checker.base(), node) for node in np.ndindex(*space.shape)], times=1)
    report.cpu(f"{case}: evaluating every node", every, "ms")
    minimal = find_minimal(space, requirement, budget)
    report.count(f"{case}: minimal nodes", len(minimal.minimal))
    report.count(f"{case}: looked at for all minimal nodes", minimal.checked)


def _least(work: Callable[[], object], times: int = 9) -> float:
    found = []
    for _ in range(times):
        start = time.process_time()
        work()
        found.append(1000 * (time.process_time() - start))
    return min(found)


def blocks(section: Section) -> dict[str, str]:
    """The three cases, beside what ARX took elsewhere."""
    rows = []
    for case in "abc":
        counts = (section.cell(f"{case}: {what}", "count") for what in ("nodes", "nodes looked at", "withheld"))
        parts = (section.cell(f"{case}: {what}", "cpu") for what in ("profiles", "search"))
        every = section.cell(f"{case}: evaluating every node", "cpu")
        loss = section.cell(f"{case}: best node", "loss")
        rows.append([case, *counts, loss, " + ".join(parts), every, f"{ARX_MS[case]} ms"])
    head = ["case", "nodes", "looked at", "withheld", "granularity", "Hedgerow, CPU", "evaluating every node"]
    return {"lattice": table([*head, "ARX 3.9.2 (elsewhere)"], rows)}
