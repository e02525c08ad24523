"""Non-uniform entropy is what its definition says, and to go by it is to lose least of it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.clustering import KMember, Objective
from hedgerow.anonymization.clustering.costs import UNIT, cost_tables
from hedgerow.anonymization.lattice import find_optimum, make_space, recode
from hedgerow.measures.entropy import bits_by_attribute, entropy
from hedgerow.measures.measured import Measured
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.cases.records import Case, cases, encode, naive_attributes
from tests.naive import entropy as naive
from tests.naive.attributes import Attribute, Record, generalize
from tests.naive.k_member import greedy_k_member

PLAN: Any = None  # measures of entropy do not look at it


def by_entropy(microdata: Microdata) -> Objective:
    counts = tuple(microdata.records_by_code(position) for position in range(len(microdata.columns)))
    return Objective("entropy", records=counts)


def in_plain(case: Case, microdata: Microdata) -> tuple[list[Attribute], list[Record]]:
    """Attributes and records, in canonical order."""
    codes = microdata.profiles[microdata.profile_of_unit]
    return naive_attributes(case, microdata, limits=False), [tuple(record) for record in codes.tolist()]


def partition(microdata: Microdata, group_of: list[int]) -> Recoding:
    """Any grouping; −1 is withheld."""
    numbers = sorted(set(group_of) - {-1})
    codes = microdata.profiles[microdata.profile_of_unit][:, np.argsort(microdata.index_order)].astype(np.int64)
    place = np.array([numbers.index(group) if group >= 0 else -1 for group in group_of])
    shape = (len(numbers), codes.shape[1])
    lo = np.array([codes[place == number].min(axis=0) for number in range(len(numbers))], np.int64).reshape(shape)
    hi = np.array([codes[place == number].max(axis=0) for number in range(len(numbers))], np.int64).reshape(shape)
    return Recoding.of_boxes(microdata, place, lo, hi)


@given(case=cases(), data=st.data())
@settings(max_examples=80, deadline=None)
def test_bits_are_counted_as_defined(case: Case, data: st.DataObject) -> None:
    microdata = encode(case)
    attributes, records = in_plain(case, microdata)
    group_of = data.draw(st.lists(st.integers(-1, 3), min_size=len(records), max_size=len(records)))
    recoding = partition(microdata, group_of)
    shown = [
        None if group < 0 else generalize(attributes, [r for r, g in zip(records, group_of, strict=True) if g == group])
        for group in group_of
    ]  # fmt: skip
    released = [place for place, group in enumerate(group_of) if group >= 0]
    kept, boxes = [records[place] for place in released], [shown[place] for place in released]
    more = len(records) - len(kept)
    wanted = naive.entropy(attributes, kept, boxes, more)
    assert entropy(Measured(microdata, recoding, PLAN, None)) == pytest.approx(wanted, abs=1e-6)
    found = bits_by_attribute(microdata, recoding)
    for place, column in enumerate(microdata.indexed_columns):
        codes = [record[place] for record in kept]
        told, lost = naive.bits(attributes[place], codes, [box and box[place] for box in boxes], more)
        assert (found[column.name].known, found[column.name].lost) == pytest.approx((told, lost), abs=1e-9)


@given(case=cases(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_costs_of_boxes_differ_as_the_bits_of_records_do(case: Case, data: st.DataObject) -> None:
    """The sum over groups of size · cost is the bits lost and a constant: so least cost is least entropy."""
    microdata = encode(case)
    attributes, records = in_plain(case, microdata)
    costs = cost_tables(microdata, by_entropy(microdata))
    heaviest = max(attribute.weight for attribute in attributes)
    apart = []
    for _ in range(3):
        group_of = data.draw(st.lists(st.integers(0, 3), min_size=len(records), max_size=len(records)))
        recoding = partition(microdata, group_of)
        lo, hi = (ends[:, list(microdata.index_order)] for ends in (recoding.lo, recoding.hi))
        cost = int(np.dot(costs.of_boxes(*costs.ends(lo, hi)), recoding.sizes))
        lost = bits_by_attribute(microdata, recoding)
        bits = sum(
            float(attribute.weight / heaviest) * lost[column.name].lost * len(records)
            for attribute, column in zip(attributes, microdata.indexed_columns, strict=True)
        )
        apart.append(cost * np.log2(len(records)) / UNIT - bits)
    assert apart == pytest.approx([apart[0]] * 3, abs=1e-3)


@given(case=cases())
@settings(max_examples=60, deadline=None)
def test_same_groups_as_the_naive_reference(case: Case) -> None:
    microdata = encode(case)
    attributes, records = in_plain(case, microdata)
    costs: Any = naive.Costs(attributes, records)
    wanted = greedy_k_member(records, costs, case.k, case.seed) if len(records) >= case.k else []
    if wanted:
        found = KMember(case.k, case.seed, objective=by_entropy(microdata))(microdata)
        groups = [np.flatnonzero(found.group_of == group).tolist() for group in range(found.groups)]
        assert sorted(groups) == sorted(map(sorted, wanted))


@given(case=cases(only_trees=True))
@settings(max_examples=40, deadline=None)
def test_the_best_node_loses_fewest_bits(case: Case) -> None:
    microdata = encode(case)
    if microdata.records < case.k:
        return
    space = make_space(microdata, "ignore")
    requirement = Requirement(case.k)
    best = find_optimum(space, requirement, 0, "entropy")
    every = [recode(space, requirement, node) for node in np.ndindex(*space.shape)]
    lost = [entropy(Measured(microdata, made, PLAN, None)) for made in every if (made.group_of >= 0).all()]
    assert (best is None) == (not lost)
    if best is not None:
        chosen = entropy(Measured(microdata, recode(space, requirement, best.node), PLAN, None))
        assert chosen == pytest.approx(min(lost), abs=2e-6)


def people(columns: int = 400) -> pa.Table:
    return pa.table(
        {"age": [20 + i * i % 47 for i in range(columns)], "ward": ["ABCCD"[i % 5] for i in range(columns)]}
    )


ASKED: dict[str, Any] = {
    "attributes": {"age": {"role": "quasi-identifier", "intervals": "free"}, "ward": "quasi-identifier"},
    "privacy": {"k": 5},
}


@pytest.mark.parametrize("name", ["cluster", "partition"])
def test_steps_by_entropy_lose_fewer_bits(name: str) -> None:
    lost = []
    for improve in ("off", "il-optimization", "steps"):
        goal = {"objective": "entropy"} if name == "cluster" or improve != "off" else {}
        plan = Plan.from_dict({**ASKED, "method": {"name": name, "improve": improve, **goal}})
        lost.append(hr.anonymize(people(), plan).facts["entropy"])
    assert 1 > lost[0] >= lost[1] >= lost[2] > 0
    assert lost[0] > lost[2]


def test_columns_of_many_values_have_costs_that_never_fall() -> None:
    rows = {"n": [i * 7 % 5003 for i in range(5003)], "v": [f"{i % 2500}" for i in range(5003)]}
    plan = Plan.from_dict(
        {
            "attributes": {"n": {"role": "quasi-identifier", "intervals": "free"}, "v": "quasi-identifier"},
            "privacy": {"k": 2},
            "method": {"name": "cluster", "objective": "entropy"},
        }
    )
    facts = hr.anonymize(pa.table(rows), plan).facts
    assert facts["smallest_group"] >= 2
    assert 0 < facts["entropy"] < 1


def test_a_value_that_is_withheld_changes_nothing() -> None:
    """Whoever is withheld counts as the mean record does, whatever their values were."""
    facts = []
    for age in (20, 90):
        rows = {"age": [30, 30, 31, 31, 30, 31, age], "ward": ["a"] * 6 + ["z"]}
        asked = {"age": {"role": "quasi-identifier", "intervals": "free"}, "ward": "quasi-identifier"}
        plan = {
            "attributes": {**asked, "ward": {"role": "quasi-identifier", "limit": {"level": 0}}},
            "privacy": {"k": 3},
        }
        facts.append(hr.anonymize(pa.table(rows), Plan.from_dict(plan)).facts)
    assert facts[0]["withheld"] == 1
    assert facts[0] == facts[1]
    assert facts[0]["entropy"] == round(float(Fraction(1, 7)), 6)
