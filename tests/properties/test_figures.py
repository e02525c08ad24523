"""Means and medians of groups: what is published, told apart by, limited, and read."""

from __future__ import annotations

import random
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.microdata.instead import Figures
from hedgerow.plan import Plan
from tests.naive.figures import figure

METHODS: list[dict[str, Any]] = [
    {"name": "cluster"},
    {"name": "cluster", "improve": "quick"},
    {"name": "cluster", "improve": "quick", "objective": "variance"},
    {"name": "partition"},
    {"name": "bottom-up"},
]


def people(seed: int, records: int = 40, missing: float = 0.0) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "age": [None if draw.random() < missing else str(draw.randint(20, 30)) for _ in range(records)],
            "pay": [f"{draw.randint(-400, 400) / 4:.2f}" for _ in range(records)],
            "sex": [draw.choice("FM") for _ in range(records)],
            "ill": [draw.choice(["flu", "gout"]) for _ in range(records)],
        }
    )


def plan_of(method: dict[str, Any], k: int = 3, age: Any = None, **more: Any) -> Plan:
    free = {"role": "quasi-identifier", "intervals": "free"}
    columns = {
        "age": {**free, "publish": "mean", **(age or {})},
        "pay": {**free, "publish": "median", "decimals": 2},
        "sex": "quasi-identifier",
        "ill": "sensitive",
    }
    return Plan.from_dict({"attributes": columns, "privacy": {"k": k}, "method": method, "withhold": "100%", **more})


def groups_of(release: Any, table: pa.Table) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """The records behind all rows that are published alike."""
    records, found = table.to_pylist(), dict[tuple[Any, ...], list[dict[str, Any]]]()
    for row, record in zip(pa.table(release).to_pylist(), release.record_of_row.tolist(), strict=True):
        found.setdefault((row["age"], row["pay"], row["sex"]), []).append(records[record])
    return found


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "-".join(method.values()))
@given(seed=st.integers(0, 10_000))
@settings(max_examples=6)
def test_a_group_publishes_its_mean_and_its_median(method: dict[str, Any], seed: int) -> None:
    table = people(seed, missing=0.1)
    release = hr.anonymize(table, plan_of(method))
    for (age, pay, _), behind in groups_of(release, table).items():
        ages = [None if one["age"] is None else Fraction(one["age"]) for one in behind]
        known = [one for one in ages if one is not None]
        assert len(known) in (0, len(ages))
        assert (None if age is None else Fraction(age)) == (figure("mean", known, 1) if known else None)
        assert Fraction(pay) == figure("median", [Fraction(one["pay"]) for one in behind], 2)
        assert len(behind) >= 3
    assert release.verification.kept
    assert release.facts["smallest_group"] == min(map(len, groups_of(release, table).values()))


@given(
    numbers=st.lists(st.integers(-99, 99), min_size=1, max_size=9),
    places=st.integers(0, 2),
    decimals=st.integers(0, 3),
    name=st.sampled_from(["mean", "median"]),
)
def test_figures_are_rounded_once(numbers: list[int], places: int, decimals: int, name: Any) -> None:
    import numpy as np

    different = np.array(sorted(set(numbers)), np.int64)
    codes = np.searchsorted(different, np.array(numbers))
    made = Figures(name, different, places, decimals)
    told = made.of_groups(codes, np.zeros(len(numbers), np.int64), 1)
    wanted = figure(name, [Fraction(number, 10**places) for number in numbers], decimals)
    assert Fraction(int(told[0, 0]), 10**decimals) == wanted
    assert Fraction(made.labels(told)[0]) == wanted


def test_sums_beyond_64_bits_are_exact() -> None:
    import numpy as np

    large = np.array([10**17, 10**17 + 2], np.int64)
    told = Figures("mean", large, 3, 0).of_groups(np.array([0] * 60 + [1] * 60), np.zeros(120, np.int64), 1)
    assert int(told[0, 0]) == 10**14


