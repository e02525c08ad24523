"""Utility-driven clustering, and bottom-up by NCP and by plain ranges: merge what is too small (Morton 2013).

Every distinct combination of quasi-identifiers starts as a cluster. In canonical order, each that is too small is
merged with the cluster of its cell that it costs least to merge with. With models other than numbers of different
values, and with a person key, clusters that still fail are merged once more each, round by round.

What the thesis leaves open: which small cluster comes next (the first in canonical order), ties (the first again), and
categorical attributes (the merged cluster is published as the lowest common ancestor, whose leaves count as its span).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.layout import Layout, lay_out
from hedgerow.anonymization.clustering.prices import Aim, PriceTables, price_tables
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.clustering.units import Units
from hedgerow.anonymization.kernels.tuples.merging import Family, MergeAsked, Merging
from hedgerow.measures.research_value import ColumnValue
from hedgerow.microdata import FreeColumn, Microdata
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray, Steps

WORD = 64


@dataclass(frozen=True)
class MergeSmall:
    """Merge clusters until none is too small.

    Attributes
    ----------
    requirement
        What must hold of every group.
    values
        What published values of every column are worth.
    aim
        ``utility`` (greatest research value), ``bottom-up`` (least NCP) or ``euclidean`` (least sum of ranges).
    suppress
        Names of columns whose cells may be hidden where that is worth more.
    overlap
        Whether ranges of one column may partially overlap in different groups.
    """

    requirement: Requirement
    values: tuple[ColumnValue, ...]
    aim: Aim = "utility"
    suppress: frozenset[str] = frozenset()
    overlap: bool = True
    threads: int = 1

    def __call__(self, microdata: Microdata, cells: Cells, progress: Steps | None = None) -> Recoding:
        """Form groups within the cells that need not be withheld."""
        layout = lay_out(microdata, cells, 1)
        prices = price_tables(tuple(self.values[position] for position in microdata.index_order), self.aim)
        clusters = _Clusters(microdata, layout, self.requirement)
        asked = self._asked(microdata, clusters, prices)
        family = _no_family(microdata) if self.overlap else _family(microdata, len(layout.codes))
        kernel = kernels.load("merging").merge_cells
        forced = np.zeros(len(layout.codes), bool)
        while True:

            def work(first: int, last: int, done: IntArray, stop: IntArray, forced: Any = forced) -> None:
                kernel(layout.cell_start, first, last, clusters.state, forced, prices.arrays, asked, family, done, stop)

            run_in_threads(work, layout.records, self.threads if self.overlap else 1, progress)
            cluster_of = clusters.cluster_of_units()
            failing = self.requirement.fails(clusters.seen(microdata), cluster_of, len(layout.codes)) & clusters.alive
            forced = failing & clusters.has_company(layout)
            if not forced.any():
                return _recoding(microdata, layout, clusters, cluster_of, failing, bool(self.suppress))

    def _asked(self, microdata: Microdata, clusters: _Clusters, prices: PriceTables) -> MergeAsked:
        columns = microdata.indexed_columns
        may_hide = np.array([column.name in self.suppress for column in columns], bool)
        apart = np.array([not self.overlap and isinstance(column, FreeColumn) for column in columns], bool)
        return MergeAsked(
            k=self.requirement.k,
            wanted=self.requirement.distinct_wanted(len(microdata.sensitive)),
            word_start=clusters.word_start,
            may_hide=may_hide,
            whole=prices.whole,
            overlap=apart,
            hides=bool(may_hide.any()),
            special=bool(may_hide.any() or apart.any()),
        )


class _Clusters:
    """The state of all clusters, as the kernel changes it; at first each profile of a cell is one."""

    def __init__(self, microdata: Microdata, layout: Layout, requirement: Requirement) -> None:
        self._layout = layout
        n, m = layout.codes.shape
        wanted = requirement.distinct_wanted(len(microdata.sensitive))
        words = [
            -(-column.values // WORD) if many > 1 else 0
            for column, many in zip(microdata.sensitive, wanted.tolist(), strict=True)
        ]
        self.word_start = np.concatenate([[0], np.cumsum(words)]).astype(np.int64)
        self.lo = layout.codes.astype(np.int64)
        self.hi = self.lo.copy()
        self.count = np.diff(layout.unit_start)
        self.alive = np.ones(n, bool)
        self.partner = np.full(n, -1, np.int64)
        self.hidden = np.zeros((n, m), bool)
        self.profile_of = np.repeat(np.arange(n), self.count)
        self.state = Merging(
            lo=self.lo,
            hi=self.hi,
            records=self.count,
            bits=self._bits(microdata, int(self.word_start[-1])),
            alive=self.alive,
            partner=self.partner,
            head=np.arange(n),
            tail=np.arange(n),
            following=np.full(n, -1, np.int64),
            hidden=self.hidden,
        )

    def _bits(self, microdata: Microdata, words: int) -> npt.NDArray[np.uint64]:
        """One bit for every sensitive value that a profile has."""
        bits = np.zeros((len(self.count), words), np.uint64)
        for position in range(len(microdata.sensitive)):
            if self.word_start[position] < self.word_start[position + 1]:
                codes = microdata.sensitive_of[self._layout.units, position]
                known = codes >= 0
                word = self.word_start[position] + codes[known] // WORD
                bit = np.left_shift(np.uint64(1), (codes[known] % WORD).astype(np.uint64))
                np.bitwise_or.at(bits, (self.profile_of[known], word), bit)
        return bits

    def roots(self) -> IntArray:
        """Cluster that every first cluster ended up in."""
        root = np.where(self.partner >= 0, self.partner, np.arange(len(self.partner)))
        while True:
            further = root[root]
            if np.array_equal(further, root):
                return root
            root = further

    def cluster_of_units(self) -> IntArray:
        """Cluster of every unit of the layout."""
        return self.roots()[self.profile_of]

    def seen(self, microdata: Microdata) -> Any:
        """The microdata's units in the order of the layout, as far as requirements look at them."""
        return Units.of(microdata)[self._layout.units]

    def has_company(self, layout: Layout) -> npt.NDArray[np.bool_]:
        """Tell which clusters have another living one in their cell."""
        cell = np.repeat(np.arange(len(layout.cell_start) - 1), np.diff(layout.cell_start))
        company: npt.NDArray[np.bool_] = np.bincount(cell, weights=self.alive)[cell] > 1
        return company


