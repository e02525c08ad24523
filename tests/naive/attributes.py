"""Quasi-identifiers over coded values: trees and free intervals, with their limits.

A record is a tuple of codes, one per attribute: the leaf's number (tree) or the value's rank (free).
What a group shows for an attribute is a node of the tree, or the pair of its lowest and highest rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from .trees import Node, Tree

Exact = int | Fraction
Number = Exact | Decimal
Record = tuple[int, ...]
Shown = Any
"""What is shown for one attribute: a tree's node, or (lowest rank, highest rank)."""
Box = tuple[Shown, ...]
"""What is shown for every attribute of a group."""


@dataclass(frozen=True, eq=False)
class TreeAttribute:
    """An attribute generalized along a hierarchy; ``marked`` nodes are its limits."""

    tree: Tree
    marked: frozenset[Node] = frozenset()
    weight: Fraction = Fraction(1)

    @cached_property
    def limits(self) -> tuple[Node, ...]:
        """Limit of every leaf, by leaf number."""
        return tuple(self.tree.limit(leaf, self.marked) for leaf in self.tree.leaves)

    def code(self, value: Node) -> int:
        """Number of a leaf."""
        return self.tree.numbers[value]

    def show(self, code: int) -> Node:
        """A single leaf, not generalized."""
        return self.tree.leaves[code]

    def widen(self, shown: Node, code: int) -> Node:
        """Common ancestor of the node and one more leaf."""
        return self.tree.lca((shown, self.tree.leaves[code]))

    def share_lost(self, shown: Node) -> Fraction:
        """Height of the node over height of the tree; 0 in a tree of height 0."""
        full = self.tree.height(self.tree.root)
        return Fraction(self.tree.height(shown), full) if full else Fraction(0)

    def share_covered(self, shown: Node) -> Fraction:
        """NCP's share: leaves under the node over all leaves; 0 for a single one."""
        under = len(self.tree.leaves_under(shown))
        return Fraction(under, len(self.tree.leaves)) if under > 1 else Fraction(0)

    def cell(self, code: int) -> Node:
        """What records of one cell have in common: the limit."""
        return self.limits[code]

    def breaks_limit(self, code: int, shown: Node) -> bool:
        """Whether the node is a proper ancestor of the leaf's limit."""
        return self.tree.is_proper_ancestor(shown, of=self.limits[code])


@dataclass(frozen=True, eq=False)
class FreeAttribute:
    """Numbers generalized to [min, max]; limits are cut points and a greatest width.

    ``values`` are the distinct numbers of the *whole* microdata, ascending.
    """

    values: tuple[Fraction, ...]
    cuts: tuple[Fraction, ...] = ()
    width: Fraction | None = None
    weight: Fraction = Fraction(1)

    @classmethod
    def over(
        cls,
        column: Iterable[Number],
        cuts: Sequence[Number] = (),
        width: Number | None = None,
        weight: Number = 1,
    ) -> FreeAttribute:
        """Build from a column of the microdata, in any order and with repeats."""
        return cls(
            values=tuple(sorted({Fraction(number) for number in column})),
            cuts=tuple(sorted({Fraction(cut) for cut in cuts})),
            width=None if width is None else Fraction(width),
            weight=Fraction(weight),
        )

    @property
    def range(self) -> Fraction:
        """Greatest minus least number of the microdata."""
        return self.values[-1] - self.values[0]

    def code(self, value: Number) -> int:
        """Rank of a number."""
        return self.values.index(Fraction(value))

    def show(self, code: int) -> tuple[int, int]:
        """A single number, not generalized."""
        return code, code

    def widen(self, shown: tuple[int, int], code: int) -> tuple[int, int]:
        """The interval with one more number in it."""
        return min(shown[0], code), max(shown[1], code)

    def share_lost(self, shown: tuple[int, int]) -> Fraction:
        """Interval over range; 0 if the range is 0."""
        low, high = self.ends(shown)
        return (high - low) / self.range if self.range else Fraction(0)

    def share_covered(self, shown: tuple[int, int]) -> Fraction:
        """NCP's share: the same as the share lost."""
        return self.share_lost(shown)

    def cell(self, code: int) -> int:
        """What records of one cell have in common: the segment between cuts, counted from 0."""
        return sum(cut <= self.values[code] for cut in self.cuts)

    def breaks_limit(self, code: int, shown: tuple[int, int]) -> bool:
        """Whether the interval crosses a cut or is too wide, whichever number in it is the record's."""
        low, high = self.ends(shown)
        return self.crosses_cut(low, high) or self.is_too_wide(low, high)

    def ends(self, shown: tuple[int, int]) -> tuple[Fraction, Fraction]:
        """The numbers at the ends of an interval of ranks."""
        return self.values[shown[0]], self.values[shown[1]]

    def crosses_cut(self, low: Exact, high: Exact) -> bool:
        """Whether some cut has low < cut <= high."""
        return any(low < cut <= high for cut in self.cuts)

    def is_too_wide(self, low: Exact, high: Exact) -> bool:
        """Whether the interval is wider than the greatest width."""
        return self.width is not None and high - low > self.width


Attribute = TreeAttribute | FreeAttribute


def generalize(attributes: Sequence[Attribute], records: Iterable[Record]) -> Box:
    """gen(cl): what a group of records shows for every attribute."""
    first, *others = records
    box = tuple(attribute.show(code) for attribute, code in zip(attributes, first, strict=True))
    for record in others:
        box = widen_box(attributes, box, record)
    return box


def widen_box(attributes: Sequence[Attribute], box: Box, record: Record) -> Box:
    """Least box that takes in one more record."""
    return tuple(a.widen(shown, code) for a, shown, code in zip(attributes, box, record, strict=True))
