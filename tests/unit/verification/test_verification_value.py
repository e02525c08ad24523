"""The independent check of rules, suppressed cells, missing cells that match anything, and ranges kept apart."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.plan import Attribute, Plan, Rule
from hedgerow.verification import Promise, Verification, verify_release
from hedgerow.verification.counting.histograms import Histograms
from hedgerow.verification.counting.matching import LARGEST_KEY, Matches
from hedgerow.verification.promises.overlap import in_others
from hedgerow.verification.promises.rules import distinction_of
from hedgerow.verification.values.numbers import read_span
from tests.cases.written_releases import LOCATION, QI, Cell, Release, broken

SUPPRESS = {"method": {"name": "utility", "suppress": True}, "missing": "matches-any"}


def every_way(release: Release) -> list[Verification]:
    """The release alone, with the original, and with original and link."""
    alone = release.check(original=False, link=False)
    return [alone, release.verify(link=False), release.verify()]


def matching(one: list[Cell], other: list[Cell]) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def table(
    tmp_path: Path,
    attributes: dict[str, Any],
    rows: list[tuple[list[Cell], list[Cell]]],
    k: int = 2,
    facts: dict[str, Any] | None = None,
    **plan: Any,
) -> Release:
    """A release from pairs of an original and a published row; ``smallest_group`` counts rows that match if asked."""
    header = list(attributes)
    made = {"data": {"delimiter": ","}, "attributes": attributes, "privacy": {"k": k}} | plan
    release = Release(tmp_path, made, [header, *(list(r) for r, _ in rows)], [header, *(list(p) for _, p in rows)])
    if plan.get("missing") == "matches-any":
        at = [header.index(name) for name in Plan.from_dict(made).quasi_identifiers]
        cells = [[row[i] for i in at] for _, row in rows]
        release.facts["smallest_group"] = min(sum(matching(one, other) for other in cells) for one in cells)
    release.facts |= facts or {}
    return release


# -- rules ---------------------------------------------------------------------------------------------------------------

RACES = {"any": {"White": None, "Other": {"Black": None, "Asian": ["East", "South"]}}}
AGES: dict[str, Any] = {"role": QI, "hierarchy": {"bands": [5, 20]}}
PEOPLE: list[tuple[list[Cell], list[Cell]]] = [
    (["61", "White"], ["60-64", "White"]),
    (["64", "White"], ["60-64", "White"]),
    (["60", "Black"], ["60-79", "Other"]),
    (["70", "East"], ["60-79", "Other"]),
    (["66", "East"], ["65-69", "Asian"]),
    (["67", "South"], ["65-69", "Asian"]),
    (["20", "East"], ["*", "Asian"]),
    (["80", "East"], ["*", "Asian"]),
]
RULES: list[dict[str, Any]] = [
    {"name": "retirement", "attribute": "age", "keep_apart": [64, 65], "importance": 25},
    {"attribute": "race", "keep_apart": ["Black", "Asian"], "importance": "0.5"},
    {"attribute": "race", "keep_apart": ["White", "Other"]},
]
CLAIMS: list[dict[str, Any]] = [
    {"name": "retirement", "attribute": "age", "importance": 25, "kept": False, "groups_breaking": 2},
    {"name": "race: Black | Asian", "attribute": "race", "importance": 0.5, "kept": False, "groups_breaking": 1},
    {"name": "race: White | Other", "attribute": "race", "importance": 1, "kept": True, "groups_breaking": 0},
]


def ruled(tmp_path: Path, claims: Any, **plan: Any) -> Release:
    attributes = {"age": AGES, "race": {"role": QI, "hierarchy": {"tree": RACES}}}
    return table(tmp_path, attributes, PEOPLE, facts={"rules": claims}, **({"rules": RULES} | plan))


def test_right_claims_about_rules_pass(tmp_path: Path) -> None:
    """A rule that is broken and said to be so breaks no promise; the root always breaks one."""
    for found in every_way(ruled(tmp_path, CLAIMS)):
        assert found.kept, found
        assert found["rules"].found == "1 of 3 kept; broken: retirement (2 groups), race: Black | Asian (1 groups)"


WRONG_CLAIMS: dict[str, Any] = {
    "kept": [CLAIMS[0] | {"kept": True}, *CLAIMS[1:]],
    "too few groups": [CLAIMS[0] | {"groups_breaking": 1}, *CLAIMS[1:]],
    "kept and no groups": [CLAIMS[0] | {"kept": True, "groups_breaking": 0}, *CLAIMS[1:]],
    "a kept rule called broken": [*CLAIMS[:2], CLAIMS[2] | {"kept": False, "groups_breaking": 1}],
    "name": [CLAIMS[0] | {"name": "retired"}, *CLAIMS[1:]],
    "attribute": [CLAIMS[0] | {"attribute": "race"}, *CLAIMS[1:]],
    "importance": [CLAIMS[0] | {"importance": 24}, *CLAIMS[1:]],
    "importance as text": [CLAIMS[0] | {"importance": "25"}, *CLAIMS[1:]],
    "truth as a number": [*CLAIMS[:2], CLAIMS[2] | {"kept": 1}],
    "number as truth": [*CLAIMS[:2], CLAIMS[2] | {"groups_breaking": False}],
    "another order": [CLAIMS[1], CLAIMS[0], CLAIMS[2]],
    "one less": CLAIMS[:2],
    "one more": [*CLAIMS, CLAIMS[2]],
    "no list": {"retirement": "kept"},
    "no objects": ["kept", "kept", "kept"],
    "nulls": [None, None, None],
    "nothing": None,
}


@pytest.mark.parametrize("claims", WRONG_CLAIMS.values(), ids=WRONG_CLAIMS)
def test_false_claims_about_rules_are_refused(tmp_path: Path, claims: Any) -> None:
    for found in every_way(ruled(tmp_path, claims)):
        assert broken(found) == ["rules"]


def test_data_that_no_longer_keeps_a_rule_is_refused(tmp_path: Path) -> None:
    release = ruled(tmp_path, CLAIMS)
    for row in release.data[1:3]:
        row[0] = "60-79"
    found = every_way(release)
    assert [broken(one) for one in found] == [["rules"]] * 3
    assert found[0]["rules"].found == "retirement: 3 groups break it, facts.json is wrong on groups_breaking"
    for row in release.data[1:3]:
        row[1] = "any"  # White and Other are mixed now
    assert "race: White | Other: 1 groups break it" in str(release.check()["rules"].found)


def test_rules_that_the_plan_does_not_have_are_refused(tmp_path: Path) -> None:
    release = ruled(tmp_path, CLAIMS, rules=[])
    assert release.check()["facts"].found == "1 facts that a release with this plan does not have"
    release.facts = {}
    assert "rules" not in [promise.name for promise in release.check()]
    release.plan["rules"] = RULES  # and rules that the facts do not mention
    found = release.check()
    assert broken(found) == ["rules"]
    assert found["rules"].found == "the plan has 3 rules, facts.json lists 0"


def test_a_lost_column_breaks_what_is_said_of_its_rules(tmp_path: Path) -> None:
    release = ruled(tmp_path, CLAIMS)
    release.data = [row[1:] for row in release.data]
    found = release.check(original=False, link=False)
    assert broken(found)[:2] == ["roles", "rules"]
    assert found["rules"].found == "missing column: age"


def test_missing_cells_break_no_rule_and_groups_count_once(tmp_path: Path) -> None:
    rows: list[tuple[list[Cell], list[Cell]]] = [
        (["64", "F"], ["60-79", "F"]),
        (["65", "F"], ["60-79", "F"]),
        (["64", "M"], ["60-79", "M"]),
        (["65", "M"], ["60-79", "M"]),
        ([None, "M"], [None, "M"]),
        ([None, "M"], [None, "M"]),
    ]
    claim = {"name": "age: 64 | 65", "attribute": "age", "importance": 1, "kept": False, "groups_breaking": 2}
    rules = [{"attribute": "age", "keep_apart": [64, 65]}]
    for found in every_way(table(tmp_path, {"age": AGES, "sex": QI}, rows, facts={"rules": [claim]}, rules=rules)):
        assert found.kept, found


NUMBERS: dict[str, Any] = {"{}": {"0": ["5", "12"], "1": {"2": ["20", "33.5"], "3": ["41"]}, "n": ["7"]}}
BREAKING: dict[str, tuple[dict[str, Any], list[Any], list[str], list[str]]] = {
    # attribute, keep_apart, labels that break the rule, labels that do not
    "bands": ({"hierarchy": {"bands": [5, 20]}}, [64, 65], ["60-79", "*", "[60, 80)"], ["60-64", "65-69", "64", "[60, 65)"]),
    "bands, far apart": ({"hierarchy": {"bands": [5, 20]}}, [62, 77], ["60-79", "*"], ["60-64", "75-79", "60-76", "63-79"]),
    "bands of fractions": (
        {"hierarchy": {"bands": ["0.5", 1]}}, ["0.4", "0.5"], ["[0, 1)", "*"], ["[0, 0.5)", "[0.5, 1)", "0.5"],
    ),
    "cuts": ({"hierarchy": {"cuts": [[0, 18, 65, 120]]}}, [17, 18], ["*", "0-64"], ["0-17", "18-64", "17"]),
    "free": ({"intervals": "free"}, [64, 65], ["64-65", "3-80", "[63.5, 65]"], ["65-80", "3-64", "64", "[64.5, 66]", "*"]),
    "snapped": ({"intervals": "free", "snap": "0.5"}, [1, 2], ["[1, 2.5)", "[0, 3)"], ["[1, 2)", "[1.5, 3)"]),
    "numeric tree": (
        {"hierarchy": {"tree": NUMBERS}, "numeric": True}, [12, 21], ["{}"], ["0", "1", "2", "12", "20", "n"],
    ),
    "numeric tree, within a node": (
        {"hierarchy": {"tree": NUMBERS}, "numeric": True}, [20, 33], ["2", "1", "{}"], ["20", "33.5", "3", "0", "41"],
    ),
    "the root, though no leaf is that low": ({"hierarchy": {"tree": NUMBERS}, "numeric": True}, [1, 2], ["{}"], ["0", "1", "2"]),
    "tree of leaves": (
        {"hierarchy": {"tree": LOCATION}}, ["Wichita", "Kansas City"],
        ["Kansas", "Midwest", "United States"], ["Wichita", "Kansas City", "Nebraska", "California", "West Coast"],
    ),
    "tree of nodes": (
        {"hierarchy": {"tree": LOCATION}}, ["Kansas", "Lincoln"],
        ["Midwest", "United States"], ["Wichita", "Kansas", "Nebraska", "Lincoln", "West Coast"],
    ),
    "flat": ({}, ["White", "Black"], ["*"], ["White", "Black", "Asian"]),
    "bands, as labels": (
        {"hierarchy": {"bands": [5, 20]}, "numeric": False}, ["60-64", "[65, 70)"],
        ["60-79", "[60, 80)", "*"], ["60-64", "65-69", "70-74", "61", "40-59"],
    ),
    "bands, as numbers that are labels": (
        {"hierarchy": {"bands": [5, 20]}, "numeric": False}, [67, 61], ["60-79", "*"], ["60-64", "65-69", "67"],
    ),
    "prefix": (
        {"hierarchy": {"prefix": [3, 1], "length": 5}}, ["43102", "43199"],
        ["431**", "4****", "*"], ["43102", "430**", "43199", "5****", "43***"],
    ),
    "prefix, groups": (
        {"hierarchy": {"prefix": [3, 1]}}, ["431**", "43202"], ["4****", "*"], ["431**", "43102", "432**", "43202", "5****"],
    ),
    "dates": (
        {"hierarchy": {"dates": ["month", "quarter", "year", "decade"]}}, ["2024-03", "2024-Q2"],
        ["2024", "2020s", "*"], ["2024-Q1", "2024-Q2", "2024-03-05", "2024-05", "2023", "2010s"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", BREAKING)
def test_which_labels_break_a_rule(kind: str) -> None:
    spec, keep_apart, breaking, keeping = BREAKING[kind]
    attribute = Attribute(role=QI, **spec)
    rule = Rule(attribute="x", keep_apart=keep_apart)
    plan = {"attributes": {"x": {"role": QI, **spec}}, "privacy": {"k": 2}, "rules": [rule.model_dump()]}
    assert Plan.from_dict(plan).rules[0] == rule  # the plan allows it
    found = distinction_of(attribute, rule, longest=5)
    assert {label: found.mixed_in(label) for label in [*breaking, *keeping]} == (
        dict.fromkeys(breaking, True) | dict.fromkeys(keeping, False)
    )
    assert not found.mixed_in("nothing known")


def test_an_importance_is_compared_as_a_number(tmp_path: Path) -> None:
    for importance, claimed in ((Decimal("0.1"), 0.1), ("25.0", 25), (25, 25.0), ("1e400", 10**400)):
        claim = {"name": "sex: F | M", "attribute": "sex", "importance": claimed, "kept": True, "groups_breaking": 0}
        rules = [{"attribute": "sex", "keep_apart": ["F", "M"], "importance": importance}]
        rows: list[tuple[list[Cell], list[Cell]]] = [(["F"], ["F"]), (["F"], ["F"])]
        assert table(tmp_path, {"sex": QI}, rows, facts={"rules": [claim]}, rules=rules).check().kept


# -- missing cells that match anything -----------------------------------------------------------------------------------

PLACE: dict[str, Any] = {"role": QI, "hierarchy": {"tree": LOCATION}}
PATIENTS: dict[str, Any] = {"age": {"role": QI, "intervals": "free"}, "place": PLACE, "diagnosis": "sensitive"}
MERGED: list[tuple[list[Cell], list[Cell]]] = [  # two clusters; of the first, the last record does not show its place
    (["30", "Wichita", "flu"], ["30-35", "Kansas", "flu"]),
    (["35", "Kansas City", "cold"], ["30-35", "Kansas", "cold"]),
    (["31", "San Diego", "flu"], ["30-35", None, "flu"]),
    (["50", "Lincoln", "flu"], ["50-52", "Lincoln", "flu"]),
    (["52", "Lincoln", "flu"], ["50-52", "Lincoln", "flu"]),
    (["51", "Lincoln", "gout"], ["50-52", "Lincoln", "gout"]),
]


def merged(tmp_path: Path, k: int = 3, **plan: Any) -> Release:
    attributes = plan.pop("attributes", PATIENTS)
    return table(tmp_path, attributes, MERGED, k, facts={"suppressed_cells": {"place": 1}}, **(SUPPRESS | plan))


def test_suppressed_cells_match_anything(tmp_path: Path) -> None:
    release = merged(tmp_path)
    assert release.facts["smallest_group"] == 3
    for found in every_way(release):
        assert found.kept, found
        assert found["k"].found == "3 where a missing cell matches anything, 1 where it is a value of its own"
        assert found["suppressed"].found == "1 of place"
        assert found["counts"].found == "6 rows in 3 groups of 1 to 3"


def test_missing_is_a_value_of_its_own_where_the_plan_does_not_say_otherwise(tmp_path: Path) -> None:
    release = merged(tmp_path)
    del release.plan["missing"]
    release.plan["method"] = "utility"
    release.facts = {}
    found = release.check(original=False, link=False)
    assert broken(found) == ["k"]
    assert found["k"].found == 1
    assert broken(release.verify(link=False)) == ["hierarchy", "k"]
    assert broken(release.verify()) == ["hierarchy", "k", "truthful"]


def test_a_row_that_matches_too_few_is_refused(tmp_path: Path) -> None:
    release = merged(tmp_path)
    release.data[3][0] = "31"  # true, but matches nobody
    for found in every_way(release):
        assert "k" in broken(found)
        assert str(found["k"].found).startswith("1")
    release = merged(tmp_path)
    release.data[3][1] = "California"  # true as well
    assert "k" in broken(release.check(original=False, link=False))


@pytest.mark.parametrize("wrong", [1, 2, 4])
def test_the_smallest_group_of_the_facts_is_the_least_number_of_matching_rows(tmp_path: Path, wrong: int) -> None:
    release = merged(tmp_path)
    release.facts["smallest_group"] = wrong
    for found in every_way(release):
        assert broken(found) == ["counts"]
        assert f"smallest_group is 3, facts.json says {wrong}" in str(found["counts"].found)


def test_matching_is_not_passed_on(tmp_path: Path) -> None:
    """A row without a place matches both others, which do not match each other."""
    rows: list[tuple[list[Cell], list[Cell]]] = [
        (["F", "Wichita"], ["F", "Wichita"]),
        (["F", "Lincoln"], ["F", "Lincoln"]),
        (["F", "Lincoln"], ["F", None]),
    ]
    release = table(
        tmp_path, {"sex": QI, "place": PLACE}, rows, 3, facts={"suppressed_cells": {"place": 1}}, **SUPPRESS
    )
    found = release.check()
    assert broken(found) == ["k"]
    assert found["k"].found == "2 where a missing cell matches anything, 1 where it is a value of its own"


def test_p_counts_the_values_of_matching_rows(tmp_path: Path) -> None:
    release = merged(tmp_path)
    release.plan["privacy"] = {"k": 3, "p": 2}
    for found in every_way(release):
        assert found.kept, found
        assert found["p"].found == "2 or more where a missing cell matches anything, 1 where it is a value of its own"
    release.data[2][2] = "flu"  # the cold is lost
    found = release.check(original=False, link=False)
    assert broken(found) == ["p"]
    assert found["p"] == Promise("p", 2, 1, kept=False)


def test_p_without_missing_cells_is_as_ever(tmp_path: Path) -> None:
    rows: list[tuple[list[Cell], list[Cell]]] = [(["F", x], ["F", x]) for x in ("flu", "cold")]
    attributes = {"sex": QI, "diagnosis": "sensitive"}
    for p in (2, 1):
        release = table(tmp_path, attributes, rows, privacy={"k": 2, "p": p}, missing="matches-any")
        found = release.check()
        assert found.kept
        assert found["k"].found == 2
        if p == 2:
            assert found["p"].found == 2


def test_other_models_look_at_groups_of_equal_rows(tmp_path: Path) -> None:
    rows: list[tuple[list[Cell], list[Cell]]] = [
        ([sex, value], [sex, value]) for sex, value in (("F", "flu"), ("F", "cold"), (None, "flu"), (None, "flu"))
    ]
    attributes = {"sex": QI, "diagnosis": "sensitive"}
    release = table(tmp_path, attributes, rows, privacy={"k": 2, "l": 2}, missing="matches-any")
    found = release.check()
    assert broken(found) == ["l"]
    assert found["l"].found == 1
    release = table(tmp_path, attributes, rows, privacy={"k": 2, "p": 2}, missing="matches-any")
    assert release.check().kept


# -- suppressed cells ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "refused"),
    [
        ({"place": 1}, [False, False, False]),
        ({"place": 1, "age": 0}, [False, False, False]),
        ({"place": 2}, [True, True, True]),  # only one cell is missing
        ({}, [False, True, True]),  # the cell could have been missing before
        ({"place": 0}, [False, True, True]),
        ({"place": -1}, [True, True, True]),
        ({"place": True}, [True, True, True]),
        ({"place": 1.0}, [True, True, True]),
        ({"place": "1"}, [True, True, True]),
        ({"place": 1, "age": 1}, [True, True, True]),
        ({"place": 1, "diagnosis": 0}, [True, True, True]),  # is never suppressed
        (1, [True, True, True]),
        (None, [True, True, True]),
    ],
)
def test_suppressed_cells_are_counted(tmp_path: Path, claim: Any, refused: list[bool]) -> None:
    release = merged(tmp_path)
    release.facts["suppressed_cells"] = claim
    assert [broken(found) for found in every_way(release)] == [["suppressed"] if no else [] for no in refused]


def test_suppressed_cells_must_be_counted(tmp_path: Path) -> None:
    release = merged(tmp_path)
    release.facts["suppressed_cells"] = None
    found = release.check()
    assert broken(found) == ["suppressed"]
    assert "facts.json has no 'suppressed_cells'" in str(found["suppressed"].found)


def test_cells_that_were_missing_before_are_not_suppressed(tmp_path: Path) -> None:
    release = merged(tmp_path)
    release.original[3][1] = None
    for found in every_way(release)[:2]:  # without the link it could be another cell
        assert found.kept, found
    assert broken(release.verify()) == ["suppressed"]
    release.facts["suppressed_cells"] = {"place": 0}
    assert all(found.kept for found in every_way(release))
    for row in release.original[1:3]:
        row[1] = None
    for row in release.data[1:3]:
        row[1] = None  # three are missing, which all were before
    assert all(found.kept for found in every_way(release))
    for row in release.original[4:]:
        row[1] = None
    for row in release.data[4:6]:
        row[1] = None  # five of six, and none of the original has a place
    release.data[6][1] = "United States"
    release.facts["suppressed_cells"] = {"place": 1}
    assert broken(release.check(original=False, link=False)) == []
    assert broken(release.verify(link=False)) == broken(release.verify()) == ["suppressed"]


def test_a_column_with_a_limit_is_never_suppressed(tmp_path: Path) -> None:
    limited = PATIENTS | {"place": PLACE | {"limit": {"level": 1}}}
    release = merged(tmp_path, attributes=limited)
    assert broken(release.check(original=False, link=False)) == ["suppressed"]  # the facts admit it
    assert broken(release.verify(link=False)) == ["hierarchy", "suppressed"]
    found = release.verify()
    assert broken(found) == ["hierarchy", "suppressed", "truthful"]
    assert found["truthful"].found == "place: 1 cells, first in row 3"
    assert "place: none may be made missing" in str(found["suppressed"].found)
    release.facts["suppressed_cells"] = {}
    assert broken(release.check(original=False, link=False)) == []  # it may have been missing before
    assert broken(release.verify(link=False)) == ["hierarchy", "suppressed"]
    assert broken(release.verify()) == ["hierarchy", "suppressed", "truthful"]
    release.original.append(["53", None, "flu"])  # somebody else's place was missing, who is withheld
    release.facts["suppressed_cells"] = {"place": 0}
    release.link = [[i, i] for i in range(1, 7)]
    assert broken(release.check(link=False)) == []
    assert broken(release.verify()) == ["suppressed", "truthful"]


def test_a_limited_free_interval_is_never_suppressed(tmp_path: Path) -> None:
    limited = PATIENTS | {"age": {"role": QI, "intervals": "free", "limit": {"cuts": [40]}}}
    release = merged(tmp_path, attributes=limited)
    assert all(found.kept for found in every_way(release))
    release.data[1][0] = None
    release.facts["suppressed_cells"] = {"place": 1, "age": 1}
    assert broken(release.check()) == ["hierarchy", "suppressed", "truthful"]


def test_a_free_interval_without_a_limit_may_be_suppressed(tmp_path: Path) -> None:
    release = merged(tmp_path)
    release.data[3][0] = None
    release.facts |= {"suppressed_cells": {"place": 1, "age": 1}}
    for found in every_way(release):
        assert found.kept, found


@pytest.mark.parametrize("missing", ["own-value", "matches-any"])
def test_without_suppress_no_cell_may_be_made_missing(tmp_path: Path, missing: str) -> None:
    rows: list[tuple[list[Cell], list[Cell]]] = [
        (["F", "Lincoln"], ["F", None]),
        (["F", "Lincoln"], ["F", None]),
        (["F", None], ["F", None]),
    ]
    release = table(tmp_path, {"sex": QI, "place": PLACE}, rows, 2, missing=missing)
    assert release.check(original=False, link=False).kept
    assert broken(release.verify(link=False)) == []  # some place is missing in the original
    assert release.verify(link=False)["possible"].found == "2 rows can have no record of their own"
    assert broken(release.verify()) == ["truthful"]
    release.facts["suppressed_cells"] = {"place": 2}  # not even if it is admitted
    assert broken(release.check()) == ["truthful"]
    for found in every_way(release):
        assert found["facts"].found == "1 facts that a release with this plan does not have"


def test_a_lie_in_a_cell_that_is_not_missing_is_still_found(tmp_path: Path) -> None:
    release = merged(tmp_path)
    for row in release.data[4:]:
        row[1] = "Kansas"
    assert broken(release.check()) == ["truthful"]
    for row in release.data[4:]:
        row[1] = "Sector 7"
    assert broken(release.check()) == ["hierarchy", "truthful"]


def test_a_lost_column_breaks_what_is_said_of_its_cells(tmp_path: Path) -> None:
    release = merged(tmp_path)
    release.data = [[row[0], row[2]] for row in release.data]
    found = release.check(original=False, link=False)
    assert broken(found)[:2] == ["roles", "suppressed"]
    assert "missing columns: place" in str(found["suppressed"].found)


def test_no_value_of_a_record_is_in_what_was_found(tmp_path: Path) -> None:
    release = merged(tmp_path, rules=[{"name": "states", "attribute": "place", "keep_apart": ["Kansas", "Nebraska"]}])
    release.plan["method"] = release.plan["method"] | {"overlap": "forbidden"}
    for row in release.data[4:]:
        row[0] = "33-52"
    release.facts["suppressed_cells"] = {"place": 4}
    found = release.check()
    assert broken(found) == ["suppressed", "overlap", "rules"]
    for value in ("30-35", "33-52", "Kansas", "Lincoln", "flu", "gout"):
        assert value not in repr(found)


# -- ranges that overlap -------------------------------------------------------------------------------------------------


def ranges(tmp_path: Path, labels: list[Cell], overlap: str = "forbidden", **attribute: Any) -> Release:
    """Two records for every range, at its ends."""
    rows: list[tuple[list[Cell], list[Cell]]] = []
    for label in labels:
        span = read_span(label)
        assert span is not None
        inner = span.high if span.style != "half-open" else span.low
        rows += [([float(end)], [label]) for end in (span.low, inner)]
    age = {"role": QI, "intervals": "free"} | attribute
    return table(tmp_path, {"age": age}, rows, method={"name": "euclidean", "overlap": overlap})


@pytest.mark.parametrize(
    ("labels", "attribute", "crossing"),
    [
        (["10-19", "20-29"], {}, 0),
        (["10-19", "12-15", "10-30", "13", "31-40"], {}, 3),  # one within the other
        (["10-20", "20-29"], {}, 1),  # 20 is in both
        (["10-20", "15-29", "19-40"], {}, 2),
        (["10-20", "10-25", "15-25"], {}, 2),
        (["[1.5, 2]", "[2, 3]"], {}, 1),
        (["[1.5, 2]", "[2.1, 3]", "2"], {}, 1),
        (["[1.5, 2]", "[2.1, 3]", "4"], {}, 0),
        (["[1, 2)", "[2, 3)"], {"snap": "0.5"}, 0),
        (["[1, 2)", "[2, 3)", "[1, 3)"], {"snap": "0.5"}, 2),
        (["[1, 2.5)", "[2, 3)"], {"snap": "0.5"}, 1),
    ],
)
def test_ranges_that_overlap_are_refused(
    tmp_path: Path, labels: list[Cell], attribute: dict[str, Any], crossing: int
) -> None:
    for found in every_way(ranges(tmp_path, labels, **attribute)):
        assert broken(found) == (["overlap"] if crossing else [])
        if crossing:
            assert f"age: {crossing} published values overlap others, first in row" in str(found["overlap"].found)
    found = ranges(tmp_path, labels, "allowed", **attribute).check()
    assert found.kept
    assert "overlap" not in [promise.name for promise in found]


def test_overlap_is_asked_of_hierarchies_too(tmp_path: Path) -> None:
    rows: list[tuple[list[Cell], list[Cell]]] = [
        (["30", "31", None], ["30-31", "30-34", None]),
        (["31", "30", None], ["30-31", "30-34", None]),
        (["32", "40", "7"], ["32-33", "40-44", "7-8"]),
        (["33", "41", "8"], ["32-33", "40-44", "7-8"]),
    ]
    free = {"role": QI, "intervals": "free"}
    attributes = {"age": free, "other": AGES, "score": free}
    release = table(tmp_path, attributes, rows, method={"name": "utility", "overlap": "forbidden"})
    for found in every_way(release):
        assert found.kept, found
        assert found["overlap"].found == "so in 3 columns"
    release.data[3][1] = release.data[4][1] = "20-39"
    found = release.check(original=False, link=False)
    assert found["overlap"].found == "other: 1 published values overlap others, first in row 1"
    release.data[3][1] = release.data[4][1] = "40-44"
    release.data[3][2] = release.data[4][2] = "no range"
    assert broken(release.check(original=False, link=False)) == ["hierarchy"]


def test_overlaps_as_defined() -> None:
    """Against a look at every pair: they share a number."""
    dice = random.Random(0)
    for _ in range(300):
        labels = {f"{low}-{low + dice.randint(1, 6)}" for low in dice.choices(range(40), k=dice.randint(0, 7))}
        inside = {label: range(int(label.split("-")[0]), int(label.split("-")[1]) + 1) for label in labels}
        order = sorted(inside, key=lambda label: (inside[label].start, -inside[label].stop))
        expected = {
            label
            for place, label in enumerate(order)
            if any(set(inside[label]) & set(inside[other]) for other in order[:place])
        }
        assert set(in_others(labels)) == expected


def test_an_empty_release_keeps_what_it_says(tmp_path: Path) -> None:
    release = merged(tmp_path, rules=[{"name": "states", "attribute": "place", "keep_apart": ["Kansas", "Nebraska"]}])
    release.plan |= {"method": SUPPRESS["method"] | {"overlap": "forbidden"}, "privacy": {"k": 3, "p": 2}}  # type: ignore[operator]
    release.data = release.data[:1]
    claim = {"name": "states", "attribute": "place", "importance": 1, "kept": True, "groups_breaking": 0}
    release.facts = {"suppressed_cells": {}, "rules": [claim]}
    for found in every_way(release):
        assert found.kept, found


# -- counting matches ----------------------------------------------------------------------------------------------------


def test_a_whole_table_of_masks_is_counted_in_time() -> None:
    """200,000 rows in clusters of five that hide cells in a hundred different ways."""
    dice = np.random.default_rng(0)
    clusters = dice.integers(0, 12, (40_000, 8))
    rows = np.repeat(clusters, 5, axis=0)
    ways = dice.random((100, 8)) < 0.4
    hidden = ways[dice.integers(0, 100, len(rows))] & (dice.random(len(rows)) < 0.3)[:, None]
    hidden[::5] = False
    codes, group_of, sizes = np.unique(np.where(hidden, -1, rows), axis=0, return_inverse=True, return_counts=True)
    matches = Matches(codes, sizes)
    assert len(matches.groups_by_mask) > 50
    assert matches.fewest_rows(5) >= 5
    values = Histograms.of(group_of.reshape(-1), np.arange(len(rows)) % 5, len(sizes), 5)
    assert matches.fewest_values(values, 5) == 5


def test_labels_may_be_more_than_a_key_can_hold() -> None:
    """Nine columns of a million labels each: keys are made shorter on the way."""
    last = 999_999
    assert (last + 1) ** 9 > LARGEST_KEY
    codes = np.full((5, 9), last)
    codes[1, 8] = codes[2, 0] = 0
    codes[3, 4] = codes[4, 8] = -1  # matches the first; matches the first and the second
    matches = Matches(codes, np.array([5, 7, 11, 13, 17]))
    assert matches.rows(1000).tolist() == [5 + 13 + 17, 7 + 17, 11, 13 + 5 + 17, 17 + 5 + 7 + 13]
    assert matches.fewest_rows(5) == 11


def test_more_columns_than_a_byte_has_bits(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(11)]
    rows: list[tuple[list[Cell], list[Cell]]] = [(["x"] * 11, [*["x"] * i, None, *["x"] * (10 - i)]) for i in range(11)]
    facts = {"suppressed_cells": dict.fromkeys(names, 1)}
    release = table(tmp_path, dict.fromkeys(names, QI), rows, 11, facts=facts, **SUPPRESS).write()
    original = pa.table([pa.array(["x"] * 11)] * 11, names=names)
    assert verify_release(release.folder, original, (np.arange(1, 12), np.arange(1, 12))).kept
    release.data[1] = [*release.data[1][:-1], "*"]
    assert broken(release.check()) == ["k", "counts"]
