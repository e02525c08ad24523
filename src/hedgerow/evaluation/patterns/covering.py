"""What a published value covers: numbers from … to …, or leaves of a tree.

A column is *ordered* if its values are numbers: free intervals, bands, cuts, or a tree all of whose leaves are
numbers (007 is no number: what starts with needless zeros is a code). Numbers are held as whole multiples of
10^−decimals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from hedgerow.microdata import FreeColumn, QuasiIdentifier, TreeColumn
from hedgerow.microdata.columns import MISSING, Shown
from hedgerow.plan.hierarchy.intervals import MOST_DIGITS
from hedgerow.plan.hierarchy.numbers import Number, parse_half_open, parse_number, simplest
from hedgerow.types import IntArray

NEEDLESS_ZERO = re.compile(r"[+-]?0\d")


@dataclass(frozen=True, eq=False)
class Scale:
    """The numbers of an ordered column.

    Attributes
    ----------
    low, high
        Least and greatest number (within) that a code of free intervals, or a node of a tree, may stand for; what is
        no number, such as a missing value, may be any.
    decimals
        Number of decimal places of the numbers.
    values
        Codes of the values that are numbers, by number.
    least, greatest
        The ends of the whole column, which is what nothing said leaves open.
    """

    low: IntArray
    high: IntArray
    decimals: int
    values: IntArray
    least: int
    greatest: int

    def ends(self, column: QuasiIdentifier, shown: Shown) -> tuple[IntArray, IntArray]:
        """Least and greatest number of published values."""
        if isinstance(column, FreeColumn):
            return self.low[shown.lo], self.high[shown.hi]
        return self.low[shown.node], self.high[shown.node]


def scale_of(column: QuasiIdentifier) -> Scale | None:
    """Return the numbers of a column, or None if it is not ordered.

    Examples
    --------
    >>> from hedgerow.plan.hierarchy import builders
    >>> tree = builders.bands(["37", "39", "41"], [5]).hierarchy
    >>> scale = scale_of(TreeColumn("age", tree, (), 1, None))
    >>> [(name, int(low), int(high)) for name, low, high in zip(tree.names, scale.low, scale.high)]
    [('*', 37, 41), ('35-39', 35, 39), ('37', 37, 37), ('39', 39, 39), ('40-44', 40, 44), ('41', 41, 41)]
    """
    return _free_scale(column) if isinstance(column, FreeColumn) else _tree_scale(column)


def _free_scale(column: FreeColumn) -> Scale | None:
    intervals = column.intervals
    if not len(intervals.scaled):
        return None
    low, high = intervals.low_ends, intervals.high_ends
    if intervals.snap is not None and not intervals.whole:
        high = high - 1  # published as [a, b): b itself is not within
    if column.has_missing:
        low, high = np.append(low, low[0]), np.append(high, high[-1])
    return Scale(low, high, intervals.decimals, np.arange(len(intervals.scaled)), int(low[0]), int(high[-1]))


def _tree_scale(column: TreeColumn) -> Scale | None:
    hierarchy, spec = column.hierarchy, column.spec
    numbers = {code: _number(leaf) for code, leaf in enumerate(hierarchy.leaves) if leaf != MISSING}
    known = {code: number for code, number in numbers.items() if number is not None}
    by_rule = spec is not None and spec.kind in ("bands", "cuts")
    if not known or (len(known) < len(numbers) and not by_rule):
        return None
    ends = _node_ends(column, known)
    decimals = max(decimals_of(number) for pair in ends.values() for number in pair)
    if decimals > MOST_DIGITS:
        return None
    scaled = {node: (scale(low, decimals), scale(high, decimals)) for node, (low, high) in ends.items()}
    if any(abs(number) >= 10**MOST_DIGITS for pair in scaled.values() for number in pair):
        return None
    everything = scaled[0]
    low, high = (np.array([scaled.get(node, everything)[i] for node in range(len(hierarchy.names))]) for i in (0, 1))
    values = np.array(sorted(known, key=lambda code: (known[code], code)), np.int64)
    return Scale(low.astype(np.int64), high.astype(np.int64), decimals, values, *everything)


def _number(label: str) -> Number | None:
    return None if NEEDLESS_ZERO.match(label) else parse_number(label)


def _node_ends(column: TreeColumn, known: dict[int, Number]) -> dict[int, tuple[Number, Number]]:
    """Least and greatest number of every node that covers some; the name of an interval says its ends."""
    hierarchy = column.hierarchy
    step = simplest(Decimal(1).scaleb(-max(decimals_of(number) for number in known.values())))
    ends: dict[int, tuple[Number, Number]] = {}
    for code, number in known.items():
        node = int(hierarchy.leaf_nodes[code])
        ends[node] = (number, number)
    for node in range(len(hierarchy.names) - 1, 0, -1):
        if node in ends:
            low, high = ends[node]
            named = parse_half_open(hierarchy.names[node]) if hierarchy.heights[node] else None
            if named is not None and named[0] <= low and high < named[1]:
                low, high = ends[node] = (named[0], max(high, named[1] - step))
            above = hierarchy.parents[node]
            before = ends.get(above, (low, high))
            ends[above] = (min(low, before[0]), max(high, before[1]))
    numbers = known.values()
    ends[0] = (min(numbers), max(numbers))
    return ends


def decimals_of(number: Number) -> int:
    """Return the number of decimal places.

    Examples
    --------
    >>> decimals_of(Decimal("2.50")), decimals_of(7)
    (1, 0)
    """
    exponent = Decimal(simplest(number)).as_tuple().exponent
    return max(0, -int(exponent))


def scale(number: Number, decimals: int) -> int:
    """Return a number times 10^decimals."""
    return number * 10**decimals if isinstance(number, int) else int(number.scaleb(decimals))
