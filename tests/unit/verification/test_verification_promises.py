"""Promises one by one, over a table in memory: what is asked, what is found in which words, and whether it is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.plan import Plan
from hedgerow.verification.check import conclude, promises
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.row_evidence import RowEvidence
from hedgerow.verification.promises import groups
from hedgerow.verification.promises.agreement import _of_other_columns, check_facts, check_plan, said_by_plan
from hedgerow.verification.promises.counts import check_counts
from hedgerow.verification.promises.groups import _is_count, _pair, _wrongly_listed, check_disclosures, check_k
from hedgerow.verification.promises.limits import check_levels, check_limits
from hedgerow.verification.promises.models import check_models
from hedgerow.verification.promises.overlap import check_overlap
from hedgerow.verification.promises.possible import _by_labels, _lacking_under_labels, check_possible
from hedgerow.verification.promises.risks import _wrong_end_points, check_risks
from hedgerow.verification.promises.rules import check_rules
from hedgerow.verification.promises.suppression import check_suppressed
from hedgerow.verification.promises.truth import check_hierarchy, check_roles, check_truthful, check_unchanged
from hedgerow.verification.reading.link import Link
from hedgerow.verification.reading.original import Original
from hedgerow.verification.reading.published import Published
from hedgerow.verification.result import Promise, Verification, by_meaning_of_missing

QI = "quasi-identifier"
TREE = {"any": {"x": ["a", "b"], "y": ["c", "d"]}}
CITY = {"role": QI, "hierarchy": {"tree": TREE}}
Cells = dict[str, list[Any]]


def plan_of(attributes: dict[str, Any] | None = None, **parts: Any) -> Plan:
    return Plan.from_dict({"attributes": attributes or {"x": QI, "s": "sensitive"}, "privacy": {"k": 2}} | parts)


def texts(cells: list[Any]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells, pa.string())])


def evidence(
    plan: Plan,
    data: Cells,
    facts: dict[str, Any] | None = None,
    original: Cells | None = None,
    link: list[int] | None = None,
    header: tuple[str, ...] | None = None,
) -> RowEvidence:
    """A release with its original; ``link`` says which record, from 1, is behind each row."""
    rows = len(next(iter(data.values())))
    columns = {name: texts(cells) for name, cells in data.items()}
    kinds: dict[str, Any] = dict.fromkeys(data, "text")
    published = Published(plan, facts or {}, (), header or tuple(data), columns, kinds, rows)
    source = None
    if original is not None:
        records = len(next(iter(original.values())))
        known: dict[str, Any] = dict.fromkeys(original, "text")
        source = Original({name: texts(cells) for name, cells in original.items()}, known, records)
    tied = None if link is None else Link(np.array(link, np.int64), np.arange(1, len(link) + 1))
    return RowEvidence(published, source, tied)


def said(promise: Promise) -> tuple[Any, bool]:
    return promise.found, promise.kept


# -- roles, nodes, groups ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (("x", "s"), "exactly these"),
        (("s", "x"), "these columns in another order"),
        (("x", "s", "x"), "1 repeated columns"),
        (("x", "s", "n", "n"), "columns that must never be released: n; 1 repeated columns"),
        (("x", "z", "w"), "missing columns: s; 2 columns that the plan does not name"),
        (("x", "s", "p"), "columns that must never be released: p"),
        (("x", "s", "k"), "columns that must never be released: k"),
    ],
)
def test_roles(header: tuple[str, ...], found: str) -> None:
    plan = plan_of(
        {"n": "identifier", "p": "identifier", "k": "identifier", "x": QI, "s": "sensitive"}, person="p", key="k"
    )
    data = {name: ["a"] for name in dict.fromkeys(header)}
    promise = check_roles(evidence(plan, data, header=header).published)
    assert (promise.asked, *said(promise)) == ("2 columns: x, s", found, found == "exactly these")


def test_nodes_of_hierarchies() -> None:
    plan = plan_of(
        {"x": CITY, "s": {"role": "sensitive", "hierarchy": {"tree": {"all": ["u", "v"]}}}, "t": "sensitive"}
    )
    good = evidence(plan, {"x": ["x", "a"], "s": ["u", "V"], "t": ["1", "2"]})
    assert check_hierarchy(good) == Promise("hierarchy", "nodes of the hierarchies", "only such", kept=True)
    bad = evidence(plan, {"x": ["x", "z", "z"], "s": ["u", "u", "w"], "t": ["1", "2", "3"]})
    assert said(check_hierarchy(bad)) == ("x: 2 cells, first in row 2; s: 1 cells, first in row 3", False)
    known = evidence(
        plan,
        good_cells := {"x": ["x", "y"], "s": ["u", "v"], "t": ["1", "2"]},
        original={**good_cells, "x": ["a", "b"]},
    )
    found = check_hierarchy(known)
    assert found.asked == "nodes of the hierarchies that values of the original lie under"
    assert said(found) == ("x: 1 cells, first in row 2", False)


def test_sizes_of_groups() -> None:
    for cells, found, kept in ((["a", "a", "b", "b"], 2, True), (["a", "a", "b"], 1, False), ([], "no groups", True)):
        assert said(check_k(evidence(plan_of(), {"x": cells, "s": ["u"] * len(cells)}))) == (found, kept)
    three = plan_of(privacy={"k": 3})
    assert said(check_k(evidence(three, {"x": ["a"] * 3, "s": ["u"] * 3}))) == (3, True)


def test_groups_where_a_missing_cell_matches_anything() -> None:
    plan = plan_of(missing="matches-any")
    cells: Cells = {"x": ["a", "b", None], "s": ["u"] * 3}
    words = "2 where a missing cell matches anything, 1 where it is a value of its own"
    assert said(check_k(evidence(plan, cells))) == (words, True)
    assert said(check_k(evidence(plan_of(), cells))) == (1, False)


@pytest.mark.parametrize(("persons", "fewest"), [("PQRS", 2), ("PPRS", 1)])
def test_groups_of_persons(persons: str, fewest: int) -> None:
    plan = plan_of({"p": "identifier", "x": QI, "s": "sensitive"}, person="p")
    data: Cells = {"x": ["a", "a", "b", "b"], "s": ["u"] * 4}
    linked = evidence(plan, data, original={**data, "p": list(persons)}, link=[1, 2, 3, 4])
    assert check_k(linked) == Promise("k", "2 persons", f"{fewest} persons", kept=fewest >= 2)
    words = "2 records; persons could not be counted without the original and a sound link table"
    assert said(check_k(evidence(plan, data))) == (words, True)
    for stated in (1, 2, 3):
        found = check_k(evidence(plan, data, {"smallest_group_persons": stated}))
        assert said(found) == (f"{words}, facts.json says {stated}", stated >= 2)
    few = evidence(plan, {"x": ["a", "b", "b"], "s": ["u"] * 3}, {"smallest_group_persons": 2})
    assert not check_k(few).kept


# -- limits and levels -------------------------------------------------------------------------------------------------

LIMITED = {"x": {**CITY, "limits": ["x"]}, "s": "sensitive"}


def limits(
    facts: dict[str, Any], keep: bool = True, linked: bool = False, labels: str = "x any any"
) -> tuple[Any, ...]:
    """Of a, a and c the last may be any; in x nobody may."""
    plan = plan_of(LIMITED, method={"limits": "keep" if keep else "ignore"})
    data: Cells = {"x": labels.split(), "s": ["u"] * 3}
    original: Cells = {"x": ["a", "a", "c"], "s": ["u"] * 3}
    found = evidence(plan, data, facts, original if linked else None, [1, 2, 3] if linked else None)
    promise = check_limits(found)
    return promise.asked, promise.found, promise.kept


def test_limits_without_an_original() -> None:
    more = "for certain; 2 more cells can be judged only with the original and the link table"
    assert limits({"limits_broken": 0}) == (0, f"0 {more}", True)
    assert limits({"limits_broken": 2}) == (0, f"0 {more}", False)
    assert limits({"limits_broken": 2}, keep=False) == ("reported", f"0 {more}", True)
    assert limits({"limits_broken": 3}, keep=False) == ("reported", f"0 {more}; but facts.json says 3", False)
    assert limits({}) == (0, f"0 {more}; but facts.json says nothing", False)
    assert limits({"limits_broken": 0}, labels="x x y") == (0, 0, True)


def test_limits_with_a_link() -> None:
    assert limits({"limits_broken": 1}, linked=True) == (0, "1: x: 1 cells, first in row 2", False)
    assert limits({"limits_broken": 1}, keep=False, linked=True) == ("reported", 1, True)
    assert limits({"limits_broken": 0}, keep=False, linked=True) == ("reported", "1; but facts.json says 0", False)
    assert limits({"limits_broken": 2}, keep=False, linked=True) == ("reported", "1; but facts.json says 2", False)
    assert limits({"limits_broken": 0}, linked=True, labels="x x any") == (0, 0, True)


def test_limits_by_column() -> None:
    def by(**counts: int) -> tuple[Any, ...]:
        return limits({"limits_broken": 1, "limits_broken_by_attribute": counts}, keep=False, linked=True)

    assert by(x=1) == ("reported", 1, True)
    assert by(x=0) == by(x=2) == ("reported", "1; but facts.json counts others of x", False)
    assert by(x=1, z=3) == ("reported", "1; but what facts.json counts by column does not add up", False)
    assert by() == ("reported", 1, True)

    def open_ones(count: int) -> bool:
        facts = {"limits_broken": count, "limits_broken_by_attribute": {"x": count}}
        return bool(limits(facts, keep=False)[2])

    assert [open_ones(count) for count in (0, 1, 2, 3)] == [True, True, True, False]


def test_limits_that_break_for_certain() -> None:
    plan = plan_of({"x": {**CITY, "limits": ["x", "y"]}, "s": "sensitive"})
    found = evidence(plan, {"x": ["any", "x", "any"], "s": ["u"] * 3}, {"limits_broken": 2})
    assert said(check_limits(found)) == ("2: x: 2 cells, first in row 1", False)


def levels(stated: Any, labels: list[str | None], method: Any = "lattice") -> tuple[Any, bool]:
    plan = plan_of({"x": {**CITY, "limits": ["x"]}, "s": "sensitive"}, method=method)
    data: Cells = {"x": labels, "s": ["u"] * 3}
    original: Cells = {"x": ["a", "c", None], "s": ["u"] * 3}
    return said(check_levels(evidence(plan, data, {"levels": stated}, original, [1, 2, 3])))


def test_levels() -> None:
    ignore = {"name": "lattice", "limits": "ignore"}
    assert levels({"x": 1}, ["x", "y", "any"]) == ("x 1", True)
    assert levels({"x": 0}, ["a", "c", None]) == ("x 0", True)
    assert levels({"x": 2}, ["x", "any", "any"]) == ("x 2", True)  # each value stops at its limit
    assert levels({"x": 2}, ["any", "any", "any"]) == ("x: 1 cells, first in row 1", False)
    assert levels({"x": 2}, ["any", "any", "any"], ignore) == ("x 2", True)
    assert levels({"x": 1}, ["x", "any", "any"], ignore) == ("x: 1 cells, first in row 2", False)
    assert levels({"x": 1, "z": 1}, ["x", "y", "any"]) == ("facts.json has levels of other columns", False)
    for stated in ({}, {"x": -1}, {"x": True}, {"x": "1"}, None, 5):
        assert levels(stated, ["x", "y", "any"]) == ("facts.json has no level of x", False)


# -- disclosures -------------------------------------------------------------------------------------------------------


def test_what_is_a_count_and_what_a_pair() -> None:
    assert [_is_count(stated, 1) for stated in (1, 2, True, 1.0, None)] == [True, False, False, False, False]
    assert _pair([3, "s"]) == (3, "s")
    wrong: list[Any] = [[3], [3, "s", 1], ["3", "s"], [3, 4], [True, "s"], (3, "s"), None]
    assert [_pair(item) for item in wrong] == [None] * 7


def test_lists_of_disclosures(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"s": {0, 3}, "t": {1}}
    assert list(_wrongly_listed([(3, "s"), (0, "s"), (1, "t")], there, True)) == []
    assert list(_wrongly_listed([(3, "s"), (0, "s")], there, True)) == ["facts.json does not list 1"]
    assert list(_wrongly_listed([(3, "s"), (0, "s"), (2, "t"), None], there, True)) == [
        "facts.json does not list 1",
        "facts.json lists 2 that are none",
    ]
    assert list(_wrongly_listed([(3, "s"), (0, "s"), (1, "t"), (1, "t")], there, True)) == [
        "facts.json lists 1 that are none"
    ]
    # without an order of the rows, only columns count
    assert list(_wrongly_listed([(7, "s"), (8, "s"), (9, "t")], there, False)) == []
    assert list(_wrongly_listed([(7, "s"), (7, "s"), (9, "t")], there, False)) == [
        "facts.json does not list 1",
        "facts.json lists 1 that are none",
    ]
    assert list(_wrongly_listed([(7, "s"), (8, "s"), (9, "s"), None], there, False)) == [
        "facts.json does not list 1",
        "facts.json lists 2 that are none",
    ]
    monkeypatch.setattr(groups, "LISTED", 2)  # the first groups, not the first columns
    assert list(_wrongly_listed([(0, "s"), (1, "t")], there, True)) == []
    assert list(_wrongly_listed([(0, "s"), (3, "s")], there, True)) == [
        "facts.json does not list 1",
        "facts.json lists 1 that are none",
    ]
    assert list(_wrongly_listed([(0, "s"), (3, "s")], there, False)) == []
    assert list(_wrongly_listed([(0, "s"), (3, "s"), (1, "t")], there, False)) == ["facts.json lists 1 that are none"]


def disclosures(stated: Any) -> tuple[Any, bool]:
    """The first group has one value of s, the second two."""
    data: Cells = {"x": ["a", "b", "a", "b"], "s": ["u", "u", "u", "v"]}
    return said(check_disclosures(evidence(plan_of(), data, {"attribute_disclosures": stated})))


def test_disclosures() -> None:
    right: dict[str, Any] = {"count": 1, "by_attribute": {"s": 1}, "listed": [[0, "s"]]}
    assert disclosures(right) == ("1: 1 of s", True)
    assert disclosures(None) == ("facts.json does not say; there are 1", False)
    assert disclosures({**right, "count": 2}) == ("there are 1, facts.json counts others", False)
    assert disclosures({**right, "by_attribute": {}}) == ("there are 1 of s, facts.json counts others", False)
    assert disclosures({**right, "by_attribute": 5}) == ("there are 1 of s, facts.json counts others", False)
    assert disclosures({**right, "by_attribute": {"s": 1, "z": 0}}) == ("facts.json counts other columns", False)
    assert disclosures({**right, "listed": 5}) == ("facts.json does not list 1", False)
    assert disclosures({**right, "listed": [[1, "s"]]})[1] is False


# -- counts and risks --------------------------------------------------------------------------------------------------

FACTS: dict[str, Any] = {
    "records": 6,
    "released": 5,
    "withheld": 1,
    "groups": 2,
    "smallest_group": 2,
    "largest_group": 3,
    "group_sizes": {"2": 1, "3": 1},
    "discernibility": 4 + 9 + 6 * 1,
    "normalized_average_group_size": 6 / (2 * 2),
    "blocks": 5,
    "group_risk_sizes": {"2": 2, "3": 3},
    "largest_share_of_one_value": {"s": 1.0},
}
DATA: Cells = {"x": ["a", "a", "b", "b", "b"], "s": ["u", "u", "u", "v", None]}
WHOLE: Cells = {"x": [*DATA["x"], "b"], "s": [*DATA["s"], "w"]}


def counts(original: bool = False, withhold: Any = None, **facts: Any) -> tuple[Any, bool]:
    stated = {name: value for name, value in (FACTS | facts).items() if value != "left out"}
    plan = plan_of(**({} if withhold is None else {"withhold": {"at_most": withhold}}))
    return said(check_counts(evidence(plan, DATA, stated, WHOLE if original else None)))


def test_counts_that_agree() -> None:
    agrees = ("5 rows in 2 groups of 2 to 3", True)
    assert counts() == counts(original=True) == counts(withhold=1) == agrees
    assert counts(cells=0) == counts(group_sizes="left out", discernibility="left out") == agrees
    assert counts(normalized_average_group_size=1.5 + 1e-10) == agrees
    asked = check_counts(evidence(plan_of(withhold={"at_most": 3}), DATA, FACTS)).asked
    assert asked == "as facts.json says, at most 3 withheld"
    assert check_counts(evidence(plan_of(), DATA, FACTS)).asked == "as facts.json says"


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({"groups": 3}, "groups is 2, facts.json says 3"),
        ({"smallest_group": 1}, "smallest_group is 2, facts.json says 1"),
        ({"largest_group": 4}, "largest_group is 3, facts.json says 4"),
        ({"released": 4, "withheld": 2, "discernibility": 25, "blocks": 4}, "released is 5, facts.json says 4"),
        ({"groups": "left out"}, "facts.json has no number 'groups'"),
        ({"withheld": "left out"}, "facts.json has no number 'withheld'"),
        ({"group_sizes": {"2": 1, "3": 2}}, "facts.json counts other groups by their size"),
        ({"discernibility": 20}, "discernibility is not that of these groups and records"),
        (
            {"normalized_average_group_size": 1.5001},
            "normalized_average_group_size is not that of these groups and records",
        ),
        (
            {"normalized_average_group_size": None},
            "normalized_average_group_size is not that of these groups and records",
        ),
        ({"withheld": 2, "discernibility": 25}, "5 released and 2 withheld are not 6 records"),
        ({"withhold": 0}, "1 of 6 records are withheld"),
        ({"blocks": 6}, "blocks cannot be 6"),
        ({"persons": 7}, "persons cannot be 7"),
        ({"persons": 1, "smallest_group_persons": 2}, "persons cannot be 1"),
        ({"least_rows_for_a_known_person": 6}, "least_rows_for_a_known_person cannot be 6"),
    ],
)
def test_counts_that_do_not_agree(facts: dict[str, Any], found: str) -> None:
    assert counts(**facts) == (found, False)


def test_bounds_of_what_cannot_be_counted() -> None:
    assert counts(persons=6)[1]
    assert counts(persons=2, smallest_group_persons=2)[1]
    assert counts(least_rows_for_a_known_person=5)[1]
    assert counts(original=True, records=7, withheld=2, discernibility=27, normalized_average_group_size=7 / 4) == (
        "records is 6, facts.json says 7",
        False,
    )


def test_counts_of_nothing() -> None:
    facts: dict[str, Any] = {**dict.fromkeys(FACTS, 0), "group_sizes": {}, "normalized_average_group_size": None}
    empty = evidence(plan_of(), {"x": [], "s": []}, facts)
    assert said(check_counts(empty)) == ("0 rows in 0 groups of 0 to 0", True)
    facts["normalized_average_group_size"] = 0
    assert not check_counts(evidence(plan_of(), {"x": [], "s": []}, facts)).kept
    facts |= {"normalized_average_group_size": None, "persons": 0, "smallest_group_persons": 5}
    assert check_counts(evidence(plan_of(), {"x": [], "s": []}, facts)).kept


def test_risks() -> None:
    def risks(plan: Plan | None = None, data: Cells = DATA, **facts: Any) -> tuple[Any, bool]:
        return said(check_risks(evidence(plan or plan_of(), data, FACTS | facts)))

    same = ("the same, counted again", True)
    assert risks() == same
    other = ("facts.json counts other rows by how many are alike", False)
    assert risks(group_risk_sizes={"2": 3, "3": 2}) == other
    assert risks(group_risk_sizes=None) == ("facts.json does not count the rows by how many are alike", False)
    share = ("one value of s has another share at most than facts.json says", False)
    for stated in (0.99, True, "1", None):
        assert risks(largest_share_of_one_value={"s": stated}) == share
    assert risks(largest_share_of_one_value=5) == share
    assert risks(largest_share_of_one_value={"s": 1 - 1e-10}) == same
    persons = plan_of({"p": "identifier", "x": QI, "s": "sensitive"}, person="p")
    assert risks(persons, group_risk_sizes={"1": 5}) == same
    assert risks(persons, group_risk_sizes={"1": 4}) == other
    anything = plan_of(missing="matches-any")
    missing: Cells = {"x": ["a", "b", "b", None], "s": ["u", "v", "w", "w"]}
    assert risks(anything, missing, group_risk_sizes={"2": 1, "3": 2, "4": 1}) == same
    assert risks(plan_of(), missing, group_risk_sizes={"1": 2, "2": 2}) == same


# -- suppressed cells, ends, overlaps, rules ---------------------------------------------------------------------------


def suppressed(stated: Any, linked: bool | None = None, limit: bool = False) -> tuple[Any, bool]:
    """Two of three cells are missing; one was before."""
    attribute: dict[str, Any] = {"role": QI, **({"limit": {"level": 0}} if limit else {})}
    plan = plan_of(
        {"x": attribute, "s": "sensitive"}, method={"name": "utility", "suppress": True}, missing="matches-any"
    )
    data: Cells = {"x": ["a", None, None], "s": ["u"] * 3}
    original: Cells = {"x": ["a", "b", None], "s": ["u"] * 3}
    known = None if linked is None else original
    return said(
        check_suppressed(evidence(plan, data, {"suppressed_cells": stated}, known, [1, 2, 3] if linked else None))
    )


def test_suppressed_cells() -> None:
    none, wrong = ("none", True), "cells were made missing, facts.json says otherwise"
    assert [suppressed({"x": count})[1] for count in (0, 1, 2, 3)] == [True, True, True, False]
    assert suppressed({"x": 3}) == (f"x: 0 to 2 {wrong}", False)
    assert [suppressed({"x": count}, linked=False)[1] for count in (0, 1, 2, 3)] == [False, True, True, False]
    assert [suppressed({"x": count}, linked=True)[1] for count in (0, 1, 2)] == [False, True, False]
    assert suppressed({"x": 2}, linked=True) == (f"x: 1 {wrong}", False)
    assert suppressed({"x": 1}) == ("1 of x", True)
    assert suppressed({"x": 0}) == suppressed({}) == none
    assert suppressed({"x": True}) == (f"x: 0 to 2 {wrong}", False)
    assert suppressed({"x": 0, "z": 1}) == ("facts.json counts other columns", False)
    assert suppressed(None) == ("facts.json has no 'suppressed_cells'", False)
    assert suppressed({"x": 1}, limit=True) == ("x: none may be made missing", False)
    assert suppressed({"x": 0}, limit=True) == none
    assert suppressed({"x": 1}, linked=True, limit=True) == ("x: none may be made missing", False)


FREE = {"x": {"role": QI, "intervals": "free"}, "s": "sensitive"}


def test_exact_ends() -> None:
    data: Cells = {"x": ["3-5", "3-5", "7", None], "s": ["u"] * 4}
    original: Cells = {"x": ["3", "4", "7", None], "s": ["u"] * 4}

    def ends(stated: int, linked: bool = False, attributes: Any = None, there: Cells = data) -> list[str]:
        given = (original, [1, 2, 3, 4]) if linked else (None, None)
        return _wrong_end_points(
            evidence(plan_of(attributes or FREE), there, {"exact_end_points": {"x": stated}}, *given)
        )

    assert [not ends(count) for count in (0, 1, 3, 4)] == [False, True, True, False]
    assert ends(0) == ["x: 1 to 3 published ends are exact, facts.json says otherwise"]
    assert [not ends(count, linked=True) for count in (1, 2, 3)] == [False, True, False]
    assert ends(3, linked=True) == ["x: 2 published ends are exact, facts.json says otherwise"]
    grid = {"x": {"role": QI, "intervals": "free", "snap": 5}, "s": "sensitive"}
    on_grid: Cells = {"x": ["0-4", "5-9"], "s": ["u"] * 2}
    assert [not ends(count, attributes=grid, there=on_grid) for count in (0, 1)] == [True, False]
    assert _wrong_end_points(evidence(plan_of(FREE), data)) == []


def test_overlaps() -> None:
    plan = plan_of({**FREE, "y": QI})

    def overlap(*labels: str | None) -> tuple[Any, bool]:
        return said(check_overlap(evidence(plan, {"x": list(labels), "y": ["1-3"] * len(labels)})))

    assert overlap("1-5", "6-9", "6-9", None) == ("so in 2 columns", True)
    assert overlap("1-5", "8-9", "4-7") == ("x: 1 published values overlap others, first in row 3", False)
    assert overlap("1-5", "6-9", "2-3") == ("x: 1 published values overlap others, first in row 3", False)


def test_nodes_above_others_overlap() -> None:
    def overlap(*labels: str | None, **more: Any) -> tuple[Any, bool]:
        plan = plan_of({"x": CITY, "s": "sensitive"}, **more)
        return said(check_overlap(evidence(plan, {"x": list(labels), "s": ["u"] * len(labels)})))

    assert overlap("x", "y", "y") == ("so in 1 columns", True)
    assert overlap("a", "y", "x") == ("x: 1 published values overlap others, first in row 1", False)
    assert overlap("y", "any", None) == ("x: 2 published values overlap others, first in row 1", False)
    hides = {"method": {"name": "utility", "suppress": True}, "missing": "matches-any"}
    assert overlap("any", None, **hides) == ("so in 1 columns", True)


def test_rules() -> None:
    plan = plan_of({"x": CITY, "s": "sensitive"}, rules=[{"name": "apart", "attribute": "x", "keep_apart": ["a", "c"]}])
    right = {"name": "apart", "attribute": "x", "importance": 1, "kept": False, "groups_breaking": 1}
    data: Cells = {"x": ["any", "any", "x", None], "s": ["u"] * 4}

    def rules(stated: Any, there: Cells = data) -> tuple[Any, bool]:
        return said(check_rules(evidence(plan, there, {"rules": stated})))

    title, importance = plan.rules[0].title, plan.rules[0].importance
    right |= {"name": title, "importance": float(importance)}
    assert rules([right]) == (f"0 of 1 kept; broken: {title} (1 groups)", True)
    kept = {**right, "kept": True, "groups_breaking": 0}
    assert rules([kept], {"x": ["x", "y"], "s": ["u"] * 2}) == ("1 of 1 kept", True)
    for change in ({"name": "z"}, {"attribute": "z"}, {"importance": 99}, {"kept": True}, {"groups_breaking": 2}):
        (point,) = change
        found = f"{title}: 1 groups break it, facts.json is wrong on {point}"
        assert rules([right | change]) == (found, False)
    assert rules([right | {"groups_breaking": True}])[1] is False
    assert rules([right, right]) == ("the plan has 1 rules, facts.json lists 2", False)
    assert rules([]) == ("the plan has 1 rules, facts.json lists 0", False)
    assert rules(5)[1] is rules([5])[1] is False
    assert rules([right], {"s": ["u"]}) == ("missing column: x", False)


# -- against the original ----------------------------------------------------------------------------------------------


def test_truth() -> None:
    plan = plan_of({"x": CITY, "s": "sensitive"})
    original: Cells = {"x": ["a", "b", "c"], "s": ["u", "v", "w"]}

    def truth(labels: list[str], values: list[str], link: list[int]) -> tuple[Any, bool]:
        found = evidence(plan, {"x": labels, "s": values}, None, original, link)
        assert found.original is not None
        return said(check_truthful(found, found.original))

    assert truth(["x", "y"], ["v", "w"], [2, 3]) == ("all cells of 2 rows", True)
    assert truth(["x", "x"], ["v", "w"], [2, 3]) == ("x: 1 cells, first in row 2", False)
    assert truth(["x", "y"], ["u", "w"], [2, 3]) == ("s: 1 cells, first in row 1", False)
    assert truth(["x", "y"], ["u", "w"], [2, 9])[0] == "1 links point outside the release or the original"


def test_values_that_are_released_as_they_are() -> None:
    original: Cells = {"x": ["a", "b", "c"], "s": ["u", "v", "v"]}
    for values, found in ((["v", "v"], "so in 1 columns"), (["u", "u"], "s: 1 cells too many")):
        there = evidence(plan_of(), {"x": ["a", "b"], "s": values}, None, original)
        assert there.original is not None
        assert said(check_unchanged(there, there.original)) == (found, found.startswith("so"))


def test_records_under_every_label() -> None:
    plan = plan_of({"x": CITY, "y": QI, "s": "sensitive"})
    original: Cells = {"x": ["a", "b", "c", None], "y": ["1", "1", "2", "2"], "s": ["u"] * 4}

    def lacking(*labels: str | None) -> tuple[int, Promise]:
        data: Cells = {"x": list(labels), "y": ["1", "1", "2"], "s": ["u"] * 3}
        found = evidence(plan, data, None, original)
        assert found.original is not None
        return _lacking_under_labels(found, found.original, "x"), _by_labels(found, found.original, "asked")

    short, promise = lacking("x", "x", "any")
    assert (short, promise.kept) == (0, True)
    assert str(promise.found).startswith("not decided")
    short, promise = lacking("x", "y", "y")
    assert (short, said(promise)) == (1, ("x: 1 rows more than there are records under a label", False))
    assert lacking("a", "a", "a")[0] == 2
    assert lacking(None, None, "x")[0] == 1


def test_rows_that_stop_at_their_limit_are_possible() -> None:
    plan = plan_of(LIMITED, method="lattice")
    data: Cells = {"x": ["x", "any"], "s": ["u"] * 2}
    found = evidence(plan, data, {"levels": {"x": 2}}, {"x": ["a", "c"], "s": ["u"] * 2})
    assert found.original is not None
    assert said(check_possible(found, found.original)) == ("so for all 2 rows", True)


def test_quasi_identifiers_that_the_release_lacks() -> None:
    found = evidence(plan_of({"x": QI, "y": QI, "s": "sensitive"}), {"x": ["a", "a"], "s": ["u", "v"]})
    assert found.published.quasi_identifiers == ("x",)
    assert said(check_k(found)) == (2, True)


# -- all together ------------------------------------------------------------------------------------------------------


def names(found: Evidence) -> list[str]:
    return [promise.name for promise in promises(found)]


def test_which_promises_are_checked() -> None:
    always = ["plan", "facts", "roles", "hierarchy", "k"]
    after = ["counts", "disclosures", "risks"]
    original: Cells = {"x": ["a", "a"], "s": ["u", "v"]}
    data: Cells = {"x": ["a", "a"], "s": ["u", "v"]}
    assert names(evidence(plan_of(), data)) == [*always, "limits", *after]
    assert names(evidence(plan_of(), data, None, original)) == [*always, "limits", *after, "unchanged", "possible"]
    assert names(evidence(plan_of(), data, None, original, [1, 2])) == [*always, "limits", *after, "truthful"]
    models = plan_of(privacy={"k": 2, "p": 2, "alpha": 0.5})
    assert names(evidence(models, data)) == [*always, "p", "alpha", "limits", *after]
    suppress = plan_of(method={"name": "utility", "suppress": True}, missing="matches-any")
    assert names(evidence(suppress, data)) == [*always, "limits", "suppressed", *after]
    lattice = plan_of(method="lattice")
    assert names(evidence(lattice, data)) == [*always, "limits", *after]
    assert names(evidence(lattice, data, None, original, [1, 2])) == [*always, "limits", "levels", *after, "truthful"]
    assert "levels" not in names(evidence(lattice, data, None, original, [1, 9]))


def test_facts_that_were_found_again() -> None:
    data: Cells = {"x": ["a", "a"], "s": ["u", "v"]}
    facts = {"k": 2, "released": 2, "records": 2, "limits_broken": 0, "loss": 0.5}
    told = {
        "alone": conclude(evidence(plan_of(), data, facts), "here"),
        "original": conclude(evidence(plan_of(), data, facts, data), "here"),
        "link": conclude(evidence(plan_of(), data, facts, data, [1, 2]), "here"),
    }
    assert {name: (found.recounted, found.makers_word) for name, found in told.items()} == {
        "alone": (("k", "released"), ("records", "limits_broken", "loss")),
        "original": (("k", "records", "released"), ("limits_broken", "loss")),
        "link": (("k", "records", "released", "limits_broken"), ("loss",)),
    }
    assert told["alone"].place == "here"


def test_models_over_several_columns() -> None:
    attributes = {"x": QI, "s": "sensitive", "t": "sensitive"}
    data: Cells = {"x": ["a", "a"], "s": ["u", "v"], "t": ["w", "w"]}

    def judged(privacy: dict[str, Any], there: Cells = data) -> list[tuple[Any, Any, bool]]:
        plan = plan_of(attributes, privacy={"k": 2} | privacy)
        return [(promise.asked, promise.found, promise.kept) for promise in check_models(evidence(plan, there))]

    assert judged({}) == []
    assert judged({"p": 2}) == [(2, 1, False)]
    assert judged({"p": 2}, {**data, "t": ["w", "z"]}) == [(2, 2, True)]
    assert judged({"alpha": 0.5}) == [("a share of at most 0.5 of s, t", "1", False)]
    assert judged({"p": 2}, {"x": ["a"], "s": ["u"]}) == [(2, "missing columns: t", False)]
    assert judged({"p": 2}, {"x": [], "s": [], "t": []}) == [(2, "no groups", True)]


# -- the plan and the facts --------------------------------------------------------------------------------------------


def test_facts_that_follow_from_the_plan() -> None:
    plan = plan_of(method="lattice", missing="matches-any")
    right = said_by_plan(plan)
    assert {"objective", "missing"} <= set(right)
    assert not {"objective", "missing"} & set(said_by_plan(plan_of()))
    assert said_by_plan(plan_of(LIMITED, method={"limits": "ignore"}))["limits"] == "ignored"

    def agrees(facts: dict[str, Any]) -> tuple[Any, bool]:
        return said(check_plan(evidence(plan, {"x": ["a"], "s": ["u"]}, facts).published))

    assert agrees(right) == ("this plan, and the same in both", True)
    unnamed = "facts.json does not name this plan by its fingerprint"
    assert agrees({**right, "plan": "z"}) == (unnamed, False)
    assert agrees({name: value for name, value in right.items() if name != "plan"}) == (unnamed, False)
    assert agrees({**right, "k": True, "seed": -1}) == ("facts.json says otherwise on seed, k", False)


def test_the_order_of_a_fact_means_nothing() -> None:
    plan = plan_of(privacy={"k": 2, "p": 2})
    right = said_by_plan(plan)
    turned = {**right, "privacy": dict(reversed(right["privacy"].items()))}
    assert list(turned["privacy"]) != list(right["privacy"])
    assert check_plan(evidence(plan, {"x": ["a"], "s": ["u"]}, turned).published).kept


def test_facts_of_other_columns() -> None:
    plan = plan_of({"n": "identifier", **LIMITED})

    def faults(**facts: Any) -> int:
        return len(_of_other_columns(evidence(plan, {"x": ["a"], "s": ["u"]}, facts).published))

    limit = plan.attributes["x"].limit
    assert limit is not None
    assert faults() == 0
    assert [faults(loss_by_attribute=by) for by in ({"x": 1}, {}, {"x": 1, "s": 1})] == [0, 1, 1]
    assert [faults(largest_share_of_one_value=by) for by in ({"s": 1}, {"x": 1})] == [0, 1]
    assert [faults(exact_end_points=by) for by in ({}, {"x": 1})] == [0, 1]
    told: list[Any] = [{}, {"x": {"limit": limit.describe()}}, {"x": {"limit": "z"}}, {"x": 5}, {"s": {"limit": "z"}}]
    assert [faults(limits_by_attribute=by) for by in told] == [0, 0, 1, 1, 1]
    left = [["n"], ["n", "z"], [], ["n", "x"], ["n", "n"]]
    assert [faults(columns_not_released=columns) for columns in left] == [0, 0, 1, 1, 1]
    found = check_facts(evidence(plan, {"x": ["a"], "s": ["u"]}, {"columns_not_released": ["n"]}).published)
    assert said(found) == ("1 facts", True)


def test_verifications_in_words() -> None:
    kept, broken = Promise("k", 2, 3, kept=True), Promise("counts", "as stated", "<other>", kept=False)
    found = Verification((kept, broken), "here", ("k",), ("loss",), ("a note",))
    assert (found.kept, found.broken, found["k"]) == (False, (broken,), kept)
    assert str(found) == (
        "Verification(1 of 2 promises broken)\n  kept    k: asked 2, found 3\n"
        "  broken  counts: asked as stated, found <other>\n  on the maker's word: loss\n  a note"
    )
    assert str(Verification((kept,))) == "Verification(kept)\n  kept    k: asked 2, found 3"
    html = found._repr_html_()
    assert html.startswith("<p>1 promises are broken</p>")
    assert "<td>✓</td><td>k</td>" in html
    assert "<td>✗</td><td>counts</td><td>as stated</td><td>&lt;other&gt;</td>" in html
    assert html.endswith("<p>On the maker’s word: loss</p><p>a note</p>")
    assert Verification((kept,))._repr_html_().startswith("<p>Every promise is kept</p>")
    assert Verification((kept,))._repr_html_().endswith("</table>")
    with pytest.raises(KeyError):
        found["limits"]
    assert by_meaning_of_missing(5, 5) == 5


def test_values_without_a_leaf_count_as_nothing() -> None:
    plan = plan_of({"x": QI, "s": {"role": "sensitive", "hierarchy": {"tree": {"all": ["u", "v"]}}}})
    found = evidence(plan, {"x": ["a"] * 4, "s": ["u", "w", "v", None]}).counted("s")
    assert (found.overall.tolist(), found.strays) == ([1, 1], (1, 2))
