"""Groups of whole households equal the naive reference, and every release of them keeps what it promises."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.clustering import ConstrainedKMember, Linked, Objective
from hedgerow.errors import NoSolution
from hedgerow.microdata import encode_table, read_table
from hedgerow.microdata.households import MEMBER, widen
from hedgerow.privacy import Requirement
from tests.cases.households import UNIT, linked_cases, weight_of
from tests.cases.households import Linked as Case
from tests.cases.records import naive_attributes
from tests.naive.attributes import Attribute, Record
from tests.naive.households import Household, cluster_households, kinds, match, members_in_order, values_by_member


@given(case=linked_cases())
@settings(max_examples=40, deadline=None)
def test_same_groups_of_households_as_the_naive_reference(case: Case) -> None:
    plan = case.plan()
    microdata = encode_table(read_table(case.table(), plan), plan)
    attributes = naive_attributes(case.case, microdata, limits=True)
    names = [column.name for column in microdata.indexed_columns]
    records = [
        tuple(a.code(case.case.rows[name][i]) for a, name in zip(attributes, names, strict=True))
        for i in range(microdata.records)
    ]
    of_members = [name for name in plan.quasi_identifiers if name not in case.same]
    first = [names.index(name) for name in dict.fromkeys([*case.order, *of_members])]
    by_limit = [names.index(name) for name in of_members]
    households = [
        _in_order(
            attributes, [r for r, h in zip(records, case.household_of, strict=True) if h == household], by_limit, first
        )
        for household in sorted(set(case.household_of))
    ]
    index = {wide.size: [column.name for column in wide.microdata.indexed_columns] for wide in widen(microdata)}

    def wide_of(size: int) -> tuple[Sequence[Attribute], Any]:
        places = [(names.index(name.split(MEMBER)[0]), name.partition(MEMBER)[2]) for name in index[size]]
        wide = [
            attributes[place]
            if member
            else replace(attributes[place], weight=weight_of(case.case, names[place]) * size)
            for place, member in places
        ]
        return wide, lambda household: tuple(household[int(member or 0)][place] for place, member in places)

    groups, withheld = cluster_households(wide_of, households, plan.privacy.k, plan.seed)
    expected = [Counter(column) for group in groups for column in zip(*match(attributes, group), strict=True)]
    linked = Linked(
        Requirement(plan.privacy.k), lambda wide, asked: ConstrainedKMember(asked.k, plan.seed), Objective()
    )
    found: dict[int, Counter[Record]] = {}
    codes = microdata.profiles[microdata.profile_of_unit].tolist()
    for unit, group in enumerate(linked(microdata).group_of.tolist()):
        found.setdefault(group, Counter())[tuple(codes[unit])] += 1
    assert found.pop(-1, Counter()) == Counter(member for household in withheld for member in household)
    assert sorted(map(sorted, (group.elements() for group in found.values()))) == sorted(
        map(sorted, (group.elements() for group in expected))
    )


def _in_order(
    attributes: Sequence[Attribute], members: list[Record], by_limit: list[int], first: list[int]
) -> Household:
    """Order members by codes as asked for, then, keeping that order, by limits."""
    members = sorted(members, key=lambda member: [member[place] for place in first])
    return members_in_order([attributes[place] for place in by_limit], members, by_limit)


METHODS: list[Any] = ["cluster", "partition", {"name": "cluster", "improve": "quick"}, {"limits": "ignore"}]


@given(case=linked_cases(sensitive=True, widths=True), method=st.sampled_from(METHODS), data=st.data())
@settings(max_examples=40, deadline=None)
def test_every_release_of_households_keeps_its_promises(case: Case, method: Any, data: st.DataObject) -> None:
    plan, table = case.plan(method=method), case.table()
    try:
        release = hr.anonymize(table, plan)
    except NoSolution:
        return
    rows = release.table.to_pydict()
    published = list(zip(*(rows[name] for name in plan.quasi_identifiers), strict=True))
    alike = kinds(rows[UNIT], published)
    assert min(alike.values()) >= plan.privacy.k
    assert min(Counter(published).values()) >= plan.privacy.k
    assert all(
        len({row[place] for row in kind_rows}) == 1
        for place in [0]
        if case.same
        for kind_rows in _by_unit(rows, published)
    )
    if case.p > 1:
        assert all(len(set(values)) >= case.p for values in values_by_member(rows[UNIT], published, rows["illness"]))
    units = release.facts["units"]
    assert units["groups"] == len(alike)
    assert units["group_sizes"] == {str(size): count for size, count in sorted(Counter(alike.values()).items())}
    # Whole households, and under numbers that are those of this release alone.
    sizes = Counter(Counter(rows[UNIT]).values())
    assert sizes <= Counter(Counter(case.household_of).values())
    assert sorted(set(rows[UNIT])) == list(range(1, units["units"] + 1))

    # Neither the order of the rows nor the households' own numbers play a part.
    order = data.draw(st.permutations(range(table.num_rows)))
    again = table.take(pa.array(order))
    renamed = dict(
        zip(
            sorted(set(case.household_of)),
            random.Random(0).sample(range(10**6), len(set(case.household_of))),
            strict=True,
        )
    )
    names = [f"h{renamed[case.household_of[i]]}" for i in order]
    other = hr.anonymize(again.set_column(0, UNIT, pa.array(names)), plan)
    assert other.table.equals(release.table)
    assert other.facts == release.facts


def _by_unit(rows: dict[str, list[Any]], published: list[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for unit, row in zip(rows[UNIT], published, strict=True):
        found.setdefault(unit, []).append(row)
    return list(found.values())


@given(case=linked_cases())
@settings(max_examples=25, deadline=None)
def test_withheld_households_leave_no_trace(case: Case) -> None:
    plan = case.plan()
    try:
        release = hr.anonymize(case.table(), plan)
    except NoSolution:
        return
    kept = release.rows.link
    assert isinstance(kept, np.ndarray)
    again = hr.anonymize(case.table().take(pa.array(np.sort(kept))), plan)
    assert again.table.equals(release.table)
    assert again.plan == release.plan
    told = ("groups", "group_sizes", "group_risk_sizes", "exact_end_points", "attribute_disclosures")
    assert {name: again.facts.get(name) for name in told} == {name: release.facts.get(name) for name in told}
    price = {"ntil_not_linked"}  # counts what is withheld as lost, as every NTIL does
    assert all(again.facts["units"][name] == fact for name, fact in release.facts["units"].items() if name not in price)
