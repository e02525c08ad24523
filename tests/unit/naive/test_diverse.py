"""The reference of clustering under models holds to the nine patients, to Table 6 and to cases worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases.models import COUNTING, GENERAL, coded, demands_over, trees
from tests.naive import adult, diverse, measures
from tests.naive.attributes import Attribute, FreeAttribute, Record, TreeAttribute, generalize
from tests.naive.cells import cells
from tests.naive.diverse import canonical_order, greedy_cpka, greedy_pk
from tests.naive.privacy import (
    Alpha,
    Demands,
    Distinct,
    Entropy,
    Model,
    Sensitive,
    sensitivity,
)
from tests.naive.trees import Tree

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


def test_all_numbers_of_table_6(adult_rows: list[list[str]]) -> None:
    rows = adult_rows
    assert len(rows) == 45_222
    ages, countries = adult.constrained_attributes()
    records = [(ages.code(row[adult.AGE]), countries.code(row[adult.NATIVE_COUNTRY])) for row in rows]
    sensitive = coded([(row[EDUCATION_NUM], row[EDUCATION], row[OCCUPATION]) for row in rows])

    def withheld(k: int, p: int) -> int:
        demands = Demands.counting([p, p, p], sensitive)
        return len(diverse.out_records((ages, countries), records, sensitive, k, demands))

    assert {k: {p: withheld(k, p) for p in ps} for k, ps in WITHHELD_CPKA.items()} == WITHHELD_CPKA
    assert {k: withheld(k, 1) for k in WITHHELD_CKA} == WITHHELD_CKA


# ---- GreedyPKClustering by hand -----------------------------------------------------------------


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
