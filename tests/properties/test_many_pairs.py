"""Pairs of cells that are judged all at once are judged as they are one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.plan import Plan
from hedgerow.verification.counting.many_pairs import ManyPairs
from hedgerow.verification.counting.pairs import Pair, PairSums
from hedgerow.verification.values.columns import Cell, column_of
from hedgerow.verification.values.trees import OneLevel

TREE = {"*": {"A": {"a": {}, "b": {}}, "B": {"C": {"c": {}, "d": {}}, "D": {"e": {}}}}}
COLUMNS: dict[str, dict[str, Any]] = {
    "tree": {"hierarchy": {"tree": TREE}, "limits": ["A", "C"], "unknown": "own-leaf-under-root"},
    "withheld": {"hierarchy": {"tree": TREE}, "unknown": "withhold"},
    "bands": {"hierarchy": {"bands": [5, 10]}, "limit": {"level": 1}},
    "prefix": {"hierarchy": {"prefix": [2, 1], "length": 3}, "limit": {"level": 1}},
    "flat": {},
    "free": {"intervals": "free", "limit": {"cuts": [7], "width": 12}},
    "grid": {"intervals": "free", "snap": 5},
}
ENDS = st.sampled_from([0, 3, 5, 7, 8, 10, 15, 20])
VALUES: st.SearchStrategy[Cell] = st.one_of(
    st.none(), st.sampled_from([*"abcdeAZ", "a1", "a12", "7.5", "-3", "10.0", "x", "1e1"]), ENDS.map(str)
)
LABELS: st.SearchStrategy[Cell] = st.one_of(
    VALUES,
    st.sampled_from(["*", "A", "B", "C", "a1*", "a**", "1**", "0-4", "5-9", "[0, 10)", "[2.5, 7.5]", "9-3"]),
    st.builds(lambda low, high, form: form.format(low, high), ENDS, ENDS, st.sampled_from(["{}-{}", "[{}, {})"])),
)


@pytest.mark.parametrize("kind", COLUMNS)
@given(
    pairs=st.lists(st.tuples(VALUES, LABELS, st.integers(1, 9)), min_size=1, max_size=12),
    level=st.sampled_from([None, OneLevel(1, True)]),
)
@settings(max_examples=60, deadline=None)
def test_all_at_once_and_one_by_one(kind: str, pairs: list[tuple[Cell, Cell, int]], level: OneLevel | None) -> None:
    plan = Plan.from_dict({"attributes": {"x": {"role": "quasi-identifier", **COLUMNS[kind]}}, "privacy": {"k": 2}})
    values, labels = [value for value, _, _ in pairs], [label for _, label, _ in pairs]
    judge = column_of(plan, "x", labels, values, level if COLUMNS[kind].get("intervals") is None else None)
    wanted = PairSums.of(judge, [Pair((value,), label, count, 0) for value, label, count in pairs])
    known, shown = [*dict.fromkeys(values)], [*dict.fromkeys(labels)]
    found = ManyPairs(
        known,
        shown,
        np.array([known.index(value) for value in values]),
        np.array([shown.index(label) for label in labels]),
        np.array([count for _, _, count in pairs]),
    ).judged(judge)
    assert found == wanted
