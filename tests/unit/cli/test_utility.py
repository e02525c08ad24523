"""``hedgerow utility`` and ``compare --regress``: sentences, tables, JSON, and regressions that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hedgerow as hr
from tests.cases.commands import Command

PLAN = """\
attributes:
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10]}, limit: {level: 2}}
  pay: sensitive
  sex: {role: quasi-identifier, limit: {level: 0}}
privacy: {k: 5}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{20 + i % 50},{1000 + 10 * (i % 50) + i % 7},{'FM'[i % 2]}" for i in range(200)]
    (tmp_path / "people.csv").write_text("age,pay,sex\n" + "\n".join(rows) + "\n")
    (tmp_path / "plan.yaml").write_text(PLAN)
    hr.anonymize(tmp_path / "people.csv", tmp_path / "plan.yaml", tmp_path / "release", link=tmp_path / "link.csv")
    return tmp_path


def test_it_says_in_sentences_and_tables_what_moves(folder: Path, command: Command) -> None:
    words = ("utility", "release", "--original", "people.csv", "--regress", "pay ~ age + sex")
    shown = command(*words, cwd=folder)
    assert shown.returncode == 0
    assert "pay ~ age + sex (linear): intervals overlap by" in shown.stdout
    assert "keep it to yourself" in shown.stdout
    told = json.loads(command(*words, "--link", "link.csv", "--json", cwd=folder).stdout)
    assert told["il1s"] > 0
    assert told["regressions"][0]["coefficients"][1]["name"] == "age"
    assert len(told["sentences"]) == 6


@pytest.mark.parametrize("formula", ["pay", "pay ~ salary", "~ age"])
def test_a_regression_that_cannot_be_is_one_message(folder: Path, command: Command, formula: str) -> None:
    done = command("utility", "release", "--original", "people.csv", "--regress", formula, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.count("hedgerow:") == 1


def test_methods_are_compared_by_regressions_too(folder: Path, command: Command) -> None:
    words = ("compare", "people.csv", "plan.yaml", "--method", "cluster,partition", "--regress", "pay ~ age")
    told = json.loads(command(*words, "--json", cwd=folder).stdout)
    for run in told["runs"]:
        assert 0 <= run["analyses"]["regressions"][0]["overlap"] <= 1
        assert run["analyses"]["il1s"] is not None
    assert "pay ~ age" in command(*words, cwd=folder).stdout
    spark = command(*words, "--engine", "spark", cwd=folder)
    assert (spark.returncode, "fitted here" in spark.stderr) == (2, True)


def test_an_internal_report_says_whether_analyses_come_out(folder: Path) -> None:
    assert "Do analyses still come out?" in hr.report(folder / "release", original=folder / "people.csv").html
    assert "Do analyses still come out?" not in hr.report(folder / "release").html
