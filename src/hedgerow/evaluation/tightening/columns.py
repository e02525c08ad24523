"""How the limit of one column can be tightened by a step.

The limit of a column puts its values into *classes*: values of one class may share a block. A step splits a class: a
node of a tree into its children, a range of numbers at a cut. What a step is for a class depends on that class alone.

Both kinds of classes say the same of themselves: ``keys``, the class of every code; ``finer``, the class of every code
after a step of its class, which is the class itself where there is none; ``shares`` and ``finer_shares``, the greatest
part of the column that a code can lose within its class, before and after, in units of ``1 / whole``; ``steps``; and
``limit``, as a plan says it.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hedgerow.microdata import FreeColumn, QuasiIdentifier, TreeColumn
from hedgerow.plan import Limit, Rule
from hedgerow.plan.hierarchy import Hierarchy, limits
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.plan.hierarchy.numbers import parse_number, simplest
from hedgerow.types import IntArray

MOST_NAMED = 40
"""Nodes or cuts that a proposed limit lists at most: more can nobody review."""


@dataclass(frozen=True, eq=False)
class Step:
    """A way to tighten a limit: the classes that it splits, and the column as it is then."""

    classes: IntArray
    after: Classes


# -- trees -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TreeClasses:
    """Classes of a tree: the leaves below each marked node.

    Nodes of trees that the owner wrote may be named in a limit. A hierarchy made by a rule has values of records as its
    leaves: these are never named, so all of them are reached together, as level 0, or none.
    """

    column: TreeColumn

    @property
    def whole(self) -> int:
        """Height of the tree: what a value loses that becomes the root."""
        return max(self.column.hierarchy.height, 1)

    @cached_property
    def keys(self) -> IntArray:
        """Limit node of every code."""
        return self.column.limit_keys

    @cached_property
    def finer(self) -> IntArray:
        """Limit node of every code one step further down: a child of the node that its class has in common."""
        below, leaves = self._below, self.column.hierarchy.leaf_nodes
        if self._given is None and bool((below == leaves).all()):
            return leaves
        return np.where(self._nameable[below], below, self.keys)

    @cached_property
    def shares(self) -> IntArray:
        """Height of the node that a code's class has in common."""
        return self.column.hierarchy.heights[self._common(self.keys)]

    @cached_property
    def finer_shares(self) -> IntArray:
        """The same one step further down."""
        return self.column.hierarchy.heights[self._common(self.finer)]

    def steps(self) -> Iterator[Step]:
        """All classes one level down, if they are a level and that is one; and every class by itself."""
        moved = np.flatnonzero(self.finer != self.keys)
        if not len(moved):
            return
        level = None if self._level is None else next((n for n in self._levels if _same(self._by(n), self.finer)), None)
        if level is not None:
            yield Step(np.unique(self.keys[moved]), self._marked(limits.nodes_by_level(self.column.hierarchy, level)))
        if not bool(self._nameable[self.finer[moved]].all()):
            return
        marked = set(np.unique(self.keys).tolist()) - {0}
        for node in np.unique(self.keys[moved]).tolist():
            new = set(self.finer[self.keys == node].tolist()) - {node}
            after = (marked - {node}) | new
            if len(after) <= MOST_NAMED:
                yield Step(np.array([node]), self._marked(tuple(sorted(after))))

    def limit(self) -> Limit | None:
        """Return a level where the classes are one, else their nodes."""
        if not self.column.marked:
            return None
        if self._level is not None:
            return None if self._level >= self.column.hierarchy.height else Limit(level=self._level)
        return Limit(nodes=tuple(self.column.hierarchy.names[node] for node in self.column.marked if node))

    @cached_property
    def _given(self) -> Hierarchy | None:
        """The tree as the owner wrote it, if there is one."""
        spec = self.column.spec
        return None if spec is None else HIERARCHY_KINDS[spec.kind].check(spec, Path())

    @cached_property
    def _nameable(self) -> npt.NDArray[np.bool_]:
        """Which nodes a limit may name."""
        tree, given = self.column.hierarchy, self._given
        inner: npt.NDArray[np.bool_] = tree.heights > 0
        return inner if given is None else np.array([name in given for name in tree.names], bool)

    @cached_property
    def _below(self) -> IntArray:
        """The node on the way from the common node of a class to each of its codes; the leaf itself if it is alone."""
        tree, common = self.column.hierarchy, self._common(self.keys)
        node = tree.leaf_nodes.copy()
        while True:
            above = tree.parent[node]
            climbs = (node != common) & (above != common)
            if not climbs.any():
                return node
            node = np.where(climbs, above, node)

    def _common(self, keys: IntArray) -> IntArray:
        """Return the lowest common ancestor of every code's class."""
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        last = len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]
        return self.column.hierarchy.lca_of_ranges(first, last)[which]

    @property
    def _levels(self) -> range:
        return range(self.column.hierarchy.height + 1)

    @cached_property
    def _level(self) -> int | None:
        """The least level that makes the same classes."""
        return next((level for level in self._levels if _same(self._by(level), self.keys)), None)

    def _by(self, level: int) -> IntArray:
        tree = self.column.hierarchy
        return limits.limit_of_leaves(tree, limits.nodes_by_level(tree, level))

    def _marked(self, nodes: tuple[int, ...]) -> TreeClasses:
        """Return the classes below some nodes, as a level where they are one."""
        after = TreeClasses(replace(self.column, marked=nodes))
        if after._level is None:
            return after
        return TreeClasses(replace(self.column, marked=limits.nodes_by_level(self.column.hierarchy, after._level)))


