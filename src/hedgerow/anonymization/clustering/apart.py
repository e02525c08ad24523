"""Merging what is too small where what is published in a column must be disjoint or equal over the whole release.

Each column is cut into *blocks*: runs of values, each value alone at first. A cluster is published, in each column, as
the block that its records lie in. A merge unites, in each column, all blocks from the one cluster's to the other's; in
a hierarchy, all under their common ancestor. Whatever else lies in them is published wider, too, in all cells, and
clusters of a cell that come to lie in the same blocks are one. So blocks only grow, and a value lies in one published
range only.

Since all records are touched, a merge costs what all of them lose more by it. Pseudocode stands in
``docs/explanation/research-value.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.cells import Cells
from hedgerow.anonymization.clustering.layout import Layout, lay_out
from hedgerow.anonymization.clustering.merging import Mergers, merge_all, published
from hedgerow.anonymization.clustering.prices import UNIT, Aim, price_tables
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.kernels.tuples.merging import Blocks
from hedgerow.measures.research_value import ColumnValue
from hedgerow.microdata import FreeColumn, Microdata, TreeColumn
from hedgerow.microdata.recoding import Recoding
from hedgerow.privacy import Requirement
from hedgerow.types import BoolArray, IntArray, Steps

ROOM = 61  # bits for what all records lose
WIDEST = 1 << 56


@dataclass(frozen=True)
class MergeApart:
    """Merge clusters until none is too small; what is published in a column is disjoint or equal.

    Attributes are those of :class:`hedgerow.anonymization.clustering.merging.MergeSmall`. One thread does the work, as
    every merge may change what is published in all cells.
    """

    requirement: Requirement
    values: tuple[ColumnValue, ...]
    aim: Aim = "utility"
    suppress: frozenset[str] = frozenset()

    def __call__(self, microdata: Microdata, cells: Cells, progress: Steps | None = None) -> Recoding:
        """Form groups within the cells that need not be withheld."""
        layout = lay_out(microdata, cells, 1)
        prices = price_tables(tuple(self.values[position] for position in microdata.index_order), self.aim)
        clusters = Mergers(microdata, layout, self.requirement)
        asked = clusters.asked(microdata, self.requirement, prices, self.suppress)
        kernel = kernels.load("apart")
        blocks = lay_out_blocks(microdata, layout, self._most())
        kernel.begin(prices.arrays, blocks)
        living = np.zeros(len(layout.codes), np.int64)

        def merge(forced: BoolArray) -> None:
            def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
                kernel.merge_apart(
                    layout.cell_start, first, last, clusters.state, forced, prices.arrays, asked, blocks, living, done,
                    stop,
                )  # fmt: skip

            run_in_threads(work, layout.records, 1, progress)

        failing = merge_all(microdata, layout, clusters, self.requirement, merge)
        at = blocks.begin[:-1] + clusters.lo  # codes in the blocks of the clusters
        clusters.lo[:], clusters.hi[:] = blocks.first[at], blocks.last[at]
        return published(microdata, layout, clusters, failing, bool(self.suppress))

    def _most(self) -> int:
        """What a box can cost at most."""
        if self.aim != "euclidean":
            return UNIT
        return sum(min(span_of(value), WIDEST) for value in self.values)


def span_of(value: ColumnValue) -> int:
    """Greatest cost of a column by plain ranges."""
    column = value.column
    return column.intervals.span if isinstance(column, FreeColumn) else value.whole_span


def lay_out_blocks(microdata: Microdata, layout: Layout, most: int) -> Blocks:
    """Cut every column into single codes; a box costs at most so much."""
    columns, codes = microdata.indexed_columns, layout.codes.astype(np.int64)
    units = np.diff(layout.unit_start)
    sizes = [column.domain_size for column in columns]
    begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    single = np.concatenate([np.arange(size) for size in sizes]).astype(np.int64)
    shift = max(0, most.bit_length() + int(units.sum()).bit_length() - ROOM)
    records = [np.bincount(codes[:, at], weights=units, minlength=size) for at, size in enumerate(sizes)]
    sums = np.concatenate([np.concatenate([[0], np.cumsum(showing)]) for showing in records]).astype(np.int64)
    trees = [column.hierarchy if isinstance(column, TreeColumn) else None for column in columns]
    nodes = np.cumsum([0] + [0 if tree is None else len(tree.names) for tree in trees])
    none, slots = np.zeros(0, np.int64), 1 << max(4, (2 * len(codes)).bit_length())
    known = [tree for tree in trees if tree is not None]
    return Blocks(
        begin=begin,
        first=single,
        last=single.copy(),
        records=sums,
        lost=np.zeros_like(sums),
        begin_tree=np.array([-1 if tree is None else nodes[at] for at, tree in enumerate(trees)], np.int64),
        leaf=np.concatenate(
            [np.zeros(size) if tree is None else tree.leaf_nodes for tree, size in zip(trees, sizes, strict=True)]
        ).astype(np.int64),
        parent=np.concatenate([none, *(tree.parent for tree in known)]).astype(np.int64),
        node_first=np.concatenate([none, *(tree.first_leaf for tree in known)]).astype(np.int64),
        node_last=np.concatenate([none, *(tree.last_leaf for tree in known)]).astype(np.int64),
        codes=codes,
        units=units.astype(np.int64),
        shown=np.repeat(units[:, None], len(columns), axis=1).astype(np.int64),
        cell=np.repeat(np.arange(len(layout.cell_start) - 1), np.diff(layout.cell_start)).astype(np.int64),
        slots=np.full(slots, -1, np.int64),
        filled=np.zeros(len(codes), np.int64),
        shift=shift,
    )
