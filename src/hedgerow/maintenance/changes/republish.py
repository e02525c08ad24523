"""Changes that respect what readers of earlier versions know: only coarser, and cohorts.

Under both rules newcomers never join old clusters: they form clusters of their own, or are held back until they can.

- *only coarser*: clusters are never split or dissolved; one that does not hold any more is merged, whole, with another.
  No cell of a record is ever published narrower than before, see ``boxes.py``.
- *cohorts*: people of a cluster stay together; a cluster that loses a record is withdrawn with all that is left of it,
  for good. The gate of ``republish: gated`` is the same but for clusters that may stay although they lost a record.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hedgerow.anonymization.clustering.numbering import dense, recoding_of
from hedgerow.maintenance.changes.boxes import KeptBoxes, too_wide
from hedgerow.maintenance.changes.change import Change, coarsen, form
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, IntArray


def only_coarser(microdata: Microdata, plan: Plan, cluster_of: IntArray, used: int, boxes: KeptBoxes) -> Change:
    """Merge what does not hold any more; newcomers, who have no cluster, form some of their own.

    Records whose cells, kept as they were, would make a cluster wider than a limit are held back.
    """
    newcomers = cluster_of < 0
    change = coarsen(microdata, plan, cluster_of, used, boxes)
    change = form(microdata, plan, Requirement.of_plan(plan, microdata), change, newcomers)
    if not plan.keeps_limits:
        return change
    groups = boxes.widened(microdata, recoding_of(microdata, change.cluster_of))
    beyond = np.append(too_wide(microdata, groups), False)[groups.group_of] & boxes.keeping(microdata)
    return replace(change, cluster_of=np.where(beyond, -1, change.cluster_of))


def cohorts(
    microdata: Microdata, plan: Plan, cluster_of: IntArray, used: int, leaving: IntArray
) -> tuple[Change, BoolArray]:
    """Withdraw clusters that are ``leaving`` or do not hold; returns the change, and who is withdrawn for good."""
    newcomers = cluster_of < 0
    leaving = np.union1d(leaving, fail(microdata, plan, cluster_of))
    gone = np.isin(cluster_of, leaving) & ~newcomers
    left = Change(np.where(gone, -1, cluster_of), used, {"withdrawn": int(gone.sum())})
    return form(microdata, plan, Requirement.of_plan(plan, microdata), left, newcomers), gone


def fail(microdata: Microdata, plan: Plan, cluster_of: IntArray) -> IntArray:
    """Return the clusters that do not meet what is asked; by t-closeness also some that nothing happened to may not."""
    numbers, place = dense(cluster_of)
    requirement = Requirement.of_plan(plan, microdata)
    return numbers[requirement.fails(microdata, place, len(numbers))]
