"""Groups made better step by step: by IL_Optimization, by exact steps, and to be many and even in size."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.clustering import ConstrainedKMember, DiverseClustering, find_cells
from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.steps import Stepped
from hedgerow.measures import total_loss
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.cases.records import Case, cases, encode, naive_attributes
from tests.cases.sensitive import Diverse, diverse
from tests.cases.sensitive import encode as encode_diverse
from tests.naive import maintenance as naive
from tests.naive import sizes as naive_sizes
from tests.naive.privacy import Demands

Place = list[list[int]]


def task_of(case: Case, microdata: Microdata) -> naive.Task:
    """The same records for the naive code."""
    records = [tuple(record) for record in microdata.profiles[microdata.profile_of_unit].tolist()]
    nothing: list[Any] = [() for _ in records]
    return naive.Task(naive_attributes(case, microdata, limits=True), records, nothing, case.k, Demands((), (), ()))


def groups_of(recoding: Recoding) -> Place:
    return [np.flatnonzero(recoding.group_of == group).tolist() for group in range(recoding.groups)]


def squares(recoding: Recoding) -> int:
    return int((recoding.sizes**2).sum())


def parts(case: Case) -> tuple[Microdata, Cells, ConstrainedKMember]:
    microdata = encode(case)
    return microdata, find_cells(microdata, Requirement(case.k)), ConstrainedKMember(case.k, case.seed)


# ---- IL_Optimization ---------------------------------------------------------------------------------------


@given(case=cases(widths=False))
@settings(max_examples=60, deadline=None)
def test_il_optimization_of_a_release_is_that_of_the_naive_reference(case: Case) -> None:
    microdata, cells, greedy = parts(case)
    start = greedy(microdata, cells=cells)
    found = Stepped(greedy, Requirement(case.k), "il-optimization")(microdata, cells)
    wanted = naive.optimize(task_of(case, microdata), dict(enumerate(groups_of(start))))
    assert sorted(groups_of(found)) == sorted(map(sorted, wanted.values()))


@given(case=cases(widths=False))
@settings(max_examples=40, deadline=None)
def test_no_step_raises_the_loss(case: Case) -> None:
    microdata, cells, greedy = parts(case)
    losses = []
    for improve in ("off", "il-optimization", "steps"):
        found = Stepped(greedy, Requirement(case.k), improve)(microdata, cells)  # type: ignore[arg-type]
        losses.append(total_loss(microdata, found))
        assert (found.group_of < 0).tolist() == cells.failing[cells.cell_of].tolist()
        assert min(found.sizes.tolist(), default=case.k) >= case.k
        assert not sum(found.breaks_by_column(microdata).values())
    assert losses[0] >= losses[1] >= losses[2]


@given(case=cases())
@settings(max_examples=30, deadline=None)
def test_steps_keep_widths(case: Case) -> None:
    microdata, cells, greedy = parts(case)
    found = Stepped(greedy, Requirement(case.k), "steps")(microdata, cells)
    assert not sum(found.breaks_by_column(microdata).values())


# ---- sizes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("improve", ["off", "steps"])
@given(case=cases())
@settings(max_examples=60, deadline=None)
def test_sizes_are_the_best_there_can_be(improve: Any, case: Case) -> None:
    """With k alone: most groups, and the least sum of squares, of all ways to cut the people of each block."""
    microdata, cells, greedy = parts(case)
    each = Counter(cells.cell_of[~cells.failing[cells.cell_of]].tolist()).values()
    many = Stepped(greedy, Requirement(case.k), improve, "many")(microdata, cells)
    even = Stepped(greedy, Requirement(case.k), improve, "even")(microdata, cells)
    assert many.groups == even.groups == sum(naive_sizes.most_groups(records, case.k) for records in each)
    assert squares(even) == sum(naive_sizes.least_squares(records, case.k) for records in each)
    for found in (many, even):
        assert not sum(found.breaks_by_column(microdata).values())


@given(case=cases(widths=False))
@settings(max_examples=60, deadline=None)
def test_records_are_moved_as_by_the_naive_reference(case: Case) -> None:
    microdata, cells, greedy = parts(case)
    start = greedy(microdata, cells=cells)
    found = Stepped(greedy, Requirement(case.k), "off", "even")(microdata, cells)
    wanted = naive_sizes.level(task_of(case, microdata), groups_of(start))
    assert sorted(groups_of(found)) == sorted(map(sorted, wanted))


@given(case=cases(widths=False))
@settings(max_examples=40, deadline=None)
def test_steps_lose_no_more_and_leave_sizes(case: Case) -> None:
    microdata, cells, greedy = parts(case)
    for sizes in ("many", "even"):
        before, after = (
            Stepped(greedy, Requirement(case.k), improve, sizes)(microdata, cells)  # type: ignore[arg-type]
            for improve in ("off", "steps")
        )
        assert total_loss(microdata, after) <= total_loss(microdata, before)
        assert after.groups >= before.groups
        if sizes == "even":
            assert squares(after) <= squares(before)


@pytest.mark.parametrize("kind", ["p", "alpha", "entropy", "recursive", "mixed"])
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_models_hold_after_every_step(kind: str, data: st.DataObject) -> None:
    given_: Diverse = data.draw(diverse(kind, persons=data.draw(st.booleans())))
    microdata, requirement = encode_diverse(given_)
    cells = find_cells(microdata, requirement)
    greedy = DiverseClustering(requirement, given_.case.seed, 1, given_.join)  # type: ignore[arg-type]
    start = greedy(microdata, cells=cells)
    improve, sizes = data.draw(
        st.sampled_from([("il-optimization", ""), ("steps", ""), ("off", "even"), ("steps", "even")])
    )
    found = Stepped(greedy, requirement, improve, sizes)(microdata, cells)  # type: ignore[arg-type]
    assert not requirement.fails(microdata, found.group_of, found.groups).any()
    assert (found.group_of < 0).tolist() == (start.group_of < 0).tolist()
    if sizes:
        assert squares(found) <= squares(start)
    else:
        assert total_loss(microdata, found) <= total_loss(microdata, start)


# ---- plans -------------------------------------------------------------------------------------------------

PEOPLE = pa.table(
    {
        "age": [20 + i * i % 53 for i in range(403)],
        "ward": ["ABCCDDEF"[i * 7 % 8] for i in range(403)],
        "pay": [i * 37 % 101 for i in range(403)],
    }
)


def facts_of(method: dict[str, Any], k: int = 6) -> dict[str, Any]:
    free = {"role": "quasi-identifier", "intervals": "free"}
    asked = {
        "attributes": {"age": free, "ward": "quasi-identifier", "pay": free},
        "privacy": {"k": k},
        "method": method,
    }
    return dict(hr.anonymize(PEOPLE, Plan.from_dict(asked)).facts)


@pytest.mark.parametrize("name", ["cluster", "partition", "utility", "bottom-up"])
def test_a_plan_asks_for_steps_of_every_method(name: str) -> None:
    losses = [facts_of({"name": name, "improve": improve})["ntil"] for improve in ("off", "il-optimization", "steps")]
    if name in ("cluster", "partition"):  # the others go by measures of their own
        assert losses[0] >= losses[1] >= losses[2]
        assert losses[0] > losses[2]


def test_a_plan_asks_for_even_sizes() -> None:
    found = {
        goal: facts_of({"name": "cluster", "objective": goal}) for goal in ("loss", "group-size", "discernibility")
    }
    even = found["discernibility"]
    assert even["group_sizes"] == {"6": 66, "7": 1}
    assert even["discernibility"] == 66 * 36 + 49 <= found["loss"]["discernibility"]
    assert found["group-size"]["groups"] == 67
    better = facts_of({"name": "cluster", "objective": "discernibility", "improve": "steps"})
    assert better["discernibility"] == even["discernibility"]
    assert better["ntil"] < even["ntil"]


@pytest.mark.parametrize("improve", ["quick", "thorough", "il-optimization"])
def test_searches_that_would_undo_sizes_are_refused(improve: str) -> None:
    with pytest.raises(hr.PlanError, match="improve: steps alone keeps"):
        facts_of({"name": "cluster", "objective": "discernibility", "improve": improve})


@pytest.mark.parametrize("improve", ["il-optimization", "steps"])
def test_a_maintained_release_begins_with_steps(tmp_path: Any, improve: str) -> None:
    free = {"role": "quasi-identifier", "intervals": "free"}
    table = PEOPLE.append_column("id", pa.array([f"p{i}" for i in range(403)]))
    asked = {"attributes": {"id": "identifier", "age": free, "ward": "quasi-identifier", "pay": free},
             "key": "id", "privacy": {"k": 6}, "method": {"name": "cluster", "improve": improve}}  # fmt: skip
    release = hr.create_release(table.slice(0, 380), Plan.from_dict(asked), tmp_path / "clinic.store")
    release.insert(table.slice(380))
    assert release.optimize() is not None
