"""The naive references of stage 2 hold to the specification's vectors (SPEC 5-6) and to brute force."""

from __future__ import annotations

import csv
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import log
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive import adult, diverse, lattice, measures
from tests.naive.attributes import Attribute, FreeAttribute, Record, TreeAttribute, generalize
from tests.naive.cells import cells
from tests.naive.conditions import (
    check,
    check_with_conditions,
    frequencies,
    greatest_cumulative,
    max_groups,
    max_groups_by_attribute,
    max_p,
)
from tests.naive.diverse import canonical_order, greedy_cpka, greedy_pk
from tests.naive.lattice import Task, all_minimal, optimum, samarati
from tests.naive.privacy import (
    Alpha,
    Closeness,
    Demands,
    Distance,
    Distinct,
    Entropy,
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
from tests.naive.trees import Node, Tree

# ---- models (SPEC 6) -------------------------------------------------------------------------------------

VALUES = 4
DISEASES = Tree.from_nested({"*": {"lung": {"cancer": ["small-cell", "other"]}, "flu": None, "cold": None}})
DISTANCES: dict[str, Distance] = {
    "equal": equal_distance,
    "ordered": ordered_distance,
    "hierarchical": hierarchical_distance(DISEASES),
}
OVERALL = {0: 4, 1: 3, 2: 2, 3: 1}
NO_GROWTH: list[Model] = [
    Entropy(2),
    Recursive(Fraction(1), 2),
    Recursive(Fraction(3), 3),
    Alpha(0.5),
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


def coded(rows: list[tuple[Any, ...]]) -> list[Sensitive]:
    """Values numbered by first appearance, column by column."""
    numbers = [{value: i for i, value in enumerate(dict.fromkeys(column))} for column in zip(*rows, strict=True)]
    return [tuple(codes[value] for codes, value in zip(numbers, row, strict=True)) for row in rows]


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


# ---- the nine patients (CPKA Tables 1-4) -----------------------------------------------------------------

PATIENTS = {
    "X1": ("Married", "Male", 37, "Cancer"),
    "X2": ("Married", "Female", 30, "Flu"),
    "X3": ("Married", "Male", 36, "HIV"),
    "X4": ("Single", "Female", 43, "Cancer"),
    "X5": ("Single", "Male", 45, "Flu"),
    "X6": ("Single", "Female", 37, "Flu"),
    "X7": ("Single", "Female", 32, "Flu"),
    "X8": ("Married", "Male", 30, "Diabetes"),
    "X9": ("Divorced", "Female", 41, "Diabetes"),
}
NAMES = list(PATIENTS)
AGE = 2
PATIENT_ATTRIBUTES = (
    TreeAttribute(Tree.flat(["Married", "Single", "Divorced"], root="Mar.-Status")),
    TreeAttribute(Tree.flat(["Male", "Female"], root="Person")),
    TreeAttribute(
        Tree.from_nested({"20-59": {"30-39": range(30, 40), "40-49": range(40, 50)}}), frozenset({"30-39", "40-49"})
    ),
)
PATIENT_RECORDS: list[Record] = [
    tuple(attribute.code(value) for attribute, value in zip(PATIENT_ATTRIBUTES, row, strict=False))
    for row in PATIENTS.values()
]
DIAGNOSES = coded([row[3:] for row in PATIENTS.values()])
MM1 = {
    ("X1", "X3", "X8"): ("Married", "Male", "30-39"),
    ("X2", "X6", "X7"): ("Mar.-Status", "Female", "30-39"),
    ("X4", "X5", "X9"): ("Mar.-Status", "Person", "40-49"),
}
MM2 = {
    ("X1", "X3", "X8"): ("Married", "Male", "30-39"),
    ("X4", "X5", "X6"): ("Single", "Person", "20-59"),
    ("X2", "X7", "X9"): ("Mar.-Status", "Female", "20-59"),
}
MM3 = {
    ("X1", "X2", "X8"): ("Married", "Person", "30-39"),
    ("X3", "X6", "X7"): ("Mar.-Status", "Person", "30-39"),
    ("X4", "X5", "X9"): ("Mar.-Status", "Person", "40-49"),
}
Printed = dict[tuple[str, ...], tuple[str, str, str]]


@pytest.mark.parametrize(
    ("masked", "p", "age_breaks"),
    [(MM1, 1, []), (MM2, 2, ["X2", "X4", "X5", "X6", "X7", "X9"]), (MM3, 2, [])],
    ids=["MM1", "MM2", "MM3"],
)
def test_toy_tables_are_judged_as_printed(masked: Printed, p: int, age_breaks: list[str]) -> None:
    groups = [[NAMES.index(name) for name in group] for group in masked]
    boxes = [generalize(PATIENT_ATTRIBUTES, [PATIENT_RECORDS[i] for i in group]) for group in groups]
    assert boxes == list(masked.values())
    assert min(map(len, groups)) == 3
    assert sensitivity(groups, DIAGNOSES) == p
    published = measures.publish(PATIENT_ATTRIBUTES, PATIENT_RECORDS, groups)
    broken = measures.limit_breaks(PATIENT_ATTRIBUTES, PATIENT_RECORDS, published)
    assert broken == [(NAMES.index(name), AGE) for name in age_breaks]


def test_toy_cells() -> None:
    found = [[NAMES[i] for i in cell] for cell in cells(PATIENT_ATTRIBUTES, PATIENT_RECORDS)]
    assert found == [["X1", "X2", "X3", "X6", "X7", "X8"], ["X4", "X5", "X9"]]


@pytest.mark.parametrize(
    ("k", "p", "out"),
    [(3, 2, []), (3, 3, []), (3, 4, ["X4", "X5", "X9"]), (4, 2, ["X4", "X5", "X9"]), (7, 2, NAMES)],
)
def test_toy_out(k: int, p: int, out: list[str]) -> None:
    demands = Demands.counting([p], DIAGNOSES)
    found = diverse.out_records(PATIENT_ATTRIBUTES, PATIENT_RECORDS, DIAGNOSES, k, demands)
    assert [NAMES[i] for i in found] == out


@pytest.mark.parametrize("seed", range(9))
def test_greedy_cpka_releases_all_nine_within_limits(seed: int) -> None:
    demands = Demands.counting([2], DIAGNOSES)
    found = greedy_cpka(PATIENT_ATTRIBUTES, PATIENT_RECORDS, DIAGNOSES, 3, demands, seed)
    order = canonical_order(PATIENT_RECORDS, DIAGNOSES)
    groups = [[order[position] for position in group] for group in found.groups]
    # The three of thirty-odd with flu are left over once the other three have found each other.
    assert sorted(map(len, groups)) == [3, 6]
    assert found.withheld == ()
    assert sensitivity(groups, DIAGNOSES) >= 2
    published = measures.publish(PATIENT_ATTRIBUTES, PATIENT_RECORDS, groups)
    assert measures.limit_breaks(PATIENT_ATTRIBUTES, PATIENT_RECORDS, published) == []


# ---- CPKA Table 6 ----------------------------------------------------------------------------------------

EDUCATION, EDUCATION_NUM, OCCUPATION = 3, 4, 6
WITHHELD_CPKA = {
    4: {2: 11, 3: 17, 4: 38},
    8: {2: 42, 3: 42, 4: 52, 6: 127, 8: 358},
    10: {2: 51, 3: 51, 4: 61, 6: 136, 8: 358, 10: 463},
    20: {2: 162, 3: 162, 4: 162, 6: 192, 8: 370, 10: 463, 13: 1593},
}
WITHHELD_CKA = {4: 11, 8: 42, 10: 51, 20: 162}


def adult_rows() -> list[list[str]]:
    folder = adult.data_folder()
    if missing := adult.missing_files(folder):
        pytest.skip(f"{' and '.join(missing)} not in {folder}; name the folder in HEDGEROW_DATA")
    return adult.read_adult(folder)


def test_all_numbers_of_table_6() -> None:
    rows = adult_rows()
    assert len(rows) == 45_222
    ages, countries = adult.constrained_attributes()
    records = [(ages.code(row[adult.AGE]), countries.code(row[adult.NATIVE_COUNTRY])) for row in rows]
    sensitive = coded([(row[EDUCATION_NUM], row[EDUCATION], row[OCCUPATION]) for row in rows])

    def withheld(k: int, p: int) -> int:
        demands = Demands.counting([p, p, p], sensitive)
        return len(diverse.out_records((ages, countries), records, sensitive, k, demands))

    assert {k: {p: withheld(k, p) for p in ps} for k, ps in WITHHELD_CPKA.items()} == WITHHELD_CPKA
    assert {k: withheld(k, 1) for k in WITHHELD_CKA} == WITHHELD_CKA


# ---- GreedyPKClustering by hand (SPEC 6) -----------------------------------------------------------------


def line(*numbers: int) -> tuple[tuple[FreeAttribute], list[Record]]:
    """Records on one free attribute."""
    free = FreeAttribute.over(numbers)
    return (free,), [(free.code(number),) for number in numbers]


def groups_on_a_line(
    numbers: list[int], letters: str, k: int, models: list[Model], seed: int = 0, **options: Any
) -> tuple[list[list[str]], list[str]]:
    """Groups and withheld records as letter and number; letters are the values of one sensitive attribute."""
    attributes, records = line(*numbers)
    sensitive: list[Sensitive] = [(None if letter == "?" else ord(letter) - ord("a"),) for letter in letters]
    demands = Demands.over([models], sensitive)
    found = greedy_pk(attributes, records, sensitive, k, demands, seed, **options)
    order = canonical_order(records, sensitive, options.get("persons"))
    names = [f"{letters[i]}{numbers[i]}" for i in order]
    return [[names[p] for p in group] for group in found.groups], [names[p] for p in found.withheld]


def test_canonical_order_puts_missing_values_last() -> None:
    assert canonical_order([(1,), (0,), (0,), (0,)], [(0,), (None,), (3,), (0,)]) == [3, 2, 1, 0]
    assert canonical_order([(0,)] * 3, [(None, 1), (None, None), (None, 0)]) == [2, 0, 1]
    assert canonical_order([(0,)] * 3, [(5,), (5,), (4,)], persons=[2, 1, 9]) == [2, 1, 0]


def test_diversity_weights() -> None:
    microdata: list[Sensitive] = [(0, 0, None), (1, 0, None), (1, 1, None), (None, 2, None)]
    weights = diverse.default_weights(microdata)
    assert weights == [Fraction(3, 5), Fraction(2, 5), 0]
    assert diverse.integer_weights(weights) == [629146, 419430, 0]
    assert diverse.integer_weights([Fraction(3, 10), Fraction(3, 10), Fraction(4, 10)]) == [314573, 314573, 419430]
    with pytest.raises(ValueError, match="sum to 1"):
        diverse.integer_weights([Fraction(1, 2)])


def test_diversity_of_missing_values() -> None:
    sensitive: list[Sensitive] = [(None,), (None,), (1,), (2,)]
    demands = Demands.counting([2], sensitive)
    table = diverse.table_of(*line(0, 1, 2, 3), sensitive, 2, demands, [Fraction(1)], None)
    unit = diverse.DIVERSITY_UNIT
    assert [table.diversity(other, 0) for other in range(4)] == [0, 0, unit, unit]
    assert [table.diversity(0, other) for other in range(4)] == [0, 0, unit, unit]
    assert [table.diversity_to(position, table.start(2)) for position in (0, 2, 3)] == [0, 0, unit]
    assert [table.diversity_to(position, table.start(0)) for position in (1, 2)] == [0, unit]


def test_greedy_pk_by_hand() -> None:
    # From a0 the first of another value is b2, and a1 and a3 are equally cheap. From b2 the first of another
    # value is a0, with b9 the only value it lacks. a3 is left over and joins {b2, a1}: 3·2 − 2·1 = 4 against
    # 3·9 − 2·9 = 9.
    found = groups_on_a_line([0, 1, 2, 3, 9], "aabab", 2, [Distinct(2)])
    assert found == ([["b2", "a1", "a3"], ["a0", "b9"]], [])


def test_diversity_comes_before_loss_until_p_is_reached() -> None:
    # b5 takes c2 although b6 is nearer; then p is reached and the nearest comes: b6, not a9.
    found = groups_on_a_line([2, 5, 6, 9], "cbba", 3, [Distinct(2)])
    assert found == ([["b5", "c2", "b6", "a9"]], [])


def test_joining_by_increase_or_by_loss() -> None:
    # Left over: b5. Joining {b0, a4} adds 3·5 − 2·4 = 7 and makes 15; joining {a8, b9} adds 3·4 − 2·1 = 10
    # and makes 12.
    numbers, letters = [0, 4, 5, 8, 9], "babab"
    increase = groups_on_a_line(numbers, letters, 2, [Distinct(2)], seed=1)
    loss = groups_on_a_line(numbers, letters, 2, [Distinct(2)], seed=1, joining="loss")
    assert increase == ([["b0", "a4", "b5"], ["a8", "b9"]], [])
    assert loss == ([["b0", "a4"], ["a8", "b9", "b5"]], [])


def test_a_left_over_record_that_would_break_a_model_is_withheld() -> None:
    # {b1, a0} holds; with a2 two thirds would be a.
    assert groups_on_a_line([0, 1, 2], "aba", 2, [Alpha(0.5)]) == ([["b1", "a0"]], ["a2"])
    assert groups_on_a_line([0, 1, 2], "aba", 2, [Distinct(2)]) == ([["b1", "a0", "a2"]], [])


def test_other_models_grow_by_what_keeps_them() -> None:
    # {b1, a0} holds but is short of three: only c9 keeps half of it from being a or b. a2 joins in the end.
    assert groups_on_a_line([0, 1, 2, 9], "abac", 3, [Alpha(0.5)]) == ([["b1", "a0", "c9", "a2"]], [])


def test_other_models_grow_by_least_lack_and_then_least_loss() -> None:
    # b4 and the missing value at 5 would leave b3 lacking as much as before; of a0 and a9 the nearer one comes.
    found = groups_on_a_line([0, 3, 4, 5, 9], "abb?a", 2, [Entropy(2)])
    assert found[0][0][:2] == ["b3", "a0"]


def test_if_nothing_can_be_completed_all_is_withheld() -> None:
    assert groups_on_a_line([0, 1, 2], "aba", 2, [Distinct(3)]) == ([], ["a0", "b1", "a2"])
    assert groups_on_a_line([0, 1, 2], "aba", 4, [Distinct(2)]) == ([], ["a0", "b1", "a2"])


def test_persons_grow_a_group_one_by_one() -> None:
    # From a0 the first of another value is b1 of the same person 1, so a0 cannot follow; then p is reached and
    # person 3 completes it. a0 and b9 are left with persons 1 and 4.
    found = groups_on_a_line([0, 1, 2, 4, 9], "abaab", 3, [Distinct(2)], persons=[1, 1, 2, 3, 4])
    assert found == ([["b1", "a2", "a4", "a0", "b9"]], [])


def test_records_of_persons_that_may_not_grow_a_group_join_one() -> None:
    # a5 finds no other person; it, and a6 and a7 of the same person, join what there is.
    found = groups_on_a_line([0, 1, 5, 6, 7], "aaaaa", 2, [], persons=[1, 2, 3, 3, 3])
    assert found == ([["a0", "a1", "a5", "a6", "a7"]], [])


def test_if_persons_leave_nothing_complete_the_whole_may_still_be() -> None:
    # From b0 the first of another value is a0, of the same person; a5 is all that may join it, and both are a.
    found = groups_on_a_line([0, 0, 5], "aba", 2, [Distinct(2)], seed=1, persons=[1, 1, 2])
    assert found == ([["a0", "b0", "a5"]], [])


# ---- clustering on generated tables ----------------------------------------------------------------------


@st.composite
def trees(draw: st.DrawFn, most: int = 9) -> Tree:
    """Random trees; node 0 is the root, leaves at any depth."""
    size = draw(st.integers(1, most))
    parents: dict[Node, Node] = {node: draw(st.integers(0, node - 1)) for node in range(1, size)}
    return Tree.from_parents(parents, sorted(set(range(size)) - set(parents.values())))


COUNTING: list[list[list[Model]]] = [[[], []], [[Distinct(2)], []], [[Distinct(2)], [Distinct(3)]]]
GENERAL: list[list[list[Model]]] = [
    [[Entropy(1.8)], []],
    [[Recursive(2.0, 2)], [Distinct(2)]],
    [[Alpha(0.6)], [Alpha(0.7)]],
    [[Closeness(0.3)], []],
    [[Closeness(0.3, ordered_distance), Distinct(2)], []],
    [[Closeness(0.3, DISTANCES["hierarchical"])], [Entropy(1.5)]],
]

Table = tuple[tuple[Attribute, ...], list[Record], list[Sensitive], list[int] | None]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Up to 12 records, many alike, over a tree and a free attribute with limits; perhaps with persons."""
    tree = draw(trees())
    size = draw(st.integers(1, 12))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=size, max_size=size))

    numbers = column(st.integers(0, 4))
    free = FreeAttribute.over(numbers, draw(st.lists(st.integers(1, 4), max_size=1)))
    marked = draw(st.frozensets(st.sampled_from(list(tree.paths)), max_size=2))
    leaves = column(st.integers(0, len(tree.leaves) - 1))
    records: list[Record] = [(leaf, free.code(number)) for leaf, number in zip(leaves, numbers, strict=True)]
    value = st.sampled_from([None, 0, 1, 2, 3])
    sensitive: list[Sensitive] = column(st.tuples(value, value))
    persons = column(st.integers(0, 5)) if draw(st.booleans()) else None
    return (TreeAttribute(tree, marked), free), records, sensitive, persons


def demands_over(models: list[list[Model]], sensitive: list[Sensitive]) -> Demands:
    return Demands.over(models, sensitive, n_values=[VALUES, VALUES])


@given(
    tables(),
    st.sampled_from(COUNTING + GENERAL),
    st.integers(1, 3),
    st.integers(0, 20),
    st.sampled_from(["increase", "loss"]),
)
def test_every_group_satisfies_what_is_asked(
    table: Table, models: list[list[Model]], k: int, seed: int, joining: diverse.Joining
) -> None:
    attributes, records, sensitive, persons = table
    demands = demands_over(models, sensitive)
    order = canonical_order(records, sensitive, persons)
    for cluster in (greedy_pk, greedy_cpka):
        found = cluster(attributes, records, sensitive, k, demands, seed, persons=persons, joining=joining)
        groups = [[order[position] for position in group] for group in found.groups]
        assert sorted([*found.withheld, *(p for group in found.groups for p in group)]) == list(range(len(records)))
        for group in groups:
            assert len({i if persons is None else persons[i] for i in group}) >= k
            assert demands.hold([sensitive[i] for i in group])
    published = measures.publish(attributes, records, groups)
    assert measures.limit_breaks(attributes, records, published) == []
    if demands.are_counting:
        withheld = sorted(order[position] for position in found.withheld)
        assert withheld == diverse.out_records(attributes, records, sensitive, k, demands, persons)


@given(tables(), st.sampled_from(COUNTING + GENERAL), st.integers(1, 3), st.integers(0, 20), st.randoms())
def test_arrival_order_does_not_matter(
    table: Table, models: list[list[Model]], k: int, seed: int, random: Random
) -> None:
    attributes, records, sensitive, persons = table
    demands = demands_over(models, sensitive)
    mixed = list(range(len(records)))
    random.shuffle(mixed)
    other = ([records[i] for i in mixed], [sensitive[i] for i in mixed])
    whose = None if persons is None else [persons[i] for i in mixed]
    found = greedy_cpka(attributes, records, sensitive, k, demands, seed, persons=persons)
    assert greedy_cpka(attributes, *other, k, demands, seed, persons=whose) == found


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
    file = adult.data_folder() / "arx-adult" / name
    if not file.is_file():
        pytest.skip(f"{name} not in {file.parent}; name the folder above in HEDGEROW_DATA")
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
