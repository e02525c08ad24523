"""The independent check: right releases pass, and every kind of tampering is refused."""

from __future__ import annotations

import csv
import datetime as dt
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from hedgerow.errors import BrokenPromise, DataError, PlanError
from hedgerow.verification import Promise, verify_release
from hedgerow.verification.reading.cells import unguard
from hedgerow.verification.values.trees import Marks, NamedTree
from tests.cases.written_releases import LOCATION, QI, Cell, Release, broken, guard, write_csv

# -- the seven patients of CKA figures 2–4 ------------------------------------------------------

PATIENTS = [
    ["Name", "SSN", "Age", "Location", "Sex", "Race", "Diagnosis", "Income"],
    ["Alice", "123456789", 32, "San Diego", "M", "W", "AIDS", 17000],
    ["Bob", "323232323", 30, "Los Angeles", "M", "W", "Asthma", 68000],
    ["Charley", "232345656", 42, "Wichita", "M", "W", "Asthma", 80000],
    ["Dave", "333333333", 30, "Kansas City", "M", "W", "Asthma", 55000],
    ["Eva", "666666666", 35, "Lincoln", "F", "W", "Diabetes", 23000],
    ["John", "214365879", 20, "Lincoln", "M", "B", "Asthma", 55000],
    ["Casey", "909090909", 25, "Wichita", "F", "B", "Diabetes", 23000],
]
MM1 = [
    ["30-32", "California", "M", "W"],
    ["30-32", "California", "M", "W"],
    ["30-42", "Midwest", "*", "W"],
    ["30-42", "Midwest", "*", "W"],
    ["30-42", "Midwest", "*", "W"],
    ["20-25", "Midwest", "*", "B"],
    ["20-25", "Midwest", "*", "B"],
]
MM2 = [
    ["30-32", "California", "M", "W"],
    ["30-32", "California", "M", "W"],
    ["25-42", "Kansas", "*", "*"],
    ["25-42", "Kansas", "*", "*"],
    ["20-35", "Lincoln", "*", "*"],
    ["20-35", "Lincoln", "*", "*"],
    ["25-42", "Kansas", "*", "*"],
]


def toy(tmp_path: Path, published: list[list[str]], **changes: Any) -> Release:
    plan = {
        "data": {"delimiter": ","},
        "attributes": {
            "Name": "identifier",
            "SSN": "identifier",
            "Age": {"role": QI, "intervals": "free"},
            "Location": {"role": QI, "hierarchy": {"tree": LOCATION}, "limits": ["California", "Kansas", "Midwest"]},
            "Sex": QI,
            "Race": QI,
            "Diagnosis": "sensitive",
            "Income": "sensitive",
        },
        "privacy": {"k": 2},
    } | changes
    rows = [[*cells, *record[6:]] for cells, record in zip(published, PATIENTS[1:], strict=True)]
    return Release(tmp_path, plan, PATIENTS, [PATIENTS[0][2:], *rows])


def test_the_right_release_of_the_paper_keeps_every_promise(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2)
    found = release.check()
    assert found.kept
    assert [promise.name for promise in found] == [
        *["files", "plan", "facts", "roles", "hierarchy", "k", "limits", "counts", "disclosures", "risks", "truthful"]
    ]
    assert (found["k"].asked, found["k"].found) == (2, 2)
    assert (found["limits"].asked, found["limits"].found) == (0, 0)
    assert release.verify(link=False).kept
    assert release.verify(original=False, link=False).kept


def test_the_wrong_release_of_the_paper_breaks_three_limits(tmp_path: Path) -> None:
    found = toy(tmp_path, MM1).check()
    assert broken(found) == ["limits"]
    assert str(found["limits"].found).startswith("3: Location: 3 cells, first in row 3")


def test_limits_nested_in_limits_need_the_original(tmp_path: Path) -> None:
    """Midwest may be right of Lincoln and is wrong of Wichita: only the original tells."""
    found = toy(tmp_path, MM1).check(original=False, link=False)
    assert found["limits"].kept
    assert "5 more cells can be judged only with the original" in str(found["limits"].found)


def test_breaks_that_are_reported_are_no_broken_promise(tmp_path: Path) -> None:
    release = toy(tmp_path, MM1, method={"name": "cluster", "limits": "ignore"})
    release.facts = {"limits_broken": 3, "limits_broken_by_attribute": {"Age": 0, "Location": 3, "Sex": 0, "Race": 0}}
    found = release.check()
    assert found.kept
    assert (found["limits"].asked, found["limits"].found) == ("reported", 3)
    assert release.verify(original=False, link=False).kept
    for wrong in (2, 4, 0):
        release.facts = {"limits_broken": wrong}
        assert broken(release.check()) == ["limits"]
    release.facts = {"limits_broken": 3}  # of the first column, says the helper
    assert release.check()["limits"].found == "3; but facts.json counts others of Age, Location"
    release.facts["limits_broken_by_attribute"] = {"Age": 0, "Location": 2, "Sex": 0, "Race": 0}
    found = release.check(original=False, link=False)["limits"]  # type: ignore[assignment]
    assert "what facts.json counts by column does not add up" in str(found.found)  # type: ignore[attr-defined]
    assert not found.kept


def test_breaks_that_are_admitted_are_still_broken(tmp_path: Path) -> None:
    release = toy(tmp_path, MM1)
    release.facts = {"limits_broken": 3}
    assert broken(release.check()) == ["limits"]
    assert broken(release.verify(original=False, link=False)) == ["limits"]


