"""Is k within reach, and made-up tables, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases.commands import WIDE, Command
from tests.cases.parishes import (
    SECRET,
    write_plan,
)
from tests.conftest import Run

# ---- is k within reach; made-up tables -------------------------------------------------------------------------------


def test_simulate_of_made_up_attributes(tmp_path: Path, hedgerow: Run, command: Command) -> None:
    words = ("simulate", "--attributes", "3", "--k", "3", "--records", "50,75", "--repetitions", "200")
    done = hedgerow(*words, **WIDE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "69.3%" in done.stdout
    assert "97.6%" in done.stdout
    found = json.loads(command(*words, "--json", cwd=tmp_path).stdout)
    assert (found["attributes"], found["cells"], found["k"]) == (3, 8, 3)
    chances = [round(attempt["chance"]["probability"], 3) for attempt in found["attempts"]]
    assert chances == [0.693, 0.976]
    for attempt in found["attempts"]:
        assert abs(attempt["simulated"]["rate"] - attempt["chance"]["probability"]) < 0.15
    assert json.loads(command(*words, "--json", cwd=tmp_path).stdout) == found


def test_simulate_of_a_table(folder: Path, hedgerow: Run, command: Command) -> None:
    done = hedgerow("simulate", "data.csv", write_plan(folder), "--json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["records"], found["columns"]) == (240, ["age", "city", "parish", "sex"])
    assert [reach["k"] for reach in found["reaches"]] == [4]
    assert SECRET not in done.stdout
    shown = command("simulate", "data.csv", "plan.yaml", cwd=folder, **WIDE)
    assert shown.returncode == 0
    assert "With these 4 columns, k = 4 needs" in " ".join(shown.stdout.split())
    assert SECRET not in shown.stdout


@pytest.mark.parametrize(("kind", "columns"), [("census", 8), ("deaths", 8)])
def test_demos_of_other_kinds(tmp_path: Path, hedgerow: Run, command: Command, kind: str, columns: int) -> None:
    words = ("demo", "--kind", kind, "--records", "2000", "--attributes", str(columns))
    done = hedgerow(*words, "-o", tmp_path / "demo", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert facts["records"] == 2000
    assert facts["released"] >= 1900
    assert len(facts["columns_released"]) == columns
    assert facts["rules"]
    assert 0 < facts["research_value"] < 1
    plan, data = tmp_path / "demo" / "plan.yaml", tmp_path / "demo" / f"{kind}.csv"
    assert command("plan", "check", plan, "--data", data, cwd=tmp_path).returncode == 0
    assert command("verify", "demo/release", "--original", data, cwd=tmp_path).returncode == 0
    if kind == "deaths":
        assert facts["search"]["proven"] is True


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--kind", "clinic", "--attributes", "5"), "--attributes"),
        (("--kind", "deaths", "--attributes", "37"), "--attributes"),
        (("--kind", "census", "--attributes", "2"), "--attributes"),
        (("--kind", "clinc"), "--kind"),
        (("--kind", "deaths", "--records", "10"), "--records"),
    ],
)
def test_demos_that_cannot_be_made(tmp_path: Path, command: Command, words: tuple[str, ...], option: str) -> None:
    code, printed, errors = command("demo", *words, "-o", "demo", cwd=tmp_path)
    assert (code, printed) == (2, "")
    assert "Invalid value for" in errors
    assert option in errors
    assert not (tmp_path / "demo").exists()
