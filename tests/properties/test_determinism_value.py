"""Same data, plan and seed: same bytes, for rules, weights from the data, merging and searches by research value."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import hedgerow as hr

PLAN = """\
attributes:
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, intervals: free}
  zip: {role: quasi-identifier, hierarchy: {prefix: [5, 3, 1, 0]}, limit: {level: 2}}  # two cells for two threads
  pay: {role: quasi-identifier, hierarchy: {cuts: [[0, 20, 50, 100], [0, 50, 100]]}, intervals: free}
  sex: quasi-identifier
  illness: sensitive
  note: other
privacy: {k: 3}
rules:
  - {attribute: age, keep_apart: [39, 40], importance: 25}
  - {attribute: zip, keep_apart: ["431**", "501**"], importance: 2.5}
  - {attribute: pay, keep_apart: [49, 50]}
  - {attribute: sex, keep_apart: [F, M], importance: 5}
research_value: {base: 1}
"""
METHODS = {
    "utility": "method: utility\n",
    "utility, blend": "method: utility\nresearch_value: {base: 2, lambda: 0.3}\n",
    "suppress": "method: {name: utility, suppress: true}\nmissing: matches-any\n",
    "overlap": "method: {name: utility, overlap: forbidden}\n",
    "bottom-up": "method: bottom-up\n",
    "euclidean": "method: euclidean\n",
    "exact": "method: {name: lattice, objective: research-value}\nwithhold: 5%\n",
    "divided": "method: {name: lattice, objective: research-value, search: divided, block: 2}\nwithhold: 5%\n",
    "association, utility": "method: utility\nweights: association\n",
    "association, suppress": "method: {name: utility, suppress: true}\nmissing: matches-any\nweights: association\n",
    "association, cluster": "method: cluster\nweights: association\n",
    "association, exact": "method: {name: lattice, objective: research-value}\nweights: association\nwithhold: 5%\n",
}


def plan_text(method: str) -> str:
    text = METHODS[method]
    return (PLAN.replace("research_value: {base: 1}\n", "") if "research_value:" in text else PLAN) + text


def write(folder: Path, order: int) -> Path:
    """The same records in another order. Many are alike, so that there are ties to be broken."""
    draw = random.Random(0)
    rows = [
        f"{draw.choice([20, 25, 31, 38, 39, 40, 44, 59])},{draw.choice(['43102', '43103', '50111', '50112'])},"
        f"{draw.choice([0, 10, 49, 50, 51, 99])},{draw.choice('FM')},{draw.choice(['flu', 'cold'])},{draw.randint(0, 9)}"
        for _ in range(240)
    ]
    random.Random(order).shuffle(rows)
    path = folder / f"data{order}.csv"
    path.write_text("age,zip,pay,sex,illness,note\n" + "\n".join(rows) + "\n")
    return path


def as_parquet(path: Path) -> Path:
    names = path.read_text().splitlines()[0].split(",")
    options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    other = path.with_suffix(".parquet")
    pq.write_table(pyarrow.csv.read_csv(path, convert_options=options), other)
    return other


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("method", METHODS)
def test_rows_threads_and_formats(tmp_path: Path, method: str) -> None:
    (tmp_path / "plan.yaml").write_text(plan_text(method))
    plan = hr.Plan.load(tmp_path / "plan.yaml")
    outputs: dict[str, list[dict[str, bytes]]] = {"csv": [], "parquet": []}
    for order in range(4):
        kind = ("csv", "parquet")[order // 2]
        output = tmp_path / f"release{order}"
        hr.anonymize(write(tmp_path, order), plan, output, threads=1 + order % 2, format=kind)  # type: ignore[arg-type]
        outputs[kind].append(files(output))
    for one, other in outputs.values():
        assert one == other
    for name in ("plan.yaml", "facts.json"):
        assert outputs["csv"][0][name] == outputs["parquet"][0][name]
    # a table that came as Parquet is released as the same text
    hr.anonymize(as_parquet(tmp_path / "data3.csv"), plan, tmp_path / "other", format="csv")
    other = files(tmp_path / "other")
    assert other["data.csv"] == outputs["csv"][0]["data.csv"]
    assert _without_plan(other["facts.json"]) == _without_plan(outputs["csv"][0]["facts.json"])


def _without_plan(facts: bytes) -> dict[str, Any]:
    """Facts but for the digest of the plan, which says how the table was written."""
    return {name: fact for name, fact in json.loads(facts).items() if name != "plan"}


def test_hash_seeds(tmp_path: Path) -> None:
    """Releases, a comparison, weights and a simulation in two processes whose sets and dicts differ in their order."""
    data = write(tmp_path, 0)
    methods = [method for method in METHODS if method not in ("bottom-up", "euclidean", "association, cluster")]
    for number, method in enumerate(methods):
        (tmp_path / f"plan{number}.yaml").write_text(plan_text(method))
    program = f"""
import json, sys
import hedgerow as hr
folder = sys.argv[1]
for number in range({len(methods)}):
    hr.anonymize({str(data)!r}, f"{tmp_path}/plan{{number}}.yaml", f"{{folder}}/{{number}}")
plan = "{tmp_path}/plan0.yaml"
found = hr.compare({str(data)!r}, plan, methods=["exact", "utility-suppress", "bottom-up"], target="illness")
told = [found.to_dict(), hr.weights({str(data)!r}, plan).to_dict(), hr.simulate(3, k=3, records=50, repetitions=20).to_dict()]
open(folder + "/told.json", "w").write(json.dumps(told, default=float))
"""
    outputs = []
    for seed in ("1", "42"):
        folder = tmp_path / seed
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(
            {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        )
    assert len(outputs[0]) == 3 * len(methods) + 1
    assert outputs[0] == outputs[1]


def test_comparisons_and_weights_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(plan_text("association, utility"))
    told = []
    for order in (0, 1):
        data = write(tmp_path, order)
        found = hr.compare(
            data,
            tmp_path / "plan.yaml",
            methods=["exact", "utility", "utility-suppress", "utility-apart"],
            target="illness",
            threads=1 + order,
        )
        told.append((found.to_dict(), hr.weights(data, tmp_path / "plan.yaml").to_dict()))
    assert all("problem" not in run for run in told[0][0]["runs"])
    assert told[0] == told[1]


def test_the_seed_does_not_move_what_has_no_start(tmp_path: Path) -> None:
    """Merging and searching by research value draw nothing: another seed changes the facts' seed only."""
    data = write(tmp_path, 0)
    for method in ("utility", "suppress", "overlap", "exact", "divided"):
        plan = hr.Plan.loads(plan_text(method))
        one, other = (hr.anonymize(data, plan, seed=seed) for seed in (0, 7))
        assert one.table.equals(other.table)
        assert {name for name in one.facts if one.facts[name] != other.facts[name]} == {"seed", "plan"}
