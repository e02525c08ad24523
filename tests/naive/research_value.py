"""Research value: spans, rules, and the value of a level, a string, a group and a release.

A *column* is a quasi-identifier with what research value needs to know of it. What it publishes (``Shown``) is a
node of its tree, or a pair of ranks for free intervals; None is a withheld or suppressed cell. Codes are those of
``attributes``; a missing value is the last code of free intervals, and the leaf ``MISSING`` of a tree. Everything
is an exact fraction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from .attributes import FreeAttribute, Number, Record, Shown, TreeAttribute
from .trees import Node, Tree

MISSING = "\0missing"
"""Name of the leaf of a missing value."""
Ends = tuple[Fraction, Fraction]
"""Least and greatest number of a published range, both within it."""
Bounds = Mapping[Node, Ends]
"""Inner nodes of bands and cuts: [from, to), the end not within."""


@dataclass(frozen=True)
class Rule:
    """Keep ``one`` and ``other`` apart: two numbers, the lower first, or two leaves or nodes of a tree."""

    one: Any
    other: Any
    importance: Number = 1


@dataclass(frozen=True)
class Settings:
    """Base value of the rules, and λ, the share of granularity in a blend; None is the product form."""

    base: Fraction = Fraction(0)
    blend: Fraction | None = None


# ---- columns ---------------------------------------------------------------------------------------------


class Column(ABC):
    """A quasi-identifier."""

    attribute: Any
    rules: Sequence[Rule]

    @abstractmethod
    def code(self, value: Any) -> int:
        """Code of a value; None is missing."""

    @abstractmethod
    def show(self, lo: int, hi: int) -> Shown:
        """What a group with these least and greatest codes publishes."""

    @abstractmethod
    def cell(self, code: int) -> Hashable:
        """What the records of one cell have in common: codes that differ here never share a group."""

    @property
    @abstractmethod
    def is_limited(self) -> bool:
        """Whether the owner set a limit."""

    @abstractmethod
    def span_of(self, shown: Shown) -> Fraction:
        """R: how many values a published value spans."""

    @property
    @abstractmethod
    def whole_span(self) -> Fraction:
        """R of all values that occur."""

    @abstractmethod
    def breaks(self, rule: Rule, shown: Shown) -> bool:
        """Whether a published value mixes what a rule keeps apart."""

    @abstractmethod
    def extent_of(self, shown: Shown) -> Fraction:
        """NCP's numerator."""

    @property
    @abstractmethod
    def whole_extent(self) -> Fraction:
        """NCP's denominator."""

    @abstractmethod
    def granularity_of_level(self, codes: Sequence[int], shown: Sequence[Shown]) -> Fraction:
        """G of a level: what every record has, and what it publishes."""

    @abstractmethod
    def granularity_of_release(self, codes: Sequence[int], shown: Sequence[Shown | None], unknown: int = 0) -> Fraction:
        """G of a release; None counts with the span of the whole, as do ``unknown`` more, withheld without a value."""

    def span(self, lo: int, hi: int) -> Fraction:
        """R of a group with these least and greatest codes."""
        return self.span_of(self.show(lo, hi))

    def broken(self, lo: int, hi: int) -> list[Rule]:
        """Rules that a group with these least and greatest codes breaks."""
        return self.broken_by([self.show(lo, hi)])

    def broken_by(self, shown: Iterable[Shown | None]) -> list[Rule]:
        """Rules that some published value breaks; None breaks nothing."""
        values = {value for value in shown if value is not None}
        return [rule for rule in self.rules if any(self.breaks(rule, value) for value in values)]

    def span_of_cell(self, shown: Shown | None) -> Fraction:
        """R of one cell of a release."""
        return self.whole_span if shown is None else self.span_of(shown)


