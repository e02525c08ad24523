"""Clustering under models equals the naive reference, group by group; every model equals its naive twin."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.clustering import DiverseClustering, find_cells
from hedgerow.privacy import Requirement
from tests.cases.records import naive_attributes
from tests.cases.sensitive import Diverse, codes_of, diverse, encode, naive_demands
from tests.naive.diverse import greedy_cpka, greedy_pk


def compare(given: Diverse, limits: bool) -> None:
    microdata, requirement = encode(given)
    case = given.case
    attributes = naive_attributes(case, microdata, limits)
    names = [column.name for column in microdata.indexed_columns]
    records = [
        tuple(a.code(case.rows[name][i]) for a, name in zip(attributes, names, strict=True))
        for i in range(microdata.records)
    ]
    codes = codes_of(given)
    demands = naive_demands(given, codes)
    weights = None
    if given.weights is not None:
        used = [
            w if any(v is not None for v in column) else 0
            for w, column in zip(given.weights, given.sensitive, strict=True)
        ]
        weights = [Fraction(weight, sum(used) or 1) for weight in used]
    reference = greedy_cpka if limits else greedy_pk
    expected = reference(
        attributes,
        records,
        codes,
        case.k,
        demands,
        case.seed,
        weights,
        case.persons,
        given.join,  # type: ignore[arg-type]
    )
    fast = DiverseClustering(requirement, case.seed, 1, given.join, ignore_limits=not limits)(microdata)  # type: ignore[arg-type]
    # Compare as multisets of what a record looks like: equal records are interchangeable.
    looks = [
        (tuple(profile), tuple(values), -1 if microdata.person_of is None else int(microdata.person_of[unit]))
        for unit, (profile, values) in enumerate(
            zip(microdata.profiles[microdata.profile_of_unit].tolist(), microdata.sensitive_of.tolist(), strict=True)
        )
    ]
    order = sorted(
        range(len(records)),
        key=lambda i: (
            records[i],
            [(v is None, v or 0) for v in codes[i]],
            0 if case.persons is None else case.persons[i],
        ),
    )
    ranks = []  # the fast code numbers only the values that occur
    for place in range(len(given.sensitive)):
        used = sorted({row[place] for row in codes if row[place] is not None})  # type: ignore[misc]
        ranks.append({code: rank for rank, code in enumerate(used)})
    person_rank = {p: r for r, p in enumerate(sorted(set(case.persons or ())))}
    shown = [
        (
            records[i],
            tuple(-1 if v is None else rank[v] for v, rank in zip(codes[i], ranks, strict=True)),
            -1 if case.persons is None else person_rank[case.persons[i]],
        )
        for i in order
    ]
    groups: dict[int, list[Any]] = {}
    for unit, group in enumerate(fast.group_of.tolist()):
        groups.setdefault(group, []).append(looks[unit])
    withheld = sorted(groups.pop(-1, []))
    assert withheld == sorted(shown[i] for i in expected.withheld)
    assert sorted(map(sorted, groups.values())) == sorted(sorted(shown[i] for i in group) for group in expected.groups)
    if groups:
        assert not requirement.fails(microdata, fast.group_of, fast.groups).any()


@pytest.mark.parametrize("limits", [True, False])
@given(given=diverse("p"))
@settings(max_examples=80)
def test_p_sensitive_clustering(given: Diverse, limits: bool) -> None:
    compare(given, limits)


@given(given=diverse("p", persons=True))
@settings(max_examples=55)
def test_p_sensitive_clustering_of_persons(given: Diverse) -> None:
    compare(given, limits=True)


@pytest.mark.parametrize(
    "kind", ["entropy", "recursive", "alpha", "beta", "delta", "equal", "ordered", "hierarchical", "mixed"]
)
@given(data=st.data())
@settings(max_examples=35)
def test_clustering_under_the_other_models(kind: str, data: st.DataObject) -> None:
    compare(data.draw(diverse(kind)), limits=data.draw(st.booleans()))


@pytest.mark.parametrize(
    "kind", ["p", "entropy", "recursive", "alpha", "beta", "delta", "equal", "ordered", "hierarchical"]
)
@given(data=st.data())
@settings(max_examples=35)
def test_models_hold_where_their_naive_twins_do(kind: str, data: st.DataObject) -> None:
    given = data.draw(diverse(kind))
    microdata, requirement = encode(given)
    group_of = np.array(data.draw(st.lists(st.integers(0, 3), min_size=microdata.records, max_size=microdata.records)))
    codes = codes_of(given)
    demands = naive_demands(given, codes)
    rows = [codes[record] for record in microdata.record_of]
    bare = Requirement(0, requirement.models)
    fails = bare.fails(microdata, group_of, 4)
    for group in range(4):
        members = [rows[unit] for unit in range(microdata.records) if group_of[unit] == group]
        assert fails[group] == (not demands.hold(members))


@given(given=diverse("p"))
def test_what_is_withheld_for_counting_models_is_the_failing_cells(given: Diverse) -> None:
    microdata, requirement = encode(given)
    cells = find_cells(microdata, requirement)
    fast = DiverseClustering(requirement, given.case.seed)(microdata)
    assert cells.proven
    assert cells.withheld == microdata.records - fast.released
