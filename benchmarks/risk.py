"""Risk as statistical offices measure it: special uniques, risks by weights, a weighted release; and two attackers.

Beside the naive references of the tests (ratios of CPU seconds in one run), sdcMicro's figures for its own table, and
anonymeter's guesses beside those of ``hedgerow attack``.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import hedgerow as hr
from benchmarks import adult
from benchmarks.page import table
from benchmarks.processes import ANONYMETER, Failed, use
from benchmarks.results import Report, Section
from hedgerow.evaluation.assessing.people import Crowd
from hedgerow.evaluation.assessing.subsets import every_subset
from hedgerow.evaluation.synthetic import clinic
from hedgerow.privacy.sampled import individual_risks
from hedgerow.types import silent
from tests.naive import assessing, sampled

RECORDS, COLUMNS, SIZE = 100_000, 8, 4
FEW = 200
GROUPS = 2_000
KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age")
SDCMICRO = {"found": 91.3423988313, "unique": 1650}
"""Of testdata, by these keys: sdcMicro 5.8.1, whose risks are approximate from three records in a group on."""
KNOWN, SECRET = ["age", "sex", "income"], "diagnosis"


def run(report: Report) -> None:
    """Measure each, and count what must agree."""
    _suda(report)
    _risks(report)
    _release(report)
    _attackers(report)


def _cpu(report: Report, name: str, work: Callable[[], Any], naive: Callable[[], Any] | None = None) -> Any:
    """Measure some work, and how many times as long the naive reference takes for the same."""
    begin = time.process_time()
    found = work()
    took = time.process_time() - begin
    report.cpu(name, took)
    if naive is not None:
        begin = time.process_time()
        naive()
        report.ratio(f"{name}: naive", (time.process_time() - begin) / took)
    return found


def _crowd(rows: np.ndarray[Any, Any]) -> Crowd:
    codes = [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in rows.T]
    return Crowd.of(codes, np.ones(len(rows), np.int64), None, np.ones(len(rows), bool))


def _rows(records: int) -> np.ndarray[Any, Any]:
    """Rows with as many values as columns of a census have: few in most, dozens in some."""
    draw = np.random.default_rng(1)
    return np.stack([draw.integers(0, values, records) for values in (2, 3, 5, 6, 8, 10, 15, 20)], axis=1)


def _suda(report: Report) -> None:
    few = _rows(FEW)[:, :5]
    every_subset(_crowd(few), 3, silent)  # the first call loads what it needs
    records = [tuple(row) for row in few.tolist()]
    name = f"SUDA2, {FEW} records, 5 columns, to size 3"
    _cpu(report, name, lambda: every_subset(_crowd(few), 3, silent), lambda: assessing.smallest(records, 3))
    many = _rows(RECORDS)
    name = f"SUDA2, {RECORDS:,} records, {COLUMNS} columns, to size {SIZE}"
    found = _cpu(report, name, lambda: every_subset(_crowd(many), SIZE, silent))
    report.count("SUDA2: records with a score", int((found.score > 0).sum()))


def _risks(report: Report) -> None:
    draw = np.random.default_rng(2)
    records = draw.integers(1, 30, GROUPS)
    people = records * draw.uniform(1, 300, GROUPS)
    pairs = list(zip(records.tolist(), people.tolist(), strict=True))
    name = f"individual risks of {GROUPS:,} groups"
    _cpu(
        report,
        name,
        lambda: individual_risks(records, people),
        lambda: [sampled.individual_risk(*one) for one in pairs],
    )


def _release(report: Report) -> None:
    data = pa.csv.read_csv(adult.FOLDER / "sdc" / "testdata.csv")
    age = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}}
    plan = hr.Plan.from_dict(
        {
            "weight": "sampling_weight",
            "attributes": {**dict.fromkeys(KEYS, "quasi-identifier"), "age": age},
            "privacy": {"k": 3, "k_map": 500},
        }
    )
    hr.anonymize(data.slice(0, 300), plan.replace(privacy={"k": 3}))  # compile
    release = _cpu(report, "testdata released, k_map = 500", lambda: hr.anonymize(data, plan))
    risk = release.facts["estimated_risk"]
    report.loss("testdata: expected to be found, as it was", risk["before"]["expected"], "")
    report.loss("testdata: expected to be found, released", risk["expected"], "")
    report.count("testdata: unique", hr.assess(data, columns=list(KEYS), size=1).unique)


def _attackers(report: Report) -> None:
    """Half of the made-up patients are released, the others are the control; anonymeter gets the middles of ranges."""
    made = clinic(records=2000)
    patients = pa.table({name: made.columns[name] for name in (*KNOWN, SECRET)})
    patients = patients.filter(pa.compute.and_(*(pa.compute.is_valid(patients[name]) for name in ("age", "income"))))
    half = patients.num_rows // 2
    inside, outside = patients.slice(0, half), patients.slice(half)
    free = {"role": "quasi-identifier", "intervals": "free"}
    roles = {"age": free, "sex": "quasi-identifier", "income": free, SECRET: "sensitive"}
    release = hr.anonymize(inside, hr.Plan.from_dict({"attributes": roles, "privacy": {"k": 5}}))
    found = hr.attack(release, inside, control=outside, people=half).guesses[0]
    report.loss("attack: guessed", 100 * found.with_release.rate, "%")
    report.loss("attack: guessed of the control", 100 * found.without.rate, "%")
    with tempfile.TemporaryDirectory(prefix="hedgerow-bench-") as scratch:
        folder = Path(scratch)
        middles = pa.table({name: _middle(release.table[name].to_pylist(), name in ("age", "income"))
                            for name in (*KNOWN, SECRET)})  # fmt: skip
        for name, rows in (("original", inside), ("released", middles), ("control", outside)):
            pa.csv.write_csv(rows, folder / f"{name}.csv")
        (folder / "asked.json").write_text(json.dumps({"known": KNOWN, "secret": SECRET, "people": half}))
        if not ANONYMETER.exists():
            report.note("anonymeter: guessed", "there is no environment .peers-anonymeter: make peers")
            return
        try:
            told = json.loads(use([str(ANONYMETER), "benchmarks/peers/anonymeter_guesses.py", str(folder)]).output)
        except Failed as failed:
            report.note("anonymeter: guessed", str(failed))
            return
        report.loss("anonymeter: guessed", 100 * told["with"][0], "%")
        report.loss("anonymeter: guessed of the control", 100 * told["without"][0], "%")


def _middle(cells: list[str], numbers: bool) -> list[Any]:
    """The middle of every range; other cells as they are."""
    if not numbers:
        return cells
    ends = [[float(end) for end in cell.split("-")] for cell in cells]
    return [(one[0] + one[-1]) / 2 for one in ends]


# ---- the page ------------------------------------------------------------------------------------------------


def blocks(section: Section) -> dict[str, str]:
    """Times with their ratios; agreement with sdcMicro; two attackers."""
    times = [name for name in section.names() if section.find(name, "cpu") is not None]
    rows = [[name, section.cell(name, "cpu"), section.cell(f"{name}: naive", "ratio")] for name in times]
    found, unique = "testdata: expected to be found, as it was", "testdata: unique"
    agreed = [
        ["records expected to be found", f"{SDCMICRO['found']:.2f}", section.cell(found, "loss")],
        ["unique records", f"{SDCMICRO['unique']:,}", section.cell(unique, "count")],
        ["expected to be found, released with k_map = 500", "–",
         section.cell("testdata: expected to be found, released", "loss")],
    ]  # fmt: skip
    guesses = []
    for who in ("attack", "anonymeter"):
        shown = section.cell(f"{who}: guessed", "loss")
        note = section.notes.get(f"{who}: guessed", "")
        guesses.append([f"`hedgerow {who}`" if who == "attack" else who, note or shown,
                        section.cell(f"{who}: guessed of the control", "loss")])  # fmt: skip
    return {
        "risk": table(["", "CPU", "the naive reference takes"], rows),
        "risk-agreement": table(["testdata", "sdcMicro 5.8.1", "Hedgerow"], agreed),
        "risk-attack": table(["guesses the diagnosis of", "who is in the release", "who is not"], guesses),
    }
