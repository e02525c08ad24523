"""Cells that a spreadsheet would run are made harmless, reversibly, and numbers are left alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.engines.spreadsheet import guard


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "-5--1", "=", "-"])
def test_formulas_are_guarded(cell: str) -> None:
    assert guard(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["-5", "+5", "-5.25", "-1e-9", "flu", "", "a=b", "30-39", "'quoted'", "*"])
def test_numbers_and_plain_text_are_left_alone(cell: str) -> None:
    assert guard(cell) == cell


@given(st.text(alphabet="'=+-@\t15.e", max_size=6))
def test_guarding_is_reversible(cell: str) -> None:
    guarded = guard(cell)
    restored = guarded[1:] if re.match(r"'+[=+\-@\t]", guarded) else guarded
    assert restored == cell
