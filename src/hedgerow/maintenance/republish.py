"""Changes that respect what readers of earlier versions know (AUDIT.md): only coarser, and cohorts.

Under both rules newcomers never join old clusters: they form clusters of their own, or are held back until they can.

- *only coarser*: clusters are never split or dissolved; one that does not hold any more is merged, whole, with another.
- *cohorts*: people of a cluster stay together; a cluster that loses a record is withdrawn with all that is left of it,
  for good. The gate of ``republish: gated`` is the same but for clusters that may stay although they lost a record.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.clustering.numbering import dense
from hedgerow.maintenance.change import Change, coarsen, form
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Before:
    """Where the records of a change come from.

    Attributes
    ----------
    cluster_of
        Cluster of every unit, −1 in none.
    used
        Numbers of clusters given so far.
    withdrawn
        Units that were withdrawn for good.
    lost
        Numbers of the clusters that lost a record by this change.
    """

    cluster_of: IntArray
    used: int
    withdrawn: BoolArray
    lost: IntArray


def only_coarser(microdata: Microdata, plan: Plan, before: Before) -> Change:
    """Merge what does not hold any more; newcomers form clusters of their own."""
    newcomers = before.cluster_of < 0
    change = coarsen(microdata, plan, before.cluster_of, before.used)
    return form(microdata, plan, Requirement.of_plan(plan, microdata), change, newcomers)


def cohorts(
    microdata: Microdata, plan: Plan, before: Before, stay: IntArray, held: BoolArray
) -> tuple[Change, BoolArray]:
    """Withdraw clusters that lost a record or do not hold; returns the change, and who is withdrawn.

    Those that lost a record may ``stay`` if they hold. ``held`` are newcomers that are to be held back.
    """
    newcomers = (before.cluster_of < 0) & ~before.withdrawn & ~held
    leaving = np.union1d(np.setdiff1d(before.lost, stay), fail(microdata, plan, before.cluster_of))
    gone = np.isin(before.cluster_of, leaving) & (before.cluster_of >= 0)
    left = Change(np.where(gone, -1, before.cluster_of), before.used, {"withdrawn": int(gone.sum())})
    change = form(microdata, plan, Requirement.of_plan(plan, microdata), left, newcomers)
    return change, before.withdrawn | gone


def fail(microdata: Microdata, plan: Plan, cluster_of: IntArray) -> IntArray:
    """Return the clusters that do not meet what is asked; by t-closeness also some that nothing happened to may not."""
    numbers, place = dense(cluster_of)
    requirement = Requirement.of_plan(plan, microdata)
    return numbers[requirement.fails(microdata, place, len(numbers))]
