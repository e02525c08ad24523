"""Households that are published linked: real data, tampering, wrong plans and wrong data."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, HedgerowError, PlanError
from hedgerow.evaluation.synthetic.households import household_census
from tests.cases.data import data
from tests.naive.households import candidates, kinds

PLAN: dict[str, Any] = {
    "unit": {"column": "ori_hid", "same": ["urbrur"], "order": ["relat"]},
    "attributes": {
        "urbrur": "quasi-identifier",
        "relat": "quasi-identifier",
        "sex": "quasi-identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20, 40]}},
        "income": "sensitive",
    },
    "privacy": {"k": 3},
}
QUASI = ("urbrur", "relat", "sex", "age")
ROWS = {
    "hid": ["a", "a", "b", "b", "c", "c", "d", "d", "e"],
    "place": ["N", "N", "N", "N", "S", "S", "S", "S", "S"],
    "age": ["30", "2", "34", "4", "60", "62", "61", "65", "20"],
    "ill": ["w", "x", "y", "z", "w", "x", "y", "z", "w"],
}
AGE_ON_A_GRID = {"role": "quasi-identifier", "intervals": "free", "snap": 10}
SMALL: dict[str, Any] = {
    "unit": {"column": "hid", "same": ["place"]},
    "attributes": {
        "place": {"role": "quasi-identifier", "limit": {"level": 0}},
        "age": {"role": "quasi-identifier", "intervals": "free"},
        "ill": "sensitive",
    },
    "privacy": {"k": 2, "p": 2},
}


def covers(known: tuple[str, ...], shown: tuple[str | None, ...]) -> bool:
    """Tell whether what is known of a person may be what a row shows: a range of ages, all values, or the value."""
    *others, age = known
    *labels, ages = shown
    low, _, high = str(ages).partition("-")
    fits = ages == "*" or int(low) <= int(age) <= int(high or low)
    return fits and all(label in ("*", value) for value, label in zip(others, labels, strict=True))


@pytest.fixture(scope="module")
def testdata() -> tuple[Path, hr.Release]:
    (path,) = data("sdc/testdata.csv")
    return path, hr.anonymize(path, hr.Plan.from_dict(PLAN))


def households_of(units: list[Any], rows: list[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
    found: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for unit, row in zip(units, rows, strict=True):
        found[unit].append(row)
    return list(found.values())


def test_who_knows_all_of_a_household_finds_no_fewer_than_k_that_it_may_be(testdata: tuple[Path, hr.Release]) -> None:
    path, release = testdata
    original = pv.read_csv(path).to_pydict()
    record = release.rows.link
    assert isinstance(record, np.ndarray)
    rows = release.table.to_pydict()
    published = households_of(rows["ori_hid"], list(zip(*(rows[name] for name in QUASI), strict=True)))
    known = households_of(original["ori_hid"], list(zip(*(map(str, original[name]) for name in QUASI), strict=True)))
    released = {original["ori_hid"][i] for i in record.tolist()}
    assert len(released) == len(published) == release.facts["units"]["units"] > 950
    of_size: dict[int, list[list[tuple[Any, ...]]]] = defaultdict(list)
    for household in published:
        of_size[len(household)].append(household)
    names = list(dict.fromkeys(original["ori_hid"]))
    found = [candidates(one, of_size[len(one)], covers) for one in known]
    assert min(n for n, name in zip(found, names, strict=True) if name in released) >= 3


def test_pycanon_agrees_on_one_row_for_each_household(testdata: tuple[Path, hr.Release]) -> None:
    pd = pytest.importorskip("pandas")
    anonymity = pytest.importorskip("pycanon.anonymity")
    _, release = testdata
    rows = release.table.to_pydict()
    members = households_of(rows["ori_hid"], list(zip(*(rows[name] for name in QUASI), strict=True)))
    frame = pd.DataFrame({"household": [json.dumps(sorted(household, key=str)) for household in members]})
    assert anonymity.k_anonymity(frame, ["household"]) == release.facts["units"]["smallest_group"] == 3
    people = pd.DataFrame({name: rows[name] for name in QUASI}).astype(str)
    assert anonymity.k_anonymity(people, list(QUASI)) == release.facts["smallest_group"] >= 3


def test_what_the_link_costs_is_said_beside_what_is_lost(testdata: tuple[Path, hr.Release]) -> None:
    path, release = testdata
    alone = hr.anonymize(path, hr.Plan.from_dict({key: part for key, part in PLAN.items() if key != "unit"}))
    price = release.facts["units"]["ntil_not_linked"]
    withheld = release.facts["withheld"] / release.facts["records"]
    assert abs(price - withheld - alone.facts["ntil"]) < 0.01  # the same records, but for the few withheld
    assert price < release.facts["ntil"]


def test_every_column_of_households_agrees_with_a_plain_count(testdata: tuple[Path, hr.Release]) -> None:
    _, release = testdata
    rows = release.table.to_pydict()
    alike = kinds(rows["ori_hid"], list(zip(*(rows[name] for name in QUASI), strict=True)))
    assert min(alike.values()) >= 3
    assert len(alike) == release.facts["units"]["groups"]
    assert release.verification is not None
    assert release.verification.kept


# -- tampering ---------------------------------------------------------------------------------------------------------

Rows = list[list[str]]


def _swap_numbers(rows: Rows) -> None:
    """Swap the numbers of two rows that are published alike: only their sensitive values change households."""
    seen: dict[tuple[str, ...], int] = {}
    for at, row in enumerate(rows):
        other = seen.setdefault(tuple(row[1:3]), at)
        if rows[other][0] != row[0]:
            rows[other][0], row[0] = row[0], rows[other][0]
            return
    raise AssertionError("no two rows are alike")


def _join(rows: Rows) -> None:
    for row in rows:
        row[0] = "1" if row[0] == "2" else row[0]


def _renumber(rows: Rows) -> None:
    for row in rows:
        row[0] = str(int(row[0]) + 7)


def _no_number(rows: Rows) -> None:
    rows[0][0] = ""


def _drop_a_member(rows: Rows) -> None:
    del rows[0]


def _narrow_one(rows: Rows) -> None:
    rows[0][2] = rows[0][2].split("-")[0]


@pytest.mark.parametrize("tamper", [_swap_numbers, _join, _renumber, _no_number, _drop_a_member, _narrow_one])
def test_a_tampered_release_of_households_is_refused(tamper: Callable[[Rows], None], tmp_path: Path) -> None:
    original, out, link = pa.table(ROWS), tmp_path / "release", tmp_path / "link.csv"
    hr.anonymize(original, hr.Plan.from_dict(SMALL), out, link=link)
    assert hr.verify(out, original=original, link=link).kept
    lines = (out / "data.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    tamper(rows)
    (out / "data.csv").write_text("\n".join([lines[0], *map(",".join, rows)]) + "\n")
    found = hr.verify(out, original=original, link=link)
    assert not found.kept
    broken = {promise.name for promise in found.broken}
    if tamper in (_swap_numbers, _join, _renumber, _no_number):
        assert broken & {"linked", "units"}


def test_swapped_members_are_found_without_a_link(tmp_path: Path) -> None:
    original, out = pa.table(ROWS), tmp_path / "release"
    hr.anonymize(original, hr.Plan.from_dict(SMALL), out)
    lines = (out / "data.csv").read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    _swap_numbers(rows)
    (out / "data.csv").write_text("\n".join([lines[0], *map(",".join, rows)]) + "\n")
    assert [promise.name for promise in hr.verify(out, original=original).broken] == ["linked"]


def test_households_numbered_as_in_the_original_are_refused(tmp_path: Path) -> None:
    made = household_census(households=200)
    columns = {name: made.columns[name] for name in ("household", "sex", "age")}
    raw = {
        "unit": "household",
        "attributes": {"sex": "quasi-identifier", "age": {"role": "quasi-identifier", "intervals": "free"}},
        "privacy": {"k": 2},
    }
    out, link = tmp_path / "release", tmp_path / "link.csv"
    original = pa.table(columns)
    hr.anonymize(original, hr.Plan.from_dict(raw), out, link=link)
    first = {}
    for line in link.read_text().splitlines()[1:]:
        record, row = map(int, line.split(","))
        first[row] = columns["household"][record - 1]
    there = list(dict.fromkeys(columns["household"]))
    number = {name: place for place, name in enumerate([n for n in there if n in set(first.values())], start=1)}
    lines = (out / "data.csv").read_text().splitlines()
    again = [",".join([str(number[first[row]]), *line.split(",")[1:]]) for row, line in enumerate(lines[1:], start=1)]
    (out / "data.csv").write_text("\n".join([lines[0], *again]) + "\n")
    (broken,) = hr.verify(out, original=original, link=link).broken
    assert broken.name == "linked"
    assert "follow the order" in str(broken.found)


@pytest.mark.parametrize(
    ("name", "value"),
    [("smallest_group", 3), ("units", 9), ("disclosures", {"ill": 4}), ("ntil_not_linked", 2), ("more", 1)],
)
def test_false_facts_of_units_are_refused(name: str, value: Any, tmp_path: Path) -> None:
    hr.anonymize(pa.table(ROWS), hr.Plan.from_dict(SMALL), tmp_path / "release")
    path = tmp_path / "release" / "facts.json"
    facts = json.loads(path.read_text())
    facts["units"][name] = value
    path.write_text(json.dumps(facts))
    assert [promise.name for promise in hr.verify(tmp_path / "release").broken] == ["unit-counts"]


def test_a_linked_release_is_read_for_analysis_with_its_numbers(tmp_path: Path) -> None:
    hr.anonymize(pa.table(ROWS), hr.Plan.from_dict(SMALL), tmp_path / "release")
    typed = hr.read_release(tmp_path / "release")
    assert list(typed.columns) == ["hid", "place", "age", "ill"]
    assert sorted(set(typed.to_arrow().column("hid").to_pylist())) == [1, 2, 3, 4]


def test_sampling_weights_go_with_units_whose_ages_are_moved_to_a_grid(tmp_path: Path) -> None:
    raw = SMALL | {"weight": "weight", "attributes": SMALL["attributes"] | {"age": AGE_ON_A_GRID}}
    rows = ROWS | {"weight": [str(100 + number) for number in range(9)]}
    release = hr.anonymize(pa.table(rows), hr.Plan.from_dict(raw))
    assert release.verification is not None
    assert release.verification.kept
    before = release.facts["estimated_risk"]["before"]
    assert before["fewest_people"] == 100  # ages as they were read: everybody is alone


# -- what is wrong with plans and data -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "lattice"}, "does not go with method lattice"),
        ({"method": {"name": "cluster", "objective": "variance"}}, "does not go with 'objective: variance'"),
        ({"privacy": {"k": 2, "k_map": 3}, "population": "people.csv"}, "does not go with k_map"),
        ({"person": "who"}, "does not go with a person key"),
        ({"missing": "matches-any"}, "does not go with 'missing: matches-any'"),
        ({"unit": {"column": "place"}}, "must be an identifier"),
        ({"unit": {"column": "hid", "same": ["plac"]}}, "not a released column"),
        ({"unit": {"column": "hid", "order": ["ill"]}}, "not a quasi-identifier"),
        ({"unit": {"column": "hid", "same": ["age"], "order": ["age"]}}, "the same for all records"),
        ({"unit": {"column": "hid", "publish": "masked"}}, "linked"),
    ],
)
def test_plans_that_units_do_not_go_with(change: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        hr.Plan.from_dict(SMALL | change)


def test_a_column_that_differs_within_a_household_is_named_and_its_values_are_not() -> None:
    raw = SMALL | {"unit": {"column": "hid", "same": ["ill"]}}
    with pytest.raises(DataError, match=r"'ill' is not the same .* within 4 units") as caught:
        hr.anonymize(pa.table(ROWS), hr.Plan.from_dict(raw))
    assert "w" not in str(caught.value).split()


def test_every_record_must_be_in_a_household() -> None:
    rows = ROWS | {"hid": ["", *ROWS["hid"][1:]]}
    with pytest.raises(DataError, match="have no unit key"):
        hr.anonymize(pa.table(rows), hr.Plan.from_dict(SMALL))


def test_a_household_with_a_value_without_a_leaf_is_withheld_as_a_whole() -> None:
    raw = SMALL | {
        "privacy": {"k": 2},
        "attributes": SMALL["attributes"]
        | {"age": {"role": "quasi-identifier", "hierarchy": {"bands": [10, 50]}, "unknown": "withhold"}},
    }
    rows = {name: cells * 2 for name, cells in ROWS.items()}
    rows["hid"] = [*ROWS["hid"], *(f"{name}2" for name in ROWS["hid"])]
    rows["age"] = ["?", *rows["age"][1:]]
    release = hr.anonymize(pa.table(rows), hr.Plan.from_dict(raw))
    assert release.facts["withheld"] == 2
    assert release.facts["units"]["units"] == 9


def test_other_engines_and_maintained_releases_say_that_they_do_not_link_units(tmp_path: Path) -> None:
    plan = hr.Plan.from_dict(SMALL)
    with pytest.raises(HedgerowError, match="local engine"):
        hr.anonymize(pa.table(ROWS), plan, engine="duckdb")
    with pytest.raises(PlanError, match="cannot be maintained"):
        hr.create_release(pa.table(ROWS), plan.replace(key="hid"), tmp_path / "store")
    hr.anonymize(pa.table(ROWS), plan, tmp_path / "release")
    with pytest.raises(DataError, match="links units"):
        hr.apply(tmp_path / "release", pa.table(ROWS))


def test_rows_of_one_person_over_time_are_published_linked() -> None:
    raw = {
        "unit": {"column": "patient", "same": ["sex"], "order": ["year"]},
        "attributes": {
            "sex": "quasi-identifier",
            "year": {"role": "quasi-identifier", "limit": {"level": 0}},
            "age": {"role": "quasi-identifier", "intervals": "free"},
        },
        "privacy": {"k": 2},
    }
    rows = {
        "patient": ["p", "p", "q", "q", "r", "s"],
        "sex": ["F", "F", "F", "F", "M", "M"],
        "year": ["2023", "2024", "2024", "2023", "2023", "2023"],
        "age": ["30", "31", "36", "35", "70", "71"],
    }
    release = hr.anonymize(pa.table(rows), hr.Plan.from_dict(raw))
    shown = sorted(zip(*(release.table.column(name).to_pylist() for name in ("sex", "year", "age")), strict=True))
    assert shown == [("F", "2023", "30-35")] * 2 + [("F", "2024", "31-36")] * 2 + [("M", "2023", "70-71")] * 2


def test_a_comparison_leaves_out_methods_that_do_not_link() -> None:
    made = household_census(households=60)
    table = pa.table({name: made.columns[name] for name in ("household", "sex", "age")})
    asked = {"sex": "quasi-identifier", "age": {"role": "quasi-identifier", "intervals": "free"}}
    plan = hr.Plan.from_dict({"unit": "household", "attributes": asked, "privacy": {"k": 2}})
    found = hr.compare(table, plan)
    assert [(run.method, run.problem) for run in found.runs] == [("cluster", ""), ("quick", ""), ("partition", "")]
    (asked_for,) = hr.compare(table, plan, methods=["utility", "cluster"]).runs[:1]
    assert "does not go with method utility" in asked_for.problem