def _same(left: IntArray, right: IntArray) -> bool:
    """Tell whether two keys make the same classes.

    Examples
    --------
    >>> _same(np.array([3, 3, 7]), np.array([0, 0, 1])), _same(np.array([3, 3, 7]), np.array([0, 1, 1]))
    (True, False)
    """
    pairs = len(np.unique(np.stack([left, right]), axis=1).T)
    return pairs == len(np.unique(left)) == len(np.unique(right))


# -- numbers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NumberClasses:
    """Classes of free intervals: the numbers between two cuts; a missing value is a class of its own.

    Attributes
    ----------
    counts
        Records by code.
    points
        Where the rules of the plan would have this column cut, those of most importance first; scaled.
    """

    column: FreeColumn
    counts: IntArray
    points: tuple[int, ...] = ()

    @property
    def whole(self) -> int:
        """Span of the column."""
        return max(self.column.intervals.span, 1)

    @cached_property
    def keys(self) -> IntArray:
        """First code of every code's range."""
        keys = self.column.limit_keys
        return np.searchsorted(keys, keys).astype(np.int64)

    @cached_property
    def finer(self) -> IntArray:
        """First code of every code's range once every range is cut."""
        finer = self.keys.copy()
        for first, cut in self._cuts.items():
            start = int(np.searchsorted(self.column.intervals.scaled, cut))
            inside = np.flatnonzero(self.keys == first)
            finer[inside[inside >= start]] = start
        return finer

    @cached_property
    def shares(self) -> IntArray:
        """Span of every code's range, or the width if that is less."""
        return self._reaches(self.keys)

    @cached_property
    def finer_shares(self) -> IntArray:
        """The same once every range is cut."""
        return self._reaches(self.finer)

    def steps(self) -> Iterator[Step]:
        """Every range cut at its point."""
        if len(self.column.cuts) >= MOST_NAMED:
            return
        for first, cut in self._cuts.items():
            number = simplest(Decimal(cut).scaleb(-self.column.intervals.decimals))
            cuts = tuple(sorted((*self.column.cuts, number)))
            yield Step(np.array([first]), replace(self, column=replace(self.column, cuts=cuts)))

    def narrower(self) -> Iterator[NumberClasses]:
        """Give the same cuts with ever smaller round widths, from the widest that says anything."""
        widest = int(self.shares.max(initial=0))
        for width in reversed(list(itertools.takewhile(lambda width: width < widest, round_steps(self.unit)))):
            number = simplest(Decimal(width).scaleb(-self.column.intervals.decimals))
            yield replace(self, column=replace(self.column, width=number))

    def limit(self) -> Limit | None:
        """Return cuts and width."""
        if not self.column.cuts and self.column.width is None:
            return None
        return Limit(cuts=self.column.cuts or None, width=self.column.width)

    @property
    def unit(self) -> int:
        """Grid that cuts lie on, scaled: that of ``snap``, or a unit of the last decimal place."""
        snap = self.column.intervals.snap
        return 1 if snap is None else self.column.intervals.scale(snap)

    @cached_property
    def _cuts(self) -> dict[int, int]:
        """Where every range of more than one number would be cut, scaled, by its first code."""
        found = {}
        numbers = self.column.intervals.scaled
        for first in np.unique(self.keys[: len(numbers)]).tolist():
            codes = np.flatnonzero((self.keys[: len(numbers)] == first) & (self.counts[: len(numbers)] > 0))
            if len(codes) > 1:
                inside = numbers[codes].tolist()
                asked = (point for point in self.points if inside[0] < point <= inside[-1])
                found[first] = next(asked, None) or middle_cut(inside, self.counts[codes].tolist(), self.unit)
        return found

    def _reaches(self, keys: IntArray) -> IntArray:
        numbers = len(self.column.intervals.scaled)
        reaches = np.zeros(len(keys), np.int64)
        last = np.searchsorted(keys[:numbers], keys[:numbers], side="right") - 1
        reaches[:numbers] = self.column.intervals.high_ends[last] - self.column.intervals.low_ends[keys[:numbers]]
        width = self.column.scaled_width
        return reaches if width is None else np.minimum(reaches, width)


