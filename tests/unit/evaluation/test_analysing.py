"""A release as an analyst takes it: ends, levels, groups, and figures with bounds that hold."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.plan import Plan


def made(tmp_path: Path, table: dict[str, Any], attributes: dict[str, Any], k: int = 2, **more: Any) -> hr.TypedRelease:
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": k}, **more})
    hr.anonymize(pa.table(table), plan, tmp_path / "release", replace=True)
    return hr.read_release(tmp_path / "release")


def test_numbers_dates_trees_and_others_have_their_types(tmp_path: Path) -> None:
    tree = {"*": {"West": ["CA", "OR"], "East": ["NY"]}}
    release = made(
        tmp_path,
        {
            "age": ["31", "38", "31", "38"],
            "day": ["2024-03-01", "2024-03-31", "2024-03-01", "2024-03-31"],
            "state": ["CA", "OR", "CA", "OR"],
            "pay": ["1.5", "2.5", "1.5", "2.5"],
            "code": ["007", "007", "008", "008"],
            "worth": ["1", "2", "3", ""],
        },
        {
            "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}},
            "day": {"role": "quasi-identifier", "hierarchy": {"dates": ["month", "year"]}},
            "state": {"role": "quasi-identifier", "hierarchy": {"tree": tree}},
            "pay": {"role": "quasi-identifier", "intervals": "free"},
            "code": "other",
            "worth": "sensitive",
        },
        k=4,
    )
    rows = release.to_arrow().to_pylist()
    assert rows[0] == {
        "age": "30-39", "age_low": 30, "age_high": 39, "age_middle": 34.5, "age_level": 2,
        "day": "2024-03", "day_low": dt.date(2024, 3, 1), "day_high": dt.date(2024, 3, 31), "day_level": 1,
        "state": "West", "state_level": 1,
        "pay": "[1.5, 2.5]", "pay_low": 1.5, "pay_high": 2.5, "pay_middle": 2.0, "pay_level": 1,
        "code": rows[0]["code"], "worth": rows[0]["worth"], "group": 0, "group_size": 4,
    }  # fmt: skip
    assert {row["code"] for row in rows} == {"007", "008"}
    assert {row["worth"] for row in rows} == {1, 2, 3, None}
    frame = release.to_pandas()
    assert str(frame["age"].dtype) == "interval[float64, both]"
    assert 34 in frame["age"].iloc[0]
    assert "4 of 6 columns coarsened" in repr(release)


def test_what_tells_nothing_has_no_ends(tmp_path: Path) -> None:
    release = made(
        tmp_path,
        {"age": ["10", "90", "10", "11"]},
        {"age": {"role": "quasi-identifier", "hierarchy": {"bands": [5]}}},
        k=4,
    )
    assert release["age"].labels.to_pylist() == ["*"] * 4
    assert release["age"].kind == "text"
    with pytest.raises(hr.DataError, match="not of numbers"):
        release.mean("age")
    with pytest.raises(hr.DataError, match="no column"):
        release.proportion("ages", 1, 2)


@given(
    ages=st.lists(st.integers(0, 99), min_size=6, max_size=60), ends=st.tuples(st.integers(0, 99), st.integers(0, 99))
)
@settings(max_examples=25)
def test_bounds_hold_whatever_the_values(
    ages: list[int], ends: tuple[int, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    low, high = min(ends), max(ends)
    for asked in ({"intervals": "free"}, {"hierarchy": {"bands": [5, 20]}, "limit": {"level": 2}}):
        age = {"role": "quasi-identifier", **asked}
        plan = Plan.from_dict({"attributes": {"age": age, "true": "other"}, "privacy": {"k": 3}})
        folder = tmp_path_factory.mktemp("release")
        try:
            hr.anonymize(pa.table({"age": ages, "true": ages}), plan, folder / "release")
        except hr.NoSolution:
            continue
        release = hr.read_release(folder / "release")
        true = np.array([int(value) for value in release["true"].labels.to_pylist()])
        mean, share = release.mean("age"), release.proportion("age", low, high)
        assert mean.at_least - 1e-9 <= true.mean() <= mean.at_most + 1e-9
        assert mean.at_least - 1e-9 <= mean.value <= mean.at_most + 1e-9
        exact = ((low <= true) & (true <= high)).mean()
        assert share.at_least - 1e-9 <= exact <= share.at_most + 1e-9
        counted = [
            len(set(range(int(a), int(b) + 1)) & set(range(low, high + 1))) / (b - a + 1)
            for a, b in zip(release["age"].low, release["age"].high, strict=True)  # type: ignore[arg-type]
        ]
        assert share.value == pytest.approx(np.mean(counted))


def test_groups_are_those_of_the_facts(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    table = {"age": draw.integers(0, 90, 200), "sex": draw.choice(["F", "M"], 200)}
    release = made(
        tmp_path, table, {"age": {"role": "quasi-identifier", "intervals": "free"}, "sex": "quasi-identifier"}, 5
    )
    assert int(release.group.max()) + 1 == release.facts["groups"]
    assert int(np.bincount(release.group).min()) == release.facts["smallest_group"]
