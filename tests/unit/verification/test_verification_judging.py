"""What the check concludes from counts: models at their limits, distances, matches, and who may be behind whom."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.errors import DataError
from hedgerow.plan import Plan
from hedgerow.verification import LinkClaim
from hedgerow.verification.counting import fits as fitting
from hedgerow.verification.counting import histograms
from hedgerow.verification.counting.bipartite import Bipartite, TooMuch
from hedgerow.verification.counting.combinations import Combinations
from hedgerow.verification.counting.counted_link import Ties
from hedgerow.verification.counting.distances import Equal, Hierarchical, Ordered
from hedgerow.verification.counting.evidence import Counted, _count_codes, _strays
from hedgerow.verification.counting.fits import AnyForMissing, Fits, InTable, fits_of
from hedgerow.verification.counting.histograms import Histograms
from hedgerow.verification.counting.matching import Matches, Meeting
from hedgerow.verification.promises import possible
from hedgerow.verification.promises.models import Alpha, Close, DifferentValues, Entropy, Judged, Recursive, _written
from hedgerow.verification.promises.overlap import in_others
from hedgerow.verification.reading.original import Original
from hedgerow.verification.values.columns import FreeJudge, SuppressibleJudge, TreeJudge
from hedgerow.verification.values.sensitive import Reader
from hedgerow.verification.values.trees import Marks, NamedTree


def numbers(*values: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, np.int64)


def labels(*cells: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(cells, pa.string()).dictionary_encode()])


def counted(*groups: dict[int, int], matches: Matches | None = None, in_order: bool = True) -> Counted:
    """A column of which each group has so many of each class."""
    classes = 1 + max((code for group in groups for code in group), default=-1)
    cells = [(number, code, count) for number, group in enumerate(groups) for code, count in sorted(group.items())]
    group, code, count = (numbers(*(cell[at] for cell in cells)) for at in range(3))
    overall = numbers(*(sum(some.get(code, 0) for some in groups) for code in range(classes)))
    found = Histograms(len(groups), classes, group, code, count)
    ways = tuple((f"c{number}",) for number in range(classes))
    return Counted(Reader(), ways, in_order, found, overall, (0, 0), matches)


# -- histograms --------------------------------------------------------------------------------------------------------


def test_histograms() -> None:
    groups, codes = numbers(0, 0, 0, 1, 1, 3), numbers(0, 0, 1, 1, -1, -1)
    found = Histograms.of(groups, codes, groups=4, classes=2)
    assert [found.group.tolist(), found.code.tolist(), found.count.tolist()] == [[0, 0, 1], [0, 1, 1], [2, 1, 1]]
    assert [found.distinct.tolist(), found.totals.tolist(), found.greatest.tolist()] == [
        [2, 1, 0, 0],
        [3, 1, 0, 0],
        [2, 1, 0, 0],
    ]
    twice = Histograms.of(groups, codes, 4, 2, numbers(5, 1, 2, 3, 4, 6))
    assert [twice.group.tolist(), twice.code.tolist(), twice.count.tolist()] == [[0, 0, 1], [0, 1, 1], [6, 2, 3]]
    nothing = Histograms.of(numbers(0, 0), numbers(-1, -1), 1, 0)
    assert nothing.distinct.tolist() == [0]
    assert nothing.tails(1).tolist() == [0]
    assert Histograms.of(numbers(), numbers(), 0, 0).tails(1).tolist() == []


def test_entropies() -> None:
    found = counted({0: 2, 1: 2}, {0: 5}, {}, {0: 3, 1: 1}).histograms
    expected = [math.log(2), 0, 0, -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))]
    assert found.entropies.tolist() == pytest.approx(expected)


def test_tails() -> None:
    found = counted({0: 1, 1: 5, 2: 3}, {1: 4}, {}, {0: 2, 2: 2, 3: 7}).histograms
    assert [found.tails(start).tolist() for start in (1, 2, 3, 4)] == [
        [9, 4, 0, 11],
        [4, 0, 0, 4],
        [1, 0, 0, 2],
        [0, 0, 0, 0],
    ]


@pytest.mark.parametrize("cells", [1, 3, 5, 6, 7, 8, 9, 100])
def test_tables_of_a_histogram_come_in_parts(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histograms, "DENSE_CELLS", cells)
    found = counted({0: 1, 2: 3}, {1: 4}, {}, {0: 2, 1: 2, 2: 7}, {2: 5}).histograms
    parts = list(found.dense())
    assert [one.stop for one, _ in parts[:-1]] == [one.start for one, _ in parts[1:]]
    assert (parts[0][0].start, parts[-1][0].stop) == (0, 5)
    assert max(table.size for _, table in parts) <= max(cells, 3)
    assert np.concatenate([table for _, table in parts]).tolist() == [
        *[[1, 0, 3], [0, 4, 0], [0, 0, 0], [2, 2, 7], [0, 0, 5]]
    ]


# -- distances ---------------------------------------------------------------------------------------------------------


def test_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worked by hand: of 4 and 2 values, over all (3, 2, 1)/6."""
    column = counted({0: 3, 1: 1}, {1: 1, 2: 1}, {})
    equal, ordered = Equal(), Ordered(3)
    tree = Hierarchical([("a", "x", "*"), ("b", "x", "*"), ("c", "*")])
    expected = {
        # ½ Σ |p − q|; running sums over 2 steps; within x at half the height of the root
        equal: [1 / 4, 1 / 2, 0],
        ordered: [(1 / 4 + 1 / 6) / 2, (1 / 2 + 1 / 3) / 2, 0],
        tree: [1 / 6 + 1 / 2 * 1 / 12, 1 / 3 + 1 / 2 * 1 / 6, 0],
    }
    for cells in (1, 3, 1000):
        monkeypatch.setattr(histograms, "DENSE_CELLS", cells)
        for distance, found in expected.items():
            assert distance.between(column.histograms, column.overall).tolist() == pytest.approx(found)
    assert (equal.unit, ordered.unit, tree.unit) == (2, 2, 2)


