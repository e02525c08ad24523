"""Lattice searches equal exhaustive evaluation, with and without withholding, for every model and both kinds of limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.lattice import Space, find_minimal, find_optimum, make_space, optimal, recode, samarati
from hedgerow.anonymization.lattice.checker import GeneralChecker
from hedgerow.measures import granularity, ntil
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.privacy import Requirement
from tests.cases import lattices
from tests.cases.records import naive_attributes
from tests.cases.sensitive import Diverse, codes_of, diverse, encode, naive_demands
from tests.naive import lattice as naive

LIMITS = {"keep": "value", "whole-levels": "attribute", "ignore": "ignore"}
OBJECTIVES = {
    "loss": naive.loss,
    "ncp": naive.ncp,
    "granularity": naive.granularity,
    "discernibility": naive.discernibility,
    "group-size": naive.average,
}
KINDS = ["k", "p", "entropy", "recursive", "alpha", "beta", "delta", "equal", "ordered", "hierarchical", "mixed"]


def prepare(given: Diverse, budget: int, limits: str) -> tuple[Microdata, Requirement, Space, naive.Task]:
    microdata, requirement = encode(given)
    by_index = naive_attributes(given.case, microdata, limits=True)
    attributes: list[Any] = [by_index[microdata.index_order.index(place)] for place in range(len(by_index))]
    names = [column.name for column in microdata.columns]
    records = [
        tuple(a.code(given.case.rows[name][i]) for a, name in zip(attributes, names, strict=True))
        for i in range(microdata.records)
    ]
    codes = codes_of(given)
    demands = naive_demands(given, codes)
    task = naive.Task(attributes, records, given.case.k, codes, demands, budget, LIMITS[limits], given.case.persons)  # type: ignore[arg-type]
    return microdata, requirement, make_space(microdata, limits), task  # type: ignore[arg-type]


def draw_task(
    data: st.DataObject, kind: str, persons: bool = False
) -> tuple[Microdata, Requirement, Space, naive.Task]:
    given = data.draw(diverse("p" if kind == "k" else kind, persons=persons, only_trees=True))
    if kind == "k":
        given = Diverse(given.case, given.sensitive, {"k": given.privacy["k"]}, given.weights, given.join)
    records = len(given.sensitive[0])
    budget = data.draw(st.one_of(st.just(0), st.integers(0, records)))
    return prepare(given, budget, data.draw(st.sampled_from(sorted(LIMITS))))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=35)
def test_the_optimum_is_that_of_exhaustive_search(kind: str, data: st.DataObject) -> None:
    microdata, requirement, space, task = draw_task(data, kind)
    objective = data.draw(st.sampled_from(sorted(OBJECTIVES)))
    expected = naive.optimum(task, OBJECTIVES[objective])
    found = find_optimum(space, requirement, task.budget, objective)  # type: ignore[arg-type]
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert (found.node, found.withheld) == (expected.node, expected.withheld)
    if expected.score is not None:
        assert found.score == pytest.approx(float(expected.score))
    assert found.nodes == len(task.nodes())
    assert found.checked <= found.nodes
    assert found.checked + found.below_infeasible + found.by_bound == found.nodes
    release = recode(space, requirement, found.node)
    assert microdata.records - release.released == expected.withheld
    if release.groups:
        assert not requirement.fails(microdata, release.group_of, release.groups).any()
    if objective == "loss":
        assert float(ntil(microdata, release)) == pytest.approx(found.score)
    if objective == "granularity":
        assert float(granularity(microdata, release)) == pytest.approx(found.score)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=20)
def test_all_minimal_nodes_and_samarati(kind: str, data: st.DataObject) -> None:
    _, requirement, space, task = draw_task(data, kind)
    found = find_minimal(space, requirement, task.budget)
    expected = naive.all_minimal(task)
    assert sorted(found.minimal) == sorted(expected)
    assert [tuple(map(int, node)) for node in np.argwhere(found.feasible)] == sorted(
        node for node in task.nodes() if task.is_feasible(node)
    )
    low = samarati(space, requirement, task.budget)
    if not expected:
        assert low.node is None
    else:
        assert low.node is not None
        assert task.is_feasible(low.node)
        assert sum(low.node) == min(sum(node) for node in expected)
        assert low.node in expected


@given(data=st.data())
@settings(max_examples=20)
def test_the_optimum_when_k_counts_persons(data: st.DataObject) -> None:
    _, requirement, space, task = draw_task(data, "p", persons=True)
    expected = naive.optimum(task, naive.loss)
    found = find_optimum(space, requirement, task.budget, "loss")
    assert (None if found is None else found.node) == (None if expected is None else expected.node)


@given(data=st.data())
@settings(max_examples=20)
def test_what_a_node_publishes(data: st.DataObject) -> None:
    microdata, requirement, space, task = draw_task(data, "k")
    node = data.draw(st.sampled_from(task.nodes()))
    release = recode(space, requirement, node)
    labels = release.labels(microdata)
    evaluation = task.evaluate(node)
    shown = sorted(task.show(task.records[i], node) for group in evaluation.groups for i in group)
    published = sorted(
        tuple(column[group] for column in labels) for group in release.group_of[release.group_of >= 0].tolist()
    )
    assert published == shown
    if task.limits != "ignore":
        assert not any(release.breaks_by_column(microdata).values())


@pytest.mark.parametrize("kind", ["k", "p"])
@given(data=st.data())
@settings(max_examples=140)
def test_pruning_with_a_budget_loses_nothing(kind: str, data: st.DataObject) -> None:
    """The models that prune, on skewed tables where the best node withholds some records."""
    given = data.draw(diverse("p", only_trees=True))
    rows = {name: column * 2 + column[:1] * 3 for name, column in given.case.rows.items()}
    sensitive = [column * 2 + column[:1] * 3 for column in given.sensitive]
    privacy = {"k": data.draw(st.integers(2, 6)), **({"p": 2} if kind == "p" else {})}
    skewed = Diverse(replace(given.case, rows=rows, k=privacy["k"]), sensitive, privacy, None, "increase")
    budget = data.draw(st.integers(1, max(1, len(sensitive[0]) // 3)))
    _, requirement, space, task = prepare(skewed, budget, data.draw(st.sampled_from(sorted(LIMITS))))
    objective = data.draw(st.sampled_from(["loss", "ncp", "granularity"]))
    expected = naive.optimum(task, OBJECTIVES[objective])
    found = find_optimum(space, requirement, budget, objective)  # type: ignore[arg-type]
    assert (None if found is None else found.node) == (None if expected is None else expected.node)


@pytest.mark.parametrize("kind", ["k", "p"])
@given(data=st.data())
@settings(max_examples=25)
def test_the_compiled_search_looks_at_the_nodes_that_the_plain_one_looks_at(kind: str, data: st.DataObject) -> None:
    _, requirement, space, task = draw_task(data, kind)
    objective = data.draw(st.sampled_from(["loss", "ncp", "granularity"]))
    compiled = find_optimum(space, requirement, task.budget, objective)  # type: ignore[arg-type]
    with patch.object(optimal, "KernelChecker", GeneralChecker):  # so that nothing is for the kernel
        plain = find_optimum(space, requirement, task.budget, objective)  # type: ignore[arg-type]
    assert compiled == plain


def test_a_compiled_search_ends_when_it_is_told_to() -> None:
    plan = lattices.plan().replace(method={"name": "lattice"}, rules=[]).settled()
    microdata = encode_table(read_table(lattices.people(0), plan), plan)
    space, requirement = make_space(microdata), Requirement(4)
    whole = find_optimum(space, requirement)

    def told_at_once(work: Any, *_: Any) -> None:
        work(0, 1, np.zeros(1, np.int64), np.ones(1, np.int64))

    with patch.object(optimal, "run_in_threads", told_at_once):
        ended = find_optimum(space, requirement)
    assert whole is not None
    assert ended is not None
    assert ended.checked < whole.checked
