"""Is k within reach, and made-up tables, from the command line."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
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


def test_simulate_of_unequal_values(tmp_path: Path, command: Command) -> None:
    words = ("simulate", "--k", "5", "--records", "9151", "--json")
    typed = json.loads(command(*words, "--attributes", "3", "--frequencies", "0.9,0.1", cwd=tmp_path).stdout)
    assert (typed["cells"], typed["records_needed"], typed["values"]) == (8, 9151, [2, 2, 2])
    (tmp_path / "shares.txt").write_text("# two alike, and one more\n0.9, 0.1\n90; 10\n0.9,0.1\n")
    filed = json.loads(command(*words, "--frequencies", "shares.txt", cwd=tmp_path).stdout)
    assert filed == typed
    each = json.loads(command(*words, *(["--frequencies", "9,1"] * 3), cwd=tmp_path).stdout)
    assert each["attempts"] == typed["attempts"]
    shown = command("simulate", "--k", "5", "--frequencies", "0.9,0.1", cwd=tmp_path, **WIDE).stdout
    assert "values of given frequencies" in shown


def test_simulate_draws(tmp_path: Path, command: Command) -> None:
    words = ("simulate", "--attributes", "4", "--k", "5", "--records", "100,300", "--repetitions", "20")
    done = command(*words, "--plot", "reach.svg", cwd=tmp_path, **WIDE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "plot written to reach.svg" in done.stdout
    drawn = (tmp_path / "reach.svg").read_text()
    ElementTree.fromstring(drawn)
    for word in ("k = 3", "k = 5", "k = 10", "number of attributes", "drawn", "prefers-color-scheme: dark"):
        assert word in drawn
    command(*words, "--plot", "again.svg", cwd=tmp_path)
    assert (tmp_path / "again.svg").read_text() == drawn


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--attributes", "2", "--frequencies", "0.5,0.4"), "sum to 0.9"),
        (("--frequencies", "nowhere.txt"), "does not exist"),
        (("--values", "2,2", "--frequencies", "0.5,0.5"), "does not go with --frequencies"),
        (("--attributes", "2", "--plot", "reach.png"), ".svg"),
    ],
)
def test_simulate_refuses_what_cannot_be(tmp_path: Path, command: Command, words: tuple[str, ...], said: str) -> None:
    done = command("simulate", "--k", "5", *words, cwd=tmp_path, **WIDE)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.glob("*.png"))


def test_simulate_of_a_table_takes_no_frequencies_and_no_plot(folder: Path, command: Command) -> None:
    for words in (("--frequencies", "0.5,0.5"), ("--plot", "reach.svg")):
        done = command("simulate", "data.csv", write_plan(folder), *words, cwd=folder, **WIDE)
        assert done.returncode == 2
        assert words[0] in done.stderr
