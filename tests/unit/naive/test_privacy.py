"""The reference of models, distances and conditions holds to the papers' tables, to hand and to brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases.models import DISEASES, DISTANCES, VALUES, coded
from tests.naive.conditions import (
    check,
    check_with_conditions,
    frequencies,
    greatest_cumulative,
    max_groups,
    max_groups_by_attribute,
    max_p,
)
from tests.naive.privacy import (
    Alpha,
    Closeness,
    Demands,
    Disclosure,
    Distinct,
    Entropy,
    Likeness,
    Model,
    Recursive,
    Sensitive,
    attribute_disclosures,
    equal_distance,
    hierarchical_distance,
    histogram,
    ordered_distance,
    sensitivity,
    shares,
)
from tests.naive.trees import Tree

# ---- models -------------------------------------------------------------------------------------

OVERALL = {0: 4, 1: 3, 2: 2, 3: 1}
NO_GROWTH: list[Model] = [
    Entropy(2),
    Recursive(Fraction(1), 2),
    Recursive(Fraction(3), 3),
    Alpha(0.5),
    Likeness(0.5),
    Likeness(3, enhanced=True),
    Disclosure(0.5),
    *(Closeness(0.25, distance) for distance in DISTANCES.values()),
]
MODELS: list[Model] = [Distinct(2), Distinct(3), *NO_GROWTH]

small_histograms = st.lists(st.sampled_from([None, 0, 1, 2, 3]), max_size=12).map(histogram)


def holds(model: Model, counts: dict[int, int]) -> bool:
    return model.holds(counts, VALUES, OVERALL)


def lack(model: Model, counts: dict[int, int]) -> int:
    return model.lack(counts, VALUES, OVERALL)


def plus(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    return {code: one.get(code, 0) + other.get(code, 0) for code in sorted({*one, *other})}


def test_missing_never_counts() -> None:
    assert histogram([2, None, 0, 2]) == {0: 1, 2: 2}
    assert not holds(Distinct(2), histogram([None, 1, None]))


@pytest.mark.parametrize(
    ("model", "counts", "expected"),
    [
        (Distinct(2), {0: 9}, False),
        (Distinct(2), {0: 9, 3: 1}, True),
        (Entropy(2), {0: 3, 1: 3}, True),  # exactly ln 2
        (Entropy(3), {0: 5, 1: 5, 2: 5}, True),
        (Entropy(2), {0: 4, 1: 3}, False),
        (Recursive(2.0, 2), {0: 3, 1: 1, 2: 1}, True),  # 3 < 2 · 2
        (Recursive(2.0, 2), {0: 4, 1: 1, 2: 1}, False),  # 4 < 4 is not
        (Recursive(2.0, 3), {0: 1, 1: 1}, False),  # no third value
        (Alpha(0.5), {0: 2, 1: 2}, True),
        (Alpha(0.5), {0: 3, 1: 2}, False),
        (Closeness(0.25), {0: 4, 1: 3, 2: 2, 3: 1}, True),
        (Closeness(0.25), {3: 1}, False),
        (Likeness(1.0), {3: 1, 0: 4}, True),  # 0.2 is twice 0.1, 0.8 is twice 0.4
        (Likeness(0.99), {3: 1, 0: 4}, False),
        (Likeness(1.0, enhanced=True), {3: 1, 0: 4}, False),  # −ln 0.4 = 0.916…
        (Likeness(1.0, enhanced=True), {3: 1, 0: 3, 1: 1}, True),
        (Disclosure(0.7), {0: 8, 1: 6, 2: 4, 3: 2}, True),
        (Disclosure(0.7), {0: 4, 1: 3, 2: 1, 3: 2}, True),  # 0.1 for 0.2, and 0.2 for 0.1: ln 2 = 0.693…
        (Disclosure(0.69), {0: 4, 1: 3, 2: 1, 3: 2}, False),
        (Disclosure(9), {0: 4, 1: 3, 2: 1}, False),  # the fourth is not there
    ],
)
def test_models_by_hand(model: Model, counts: dict[int, int], expected: bool) -> None:
    assert holds(model, counts) is expected
    assert (lack(model, counts) == 0) is expected


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Distinct(1), False),
        (Distinct(0), True),
        (Entropy(2), False),
        (Entropy(1), True),
        (Recursive(9.0, 1), False),
        (Alpha(0.1), True),
        (Closeness(0.0), True),
        (Likeness(0.0), True),
        (Disclosure(9.0), False),
    ],
)
def test_a_group_without_values(model: Model, expected: bool) -> None:
    assert holds(model, {}) is expected


def test_lacks_by_hand() -> None:
    assert lack(Distinct(4), {0: 7}) == 3_000_000_001
    assert lack(Entropy(2), {0: 7}) == 1 + int(1e9 * log(2))
    assert lack(Entropy(2), {}) == 1 + int(1e9 * log(2))
    assert lack(Recursive(1.0, 2), {0: 3, 1: 1}) == 500_000_001
    assert lack(Recursive(1.0, 2), {0: 1, 1: 1}) == 1  # equality fails by nothing
    assert lack(Recursive(5.0, 3), {0: 3, 1: 1}) == 750_000_001  # too few values: no tail
    assert lack(Recursive(5.0, 3), {}) == 1_000_000_001
    assert lack(Alpha(0.5), {0: 3, 1: 1}) == 250_000_001
    assert lack(Likeness(1.0), {3: 1}) == 8_000_000_001
    assert lack(Disclosure(0.5), {0: 4, 1: 3, 2: 2}) == 1 + int(1e9 * (log(0.1 * 9 / 0.5) - 0.5))  # half a record
    assert Closeness(0.5).lack({3: 1}, VALUES, {0: 1, 1: 1, 2: 1, 3: 1}) == 250_000_001


@pytest.mark.parametrize("model", MODELS)
def test_survives_growth_and_counterexamples_where_it_does_not(model: Model) -> None:
    broken = [
        (counts, code)
        for numbers in product(range(4), repeat=VALUES)
        if holds(model, counts := {code: count for code, count in enumerate(numbers) if count})
        for code in range(VALUES)
        if not holds(model, plus(counts, {code: 1}))
    ]
    assert bool(broken) is not model.survives_growth


@given(st.sampled_from(MODELS), small_histograms, small_histograms)
def test_models_are_closed_under_union(model: Model, one: dict[int, int], other: dict[int, int]) -> None:
    assert model.closed_under_union
    if holds(model, one) and holds(model, other):
        assert holds(model, plus(one, other))


def test_recursive_with_a_rounded_c_is_not_quite_closed_under_union() -> None:
    one, other = {0: 55, 1: 25}, {0: 99, 1: 45}
    rounded, exact = Recursive(2.2, 2), Recursive(Fraction("2.2"), 2)
    assert holds(rounded, one)  # 2.2 · 25 comes out above 55
    assert holds(rounded, other)
    assert not holds(rounded, plus(one, other))
    assert not holds(exact, one)
    assert not holds(exact, other)


# ---- earth mover's distances -----------------------------------------------------------------------------


def ground_distance(name: str, one: int, other: int) -> float:
    if name == "equal":
        return float(one != other)
    if name == "ordered":
        return abs(one - other) / (VALUES - 1)
    leaves = DISEASES.leaves
    return DISEASES.height(DISEASES.lca([leaves[one], leaves[other]])) / DISEASES.height(DISEASES.root)


@given(st.sampled_from(list(DISTANCES)), st.integers(1, 5), st.data())
def test_distances_equal_the_cheapest_transport(name: str, size: int, data: st.DataObject) -> None:
    codes = st.lists(st.integers(0, VALUES - 1), min_size=size, max_size=size)
    one, other = data.draw(codes), data.draw(codes)
    cheapest = min(
        sum(ground_distance(name, x, y) for x, y in zip(one, moved, strict=True)) for moved in permutations(other)
    )
    found = DISTANCES[name](shares(histogram(one), VALUES), shares(histogram(other), VALUES))
    assert found == pytest.approx(cheapest / size, abs=1e-12)


def test_ordered_distances_of_the_paper() -> None:
    # Li et al. 2007, 3.2: salaries 3k..11k; {3k, 4k, 5k} is 0.375 away, {6k, 8k, 11k} 0.167.
    salaries = histogram(range(9))
    close = Closeness(0.0, ordered_distance)
    assert close.from_overall(histogram([0, 1, 2]), 9, salaries) == pytest.approx(0.375)
    assert close.from_overall(histogram([3, 5, 8]), 9, salaries) == pytest.approx(1 / 6)


def test_distances_over_one_value_are_zero() -> None:
    single = hierarchical_distance(Tree.from_nested({"only": None}))
    assert [distance([1.0], [1.0]) for distance in (equal_distance, ordered_distance, single)] == [0, 0, 0]


# ---- demands ---------------------------------------------------------------------------------------------


def test_demands_add_up_over_attributes_and_models() -> None:
    microdata: list[Sensitive] = [(0, 0), (1, None), (0, 2), (1, 0)]
    demands = Demands.over([(Distinct(2), Alpha(0.5)), (Distinct(2),)], microdata)
    assert demands.n_values == (2, 3)
    assert demands.overall == ({0: 2, 1: 2}, {0: 2, 2: 1})
    assert demands.lack([(0, None)]) == 1_000_000_001 + 500_000_001 + 2_000_000_001
    assert demands.hold(microdata)
    assert demands.only_counting().models == ((Distinct(2),), (Distinct(2),))
    assert not demands.are_counting
    assert not demands.survive_growth


def test_counting_demands_of_less_than_two_ask_for_nothing() -> None:
    demands = Demands.counting([0, 1, 2], [(0, 0, 0), (1, 1, 1)])
    assert demands.models == ((), (), (Distinct(2),))
    assert demands.hold([(None, None, 0), (None, None, 1)])
    assert demands.least_distinct() == [0, 0, 2]


# ---- PS Tables 1-3 ---------------------------------------------------------------------------------------

TABLE_1 = [
    ((50, "43102", "M"), ("Colon Cancer",)),
    ((30, "43102", "F"), ("Breast Cancer",)),
    ((30, "43102", "F"), ("HIV",)),
    ((20, "43102", "M"), ("Diabetes",)),
    ((20, "43102", "M"), ("Diabetes",)),
    ((50, "43102", "M"), ("Heart Disease",)),
]
TABLE_3 = [
    ((20, "43102", "F"), ("AIDS", 50_000)),
    ((20, "43102", "F"), ("AIDS", 50_000)),
    ((20, "43102", "F"), ("Diabetes", 50_000)),
    ((30, "43102", "M"), ("Diabetes", 30_000)),
    ((30, "43102", "M"), ("Diabetes", 40_000)),
    ((30, "43102", "M"), ("Heart Disease", 30_000)),
    ((30, "43102", "M"), ("Heart Disease", 40_000)),
]
Masked = list[tuple[tuple[Any, ...], tuple[Any, ...]]]


def judge(masked: Masked) -> tuple[int, int, list[tuple[int, int]]]:
    """(k, p, attribute disclosures) of a printed table."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, (shown, _) in enumerate(masked):
        groups.setdefault(shown, []).append(number)
    parts = list(groups.values())
    sensitive = coded([values for _, values in masked])
    return min(map(len, parts)), sensitivity(parts, sensitive), attribute_disclosures(parts, sensitive)


