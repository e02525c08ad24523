"""The reference of the searches by research value holds to cases worked out by hand and to exhaustive search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases.columns import HALF, PAIRS, PRODUCT, letters
from tests.naive import research_search as search
from tests.naive.attributes import TreeAttribute
from tests.naive.lattice import Task
from tests.naive.privacy import Alpha, Demands
from tests.naive.research_value import (
    Categories,
    Column,
    NumberTree,
    Rule,
    Settings,
    band_tree,
)
from tests.naive.trees import Tree

# ---- searches --------------------------------------------------------------------------------------------


def lattice_task(
    rows: Sequence[str],
    k: int,
    budget: int = 0,
    trees: Sequence[Tree] = (PAIRS, PAIRS),
    marked: Sequence[Sequence[str]] = ((), ()),
    limits: Any = "value",
    rules: Sequence[Sequence[Rule]] = ((), ()),
    chosen: Settings = PRODUCT,
    sensitive: Sequence[tuple[int | None, ...]] | None = None,
    p: int = 0,
) -> tuple[Task, list[list[Fraction]]]:
    attributes = [TreeAttribute(tree, frozenset(nodes)) for tree, nodes in zip(trees, marked, strict=True)]
    records = [tuple(a.code(value) for a, value in zip(attributes, row, strict=True)) for row in rows]
    values = [() for _ in rows] if sensitive is None else sensitive
    demands = Demands.counting([p] * len(values[0]), values)
    task = Task(attributes, records, k, values, demands, budget, limits)
    columns = [
        Categories(attribute, {record[place] for record in records}, rules[place])
        for place, attribute in enumerate(attributes)
    ]
    return task, search.level_scores(task, columns, chosen)


# Both attributes have levels 0, 1, 2 with values 1, 1/2, 1/4, halved. Alone, every value occurs twice; together,
# k = 2 holds from (1, 1) on: aa, ba make AA at (1, 1), and so on; (0, 1) and (1, 0) leave every record alone.
SQUARE = ["aa", "bb", "ab", "ba", "cc", "dd", "cd", "dc"]


def test_scores_of_levels() -> None:
    _, scores = lattice_task(SQUARE, 2)
    assert scores == [[Fraction(1, 2), Fraction(1, 4), Fraction(1, 8)]] * 2
    _, scores = lattice_task(SQUARE, 2, marked=[["A"], []])  # a and b stop at A; c and d go on
    assert scores[0] == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    _, scores = lattice_task(SQUARE, 2, rules=[[Rule("a", "b", 3), Rule("a", "c")], []])
    assert scores[0] == [Fraction(1, 2), Fraction(1, 16), 0]


def test_exhaustive_search_by_hand() -> None:
    task, scores = lattice_task(SQUARE, 2)
    found = search.exhaustive(task, scores)
    passed = [s.levels for s in found.successes]
    assert passed == [(0, 1), (1, 0), (0, 2), (1, 1), (2, 0), (1, 2), (2, 1), (2, 2)]  # (0, 1): aa, ab are aA
    assert found.best == (0, 1)  # of 3/4, as is (1, 0)
    assert (found.generated, found.tested, found.pruned) == (9, 9, 0)
    assert [s.at_root for s in found.successes] == [0, 0, 1, 0, 1, 1, 1, 2]


def test_a_budget_lets_some_records_go() -> None:
    task, scores = lattice_task([*SQUARE, "ac"], 2)
    assert search.exhaustive(task, scores).best == (0, 2)
    task, scores = lattice_task([*SQUARE, "ac"], 2, budget=1)
    assert search.exhaustive(task, scores).best == (0, 1)


def test_pre_pruning_by_hand() -> None:
    task, _ = lattice_task(["aa", "ab", "bc", "cd", "dd"], 2)
    assert search.surviving_levels(task) == ([[1, 2], [1, 2]], ())
    task, _ = lattice_task(["aa", "ab", "bc", "cd", "dd"], 2, budget=3)
    assert search.surviving_levels(task) == ([[0, 1, 2], [0, 1, 2]], ())
    task, scores = lattice_task(["ab", "ba", "cc"], 2, marked=[["A", "B"], []])
    assert search.surviving_levels(task) == ([[2], [2]], (0,))  # one record in B, for ever
    for found in all_searches(task, scores):
        assert found.best is None
    assert search.global_search(task, scores).dropped == (0,)


def all_searches(task: Task, scores: search.Scores) -> list[search.Search]:
    return [
        search.exhaustive(task, scores),
        search.global_search(task, scores),
        search.local_search(task, scores),
        search.hybrid_search(task, scores),
        search.divided_search(task, scores, 1),
        search.divided_search(task, scores),
    ]


def test_global_search_by_hand() -> None:
    task, scores = lattice_task(SQUARE, 2)
    found = search.global_search(task, scores)
    # Sorted: 22 (1/4), 21 12 (3/8), 11 (1/2), 20 02 (5/8), 10 01 (3/4), 00 (1). The fifth, 20, passes: what is
    # of lower value goes, and nothing is more general. Of 02 10 01 00 the third, 01, passes: 02 goes. Of 10 00 the
    # second fails, which leaves 10.
    assert found.trail == ((2, 0), (0, 1), (0, 0), (1, 0))
    assert [s.levels for s in found.successes] == [(2, 0), (0, 1), (1, 0)]
    assert found.best == (0, 1)
    assert (found.generated, found.tested, found.pruned) == (9, 4, 5)


def test_a_failure_prunes_what_is_more_specific() -> None:
    # As before, but nothing shares a value and the parent of the other. 20 passes; 01 fails and takes 00 away.
    task, scores = lattice_task(["aa", "ac", "bb", "bd", "cc", "ca", "dd", "db"], 2)
    found = search.global_search(task, scores)
    assert found.trail == ((2, 0), (0, 1), (1, 0), (0, 2))
    assert [s.levels for s in found.successes] == [(2, 0), (0, 2)]
    assert found.best == (0, 2)
    assert (found.generated, found.tested, found.pruned) == (9, 4, 5)


def test_strings_of_equal_value_are_not_pruned_by_a_success() -> None:
    task, scores = lattice_task(["aa", "bb", "cc", "dd", "ac", "db", "ca", "bd"], 4)
    found = search.global_search(task, scores)  # pre-pruned to 1 and 2; sorted: 22, 21, 12, 11
    assert found.trail == ((1, 2), (1, 1), (2, 1))
    assert found.best == (1, 2)


def test_local_search_by_hand() -> None:
    task, scores = lattice_task(SQUARE, 2)
    found = search.local_search(task, scores)
    assert found.trail == ((1, 1), (0, 0))  # 00 fails; back at 11 it stops
    assert found.best == (1, 1)
    assert (found.generated, found.tested, found.pruned) == (2, 2, 0)
    nothing_left, scores = lattice_task(["aa", "bb", "cc", "dd"] * 2, 9)
    assert search.local_search(nothing_left, scores).best is None


@pytest.mark.parametrize(
    ("rows", "trail"),
    [
        (["aa", "bb", "cc", "dd"] * 2, [2, 1, 0]),
        (["aa", "ab", "ba", "bc", "cb", "cc", "dd", "dd"], [2, 3, 4]),  # bc and cb are alone up to level 3
        (["aa", "bb", "ac", "bd", "ca", "db", "cc", "dd"], [2, 3]),  # XX, XY, YX, YY at level 3; 2 has failed
    ],
)
def test_local_search_moves_by_halves(rows: list[str], trail: list[int]) -> None:
    deep = Tree.from_nested({"*": {"X": {"U": {"A": ["a"]}, "V": {"B": ["b"]}}, "Y": {"W": {"C": ["c", "d"]}}}})
    task, scores = lattice_task(rows, 2, trees=[deep, deep])
    assert search.local_search(task, scores).trail == tuple((level, level) for level in trail)


def test_hybrid_search_by_hand() -> None:
    task, scores = lattice_task(SQUARE, 2)
    found = search.hybrid_search(task, scores)
    # Local: 11 passes (12, 21, 22 go), 00 fails. Left: 20 02 10 01; the third, 10, passes and 20 02 go; 01 passes.
    assert found.trail == ((1, 1), (0, 0), (1, 0), (0, 1))
    assert found.best == (0, 1)
    assert (found.generated, found.tested, found.pruned) == (9, 4, 5)


def test_divided_search_by_hand() -> None:
    task, scores = lattice_task(SQUARE, 2)
    found = search.divided_search(task, scores, 1)
    assert found.trail == ((0, 0), (0, 1))
    assert [s.levels for s in found.successes] == [(0, 1)]
    assert (found.generated, found.tested, found.pruned) == (3 + 3 + 9, 3 + 3 + 2, 7)
    whole = search.divided_search(task, scores, 2)  # one block: its 8 successes are the combinations
    assert whole.trail == ((0, 1),)
    assert (whole.generated, whole.tested, whole.pruned) == (9 + 8, 9 + 1, 7)


def test_attributes_at_their_root() -> None:
    task, scores = lattice_task(SQUARE, 2, marked=[["A"], []])
    assert search.success(task, scores, (2, 2)).at_root == 1  # a and b stop at A
    task, scores = lattice_task(["ax", "ax"], 2, trees=[Tree.flat("a"), Tree("x", {}, ("x",))])
    assert search.success(task, scores, (1, 0)).at_root == 1  # a tree of one value has no root to be at


def test_ties_go_to_fewest_at_the_root_then_to_lowest_levels() -> None:
    found = [
        search.Success((2, 0), Fraction(1, 2), 1),
        search.Success((1, 1), Fraction(1, 2), 0),
        search.Success((0, 2), Fraction(1, 4), 0),
        search.Success((1, 0), Fraction(1, 2), 1),
    ]
    assert search.best_of(found) == (1, 1)
    assert search.best_of([found[0], found[3]]) == (1, 0)


def test_a_root_is_not_worth_more_than_a_band_under_it() -> None:
    """37 to 39 span 3 as a whole and 10 as a band: were the root worth more, global search would miss the best."""
    tree, bounds = band_tree([37, 38, 39], [10])
    ages, letter = TreeAttribute(tree), TreeAttribute(Tree.flat("ab"))
    columns: list[Column] = [NumberTree(ages, [0, 1, 2], [], bounds), Categories(letter, [0, 1])]
    records = list(product(range(3), range(2)))
    task = Task([ages, letter], records, 3, [()] * 6, Demands((), (), ()))
    scores = search.level_scores(task, columns, PRODUCT)
    assert scores == [[Fraction(1, 2), Fraction(1, 20), Fraction(1, 20)], [Fraction(1, 2), Fraction(1, 4)]]
    assert search.exhaustive(task, scores).best == (1, 0)
    assert search.divided_search(task, scores, 1).best == (1, 0)
    assert search.global_search(task, scores).best == (1, 0)


@given(st.data())
@settings(deadline=None)
def test_searches_that_lose_nothing_find_what_exhaustive_search_finds(data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(letters, letters, letters).map("".join), min_size=1, max_size=14))
    p = data.draw(st.integers(0, 2))
    task, scores = lattice_task(
        rows,
        data.draw(st.integers(2, 4)),
        data.draw(st.integers(0, 3)),
        trees=[PAIRS, PAIRS, Tree.flat("abcd")],
        marked=[data.draw(st.sampled_from([[], ["A"], ["B"], ["*"], ["a"]])), [], []],
        limits=data.draw(st.sampled_from(["value", "attribute", "ignore"])),
        rules=[[Rule("a", "b", data.draw(st.integers(1, 3))), Rule("A", "B")], [Rule("a", "c")], []],
        chosen=data.draw(st.sampled_from([PRODUCT, HALF, Settings(Fraction(1))])),
        sensitive=[(data.draw(st.integers(0, 2)),) for _ in rows],
        p=p,
    )
    if data.draw(st.booleans()):  # a model that a group may lose as it grows
        models = [(*models, Alpha(0.5)) for models in task.demands.models]
        task = replace(task, demands=Demands.over(models, task.sensitive))
    exact = search.exhaustive(task, scores)
    exact_values = {s.levels: s.value for s in exact.successes}
    for found in [
        search.global_search(task, scores),
        search.hybrid_search(task, scores),
        search.divided_search(task, scores, 1),
        search.divided_search(task, scores, 2),
        search.divided_search(task, scores),
    ]:
        assert found.best == exact.best
        assert found.tested + found.pruned == found.generated
        assert len(set(found.trail)) == len(found.trail)
    local = search.local_search(task, scores)
    assert {s.levels: s.value for s in local.successes}.items() <= exact_values.items()
    if local.best is not None and exact.best is not None:
        assert exact_values[local.best] <= exact_values[exact.best]
    for levels in exact.trail:
        assert search.passes(task, levels) == task.is_feasible(levels)
