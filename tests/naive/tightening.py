"""Limits proposed from the data: the rule of steps by counting everything anew, and the best by trying all.

CKA names the question as future work: how far each value may be generalized, from the data and little more. The rule
is ours. Every column has *classes*: sets of values that may share a block. Loss at most is what a table loses if every
value becomes what its class has in common; a record withheld loses every column.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

from .trees import Tree

Value = Hashable
Class = frozenset[Value]
Classes = tuple[Class, ...]
Record = tuple[Value, ...]
Fails = Callable[[list[int]], bool]


@dataclass(frozen=True)
class TreeColumn:
    """A column with a tree; ``by_rule``: its leaves are values that nobody named, so they are reached all together."""

    tree: Tree
    weight: Fraction = Fraction(1)
    by_rule: bool = False

    def everything(self) -> Class:
        """The class of all values."""
        return frozenset(self.tree.leaves)

    @cache  # noqa: B019
    def share(self, values: Class) -> Fraction:
        """What a value of the class loses at most."""
        return Fraction(self.tree.height(self.tree.lca(values)), max(self.tree.height(self.tree.root), 1))

    @cache  # noqa: B019
    def children(self, values: Class) -> tuple[Value, ...]:
        """The nodes below the one that a class has in common, on the way to its values; a value alone is its own."""
        node = self.tree.lca(values)
        ways = [self.tree.paths[leaf] for leaf in self.tree.leaves if leaf in values]
        return tuple(dict.fromkeys(path[max(path.index(node) - 1, 0)] for path in ways))

    def splits(self, classes: Classes) -> Iterator[Classes]:
        """All classes one step down, if that is a level of the tree as they are; then each by itself.

        With a tree by rule no value is named: classes of the lowest nodes are split together, or not at all.
        """
        below = {values: self.children(values) for values in classes}
        lowest = all(child in self.tree.leaves for children in below.values() for child in children)
        finer = {}
        for values in classes:
            named = not self.by_rule or lowest or not any(child in self.tree.leaves for child in below[values])
            parts = tuple(values & frozenset(self.tree.leaves_under(child)) for child in below[values])
            finer[values] = parts if named else (values,)
        moved = [values for values in classes if len(finer[values]) > 1]
        down = tuple(part for values in classes for part in finer[values])
        if moved and self.level(classes) is not None and self.level(down) is not None:
            yield down
        if self.by_rule and lowest:
            return
        for values in moved:
            at = classes.index(values)
            yield (*classes[:at], *finer[values], *classes[at + 1 :])

    @cache  # noqa: B019
    def level(self, classes: Classes) -> int | None:
        """The least level that makes these classes."""
        for level in range(self.tree.height(self.tree.root) + 1):
            marked = self.tree.marked_by_level(level)
            by_limit: dict[Hashable, set[Value]] = {}
            for leaf in self.tree.leaves:
                by_limit.setdefault(self.tree.limit(leaf, marked), set()).add(leaf)
            if {frozenset(each) for each in by_limit.values()} == set(classes):
                return level
        return None


@dataclass(frozen=True)
class NumberColumn:
    """A column of whole numbers with free intervals, cut at round points."""

    numbers: tuple[int, ...]
    counts: tuple[int, ...]
    weight: Fraction = Fraction(1)

    def everything(self) -> Class:
        """The class of all values."""
        return frozenset(self.numbers)

    @cache  # noqa: B019
    def share(self, values: Class) -> Fraction:
        """What a value of the class loses at most."""
        span = max(self.numbers) - min(self.numbers)
        numbers = [number for number in self.numbers if number in values]
        return Fraction(max(numbers) - min(numbers), max(span, 1))

    def splits(self, classes: Classes) -> Iterator[Classes]:
        """Each range cut at its roundest point in the middle half of its records."""
        for at, values in enumerate(classes):
            if len(values) > 1:
                cut = self.cut(values)
                halves = frozenset(n for n in values if n < cut), frozenset(n for n in values if n >= cut)  # type: ignore[operator]
                yield (*classes[:at], *halves, *classes[at + 1 :])

    @cache  # noqa: B019
    def cut(self, values: Class) -> int:
        """The roundest point with a quarter of the records on either side; else beside the number they share."""
        records = [n for n, count in zip(self.numbers, self.counts, strict=True) if n in values for _ in range(count)]
        low, middle, high = (records[-(-quarters * len(records) // 4) - 1] for quarters in (1, 2, 3))
        if low == high:
            above = [n for n in records if n > low]
            low, high = (low, above[0]) if above else (max(n for n in records if n < low), low)
        points = range(low + 1, high + 1)
        return min(points, key=lambda point: (-roundness(point), abs(point - middle), point))


def roundness(point: int) -> int:
    """The greatest of 1, 2, 5, 10, 20, 50 … that divides a number; nothing is rounder than 0."""
    steps = [digit * 10**power for power in range(12) for digit in (1, 2, 5)]
    return max(step for step in steps if point % step == 0)


Column = TreeColumn | NumberColumn


def class_of(classes: Classes, value: Value) -> Class:
    """The class that a value is in."""
    return next(values for values in classes if value in values)


def withheld(records: Sequence[Record], limits: Sequence[Classes], fails: Fails) -> set[int]:
    """Numbers of the records in blocks that fail."""
    blocks: dict[tuple[Class, ...], list[int]] = {}
    for number, record in enumerate(records):
        key = tuple(class_of(classes, value) for classes, value in zip(limits, record, strict=True))
        blocks.setdefault(key, []).append(number)
    return {number for block in blocks.values() if fails(block) for number in block}


def most_loss(
    columns: Sequence[Column], records: Sequence[Record], limits: Sequence[Classes], gone: set[int]
) -> Fraction:
    """Loss at most, summed over records and columns."""
    total = Fraction(0)
    for number, record in enumerate(records):
        for column, classes, value in zip(columns, limits, record, strict=True):
            lost = Fraction(1) if number in gone else column.share(class_of(classes, value))
            total += column.weight * lost
    return total


def propose(columns: Sequence[Column], records: Sequence[Record], fails: Fails, allowed: int) -> list[Classes]:
    """The better end of two ways: steps that pay most for each record withheld, and steps that pay most."""

    def thrift(pays: Fraction, more: int) -> tuple[bool, Fraction]:
        return (True, pays) if more == 0 else (False, pays / more)

    ends = [walk(columns, records, fails, allowed, rank) for rank in (thrift, lambda pays, more: pays)]
    losses = [most_loss(columns, records, limits, withheld(records, limits, fails)) for limits in ends]
    return ends[0] if losses[0] <= losses[1] else ends[1]


def walk(
    columns: Sequence[Column],
    records: Sequence[Record],
    fails: Fails,
    allowed: int,
    rank: Callable[[Fraction, int], object],
) -> list[Classes]:
    """Take the step of highest rank while one pays and may be taken; the first of equals."""
    limits: list[Classes] = [(column.everything(),) for column in columns]
    while True:
        gone = withheld(records, limits, fails)
        lost = most_loss(columns, records, limits, gone)
        best, highest = None, None
        for at, column in enumerate(columns):
            for classes in column.splits(limits[at]):
                tried = [*limits[:at], classes, *limits[at + 1 :]]
                now = withheld(records, tried, fails)
                pays, more = lost - most_loss(columns, records, tried, now), len(now) - len(gone)
                if len(now) > allowed or pays <= 0:
                    continue
                found = rank(pays, more)
                if highest is None or found > highest:  # type: ignore[operator]
                    best, highest = tried, found
        if best is None:
            return limits
        limits = best


def best_of_all(
    columns: Sequence[TreeColumn], records: Sequence[Record], fails: Fails, allowed: int
) -> tuple[Fraction, list[Classes]]:
    """The least loss at most of all limits that withhold few enough, by trying every one."""
    tried = [
        (most_loss(columns, records, limits, gone), limits)
        for limits in map(list, product(*(cuts(column.tree, column.tree.root) for column in columns)))
        if len(gone := withheld(records, limits, fails)) <= allowed
    ]
    return min(tried, key=lambda found: found[0])


def cuts(tree: Tree, node: Hashable) -> list[Classes]:
    """Every set of nodes that has each leaf below exactly one of them, as classes of leaves."""
    whole: Classes = (frozenset(tree.leaves_under(node)),)
    children = [child for child, parent in tree.parents.items() if parent == node]
    if not children:
        return [whole]
    below = [tuple(part for cut in chosen for part in cut) for chosen in product(*(cuts(tree, c) for c in children))]
    return [whole, *(cut for cut in below if set(cut) != set(whole))]