def test_ps_tables_1_and_3() -> None:
    assert judge(TABLE_1) == (2, 1, [(2, 0)])
    assert judge(TABLE_3) == (3, 1, [(0, 1)])
    (shown, (illness, _)), *rest = TABLE_3
    assert judge([(shown, (illness, 40_000)), *rest]) == (3, 2, [])


# ---- Conditions 1 and 2, Algorithms 1 and 2 (PS Tables 5-6) ----------------------------------------------

FREQUENCIES = [
    [300, 300, 200, 100, 100],
    [500, 300, 100, 40, 35, 25],
    [700, 200, 50, 10, 10, 10, 10, 5, 3, 2],
]


def test_conditions_of_tables_5_and_6() -> None:
    assert max_p(FREQUENCIES) == 5
    assert [greatest_cumulative(FREQUENCIES, i) for i in range(1, 6)] == [700, 900, 950, 960, 1000]
    assert [max_groups(FREQUENCIES, 1000, p) for p in (2, 3, 4, 5)] == [300, 100, 50, 25]
    assert [max_groups_by_attribute(FREQUENCIES, 1000, [p] * 3) for p in (2, 3, 4, 5)] == [300, 100, 50, 25]
    assert max_groups_by_attribute(FREQUENCIES, 1000, [5, 0, 1]) == 100


