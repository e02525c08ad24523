"""The search for less loss: never worse, never breaks what holds, the same for threads and rows; costs from scratch."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.clustering import ConstrainedKMember, DiverseClustering, Objective, Partition, find_cells
from hedgerow.anonymization.clustering.costs import UNIT, cost_tables
from hedgerow.anonymization.clustering.improve import (
    HASTY,
    PATIENT,
    Effort,
    Improvement,
    efforts_up_to,
    improve,
    neighbours_of,
)
from hedgerow.anonymization.clustering.layout import lay_out
from hedgerow.anonymization.clustering.parts import Part
from hedgerow.anonymization.kernels.codes import FREE, TABLE
from hedgerow.evaluation.synthetic import census, deaths, write_demo
from hedgerow.measures.research_value import column_values, mean_group_value
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.cases.records import Case, cases, encode, naive_attributes
from tests.cases.sensitive import Diverse, codes_of, diverse, naive_demands
from tests.cases.sensitive import encode as encode_diverse
from tests.cases.shuffled import files, write
from tests.naive.attributes import Attribute, Record
from tests.naive.improving import OBJECTIVES, floors, least_beyond, least_cost, total_cost

NOWHERE = (1 << 31) - 1
KINDS = ["p", "entropy", "recursive", "alpha", "delta", "equal", "ordered", "hierarchical", "mixed"]
SHORT = Effort("", tries=30, passes=3, searches=HASTY)


def objective(name: str) -> Objective:
    return Objective(name)  # type: ignore[arg-type]


def groups_of(recoding: Recoding) -> list[list[int]]:
    found: dict[int, list[int]] = {}
    for unit, group in enumerate(recoding.group_of.tolist()):
        found.setdefault(group, []).append(unit)
    found.pop(-1, None)
    return sorted(found.values())


def check(microdata: Microdata, requirement: Requirement, start: Recoding, found: Improvement, cells: Any) -> None:
    """What must be true of every improvement."""
    after = found.groups
    assert ((after.group_of < 0) == (start.group_of < 0)).all()
    assert not requirement.fails(microdata, after.group_of, after.groups).any()
    for group in groups_of(after):
        assert len(set(cells.cell_of[group].tolist())) == 1
    codes = microdata.profiles[microdata.profile_of_unit].astype(int)[:, np.argsort(microdata.index_order)]
    for number in range(after.groups):
        members = codes[after.group_of == number]
        assert members.min(axis=0).tolist() == after.lo[number].tolist()
        assert members.max(axis=0).tolist() == after.hi[number].tolist()
    assert found.after <= found.before


def naive_records(case: Case, microdata: Microdata) -> tuple[list[Attribute], list[Record]]:
    """Attributes, and records numbered as units, for the naive code."""
    attributes = naive_attributes(case, microdata, limits=True)
    return attributes, [tuple(row) for row in microdata.profiles[microdata.profile_of_unit].tolist()]


@pytest.mark.parametrize("name", ["loss", "ncp", "granularity"])
@pytest.mark.parametrize("limits", [True, False])
@given(data=st.data())
@settings(max_examples=20)
def test_costs_are_those_from_scratch(name: str, limits: bool, data: st.DataObject) -> None:
    case = data.draw(cases(persons=data.draw(st.booleans())))
    microdata, requirement = encode(case), Requirement(case.k)
    cells = find_cells(microdata, requirement, ignore_limits=not limits)
    start = ConstrainedKMember(case.k, case.seed, objective=objective(name))(microdata, cells=cells)
    found = improve(microdata, cells, start, requirement, [SHORT], objective(name), case.seed)
    check(microdata, requirement, start, found, cells)
    if limits:
        assert not sum(found.groups.breaks_by_column(microdata).values())
    attributes, records = naive_records(case, microdata)
    for recoding, lost in ((start, found.before), (found.groups, found.after)):
        assert total_cost(attributes, records, groups_of(recoding), OBJECTIVES[name]) == lost


@given(case=cases(wide=True))
@settings(max_examples=15)
def test_many_values_per_column(case: Case) -> None:
    microdata, requirement = encode(case), Requirement(case.k)
    cells = find_cells(microdata, requirement)
    start = Partition(requirement)(microdata, cells=cells)
    found = improve(microdata, cells, start, requirement, [SHORT], seed=case.seed)
    check(microdata, requirement, start, found, cells)
    attributes, records = naive_records(case, microdata)
    assert total_cost(attributes, records, groups_of(found.groups), OBJECTIVES["loss"]) == found.after


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=20)
def test_models_hold_after_every_search(kind: str, data: st.DataObject) -> None:
    given = data.draw(diverse(kind, persons=data.draw(st.booleans())))
    microdata, requirement = encode_diverse(given)
    cells = find_cells(microdata, requirement)
    algorithm: Any = Partition(requirement) if data.draw(st.booleans()) else DiverseClustering(requirement)
    start = algorithm(microdata, cells=cells)
    found = improve(microdata, cells, start, requirement, [SHORT], seed=given.case.seed)
    check(microdata, requirement, start, found, cells)
    assert not sum(found.groups.breaks_by_column(microdata).values())
    codes = [codes_of(given)[record] for record in microdata.record_of]
    demands = naive_demands(given, codes_of(given))
    persons = given.case.persons
    for group in groups_of(found.groups):
        assert demands.hold([codes[unit] for unit in group])
        who = group if persons is None else {persons[microdata.record_of[unit]] for unit in group}
        assert len(who) >= given.case.k


@given(data=st.data())
@settings(max_examples=15)
def test_never_below_the_best_there_is(data: st.DataObject) -> None:
    given = data.draw(diverse("p", persons=data.draw(st.booleans())))
    assume(len(given.sensitive[0]) <= 8)
    name = data.draw(st.sampled_from(["loss", "ncp", "granularity"]))
    microdata, requirement = encode_diverse(given)
    cells = find_cells(microdata, requirement)
    start = DiverseClustering(requirement, objective=objective(name))(microdata, cells=cells)
    found = improve(microdata, cells, start, requirement, efforts_up_to("thorough"), objective(name), given.case.seed)
    attributes, records = naive_records(given.case, microdata)
    codes = [codes_of(given)[record] for record in microdata.record_of]
    demands, persons = naive_demands(given, codes_of(given)), given.case.persons

    def may(group: Sequence[int]) -> bool:
        who = group if persons is None else {persons[microdata.record_of[unit]] for unit in group}
        return len(who) >= given.case.k and demands.hold([codes[unit] for unit in group])

    best = 0
    for cell in np.flatnonzero(~cells.failing).tolist():
        units = np.flatnonzero(cells.cell_of == cell).tolist()
        least = least_cost(attributes, records, units, may, OBJECTIVES[name])
        assert least is not None
        best += least
    assert best <= found.after <= found.before


def test_finds_the_best_of_a_small_table() -> None:
    """Greedy takes the pair in the middle and is left with the two ends; the search is not."""
    plan = Plan.from_dict(
        {"attributes": {"age": {"role": "quasi-identifier", "intervals": "free"}}, "privacy": {"k": 2}}
    )
    microdata = encode_table(read_table(pa.table({"age": [0, 10, 11, 21, 40, 60, 61, 75]}), plan), plan)
    requirement = Requirement(2)
    cells = find_cells(microdata, requirement)
    start = ConstrainedKMember(2)(microdata, cells=cells)
    found = improve(microdata, cells, start, requirement, efforts_up_to("thorough"))
    attributes, records = naive_records(
        Case({"age": {"weight": 1}}, {"age": [0, 10, 11, 21, 40, 60, 61, 75]}, 2, 0), microdata
    )
    best = least_cost(attributes, records, range(8), lambda group: len(group) >= 2, OBJECTIVES["loss"])
    assert found.after == best


# ---- neighbours ----------------------------------------------------------------------------------------------------


@given(data=st.data())
@settings(max_examples=40)
def test_neighbours_are_the_nearest_and_those_of_least_distance_beyond_their_floor(data: st.DataObject) -> None:
    case = data.draw(cases(wide=data.draw(st.booleans())))
    microdata, requirement = encode(case), Requirement(case.k)
    cells = find_cells(microdata, requirement)
    assume(not cells.failing.all())
    lay = lay_out(microdata, cells, case.k)
    part, costs = Part.of(lay, 0, len(lay.records)), cost_tables(microdata).rounded()
    stop = np.zeros(1, np.int64)
    patient = PATIENT._replace(patience=1 << 40, partner_patience=1 << 40)
    found = neighbours_of(part, costs, requirement.k, patient, stop)
    counts = np.diff(part.unit_start)
    for first, last in itertools.pairwise(part.cell_start.tolist()):
        codes = part.codes[first:last]
        lo, hi = np.minimum(codes[:, None], codes[None]), np.maximum(codes[:, None], codes[None])
        q = codes.shape[1]
        far = costs.of_boxes(*costs.ends(lo.reshape(-1, q), hi.reshape(-1, q))).reshape(len(codes), -1).tolist()
        floor = floors(far, counts[first:last].tolist(), case.k)
        nothing, many = [0] * len(codes), found.near.shape[1] - found.nearest
        nearest, partners = least_beyond(far, nothing, found.nearest), least_beyond(far, floor, many)
        assert found.least[first:last].tolist() == floor
        for u, row in enumerate(found.near[first:last].tolist()):
            near, apart = [[v - first for v in part if v >= 0] for part in (row[: found.nearest], row[found.nearest :])]
            assert [far[u][v] for v in near] == nearest[u]
            assert [far[u][v] - floor[v] for v in apart] == partners[u]
            known = [distance for distance in found.distance[first + u].tolist() if distance != NOWHERE]
            assert known == [far[u][v] for v in near + apart]
            assert len({u, *near}) == 1 + len(near)
            assert len({u, *apart}) == 1 + len(apart)


# ---- what the naive attributes do not have: grids, missing values, rules, trees of many leaves ---------------------

MIXED = {
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}, "limit": {"level": 3}},
        "pay": {"role": "quasi-identifier", "intervals": "free", "snap": 10, "limit": {"cuts": [50], "width": 49}},
        "far": {"role": "quasi-identifier", "intervals": "free", "weight": 2},
        "sex": "quasi-identifier",
    },
    "privacy": {"k": 3},
    "rules": [
        {"attribute": "age", "keep_apart": [29, 30], "importance": 3},
        {"attribute": "far", "keep_apart": [400, 401]},
    ],
    "research_value": {"base": 1},
}


def mixed(seed: int, records: int = 120, **changes: Any) -> tuple[Microdata, Plan]:
    draw = random.Random(seed)

    def column(values: Sequence[Any], missing: float = 0.1) -> list[str]:
        return ["" if draw.random() < missing else str(draw.choice(values)) for _ in range(records)]

    rows = {
        "age": column(range(18, 60)),
        "pay": column(range(100)),
        "far": column(range(1000), 0.02),
        "sex": column("FM"),
    }
    plan = Plan.from_dict({**MIXED, **changes})
    return encode_table(read_table(pa.table(rows), plan), plan), plan


def scratch_total(microdata: Microdata, recoding: Recoding, goal: Objective) -> int:
    """Σ size × cost of the box, by the tables, one look-up after the other."""
    costs = cost_tables(microdata, goal)
    order = list(microdata.index_order)

    def cost(j: int, lo: int, hi: int) -> int:
        first, width = int(costs.offset[j]), int(costs.width[j])
        if costs.kind[j] == TABLE:
            return int(costs.costs[first + lo * width + hi])
        if costs.kind[j] == FREE:
            return int(costs.costs[first + width + hi]) - int(costs.costs[first + lo])
        return max((int(step) for step in costs.costs[first + lo : first + hi]), default=0)

    return sum(
        int(size) * sum(cost(j, int(a), int(b)) for j, (a, b) in enumerate(zip(lo[order], hi[order], strict=True)))
        for size, lo, hi in zip(recoding.sizes, recoding.lo, recoding.hi, strict=True)
    )


@pytest.mark.parametrize("name", ["loss", "ncp", "granularity", "research-value"])
@pytest.mark.parametrize("blend", [None, "0.3"])
def test_grids_missing_values_widths_and_rules(name: str, blend: str | None) -> None:
    for seed in range(8):
        value = {"base": 1} if blend is None else {"base": 1, "lambda": blend}
        microdata, plan = mixed(seed, research_value=value, method={"name": "cluster", "objective": name})
        requirement, goal = Requirement(3), Objective.of_plan(microdata, plan)
        cells = find_cells(microdata, requirement)
        start = ConstrainedKMember(3, objective=goal)(microdata, cells=cells)
        found = improve(microdata, cells, start, requirement, [SHORT], goal, seed)
        check(microdata, requirement, start, found, cells)
        assert not sum(found.groups.breaks_by_column(microdata).values())
        for recoding, lost in ((start, found.before), (found.groups, found.after)):
            assert scratch_total(microdata, recoding, goal) == lost


def test_research_value_of_groups_is_what_the_objective_counts() -> None:
    microdata, plan = mixed(1, method={"name": "cluster", "objective": "research-value"})
    values, goal = column_values(microdata, plan), Objective.of_plan(microdata, plan)
    cells = find_cells(microdata, Requirement(3))
    for recoding in (ConstrainedKMember(3)(microdata, cells=cells), Partition(Requirement(3))(microdata, cells=cells)):
        heaviest = max(float(column.weight) for column in microdata.columns)
        total = sum(float(column.weight) for column in microdata.columns) / heaviest
        lost = scratch_total(microdata, recoding, goal) / UNIT / total
        worth = mean_group_value(microdata, recoding, values) * microdata.records
        assert recoding.released - lost == pytest.approx(worth, abs=1e-5)


def test_trees_of_many_leaves() -> None:
    draw = random.Random(3)
    plan = Plan.from_dict(
        {
            "attributes": {
                "zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [4, 3, 2, 1]}},
                "sex": "quasi-identifier",
            },
            "privacy": {"k": 4},
        }
    )
    table = pa.table(
        {"zip": [f"{draw.randint(0, 9999):05}" for _ in range(1500)], "sex": [draw.choice("FM") for _ in range(1500)]}
    )
    microdata, requirement = encode_table(read_table(table, plan), plan), Requirement(4)
    assert max(column.domain_size for column in microdata.columns) > 512
    cells = find_cells(microdata, requirement)
    for name in ("loss", "ncp"):
        start = ConstrainedKMember(4, objective=objective(name))(microdata, cells=cells)
        found = improve(microdata, cells, start, requirement, efforts_up_to("quick"), objective(name))
        check(microdata, requirement, start, found, cells)
        assert scratch_total(microdata, found.groups, objective(name)) == found.after
        assert found.after < found.before


# ---- the same for any threads, rows and hash seed ------------------------------------------------------------------


@given(data=st.data(), threads=st.integers(2, 4))
@settings(max_examples=20)
def test_threads_do_not_change_the_answer(data: st.DataObject, threads: int) -> None:
    given: Diverse = data.draw(diverse(data.draw(st.sampled_from(KINDS))))
    microdata, requirement = encode_diverse(given)
    cells = find_cells(microdata, requirement)
    start = DiverseClustering(requirement)(microdata, cells=cells)
    one, many = (improve(microdata, cells, start, requirement, [SHORT], threads=n).groups for n in (1, threads))
    assert one.group_of.tolist() == many.group_of.tolist()


@pytest.mark.parametrize("method", ["cluster", "partition", "utility", "bottom-up"])
def test_rows_and_threads_do_not_change_a_byte(tmp_path: Path, method: str) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN.replace("METHOD", method))
    outputs = []
    for order in range(3):
        output = tmp_path / f"release{order}"
        hr.anonymize(write(tmp_path, order), tmp_path / "plan.yaml", output, threads=1 + order % 2)
        outputs.append(files(output))
    assert all(output == outputs[0] for output in outputs)


def test_hash_seed(tmp_path: Path, hedgerow: Any) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN.replace("METHOD", "cluster"))
    write(tmp_path, 0)
    outputs = []
    for seed in ("0", "42"):
        done = hedgerow("anonymize", "data0.csv", "plan.yaml", "-o", f"r{seed}", cwd=tmp_path, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        outputs.append(files(tmp_path / f"r{seed}"))
    assert outputs[0] == outputs[1]


PLAN = """\
attributes:
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}, limit: {level: 2}}
  zip: {role: quasi-identifier, hierarchy: {prefix: [5, 3, 1, 0]}}
  pay: {role: quasi-identifier, intervals: free, limit: {cuts: [50], width: 40}}
  sex: quasi-identifier
  illness: sensitive
  note: other