@pytest.mark.parametrize("label", ["West Coast", "United States"])
def test_a_group_above_every_limit_is_found_without_the_original(tmp_path: Path, label: str) -> None:
    release = toy(tmp_path, [["30-32", label, "M", "W"] if row[1] == "California" else row for row in MM2])
    found = release.check(original=False, link=False)
    assert broken(found) == ["limits"]
    assert broken(release.verify()) == ["limits"]
    assert broken(release.verify(link=False)) == ["limits"]


# -- tampering with the data -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("private", ["Name", "SSN"])
def test_an_identifier_in_the_release_is_refused(tmp_path: Path, private: str) -> None:
    release = toy(tmp_path, MM2)
    at = PATIENTS[0].index(private)  # type: ignore[attr-defined]
    release.data = [[*row, record[at]] for row, record in zip(release.data, PATIENTS, strict=True)]
    found = release.check(original=False, link=False)
    assert broken(found) == ["roles"]
    assert private in str(found["roles"].found)


def test_key_and_person_columns_are_refused_even_if_no_attribute(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2, key="visit", person="patient")
    release.original = [[*row, "visit" if i == 0 else i, "patient" if i == 0 else i] for i, row in enumerate(PATIENTS)]  # type: ignore[misc]
    release.facts = {"smallest_group_persons": 2}
    assert release.check().kept
    release.data = [[*row, *source[-2:]] for row, source in zip(release.data, release.original, strict=True)]
    assert "visit, patient" in str(release.check()["roles"].found)


def test_foreign_missing_repeated_and_misplaced_columns_are_refused(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2)
    right = release.data
    release.data = [[*row, "secret"] for row in right]
    found = release.check()
    assert broken(found) == ["roles"]
    assert "secret" not in repr(found)
    release.data = [row[:-1] for row in right]
    assert "missing columns: Income" in str(release.check()["roles"].found)
    release.data = [[*row[:-2], row[-1], row[-2]] for row in right]
    assert broken(release.check()) == ["roles"]
    release.data = [[*row, row[0]] for row in right]
    assert "repeated" in str(release.check()["roles"].found)
    release.data = right[1:]  # the header is gone: its place holds values
    found = release.check(original=False, link=False)
    assert "roles" in broken(found)
    assert "Diabetes" not in repr(found)
    assert "AIDS" not in repr(found)


def test_a_dropped_row_is_refused(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2).write()
    facts = release.true_facts()
    release.data, release.facts = release.data[:4] + release.data[5:], facts  # Kansas still has two
    found = release.check(original=False, link=False)
    assert broken(found) == ["counts", "risks"]
    assert "released is 6, facts.json says 7" in str(found["counts"].found)


def test_a_small_group_is_refused(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2)
    release.data[1][2] = "*"
    found = release.check()
    assert broken(found) == ["k"]
    assert found["k"].found == 1


def test_a_label_that_is_no_node_is_refused(tmp_path: Path) -> None:
    release = toy(tmp_path, [[row[0], "Sector 7", *row[2:]] if row[1] == "California" else row for row in MM2])
    found = release.check(original=False, link=False)
    assert broken(found) == ["hierarchy"]
    assert found["hierarchy"].found == "Location: 2 cells, first in row 1"
    assert "Sector" not in repr(found)
    assert broken(release.verify()) == ["hierarchy", "truthful"]


def test_a_wrong_sibling_is_untruthful(tmp_path: Path) -> None:
    release = toy(tmp_path, [[row[0], "Nebraska", *row[2:]] if row[1] == "Kansas" else row for row in MM2])
    assert release.check(original=False, link=False).kept
    found = release.verify()
    assert broken(found) == ["truthful"]
    assert found["truthful"].found == "Location: 3 cells, first in row 3"


def test_swapped_sensitive_values_are_untruthful(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2)
    release.data[1][4], release.data[5][4] = release.data[5][4], release.data[1][4]
    found = release.check()
    assert broken(found) == ["truthful"]
    assert found["truthful"].found == "Diagnosis: 2 cells, first in row 1"
    assert "Diabetes" not in repr(found)
    found = release.verify(link=False)  # the same values, only elsewhere: no record has them with these labels
    assert [promise.name for promise in found.broken] == ["possible"]


def test_invented_values_are_refused_without_the_link(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2)
    release.data[1][4] = "Asthma"  # occurs, but not that often
    assert broken(release.check(link=False)) == ["unchanged"]
    release.data[1][4] = None
    found = release.check(link=False)
    assert broken(found) == ["unchanged"]
    assert found["unchanged"].found == "Diagnosis: 1 cells too many"
    assert broken(release.verify()) == ["truthful"]


@pytest.mark.parametrize(
    ("fact", "wrong"),
    [("records", 8), ("released", 6), ("withheld", 1), ("groups", 4), ("smallest_group", 3), ("largest_group", 2)],
)
def test_wrong_facts_are_refused(tmp_path: Path, fact: str, wrong: int) -> None:
    release = toy(tmp_path, MM2)
    release.facts = {fact: wrong}
    assert broken(release.check(original=False, link=False)) == ["counts"]
    release.facts = {fact: "many"}
    assert f"no number '{fact}'" in str(release.check()["counts"].found)


def test_a_coherent_lie_about_the_number_of_records_needs_the_original(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2)
    release.facts = {"records": 9, "withheld": 2}
    assert release.check(original=False, link=False).kept
    assert broken(release.verify(link=False)) == ["counts"]


def test_the_budget_for_withholding_holds(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2, withhold="29%")
    release.data = [row for row in release.data if row[1] != "Lincoln"]
    release.link = [[1, 1], [2, 2], [3, 3], [4, 4], [7, 5]]
    assert release.check().kept
    release.plan["withhold"] = 1
    assert broken(release.check()) == ["counts"]


