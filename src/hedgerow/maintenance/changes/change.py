"""A change: clusters before and records after it give clusters after it (Truta and Campan 2007, I3M+ and I3M−).

Records that were deleted are simply absent; those that are new, or were held back, have no cluster. Clusters that do
not hold any more are repaired, records without a cluster join the one whose loss grows least, and those that still have
none are clustered among themselves. What then has no cluster is held back.

Beyond the paper: only clusters of the same cell qualify; with models that a group may lose by growing, a record joins
only where they still hold, a cluster that fails may borrow a record from its nearest neighbour that can spare one, and
what is left of a cell is merged, as a whole, into the nearest cluster with which it holds. A split that would leave a
part short moves further records until both hold, or is not made.

The order of records is canonical, so the result does not depend on the order of a file's rows; ties go to the first
record and the lowest number.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering import Objective, find_cells
from hedgerow.anonymization.clustering.numbering import dense
from hedgerow.anonymization.clustering.standing import Clusters, take_steps
from hedgerow.anonymization.kernels.codes import BORROWED, DISSOLVED, MERGED
from hedgerow.anonymization.solving import cluster
from hedgerow.maintenance.changes.boxes import KeptBoxes
from hedgerow.microdata import Microdata
from hedgerow.microdata.ordering import starts_of_runs
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray, Steps


@dataclass(frozen=True, eq=False)
class Change:
    """What a change leads to.

    Attributes
    ----------
    cluster_of
        Cluster of every unit; −1 for a record that is held back.
    used
        Numbers of clusters given so far: the next new one gets this number.
    steps
        How often each step was taken.
    """

    cluster_of: IntArray
    used: int
    steps: dict[str, int]


def maintain(
    microdata: Microdata,
    plan: Plan,
    cluster_of: IntArray,
    used: int,
    threads: int | None = None,
    progress: Steps | None = None,
) -> Change:
    """Bring clusters up to date with the records as they are after a change."""
    requirement = Requirement.of_plan(plan, microdata)
    numbers, place = dense(cluster_of)
    room = len(numbers) + len(place) // requirement.k + 2
    objective = Objective.of_plan(microdata, plan)
    clusters = Clusters(microdata, requirement, place, len(numbers), room, plan.keeps_limits, objective)
    tally = _repair(clusters, len(numbers), whole=False)
    homeless = np.flatnonzero(clusters.place < 0)
    take_steps(clusters, kernels.load("maintenance").settle_all, lambda: len(homeless), (homeless,), progress)
    steps = {
        "borrowed": int(tally[BORROWED]),
        "dissolved": int(tally[DISSOLVED]),
        "joined": int((clusters.place[homeless] >= 0).sum()),
        "split": clusters.used - len(numbers),
    }
    after = Change(lasting(clusters, numbers, used), used + clusters.used - len(numbers), steps)
    after = form(microdata, plan, requirement, after, after.cluster_of < 0, threads)
    if requirement.survives_growth:
        return after
    return _merge_rest(microdata, plan, requirement, after)


def form(
    microdata: Microdata,
    plan: Plan,
    requirement: Requirement,
    before: Change,
    among: npt.NDArray[np.bool_],
    threads: int | None = None,
) -> Change:
    """Cluster records without a cluster among themselves, by the plan's own method."""
    units = np.flatnonzero(among)
    if len(units) < requirement.k:
        return replace(before, steps={**before.steps, "formed": 0})
    part = microdata.of_units(units)
    cells = find_cells(part, requirement, ignore_limits=not plan.keeps_limits)
    cluster_of, used = before.cluster_of.copy(), before.used
    if not cells.failing.all():
        made = cluster(part, plan, requirement, cells, threads or os.cpu_count() or 1, None)
        cluster_of[units] = np.where(made.group_of < 0, -1, made.group_of + used)
        used += made.groups
    return Change(cluster_of, used, {**before.steps, "formed": used - before.used})


def coarsen(
    microdata: Microdata, plan: Plan, cluster_of: IntArray, used: int, boxes: KeptBoxes | None = None
) -> Change:
    """Merge every cluster that does not hold, whole, with its nearest one; without one its records are held back.

    ``boxes``: what the records must not be published narrower than; a merged cluster holds the boxes of both.
    """
    requirement = Requirement.of_plan(plan, microdata)
    numbers, place = dense(cluster_of)
    objective = Objective.of_plan(microdata, plan)
    hulls = None if boxes is None else boxes.hulls(place, len(numbers))
    clusters = Clusters(microdata, requirement, place, len(numbers), 1, plan.keeps_limits, objective, hulls=hulls)
    tally = _repair(clusters, len(numbers), whole=True)
    return Change(lasting(clusters, numbers, used), used, {"merged": int(tally[MERGED])})


def _merge_rest(microdata: Microdata, plan: Plan, requirement: Requirement, before: Change) -> Change:
    """Merge all records without a cluster of one cell into the nearest cluster with which they hold."""
    numbers, place = dense(before.cluster_of)
    homeless = np.flatnonzero(place < 0)
    if not len(homeless):
        return replace(before, steps={**before.steps, "merged": 0})
    objective = Objective.of_plan(microdata, plan)
    room = len(homeless) + 1
    clusters = Clusters(microdata, requirement, place, len(numbers), room, plan.keeps_limits, objective)
    first = np.full(int(clusters.cell.max()) + 1, len(place))
    np.minimum.at(first, clusters.cell[homeless], homeless)
    order = homeless[np.lexsort((homeless, first[clusters.cell[homeless]]))]
    starts = starts_of_runs([clusters.cell[order].astype(np.uint64)])
    tally = np.zeros(3, np.int64)
    kernels.load("maintenance").merge_rest(
        *clusters.arrays, order, np.append(starts, len(order)).astype(np.int64), tally
    )
    return Change(lasting(clusters, numbers, before.used), before.used, {**before.steps, "merged": int(tally[MERGED])})


def _repair(clusters: Clusters, count: int, whole: bool) -> IntArray:
    tally = np.zeros(3, np.int64)
    take_steps(clusters, kernels.load("maintenance").repair, lambda: count, (count, whole, tally), None)
    return tally


def lasting(clusters: Clusters, numbers: IntArray, used: int) -> IntArray:
    """Return the lasting numbers of the clusters of all units."""
    every = np.append(np.append(numbers, used + np.arange(clusters.used - len(numbers))), -1)
    return every[clusters.place].astype(np.int64)
