"""Small blocks solved exactly: no other groups of their records lose less.

A block with a few dozen records has few enough groupings that a branch and bound can rule out all but the best. It is
tried before the search for less loss, within an effort that is counted; the search goes on where nothing was proven.

This is ours: no paper has it. Pseudocode stands in ``docs/explanation/clustering.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.costs import Costs
from hedgerow.anonymization.clustering.parts import Part
from hedgerow.anonymization.kernels.tuples.asked import Demands
from hedgerow.anonymization.kernels.tuples.improving import Starts
from hedgerow.types import IntArray

QUICK = 40_000  # looks: about two milliseconds


def most_records(k: int, looks: int) -> int:
    """Records up to which a block is tried: where records are hardly alike, the looks suffice for most such blocks.

    With two groups a block can be larger than with three. Five times the looks solve blocks of a record or two more.

    Examples
    --------
    >>> [most_records(k, 40_000) for k in (2, 3, 4, 5, 10)], most_records(3, 200_000)
    ([22, 12, 13, 14, 22], 13)
    """
    if looks < 1:
        return 0
    more = max(0, round(log(looks / QUICK, 5)))
    few_groups = {2: 22, 3: 12 - more, 4: 13 - more}
    return min(3 * k - 1, 22 + 2 * more) if k > 4 else few_groups[max(k, 2)] + 2 * more


@dataclass(frozen=True, eq=False)
class SolvedPart:
    """Cells after their small blocks were solved.

    Attributes
    ----------
    place
        Group of every unit, −1 in none.
    lost
        What the groups of every cell lose, in whole multiples of 1/UNIT.
    proven
        Whether no groups of the same records lose less.
    """

    place: IntArray
    lost: IntArray
    proven: npt.NDArray[np.bool_]


def solve_part(
    part: Part,
    place: IntArray,
    costs: Costs,
    asked: Demands,
    looks: int,
    done: IntArray,
    stop: IntArray,
) -> SolvedPart:
    """Solve the small blocks of some cells, given groups by unit to begin with."""
    lost = part.losses(place, costs)
    proven = np.zeros(len(lost), np.bool_)
    most = most_records(max(asked.k, int(asked.wanted.max(initial=1))), looks)
    if not most:
        return SolvedPart(place, lost, proven)
    kernel = kernels.load("exact_blocks")
    place = place.astype(np.int64)
    cells = Starts(profile=part.cell_start, group=part.group_start, unit=part.unit_start)
    desk = kernel.new_desk(part.codes.shape[1], most)
    kernel.solve_cells(
        cells, part.codes, part.profile, place, costs.prices, asked, desk, most, looks, lost, proven, done, stop
    )
    return SolvedPart(place, lost, proven)