# -- the link table ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("links", "fault"),
    [
        ([[1, 1], [1, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]], "1 records are linked to more than one row"),
        ([[1, 1], [2, 1], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]], "1 rows are linked to more than one record"),
        ([[i, i] for i in range(1, 7)], "1 rows of the release have no link"),
        ([[i, i] for i in range(1, 9)], "2 links point outside"),
        ([[i, i - 1] for i in range(1, 8)], "1 links point outside"),
    ],
)
def test_a_link_table_must_be_one_to_one(tmp_path: Path, links: list[list[int]], fault: str) -> None:
    release = toy(tmp_path, MM2)
    release.link = links
    found = release.check()
    assert broken(found) == ["truthful"]
    assert fault in str(found["truthful"].found)


def test_rows_may_stand_in_any_order(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2)
    order = [6, 2, 4, 0, 1, 5, 3]
    release.data = [release.data[0], *(release.data[1 + i] for i in order)]
    release.link = [[record + 1, row] for row, record in enumerate(order, start=1)]
    assert release.check().kept
    release.link[0][1], release.link[3][1] = release.link[3][1], release.link[0][1]
    assert broken(release.check()) == ["truthful"]


def test_original_and_link_may_be_in_memory(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2).write()
    table = pa.table([pa.array(column) for column in zip(*PATIENTS[1:], strict=True)], names=PATIENTS[0])
    numbers = np.arange(1, 8)
    assert verify_release(release.folder, table, (numbers, numbers)).kept
    assert verify_release(release.folder, table, pa.table({"row": numbers, "record": numbers})).kept
    pandas = pytest.importorskip("pandas")
    assert verify_release(str(release.folder), pandas.DataFrame(PATIENTS[1:], columns=PATIENTS[0])).kept
    with pytest.raises(DataError, match="whole numbers"):
        verify_release(release.folder, table, (numbers + 0.5, numbers))
    with pytest.raises(DataError, match="type int is not read"):
        verify_release(release.folder, 3)
    with pytest.raises(DataError, match="together with the original"):
        verify_release(release.folder, None, (numbers, numbers))


# -- persons -----------------------------------------------------------------------------------------------------------


def visits(tmp_path: Path, persons: str) -> Release:
    plan = {
        "data": {"delimiter": ","},
        "person": "who",
        "attributes": {"who": "identifier", "sex": QI},
        "privacy": {"k": 2},
    }
    original = [["who", "sex"], *([person, "F"] for person in persons)]
    facts = {"smallest_group_persons": len(set(persons))}
    return Release(tmp_path, plan, original, [["sex"], *(["F"] for _ in persons)], facts=facts)


def test_k_counts_persons(tmp_path: Path) -> None:
    assert visits(tmp_path, "aab").check()["k"] == Promise("k", "2 persons", "2 persons", kept=True)
    found = visits(tmp_path, "aaa").check()
    assert broken(found) == ["k"]
    assert found["k"].found == "1 persons"


def test_persons_need_original_and_link(tmp_path: Path) -> None:
    for original in (False, True):
        found = visits(tmp_path, "aab").check(original, link=False)
        assert found["k"].kept
        assert "persons could not be counted" in str(found["k"].found)
    assert broken(visits(tmp_path, "a").check(link=False)) == ["k"]
    assert broken(visits(tmp_path, "aaa").check(link=False)) == ["k"]  # the facts admit it


def test_persons_are_counted_in_the_facts(tmp_path: Path) -> None:
    release = visits(tmp_path, "aabb")
    release.facts = {"smallest_group_persons": 3}
    assert broken(release.check()) == ["counts"]


# -- every kind of hierarchy -------------------------------------------------------------------------------------------


def one(tmp_path: Path, attribute: Any, values: list[Cell], labels: list[Cell], **data: Any) -> Release:
    """A release of one quasi-identifier, every record doubled so that k = 2 holds."""
    plan = {"data": {"delimiter": ","} | data, "attributes": {"x": attribute, "s": "sensitive"}, "privacy": {"k": 2}}
    original = [["x", "s"], *([value, i] for i, value in enumerate(values + values))]
    published = [["x", "s"], *([label, i] for i, label in enumerate(labels + labels))]
    return Release(tmp_path, plan, original, published)