@given(seed=st.integers(0, 10_000), width=st.integers(0, 6))
@settings(max_examples=10)
def test_numbers_of_what_is_published_alike_keep_the_limit(seed: int, width: int) -> None:
    table = people(seed, 60)
    age = {"decimals": 0, "limit": {"width": width, "cuts": [25]}}
    release = hr.anonymize(table, plan_of({"name": "cluster", "improve": "quick"}, 2, age))
    for behind in groups_of(release, table).values():
        ages = [int(one["age"]) for one in behind]
        assert max(ages) - min(ages) <= width
        assert max(ages) < 25 or min(ages) >= 25
    assert release.verification.kept
    assert release.facts["limits_broken"] == 0


def test_of_groups_on_both_sides_of_a_cut_whose_means_are_rounded_alike_the_largest_is_released() -> None:
    ages = ["24.6", "24.8", "24.9", "25", "25", "25", "25"]
    age = {"role": "quasi-identifier", "intervals": "free", "publish": "mean", "decimals": 0, "limit": {"cuts": [25]}}
    asked = {"attributes": {"age": age}, "privacy": {"k": 3}, "withhold": "100%"}
    release = hr.anonymize(pa.table({"age": ages}), Plan.from_dict(asked))
    assert pa.table(release).column("age").to_pylist() == ["25"] * 4
    assert sorted(release.record_of_row.tolist()) == [3, 4, 5, 6]
    assert release.verification.kept
    age["decimals"] = 1
    release = hr.anonymize(pa.table({"age": ages}), Plan.from_dict(asked))
    assert pa.table(release).column("age").to_pylist() == ["24.8"] * 3 + ["25"] * 4


def test_groups_with_equal_means_are_one_group() -> None:
    ages = ["20", "30", "24", "26", "22", "28"]
    age = {"role": "quasi-identifier", "intervals": "free", "publish": "mean"}
    asked = {"attributes": {"age": age}, "privacy": {"k": 2}}
    release = hr.anonymize(pa.table({"age": ages}), Plan.from_dict(asked))
    assert release.facts["groups"] == len(set(pa.table(release).column("age").to_pylist()))
    assert release.verification.kept


def test_files_with_types_hold_numbers(tmp_path: Path) -> None:
    table, plan = people(4), plan_of({"name": "cluster"})
    hr.anonymize(table, plan, tmp_path / "parquet", format="parquet")
    schema = pq.read_schema(tmp_path / "parquet" / "data.parquet")
    assert schema.field("age").type == schema.field("pay").type == pa.float64()
    assert hr.verify(tmp_path / "parquet", table).kept
    hr.anonymize(table, plan, tmp_path / "csv")
    made = hr.read_release(tmp_path / "csv")
    mean = sum(int(age) for age in table.column("age").to_pylist()) / len(table)
    assert made.mean("age").at_least <= mean <= made.mean("age").at_most
    assert made.mean("age").at_most - made.mean("age").at_least == pytest.approx(0.1)
    assert made.mean("pay").unknown == 1
    told = hr.utility(made, table).figures
    assert next(one for one in told if one.column == "age" and one.figure == "mean").released == pytest.approx(
        mean, abs=0.05
    )
    assert pa.types.is_floating(made.to_arrow().schema.field("age").type)


def test_numbers_of_too_many_digits_are_refused() -> None:
    table = pa.table({"age": ["1234567890123456", "1234567890123457"], "sex": ["F", "F"]})
    columns = {"age": {"role": "quasi-identifier", "intervals": "free", "publish": "mean"}, "sex": "quasi-identifier"}
    with pytest.raises(hr.DataError, match="too many digits"):
        hr.anonymize(table, Plan.from_dict({"attributes": columns, "privacy": {"k": 2}}))


def test_whoever_knows_an_age_finds_no_contradiction_in_a_mean() -> None:
    ages = pa.table({"age": [20, 30, 40, 50, 60, 70], "ill": ["flu"] * 6})
    columns = {"age": {"role": "quasi-identifier", "intervals": "free", "publish": "mean"}, "ill": "sensitive"}
    with tempfile.TemporaryDirectory() as folder:
        hr.anonymize(ages, Plan.from_dict({"attributes": columns, "privacy": {"k": 3}}), folder + "/made")
        found = hr.attack(folder + "/made", ages)
    assert found.withheld == 0
