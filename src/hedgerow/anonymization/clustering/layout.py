"""Laying out the records of cells for a kernel, and putting its result back in terms of the microdata."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.lines import with_lines
from hedgerow.microdata import Microdata
from hedgerow.microdata.ordering import starts_of_runs
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.types import BoolArray, IntArray

SMALL = 1 << 24  # records × profiles: what clustering greedily takes at most, if every record is compared with all


def are_small(records: IntArray, profiles: IntArray) -> BoolArray:
    """Tell for which cells greedy clustering is cheap: up to 4,096 records, or more of fewer profiles.

    >>> are_small(np.array([4096, 5000, 100_000]), np.array([4096, 5000, 100])).tolist()
    [True, False, True]
    """
    return records * profiles <= SMALL


@dataclass(frozen=True, eq=False)
class Layout:
    """The records of the cells that are not withheld, cell by cell, profile by profile.

    Attributes
    ----------
    units
        Units in this order.
    codes
        Code vectors of the profiles of each cell, one after the other.
    unit_start, cell_start, group_start
        First record of each profile, first profile and first group number of each cell, and the totals.
    person, persons
        Person of every record and their number; empty without a person key.
    group_of, lo, hi, size
        What the kernel fills: group of every record; box and size of every group.
    """

    units: IntArray
    codes: npt.NDArray[Any]
    unit_start: IntArray
    cell_start: IntArray
    group_start: IntArray
    person: IntArray
    persons: int
    group_of: IntArray
    lo: npt.NDArray[Any]
    hi: npt.NDArray[Any]
    size: IntArray

    @property
    def records(self) -> IntArray:
        """Number of records of each cell."""
        return np.diff(self.unit_start[self.cell_start])

    @property
    def small(self) -> BoolArray:
        """Whether each cell is small: see :func:`are_small`."""
        return are_small(self.records, np.diff(self.cell_start))


def lay_out(microdata: Microdata, cells: Cells, k: int, within: IntArray | None = None, sets: bool = False) -> Layout:
    """Lay out the cells that are not withheld.

    ``within`` orders the records of a profile before canonical order. ``sets``: codes are followed by the lines that
    tell what sets of values cost, as in ``cost_tables``.
    """
    kept = np.flatnonzero(~cells.failing)
    rank = np.full(len(cells.failing), -1, np.int64)
    rank[kept] = np.arange(len(kept))
    cell = rank[cells.cell_of]
    units = np.flatnonzero(cell >= 0)
    profile = microdata.profile_of_unit
    if within is None:
        units = units[np.argsort(cell[units], kind="stable")]
    else:
        units = units[np.lexsort((within[units], profile[units], cell[units]))]
    starts = starts_of_runs([cell[units].astype(np.uint64), profile[units].astype(np.uint64)])
    unit_start = np.append(starts, len(units)).astype(np.int64)
    cell_start = np.searchsorted(cell[units[starts]], np.arange(len(kept) + 1)).astype(np.int64)
    group_start = np.concatenate([[0], np.cumsum(np.diff(unit_start[cell_start]) // k)]).astype(np.int64)
    codes = np.ascontiguousarray(microdata.profiles[profile[units[starts]]])
    if sets:
        codes = with_lines(microdata, codes)
    person, persons = np.zeros(0, np.int64), 0
    if microdata.person_of is not None:
        person, persons = microdata.person_of[units], int(microdata.person_of.max(initial=-1)) + 1
    capacity = int(group_start[-1])
    return Layout(
        units,
        codes,
        unit_start,
        cell_start,
        group_start,
        person,
        persons,
        np.full(len(units), WITHHELD, np.int64),
        np.zeros((capacity, codes.shape[1]), codes.dtype),
        np.zeros((capacity, codes.shape[1]), codes.dtype),
        np.zeros(capacity, np.int64),
    )


def without_records(layout: Layout) -> Layout:
    """Let go of what only the kernel looks at, which is large, before its result is put together."""
    nothing = np.zeros(0, np.int64)
    return replace(layout, codes=layout.codes[:0].copy(), unit_start=nothing, person=nothing)


def as_recoding(microdata: Microdata, layout: Layout) -> Recoding:
    """Put a kernel's result in terms of units, groups without gaps, and the plan's order of columns."""
    used = np.flatnonzero(layout.size > 0)
    number = np.full(len(layout.size) + 1, WITHHELD, np.int64)
    number[used] = np.arange(len(used))
    group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
    group_of[layout.units] = number[layout.group_of]
    to_plan_order = np.argsort(microdata.index_order)
    lo = layout.lo[used][:, to_plan_order].astype(np.int64)
    hi = layout.hi[used][:, to_plan_order].astype(np.int64)
    return Recoding.of_boxes(microdata, group_of, lo, hi)
