"""Cutting cells in two, again and again, where both sides still meet what is asked (after LeFevre et al. 2006).

Rows are the profiles of the cells, each with its units. All parts are cut at the same time, level by level, so that
every step is one of whole arrays. What is cut and why stands in :mod:`hedgerow.anonymization.clustering.partition`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.clustering.costs import cost_tables
from hedgerow.anonymization.clustering.layout import Layout
from hedgerow.anonymization.clustering.units import Units
from hedgerow.anonymization.kernels.codes import FREE, TABLE
from hedgerow.microdata import Microdata
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, IntArray, Steps

UNCUT = -1
ROOM = 8  # units are counted by code in one array if it needs no more places than this for every row
BOTH_HOLD, ONE_HOLDS, ONE_MAY = range(3)


@dataclass(frozen=True, eq=False)
class Parts:
    """What cells were cut into.

    Attributes
    ----------
    part_of
        Part of every row of the layout; parts are numbered in the order of their first rows.
    holds
        Whether each part meets what is asked.
    made_by
        Number of the cut that made each part; −1 for a cell that was not cut. Two parts of the same number are the
        sides of a cut neither of which was cut again.
    """

    part_of: IntArray
    holds: BoolArray
    made_by: IntArray


def cut_cells(
    microdata: Microdata,
    layout: Layout,
    requirement: Requirement,
    most: int = 1,
    keep_whole: bool = False,
    progress: Steps | None = None,
) -> Parts:
    """Cut the cells of a layout until no part of more than ``most`` profiles can be cut.

    A part that holds is cut only where both sides hold. One that does not is cut so that something of it may be
    released; with ``keep_whole`` it is left as it is.
    """
    cutter = _Cutter(microdata, layout, requirement)
    sweeps = (BOTH_HOLD,) if keep_whole else (BOTH_HOLD, ONE_HOLDS, ONE_MAY)
    level = cutter.cells()
    found = _Found(len(level.rows))
    while len(level.holds):
        cuts = cutter.find_cuts(level, most, sweeps)
        found.take(level, cuts.column == UNCUT)
        level = _sides(level, cuts, found.cuts)
        found.cuts += len(level.holds) // 2
        if progress is not None:
            progress(len(layout.units) - int(level.units.sum()), len(layout.units))
    return found.parts()


@dataclass(frozen=True, eq=False)
class _Level:
    """Parts that may be cut; their rows stand one part after the other.

    ``codes`` has the plan's columns as its rows. ``may``: whether records of a part may be in some group that holds.
    """

    codes: npt.NDArray[Any]
    units: IntArray
    rows: IntArray
    start: IntArray
    holds: BoolArray
    may: BoolArray
    made_by: IntArray

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.start)


@dataclass(frozen=True, eq=False)
class _Cuts:
    """A cut for every part: rows with codes up to ``code`` in ``column`` go left; what is true of left and right."""

    column: IntArray
    code: IntArray
    holds: BoolArray
    may: BoolArray

    @classmethod
    def none(cls, parts: int) -> _Cuts:
        sides = np.zeros((parts, 2), bool)
        return cls(np.full(parts, UNCUT, np.int64), np.zeros(parts, np.int64), sides, sides.copy())


@dataclass(frozen=True, eq=False)
class _Tried:
    """Some parts of a level, each with the one column that is tried on it: box, cost of the box and units."""

    parts: IntArray
    column: IntArray
    lo: IntArray
    hi: IntArray
    cost: IntArray
    total: IntArray


@dataclass(frozen=True, eq=False)
class _Boundaries:
    """Where tried parts may be cut, part by part, in the order of codes.

    ``which`` counts among the tried parts; ``left`` are the units up to ``code``; ``between``: whether a cut here
    follows the hierarchy.
    """

    which: IntArray
    code: IntArray
    left: IntArray
    between: BoolArray


class _Cutter:
    """Chooses cuts for whole levels of parts."""

    def __init__(self, microdata: Microdata, layout: Layout, requirement: Requirement) -> None:
        self._layout = layout
        self._requirement = requirement
        self._position = np.argsort(microdata.index_order)  # of the plan's columns among those of the layout
        self._costs = cost_tables(microdata)
        self._free = self._costs.kind[self._position] == FREE
        only_counts = microdata.person_of is None and not requirement.models
        self._units = None if only_counts else Units.of(microdata)[layout.units]

    def cells(self) -> _Level:
        """The cells themselves, as the first level."""
        layout = self._layout
        cells = len(layout.cell_start) - 1
        rows = np.arange(len(layout.codes))
        holds, may = self._judge(rows, np.repeat(np.arange(cells), np.diff(layout.cell_start)), cells)
        small = np.uint16 if layout.codes.max(initial=0) < 1 << 16 else layout.codes.dtype  # copied at every level
        codes = np.ascontiguousarray(layout.codes.T[self._position], small)
        made_by = np.full(cells, UNCUT, np.int64)
        return _Level(codes, np.diff(layout.unit_start), rows, layout.cell_start, holds, may, made_by)

    def find_cuts(self, level: _Level, most: int, sweeps: tuple[int, ...]) -> _Cuts:
        """Choose a cut for every part of more than ``most`` rows that can be cut."""
        lo = np.minimum.reduceat(level.codes, level.start[:-1], axis=1).astype(np.int64)
        hi = np.maximum.reduceat(level.codes, level.start[:-1], axis=1).astype(np.int64)
        total = np.add.reduceat(level.units, level.start[:-1])
        cost = np.stack([self._cost(column, lo[column], hi[column]) for column in range(len(lo))])
        cost[lo == hi] = UNCUT  # one code cannot be cut: last of all
        dearest_first = np.argsort(-cost, axis=0, kind="stable")
        cuts = _Cuts.none(len(total))
        for sweep in sweeps:
            open_to_it = level.holds if sweep == BOTH_HOLD else level.may & ~level.holds
            least = self._requirement.k * (2 if sweep == BOTH_HOLD else 1)
            open_to_it = open_to_it & (level.sizes > most) & (total >= least)
            for columns in dearest_first:
                parts = np.flatnonzero(open_to_it & (cuts.column == UNCUT))
                parts = parts[cost[columns[parts], parts] != UNCUT]
                if not len(parts):
                    break
                at = columns[parts], parts
                tried = _Tried(parts, columns[parts], lo[at], hi[at], cost[at], total[parts])
                self._try(level, tried, sweep, cuts)
        return cuts

    def _try(self, level: _Level, tried: _Tried, sweep: int, cuts: _Cuts) -> None:
        """Cut the tried parts at the boundary nearest to the median: one along the hierarchy, or else another."""
        sizes = level.sizes[tried.parts]
        rows = _ranges(level.start[tried.parts], sizes)
        of_row = np.repeat(np.arange(len(sizes)), sizes)
        codes = level.codes[np.repeat(tried.column, sizes), rows].astype(np.int64)
        found = self._boundaries(tried, of_row, codes, level.units[rows])
        for candidates in (found.between, ~found.between):
            chosen = np.flatnonzero(candidates & (cuts.column[tried.parts] == UNCUT)[found.which])
            chosen = chosen[_nearest(found.which[chosen], found.left[chosen], tried.total)]
            right = tried.total[found.which[chosen]] - found.left[chosen]
            counted = (np.minimum if sweep == BOTH_HOLD else np.maximum)(found.left[chosen], right)
            chosen = chosen[counted >= self._requirement.k]
            if not len(chosen):
                continue
            which, code = found.which[chosen], found.code[chosen]
            holds, may = self._judge_sides(level.rows[rows], of_row, codes, which, code, len(sizes))
            met = (holds.all(axis=1), holds.any(axis=1), may.any(axis=1))[sweep]
            parts = tried.parts[which[met]]
            cuts.column[parts] = tried.column[which[met]]
            cuts.code[parts] = code[met]
            cuts.holds[parts] = holds[met]
            cuts.may[parts] = may[met]

    def _boundaries(self, tried: _Tried, of_row: IntArray, codes: IntArray, units: IntArray) -> _Boundaries:
        """List the boundaries between codes that occur, with the units on their left."""
        offset = np.concatenate([[0], np.cumsum(tried.hi - tried.lo + 1)])
        place = (offset[:-1] - tried.lo)[of_row] + codes
        if offset[-1] <= ROOM * len(place):
            counts = np.bincount(place, weights=units, minlength=int(offset[-1]))
            used = np.flatnonzero(counts)
            counts = counts[used]
        else:  # many codes, few of which occur
            used, at = np.unique(place, return_inverse=True)
            counts = np.bincount(at.reshape(-1), weights=units)
        which = np.searchsorted(offset, used, side="right") - 1
        code = used - offset[which] + tried.lo[which]
        before = np.concatenate([[0], np.cumsum(tried.total)])
        left = np.cumsum(counts).astype(np.int64) - before[which]
        inner = np.flatnonzero(which[1:] == which[:-1])  # beyond the last code of a part there is nothing
        step = np.zeros(len(inner), np.int64)
        column = tried.column[which[inner]]
        for one in np.unique(column).tolist():
            here = column == one
            step[here] = self._cost(one, code[inner][here], code[inner + 1][here])
        # Two neighbours cost as much as the whole box exactly where they lie under different children of its node.
        between = self._free[column] | (step == tried.cost[which[inner]])
        return _Boundaries(which[inner], code[inner], left[inner], between)

    def _judge_sides(
        self, rows: IntArray, of_row: IntArray, codes: IntArray, which: IntArray, code: IntArray, tried: int
    ) -> tuple[BoolArray, BoolArray]:
        """Judge both sides (columns) of cuts (rows) after ``code`` of the tried parts ``which``."""
        if self._units is None:  # all parts hold, and the records of both sides have been counted
            enough = np.ones((len(which), 2), bool)
            return enough, enough
        cut = np.full(tried, UNCUT, np.int64)
        cut[which] = np.arange(len(which))
        cut_of_row = cut[of_row]
        inside = cut_of_row >= 0
        side = 2 * cut_of_row[inside] + (codes[inside] > code[cut_of_row[inside]])
        holds, may = self._judge(rows[inside], side, 2 * len(which))
        return holds.reshape(-1, 2), may.reshape(-1, 2)

    def _judge(self, rows: IntArray, group_of: IntArray, groups: int) -> tuple[BoolArray, BoolArray]:
        """Tell which groups of rows hold, and which have records that may be in some group that does."""
        first = self._layout.unit_start[rows]
        counts = self._layout.unit_start[rows + 1] - first
        if self._units is None:
            holds: BoolArray = np.bincount(group_of, weights=counts, minlength=groups) >= self._requirement.k
            return holds, holds
        seen: Any = self._units[_ranges(first, counts)]
        of_unit = np.repeat(group_of, counts)
        holds = ~self._requirement.fails(seen, of_unit, groups)
        if self._requirement.survives_growth:
            return holds, holds
        return holds, ~self._requirement.fails(seen, of_unit, groups, only_if_it_stays_so=True)

    def _cost(self, column: int, lo: IntArray, hi: IntArray) -> IntArray:
        """Cost of boxes in one of the plan's columns."""
        table, at = self._costs.costs, self._position[column]
        offset, width = self._costs.offset[at], self._costs.width[at]
        cost: IntArray
        if self._costs.kind[at] == TABLE:
            cost = table[offset + lo * width + hi].astype(np.int64)
            return cost
        if self._costs.kind[at] == FREE:
            cost = table[offset + width + hi].astype(np.int64) - table[offset + lo]
            return cost
        span = np.frexp(np.maximum(hi - lo, 1))[1].astype(np.int64) - 1  # 2^span steps from either end cover all
        row = offset + span * width
        greatest = np.maximum(table[row + lo], table[row + np.maximum(hi - (1 << span), 0)])
        return np.where(lo == hi, 0, greatest).astype(np.int64)


