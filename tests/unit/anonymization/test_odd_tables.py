"""Odd tables and plans, each of which was once answered wrongly: very deep trees, constant columns, long decimals."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import NoSolution, PlanError
from hedgerow.plan import Plan

QI = "quasi-identifier"
BY_VALUE = {"name": "lattice", "objective": "research-value"}
SUPPRESS = {"method": {"name": "utility", "suppress": True}, "missing": "matches-any"}


def plan(attributes: dict[str, Any], k: Any = 2, **more: Any) -> Plan:
    privacy = k if isinstance(k, dict) else {"k": k}
    return Plan.from_dict({"attributes": attributes, "privacy": privacy, **more})


def test_hundreds_of_columns_make_a_deep_tree() -> None:
    columns = {f"c{i}": ["1" if j == i else "0" for j in range(300)] for i in range(300)}
    release = hr.anonymize(pa.table(columns), plan(dict.fromkeys(columns, QI), 3, method="utility"))
    assert release.facts["smallest_group"] >= 3


@pytest.mark.parametrize("method", ["utility", "cluster"])
def test_the_published_plan_makes_the_same_release(method: str) -> None:
    draw = random.Random(3)
    table = pa.table(
        {
            "a": [str(int(draw.gauss(50, 12))) for _ in range(300)],
            "b": [draw.choice("uvwx") for _ in range(300)],
            "c": [draw.choice("pqrstuvw") for _ in range(300)],
        }
    )
    attributes = {"a": {"role": QI, "intervals": "free"}, "b": QI, "c": QI}
    one = hr.anonymize(table, plan(attributes, 4, weights="association", method=method))
    two = hr.anonymize(table, one.plan)
    assert one.plan.digest() == two.plan.digest()
    assert one.table.equals(two.table)


@pytest.mark.parametrize("seed", range(12))
def test_suppressed_cells_beside_missing_ones(seed: int) -> None:
    draw = random.Random(seed)
    records = draw.randint(4, 30)
    table = pa.table({name: [draw.choice(["u", "v", "w", None]) for _ in range(records)] for name in "abc"})
    release = hr.anonymize(table, plan(dict.fromkeys("abc", QI), 2, **SUPPRESS))  # verified, or it would raise
    assert release.facts["smallest_group"] >= 2


def test_a_limit_that_marks_nothing_here_is_a_limit() -> None:
    draw = random.Random(1)
    table = pa.table(
        {"age": [str(draw.randint(40, 60)) for _ in range(40)], "z": [draw.choice("abcdefgh") for _ in range(40)]}
    )
    age = {"role": QI, "hierarchy": {"bands": [5, 10]}, "limit": ["30-39"]}
    release = hr.anonymize(table, plan({"age": age, "z": QI}, 4, **SUPPRESS))
    assert release.facts["suppressed_cells"]["age"] == 0


def test_risks_count_persons() -> None:
    table = pa.table({"pid": [str(i // 3) for i in range(60)], "age": [str(20 + (i // 3) % 10) for i in range(60)]})
    asked = plan({"pid": "identifier", "age": {"role": QI, "intervals": "free"}}, 2, person="pid")
    (run,) = hr.compare(table, asked, methods=["bottom-up"]).runs
    assert run.facts is not None
    assert run.risks is not None
    assert run.risks["prosecutor"]["highest"] == 1 / run.facts["smallest_group_persons"]


@pytest.mark.parametrize("length", [140, 300])
def test_hierarchies_of_very_many_levels(length: int) -> None:
    draw = random.Random(0)
    table = pa.table(
        {
            "x": ["".join(draw.choice("ab") for _ in range(length)) for _ in range(40)],
            "y": [draw.choice("abcd") for _ in range(40)],
        }
    )
    x = {"role": QI, "hierarchy": {"prefix": list(range(length - 1, -1, -1))}}
    assert hr.anonymize(table, plan({"x": x, "y": QI}, 3, method=BY_VALUE)).facts["search"]["proven"]


def test_a_constant_column_goes_with_no_other() -> None:
    draw = random.Random(0)
    table = pa.table({"x": ["0.1"] * 30, "y": [draw.choice("abc") for _ in range(30)]})
    found = hr.weights(table, plan({"x": {"role": QI, "hierarchy": {"bands": [1]}}, "y": QI}))
    assert found.matrix[0, 1] == 0


def test_numbers_stay_numbers_whatever_the_method() -> None:
    draw = random.Random(0)
    values = ["1", "2", "3", "10", "20", "30"]
    table = pa.table({"x": [draw.choice(values) for _ in range(100)], "y": [draw.choice("ab") for _ in range(100)]})
    x = {"role": QI, "hierarchy": {"tree": {"*": {"lo": values[:3], "hi": values[3:]}}}, "intervals": "free", "snap": 1}
    asked = plan({"x": x, "y": QI}, 10, rules=[{"attribute": "x", "keep_apart": [3, 5]}])
    runs = hr.compare(table, asked, methods=["exact", "utility"]).runs
    assert [run.problem for run in runs] == ["", ""]


@pytest.mark.parametrize("apart", [[64, "64.5"], [64, 65], ["64.5", 65]])
@pytest.mark.parametrize("method", ["lattice", "cluster"])
def test_rules_between_whole_numbers(apart: list[Any], method: str) -> None:
    table = pa.table({"age": [str(age) for age in range(50, 80)] * 2})
    age = {"role": QI, "hierarchy": {"bands": [5, 10]}}
    hr.anonymize(table, plan({"age": age}, 4, method=method, rules=[{"attribute": "age", "keep_apart": apart}]))


def test_a_rule_of_which_one_side_holds_the_other_is_refused() -> None:
    table = pa.table({"z": ["43102", "43103", "44102", "44103"] * 5})
    zip_code = {"role": QI, "hierarchy": {"prefix": [3, 2]}}
    asked = plan({"z": zip_code}, 5, rules=[{"attribute": "z", "keep_apart": ["431**", "43102"]}])
    with pytest.raises(PlanError, match="one of the two holds the other"):
        hr.anonymize(table, asked)


def test_long_decimals_in_bands() -> None:
    table = pa.table({"x": [0.1 + 0.2, 0.3, 95.0, 97.5] * 3})
    release = hr.anonymize(table, plan({"x": {"role": QI, "hierarchy": {"bands": [10, 100]}}}, 3))
    assert 0 <= release.facts["research_value"] <= 1


def test_something_must_be_released() -> None:
    table = pa.table({"a": [str(i) for i in range(10)], "b": [str(i) for i in range(10)]})
    release = hr.anonymize(table, plan({"a": QI, "b": QI}, 3, withhold="100%", method=BY_VALUE))
    assert release.facts["released"] == 10
    with pytest.raises(NoSolution):
        hr.anonymize(table.slice(0, 2), plan({"a": QI, "b": QI}, 3, withhold="100%", method=BY_VALUE))


def test_values_that_are_not_demanded_take_no_memory() -> None:
    records = 30_000
    table = pa.table(
        {
            "q": [str(i) for i in range(records)],
            "t": ["xy"[i % 2] for i in range(records)],
            "s": [f"v{i}" for i in range(records)],
        }
    )
    attributes = {"q": {"role": QI, "intervals": "free"}, "t": "sensitive", "s": "sensitive"}
    release = hr.anonymize(table, plan(attributes, {"k": 2, "p": {"t": 2}}, method="utility"))
    assert release.facts["groups"] > 1
