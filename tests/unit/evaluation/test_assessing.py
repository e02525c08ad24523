"""What an assessment says of a table as it stands, and how its command answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow
from hedgerow.errors import DataError, HedgerowError
from hedgerow.evaluation.assessing.people import Crowd
from hedgerow.reports.html.assessment import assessment_html

TABLE = "age,sex,ill\n30,f,flu\n30,f,cold\n40,m,flu\n40,m,flu\n50,f,flu\n*,*,flu\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Six records; one of them is written as other tools write withheld ones."""
    path = tmp_path / "people.csv"
    path.write_text(TABLE)
    return path


def test_what_a_plan_names_is_looked_at_without_its_hierarchies(table: Path) -> None:
    """Values that no hierarchy of the plan has, such as generalized ones, are values like others."""
    attributes: dict[str, Any] = {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [10]}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"tree": {"any": ["f", "m"]}}},
        "ill": "sensitive",
    }
    plan = hedgerow.Plan.from_dict({"attributes": attributes, "privacy": {"k": 2, "p": 2}})
    found = hedgerow.assess(table, plan, require="plan", withheld="*")
    assert (found.records, found.withheld, found.groups, found.unique, found.k) == (5, 1, 3, 1, 1)
    assert [(demand.said, demand.column, demand.failing) for demand in found.demands] == [
        ("k = 2", None, 1),
        ("p = 2", "ill", 2),
    ]
    with pytest.raises(HedgerowError, match="cannot be named besides"):
        hedgerow.assess(table, plan, columns=["age"])


def test_withheld_records_are_part_of_nothing(table: Path) -> None:
    """A table without them is assessed the same, but for their number."""
    without = pa.table({name: [row[at] for row in _rows()[:-1]] for at, name in enumerate(("age", "sex", "ill"))})
    named: dict[str, Any] = {"columns": ["age", "sex"], "sensitive": ["ill"]}
    left_out, never_there = hedgerow.assess(table, withheld="*", **named), hedgerow.assess(without, **named)
    same = {**left_out.to_dict(), "withheld": 0, "risks": {**left_out.risks, "withheld": 0}}
    assert same == never_there.to_dict()
    assert hedgerow.assess(table, **named).hidden == 1
    with pytest.raises(HedgerowError, match="nothing is left"):
        hedgerow.assess(pa.table({"a": ["*", "*"]}), columns=["a"], withheld="*")


def test_without_a_word_on_columns_it_looks_at_what_a_draft_would_coarsen() -> None:
    """Not at names and numbers of people, nor at what is named as sensitive."""
    people = {"name": [f"Ann {number}" for number in range(40)], "sex": ["f", "m"] * 20, "ill": ["a", "b"] * 20}
    found = hedgerow.assess(pa.table(people), sensitive=["ill"])
    assert (found.chosen, found.columns, found.sensitive) == ("proposed", ("sex",), ("ill",))


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_every_engine_finds_the_same(table: Path, engine: str) -> None:
    """DuckDB gives a row for all records that agree."""
    named: dict[str, Any] = {"columns": ["age", "sex"], "sensitive": ["ill"], "require": "k=2,p=2,l=2,t=0.3,alpha=0.9"}
    assert hedgerow.assess(table, engine=engine, **named).to_dict() == hedgerow.assess(table, **named).to_dict()


@pytest.mark.parametrize(
    ("require", "said"),
    [
        ("k", "NAME=VALUE"),
        ("k=5,k=6", "each NAME once"),
        ("q=5", "NAME=VALUE"),
        ("k=1", "at least 2"),
        ("t=7", "from 0 to 1"),
        ("plan", "no plan"),
    ],
)
def test_what_is_required_is_checked_before_anything_is_read(require: str, said: str) -> None:
    """One message, which says what may be required."""
    with pytest.raises(HedgerowError, match=said):
        hedgerow.assess("nowhere.csv", columns=["a"], sensitive=["b"], require=require)


def test_a_column_that_is_not_there_is_named(table: Path) -> None:
    """As whoever asked has written it."""
    with pytest.raises(DataError, match="agee"):
        hedgerow.assess(table, columns=["agee", "sex"])
    with pytest.raises(HedgerowError, match="named twice"):
        hedgerow.assess(table, columns=["age"], sensitive=["age"])


def test_the_command_answers_by_its_exit_code(command: Any, table: Path, tmp_path: Path) -> None:
    """0 where all that is required holds, 1 where it does not, 2 where it cannot be understood."""
    asked = ("assess", table, "--columns", "age,sex", "--sensitive", "ill")
    assert command(*asked, "--require", "k=2", "--withheld", "*").returncode == 1
    assert command("assess", table, "--columns", "sex", "--withheld", "*", "--require", "k=2").returncode == 0
    assert command(*asked, "--require", "k=two").returncode == 2
    page = tmp_path / "page.html"
    told = command(*asked, "--json", "-o", page)
    assert json.loads(told.stdout)["unique"] == 2
    assert page.stat().st_mode & 0o777 == 0o600
    text = page.read_text()
    assert "2 of 6 records (33.3%) are unique" in text
    assert "flu" not in text
    again = command(*asked, "-o", page)
    assert again.returncode == 2
    assert page.read_text() == text


def test_a_page_escapes_names_of_columns() -> None:
    """A name is never markup."""
    found = hedgerow.assess(pa.table({"<b>x</b>": ["1", "2"]}), columns=["<b>x</b>"], require="k=2")
    assert "<b>x</b>" not in assessment_html(found.to_dict(), "<i>")
    assert "<b>x</b>" not in found._repr_html_()


def _rows() -> list[list[str]]:
    return [line.split(",") for line in TABLE.splitlines()[1:]]


def test_people_are_counted_once() -> None:
    """A person whose records all agree is one."""
    import numpy as np

    codes = [np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])]
    people = Crowd.of(codes, np.ones(4, np.int64), np.array([7, 7, 7, 8]), np.ones(4, bool))
    group = np.zeros(people.units, np.int64)
    assert people.in_groups(group, 1).tolist() == [2]
