"""Attacks agree with plain loops over all rows, and never beat a promise that is kept."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import NoSolution
from tests.cases.households import Linked as Case
from tests.cases.households import linked_cases
from tests.naive.attacking import candidates, chance, guess


def plan_of(case: Case, linked: bool) -> hr.Plan:
    plan = case.plan()
    return plan if linked else hr.Plan.from_dict({k: part for k, part in plan.to_dict().items() if k != "unit"})


@given(case=linked_cases(), data=st.data(), linked=st.booleans())
@settings(max_examples=30, deadline=None)
def test_an_attack_agrees_with_plain_loops_and_does_not_beat_the_promise(
    case: Case, data: st.DataObject, linked: bool
) -> None:
    plan, table = plan_of(case, linked), case.table()
    columns = data.draw(st.lists(st.sampled_from(plan.quasi_identifiers), min_size=1, unique=True))
    try:
        release = hr.anonymize(table, plan)
    except NoSolution:
        return
    found = hr.attack(release, table, columns=columns)
    assert not found.beaten
    assert found.linkage.fewest >= plan.privacy.k
    assert found.nearest.fewest >= plan.privacy.k
    if linked:
        assert found.units is not None
        assert found.units.fewest >= plan.privacy.k
        assert found.units.rate.tries == release.facts["units"]["units"]

    record = release.rows.link
    assert isinstance(record, np.ndarray)
    rows = list(zip(*(release.table.column(name).to_pylist() for name in plan.quasi_identifiers), strict=True))
    trees = {name: case.case.attributes[name].get("hierarchy", {}).get("tree") for name in plan.quasi_identifiers}
    names = list(plan.quasi_identifiers)

    def covers(column: int, value: Any, label: Any) -> bool:
        tree = trees[names[column]]
        if tree is None:
            low, _, high = str(label).partition("-")
            return int(low) <= value <= int(high or low)
        return label in _way_to(tree, value)

    expected, right, values = Fraction(0), set(), release.table.column("illness").to_pylist()
    for row, at in enumerate(record.tolist()):
        known = [(names.index(name), case.case.rows[name][at]) for name in columns]
        fitting = candidates(known, rows, covers)
        expected += chance(row, fitting)
        right.add((at, tuple(sorted(guess(fitting, values), key=str))))
    assert found.linkage.expected == pytest.approx(float(expected / len(rows)))
    (guessed,) = found.guesses
    sure = sum(best == (case.values[at],) for at, best in right)
    perhaps = sum(case.values[at] in best for at, best in right)
    assert sure <= guessed.with_release.right <= perhaps


def _way_to(tree: Any, leaf: str) -> list[str]:
    for name, below in tree.items():
        if name == leaf and not below:
            return [name]
        if isinstance(below, dict) and (way := _way_to(below, leaf)):
            return [*way, name]
        if isinstance(below, list) and leaf in below:
            return [leaf, name]
    return []


@given(case=linked_cases(), data=st.data())
@settings(max_examples=15, deadline=None)
def test_without_a_link_noise_and_all_no_promise_is_beaten(case: Case, data: st.DataObject) -> None:
    plan, table = plan_of(case, True), case.table()
    try:
        release = hr.anonymize(table, plan)
    except NoSolution:
        return
    alone = hr.Release(release.rows.__class__.of_table(release.table), release.plan, release.facts)
    found = hr.attack(alone, table, noise=data.draw(st.sampled_from([0.0, 0.3])), confidence=0.999)
    assert not found.linked
    assert not found.beaten
    assert pa.table({"right": [found.linkage.rate.right]}).num_rows == 1
