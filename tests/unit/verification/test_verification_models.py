"""The independent check of p, l, t, alpha and the lattice: right releases pass, and a lost value is found."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Hashable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.plan import Attribute
from hedgerow.verification import Promise, Verification, verify_release
from hedgerow.verification.counting.distances import Distance, Equal, Hierarchical, Ordered
from hedgerow.verification.counting.histograms import Histograms
from hedgerow.verification.promises.models import Entropy
from hedgerow.verification.values.sensitive import Reader, Way
from tests.cases.transport import Ground, transport
from tests.cases.written_releases import LOCATION, QI, Cell, Release, broken


def clinic(
    tmp_path: Path,
    groups: Mapping[str, list[Any]],
    privacy: dict[str, Any],
    attribute: Any = "sensitive",
    withheld: list[Any] | None = None,
    **plan: Any,
) -> Release:
    """Wards published as they are with the diagnoses of their patients; withheld ones come from a ward of their own.

    A diagnosis may be a list: of diagnosis and job.
    """
    rows = [
        [ward, *(value if isinstance(value, list) else [value])] for ward, found in groups.items() for value in found
    ]
    two = any(len(row) == 3 for row in rows)
    header = ["ward", "diagnosis", *(["job"] if two else [])]
    hidden = [["hidden", *(value if isinstance(value, list) else [value])] for value in withheld or []]
    jobs = {"job": "sensitive"} if two else {}
    made = {"data": {"delimiter": ","}, "attributes": {"ward": QI, "diagnosis": attribute, **jobs}} | plan
    made["privacy"] = {"k": min(map(len, groups.values()))} | privacy
    return Release(tmp_path, made, [header, *rows, *hidden], [header, *(list(row) for row in rows)])


def alone(release: Release) -> Verification:
    return release.check(original=False, link=False)


# -- each model: a right release, and one in which a group loses a value ------------------------------------------------

TREE = {"any": {"cancer": ["lung", "throat", "skin"], "infection": {"virus": ["flu", "cold"], "bacteria": ["strep"]}}}
A, B = ["flu", "flu", "cold", "strep"], ["cold", "strep", "flu", "flu"]
MODELS: dict[str, tuple[str, dict[str, Any], Any, dict[str, list[str]], tuple[int, str], Any, Any, Any]] = {
    # promise, privacy, attribute, groups, (row from 1, new value); asked, found of the right one and of the tampered
    "p": ("p", {"p": 3}, "sensitive", {"A": A, "B": B}, (3, "flu"), 3, 3, 2),
    "distinct l": ("l", {"l": 3}, "sensitive", {"A": A, "B": B}, (4, "flu"), 3, 3, 2),
    "entropy l": (  # ½ ln 2 + ¼ ln 4 + ¼ ln 4 = 1.5 ln 2 = ln 2.8284; ¾ ln 4/3 + ¼ ln 4 = ln 1.7547
        "l", {"l": {"entropy": 2.8}}, "sensitive", {"A": A, "B": B}, (4, "flu"),
        "an entropy of at least ln(2.8) of diagnosis", "ln(2.8284)", "ln(1.7547)",
    ),
    "recursive l": (  # 2 < 1.5 · 2; 3 ≥ 1.5 · 1
        "l", {"l": {"recursive": [1.5, 2]}}, "sensitive", {"A": A, "B": B}, (4, "flu"),
        "the most frequent below 1.5 times those from number 2 on of diagnosis", "1 times", "3 times",
    ),
    "recursive l, too few values": (
        "l", {"l": {"recursive": [5, 3]}}, "sensitive", {"A": A, "B": B}, (4, "flu"),
        "the most frequent below 5 times those from number 3 on of diagnosis", "2 times", "a group with 2 different values",
    ),
    "alpha": (
        "alpha", {"alpha": 0.5}, "sensitive", {"A": A, "B": B}, (4, "flu"), "a share of at most 0.5 of diagnosis", "0.5", "0.75",
    ),
    "beta": (  # flu is half of all, and of A; then 3/4 of A, 5/8 of all, and cold 1/4 of B, 1/8 of all
        "beta", {"beta": 0.5}, "sensitive", {"A": A, "B": B}, (4, "flu"), "a gain of at most 0.5 of diagnosis", "0", "1",
    ),
    "enhanced beta": (  # -ln 0.625 = 0.47 is beyond a gain of 0.2, but cold doubles
        "beta", {"beta": {"at_most": 0.9, "enhanced": True}}, "sensitive", {"A": A, "B": B}, (4, "flu"),
        "a gain (enhanced) of at most 0.9 of diagnosis", "0", "1",
    ),
    "delta": (
        "delta", {"delta": 0.5}, "sensitive", {"A": A, "B": B}, (4, "flu"),
        "all values in every group, shares within e^0.5 of diagnosis", "e^0", "a group with 2 of 3 values",
    ),
    "p at a level": (
        "p", {"p": 2}, {"role": "sensitive", "hierarchy": {"tree": TREE}, "level": 2},
        {"A": ["lung", "skin", "flu"], "B": ["throat", "strep", "cold"]}, (3, "lung"), 2, 2, 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_a_release_that_loses_a_sensitive_value_is_refused(tmp_path: Path, model: str) -> None:
    name, privacy, attribute, groups, (row, value), asked, right, wrong = MODELS[model]
    release = clinic(tmp_path, groups, privacy, attribute)
    for found in (alone(release), release.verify(link=False), release.verify()):
        assert found.kept, found
        assert found[name] == Promise(name, asked, right, kept=True)
    lost = release.data[row][1]
    release.data[row][1] = value
    assert broken(alone(release)) == [name]
    assert broken(release.verify(link=False)) == [name, "unchanged"]
    found = release.verify()
    assert broken(found) == [name, "truthful"]
    assert found[name] == Promise(name, asked, wrong, kept=False)
    assert lost not in repr(found)


CLOSE: dict[str, tuple[Any, Any, dict[str, list[str]], tuple[int, str], list[str]]] = {
    # t, attribute, groups, (row from 1, new value), found: right, tampered
    # A 2:1:1, B 2:1:1, all 4:2:2; then A 3:1:0, B 2:1:1: all 5:2:1
    "equal": (0.1, "sensitive", {"A": A, "B": B}, (4, "flu"), ["0", "0.125"]),
    # 1 2 3 4 | 1 2 3 4; then 1 2 3 1 against 3 2 2 1: carried 1/8 + 1/8 + 1/8 of 3 steps
    "ordered": ({"at_most": 0.1, "distance": "ordered"}, "sensitive", {"A": [*"1234"], "B": [*"1234"]}, (4, "1"),
                ["0", "0.125"]),
    # lung, flu, strep | lung, flu, strep; then lung, flu, flu: among infections (height 2 of 3) only.
    # Against 2:3:1, A has ⅓:⅔:0, that is ⅙ too much flu, and B ⅙ too much strep
    "hierarchical": (0.1, {"role": "sensitive", "hierarchy": {"tree": TREE}},
                     {"A": ["lung", "flu", "strep"], "B": ["strep", "lung", "flu"]}, (3, "flu"),
                     ["0", "0.1112"]),
    # the same with an order of leaves: lung, flu, strep
    "ordered leaves": ({"at_most": 0.08, "distance": "ordered"}, {"role": "sensitive", "hierarchy": {"tree": TREE}},
                       {"A": ["lung", "flu", "strep"], "B": ["strep", "lung", "flu"]}, (3, "flu"),
                       ["0", "0.0834"]),
    # at level 1 (cancer, virus, bacteria) infection has height 1 of 2
    "at a level": (0.08, {"role": "sensitive", "hierarchy": {"tree": TREE}, "level": 1},
                   {"A": ["lung", "flu", "strep"], "B": ["strep", "skin", "cold"]}, (3, "cold"),
                   ["0", "0.0834"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CLOSE)
def test_a_release_whose_groups_go_away_from_all_its_records_is_refused(tmp_path: Path, case: str) -> None:
    t, attribute, groups, (row, value), (right, wrong) = CLOSE[case]
    release = clinic(tmp_path, groups, {"t": t}, attribute)
    found = alone(release)
    assert found.kept, found
    assert found["t"].found == right
    assert release.verify().kept
    assert release.verify(link=False)["t"].found == right
    release.data[row][1] = value
    found = alone(release)
    assert broken(found) == ["t"]
    assert found["t"].found == wrong
    found = release.verify()
    assert broken(found) == ["t", "truthful"]
    assert found["t"].found == wrong


def test_demands_of_several_columns(tmp_path: Path) -> None:
    groups: dict[str, list[Any]] = {"A": [["flu", "cook"], ["cold", "smith"], ["strep", "cook"]]}
    found = clinic(tmp_path, groups, {"p": 2, "k": 3}).check()
    assert found["p"] == Promise("p", 2, 2, kept=True)
    found = clinic(tmp_path, groups, {"p": 3, "k": 3}).check()
    assert found["p"] == Promise("p", 3, 2, kept=False)
    found = clinic(tmp_path, groups, {"p": {"diagnosis": 3}, "k": 3}).check()
    assert found["p"] == Promise("p", "3 different values of diagnosis", 3, kept=True)
    found = clinic(tmp_path, groups, {"p": {"diagnosis": 3, "*": 2}, "alpha": {"job": 0.7}, "k": 3}).check()
    asked = "3 different values of diagnosis; 2 different values of job"
    assert found["p"] == Promise("p", asked, "diagnosis: 3; job: 2", kept=True)
    assert found["alpha"] == Promise("alpha", "a share of at most 0.7 of job", "0.6667", kept=True)
    found = clinic(tmp_path, groups, {"l": {"diagnosis": 3, "job": {"entropy": 2}}, "t": 0, "k": 3}).check()
    assert found["l"].found == "diagnosis: 3; job: ln(1.8898)"  # ⅔ ln 3/2 + ⅓ ln 3 = ln 1.8899
    assert broken(found) == ["l"]
    assert found["t"].asked == "a distance (equal) of at most 0 of diagnosis, job"
    names = [promise.name for promise in clinic(tmp_path, groups, {"p": 2, "l": 2, "t": 1, "alpha": 1}).check()]
    assert names[:5] == ["files", "plan", "facts", "roles", "hierarchy"]
    assert names[5:] == ["k", "p", "l", "t", "alpha", "limits", "counts", "disclosures", "risks", "truthful"]


def test_a_lost_column_breaks_what_was_asked_of_it(tmp_path: Path) -> None:
    release = clinic(tmp_path, {"A": [["flu", "cook"], ["cold", "smith"]]}, {"p": 2})
    release.data = [row[:2] for row in release.data]
    found = alone(release)
    assert broken(found) == ["roles", "p"]
    assert found["p"].found == "missing columns: job"


def test_a_release_without_groups_keeps_every_model(tmp_path: Path) -> None:
    release = clinic(tmp_path, {"A": A}, {"p": 2, "l": 2, "t": 0, "alpha": 0})
    release.data = release.data[:1]
    release.facts = {"attribute_disclosures": {"count": 0, "by_attribute": {"diagnosis": 0}, "listed": []}}
    for found in (alone(release), release.verify(link=False), release.verify()):
        assert found.kept
        assert found["t"].found == "no groups"


# -- what counts as a value --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("twin", ["Flu", " flu ", "FLU", "\uff46\uff4c\uff55", "\u00a0flu", "\ufb02u"])
def test_labels_that_mean_the_same_count_once(tmp_path: Path, twin: str) -> None:
    release = clinic(tmp_path, {"A": ["flu", twin]}, {"p": 2})
    release.format = "parquet"  # keeps white space
    for found in (alone(release), release.verify()):
        assert broken(found) == ["p"]
        assert found["p"].found == 1


@pytest.mark.parametrize(("one", "other"), [("flu", "flu 2"), ("é", "e"), ("1", "1.0"), ("straße", "strase")])
def test_labels_that_differ_count_twice(tmp_path: Path, one: str, other: str) -> None:
    assert clinic(tmp_path, {"A": [one, other]}, {"p": 2}).check()["p"].kept


def test_missing_values_never_count(tmp_path: Path) -> None:
    for hole in (None, "", "?", " ? "):
        release = clinic(tmp_path, {"A": ["flu", "cold"], "B": ["flu", hole]}, {"p": 2, "alpha": 0.5})
        release.plan["data"] = {"delimiter": ",", "missing": ["", "?"]}
        found = alone(release)
        assert broken(found) == ["p", "alpha"]
        assert (found["p"].found, found["alpha"].found) == (1, "1")
        assert {"p", "alpha"} <= set(broken(release.verify()))


def test_a_group_without_values(tmp_path: Path) -> None:
    groups: dict[str, list[Any]] = {"A": ["flu", "cold"], "B": [None, None]}
    assert clinic(tmp_path, groups, {"t": 0, "alpha": 0.5}).check().kept
    for privacy in ({"p": 2}, {"l": 2}, {"l": {"entropy": 1.5}}, {"l": {"recursive": [9, 1]}}):
        assert broken(clinic(tmp_path, groups, privacy).check()) == list(privacy)
    assert clinic(tmp_path, groups, {"l": {"entropy": 1}}).check().kept
    assert clinic(tmp_path, {"A": [None, None]}, {"t": 0, "alpha": 0}).check().kept
    assert clinic(tmp_path, {"A": [None, None]}, {"p": 2}).check()["p"] == Promise("p", 2, 0, kept=False)


def test_missing_values_are_no_part_of_the_whole_table(tmp_path: Path) -> None:
    groups: dict[str, list[Any]] = {"A": ["flu", "cold", None], "B": ["flu", "cold"]}
    release = clinic(tmp_path, groups, {"t": 0})
    assert alone(release).kept
    assert release.verify().kept


LEVELS: list[tuple[dict[str, Any], list[str], list[int]]] = [
    # hierarchy, values, number of different ones at levels 0, 1, 2, …
    ({"tree": TREE}, ["Lung ", "lung", "throat", "flu", "cold", "strep"], [5, 3, 2, 1]),
    ({"bands": [5, 20]}, ["37", "37.0", "35.5", "20", "-1"], [4, 3, 2, 1]),
    ({"bands": ["0.5"]}, ["0.25", ".250", "0.3", "2"], [3, 2, 1]),
    ({"cuts": [[0, 20, 30, 40], [0, 20, 40]]}, ["7", "25", "39"], [3, 3, 2, 1]),
    ({"prefix": [3, 1], "length": 5}, ["A0112", "a0113", "A0B", "B01"], [4, 3, 2, 1]),
    (
        {"dates": ["month", "year"], "form": "%d.%m.%Y"},
        ["29.02.2024", "01.02.2024", "1.2.2024", "01.03.2024", "31.12.1999"],
        [4, 3, 2, 1],
    ),
    ({"dates": ["year"]}, ["2024-02-29", "2024-02-29T10:00:00Z", "2023-01-01"], [2, 2, 1]),
]


@pytest.mark.parametrize("case", LEVELS, ids=lambda case: next(iter(case[0])))
def test_values_count_at_the_level_of_a_hierarchy(
    tmp_path: Path, case: tuple[dict[str, Any], list[str], list[int]]
) -> None:
    hierarchy, values, different = case
    for level, count in enumerate(different):
        attribute = {"role": "sensitive", "hierarchy": hierarchy, "level": level}
        for p in range(2, len(values) + 1):
            release = clinic(tmp_path, {"A": values}, {"p": p}, attribute)
            for found in (alone(release), release.verify()):
                assert found["p"] == Promise("p", p, count, kept=p <= count)
                assert found["hierarchy"].kept


@pytest.mark.parametrize("unknown", ["error", "withhold", "own-leaf-under-root"])
def test_sensitive_values_without_a_leaf(tmp_path: Path, unknown: str) -> None:
    attribute = {"role": "sensitive", "hierarchy": {"tree": TREE}, "unknown": unknown}
    release = clinic(tmp_path, {"A": ["flu", "cold", "gout", "GOUT", None]}, {"p": 2}, attribute)
    own = unknown == "own-leaf-under-root"
    for found in (alone(release), release.verify()):
        assert found.kept == own
        assert found["p"].found == (3 if own else 2)
        assert found["hierarchy"].found == ("only such" if own else "diagnosis: 2 cells, first in row 3")
        assert "gout" not in repr(found).lower()
    release = clinic(tmp_path, {"A": ["flu", "gout", "scurvy"]}, {"p": 2}, attribute | {"level": 1})
    if own:  # at level 1 both are the root
        assert release.check()["p"] == Promise("p", 2, 2, kept=True)
        release.plan["attributes"]["diagnosis"]["level"] = 0
        assert release.check()["p"].found == 3


def test_withheld_values_without_a_leaf_are_no_part_of_the_whole_table(tmp_path: Path) -> None:
    attribute = {"role": "sensitive", "hierarchy": {"tree": TREE}, "unknown": "withhold"}
    release = clinic(tmp_path, {"A": ["flu", "cold"]}, {"t": 0}, attribute, withheld=["gout"])
    found = release.check()
    assert found.kept
    assert found["t"].found == "0"


def test_typed_originals(tmp_path: Path) -> None:
    release = clinic(tmp_path, {"A": ["1.0", "1", "2"]}, {"p": 2, "t": {"at_most": 0, "distance": "ordered"}})
    release.facts = {"largest_share_of_one_value": {"diagnosis": 2 / 3}}  # as the original says, 1.0 and 1 are one
    release.write()
    table = pa.table({"ward": ["A", "A", "A"], "diagnosis": pa.array([1.0, 1.0, 2.0])})
    found = verify_release(release.folder, table, ([1, 2, 3], [1, 2, 3]))
    assert found.kept
    assert found["p"].found == 2


# -- t-closeness: numbers by hand and by moving earth ------------------------------------------------------------------


def test_the_numbers_of_the_paper(tmp_path: Path) -> None:
    """Li et al. 2007: the salaries of sections 2 and 3 give 0.375, 0.167 and, grouped better, 0.167.

    The diseases by hand: B has ⅓ each of gastritis, flu and bronchitis, in ninths against the whole table gastric
    ulcer −1, gastritis +1, stomach cancer −2; flu +2, pneumonia −1, bronchitis +1. One ninth moves within the stomach,
    one among infections (height 1 of 3), and two between the systems: (⅓ + ⅓ + 2)/9 = 8/27.
    """
    low, wide = ["3000", "4000", "5000"], ["6000", "8000", "11000"]
    t = {"at_most": 0.375, "distance": "ordered"}
    release = clinic(tmp_path, {"A": low, "B": wide, "C": ["7000", "9000", "10000"]}, {"t": t})
    assert release.check()["t"].found == "0.375"  # of A; B has 0.167
    diseases = {
        "any": {
            "respiratory": {
                "infection": ["flu", "pneumonia", "bronchitis"],
                "vascular": ["pulmonary edema", "pulmonary embolism"],
            },
            "digestive": {
                "stomach": ["gastric ulcer", "gastritis", "stomach cancer"],
                "colon": ["colitis", "colon cancer"],
            },
        }
    }
    groups = {
        "A": [["3000", "gastric ulcer"], ["5000", "stomach cancer"], ["9000", "pneumonia"]],
        "B": [["6000", "gastritis"], ["11000", "flu"], ["8000", "bronchitis"]],
        "C": [["4000", "gastritis"], ["7000", "bronchitis"], ["10000", "stomach cancer"]],
    }
    wanted = {"diagnosis": {"at_most": 0.167, "distance": "ordered"}, "job": 0.2963}
    release = clinic(tmp_path, groups, {"t": wanted})
    release.plan["attributes"]["job"] = {"role": "sensitive", "hierarchy": {"tree": diseases}}
    found = release.check()
    assert found["t"].found == "diagnosis: 0.1667; job: 0.2963"
    assert found.kept


def test_order_is_numeric_or_that_of_the_tree(tmp_path: Path) -> None:
    """One of 9, 10, 11 each, two groups: {9, 9} is far from the whole; as texts 9 would stand last."""
    t = {"at_most": 1, "distance": "ordered"}
    groups = {"A": ["9", "9"], "B": ["10", "11"]}
    assert clinic(tmp_path, groups, {"t": t}).check()["t"].found == "0.375"  # (½ + ¼) / 2 of A
    tree = {"*": {"odd": ["11", "9"], "even": ["10"]}}
    attribute = {"role": "sensitive", "hierarchy": {"tree": tree}}
    assert clinic(tmp_path, groups, {"t": t}, attribute).check()["t"].found == "0.25"  # 11, 9, 10: (¼ + ¼) / 2
    attribute |= {"level": 1}
    assert clinic(tmp_path, groups, {"t": t}, attribute).check()["t"].found == "0.25"  # odd, even: ¼
    for attribute in ({"hierarchy": {"bands": [2]}}, {"hierarchy": {"bands": [2]}, "unknown": "own-leaf-under-root"}):  # type: ignore[assignment]
        found = clinic(tmp_path, groups, {"t": t}, {"role": "sensitive", **attribute}).check()
        assert found["t"].found == "0.375"
    found = clinic(tmp_path, {"A": ["9", "nine"], "B": ["10", "11"]}, {"t": t}).check()
    assert broken(found) == ["t"]
    assert found["t"].found == "values that are not all numbers, so have no order"
    days = {"A": ["01.03.2023", "01.03.2023"], "B": ["01.02.2024", "02.02.2024"]}
    attribute = {"role": "sensitive", "hierarchy": {"dates": ["year"], "form": "%d.%m.%Y"}}
    assert clinic(tmp_path, days, {"t": t}, attribute).check()["t"].found == "0.375"


def test_withheld_values_play_no_part_in_t(tmp_path: Path) -> None:
    """All 'cold' but two are withheld: whoever has the release alone finds what the owner finds."""
    groups, hidden = {"A": ["flu", "cold"], "B": ["flu", "cold"]}, ["cold", "cold", "cold", "gout"]
    release = clinic(tmp_path, groups, {"t": 0}, withheld=hidden)
    for found in (release.check(), release.verify(link=False), alone(release)):
        assert found.kept
        assert found["t"].found == "0"


def test_withheld_values_make_no_steps_shorter(tmp_path: Path) -> None:
    """Of the values 1, 2, …, 12 only 1 and 2 are released: they are all the steps there are."""
    groups = {"A": ["1"] * 20, "B": ["2"] * 20}
    t = {"at_most": 0.2, "distance": "ordered"}
    release = clinic(tmp_path, groups, {"t": t}, withheld=[str(n) for n in range(3, 13)])
    for found in (release.check(), release.verify(link=False), alone(release)):
        assert broken(found) == ["t"]
        assert found["t"].found == "0.5"


def test_facts_that_say_nothing_excuse_nothing(tmp_path: Path) -> None:
    release = clinic(tmp_path, {"A": ["flu"] * 4, "B": ["cold"] * 4}, {"t": 0.4})
    for withheld in (None, -5, "all"):
        release.facts = {"withheld": withheld}
        assert broken(alone(release)) == ["t", "counts"]


def shares(counts: list[int]) -> dict[Hashable, Fraction]:
    return {place: Fraction(count, sum(counts)) for place, count in enumerate(counts)}


def by_tree(ways: list[Way]) -> Ground:
    """Height of the lowest node above two classes, as a share of the root's."""
    height = {node: max(len(way) - len(node) for way in ways if way[len(way) - len(node) :] == node)
              for node in {way[i:] for way in ways for i in range(len(way))}}  # fmt: skip

    def ground(one: int, other: int) -> Fraction:
        if one == other:
            return Fraction(0)
        common = next(
            ways[one][i:] for i in range(len(ways[one])) if ways[other][-len(ways[one]) + i :] == ways[one][i:]
        )
        return Fraction(height[common], max(height.values()))

    return ground


