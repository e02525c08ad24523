"""The reference of research value holds to the thesis's example and to cases worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases.columns import HALF, LETTERS, PAIRS, PRODUCT, bands, categories, free
from tests.naive.attributes import FreeAttribute, TreeAttribute
from tests.naive.research_value import (
    MISSING,
    Column,
    FreeNumbers,
    NumberTree,
    Rule,
    Settings,
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


def fractions(*numbers: float | str) -> list[Fraction]:
    return [Fraction(str(number)) for number in numbers]


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


def test_rule_ratio_of_the_thesis() -> None:
    # the worked example: White|Hispanic 5, White|Black 20, Hispanic|Black 10, Hispanic|Asian 5; one level mixes two.
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


def test_research_value_of_the_thesis() -> None:
    # the worked example: 25 records of span 10, 45 of span 15, 55 of span 25, rules 50 of 100 kept, weight 0.2.
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
