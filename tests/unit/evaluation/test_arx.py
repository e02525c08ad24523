"""Projects of ARX become plans: with its roles, hierarchies and demands, what differs said, and nothing in them run."""

from __future__ import annotations

import csv
import math
import os
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

import hedgerow
from hedgerow.errors import DataError, HedgerowError
from hedgerow.evaluation.arx import plan_from_arx, plan_to_arx
from tests.cases.arx_projects import Project

EXAMPLES = Path(os.environ.get("HEDGEROW_DATA", "")) / "deid"
needs_examples = pytest.mark.skipif(not (EXAMPLES / "example.deid").exists(), reason="HEDGEROW_DATA has no deid/")
AGES = [[str(age), f"{age // 10}0s", "young" if age < 40 else "old", "*"] for age in range(20, 60)]
SEXES = [["f", "*"], ["m", "*"]]
TOWNS = [[town, town[0] + "-land", "*"] for town in ("ax", "ay", "bx", "by", "cz")]


def _project(seed: int, **more: Any) -> Project:
    draw = random.Random(seed)
    rows = [
        [f"p{number}", str(draw.randrange(20, 60)), draw.choice("fm"), draw.choice(TOWNS)[0], draw.choice("xyz")]
        for number in range(60)
    ]
    hierarchies = {"age": AGES, "sex": SEXES, "town": TOWNS}
    return Project(("who", "age", "sex", "town", "ill"), rows, hierarchies, sensitive=("ill",), **more)


@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_the_one_that_the_project_stores(seed: int, tmp_path: Path) -> None:
    """Where all that it asks for has a counterpart: k, withheld records, loss by height."""
    project = _project(seed, k=2 + seed % 3, most_withheld=(0.0, 0.1, 0.3)[seed % 3])
    project.save(tmp_path / "project.deid")
    made = plan_from_arx(tmp_path / "project.deid", tmp_path / "plan")
    assert made.levels == project.best()[0]
    release = hedgerow.anonymize(tmp_path / "plan" / "data.csv", tmp_path / "plan" / "plan.yaml")
    found = [
        loss for levels, loss, _ in project.best()[1] if dict(zip(made.levels, levels, strict=True)) == made.levels
    ]
    assert release.facts["ntil"] == pytest.approx(found[0])
    if release.facts["levels"] != made.levels:  # two nodes lose the same
        assert sum(abs(loss - found[0]) < 1e-12 for _, loss, fits in project.best()[1] if fits) > 1


def test_likeness_and_disclosure_privacy_are_taken_over(tmp_path: Path) -> None:
    """As ARX writes them; what it understands otherwise is said."""
    asks = ("basic-3.0-likeness for attribute 'ill'", "2.0-disclosure privacy for attribute 'ill'")
    _project(1, k=3, criteria=asks).save(tmp_path / "project.deid")
    made = plan_from_arx(tmp_path / "project.deid", tmp_path / "plan", data=False)
    demands = made.plan.privacy.demands("ill")
    assert (demands["beta"].at_most, demands["beta"].enhanced) == (3, False)
    assert float(demands["delta"]) == pytest.approx(2 * math.log(2))
    assert any("logarithms to base 2" in note for note in made.notes)
    settings = plan_to_arx(made.plan, tmp_path / "back")
    assert "privacy model for ill: basic-3-likeness" in settings
    assert any(line.startswith("privacy model for ill: 2-disclosure privacy") for line in settings)


def test_roles_and_demands_are_those_of_the_project(tmp_path: Path) -> None:
    """Identifiers stay behind, and what has no counterpart is said."""
    asks = ("distinct-2-diversity for attribute 'ill'", "0.5-closeness with equal ground-distance for attribute 'ill'")
    _project(1, k=3, criteria=(*asks, "(0.05)-avg-risk"), most_withheld=0.05).save(tmp_path / "project.deid")
    made = plan_from_arx(tmp_path / "project.deid", tmp_path / "plan", data=False)
    assert made.plan.attributes["who"].role == "identifier"
    assert made.plan.columns("sensitive") == ("ill",)
    assert made.plan.quasi_identifiers == ("age", "sex", "town")
    demands = made.plan.privacy.demands("ill")
    assert (made.plan.privacy.k, demands["l"].distinct, float(demands["t"].at_most)) == (3, 2, 0.5)
    assert made.plan.withhold is not None
    assert made.plan.withhold.at_most == "5%"
    assert any("avg-risk" in note for note in made.notes)
    assert not (tmp_path / "plan" / "data.csv").exists()
    assert (tmp_path / "plan" / "notes.txt").read_text().count("\n") == len(made.notes)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"input/definition.xml": b"<!DOCTYPE a [<!ENTITY b 'c'>]><definition>&b;</definition>"}, "no project of ARX"),
        ({"input/config.xml": b"<config><criteria>"}, "no project of ARX"),
        ({"lattice.xml": b"<lattice><n><t>[0]</t><a>ANONYMOUS</a><c>true</c><l><f>x</f></l></n></lattice>"}, "ARX"),
        ({"data/input.csv": b"\0" * (300 << 20)}, "far more than its size"),
    ],
)
def test_a_hostile_project_is_refused(more: dict[str, bytes], said: str, tmp_path: Path) -> None:
    """Entities, broken XML, bombs: one message, and no folder."""
    _project(1).save(tmp_path / "project.deid", more)
    with pytest.raises(DataError, match=said):
        plan_from_arx(tmp_path / "project.deid", tmp_path / "plan")
    assert not (tmp_path / "plan").exists()


