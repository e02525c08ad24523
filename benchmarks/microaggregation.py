"""Microaggregation of three tables that offices compare methods on: squared error beside sdcMicro's MDAV."""

from __future__ import annotations

import time

import pyarrow as pa
import pyarrow.csv

import hedgerow as hr
from benchmarks import adult
from benchmarks.page import table
from benchmarks.results import Report, Section
from hedgerow.plan import Plan

LEFT_OUT = {
    "cascrefmicrodata": (),
    "tarragona": (),
    "eia": ("UTILITYID", "UTILNAME", "STATE", "YEAR", "MONTH"),
}
"""The tables, and the columns of each that are not numbers to aggregate."""
MDAV = {
    ("cascrefmicrodata", 3): 5.692, ("cascrefmicrodata", 5): 9.088, ("cascrefmicrodata", 10): 14.156,
    ("tarragona", 3): 16.933, ("tarragona", 5): 22.462, ("tarragona", 10): 33.193,
    ("eia", 3): 0.592, ("eia", 5): 1.588, ("eia", 10): 3.270,
}  # fmt: skip
"""SSE / SST in per cent of mdav in the R package sdcMicro 5.8.1, columns standardized."""
EFFORTS = ("off", "quick", "thorough", "longest")


def run(report: Report) -> None:
    """Make a release by every effort; CPU seconds are those of the whole release, reading and checks included."""
    for name, left_out in LEFT_OUT.items():
        read = pa.csv.read_csv(adult.FOLDER / "sdc" / f"{name}.csv")
        data = read.select([column for column in read.column_names if column not in left_out])
        hr.anonymize(data, _plan(data, 3, "quick"))
        for k in (3, 5, 10):
            for effort in EFFORTS:
                made = _plan(data, k, effort)
                start = time.process_time()
                release = hr.anonymize(data, made)
                report.cpu(f"{name}, k = {k}, {effort}", time.process_time() - start)
                report.loss(f"{name}, k = {k}, {effort}", 100 * release.facts["squared_error"], "%")


def blocks(section: Section) -> dict[str, str]:
    """One table: a row for every table and k."""
    rows = []
    for (name, k), theirs in MDAV.items():
        cells = [f"{section.cell(f'{name}, k = {k}, {effort}', 'loss')}" for effort in EFFORTS]
        best = section.value(f"{name}, k = {k}, longest", "loss") or 0.0
        took = section.cell(f"{name}, k = {k}, longest", "cpu")
        rows.append([name, k, f"{theirs:.3f}%", *cells, took, f"{best / theirs:.3f}"])
    head = ["table", "k", "MDAV, sdcMicro", "off", "quick", "thorough", "longest", "longest: CPU", "of MDAV's"]
    return {"microaggregation": table(head, rows)}


def _plan(data: pa.Table, k: int, effort: str) -> Plan:
    free = {"role": "quasi-identifier", "intervals": "free"}
    method = {"name": "cluster", "objective": "variance", "improve": effort}
    return Plan.from_dict({"attributes": dict.fromkeys(data.column_names, free), "privacy": {"k": k}, "method": method})