def test_distances_where_nothing_is_apart() -> None:
    column = counted({0: 3}, {0: 1})
    assert Ordered(1).between(column.histograms, column.overall).tolist() == [0, 0]
    assert Hierarchical([("*",)]).between(column.histograms, column.overall).tolist() == [0, 0]
    assert Hierarchical([]).unit == 0
    assert Equal().between(column.histograms, column.overall).tolist() == [0, 0]


def test_distances_of_very_many() -> None:
    """Where whole numbers of 64 bits do not do, the answer is the same but for rounding."""
    big = 1 << 40
    column = counted({0: 3 * big, 1: big}, {0: big, 1: 3 * big})
    assert Equal().between(column.histograms, column.overall).tolist() == pytest.approx([1 / 4, 1 / 4])
    assert Ordered(2).between(column.histograms, column.overall).tolist() == pytest.approx([1 / 4, 1 / 4])
    many = 1 << 30  # whose square does, but not 8 times over
    column = counted({0: many}, {8: many})
    assert Ordered(9).between(column.histograms, column.overall).tolist() == pytest.approx([1 / 2, 1 / 2])
    column = counted({0: many}, {1: many})
    deep = Hierarchical([(*"abcdefgh", "*"), (*"ijklmnop", "*")])
    assert deep.between(column.histograms, column.overall).tolist() == pytest.approx([1 / 2, 1 / 2])


def test_heights_count_the_whole_tree() -> None:
    ways = [("a", "*"), ("b", "*")]
    assert Hierarchical(ways).heights == {("a", "*"): 0, ("b", "*"): 0, ("*",): 1}
    deeper = Hierarchical(ways, [("c", "x", "y", "*")])
    assert deeper.heights[("*",)] == 3
    assert next(iter(deeper.heights)) == ("c", "x", "y", "*")
    column = counted({0: 1}, {1: 1})
    assert deeper.between(column.histograms, column.overall).tolist() == pytest.approx([1 / 2, 1 / 2])
    inner = Hierarchical([("x", "*"), ("a", "x", "*"), ("b", "*")])  # a class that has another one under it
    column = counted({0: 1, 2: 1}, {1: 1, 2: 1})
    assert inner.between(column.histograms, column.overall).tolist() == pytest.approx([1 / 8, 1 / 8])


# -- models ------------------------------------------------------------------------------------------------------------


def test_different_values() -> None:
    column = counted({0: 2, 1: 1}, {0: 1, 1: 1, 2: 1})
    assert DifferentValues(2).judge(column) == Judged(2, True, -2)
    assert DifferentValues(3).judge(column) == Judged(2, False, -2)
    assert DifferentValues(3, matching=True).judge(column) == Judged(2, False, -2)


def test_different_values_among_matching_rows() -> None:
    """Group 0 shows nothing, so it matches both others."""
    matches = Matches(np.array([[-1], [0], [1]]), numbers(2, 2, 2))
    column = counted({0: 2}, {0: 1, 1: 1}, {0: 1, 2: 1}, matches=matches)
    words = "where a missing cell matches anything, 1 where it is a value of its own"
    assert DifferentValues(2, matching=True).judge(column) == Judged(f"2 or more {words}", True, -2)
    assert DifferentValues(3, matching=True).judge(column) == Judged(f"2 {words}", False, -2)
    assert DifferentValues(1, matching=True).judge(column) == Judged(1, True, -1)
    assert DifferentValues(2).judge(column) == Judged(1, False, -1)
    assert column.fewest_matching(2) == 2
    assert column.fewest_matching(9) == 2
    assert column.fewest_matching(1) == 1


