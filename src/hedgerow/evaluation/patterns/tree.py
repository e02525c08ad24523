"""Decision trees by entropy, on numbers and on the ranges that a release publishes instead.

A tree grown on the original table and one grown on its release show whether a pattern survived: the same splits, the
same size and purity of the leaves. A range has two ends, and both can be cut: "surely at least t" (its lower end is)
against the rest, or "surely below t" (its upper end is) against the rest.

A tree of the original table tells about its records, so it is for the owner's eyes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.errors import HedgerowError, Problem
from hedgerow.evaluation.patterns.conditions import SplitCondition, in_words
from hedgerow.evaluation.patterns.observations import Feature, OrderedFeature, Target
from hedgerow.evaluation.patterns.splits import BestSplit, End, SplitSearch, side_of_yes
from hedgerow.plan.hierarchy.numbers import Number, number_label
from hedgerow.types import IntArray


@dataclass(frozen=True)
class TreeSplit:
    """How a node is split in two.

    Attributes
    ----------
    column
        The column that is looked at.
    end
        ``from``: lower end of the range at least the threshold, or not; ``to``: upper end below it, or not; None:
        a number at least the threshold, or not; or labels.
    threshold
        A number that occurs in the node; None for labels.
    labels
        The labels of the side of yes; empty for numbers.
    overlap
        Records of the node whose range spans the threshold: it is not known on which side they are.
    gain
        Entropy (natural logarithm) that the split takes away, per record.
    """

    column: str
    end: End
    threshold: Number | None
    labels: tuple[str, ...]
    overlap: int
    gain: float

    def condition(self, yes: bool) -> SplitCondition:
        """Return what holds on one side; where no range spans the cut, in plain words."""
        if self.end is not None and not self.overlap:
            return SplitCondition(self.column, None, self.threshold, self.labels, yes == (self.end == "from"))
        return SplitCondition(self.column, self.end, self.threshold, self.labels, yes)


@dataclass(frozen=True)
class Node:
    """Records that agree on the conditions so far.

    Attributes
    ----------
    counts
        Number of records of every class.
    split, yes, no
        How the node is split, and its two sides; None for a leaf.
    """

    counts: tuple[int, ...]
    split: TreeSplit | None = None
    yes: Node | None = None
    no: Node | None = None

    @property
    def size(self) -> int:
        """Number of records."""
        return sum(self.counts)

    @property
    def majority(self) -> int:
        """Position of the most frequent class, the first of equals."""
        return self.counts.index(max(self.counts, default=0)) if self.counts else 0

    @property
    def purity(self) -> float:
        """Share of the most frequent class; 0 for a node without records."""
        return max(self.counts) / self.size if self.size else 0.0


@dataclass(frozen=True)
class Leaf:
    """A leaf of a tree, in words.

    Attributes
    ----------
    conditions
        What holds of its records; nothing for a tree that is one leaf.
    size
        Number of records.
    shares
        Share of every class.
    majority, purity
        The most frequent class, and its share.
    """

    conditions: tuple[str, ...]
    size: int
    shares: dict[str, float]
    majority: str
    purity: float

    @property
    def text(self) -> str:
        """The conditions in one line."""
        return ", ".join(self.conditions) or "all records"


@dataclass(frozen=True)
class DecisionTree:
    """A decision tree.

    Attributes
    ----------
    target
        The column that it tells from the others.
    classes
        Values of the target, in the order of every node's counts.
    depth, smallest_leaf
        What it was grown with: most splits above a leaf, fewest records on a side.
    left_out
        Records that the tree does not look at, by reason.
    """

    target: str
    classes: tuple[str, ...]
    depth: int
    smallest_leaf: int
    left_out: dict[str, int]
    root: Node

    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves; of two sides, the one of greater numbers (or of the labels named) first."""
        return tuple(self._leaf(node, path) for node, path in _walk(self.root, ()) if node.split is None)

    def nodes(self) -> tuple[Leaf, ...]:
        """All nodes, inner ones too, in words: a node before what is below it."""
        return tuple(self._leaf(node, path) for node, path in _walk(self.root, ()))

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data for JSON."""
        return {
            "target": self.target,
            "classes": list(self.classes),
            "depth": self.depth,
            "smallest_leaf": self.smallest_leaf,
            "records": self.root.size,
            "left_out": dict(self.left_out),
            "root": self._node_dict(self.root),
            "leaves": [
                {
                    "conditions": list(leaf.conditions),
                    "size": leaf.size,
                    "majority": leaf.majority,
                    "purity": round(leaf.purity, 9),
                }
                for leaf in self.leaves()
            ],
        }

    def _leaf(self, node: Node, path: tuple[SplitCondition, ...]) -> Leaf:
        size = max(node.size, 1)
        shares = {name: count / size for name, count in zip(self.classes, node.counts, strict=True)}
        return Leaf(in_words(path), node.size, shares, self._majority(node), node.purity)

    def _majority(self, node: Node) -> str:
        return self.classes[node.majority] if self.classes else ""

    def _node_dict(self, node: Node) -> dict[str, Any]:
        found: dict[str, Any] = {
            "size": node.size,
            "counts": dict(zip(self.classes, node.counts, strict=True)),
            "majority": self._majority(node),
            "purity": round(node.purity, 9),
        }
        if node.split is not None and node.yes is not None and node.no is not None:
            found["split"] = _split_dict(node.split)
            found["yes"], found["no"] = self._node_dict(node.yes), self._node_dict(node.no)
        return found

    def __repr__(self) -> str:
        return f"Tree({self.target}: {self.root.size:,} records in {len(self.leaves())} leaves)"


def grow(
    features: Sequence[Feature],
    target: Target,
    depth: int = 3,
    smallest_leaf: int | None = None,
    pure: float = 1.0,
) -> DecisionTree:
    """Grow a tree: at every node the split of greatest gain.

    Parameters
    ----------
    features
        What may be split on. Of splits with equal gain the first feature wins, then the lower end of ranges, then the
        lowest threshold (or fewest labels).
    target
        What is to be told, with the records that each row stands for.
    depth
        Most splits above a leaf.
    smallest_leaf
        Fewest records on a side; by default 20, or one of 200 records if that is more.
    pure
        Share of one class from which on a node is pure enough to be a leaf.

    Notes
    -----
    A node stays a leaf if it is pure, if no split takes entropy away, or if every split would leave too few records
    on a side. Labels are split, with two classes, at the best cut of their order by share of the second class;
    with more classes, one label against the rest.

    Examples
    --------
    >>> age = OrderedFeature("age", np.array([20, 30, 40, 50]), np.array([20, 30, 40, 50]))
    >>> pays = Target("pays", ("no", "yes"), np.array([0, 0, 1, 1]), np.array([30, 30, 30, 10]))
    >>> for leaf in grow([age], pays).leaves():
    ...     print(leaf.text, leaf.size, leaf.majority, leaf.purity)
    age ≥ 40 40 yes 1.0
    age < 40 60 no 1.0

    The same people as a release may show them; nobody knows on which side of 40 those of 30–40 are, so 40 is no cut.

    >>> ranges = OrderedFeature("age", np.array([20, 30, 30, 50]), np.array([20, 40, 40, 50]))
    >>> for leaf in grow([ranges], pays).leaves():
    ...     print(leaf.text, leaf.size, leaf.majority, leaf.purity)
    age ≥ 30 70 yes 0.571...
    age < 30 30 no 1.0
    """
    if depth < 0:
        message = f"The 'depth' parameter must be at least 0. Got {depth} instead."
        raise HedgerowError(Problem("usage", message, hint="leave it out for 3"))
    if smallest_leaf is not None and smallest_leaf < 1:
        message = f"The 'smallest_leaf' parameter must be at least 1. Got {smallest_leaf} instead."
        raise HedgerowError(Problem("usage", message, hint="leave it out for the default"))
    smallest = max(20, target.records // 200) if smallest_leaf is None else smallest_leaf
    search = SplitSearch(features, target, smallest)

    def grow_node(rows: IntArray, left: int) -> Node:
        counts = np.zeros(len(target.classes), np.int64)
        np.add.at(counts, target.codes[rows], target.counts[rows])
        totals = tuple(counts.tolist())
        mixed = int(counts.max(initial=0)) < pure * int(counts.sum())
        found = search.best(rows) if left and mixed else None
        if found is None:
            return Node(totals)
        feature = features[found.place]
        yes = side_of_yes(feature, found)[rows]
        split = _split(feature, found, rows, target)
        return Node(totals, split, grow_node(rows[yes], left - 1), grow_node(rows[~yes], left - 1))

    root = grow_node(np.arange(len(target.codes)), depth)
    return DecisionTree(target.name, target.classes, depth, smallest, dict(target.left_out), root)


def _split(feature: Feature, found: BestSplit, rows: IntArray, target: Target) -> TreeSplit:
    if isinstance(feature, OrderedFeature) and found.cut is not None:
        spans = (feature.lower[rows] < found.cut) & (feature.upper[rows] >= found.cut)
        overlap = int(target.counts[rows][spans].sum())
        return TreeSplit(feature.name, found.end, feature.number(found.cut), (), overlap, found.gain)
    assert not isinstance(feature, OrderedFeature)
    return TreeSplit(feature.name, None, None, tuple(feature.labels[code] for code in found.labels), 0, found.gain)


def _walk(node: Node, path: tuple[SplitCondition, ...]) -> Iterator[tuple[Node, tuple[SplitCondition, ...]]]:
    yield node, path
    if node.split is not None and node.yes is not None and node.no is not None:
        sides = [(node.yes, node.split.condition(yes=True)), (node.no, node.split.condition(yes=False))]
        for side, condition in reversed(sides) if node.split.end == "to" else sides:
            yield from _walk(side, (*path, condition))


def _split_dict(split: TreeSplit) -> dict[str, Any]:
    found: dict[str, Any] = {"column": split.column, "kind": "label" if split.threshold is None else "ordered"}
    if split.threshold is None:
        found["labels"] = list(split.labels)
    else:
        threshold = split.threshold
        found |= {"end": split.end, "threshold": threshold if isinstance(threshold, int) else float(threshold)}
        found["shown"] = number_label(threshold)
    found |= {"overlap": split.overlap, "gain": round(split.gain, 9)}
    found["yes"] = split.condition(yes=True).text
    found["no"] = split.condition(yes=False).text
    return found
