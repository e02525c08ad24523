"""Small pieces of the check, each by itself, at their edges."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.plan import Plan
from hedgerow.verification import InFile, verify_release_in_place
from hedgerow.verification.counting.arrays import distinct, find, sums
from hedgerow.verification.counting.spots import first_in_row, spot, where
from hedgerow.verification.counting.tabulation import (
    RowGroups,
    count_differences,
    count_groups,
    count_labels,
    count_pairs,
    count_persons,
    count_surplus,
    find_groups,
)
from hedgerow.verification.reading.formats import guess_delimiter
from hedgerow.verification.reading.link import Link
from hedgerow.verification.reading.listing import Listing
from hedgerow.verification.reading.stated import BY_NAME, FACTS, KINDS, is_proven, read_facts
from hedgerow.verification.values.columns import FreeJudge
from hedgerow.verification.values.numbers import name_number, read_number, read_span, spans_of_band
from tests.cases.counted_releases import make
from tests.cases.written_releases import QI, Release, broken


def column(*cells: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells, pa.string())])


def numbers(*values: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, np.int64)


# -- facts -------------------------------------------------------------------------------------------------------------

GOOD: dict[str, list[Any]] = {
    "text": ["", "x"],
    "whole number": [0, 1, 2**63 - 1],
    "whole number or null": [0, None],
    "number": [0, -3, 1.5, -(2**63) + 1, 2**63 - 1],
    "number or null": [0.5, None],
    "whole numbers by name": [{}, {"x": 0}],
    "numbers by name": [{}, {"x": -1.5, "y": 2}],
    "object": [{}, {"x": []}],
    "list": [[], [1]],
    "list of texts": [[], ["x", "y"]],
}
BAD: dict[str, list[Any]] = {
    "text": [None, 1, ["x"]],
    "whole number": [None, -1, 2**63, 1.0, True, "1"],
    "whole number or null": [-1, False, "1"],
    "number": [None, math.inf, math.nan, 2**63, -(2**63), True, "1"],
    "number or null": [math.inf, True, "1"],
    "whole numbers by name": [[], None, {"x": -1}, {"x": 0, "y": 0.5}],
    "numbers by name": [[], None, {"x": 1, "y": None}],
    "object": [[], None],
    "list": [{}, None, "xy"],
    "list of texts": [["x", 1], "xy", {}],
}


def test_kinds_of_facts() -> None:
    assert set(GOOD) == set(BAD) == set(KINDS)
    for kind, is_one in KINDS.items():
        assert [is_one(value) for value in GOOD[kind]] == [True] * len(GOOD[kind]), kind
        assert [is_one(value) for value in BAD[kind]] == [False] * len(BAD[kind]), kind


def plan_with(**parts: Any) -> Plan:
    attributes = {
        "name": "identifier",
        "sex": QI,
        "place": {"role": QI, "hierarchy": {"prefix": [1]}},
        "s": "sensitive",
    }
    return Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}} | parts)


DUE: dict[str, tuple[dict[str, Any], set[str], set[str]]] = {
    # what the plan says, some facts that are due then, some that are not
    "cluster": ({}, {"k", "blocks"}, {"levels", "score", "lattice", "search", "rules", "missing", "persons", "split"}),
    "lattice": ({"method": "lattice"}, {"levels", "objective", "score", "lattice"}, {"blocks", "search"}),
    "value": (
        {"method": {"name": "lattice", "objective": "research-value"}},
        {"search", "score"},
        {"lattice", "blocks"},
    ),
    "only-coarser": ({"republish": "only-coarser"}, {"republish", "exact_end_points"}, {"levels_before"}),
    "rules": ({"rules": [{"attribute": "sex", "keep_apart": ["F", "M"]}]}, {"rules"}, {"missing"}),
    "missing": ({"missing": "matches-any"}, {"missing"}, {"suppressed_cells"}),
    "person": ({"person": "name"}, {"persons", "smallest_group_persons"}, {"suppressed_cells"}),
    "split": ({"method": {"name": "cluster", "split": 1000}}, {"split"}, {"levels"}),
    "certify": ({"method": {"name": "cluster", "certify": "5s"}}, {"optimality"}, {"split"}),
    "suppress": (
        {"method": {"name": "utility", "suppress": True}, "missing": "matches-any"},
        {"suppressed_cells", "least_rows_for_a_known_person"},
        {"persons"},
    ),
}


def test_a_fact_that_another_replaces_may_lack_only_beside_it() -> None:
    for parts, replaced, by in (
        ({"republish": "only-coarser"}, "exact_end_points", {"republish": "only-coarser"}),
        ({"method": "lattice"}, "lattice", {"levels_before": {"sex": 0}}),
    ):
        plan = plan_with(**parts)
        assert replaced in read_facts({}, plan)[1][0]
        assert replaced not in read_facts(by, plan)[1][0]
    assert "exact_end_points" in read_facts({"republish": "only-coarser"}, plan_with())[1][0]


@pytest.mark.parametrize("name", DUE)
def test_which_facts_are_due(name: str) -> None:
    parts, due, others = DUE[name]
    plan = plan_with(**parts)
    assert due <= {fact.name for fact in FACTS if fact.due(plan)}
    assert not others & {fact.name for fact in FACTS if fact.due(plan)}
    faults = read_facts({}, plan)[1]
    assert len(faults) == 1
    lacking = set(faults[0].removeprefix("lacks ").split(", "))
    left_out = {"split", "optimality", "levels_before", "republish", "applied"}  # which a release may leave out
    assert lacking == {fact.name for fact in FACTS if fact.due(plan)} - left_out


def test_what_proves_a_fact() -> None:
    plan = plan_with()
    proven = {
        proof: [is_proven(next(fact for fact in FACTS if fact.proof == proof), plan, *given)
                for given in ((False, False), (True, False), (True, True))]
        for proof in ("plan", "rows", "original", "link", "word")
    }  # fmt: skip
    assert proven == {
        "plan": [True, True, True],
        "rows": [True, True, True],
        "original": [False, True, True],
        "link": [False, False, True],
        "word": [False, False, False],
    }
    sizes = BY_NAME["group_risk_sizes"]
    assert is_proven(sizes, plan, False, False)
    assert not is_proven(sizes, plan_with(person="name"), True, True)
    assert is_proven(BY_NAME["group_sizes"], plan_with(person="name"), False, False)


# -- persons, limits by column -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("stated", "kept"), [(2, True), (3, True), (1, False), (0, False)])
def test_persons_as_stated_must_be_enough(tmp_path: Path, stated: int, kept: bool) -> None:
    plan = {"data": {"delimiter": ","}, "attributes": {"p": "identifier", "x": QI}, "privacy": {"k": 2}, "person": "p"}
    original = [["p", "x"], *([person, "a"] for person in "ABC")]
    release = Release(tmp_path, plan, original, [["x"], ["a"], ["a"], ["a"]])
    release.facts = {"smallest_group_persons": stated}
    assert release.check(original=False, link=False)["k"].kept == kept


@pytest.mark.parametrize("by", [{"x": 3, "y": 0}, {"x": 1, "y": 2}, {"x": 2, "y": 2}, {"x": 0, "y": 3}])
def test_limits_by_column_are_counted(tmp_path: Path, by: dict[str, int]) -> None:
    """Two cells of x are beyond their limit, in rows 3 and 4, and one of y, in row 4."""
    attribute = {"role": QI, "limit": {"level": 0}}
    plan = {"data": {"delimiter": ","}, "attributes": {"x": attribute, "y": attribute}, "privacy": {"k": 2}}
    plan["method"] = {"limits": "ignore"}
    original = [["x", "y"], *(["a", "b"] for _ in range(4))]
    data = [["x", "y"], ["a", "b"], ["a", "b"], ["*", "b"], ["*", "*"]]
    release = Release(tmp_path, plan, original, data, facts={"limits_broken": 3})
    release.facts["limits_broken_by_attribute"] = {"x": 2, "y": 1}
    assert release.check()["limits"].kept
    release.facts["limits_broken_by_attribute"] = by
    assert not release.check()["limits"].kept


# -- arrays and tabulation ---------------------------------------------------------------------------------------------


def test_arrays() -> None:
    assert distinct(numbers(3, 1, 3, 1)).tolist() == [1, 3]
    assert distinct(numbers()).tolist() == []
    assert find(numbers(2, 5), numbers(5, 2, 6, 1, 3)).tolist() == [1, 0, -1, -1, -1]
    assert find(numbers(), numbers(5, 2)).tolist() == [-1, -1]
    assert sums(numbers(0, 2, 0), numbers(5, 1, 2), 4).tolist() == [7, 0, 1, 0]


def test_groups_in_order_of_appearance() -> None:
    columns = [column("b", None, "b", "a", "b"), column("x", "x", "x", "x", None)]
    assert find_groups(columns, 5).tolist() == [0, 1, 0, 2, 3]
    assert find_groups(columns, 5, numbers(50, 20, 40, 10, 30)).tolist() == [3, 1, 3, 0, 2]
    assert find_groups([], 3).tolist() == [0, 0, 0]
    assert find_groups([column()], 0).tolist() == []


def test_sizes_of_groups() -> None:
    assert count_groups(numbers(4, 2, 7)) == RowGroups(3, 2, 7)
    assert count_groups(numbers()) == RowGroups(0, 0, 0)


def test_persons_of_the_group_with_fewest() -> None:
    persons = column("A", "B", "A", "C", None, "C")
    assert count_persons(numbers(0, 0, 0, 1, 1, 1), persons, 2) == 1
    assert count_persons(numbers(0, 0, 1, 1, 1, 0), persons, 2) == 2
    assert count_persons(numbers(0, 0, 0, 0, 1, 0), persons, 2) == 0  # nobody is known there
    assert count_persons(numbers(), column(), 0) == 0


def test_labels_with_counts_and_first_rows() -> None:
    cells = column("b", None, "b", "a", None)
    assert sorted(count_labels(cells), key=str) == [("a", 1, 4), ("b", 2, 1), (None, 2, 2)]
    assert sorted(count_labels(cells, numbers(5, 1, 2, 4, 3)), key=str) == [("a", 4, 0), ("b", 7, 0), (None, 4, 0)]


def test_pairs_with_counts_and_first_rows() -> None:
    pairs = count_pairs(column("b", None, "b", "a", None, "b"), column("x", "x", "x", None, None, None))
    assert sorted(pairs, key=str) == [
        ("a", None, 1, 4),
        ("b", "x", 2, 1),
        ("b", None, 1, 6),
        (None, "x", 1, 2),
        (None, None, 1, 5),
    ]


def test_differences_and_surplus() -> None:
    assert count_differences(column("a", None, "b"), column("a", None, "b")) == (0, 0)
    assert count_differences(column("a", None, "b"), column("a", "b", None)) == (2, 2)
    assert count_differences(column("a"), column("b")) == (1, 1)
    assert count_surplus(column("a", "a", None, "c"), column("a", "b", None)) == 2
    assert count_surplus(column(None, None), column(None, "a")) == 1
    assert count_surplus(column("a"), column("a", "a")) == 0
    assert count_surplus(column("z", "z"), column()) == 2
    assert count_surplus(column(), column("z")) == 0


# -- numbers, spots, links, files --------------------------------------------------------------------------------------


def test_numbers_and_their_names() -> None:
    assert read_number("9" * 1999) == int("9" * 1999)
    assert read_number("9" * 2000) is None
    assert read_number("1e3") == 1000
    assert read_number("1e1000") is None
    assert read_number("+.5") == Fraction(1, 2)
    assert name_number(Fraction(-5, 4)) == "-1.25"
    assert name_number(Fraction(1, 40)) == "0.025"
    assert [read_span(text) is None for text in ("3-3", "4-3", "[2, 2]", "[2, 1)", "03", "+3")] == [True] * 6
    assert (read_span("7").end, read_span("3-5").end, read_span("[3, 5)").end) == (8, 6, 5)  # type: ignore[union-attr]
    assert [str(span) for span in spans_of_band(3, 4)] == ["3", "[3, 4)"]
    assert [str(span) for span in spans_of_band(3, 5)] == ["3-4", "[3, 5)"]
    whole, half = read_span("3-5"), read_span("[3, 5)")
    assert whole is not None
    assert half is not None
    assert [whole.holds(number) for number in (2, 3, 5, 6, Fraction(7, 2))] == [False, True, True, False, False]
    assert [half.holds(number) for number in (2, 3, Fraction(9, 2), 5)] == [False, True, True, False]


def test_free_intervals_at_their_edges() -> None:
    ages = FreeJudge(cuts=(18, 65), width=20)
    labels = ["18-38", "18-39", "17-18", "17", "64-65", "65-85", "[17.5, 18]", "[17, 18)", "[18, 38.5]"]
    assert [ages.breaks(None, label) for label in labels] == [
        *[False, True, True, False, True, False, True, False, True]
    ]
    assert not ages.breaks(None, None)
    grid = FreeJudge(snap=5)
    assert [grid.knows(label) for label in ("5-9", "5-8", "6-9", "5", "[5, 10)", "[5, 10]", "0-14")] == [
        *[True, False, False, False, True, False, True]
    ]
    known = FreeJudge().given(["3", "5", None])
    assert [known.knows(label) for label in ("3", "4", "4-5", "6-9", "1-3", None)] == [
        True,
        False,
        True,
        False,
        True,
        True,
    ]
    assert not FreeJudge().given(["3"]).knows(None)


def test_spots() -> None:
    assert spot([(3, 7), (1, 2)]) == (4, 2)
    assert spot([]) == (0, 0)
    assert where({"a": (0, 3), "b": (2, 0), "c": (1, 4)}) == "b: 2 cells; c: 1 cells, first in row 4"
    assert (first_in_row(0), first_in_row(1)) == ("", ", first in row 1")


@pytest.mark.parametrize(
    ("records", "rows", "words"),
    [
        ([1, 2], [1, 2], ""),
        ([3, 1], [2, 1], ""),
        ([0, 2], [1, 2], "1 links point outside"),
        ([4, 2], [1, 2], "1 links point outside"),
        ([1, 2], [0, 2], "1 links point outside"),
        ([1, 2], [1, 3], "1 links point outside"),
        ([0, 9], [0, 9], "4 links point outside"),
        ([2, 2], [1, 2], "1 records are linked"),
        ([1, 2], [2, 2], "1 rows are linked"),
        ([1], [2], "1 rows of the release have no link"),
    ],
)
def test_links_at_their_edges(records: list[int], rows: list[int], words: str) -> None:
    order, fault = Link(numbers(*records), numbers(*rows)).order(rows=2, records=3)
    assert fault.startswith(words)
    assert (order is None) == bool(words)
    if order is not None:
        assert [order[row - 1] for row in rows] == [record - 1 for record in records]


def test_the_delimiter_that_cuts_most(tmp_path: Path) -> None:
    for sign in ",;\t|":
        (tmp_path / "file.csv").write_text(f"a{sign}b{sign}c,d\n", encoding="utf-8")
        assert (
            guess_delimiter(tmp_path / "file.csv", Plan.from_dict({"attributes": {"a": QI}, "privacy": {"k": 2}}).data)
            == sign
        )


@pytest.mark.parametrize(
    ("name", "strange"),
    [
        ("part-00000.parquet", 0),
        ("part-123456789.parquet", 0),
        ("part-0000.parquet", 1),
        ("part-1234567890.parquet", 1),
        ("part-00000.parquet.crc", 1),
        ("xpart-00000.parquet", 1),
    ],
)
def test_names_of_parts(tmp_path: Path, name: str, strange: int) -> None:
    (tmp_path / "data.parquet").mkdir()
    (tmp_path / "data.parquet" / name).touch()
    found = Listing.of(tmp_path)
    assert (found.strange, len(found.files), found.unsafe) == (strange, 1 - strange, ())


# -- files, by counts --------------------------------------------------------------------------------------------------


def test_missing_markers_of_an_original_in_a_file(tmp_path: Path) -> None:
    """Where the plan takes '?' and the empty text for missing, the release has neither, and they are the same."""
    plan = {"data": {"missing": ["", "?"], "delimiter": ","}, "attributes": {"x": QI, "s": "sensitive", "o": "other"}}
    original = [["x", "s", "o"], ["a", "?", "1"], ["a", " u ", "?"], ["a", None, "3"]]
    data = [["x", "s", "o"], ["a", None, "1"], ["a", "u", None], ["a", None, "3"]]
    release = Release(tmp_path, plan | {"privacy": {"k": 2}}, original, data).write()
    found = verify_release_in_place(release.folder, InFile(tmp_path / "original.csv"))
    assert broken(found) == []
    release.data[2][1] = "?"  # a marker in the release is a value that nobody had
    assert "unchanged" in broken(verify_release_in_place(release.write().folder, InFile(tmp_path / "original.csv")))


def test_numbers_of_an_original_in_a_file(tmp_path: Path) -> None:
    """1.50 in a CSV file is the number 1.5 of the original, and not the text."""
    case = make("cluster")
    folder = case.write(tmp_path / "release")
    pq.write_table(case.original, tmp_path / "original.parquet")
    assert verify_release_in_place(folder, InFile(tmp_path / "original.parquet")).kept
    table = pq.read_table(folder / "data.parquet")
    income = table.column("income").cast(pa.string())
    at = table.column_names.index("income")
    pq.write_table(table.set_column(at, "income", income), folder / "data.parquet")
    assert verify_release_in_place(folder, InFile(tmp_path / "original.parquet"))["unchanged"].kept