def test_entropy_at_its_limit() -> None:
    column = counted({0: 2, 1: 2}, {0: 1, 1: 1, 2: 1})
    found = Entropy(2).judge(column)
    assert (found.found, found.kept) == ("ln(2)", True)
    assert found.badness == pytest.approx(-math.log(2))
    assert not Entropy(2.001).judge(column).kept
    assert Entropy(1.999).judge(column).kept


def test_recursive_at_its_limit() -> None:
    column = counted({0: 4, 1: 2, 2: 2}, {0: 3, 1: 3, 2: 3})
    assert Recursive(Fraction(2), 3).judge(column) == Judged("2 times", False, 2)  # it must be below
    assert Recursive(Fraction(201, 100), 3).judge(column).kept
    assert Recursive(Fraction(1), 2).judge(column) == Judged("1 times", False, 1)
    few = Recursive(Fraction(9), 4).judge(column)
    assert few == Judged("a group with 3 different values", False, math.inf)


def test_shares_at_their_limit() -> None:
    column = counted({0: 1, 1: 1}, {0: 1, 1: 3}, {})
    assert Alpha(0.75).judge(column) == Judged("0.75", True, 0.75)
    assert not Alpha(0.7499).judge(column).kept
    third = counted({0: 1, 1: 1, 2: 1})
    assert Alpha(1 / 3 - 1e-13).judge(third).kept  # rounding is not held against anybody
    assert Alpha(0.5).judge(counted({})).kept


def test_distances_at_their_limit() -> None:
    column = counted({0: 3, 1: 1}, {0: 1, 1: 3})
    assert Close(0.25, "equal").judge(column) == Judged("0.25", True, 0.25)
    assert not Close(0.2499, "equal").judge(column).kept
    assert isinstance(Close(0.25, "ordered").distance(column), Ordered)
    assert isinstance(Close(0.25, "equal").distance(column), Equal)
    assert isinstance(Close(0.25, "hierarchical").distance(column), Hierarchical)
    mixed = counted({0: 1}, {1: 1}, in_order=False)
    assert Close(1, "ordered").judge(mixed).badness == math.inf
    assert not Close(1, "ordered").judge(mixed).kept
    assert Close(1, "equal").judge(mixed).kept


def test_numbers_never_look_better_than_they_are() -> None:
    assert [_written(number) for number in (1 / 3, 0.1 + 0.2, 2.0, 0, 0.00001, 10)] == [
        *["0.3334", "0.3", "2", "0", "0.0001", "10"]
    ]
    assert [_written(number, down=True) for number in (1 / 3, 0.99999, 2.0)] == ["0.3333", "0.9999", "2"]


# -- matches -----------------------------------------------------------------------------------------------------------


def match_all(codes: list[list[int]], sizes: list[int]) -> list[int]:
    def same(one: list[int], other: list[int]) -> bool:
        return all(a == b or a < 0 or b < 0 for a, b in zip(one, other, strict=True))

    return [sum(size for other, size in zip(codes, sizes, strict=True) if same(one, other)) for one in codes]


def test_matching_rows_against_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """All groups of three columns with two labels each, or missing: every mask meets every other one."""
    codes = [list(cells) for cells in itertools.product((-1, 0, 1), repeat=3)]
    sizes = [1 + 7 * number % 5 for number in range(len(codes))]
    for largest in (1 << 62, 1, 2, 4):
        monkeypatch.setattr("hedgerow.verification.counting.matching.LARGEST_KEY", largest)
        found = Matches(np.array(codes), np.array(sizes))
        assert found.rows(10**6).tolist() == match_all(codes, sizes)
        assert found.fewest_rows(1) == min(match_all(codes, sizes))
        assert found.fewest_rows(1000) == min(match_all(codes, sizes))


def test_keys_of_very_many_labels_do_not_run_over() -> None:
    """With two columns of 32 bits after it, the first one would be lost from a key of 64."""
    most = (1 << 32) - 1
    found = Matches(np.array([[0, most, most, 5], [1, most, most, 5], [0, most, most, -1]]), numbers(2, 3, 4))
    assert found.rows(100).tolist() == [6, 3, 6]


def test_matching_rows_as_far_as_asked() -> None:
    found = Matches(np.array([[0, -1], [0, 0], [0, 1], [1, 1]]), numbers(1, 2, 3, 4))
    assert found.rows(100).tolist() == [6, 3, 4, 4]
    assert found.rows(1).tolist() == [1, 2, 3, 4]
    assert [found.fewest_rows(asked) for asked in (1, 2, 3, 4, 9)] == [3] * 5
    assert Matches(np.array([[0], [1]]), numbers(5, 7)).fewest_rows(2) == 5
    assert Matches(np.array([[-1, -1]]), numbers(5)).fewest_rows(2) == 5