class _Found:
    """Collects the parts that are not cut again, and counts cuts."""

    def __init__(self, rows: int) -> None:
        self.cuts = 0
        self._part_of = np.full(rows, UNCUT, np.int64)
        self._holds: list[BoolArray] = []
        self._made_by: list[IntArray] = []
        self._parts = 0

    def take(self, level: _Level, done: BoolArray) -> None:
        """Finish some parts of a level."""
        number = self._parts + np.cumsum(done) - 1
        finished = np.repeat(done, level.sizes)
        self._part_of[level.rows[finished]] = np.repeat(number, level.sizes)[finished]
        self._parts += int(done.sum())
        self._holds.append(level.holds[done])
        self._made_by.append(level.made_by[done])

    def parts(self) -> Parts:
        """Number the parts in the order of their first rows."""
        if not self._parts:
            return Parts(self._part_of, np.zeros(0, bool), np.zeros(0, np.int64))
        _, first = np.unique(self._part_of, return_index=True)
        order = np.argsort(first)
        number = np.argsort(order)
        return Parts(number[self._part_of], np.concatenate(self._holds)[order], np.concatenate(self._made_by)[order])


def _sides(level: _Level, cuts: _Cuts, first_cut: int) -> _Level:
    """Make the level of the sides of all cuts; rows keep their order on either side."""
    parts = np.flatnonzero(cuts.column != UNCUT)
    sizes = level.sizes[parts]
    rows = _ranges(level.start[parts], sizes)
    right = level.codes[np.repeat(cuts.column[parts], sizes), rows] > np.repeat(cuts.code[parts], sizes)
    side = np.repeat(2 * np.arange(len(parts)), sizes) + right
    start = np.concatenate([[0], np.cumsum(np.bincount(side, minlength=2 * len(parts)))])
    order = rows[np.argsort(side, kind="stable")]
    made_by = np.repeat(first_cut + np.arange(len(parts)), 2)
    holds, may = cuts.holds[parts].ravel(), cuts.may[parts].ravel()
    return _Level(level.codes[:, order], level.units[order], level.rows[order], start, holds, may, made_by)


def _nearest(which: IntArray, left: IntArray, total: IntArray) -> IntArray:
    """Find, for every part, the boundary with nearly half of its units on the left; of equals the lower."""
    if not len(which):
        return np.zeros(0, np.int64)
    far = np.abs(2 * left - total[which])
    starts = np.flatnonzero(np.append(True, which[1:] != which[:-1]))
    least = np.repeat(np.minimum.reduceat(far, starts), np.diff(np.append(starts, len(which))))
    nearest = np.flatnonzero(far == least)
    first: IntArray = nearest[np.append(True, which[nearest[1:]] != which[nearest[:-1]])]
    return first


def _ranges(starts: IntArray, sizes: IntArray) -> IntArray:
    """Number the places of ranges, one range after the other."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - ends + sizes, sizes) + np.arange(int(ends[-1]) if len(ends) else 0)
