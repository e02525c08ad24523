"""Huge blocks are searched in stretches: as the plain reference cuts them, the same for threads and rows, never worse."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.clustering import ConstrainedKMember, DiverseClustering, Improved, find_cells, stretches
from hedgerow.anonymization.clustering.runs import Runs
from hedgerow.anonymization.clustering.stretches import count_stretches, in_stretches, in_stretches_that_hold
from tests.cases.records import Case, cases, encode
from tests.cases.sensitive import diverse
from tests.cases.sensitive import encode as encode_diverse
from tests.cases.shuffled import PLAN, files, write
from tests.naive.stretches import count, stretch_of

from hedgerow.privacy import Requirement  # isort: skip

SHORT = 3
short = patch.object(stretches, "LONGEST", SHORT)


@given(profiles=st.integers(1, 200))
def test_they_are_counted_as_in_the_reference(profiles: int) -> None:
    with short:
        assert count_stretches(profiles) == count(profiles, SHORT)


@given(case=cases(), k=st.integers(2, 4))
@given_settings(max_examples=40)
def test_a_block_is_cut_as_in_the_reference(case: Case, k: int) -> None:
    microdata, requirement = encode(case), Requirement(k)
    cells = find_cells(microdata, requirement)
    groups = ConstrainedKMember(k)(microdata, cells=cells).group_of
    with short:
        found = in_stretches(microdata, cells, requirement, groups)
    records = [tuple(row) for row in microdata.profiles[microdata.profile_of_unit].tolist()]
    wanted: dict[int, tuple[int, int]] = {}
    for cell in np.flatnonzero(~cells.failing).tolist():
        units = np.flatnonzero(cells.cell_of == cell).tolist()
        mine = [records[unit] for unit in units]
        numbers = stretch_of(mine, groups[units].tolist(), count(len(set(mine)), SHORT))
        wanted |= {unit: (cell, number) for unit, number in zip(units, numbers, strict=True)}
    numbered = {where: number for number, where in enumerate(sorted(set(wanted.values())))}
    for unit, where in wanted.items():
        others = found.cell_of[[other for other, its in wanted.items() if its == where]]
        assert set(others.tolist()) == {found.cell_of[unit]}
    assert len({int(found.cell_of[unit]) for unit in wanted}) == len(numbered)
    assert (found.failing[found.cell_of] == cells.failing[cells.cell_of]).all()
    assert found.records.tolist() == np.bincount(found.cell_of, minlength=len(found.records)).tolist()


@pytest.mark.parametrize("kind", ["p", "entropy", "mixed"])
@given(data=st.data())
@given_settings(max_examples=30)
def test_stretches_for_a_clustering_meet_what_is_asked(kind: str, data: st.DataObject) -> None:
    microdata, requirement = encode_diverse(data.draw(diverse(kind, persons=data.draw(st.booleans()))))
    cells = find_cells(microdata, requirement)
    with short:
        found = in_stretches_that_hold(microdata, cells, requirement)
    whole = {(int(cell), int(its)) for cell, its in zip(found.cell_of, cells.cell_of, strict=True)}
    assert len(whole) == len({cell for cell, _ in whole})  # none has records of two cells
    fails = requirement.fails(microdata, found.cell_of, len(found.records))
    assert not (fails & ~found.failing)[found.cell_of].any() or not requirement.survives_growth
    assert (found.failing[found.cell_of] == cells.failing[cells.cell_of]).all()


@pytest.mark.parametrize("kind", ["k", "p", "entropy"])
@given(data=st.data())
@given_settings(max_examples=20)
def test_threads_change_nothing_and_no_promise_is_lost(kind: str, data: st.DataObject) -> None:
    if kind == "k":
        case = data.draw(cases(persons=data.draw(st.booleans()), wide=data.draw(st.booleans())))
        microdata, requirement = encode(case), Requirement(case.k)
        greedy: Any = ConstrainedKMember(case.k)
        clustering = greedy if microdata.person_of is not None else data.draw(st.sampled_from([Runs(case.k), greedy]))
    else:
        microdata, requirement = encode_diverse(data.draw(diverse(kind)))
        greedy = clustering = DiverseClustering(requirement)
    cells = find_cells(microdata, requirement)
    assume(not cells.failing.all())
    whole = greedy(microdata, cells=cells)
    with short:
        one, three = (
            Improved(clustering, requirement, "quick", threads=threads)(microdata, cells) for threads in (1, 3)
        )
    assert one.group_of.tolist() == three.group_of.tolist()
    assert not requirement.fails(microdata, one.group_of, one.groups).any()
    assert not sum(one.breaks_by_column(microdata).values())
    if requirement.survives_growth:
        assert ((one.group_of < 0) == (whole.group_of < 0)).all()


def test_a_release_is_the_same_for_rows_threads_and_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "LONGEST", 20)
    plan = hr.Plan.loads(PLAN.replace("limit: {level: 2}", "").replace(", limit: {cuts: [50], width: 40}", ""))
    plan = plan.replace(method={"name": "cluster", "improve": "quick"})
    made = []
    for order, (threads, engine) in enumerate([(1, "local"), (2, "local"), (3, "duckdb")]):
        output = tmp_path / f"release{order}"
        hr.anonymize(write(tmp_path, order), plan, output, threads=threads, engine=engine)  # type: ignore[arg-type]
        made.append(files(output))
    assert made[0] == made[1]
    assert made[0]["data.csv"] == made[2]["data.csv"]
