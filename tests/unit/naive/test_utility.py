"""The reference of utility-driven clustering holds to cases worked out by hand, and keeps what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases.columns import HALF, LETTERS, PRODUCT, bands, categories, free
from tests.naive import apart, utility
from tests.naive.attributes import Record
from tests.naive.cells import cells
from tests.naive.privacy import Alpha, Demands
from tests.naive.research_value import (
    Column,
    Rule,
    Settings,
    release_value,
    shown_value,
)
from tests.naive.trees import Tree
from tests.naive.utility import UNIT, Cluster, Clusters, cluster, gain, published, weight_units

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


def boxes(found: Clusters, place: int = 0) -> list[tuple[int, int]]:
    return [group.box[place] for group in found.clusters]


def test_ranges_apart_by_hand() -> None:
    ages, letter = free([1, 3, 5, 7]), categories(Tree.flat("ab"), "ab")
    records = [(0, 0), (1, 1), (2, 0), (3, 1)]
    overlapping = cluster([ages, letter], records, 2)
    assert boxes(overlapping) == [(0, 2), (1, 3)]  # 1-5 and 3-7
    found = apart.cluster([ages, letter], records, 2)
    # 1-5 unites three of the ages; then 3-7 unites all of them
    assert [(group.members, group.box) for group in found.clusters] == [
        ((0, 2), ((0, 3), (0, 0))),
        ((1, 3), ((0, 3), (1, 1))),
    ]


def test_a_merge_widens_what_others_show() -> None:
    column = free([0, 1, 2, 10])
    found = apart.cluster([column], one_column(column, [0, 1, 1, 1, 2, 2, 2, 10, 10]), 2, "bottom-up")
    assert boxes(found) == [(0, 1), (2, 2), (3, 3)]
    letters = categories(LETTERS, "abcd")
    found = apart.cluster([letters], one_column(letters, "abbccdd"), 2, "bottom-up")
    assert [letters.show(*box) for box in boxes(found)] == [letters.show(0, 1), "c", "d"]


def test_limits_are_kept_where_ranges_are_apart() -> None:
    column = free([1, 2, 3, 4], cuts=[3])
    found = apart.cluster([column], one_column(column, [1, 2, 3, 4, 4]), 2)
    assert boxes(found) == [(0, 1), (2, 3)]
    with pytest.raises(ValueError, match="width"):
        apart.cluster([free([1, 2], width=1)], [(0,), (1,)], 2)


def test_what_does_not_go_together() -> None:
    column = free([1, 2], width=1)
    with pytest.raises(ValueError, match="only utility"):
        cluster([column], [(0,), (1,)], 2, "euclidean", suppress=True)
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


def are_apart(ranges: Sequence[tuple[int, int]]) -> bool:
    return all(one == other or one[1] < other[0] or other[1] < one[0] for one, other in combinations(ranges, 2))


@given(tables(), st.integers(2, 4), st.sampled_from(["utility", "bottom-up", "euclidean"]), st.booleans(), st.data())
@settings(deadline=None)
def test_clusters_keep_what_is_asked(
    table: tuple[list[Column], list[Record]], k: int, method: utility.Method, overlap: bool, data: st.DataObject
) -> None:
    columns, records = table
    chosen = data.draw(st.sampled_from([PRODUCT, HALF, Settings(Fraction(1, 2))]))
    suppress = method == "utility" and data.draw(st.booleans())
    made = cluster if overlap else apart.cluster
    found = made(columns, records, k, method, chosen, suppress)
    check_clusters(columns, records, k, found)
    assert suppress or found.suppressed == 0
    assert found == made(columns, records[::-1], k, method, chosen, suppress)
    for place in range(len(columns)):
        if not overlap:
            assert are_apart([group.box[place] for group in found.clusters])
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
