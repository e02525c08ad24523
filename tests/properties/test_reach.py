"""Chances and outlooks equal the naive reference, whichever way they are computed."""

from __future__ import annotations

from fractions import Fraction
from math import log10
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hedgerow.evaluation.reach import chance_of_reaching, reach_of_table, records_needed, sums
from hedgerow.evaluation.reach.grouping import Profiles, refine
from hedgerow.evaluation.reach.profile import estimated_chances, expected_share_below
from hedgerow.microdata import encode_table, read_table
from hedgerow.plan import Plan
from tests.naive import reach as naive

weights = st.lists(st.sampled_from([1, 1, 2, 3, 10, 100]), min_size=1, max_size=5)
small = {"records": st.integers(0, 24), "k": st.integers(1, 5), "empty_allowed": st.booleans()}


def exact(weights: list[int], records: int, k: int, empty_allowed: bool) -> Fraction:
    return naive.chance([Fraction(weight, sum(weights)) for weight in weights], records, k, empty_allowed)


@given(weights=weights, quick=st.booleans(), **small)
def test_the_chance_equals_the_exact_fraction(
    weights: list[int], quick: bool, records: int, k: int, empty_allowed: bool
) -> None:
    cells = [weight / sum(weights) for weight in weights]
    with patch.object(sums, "QUICK_PRODUCTS", sums.QUICK_PRODUCTS if quick else -1):
        found = chance_of_reaching(cells, records, k, empty_allowed=empty_allowed)
    wanted = exact(weights, records, k, empty_allowed)
    if wanted == 0:
        assert (found.probability, found.log10_probability) == (0.0, None)
    else:
        assert found.log10_probability == pytest.approx(log10(wanted.numerator) - log10(wanted.denominator), abs=1e-11)
        assert found.probability == pytest.approx(float(wanted), rel=1e-10)


@given(cells=st.integers(1, 6), **small)
def test_a_number_of_cells_is_as_many_equal_probabilities(
    cells: int, records: int, k: int, empty_allowed: bool
) -> None:
    wanted = float(exact([1] * cells, records, k, empty_allowed))
    for given_as in (cells, [1 / cells] * cells):
        found = chance_of_reaching(given_as, records, k, empty_allowed=empty_allowed)
        assert (found.cells, found.k, found.records, found.empty_allowed) == (cells, k, records, empty_allowed)
        assert found.probability == pytest.approx(wanted, rel=1e-10)


@given(cells=st.integers(1, 5000), k=st.integers(1, 30), records=st.integers(0, 200_000), more=st.integers(1, 1000))
def test_more_records_never_lower_the_chance_of_every_cell(cells: int, k: int, records: int, more: int) -> None:
    now, later = (chance_of_reaching(cells, number, k) for number in (records, records + more))
    assert (now.log10_probability or -np.inf) <= (later.log10_probability or -np.inf) + 1e-9 or later.probability == 1


@given(cells=st.integers(1, 5000), k=st.integers(1, 30), records=st.integers(0, 200_000))
def test_allowing_empty_cells_never_lowers_the_chance(cells: int, k: int, records: int) -> None:
    strict = chance_of_reaching(cells, records, k).probability
    assert strict <= chance_of_reaching(cells, records, k, empty_allowed=True).probability * (1 + 1e-9)


@given(cells=st.integers(2, 2000), k=st.integers(1, 20), per_cell=st.floats(0.5, 8))
def test_convolution_and_characteristic_function_agree(cells: int, k: int, per_cell: float) -> None:
    records = round(cells * k * per_cell)
    assume(records**2 * cells.bit_length() < 1e9)
    for empty_allowed in (False, True):
        with patch.object(sums, "QUICK_PRODUCTS", 10**12):
            one = chance_of_reaching(cells, records, k, empty_allowed=empty_allowed)
        with patch.object(sums, "QUICK_PRODUCTS", -1), patch.object(sums, "LEAST_CORRECTION", 0):
            other = chance_of_reaching(cells, records, k, empty_allowed=empty_allowed)
        if one.log10_probability is None:
            assert other.log10_probability is None
        else:
            assert one.log10_probability == pytest.approx(other.log10_probability, abs=1e-9, rel=1e-12)


@given(cells=st.integers(1, 4), k=st.integers(1, 4), percent=st.integers(1, 95))
def test_the_least_number_of_records_is_the_first_that_reaches_the_chance(cells: int, k: int, percent: int) -> None:
    wanted = Fraction(percent, 100)
    found = records_needed(cells, k, percent / 100)
    assert found is not None
    equal = [Fraction(1, cells)] * cells
    near = any(abs(naive.chance(equal, number, k) - wanted) < Fraction(1, 10**9) for number in (found - 1, found))
    assert near or found == naive.records_needed(equal, k, wanted)


