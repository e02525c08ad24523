"""Microaggregation: MDAV to begin with, never worse with more effort, the best there is where that can be had."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.clustering import ConstrainedKMember, Objective, find_cells
from hedgerow.anonymization.clustering.microaggregation import Microaggregation
from hedgerow.anonymization.solving import clustering_of
from hedgerow.measures.squared_error import squared_error
from hedgerow.microdata import FreeColumn, Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.cases.records import Case, cases, encode
from tests.naive.exact import groupings
from tests.naive.squared import Apart, Group, error_of, leaves_apart, mdav, numbers_apart
from tests.naive.trees import Tree

EFFORTS: list[Any] = ["off", "quick", "thorough"]


def aparts_of(case: Case, microdata: Microdata) -> list[tuple[float, Apart]]:
    """How far units are apart, by column, with the column's weight."""
    found = []
    for column in microdata.columns:
        asked = case.attributes[column.name]
        values = [case.rows[column.name][record] for record in microdata.record_of.tolist()]
        if isinstance(column, FreeColumn):
            apart = numbers_apart([float(value) for value in values])
        else:
            apart = leaves_apart(values, Tree.from_nested(asked["hierarchy"]["tree"]))
        found.append((float(asked["weight"]), apart))
    return found


def objective_of(microdata: Microdata) -> Objective:
    attributes: dict[str, Any] = {column.name: {"role": "quasi-identifier"} for column in microdata.columns}
    method = {"name": "cluster", "objective": "variance"}
    return Objective.of_plan(
        microdata, Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}, "method": method})
    )


def groups_in(group_of: Any) -> list[Group]:
    return [tuple(np.flatnonzero(group_of == group).tolist()) for group in np.unique(group_of[group_of >= 0])]


def error(groups: list[Group], aparts: list[tuple[float, Apart]]) -> float:
    return sum(error_of(group, aparts) for group in groups)


@given(data=st.data())
@settings(max_examples=40)
def test_no_groups_of_a_small_block_have_a_lesser_error(data: st.DataObject) -> None:
    case = data.draw(cases(persons=data.draw(st.booleans()), at_most=9))
    microdata, requirement = encode(case), Requirement(case.k)
    cells, aparts = find_cells(microdata, requirement), aparts_of(case, microdata)
    plan = Plan.from_dict(
        {
            "attributes": {name: {"role": "quasi-identifier"} for name in case.attributes},
            "privacy": {"k": case.k},
            "method": {"name": "cluster", "objective": "variance", "improve": "quick"},
        }
    )
    made: Any = clustering_of(microdata, plan, requirement, 1)
    found = made(microdata, cells=cells)

    def may(group: Group) -> bool:
        return len(group if case.persons is None else {case.persons[microdata.record_of[i]] for i in group}) >= case.k

    for cell in np.flatnonzero(~cells.failing):
        units = np.flatnonzero((cells.cell_of == cell) & (found.group_of >= 0))
        if not len(units):
            continue
        mine = [group for group in groups_in(found.group_of) if set(group) <= set(units.tolist())]
        assert all(map(may, mine))
        best = min(error(groups, aparts) for groups in groupings(tuple(units.tolist()), may))
        assert error(mine, aparts) == pytest.approx(best, rel=1e-3, abs=1e-3)


@given(values=st.lists(st.integers(0, 40), min_size=4, max_size=11), k=st.integers(2, 4))
@settings(max_examples=60)
def test_along_a_line_no_groups_have_a_lesser_error(values: list[int], k: int) -> None:
    asked = {"attributes": {"pay": {"role": "quasi-identifier", "intervals": "free"}}, "privacy": {"k": k}}
    plan = Plan.from_dict({**asked, "method": {"name": "cluster", "objective": "variance", "improve": "quick"}})
    if len(values) < k:
        return
    release = hr.anonymize(pa.table({"pay": values * 2}), plan)  # so many that not all groupings are tried
    numbers = sorted(values * 2)
    least = [0.0] + [float("inf")] * len(numbers)
    for end in range(k, len(numbers) + 1):
        for begin in range(end - k + 1):
            part = numbers[begin:end]
            mean = sum(part) / len(part)
            least[end] = min(least[end], least[begin] + sum((value - mean) ** 2 for value in part))
    mean = sum(numbers) / len(numbers)
    around = sum((value - mean) ** 2 for value in numbers)
    assert release.facts["squared_error"] == pytest.approx(least[-1] / around if around else 0, abs=1e-4)
    assert release.facts["solved_exactly"]["blocks"] == 1


