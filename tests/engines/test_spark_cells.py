"""Clustering in Spark's tasks gives what clustering here gives, bit for bit, however the tasks go."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.clustering import (
    ConstrainedKMember,
    DiverseClustering,
    Improved,
    MergeApart,
    MergeSmall,
    Partition,
    find_cells,
)
from hedgerow.engines import spark_cells
from hedgerow.engines.spark_cells import cluster_bundle, cluster_in_tasks
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.cases.research_value import ValueCase, value_cases
from tests.cases.spark_cells import assert_same, plan, prepared

SPARK = pytest.mark.xdist_group("spark")
KINDS = ["k", "p", "entropy", "recursive", "alpha", "mixed", "equal", "ordered", "hierarchical"]


def clusterings(microdata: Microdata, plan: Plan) -> list[Any]:
    """Every algorithm that may be asked for, with what a plan says."""
    requirement = Requirement.of_plan(plan, microdata)
    values = column_values(microdata, plan)
    hideable = frozenset(name for name in plan.quasi_identifiers if plan.attributes[name].limit is None)
    found: list[Any] = [
        MergeSmall(requirement, values, "utility", threads=2),
        MergeSmall(requirement, values, "bottom-up", hideable, threads=2),
        MergeApart(requirement, values, "euclidean"),
        Partition(requirement),
    ]
    if requirement.models:
        found += [DiverseClustering(requirement, 5, 2, join) for join in ("increase", "loss")]
    else:
        found += [ConstrainedKMember(requirement.k, seed, 2) for seed in (0, 5)]
    return [*found, Improved(found[-1], requirement, threads=2)]


# ---- without Spark: tasks as Spark might run them ------------------------------------------------------------------


def tasks_here(order: random.Random) -> Callable[..., pa.Table]:
    """Runs every task once or twice in any order, its rows in any order, with what was sent along."""

    def run(spark: Any, work: Any, rows: pa.Table, records: int, progress: Any) -> pa.Table:
        sent = pickle.dumps(work)
        bundle = rows.column("bundle").to_numpy()
        answers = []
        for number in order.sample(range(bundle.max() + 1), bundle.max() + 1):
            mine = order.sample(np.flatnonzero(bundle == number).tolist(), int((bundle == number).sum()))
            attempts = [cluster_bundle(pickle.loads(sent), rows.take(mine)) for _ in range(order.randint(1, 2))]
            assert all(attempt.equals(attempts[0]) for attempt in attempts)
            answers.append(attempts[-1])
        return pa.concat_tables(answers)

    return run


@pytest.mark.parametrize("persons", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(data=st.data())
def test_tasks_give_what_clustering_here_gives(kind: str, persons: bool, data: st.DataObject) -> None:
    case: ValueCase = data.draw(value_cases(kind, persons=persons))
    plan = case.plan()
    microdata = case.encode(plan)
    order = random.Random(data.draw(st.integers(0, 1000)))
    for clustering in clusterings(microdata, plan):
        cells = find_cells(microdata, Requirement.of_plan(plan, microdata))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(spark_cells, "_run", tasks_here(order))
            found = cluster_in_tasks(None, clustering, microdata, cells, tasks=order.randint(1, 5))  # type: ignore[arg-type]
        assert_same(found, clustering(microdata, cells=cells))


def test_no_cell_knows_of_the_one_before_it() -> None:
    """A group that cannot be completed once left its people marked for the first group of the next cell."""
    order = random.Random(398)
    tree = {"*": {"A": ["v0", "v1"], "B": {"C": ["v2", "v3"], "v4": None}}}
    raw = {
        "attributes": {
            "b": {"role": "quasi-identifier", "hierarchy": {"bands": [2]}, "limit": {"level": 1}},
            "s": {"role": "sensitive", "hierarchy": {"tree": tree}},
        },
        "person": "who",
        "privacy": {"k": 2, "t": {"at_most": "0.35", "distance": "ordered"}},
    }
    records = order.randint(4, 30)
    columns = {
        "b": [order.choice([0, 0, 4, 5, 10, 11]) for _ in range(records)],
        "s": pa.array([order.choice(["v0", "v1", None, "v2"]) for _ in range(records)], pa.string()),
        "who": [order.choice([0, 0, 0, 1, 2, 3]) for _ in range(records)],
    }
    asked = Plan.from_dict(raw).settled()
    microdata = encode_table(read_table(pa.table(columns), asked), asked)
    requirement = Requirement.of_plan(asked, microdata)
    cells = find_cells(microdata, requirement)
    one, eight = (DiverseClustering(requirement, threads=threads)(microdata, cells=cells) for threads in (1, 8))
    assert_same(one, eight)


def test_cells_are_dealt_out_evenly() -> None:
    cell = np.repeat(np.arange(10_000), np.random.default_rng(1).integers(1, 50, 10_000))
    bundle = spark_cells._bundles(cell, 10_001, 8)
    sizes = np.bincount(bundle)
    assert len(sizes) == 8
    assert sizes.max() < 1.02 * sizes.min()
    assert len(np.unique(cell * 8 + bundle)) == 10_000  # no cell is in two bundles


# ---- with Spark ----------------------------------------------------------------------------------------------------


@SPARK
@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize(
    "privacy",
    [{"k": 5}, {"k": 4, "p": 3}, {"k": 6, "t": {"at_most": "0.3"}, "p": 2}],
    ids=["k", "p", "t"],
)
def test_spark_gives_what_clustering_here_gives(spark: Any, privacy: dict[str, Any], person: bool) -> None:
    asked = plan(privacy, person)
    microdata, cells = prepared(asked)
    assert len(cells.failing) > 30
    for clustering in clusterings(microdata, asked):
        if spark_cells._by_cells(clustering):
            assert_same(cluster_in_tasks(spark, clustering, microdata, cells), clustering(microdata, cells=cells))


@SPARK
def test_progress_is_told(spark: Any) -> None:
    microdata, cells = prepared(plan({"k": 5}))
    told: list[tuple[int, int]] = []
    found = cluster_in_tasks(spark, ConstrainedKMember(5), microdata, cells, lambda *at: told.append(at))
    total = int(cells.records[~cells.failing].sum())
    assert told[-1] == (total, total)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert found.released == total


@SPARK
def test_many_cells_make_few_tasks(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = plan({"k": 2}).to_dict()
    raw["attributes"]["city"]["limit"] = raw["attributes"]["sex"]["limit"] = {"level": 0}
    raw["attributes"]["ward"] = {"role": "quasi-identifier", "limit": {"level": 0}}
    microdata, cells = prepared(Plan.from_dict(raw).settled(), 30_000)
    assert (~cells.failing).sum() > 1_000
    bundles = []
    run = spark_cells._run

    def seen(spark: Any, work: Any, rows: pa.Table, *other: Any) -> pa.Table:
        bundles.extend(np.unique(rows.column("bundle").to_numpy()).tolist())
        return run(spark, work, rows, *other)

    monkeypatch.setattr(spark_cells, "_run", seen)
    found = cluster_in_tasks(spark, ConstrainedKMember(2), microdata, cells)
    assert bundles == list(range(8))  # two cores
    assert_same(found, ConstrainedKMember(2)(microdata, cells=cells))
