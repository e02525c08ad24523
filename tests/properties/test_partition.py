"""Partitioning equals the naive reference, part by part; what it promises holds for every input."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.clustering import (
    Cells,
    ConstrainedKMember,
    DiverseClustering,
    Partition,
    find_cells,
    split_cells,
)
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.privacy import Requirement
from tests.cases.records import Case, cases, encode, naive_attributes
from tests.cases.sensitive import TREE, Diverse, codes_of, diverse, naive_demands
from tests.cases.sensitive import encode as encode_diverse
from tests.naive.partition import Part, Partitioner, partition

KINDS = ["p", "entropy", "recursive", "alpha", "beta", "delta", "equal", "ordered", "hierarchical", "mixed"]


def reference(case: Case, microdata: Microdata, limits: bool, sensitive: Diverse | None = None) -> Partitioner:
    """The naive partitioner of the same records, numbered as the units of the fast one, columns in the plan's order."""
    indexed = naive_attributes(case, microdata, limits)
    attributes = [indexed[microdata.index_order.index(place)] for place in range(len(indexed))]
    names = [column.name for column in microdata.columns]
    order = microdata.record_of.tolist()
    records = [tuple(a.code(case.rows[name][i]) for a, name in zip(attributes, names, strict=True)) for i in order]
    persons = None if case.persons is None else [case.persons[i] for i in order]
    if sensitive is None:
        return Partitioner(attributes, records, case.k, persons)
    codes = codes_of(sensitive)
    demands = naive_demands(sensitive, codes)
    return Partitioner(attributes, records, case.k, persons, [codes[i] for i in order], demands)


def sets_of(number: Any) -> tuple[list[list[int]], list[int]]:
    """Groups of units, each ascending, and the units in none."""
    groups: dict[int, list[int]] = {}
    for unit, group in enumerate(number.tolist()):
        groups.setdefault(group, []).append(unit)
    nowhere = groups.pop(-1, [])
    return sorted(groups.values()), nowhere


def compare(fast: Recoding, microdata: Microdata, naive: Partitioner) -> None:
    expected = partition(naive)
    groups, withheld = sets_of(fast.group_of)
    assert groups == sorted(map(list, map(sorted, expected.groups)))
    assert withheld == list(expected.withheld)
    codes = microdata.profiles[microdata.profile_of_unit].astype(int)
    at = [microdata.index_order.index(position) for position in range(len(microdata.columns))]
    for group in range(fast.groups):
        members = np.flatnonzero(fast.group_of == group)
        assert codes[members].min(axis=0)[at].tolist() == fast.lo[group].tolist()
        assert codes[members].max(axis=0)[at].tolist() == fast.hi[group].tolist()


@pytest.mark.parametrize("limits", [True, False])
@given(case=cases())
@settings(max_examples=40)
def test_same_groups_as_the_naive_reference(case: Case, limits: bool) -> None:
    microdata = encode(case)
    fast = Partition(Requirement(case.k), ignore_limits=not limits)(microdata)
    compare(fast, microdata, reference(case, microdata, limits))


@given(case=cases(wide=True))
@settings(max_examples=15)
def test_same_groups_with_many_values_per_column(case: Case) -> None:
    microdata = encode(case)
    compare(Partition(Requirement(case.k))(microdata), microdata, reference(case, microdata, True))


@given(case=cases(persons=True))
@settings(max_examples=30)
def test_same_groups_when_k_counts_persons(case: Case) -> None:
    microdata = encode(case)
    compare(Partition(Requirement(case.k))(microdata), microdata, reference(case, microdata, True))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=35)
def test_same_groups_under_models(kind: str, data: st.DataObject) -> None:
    given, limits = data.draw(diverse(kind, persons=data.draw(st.booleans()))), data.draw(st.booleans())
    microdata, requirement = encode_diverse(given)
    fast = Partition(requirement, ignore_limits=not limits)(microdata)
    compare(fast, microdata, reference(given.case, microdata, limits, given))


@given(case=cases())
def test_what_is_withheld_is_the_failing_cells(case: Case) -> None:
    microdata = encode(case)
    requirement = Requirement(case.k)
    cells = find_cells(microdata, requirement)
    fast = Partition(requirement)(microdata)
    assert cells.proven
    assert microdata.records - fast.released == cells.withheld
    assert not sum(fast.breaks_by_column(microdata).values())


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=20)
def test_every_group_meets_the_demands(kind: str, data: st.DataObject) -> None:
    given = data.draw(diverse(kind))
    microdata, requirement = encode_diverse(given)
    cells = find_cells(microdata, requirement)
    fast = Partition(requirement)(microdata)
    assert not requirement.fails(microdata, fast.group_of, fast.groups).any()
    assert not sum(fast.breaks_by_column(microdata).values())
    if cells.proven:
        assert microdata.records - fast.released == cells.withheld


