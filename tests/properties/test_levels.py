"""Levels of a maintained release: kept while they hold, else the nearest; as exhaustive search has it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from hedgerow.maintenance.changes.levels import lower, nearest
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from tests.cases.records import naive_attributes
from tests.cases.sensitive import Diverse, codes_of, diverse, encode, naive_demands, plan_of
from tests.naive import lattice as naive

LIMITS = {"keep": "value", "whole-levels": "attribute", "ignore": "ignore"}
OBJECTIVES = {
    "loss": naive.loss,
    "ncp": naive.ncp,
    "granularity": naive.granularity,
    "discernibility": naive.discernibility,
}
KINDS = ["k", "p", "entropy", "alpha", "equal", "mixed"]


def drawn(data: st.DataObject, kind: str) -> tuple[Microdata, Plan, naive.Task]:
    """Records of trees, a plan for the lattice, and the same for the naive reference."""
    made = data.draw(diverse("p" if kind == "k" else kind, only_trees=True))
    if kind == "k":
        made = Diverse(made.case, made.sensitive, {"k": made.privacy["k"]}, made.weights, made.join)
    limits = data.draw(st.sampled_from(sorted(LIMITS)))
    method = {"name": "lattice", "objective": data.draw(st.sampled_from(sorted(OBJECTIVES))), "limits": limits}
    rule = data.draw(st.sampled_from(["free", "only-coarser"]))
    microdata, _ = encode(made)
    plan = Plan.from_dict({**plan_of(made), "method": method, "republish": rule, "key": "key"})
    by_index = naive_attributes(made.case, microdata, limits=True)
    attributes: list[Any] = [by_index[microdata.index_order.index(place)] for place in range(len(by_index))]
    names = [column.name for column in microdata.columns]
    records = [
        tuple(a.code(made.case.rows[name][i]) for a, name in zip(attributes, names, strict=True))
        for i in range(microdata.records)
    ]
    codes, budget = codes_of(made), data.draw(st.integers(0, max(1, microdata.records // 4)))
    demands = naive_demands(made, codes)
    task = naive.Task(attributes, records, made.case.k, codes, demands, budget, LIMITS[limits], made.case.persons)  # type: ignore[arg-type]
    return microdata, plan, task


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=30)
def test_levels_after_a_change_are_those_of_exhaustive_search(kind: str, data: st.DataObject) -> None:
    microdata, plan, task = drawn(data, kind)
    heights = [attribute.tree.height(attribute.tree.root) for attribute in task.attributes]
    before = tuple(data.draw(st.integers(0, height)) for height in heights)
    objective = OBJECTIVES[plan.method.objective]
    expected = naive.nearest(task, objective, before, plan.republish == "only-coarser")
    found = nearest(microdata, plan, before, task.budget)
    event("none" if expected is None else "kept" if expected == before else "others")
    assert (None if found is None else found.node) == expected
    if found is not None:
        assert list(found.details["levels"].values()) == list(found.node)
        assert list(found.details["levels_before"].values()) == list(before)
        assert (found.solution(microdata, plan).recoding.group_of < 0).sum() == len(task.evaluate(found.node).withheld)


@pytest.mark.parametrize("kind", ["k", "p", "alpha"])
@given(data=st.data())
@settings(max_examples=20)
def test_lower_levels_are_those_of_exhaustive_search(kind: str, data: st.DataObject) -> None:
    microdata, plan, task = drawn(data, kind)
    task = naive.Task(**{**vars(task), "budget": 0})
    holding = [node for node in task.nodes() if task.is_feasible(node)]
    if not holding:
        return
    before = data.draw(st.sampled_from(holding))
    assert lower(microdata, plan, before).node == naive.lower(task, OBJECTIVES[plan.method.objective], before)