def test_matching_values() -> None:
    """Of groups (0, missing), (0, 0), (0, 1), (1, 1), the first meets the next two."""
    found = Matches(np.array([[0, -1], [0, 0], [0, 1], [1, 1]]), numbers(1, 2, 3, 4))
    values = counted({0: 1}, {0: 1, 1: 1}, {2: 2, 3: 1}, {4: 4}).histograms
    assert found.values(values, 9).tolist() == [4, 2, 3, 1]
    assert found.fewest_values(values, 2) == 1
    bounded = found.values(values, 2).tolist()
    assert (bounded[0] >= 2, bounded[3]) == (True, 1)


def test_masks_and_meetings() -> None:
    found = Matches(np.array([[0, -1], [0, 0], [1, -1], [-1, -1]]), numbers(1, 1, 1, 1))
    masks = {mask: sorted(part.tolist()) for mask, part in found.groups_by_mask.items()}
    assert masks == {0b01: [0, 2], 0b11: [1], 0b00: [3]}
    pairs = set()
    for meetings in found.meetings(np.ones(4, bool)):
        for meeting in meetings:
            assert isinstance(meeting, Meeting)
            for asking, key in zip(meeting.asking.tolist(), meeting.asking_keys.tolist(), strict=True):
                pairs |= {(asking, other) for other in meeting.answering[meeting.answering_keys == key].tolist()}
    assert pairs == {(0, 1), (1, 0), (0, 3), (3, 0), (2, 3), (3, 2), (1, 3), (3, 1)}
    assert list(found.meetings(np.zeros(4, bool))) == []


# -- combinations, strays, overlaps ------------------------------------------------------------------------------------


def test_combinations() -> None:
    cells = {"a": labels("x", None, "x", "y"), "b": labels("u", "u", "u", None)}
    found = Combinations.of(cells, numbers(1, 0, 1, 2))
    assert found.sizes.tolist() == [1, 2, 1]
    assert found.codes.tolist() == [[-1, 0], [0, 0], [1, -1]]
    assert found.groups_by_label("a") == [("x", 1), ("y", 1)]
    assert found.groups_by_label("b") == [("u", 2)]
    assert Combinations.of(cells, numbers(1, 0, 1, 2), numbers(5, 6, 7, 8)).sizes.tolist() == [6, 12, 8]


def test_codes_and_strays() -> None:
    assert _count_codes(numbers(0, 2, -1, 0), 4, None).tolist() == [2, 0, 1, 0]
    assert _count_codes(numbers(0, 2, -1, 0), 4, numbers(5, 6, 7, 8)).tolist() == [13, 0, 6, 0]
    stray = np.array([False, True, False, True])
    assert _strays(stray, None) == (2, 2)
    assert _strays(stray, numbers(5, 6, 7, 8)) == (14, 0)
    assert _strays(np.zeros(3, bool), None) == _strays(np.zeros(3, bool), numbers(1, 2, 3)) == (0, 0)


@pytest.mark.parametrize(
    ("spans", "crossing"),
    [
        (["10-19", "15", "19-25", "20-30", "12-18"], ["12-18", "15", "19-25", "20-30"]),
        (["10-19", "20-29"], []),
        (["10-19", "19"], ["19"]),
        (["10-19", "10-15", "10-12"], ["10-15", "10-12"]),
        (["10-19", "15-19"], ["15-19"]),
        (["10-12", "11", "13-20", "18"], ["11", "18"]),
        (["[10, 20)", "[20, 30)"], []),
        (["[10, 20)", "[19, 30)"], ["[19, 30)"]),
        (["[10, 20]", "[20, 30]"], ["[20, 30]"]),
        (["[10, 20)", "[15, 20]"], ["[15, 20]"]),
        (["[10, 20]", "[15, 20)"], ["[15, 20)"]),
    ],
)
def test_ranges_that_have_a_number_in_common(spans: list[str], crossing: list[str]) -> None:
    assert in_others(spans) == crossing
    assert in_others([*spans[::-1], None]) == crossing


# -- who may be behind whom --------------------------------------------------------------------------------------------


def table_of(fits: Fits, values: int, names: int) -> list[list[bool]]:
    return [fits.test(np.full(names, value), np.arange(names)).tolist() for value in range(values)]