KINDS: dict[str, tuple[Any, str, list[str], list[str], list[str]]] = {
    # attribute, value, its way up, nodes that are not on it, labels that are no nodes
    "tree": (
        {"hierarchy": {"tree": LOCATION}},
        "Wichita",
        ["Wichita", "Kansas", "Midwest", "United States"],
        ["Kansas City", "Nebraska", "California"],
        ["*", "wichita", "Kansas "],
    ),
    "bands": (
        {"hierarchy": {"bands": [5, 20]}},
        "37.0",
        ["37", "35-39", "20-39", "[35, 40)", "*"],
        ["36", "30-34", "0-19"],
        ["37.0", "36-40", "35-40", "[35, 40]", "20-59", "035-39", "young", "[35,40)"],
    ),
    "negative bands": (
        {"hierarchy": {"bands": [10]}},
        "-3",
        ["-3", "-10--1", "[-10, 0)", "*"],
        ["0-9", "3"],
        ["-10-0", "-9-0", "'-10--1"],
    ),
    "fractional bands": (
        {"hierarchy": {"bands": ["0.5", "2"]}},
        "1.75",
        ["1.75", "[1.5, 2)", "[0, 2)", "*"],
        ["[1, 1.5)", "1"],
        ["0-1", "[1.5, 2]", "[1.50, 2)", "[0.25, 0.75)"],
    ),
    "cuts": (
        {"hierarchy": {"cuts": [[0, 20, 30, 40], [0, 20, 40]]}},
        "7",
        ["7", "0-19", "[0, 20)", "*"],
        ["20-29", "20-39", "39"],
        ["0-39", "40", "10-19"],
    ),
    "prefix": (
        {"hierarchy": {"prefix": [5, 3, 0], "length": 5}},
        "43102",
        ["43102", "431**", "*"],
        ["43103", "432**"],
        ["*****", "431021"],
    ),
    "dates": (
        {"hierarchy": {"dates": ["month", "quarter", "year", "decade"], "form": "%d.%m.%Y"}},
        "29.02.2024",
        ["2024-02-29", "2024-02", "2024-Q1", "2024", "2020s", "*"],
        ["2024-03", "2024-Q2", "2023", "2010s", "2024-02-28"],
        ["29.02.2024", "2024-13", "2024-Q5", "2023-02-29", "2024s", "2024-Q1-01"],
    ),
    "lifetimes": (
        {"hierarchy": {"dates": ["year", "decade", "20-years", "40-years"]}},
        "1959-12-31",
        ["1959", "1950s", "1940-1959", "1920-1959", "*"],
        ["1960", "1960-1979", "1960-1999", "1930s"],
        ["1950-1969", "1940-1979", "1940-1960", "1959-12", "1940-1959s"],
    ),
    "flat": ({}, "F", ["F", "*"], ["M"], []),
    "free": (
        {"intervals": "free"},
        "37",
        ["37", "30-42", "37-42", "[36.5, 42]"],
        ["38", "38-42", "30-36"],
        ["*", "42-30", "37-37", "[30, 42)", "30 - 42", "37.0"],
    ),
    "free fractions": (
        {"intervals": "free"},
        "37.5",
        ["37.5", "[37, 38]", "[37.5, 42]"],
        ["30-42", "[30, 37]"],
        ["[37, 37]"],
    ),
    "snapped": (
        {"intervals": "free", "snap": 5},
        "37",
        ["35-39", "30-39", "[35, 40)"],
        ["40-44", "[40, 45)"],
        ["37", "36-40", "35-40", "[35, 39)", "[35, 40]"],
    ),
    "snapped fractions": (
        {"intervals": "free", "snap": "0.5"},
        "37.2",
        ["[37, 37.5)", "[36.5, 40)"],
        ["[37.5, 38)"],
        ["37-38", "[37.2, 38)", "37.2"],
    ),
    "snapped to one": ({"intervals": "free", "snap": 1}, "37", ["37", "36-38"], ["38"], ["36.5"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_node_above_a_value_is_true_of_it(tmp_path: Path, kind: str) -> None:
    attribute, value, above, beside, _ = KINDS[kind]
    release = one(tmp_path, {"role": QI} | attribute, [value] * len(above), above)
    assert release.check().kept
    assert release.verify(link=False).kept
    assert release.verify(original=False, link=False).kept
    release = one(tmp_path, {"role": QI} | attribute, [value] * len(beside), beside)
    assert release.check()["truthful"].found == f"x: {2 * len(beside)} cells, first in row 1"
    assert release.verify(original=False, link=False).kept


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind][-1]])
def test_a_label_that_is_no_node_of_its_kind_is_refused(tmp_path: Path, kind: str) -> None:
    attribute, value, _, _, strange = KINDS[kind]
    release = one(tmp_path, {"role": QI} | attribute, [value] * len(strange), strange)
    found = release.check(original=False, link=False)
    assert broken(found) == ["hierarchy"]
    assert found["hierarchy"].found == f"x: {2 * len(strange)} cells, first in row 1"
    found = release.verify()
    assert broken(found) == ["hierarchy", "truthful"]
    assert found["truthful"].found == found["hierarchy"].found == f"x: {2 * len(strange)} cells, first in row 1"


def test_a_node_that_no_original_value_lies_under_is_refused(tmp_path: Path) -> None:
    for kind, label in (("flat", "M"), ("tree", "Nebraska"), ("prefix", "4****"), ("free", "38-42")):
        attribute, value, *_ = KINDS[kind]
        release = one(tmp_path, {"role": QI} | attribute, [value], [label])
        assert broken(release.check(link=False)) == ["hierarchy"], kind


def test_bands_of_whole_numbers_are_untrue_of_fractions(tmp_path: Path) -> None:
    attribute = {"role": QI, "hierarchy": {"bands": [10]}}
    assert broken(one(tmp_path, attribute, ["39.5"], ["30-39"]).check()) == ["hierarchy", "truthful"]
    assert one(tmp_path, attribute, ["39.5"], ["[30, 40)"]).check().kept


def test_a_label_repeated_down_a_chain_means_one_set(tmp_path: Path) -> None:
    tree = {"*": {"Islands": {"Islands": ["Guam", "Samoa"]}, "Mainland": ["Ohio"]}}
    for limit in ({"level": 1}, {"level": 2}, ["Islands"]):
        attribute = {"role": QI, "hierarchy": {"tree": tree}, "limit": limit}
        assert one(tmp_path, attribute, ["Guam", "Samoa"], ["Islands", "Islands"]).check().kept
        assert "limits" in broken(one(tmp_path, attribute, ["Guam", "Samoa"], ["*", "*"]).check())


def test_short_codes_are_padded_to_the_full_length(tmp_path: Path) -> None:
    attribute = {"role": QI, "hierarchy": {"prefix": [4, 3], "length": 6}, "limit": {"level": 1}}
    release = one(tmp_path, attribute, ["A01", "A01.12"], ["A01***", "A01.**"])
    assert release.check().kept
    found = one(tmp_path, attribute, ["A01.1", "A01.12"], ["A01***", "A01***"]).check()
    assert broken(found) == ["limits"]


# -- limits in every kind ----------------------------------------------------------------------------------------------

