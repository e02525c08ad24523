"""Numbers far from all others: said of a column, with how many records have them, and never which they are."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.evaluation.extremes import extremes_of
from hedgerow.plan import Plan
from hedgerow.reports.assessed import notes

PAY = [20_000 + 100 * number for number in range(200)]
PEOPLE = pa.table(
    {
        "ward": ["a", "b"] * 101,
        "income": pa.array([*PAY, 7_300_001, -4_000_003]),
        "gain": pa.array([0] * 180 + [100 * number for number in range(20)] + [99_999, 5]),
    }
)


def test_a_draft_points_at_them_and_proposes_a_treatment() -> None:
    text = hr.draft_plan(PEOPLE)
    treat = "treat: {top: {fewest: 10}, bottom: {fewest: 10}}"
    line = next(line for line in text.splitlines() if treat in line)
    assert line.startswith("  # income: {role:")
    assert "7300001" not in text.replace(",", "").replace("_", "")
    assert "4000003" not in text
    Plan.loads(text)
    asked = Plan.loads("\n".join(line.replace("  # income:", "  income:") if treat in line else line
                                 for line in text.splitlines() if not line.startswith("  income:")))  # fmt: skip
    assert asked.attributes["income"].treat is not None


def test_an_assessment_points_at_them() -> None:
    found = hr.assess(PEOPLE, columns=["ward", "income"], sensitive=["gain"])
    assert [(one.column, one.above, one.below) for one in found.extremes] == [("income", 1, 1), ("gain", 1, 0)]
    said = " ".join(notes(found.to_dict()))
    assert "income: 1 record far above and 1 record far below all others" in said
    assert "7300001" not in said
    assert "99999" not in said


@pytest.mark.parametrize(
    "numbers", [{}, {1: 5}, dict.fromkeys(range(30), 2), dict.fromkeys([2**n for n in range(12)], 1)]
)
def test_what_is_not_far_or_not_a_measure_is_left_alone(numbers: dict[int, int]) -> None:
    assert extremes_of("x", numbers) is None
