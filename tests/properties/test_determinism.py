"""Same data, plan and seed: same bytes, whatever the order of rows, the threads or the hash seed."""

from __future__ import annotations

from pathlib import Path

import pytest

import hedgerow as hr
from tests.cases.shuffled import PLAN, files, write
from tests.conftest import Run


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_rows_and_threads(tmp_path: Path, format: str) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    plan = hr.Plan.load(tmp_path / "plan.yaml")
    outputs = []
    for order in range(4):
        output = tmp_path / f"release{order}"
        hr.anonymize(write(tmp_path, order), plan, output, threads=1 + order % 2, format=format)  # type: ignore[arg-type]
        outputs.append(files(output))
    assert all(output == outputs[0] for output in outputs)


def test_hash_seed(tmp_path: Path, hedgerow: Run) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    write(tmp_path, 0)
    outputs = []
    for seed in ("0", "1", "42"):
        done = hedgerow("anonymize", "data0.csv", "plan.yaml", "-o", f"r{seed}", cwd=tmp_path, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        outputs.append(files(tmp_path / f"r{seed}"))
    assert outputs[0] == outputs[1] == outputs[2]


def test_another_seed_may_start_elsewhere_and_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    data = write(tmp_path, 0)
    found = {seed: hr.anonymize(data, tmp_path / "plan.yaml", seed=seed) for seed in range(3)}
    assert [release.facts["seed"] for release in found.values()] == [0, 1, 2]
    assert len({release.facts["loss"] for release in found.values()}) > 1
    assert len({release.withheld for release in found.values()}) == 1