LIMITS: list[tuple[Any, str, list[str], list[str], bool]] = [
    # attribute, value, labels within the limit, labels beyond it, whether the latter is certain without the original
    (
        {"hierarchy": {"bands": [5, 10, 20]}, "limit": {"level": 2}},
        "37",
        ["37", "35-39", "30-39"],
        ["20-39", "*"],
        True,
    ),
    ({"hierarchy": {"bands": [5, 10]}, "limits": ["35-39"]}, "37", ["37", "35-39"], ["30-39", "*"], False),
    ({"hierarchy": {"bands": [5, 10]}, "limits": ["[35, 40)"]}, "37", ["37", "35-39"], ["30-39"], False),
    ({"hierarchy": {"bands": [5, 10]}, "limits": ["30-34", "35-39"]}, "37", ["35-39"], ["30-39"], True),
    ({"hierarchy": {"bands": [5, 10]}, "limits": ["30-34", "35-39"]}, "37.5", ["[35, 40)"], ["[30, 40)"], True),
    ({"hierarchy": {"bands": [5]}, "limits": ["37"]}, "37.0", ["37"], ["35-39", "*"], False),
    ({"hierarchy": {"bands": [2]}, "limits": ["36", "37"]}, "37", ["37"], ["36-37"], True),
    ({"hierarchy": {"bands": [2]}, "limits": ["36", "37"]}, "37", ["37"], ["[36, 38)"], False),
    ({"hierarchy": {"cuts": [[0, 20, 30, 40], [0, 20, 40]]}, "limit": {"level": 1}}, "7", ["7", "0-19"], ["*"], True),
    ({"hierarchy": {"cuts": [[0, 20, 30, 40], [0, 20, 40]]}, "limit": {"level": 1}}, "25", ["20-29"], ["20-39"], True),
    ({"hierarchy": {"cuts": [[0, 20, 30, 40], [0, 20, 40]]}, "limits": ["20-29"]}, "25", ["20-29"], ["20-39"], False),
    ({"hierarchy": {"prefix": [3], "length": 5}, "limit": {"level": 0}}, "43102", ["43102"], ["431**", "*"], True),
    ({"hierarchy": {"prefix": [4, 3], "length": 5}, "limit": {"level": 1}}, "43102", ["4310*"], ["431**"], False),
    ({"hierarchy": {"prefix": [3], "length": 5}, "limits": ["431**"]}, "43102", ["431**"], ["*"], False),
    (
        {"hierarchy": {"dates": ["month", "year"]}, "limit": {"level": 1}},
        "2024-02-29",
        ["2024-02"],
        ["2024", "*"],
        True,
    ),
    ({"hierarchy": {"dates": ["month", "year"]}, "limits": ["2024-02"]}, "2024-02-29", ["2024-02"], ["2024"], False),
    (
        {"hierarchy": {"dates": ["quarter", "year"]}, "limits": [f"2024-Q{i}" for i in (1, 2, 3, 4)]},
        "2024-02-29",
        ["2024-Q1"],
        ["2024"],
        True,
    ),
    ({"limit": {"level": 0}}, "F", ["F"], ["*"], True),
    ({"limits": ["F"]}, "F", ["F"], ["*"], False),
    ({"hierarchy": {"tree": LOCATION}, "limit": {"level": 1}}, "Lincoln", ["Nebraska"], ["Midwest"], True),
    ({"hierarchy": {"tree": LOCATION}, "limits": ["Kansas"]}, "Wichita", ["Kansas"], ["Midwest"], False),
    ({"intervals": "free", "limit": {"cuts": [50]}}, "37", ["30-49", "37"], ["30-50", "36-51"], True),
    ({"intervals": "free", "limit": {"cuts": [37]}}, "37", ["37-50"], ["36-37"], True),
    ({"intervals": "free", "limit": {"width": 10}}, "37", ["30-40"], ["30-41", "[30.5, 41]"], True),
    ({"intervals": "free", "limit": {"cuts": [40]}, "snap": 5}, "37", ["35-39", "[35, 40)"], ["35-44"], True),
    ({"intervals": "free", "limit": {"width": 4}, "snap": 5}, "37", ["35-39"], ["30-39", "[35, 40)"], True),
    ({"intervals": "free", "limit": {"width": "0.5"}, "snap": "0.5"}, "37.2", ["[37, 37.5)"], ["[37, 38)"], True),
]


@pytest.mark.parametrize("case", LIMITS, ids=lambda case: json.dumps(case[0]) + case[1])
def test_limits_of_every_kind(tmp_path: Path, case: tuple[Any, str, list[str], list[str], bool]) -> None:
    attribute, value, within, beyond, certain = case
    release = one(tmp_path, {"role": QI} | attribute, [value] * len(within), within)
    assert release.check().kept
    assert release.verify(original=False, link=False).kept
    release = one(tmp_path, {"role": QI} | attribute, [value] * len(beyond), beyond)
    all_of_them = f"{2 * len(beyond)}: x: {2 * len(beyond)} cells, first in row 1; but facts.json says 0"
    for link in (True, False):  # no other value is in the original, so the link tells nothing new
        found = release.check(link=link)
        assert broken(found) == ["limits"]
        assert found["limits"].found == all_of_them
    found = release.verify(original=False, link=False)
    if certain:
        assert found["limits"].found == all_of_them
    else:
        assert found.kept
        assert f"{2 * len(beyond)} more cells can be judged only" in str(found["limits"].found)


def test_a_level_marks_nodes_for_all_leaves_under_them() -> None:
    """Ohio lies two steps under the root; Rural is marked for Barn, three steps under it, and so limits Ohio too."""
    nested: dict[str, Any] = {"*": {"Rural": {"Ohio": {}, "Farm": {"Barn": {}}}, "City": {"Rome": {}}}}
    tree = NamedTree.of(nested, Marks(level=2))
    assert [tree.line_of[leaf].breaks("Rural") for leaf in ("Ohio", "Barn")] == [False, False]
    assert [tree.line_of[leaf].breaks("*") for leaf in ("Ohio", "Barn", "Rome")] == [True, True, False]


