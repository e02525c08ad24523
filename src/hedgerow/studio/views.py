"""What screens show of a column: its tree with counts, or its numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.explanation import Outlook
from hedgerow.hierarchy import Hierarchy
from hedgerow.hierarchy.numbers import Number
from hedgerow.microdata import FreeColumn, Microdata, TreeColumn

IntArray = npt.NDArray[np.int64]
MOST_BINS = 60


@dataclass(frozen=True, eq=False)
class TreeView:
    """The hierarchy of a column.

    Attributes
    ----------
    counts, withheld
        Records under every node, and those of them that must be withheld.
    marked
        Nodes that are limits.
    """

    hierarchy: Hierarchy
    counts: IntArray
    withheld: IntArray
    marked: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class NumbersView:
    """The numbers of a column with free intervals.

    Attributes
    ----------
    bins
        Start, end and records of every bin, in ascending order.
    cuts, width
        Its limits.
    """

    bins: tuple[tuple[float, float, int], ...]
    least: float
    greatest: float
    missing: int
    cuts: tuple[Number, ...]
    width: Number | None


def tree_view(microdata: Microdata, outlook: Outlook, column: str) -> TreeView | None:
    """Count the records under every node of a column's tree."""
    position = _position(microdata, column)
    found = microdata.columns[position]
    if not isinstance(found, TreeColumn):
        return None
    codes = microdata.codes(position)
    return TreeView(
        found.hierarchy,
        _under_nodes(found.hierarchy, codes, microdata.counts),
        _under_nodes(found.hierarchy, codes, outlook.withheld_by_profile),
        found.marked,
    )


def numbers_view(microdata: Microdata, column: str) -> NumbersView | None:
    """Bin the numbers of a column with free intervals."""
    position = _position(microdata, column)
    found = microdata.columns[position]
    if not isinstance(found, FreeColumn):
        return None
    by_code = np.bincount(microdata.codes(position), weights=microdata.counts, minlength=found.domain_size)
    numbers = found.intervals.scaled.astype(float) / 10**found.intervals.decimals
    missing = int(by_code[found.missing_code]) if found.has_missing else 0
    if not len(numbers):
        return NumbersView((), 0.0, 0.0, missing, found.cuts, found.width)
    bins = min(MOST_BINS, len(numbers))
    heights, edges = np.histogram(numbers, bins, weights=by_code[: len(numbers)])
    rows = tuple(
        (float(low), float(high), round(height))
        for low, high, height in zip(edges[:-1], edges[1:], heights.tolist(), strict=True)
    )
    return NumbersView(rows, float(numbers[0]), float(numbers[-1]), missing, found.cuts, found.width)


def _position(microdata: Microdata, column: str) -> int:
    return [found.name for found in microdata.columns].index(column)


def _under_nodes(hierarchy: Hierarchy, codes: npt.NDArray[np.uint32], counts: IntArray) -> IntArray:
    """Sum counts of profiles under every node: leaves are numbered so that a node's are neighbours."""
    by_leaf = np.bincount(codes, weights=counts, minlength=len(hierarchy.leaf_nodes))
    upto = np.concatenate([[0], np.cumsum(by_leaf)])
    summed: IntArray = np.rint(upto[hierarchy.last_leaf + 1] - upto[hierarchy.first_leaf]).astype(np.int64)
    return summed