WAYS: list[list[Way]] = [
    [("a", "A", "*"), ("b", "A", "*"), ("c", "B", "*"), ("d", "*")],
    [("a", "A", "X", "*"), ("b", "A", "X", "*"), ("c", "B", "X", "*"), ("d", "C", "Y", "*"), ("e", "Y", "*")],
    [("A", "*"), ("x", "A", "*"), ("y", "A", "*"), ("*",)],  # classes above others: leaves at different depths, cut
]


@pytest.mark.parametrize("seed", range(30))
def test_distances_are_least_costs_of_moving_earth(seed: int) -> None:
    chance = random.Random(seed)
    ways = chance.choice(WAYS)
    m = len(ways)
    grounds: list[tuple[Distance, Ground]] = [
        (Equal(), lambda one, other: Fraction(one != other)),
        (Ordered(m), lambda one, other: Fraction(abs(one - other), m - 1)),
        (Hierarchical(ways), by_tree(ways)),
    ]
    groups = [[chance.choice([0, 1, 2, 3]) for _ in range(m)] for _ in range(4)]
    groups[0][0] += 1
    overall = [sum(column) + chance.choice([0, 0, 2]) for column in zip(*groups, strict=True)]
    rows = [(g, c) for g, counts in enumerate(groups) for c, count in enumerate(counts) for _ in range(count)]
    histograms = Histograms.of(np.array([g for g, _ in rows]), np.array([c for _, c in rows]), 4, m)
    for distance, ground in grounds:
        found = distance.between(histograms, np.array(overall))
        for counts, far in zip(groups, found.tolist(), strict=True):
            expected = transport(shares(counts), shares(overall), ground) if any(counts) else Fraction(0)
            assert far == pytest.approx(float(expected), abs=1e-14)


