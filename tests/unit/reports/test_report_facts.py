"""The facts that a report is drawn from: risks by size, what limits cost and bound, the largest share of one value."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import HedgerowError
from hedgerow.privacy import risks_of_sizes
from tests.naive import risks as naive

QI = "quasi-identifier"
TREE = {"*": {"Kansas": ["Wichita", "Topeka"], "Nebraska": ["Lincoln", "Omaha"]}}
ATTRIBUTES = {
    "age": {"role": QI, "hierarchy": {"bands": [5, 10, 20]}, "limit": {"level": 2}},
    "city": {"role": QI, "hierarchy": {"tree": TREE}, "limits": ["Kansas", "Nebraska"]},
    "income": {"role": QI, "intervals": "free", "limit": {"cuts": [500], "width": 400}},
    "illness": "sensitive",
}


def people(count: int = 240, seed: int = 3) -> pa.Table:
    draw = random.Random(seed)
    return pa.table(
        {
            "age": [str(draw.randint(18, 70)) for _ in range(count)],
            "city": [draw.choice(["Wichita", "Topeka", "Lincoln", "Omaha"]) for _ in range(count)],
            "income": [str(draw.randint(0, 1000)) for _ in range(count)],
            "illness": [draw.choice(["flu", "cold", "asthma", None]) for _ in range(count)],
            "pid": [str(i // 2) for i in range(count)],
        }
    )


def plan(attributes: dict[str, Any] = ATTRIBUTES, k: int = 4, **more: Any) -> hr.Plan:
    return hr.Plan.from_dict({"attributes": attributes, "privacy": {"k": k}, **more})


def groups_of(release: hr.Release) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in release.table.to_pylist():
        groups.setdefault(tuple(str(row[name]) for name in release.plan.quasi_identifiers), []).append(row)
    return groups


def test_records_by_how_many_they_cannot_be_told_from() -> None:
    release = hr.anonymize(people(), plan())
    expected = Counter(str(len(rows)) for rows in groups_of(release).values() for _ in rows)
    assert release.facts["group_risk_sizes"] == expected
    assert sum(expected.values()) == release.facts["released"]
    assert list(release.facts["group_risk_sizes"]) == sorted(expected, key=int)


def test_persons_are_counted_where_k_counts_them() -> None:
    asked = plan({**ATTRIBUTES, "pid": "identifier"}, 3, person="pid")
    release = hr.anonymize(people(), asked)
    sizes = {int(size): records for size, records in release.facts["group_risk_sizes"].items()}
    assert sum(sizes.values()) == release.facts["released"]
    assert min(sizes) == release.facts["smallest_group_persons"]


def test_matching_rows_are_counted_where_a_missing_cell_matches_any() -> None:
    more = {"method": {"name": "utility", "suppress": True}, "missing": "matches-any"}
    release = hr.anonymize(people(120), plan({"age": ATTRIBUTES["age"], "city": ATTRIBUTES["city"]}, 6, **more))
    sizes = {int(size): records for size, records in release.facts["group_risk_sizes"].items()}
    assert min(sizes) == release.facts["smallest_group"]
    assert sum(sizes.values()) == release.facts["released"]
    assert {limit["may_lose"] for limit in release.facts["limits_by_attribute"].values()} == {None}
    assert release.facts["most_loss"] is None  # a limit does not bound what a suppressed cell loses


def test_the_largest_share_of_one_value() -> None:
    release = hr.anonymize(people(), plan())
    shares = []
    for rows in groups_of(release).values():
        values = Counter(row["illness"] for row in rows if row["illness"] is not None)
        shares += [Fraction(max(values.values()), sum(values.values()))] if values else []
    assert release.facts["largest_share_of_one_value"] == {"illness": round(float(max(shares)), 12)}


def test_what_limits_cost_is_what_explain_says() -> None:
    release, found = hr.anonymize(people(), plan()), hr.explain(people(), plan())
    causes = {cause.attribute: cause for cause in found.causes}
    said = release.told["limits_by_attribute"]
    assert list(said) == ["age", "city", "income"]  # in the plan's order
    for name, limit in said.items():
        assert (limit["limit"], limit["withholds"], limit["alone"]) == (
            causes[name].limit,
            causes[name].saves,
            causes[name].alone,
        )
    if not release.withheld:  # else the facts are about those who are released
        assert release.facts["most_loss"] == found.most_loss


def test_no_column_loses_more_than_its_limit_lets_it() -> None:
    facts = hr.anonymize(people(), plan()).facts
    for name, limit in facts["limits_by_attribute"].items():
        assert facts["share_lost_by_attribute"][name] <= limit["may_lose"] <= 1
    assert facts["ntil"] <= facts["most_loss"] <= 1


def test_bounds_by_hand() -> None:
    table = pa.table({"city": ["Wichita"] * 3 + ["Topeka"] * 3 + ["Lincoln"] * 3 + ["Omaha"]})
    attributes = {"city": {"role": QI, "hierarchy": {"tree": TREE}, "limits": ["Kansas", "Lincoln", "Omaha"]}}
    release = hr.anonymize(table, plan(attributes, 3))
    facts = release.facts
    # Omaha is alone and withheld: 1. Kansas may become half as coarse as can be, Lincoln not at all: (6 / 2 + 0 + 1) / 10
    said = {"limit": "Kansas, Lincoln, Omaha", "may_lose": 0.4}
    assert facts["limits_by_attribute"] == {"city": said}
    assert release.told["limits_by_attribute"] == {"city": {**said, "withholds": 1, "alone": 1}}
    assert facts["most_loss"] == 0.4


def test_ignored_limits_bound_nothing() -> None:
    facts = hr.anonymize(people(), plan(method={"name": "cluster", "limits": "ignore"})).facts
    assert facts["limits_by_attribute"] == {}
    assert facts["most_loss"] == 1


def test_a_plan_without_limits() -> None:
    facts = hr.anonymize(people(), plan({"city": {"role": QI, "hierarchy": {"tree": TREE}}})).facts
    assert (facts["limits_by_attribute"], facts["most_loss"]) == ({}, 1)
    assert facts["largest_share_of_one_value"] == {}


def test_the_same_for_every_engine(tmp_path: Any) -> None:
    import pyarrow.parquet as pq

    pq.write_table(people(), tmp_path / "people.parquet")
    names = ("group_risk_sizes", "limits_by_attribute", "largest_share_of_one_value", "most_loss")
    local, duckdb = (hr.anonymize(tmp_path / "people.parquet", plan(), engine=one).facts for one in ("local", "duckdb"))
    assert [local[name] for name in names] == [duckdb[name] for name in names]


# -- risks -----------------------------------------------------------------------------------------------------------


@given(
    st.dictionaries(st.integers(1, 60), st.integers(1, 40), max_size=12),
    st.sampled_from(["0.33", "0.2", "0.09", "0.05", "0", "1", "0.1", "0.0909"]),
)
def test_risks_are_those_of_record_by_record(by_size: dict[int, int], threshold: str) -> None:
    alike = [size for size, records in by_size.items() for _ in range(records)]
    found = risks_of_sizes({str(size): records for size, records in by_size.items()}, float(threshold), 7)
    expected = {
        "highest": round(float(naive.highest(alike)), 12),
        "average": pytest.approx(float(naive.average(alike)), abs=2e-12),
        "share_above_threshold": round(float(naive.share_above(alike, threshold)), 12),
    }
    assert found["prosecutor"] == expected
    assert {**found["journalist"], "population": None} == {**expected, "population": None}
    assert found["marketer"] == {"average": expected["average"]}
    assert (found["released"], found["withheld"]) == (len(alike), 7)


def test_common_thresholds_stand_for_group_sizes() -> None:
    for threshold, size in ((0.33, 3), (0.2, 5), (0.09, 11), (0.05, 20)):
        found = risks_of_sizes({size - 1: 1, size: 3}, threshold)
        assert found["prosecutor"]["share_above_threshold"] == 0.25


def test_a_threshold_must_be_a_share() -> None:
    with pytest.raises(HedgerowError, match="from 0 to 1"):
        risks_of_sizes({2: 2}, -0.1)
