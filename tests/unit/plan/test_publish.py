"""What does not go with sets, means and medians of groups is refused, with what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, PlanError
from hedgerow.plan import Plan

SET = {"role": "quasi-identifier", "publish": "set"}
MEAN = {"role": "quasi-identifier", "intervals": "free", "publish": "mean"}


def plan(attributes: dict[str, Any], **more: Any) -> Plan:
    return Plan.from_dict({"attributes": {"sex": "quasi-identifier", **attributes}, "privacy": {"k": 2}, **more})


@pytest.mark.parametrize(
    ("attributes", "more", "words"),
    [
        ({"job": {**SET, "hierarchy": {"prefix": [1]}}}, {}, "without a hierarchy"),
        ({"job": {**SET, "intervals": "free"}}, {}, "without a hierarchy or intervals"),
        ({"job": {"role": "sensitive", "publish": "set"}}, {}, "cannot have 'publish'"),
        ({"job": {"role": "other", "publish": "set"}}, {}, "not grouped by"),
        ({"job": {"role": "quasi-identifier", "limit": {"values": 2}}}, {}, "a limit of values is one of sets"),
        ({"job": {**SET, "limit": {"width": 2}}}, {}, "its limit must be"),
        ({"job": {**SET, "limit": {"values": 0}}}, {}, "greater than or equal to 1"),
        ({"job": {**SET, "decimals": 1}}, {}, "'decimals' goes with"),
        ({"job": SET}, {"method": "lattice"}, "publishes levels"),
        ({"job": SET}, {"method": {"name": "cluster", "objective": "entropy"}}, "does not say what a set costs"),
        ({"job": SET}, {"method": {"name": "cluster", "objective": "research-value"}}, "what a set costs"),
        ({"job": SET}, {"method": {"name": "cluster", "improve": "steps"}}, "'improve: steps'"),
        ({"job": SET}, {"method": {"name": "cluster", "certify": "1s"}}, "'certify'"),
        ({"job": SET}, {"method": {"name": "utility", "overlap": "forbidden"}}, "'overlap: forbidden'"),
        ({"job": SET}, {"missing": "matches-any"}, "'missing: matches-any'"),
        ({"job": SET}, {"unit": "home"}, "'unit'"),
        ({"job": SET}, {"population": "p.csv"}, "demands on a population"),
        ({"job": SET}, {"rules": [{"attribute": "job", "keep_apart": ["a", "b"]}]}, "rules on the same column"),
        ({"age": {**MEAN, "snap": 5}}, {}, "without 'snap'"),
        ({"age": {"role": "quasi-identifier", "publish": "median"}}, {}, "free intervals"),
        ({"age": {**MEAN, "decimals": 10}}, {}, "less than or equal to 9"),
        ({"age": MEAN}, {"method": {"name": "cluster", "limits": "ignore"}}, "ignored limits"),
        ({"age": {**MEAN, "publish": "mode"}}, {}, "'set', 'mean' or 'median'"),
    ],
)  # fmt: skip
def test_a_plan_is_refused(attributes: dict[str, Any], more: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        plan(attributes, **more)


@pytest.mark.parametrize("method", [{"improve": "steps"}, {"certify": "1s"}, {"objective": "entropy"}])
def test_means_go_with_what_goes_with_intervals(method: dict[str, Any]) -> None:
    ages = pa.table({"sex": ["F", "M"] * 6, "age": [*range(20, 32)]})
    assert hr.anonymize(ages, plan({"age": MEAN}, method={"name": "cluster", **method})).verification.kept


@pytest.mark.parametrize(
    "jobs", [["left|right", "middle"], [f"job {number}" for number in range(513)]], ids=["sign", "many"]
)
def test_values_that_make_no_sets_are_refused_and_not_shown(jobs: list[str]) -> None:
    with pytest.raises(DataError) as refused:
        hr.anonymize(pa.table({"sex": ["F"] * len(jobs) * 2, "job": jobs * 2}), plan({"job": SET}))
    assert [problem.code for problem in refused.value.problems] == ["not-a-set"]
    assert not any(job in str(refused.value) for job in jobs)


def test_a_release_with_sets_is_neither_maintained_nor_applied(tmp_path: Path) -> None:
    people = pa.table({"id": ["1", "2", "3", "4"], "sex": ["F"] * 4, "job": ["a", "b", "a", "b"]})
    asked = plan({"job": SET, "id": "identifier"}, key="id")
    with pytest.raises(PlanError, match="cannot be maintained"):
        hr.create_release(people, asked, tmp_path / "kept.store")
    hr.anonymize(people, asked, tmp_path / "release")
    with pytest.raises(DataError, match="sets, means or medians of its groups"):
        hr.apply(tmp_path / "release", people)


def test_a_plan_with_sets_and_means_is_written_as_it_was_read() -> None:
    asked = plan({"job": {**SET, "limit": {"values": 3}}, "age": {**MEAN, "decimals": 2, "limit": {"width": 5}}})
    assert Plan.loads(asked.to_yaml()) == asked
    assert asked.publishes_instead == ("job", "age")