def middle_cut(numbers: Sequence[int], counts: Sequence[int], unit: int) -> int:
    """Return the roundest point that leaves a quarter of the records, or more, on either side.

    Where so many records share a number that there is none, the point beside that number which follows it, or precedes
    it if it is the last. Of equally round points, the one nearest to the median; then the lesser one.

    Parameters
    ----------
    numbers, counts
        Two or more ascending multiples of the unit, and how many records have each.
    unit
        What the point is a multiple of.

    Examples
    --------
    >>> middle_cut(range(18, 90), [1] * 72, 1)
    50
    >>> middle_cut([0, 114, 2174], [90, 5, 5], 1)
    100
    """
    upto = list(itertools.accumulate(counts))
    low, middle, high = (bisect.bisect_left(upto, -(-quarters * upto[-1] // 4)) for quarters in (1, 2, 3))
    if low == high:
        low, high = (low, low + 1) if low + 1 < len(numbers) else (low - 1, low)
    return roundest(numbers[low], numbers[high], numbers[middle], unit)


def roundest(above: int, upto: int, near: int, unit: int) -> int:
    """Return the roundest multiple of a unit that is greater than one number and not greater than another.

    Examples
    --------
    >>> roundest(37, 61, 48, 1), roundest(64, 65, 0, 1), roundest(40000, 75000, 52000, 5000), roundest(-7, 2, 1, 1)
    (50, 65, 50000, 0)
    """
    if above < 0 <= upto:
        return 0  # nothing is rounder
    found = None
    for step in round_steps(unit):
        first, last = above // step + 1, upto // step
        if first > last:
            if step > max(abs(above), abs(upto)):
                break
            continue
        below = min(max(near // step, first), last)
        found = min((below * step, min(below + 1, last) * step), key=lambda point: (abs(point - near), point))
    assert found is not None  # both ends are multiples of the unit
    return found


def round_steps(unit: int) -> Iterator[int]:
    """Give 1, 2, 5, 10, 20 … times a unit."""
    return (digit * 10**power * unit for power in itertools.count() for digit in (1, 2, 5))


def rule_points(rules: Sequence[Rule], column: FreeColumn) -> tuple[int, ...]:
    """Return where the rules of a plan would have a column cut, those of most importance first; scaled."""
    unit = 1 if column.intervals.snap is None else column.intervals.scale(column.intervals.snap)
    found = []
    for rule in sorted(rules, key=lambda rule: -Decimal(rule.importance)):
        ends = [parse_number(end) for end in rule.keep_apart]
        if rule.attribute == column.name and None not in ends:
            low, high = sorted(column.intervals.scale(end) for end in ends if end is not None)
            if low // unit < high // unit:
                found.append(roundest(low, high, high, unit))
    return tuple(found)


Classes = TreeClasses | NumberClasses


def classes_of(column: QuasiIdentifier, counts: IntArray, rules: Sequence[Rule]) -> Classes:
    """Return the classes of a column as it is; ``counts``: records by code."""
    if isinstance(column, TreeColumn):
        return TreeClasses(column)
    return NumberClasses(column, counts, rule_points(rules, column))
