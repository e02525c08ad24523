"""Publishing a node of the lattice: every record at the node's levels, groups that fail withheld."""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.lattice.checker import group_profiles, people_at
from hedgerow.anonymization.lattice.space import Node, Space
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.privacy import Requirement


def recode(space: Space, requirement: Requirement, node: Node) -> Recoding:
    """Return the release of a node."""
    microdata = space.microdata
    group_of_profile, groups = group_profiles(space, node)
    group_of = group_of_profile[microdata.profile_of_unit]
    fitting = people_at(space, requirement, node, group_of_profile, groups)
    failing = requirement.fails(microdata, group_of, groups, fitting=fitting)
    number = np.where(failing, WITHHELD, np.cumsum(~failing) - 1)
    order = np.argsort(group_of_profile, kind="stable")
    starts = np.searchsorted(group_of_profile[order], np.arange(groups))
    kept = np.flatnonzero(~failing)
    lo = np.minimum.reduceat(space.codes[order], starts)[kept]
    hi = np.maximum.reduceat(space.codes[order], starts)[kept]
    first = order[starts[kept]]
    shown = [space.maps[j][level][space.codes[first, j]] for j, level in enumerate(node)]
    return Recoding(number[group_of], lo, hi, np.stack(shown, axis=1))
