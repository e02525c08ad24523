"""Measures, limit breaks and cells equal the naive reference."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.anonymization.clustering import KMember, find_cells
from hedgerow.measures import (
    discernibility,
    loss_by_attribute,
    ncp,
    normalized_average_group_size,
    ntil,
    total_loss,
)
from hedgerow.privacy import Requirement
from tests.cases.records import Case, cases, encode, naive_attributes
from tests.naive import measures as naive
from tests.naive.constrained import greedy_cka


@given(case=cases())
def test_measures_of_an_unconstrained_clustering(case: Case) -> None:
    microdata = encode(case)
    if microdata.records < case.k:
        return
    fast = KMember(case.k, case.seed)(microdata)
    attributes = naive_attributes(case, microdata, limits=True)
    names = [column.name for column in microdata.indexed_columns]
    records = sorted(
        tuple(a.code(case.rows[name][i]) for a, name in zip(attributes, names, strict=True))
        for i in range(microdata.records)
    )
    groups = [[u for u, g in enumerate(fast.group_of.tolist()) if g == number] for number in range(fast.groups)]
    assert total_loss(microdata, fast) == naive.total_loss(attributes, records, groups, 0)
    assert ntil(microdata, fast) == naive.ntil(attributes, records, groups, 0)
    assert ncp(microdata, fast) == naive.ncp(attributes, records, groups, 0)
    by_name = loss_by_attribute(microdata, fast)
    assert [by_name[name] for name in names] == list(naive.loss_by_attribute(attributes, records, groups, 0))
    assert discernibility(fast.sizes, np.ones_like(fast.sizes), 0) == naive.discernibility(groups, 0)
    assert normalized_average_group_size(
        fast.sizes, np.ones_like(fast.sizes), 0, case.k
    ) == naive.normalized_average_group_size(groups, 0, case.k)
    broken = naive.limit_breaks(attributes, records, naive.publish(attributes, records, groups))
    counts = fast.breaks_by_column(microdata)
    assert {name: counts[name] for name in names} == {
        name: sum(attribute == position for _, attribute in broken) for position, name in enumerate(names)
    }
    same = fast.in_published_order(microdata)
    assert total_loss(microdata, same) == total_loss(microdata, fast)
    assert same.breaks_by_column(microdata) == counts
    published = list(zip(*same.labels(microdata), strict=True))
    assert len(set(published)) == len(published) == len(set(zip(*fast.labels(microdata), strict=True)))


@given(case=cases(), withheld=st.integers(0, 3))
def test_withheld_records_cost_their_full_weight(case: Case, withheld: int) -> None:
    sizes = [case.k] * 3
    assert discernibility(np.array(sizes[:1]), np.array([len(sizes)]), withheld) == naive.discernibility(
        [list(range(size)) for size in sizes], withheld
    )


@given(case=cases())
def test_what_cells_withhold_is_what_the_reference_withholds(case: Case) -> None:
    microdata = encode(case)
    attributes = naive_attributes(case, microdata, limits=True)
    names = [column.name for column in microdata.indexed_columns]
    records = [
        tuple(a.code(case.rows[name][i]) for a, name in zip(attributes, names, strict=True))
        for i in range(microdata.records)
    ]
    naive_withheld = len(greedy_cka(attributes, records, case.k, case.seed).withheld)
    cells = find_cells(microdata, Requirement(case.k))
    assert cells.withheld == naive_withheld
    assert Fraction(int(cells.records.sum())) == microdata.records
