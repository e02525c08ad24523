"""Lower loss for the same records: IL_Optimization as the paper has it, then an exact local search (INC; SPEC §8).

IL_Optimization breaks clusters all of whose records are covered by others. The local search beyond it goes over the
clusters, pass by pass, and takes every step that lowers the total loss: splitting a cluster of 2k or more, moving a
record, swapping two records, dissolving a cluster. Costs are whole numbers, so the loss never rises and the search
ends. Limits and models hold after every step.
"""

from __future__ import annotations

import numpy as np

from hedgerow import kernels
from hedgerow.maintenance.change import Change, IntArray, Progress, lasting, objective_of, take_steps
from hedgerow.maintenance.clusters import Clusters, dense
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement

PASSES = 5


def optimize(
    microdata: Microdata,
    plan: Plan,
    cluster_of: IntArray,
    used: int,
    passes: int = PASSES,
    progress: Progress | None = None,
) -> Change:
    """Lower the loss of clusters; with no passes, by IL_Optimization alone."""
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
    steps = dict(zip(("split", "moved", "swapped", "dissolved"), map(int, found), strict=True))
    return Change(
        lasting(clusters, numbers, used), used + clusters.used - len(numbers), {"broken": int(broken[0]), **steps}
    )