@given(
    rows=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=4, max_size=40),
    k=st.integers(2, 4),
)
@settings(max_examples=30)
def test_it_starts_from_mdav(rows: list[tuple[int, int]], k: int) -> None:
    free = {"role": "quasi-identifier", "intervals": "free"}
    method = {"name": "cluster", "objective": "variance"}
    plan = Plan.from_dict({"attributes": {"a": free, "b": free}, "privacy": {"k": k}, "method": method})
    microdata = encode_table(read_table(pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]}), plan), plan)
    objective, requirement = Objective.of_plan(microdata, plan), Requirement(k)
    found = Microaggregation(None, requirement, objective)(microdata, find_cells(microdata, requirement))
    laid = [points[microdata.codes(position)] for position, points in enumerate(objective.points)]
    points = np.hstack(laid)[microdata.profile_of_unit]
    varies = (points != points[:1]).any(axis=0)
    points = points[:, varies] if varies.any() else points[:, :1]
    assert sorted(groups_in(found.group_of)) == sorted(tuple(sorted(group)) for group in mdav(points.tolist(), k))


@given(data=st.data())
@settings(max_examples=15)
def test_more_effort_never_has_a_greater_error_and_threads_change_nothing(data: st.DataObject) -> None:
    case = data.draw(cases(persons=data.draw(st.booleans()), wide=True))
    microdata, requirement = encode(replace(case, k=3)), Requirement(3)
    cells, objective, aparts = find_cells(microdata, requirement), objective_of(microdata), aparts_of(case, microdata)
    start = None
    if case.persons is not None:
        start = ConstrainedKMember(3)
    before = float("inf")
    for effort in EFFORTS:
        made = Microaggregation(start, requirement, objective, effort, case.seed)
        found = made(microdata, cells)
        assert (found.group_of == replace(made, threads=3)(microdata, cells).group_of).all()
        assert not requirement.fails(microdata, found.group_of, found.groups).any()
        for group in groups_in(found.group_of):
            assert len(set(cells.cell_of[list(group)].tolist())) == 1
        now = error(groups_in(found.group_of), aparts)
        assert now <= before * (1 + 1e-3) + 1e-3
        before = now


@given(data=st.data())
@settings(max_examples=30)
def test_the_measure_is_what_plain_distances_say(data: st.DataObject) -> None:
    case = data.draw(cases(widths=False))
    microdata, requirement = encode(case), Requirement(case.k)
    aparts = aparts_of(case, microdata)
    found = Microaggregation(None, requirement, objective_of(microdata))(microdata, find_cells(microdata, requirement))
    everybody = tuple(range(len(microdata.record_of)))
    around = error_of(everybody, aparts)
    withheld = float((found.group_of < 0).mean())
    within = error(groups_in(found.group_of), aparts) + withheld * around
    assert squared_error(microdata, found) == pytest.approx(within / around if around else withheld, abs=1e-3)


def test_large_blocks_are_cut_and_groups_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hedgerow.anonymization.clustering.microaggregation.LARGEST", 40)
    draw = np.random.default_rng(0)
    free = {"role": "quasi-identifier", "intervals": "free"}
    table = pa.table(
        {"a": draw.integers(0, 1000, 300), "b": draw.integers(0, 1000, 300), "ill": draw.integers(0, 4, 300)}
    )
    for privacy in ({"k": 3}, {"k": 3, "p": 2}):
        attributes = {"a": free, "b": free, "ill": "sensitive"}
        method = {"name": "cluster", "objective": "variance", "improve": "quick"}
        release = hr.anonymize(table, Plan.from_dict({"attributes": attributes, "privacy": privacy, "method": method}))
        assert release.facts["released"] == 300
        assert release.facts["smallest_group"] >= 3
        assert release.facts["squared_error"] < 0.05


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ({"name": "cluster", "improve": "steps"}, "does not go with improve: steps"),
        ({"name": "partition", "improve": "quick"}, "goes with cluster only"),
        ({"name": "cluster", "improve": "quick", "certify": "1s"}, "wants a loss that adds up"),
    ],
)
def test_what_squared_distances_do_not_go_with_is_refused(method: dict[str, Any], said: str) -> None:
    attributes = {"pay": {"role": "quasi-identifier", "intervals": "free"}}
    with pytest.raises(hr.PlanError, match=said):
        Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}, "method": {**method, "objective": "variance"}})


def test_a_maintained_release_by_squared_error_is_refused(tmp_path: Path) -> None:
    attributes = {"pay": {"role": "quasi-identifier", "intervals": "free"}, "id": "identifier"}
    asked = {"key": "id", "attributes": attributes, "privacy": {"k": 2}}
    plan = Plan.from_dict({**asked, "method": {"name": "cluster", "objective": "variance"}})
    with pytest.raises(hr.PlanError, match="cannot be maintained"):
        hr.create_release(pa.table({"id": [1, 2], "pay": [1, 2]}), plan, tmp_path / "store.db")