# -- missing and unknown values ----------------------------------------------------------------------------------------


def test_a_missing_value_is_published_as_missing_or_as_the_root(tmp_path: Path) -> None:
    attribute = {"role": QI, "hierarchy": {"tree": LOCATION}, "limit": {"level": 1}}
    for marker, label in ((None, None), (" ? ", None), ("?", "United States"), ("n/a", None)):
        release = one(tmp_path, attribute, ["Lincoln", marker], ["Nebraska", label], missing=["", "?", "n/a"])
        assert release.check().kept, label
        assert release.verify(link=False).kept, label
    for label in ("Nebraska", ""):
        assert "truthful" in broken(
            one(tmp_path, attribute, ["Lincoln", "?"], ["Nebraska", label], missing="?").check()
        )
    assert broken(one(tmp_path, attribute, ["Lincoln"], [None]).check()) == ["hierarchy", "truthful"]
    level_0 = attribute | {"limit": {"level": 0}}
    assert broken(one(tmp_path, level_0, [None], ["United States"]).check()) == ["limits"]


def test_the_root_may_stand_for_missing_values_where_limits_are_ignored(tmp_path: Path) -> None:
    attribute = {"role": QI, "hierarchy": {"tree": LOCATION}, "limit": {"level": 1}}
    release = one(tmp_path, attribute, ["Lincoln", None], ["United States", "United States"])
    release.plan["method"] = {"limits": "ignore"}
    release.facts = {"limits_broken": 2}
    assert release.check().kept
    assert release.verify(link=False).kept
    assert release.verify(original=False, link=False).kept


def test_missing_is_a_value_of_its_own_when_groups_are_counted(tmp_path: Path) -> None:
    release = one(tmp_path, QI, ["F", None], ["F", None])
    assert release.check().kept
    release.data[2][0] = "*"
    found = release.check()
    assert broken(found) == ["k"]
    assert found["k"].found == 1


def test_a_missing_number_is_published_as_missing_only(tmp_path: Path) -> None:
    attribute = {"role": QI, "intervals": "free", "limit": {"cuts": [5], "width": 3}}
    release = one(tmp_path, attribute, ["1", "4", None], ["1-4", "1-4", None])
    assert release.check().kept
    release.data[3][0] = release.data[6][0] = "1-4"
    assert broken(release.check()) == ["truthful"]
    assert broken(one(tmp_path, attribute, ["1", "4"], ["1-4", None]).check()) == ["hierarchy", "truthful"]


def test_a_missing_sensitive_value_stays_missing(tmp_path: Path) -> None:
    release = one(tmp_path, QI, ["F", "M"], ["F", "M"], missing=["?", ""])
    for i in range(1, 5):
        release.original[i][1] = ["?", "", None, " x "][i - 1]
        release.data[i][1] = [None, None, "", "x"][i - 1]
    assert release.check().kept
    release.data[1][1] = "?"
    assert broken(release.check()) == ["truthful"]
    assert broken(release.verify(link=False)) == ["unchanged"]


def test_an_empty_text_is_a_value_where_the_plan_says_so(tmp_path: Path) -> None:
    release = one(tmp_path, QI, ["F", ""], ["F", ""], missing="?")
    assert release.check().kept
    release.data[2][0] = release.data[4][0] = None
    assert broken(release.check()) == ["hierarchy", "truthful"]


def test_unknown_values_under_the_root(tmp_path: Path) -> None:
    attribute = {"role": QI, "hierarchy": {"tree": LOCATION}, "limit": {"level": 1}, "unknown": "own-leaf-under-root"}
    for label in ("Paris", "United States"):
        release = one(tmp_path, attribute, ["Lincoln", "Paris"], ["Lincoln", label])
        assert release.check().kept, label
        assert release.verify(link=False).kept, label
        assert release.verify(original=False, link=False).kept, label
    assert broken(one(tmp_path, attribute, ["Lincoln", "Paris"], ["Lincoln", "Rome"]).check()) == [
        "hierarchy",
        "truthful",
    ]
    assert broken(one(tmp_path, attribute, ["Lincoln"], ["United States"]).check()) == ["limits"]


@pytest.mark.parametrize("unknown", ["withhold", "error"])
def test_unknown_values_that_must_not_be_released(tmp_path: Path, unknown: str) -> None:
    attribute = {"role": QI, "hierarchy": {"tree": LOCATION}, "unknown": unknown}
    release = one(tmp_path, attribute, ["Lincoln", "Paris"], ["United States", "United States"])
    found = release.check()
    assert broken(found) == ["truthful"]
    assert found["truthful"].found == "x: 2 cells, first in row 2"
    numbers = {"role": QI, "intervals": "free", "unknown": unknown}
    assert "truthful" in broken(one(tmp_path, numbers, ["30", "thirty"], ["30", "30"]).check())


def test_a_value_written_like_a_group_has_no_leaf(tmp_path: Path) -> None:
    attribute = {"role": QI, "hierarchy": {"prefix": [3], "length": 5}, "unknown": "withhold"}
    assert one(tmp_path, attribute, ["431**"], ["431**"]).check().kept
    assert broken(one(tmp_path, attribute, ["43102", "431**"], ["431**", "431**"]).check()) == ["truthful"]


# -- formats -----------------------------------------------------------------------------------------------------------

FORMULAS = [
    "=SUM(A1)",
    "+x",
    "-x",
    "@x",
    "'=x",
    "''@x",
    "'tis",
    "-5",
    "+5.5",
    "-.5e3",
    "'-5",
    "\N{FULLWIDTH EQUALS SIGN}x",
    'a "b", c',
    "x\ny",
]