# ---- splitting -----------------------------------------------------------------------------------------------------


def naive_split(naive: Partitioner, most: int) -> list[Part]:
    return sorted(sorted(part) for cell in naive.cells() for part in naive.split(cell, most))


def check_split(microdata: Microdata, requirement: Requirement, naive: Partitioner, most: int) -> tuple[Cells, Cells]:
    cells = find_cells(microdata, requirement)
    split = split_cells(microdata, cells, requirement, most)
    refined = split.cells
    parts, _ = sets_of(np.where(refined.failing[refined.cell_of], -1, refined.cell_of))
    assert parts == naive_split(naive, most)
    assert (refined.failing[refined.cell_of] == cells.failing[cells.cell_of]).all()
    assert (refined.withheld, refined.proven) == (cells.withheld, cells.proven)
    assert (np.bincount(refined.cell_of) == refined.records).all()
    before = len(cells.people)
    assert len(refined.people) == before - split.cells_split + split.parts
    failed = requirement.fails(microdata, cells.cell_of, before)[cells.cell_of]
    failed_now = requirement.fails(microdata, refined.cell_of, len(refined.people))[refined.cell_of]
    assert (failed == failed_now).all()
    assert (split.siblings is None) == (split.cells_split == 0)
    if split.siblings is not None:
        ours = [set(np.flatnonzero(split.siblings == side).tolist()) for side in (0, 1)]
        whole = sorted(ours[0] | ours[1])
        cut = naive.cut(whole, give_up=True)
        assert cut is not None
        assert sorted(map(sorted, cut)) == sorted(map(sorted, ours))
    return cells, refined


@given(case=cases(), most=st.integers(1, 12))
@settings(max_examples=30)
def test_splitting_is_the_naive_one_and_withholds_no_more(case: Case, most: int) -> None:
    microdata = encode(case)
    _, refined = check_split(microdata, Requirement(case.k), reference(case, microdata, True), most)
    clusters = ConstrainedKMember(case.k, case.seed)(microdata, cells=refined)
    assert microdata.records - clusters.released == refined.withheld


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), most=st.integers(1, 8))
@settings(max_examples=20)
def test_splitting_under_models(kind: str, data: st.DataObject, most: int) -> None:
    given = data.draw(diverse(kind, persons=data.draw(st.booleans())))
    microdata, requirement = encode_diverse(given)
    naive = reference(given.case, microdata, True, given)
    cells, refined = check_split(microdata, requirement, naive, most)
    clusters = DiverseClustering(requirement, given.case.seed)(microdata, cells=refined)
    assert not requirement.fails(microdata, clusters.group_of, clusters.groups).any()
    if cells.proven:
        assert microdata.records - clusters.released == cells.withheld


# ---- releases ------------------------------------------------------------------------------------------------------


def check_release(table: pa.Table, plan: dict[str, Any], order: random.Random) -> None:
    asked = hr.Plan.from_dict({**plan, "method": "partition"})
    try:
        release = hr.anonymize(table, asked)
    except hr.NoSolution:
        return
    assert hr.verify(release, table).kept
    at = list(range(table.num_rows))
    order.shuffle(at)
    again = hr.anonymize(table.take(at), asked, seed=order.randint(1, 9))
    assert again.table.equals(release.table)
    assert again.private["withheld_because"] == release.private["withheld_because"]


@given(case=cases(), order=st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_releases_are_kept_whatever_the_order_of_rows_and_the_seed(case: Case, order: random.Random) -> None:
    check_release(pa.table(case.rows), {"attributes": case.attributes, "privacy": {"k": case.k}}, order)


@given(case=cases(persons=True), gone=st.lists(st.integers(0, 29), max_size=8), order=st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_releases_of_persons_with_missing_values(case: Case, gone: list[int], order: random.Random) -> None:
    rows = {
        name: [None if (at + place) in gone else value for at, value in enumerate(column)]
        for place, (name, column) in enumerate(case.rows.items())
    }
    table = pa.table({**rows, "who": case.persons})
    plan = {"attributes": case.attributes, "person": "who", "privacy": {"k": case.k}}
    check_release(table, plan, order)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), order=st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_releases_under_models(kind: str, data: st.DataObject, order: random.Random) -> None:
    given = data.draw(diverse(kind))
    attributes = dict(given.case.attributes)
    table = dict(given.case.rows)
    for place, column in enumerate(given.sensitive):
        attributes[f"s{place}"] = {"role": "sensitive"}
        if kind in ("ordered", "hierarchical"):
            attributes[f"s{place}"]["hierarchy"] = {"tree": TREE}
        table[f"s{place}"] = pa.array(column, pa.string())
    check_release(pa.table(table), {"attributes": attributes, "privacy": given.privacy}, order)
