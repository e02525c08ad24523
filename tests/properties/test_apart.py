"""Releases whose published values must not overlap: a value lies in one of them only, whatever the hierarchies are."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.plan import Plan

QI = "quasi-identifier"
TREE = {"*": {"A": ["a1", "a2"], "B": {"B1": ["b1", "b2"], "b3": None}, "C": ["c1"]}}
COLUMNS: dict[str, tuple[dict[str, Any], st.SearchStrategy[Any]]] = {
    "zip": ({"role": QI, "hierarchy": {"prefix": [5, 3, 1, 0]}}, st.sampled_from(["43101", "43102", "4320", "51000"])),
    "day": (
        {"role": QI, "hierarchy": {"dates": ["month", "year"]}},
        st.integers(0, 700).map(lambda days: (dt.date(2020, 1, 1) + dt.timedelta(days)).isoformat()),
    ),
    "band": ({"role": QI, "hierarchy": {"bands": [5, 20]}}, st.integers(0, 60).map(str)),
    "half": ({"role": QI, "hierarchy": {"bands": ["0.5", 5]}}, st.integers(0, 20).map(lambda n: str(n / 4))),
    "tree": ({"role": QI, "hierarchy": {"tree": TREE}}, st.sampled_from(["a1", "a2", "b1", "b2", "b3", "c1"])),
    "flat": ({"role": QI}, st.sampled_from(["x", "y", "z"])),
    "free": ({"role": QI, "intervals": "free"}, st.integers(0, 30)),
    "grid": ({"role": QI, "intervals": "free", "snap": 5}, st.integers(0, 40)),
    "cut": ({"role": QI, "intervals": "free", "limit": {"cuts": [10, 20]}}, st.integers(0, 30)),
}


@st.composite
def releases(draw: st.DrawFn) -> tuple[pa.Table, Plan]:
    records = draw(st.integers(3, 40))
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4, unique=True))
    rows, asked = {}, {}
    for name in names:
        attribute, value = COLUMNS[name]
        may_miss = draw(st.booleans())
        rows[name] = draw(st.lists(st.none() | value if may_miss else value, min_size=records, max_size=records))
        if name == "tree" and draw(st.booleans()):
            attribute = {**attribute, "unknown": "own-leaf-under-root"}
            rows[name] = [draw(st.sampled_from([one, "nowhere"])) for one in rows[name]]
        asked[name] = attribute
    method: dict[str, Any] = {
        "name": draw(st.sampled_from(["utility", "bottom-up", "euclidean"])),
        "overlap": "forbidden",
    }
    more: dict[str, Any] = {}
    if method["name"] == "utility" and draw(st.booleans()):
        method["suppress"] = True
    if "suppress" in method or draw(st.booleans()):
        more["missing"] = "matches-any"
    table = {name: pa.array(values, pa.int64() if type(values[0]) is int else None) for name, values in rows.items()}
    return pa.table(table), Plan.from_dict({"attributes": asked, "privacy": {"k": 3}, "method": method, **more})


@given(made=releases())
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_value_lies_in_one_published_value(made: tuple[pa.Table, Plan]) -> None:
    table, plan = made
    try:
        release = hr.anonymize(table, plan)  # refuses what its own check finds wanting
    except hr.NoSolution:
        return
    behind = table.take(release.record_of_row)
    for name in plan.quasi_identifiers:
        shown: dict[Any, set[Any]] = {}
        for value, label in zip(behind[name].to_pylist(), release.table[name].to_pylist(), strict=True):
            if label is not None or not plan.method.suppress:
                shown.setdefault(value, set()).add(label)
        assert all(len(labels) == 1 for labels in shown.values()), name


@pytest.mark.parametrize(
    ("overlap", "labels"),
    [("allowed", {"Kansas", "Wichita", "Akron"}), ("forbidden", {"Kansas", "Akron"})],
)
def test_nodes_stood_one_above_the_other_before(overlap: str, labels: set[str]) -> None:
    tree = {"US": {"Kansas": ["Wichita", "Topeka"], "Ohio": ["Akron", "Dayton"]}}
    rows = {"town": ["Wichita"] * 5 + ["Topeka"] + ["Wichita"] * 2 + ["Akron"] * 3, "sex": list("FFFFFMMMFFF")}
    asked = {"town": {"role": QI, "hierarchy": {"tree": tree}}, "sex": {"role": QI, "limit": {"level": 0}}}
    method = {"name": "bottom-up", "overlap": overlap}
    plan = Plan.from_dict({"attributes": asked, "privacy": {"k": 3}, "method": method})
    assert set(hr.anonymize(pa.table(rows), plan).table["town"].to_pylist()) == labels


@pytest.mark.parametrize("overlap", ["allowed", "forbidden"])
def test_ranges_stood_one_within_the_other_before(overlap: str) -> None:
    rows = {"age": [1, 23, 5, 6, 1, 10, 14, 15, 2, 21], "sex": list("FFMMXXFFMM")}
    asked = {"age": {"role": QI, "intervals": "free"}, "sex": {"role": QI, "limit": {"level": 0}}}
    method = {"name": "utility", "overlap": overlap}
    plan = Plan.from_dict({"attributes": asked, "privacy": {"k": 2}, "method": method})
    ranges = {
        tuple(map(int, str(label).split("-"))) for label in hr.anonymize(pa.table(rows), plan).table["age"].to_pylist()
    }
    crossing = [(one, other) for one in ranges for other in ranges if one < other and other[0] <= one[-1]]
    assert (crossing == []) == (overlap == "forbidden")
