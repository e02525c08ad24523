"""Lower loss for the same records: IL_Optimization (Truta and Campan 2007), then an exact local search.

IL_Optimization breaks clusters all of whose records are covered by others. The local search beyond it goes over the
clusters, pass by pass, and takes every step that lowers the total loss: splitting a cluster of 2k or more, moving a
record, swapping two records, dissolving a cluster. Costs are whole numbers, so the loss never rises and the search
ends. Limits and models hold after every step.

What goes beyond exact steps is the search that also improves a clustering, see ``clustering/improve.py``. Most clusters
change under it, so it is done only if the plan asks for it, or the caller.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.cells import Cells, number_cells
from hedgerow.anonymization.clustering.improve import efforts_up_to, improve
from hedgerow.anonymization.clustering.numbering import dense, recoding_of
from hedgerow.anonymization.kernels.codes import BROKEN_UP, MOVED, SPLIT, SWAPPED
from hedgerow.maintenance.changes.change import Change, lasting, objective_of, take_steps
from hedgerow.maintenance.changes.clusters import Clusters
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.types import Improve, IntArray, Steps

PASSES = 5


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
    objective = objective_of(microdata, plan)
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
    room = 8 * (len(place) // requirement.k + 1) if passes else 0
    objective = objective_of(microdata, plan)
    clusters = Clusters(microdata, requirement, place, len(numbers), room, plan.keeps_limits, objective)
    kernel = kernels.load("lowering")
    broken, found = np.zeros(1, np.int64), np.zeros(4, np.int64)
    kernel.break_covered(*clusters.arrays, clusters.covers(), clusters.by_loss(), broken)
    for _ in range(passes):
        before = int(found.sum())
        clusters.plant()
        take_steps(clusters, kernel.improve, lambda: clusters.used, (found,), progress)
        if int(found.sum()) == before:
            break
    named = {"split": SPLIT, "moved": MOVED, "swapped": SWAPPED, "dissolved": BROKEN_UP}
    steps = {name: int(found[code]) for name, code in named.items()}
    return Change(
        lasting(clusters, numbers, used), used + clusters.used - len(numbers), {"broken": int(broken[0]), **steps}
    )