def test_what_is_no_project_is_refused(tmp_path: Path) -> None:
    """A text, and an archive of something else."""
    (tmp_path / "text.deid").write_text("no archive")
    with zipfile.ZipFile(tmp_path / "other.deid", "w") as archive:
        archive.writestr("a.txt", "b")
    for name in ("text.deid", "other.deid"):
        with pytest.raises(DataError, match="project of ARX"):
            plan_from_arx(tmp_path / name, tmp_path / "plan")


def test_names_in_a_project_are_never_paths(tmp_path: Path) -> None:
    """A hierarchy whose name leads elsewhere is written into the folder like any other."""
    lines = [["f", "*"], ["m", "*"]]
    project = Project(("../../sex",), [["f"], ["m"]] * 4, {"../../sex": lines})
    project.save(tmp_path / "project.deid")
    plan_from_arx(tmp_path / "project.deid", tmp_path / "deep" / "plan")
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {"project.deid"} | {
        f"deep/plan/{name}" for name in ("plan.yaml", "notes.txt", "data.csv", "hierarchy-01-sex.csv")
    }


@needs_examples
@pytest.mark.parametrize(
    ("name", "why"),
    [("example", "research subset"), ("example2", "0.014 times"), ("example3", "population-uniqueness")],
)
def test_the_examples_of_arx_become_plans(name: str, why: str, tmp_path: Path) -> None:
    """Why the best levels may be others than those that ARX chose is said; with these the plan makes a release."""
    made = plan_from_arx(EXAMPLES / f"{name}.deid", tmp_path / "plan", levels=True)
    assert any(why in note for note in made.notes)
    assert made.levels
    if name != "example2":  # of 30 columns and 68,725 records
        release = hedgerow.anonymize(tmp_path / "plan" / "data.csv", tmp_path / "plan" / "plan.yaml")
        assert release.facts["levels"] == made.levels


def test_hierarchies_go_there_and_come_back(tmp_path: Path) -> None:
    """What is written for ARX is read as the same hierarchy, in lines of one length."""
    asked: dict[str, Any] = {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "limit": {"level": 2}},
        "town": {"role": "quasi-identifier", "hierarchy": {"tree": {"all": {"land": ["a", "b"], "sea": {}}}}},
        "ill": "sensitive",
    }
    plan = hedgerow.Plan.from_dict({"attributes": asked, "privacy": {"k": 3, "l": 2}, "withhold": "5%"})
    with pytest.raises(HedgerowError, match="depend on the data"):
        plan_to_arx(plan, tmp_path / "arx")
    table = tmp_path / "people.csv"
    table.write_text("age,town,ill\n" + "".join(f"{age},a,x\n{age},sea,y\n" for age in range(20, 40)))
    settings = plan_to_arx(plan, tmp_path / "arx", table)
    assert "privacy model: 3-anonymity" in settings
    assert "suppression limit: 5%" in settings
    assert any("distinct-2-diversity" in line for line in settings)
    town = hedgerow.read_hierarchy(tmp_path / "arx" / "02-town.csv")
    assert set(town.paths()) == {("a", "land", "all"), ("b", "land", "all"), ("sea", "sea", "all")}
    for path in (tmp_path / "arx").glob("*.csv"):
        with path.open() as file:
            lines = list(csv.reader(file, delimiter=";"))
        assert len({len(line) for line in lines}) == 1


def test_the_commands_say_what_they_did(command: Any, tmp_path: Path) -> None:
    """A plan that was read can be checked, and written for ARX again."""
    _project(1).save(tmp_path / "project.deid")
    told = command("plan", "from-arx", tmp_path / "project.deid", "-o", tmp_path / "plan")
    assert told.returncode == 0
    assert "ARX chose the levels age" in told.stdout
    assert command("plan", "check", tmp_path / "plan" / "plan.yaml").returncode == 0
    back = command("plan", "to-arx", tmp_path / "plan" / "plan.yaml", "-o", tmp_path / "arx")
    assert "quality model: Precision" in back.stdout
    again = command("plan", "from-arx", tmp_path / "project.deid", "-o", tmp_path / "plan")
    assert again.returncode == 2
