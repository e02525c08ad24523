"""Maintaining a release against making it afresh: on the sizes of the paper (INC), and one per cent of a million.

Times are those of the algorithms: what was read and encoded is there for both. All figures of a line come from one run
after compilation; incremental starts from the clusters of the records that were there before.

And as whole commands, with their checks and audits: changes of one per cent of a million people, against ``release
create`` in the same run; CPU seconds count all threads and child processes.
"""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import adult
from benchmarks.page import table
from benchmarks.processes import PYTHON, Used, use
from benchmarks.results import Report, Section
from hedgerow.anonymization.clustering import KMember
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.evaluation.synthetic import census
from hedgerow.maintenance.changes.change import maintain
from hedgerow.maintenance.changes.optimize import optimize
from hedgerow.measures import total_loss
from hedgerow.microdata import encode_table, read_table
from hedgerow.plan import Plan

IntArray = npt.NDArray[np.int64]
SHARES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.10, 0.15, 0.25, 0.50)
FEW_SHARES = (0.01, 0.05, 0.10, 0.50)
KS = (3, 5, 10)
BASE = 10_000
MILLION = 1_000_000
CHUNK = 500_000
COLUMNS = 8


@dataclass(frozen=True)
class Line:
    """One comparison; losses are after IL_Optimization, as the paper reports them."""

    verb: str
    k: int
    share: float
    incremental: float
    static: float
    optimization: float
    incremental_loss: float
    static_loss: float
    incremental_before: float
    static_before: float


def plan(k: int) -> Plan:
    """The eight attributes of the paper: age and education in numbers, the others by their trees."""
    made = adult.plan(k).to_dict()
    for name in ("age", "education-num"):
        made["attributes"][name] = {"role": "quasi-identifier", "intervals": "free"}
    return Plan.from_dict(made)


def run(report: Report) -> None:
    """Measure, on the paper's sizes and on a million."""
    for verb, k, share in product(("insert", "delete"), KS, FEW_SHARES):
        if share == FEW_SHARES[0]:
            compare(verb, k, share)  # the first of each k warms up
        line = compare(verb, k, share)
        name = f"{line.verb} {line.share:.1%}, k = {line.k}"
        report.time(name, line.incremental * 1e3, "ms")
        report.time(f"{name}: afresh", line.static * 1e3, "ms")
        report.time(f"{name}: IL_Optimization", line.optimization * 1e3, "ms")
        report.loss(name, line.incremental_loss)
        report.loss(f"{name}: afresh", line.static_loss)
    _million(report)
    with tempfile.TemporaryDirectory(prefix="hedgerow-bench-") as scratch:
        _commands(report, Path(scratch))


def _commands(report: Report, folder: Path) -> None:
    plan, store = _write(folder), str(folder / "people.store")
    _command(["prepare"])
    created = _command(["release", "create", str(folder / "people.csv"), plan, "--store", store])
    changes = {"insert": [str(folder / "more.csv")], "delete": ["--keys-from", str(folder / "gone.txt")]}
    for verb, used in {
        "create": created,
        **{verb: _command(["release", verb, *words, "--store", store]) for verb, words in changes.items()},
    }.items():
        report.time(f"release {verb}", used.seconds)
        report.cpu(f"release {verb}", used.cpu)
        report.memory(f"release {verb}", used.megabytes)
        if verb in changes:
            report.ratio(f"release {verb}, over create", used.cpu / created.cpu)


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
    (folder / "gone.txt").write_text("".join(f"{number}\n" for number in range(0, MILLION, 100)), encoding="utf-8")
    plan = folder / "plan.yaml"
    keyed = made.plan.replace("attributes:\n", "key: id\nattributes:\n  id: identifier\n", 1)
    plan.write_text(keyed, encoding="utf-8")
    return str(plan)


def _command(words: list[str]) -> Used:
    return use([PYTHON, "-c", "from hedgerow.cli import main; main()", *words], limit=3_600)


