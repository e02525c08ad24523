"""Lower loss for the same records: IL_Optimization (Truta and Campan 2007), then an exact local search.

Both are those of ``clustering/steps.py``, for clusters that keep their numbers. What goes beyond exact steps is the
search that also improves a clustering, see ``clustering/improve.py``. Most clusters change under it, so it is done only
if the plan asks for it, or the caller.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.clustering.cells import Cells, number_cells
from hedgerow.anonymization.clustering.costs import Objective
from hedgerow.anonymization.clustering.improve import efforts_up_to, improve
from hedgerow.anonymization.clustering.numbering import dense, recoding_of
from hedgerow.anonymization.clustering.standing import Clusters
from hedgerow.anonymization.clustering.steps import PASSES, lower, room_for_splits, sizes_of
from hedgerow.maintenance.changes.change import Change, lasting
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.types import Improve, IntArray, Steps


def optimize(
    microdata: Microdata,
    plan: Plan,
    cluster_of: IntArray,
    used: int,
    passes: int = PASSES,
    progress: Steps | None = None,
    effort: Improve = "off",
    threads: int = 1,
) -> Change:
    """Lower the loss of clusters; with no passes and no effort, by IL_Optimization alone."""
    change = _by_steps(microdata, plan, cluster_of, used, passes, progress)
    return change if effort == "off" else _by_regrouping(microdata, plan, change, effort, threads, progress)


def _by_regrouping(
    microdata: Microdata, plan: Plan, change: Change, effort: Improve, threads: int, progress: Steps | None
) -> Change:
    """Regroup the records of clusters, cell by cell; a cluster whose records stay together keeps its number."""
    cells = Cells.none_failing(microdata, number_cells(microdata, ignore_limits=not plan.keeps_limits))
    groups, requirement = recoding_of(microdata, change.cluster_of), Requirement.of_plan(plan, microdata)
    objective = Objective.of_plan(microdata, plan)
    found = improve(
        microdata, cells, groups, requirement, efforts_up_to(effort), objective, plan.seed, threads, progress
    ).groups
    inside = np.flatnonzero(found.group_of >= 0)
    group, before = found.group_of[inside], change.cluster_of[inside]
    least, most = np.full(found.groups, change.used), np.full(found.groups, -1)
    np.minimum.at(least, group, before)
    np.maximum.at(most, group, before)
    same = (least == most) & (found.sizes == np.bincount(before, minlength=change.used)[least])
    number = np.where(same, least, change.used + np.cumsum(~same) - 1)
    cluster_of = np.full(len(found.group_of), -1, np.int64)
    cluster_of[inside] = number[group]
    made = int((~same).sum())
    return Change(cluster_of, change.used + made, {**change.steps, "regrouped": made})


def limited_in_width(plan: Plan) -> list[str]:
    """Columns whose groups are limited in width: the search beyond exact steps keeps cells, but no widths."""
    named = ((name, attribute.limit) for name, attribute in plan.attributes.items())
    return [name for name, limit in named if plan.keeps_limits and limit is not None and limit.width is not None]


def _by_steps(
    microdata: Microdata, plan: Plan, cluster_of: IntArray, used: int, passes: int, progress: Steps | None
) -> Change:
    """Lower the loss of clusters by IL_Optimization, then by exact steps."""
    requirement = Requirement.of_plan(plan, microdata)
    numbers, place = dense(cluster_of)
    room = room_for_splits(len(place), requirement.k) if passes else 0
    objective = Objective.of_plan(microdata, plan)
    clusters = Clusters(microdata, requirement, place, len(numbers), room, plan.keeps_limits, objective)
    steps = lower(clusters, passes, sizes_of(plan), progress)
    return Change(lasting(clusters, numbers, used), used + clusters.used - len(numbers), steps)
