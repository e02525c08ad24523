"""The naive references of stage 3 hold to the specification's vectors (SPEC 7) and to cases worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import sqrt
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive import association, utility
from tests.naive import research_search as search
from tests.naive.attributes import FreeAttribute, Record, TreeAttribute
from tests.naive.cells import cells
from tests.naive.lattice import Task
from tests.naive.privacy import Alpha, Demands
from tests.naive.research_value import (
    MISSING,
    Categories,
    Column,
    FreeNumbers,
    NumberTree,
    Rule,
    Settings,
    band_tree,
    cluster_value,
    combine,
    cut_tree,
    level_value,
    normalized_weights,
    release_value,
    release_values,
    rule_ratio,
    shown_value,
    step_of,
    string_value,
    with_missing,
)
from tests.naive.trees import Tree
from tests.naive.utility import UNIT, Cluster, Clusters, cluster, gain, published, weight_units

PRODUCT = Settings()
HALF = Settings(blend=Fraction(1, 2))
LETTERS = Tree.from_nested({"*": {"A": ["a", "b"], "B": {"C": ["c", "d"], "e": None}}})
PAIRS = Tree.from_nested({"*": {"A": ["a", "b"], "B": ["c", "d"]}})


def fractions(*numbers: float | str) -> list[Fraction]:
    return [Fraction(str(number)) for number in numbers]


def free(values: Sequence[Any], rules: Sequence[Rule] = (), **limits: Any) -> FreeNumbers:
    return FreeNumbers(FreeAttribute.over(values, **limits), rules)


def categories(
    tree: Tree, values: Sequence[str], rules: Sequence[Rule] = (), marked: Sequence[str] = (), weight: int = 1
) -> Categories:
    attribute = TreeAttribute(tree, frozenset(marked), Fraction(weight))
    return Categories(attribute, {attribute.code(value) for value in values}, rules)


def bands(values: Sequence[Any], widths: Sequence[Any], rules: Sequence[Rule] = (), weight: int = 1) -> NumberTree:
    tree, bounds = band_tree(values, widths)
    return NumberTree(TreeAttribute(tree, weight=Fraction(weight)), range(len(tree.leaves)), rules, bounds)


# ---- spans -----------------------------------------------------------------------------------------------


def test_steps() -> None:
    assert step_of(fractions(3, -7, 0)) == 1
    assert step_of(fractions(3, "0.5")) == Fraction(1, 10)
    assert step_of(fractions("0.25", 10)) == Fraction(1, 100)
    assert step_of([]) == 1
    with pytest.raises(ValueError, match="decimal places"):
        step_of([Fraction(1, 3)])


def test_spans_of_free_intervals() -> None:
    ages = free([30, 32, 42])
    assert [ages.span(0, 0), ages.span(0, 1), ages.span(0, 2)] == [1, 3, 13]
    assert ages.whole_span == 13
    halves = free(["1.5", "2", "4"])
    assert [halves.span(0, 0), halves.span(0, 1), halves.whole_span] == [1, 6, 26]


def test_a_missing_number_spans_one_and_breaks_nothing() -> None:
    ages = free([30, 40], [Rule(30, 40)])
    assert ages.code(None) == 2
    assert ages.span(2, 2) == 1
    assert ages.broken(2, 2) == []
    assert ages.cell(2) != ages.cell(0) == ages.cell(1)


def test_spans_of_snapped_intervals() -> None:
    ages = FreeNumbers(FreeAttribute.over([30, 40]), [Rule(34, 35), Rule(44, 45)], Fraction(5), Fraction(1))
    assert [ages.code(32), ages.code(40), ages.code(44)] == [0, 1, 1]
    assert ages.ends_of((0, 0)) == (Fraction(30), Fraction(34))
    assert [ages.span(0, 0), ages.span(0, 1)] == [5, 15]
    assert ages.broken(0, 0) == []
    assert ages.broken(0, 1) == [Rule(34, 35)]
    finer = FreeNumbers(FreeAttribute.over([3, 4]), snap=Fraction(1, 2), step=Fraction(1))
    assert [finer.span(0, 0), finer.span(0, 1)] == [1, 2]  # the grid is finer than the numbers


def test_spans_of_bands() -> None:
    ages = bands([37, 39, 41, None], [5, 20])
    tree = ages.attribute.tree
    assert tree.leaves == (37, 39, 41, MISSING)
    assert tree.paths[Fraction(41)] == (41, (1, 40, 45), (2, 40, 60), "*")
    assert [ages.span_of(node) for node in tree.paths[Fraction(37)]] == [1, 5, 20, 20]  # the root: at least its bands
    assert ages.span(0, 1) == 5
    assert ages.span(0, 2) == 20
    assert [ages.span(3, 3), ages.span(2, 3)] == [1, 20]  # missing; a root above numbers and missing
    assert ages.code(None) == 3
    assert ages.code(39) == 1
    tenths = bands(["37.5", "38"], [5])
    assert tenths.span(0, 1) == 50
    assert bands([3, 4], ["0.5"]).span_of((1, 3, Fraction(7, 2))) == 1  # never less than one value
    assert bands([3, 4], ["2.5"]).span(0, 1) == 2  # 2.5 to 5: a whole number


def test_spans_of_cuts() -> None:
    tree, bounds = cut_tree([7, 25, 30], [[0, 20, 30, 40], [0, 20, 40]])
    ages = NumberTree(TreeAttribute(tree), [0, 1, 2], [], bounds)
    assert [ages.span_of(node) for node in tree.paths[Fraction(25)]] == [1, 10, 20, 24]
    assert ages.span(1, 2) == 20


def test_spans_of_a_numeric_tree_reach_over_leaves_that_do_not_occur() -> None:
    tree = Tree.from_nested({"*": {"low": ["1", "2", "4"], "high": ["8", "9", "unknown"]}})
    grades = NumberTree(TreeAttribute(tree), [0, 1, 3])
    assert [grades.span_of(node) for node in ("1", "low", "high", "*", "unknown")] == [1, 4, 2, 9, 1]
    assert grades.whole_span == 9  # as the root, although only 1 to 8 occur
    assert grades.code(8) == grades.code("8") == 3


def test_spans_of_categories_count_values_that_occur() -> None:
    letters = categories(LETTERS, ["a", "c", "d", "e"])
    assert [letters.span_of(node) for node in ("a", "b", "A", "C", "B", "*")] == [1, 1, 1, 2, 3, 4]
    assert letters.whole_span == 4
    assert letters.show(2, 4) == "B"
    missing = categories(with_missing(LETTERS), ["a", MISSING])
    assert missing.code(None) == 5
    assert missing.span(0, 5) == 2


# ---- rules -----------------------------------------------------------------------------------------------


def test_rules_over_ranges() -> None:
    retirement = Rule(64, 65, 25)
    ages = free([60, 64, 65, 70], [retirement])
    broken = [(lo, hi) for lo, hi in product(range(4), repeat=2) if lo <= hi and ages.broken(lo, hi)]
    assert broken == [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert not bands([60, 64], [5], [retirement]).broken(0, 1)  # 60-64
    assert bands([60, 61], [10], [retirement]).broken(0, 1)  # 60-69, though nobody there is over 61
    assert bands([60, 64], [50], [retirement]).breaks(retirement, "*")  # the root, though nobody is over 64
    wide = Rule(63, 67)
    assert not free([63, 66], [wide]).broken(0, 1)  # must reach both


def test_rules_over_nodes() -> None:
    letters = categories(LETTERS, "abcde", [Rule("A", "e"), Rule("a", "b"), Rule("c", "e")])
    kept = {node: [rule.one for rule in letters.broken_by([node])] for node in LETTERS.paths}
    assert kept == {"a": [], "b": [], "c": [], "d": [], "e": [], "A": ["a"], "C": [], "B": ["c"], "*": ["A", "a", "c"]}
    assert [rule.one for rule in letters.broken_by(["A", "B", None])] == ["a", "c"]


def test_rule_ratio_of_the_specification() -> None:
    # rv-example.json: White|Hispanic 5, White|Black 20, Hispanic|Black 10, Hispanic|Asian 5; one level mixes two.
    tree = Tree.from_nested({"*": {"Minority": ["Hispanic", "Black"], "White": None, "Asian": None}})
    rules = [
        Rule("White", "Hispanic", 5),
        Rule("White", "Black", 20),
        Rule("Hispanic", "Black", 10),
        Rule("Hispanic", "Asian", 5),
    ]
    race = categories(tree, tree.leaves, rules)  # type: ignore[arg-type]
    broken = race.broken_by(["Minority", "White", "Asian"])
    assert rule_ratio(rules, broken, Fraction(0)) == Fraction(3, 4)
    assert rule_ratio(rules, broken, Fraction(10)) == Fraction(40, 50)
    assert rule_ratio(rules, rules, Fraction(0)) == 0
    assert rule_ratio([], [], Fraction(0)) == rule_ratio([], [], Fraction(7)) == 1


# ---- values ----------------------------------------------------------------------------------------------


def test_research_value_of_the_specification() -> None:
    # rv-example.json: 25 records of span 10, 45 of span 15, 55 of span 25, rules 50 of 100 kept, weight 0.2.
    numbers = [*range(0, 10, 2), *range(10, 25, 5), *range(25, 50, 5)]
    counts = [5] * 5 + [15] * 3 + [11] * 5
    tree, bounds = cut_tree(numbers, [[0, 10, 25, 50]])
    attribute = TreeAttribute(tree, weight=Fraction(1))
    amount = NumberTree(attribute, range(len(numbers)), [Rule(5, 6, 30), Rule(24, 25, 50), Rule(12, 13, 20)], bounds)
    other = categories(Tree.flat("xy"), "x", weight=4)
    codes = [code for code, count in enumerate(counts) for _ in range(count)]
    shown = [tree.paths[tree.leaves[code]][1] for code in codes]
    assert len(codes) == 125
    assert sum(amount.span_of(node) for node in shown) == 2300
    weight = normalized_weights([amount, other])[0]
    assert weight == Fraction(1, 5)
    value = weight * level_value(amount, codes, shown, PRODUCT)
    assert value == Fraction(1, 5) * Fraction(125, 2300) * Fraction(1, 2)
    assert float(value) == pytest.approx(0.005434782608695652)
    rows = [(node, "x") for node in shown]
    assert string_value([amount, other], [(code, 0) for code in codes], rows, PRODUCT) == value + Fraction(4, 5)


def test_level_0_is_worth_its_weight() -> None:
    columns: list[Column] = [categories(LETTERS, "abe", [Rule("a", "b")]), bands([1, 7], [5], [Rule(6, 7)], weight=3)]
    records = [(0, 0), (1, 0), (4, 1)]
    rows = [tuple(c.show(code, code) for c, code in zip(columns, record, strict=True)) for record in records]
    for chosen in (PRODUCT, HALF, Settings(Fraction(3))):
        assert string_value(columns, records, rows, chosen) == 1
        assert release_value(columns, records, rows, chosen) == 1


def test_product_and_blend() -> None:
    g, ratio = Fraction(1, 3), Fraction(3, 4)
    assert combine(g, ratio, PRODUCT) == Fraction(1, 4)
    assert combine(g, ratio, HALF) == Fraction(13, 24)
    assert combine(g, ratio, Settings(blend=Fraction(1))) == g
    assert combine(g, ratio, Settings(blend=Fraction(0))) == ratio


def test_value_of_a_cluster() -> None:
    letters = categories(LETTERS, "abcde", [Rule("c", "e", 3), Rule("a", "b")], weight=3)
    ages = free([10, 14], [Rule(12, 13)])
    assert shown_value(letters, "B", PRODUCT) == Fraction(1, 3) * Fraction(1, 4)
    assert shown_value(letters, "B", Settings(Fraction(4), Fraction(1, 4))) == Fraction(1, 12) + Fraction(15, 32)
    assert shown_value(ages, (0, 1), PRODUCT) == 0
    assert cluster_value([letters, ages], ["B", (0, 0)], PRODUCT) == Fraction(3, 4) * Fraction(1, 12) + Fraction(1, 4)


def test_value_of_a_release_with_withheld_and_suppressed_cells() -> None:
    letters = categories(LETTERS, "aabce", [Rule("a", "b"), Rule("c", "e")])
    ages = free([10, 11, 19], [Rule(10, 11), Rule(11, 19)])
    records = [(0, 0), (0, 1), (1, 1), (2, 2), (4, 0)]
    rows = [("a", (0, 0)), ("A", None), ("A", (1, 1)), None, (None, (0, 1))]
    # a: mean of 1 and 1/2; b: 1/2; c withheld and e suppressed: 1/4 each; 4 values.
    letters_value = (Fraction(3, 4) + Fraction(1, 2) + Fraction(1, 4) + Fraction(1, 4)) / 4 * Fraction(1, 2)
    ages_value = Fraction(5, 1 + 10 + 1 + 10 + 2) * Fraction(1, 2)  # the whole spans 10
    assert release_values([letters, ages], records, rows, PRODUCT) == [letters_value / 2, ages_value / 2]
    assert release_value([letters, ages], records, rows, PRODUCT) == (letters_value + ages_value) / 2
    nothing = release_value([letters, ages], records, [None] * 5, PRODUCT)
    assert nothing == (Fraction(1, 4) + Fraction(1, 10)) / 2


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=1, max_size=12), st.data())
def test_a_recoded_release_is_worth_what_its_string_is(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    """If all leaves are equally deep; otherwise one level may show a node and one above it (see below)."""
    letters = categories(PAIRS, [str(PAIRS.leaves[code]) for code, _ in rows], [Rule("a", "b"), Rule("A", "B", 2)])
    numbers = bands([number for _, number in rows], [2, 6], [Rule(3, 4), Rule(6, 7)])
    columns: list[Column] = [letters, numbers]
    records = [(code, numbers.code(number)) for code, number in rows]
    levels = data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
    shown = [
        tuple(
            path[min(level, len(path) - 1)]
            for column, code, level in zip(columns, record, levels, strict=True)
            for path in [column.attribute.tree.paths[column.attribute.tree.leaves[code]]]
        )
        for record in records
    ]
    for chosen in (PRODUCT, HALF, Settings(Fraction(1))):
        assert release_value(columns, records, shown, chosen) == string_value(columns, records, shown, chosen)


def test_a_level_that_shows_a_node_and_one_above_it_is_worth_more_than_its_release() -> None:
    uneven = categories(LETTERS, "ce")
    records, shown = [(2,), (4,)], [("C",), ("B",)]  # c and e, one step up
    assert string_value([uneven], records, shown, PRODUCT) == 1  # two values of two
    assert release_value([uneven], records, shown, PRODUCT) == Fraction(3, 4)  # B might be c too


# ---- association -----------------------------------------------------------------------------------------


def test_cramers_v_by_hand() -> None:
    one, other = "xxxxyyyy", "aaabbbba"
    assert association.cramers_v(one, "aaabbbba") == pytest.approx(sqrt(1 / 8))  # (1/4 − 1/7) / (6/7)
    assert association.cramers_v(one, one) == pytest.approx(1)
    assert association.cramers_v("xxyy", "abab") == 0  # independent: below the correction
    assert association.cramers_v(one, "aaaaaaaa") == 0
    assert association.cramers_v("abcd", "abcd") == 0  # every value once: nothing left to divide by
    assert association.cramers_v(other, one) == association.cramers_v(one, other)
    assert association.cramers_v([None, None, "x", "x"], "aabb") == pytest.approx(1)  # missing is a category


def test_correlation_ratio_by_hand() -> None:
    assert association.correlation_ratio([1, 2, 3, 4], "aabb") == pytest.approx(sqrt(4 / 5))
    assert association.correlation_ratio([1, 2, None, 3, 4], "aaabb") == pytest.approx(sqrt(4 / 5))
    assert association.correlation_ratio([1, 2, 3, 4], [None, None, "b", "b"]) == pytest.approx(sqrt(4 / 5))
    assert association.correlation_ratio([5, 5, 5], "abc") == 0
    assert association.correlation_ratio([1, 2, 3], "aaa") == 0
    assert association.correlation_ratio([None, None], "ab") == 0


def test_spearman_by_hand() -> None:
    assert association.average_ranks([10, 20, 20, 30]) == [1, Fraction(5, 2), Fraction(5, 2), 4]
    assert association.spearman([10, 20, 20, 30], [1, 2, 3, 4]) == pytest.approx(sqrt(0.9))
    assert association.spearman([1, 2, 3], [9, 4, 1]) == pytest.approx(1)
    assert association.spearman([1, None, 2, 3], [9, 0, 4, 1]) == pytest.approx(1)
    assert association.spearman([1, 2, 3], [4, 4, 4]) == 0
    assert association.spearman([], []) == 0


def test_weights_from_association() -> None:
    same, numbers, constant = "xxxxyyyy", [1, 1, 1, 1, 2, 2, 2, 2], ["c"] * 8
    columns: list[Any] = [same, numbers, constant]
    numeric = [False, True, False]
    assert association.association_matrix(columns, numeric) == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert association.association_weights(columns, numeric) == [0.25, 0.25, 0.5]
    assert association.association_weights([same, same], [False, False]) == [0.5, 0.5]  # both at the least
    assert association.association_weights([same, numbers, same], numeric) == [0.333333] * 3
    assert association.association_weights([same], [False]) == [1]


kinds = st.lists(st.booleans(), min_size=2, max_size=4)


@given(kinds, st.data())
def test_associations_are_symmetric_shares(numeric: list[bool], data: st.DataObject) -> None:
    records = data.draw(st.integers(1, 12))
    value = st.one_of(st.none(), st.integers(0, 3))
    columns = [data.draw(st.lists(value, min_size=records, max_size=records)) for _ in numeric]
    matrix = association.association_matrix(columns, numeric)
    for x, y in combinations(range(len(numeric)), 2):
        assert matrix[x][y] == matrix[y][x]
        assert 0 <= matrix[x][y] <= 1 + 1e-12
    assert sum(association.association_weights(columns, numeric)) == pytest.approx(1, abs=1e-5)


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


letters = st.sampled_from("abcd")


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


# ---- clustering ------------------------------------------------------------------------------------------


def one_column(column: Column, values: Sequence[Any]) -> list[Record]:
    return [(column.code(value),) for value in values]


def member_sets(found: Clusters) -> list[list[int]]:
    return [list(group.members) for group in found.clusters]


def test_gains_by_hand() -> None:
    ages = free([10, 14], [Rule(12, 13, Fraction(1, 3)), Rule(20, 21, Fraction(1, 2))])
    assert weight_units([ages, ages, ages]) == [UNIT // 3] * 3
    assert utility.rules_kept(ages, (0, 1), Fraction(1, 4)) == (9, 13)
    assert gain(ages, 1000, (0, 1), PRODUCT) == (1000 * 3 // 5) // 5
    assert gain(ages, 1000, (0, 0), PRODUCT) == 1000
    blend = Settings(blend=Fraction(2, 7))
    assert gain(ages, 1000, (0, 1), blend) == 2000 // 35 + 714 * 3 // 5
    assert gain(free([10, 14]), 1000, (0, 1), PRODUCT) == 200
    assert utility.ncp_cost(ages, 1000, (0, 1)) == 1000
    assert utility.ncp_cost(free([7]), 1000, (0, 0)) == 0
    letter = categories(LETTERS, "abcd")
    assert [utility.ncp_cost(letter, 1000, range_) for range_ in [(0, 0), (0, 1), (2, 4)]] == [0, 500, 500]
    assert [utility.euclidean_cost(letter, range_) for range_ in [(0, 0), (0, 1), (0, 4)]] == [0, 1, 3]
    assert utility.euclidean_cost(free(["1.5", "2"]), (0, 1)) == 5


@pytest.mark.parametrize("method", ["utility", "bottom-up", "euclidean"])
def test_numbers_join_their_neighbours(method: utility.Method) -> None:
    values = [11, 1, 12, 2, 10]
    column = free(values)
    found = cluster([column], one_column(column, values), 2, method)
    # 1 into 2; 10 into 11; 12 into 10-11, for 1-2 is further.
    assert found == Clusters(
        (
            Cluster((0, 1), ((0, 1),), frozenset(), 0),
            Cluster((2, 3, 4), ((2, 4),), frozenset(), 0),
        ),
        (),
    )


def test_ties_go_to_the_lowest_cluster() -> None:
    values = [0, 0, 2, 4, 4]
    column = free(values)
    assert member_sets(cluster([column], one_column(column, values), 2)) == [[0, 1, 2], [3, 4]]


def test_rules_send_a_record_elsewhere() -> None:
    values = [1, 3, 4, 8]
    plain = free(values)
    assert member_sets(cluster([plain], one_column(plain, values), 2)) == [[0, 1, 2, 3]]
    ruled = free(values, [Rule(3, 4)])  # 1 and 3 join; 4 then prefers 8, span 5, to a broken span of 4
    assert member_sets(cluster([ruled], one_column(ruled, values), 2)) == [[0, 1], [2, 3]]
    mild = Settings(base=Fraction(9))  # 9/10 of 1/4 is more than 1/5
    assert member_sets(cluster([ruled], one_column(ruled, values), 2, settings=mild)) == [[0, 1, 2, 3]]
    assert member_sets(cluster([ruled], one_column(ruled, values), 2, settings=HALF)) == [[0, 1], [2, 3]]
    assert member_sets(cluster([ruled], one_column(ruled, values), 2, "bottom-up")) == [[0, 1, 2, 3]]


def test_limits_withhold_small_cells_and_keep_cells_apart() -> None:
    values = [1, 2, 3, 9, 20, 21]
    column = free(values, cuts=[3, 10])
    found = cluster([column], one_column(column, values), 2)
    assert member_sets(found) == [[0, 1], [2, 3], [4, 5]]
    column = free(values, cuts=[3, 9, 10])
    assert cluster([column], one_column(column, values), 2).withheld == (2, 3)
    column = free(values, width=1)  # runs 1-2 or 2-3, and 20-21
    found = cluster([column], one_column(column, values), 2)
    assert member_sets(found) == [[0, 1], [4, 5]]
    assert found.withheld == (2, 3)


def test_missing_numbers_stay_among_their_own() -> None:
    values = [1, None, 2, None, 3]
    column = free([1, 2, 3])
    found = cluster([column], one_column(column, values), 2)
    assert member_sets(found) == [[0, 1, 2], [3, 4]]
    assert published([column], found) == [((0, 2),)] * 3 + [((3, 3),)] * 2
    assert cluster([column], one_column(column, values), 3).withheld == (3, 4)


def test_different_sensitive_values_are_counted() -> None:
    values = [1, 1, 5, 5]
    column = free(values)
    sensitive: list[tuple[int | None, ...]] = [(0,), (0,), (0,), (1,)]
    demands = Demands.counting([2], sensitive)
    found = cluster([column], one_column(column, values), 2, sensitive=sensitive, demands=demands)
    assert member_sets(found) == [[0, 1, 2, 3]]
    assert member_sets(cluster([column], one_column(column, values), 2)) == [[0, 1], [2, 3]]
    sensitive[3] = (0,)  # no two values anywhere
    found = cluster([column], one_column(column, values), 2, sensitive=sensitive, demands=demands)
    assert found == Clusters((), (0, 1, 2, 3))


def test_persons_and_other_models_are_met_by_rounds() -> None:
    values = [1, 1, 2, 2, 9, 9]
    column = free(values)
    records = one_column(column, values)
    assert member_sets(cluster([column], records, 2, persons=[0, 0, 1, 1, 2, 3])) == [[0, 1, 2, 3], [4, 5]]
    sensitive: list[tuple[int | None, ...]] = [(0,), (0,), (0,), (1,), (0,), (1,)]
    demands = Demands.over([[Alpha(0.75)]], sensitive)
    found = cluster([column], records, 2, sensitive=sensitive, demands=demands)
    assert member_sets(found) == [[0, 1, 2, 3], [4, 5]]
    strict = Demands.over([[Alpha(0.5)]], sensitive)  # 1 into 2, which then takes 9 and still fails: all is withheld
    assert cluster([column], records, 2, sensitive=sensitive, demands=strict) == Clusters((), tuple(range(6)))


def test_suppressing_in_the_small_cluster() -> None:
    ages, letter = free([0, 100]), categories(LETTERS, "a")
    records = [(0, 0)] + [(1, 0)] * 5
    found = cluster([ages, letter], records, 2, suppress=True)
    assert found.clusters == (Cluster((0, 1, 2, 3, 4, 5), ((1, 1), (0, 0)), frozenset({(0, 0)}), 0),)
    assert found.suppressed == 1
    rows = published([ages, letter], found)
    assert rows == [(None, "a")] + [((1, 1), "a")] * 5
    assert release_value([ages, letter], sorted(records), rows, PRODUCT) == (Fraction(6, 101 + 5) + 1) / 2
    limited = free([0, 100], cuts=[200])
    found = cluster([limited, letter], records, 2, suppress=True)
    assert found.suppressed == 0
    assert found.clusters[0].box == ((0, 1), (0, 0))


def test_suppressing_takes_the_small_cluster_first_and_nothing_on_equality() -> None:
    ages = free([0, 100])
    assert cluster([ages], [(0,), (1,)], 2, suppress=True).clusters[0].suppressed == {(0, 0)}
    near = free([0, 1])  # shown as 0-1 a half, suppressed in one of two a half
    assert cluster([near], [(0,), (1,)], 2, suppress=True).suppressed == 0


def test_suppressing_in_the_other_cluster() -> None:
    ages = free([0, 100])
    sensitive: list[tuple[int | None, ...]] = [(0,), (0,), (0,), (1,)]
    demands = Demands.counting([2], sensitive)
    found = cluster([ages], [(0,)] * 3 + [(1,)], 2, suppress=True, sensitive=sensitive, demands=demands)
    assert found.clusters == (Cluster((0, 1, 2, 3), ((0, 0),), frozenset({(3, 0)}), 0),)


def test_a_record_once_suppressed_stays_so() -> None:
    ages = free([0, 100, 101])
    records = [(0,), (1,), (1,), (2,), (2,), (2,), (2,)]
    found = cluster([ages], records, 4, suppress=True)
    # 0 (one record) vanishes into 100 (two); these three then prefer 100-101 (1/2 against 4/7 · 1): they are
    # suppressed too, for 4/7 is more than a half.
    assert found.clusters == (Cluster(tuple(range(7)), ((2, 2),), frozenset({(0, 0), (1, 0), (2, 0)}), 0),)


def test_forbidden_overlap_by_hand() -> None:
    ages, letter = free([1, 3, 5, 7]), categories(Tree.flat("ab"), "ab")
    records = [(0, 0), (1, 1), (2, 0), (3, 1)]
    free_to = cluster([ages, letter], records, 2)
    assert [group.box[0] for group in free_to.clusters] == [(0, 2), (1, 3)]  # 1-5 and 3-7
    forbidden = cluster([ages, letter], records, 2, overlap=False)
    assert [group.box[0] for group in forbidden.clusters] == [(0, 2), (0, 3)]  # 3-7 is widened to 1-7
    assert member_sets(forbidden) == member_sets(free_to) == [[0, 2], [1, 3]]


def test_forbidden_overlap_depends_on_which_cell_comes_first() -> None:
    ages, letter = free([1, 3, 5, 7]), categories(Tree.flat("ab"), "ab", marked=["a", "b"])
    records = [(0, 0), (1, 1), (2, 0), (3, 1)]
    assert [g.box[0] for g in cluster([ages, letter], records, 2, overlap=False).clusters] == [(0, 2), (0, 3)]
    found = cluster([ages, letter], records, 2, overlap=False, cell_rank=lambda record: -record[1])
    assert [(g.members, g.box[0]) for g in found.clusters] == [((1, 3), (1, 3)), ((0, 2), (0, 3))]


def test_what_does_not_go_together() -> None:
    column = free([1, 2], width=1)
    with pytest.raises(ValueError, match="only utility"):
        cluster([column], [(0,), (1,)], 2, "euclidean", suppress=True)
    with pytest.raises(ValueError, match="width"):
        cluster([column], [(0,), (1,)], 2, overlap=False)
    with pytest.raises(ValueError, match="width"):
        cluster([column], [(0,), (1,)], 2, persons=[0, 1])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[Column], list[Record]]:
    n = draw(st.integers(1, 14))
    numbers = [draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)) for _ in range(2)]
    values = draw(st.lists(st.sampled_from("abcde"), min_size=n, max_size=n))
    cuts = draw(st.sampled_from([[], [], [5], [3, 6]]))
    columns: list[Column] = [
        free(numbers[0], [Rule(4, 5, draw(st.integers(1, 3)))], cuts=cuts),
        free(numbers[1], weight=draw(st.sampled_from([1, 2]))),
        categories(LETTERS, values, [Rule("A", "e")], draw(st.sampled_from([[], [], ["A"], ["B"]]))),
    ]
    if draw(st.booleans()):
        columns.append(bands(numbers[1], [3, 6], [Rule(2, 3)]))
    rows = list(zip(*numbers, values, numbers[1], strict=True))
    return columns, [tuple(c.code(v) for c, v in zip(columns, row, strict=False)) for row in rows]


def check_clusters(columns: Sequence[Column], records: Sequence[Record], k: int, found: Clusters) -> None:
    table = sorted(records)
    members = [member for group in found.clusters for member in group.members]
    assert sorted([*members, *found.withheld]) == list(range(len(records)))
    small = [cell for cell in cells([c.attribute for c in columns], table) if len(cell) < k]
    assert found.withheld == tuple(sorted(position for cell in small for position in cell))
    for group in found.clusters:
        assert len(group.members) >= k
        assert all(member in group.members for member, _ in group.suppressed)
        for place, column in enumerate(columns):
            assert len({column.cell(table[member][place]) for member in group.members}) == 1
            codes = [table[member][place] for member in group.members if (member, place) not in group.suppressed]
            assert codes
            assert group.box[place][0] <= min(codes)
            assert group.box[place][1] >= max(codes)
            if column.is_limited:
                assert len(codes) == len(group.members)


def are_laminar(ranges: Sequence[tuple[int, int]]) -> bool:
    return not any(a < lo <= b < hi or lo < a <= hi < b for (lo, hi), (a, b) in combinations(ranges, 2))


@given(tables(), st.integers(2, 4), st.sampled_from(["utility", "bottom-up", "euclidean"]), st.booleans(), st.data())
@settings(deadline=None)
def test_clusters_keep_what_is_asked(
    table: tuple[list[Column], list[Record]], k: int, method: utility.Method, overlap: bool, data: st.DataObject
) -> None:
    columns, records = table
    chosen = data.draw(st.sampled_from([PRODUCT, HALF, Settings(Fraction(1, 2))]))
    suppress = method == "utility" and data.draw(st.booleans())
    found = cluster(columns, records, k, method, chosen, suppress, overlap)
    check_clusters(columns, records, k, found)
    assert suppress or found.suppressed == 0
    assert found == cluster(columns, records[::-1], k, method, chosen, suppress, overlap)
    for place, column in enumerate(columns):
        if not overlap and isinstance(column, FreeNumbers):
            assert are_laminar([group.box[place] for group in found.clusters])
        if overlap:
            for group in found.clusters:
                shown = [sorted(records)[m][place] for m in group.members if (m, place) not in group.suppressed]
                assert group.box[place] == (min(shown), max(shown))
    rows = published(columns, found)
    missing_cells = sum(cell is None for row in rows if row is not None for cell in row)
    assert missing_cells == found.suppressed
    assert 0 <= release_value(columns, sorted(records), rows, chosen) <= 1


@given(tables(), st.sampled_from([PRODUCT, HALF, Settings(Fraction(1, 2))]), st.data())
def test_gains_are_values_rounded_down(
    table: tuple[list[Column], list[Record]], chosen: Settings, data: st.DataObject
) -> None:
    columns, records = table
    for place, (column, unit) in enumerate(zip(columns, weight_units(columns), strict=True)):
        codes = sorted(record[place] for record in data.draw(st.lists(st.sampled_from(records), min_size=1)))
        exact = unit * shown_value(column, column.show(codes[0], codes[-1]), chosen)
        assert exact - 3 < gain(column, unit, (codes[0], codes[-1]), chosen) <= exact
