"""How time, memory and loss grow: with records, k, columns and the share of different records.

Hedgerow's times are CPU seconds of making the groups of an encoded table on one core, those of the others of their
method without reading and writing. Memory is the peak of a process that reads, encodes and groups, beyond that of a
process that has only loaded the same kernels.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import adult
from benchmarks.drawing import Panel
from benchmarks.drawing import draw as draw_panels
from benchmarks.page import DOCS, table
from benchmarks.processes import PYTHON, Failed, Used, use
from benchmarks.results import Kind, Report, Section, shown
from benchmarks.tables import (
    FAST,
    Method,
    census_table,
    deaths_table,
    known,
    repeated,
    write_plan,
    write_table,
)  # fmt: skip
from benchmarks.task import Task
from benchmarks.tools import OTHERS
from hedgerow.plan import Plan
from hedgerow.reports.charts.axes import Axis

K = 10
FEW = 1_000
RECORDS = (10_000, 100_000, 1_000_000)
ONLY_ADULT = (1_000, 30_000)
"""Sizes that only the first table has, so that its curves can be read beside those of others."""
KS = (2, 5, 10, 30, 100, 300, 1_000)
COLUMNS = (2, 4, 8, 16, 32)
SHARES = (0.01, 0.03, 0.1, 0.3, 1.0)
MANY_COLUMNS = 30_000
"""Records of the tables with many columns."""
DISTINCT = 100_000
"""Records of the tables of different distinctness."""
LARGE = 100_000
"""Records from which on memory is counted: below, what does not depend on the size weighs more."""
LIMIT = 150
"""Seconds that a process may take; a larger table is then not tried."""
TABLES = {"Adult": "Adult, resampled", "census": "census, most records different, within limits"}
MOST_OF_OTHERS = {"anonypy": 10_000, "anjana": 30_000, "baseline:": 30_000}
"""Records up to which the others are run here, where that is less than they can."""


def run(report: Report) -> None:
    """All four sweeps."""
    methods = known(FAST)
    for name in FAST.keys() - methods.keys():
        report.note(name, "this version does not know it")
    with tempfile.TemporaryDirectory(prefix="hedgerow-bench-") as scratch:
        folder = Path(scratch)
        _by_records(report, folder, methods)
        _by_k(report, folder, methods)
        _by_columns(report, folder, methods)
        _by_distinctness(report, folder, methods)
        _others(report, folder)


# ---- measuring -----------------------------------------------------------------------------------------------


def _by_records(report: Report, folder: Path, methods: dict[str, Method]) -> None:
    too_long: set[tuple[str, str]] = set()
    bare: dict[tuple[str, str], float] = {}
    for records in sorted((*RECORDS, *ONLY_ADULT)):
        for kind in TABLES if records in RECORDS else ["Adult"]:
            table, plan = _table(folder, kind, records)
            data = write_table(folder, f"{kind}-{records}", table)
            for method, asked in methods.items():
                if (kind, method) in too_long:
                    continue
                job = {"data": data, "plan": write_plan(folder, "plan", plan, K, asked)}
                try:
                    if (kind, method) not in bare:
                        few = write_table(folder, "few", table.slice(0, FEW))
                        use(_command([{**job, "data": few, "bare": True}]), LIMIT)  # compiles what is not in the cache
                        bare[kind, method] = use(_command([{**job, "data": few, "bare": True}]), LIMIT).megabytes
                    used = use(_command([job]), LIMIT)
                except Failed as failed:
                    report.note(_name(f"{kind}, records", records, method), str(failed))
                    too_long.add((kind, method))
                    continue
                _tell(report, _name(f"{kind}, records", records, method), told := json.loads(used.output))
                if records >= 10 * FEW and "failed" not in told:
                    cells = records * len(plan.quasi_identifiers)
                    each = max(0.0, used.megabytes - bare[kind, method]) * 2**20 / cells
                    report.memory(_name(f"{kind}, records", records, method), each, "bytes")
            Path(data).unlink()
    for kind in TABLES:
        for method in methods:
            points = [(x, y) for x, y in _points(report.section, f"{kind}, records", method, "cpu") if x >= 10 * FEW]
            if len(points) > 1:
                report.ratio(f"{kind}, growth exponent: Hedgerow, {method}", growth(points))


def growth(points: Iterable[tuple[float, float]]) -> float:
    """The exponent by which y grows with x: the slope of the line nearest to the points, both logarithmic."""
    across, up = np.log(np.array(list(points), float)).T
    return float(np.polyfit(across, up, 1)[0])


def _table(folder: Path, kind: str, records: int) -> tuple[pa.Table, Plan]:
    if kind == "Adult":
        return adult.resampled(adult.records(), records), adult.public_plan(K)
    return census_table(folder, records)


def _by_k(report: Report, folder: Path, methods: dict[str, Method]) -> None:
    data = write_table(folder, "adult", adult.records())
    for method, asked in methods.items():
        plans = [write_plan(folder, f"plan-{k}", adult.public_plan(k), k, asked) for k in KS]
        _jobs(report, "Adult, k", method, dict(zip(KS, [{"data": data, "plan": plan} for plan in plans], strict=True)))


def _by_columns(report: Report, folder: Path, methods: dict[str, Method]) -> None:
    tables = {}
    for columns in COLUMNS:
        table, plan = deaths_table(folder, MANY_COLUMNS, columns)
        tables[columns] = write_table(folder, f"deaths-{columns}", table), plan
    for method, asked in methods.items():
        jobs = {
            columns: {"data": data, "plan": write_plan(folder, f"plan-{columns}", plan, K, asked)}
            for columns, (data, plan) in tables.items()
        }
        _jobs(report, "deaths, columns", method, jobs)


def _by_distinctness(report: Report, folder: Path, methods: dict[str, Method]) -> None:
    table, plan = census_table(folder, DISTINCT)
    tables = {share: write_table(folder, f"census-{share}", repeated(table, share)) for share in SHARES}
    for method, asked in methods.items():
        path = write_plan(folder, "plan", plan, K, asked)
        jobs = {share: {"data": data, "plan": path} for share, data in tables.items()}
        _jobs(report, "census, share of different records", method, jobs)


def _jobs(report: Report, sweep: str, method: str, jobs: dict[Any, dict[str, Any]]) -> None:
    """Several jobs in one process."""
    try:
        lines = use(_command(list(jobs.values())), LIMIT).output.splitlines()
    except Failed as failed:
        report.note(f"{sweep}: Hedgerow, {method}", str(failed))
        return
    for at, line in zip(jobs, lines, strict=True):
        _tell(report, _name(sweep, at, method), json.loads(line))


def _command(jobs: list[dict[str, Any]]) -> list[str]:
    return [PYTHON, "-m", "benchmarks.point", json.dumps(jobs)]


def _name(sweep: str, at: float, method: str) -> str:
    return f"{sweep} {at:,}: Hedgerow, {method}"


def _tell(report: Report, name: str, told: dict[str, Any]) -> None:
    if "failed" in told:
        report.note(name, told["failed"].partition(":")[0])
        return
    report.cpu(name, told["cpu"])
    report.loss(name, told["ncp"])


def _others(report: Report, folder: Path) -> None:
    """Baselines and peers on resampled Adult, as far as they get in time."""
    for tool in OTHERS:
        most = min(tool.most, MOST_OF_OTHERS.get(tool.name.partition(" ")[0], tool.most))
        for records in sorted((*RECORDS, *ONLY_ADULT)):
            if records > most:
                break
            table = adult.resampled(adult.records(), records)
            cells = {name: table.column(name).to_pylist() for name in table.column_names}
            asked = Task(K, cells, adult.PUBLIC_BANDS, adult.public_paths())
            asked.write(folder)
            name = f"Adult, records {records:,}: {tool.name}"
            try:
                used: Used = tool.run(folder, LIMIT)
            except Failed as failed:
                report.note(name, str(failed))
                break
            report.cpu(name, float(used.output.split()[-1]))
            report.loss(name, asked.penalty_of(folder / tool.release)[0])


# ---- the page ------------------------------------------------------------------------------------------------


def _points(
    section: Section, sweep: str, method: str, kind: Kind, maker: str = "Hedgerow, "
) -> list[tuple[float, float]]:
    """Where a sweep was measured, and what was."""
    found = []
    for figure in section.figures:
        at, _, name = figure.name.removeprefix(sweep + " ").partition(": ")
        if figure.name.startswith(sweep + " ") and name == maker + method and figure.kind == kind:
            found.append((float(at.replace(",", "")), figure.value))
    return found


def blocks(section: Section) -> dict[str, str]:
    """Growth and memory in a table; the losses in others."""
    methods = [method for method in FAST if section.find(f"Adult, growth exponent: Hedgerow, {method}", "ratio")]
    rows = []
    for kind, what in TABLES.items():
        for method in methods:
            seconds = dict(_points(section, f"{kind}, records", method, "cpu"))
            memory = _points(section, f"{kind}, records", method, "memory")
            if not any(records >= LARGE for records, _ in memory):
                continue
            exponent = section.value(f"{kind}, growth exponent: Hedgerow, {method}", "ratio")
            times = [shown(seconds[n], "s") if n in seconds else "–" for n in RECORDS]
            most = max(each for records, each in memory if records >= LARGE)
            rows.append([what, f"`{method}`", *times, "–" if exponent is None else f"{exponent:.2f}", f"{most:.0f}"])
    head = ["table", "method", *(f"{n:,}" for n in RECORDS), "growth", "bytes, at most"]
    found = {"sweep-records": table(head, rows)}
    sweeps = {"sweep-k": ("Adult, k", KS), "sweep-columns": ("deaths, columns", COLUMNS)}
    sweeps["sweep-distinct"] = ("census, share of different records", SHARES)  # type: ignore[assignment]
    for block, (sweep, places) in sweeps.items():
        rows = []
        for method in methods:
            cpu = dict(_points(section, sweep, method, "cpu"))
            loss = dict(_points(section, sweep, method, "loss"))
            cells = [f"{shown(cpu[at], 's')}, {loss[at]:.1%}" if at in cpu else "–" for at in places]
            rows.append([f"`{method}`", *cells])
        found[block] = table(
            ["method", *(f"{at:,}" if at >= 1 and block != "sweep-distinct" else f"{at:.0%}" for at in places)], rows
        )
    return found


def draw(section: Section) -> None:
    """Time by records, k, columns and distinctness; memory by records."""
    names = {method: f"Hedgerow, {method}" for method in FAST}

    def ours(sweep: str, kind: Kind) -> dict[str, list[tuple[float, float]]]:
        found = {name: _points(section, sweep, method, kind) for method, name in names.items()}
        return {name: points for name, points in found.items() if points}

    others = {tool.name: _points(section, "Adult, records", tool.name, "cpu", maker="") for tool in OTHERS}
    adult_time = {**ours("Adult, records", "cpu"), **{name: points for name, points in others.items() if points}}
    records, seconds, each = (
        Axis(name, logarithmic=True) for name in ("records", "CPU seconds", "bytes per record and column")
    )
    k, columns, share = (
        Axis(name, logarithmic=True) for name in ("k", "quasi-identifiers", "share of different records")
    )
    draw_panels(
        DOCS / "benchmarks-records.svg",
        "Time and memory by records",
        [
            Panel("Adult, resampled", records, seconds, adult_time),
            Panel("census, most records different, within limits", records, seconds, ours("census, records", "cpu")),
            Panel("Adult, resampled: memory", records, each, ours("Adult, records", "memory")),
            Panel("census: memory", records, each, ours("census, records", "memory")),
        ],
        columns=2,
    )
    draw_panels(
        DOCS / "benchmarks-sweeps.svg",
        "Time by k, columns and distinctness",
        [
            Panel("Adult: k", k, seconds, ours("Adult, k", "cpu")),
            Panel("deaths: columns", columns, seconds, ours("deaths, columns", "cpu")),
            Panel(
                "census: share of different records", share, seconds, ours("census, share of different records", "cpu")
            ),
            Panel("Adult: loss by k", k, Axis("NCP", logarithmic=True), ours("Adult, k", "loss")),
        ],
        columns=2,
    )
