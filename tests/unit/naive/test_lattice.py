"""The reference of the lattice holds to the paper's figure, to what ARX finds and to brute force."""

from __future__ import annotations

import csv
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases.data import data
from tests.cases.models import COUNTING, GENERAL, coded, demands_over, trees
from tests.naive import lattice
from tests.naive.attributes import Record, TreeAttribute
from tests.naive.lattice import Task, all_minimal, optimum, samarati
from tests.naive.privacy import (
    Alpha,
    Demands,
    Distinct,
    Model,
    Sensitive,
)
from tests.naive.trees import Node, Tree

# ---- the lattice of PS Figure 3 --------------------------------------------------------------------------

FIGURE_3 = [
    ("M", "41076"),
    ("F", "41099"),
    ("M", "41099"),
    ("M", "41076"),
    ("F", "43102"),
    ("M", "43102"),
    ("M", "43102"),
    ("F", "43103"),
    ("M", "48202"),
    ("M", "48201"),
]
ZIPS = Tree.from_nested(
    {"*****": {"410**": ["41076", "41099"], "431**": ["43102", "43103"], "482**": ["48201", "48202"]}}
)
FIGURE_3_ATTRIBUTES = (TreeAttribute(Tree.flat("MF")), TreeAttribute(ZIPS))
FIGURE_3_RECORDS: list[Record] = [
    tuple(a.code(value) for a, value in zip(FIGURE_3_ATTRIBUTES, row, strict=True)) for row in FIGURE_3
]
NOTHING_SENSITIVE: list[Sensitive] = [()] * 10


def figure_3(budget: int) -> Task:
    demands = Demands.over([], NOTHING_SENSITIVE)
    return Task(FIGURE_3_ATTRIBUTES, FIGURE_3_RECORDS, 3, NOTHING_SENSITIVE, demands, budget)


def test_records_failing_3_anonymity_on_every_node() -> None:
    task = figure_3(0)
    assert {node: len(task.evaluate(node).withheld) for node in task.nodes()} == {
        (0, 0): 10,
        (0, 1): 7,
        (0, 2): 0,
        (1, 0): 7,
        (1, 1): 2,
        (1, 2): 0,
    }


@pytest.mark.parametrize(
    ("budgets", "minimal"),
    [
        (range(0, 2), [(0, 2)]),
        (range(2, 7), [(0, 2), (1, 1)]),
        (range(7, 10), [(0, 1), (1, 0)]),
        (range(10, 11), [(0, 0)]),
    ],
    ids=str,
)
def test_3_minimal_nodes_for_every_threshold(budgets: range, minimal: list[lattice.Levels]) -> None:
    for budget in budgets:
        assert all_minimal(figure_3(budget)) == minimal
        assert samarati(figure_3(budget)).node == minimal[0]


# ---- levels, limits, objectives --------------------------------------------------------------------------

UNEVEN = Tree.from_nested({"*": {"shallow": None, "deep": {"deeper": ["a", "b"], "c": None}}})


def uneven(limits: lattice.Limits, marked: list[str], present: str = "abc") -> Task:
    attribute = TreeAttribute(UNEVEN, frozenset(marked))
    records = [(attribute.code(leaf),) for leaf in present]
    sensitive: list[Sensitive] = [()] * len(records)
    return Task((attribute,), records, 1, sensitive, Demands.over([], sensitive), limits=limits)


def levels_of(task: Task) -> list[list[Node]]:
    return [[task.show(record, node)[0] for record in task.records] for node in task.nodes()]


def test_levels_climb_to_the_root() -> None:
    climb: list[list[Node]] = [["a", "b", "c"], ["deeper", "deeper", "deep"], ["deep", "deep", "*"], ["*", "*", "*"]]
    assert levels_of(uneven("ignore", ["deeper"])) == climb
    assert levels_of(uneven("attribute", [])) == climb
    assert levels_of(uneven("value", [])) == climb


def test_attribute_limits_cut_levels_by_the_leaves_present() -> None:
    assert levels_of(uneven("attribute", ["deep"])) == [["a", "b", "c"], ["deeper", "deeper", "deep"]]
    assert levels_of(uneven("attribute", ["deep"], "ab")) == [["a", "b"], ["deeper", "deeper"], ["deep", "deep"]]
    assert levels_of(uneven("attribute", ["shallow"], "a"))[-1] == ["*"]


def test_value_limits_stop_each_leaf_at_its_own() -> None:
    assert levels_of(uneven("value", ["deeper"])) == [
        ["a", "b", "c"],
        ["deeper", "deeper", "deep"],
        ["deeper", "deeper", "*"],
        ["deeper", "deeper", "*"],
    ]


