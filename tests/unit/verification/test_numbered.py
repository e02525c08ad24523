"""Numbering without sorting says what numpy's sorting says."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.verification.counting.arrays import numbered


@given(st.lists(st.integers(-2, 90), max_size=40))
def test_it_is_what_sorting_finds(numbers: list[int]) -> None:
    given_ = np.array(numbers, np.int64)
    found = numbered(given_)
    expected = np.unique(given_, return_index=True, return_inverse=True)
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]
