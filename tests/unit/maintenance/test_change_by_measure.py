"""A release is kept current by the measure that it was made by."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hedgerow.maintenance import create_release
from hedgerow.plan import Plan

RULE = {"attribute": "age", "keep_apart": ["64", "65"]}
UTILITY = "utility"
BY_VALUE = {"name": "cluster", "objective": "research-value"}


def people(ages: Sequence[int], prefix: str) -> pa.Table:
    return pa.table({"id": [f"{prefix}{i}" for i in range(len(ages))], "age": [str(age) for age in ages]})


def plan_of(method: Any) -> Plan:
    return Plan.from_dict(
        {
            "key": "id",
            "attributes": {"age": {"role": "quasi-identifier", "intervals": "free"}},
            "privacy": {"k": 3},
            "method": method,
            "rules": [RULE],
        }
    )


@pytest.mark.parametrize("method", [UTILITY, BY_VALUE])
def test_a_newcomer_joins_where_most_research_value_is_left(tmp_path: Path, method: Any) -> None:
    with create_release(people([55, 57, 60, 65, 66, 67], "p"), plan_of(method), tmp_path / "x.store") as release:
        version = release.insert(people([64], "n"))  # nearest by loss are 65-67
        assert sorted(release.release().table.column("age").to_pylist()) == ["55-64"] * 4 + ["65-67"] * 3
        assert version.scores["research_value"] > 0
        assert version.facts["rules"][0]["groups_breaking"] == 0
        fresh = release.restart()
        assert version.scores["research_value"] == fresh.scores["research_value"]


def test_optimizing_goes_by_research_value_too(tmp_path: Path) -> None:
    with create_release(people([55, 57, 60, 65, 66, 67], "p"), plan_of(UTILITY), tmp_path / "x.store") as release:
        release.insert(people([64, 63, 62], "n"))
        before = release.history()[-1].scores["research_value"]
        assert release.optimize().scores["research_value"] >= before > 0


def test_who_must_leave_a_group_goes_where_the_rules_are_kept(tmp_path: Path) -> None:
    ages = [50, 52, 54, 64, 64, 64, 65, 66, 67]
    with create_release(people(ages, "p"), plan_of(UTILITY), tmp_path / "x.store") as release:
        version = release.delete(keys=["p3"])  # two of 64 are left: 65-67 would be nearest
        assert version.facts["rules"][0]["groups_breaking"] == 0
        assert version.counts["released"] == 8
