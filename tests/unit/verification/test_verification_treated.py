"""Treated columns: what is published is the treatment of each value, and a release that was tampered with is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, PlanError
from hedgerow.verification import Verification, verify_release

PAY = [1_200, 49_800, 51_000, 990, 20_250, 20_350, 7_300_000, 33_333]
PEOPLE = {
    "age": [31, 34, 38, 39, 81, 93, 95, 97],
    "pay": PAY,
    "seen": ["2024-01-31", "2024-02-29", "2024-03-01", "", "1999-12-24", "2000-01-01", "2000-06-30", "2001-07-04"],
    "hours": ["40", "38.5", "61", "0", "12.25", "40", "39.75", "80"],
}


def plan(**more: Any) -> hr.Plan:
    attributes: dict[str, Any] = {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": {"width": 10, "top": 90}}},
        "pay": {"role": "sensitive", "treat": {"top": 50_000, "bottom": 1_000, "round": 100}},
        "seen": {"role": "other", "treat": {"dates": "month"}},
        "hours": {"role": "other", "treat": {"round": 0.5}},
    }
    return hr.Plan.from_dict({"attributes": attributes | more, "privacy": {"k": 2}})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("treated") / "release"
    hr.anonymize(pa.table(PEOPLE), plan(), output=where)
    return where


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def changed(folder: Path, tmp_path: Path, column: str, old: str, new: str) -> Path:
    """Copy a release with one cell changed."""
    copy, done = tmp_path / "copy", False
    copy.mkdir()
    for name in ("plan.yaml", "facts.json"):
        (copy / name).write_bytes((folder / name).read_bytes())
    table = rows(folder)
    for row in table:
        if row[column] == old and not done:
            row[column], done = new, True
    assert done
    with (copy / "data.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
    return copy


def broken(found: Verification) -> set[str]:
    return {promise.name for promise in found.promises if not promise.kept}


def test_a_treated_release_holds_what_the_plan_says(folder: Path) -> None:
    table = rows(folder)
    assert sorted(row["pay"] for row in table) == sorted(
        ["1200", "49800", "50000+", "1000 or less", "20200", "20400", "50000+", "33300"]
    )
    assert sorted(row["seen"] for row in table) == sorted(
        ["2024-01", "2024-02", "2024-03", "", "1999-12", "2000-01", "2000-06", "2001-07"]
    )
    assert sorted(row["hours"] for row in table) == sorted(["40", "38.5", "61", "0", "12", "40", "40", "80"])
    assert {row["age"] for row in table} <= {"30-39", "*", "90+", "80-89"}
    facts = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
    assert facts["treated"]["pay"] == {"top": 50_000, "bottom": 1_000, "round": 100}
    found = verify_release(folder, pa.table(PEOPLE))
    assert found.kept
    assert "treated" in {promise.name for promise in found.promises}
    assert "7300000" not in (folder / "data.csv").read_text()


@pytest.mark.parametrize(
    ("column", "old", "new"),
    [
        ("pay", "50000+", "51000"),
        ("pay", "50000+", "50000"),
        ("pay", "50000+", "60000+"),
        ("pay", "1000 or less", "900"),
        ("pay", "20200", "20250"),
        ("pay", "20200", "20200.0"),
        ("pay", "20200", "none"),
        ("seen", "2024-02", "2024-02-29"),
        ("seen", "2024-02", "2024"),
        ("seen", "2024-02", "2024-13"),
        ("hours", "38.5", "38.25"),
    ],
)
def test_a_cell_that_no_treatment_makes_is_refused_without_the_original(
    folder: Path, tmp_path: Path, column: str, old: str, new: str
) -> None:
    assert "treated" in broken(verify_release(changed(folder, tmp_path, column, old, new)))


@pytest.mark.parametrize(
    ("column", "old", "new"),
    [("pay", "50000+", "49900"), ("pay", "20200", "20300"), ("seen", "2024-02", "2024-04"), ("hours", "38.5", "39")],
)
def test_another_treated_value_than_that_of_a_record_is_refused_with_the_original(
    folder: Path, tmp_path: Path, column: str, old: str, new: str
) -> None:
    copy = changed(folder, tmp_path, column, old, new)
    assert "treated" not in broken(verify_release(copy))
    assert "unchanged" in broken(verify_release(copy, pa.table(PEOPLE)))


@pytest.mark.parametrize("label", ["93", "90-99", "[90, 100)", "95+", "91"])
def test_a_number_beyond_an_open_band_is_refused(folder: Path, tmp_path: Path, label: str) -> None:
    old = next(row["age"] for row in rows(folder) if row["age"] not in ("30-39",))
    assert "hierarchy" in broken(verify_release(changed(folder, tmp_path, "age", old, label)))


def test_facts_that_say_otherwise_of_a_treatment_are_refused(folder: Path, tmp_path: Path) -> None:
    copy = changed(folder, tmp_path, "pay", "20200", "20200")
    facts = (copy / "facts.json").read_text(encoding="utf-8")
    assert '"top": 50000' in facts
    (copy / "facts.json").write_text(facts.replace('"top": 50000', '"top": 60000'), encoding="utf-8")
    assert "plan" in broken(verify_release(copy))


def test_numbers_stay_numbers_where_they_are_only_rounded() -> None:
    people = pa.table(
        {"sex": ["F"] * 4, "pay": pa.array([149, 151, 250, None], pa.int16()), "rate": [0.12, 0.38, 1.0, 2.0]}
    )
    rounding = {
        "sex": "quasi-identifier",
        "pay": {"role": "sensitive", "treat": {"round": 100}},
        "rate": {"role": "other", "treat": {"round": 0.25}},
    }
    made = hr.anonymize(people, hr.Plan.from_dict({"attributes": rounding, "privacy": {"k": 2}})).table
    assert made.schema.field("pay").type == pa.int16()
    assert made.schema.field("rate").type == pa.float64()
    assert sorted(made.column("pay").drop_null().to_pylist()) == [100, 200, 200]
    assert sorted(made.column("rate").to_pylist()) == [0.0, 0.5, 1.0, 2.0]


def test_models_count_values_as_they_are_published() -> None:
    people = pa.table({"sex": ["F"] * 3, "pay": [50_000, 60_000, 70_000]})
    asked = {"attributes": {"sex": "quasi-identifier", "pay": {"role": "sensitive"}}, "privacy": {"k": 2, "l": 2}}
    assert hr.anonymize(people, hr.Plan.from_dict(asked)).groups == 1
    asked["attributes"]["pay"] = {"role": "sensitive", "treat": {"top": 50_000}}
    with pytest.raises(hr.NoSolution):
        hr.anonymize(people, hr.Plan.from_dict(asked))


def test_what_cannot_be_treated_is_refused_or_published_as_it_is(folder: Path) -> None:
    people = pa.table({"sex": ["F"] * 3, "pay": ["7", "none", "9"]})
    asked: dict[str, Any] = {
        "attributes": {"sex": "quasi-identifier", "pay": {"role": "other", "treat": {"top": 8}}},
        "privacy": {"k": 2},
    }
    with pytest.raises(DataError, match=r"'pay': 1 records .*are not numbers") as caught:
        hr.anonymize(people, hr.Plan.from_dict(asked))
    assert "none" not in str(caught.value)
    asked["attributes"]["pay"]["unknown"] = "own-leaf-under-root"
    assert sorted(hr.anonymize(people, hr.Plan.from_dict(asked)).table.column("pay").to_pylist()) == ["7", "8+", "none"]


def test_numbers_with_decimal_commas_are_treated_and_written_so(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(
        "age;pay\n30,5;1.234,50\n31,5;99,5\n95,5;7.000\n96,5;8.000\n", encoding="latin-1"
    )
    asked = {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"bands": {"width": 10, "top": 90.5}}},
            "pay": {"role": "sensitive", "treat": {"top": 2000.5, "round": 0.25}},
        },
        "privacy": {"k": 2},
        "data": {"decimal": ",", "thousands": ".", "encoding": "latin-1"},
    }
    hr.anonymize(tmp_path / "people.csv", hr.Plan.from_dict(asked), output=tmp_path / "out")
    written = (tmp_path / "out/data.csv").read_text(encoding="latin-1").splitlines()
    assert written == ["age;pay", '"[30; 40)";1234,5', '"[30; 40)";99,5', "90,5+;2000,5+", "90,5+;2000,5+"]
    assert verify_release(tmp_path / "out", tmp_path / "people.csv").kept


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"role": "identifier", "treat": {"top": 9}}, "cannot have 'treat'"),
        ({"role": "other", "treat": {}}, "says nothing"),
        ({"role": "other", "treat": {"top": 9, "bottom": 9}}, "must lie below"),
        ({"role": "other", "treat": {"top": 9, "dates": "month"}}, "days and of numbers"),
        ({"role": "other", "treat": {"round": 0}}, "must be above 0"),
        ({"role": "other", "treat": {"top": {"fewest": 3, "quantile": 0.5}}}, "must be a number"),
        ({"role": "other", "treat": {"top": {"quantile": 1}}}, "between 0 and 1"),
        ({"role": "quasi-identifier", "intervals": "free", "treat": {"top": 9}}, "free intervals"),
        ({"role": "quasi-identifier", "hierarchy": {"dates": ["year"]}, "treat": {"dates": "month"}}, "coarsens them"),
        ({"role": "quasi-identifier", "hierarchy": {"bands": [5], "top": 80}, "treat": {"top": 90}}, "differ"),
        ({"role": "quasi-identifier", "hierarchy": {"bands": {"width": 5, "top": 8, "bottom": 9}}}, "above its bottom"),
        ({"role": "quasi-identifier", "hierarchy": {"cuts": [[0, 9]], "top": 10}}, "between the first and the last"),
        ({"role": "quasi-identifier", "hierarchy": {"prefix": [3], "top": 10}}, "only with 'bands' or 'cuts'"),
        ({"role": "sensitive", "unknown": "withhold", "treat": {"top": 9}}, "only where bands"),
    ],
)
def test_what_does_not_go_together_is_refused_with_the_plan(column: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        hr.Plan.from_dict({"attributes": {"age": "quasi-identifier", "x": column}, "privacy": {"k": 2}})


def test_fewer_people_beyond_a_point_than_the_plan_promises_are_refused(tmp_path: Path) -> None:
    asked = plan(
        pay={"role": "sensitive", "treat": {"top": {"fewest": 3}}},
        hours={"role": "other", "treat": {"top": {"quantile": 0.5}}},
    )
    release = hr.anonymize(pa.table(PEOPLE), asked, output=tmp_path / "release")
    assert release.facts["treated"]["pay"] == {"top": {"at": 40_000, "fewest": 3}}  # 49,800 is the third, after 33,333
    assert release.facts["treated"]["hours"] == {"top": {"at": 40, "quantile": 0.5}}
    assert sum(row["pay"] == "40000+" for row in rows(tmp_path / "release")) == 3
    assert verify_release(tmp_path / "release", pa.table(PEOPLE)).kept
    copy = changed(tmp_path / "release", tmp_path, "pay", "40000+", "1200")
    assert "treated" in broken(verify_release(copy))


def test_a_point_that_nobody_can_find_is_said_so() -> None:
    with pytest.raises(DataError, match=r"'pay': 8 people have a value, so no 9 lie beyond"):
        hr.anonymize(pa.table(PEOPLE), plan(pay={"role": "sensitive", "treat": {"top": {"fewest": 9}}}))
    both = {"top": {"fewest": 5}, "bottom": {"fewest": 5}}
    with pytest.raises(DataError, match="does not lie below the top"):
        hr.anonymize(pa.table(PEOPLE), plan(pay={"role": "sensitive", "treat": both}))


def test_a_maintained_release_keeps_the_point_that_it_was_created_with(tmp_path: Path) -> None:
    people = pa.table({"id": [f"p{at}" for at in range(8)], "age": PEOPLE["age"], "pay": PAY})
    treat = {"top": {"fewest": 3}, "round": 100}
    asked = {
        "key": "id",
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"bands": {"width": 10, "top": 90}}},
            "pay": {"role": "sensitive", "treat": treat},
        },
        "privacy": {"k": 2},
    }
    with hr.create_release(people, hr.Plan.from_dict(asked), tmp_path / "people.store") as release:
        version = release.insert(pa.table({"id": ["q1", "q2"], "age": [33, 96], "pay": [9_000_000, 1_249]}))
        assert version.facts["treated"] == {"pay": {"top": 49_800, "round": 100}}
        shown = release.release().table.column("pay").to_pylist()
        assert sorted(shown) == sorted(
            ["1200", "1200", "49800+", "49800+", "49800+", "49800+", "1000", "20200", "20400", "33300"]
        )


def test_a_new_table_is_recoded_with_the_points_of_the_release(tmp_path: Path) -> None:
    asked = plan(pay={"role": "sensitive", "treat": {"top": {"fewest": 3}}})
    hr.anonymize(pa.table(PEOPLE), asked, output=tmp_path / "release")
    few = pa.table({**PEOPLE, "pay": [7, 7, 7, 7, 7, 7, 7, 90_000]})
    again = hr.apply(tmp_path / "release", few, tmp_path / "again", withhold="100%", afresh=False)
    assert again.facts["treated"]["pay"] == {"top": 40_000}
    assert set(again.table.column("pay").to_pylist()) <= {"7", "40000+"}
