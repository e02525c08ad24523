"""Clusters as they stand while they change: the arrays that the kernel works on, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.cells import number_cells
from hedgerow.anonymization.clustering.costs import LOSS, Costs, Objective, cost_tables
from hedgerow.anonymization.clustering.diverse import model_tables, value_tables
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.kernels.codes import CELL, CLUSTER_COLUMNS, COST, NO_CODE, NUMBERED, SIZE
from hedgerow.anonymization.kernels.tuples.changing import Asked, ClusterDesk, Covers, Index, State
from hedgerow.microdata import FreeColumn, Microdata, TreeColumn
from hedgerow.microdata.ordering import order_by, pack
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray, Steps

BUCKET = 2  # clusters in a leaf of the tree


class Clusters:
    """Working state of clusters that change. Their numbers are dense here, in the order of the lasting numbers.

    Parameters
    ----------
    microdata, requirement
        The records as they are after the change, and what must hold of every cluster.
    place
        Cluster of every unit, −1 in none.
    clusters, room
        Number of clusters, and for how many more there is to be room.
    keep_limits
        Whether the plan's limits count.
    objective
        What clusters are to have least of.
    cell
        Cell of every unit; None: as the plan's limits have it.
    hulls
        Least and greatest code that every cluster's box (rows) must hold in every quasi-identifier (columns, in the
        plan's order), where it may be wider than the cluster's records.
    """

    def __init__(
        self,
        microdata: Microdata,
        requirement: Requirement,
        place: IntArray,
        clusters: int,
        room: int,
        keep_limits: bool,
        objective: Objective = LOSS,
        cell: IntArray | None = None,
        hulls: tuple[IntArray, IntArray] | None = None,
    ) -> None:
        self.microdata = microdata
        self.kernel: Any = kernels.load("clusters")
        columns, capacity = len(microdata.columns), clusters + room
        self.place = place.copy()
        self.cell = number_cells(microdata, ignore_limits=not keep_limits) if cell is None else cell.astype(np.int64)
        self._info = np.zeros((capacity, CLUSTER_COLUMNS), np.int64)
        self._used = np.array([clusters, 0], np.int64)
        self._box = np.zeros((capacity, 2 * columns), np.int32)
        following = np.empty(len(place), np.int32)
        self.state = State(
            codes=microdata.profiles,
            profile=microdata.profile_of_unit,
            cell=self.cell,
            place=self.place,
            following=following,
            box=self._box,
            info=self._info,
            used=self._used,
        )
        costs = cost_tables(microdata, objective)
        self.prices = costs.prices
        self.asked = _asked(microdata, requirement, keep_limits)
        self.desk = _desk(microdata)
        self.kernel.build(self.state, self.prices)
        if hulls is not None:
            self._widen(costs, *hulls)
        self.plant()

    def _widen(self, costs: Costs, lo: IntArray, hi: IntArray) -> None:
        """Let the boxes of all clusters hold others."""
        order, columns, clusters = list(self.microdata.index_order), len(self.microdata.columns), len(lo)
        box = self._box[:clusters]
        box[:, :columns] = np.minimum(box[:, :columns], lo[:, order])
        box[:, columns:] = np.maximum(box[:, columns:], hi[:, order])
        self._info[:clusters, COST] = costs.of_boxes(*costs.ends(box[:, :columns], box[:, columns:]))

    def plant(self) -> None:
        """Build the index over the clusters as they are; after many changes it is worth it to build it anew."""
        order = self._order()
        leaves = 1
        while leaves * BUCKET < len(order):
            leaves *= 2
        depth = self._depths(order)
        columns, nodes = len(self.microdata.columns), int((len(self.microdata.columns) - depth).sum())
        low, high, dear, smallest, lowest = (np.empty(nodes, np.int32) for _ in range(5))
        sizes = (nodes + 1, nodes + 1, int(self.cell.max(initial=0)) + 2)
        child, begin, roots = (np.empty(size, np.int64) for size in sizes)
        reach, about = np.empty((2 * leaves, 3 * columns), np.int32), np.empty((2 * leaves, 4), np.int64)
        self.index = Index(
            low, high, dear, smallest, lowest, child, begin, roots, order, reach, about, np.empty(leaves, np.int64)
        )  # fmt: skip
        self.kernel.plant(self.state, self.prices, depth, self.index)

    def _depths(self, order: IntArray) -> IntArray:
        """Of clusters in an order, the first attribute in which the box differs from that of the one before."""
        columns = len(self.microdata.columns)
        depth = np.zeros(len(order), np.int64)
        if len(order) > 1:
            box, cell = self._box[order], self._info[order, CELL]
            differs = (box[1:, :columns] != box[:-1, :columns]) | (box[1:, columns:] != box[:-1, columns:])
            last = np.ones((len(differs), 1), bool)
            depth[1:] = np.where(cell[1:] == cell[:-1], np.argmax(np.hstack([differs, last]), axis=1), 0)
        return depth

    @property
    def used(self) -> int:
        """Numbers of clusters that were given so far."""
        return int(self._used[NUMBERED])

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What every step of the kernel takes first."""
        return self.state, self.index, self.prices, self.asked, self.desk

    def by_loss(self) -> IntArray:
        """Living clusters, of greatest loss first, then by number."""
        info = self._info[: self.used]
        alive = np.flatnonzero(info[:, SIZE] > 0)
        loss = info[alive, SIZE] * info[alive, COST]
        return alive[np.argsort(-loss, kind="stable")]

    def by_cell(self) -> tuple[IntArray, IntArray]:
        """Living clusters by cell, then by number; and where those of each cell begin."""
        alive = np.flatnonzero(self._info[: self.used, SIZE] > 0)
        order = alive[np.argsort(self._info[alive, CELL], kind="stable")]
        cells = int(self.cell.max(initial=0)) + 1
        return order, np.searchsorted(self._info[order, CELL], np.arange(cells + 1)).astype(np.int64)

    def covers(self) -> Covers:
        """What living clusters are published as, in a balanced tree, as the kernel's ``break_covered`` takes it."""
        columns = len(self.microdata.columns)
        cover = np.empty((self.used, 2 * columns + 2), np.int32)
        cover[:, 0] = cover[:, columns + 1] = self._info[: self.used, CELL]
        for at, column in enumerate(self.microdata.indexed_columns, start=1):
            lo = self._box[: self.used, at - 1].astype(np.int64)
            hi = self._box[: self.used, columns + at - 1].astype(np.int64)
            if isinstance(column, TreeColumn):
                tree = column.hierarchy
                node = tree.lca_of_ranges(lo, hi)
                lo, hi = tree.first_leaf[node], tree.last_leaf[node]
            cover[:, at], cover[:, columns + 1 + at] = lo, hi
        order = self._order()
        leaves = 1
        while leaves < len(order):
            leaves *= 2
        first = np.full((2 * leaves, columns + 1), NO_CODE, np.int32)
        last = np.full((2 * leaves, columns + 1), -1, np.int32)
        cheapest = np.full(2 * leaves, np.iinfo(np.int64).max)
        lowest = np.full(2 * leaves, NO_CODE, np.int64)
        here = slice(leaves, leaves + len(order))
        first[here], last[here] = cover[order, : columns + 1], cover[order, columns + 1 :]
        cheapest[here], lowest[here] = self._info[order, COST], order
        while leaves > 1:
            nodes = np.arange(leaves // 2, leaves)
            a, b = 2 * nodes, 2 * nodes + 1
            first[nodes], last[nodes] = np.minimum(first[a], first[b]), np.maximum(last[a], last[b])
            cheapest[nodes], lowest[nodes] = np.minimum(cheapest[a], cheapest[b]), np.minimum(lowest[a], lowest[b])
            leaves //= 2
        return Covers(order, first, last, cheapest, lowest)

    def _order(self) -> IntArray:
        """Living clusters by cell, then by their codes, attribute by attribute: neighbours in a tree are alike."""
        alive = np.flatnonzero(self._info[: self.used, SIZE] > 0)
        box = self._box[alive]
        columns, sizes = [self._info[alive, CELL]], [int(self.cell.max(initial=0)) + 1]
        for at, column in enumerate(self.microdata.indexed_columns):
            columns += [box[:, at], box[:, len(self.microdata.columns) + at]]
            sizes += [column.domain_size, column.domain_size]
        return alive[order_by([*pack(columns, sizes), alive.astype(np.uint64)])]


def take_steps(
    clusters: Clusters, kernel: Any, total: Callable[[], int], own: tuple[Any, ...], progress: Steps | None
) -> None:
    """Run a kernel over its work, planting the index anew whenever it asks for it; Ctrl-C works meanwhile."""

    def work(_first: int, _last: int, done: IntArray, stop: IntArray) -> None:
        at = 0
        while not stop[0]:
            at = kernel(*clusters.arrays, at, done, stop, *own)
            if at >= total():
                return
            clusters.plant()

    run_in_threads(work, np.array([total()], np.int64), 1, progress)


def _desk(microdata: Microdata) -> ClusterDesk:
    """Scratch space of the kernel: a histogram, and what a search remembers of its way."""
    values, columns = sum(column.values for column in microdata.sensitive), len(microdata.columns)
    at, end, sums, hulls, codes = (np.zeros(columns, np.int64) for _ in range(5))
    stack, floors = (np.zeros(256, np.int64) for _ in range(2))
    return ClusterDesk(np.zeros(values, np.int64), at, end, sums, hulls, stack, floors, codes)


def _asked(microdata: Microdata, requirement: Requirement, keep_limits: bool) -> Asked:
    """Lay out what is asked of clusters as the kernel takes it."""
    value_start, overall = value_tables(microdata)
    models, trees = model_tables(requirement, microdata)
    person = np.zeros(0, np.int64) if microdata.person_of is None else microdata.person_of
    widest, ends, end_start = [], [np.zeros(0, np.int64)], [0]
    for column in microdata.indexed_columns:
        width = None
        if keep_limits and isinstance(column, FreeColumn) and column.scaled_width is not None:
            width = column.scaled_width
            ends += [column.low_ends(), column.high_ends()]
        widest.append(-1 if width is None else width)
        end_start.append(sum(map(len, ends)))
    return Asked(
        k=requirement.k,
        lasts=requirement.survives_growth,
        sensitive=np.ascontiguousarray(microdata.sensitive_of, np.int64),
        value_start=value_start,
        overall=overall,
        models=models,
        trees=trees,
        person=person,
        widest=np.array(widest, np.int64),
        ends=np.concatenate(ends).astype(np.int64),
        end_start=np.array(end_start, np.int64),
    )
