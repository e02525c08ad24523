"""Clusters as they stand during a change: the arrays that the kernel works on, and what is asked of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow import kernels
from hedgerow.clustering.cells import number_cells
from hedgerow.clustering.costs import LOSS, Objective, cost_tables
from hedgerow.clustering.diverse import model_tables, value_tables
from hedgerow.microdata import FreeColumn, Microdata, TreeColumn
from hedgerow.microdata.ordering import order_by, pack
from hedgerow.privacy import Requirement

IntArray = npt.NDArray[np.int64]
BUCKET = 2  # clusters in a leaf of the tree
NO_CODE = (1 << 31) - 1


class Clusters:
    """Working state of a change. Numbers of clusters are dense here: their order is that of the lasting numbers.

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
    ) -> None:
        self.microdata = microdata
        self.kernel: Any = kernels.load("clusters")
        columns, capacity = len(microdata.columns), clusters + room
        self.place = place.copy()
        self.cell = number_cells(microdata, ignore_limits=not keep_limits)
        self._info = np.zeros((capacity, 7), np.int64)
        self._used = np.array([clusters, 0], np.int64)
        self._box = np.zeros((capacity, 2 * columns), np.int32)
        following = np.empty(len(place), np.int32)
        codes, profile = microdata.profiles, microdata.profile_of_unit
        self.state = (codes, profile, self.cell, self.place, following, self._box, self._info, self._used)
        self.prices = cost_tables(microdata, objective).prices
        self.asked = _asked(microdata, requirement, keep_limits)
        self.desk = _desk(microdata)
        self.kernel.build(self.state, self.prices)
        self.plant()

    def plant(self) -> None:
        """Build the index over the clusters as they are; after many changes it is worth it to build it anew."""
        order = self._order()
        leaves = 1
        while leaves * BUCKET < len(order):
            leaves *= 2
        cells = int(self.cell.max(initial=0)) + 1
        self.index = self.kernel.plant(self.state, self.prices, order, cells, leaves)

    @property
    def used(self) -> int:
        """Numbers of clusters that were given so far."""
        return int(self._used[0])

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What every step of the kernel takes first."""
        return self.state, self.index, self.prices, self.asked, self.desk

    def by_loss(self) -> IntArray:
        """Living clusters, of greatest loss first, then by number."""
        info = self._info[: self.used]
        alive = np.flatnonzero(info[:, self.kernel.SIZE] > 0)
        loss = info[alive, self.kernel.SIZE] * info[alive, self.kernel.COST]
        return alive[np.argsort(-loss, kind="stable")]

    def covers(self) -> tuple[npt.NDArray[Any], ...]:
        """What living clusters are published as, in a balanced tree, as the kernel's ``break_covered`` takes it."""
        columns = len(self.microdata.columns)
        cover = np.empty((self.used, 2 * columns + 2), np.int32)
        cover[:, 0] = cover[:, columns + 1] = self._info[: self.used, self.kernel.CELL]
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
        cheapest[here], lowest[here] = self._info[order, self.kernel.COST], order
        while leaves > 1:
            nodes = np.arange(leaves // 2, leaves)
            a, b = 2 * nodes, 2 * nodes + 1
            first[nodes], last[nodes] = np.minimum(first[a], first[b]), np.maximum(last[a], last[b])
            cheapest[nodes], lowest[nodes] = np.minimum(cheapest[a], cheapest[b]), np.minimum(lowest[a], lowest[b])
            leaves //= 2
        return order, first, last, cheapest, lowest

    def _order(self) -> IntArray:
        """Living clusters by cell, then by their codes, attribute by attribute: neighbours in a tree are alike."""
        alive = np.flatnonzero(self._info[: self.used, self.kernel.SIZE] > 0)
        box = self._box[alive]
        columns, sizes = [self._info[alive, self.kernel.CELL]], [int(self.cell.max(initial=0)) + 1]
        for at, column in enumerate(self.microdata.indexed_columns):
            columns += [box[:, at], box[:, len(self.microdata.columns) + at]]
            sizes += [column.domain_size, column.domain_size]
        return alive[order_by([*pack(columns, sizes), alive.astype(np.uint64)])]


def _desk(microdata: Microdata) -> tuple[Any, ...]:
    """Scratch space of the kernel: a histogram, and what a search remembers of its way."""
    values, columns = sum(column.values for column in microdata.sensitive), len(microdata.columns)
    level, stack = [np.zeros(columns, np.int64) for _ in range(5)], [np.zeros(256, np.int64) for _ in range(2)]
    return (np.zeros(values, np.int64), *level[:4], *stack, level[4])


def _asked(microdata: Microdata, requirement: Requirement, keep_limits: bool) -> tuple[Any, ...]:
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
    return (
        requirement.k,
        requirement.survives_growth,
        np.ascontiguousarray(microdata.sensitive_of, np.int64),
        value_start,
        overall,
        models,
        trees,
        person,
        np.array(widest, np.int64),
        np.concatenate(ends).astype(np.int64),
        np.array(end_start, np.int64),
    )
