"""Whether every row could have been made from a record of its own, where no link says from which."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow.verification.promises.possible as possible
from hedgerow.verification.counting import fits
from hedgerow.verification.counting.bipartite import Bipartite, TooMuch
from hedgerow.verification.counting.fits import InOrder
from hedgerow.verification.result import Promise
from tests.cases.counted_releases import make
from tests.cases.written_releases import LOCATION, QI, Cell, Release

ASKED = "a record of the original for every row, one each"


def places(tmp_path: Path, pairs: list[tuple[Cell, Cell]], withheld: list[Cell] | None = None, **plan: Any) -> Release:
    """A release of cities with a sensitive number, from pairs of a city and a label."""
    attributes = {"city": {"role": QI, "hierarchy": {"tree": LOCATION}}, "s": "sensitive"}
    made = {"data": {"delimiter": ","}, "attributes": attributes, "privacy": {"k": 2}} | plan
    original = [["city", "s"], *([value, 0] for value, _ in pairs), *([value, 0] for value in withheld or [])]
    return Release(tmp_path, made, original, [["city", "s"], *([label, 0] for _, label in pairs)])


RIGHT = [("Wichita", "Kansas"), ("Kansas City", "Kansas"), ("Lincoln", "Midwest"), ("Wichita", "Midwest")]


def test_a_right_release_is_possible(tmp_path: Path) -> None:
    found = places(tmp_path, RIGHT).check(link=False)
    assert found["possible"] == Promise("possible", ASKED, "so for all 4 rows", kept=True)
    assert found.kept


def test_false_labels_of_whole_groups_are_found(tmp_path: Path) -> None:
    """They passed, as every label is a node that some record lies under."""
    false = [("Wichita", "Nebraska"), ("Kansas City", "Nebraska"), ("Lincoln", "Kansas"), ("Wichita", "Kansas")]
    found = places(tmp_path, false).check(link=False)
    assert [promise.name for promise in found.broken] == ["possible"]
    assert found["possible"].found == "1 rows can have no record of their own"


def test_a_record_stands_behind_one_row_only(tmp_path: Path) -> None:
    """Either label could be Lincoln's, but not both: whoever gets it, the other has nobody."""
    pairs = [("Lincoln", "Nebraska"), ("Wichita", "Nebraska"), ("Wichita", "Kansas"), ("Wichita", "Kansas")]
    assert not places(tmp_path, pairs).check(link=False)["possible"].kept
    assert places(tmp_path, [*pairs], ["Lincoln"]).check(link=False)["possible"].kept


def test_others_make_room(tmp_path: Path) -> None:
    """The first rows may take any record of the Midwest, but must leave Lincoln to those who need it."""
    pairs = [("Wichita", "Midwest"), ("Wichita", "Midwest"), ("Lincoln", "Nebraska"), ("Lincoln", "Nebraska")]
    assert places(tmp_path, pairs).check(link=False)["possible"].kept
    assert places(tmp_path, pairs[::-1]).check(link=False)["possible"].kept


def test_sensitive_and_other_values_must_be_the_records(tmp_path: Path) -> None:
    release = places(tmp_path, RIGHT)
    for number, row in enumerate(release.original[1:]):
        row[1] = number
    for number, row in enumerate(release.data[1:]):
        row[1] = number
    assert release.check(link=False).kept
    release.data[1][1], release.data[3][1] = 2, 0  # Lincoln's value in Kansas; unchanged alone cannot see that
    found = release.check(link=False)
    assert [promise.name for promise in found.broken] == ["possible"]
    assert found["possible"].found == "1 rows can have no record of their own"


def test_limits_are_kept_by_whoever_is_behind(tmp_path: Path) -> None:
    """Kansas has its limit at the state: only Lincoln may be in the Midwest, once."""
    attributes = {"city": {"role": QI, "hierarchy": {"tree": LOCATION}, "limits": ["Kansas"]}, "s": "sensitive"}
    pairs = [("Lincoln", "Midwest"), ("Lincoln", "Midwest"), ("Wichita", "Kansas"), ("Wichita", "Kansas")]
    assert places(tmp_path, pairs, attributes=attributes).check(link=False).kept
    pairs = [("Lincoln", "Midwest"), ("Wichita", "Midwest"), ("Wichita", "Kansas"), ("Wichita", "Kansas")]
    release = places(tmp_path, pairs, attributes=attributes)
    assert not release.check(link=False)["possible"].kept
    release.plan["method"] = {"limits": "ignore"}
    assert release.check(link=False)["possible"].kept