def test_distances_of_tables_too_large_for_whole_numbers() -> None:
    counts = np.array([3 * 10**12, 10**12, 2 * 10**12, 2 * 10**12])
    histograms = Histograms(2, 2, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), counts)
    for distance in (Equal(), Ordered(2), Hierarchical([("a", "*"), ("b", "*")])):
        assert distance.between(histograms, np.array([5 * 10**12, 3 * 10**12])).tolist() == pytest.approx(
            [0.125, 0.125]
        )


def test_heights_are_those_of_the_whole_tree(tmp_path: Path) -> None:
    """Only two leaves occur, but the tree above them is the plan's, cut at the level."""
    attribute: Any = {"role": "sensitive", "hierarchy": {"tree": TREE}}
    release = clinic(tmp_path, {"A": ["lung", "lung"], "B": ["skin", "skin"]}, {"t": 0.2}, attribute)
    assert release.check()["t"].found == "0.1667"  # ½ within cancer, 1 high of 3 although no infection occurs
    for level, expected in ((0, 2 / 3), (1, 1 / 2)):
        attribute = Attribute.model_validate({"role": "sensitive", "hierarchy": {"tree": TREE}, "level": level})
        reader = Reader.of(attribute, [])
        ways = [reading.way for value in ("flu", "strep") if (reading := reader.read(value)) is not None]
        histograms = Histograms.of(np.array([0]), np.array([0]), 1, 2)
        found = Hierarchical(ways, reader.ways).between(histograms, np.array([0, 1]))
        assert found.tolist() == [pytest.approx(expected)]


