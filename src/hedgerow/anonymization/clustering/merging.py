"""Utility-driven clustering, and bottom-up by NCP and by plain ranges: merge what is too small (Morton 2013).

Every distinct combination of quasi-identifiers starts as a cluster. In canonical order, each that is too small is
merged with the cluster of its cell that it costs least to merge with. With models other than numbers of different
values, and with a person key, clusters that still fail are merged once more each, round by round.

What the thesis leaves open: which small cluster comes next (the first in canonical order), ties (the first again), and
categorical attributes (the merged cluster is published as the lowest common ancestor, whose leaves count as its span).
Ranges of different groups may overlap; where they must not: see ``apart.py``.
"""

from __future__ import annotations

from collections.abc import Callable
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
from hedgerow.anonymization.kernels.tuples.merging import MergeAsked, Merging
from hedgerow.measures.research_value import ColumnValue
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, IntArray, Steps

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
    """

    requirement: Requirement
    values: tuple[ColumnValue, ...]
    aim: Aim = "utility"
    suppress: frozenset[str] = frozenset()
    threads: int = 1

    def __call__(self, microdata: Microdata, cells: Cells, progress: Steps | None = None) -> Recoding:
        """Form groups within the cells that need not be withheld."""
        layout = lay_out(microdata, cells, 1)
        prices = price_tables(tuple(self.values[position] for position in microdata.index_order), self.aim)
        clusters = Mergers(microdata, layout, self.requirement)
        asked = clusters.asked(microdata, self.requirement, prices, self.suppress)
        kernel = kernels.load("merging").merge_cells

        def merge(forced: BoolArray) -> None:
            def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
                kernel(layout.cell_start, first, last, clusters.state, forced, prices.arrays, asked, done, stop)

            run_in_threads(work, layout.records, self.threads, progress)

        failing = merge_all(microdata, layout, clusters, self.requirement, merge)
        return published(microdata, layout, clusters, failing, bool(self.suppress))


def merge_all(
    microdata: Microdata,
    layout: Layout,
    clusters: Mergers,
    requirement: Requirement,
    merge: Callable[[BoolArray], None],
) -> BoolArray:
    """Merge what is too small, then what fails, round by round; return which clusters fail for good."""
    forced = np.zeros(len(layout.codes), bool)
    while True:
        merge(forced)
        seen = clusters.seen(microdata)
        failing = requirement.fails(seen, clusters.cluster_of_units(), len(layout.codes)) & clusters.alive
        forced = failing & clusters.has_company(layout)
        if not forced.any():
            return failing


class Mergers:
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

    def asked(
        self, microdata: Microdata, requirement: Requirement, prices: PriceTables, suppress: frozenset[str]
    ) -> MergeAsked:
        """What is asked of clusters and merges, as the kernels take it."""
        may_hide = np.array([column.name in suppress for column in microdata.indexed_columns], bool)
        return MergeAsked(
            k=requirement.k,
            wanted=requirement.distinct_wanted(len(microdata.sensitive)),
            word_start=self.word_start,
            may_hide=may_hide,
            whole=prices.whole,
            hides=bool(may_hide.any()),
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

    def has_company(self, layout: Layout) -> BoolArray:
        """Tell which clusters have another living one in their cell."""
        cell = np.repeat(np.arange(len(layout.cell_start) - 1), np.diff(layout.cell_start))
        company: BoolArray = np.bincount(cell, weights=self.alive)[cell] > 1
        return company


def published(microdata: Microdata, layout: Layout, clusters: Mergers, failing: BoolArray, suppress: bool) -> Recoding:
    """Put the clusters in terms of units and the plan's order of columns; those that still fail are withheld."""
    kept = np.flatnonzero(clusters.alive & ~failing)
    number = np.full(len(clusters.alive), WITHHELD, np.int64)
    number[kept] = np.arange(len(kept))
    group_of = np.full(len(microdata.record_of), WITHHELD, np.int64)
    group_of[layout.units] = number[clusters.cluster_of_units()]
    to_plan_order = np.argsort(microdata.index_order)
    lo, hi = clusters.lo[kept][:, to_plan_order], clusters.hi[kept][:, to_plan_order]
    recoding = Recoding.of_boxes(microdata, group_of, lo, hi)
    if not suppress:
        return recoding
    cells = np.zeros((len(group_of), lo.shape[1]), bool)
    cells[layout.units] = clusters.hidden[clusters.profile_of][:, to_plan_order]
    return recoding.hiding(cells)