def test_objectives_by_hand() -> None:
    # Level 2 shows deep, deep, *, *; c and shallow are one group of persons 3 and 3, so k = 2 withholds them.
    shared = TreeAttribute(UNEVEN)
    single = TreeAttribute(Tree.from_nested({"only": None}), weight=Fraction(3))
    records = [(shared.code(leaf), 0) for leaf in ("a", "b", "c", "shallow")]
    sensitive: list[Sensitive] = [()] * 4
    task = Task((shared, single), records, 2, sensitive, Demands.over([], sensitive), 4, persons=[1, 2, 3, 3])
    evaluation = task.evaluate((2, 0))
    assert evaluation == lattice.Evaluation((2, 0), [[0, 1]], [2, 3], 2)
    # The single value loses nothing where it is released.
    assert lattice.loss(task, evaluation) == (2 * Fraction(2, 3) + 2 + 3 * 2) / (4 * 4)
    assert lattice.ncp(task, evaluation) == (2 * Fraction(3, 4) + 2 + 3 * 2) / (4 * 4)
    assert lattice.granularity(task, evaluation) == (2 * Fraction(2, 3) + 2 + 3 * 2) / (4 * 4)
    assert lattice.discernibility(task, evaluation) == 4 + 4 * 2
    assert lattice.average(task, evaluation) == Fraction(4, 2)
    nothing = task.evaluate((0, 0))
    assert lattice.loss(task, nothing) == 1
    assert lattice.average(task, nothing) is None


def test_optimum_breaks_ties_by_withheld_then_height_then_levels() -> None:
    # Both nodes of height 1 make two groups of two: equal but for their levels.
    flat = TreeAttribute(Tree.flat("ab"))
    sensitive: list[Sensitive] = [()] * 4
    crossed = Task((flat, flat), [(0, 0), (0, 1), (1, 0), (1, 1)], 2, sensitive, Demands.over([], sensitive))
    best = optimum(crossed, lattice.discernibility)
    assert best == lattice.Optimum((0, 1), Fraction(8), 0)
    assert optimum(crossed, lattice.loss) == lattice.Optimum((0, 1), Fraction(1, 2), 0)
    # Releasing nothing scores 16, as one group of four does.
    lone = Task((flat,), [(0,), (0,), (1,), (1,)], 3, sensitive, Demands.over([], sensitive), budget=4)
    assert optimum(lone, lattice.discernibility) == lattice.Optimum((1,), Fraction(16), 0)
    never = Task((flat,), [(0,), (1,)], 3, sensitive[:2], Demands.over([], sensitive[:2]))
    assert optimum(never, lattice.loss) is None
    assert all_minimal(never) == []
    assert samarati(never).node is None


# ---- searches on generated tables ------------------------------------------------------------------------


@st.composite
def tasks(draw: st.DrawFn, models: list[list[list[Model]]], withholding: bool = True) -> Task:
    """Up to 9 records over two trees."""
    size = draw(st.integers(1, 9))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=size, max_size=size))

    attributes = []
    for _ in range(2):
        tree = draw(trees(most=7))
        attributes.append(TreeAttribute(tree, draw(st.frozensets(st.sampled_from(list(tree.paths)), max_size=2))))
    records: list[Record] = column(st.tuples(*(st.integers(0, len(a.tree.leaves) - 1) for a in attributes)))
    value = st.sampled_from([None, 0, 1, 1, 2])
    sensitive: list[Sensitive] = column(st.tuples(value, value))
    return Task(
        attributes,
        records,
        draw(st.integers(1, 3)),
        sensitive,
        demands_over(draw(st.sampled_from(models)), sensitive),
        draw(st.integers(0, size)) if withholding else 0,
        draw(st.sampled_from(["ignore", "attribute", "value"])),
        column(st.integers(0, 5)) if draw(st.booleans()) else None,
    )


def pairs(task: Task) -> list[tuple[lattice.Levels, lattice.Levels]]:
    """Every node with each node above it."""
    return [(low, high) for low in task.nodes() for high in task.nodes() if lattice.is_below(low, high)]


@given(tasks(COUNTING))
def test_what_must_be_withheld_shrinks_upwards_if_models_survive_growth(task: Task) -> None:
    withheld = {node: set(task.evaluate(node).withheld) for node in task.nodes()}
    assert all(withheld[high] <= withheld[low] for low, high in pairs(task))


@given(tasks(COUNTING + GENERAL, withholding=False))
def test_without_withholding_every_node_above_a_feasible_one_is_feasible(task: Task) -> None:
    feasible = {node: task.is_feasible(node) for node in task.nodes()}
    assert all(feasible[high] for low, high in pairs(task) if feasible[low])


@given(tasks(COUNTING), st.sampled_from(["sound", "off"]))
def test_samarati_finds_least_height_with_withholding(task: Task, condition_2: lattice.Condition2) -> None:
    assert samarati(task, condition_2).node == next(iter(all_minimal(task)), None)


@given(tasks(COUNTING + GENERAL, withholding=False), st.sampled_from(["sound", "printed", "off"]))
def test_samarati_finds_least_height_without_withholding(task: Task, condition_2: lattice.Condition2) -> None:
    assert samarati(task, condition_2).node == next(iter(all_minimal(task)), None)