def _million(report: Report) -> None:
    read = read_table(adult.resampled(adult.records(), MILLION), adult.plan(5))
    for k in (5, 10):
        asked = adult.plan(k)
        microdata = encode_table(read, asked)
        new = _chosen(len(microdata.record_of), MILLION // 100)
        old = np.flatnonzero(~new)
        static, made = _best(lambda m=microdata, k=k: KMember(k)(m), times=2)  # type: ignore[misc]
        before = KMember(k)(microdata.of_units(old))
        cluster_of = np.full(len(new), -1, np.int64)
        cluster_of[old] = before.group_of
        seconds, change = _best(
            lambda m=microdata, a=asked, c=cluster_of, b=before: maintain(m, a, c, b.groups),  # type: ignore[misc]
            times=7,
        )
        report.time(f"a million, k = {k}: insert 1 %", seconds)
        report.time(f"a million, k = {k}: afresh", static)
        ratio = total_loss(microdata, recoding_of(microdata, change.cluster_of)) / total_loss(microdata, made)
        report.loss(f"a million, k = {k}: loss of the insert, over that afresh", float(ratio))


def compare(verb: str, k: int, share: float) -> Line:
    """Make a release of 10,000 records incrementally and afresh; an insert ends, a delete starts, with more of them."""
    asked = plan(k)
    table = adult.records()
    total = BASE + round(BASE * share)
    everything = encode_table(read_table(table.slice(0, total), asked), asked)
    late = _chosen(total, total - BASE)[everything.record_of]
    first = everything.of_units(np.flatnonzero(~late)) if verb == "insert" else everything
    after = everything if verb == "insert" else everything.of_units(np.flatnonzero(~late))
    before = KMember(k)(first)
    cluster_of = np.full(len(after.record_of), -1, np.int64)
    if verb == "insert":
        cluster_of[~late] = before.group_of
    else:
        cluster_of = before.group_of[~late]
    incremental, change = _best(lambda: maintain(after, asked, cluster_of, before.groups))
    static, fresh = _best(lambda: KMember(k)(after))
    lower, optimized = _best(lambda: optimize(after, asked, change.cluster_of, change.used, passes=0))
    fresh_optimized = optimize(after, asked, fresh.group_of, fresh.groups, passes=0)

    def loss(cluster_of: IntArray) -> float:
        return float(total_loss(after, recoding_of(after, cluster_of)))

    return Line(
        verb, k, share, incremental, static, lower, loss(optimized.cluster_of),
        loss(fresh_optimized.cluster_of), loss(change.cluster_of), loss(fresh.group_of),
    )  # fmt: skip


def _chosen(total: int, many: int) -> npt.NDArray[np.bool_]:
    chosen = np.zeros(total, bool)
    chosen[np.random.default_rng(total).choice(total, many, replace=False)] = True
    return chosen


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    made = work()
    return time.perf_counter() - start, made


def _best(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    return min((_timed(work) for _ in range(times)), key=lambda pair: pair[0])


def blocks(section: Section) -> dict[str, str]:
    """Times faster and times the loss, on the paper's sizes; and one per cent of a million."""
    rows = []
    for verb in ("insert", "delete"):
        for share in FEW_SHARES:
            cells = []
            for k in KS:
                name = f"{verb} {share:.1%}, k = {k}"
                faster = (section.value(f"{name}: afresh", "time") or 0) / (section.value(name, "time") or 1)
                loss = (section.value(name, "loss") or 0) / (section.value(f"{name}: afresh", "loss") or 1)
                cells.append(f"{faster:.1f}, {loss:.3f}")
            rows.append([f"{verb} {share:.0%}", *cells])
    million = []
    for k in (5, 10):
        start = f"a million, k = {k}: "
        taken, afresh = (section.value(start + what, "time") or 1 for what in ("insert 1 %", "afresh"))
        loss = section.value(f"{start}loss of the insert, over that afresh", "loss") or 0
        million.append([k, f"{taken:.3f} s", f"{afresh:.2f} s", f"{taken / afresh:.1%}", f"{loss:.4f}"])
    return {
        "maintenance": table(["change", *(f"k = {k}: times faster, loss" for k in KS)], rows),
        "maintenance-commands": table(
            ["", "time", "CPU", "peak memory", "CPU, over that of create"], _command_rows(section)
        ),
        "maintenance-million": table(["k", "insert", "afresh", "share", "loss, over that afresh"], million),
    }


def _command_rows(section: Section) -> list[list[str]]:
    rows = []
    for verb, what in (
        ("create", f"{MILLION:,}"),
        ("insert", f"{MILLION // 100:,}"),
        ("delete", f"{MILLION // 100:,}"),
    ):
        name = f"release {verb}"
        if section.value(name, "cpu") is not None:
            ratio = section.value(f"{name}, over create", "ratio")
            cells = [section.cell(name, "time"), section.cell(name, "cpu"), section.cell(name, "memory")]
            rows.append([f"`{name}`, {what} records", *cells, "–" if ratio is None else f"{ratio:.1%}"])
    return rows