def test_on_the_lattice_labels_stand_at_the_level(tmp_path: Path) -> None:
    pairs = [("Wichita", "Kansas"), ("Wichita", "Kansas"), ("Lincoln", "Nebraska"), ("Lincoln", "Nebraska")]
    release = places(tmp_path, pairs, method="lattice")
    release.facts = {"levels": {"city": 1}}
    assert release.check(link=False).kept
    release.facts = {"levels": {"city": 2}}
    assert release.check(link=False)["possible"].found == "4 rows can have no record of their own"


@pytest.mark.parametrize(
    ("attribute", "values", "labels", "short"),
    [
        ({"intervals": "free"}, ["30", "31", "40", "42"], ["30-31", "30-31", "40-42", "40-42"], 0),
        ({"intervals": "free"}, ["30", "31", "40", "42"], ["30-31", "30-31", "31-40", "31-40"], 1),
        ({"intervals": "free"}, ["30", "31.5", "40", "42"], ["30-40", "30-40", "30-40", "42"], 1),  # whole numbers only
        ({"intervals": "free"}, ["30", "31.5", "40", "42"], ["[30, 31.5]", "[30, 31.5]", "40-42", "40-42"], 0),
        ({"intervals": "free", "snap": 5}, ["30", "34", "40", "42"], ["30-34", "30-34", "40-44", "40-44"], 0),
        ({"intervals": "free", "snap": "2.5"}, ["30", "34", "40", "42"], ["[30, 35)"] * 2 + ["[40, 42.5)"] * 2, 0),
        ({"intervals": "free", "snap": "2.5"}, ["30", "35", "40", "42"], ["[30, 35)"] * 2 + ["[40, 42.5)"] * 2, 1),
        ({"intervals": "free"}, ["30", None, "30", None], ["30", None, "30", None], 0),
        ({"intervals": "free"}, ["30", None, "30", "30"], ["30", None, None, "30"], 1),
        ({"intervals": "free", "limit": {"width": 1}}, ["30", "31", "33", "34"], ["30-31", "30-31", "31-33", "34"], 1),
        ({"hierarchy": {"bands": [5, 20]}}, ["31", "33", "47", "49"], ["30-34", "30-34", "40-59", "40-59"], 0),
        ({"hierarchy": {"bands": [5, 20]}}, ["31", "38", "47", "49"], ["30-34", "30-34", "20-39", "40-59"], 1),
        ({}, ["F", "F", "M", None], ["F", "F", "*", "*"], 0),
        ({}, ["F", "M", "M", None], ["F", "F", "*", "*"], 1),
    ],
)
def test_every_kind_of_column(
    tmp_path: Path, attribute: dict[str, Any], values: list[Cell], labels: list[Cell], short: int
) -> None:
    plan = {"data": {"delimiter": ","}, "attributes": {"x": {"role": QI} | attribute, "s": "sensitive"}}
    rows = [[label, 0] for label in labels]
    release = Release(
        tmp_path, plan | {"privacy": {"k": 2}}, [["x", "s"], *([value, 0] for value in values)], [["x", "s"], *rows]
    )
    found = release.check(link=False)["possible"]
    assert found.found == (f"{short} rows can have no record of their own" if short else "so for all 4 rows")
    assert found.kept == (short == 0)


def test_suppressed_cells_may_be_anybodys(tmp_path: Path) -> None:
    release = places(tmp_path, [(value, None) for value, _ in RIGHT], missing="matches-any")
    release.plan["method"] = {"name": "utility", "suppress": True}
    release.facts = {"suppressed_cells": {"city": 4}}
    assert release.check(link=False)["possible"].kept
    release.plan["method"] = {"name": "utility"}
    del release.facts["suppressed_cells"]
    assert release.check(link=False)["possible"].found == "4 rows can have no record of their own"


@pytest.mark.parametrize("name", ["cluster", "lattice", "suppress", "free", "rules"])
def test_counted_and_row_form_say_the_same(name: str) -> None:
    case = make(name)
    assert case.verify(link=False)["possible"] == case.verify_rows(link=False)["possible"]
    rows = case.released.to_pylist()
    column = next(name for name in case.plan.quasi_identifiers if len({row[name] for row in rows}) > 1)
    other = next(row[column] for row in rows if row[column] != rows[0][column])
    for number, row in enumerate(rows):
        if row[column] == rows[0][column]:
            case.change(number, column, other)
    found = case.verify(link=False)["possible"]
    assert found.kept == case.verify_rows(link=False)["possible"].kept