@dataclass(frozen=True, eq=False)
class Categories(Column):
    """A tree of labels; ``present`` are the codes that occur in the data."""

    attribute: TreeAttribute
    present: Collection[int]
    rules: Sequence[Rule] = ()

    def code(self, value: Any) -> int:
        return self.attribute.code(MISSING if value is None else value)

    def show(self, lo: int, hi: int) -> Node:
        return common_ancestor(self.attribute.tree, lo, hi)

    def cell(self, code: int) -> Hashable:
        return self.attribute.cell(code)

    @property
    def is_limited(self) -> bool:
        return bool(self.attribute.marked)

    def span_of(self, shown: Node) -> Fraction:
        """Leaves under the node that occur, at least 1."""
        tree = self.attribute.tree
        under = [leaf for leaf in tree.leaves_under(shown) if tree.numbers[leaf] in self.present]
        return Fraction(max(1, len(under)))

    @property
    def whole_span(self) -> Fraction:
        return Fraction(len(set(self.present)))

    def breaks(self, rule: Rule, shown: Node) -> bool:
        """Whether some leaf of the one and some leaf of the other lie under the node."""
        tree = self.attribute.tree
        under = set(tree.leaves_under(shown))
        return all(under & set(tree.leaves_under(side)) for side in (rule.one, rule.other))

    def extent_of(self, shown: Node) -> Fraction:
        span = self.span_of(shown)
        return span if span > 1 else Fraction(0)

    @property
    def whole_extent(self) -> Fraction:
        return self.whole_span

    def granularity_of_level(self, codes: Sequence[int], shown: Sequence[Node]) -> Fraction:
        """Different values published over different values."""
        return Fraction(len(set(shown)), len(set(codes)))

    def granularity_of_release(self, codes: Sequence[int], shown: Sequence[Node | None], unknown: int = 0) -> Fraction:
        """Mean over values of the mean over their records of 1/R; then over records, with the unknown ones."""
        by_value: dict[int, list[Fraction]] = {}
        for code, value in zip(codes, shown, strict=True):
            by_value.setdefault(code, []).append(1 / self.span_of_cell(value))
        means = [sum(shares, Fraction(0)) / len(shares) for shares in by_value.values()]
        known = sum(means, Fraction(0)) / len(means)
        return (len(codes) * known + unknown / self.whole_span) / (len(codes) + unknown)