def test_at_most_ten_groups() -> None:
    assert max_groups([[900, 90, 5, 3, 2]], 1000, 3) == 10


def test_frequencies_come_from_values_that_are_not_missing() -> None:
    sensitive: list[Sensitive] = [(0, None), (1, None), (1, 3)]
    assert frequencies(sensitive) == [[2, 1], [1]]
    assert max_groups(frequencies(sensitive), 3, 1) == 3


@st.composite
def releases(draw: st.DrawFn) -> tuple[list[list[int]], list[Sensitive]]:
    """Some records, each in one of at most five groups or withheld; at least one group."""
    value = st.none() | st.integers(0, 3)
    sensitive: Any = draw(st.lists(st.tuples(value, value), min_size=1, max_size=14))
    places = st.lists(st.none() | st.integers(0, 4), min_size=len(sensitive), max_size=len(sensitive))
    where = draw(places.filter(lambda found: any(place is not None for place in found)))
    groups = [[i for i, place in enumerate(where) if place == number] for number in range(5)]
    return [group for group in groups if group], sensitive


@given(releases(), st.integers(1, 4), st.integers(1, 4))
def test_algorithm_2_gives_the_answer_of_algorithm_1_with_no_more_scans(
    release: tuple[list[list[int]], list[Sensitive]], k: int, p: int
) -> None:
    basic, improved = check(*release, k, p), check_with_conditions(*release, k, p)
    assert improved.holds == basic.holds
    assert improved.scans <= basic.scans


def test_algorithm_2_saves_scans() -> None:
    # Three groups, but only two records differ from the most frequent value.
    sensitive: list[Sensitive] = [(0,), (1,), (0,), (2,), (0,), (0,)]
    groups = [[0, 1], [2, 3], [4, 5]]
    assert (check(groups, sensitive, 2, 2).scans, check_with_conditions(groups, sensitive, 2, 2).scans) == (3, 0)
    assert check(groups[:2], sensitive, 2, 2) == check_with_conditions(groups[:2], sensitive, 2, 2)
    assert check(groups, sensitive, 3, 1).holds is False