def test_what_a_label_of_a_tree_may_stand_for(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = NamedTree.of({"any": {"x": {"a": {}, "b": {}}, "c": {}}}, Marks(names=frozenset({"a"})))
    column = TreeJudge(tree, own_leaf=False, root_of_missing=False)
    values, names = ["a", "c", None], ["x", "any", "c", None]
    fits = fits_of(column, values, names, keeps=False, level=None, within=False)
    free = [[True, True, False, False], [False, True, True, False], [False, True, False, True]]
    assert table_of(fits, 3, 4) == free
    assert fits.test(numbers(-1, -1), numbers(-1, 0)).tolist() == [True, False]  # −1 is missing
    kept = fits_of(column, values, names, keeps=True, level=None, within=False)
    assert table_of(kept, 3, 4) == [[False] * 4, *free[1:]]
    level = fits_of(column, values, names, keeps=False, level=1, within=False)
    assert table_of(level, 3, 4) == [[True, False, False, False], *[[False, True, False, False]] * 2]
    within = fits_of(column, ["a", None], ["a", "x", None], keeps=False, level=1, within=True)
    assert table_of(within, 2, 3) == [[True, False, False], [False, False, False]]
    monkeypatch.setattr(fitting, "MOST_CELLS", 12)
    fits_of(column, values, names, keeps=False, level=None, within=False)
    monkeypatch.setattr(fitting, "MOST_CELLS", 11)
    with pytest.raises(TooMuch):
        fits_of(column, values, names, keeps=False, level=None, within=False)


def test_what_an_interval_may_stand_for() -> None:
    column = FreeJudge(width=3)
    values = ["3", "3.5", "5", "x", None]
    names = ["3-5", "[3, 3.5]", "5", "3-9", "x", None]
    fits = fits_of(column, values, names, keeps=True, level=None, within=False)
    assert table_of(fits, 5, 6) == [
        [True, True, False, False, False, False],
        [False, True, False, False, False, False],
        [True, False, True, False, False, False],
        [False, False, False, False, False, False],
        [False, False, False, False, False, True],
    ]
    assert fits.test(numbers(-1, -1, 0), numbers(-1, 0, -1)).tolist() == [True, False, False]
    loose = fits_of(column, values, names, keeps=False, level=None, within=False)
    assert table_of(loose, 5, 6)[0] == [True, True, False, True, False, False]
    half = fits_of(FreeJudge(snap=1), ["3", "4", "5", None], ["[3, 5)", None], keeps=True, level=None, within=False)
    assert table_of(half, 4, 2) == [[True, False], [True, False], [False, False], [False, True]]


def test_what_a_suppressed_cell_may_stand_for() -> None:
    column = SuppressibleJudge(FreeJudge())
    fits = fits_of(column, ["3", "4", None], ["3", None], keeps=True, level=None, within=False)
    assert isinstance(fits, AnyForMissing)
    assert table_of(fits, 3, 2) == [[True, True], [False, True], [False, True]]
    assert fits.test(numbers(0, 1, 1), numbers(-1, -1, 0)).tolist() == [True, True, False]


def test_distinct_rows() -> None:
    found = possible.DistinctRows.of(numbers(1, 0, 1, 0, 1), [numbers(3, 2, 3, 2, -1)], None)
    assert found.key.tolist() == [0, 1, 1]
    assert sorted(zip(found.key.tolist(), found.codes[:, 0].tolist(), found.count.tolist(), strict=True)) == [
        *[(0, 2, 2), (1, -1, 1), (1, 3, 2)]
    ]
    weighed = possible.DistinctRows.of(numbers(1, 0, 1), [numbers(3, 2, 3)], numbers(5, 6, 7))
    assert (weighed.key.tolist(), weighed.count.tolist()) == ([0, 1], [6, 12])
    bare = possible.DistinctRows.of(numbers(1, 0, 1), [], None)
    assert (bare.key.tolist(), bare.codes.shape, bare.count.tolist()) == ([0, 1], (2, 0), [1, 2])


def rows_of(key: list[int], *columns: list[int]) -> possible.DistinctRows:
    return possible.DistinctRows(numbers(*key), np.array(columns).T.reshape(len(key), -1), np.ones(len(key), np.int64))


def edges_by_hand(rows: possible.DistinctRows, records: possible.DistinctRows) -> set[tuple[int, int]]:
    return {
        (one, other)
        for one, other in itertools.product(range(len(rows.key)), range(len(records.key)))
        if rows.key[one] == records.key[other] and (rows.codes[one] == records.codes[other]).all()
    }


@pytest.mark.parametrize(("small", "chunk"), [(1 << 12, 1 << 21), (0, 1 << 21), (2, 1 << 21), (100, 3), (3, 4)])
def test_edges_are_the_same_in_every_manner(small: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few candidates are looked at one by one, many by bits, and both in parts."""
    monkeypatch.setattr(possible, "SMALL", small)
    monkeypatch.setattr(possible, "CHUNK", chunk)
    rows = rows_of([0, 0, 1, 1, 2, 4, 5], [0, 1, 0, 1, 0, 1, 1], [0, 1, 1, 1, 0, 0, 0])
    records = rows_of(
        [0, 0, 0, 1, 1, 1, 1, 1, 3, 4, 5, 5],
        [0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0],
        [0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0],
    )
    same = InTable(np.eye(2, dtype=bool))
    seeker, holder = possible._edges(rows, records, [same, same])
    found = list(zip(seeker.tolist(), holder.tolist(), strict=True))
    assert set(found) == edges_by_hand(rows, records)
    assert len(found) == len(set(found))
    assert seeker.tolist() == sorted(seeker.tolist())


def test_edges_that_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, records = rows_of([0, 0], [0, 1]), rows_of([0, 0, 0], [0, 1, 1])
    any_label = InTable(np.ones((2, 2), bool))
    monkeypatch.setattr(possible, "MOST_EDGES", 6)
    monkeypatch.setattr(possible, "MOST_PAIRS", 6)
    assert len(possible._edges(rows, records, [any_label])[0]) == 6
    monkeypatch.setattr(possible, "MOST_EDGES", 5)
    with pytest.raises(TooMuch):
        possible._edges(rows, records, [any_label])
    monkeypatch.setattr(possible, "MOST_EDGES", 6)
    monkeypatch.setattr(possible, "MOST_PAIRS", 5)
    with pytest.raises(TooMuch):
        possible._edges(rows, records, [any_label])


def test_bits_that_take_too_much_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three records are a byte for every label: two labels are two bytes, and four may be had for each cell."""
    rows, records = rows_of([0, 0], [0, 1], [0, 1]), rows_of([0, 0, 0], [0, 1, 1], [0, 1, 1])
    same = InTable(np.eye(2, dtype=bool))
    monkeypatch.setattr(possible, "SMALL", 0)
    monkeypatch.setattr(possible, "MOST_CELLS", 1)
    assert len(possible._edges(rows, records, [same, same])[0]) == 3
    wide = rows_of([0, 0], [0, 1], [0, 1], [0, 1]), rows_of([0, 0, 0], *[[0, 1, 1]] * 3)
    with pytest.raises(TooMuch):
        possible._edges(*wide, [same] * 3)


def test_matching_that_takes_too_much() -> None:
    """Two edges, looked at once with the two ends of their search: 3, then 1 more to see that all is done."""
    edges = numbers(0, 1), numbers(0, 1)
    assert Bipartite(numbers(1, 1), numbers(1, 1), *edges, effort=4).unmatched() == 0
    with pytest.raises(TooMuch):
        Bipartite(numbers(1, 1), numbers(1, 1), *edges, effort=3).unmatched()


def most_by_hand(wants: list[int], has: list[int], edges: list[tuple[int, int]]) -> int:
    """The most that can be matched, by the least cut: of all sets of seekers."""
    near = np.zeros((len(wants), len(has)), np.int64)
    for seeker, holder in edges:
        near[seeker, holder] = 1
    some = np.arange(1 << len(wants))[:, None] >> np.arange(len(wants)) & 1
    return int(((1 - some) @ np.array(wants) + (some @ near > 0) @ np.array(has)).min())


def test_matching_against_the_least_cut() -> None:
    draw = np.random.default_rng(5)
    for _ in range(600):
        seekers, holders, dense = int(draw.integers(1, 8)), int(draw.integers(1, 10)), draw.choice([0.2, 0.35, 0.5])
        wants, has = draw.integers(0, 4, seekers).tolist(), draw.integers(0, 4, holders).tolist()
        edges = [pair for pair in itertools.product(range(seekers), range(holders)) if draw.random() < dense]
        seeker, holder = (numbers(*(edge[side] for edge in edges)) for side in (0, 1))
        found = Bipartite(numbers(*wants), numbers(*has), seeker, holder)
        assert found.unmatched() == sum(wants) - most_by_hand(wants, has, edges)
        assert (found.wants >= 0).all()
        assert (found.has >= 0).all()
        assert (found.given >= 0).all()


# -- a counted link ----------------------------------------------------------------------------------------------------

PLAN = Plan.from_dict(
    {
        "attributes": {"who": "identifier", "x": "quasi-identifier", "s": "sensitive"},
        "privacy": {"k": 2},
        "person": "who",
    }
)


def link_of(**changes: Any) -> LinkClaim:
    """Three classes: a and b of person 1 are one, b of person 2, and c of person 3."""
    parts: dict[str, Any] = {
        "profiles": {
            "x": ["a", "b", "b", "c"],
            "s": ["u", "u", "v", "u"],
            "person": [1, 1, 2, 3],
            "class": [7, 7, 9, 4],
        },
        "parts": {"class": [7, 9, 4], "g": [5, 5, 3], "n": [3, 1, 2]},
        "labels": {"g": [5, 3], "x": ["*", "c"]},
    }
    for name, change in changes.items():
        table, column = name.split("_")
        parts[table] = parts[table] | {column: change}
    tables = {name: pa.table({key: pa.array(cells) for key, cells in table.items()}) for name, table in parts.items()}
    return LinkClaim(**tables)


ORIGINAL = Original(
    {"x": labels("a", "b", "b", "c"), "s": labels("u", "u", "v", "u")},
    {"x": "text", "s": "text"},
    8,
    numbers(1, 2, 2, 3),
    numbers(1, 1, 2, 3),
)


def faults(link: LinkClaim, original: Original = ORIGINAL, counts: tuple[int, ...] = (3, 1, 2)) -> list[str]:
    ties = Ties.read(link, PLAN, original)
    cells, sensitive = {"x": labels("*", "*", "c")}, {"s": labels("u", "v", "u")}
    found = []
    for fault in ties.faults(original, cells, sensitive, numbers(*counts)):
        found.append(fault)
        break
    return found


def test_a_sound_link() -> None:
    assert faults(link_of()) == []
    ties = Ties.read(link_of(), PLAN, ORIGINAL)
    assert sorted(ties.pairs("x"), key=str) == [(("a", "b"), "*", 3), (("b",), "*", 1), (("c",), "c", 2)]
    assert ties.fewest_persons({"x": labels("*", "*", "c")}, numbers(0, 0, 1), 2) == 1
    assert ties.fewest_persons({"x": labels("*", "*", "c")}, numbers(1, 1, 0), 2) == 1
    assert ties.fewest_persons({"x": labels("*", "*")}, numbers(0, 0), 0) == 0


def test_profiles_of_nobody() -> None:
    original = Original(ORIGINAL.columns, ORIGINAL.kinds, 8, ORIGINAL.counts, numbers(1, 1, 2, -1))
    assert faults(link_of(profiles_person=[1, 1, 2, None]), original) == []
    (found,) = faults(link_of(profiles_person=[1, 1, None, None]), original)
    assert found == "1 profiles of the link are not in the original"


def test_the_group_with_fewest_persons() -> None:
    ties = Ties.read(link_of(parts_g=[5, 5, 5]), PLAN, ORIGINAL)
    assert ties.fewest_persons({"x": labels("*", "*", "c")}, numbers(0, 0, 0), 1) == 3
    nobody = Ties.read(link_of(profiles_person=[1, 1, None, None]), PLAN, ORIGINAL)
    assert nobody.fewest_persons({"x": labels("*", "*", "c")}, numbers(0, 0, 1), 2) == 0


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"parts_class": [7, 9, 99]}, "1 parts of the link have no profiles, no labels or no records"),
        ({"parts_g": [5, 6, 4]}, "2 parts of the link have no profiles, no labels or no records"),
        ({"parts_n": [3, 0, 2]}, "1 parts of the link have no profiles, no labels or no records"),
        ({"labels_g": [5, 5], "parts_g": [5, 5, 5]}, "1 groups of the link have labels more than once"),
        ({"profiles_x": ["a", "z", "b", "c"]}, "1 profiles of the link are not in the original"),
        ({"profiles_s": ["u", "u", "z", "z"]}, "2 profiles of the link are not in the original"),
        ({"profiles_person": [1, 1, 1, 3]}, "1 profiles of the link are not in the original"),
        (
            {"profiles_x": ["a", "b", "b", "b"], "profiles_person": [1, 1, 2, 1]},
            "1 profiles of the link are in more than",
        ),
        ({"profiles_class": [7, 7, 7, 4], "parts_class": [7, 7, 4]}, "1 classes of the link mix sensitive values"),
        ({"profiles_class": [7, 9, 4, 4], "parts_n": [1, 1, 2]}, "1 classes of the link mix sensitive values"),
        ({"parts_n": [4, 1, 2]}, "1 classes of the link have more records than the original"),
        ({"parts_n": [4, 3, 4]}, "3 classes of the link have more records than the original"),
        (
            {"parts_n": [2, 1, 2]},
            "1 rows of the release are not those of the link, and 0 rows of the link are not there",
        ),
        (
            {"parts_n": [3, 2, 1]},
            "1 rows of the release are not those of the link, and 1 rows of the link are not there",
        ),
        (
            {"labels_x": ["*", "d"]},
            "2 rows of the release are not those of the link, and 2 rows of the link are not there",
        ),
    ],
)
def test_links_that_are_not_sound(changes: dict[str, Any], fault: str) -> None:
    (found,) = faults(link_of(**changes))
    assert found.startswith(fault)


