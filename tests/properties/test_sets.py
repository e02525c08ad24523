"""Sets of values: what groups publish, what it costs, and that searches know it."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.clustering import Objective, find_cells
from hedgerow.anonymization.clustering.cells import deal
from hedgerow.anonymization.clustering.costs import UNIT, cost_tables
from hedgerow.anonymization.clustering.exact import solve_blocks
from hedgerow.anonymization.clustering.layout import lay_out
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.naive import sets as naive
from tests.naive.exact import least_loss

METHODS: list[dict[str, Any]] = [
    {"name": "cluster"},
    {"name": "cluster", "improve": "quick"},
    {"name": "cluster", "improve": "thorough", "objective": "ncp"},
    {"name": "cluster", "improve": "quick", "objective": "variance"},
    {"name": "partition"},
    {"name": "utility"},
    {"name": "bottom-up", "improve": "quick"},
    {"name": "euclidean"},
]


def people(seed: int, records: int = 40, jobs: int = 9, missing: float = 0.0) -> pa.Table:
    draw = random.Random(seed)
    names = [f"job {chr(97 + number)}" for number in range(jobs)]
    return pa.table(
        {
            "job": [None if draw.random() < missing else draw.choice(names[: 1 + draw.randrange(jobs)]) for _ in range(records)],
            "town": [draw.choice("ABC") for _ in range(records)],
            "age": [draw.randint(20, 60) for _ in range(records)],
            "ill": [draw.choice(["flu", "gout"]) for _ in range(records)],
        }
    )  # fmt: skip


def plan_of(method: dict[str, Any], k: int = 3, limit: Any = None, **more: Any) -> Plan:
    job: dict[str, Any] = {"role": "quasi-identifier", "publish": "set", **({"limit": limit} if limit else {})}
    age = {"role": "quasi-identifier", "intervals": "free"}
    columns = {"job": job, "town": {"role": "quasi-identifier", "publish": "set"}, "age": age, "ill": "sensitive"}
    return Plan.from_dict({"attributes": columns, "privacy": {"k": k}, "method": method, **more})


def encoded(table: pa.Table, plan: Plan) -> Microdata:
    return encode_table(read_table(table, plan), plan)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "-".join(method.values()))
@given(seed=st.integers(0, 10_000))
@settings(max_examples=6)
def test_a_group_publishes_the_values_that_it_has(method: dict[str, Any], seed: int) -> None:
    table, plan = people(seed, missing=0.1), plan_of(method, withhold="100%")
    release = hr.anonymize(table, plan)
    rows, jobs = pa.table(release).to_pylist(), table.column("job").to_pylist()
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row, record in zip(rows, release.record_of_row.tolist(), strict=True):
        groups.setdefault((row["job"], row["town"], row["age"]), []).append(record)
    for (job, town, _), records in groups.items():
        had = [jobs[record] for record in records]
        assert job == (None if None in had else naive.label(had))
        assert len(set(had)) == 1 or None not in had
        assert town == naive.label(table.column("town")[record].as_py() for record in records)
    assert release.verification.kept
    assert "group-values" in {promise.name for promise in release.verification.promises}


@pytest.mark.parametrize("measure", ["ncp", "granularity", "ntil"])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=8)
def test_measures_count_the_values_of_sets(measure: str, seed: int) -> None:
    plan = Plan.from_dict({"attributes": {"job": {"role": "quasi-identifier", "publish": "set"}}, "privacy": {"k": 4}})
    table = people(seed).select(["job"])
    release = hr.anonymize(table, plan)
    groups: dict[str, list[str]] = {}
    for row, record in zip(pa.table(release).to_pylist(), release.record_of_row.tolist(), strict=True):
        groups.setdefault(row["job"], []).append(table.column("job")[record].as_py())
    assert release.facts[measure] == pytest.approx(float(naive.mean_lost(measure, list(groups.values()))), abs=1e-12)


@pytest.mark.parametrize("objective", ["loss", "ncp", "granularity"])
@given(values=st.integers(1, 70), size=st.integers(1, 12), seed=st.integers(0, 99))
@settings(max_examples=25)
def test_lines_cost_what_a_set_does(objective: str, values: int, size: int, seed: int) -> None:
    draw = random.Random(seed)
    names = [f"{number:03}" for number in range(values)]
    table = pa.table({"job": [*names, *draw.choices(names, k=30)]})
    plan = Plan.from_dict({"attributes": {"job": {"role": "quasi-identifier", "publish": "set"}}, "privacy": {"k": 2}})
    microdata, goal = encoded(table, plan), Objective(objective)
    costs = cost_tables(microdata, goal, sets=True)
    codes = lay_out(microdata, find_cells(microdata, Requirement(2), ignore_limits=True), 2, sets=True).codes
    chosen = draw.sample(range(values), min(size, values))
    lo, hi = codes[chosen].min(axis=0)[None], codes[chosen].max(axis=0)[None]
    wanted = naive.lost(objective, len(chosen), values)
    found = Fraction(int(costs.of_boxes(*costs.ends(lo, hi))[0]), UNIT)
    if costs.exact:
        assert abs(found - wanted) <= Fraction(values, UNIT)
    else:
        assert values > 64
        assert found >= wanted - Fraction(values, UNIT)
    if len(chosen) <= 2:
        lower, upper = costs.ends(lo, hi)
        two = costs.of_two().of_boxes(lower[:, : costs.columns], upper[:, : costs.columns])
        assert abs(Fraction(int(two[0]), UNIT) - wanted) <= Fraction(4, UNIT)


@pytest.mark.parametrize("objective", ["loss", "ncp"])
@given(seed=st.integers(0, 10_000), records=st.integers(4, 9), jobs=st.integers(1, 8))
@settings(max_examples=15)
def test_no_grouping_of_a_small_block_loses_less(objective: str, seed: int, records: int, jobs: int) -> None:
    table, k = people(seed, records, jobs), 2
    plan = plan_of({"name": "cluster", "objective": objective, "improve": "quick"}, k)
    microdata, goal = encoded(table, plan), Objective(objective)
    cells = find_cells(microdata, Requirement(k))
    found = solve_blocks(microdata, cells, Requirement(k), goal, 10_000_000)
    codes = lay_out(microdata, cells, k, sets=True).codes[microdata.profile_of_unit]
    costs = cost_tables(microdata, goal, sets=True)

    def cost(group: tuple[int, ...]) -> int:
        rows = codes[list(group)]
        return int(costs.of_boxes(*costs.ends(rows.min(axis=0)[None], rows.max(axis=0)[None]))[0])

    assert found.after.tolist() == [least_loss(range(records), lambda group: len(group) >= k, cost)]
    assert found.proven.all()


@given(seed=st.integers(0, 10_000), most=st.integers(1, 4))
@settings(max_examples=10)
def test_no_set_has_more_values_than_its_limit(seed: int, most: int) -> None:
    plan = plan_of({"name": "cluster", "improve": "quick"}, 4, {"values": most}, withhold="100%")
    release = hr.anonymize(people(seed, 60), plan)
    assert max(len(job.split("|")) for job in pa.table(release).column("job").to_pylist()) <= most
    assert release.verification.kept
    assert release.facts["limits_broken"] == 0


@given(people_of=st.lists(st.integers(1, 9), min_size=1, max_size=6), most=st.integers(1, 3), k=st.integers(2, 6))
def test_values_are_dealt_into_bundles_that_hold(people_of: list[int], most: int, k: int) -> None:
    bundle = deal(people_of, most, k)
    kept = 0
    for one in set(bundle) - {-1}:
        members = [i for i, at in enumerate(bundle) if at == one]
        assert len(members) <= most
        held = sum(people_of[i] for i in members)
        assert held >= k or len(people_of) <= most
        kept += held if held >= k else 0
    assert kept <= naive.most_kept(people_of, most, k)
    if sum(one >= k for one in people_of) * most >= len(people_of):  # those who are enough can carry all others
        assert kept == sum(people_of)


def test_a_search_that_knows_sets_loses_less_than_one_that_does_not() -> None:
    table = people(3, 300, 9)
    known = hr.anonymize(table, plan_of({"name": "cluster", "improve": "quick"}, 5))
    flat = plan_of({"name": "cluster", "improve": "quick"}, 5).to_dict()
    for name in ("job", "town"):
        del flat["attributes"][name]["publish"]
    assert known.facts["ntil"] < 0.8 * hr.anonymize(table, Plan.from_dict(flat)).facts["ntil"]


def test_rows_in_any_order_and_any_threads_give_the_same_release() -> None:
    table, plan = people(5, 200), plan_of({"name": "cluster", "improve": "thorough"}, 4)
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(len(table))))
    one, other = hr.anonymize(table, plan, threads=1), hr.anonymize(shuffled, plan, threads=2)
    assert pa.table(one).equals(pa.table(other))
    assert one.facts == other.facts