def test_leaves_at_different_depths(tmp_path: Path) -> None:
    """At level 1 flu counts as virus, strep as infection, gout as the root; each is a leaf under the node it stands for.

    Of flu, strep and gout one each, infection is 1 high and the root 2. All flu: ⅓ of it goes to strep, ⅓ to gout.
    """
    tree = {"any": {"infection": {"virus": ["flu", "cold"], "strep": None}, "gout": None}}
    attribute = {"role": "sensitive", "hierarchy": {"tree": tree}, "level": 1}
    groups = {"A": ["flu", "cold"], "B": ["strep", "gout"], "C": ["strep", "gout"]}
    release = clinic(tmp_path, groups, {"t": 0.5}, attribute)
    assert release.check()["t"].found == "0.5"  # ⅓ · ½ + ⅓ · 1
    attribute["level"] = 2  # infection, and the root for strep and gout
    assert clinic(tmp_path, groups, {"t": 0.5}, attribute).check()["t"].found == "0.6667"
    attribute["level"] = 3  # all the root
    assert clinic(tmp_path, groups, {"t": 0.5, "alpha": 1}, attribute).check()["t"].found == "0"


def test_withheld_values_make_no_tree_higher(tmp_path: Path) -> None:
    """With B01.12 a tree of all values would have one level more than that of the short codes A01, A02, B01.

    Half of either group moves within A, which is 2 high of 3.
    """
    attribute = {"role": "sensitive", "hierarchy": {"prefix": [4, 3, 1], "length": 6}}
    groups = {"A": ["A01", "B01"] * 30, "B": ["A02", "B01"] * 30}
    release = clinic(tmp_path, groups, {"t": 0.1667}, attribute, withheld=["B01.12"])
    for found in (release.check(), alone(release)):
        assert found["t"].kept
        assert found["t"].found == "0.1667"