def test_guarded_cells_are_read_as_what_they_were(tmp_path: Path) -> None:
    for text in FORMULAS:
        assert unguard(guard(text)) == text
    release = one(tmp_path, QI, FORMULAS, FORMULAS)
    for i, text in enumerate(FORMULAS, start=1):
        release.original[i][1] = release.data[i][1] = text
    assert release.check().kept
    release.data[1][1] = "'=SUM(A1)"
    assert broken(release.check()) == ["truthful"]


def test_guarded_column_names(tmp_path: Path) -> None:
    plan = {"data": {"delimiter": ","}, "attributes": {"=x": QI, "@s": "sensitive"}, "privacy": {"k": 2}}
    rows = [["=x", "@s"], ["a", 1], ["a", 2]]
    release = Release(tmp_path, plan, rows, rows)
    assert release.check().kept
    assert (release.folder / "data.csv").read_text().startswith("'=x,'@s\n")


def test_a_single_column_with_missing_cells(tmp_path: Path) -> None:
    plan = {"data": {"delimiter": ","}, "attributes": {"x": QI}, "privacy": {"k": 2}}
    table = pa.table({"x": ["F", None, "F", None]})
    release = Release(tmp_path, plan, [["x"], *[["F"]] * 4], [["x"], ["F"], [None], ["F"], [None]]).write()
    assert verify_release(release.folder, table, ([1, 2, 3, 4], [1, 2, 3, 4])).kept


def test_parquet_releases(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2)
    release.format = "parquet"
    release.original = [PATIENTS[0], *([*row[:-1], str(row[-1])] for row in PATIENTS[1:])]
    release.data = [release.data[0], *([*row[:-1], str(row[-1])] for row in release.data[1:])]
    assert release.check().kept
    release.data[1][4] = "=SUM(A1)"
    assert broken(release.check()) == ["truthful"]
    (release.folder / "data.parquet").write_bytes(b"PAR1 no longer")
    found = release.verify()
    assert broken(found) == ["readable"]


TYPED: dict[str, tuple[pa.Array, list[str]]] = {
    "int": (pa.array([17000, None, -5, 0]), ["17000", "", "-5", "0"]),
    "double": (pa.array([0.1, 39.0, float("nan"), 1e20]), ["0.1", "39", "", "1e20"]),
    "float": (pa.array([0.1, 39.0, None, 2.5], pa.float32()), ["0.1", "39.0", "", "2.5"]),
    "bool": (pa.array([True, False, None, True]), ["true", "False", "", "TRUE"]),
    "date": (pa.array([dt.date(2024, 2, 29), None, dt.date(1999, 1, 1), dt.date(1, 1, 1)]),
             ["2024-02-29", "", "1999-01-01", "0001-01-01"]),
    "timestamp": (pa.array([dt.datetime(2024, 2, 29, 1, 2, 3), None, dt.datetime(1999, 1, 1), dt.datetime(2000, 1, 1)],
                           pa.timestamp("ns")),
                  ["2024-02-29 01:02:03", "", "1999-01-01T00:00:00", "2000-01-01 00:00:00.000000000"]),
    "decimal": (pa.array(["1.50", None, "-0.25", "7.00"]).cast(pa.decimal128(5, 2)), ["1.50", "", "-0.25", "7"]),
    "dictionary": (pa.array(["a", None, "b", " a"]).dictionary_encode(), ["a", "", "b", "a"]),
    "text": (pa.array(["a ", "", None, "b"], pa.large_string()), ["a", "", "", "b"]),
}  # fmt: skip


@pytest.mark.parametrize("ending", ["table", "parquet", "arrow", "feather"])
def test_originals_with_types(tmp_path: Path, ending: str) -> None:
    plan = {"attributes": {"x": QI, **dict.fromkeys(TYPED, "other")}, "privacy": {"k": 2}}
    table = pa.table({"x": pa.array([1.0, 1.0, 2.0, 2.0]), **{kind: values for kind, (values, _) in TYPED.items()}})
    rows = list(zip("1122", *(cells for _, cells in TYPED.values()), strict=True))
    data = [["x", *TYPED], *([cell or None for cell in row] for row in rows)]
    release = Release(tmp_path, plan, [["x"], *[[0]] * 4], data).write()
    original: Any = tmp_path / f"original.{ending}"
    if ending == "table":
        original = table
    elif ending == "parquet":
        pq.write_table(table, original)
    else:
        pyarrow.feather.write_feather(table, original)
    links = ([1, 2, 3, 4], [1, 2, 3, 4])
    assert verify_release(release.folder, original, links).kept
    assert verify_release(release.folder, original).kept
    release.data[1][1:] = ["17000.4" if kind == "int" else "x" for kind in TYPED]
    release.write()
    found = verify_release(release.folder, original, links)
    assert found["truthful"].found == "; ".join(f"{kind}: 1 cells, first in row 1" for kind in TYPED)
    found = verify_release(release.folder, original)
    assert found["unchanged"].found == "; ".join(f"{kind}: 1 cells too many" for kind in TYPED)


def test_originals_in_other_dialects(tmp_path: Path) -> None:
    release = one(tmp_path, QI, ["Zoë", "a;b"], ["Zoë", "a;b"], encoding="latin-1")
    release.write()
    for delimiter, encoding in ((";", "latin-1"), ("\t", "utf-16"), ("|", "utf-8-sig"), (";", "cp1252")):
        release.plan["data"] = {"delimiter": delimiter, "encoding": encoding}
        release.write()
        rows = [[f" {cell} " for cell in row] for row in release.original]
        write_csv(tmp_path / "original.csv", rows[0], rows[1:], delimiter, encoding)
        assert release.verify().kept, encoding
    release.plan["data"] = {}
    release.write()
    write_csv(tmp_path / "original.csv", release.original[0], release.original[1:], ";")
    assert release.verify().kept
    release.plan["data"] = {"quote": "'"}
    release.write()
    (tmp_path / "original.csv").write_text("x,s\n'Zoë','0'\n\n'a;b',1\nZoë,2\na;b,3\n", encoding="utf-8")
    assert release.verify().kept


