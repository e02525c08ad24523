"""Boxes that records must not be published narrower than: what they were published as before (republish: only-coarser).

Whoever is left of {1, 2, 9} was shown as 1-9. Shown as 1-2 after the third has gone, a reader of both versions knows
who was where. So a record keeps, column by column, the cell that it was last published as, as long as that is true of
it and within its limit: a cluster is published as the lowest node, or the least interval, that holds the cells of all
its records. A value that was changed to one outside of its cell, or one that may not be published so coarse, sets the
record free in that column.

In a tree, a box is a run of leaves that occur. Where all of them lie under one child the run does not tell a node from
that child, so nodes are kept beside the runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np

from hedgerow.microdata import FreeColumn, Microdata, TreeColumn
from hedgerow.microdata.columns import MISSING, KeptEnds, Shown
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy.numbers import Number, number_label
from hedgerow.types import BoolArray, IntArray

NONE = -1


@dataclass(frozen=True)
class PublishedCell:
    """A published interval.

    Attributes
    ----------
    low, last
        Its lower end, and the last number in it; on a grid, the start of the last step in it.
    whole
        Whether it is written as one of whole numbers alone.
    """

    low: Decimal
    last: Decimal
    whole: bool


@dataclass(frozen=True, eq=False)
class KeptBoxes:
    """What the units of some microdata must not be published narrower than.

    Attributes
    ----------
    lo, hi
        Least and greatest code of the cell of every unit (rows) in every quasi-identifier (columns, in the plan's
        order); its own code where no cell is to be kept.
    node
        The node of the hierarchy that the cell is; −1 for an interval, and where none is to be kept.
    """

    lo: IntArray
    hi: IntArray
    node: IntArray

    def hulls(self, place: IntArray, clusters: int) -> tuple[IntArray, IntArray]:
        """Return the least and greatest code of clusters (rows): of the cells of all their units."""
        columns = self.lo.shape[1]
        lo = np.full((clusters, columns), np.iinfo(np.int64).max)
        hi = np.full((clusters, columns), NONE, np.int64)
        inside = np.flatnonzero(place >= 0)
        for column in range(columns):
            np.minimum.at(lo[:, column], place[inside], self.lo[inside, column])
            np.maximum.at(hi[:, column], place[inside], self.hi[inside, column])
        return lo, hi

    def widened(self, microdata: Microdata, recoding: Recoding) -> Recoding:
        """Publish groups as what holds the cells of all their units."""
        lo, hi = self.hulls(recoding.group_of, recoding.groups)
        node = recoding.node.copy()
        for position, column in enumerate(microdata.columns):
            if isinstance(column, TreeColumn):
                tree = column.hierarchy
                found = tree.lca_of_ranges(lo[:, position], hi[:, position])
                kept = np.flatnonzero((self.node[:, position] >= 0) & (recoding.group_of >= 0))
                group, nodes = recoding.group_of[kept], self.node[kept, position]
                order = np.lexsort((tree.depths[nodes], group))
                groups, first = np.unique(group[order], return_index=True)
                highest = nodes[order][first]  # of all that hold the same leaves, the node that somebody was shown as
                found[groups] = np.where(tree.depths[highest] < tree.depths[found[groups]], highest, found[groups])
                node[:, position] = found
                lo[:, position], hi[:, position] = recoding.lo[:, position], recoding.hi[:, position]
        return replace(recoding, lo=lo, hi=hi, node=node)

    def keeping(self, microdata: Microdata) -> BoolArray:
        """Tell which units have a cell to keep that is wider than their own value."""
        own = np.stack([_codes(microdata, at) for at in range(self.lo.shape[1])], axis=1)
        leaf = np.stack(
            [
                column.hierarchy.leaf_nodes[own[:, at]] if isinstance(column, TreeColumn) else np.full(len(own), NONE)
                for at, column in enumerate(microdata.columns)
            ],
            axis=1,
        )
        wider = (self.lo != own) | (self.hi != own) | ((self.node != NONE) & (self.node != leaf))
        found: BoolArray = wider.any(axis=1)
        return found


def too_wide(microdata: Microdata, recoding: Recoding) -> BoolArray:
    """Tell which groups are wider than the limit of some column."""
    found = np.zeros(recoding.groups, bool)
    for position, column in enumerate(microdata.columns):
        if isinstance(column, FreeColumn) and column.scaled_width is not None:
            shown = recoding.shown(position)
            width = column.high_ends()[shown.hi] - column.low_ends()[shown.lo]
            found |= (width > column.scaled_width) & ~column.is_missing(shown)
    return found


# -- from what was published -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """What records were last published as.

    Attributes
    ----------
    regions
        Published values, by quasi-identifier in the plan's order, as groups have them: a node, a
        :class:`PublishedCell`, or None if missing.
    region_of
        Which of them every row of a table was last published as; −1 if never.
    within_limits
        Whether a node beyond the limit of a value is not kept.
    """

    regions: tuple[tuple[Any, ...], ...]
    region_of: IntArray
    within_limits: bool

    @classmethod
    def of_groups(cls, plan: Plan, shown: Sequence[str], region: Sequence[str], region_of: IntArray) -> PublishedCells:
        """Read what a store says of groups: ``shown`` and ``region``, as JSON."""
        snaps = [plan.attributes[name].snap for name in plan.quasi_identifiers]
        return cls(
            tuple(
                tuple(map(_cell, json.loads(labels), json.loads(places), snaps))
                for labels, places in zip(shown, region, strict=True)
            ),
            region_of,
            plan.keeps_limits,
        )

    def ends(self, microdata: Microdata) -> Mapping[str, KeptEnds]:
        """Return, by column of free intervals, the ends of cells to keep that are no numbers there yet."""
        found = {}
        for position, column in enumerate(microdata.columns):
            if not isinstance(column, FreeColumn):
                continue
            cells, cell_of = self._cells(microdata, position)
            used = np.unique(cell_of[_holds(column, cells, cell_of, _codes(microdata, position))])
            kept = [cells[number] for number in used.tolist()]
            scaled = set(column.intervals.scaled.tolist())
            numbers = {end for cell in kept for end in (cell.low, cell.last)}
            unit = column.intervals.decimals
            lacks = any(end.scaleb(unit) not in scaled for end in numbers)
            whole = all(cell.whole for cell in kept)
            if lacks or (column.intervals.whole and not whole):
                found[column.name] = KeptEnds(tuple(number_label(number) for number in sorted(numbers)), whole)
        return found

    def boxes(self, microdata: Microdata) -> KeptBoxes:
        """Return the boxes of microdata that have these ends as numbers."""
        own = np.stack([_codes(microdata, at) for at in range(len(microdata.columns))], axis=1)
        lo, hi, node = own.copy(), own.copy(), np.full(own.shape, NONE, np.int64)
        for position, column in enumerate(microdata.columns):
            cells, cell_of = self._cells(microdata, position)
            if isinstance(column, TreeColumn):
                found = _nodes(column, cells, cell_of, own[:, position])
                if self.within_limits:
                    beyond = column.breaks(own[:, position], Shown(own[:, position], own[:, position], found))
                    found = np.where(beyond, NONE, found)
                kept = np.flatnonzero(found >= 0)
                tree = column.hierarchy
                node[kept, position] = found[kept]
                lo[kept, position], hi[kept, position] = tree.first_leaf[found[kept]], tree.last_leaf[found[kept]]
                continue
            kept = np.flatnonzero(_holds(column, cells, cell_of, own[:, position]))
            scaled, unit = column.intervals.scaled, column.intervals.decimals
            for ends, codes in (("low", lo), ("last", hi)):
                at = [0 if cell is None else int(getattr(cell, ends).scaleb(unit)) for cell in cells]
                code = np.searchsorted(scaled, np.array(at, np.int64)) if at else np.zeros(0, np.int64)
                codes[kept, position] = code[cell_of[kept]]
        return KeptBoxes(lo, hi, node)

    def _cells(self, microdata: Microdata, position: int) -> tuple[list[Any], IntArray]:
        """Return the different cells of a column, and which one every unit was published as; −1 as none."""
        numbers: dict[Any, int] = {}
        of_region = [numbers.setdefault(region[position], len(numbers)) for region in self.regions]
        which = np.array([*of_region, NONE], np.int64)
        return list(numbers), which[self.region_of[microdata.record_of]]


def _cell(label: str | None, region: Any, snap: Number | None) -> Any:
    """Read what a group shows in one column: its label, and where it lies."""
    if region is None or label is None:
        return MISSING if isinstance(region, dict) else None
    if isinstance(region, dict):
        return region["path"][0]
    low, high = (Decimal(end) for end in region)
    if snap is not None:
        step = Decimal(snap)
        high = high - step if label.endswith(")") else (high / step).to_integral_value(ROUND_FLOOR) * step
    return PublishedCell(low, high, not label.startswith("["))


def _holds(column: FreeColumn, cells: list[Any], cell_of: IntArray, codes: IntArray) -> BoolArray:
    """Tell which units were published as an interval that still holds their number."""
    scaled, unit = column.intervals.scaled, column.intervals.decimals
    first, last = np.zeros(len(cells) + 1, np.int64), np.full(len(cells) + 1, NONE)
    for number, cell in enumerate(cells):
        if cell is not None:
            low = int(cell.low.scaleb(unit).to_integral_value(ROUND_CEILING))
            high = int(cell.last.scaleb(unit).to_integral_value(ROUND_FLOOR))
            first[number] = np.searchsorted(scaled, low)
            last[number] = np.searchsorted(scaled, high, side="right") - 1
    found: BoolArray = (first[cell_of] <= codes) & (codes <= last[cell_of])
    return found


def _codes(microdata: Microdata, position: int) -> IntArray:
    """Code of every unit in one quasi-identifier."""
    return microdata.codes(position)[microdata.profile_of_unit].astype(np.int64)


def _nodes(column: TreeColumn, cells: list[Any], cell_of: IntArray, codes: IntArray) -> IntArray:
    """Return the node that every unit was published as, if its value still lies under it; else −1."""
    tree, size = column.hierarchy, column.domain_size
    pair, of_unit = np.unique(np.where(cell_of < 0, -1, cell_of * size + codes), return_inverse=True)
    found = []
    for one in pair.tolist():
        node = NONE if one < 0 else int(tree.leaf_nodes[one % size])
        while node >= 0 and tree.names[node] != cells[one // size]:
            node = tree.parents[node]
        found.append(node)
    return np.array(found, np.int64)[of_unit.reshape(-1)]
