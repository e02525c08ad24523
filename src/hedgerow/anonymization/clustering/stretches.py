"""Stretches: a huge block is searched in parts along the order of its codes, each as if it were a block of its own.

So several threads work in one block, and what they find does not depend on how many they are: where a block is cut
depends on its records and on their groups alone. No group is cut. The first columns of the order have few values, so
what is alike mostly lies in one stretch; and since every stretch is searched from its hottest to its coldest, a block
loses about as much in stretches as it does whole.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.layout import Layout, lay_out
from hedgerow.microdata import Microdata
from hedgerow.privacy import Requirement
from hedgerow.privacy.requirement import people_by_group
from hedgerow.types import IntArray

LONGEST = 1 << 15  # profiles of a stretch; blocks of less than twice as many stay whole
TOGETHER = 4  # stretches are so many or a multiple, that threads have equal shares


def count_stretches(profiles: int) -> int:
    """Count the stretches of a block.

    >>> [count_stretches(profiles) for profiles in (65_535, 65_536, 200_000, 1_000_000)]
    [1, 4, 8, 32]
    """
    return 1 if profiles < 2 * LONGEST else -(-profiles // (LONGEST * TOGETHER)) * TOGETHER


def in_stretches(microdata: Microdata, cells: Cells, requirement: Requirement, group_of: IntArray) -> Cells:
    """Cut huge cells into stretches, for a search that goes on from groups; each group stays in one stretch."""
    layout = lay_out(microdata, cells, requirement.k)
    if not _has_huge(layout):
        return cells
    profiles, records = np.diff(layout.cell_start), layout.records
    position = _positions(layout)
    group = group_of[layout.units]
    inside = np.flatnonzero(group >= 0)
    size = np.maximum(np.bincount(group[inside]), 1)
    middle = np.bincount(group[inside], weights=position[inside]).astype(np.int64) // size
    position[inside] = middle[group[inside]]
    stretches = np.array([count_stretches(one) for one in profiles.tolist()], np.int64)
    return _cut(
        microdata, cells, layout, position * np.repeat(stretches, records) // np.repeat(profiles, records), stretches
    )


def in_stretches_that_hold(microdata: Microdata, cells: Cells, requirement: Requirement) -> Cells:
    """Cut huge cells into stretches of records, for a clustering that a search goes on from.

    Each stretch meets what is asked, so nobody must be withheld who could be released in the whole cell: cells of which
    some stretch would not are cut into half as many, in the end not at all.
    """
    layout = lay_out(microdata, cells, requirement.k)
    if not requirement.survives_growth or not _has_huge(layout):
        return cells
    profiles, records = np.diff(layout.cell_start), layout.records
    position = _positions(layout)
    stretches = np.array([count_stretches(one) for one in profiles.tolist()], np.int64)
    while (stretches > 1).any():
        number = position * np.repeat(stretches, records) // np.repeat(profiles, records)
        cut = _cut(microdata, cells, layout, number, stretches)
        wrong = requirement.fails(microdata, cut.cell_of, len(cut.people)) & ~cut.failing
        unmet = np.unique(cells.cell_of[wrong[cut.cell_of]])
        if not len(unmet):
            return cut
        kept = np.flatnonzero(~cells.failing)
        stretches[np.searchsorted(kept, unmet)] //= 2
    return cells


def _has_huge(layout: Layout) -> bool:
    return bool((np.diff(layout.cell_start) >= 2 * LONGEST).any())


def _positions(layout: Layout) -> IntArray:
    """Position of every unit's profile in its cell."""
    profile = np.repeat(np.arange(len(layout.codes)), np.diff(layout.unit_start))
    return profile - np.repeat(layout.cell_start[:-1], layout.records)


def _cut(microdata: Microdata, cells: Cells, layout: Layout, number: IntArray, stretches: IntArray) -> Cells:
    """Make cells of stretches, given by unit of the layout within its cell; failing cells come after them."""
    first, whole = np.cumsum(stretches) - stretches, np.flatnonzero(cells.failing)
    renamed = np.zeros(len(cells.failing), np.int64)
    renamed[whole] = int(stretches.sum()) + np.arange(len(whole))
    cell_of = renamed[cells.cell_of]
    cell_of[layout.units] = np.repeat(first, layout.records) + number
    failing = np.arange(int(stretches.sum()) + len(whole)) >= int(stretches.sum())
    people, records = people_by_group(microdata, cell_of, len(failing)), np.bincount(cell_of, minlength=len(failing))
    return Cells(cell_of, people, records, failing, cells.proven)
