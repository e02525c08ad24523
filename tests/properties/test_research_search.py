"""Searches by research value: the complete ones find what exhaustive search finds, and say what they looked at."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.lattice import Node, Patience, Research, Space, make_space, search_research
from hedgerow.anonymization.lattice.hash_checker import HashChecker
from hedgerow.anonymization.lattice.research import level_values
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import Microdata
from hedgerow.privacy import Requirement
from tests.cases.research_value import ValueCase, value_cases
from tests.cases.sensitive import codes_of, naive_demands
from tests.naive import research_search as naive
from tests.naive.lattice import Task

KINDS = ["k", "p", "entropy", "alpha", "hierarchical", "mixed"]
NEARLY = Fraction(1, 10**9)


def prepare(case: ValueCase, budget: int) -> tuple[Space, Requirement, tuple[Any, ...], Task, naive.Scores]:
    plan = case.plan(method="lattice")
    microdata = case.encode(plan)
    columns = [case.naive_column(column) for column in microdata.columns]
    records = [
        tuple(column.code(case.rows[name][i]) for column, name in zip(columns, case.attributes, strict=True))
        for i in range(microdata.records)
    ]
    codes = codes_of(case.given)
    demands = naive_demands(case.given, codes)
    attributes: Any = [column.attribute for column in columns]
    task = Task(attributes, records, plan.privacy.k, codes, demands, budget, "value", case.given.case.persons)
    scores = naive.level_scores(task, columns, case.settings)
    space = make_space(microdata, most_nodes=None)
    values = column_values(microdata, plan)
    assert level_values(space, values) == scores
    return space, Requirement.of_plan(plan, microdata), values, task, scores


def draw(data: st.DataObject, kind: str, persons: bool = False) -> tuple[Any, ...]:
    case = data.draw(value_cases(kind, persons=persons, only_trees=True))
    budget = data.draw(st.one_of(st.just(0), st.integers(0, len(case.given.sensitive[0]))))
    return prepare(case, budget)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_complete_searches_find_the_best(kind: str, data: st.DataObject) -> None:
    space, requirement, values, task, scores = draw(data, kind)
    best = naive.exhaustive(task, scores)
    for search in ("exact", "global", "hybrid", "divided"):
        found = search_research(space, requirement, task.budget, values, search, block=2)
        assert found.proven
        assert (found.best is None) == (best.best is None), search
        if found.best is not None and best.best is not None:
            assert found.best.value >= naive.score(scores, best.best) - NEARLY, search
            assert found.best.value == naive.score(scores, found.best.node)
            assert naive.passes(task, found.best.node)
            assert found.best.at_root == naive.success(task, scores, found.best.node).at_root


@pytest.mark.parametrize("kind", ["k", "p", "entropy"])
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_the_searches_of_the_thesis_go_the_same_way(kind: str, data: st.DataObject) -> None:
    space, requirement, values, task, scores = draw(data, kind)
    for search, reference in (
        ("global", naive.global_search),
        ("local", naive.local_search),
        ("hybrid", naive.hybrid_search),
    ):
        found = search_research(space, requirement, task.budget, values, search)  # type: ignore[arg-type]
        expected = reference(task, scores)
        assert (None if found.best is None else found.best.node) == expected.best, search
        assert found.tested == expected.tested
        assert found.succeeded == len(expected.successes)
        if search != "local":
            assert (found.generated, found.pruned) == (expected.generated, expected.pruned)
    divided = search_research(space, requirement, task.budget, values, "divided", block=2)
    expected = naive.divided_search(task, scores, block=2)
    assert (None if divided.best is None else divided.best.value) == (
        None if expected.best is None else naive.score(scores, expected.best)
    )


@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_with_a_person_key(data: st.DataObject) -> None:
    space, requirement, values, task, scores = draw(data, "k", persons=True)
    best = naive.exhaustive(task, scores)
    found = search_research(space, requirement, task.budget, values)
    assert (found.best is None) == (best.best is None)
    if found.best is not None and best.best is not None:
        assert found.best.value >= naive.score(scores, best.best) - NEARLY


@given(case=value_cases("p", only_trees=True, limits=False), data=st.data())
@settings(max_examples=35, deadline=None)
def test_hashed_checks_agree(case: ValueCase, data: st.DataObject) -> None:
    space, requirement, _, task, _ = prepare(case, 0)
    checker = HashChecker(space, requirement, salt=data.draw(st.integers(0, 3)))
    low = tuple(data.draw(st.integers(0, size - 1)) for size in space.shape)
    high = tuple(data.draw(st.integers(level, size - 1)) for level, size in zip(low, space.shape, strict=True))
    view = checker.roll_up(checker.base(), low)
    withheld = {node: task_withheld(task, node) for node in (low, high)}
    assert checker.check(checker.base(), low).withheld == withheld[low]
    assert checker.check(view, high).withheld == withheld[high]
    assert checker.check(checker.base(), high).withheld == withheld[high]


def task_withheld(task: Task, node: Node) -> int:
    groups: dict[Any, list[int]] = {}
    for number, record in enumerate(task.records):
        shown = tuple(task.shown(place, record[place], level) for place, level in enumerate(node))
        groups.setdefault(shown, []).append(number)
    return sum(len(group) for group in groups.values() if not task.holds(group))


# -- certificates, on tables too wide to look at every node ----------------------------------------------------------


def wide_table(attributes: int, records: int, seed: int) -> tuple[Microdata, Any, Any]:
    """A table of latent classes with deviations, hard for the search."""
    import pyarrow as pa

    from hedgerow.microdata import encode_table, read_table
    from hedgerow.plan import Plan

    random = np.random.default_rng(seed)
    classes = random.integers(0, 6, records)
    asked: dict[str, Any] = {}
    rows: dict[str, Any] = {}
    for j in range(attributes):
        centres = random.integers(0, 8, 6)
        values = centres[classes]
        stray = random.random(records) < random.choice([0.002, 0.02, 0.1])
        values = np.where(stray, random.integers(0, 8, records), values)
        rows[f"a{j}"] = [str(value) for value in values]
        tree = {"*": {"low": {"01": ["0", "1"], "23": ["2", "3"]}, "high": {"45": ["4", "5"], "67": ["6", "7"]}}}
        asked[f"a{j}"] = {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "weight": int(random.integers(1, 9))}
    raw = {"attributes": asked, "privacy": {"k": 3}, "method": "lattice"}
    plan = Plan.from_dict(raw)
    return encode_table(read_table(pa.table(rows), plan), plan), plan, rows


@pytest.mark.parametrize(("attributes", "share"), [(8, 0.0), (8, 0.05), (10, 0.0), (11, 0.02)])
def test_the_conflicts_prove_the_optimum(attributes: int, share: float) -> None:
    """Every conflict fails by an independent count, and escaping them all costs what the answer costs."""
    microdata, plan, rows = wide_table(attributes, 800, seed=attributes)
    space = make_space(microdata, most_nodes=None)
    requirement = Requirement.of_plan(plan, microdata)
    budget = int(share * microdata.records)
    values = column_values(microdata, plan)
    found = search_research(space, requirement, budget, values)
    assert found.proven
    assert found.best is not None
    assert found.strings == 4**attributes
    assert found.tested < found.strings
    steps = {str(v): (str(v), f"{v // 2 * 2}{v // 2 * 2 + 1}", "low" if v < 4 else "high", "*") for v in range(8)}

    def withheld(node: Node) -> int:
        counts: dict[Any, int] = {}
        for row in zip(*rows.values(), strict=True):
            key = tuple(steps[value][level] for value, level in zip(row, node, strict=True))
            counts[key] = counts.get(key, 0) + 1
        return sum(count for count in counts.values() if count < 3)

    assert withheld(found.best.node) <= budget
    assert all(withheld(conflict) > budget for conflict in found.conflicts)
    assert float(found.best.value) == pytest.approx(_best_escape(level_values(space, values), found))


def _best_escape(by_level: list[list[Fraction]], found: Research) -> float:
    """Greatest value of the strings that no conflict rules out, by looking at all of them."""
    values: Any = np.zeros(())
    for levels in by_level:
        values = np.add.outer(values, np.array([float(level) for level in levels]))
    for conflict in found.conflicts:
        values[tuple(slice(0, level + 1) for level in conflict)] = -1.0
    return float(values.max())


def test_a_search_that_is_stopped_says_how_far_it_is() -> None:
    microdata, plan, _ = wide_table(18, 800, seed=3)
    space = make_space(microdata, most_nodes=None)
    requirement = Requirement.of_plan(plan, microdata)
    values = column_values(microdata, plan)
    whole = search_research(space, requirement, 0, values)
    assert whole.best is not None
    bounds = []
    for checks in (200, 400, 800):
        part = search_research(space, requirement, 0, values, patience=Patience(checks=checks))
        again = search_research(space, requirement, 0, values, patience=Patience(checks=checks))
        assert part == again
        assert part.best is not None
        assert part.best.value <= whole.best.value <= part.bound + NEARLY
        bounds.append(part.bound)
    assert all(later <= earlier for earlier, later in itertools.pairwise(bounds))


def test_a_search_that_would_list_too_much_is_refused() -> None:
    from hedgerow.errors import NoSolution

    microdata, plan, _ = wide_table(14, 60, seed=1)
    space = make_space(microdata, most_nodes=None)
    with pytest.raises(NoSolution, match="would list"):
        search_research(space, Requirement(2), 0, column_values(microdata, plan), "global")