def _recoding(
    microdata: Microdata,
    layout: Layout,
    clusters: _Clusters,
    cluster_of: IntArray,
    failing: npt.NDArray[np.bool_],
    suppress: bool,
) -> Recoding:
    """Put the clusters in terms of units and the plan's order of columns; those that still fail are withheld."""
    kept = np.flatnonzero(clusters.alive & ~failing)
    number = np.full(len(clusters.alive), WITHHELD, np.int64)
    number[kept] = np.arange(len(kept))
    group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
    group_of[layout.units] = number[cluster_of]
    to_plan_order = np.argsort(microdata.index_order)
    lo, hi = clusters.lo[kept][:, to_plan_order], clusters.hi[kept][:, to_plan_order]
    recoding = Recoding.of_boxes(microdata, group_of, lo, hi)
    if not suppress:
        return recoding
    cells = np.zeros((len(group_of), lo.shape[1]), bool)
    cells[layout.units] = clusters.hidden[clusters.profile_of][:, to_plan_order]
    return recoding.hiding(cells)


def _family(microdata: Microdata, clusters: int) -> Family:
    """Room for the ranges of every column: nested ones are fewer than twice its values."""
    room = max((min(2 * column.domain_size, clusters) for column in microdata.columns), default=0) + 2
    columns = len(microdata.columns)
    starts, ends, uses = (np.zeros((columns, room), np.int64) for _ in range(3))
    return Family(starts, ends, uses, np.zeros(columns, np.int64))


def _no_family(microdata: Microdata) -> Family:
    empty = np.zeros((len(microdata.columns), 0), np.int64)
    return Family(empty, empty, empty, np.zeros(len(microdata.columns), np.int64))
