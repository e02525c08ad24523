"""Levels that an expert chooses, what the expert says they are worth, and the list of nodes to choose from."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.lattice import failing_at, find_minimal, find_optimum, make_space, recode, search_research
from hedgerow.anonymization.lattice.research import level_values
from hedgerow.errors import NoSolution
from hedgerow.evaluation.exploration import explore
from hedgerow.evaluation.nodes import sort_keys
from hedgerow.measures.measured import Measured
from hedgerow.measures.research_value import column_values
from hedgerow.plan.concepts import objectives
from hedgerow.privacy import Requirement
from tests.cases.lattice import task_of
from tests.cases.research_value import ValueCase, value_cases
from tests.naive import lattice as naive
from tests.naive import research_search
from tests.naive.research_value import given_release_value

NEARLY = Fraction(1, 10**9)


def budgets(case: ValueCase) -> st.SearchStrategy[int]:
    return st.one_of(st.just(0), st.integers(0, len(case.given.sensitive[0])))


@pytest.mark.parametrize("kind", ["k", "p", "entropy", "mixed"])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_chosen_levels_are_kept_and_the_others_searched(kind: str, data: st.DataObject) -> None:
    case = data.draw(value_cases(kind, only_trees=True))
    plan = case.plan(method="lattice")
    microdata, _, task = task_of(case, plan, data.draw(budgets(case)))
    requirement = Requirement.of_plan(plan, microdata)
    node = data.draw(st.sampled_from(task.nodes()))
    names = list(case.attributes)
    chosen = {place: node[place] for place in data.draw(st.sets(st.integers(0, len(names) - 1)))}
    space = make_space(microdata, chosen={names[place]: level for place, level in chosen.items()})
    nodes = task.at_levels(chosen)
    feasible = [one for one in nodes if task.is_feasible(one)]
    assert space.nodes == len(nodes)
    found = find_optimum(space, requirement, task.budget)
    assert (found is None) == (not feasible)
    if found is not None:
        levels = tuple(space.named(found.node).values())
        assert levels in feasible
        scores = {one: naive.loss(task, task.evaluate(one)) for one in feasible}
        assert scores[levels] == min(scores.values())  # type: ignore[type-var]
        assert found.withheld == len(task.evaluate(levels).withheld)
    minimal = find_minimal(space, requirement, task.budget).minimal
    assert sorted(tuple(space.named(one).values()) for one in minimal) == sorted(
        one for one in feasible if not any(naive.is_below(other, one) for other in feasible)
    )


@pytest.mark.parametrize("kind", ["k", "p", "alpha", "equal"])
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_it_is_said_why_a_node_withholds(kind: str, data: st.DataObject) -> None:
    case = data.draw(value_cases(kind, only_trees=True, persons=data.draw(st.booleans())))
    plan = case.plan(method="lattice")
    microdata, _, task = task_of(case, plan, 0)
    node = data.draw(st.sampled_from(task.nodes()))
    found = failing_at(make_space(microdata), plan, Requirement.of_plan(plan, microdata), node)
    assert found.withheld == len(task.evaluate(node).withheld)
    told = dict(found.by_demand)
    assert told.pop(f"k = {task.k}", 0) == task.small(node)
    assert all(records > 0 for records in told.values())
    assert (found.withheld == 0) == (not found.by_demand)
    if kind == "k":
        assert not told


# -- what the expert says that levels are worth --------------------------------------------------------------------------


def with_worths(case: ValueCase, data: st.DataObject) -> tuple[Any, dict[str, list[Fraction]]]:
    plan = case.plan(method="lattice")
    microdata = case.encode(plan)
    worths = {}
    for column in microdata.columns:
        if data.draw(st.booleans()):
            levels = column.hierarchy.height + 1  # type: ignore[union-attr]
            asked = {"bands": len(case.attributes[column.name]["hierarchy"].get("bands", ())) + 2}
            levels = asked["bands"] if "bands" in case.attributes[column.name]["hierarchy"] else levels
            drawn = data.draw(st.lists(st.integers(0, 400), min_size=levels, max_size=levels))
            worths[column.name] = [Fraction(one, 4) for one in sorted(drawn, reverse=True)]
    value = {**case.value, "levels": {name: [str(float(w)) for w in part] for name, part in worths.items()}}
    if not worths:
        del value["levels"]
    return case.plan(method={"name": "lattice", "objective": "research-value"}, research_value=value), worths


@pytest.mark.parametrize("kind", ["k", "p", "entropy"])
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_searches_go_by_the_worths_that_are_given(kind: str, data: st.DataObject) -> None:
    case = data.draw(value_cases(kind, only_trees=True))
    plan, worths = with_worths(case, data)
    microdata, columns, task = task_of(case, plan, data.draw(budgets(case)))
    requirement = Requirement.of_plan(plan, microdata)
    scores = research_search.level_scores(task, columns, case.settings)
    for place, name in enumerate(case.attributes):
        if name in worths:
            scores[place] = worths[name][: len(scores[place])]
    space, values = make_space(microdata), column_values(microdata, plan)
    assert level_values(space, values) == scores
    best = research_search.exhaustive(task, scores)
    for search in ("exact", "global", "hybrid", "divided", "local"):
        found = search_research(space, requirement, task.budget, values, search, block=2)  # type: ignore[arg-type]
        if search != "local":
            assert found.proven
            assert (found.best is None) == (best.best is None), search
        if found.best is not None:
            assert best.best is not None
            most = research_search.score(scores, best.best)
            assert found.best.value == research_search.score(scores, found.best.node) <= most
            assert search == "local" or found.best.value >= most - NEARLY, search
            assert found.bound >= most - NEARLY, search


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_release_is_worth_what_its_nodes_are(data: st.DataObject) -> None:
    case = data.draw(value_cases("k", only_trees=True))
    plan, worths = with_worths(case, data)
    microdata, columns, task = task_of(case, plan, 0)
    space = make_space(microdata)
    node = data.draw(st.sampled_from(task.nodes()))
    release = recode(space, Requirement.of_plan(plan, microdata), node)
    measured = Measured(microdata, release, plan, None)
    evaluation = task.evaluate(node)
    kept = {i for group in evaluation.groups for i in group}
    for place, (name, column) in enumerate(zip(case.attributes, columns, strict=True)):
        if name in worths and "tree" in case.attributes[name]["hierarchy"]:
            tree = column.attribute.tree
            shown = [
                task.shown(place, record[place], node[place]) if i in kept else None
                for i, record in enumerate(task.records)
            ]
            assert measured.values[name] == given_release_value(tree, shown, worths[name])


# -- the list ------------------------------------------------------------------------------------------------------------


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_the_list_is_that_of_looking_at_every_node(data: st.DataObject) -> None:
    case = data.draw(value_cases(data.draw(st.sampled_from(["k", "p"])), only_trees=True))
    budget = data.draw(budgets(case))
    plan = case.plan(method="lattice", withhold={"at_most": budget})
    microdata, _, task = task_of(case, plan, budget)
    feasible = [node for node in task.nodes() if task.is_feasible(node)]
    minimal = naive.all_minimal(task)
    which = data.draw(st.sampled_from(["notable", "minimal", "best", "all"]))
    sort = data.draw(st.sampled_from(sort_keys()))
    most = data.draw(st.integers(1, 60))
    chosen = dict(zip(case.attributes, data.draw(st.sampled_from(task.nodes())), strict=True))
    found = explore(microdata, plan, which, sort, most, chosen)  # type: ignore[arg-type]
    assert (found.nodes, found.satisfying, found.minimal_nodes) == (len(task.nodes()), len(feasible), len(minimal))
    listed = [tuple(node.levels.values()) for node in found.listed]
    assert [node.number for node in found.listed] == list(range(1, len(listed) + 1))
    assert len(set(listed)) == len(listed) <= most
    assert set(listed) <= set(feasible)
    best = {tuple(node.levels.values()) for node in found.best.values()}
    wanted = {"notable": {*minimal, *best}, "minimal": set(minimal), "best": best, "all": set(feasible)}[which]
    assert set(listed) <= wanted
    assert len(listed) + found.left_out == len(wanted)
    assert found.left_out == 0 or len(listed) == most
    scores = {"loss": naive.loss, "ncp": naive.ncp, "granularity": naive.granularity,
              "discernibility": naive.discernibility, "group-size": naive.average}  # fmt: skip
    for node, levels in zip(found.listed, listed, strict=True):
        evaluation = task.evaluate(levels)
        sizes = [len(group) for group in evaluation.groups]
        assert (node.withheld, node.groups) == (len(evaluation.withheld), len(sizes))
        assert node.smallest == min(sizes, default=0)
        assert (node.minimal, node.chosen) == (levels in minimal, node.levels == chosen)
        for name, score in scores.items():
            expected = score(task, evaluation)
            assert node.scores[name] == (None if expected is None else pytest.approx(float(expected), abs=1e-6))
    for name, score in scores.items():
        if feasible:
            scored = [score(task, task.evaluate(node)) for node in feasible]
            least = min((one for one in scored if one is not None), default=None)
            told = found.best[name].scores[name]
            assert told == (None if least is None else pytest.approx(float(least), abs=1e-6)), name
    if sort == "entropy":  # what it is by definition: see test_entropy.py
        shown = [node.scores["entropy"] for node in found.listed if node.scores["entropy"] is not None]
        assert shown == sorted(shown)
    elif found.in_order:
        _assert_first(found, task, wanted, sort, scores)


def _assert_first(found: Any, task: naive.Task, wanted: set[naive.Levels], sort: str, scores: Any) -> None:
    """Whatever is left out is no better than what is listed."""

    def rank(levels: naive.Levels) -> float:
        evaluation = task.evaluate(levels)
        sizes = [len(group) for group in evaluation.groups]
        if sort in scores:
            score = scores[sort](task, evaluation)
            return float("inf") if score is None else float(score)
        return {"withheld": len(evaluation.withheld), "groups": -len(sizes), "smallest": -min(sizes, default=0),
                "levels": sum(levels)}[sort]  # fmt: skip

    if sort == "research-value":
        return  # the value of levels: see test_searches_go_by_the_worths_that_are_given
    listed = [tuple(node.levels.values()) for node in found.listed]
    ranks = [rank(levels) for levels in listed]
    assert ranks == pytest.approx(sorted(ranks), abs=2e-6)
    others = [rank(levels) for levels in wanted - set(listed)]
    assert not others or not ranks or min(others) >= max(ranks) - 2e-6


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_the_list_by_research_value_has_the_greatest_first(data: st.DataObject) -> None:
    case = data.draw(value_cases("k", only_trees=True))
    plan, worths = with_worths(case, data)
    microdata, columns, task = task_of(case, plan, 0)
    feasible = [node for node in task.nodes() if task.is_feasible(node)]
    assume(feasible)
    scores = research_search.level_scores(task, columns, case.settings)
    for place, name in enumerate(case.attributes):
        if name in worths:
            scores[place] = worths[name][: len(scores[place])]
    most = data.draw(st.integers(1, 20))
    found = explore(microdata, plan, "all", "research-value", most)
    expected = sorted((float(research_search.score(scores, node)) for node in feasible), reverse=True)
    assert [node.value for node in found.listed] == pytest.approx(expected[:most], abs=1e-6)
    assert found.best["research-value"].value == pytest.approx(expected[0], abs=1e-6)


def test_all_objectives_have_a_place_in_the_list() -> None:
    assert set(objectives()) <= set(sort_keys())


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_with_whole_levels_a_level_beyond_a_limit_cannot_be_chosen(data: st.DataObject) -> None:
    case = data.draw(value_cases("k", only_trees=True))
    microdata = case.encode(case.plan(method="lattice"))
    limited = [name for name, asked in case.attributes.items() if "limits" in asked]
    assume(limited)
    space = make_space(microdata, "whole-levels")
    for place, column in enumerate(space.columns):
        for level in range(column.hierarchy.height + 1):
            if level < space.shape[place]:
                assert make_space(microdata, "whole-levels", chosen={column.name: level}).shape[place] == 1
            else:
                with pytest.raises(NoSolution, match="limit"):
                    make_space(microdata, "whole-levels", chosen={column.name: level})