class Numbers(Column):
    """A column of numbers: all follows from the ends of what is published.

    A span is a whole number: steps from end to end, rounded down, and 1. (Ends that are no multiples of the step
    come from a grid, bands or leaves that are finer than the numbers that occur.)
    """

    step: Fraction

    @abstractmethod
    def ends_of(self, shown: Shown) -> Ends | None:
        """Ends of a published range; None if it has no number (a missing value)."""

    @property
    @abstractmethod
    def whole_ends(self) -> Ends | None:
        """Ends of all that occurs."""

    def span_of(self, shown: Shown) -> Fraction:
        return self._span(self.ends_of(shown))

    @property
    def whole_span(self) -> Fraction:
        return self._span(self.whole_ends)

    def breaks(self, rule: Rule, shown: Shown) -> bool:
        ends = self.ends_of(shown)
        return ends is not None and ends[0] <= Fraction(rule.one) and ends[1] >= Fraction(rule.other)

    def extent_of(self, shown: Shown) -> Fraction:
        return extent(self.ends_of(shown))

    @property
    def whole_extent(self) -> Fraction:
        return extent(self.whole_ends)

    def granularity_of_level(self, codes: Sequence[int], shown: Sequence[Shown]) -> Fraction:
        return self.granularity_of_release(codes, shown)

    def granularity_of_release(self, codes: Sequence[int], shown: Sequence[Shown | None], unknown: int = 0) -> Fraction:
        """Records over the sum of their spans."""
        cells = [*shown, *[None] * unknown]
        return len(cells) / sum((self.span_of_cell(value) for value in cells), Fraction(0))

    def _span(self, ends: Ends | None) -> Fraction:
        return Fraction(extent(ends) // self.step + 1)


@dataclass(frozen=True, eq=False)
class NumberTree(Numbers):
    """A tree whose leaves are numbers; ``present`` are the codes that occur in the data.

    ``bounds`` are those of bands or cuts; there a node without bounds (the root) reaches from the least to the
    greatest number under it that occurs. Without ``bounds`` (``numeric: true``) every node reaches from its least
    to its greatest leaf. A leaf that is no number is like a missing value.
    """

    attribute: TreeAttribute
    present: Collection[int]
    rules: Sequence[Rule] = ()
    bounds: Bounds | None = None

    @cached_property
    def numbers(self) -> list[Fraction | None]:
        """Number of every leaf, by code."""
        return [number_of(leaf) for leaf in self.attribute.tree.leaves]

    @cached_property
    def step(self) -> Fraction:  # type: ignore[override]
        return step_of(self._numbers(self.present))

    def code(self, value: Any) -> int:
        """The leaf by name, or the leaf of an equal number."""
        if value is None or value in self.attribute.tree.numbers:
            return self.attribute.code(MISSING if value is None else value)
        return self.numbers.index(Fraction(value))

    def show(self, lo: int, hi: int) -> Node:
        return common_ancestor(self.attribute.tree, lo, hi)

    def cell(self, code: int) -> Hashable:
        return self.attribute.cell(code)

    @property
    def is_limited(self) -> bool:
        return bool(self.attribute.marked)

    def ends_of(self, shown: Node) -> Ends | None:
        tree = self.attribute.tree
        if shown in tree.numbers:
            return around(self._numbers([tree.numbers[shown]]))
        if self.bounds is not None and shown in self.bounds:
            start, stop = self.bounds[shown]
            return start, max(start, stop - self.step)
        under = [tree.numbers[leaf] for leaf in tree.leaves_under(shown)]
        return around(self._numbers(under if self.bounds is None else [c for c in under if c in self.present]))

    @property
    def whole_ends(self) -> Ends | None:
        return around(self._numbers(self.present))

    def span_of(self, shown: Node) -> Fraction:
        """At least what the nodes under it span: a root of few numbers may be narrower than a band under it."""
        tree = self.attribute.tree
        return max(
            super(NumberTree, self).span_of(node)
            for node in {*tree.parents, tree.root}
            if node == shown or tree.is_proper_ancestor(shown, of=node)
        )

    @property
    def whole_span(self) -> Fraction:
        return self.span_of(self.attribute.tree.root)

    def extent_of(self, shown: Node) -> Fraction:
        return (self.span_of(shown) - 1) * self.step

    @property
    def whole_extent(self) -> Fraction:
        return (self.whole_span - 1) * self.step

    def breaks(self, rule: Rule, shown: Node) -> bool:
        """The root breaks every rule, even one beyond the numbers that occur: a reader cannot know these."""
        tree = self.attribute.tree
        return (shown == tree.root and tree.height(shown) > 0) or super().breaks(rule, shown)

    def _numbers(self, codes: Iterable[int]) -> list[Fraction]:
        return [number for code in codes if (number := self.numbers[code]) is not None]


@dataclass(frozen=True, eq=False)
class FreeNumbers(Numbers):
    """Free intervals. With ``snap`` the attribute's values are the starts of steps of the grid.

    ``step`` is that of the numbers themselves: give it with ``snap``, where the attribute does not know them.
    """

    attribute: FreeAttribute
    rules: Sequence[Rule] = ()
    snap: Fraction | None = None
    step: Fraction = field(default=Fraction(0))

    def __post_init__(self) -> None:
        if not self.step:
            object.__setattr__(self, "step", step_of(self.attribute.values))

    @property
    def missing_code(self) -> int:
        return len(self.attribute.values)

    def code(self, value: Any) -> int:
        if value is None:
            return self.missing_code
        number = Fraction(value)
        return self.attribute.code(number if self.snap is None else number // self.snap * self.snap)

    def show(self, lo: int, hi: int) -> tuple[int, int]:
        return lo, hi

    def cell(self, code: int) -> Hashable:
        return "missing" if code == self.missing_code else self.attribute.cell(code)

    @property
    def is_limited(self) -> bool:
        return bool(self.attribute.cuts) or self.attribute.width is not None

    def ends_of(self, shown: tuple[int, int]) -> Ends | None:
        if shown[1] == self.missing_code:
            return None
        low, high = self.attribute.ends(shown)
        return low, high if self.snap is None else max(high, high + self.snap - self.step)

    @property
    def whole_ends(self) -> Ends | None:
        return self.ends_of((0, len(self.attribute.values) - 1)) if self.attribute.values else None


def common_ancestor(tree: Tree, lo: int, hi: int) -> Node:
    """Lowest common ancestor of the leaves numbered lo to hi."""
    return tree.lca((tree.leaves[lo], tree.leaves[hi]))  # leaves are numbered depth first: the others lie between


def extent(ends: Ends | None) -> Fraction:
    """Greatest minus least; 0 for a missing value."""
    return Fraction(0) if ends is None else ends[1] - ends[0]


def around(numbers: Sequence[Fraction]) -> Ends | None:
    """Least and greatest of some numbers; None if there is none."""
    return (min(numbers), max(numbers)) if numbers else None


def step_of(numbers: Iterable[Fraction]) -> Fraction:
    """The greatest of 1, 0.1, 0.01, … of which all numbers are multiples."""
    found = list(numbers)
    for places in range(40):
        step = Fraction(1, 10**places)
        if all((number / step).denominator == 1 for number in found):
            return step
    raise ValueError("numbers must have a finite number of decimal places.")


def number_of(leaf: Any) -> Fraction | None:
    """The number that a leaf is, or that its name says; None if it is none."""
    try:
        return Fraction(leaf)
    except (ValueError, TypeError):
        return None


# ---- trees of numbers ------------------------------------------------------------------------------------


def band_tree(column: Iterable[Number | None], widths: Sequence[Number]) -> tuple[Tree, Bounds]:
    """Bands that start at multiples of their width, over the numbers of a column; None adds ``MISSING``."""

    def bands(number: Fraction) -> list[Ends]:
        starts = [(number // Fraction(width) * Fraction(width), Fraction(width)) for width in widths]
        return [(start, start + width) for start, width in starts]

    return interval_tree(column, bands)


def cut_tree(column: Iterable[Number | None], levels: Sequence[Sequence[Number]]) -> tuple[Tree, Bounds]:
    """Intervals between cut points, finest list first, over the numbers of a column; None adds ``MISSING``."""

    def intervals(number: Fraction) -> list[Ends]:
        return [
            next((Fraction(low), Fraction(high)) for low, high in pairwise(points) if low <= number < high)
            for points in levels
        ]

    return interval_tree(column, intervals)


def interval_tree(
    column: Iterable[Number | None], intervals: Callable[[Fraction], Sequence[Ends]]
) -> tuple[Tree, dict[Node, Ends]]:
    """Leaves are fractions, a node is (level, from, to), the root ``*``; and the bounds of the nodes."""
    values = list(column)
    numbers = sorted({Fraction(value) for value in values if value is not None})
    leaves: list[Node] = [*numbers]
    parents: dict[Node, Node] = {}
    bounds: dict[Node, Ends] = {}
    for number in numbers:
        below: Node = number
        for level, ends in enumerate(intervals(number), start=1):
            node = (level, *ends)
            parents[below], bounds[node] = node, ends
            below = node
        parents[below] = "*"
    if None in values:
        leaves.append(MISSING)
        parents[MISSING] = "*"
    return Tree.from_parents(parents, leaves), bounds


def with_missing(tree: Tree) -> Tree:
    """The tree with ``MISSING`` as its last leaf, under the root."""
    return Tree.from_parents({**tree.parents, MISSING: tree.root}, [*tree.leaves, MISSING])


# ---- values ----------------------------------------------------------------------------------------------


def normalized_weights(columns: Sequence[Column]) -> list[Fraction]:
    """Weights that sum to 1."""
    weights = [Fraction(column.attribute.weight) for column in columns]
    return [weight / sum(weights) for weight in weights]


def rule_ratio(rules: Sequence[Rule], broken: Collection[Rule], base: Fraction) -> Fraction:
    """Base and importances of the rules kept, over base and all importances; 1 if that is 0."""
    kept, total = base, base
    for rule in rules:
        total += Fraction(rule.importance)
        if rule not in broken:
            kept += Fraction(rule.importance)
    return kept / total if total else Fraction(1)


def combine(granularity: Fraction, ratio: Fraction, settings: Settings) -> Fraction:
    """Granularity · rule ratio, or λ · granularity + (1 − λ) · rule ratio."""
    if settings.blend is None:
        return granularity * ratio
    return settings.blend * granularity + (1 - settings.blend) * ratio


def shown_value(column: Column, shown: Shown, settings: Settings) -> Fraction:
    """u: value of one published value, before its weight."""
    ratio = rule_ratio(column.rules, column.broken_by([shown]), settings.base)
    return combine(1 / column.span_of(shown), ratio, settings)


def level_value(column: Column, codes: Sequence[int], shown: Sequence[Shown], settings: Settings) -> Fraction:
    """Value of a level, before its weight: what every record has, and what it publishes there."""
    ratio = rule_ratio(column.rules, column.broken_by(shown), settings.base)
    return combine(column.granularity_of_level(codes, shown), ratio, settings)


def string_value(
    columns: Sequence[Column],
    records: Sequence[Record],
    shown: Sequence[Sequence[Shown]],
    settings: Settings,
) -> Fraction:
    """RV of a string of levels; ``shown`` is what every record publishes at it, withheld or not."""
    total = Fraction(0)
    for place, (column, weight) in enumerate(zip(columns, normalized_weights(columns), strict=True)):
        codes, values = [record[place] for record in records], [row[place] for row in shown]
        total += weight * level_value(column, codes, values, settings)
    return total


def cluster_value(columns: Sequence[Column], box: Sequence[Shown], settings: Settings) -> Fraction:
    """RV of one group, given what it publishes."""
    values = [shown_value(column, shown, settings) for column, shown in zip(columns, box, strict=True)]
    return sum((w * u for w, u in zip(normalized_weights(columns), values, strict=True)), Fraction(0))


def release_values(
    columns: Sequence[Column],
    records: Sequence[Record],
    published: Sequence[Sequence[Shown | None] | None],
    settings: Settings,
    unknown: int = 0,
) -> list[Fraction]:
    """RV of a release by column, weighted; a record is None if withheld, a cell of it None if suppressed.

    ``unknown`` more records are withheld, whose values play no part.
    """
    values = []
    for place, (column, weight) in enumerate(zip(columns, normalized_weights(columns), strict=True)):
        codes = [record[place] for record in records]
        shown = [None if row is None else row[place] for row in published]
        ratio = rule_ratio(column.rules, column.broken_by(shown), settings.base)
        values.append(weight * combine(column.granularity_of_release(codes, shown, unknown), ratio, settings))
    return values


def release_value(
    columns: Sequence[Column],
    records: Sequence[Record],
    published: Sequence[Sequence[Shown | None] | None],
    settings: Settings,
) -> Fraction:
    """RV of a release."""
    return sum(release_values(columns, records, published, settings), Fraction(0))


# ---- values that an expert gives -------------------------------------------------------------------------


def given_release_value(tree: Tree, shown: Sequence[Node | None], worths: Sequence[Fraction]) -> Fraction:
    """Mean over records of what the expert says that a level is worth: that of the height of the node that each shows.

    A record that is withheld (None) is worth what the root is.
    """
    total = Fraction(0)
    for node in shown:
        total += worths[-1] if node is None else worths[tree.height(node)]
    return total / len(shown)
