"""Research value: merging on Adult's four attributes and on a million records; the exact search beside listing all."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import adult
from benchmarks.results import Report
from hedgerow.anonymization.clustering import MergeSmall, find_cells
from hedgerow.anonymization.lattice import Patience, make_space, search_research
from hedgerow.evaluation.synthetic import deaths
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.naive import utility as naive
from tests.naive.attributes import FreeAttribute, TreeAttribute
from tests.naive.research_value import Categories, FreeNumbers, Rule, Settings
from tests.naive.trees import Tree

NUMBERS = ("age", "education-num", "capital-gain")
RULES = {"age": (64, 65, 25), "education-num": (12, 13, 20), "capital-gain": (10000, 10001, 45)}
FEW = 1500
CHECKS = 10_000


def run(report: Report) -> None:
    """One core after warm-up; the naive reference on the first records only, for it is quadratic and plain Python."""
    rows = [
        [row[adult.COLUMNS.index(name)] for name in (*NUMBERS, "income")] for row in adult.complete_rows("adult.data")
    ]
    _few(report, rows[:FEW])
    _all(report, rows)
    _million(report, rows)
    _deaths(report)


def _plan(method: dict[str, Any] | str) -> Plan:
    free = {"role": "quasi-identifier", "intervals": "free"}
    raw = {
        "attributes": {**dict.fromkeys(NUMBERS, free), "salary": "quasi-identifier"},
        "privacy": {"k": 5},
        "rules": [
            {"attribute": name, "keep_apart": [low, high], "importance": importance}
            for name, (low, high, importance) in RULES.items()
        ],
        "research_value": {"base": 10},
        "method": method,
    }
    return Plan.from_dict(raw)


def _encode(rows: list[list[str]], plan: Plan) -> Microdata:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return encode_table(read_table(pa.table(dict(zip((*NUMBERS, "salary"), columns, strict=True))), plan), plan)


def _merge(microdata: Microdata, plan: Plan, aim: Any = "utility", suppress: bool = False) -> Any:
    requirement = Requirement(plan.privacy.k)
    cells = find_cells(microdata, requirement)
    hideable = frozenset(plan.quasi_identifiers if suppress else ())
    return MergeSmall(requirement, column_values(microdata, plan), aim, hideable)(microdata, cells)


def _few(report: Report, rows: list[list[str]]) -> None:
    plan = _plan("utility")
    microdata = _encode(rows, plan)
    fast = _merge(microdata, plan)
    seconds = _least(lambda: _merge(microdata, plan))
    columns: list[Any] = []
    names = [column.name for column in microdata.indexed_columns]
    for name in names:
        values = [row[(*NUMBERS, "salary").index(name)] for row in rows]
        if name == "salary":
            tree = Tree.flat(sorted(set(values)))
            columns.append(Categories(TreeAttribute(tree), range(len(tree.leaves))))
        else:
            low, high, importance = RULES[name]
            numbers = FreeAttribute.over([Fraction(value) for value in values])
            columns.append(FreeNumbers(numbers, [Rule(low, high, importance)]))
    records = [
        tuple(
            column.code(
                row[(*NUMBERS, "salary").index(name)] if name == "salary" else Fraction(row[NUMBERS.index(name)])
            )
            for column, name in zip(columns, names, strict=True)
        )
        for row in rows
    ]
    start = time.perf_counter()
    slow = naive.cluster(columns, records, 5, "utility", Settings(Fraction(10)))
    plain = time.perf_counter() - start
    report.time(f"Adult, first {FEW:,}: naive reference", plain)
    report.time(f"Adult, first {FEW:,}: Hedgerow", seconds)
    report.ratio(f"Adult, first {FEW:,}: times faster", plain / seconds)
    report.count(f"Adult, first {FEW:,}: groups more than the naive reference", fast.groups - len(slow.clusters))


def _all(report: Report, rows: list[list[str]]) -> None:
    for aim in ("utility", "bottom-up", "euclidean"):
        plan = _plan(aim)
        microdata = _encode(rows, plan)
        release = _merge(microdata, plan, aim)
        seconds = _least(lambda microdata=microdata, plan=plan, aim=aim: _merge(microdata, plan, aim))  # type: ignore[misc]
        report.time(f"Adult, four attributes, {aim}", seconds)
        report.count(f"Adult, four attributes, {aim}: groups", release.groups)
    plan = _plan("utility")
    microdata = _encode(rows, plan)
    seconds = _least(lambda: _merge(microdata, plan, suppress=True))
    report.time("Adult, four attributes, utility, with suppression", seconds)


def _million(report: Report, rows: list[list[str]]) -> None:
    """A million records resampled column by column within the level of education, so that combinations multiply."""
    random = np.random.default_rng(0)
    columns = np.array(rows, dtype=object)
    start = random.integers(0, len(rows), 1_000_000)
    mixed = columns[start].copy()
    for j, name in enumerate((*NUMBERS, "salary")):
        if name == "age":
            mixed[:, j] = columns[random.permutation(start), j]
    plan = _plan("utility")
    microdata = _encode(mixed.tolist(), plan)
    begin = time.perf_counter()
    release = _merge(microdata, plan)
    seconds = time.perf_counter() - begin
    report.time("a million records, utility", seconds)
    report.count("a million records: profiles", len(microdata.profiles))
    report.count("a million records: groups", release.groups)


def _deaths(report: Report) -> None:
    """Made-up death certificates with 24 attributes: never listed; the search ends after a number of nodes."""
    import tempfile
    from pathlib import Path

    from hedgerow.evaluation.synthetic import write_demo

    with tempfile.TemporaryDirectory() as folder:
        data, plan_file = write_demo(Path(folder), deaths(attributes=24))
        plan = Plan.load(plan_file).settled()
        microdata = encode_table(read_table(data, plan), plan)
    space = make_space(microdata, most_nodes=None)
    requirement = Requirement.of_plan(plan, microdata)
    values = column_values(microdata, plan)
    for share in (0, 1):
        budget = microdata.records * share // 100
        begin = time.perf_counter()
        found = search_research(space, requirement, budget, values, patience=Patience(checks=CHECKS))
        seconds = time.perf_counter() - begin
        name = f"deaths, 24 attributes, {share} % withheld"
        report.time(name, seconds)
        report.count(f"{name}: nodes checked", found.tested)
        report.loss(f"{name}: research value lost", 1 - float(found.best.value) if found.best is not None else 1.0)
        report.loss(f"{name}: lost at least, proven", 1 - float(found.bound))


def _least(work: Callable[[], object]) -> float:
    work()
    found = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)
