"""Clusters as they stand during a change: the arrays that the kernel works on, and what is asked of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow import kernels
from hedgerow.clustering.cells import number_cells
from hedgerow.clustering.costs import cost_tables
from hedgerow.clustering.diverse import model_tables, value_tables
from hedgerow.microdata import FreeColumn, Microdata, TreeColumn
from hedgerow.microdata.ordering import order_by, pack
from hedgerow.privacy import Requirement
from hedgerow.recoding import WITHHELD, Recoding

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
    """

    def __init__(
        self,
        microdata: Microdata,
        requirement: Requirement,
        place: IntArray,
        clusters: int,
        room: int,
        keep_limits: bool,
    ) -> None:
        self.microdata = microdata
        self.kernel: Any = kernels.load("maintenance")
        columns = len(microdata.columns)
        records, capacity = len(place), clusters + room
        self.place = place.copy()
        self.cell = number_cells(microdata, ignore_limits=not keep_limits)
        info = np.zeros((capacity, 6), np.int64)
        info[:, self.kernel.HEAD] = info[:, self.kernel.NEXT] = -1
        self._info, self._used = info, np.array([clusters], np.int64)
        self._box = np.zeros((capacity, 2 * columns), np.int32)
        codes = np.ascontiguousarray(microdata.profiles[microdata.profile_of_unit])
        self.state = (codes, self.cell, self.place, np.full((records, 2), -1, np.int64), self._box, info, self._used)
        self.prices = cost_tables(microdata).prices
        self.asked = _asked(microdata, requirement, keep_limits)
        self.kernel.build(self.state, self.prices)
        self.tree = self._tree(columns, clusters)
        self.desk = self._desk(microdata, columns)
        self.kernel.plant(self.state, self.prices, self._order(microdata, clusters), self.tree)

    @property
    def used(self) -> int:
        """Numbers of clusters that were given so far."""
        return int(self._used[0])

    @property
    def loss(self) -> int:
        """Total loss, in the units of the costs."""
        info = self._info[: self.used]
        return int((info[:, self.kernel.SIZE] * info[:, self.kernel.COST]).sum())

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What every step of the kernel takes first."""
        return self.state, self.tree, self.prices, self.asked, self.desk

    def by_loss(self) -> IntArray:
        """Living clusters, of greatest loss first, then by number."""
        info = self._info[: self.used]
        alive = np.flatnonzero(info[:, self.kernel.SIZE] > 0)
        loss = info[alive, self.kernel.SIZE] * info[alive, self.kernel.COST]
        return alive[np.argsort(-loss, kind="stable")]

    def covers(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """What every cluster is published as, as lower and upper codes; and, by node of the tree, their extremes."""
        microdata, columns = self.microdata, len(self.microdata.columns)
        cover = self._box[: self.used].copy()
        for at, column in enumerate(microdata.indexed_columns):
            if isinstance(column, TreeColumn):
                tree = column.hierarchy
                node = tree.lca_of_ranges(cover[:, at].astype(np.int64), cover[:, columns + at].astype(np.int64))
                cover[:, at], cover[:, columns + at] = tree.first_leaf[node], tree.last_leaf[node]
        leaves = len(self.tree[2])
        first = np.full((2 * leaves, columns), NO_CODE, np.int32)
        last = np.full((2 * leaves, columns), -1, np.int32)
        alive = np.flatnonzero(self._info[: self.used, self.kernel.SIZE] > 0)
        node = leaves + self._info[alive, self.kernel.LEAF]
        np.minimum.at(first, node, cover[alive, :columns])
        np.maximum.at(last, node, cover[alive, columns:])
        at_level = leaves
        while at_level > 1:
            level = np.arange(at_level // 2, at_level)
            first[level] = np.minimum(first[2 * level], first[2 * level + 1])
            last[level] = np.maximum(last[2 * level], last[2 * level + 1])
            at_level //= 2
        return cover, first, last

    def _order(self, microdata: Microdata, clusters: int) -> IntArray:
        """Living clusters by cell, then by their codes, attribute by attribute: neighbours in the tree are alike."""
        alive = np.flatnonzero(self._info[:clusters, self.kernel.SIZE] > 0)
        box = self._box[alive]
        columns, sizes = [self._info[alive, self.kernel.CELL]], [int(self.cell.max(initial=0)) + 1]
        for at, column in enumerate(microdata.indexed_columns):
            columns += [box[:, at], box[:, len(microdata.columns) + at]]
            sizes += [column.domain_size, column.domain_size]
        return alive[order_by([*pack(columns, sizes), alive.astype(np.uint64)])]

    def _tree(self, columns: int, clusters: int) -> tuple[Any, ...]:
        leaves = 1
        while leaves * BUCKET < clusters:
            leaves *= 2
        reach = np.zeros((2 * leaves, 3 * columns), np.int32)
        return reach, np.zeros((2 * leaves, 4), np.int64), np.full(leaves, -1, np.int64)

    def _desk(self, microdata: Microdata, columns: int) -> tuple[Any, ...]:
        values = sum(column.values for column in microdata.sensitive)
        return (
            np.zeros(values, np.int64),
            np.zeros(columns, np.int64),
            np.zeros(256, np.int64),
            np.zeros(256, np.int64),
            np.zeros(1, np.int64),
            np.zeros(1, np.int64),
        )


def _asked(microdata: Microdata, requirement: Requirement, keep_limits: bool) -> tuple[Any, ...]:
    """Lay out what is asked of clusters as the kernel takes it."""
    value_start, overall = value_tables(microdata)
    models, trees = model_tables(requirement, microdata)
    person = np.zeros(0, np.int64) if microdata.person_of is None else microdata.person_of
    widest, ends, end_start = [], [np.zeros(0, np.int64)], [0]
    for column in microdata.indexed_columns:
        bounded = keep_limits and isinstance(column, FreeColumn) and column.scaled_width is not None
        if bounded and isinstance(column, FreeColumn):
            ends += [column.low_ends(), column.high_ends()]
        widest.append(column.scaled_width if bounded and isinstance(column, FreeColumn) else -1)
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


def recoding_of(microdata: Microdata, cluster_of: IntArray) -> Recoding:
    """Publish clusters, numbered in the order of their numbers, as the lowest common ancestors of their records."""
    inside = np.flatnonzero(cluster_of >= 0)
    numbers, group = np.unique(cluster_of[inside], return_inverse=True)
    group_of = np.full(len(cluster_of), WITHHELD, np.int64)
    group_of[inside] = group.reshape(-1)
    order = inside[np.argsort(group_of[inside], kind="stable")]
    starts = np.searchsorted(group_of[order], np.arange(len(numbers)))
    codes = microdata.profiles[microdata.profile_of_unit[order]].astype(np.int64)
    to_plan_order = np.argsort(microdata.index_order)
    shape = (0, len(microdata.columns))
    lo = np.minimum.reduceat(codes, starts)[:, to_plan_order] if len(numbers) else np.zeros(shape, np.int64)
    hi = np.maximum.reduceat(codes, starts)[:, to_plan_order] if len(numbers) else np.zeros(shape, np.int64)
    return Recoding.of_boxes(microdata, group_of, lo, hi)