def test_entropy_that_just_holds(tmp_path: Path) -> None:
    for n in range(2, 30):
        groups = {"A": [str(value) for value in range(n)]}
        found = clinic(tmp_path, groups, {"l": {"entropy": n}}).check()
        assert found["l"].found == f"ln({n})"
        assert found.kept
    assert broken(clinic(tmp_path, {"A": ["1", "2"]}, {"l": {"entropy": "2.000001"}}).check()) == ["l"]
    assert Entropy(math.e).asked == "an entropy of at least ln(2.7183)"


def test_recursive_is_compared_exactly(tmp_path: Path) -> None:
    """As floats 2.2 · 25 is above 55, which would let the group pass."""
    groups = {"A": ["flu"] * 55 + ["cold"] * 25}
    assert 55 < 2.2 * 25
    assert broken(clinic(tmp_path, groups, {"l": {"recursive": [2.2, 2]}}).check()) == ["l"]
    assert clinic(tmp_path, groups, {"l": {"recursive": ["2.2000001", 2]}}).check().kept
    assert clinic(tmp_path, groups, {"l": {"recursive": ["0.7", 1]}}).check().kept  # 55 of all 80


# -- attribute disclosures ---------------------------------------------------------------------------------------------


def disclosing(tmp_path: Path) -> Release:
    """Groups in the order B, A, C; B has one diagnosis, A one job, C one of either."""
    groups: dict[str, list[Any]] = {
        "B": [["flu", "cook"], ["Flu", "smith"], [None, "cook"]],
        "A": [["flu", "cook"], ["cold", "cook"]],
        "C": [["flu", "cook"], ["flu", None]],
        "D": [["flu", "cook"], ["cold", "smith"]],
        "E": [[None, "cook"], [None, "smith"]],
    }
    release = clinic(tmp_path, groups, {})
    release.facts = {
        "attribute_disclosures": {
            "count": 4,
            "by_attribute": {"diagnosis": 2, "job": 2},
            "listed": [[0, "diagnosis"], [1, "job"], [2, "diagnosis"], [2, "job"]],
        }
    }
    return release


