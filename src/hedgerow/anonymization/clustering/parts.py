"""Some of the cells with their groups, laid out as the kernels that improve groups take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.clustering.costs import Costs
from hedgerow.anonymization.clustering.layout import Layout, are_small
from hedgerow.anonymization.kernels.tuples.improving import UnitGroups
from hedgerow.types import BoolArray, IntArray

Codes = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Part:
    """Some cells of a layout; their profiles, units and groups are numbered from 0 here.

    Attributes
    ----------
    units
        Where the units are in the layout.
    codes, unit_start, cell_start, group_start
        As in the layout.
    profile
        Profile of every unit.
    """

    units: slice | IntArray
    codes: Codes
    unit_start: IntArray
    cell_start: IntArray
    group_start: IntArray
    profile: npt.NDArray[np.int32]

    @classmethod
    def of(cls, layout: Layout, first: int, last: int) -> Part:
        """Cut the cells first … last − 1 out of a layout."""
        cell_start = layout.cell_start[first : last + 1]
        unit_start = layout.unit_start[cell_start[0] : cell_start[-1] + 1]
        group_start = layout.group_start[first : last + 1]
        return cls(
            slice(int(unit_start[0]), int(unit_start[-1])),
            layout.codes[cell_start[0] : cell_start[-1]],
            unit_start - unit_start[0],
            cell_start - cell_start[0],
            group_start - group_start[0],
            np.repeat(np.arange(len(unit_start) - 1, dtype=np.int32), np.diff(unit_start)),
        )

    def some(self, cells: npt.NDArray[np.bool_]) -> tuple[Part, IntArray]:
        """Cut some of the cells out, given by a flag for each; returns them, and which of the units here are theirs."""
        profiles, records, groups = np.diff(self.cell_start), self.records, np.diff(self.group_start)
        units = np.flatnonzero(np.repeat(cells, records))
        counts = np.diff(self.unit_start)[np.repeat(cells, profiles)]
        return Part(
            units + self.units.start if isinstance(self.units, slice) else self.units[units],
            self.codes[np.repeat(cells, profiles)],
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([[0], np.cumsum(profiles[cells])]).astype(np.int64),
            np.concatenate([[0], np.cumsum(groups[cells])]).astype(np.int64),
            np.repeat(np.arange(len(counts), dtype=np.int32), counts),
        ), units

    @property
    def records(self) -> IntArray:
        """Number of records of each cell."""
        return np.diff(self.unit_start[self.cell_start])

    @property
    def profiles(self) -> IntArray:
        """Number of profiles of each cell."""
        return np.diff(self.cell_start)

    @property
    def small(self) -> BoolArray:
        """Whether each cell is small enough to be searched in more than one way."""
        return are_small(self.records, self.profiles)

    def numbered(self, group_of: IntArray) -> IntArray:
        """Number groups, given by unit, anew: those of each cell from its first number on, by their first units."""
        inside = np.flatnonzero(group_of >= 0)
        _, first, group = np.unique(group_of[inside], return_index=True, return_inverse=True)
        order = np.argsort(first)
        cell = np.searchsorted(self.unit_start[self.cell_start], inside[first[order]], side="right") - 1
        before = np.searchsorted(cell, np.arange(len(self.group_start)))
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order)) - before[cell] + self.group_start[cell]
        place = np.full(len(group_of), -1, np.int64)
        place[inside] = number[group.reshape(-1)]
        return place

    def losses(self, place: IntArray, costs: Costs) -> IntArray:
        """Loss of every cell with these groups; 0 for a cell without any."""
        number, size, lo, hi, _ = self._boxes(place)
        lost = np.zeros(int(self.group_start[-1]) + 1, np.int64)
        lost[number] = size * costs.of_boxes(*costs.ends(lo, hi))
        total = np.concatenate([[0], np.cumsum(lost)])
        return np.diff(total[self.group_start])

    def groups(self, place: IntArray, costs: Costs, room: int) -> UnitGroups:
        """Groups as the kernels take them, with members listed where there are no more than ``room``."""
        number, size, lo, hi, order = self._boxes(place)
        capacity, q = int(self.group_start[-1]), self.codes.shape[1]
        member = np.full((capacity, room), -1, np.int32)
        rank = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
        listed = np.repeat(size <= room, size)
        member[place[order[listed]], rank[listed]] = order[listed]
        sizes, cost = np.zeros(capacity, np.int32), np.zeros(capacity, np.int32)
        lower, upper = np.zeros((capacity, q), np.uint32), np.zeros((capacity, q), np.uint32)
        lower[number], upper[number] = costs.ends(lo, hi)
        sizes[number], cost[number] = size, costs.of_boxes(lower[number], upper[number])
        return UnitGroups(place.astype(np.int32), member, sizes, cost, lower, upper)

    def seeds(self, seed: int) -> npt.NDArray[np.uint64]:
        """Where the generator of every cell starts: by what tells it from others, its first profile and its size."""
        mixed = np.full(len(self.records), np.uint64(seed % (1 << 64)) ^ np.uint64(0x9E3779B97F4A7C15))
        for column in (*self.codes[self.cell_start[:-1]].T, self.records):
            mixed = (mixed ^ column.astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
            mixed ^= mixed >> np.uint64(29)
        return mixed | np.uint64(1)

    def _boxes(self, place: IntArray) -> tuple[IntArray, IntArray, Codes, Codes, IntArray]:
        """Numbers, sizes and ends of the groups there are, and the units in them, group by group."""
        order = np.argsort(place, kind="stable")
        order = order[np.searchsorted(place[order], 0) :]
        size = np.bincount(place[order], minlength=1)
        number = np.flatnonzero(size)
        size = size[number]
        starts = np.cumsum(size) - size
        codes = self.codes[self.profile[order]]
        if not len(number):
            return number, size, codes, codes, order
        return number, size, np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts), order