def test_fewer_rows_than_the_link() -> None:
    (found,) = faults(link_of(), counts=(1, 1, 2))
    assert found == "0 rows of the release are not those of the link, and 2 rows of the link are not there"


def test_links_are_written_as_the_original_is() -> None:
    numeric = Original({"x": labels("1.5"), "s": labels("u")}, {"x": "number", "s": "text"}, 1, numbers(1), numbers(1))
    changed = link_of(
        profiles_x=["1.50"], profiles_s=[" u "], profiles_person=[1], profiles_class=[0], parts_class=[0], parts_g=[5],
        parts_n=[1],
    )  # fmt: skip
    ties = Ties.read(changed, PLAN, numeric)
    assert ties.profiles["x"].to_pylist() == ["1.5"]
    assert ties.sensitive["s"].to_pylist() == ["u"]
    assert ties.class_of.tolist() == [0]
    whole = Ties.read(link_of(profiles_x=[1, 2, 2, 3]), PLAN, ORIGINAL)
    assert whole.profiles["x"].to_pylist() == ["1", "2", "2", "3"]


def test_links_that_are_none() -> None:
    for changes in ({"parts_n": ["3", "1", "2"]}, {"parts_g": [5, None, 3]}, {"profiles_class": [7.0, 7.0, 9.0, 4.0]}):
        with pytest.raises(DataError, match="A counted link must have profiles"):
            Ties.read(link_of(**changes), PLAN, ORIGINAL)
    for name, table in (("parts", pa.table({"class": [7], "g": [5]})), ("labels", pa.table({"x": ["a"]}))):
        there = link_of()
        with pytest.raises(DataError, match="A counted link must have profiles"):
            Ties.read(
                LinkClaim(**{"profiles": there.profiles, "parts": there.parts, "labels": there.labels, name: table}),
                PLAN,
                ORIGINAL,
            )