def test_disclosures_are_as_the_facts_say(tmp_path: Path) -> None:
    release = disclosing(tmp_path)
    for found in (alone(release), release.verify()):
        assert found.kept
        assert found["disclosures"] == Promise("disclosures", "as facts.json says", "4: 2 of diagnosis, 2 of job", True)
    release.facts["attribute_disclosures"]["listed"].reverse()
    assert alone(release).kept


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 3}, "there are 4, facts.json counts others"),
        ({"count": None}, "there are 4, facts.json counts others"),
        ({"count": True}, "there are 4, facts.json counts others"),
        ({"by_attribute": {"diagnosis": 3, "job": 1}}, "there are 2 of diagnosis, .*; there are 2 of job"),
        ({"by_attribute": {"diagnosis": 2}}, "there are 2 of job"),
        ({"by_attribute": {"diagnosis": 2, "job": 2, "ward": 0}}, "other columns"),
        ({"by_attribute": [2, 2]}, "there are 2 of diagnosis"),
        ({"listed": [[0, "diagnosis"], [1, "job"], [2, "job"]]}, "does not list 1"),
        ({"listed": [[0, "diagnosis"], [1, "job"], [2, "diagnosis"], [2, "job"], [3, "job"]]}, "lists 1 that are none"),
        ({"listed": [[0, "diagnosis"], [1, "job"], [2, "diagnosis"], [2, "job"], [2, "job"]]}, "lists 1 that are none"),
        ({"listed": [[1, "diagnosis"], [0, "job"], [2, "diagnosis"], [2, "job"]]}, "not list 2; .* lists 2 that are"),
        ({"listed": None}, "does not list 4"),
        ({"listed": [[0, "diagnosis"], "job", [2, "diagnosis"], [2, []], {}]}, "not list 2; .* lists 3 that are"),
        (None, "does not say; there are 4"),
    ],
)
def test_wrong_disclosures_are_refused(tmp_path: Path, change: dict[str, Any] | None, words: str) -> None:
    release = disclosing(tmp_path)
    stated = release.facts["attribute_disclosures"]
    release.facts["attribute_disclosures"] = None if change is None else stated | change
    found = alone(release)
    assert broken(found) == ["disclosures"]
    assert re.search(words, str(found["disclosures"].found))