# ---- a table -------------------------------------------------------------------------------------------------------

rows = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("pqrs"), st.sampled_from("xyz")), min_size=1, max_size=40
)
NAMES = ("one", "two", "three")


def table(rows: list[tuple[str, ...]], persons: list[int] | None, k: int) -> tuple[pa.Table, Plan]:
    columns = {name: [row[position] for row in rows] for position, name in enumerate(NAMES)}
    raw: dict[str, object] = {"attributes": dict.fromkeys(NAMES, "quasi-identifier"), "privacy": {"k": k}}
    if persons is not None:
        columns["person"] = [f"p{person}" for person in persons]
        raw["person"] = "person"
    return pa.table(columns), Plan.from_dict(raw)


@given(data=st.data(), rows=rows, k=st.integers(2, 5), percent=st.sampled_from([0, 5, 30]))
def test_a_table_as_it_stands_and_without_columns(
    data: st.DataObject, rows: list[tuple[str, ...]], k: int, percent: int
) -> None:
    persons = data.draw(st.none() | st.lists(st.integers(0, 8), min_size=len(rows), max_size=len(rows)))
    people, plan = table(rows, persons, k)
    found = reach_of_table(encode_table(read_table(people, plan), plan), k, percent / 100)
    assert (found.records, found.counted) == (len(rows), "records" if persons is None else "persons")
    reach = found.reaches[0]
    assert reach.now.share_below == float(naive.share_below(rows, k, (), persons))
    assert reach.now.groups == len(naive.groups_of(rows))
    dropped = {change.column: change.outlook for change in reach.changes if change.level is None}
    for column, name in enumerate(NAMES):
        assert dropped[name].share_below == float(naive.share_below(rows, k, [column], persons))
        assert dropped[name].groups == len(naive.groups_of(rows, [column]))
    order = naive.greedy_drops(rows, k, Fraction(percent, 100), persons)
    assert [drop.column for drop in reach.drops] == [NAMES[column] for column in order]
    for step, drop in enumerate(reach.drops, start=1):
        assert drop.outlook.share_below == float(naive.share_below(rows, k, order[:step], persons))
        assert drop.outlook.enough == (drop.outlook.share_below <= percent / 100)


@given(data=st.data(), rows=rows)
def test_the_order_of_rows_changes_nothing(data: st.DataObject, rows: list[tuple[str, ...]]) -> None:
    shuffled = data.draw(st.permutations(rows))
    one, other = (
        reach_of_table(encode_table(read_table(people, plan), plan), [2, 3])
        for people, plan in (table(list(order), None, 2) for order in (rows, shuffled))
    )
    assert one.to_dict() == other.to_dict()


@given(rows=rows, k=st.integers(2, 5), people=st.integers(1, 60))
def test_the_expected_share_equals_the_exact_fraction(rows: list[tuple[str, ...]], k: int, people: int) -> None:
    raw, plan = table(rows, None, k)
    profiles = Profiles.of(encode_table(read_table(raw, plan), plan))
    sizes = profiles.sizes(np.arange(len(profiles.records)), len(profiles.records))
    counts = sorted(len(group) for group in naive.groups_of(rows).values())
    shares = [Fraction(count, len(rows)) for count in counts]
    as_here = naive.expected_share_below(shares, shares, people, k)
    assert expected_share_below(sizes, sizes.people / sizes.all_people, people, k) == pytest.approx(float(as_here))
    estimated = naive.estimated_chances(counts)
    by_size = dict(zip(counts, map(float, estimated), strict=True))
    assert estimated_chances(sizes).tolist() == pytest.approx([by_size[size] for size in sizes.people.tolist()])
    wanted = naive.expected_share_below(shares, estimated, people, k)
    assert expected_share_below(sizes, estimated_chances(sizes), people, k) == pytest.approx(float(wanted))


@given(
    pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1, max_size=30),
    domain=st.sampled_from([10, 10**6, 1 << 60]),
)
def test_groups_are_split_by_codes(pairs: list[tuple[int, int]], domain: int) -> None:
    firsts = sorted({first for first, _ in pairs})
    group_of = np.array([firsts.index(first) for first, _ in pairs])
    found, groups = refine(group_of, len(firsts), np.array([second for _, second in pairs]), domain)
    assert groups == len(set(pairs))
    assert len({*zip(pairs, found.tolist(), strict=True)}) == groups
    assert sorted(set(found.tolist())) == list(range(groups))