def test_columns_that_are_named_like_those_of_the_link() -> None:
    """Of two columns with one name that of the data is the first among profiles and the last among labels."""
    plan = Plan.from_dict({"attributes": {"class": "quasi-identifier", "g": "quasi-identifier"}, "privacy": {"k": 2}})
    profiles = pa.Table.from_arrays(
        [pa.array([1, 2]), pa.array(["p", "q"]), pa.array([30, 20])], ["class", "g", "class"]
    )
    group_labels = pa.Table.from_arrays(
        [pa.array([6, 5]), pa.array(["1", "2"]), pa.array(["p", "q"])], ["g", "class", "g"]
    )
    parts = pa.table({"class": [20, 30], "g": [5, 6], "n": [1, 1]})
    original = Original(
        {"class": labels("1", "2"), "g": labels("p", "q")}, {"class": "number", "g": "text"}, 2, numbers(1, 1)
    )
    ties = Ties.read(LinkClaim(profiles, parts, group_labels), plan, original)
    assert ties.class_of.tolist() == [1, 0]
    assert ties.profiles["class"].to_pylist() == ["1", "2"]
    assert ties.groups.tolist() == [5, 6]
    assert ties.labels["g"].to_pylist() == ["q", "p"]
    assert ties.labels["class"].to_pylist() == ["2", "1"]
    assert (ties.part_class.tolist(), ties.part_group.tolist()) == ([0, 1], [0, 1])