def test_a_release_that_discloses_more_than_its_facts_say_is_refused(tmp_path: Path) -> None:
    release = disclosing(tmp_path)
    release.data[4 + 4][1] = "flu"  # D's flu and cold
    release.data[4 + 5][1] = "flu"
    assert broken(alone(release)) == ["disclosures"]


def test_disclosures_count_at_the_level_of_the_hierarchy(tmp_path: Path) -> None:
    attribute = {"role": "sensitive", "hierarchy": {"tree": TREE}, "level": 1}
    release = clinic(tmp_path, {"A": ["lung", "throat"], "B": ["lung", "flu"]}, {}, attribute)
    release.facts = {"attribute_disclosures": {"count": 1, "by_attribute": {}, "listed": [[0, "diagnosis"]]}}
    assert broken(alone(release)) == ["disclosures"]
    release.facts["attribute_disclosures"]["by_attribute"] = {"diagnosis": 1}
    assert alone(release).kept


# -- the lattice -------------------------------------------------------------------------------------------------------


def lattice(
    tmp_path: Path, values: list[Cell], labels: list[Cell], level: Any, method: str = "keep", **attribute: Any
) -> Release:
    """A full-domain release of one column, every record doubled so that k = 2 holds."""
    plan = {
        "data": {"delimiter": ","},
        "attributes": {"x": {"role": QI, **({"hierarchy": {"tree": LOCATION}} | attribute)}},
        "privacy": {"k": 2},
        "method": {"name": "lattice", "limits": method},
    }
    return Release(
        tmp_path,
        plan,
        [["x", "s"], *([value, 0] for value in values * 2)],
        [["x"], *([label] for label in labels * 2)],
        facts={"levels": {"x": level}},
    )


PLACES = ["San Diego", "Wichita", "Lincoln"]
AT: list[list[Cell]] = [
    PLACES,
    ["California", "Kansas", "Nebraska"],
    ["West Coast", "Midwest", "Midwest"],
    ["United States"] * 3,
    ["United States"] * 3,
]


