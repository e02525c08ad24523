"""Fast clustering equals the naive reference, group by group, on generated tables with many ties."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.clustering import ConstrainedKMember, KMember
from tests.cases.records import Case, cases, encode, naive_attributes
from tests.naive.constrained import greedy_cka


def compare(case: Case, limits: bool) -> None:
    microdata = encode(case)
    attributes = naive_attributes(case, microdata, limits)
    names = [column.name for column in microdata.indexed_columns]
    records = [
        tuple(a.code(case.rows[name][i]) for a, name in zip(attributes, names, strict=True))
        for i in range(microdata.records)
    ]
    assert microdata.profiles[microdata.profile_of_unit].tolist() == [list(record) for record in sorted(records)]
    naive = greedy_cka(attributes, records, case.k, case.seed, case.persons)
    algorithm = (ConstrainedKMember if limits else KMember)(case.k, case.seed)
    fast = algorithm(microdata)
    groups: dict[int, set[int]] = {}
    for unit, group in enumerate(fast.group_of.tolist()):
        groups.setdefault(group, set()).add(unit)
    assert groups.pop(-1, set()) == set(naive.withheld)
    assert sorted(map(sorted, groups.values())) == sorted(map(sorted, naive.groups))
    codes = microdata.profiles[microdata.profile_of_unit].astype(int)
    at = [microdata.index_order.index(position) for position in range(len(names))]
    for group, members in groups.items():
        assert codes[sorted(members)].min(axis=0)[at].tolist() == fast.lo[group].tolist()
        assert codes[sorted(members)].max(axis=0)[at].tolist() == fast.hi[group].tolist()


@pytest.mark.parametrize("limits", [True, False])
@given(case=cases())
@settings(max_examples=80, deadline=None)
def test_same_groups_as_the_naive_reference(case: Case, limits: bool) -> None:
    compare(case, limits)


@pytest.mark.parametrize("limits", [True, False])
@given(case=cases(wide=True))
@settings(max_examples=15, deadline=None)
def test_same_groups_with_many_values_per_column(case: Case, limits: bool) -> None:
    compare(case, limits)


@given(case=cases(persons=True))
@settings(max_examples=80, deadline=None)
def test_same_groups_when_k_counts_persons(case: Case) -> None:
    compare(case, limits=True)


@given(case=cases(), threads=st.integers(2, 4))
@settings(max_examples=15, deadline=None)
def test_threads_do_not_change_the_answer(case: Case, threads: int) -> None:
    microdata = encode(case)
    one = ConstrainedKMember(case.k, case.seed)(microdata)
    many = ConstrainedKMember(case.k, case.seed, threads)(microdata)
    assert one.group_of.tolist() == many.group_of.tolist()
    assert one.lo.tolist() == many.lo.tolist()
