"""A release that publishes sets or means of groups is refused where these are not those of its groups."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow.plan import Plan
from tests.cases.counted_releases import Case, make

COLUMN = "school"


def change_group(case: Case, label: Any, other: Any, column: str = COLUMN) -> None:
    """Publish all rows of one group as another set, or another mean."""
    rows = case.released.to_pylist()
    first = next(row for row in rows if row[column] == label)
    alike = [name for name in case.plan.quasi_identifiers if name != column]
    for at, row in enumerate(rows):
        if row[column] == label and all(row[name] == first[name] for name in alike):
            case.change(at, column, other)
    case.link = case.true_link()


def broken(case: Case, rows: bool) -> set[str]:
    return {promise.name for promise in (case.verify_rows() if rows else case.verify()).broken}


@pytest.mark.parametrize("rows", [True, False], ids=["row by row", "counted"])
def test_sets_as_they_were_made_are_kept(rows: bool) -> None:
    case = make("sets")
    found = case.verify_rows() if rows else case.verify()
    assert found.kept
    assert {"group-values", "truthful", "limits"} <= {promise.name for promise in found.promises}
    assert {row[COLUMN] for row in case.released.to_pylist()} == {"1", "2", "3", "1|3", "2|3"}


@pytest.mark.parametrize("rows", [True, False], ids=["row by row", "counted"])
def test_a_set_with_a_value_that_its_group_does_not_have_is_refused(rows: bool) -> None:
    case = make("sets")
    change_group(case, "1", "1|2")
    assert "group-values" in broken(case, rows)


@pytest.mark.parametrize("rows", [True, False], ids=["row by row", "counted"])
def test_a_set_without_a_value_that_its_group_has_is_refused(rows: bool) -> None:
    case = make("sets")
    change_group(case, "1|3", "1")
    assert {"group-values", "truthful"} <= broken(case, rows)


@pytest.mark.parametrize("label", ["3|1", "1|1|3", "1|", "|1", "1|3|X", "*"])
def test_a_set_that_is_none_of_the_column_is_refused(label: str) -> None:
    case = make("sets")
    change_group(case, "1|3", label)
    assert "hierarchy" in broken(case, rows=True)


@pytest.mark.parametrize("label", ["3|1", "1|1|3", "1|"])
def test_a_set_out_of_order_is_refused_even_without_the_original(label: str) -> None:
    case = make("sets")
    change_group(case, "1|3", label)
    assert "hierarchy" in {promise.name for promise in case.verify_rows(link=False, original=False).broken}


def test_without_the_link_nothing_is_said_of_what_groups_have() -> None:
    found = make("sets").verify_rows(link=False)
    assert found.kept
    assert "group-values" not in {promise.name for promise in found.promises}


@pytest.mark.parametrize("rows", [True, False], ids=["row by row", "counted"])
def test_means_as_they_were_made_are_kept(rows: bool) -> None:
    case = make("mean")
    found = case.verify_rows() if rows else case.verify()
    assert found.kept
    assert "group-values" in {promise.name for promise in found.promises}


@pytest.mark.parametrize("rows", [True, False], ids=["row by row", "counted"])
def test_a_mean_that_is_not_that_of_its_group_is_refused(rows: bool) -> None:
    case = make("mean")
    mean = case.released.column("age")[0].as_py()
    change_group(case, mean, f"{float(mean) + 0.1:g}", "age")
    assert broken(case, rows) == {"group-values"}


def test_a_group_beyond_its_limit_is_refused() -> None:
    case = make("mean")
    asked = case.plan.to_dict()
    asked["attributes"]["age"]["limit"] = {"width": 1}
    case.plan = Plan.from_dict(asked)
    assert "group-values" in broken(case, rows=True)


@pytest.mark.parametrize("mean", ["40.123", "900.5"])
def test_a_mean_of_too_many_decimals_or_beyond_all_numbers_is_refused(mean: str) -> None:
    case = make("mean")
    change_group(case, case.released.column("age")[0].as_py(), mean, "age")
    assert {"hierarchy", "group-values"} <= broken(case, rows=True)
