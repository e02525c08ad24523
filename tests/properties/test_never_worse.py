"""A longer search never loses more: quick at most what off does, thorough at most quick, longest at most thorough."""

from __future__ import annotations

import random
from typing import Any, get_args
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering import Cells, ConstrainedKMember, Objective, Runs, find_cells, layout
from hedgerow.anonymization.clustering.costs import UNIT
from hedgerow.anonymization.clustering.improve import EFFORTS, HASTY, Effort, efforts_up_to, improve
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.anonymization.solving import clustering_of
from hedgerow.maintenance.changes.optimize import optimize
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.types import Improve, IntArray
from tests.cases.searched import block_losses, check_never_worse, draw_table

seeds = st.integers(0, 1 << 32)


@given(seed=seeds)
@settings(max_examples=30)
def test_no_block_loses_more(seed: int) -> None:
    check_never_worse(draw_table(random.Random(seed)))


@given(seed=seeds)
@settings(max_examples=2)
def test_no_large_table_loses_more(seed: int) -> None:
    check_never_worse(draw_table(random.Random(seed), records=6_000), ("off", "quick", "thorough"))


@given(seed=seeds, threads=st.integers(2, 4))
@settings(max_examples=10)
def test_threads_change_nothing_where_blocks_are_of_all_sizes(seed: int, threads: int) -> None:
    """Tiny blocks must not be searched otherwise where they lie beside larger ones."""
    draw = random.Random(seed)
    sizes = [draw.choice([6, 7, 9, 12, 60]) for _ in range(30)]
    table = pa.table(
        {
            "block": [f"b{i:02}" for i, size in enumerate(sizes) for _ in range(size)],
            "age": [draw.randrange(40) for size in sizes for _ in range(size)],
            "pay": [draw.randrange(9) for size in sizes for _ in range(size)],
        }
    )
    free = {"role": "quasi-identifier", "intervals": "free"}
    limited = {"role": "quasi-identifier", "limit": {"level": 0}}
    plan = Plan.from_dict({"attributes": {"block": limited, "age": free, "pay": free}, "privacy": {"k": 3}})
    microdata = encode_table(read_table(table, plan), plan)
    requirement = Requirement(3)
    cells = find_cells(microdata, requirement)
    start = ConstrainedKMember(3)(microdata, cells=cells)
    effort = [Effort("", tries=3, passes=0, searches=HASTY)]
    one, many = (improve(microdata, cells, start, requirement, effort, threads=n).groups for n in (1, threads))
    assert one.group_of.tolist() == many.group_of.tolist()


@pytest.mark.parametrize("effort", get_args(Improve))
@given(seed=seeds)
@settings(max_examples=6)
def test_optimizing_a_release_never_loses_more(effort: Improve, seed: int) -> None:
    draw = random.Random(seed)
    case = draw_table(draw)
    while case.plan["method"]["name"] != "cluster" or "width" in str(case.plan):
        case = draw_table(draw)
    microdata, plan = case.encoded()
    requirement = Requirement.of_plan(plan, microdata)
    cells = find_cells(microdata, requirement)
    before = clustering_of(microdata, plan, requirement, 1)(microdata, cells=cells, progress=None)
    inside = np.flatnonzero(before.group_of >= 0)
    if not len(inside):
        return
    living, cluster_of = microdata.of_units(inside), before.group_of[inside]
    change = optimize(living, plan, cluster_of, before.groups, effort=effort)
    objective = Objective.of_plan(living, plan)
    within = Cells.none_failing(living, np.unique(cells.cell_of[inside], return_inverse=True)[1].reshape(-1))
    lost = [
        block_losses(living, within, recoding_of(living, one), objective) for one in (cluster_of, change.cluster_of)
    ]
    assert (lost[1] <= lost[0]).all()


# ---- what made a search lose more than none ------------------------------------------------------------------------


def blocks(sizes: list[int], k: int, seed: int) -> tuple[Microdata, Cells]:
    """Blocks of records of three flat columns."""
    draw = random.Random(seed)
    names = [f"b{i:03}" for i, size in enumerate(sizes) for _ in range(size)]
    columns = {f"c{j}": [draw.choice("abcd") for _ in names] for j in range(3)}
    attributes: dict[str, Any] = dict.fromkeys(columns, "quasi-identifier")
    attributes["block"] = {"role": "quasi-identifier", "limit": {"level": 0}}
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": k}})
    microdata = encode_table(read_table(pa.table({**columns, "block": names}), plan), plan)
    return microdata, find_cells(microdata, Requirement(k))


