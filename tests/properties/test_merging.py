"""Utility-driven clustering and its baselines equal the naive reference: members, boxes and suppressed cells."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.clustering import MergeApart, MergeSmall, find_cells
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import TreeColumn
from hedgerow.privacy import Requirement
from tests.cases.research_value import ValueCase, value_cases
from tests.cases.sensitive import codes_of, naive_demands
from tests.naive import apart
from tests.naive import utility as naive

AIMS = ["utility", "bottom-up", "euclidean"]


def compare(case: ValueCase, aim: Any, suppress: bool = False, overlap: bool = True, threads: int = 1) -> None:
    plan = case.plan()
    microdata = case.encode(plan)
    requirement = Requirement.of_plan(plan, microdata)
    cells = find_cells(microdata, requirement)
    values = column_values(microdata, plan)
    columns = [case.naive_column(column) for column in microdata.indexed_columns]
    unlimited = [
        column.name for column, plain in zip(microdata.indexed_columns, columns, strict=True) if not plain.is_limited
    ]
    hideable = frozenset(unlimited if suppress else ())
    merging = (
        MergeSmall(requirement, values, aim, hideable, threads)
        if overlap
        else MergeApart(requirement, values, aim, hideable)
    )
    fast = merging(microdata, cells)
    names = [column.name for column in microdata.indexed_columns]
    records = [
        tuple(column.code(case.rows[name][i]) for column, name in zip(columns, names, strict=True))
        for i in range(microdata.records)
    ]
    codes = codes_of(case.given)
    # records of one profile are interchangeable to the clusters, so members are compared as profiles with counts
    cell = cells.cell_of[microdata.unit_start[:-1]].tolist()
    rank = dict(zip(map(tuple, microdata.profiles.tolist()), cell, strict=True))
    expected = (naive if overlap else apart).cluster(
        columns,
        records,
        plan.privacy.k,
        aim,
        case.settings,
        suppress,
        codes,
        naive_demands(case.given, codes),
        case.given.case.persons,
        cell_rank=lambda record: rank[record],
    )
    in_order = sorted(records)
    place = [microdata.index_order.index(position) for position in range(len(columns))]
    wanted = sorted(
        (
            sorted(in_order[member] for member in members),
            [list(box[at]) for at in place if at not in hidden],
            [at in hidden for at in place],
        )
        for members, box, hidden in naive.groups(expected)
    )
    found = []
    unit_codes = microdata.profiles[microdata.profile_of_unit]
    for group in range(fast.groups):
        hidden = [False] * len(columns) if fast.hidden is None else fast.hidden[group].tolist()
        box = [[int(fast.lo[group, j]), int(fast.hi[group, j])] for j in range(len(columns)) if not hidden[j]]
        found.append((sorted(map(tuple, unit_codes[fast.group_of == group].tolist())), box, hidden))
    assert sorted(found) == wanted
    assert int((fast.group_of < 0).sum()) == len(expected.withheld)
    if not overlap:
        for j, column in enumerate(microdata.columns):
            nodes = isinstance(column, TreeColumn)
            lo, hi = fast.lo[:, j], fast.hi[:, j]
            if nodes:
                lo, hi = column.hierarchy.first_leaf[fast.node[:, j]], column.hierarchy.last_leaf[fast.node[:, j]]
            shows = fast.shows(j)
            ranges = sorted({(int(a), int(b)) for a, b in zip(lo[shows], hi[shows], strict=True)})
            assert all(a[1] < b[0] for a, b in pairwise(ranges))


@pytest.mark.parametrize("aim", AIMS)
@given(case=value_cases())
@settings(max_examples=45, deadline=None)
def test_same_clusters(aim: str, case: ValueCase) -> None:
    compare(case, aim)


@pytest.mark.parametrize("kind", ["p", "entropy", "mixed"])
@given(case=st.data())
@settings(max_examples=20, deadline=None)
def test_same_clusters_under_models(kind: str, case: st.DataObject) -> None:
    compare(case.draw(value_cases(kind)), "utility")


@given(case=value_cases(persons=True))
@settings(max_examples=20, deadline=None)
def test_same_clusters_when_k_counts_persons(case: ValueCase) -> None:
    compare(case, "utility")


@pytest.mark.parametrize("kind", ["k", "p"])
@given(data=st.data())
@settings(max_examples=35, deadline=None)
def test_same_suppressed_cells(kind: str, data: st.DataObject) -> None:
    compare(data.draw(value_cases(kind)), "utility", suppress=True)


@pytest.mark.parametrize("aim", AIMS)
@given(case=value_cases())
@settings(max_examples=30, deadline=None)
def test_same_clusters_apart(aim: str, case: ValueCase) -> None:
    compare(case, aim, overlap=False)


@pytest.mark.parametrize("kind", ["p", "entropy", "mixed"])
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_same_clusters_apart_under_models(kind: str, data: st.DataObject) -> None:
    compare(data.draw(value_cases(kind)), "utility", overlap=False)


@given(case=value_cases(persons=True))
@settings(max_examples=15, deadline=None)
def test_same_clusters_apart_when_k_counts_persons(case: ValueCase) -> None:
    compare(case, "bottom-up", overlap=False)


@pytest.mark.parametrize("kind", ["k", "p"])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_same_suppressed_cells_apart(kind: str, data: st.DataObject) -> None:
    compare(data.draw(value_cases(kind)), "utility", suppress=True, overlap=False)


@given(case=value_cases(), threads=st.integers(2, 3))
@settings(max_examples=20, deadline=None)
def test_threads_do_not_change_the_answer(case: ValueCase, threads: int) -> None:
    compare(case, "utility", threads=threads)
