"""k counts rows of a table that has several rows of a person: that is found, and said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import hedgerow as hr
from tests.cases.commands import Command


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """A folder with 60 visits of 30 patients, and a plan that takes every visit for a person."""
    rows = "".join(f"Ada {number},p{number % 30},{number % 5}\n" for number in range(60))
    (tmp_path / "visits.csv").write_text(f"name,patient,ward\n{rows}")
    plan = "attributes: {name: identifier, patient: identifier, ward: quasi-identifier}\nprivacy: {k: 2}\n"
    (tmp_path / "plan.yaml").write_text(plan)
    return tmp_path


@pytest.mark.parametrize("verb", ["anonymize", "explain"])
def test_the_command_line_warns(command: Command, visits: Path, verb: str) -> None:
    more = ["-o", visits / "release"] if verb == "anonymize" else []
    said = command(verb, visits / "visits.csv", visits / "plan.yaml", *more)
    assert said.returncode == 0
    assert "30 different values of patient in 60 rows" in " ".join(said.stdout.split())
    assert "person: patient" in said.stdout
    again = ["--replace"] if more else []
    told = json.loads(command(verb, visits / "visits.csv", visits / "plan.yaml", *more, *again, "--json").stdout)
    assert told["repeated_people"] == [{"column": "patient", "people": 30, "rows": 60}]
    if verb == "anonymize":
        assert told["verdict"]["state"] == "remains"  # no green banner stands above it


def test_nothing_is_said_where_people_are_counted(visits: Path) -> None:
    plan = hr.Plan.load(visits / "plan.yaml")
    assert len(hr.repeated_people(visits / "visits.csv", plan)) == 1
    assert hr.repeated_people(visits / "visits.csv", plan.replace(person="patient")) == ()


def test_a_large_file_is_counted_where_it_lies(visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    here = hr.repeated_people(visits / "visits.csv", visits / "plan.yaml")
    monkeypatch.setattr("hedgerow.engines.opening.LARGE_FILE", 10)
    assert hr.repeated_people(visits / "visits.csv", visits / "plan.yaml") == here