privacy: {k: 3, p: 2}
method: {name: METHOD, improve: quick}
"""


# ---- more effort, less loss ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [census, deaths])
def test_more_effort_less_loss(tmp_path: Path, make: Any) -> None:
    table, plan = write_demo(tmp_path, make(records=2000, attributes=6))
    losses = []
    for effort in ("off", "quick", "thorough", "longest"):
        asked = Plan.from_dict({**Plan.load(plan).to_dict(), "method": {"name": "cluster", "improve": effort}})
        losses.append(hr.anonymize(table, asked).facts["ntil"])
    assert losses[0] > losses[1] > losses[2] >= losses[3]


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ({"name": "lattice", "improve": "quick"}, "does not go with method lattice"),
        ({"name": "euclidean", "improve": "quick"}, "does not go with method euclidean"),
        ({"name": "utility", "improve": "quick", "overlap": "forbidden"}, "overlap: forbidden"),
        ({"name": "partition", "objective": "group-size", "improve": "quick"}, "goes with cluster and lattice only"),
        ({"name": "partition", "objective": "ncp"}, "only if it is improved"),
        (
            {"name": "cluster", "improve": "fast"},
            "must be 'off', 'il-optimization', 'steps', 'quick', 'thorough' or 'longest'",
        ),
    ],
)
def test_what_a_plan_may_not_ask(method: dict[str, str], words: str) -> None:
    with pytest.raises(hr.PlanError, match=words):
        Plan.from_dict({"attributes": {"a": "quasi-identifier"}, "privacy": {"k": 2}, "method": method})