# -- what cannot be read -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bytes_", "words"),
    [
        (b"Age,Location\n30,Lincoln,secret\n", "Row 2 .* has 3 cells"),
        (b"Age,Location\n30,\xff\xfesecret\n", "Line 2 is not text"),
        (b'Age,Location\n30,"secret\n', "quotation mark"),
        (b"", "empty"),
    ],
)
def test_a_data_file_that_is_no_table_breaks_a_promise(tmp_path: Path, bytes_: bytes, words: str) -> None:
    release = toy(tmp_path, MM2).write()
    (release.folder / "data.csv").write_bytes(bytes_)
    found = release.verify()
    assert broken(found) == ["readable"]
    assert re.search(words, str(found["readable"].found))
    assert "secret" not in repr(found)


@pytest.mark.parametrize("file", ["data.csv", "plan.yaml", "facts.json"])
def test_a_folder_that_lacks_a_file_is_no_release(tmp_path: Path, file: str) -> None:
    release = toy(tmp_path, MM2).write()
    (release.folder / file).unlink()
    with pytest.raises(DataError, match=f"no {file}") as caught:
        release.verify()
    assert caught.value.problems[0].code == "not-a-release"


def test_folders_that_are_no_release(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2).write()
    with pytest.raises(DataError, match="does not exist"):
        verify_release(tmp_path / "nowhere")
    (release.folder / "facts.json").write_text("[]")
    with pytest.raises(DataError, match="JSON"):
        release.verify()
    release.write()
    (release.folder / "plan.yaml").write_text("privacy: {k: 1}")
    with pytest.raises(PlanError):
        release.verify()
    release.write()
    (release.folder / "data.parquet").write_bytes(b"")
    with pytest.raises(DataError, match="more than one data file"):
        release.verify()


@pytest.mark.parametrize(
    ("bytes_", "code"),
    [
        (b"Age,Location,Sex,Race,Diagnosis\n", "missing-column"),
        (b"Age,Age,Location,Sex,Race,Diagnosis,Income\n", "duplicate-column"),
        (b"Age,Location,Sex,Race,Diagnosis,Income\nsecret\n", "ragged"),
        (b"Age,Location,Sex,Race,Diagnosis,Income\n1,2,3,4,secret\xff,6\n", "encoding"),
        (b"", "empty"),
    ],
)
def test_an_original_that_cannot_be_read(tmp_path: Path, bytes_: bytes, code: str) -> None:
    release = toy(tmp_path, MM2).write()
    (tmp_path / "original.csv").write_bytes(bytes_)
    with pytest.raises(DataError) as caught:
        release.verify(link=False)
    assert caught.value.problems[0].code == code
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_originals_and_links_that_are_not_there(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2).write()
    for name in ("nowhere.csv", "release", "nowhere.parquet"):
        with pytest.raises(DataError) as caught:
            verify_release(release.folder, tmp_path / name)
        assert caught.value.problems[0].code == "no-file"
    with pytest.raises(DataError) as caught:
        verify_release(release.folder, tmp_path / "original.csv", tmp_path / "nowhere.csv")
    assert caught.value.problems[0].code == "no-file"
    (tmp_path / "broken.parquet").write_bytes(b"no")
    with pytest.raises(DataError, match="Parquet"):
        verify_release(release.folder, tmp_path / "broken.parquet")
    for text in ("row,record\n1,1\n", "record,row\n1,one\n"):
        (tmp_path / "link.csv").write_text(text)
        with pytest.raises(DataError, match="link table"):
            release.verify()


# -- the outcome -------------------------------------------------------------------------------------------------------


def test_the_outcome_says_what_was_asked_and_found(tmp_path: Path) -> None:
    found = toy(tmp_path, MM1).check()
    assert found.to_dict()["kept"] is False
    assert [set(promise) for promise in found.to_dict()["promises"]] == [{"name", "asked", "found", "kept"}] * 11
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert repr(found).startswith("Verification(1 of 11 promises broken)\n  kept    files")
    assert "<td>✗</td><td>limits</td>" in found._repr_html_()
    with pytest.raises(BrokenPromise, match="'limits'") as caught:
        found.raise_if_broken()
    assert [problem.code for problem in caught.value.problems] == ["broken-promise"]
    toy(tmp_path, MM2).check().raise_if_broken()
    with pytest.raises(KeyError):
        found["beauty"]
    with pytest.raises(ValueError, match="undocumented"):
        Promise("beauty", 1, 1, kept=True)


def test_an_empty_release_has_no_groups(tmp_path: Path) -> None:
    release = toy(tmp_path, MM2)
    release.data = release.data[:1]
    release.write()
    assert release.verify(original=False, link=False).kept
    assert release.verify(link=False).kept
    assert release.verify().kept


def test_importing_the_check_is_light() -> None:
    code = "import sys, hedgerow.verification; print(sorted({'duckdb', 'pyarrow', 'numba'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_check_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    release = toy(tmp_path, MM2).write()
    before = sorted(tmp_path.rglob("*"))
    release.verify()
    assert sorted(tmp_path.rglob("*")) == before


def test_csv_written_here_is_what_the_csv_module_reads(tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", ["a"], [['q"x'], ["y\nz"]])
    with (tmp_path / "x.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["a"], ['q"x'], ["y\nz"]]
