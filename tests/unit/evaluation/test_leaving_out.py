"""Columns that others tell of are tried without, and what that would save is what releases without them lose less."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import hedgerow as hr
from hedgerow.evaluation import leaving_out
from hedgerow.evaluation.leaving_out import without_column
from hedgerow.plan import Plan
from tests.cases.commands import Command

FREE = {"role": "quasi-identifier", "intervals": "free"}
PEOPLE = pa.table(
    {
        "name": [f"n{i}" for i in range(300)],
        "age": [20 + i * 7 % 60 for i in range(300)],
        "born": [1990 - i * 7 % 60 for i in range(300)],
        "ward": ["ABCDE"[i * 11 % 5] for i in range(300)],
        "coin": [["heads", "tails"][i * i % 7 % 2] for i in range(300)],
    }
)
ASKED: dict[str, Any] = {
    "attributes": {
        "name": "identifier", "age": FREE, "born": FREE, "ward": "quasi-identifier", "coin": "quasi-identifier",
    },
    "privacy": {"k": 5},
}  # fmt: skip


def shares(table: pa.Table, plan: Plan) -> dict[str, float]:
    return dict(hr.anonymize(table, plan).facts["share_lost_by_attribute"])


def test_what_is_saved_is_what_a_release_without_it_loses_less() -> None:
    plan = Plan.from_dict(ASKED)
    found = hr.leave_out(PEOPLE, plan)
    assert [(column.column, column.told_by, round(column.association, 6)) for column in found.columns] == [
        ("age", "born", 1.0),
        ("born", "age", 1.0),
    ]
    kept = shares(PEOPLE, plan)
    for column in found.columns:
        without = shares(PEOPLE, without_column(plan, column.column))
        others = [kept[name] for name in without]
        assert column.saves == pytest.approx((sum(others) - sum(without.values())) / 3, abs=1e-6)
    assert found.columns[0].saves >= found.columns[1].saves
    assert (found.records, found.tried) == (300, 300)


def test_rules_and_weights_of_the_column_go_with_it() -> None:
    more = {"rules": [{"attribute": "born", "keep_apart": [1960, 1961]}, {"attribute": "age", "keep_apart": [40, 41]}],
            "weights": {"born": 3, "age": 1}, "method": "utility"}  # fmt: skip
    plan = Plan.from_dict({**ASKED, **more})
    left = without_column(plan, "born")
    assert [rule.attribute for rule in left.rules] == ["age"]
    assert left.quasi_identifiers == ("age", "ward", "coin")
    assert len(hr.leave_out(PEOPLE, plan).columns) == 2


def test_nothing_goes_together() -> None:
    found = hr.leave_out(PEOPLE, Plan.from_dict({**ASKED, "attributes": {**ASKED["attributes"], "born": "other"}}))
    assert found.columns == ()
    assert found.to_dict()["columns"] == []


def test_a_large_table_is_tried_with_a_part_that_rows_do_not_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving_out, "MOST_RECORDS", 120)
    plan = Plan.from_dict(ASKED)
    found = hr.leave_out(PEOPLE, plan)
    assert found.tried == 120
    backwards = PEOPLE.take(list(range(300))[::-1])
    assert hr.leave_out(backwards, plan).to_dict() == found.to_dict()


def test_a_release_that_there_is_not_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = {**FREE, "limit": {"width": 3}}
    asked = {**ASKED, "withhold": 0, "privacy": {"k": 5}, "attributes": {**ASKED["attributes"], "born": limited}}
    found = hr.leave_out(PEOPLE, Plan.from_dict(asked))
    assert all(column.without is not None for column in found.columns)
    monkeypatch.setattr(leaving_out, "without_column", lambda plan, name: plan.replace(privacy={"k": 301}))
    found = hr.leave_out(PEOPLE, Plan.from_dict(ASKED))
    assert {column.saves for column in found.columns} == {0.0}
    assert "k is 301" in found.to_dict()["columns"][0]["problem"]


def test_the_command_shows_it(tmp_path: Path, command: Command) -> None:
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    (tmp_path / "plan.yaml").write_text(Plan.from_dict(ASKED).to_yaml(), encoding="utf-8")
    code, printed, _ = command("weights", "people.csv", "plan.yaml", "--leave-out", cwd=tmp_path)
    assert code == 0
    assert "leaving out a column that another tells of" in printed
    assert "Tried with 300 of 300 records" in printed
    code, printed, _ = command("weights", "people.csv", "plan.yaml", "--leave-out", "--json", cwd=tmp_path)
    found = json.loads(printed)
    assert code == 0
    assert [column["column"] for column in found["leave_out"]["columns"]] == ["age", "born"]
    assert "leave_out" not in json.loads(command("weights", "people.csv", "plan.yaml", "--json", cwd=tmp_path)[1])


def test_a_column_that_units_share_or_are_matched_by_can_be_left_out() -> None:
    rows = [
        (house, "ab"[house % 2], "AB"[house % 2], 20 + house % 7 + member) for house in range(60) for member in (0, 3)
    ]
    house, region, capital, age = (list(map(str, column)) for column in zip(*rows, strict=True))
    table = pa.table({"house": house, "region": region, "capital": capital, "age": age})
    plan = Plan.from_dict(
        {
            "unit": {"column": "house", "same": ["region", "capital"], "order": ["age"]},
            "attributes": {
                "region": "quasi-identifier",
                "capital": "quasi-identifier",
                "age": {"role": "quasi-identifier", "intervals": "free"},
            },
            "privacy": {"k": 3},
        }
    )
    found = hr.leave_out(table, plan).columns
    assert {column.column for column in found} == {"region", "capital"}
    assert all(column.without is not None for column in found)
    assert without_column(plan, "age").unit is not None
    assert without_column(plan, "age").unit.order == ()  # type: ignore[union-attr]


def test_a_column_by_which_people_are_looked_up_can_be_left_out() -> None:
    asked = {"attributes": dict.fromkeys(["sex", "ward"], "quasi-identifier"), "privacy": {"k": 2}}
    plan = Plan.from_dict({**asked, "population": {"file": "r.csv", "columns": {"sex": "SEX", "ward": "WARD"}}})
    left = without_column(plan, "ward").population
    assert left is not None
    assert left.columns == {"sex": "SEX"}