@given(tasks(COUNTING))
def test_an_optimum_is_feasible_and_no_feasible_node_beats_it(task: Task) -> None:
    for objective in (lattice.loss, lattice.ncp, lattice.granularity, lattice.discernibility):
        best = optimum(task, objective)
        scores = [objective(task, task.evaluate(node)) for node in task.nodes() if task.is_feasible(node)]
        assert (None if best is None else best.score) == min(scores, default=None)
        assert best is None or task.is_feasible(best.node)


def one_attribute(leaves: str, letters: str, k: int, models: list[Model], budget: int, tree: Tree) -> Task:
    attribute = TreeAttribute(tree)
    sensitive: list[Sensitive] = [(ord(letter) - ord("a"),) for letter in letters]
    records = [(attribute.code(leaf),) for leaf in leaves]
    return Task((attribute,), records, k, sensitive, Demands.over([models], sensitive), budget)


def test_condition_2_as_printed_loses_nodes_when_records_may_be_withheld() -> None:
    # Two records differ from the most frequent value, so two groups at most; y and z may be withheld.
    task = one_attribute("wwxxyz", "abacaa", 2, [Distinct(2)], 2, Tree.flat("wxyz"))
    assert all_minimal(task) == [(0,)]
    assert samarati(task, "printed") == lattice.Found((1,), checked=1, skipped=1)
    assert samarati(task, "off") == samarati(task) == lattice.Found((0,), checked=1, skipped=0)


def test_condition_2_skips_only_the_node() -> None:
    # Four groups on level (0, 1) are too many, the two on (1, 0) are not.
    many, few = TreeAttribute(Tree.flat("abcd")), TreeAttribute(Tree.flat("ab"))
    records = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]
    sensitive: list[Sensitive] = [(0,), (0,), (1,), (2,), (0,), (0,), (0,), (0,)]
    task = Task((many, few), records, 2, sensitive, Demands.counting([2], sensitive))
    assert samarati(task) == lattice.Found((1, 0), checked=1, skipped=2)
    assert all_minimal(task) == [(1, 0)]


def test_binary_search_may_miss_when_models_do_not_survive_growth() -> None:
    # Level 0 releases x (a, b) and withholds y; any level above mixes in too many a.
    tree = Tree.from_nested({"*": {"upper": {"middle": ["x", "y"]}}})
    task = one_attribute("xxyy", "abaa", 2, [Alpha(0.5)], 2, tree)
    assert all_minimal(task) == [(0,)]
    assert samarati(task).node is None


# ---- Adult as ARX ships it -------------------------------------------------------------------------------

ARX_COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
ARX_COLUMNS += ["salary-class"]
BY_CASE = {
    "nothing withheld": ([0, 4, 1, 1, 3, 2, 2, 1, 0], None, 0, 0.635544),
    "5 % withheld": ([0, 3, 0, 0, 2, 1, 1, 2, 0], None, 1346, 0.269635),
    "occupation sensitive": ([0, 3, 0, 0, 2, 1, 1, 0], "occupation", 1400, 0.179877),
}


def arx_rows(name: str) -> list[list[str]]:
    (file,) = data(f"arx-adult/{name}")
    with file.open(encoding="utf-8", newline="") as lines:
        return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=";")]


def arx_attribute(column: str) -> TreeAttribute:
    """The hierarchy file of a column; a node is its level and label."""
    paths = [list(enumerate(row)) for row in arx_rows(f"adult_hierarchy_{column}.csv")]
    parents: dict[Node, Node] = {low: high for path in paths for low, high in pairwise(path)}
    return TreeAttribute(Tree.from_parents(parents, [path[0] for path in paths]))


@pytest.mark.parametrize("case", BY_CASE)
def test_the_nodes_that_arx_finds_score_as_in_arx(case: str) -> None:
    levels, sensitive_column, withheld, score = BY_CASE[case]
    columns = [column for column in ARX_COLUMNS if column != sensitive_column]
    header, *rows = arx_rows("adult.csv")
    attributes = [arx_attribute(column) for column in columns]
    places = [header.index(column) for column in columns]
    records = [tuple(a.code((0, row[p])) for a, p in zip(attributes, places, strict=True)) for row in rows]
    sensitive: list[Sensitive] = [()] * len(rows)
    models: list[list[Model]] = []
    if sensitive_column is not None:
        sensitive = coded([(row[header.index(sensitive_column)],) for row in rows])
        models = [[Distinct(3)]]
    task = Task(attributes, records, 5, sensitive, Demands.over(models, sensitive), len(rows) // 20)
    evaluation = task.evaluate(tuple(levels))
    assert len(evaluation.withheld) == withheld
    assert float(lattice.granularity(task, evaluation)) == pytest.approx(score, abs=5e-7)
