"""``hedgerow lattice``, and levels that somebody chooses, from the command line and from plans."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

import hedgerow as hr
from hedgerow.evaluation import nodes
from hedgerow.reports.terminal.comparison import comparison_summary
from tests.cases.commands import Command

PLAN = """\
attributes:
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}}
  city: {role: quasi-identifier, hierarchy: {file: city.csv}, limits: [Kansas, Nebraska]}
  zip: {role: quasi-identifier, hierarchy: {prefix: [5, 3]}}
  illness: sensitive
privacy: {k: 4, p: 2}
method: lattice
withhold: 10%
"""
CITIES = "Wichita;Kansas;*\nTopeka;Kansas;*\nLincoln;Nebraska;*\nOmaha;Nebraska;*\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    draw = random.Random(1)
    rows = [
        f"{draw.randint(18, 89)},{draw.choice(['Wichita', 'Topeka', 'Lincoln', 'Omaha'])},"
        f"{draw.choice(['67201', '67202', '68001'])},{draw.choice(['flu', 'cold', 'gout'])}"
        for _ in range(200)
    ]
    (tmp_path / "data.csv").write_text("age,city,zip,illness\n" + "\n".join(rows) + "\n")
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "city.csv").write_text(CITIES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(command: Command, *options: str) -> dict[str, Any]:
    done = command("lattice", "data.csv", "plan.yaml", *options, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_lists_hold_what_they_are_named_after(folder: Path, command: Command) -> None:
    every = listed(command, "--all", "--most", "1000")
    minimal, best = listed(command, "--minimal"), listed(command, "--best")
    notable = listed(command)
    assert every["left_out"] == 0
    assert len(every["listed"]) == every["satisfying"] < every["nodes"]
    assert len(minimal["listed"]) == every["minimal_nodes"]
    assert all(node["minimal"] for node in minimal["listed"])
    assert all(node["best_for"] for node in best["listed"])
    assert {"loss", "ncp", "granularity", "entropy", "discernibility", "group-size", "research-value"} == set(
        every["best"]
    )
    together = {tuple(node["levels"].values()) for part in (minimal, best) for node in part["listed"]}
    assert {tuple(node["levels"].values()) for node in notable["listed"]} == together
    assert all(node["withheld"] <= every["budget"] for node in every["listed"])


@pytest.mark.parametrize("key", ["withheld", "groups", "smallest", "loss", "ncp", "discernibility", "research-value"])
def test_a_short_list_is_the_beginning_of_the_long_one(folder: Path, command: Command, key: str) -> None:
    every = listed(command, "--all", "--most", "1000", "--sort", key)
    some = listed(command, "--all", "--most", "7", "--sort", key)
    assert some["in_order"]
    assert some["left_out"] == every["satisfying"] - 7
    assert [node["levels"] for node in some["listed"]] == [node["levels"] for node in every["listed"][:7]]


def test_a_list_that_cannot_be_sure_of_its_order_says_so(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "MOST_CHECKED", 3)
    found = listed(command, "--all", "--most", "5", "--sort", "smallest")
    assert not found["in_order"]
    assert found["left_out"] == found["satisfying"] - 5
    shown = command("lattice", "data.csv", "plan.yaml", "--all", "--most", "5", "--sort", "smallest").stdout
    assert "some of them may come before" in " ".join(shown.split())
    assert "some of them" not in command("lattice", "data.csv", "plan.yaml", "--all", "--most", "5").stdout


def test_one_command_lists_chooses_and_releases(folder: Path, command: Command) -> None:
    node = listed(command, "--all", "--sort", "withheld")["listed"][2]
    words = ["lattice", "data.csv", "plan.yaml", "--all", "--sort", "withheld", "--choose", "3"]
    done = command(*words, "-o", "release", "--write-plan", "chosen.yaml")
    assert done.returncode == 0, done.stderr
    facts = json.loads((folder / "release" / "facts.json").read_text())
    assert facts["levels"] == node["levels"] == hr.Plan.load("chosen.yaml").method.levels
    assert facts["withheld"] == node["withheld"]
    assert facts["groups"] == node["groups"]
    assert hr.verify("release", "data.csv").kept
    again = command("anonymize", "data.csv", "chosen.yaml", "-o", "again")
    assert again.returncode == 0, again.stderr
    levels = ",".join(f"{name}={level}" for name, level in node["levels"].items())
    assert command("anonymize", "data.csv", "plan.yaml", "--levels", levels, "-o", "typed").returncode == 0
    for name in ("data.csv", "facts.json", "plan.yaml"):
        made = (folder / "release" / name).read_bytes()
        assert made == (folder / "again" / name).read_bytes() == (folder / "typed" / name).read_bytes()
    assert [one["levels"] for one in json.loads(
        command("lattice", "data.csv", "chosen.yaml", "--all", "--json").stdout)["listed"] if one["chosen"]
    ] == [node["levels"]]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--choose", "1"], "--output"),
        (["-o", "release"], "--choose"),
        (["--choose", "9999", "-o", "release"], "no node 9999"),
        (["--minimal", "--all"], "different lists"),
        (["--levels", "age=2,age=3"], "--levels"),
        (["--levels", "age"], "--levels"),
        (["--levels", "aeg=2"], "did you mean 'age'"),
        (["--levels", "age=9"], "no level 9"),
        (["--levels", "zip=7"], "no level 7"),
        (["--choose", "1", "--write-plan", "plan.yaml"], "exists"),
        (["--sort", "weight"], "--sort"),
    ],
)
def test_what_cannot_be_listed_or_chosen(folder: Path, command: Command, words: list[str], told: str) -> None:
    done = command("lattice", "data.csv", "plan.yaml", *words)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.replace("│", " ").split())
    assert not (folder / "release").exists()
    assert (folder / "plan.yaml").read_text() == PLAN


def test_a_chosen_node_that_fails_says_how_many_and_why(folder: Path, command: Command) -> None:
    done = command("anonymize", "data.csv", "plan.yaml", "--levels", "age=0,city=0,zip=0", "-o", "release")
    assert done.returncode == 3
    said = " ".join(done.stderr.split())
    assert "[chosen-node]" in said
    assert "⟨age 0, city 0, zip 0⟩ would withhold" in said
    assert "but the plan allows 20" in said
    assert "groups that fail k = 4" in said
    assert "groups that fail p = 2 of 'illness'" in said
    assert not (folder / "release").exists()
    other = command("anonymize", "data.csv", "plan.yaml", "--levels", "age=2,city=0,zip=0", "-o", "release")
    assert other.returncode == 3
    enough = " ".join(other.stderr.split()).split("at_most: ")[1].split("}")[0]
    (folder / "plan.yaml").write_text(PLAN.replace("10%", enough))
    done = command("anonymize", "data.csv", "plan.yaml", "--levels", "age=2,city=0,zip=0", "-o", "release", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["withheld"] == int(enough)


def test_chosen_levels_that_leave_nothing_to_search_for_are_named(folder: Path, command: Command) -> None:
    (folder / "plan.yaml").write_text(PLAN.replace("k: 4", "k: 40"))
    done = command("anonymize", "data.csv", "plan.yaml", "--levels", "age=0", "-o", "release")
    assert done.returncode == 3
    assert "No node of the lattice with age 0 meets the plan" in done.stderr


def test_columns_that_are_not_named_are_searched(folder: Path, command: Command) -> None:
    every = listed(command, "--all", "--most", "1000")["listed"]
    done = command("anonymize", "data.csv", "plan.yaml", "--levels", "zip=2", "-o", "release", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    with_zip = [node for node in every if node["levels"]["zip"] == 2]
    assert facts["levels"] in [node["levels"] for node in with_zip]
    assert facts["ntil"] == pytest.approx(min(node["scores"]["loss"] for node in with_zip), abs=1e-6)
    assert hr.Plan.load(folder / "release" / "plan.yaml").method.levels == {"zip": 2}


BASE: dict[str, Any] = {
    "attributes": {"age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}}, "sex": "quasi-identifier"},
    "privacy": {"k": 2},
}


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"method": {"name": "lattice", "levels": {"income": 1}}}, "not a quasi-identifier"),
        ({"method": {"name": "lattice", "levels": {"age": 4}}}, "use a level from 0 to 3"),
        ({"method": {"name": "lattice", "levels": {"sex": 2}}}, "use a level from 0 to 1"),
        ({"method": {"name": "lattice", "levels": {"age": -1}}}, "method.levels.age"),
        ({"method": {"name": "lattice", "levels": {"age": "two"}}}, "must be a whole number"),
        ({"method": {"name": "lattice", "levels": {}}}, "must not be empty"),
        ({"method": {"name": "cluster", "levels": {"age": 1}}}, "does not go with method cluster"),
        ({"research_value": {"levels": {"income": [1, 0]}}}, "not a quasi-identifier"),
        ({"research_value": {"levels": {"age": [1, 0.5, 0]}}}, "lists 3 numbers, but the column has 4 levels"),
        ({"research_value": {"levels": {"age": [1, 0.5, 0.6, 0]}}}, "must never rise"),
        ({"research_value": {"levels": {"sex": [101, 0]}}}, "from 0 to 100"),
        ({"research_value": {"levels": {"sex": [1, -1]}}}, "from 0 to 100"),
        ({"research_value": {"levels": {"sex": ["a", 0]}}}, "must be a number"),
    ],
)
def test_levels_that_a_plan_cannot_have(parts: dict[str, Any], told: str) -> None:
    with pytest.raises(hr.PlanError) as caught:
        hr.Plan.from_dict({**BASE, "method": "lattice", **parts})
    assert told in str(caught.value)


def test_levels_of_a_column_whose_height_the_data_tell() -> None:
    people = pa.table({"zip": ["43101", "43102", "43215", "43216"] * 2})
    attributes = {"zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [5, 3]}}}
    raw: dict[str, Any] = {"attributes": attributes, "privacy": {"k": 2}}
    fits = {**raw, "method": {"name": "lattice", "levels": {"zip": 2}}}
    assert hr.anonymize(people, hr.Plan.from_dict(fits)).facts["levels"] == {"zip": 2}
    for parts in (
        {"method": {"name": "lattice", "levels": {"zip": 3}}},
        {"method": "lattice", "research_value": {"levels": {"zip": [1, 0]}}},
    ):
        with pytest.raises(hr.PlanError) as caught:
            hr.anonymize(people, hr.Plan.from_dict({**raw, **parts}))
        assert [problem.code for problem in caught.value.problems] == ["limit-level"]


def test_a_level_above_the_root_of_those_who_stay_is_their_root() -> None:
    """The one long code is withheld; without it the hierarchy is lower by a level."""
    people = pa.table({"zip": ["431017"] + ["43101", "43102"] * 3, "sex": ["F"] * 7})
    attributes = {"zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [5, 3]}, "unknown": "withhold"}}
    plan = hr.Plan.from_dict(
        {
            "attributes": attributes,
            "privacy": {"k": 2},
            "method": {"name": "lattice", "objective": "research-value", "levels": {"zip": 1}},
            "research_value": {"levels": {"zip": [1, 0.5, 0.25, 0]}},
            "withhold": 1,
        }
    )
    release = hr.anonymize(people, plan)
    assert release.facts["withheld"] in (0, 1)
    assert release.facts["levels"] == {"zip": 1}
    assert release.verification is not None
    assert release.verification.kept


def test_worths_of_levels_are_for_the_lattice_alone() -> None:
    people = pa.table({"age": [str(age) for age in range(20, 40)], "sex": list("FM") * 10})
    plan = hr.Plan.from_dict({**BASE, "research_value": {"levels": {"sex": [9, 0]}}})
    made = hr.anonymize(people, plan)
    assert "worths_given" not in made.facts
    assert made.plan.research_value.levels is None
    by_level = hr.anonymize(people, plan.replace(method={"name": "lattice", "objective": "research-value"}))
    assert by_level.facts["worths_given"] == ["sex"]
    assert by_level.facts["levels"]["sex"] == 0
    assert by_level.facts["research_value_by_attribute"]["sex"] == 9


def test_a_comparison_tells_worths_that_are_given_from_those_that_are_worked_out() -> None:
    people = pa.table({"age": [str(age) for age in range(20, 40)], "sex": list("FM") * 10})
    by_level = {"name": "lattice", "objective": "research-value"}
    plan = hr.Plan.from_dict({**BASE, "method": by_level, "research_value": {"levels": {"sex": [9, 0]}}})
    both = hr.compare(people, plan, methods=["plan", "cluster"])
    assert [run["worths_given"] for run in both.to_dict()["runs"]] == [["sex"], []]
    assert [point["method"] for point in both.points()] == ["plan*", "cluster"]
    shown = _drawn(both)
    assert shown.count("*") == 3  # two figures of the one release, and the note
    assert "levels of sex. The others are worked out: the two kinds do not compare." in shown
    assert "others" not in _drawn(hr.compare(people, plan, methods=["plan"]))
    assert "*" not in _drawn(hr.compare(people, plan, methods=["cluster"]))


def _drawn(found: hr.Comparison) -> str:
    console = Console(width=200, file=io.StringIO(), color_system=None)
    console.print(comparison_summary(found.to_dict()))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "promise"),
    [
        ({"levels": {"age": 2, "sex": 0}}, "plan"),
        ({"score": 3.0}, "plan"),
        ({"worths_given": ["age"]}, "plan"),
    ],
)
def test_facts_that_contradict_the_levels_of_the_plan(change: dict[str, Any], promise: str, tmp_path: Path) -> None:
    people = pa.table({"age": [str(age) for age in range(20, 40)], "sex": list("FM") * 10})
    plan = hr.Plan.from_dict(
        {
            **BASE,
            "method": {"name": "lattice", "objective": "research-value", "levels": {"age": 1, "sex": 1}},
            "research_value": {"levels": {"age": [4, 3, 2, 0], "sex": [1, 0.5]}},
        }
    )
    release = hr.anonymize(people, plan, tmp_path / "release")
    assert release.facts["score"] == 3.5
    stated = json.loads((tmp_path / "release" / "facts.json").read_text())
    (tmp_path / "release" / "facts.json").write_text(json.dumps({**stated, **change}))
    broken = [one.name for one in hr.verify(tmp_path / "release").promises if not one.kept]
    assert promise in broken
