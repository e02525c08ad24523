"""Research value equals the naive reference: by level, by group, and of whole releases; so do association and weights."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.lattice import make_space, recode
from hedgerow.anonymization.lattice.research import level_values
from hedgerow.anonymization.solving import solve
from hedgerow.errors import NoSolution
from hedgerow.measures import mean_group_value, rules_kept, value_by_attribute
from hedgerow.measures.association import associate
from hedgerow.measures.research_value import column_values
from hedgerow.privacy import Requirement
from tests.cases.research_value import ValueCase, value_cases
from tests.naive import association as naive_association
from tests.naive import research_value as naive


@given(case=value_cases(only_trees=True), data=st.data())
@settings(max_examples=80, deadline=None)
def test_value_of_levels_and_of_their_release(case: ValueCase, data: st.DataObject) -> None:
    plan = case.plan(method="lattice")
    microdata = case.encode(plan)
    space = make_space(microdata)
    values = column_values(microdata, plan)
    by_level = level_values(space, values)
    columns = [case.naive_column(column) for column in microdata.columns]
    records = [
        tuple(column.code(case.rows[name][i]) for column, name in zip(columns, case.attributes, strict=True))
        for i in range(microdata.records)
    ]
    node = tuple(data.draw(st.integers(0, size - 1)) for size in space.shape)
    shown = []
    for record in records:
        row = []
        for column, code, level in zip(columns, record, node, strict=True):
            tree, limit = column.attribute.tree, column.attribute.limits[code]
            at = tree.leaves[code]
            for _ in range(level):
                if at not in (tree.root, limit):
                    at = tree.parents[at]
            row.append(at)
        shown.append(tuple(row))
    expected = naive.string_value(columns, records, shown, case.settings)
    assert sum(by_level[j][level] for j, level in enumerate(node)) == expected
    # the release of the node: as it is with nothing withheld, less with records withheld
    requirement = Requirement.of_plan(plan, microdata)
    release = recode(space, requirement, node)
    withheld = set(microdata.record_of[release.group_of < 0].tolist())
    published = [None if i in withheld else row for i, row in enumerate(shown)]
    by_column = naive.release_values(columns, records, published, case.settings)
    assert list(value_by_attribute(microdata, release, values).values()) == by_column
    unknown = data.draw(st.integers(0, 5))
    fewer = replace(microdata, unknown=np.zeros(unknown, np.int64))
    by_column_of_more = naive.release_values(columns, records, published, case.settings, unknown)
    assert list(value_by_attribute(fewer, release, values).values()) == by_column_of_more
    nested = any(
        column.attribute.tree.is_proper_ancestor(one, of=other)
        for place, column in enumerate(columns)
        for one in {row[place] for row in shown}
        for other in {row[place] for row in shown}
    )
    if not withheld and not nested:
        assert sum(by_column) == expected


@given(case=value_cases())
@settings(max_examples=55, deadline=None)
def test_value_and_rules_of_groups(case: ValueCase) -> None:
    plan = case.plan(method="utility")
    microdata = case.encode(plan)
    try:
        release = solve(microdata, plan).recoding
    except NoSolution:
        return
    values = column_values(microdata, plan)
    columns = [case.naive_column(column) for column in microdata.columns]
    total = Fraction(0)
    broken: dict[str, int] = {rule["name"]: 0 for rule in case.rules}
    titles = {name: [rule["name"] for rule in case.rules if rule["attribute"] == name] for name in case.attributes}
    for group, size in enumerate(release.sizes.tolist()):
        box = [column.show(int(release.lo[group, j]), int(release.hi[group, j])) for j, column in enumerate(columns)]
        total += size * naive.cluster_value(columns, box, case.settings)
        for name, column, shown in zip(case.attributes, columns, box, strict=True):
            for title, rule in zip(titles[name], column.rules, strict=True):
                broken[title] += column.breaks(rule, shown)
    assert mean_group_value(microdata, release, values) == pytest.approx(float(total / microdata.records))
    assert {rule["name"]: rule["groups_breaking"] for rule in rules_kept(release, values, plan.rules)} == broken


@given(case=value_cases(limits=False))
@settings(max_examples=55, deadline=None)
def test_association_and_weights(case: ValueCase) -> None:
    plan = case.plan()
    microdata = case.encode(plan)
    found = associate(microdata, plan)
    columns = [
        [Fraction(value) for value in case.rows[name]] if number else list(case.rows[name])
        for name, number in zip(found.names, found.in_numbers, strict=True)
    ]
    matrix = naive_association.association_matrix(columns, list(found.in_numbers))
    assert np.allclose(found.matrix, np.array(matrix, float), atol=1e-7)  # the square root of what is rounded off
    assert found.weights == pytest.approx(
        naive_association.association_weights(columns, list(found.in_numbers)), abs=2e-6
    )
