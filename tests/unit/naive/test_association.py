"""The reference of association holds to cases worked out by hand, and gives symmetric shares."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.naive import association

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