def test_sets_of_values_that_classes_share() -> None:
    """Two classes of two values each have the same set, which is told once."""
    profiles = pa.table({"x": ["a", "b", "b", "a", "c"], "class": [0, 0, 1, 1, 2]})
    parts = pa.table({"class": [0, 1, 2], "g": [0, 0, 0], "n": [2, 3, 4]})
    plan = Plan.from_dict({"attributes": {"x": "quasi-identifier"}, "privacy": {"k": 2}})
    original = Original({"x": labels("a", "b", "c")}, {"x": "text"}, 9, numbers(3, 3, 3))
    link = LinkClaim(profiles, parts, pa.table({"g": [0], "x": pa.array([None], pa.string())}))
    found = Ties.read(link, plan, original).pairs("x")
    assert sorted(found, key=str) == [(("a", "b"), None, 5), (("c",), None, 4)]


def test_sets_of_values_that_differ() -> None:
    profiles = pa.table({"x": ["a", "b", "a", "c"], "class": [0, 0, 1, 1]})
    parts = pa.table({"class": [0, 1], "g": [0, 0], "n": [2, 3]})
    plan = Plan.from_dict({"attributes": {"x": "quasi-identifier"}, "privacy": {"k": 2}})
    original = Original({"x": labels("a", "b", "c")}, {"x": "text"}, 9, numbers(3, 3, 3))
    link = LinkClaim(profiles, parts, pa.table({"g": [0], "x": ["*"]}))
    found = Ties.read(link, plan, original).pairs("x")
    assert sorted(found, key=str) == [(("a", "b"), "*", 2), (("a", "c"), "*", 3)]