@pytest.mark.parametrize("level", range(5))
def test_every_record_is_at_the_level_of_its_column(tmp_path: Path, level: int) -> None:
    for limits in ("keep", "whole-levels"):
        release = lattice(tmp_path, PLACES, AT[level], level, limits)
        found = release.check()
        assert found.kept, found
        assert found["levels"] == Promise("levels", "one level per column", f"x {level}", kept=True)
        for rest in (alone(release), release.verify(link=False)):
            assert rest.kept
            assert "levels" not in [promise.name for promise in rest]
    for other in range(4):
        if AT[other] != AT[level]:
            assert broken(lattice(tmp_path, PLACES, AT[level], other).check()) == ["levels"]


def test_one_record_at_another_level(tmp_path: Path) -> None:
    found = lattice(tmp_path, PLACES, ["California", "Kansas", "Midwest"], 1).check()
    assert broken(found) == ["levels"]
    assert found["levels"].found == "x: 2 cells, first in row 3"


def test_values_stop_at_their_own_limits(tmp_path: Path) -> None:
    limits = ["California", "Kansas", "Midwest"]
    for level, labels in enumerate(
        (PLACES, AT[1], ["California", "Kansas", "Midwest"], ["California", "Kansas", "Midwest"])
    ):
        assert lattice(tmp_path, PLACES, labels, level, limits=limits).check().kept
    for limited in ("whole-levels", "ignore"):
        release = lattice(tmp_path, PLACES, ["California", "Kansas", "Midwest"], 2, limits=limits)
        release.plan["method"]["limits"] = limited
        assert broken(release.check()) == ["levels"]
    release = lattice(tmp_path, PLACES, AT[2], 2, limits=limits)
    assert broken(release.check()) == ["limits", "levels"]
    release.plan["method"]["limits"] = "ignore"
    release.facts["limits_broken"] = 4
    found = release.check()
    assert found.kept
    assert found["limits"].found == 4
    release.plan["method"]["limits"] = "whole-levels"
    assert broken(release.check()) == ["limits"]


def test_missing_and_unknown_values_hang_under_the_root(tmp_path: Path) -> None:
    for extra, unknown in ((None, "error"), ("Paris", "own-leaf-under-root")):
        values = [*PLACES, extra]
        for level in range(4):
            at_root = extra if level == 0 else "United States"
            release = lattice(tmp_path, values, [*AT[level], at_root], level, unknown=unknown)
            assert release.check().kept
            assert release.verify(original=False, link=False).kept
            wrong = "United States" if level == 0 else extra
            release = lattice(tmp_path, values, [*AT[level], wrong], level, unknown=unknown)
            assert broken(release.check()) == ["levels"]
        release = lattice(tmp_path, values, [*PLACES, extra], 2, unknown=unknown, limit={"level": 0})
        assert release.check().kept
        release = lattice(tmp_path, values, [*AT[1], "United States"], 2, unknown=unknown, limit={"level": 1})
        assert release.check().kept


def test_levels_of_bands_in_both_ways_to_write_them(tmp_path: Path) -> None:
    hierarchy = {"bands": [5, 20]}
    assert lattice(tmp_path, ["37", "-3"], ["35-39", "-5--1"], 1, hierarchy=hierarchy).check().kept
    assert lattice(tmp_path, ["37.5", "3"], ["[35, 40)", "[0, 5)"], 1, hierarchy=hierarchy).check().kept
    assert broken(lattice(tmp_path, ["37"], ["20-39"], 1, hierarchy=hierarchy).check()) == ["levels"]
    found = lattice(tmp_path, ["37", "21"], ["35-39", "20-39"], 2, hierarchy=hierarchy, limits=["35-39"]).check()
    assert found.kept


@pytest.mark.parametrize("levels", [None, {}, {"x": "1"}, {"x": True}, {"x": -1}, {"x": None}, [1], {"x": 1, "y": 0}])
def test_levels_that_the_facts_do_not_say(tmp_path: Path, levels: Any) -> None:
    release = lattice(tmp_path, PLACES, AT[1], 1)
    release.facts = {"levels": levels}
    found = release.check()
    assert broken(found) == ["levels"]
    several = isinstance(levels, dict) and "y" in levels
    assert ("levels of other columns" if several else "no level of x") in str(found["levels"].found)
    assert not found["facts"].kept
    assert broken(alone(release)) == []


def test_clustering_promises_no_levels(tmp_path: Path) -> None:
    release = lattice(tmp_path, PLACES, AT[1], 1)
    release.plan["method"] = "cluster"
    assert "levels" not in [promise.name for promise in release.check()]


def test_the_lattice_keeps_its_budget(tmp_path: Path) -> None:
    release = lattice(tmp_path, PLACES, AT[1], 1)
    release.plan["withhold"] = 1
    release.original += [["Los Angeles", 0]]
    assert release.check().kept
    release.original += [["Los Angeles", 0]]
    assert broken(release.check()) == ["counts"]