# -- where it is too much ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", ["MOST_CELLS", "MOST_EDGES", "MOST_PAIRS"])
def test_too_much_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(fits if bound == "MOST_CELLS" else possible, bound, 3)
    found = places(tmp_path, RIGHT).check(link=False)["possible"]
    assert found.kept
    assert "not decided" in str(found.found)
    false = [("Wichita", "Nebraska"), ("Kansas City", "Nebraska"), ("Lincoln", "Kansas"), ("Wichita", "Kansas")]
    found = places(tmp_path, false).check(link=False)["possible"]
    if bound == "MOST_PAIRS":  # of the others one is not reached here, and with the other not even labels are looked at
        assert not found.kept
        assert found.found == "city: 1 rows more than there are records under a label"


def test_blocks_large_and_small_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    false = [("Wichita", "Nebraska"), ("Kansas City", "Nebraska"), ("Lincoln", "Kansas"), ("Wichita", "Kansas")]
    for pairs in (RIGHT, false):
        release = places(tmp_path, pairs).write()
        expected = release.verify(link=False)["possible"]
        for small, chunk in ((0, 1), (1, 1), (100, 1), (100, 2)):
            monkeypatch.setattr(possible, "SMALL", small)
            monkeypatch.setattr(possible, "CHUNK", chunk)
            assert release.verify(link=False)["possible"] == expected


def test_effort_is_bounded() -> None:
    ones = np.ones(30, np.int64)
    seeker, holder = (part.reshape(-1) for part in np.meshgrid(np.arange(30), np.arange(30), indexing="ij"))
    assert Bipartite(ones, ones, seeker, holder).unmatched() == 0
    with pytest.raises(TooMuch):
        Bipartite(ones, ones, seeker, holder, effort=100).unmatched()


# -- the matching itself -----------------------------------------------------------------------------------------------


def most(wants: list[int], has: list[int], edges: set[tuple[int, int]]) -> int:
    """How many units find no place: one after the other, moving others if need be."""
    seekers = [i for i, count in enumerate(wants) for _ in range(count)]
    holders = [j for j, count in enumerate(has) for _ in range(count)]
    taken: dict[int, int] = {}

    def place(unit: int, seen: set[int]) -> bool:
        for at, holder in enumerate(holders):
            if (seekers[unit], holder) in edges and at not in seen:
                seen.add(at)
                if at not in taken or place(taken[at], seen):
                    taken[at] = unit
                    return True
        return False

    return sum(not place(unit, set()) for unit in range(len(seekers)))


@pytest.mark.parametrize("seed", range(40))
def test_as_many_as_can_be_are_matched(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(10):
        wants, has = ([rng.randint(0, 3) for _ in range(rng.randint(1, 7))] for _ in range(2))
        share = rng.random()
        edges = sorted((i, j) for i in range(len(wants)) for j in range(len(has)) if rng.random() < share)
        ends = [np.array([edge[side] for edge in edges], np.int64) for side in (0, 1)]
        graph = Bipartite(np.array(wants), np.array(has), ends[0], ends[1])
        assert graph.unmatched() == most(wants, has, set(edges))
        given = np.zeros((len(wants), len(has)), np.int64)
        np.add.at(given, (ends[0], ends[1]), graph.given)
        assert (graph.given >= 0).all()
        assert (given.sum(0) + graph.has == has).all()
        assert (given.sum(1) + graph.wants == wants).all()


def test_one_label_against_many_values_is_told_as_pair_by_pair() -> None:
    whole = np.array([True, False, True, False, True])
    fits = InOrder(
        rank=np.array([0, 1, 2, 3, -2]),
        whole=whole,
        low=np.array([0, 1, 2, 0]),
        high=np.array([4, 3, 2, 2]),
        only_whole=np.array([False, False, False, True]),
    )
    values = np.array([4, 3, 2, 1, 0, 1])
    for label, expected in enumerate(["3 2 1 0 1", "2 1 1", "", "0"]):
        found = fits.under(values)(label)
        assert np.array_equal(found, fits.test(values, np.full(len(values), label)))
        assert " ".join(map(str, values[found])) == expected
