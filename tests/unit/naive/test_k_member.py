"""The reference of clustering within limits holds to the seven patients, to Table 6 and to cases worked out by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases.locations import LOCATION, LOCATION_LIMITS, encode, trees
from tests.naive import adult, measures
from tests.naive.attributes import Attribute, FreeAttribute, Record, TreeAttribute, generalize
from tests.naive.cells import cells, out_records
from tests.naive.constrained import greedy_cka
from tests.naive.costs import Costs
from tests.naive.k_member import canonical_order, greedy_k_member
from tests.naive.trees import Tree
from tests.naive.widths import most_released, width_runs

# ---- the seven patients (CKA Figures 2-4) --------------------------------------------------------

PATIENTS = {
    "r1": (32, "San Diego", "M", "W"),
    "r2": (30, "Los Angeles", "M", "W"),
    "r3": (42, "Wichita", "M", "W"),
    "r4": (30, "Kansas City", "M", "W"),
    "r5": (35, "Lincoln", "F", "W"),
    "r6": (20, "Lincoln", "M", "B"),
    "r7": (25, "Wichita", "F", "B"),
}
NAMES = list(PATIENTS)
MM1 = {
    ("r1", "r2"): ((30, 32), "California", "M", "W"),
    ("r3", "r4", "r5"): ((30, 42), "Midwest", "*", "W"),
    ("r6", "r7"): ((20, 25), "Midwest", "*", "B"),
}
MM2 = {
    ("r1", "r2"): ((30, 32), "California", "M", "W"),
    ("r3", "r4", "r7"): ((25, 42), "Kansas", "*", "*"),
    ("r5", "r6"): ((20, 35), "Lincoln", "*", "*"),
}
Masked = dict[tuple[str, ...], tuple[tuple[int, int], str, str, str]]

AGE = FreeAttribute.over(age for age, *_ in PATIENTS.values())
PATIENT_ATTRIBUTES: tuple[Attribute, ...] = (
    AGE,
    TreeAttribute(LOCATION, LOCATION_LIMITS),
    TreeAttribute(Tree.flat("MF")),
    TreeAttribute(Tree.flat("WB")),
)


PATIENT_RECORDS = encode(PATIENT_ATTRIBUTES, list(PATIENTS.values()))


def partition_of(masked: Masked) -> list[list[int]]:
    return [[NAMES.index(name) for name in names] for names in masked]


def test_toy_cells() -> None:
    found = [[NAMES[number] for number in cell] for cell in cells(PATIENT_ATTRIBUTES, PATIENT_RECORDS)]
    assert found == [["r1", "r2"], ["r3", "r4", "r7"], ["r5", "r6"]]


@pytest.mark.parametrize(("k", "out"), [(2, []), (3, ["r1", "r2", "r5", "r6"]), (4, NAMES)])
def test_toy_out(k: int, out: list[str]) -> None:
    assert [NAMES[number] for number in out_records(PATIENT_ATTRIBUTES, PATIENT_RECORDS, k)] == out


@pytest.mark.parametrize("masked", [MM1, MM2], ids=["MM1", "MM2"])
def test_toy_groups_generalize_as_printed(masked: Masked) -> None:
    for group, ((low, high), *nodes) in zip(partition_of(masked), masked.values(), strict=True):
        box = generalize(PATIENT_ATTRIBUTES, [PATIENT_RECORDS[number] for number in group])
        assert box == ((AGE.code(low), AGE.code(high)), *nodes)


@pytest.mark.parametrize(("masked", "names"), [(MM1, ["r3", "r4", "r7"]), (MM2, [])], ids=["MM1", "MM2"])
def test_toy_limit_breaks(masked: Masked, names: list[str]) -> None:
    published = measures.publish(PATIENT_ATTRIBUTES, PATIENT_RECORDS, partition_of(masked))
    location = 1
    expected = [(NAMES.index(name), location) for name in names]
    assert measures.limit_breaks(PATIENT_ATTRIBUTES, PATIENT_RECORDS, published) == expected


@pytest.mark.parametrize("seed", range(5))
def test_greedy_cka_finds_mm2(seed: int) -> None:
    found = greedy_cka(PATIENT_ATTRIBUTES, PATIENT_RECORDS, k=2, seed=seed)
    order = canonical_order(PATIENT_RECORDS)
    groups = {frozenset(NAMES[order[position]] for position in group) for group in found.groups}
    assert groups == {frozenset(group) for group in MM2}
    assert found.withheld == ()


def test_greedy_cka_withholds_out() -> None:
    found = greedy_cka(PATIENT_ATTRIBUTES, PATIENT_RECORDS, k=3, seed=0)
    order = canonical_order(PATIENT_RECORDS)
    assert {NAMES[order[position]] for position in found.withheld} == {"r1", "r2", "r5", "r6"}
    assert len(found.groups) == 1


# ---- greedy k-member clustering -----------------------------------------------------------------


def line(*numbers: int) -> tuple[Costs, list[Record]]:
    """Records on one free attribute."""
    free = FreeAttribute.over(numbers)
    return Costs((free,)), [(free.code(number),) for number in numbers]


def test_greedy_by_hand() -> None:
    # From 0 the furthest is 20: {20, 19}. From 20 the furthest is 0: {0, 1}. 9 is left: joining {0, 1}
    # would add 3·9 − 2·1 = 25, joining {20, 19} 3·11 − 2·1 = 31.
    costs, records = line(9, 0, 20, 1, 19)
    assert greedy_k_member(records, costs, k=2, seed=0) == [[4, 3], [0, 1, 2]]


def test_ties_go_to_the_first_record_and_the_lowest_group() -> None:
    # From 2 (seed 1), 0 and 4 are equally far.
    costs, records = line(0, 2, 4)
    assert greedy_k_member(records, costs, k=1, seed=1) == [[0], [2], [1]]
    # From 0 the furthest is 10, then 10 takes 10; from 10 the furthest is 0, then 0 takes 0. 5 is left
    # over, equally near to both groups.
    costs, records = line(0, 0, 5, 10, 10)
    assert greedy_k_member(records, costs, k=2, seed=0) == [[3, 4, 2], [0, 1]]
    # From corner 3 the furthest is 0; both neighbours cost it the same.
    flat = TreeAttribute(Tree.flat("ab"))
    corners = [(1, 1), (1, 0), (0, 1), (0, 0)]
    assert greedy_k_member(corners, Costs((flat, flat)), k=2, seed=3) == [[0, 1], [3, 2]]


def test_leftovers_pay_for_the_whole_group() -> None:
    # 20 is left over. [21, 30] would widen by 1 and [18, 18] by 2, but a third member of the first pays for
    # its width too: 3·10 − 2·9 = 12 against 3·2 = 6.
    costs, records = line(18, 18, 20, 21, 30)
    assert greedy_k_member(records, costs, k=2, seed=0) == [[4, 3], [0, 1, 2]]


def test_leftovers_see_groups_that_earlier_leftovers_widened() -> None:
    # Groups {0,0,0} and {30,30,30}; 10 joins the first (+40), which 16 then finds at [0, 10]:
    # 5·16 − 4·10 = 40 there against 4·14 − 0 = 56; untouched it would have been 4·16 = 64.
    costs, records = line(0, 0, 0, 10, 16, 30, 30, 30)
    assert greedy_k_member(records, costs, k=3, seed=7) == [[0, 1, 2, 3, 4], [5, 6, 7]]


def test_the_seed_is_a_position_modulo_n_and_stays_in() -> None:
    costs, records = line(0, 1, 9, 10)
    assert greedy_k_member(records, costs, k=2, seed=3) == [[0, 1], [3, 2]]
    assert greedy_k_member(records, costs, k=2, seed=4) == greedy_k_member(records, costs, k=2, seed=0)


def test_persons_are_counted_once() -> None:
    # Person 7 has the three records at 0. From 9 the furthest is the first of them, which must reach out
    # to person 8 at 5; then 9 starts and takes person 7's second record; the third is left over and
    # joins [0, 5], where person 7 already is, at 3·5 − 2·5 = 5 rather than [0, 9] at 9.
    costs, records = line(0, 0, 0, 5, 9)
    assert greedy_k_member(records, costs, k=2, seed=4, persons=[7, 7, 7, 8, 9]) == [[0, 3, 2], [4, 1]]


def test_equal_records_are_ordered_by_person() -> None:
    assert canonical_order([(1,), (0,), (0,), (0,)], persons=[1, 5, 2, 5]) == [2, 1, 3, 0]
    assert canonical_order([(1,), (0,), (0,), (0,)]) == [1, 2, 3, 0]


def test_too_few_records_are_refused() -> None:
    costs, records = line(0, 1)
    with pytest.raises(ValueError, match="at least 'k'"):
        greedy_k_member(records, costs, k=2, seed=0, persons=[1, 1])


Tables = tuple[tuple[Attribute, ...], list[Record]]


@st.composite
def tables(draw: st.DrawFn, width: bool = False) -> Tables:
    """Up to 14 records, many alike, over a tree and a free attribute, with limits."""
    tree = draw(trees())
    size = draw(st.integers(1, 14))
    numbers = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size))
    leaves = draw(st.lists(st.integers(0, len(tree.leaves) - 1), min_size=size, max_size=size))
    marked = draw(st.frozensets(st.sampled_from(list(tree.paths)), max_size=3))
    cuts = draw(st.lists(st.integers(1, 6), max_size=2))
    free = FreeAttribute.over(numbers, cuts, draw(st.integers(0, 4)) if width else None)
    records: list[Record] = [(leaf, free.code(number)) for leaf, number in zip(leaves, numbers, strict=True)]
    return (TreeAttribute(tree, marked), free), records


@given(tables(), st.integers(1, 4), st.integers(0, 20), st.data())
def test_greedy_cka_keeps_k_persons_and_limits_and_withholds_out(
    table: Tables, k: int, seed: int, data: st.DataObject
) -> None:
    attributes, records = table
    persons = data.draw(
        st.none() | st.lists(st.integers(0, 6), min_size=len(records), max_size=len(records)), label="persons"
    )
    order = canonical_order(records, persons)
    found = greedy_cka(attributes, records, k, seed, persons)
    groups = [[order[position] for position in group] for group in found.groups]
    withheld = sorted(order[position] for position in found.withheld)

    assert withheld == out_records(attributes, records, k, persons)
    assert sorted([*withheld, *(i for group in groups for i in group)]) == list(range(len(records)))
    assert all(len({i if persons is None else persons[i] for i in group}) >= k for group in groups)
    published = measures.publish(attributes, records, groups)
    assert measures.limit_breaks(attributes, records, published) == []


@given(tables(width=True), st.integers(1, 4), st.integers(0, 20))
def test_greedy_cka_keeps_a_greatest_width(table: Tables, k: int, seed: int) -> None:
    attributes, records = table
    order = canonical_order(records)
    found = greedy_cka(attributes, records, k, seed)
    groups = [[order[position] for position in group] for group in found.groups]
    assert all(len(group) >= k for group in groups)
    published = measures.publish(attributes, records, groups)
    assert measures.limit_breaks(attributes, records, published) == []
    assert {order[position] for position in found.withheld} >= set(out_records(attributes, records, k))


@given(tables(), st.integers(1, 4), st.integers(0, 20), st.randoms())
def test_arrival_order_does_not_matter(table: Tables, k: int, seed: int, random: Random) -> None:
    attributes, records = table
    shuffled = list(records)
    random.shuffle(shuffled)
    assert greedy_cka(attributes, shuffled, k, seed) == greedy_cka(attributes, records, k, seed)


# ---- greatest widths ----------------------------------------------------------------------------

columns = st.lists(st.integers(0, 9), max_size=8).map(sorted)


def test_runs_by_hand() -> None:
    assert width_runs([0, 1, 2, 3], k=2, width=2) == [range(0, 2), range(2, 4)]
    # 4 is too far from both sides.
    assert width_runs([0, 1, 4, 7, 8, 9], k=2, width=2) == [range(0, 2), range(3, 6)]
    # Only two of three can be covered with width 1: the last is left out before the first.
    assert width_runs([0, 1, 2], k=2, width=1) == [range(0, 2)]
    # All five need two runs: the right one is as long as it may be.
    assert width_runs([0, 0, 1, 2, 2], k=2, width=1) == [range(0, 2), range(2, 5)]


@given(columns, st.integers(1, 4), st.integers(0, 5))
def test_runs_release_as_many_records_as_any_partition(values: list[int], k: int, width: int) -> None:
    assert sum(len(run) for run in width_runs(values, k, width)) == most_released(values, k, width)


@given(columns, st.integers(1, 4), st.integers(0, 5))
def test_runs_break_ties_as_documented(values: list[int], k: int, width: int) -> None:
    best = max(segmentations(values, k, width), key=lambda steps: (*covered_and_runs(steps), steps))
    runs, end = [], len(values)
    for step in best:
        length = 1 if step == UNCOVERED else step
        if step != UNCOVERED:
            runs.append(range(end - length, end))
        end -= length
    assert width_runs(values, k, width) == runs[::-1]


UNCOVERED = sys.maxsize


def segmentations(values: list[int], k: int, width: int) -> Iterator[list[int]]:
    """All answers, written from right to left: UNCOVERED for a record, its length for a run."""
    if not values:
        yield []
        return
    for rest in segmentations(values[:-1], k, width):
        yield [UNCOVERED, *rest]
    for length in range(k, len(values) + 1):
        if values[-1] - values[-length] <= width:
            for rest in segmentations(values[:-length], k, width):
                yield [length, *rest]


def covered_and_runs(steps: list[int]) -> tuple[int, int]:
    runs = [step for step in steps if step != UNCOVERED]
    return sum(runs), -len(runs)


# ---- Adult (CPKA Table 6, CKA column) --------------------------------------------------------------------


def test_adult_withheld_counts(adult_rows: list[list[str]]) -> None:
    assert len(adult_rows) == 45_222
    assert adult.withheld_counts(adult_rows, [4, 8, 10, 20]) == [11, 42, 51, 162]
