"""Why a node of the lattice withholds records: how many, and by which demands of the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hedgerow.anonymization.lattice.checker import group_profiles, people_at
from hedgerow.anonymization.lattice.space import Node, Space
from hedgerow.plan import Plan
from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.privacy import Requirement
from hedgerow.privacy.requirement import people_by_group, tally_of


@dataclass(frozen=True)
class Failing:
    """What a node withholds.

    Attributes
    ----------
    withheld
        Records in groups that fail.
    by_demand
        Demands that some group fails, as plans say them, each with the records of all groups that fail it.
    """

    withheld: int
    by_demand: tuple[tuple[str, int], ...]


def failing_at(space: Space, plan: Plan, requirement: Requirement, node: Node) -> Failing:
    """Count the records that a node withholds, as a whole and by demand."""
    microdata = space.microdata
    group_of_profile, groups = group_profiles(space, node)
    group_of = group_of_profile[microdata.profile_of_unit]
    sizes = np.bincount(group_of, minlength=groups)
    small = people_by_group(microdata, group_of, groups) < requirement.k
    found = [(f"k = {requirement.k}", small)]
    for position, column in enumerate(microdata.sensitive):
        tally = tally_of(microdata, position, group_of, groups)
        for name, demand in plan.privacy.demands(column.name).items():
            asked = PRIVACY_MODELS[name]
            said = f"{asked.said(demand)} of {column.name!r}"
            found.append((said, ~asked.make(demand, column).holds(tally)))
    fitting = people_at(space, requirement, node, group_of_profile, groups)
    if fitting is not None:
        if requirement.k_map:
            found.append((f"k_map = {requirement.k_map}", fitting < requirement.k_map))
        found.append(("presence", ~replace(requirement, k_map=0).holds_for_people(sizes, fitting)))
    failing = np.logical_or.reduce([fails for _, fails in found])
    by_demand = tuple((said, int(sizes[fails].sum())) for said, fails in found if fails.any())
    return Failing(int(sizes[failing].sum()), by_demand)
