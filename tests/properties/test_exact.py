"""Small blocks are solved exactly: never better nor worse than the best of all groupings, whatever is asked."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.clustering import Cells, ConstrainedKMember, DiverseClustering, Objective, find_cells
from hedgerow.anonymization.clustering.costs import cost_tables
from hedgerow.anonymization.clustering.exact import SolvedBlocks, most_records, solve_blocks
from hedgerow.anonymization.clustering.improve import EFFORTS, Effort, improve
from hedgerow.anonymization.kernels.codes import FAR, FREE, TABLE
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.cases.records import Case, cases, encode, naive_attributes
from tests.cases.sensitive import Diverse, codes_of, diverse, naive_demands
from tests.cases.sensitive import encode as encode_diverse
from tests.naive.attributes import generalize
from tests.naive.exact import Group, least_loss
from tests.naive.improving import OBJECTIVES, cost

KINDS = ["p", "entropy", "recursive", "alpha", "beta", "equal", "ordered", "hierarchical", "mixed"]
ENOUGH = 10_000_000
May = Callable[[Group], bool]
Cost = Callable[[Group], int]


def first_records(case: Case, most: int) -> Case:
    persons = None if case.persons is None else case.persons[:most]
    return replace(case, rows={name: values[:most] for name, values in case.rows.items()}, persons=persons)


def first_of(given: Diverse, most: int) -> Diverse:
    sensitive = [column[:most] for column in given.sensitive]
    return replace(given, case=first_records(given.case, most), sensitive=sensitive)


def check(microdata: Microdata, cells: Cells, start: Recoding | None, found: SolvedBlocks, may: May, of: Cost) -> None:
    """Hold every block to the best of all groupings of its records."""
    for i, cell in enumerate(found.cells.tolist()):
        units = np.flatnonzero(cells.cell_of == cell)
        if start is not None:
            units = units[start.group_of[units] >= 0]
        best = least_loss(units.tolist(), may, of)
        assert found.proven[i]
        assert found.after[i] == (FAR if best is None else best)
        groups = [tuple(units[found.group_of[units] == g].tolist()) for g in np.unique(found.group_of[units])]
        if best is not None:
            assert (found.group_of[units] >= 0).all()
            assert all(map(may, groups))
            assert sum(len(group) * of(group) for group in groups) == best
    if start is not None:
        assert ((found.group_of < 0) == (start.group_of < 0)).all()
        assert (found.after <= found.before).all()


def naive_cost(case: Case, microdata: Microdata, name: str) -> Cost:
    attributes = naive_attributes(case, microdata, limits=True)
    records = [tuple(row) for row in microdata.profiles[microdata.profile_of_unit].tolist()]
    return lambda group: cost(attributes, generalize(attributes, [records[i] for i in group]), OBJECTIVES[name])


@pytest.mark.parametrize("name", ["loss", "ncp", "granularity"])
@given(data=st.data())
@settings(max_examples=25)
def test_no_grouping_loses_less_for_k(name: str, data: st.DataObject) -> None:
    case = first_records(data.draw(cases(persons=data.draw(st.booleans()))), 9)
    microdata, requirement, goal = encode(case), Requirement(case.k), Objective(name)
    cells = find_cells(microdata, requirement)
    groups = ConstrainedKMember(case.k, case.seed, objective=goal)(microdata, cells=cells)

    def may(group: Group) -> bool:
        return len(group if case.persons is None else {case.persons[microdata.record_of[i]] for i in group}) >= case.k

    for start in (groups, None):
        found = solve_blocks(microdata, cells, requirement, goal, ENOUGH, start)
        check(microdata, cells, start, found, may, naive_cost(case, microdata, name))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=25)
def test_no_grouping_loses_less_with_models(kind: str, data: st.DataObject) -> None:
    given = first_of(data.draw(diverse(kind, persons=data.draw(st.booleans()))), 9)
    name = data.draw(st.sampled_from(["loss", "ncp", "granularity"]))
    microdata, requirement = encode_diverse(given)
    cells, goal = find_cells(microdata, requirement), Objective(name)
    groups = DiverseClustering(requirement, objective=goal)(microdata, cells=cells)
    codes = [codes_of(given)[record] for record in microdata.record_of]
    demands, persons = naive_demands(given, codes_of(given)), given.case.persons

    def may(group: Group) -> bool:
        who = group if persons is None else {persons[microdata.record_of[i]] for i in group}
        return len(who) >= given.case.k and demands.hold([codes[i] for i in group])

    for start in (groups, None):
        found = solve_blocks(microdata, cells, requirement, goal, ENOUGH, start)
        check(microdata, cells, start, found, may, naive_cost(given.case, microdata, name))


# ---- what the naive attributes do not have: grids, missing values, rules, trees of many leaves ---------------------


def scratch_cost(microdata: Microdata, goal: Objective) -> Cost:
    """Cost of the box of a group by the tables, one look-up after the other."""
    costs, codes = cost_tables(microdata, goal), microdata.profiles[microdata.profile_of_unit].astype(int)

    def one(j: int, lo: int, hi: int) -> int:
        first, width = int(costs.offset[j]), int(costs.width[j])
        if costs.kind[j] == TABLE:
            return int(costs.costs[first + lo * width + hi])
        if costs.kind[j] == FREE:
            return int(costs.costs[first + width + hi]) - int(costs.costs[first + lo])
        return max((int(step) for step in costs.costs[first + lo : first + hi]), default=0)

    def of(group: Group) -> int:
        lo, hi = codes[list(group)].min(axis=0).tolist(), codes[list(group)].max(axis=0).tolist()
        return sum(one(j, a, b) for j, (a, b) in enumerate(zip(lo, hi, strict=True)))

    return of


MIXED = {
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [4, 3, 2, 1]}, "limit": {"level": 3}},
        "pay": {"role": "quasi-identifier", "intervals": "free", "snap": 10, "limit": {"cuts": [50], "width": 49}},
        "far": {"role": "quasi-identifier", "intervals": "free", "weight": 2},
    },
    "privacy": {"k": 2},
    "rules": [{"attribute": "age", "keep_apart": [29, 30], "importance": 3}],
    "research_value": {"base": 1},
}


@pytest.mark.parametrize("name", ["loss", "ncp", "granularity", "research-value"])
def test_no_grouping_loses_less_with_grids_rules_and_trees_of_many_leaves(name: str) -> None:
    draw = random.Random(name)
    solved = 0
    for k in (2, 3, 4):
        asked = {**MIXED, "privacy": {"k": k}, "method": {"name": "cluster", "objective": name}}
        plan = Plan.from_dict(asked)
        rows = {
            "age": [str(draw.randint(18, 60)) for _ in range(900)],
            "zip": [f"{draw.randint(0, 9999):05}" for _ in range(900)],
            "pay": [draw.choice(["", str(draw.randrange(100))]) for _ in range(900)],
            "far": [str(draw.randrange(1000)) for _ in range(900)],
        }
        microdata = encode_table(read_table(pa.table(rows), plan), plan)
        assert max(column.domain_size for column in microdata.columns) > 512
        block_of = np.arange(900) // 9 if k < 4 else np.arange(900) // 10
        cells = Cells.none_failing(microdata, block_of)
        goal = Objective.of_plan(microdata, plan)
        found = solve_blocks(microdata, cells, Requirement(k), goal, ENOUGH)
        of = scratch_cost(microdata, goal)
        for cell in range(0, len(found.cells), 9):
            units = np.flatnonzero(block_of == cell).tolist()
            assert found.after[cell] == least_loss(units, lambda group, k=k: len(group) >= k, of)  # type: ignore[misc]
            solved += found.proven[cell]
    assert solved > 25


# ---- how it goes together with the search --------------------------------------------------------------------------


def uniform(blocks: int, size: int, k: int, seed: int = 0, **method: Any) -> tuple[pa.Table, Plan]:
    """Blocks of records that have nothing in common: the hardest kind."""
    draw, records = random.Random(seed), blocks * size
    plan = {
        "attributes": {
            "block": {"role": "quasi-identifier", "limit": {"level": 0}},
            **{f"c{i}": {"role": "quasi-identifier", "hierarchy": {"bands": [4, 16]}} for i in range(5)},
        },
        "privacy": {"k": k},
        "method": {"name": "cluster", **method},
    }
    others = {f"c{i}": [draw.randrange(64) for _ in range(records)] for i in range(5)}
    return pa.table({"block": [f"{i // size:06}" for i in range(records)], **others}), Plan.from_dict(plan)


def solved(blocks: int, size: int, k: int, effort: Effort) -> tuple[Any, Any]:
    table, plan = uniform(blocks, size, k)
    microdata = encode_table(read_table(table, plan), plan)
    cells = find_cells(microdata, Requirement(k))
    start = ConstrainedKMember(k)(microdata, cells=cells)
    best = solve_blocks(microdata, cells, Requirement(k), looks=ENOUGH)
    assert best.proven.all()
    return improve(microdata, cells, start, Requirement(k), [effort]), best


@pytest.mark.parametrize("effort", ["quick", "thorough"])
@pytest.mark.parametrize(("size", "k"), [(6, 3), (10, 3), (14, 5), (20, 10), (12, 2)])
def test_small_blocks_reach_the_optimum(effort: str, size: int, k: int) -> None:
    found, best = solved(12, size, k, EFFORTS[effort])
    assert best.after.sum() < found.before
    assert found.groups.proven.all()
    assert found.after == best.after.sum()


def test_what_is_not_proven_is_still_searched() -> None:
    """With hardly a look, nothing is proven; the search gets near the best, and never below."""
    found, best = solved(12, 10, 3, replace(EFFORTS["thorough"], looks=40))
    assert not found.groups.proven.any()
    assert best.after.sum() <= found.after < found.before


def test_a_block_of_equal_records_is_proven_whatever_its_size() -> None:
    asked = {"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 3}}
    plan = Plan.from_dict({**asked, "method": {"name": "cluster", "improve": "quick"}})
    facts = hr.anonymize(pa.table({"sex": ["F"] * 500 + ["M"] * 400}), plan).facts
    assert facts["solved_exactly"] == {"blocks": 1, "records": 900}


def test_blocks_that_are_cut_up_do_not_count() -> None:
    """Both halves are grouped in the best way; whether all eight together are, nobody has looked at."""
    ages = {"age": [1, 2, 3, 4, 61, 62, 63, 64]}
    for limit, solved in (({"cuts": [30]}, 2), ({"width": 20}, 0)):
        age = {"role": "quasi-identifier", "intervals": "free", "limit": limit}
        raw = {"attributes": {"age": age}, "privacy": {"k": 2}, "method": {"name": "cluster", "improve": "quick"}}
        facts = hr.anonymize(pa.table(ages), Plan.from_dict(raw)).facts
        assert facts["groups"] == 4
        assert facts["blocks"] == 2
        assert facts["solved_exactly"] == {"blocks": solved, "records": 4 * solved}
        assert hr.explain(pa.table(ages), Plan.from_dict(raw)).in_small_blocks == 4 * solved


def test_what_is_proven_is_a_fact_only_where_groups_are_improved() -> None:
    table, plan = uniform(5, 8, 3, improve="off")
    assert "solved_exactly" not in hr.anonymize(table, plan).facts
    assert hr.explain(table, plan).in_small_blocks == 0
    table, plan = uniform(5, 8, 3, improve="quick")
    found = hr.anonymize(table, plan)
    assert found.facts["solved_exactly"] == {"blocks": 5, "records": 40}
    assert found.verification is not None
    assert "solved_exactly" in found.verification.makers_word
    assert hr.explain(table, plan).in_small_blocks == 40


def test_effort_is_counted() -> None:
    """The same looks give the same groups; with more of them no fewer blocks are proven."""
    table, plan = uniform(10, 12, 3)
    microdata = encode_table(read_table(table, plan), plan)
    cells = find_cells(microdata, Requirement(3))
    proven = []
    for looks in (200, 2_000, 20_000, 200_000):
        one, two = (solve_blocks(microdata, cells, Requirement(3), looks=looks) for _ in range(2))
        assert one.group_of.tolist() == two.group_of.tolist()
        proven.append(int(one.proven.sum()))
    assert proven[0] == 0
    assert proven == sorted(proven)
    assert proven[-1] == 10


def test_more_looks_take_larger_blocks() -> None:
    for k in range(2, 30):
        assert most_records(k, 0) == 0
        sizes = [most_records(k, looks) for looks in (40_000, 200_000, 1_000_000)]
        assert sizes == sorted(sizes)