def loss_of(microdata: Microdata, cells: Cells, effort: Improve) -> int:
    """What a plan for k alone loses with an effort."""
    requirement = Requirement(3)
    start: Any = ConstrainedKMember(3) if effort == "off" else Runs(3)
    groups = start(microdata, cells=cells)
    if effort != "off":
        groups = improve(microdata, cells, groups, requirement, efforts_up_to(effort)).groups
    return int(block_losses(microdata, cells, groups, Objective()).sum())


def test_small_blocks_come_close_to_the_best_there_is() -> None:
    """Of six records, ten pairs of groups: hardly any effort is needed, if heat falls and merged groups are cut again."""
    microdata, cells = blocks([6] * 150, 3, seed=1)
    codes = microdata.profiles[microdata.profile_of_unit].astype(int)
    best = 0
    for cell in range(150):
        members = codes[cells.cell_of == cell]
        ways = [[0, i, j] for i in range(1, 6) for j in range(i + 1, 6)]
        best += min(_flat_loss(members[way]) + _flat_loss(np.delete(members, way, axis=0)) for way in ways)
    costs = [loss_of(microdata, cells, effort) for effort in ("off", "quick", "thorough", "longest")]
    assert costs[0] > 1.01 * best * UNIT
    assert all(cost <= 1.003 * best * UNIT for cost in costs[1:])
    assert costs[3] == best * UNIT


def _flat_loss(members: npt.NDArray[np.int64]) -> int:
    """Loss of a group in units of whole cells: the block is the same, a flat column is kept or lost."""
    return len(members) * int((members.min(axis=0) != members.max(axis=0)).sum())


def test_a_block_of_one_group_of_twice_k_may_be_cut() -> None:
    """In order, no half of it has two illnesses, so only the search can cut it."""
    free = {"role": "quasi-identifier", "intervals": "free"}
    plan = Plan.from_dict({"attributes": {"age": free, "ill": "sensitive"}, "privacy": {"k": 2, "p": 2}})
    table = pa.table({"age": [0, 1, 10, 11], "ill": ["flu", "flu", "gout", "gout"]})
    microdata = encode_table(read_table(table, plan), plan)
    requirement = Requirement.of_plan(plan, microdata)
    whole = recoding_of(microdata, np.zeros(4, np.int64))
    found = improve(
        microdata,
        find_cells(microdata, requirement),
        whole,
        requirement,
        [Effort("", tries=50, passes=0, searches=HASTY)],
    )
    assert found.groups.groups == 2
    assert found.after < found.before


def test_heat_falls_with_every_try() -> None:
    warmth_of = kernels.load("regrouping").warmth_of.py_func
    warmth = [int(warmth_of(1 << 22, 1 << 20, 300, turn, 100)) for turn in range(101)]
    assert warmth == sorted(set(warmth), reverse=True)
    assert warmth[0] == pytest.approx(0.3 * (1 << 21), abs=2)
    assert warmth[-1] == 0
    assert int(warmth_of(1 << 22, 0, 300, 0, 100)) == 0  # a pool without loss has nothing to gain from heat


def test_a_search_that_never_cools_keeps_the_best_it_saw() -> None:
    microdata, cells = blocks([40], 3, seed=2)
    start = ConstrainedKMember(3)(microdata, cells=cells)
    with patch("hedgerow.anonymization.clustering.improve.heat_of", return_value=200_000):
        found = improve(microdata, cells, start, Requirement(3), [Effort("", tries=60, passes=0, searches=HASTY)])
    assert found.after < found.before


def test_small_blocks_start_from_greedy_groups_and_large_ones_from_runs() -> None:
    microdata, cells = blocks([8, 90], 3, seed=3)
    greedy = ConstrainedKMember(3)(microdata, cells=cells).group_of
    with patch.object(layout, "SMALL", 8 * 8):
        start = Runs(3)(microdata, cells).group_of
    small = cells.cell_of == np.argmin(cells.records)
    assert _same_groups(start[small], greedy[small])
    assert not _same_groups(start[~small], greedy[~small])
    sizes = np.bincount(start[~small])
    assert set(sizes[sizes > 0].tolist()) == {3}


def _same_groups(one: IntArray, other: IntArray) -> bool:
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


def test_every_effort_that_a_plan_may_name_is_one() -> None:
    assert ("off", *EFFORTS) == get_args(Improve)
