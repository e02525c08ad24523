"""A hierarchy: a rooted tree over one attribute whose leaves are the values that may occur.

Nodes are numbered in depth-first order, root first, and leaves get codes 0, 1, 2, … in the same order. So every node
covers a run of codes, and the lowest common ancestor of a set of leaves is that of its least and greatest code: to
the algorithms a group is a box ``[lo, hi]``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import PlanError, Problem, did_you_mean
from hedgerow.types import IntArray


@dataclass(frozen=True, eq=True)
class Hierarchy:
    """A tree of values; make one with the ``from_…`` class methods or with :mod:`hedgerow.plan.hierarchy.builders`.

    Attributes
    ----------
    names
        Label of every node, in depth-first order, root first.
    parents
        Number of every node's parent; −1 for the root.

    Examples
    --------
    >>> location = Hierarchy.from_tree({"US": {"California": ["San Diego", "Los Angeles"], "Kansas": ["Wichita"]}})
    >>> location.lca("San Diego", "Los Angeles"), location.lca("San Diego", "Wichita")
    ('California', 'US')
    >>> location.height_of("US"), location.leaves_under("California")
    (2, ('San Diego', 'Los Angeles'))
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]

    # -- making one ------------------------------------------------------------------------------------------------

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]]) -> Hierarchy:
        """Build from one path per leaf, each from the leaf to the root (as ARX writes them).

        Raises
        ------
        PlanError
            With every problem found: two parents, a cycle, more than one root, an ambiguous label.
        """
        rows = [_without_padding(path) for path in paths]
        problems = _path_problems(rows)
        if problems:
            raise PlanError(problems)
        return cls._from_clean_paths(rows)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Hierarchy:
        """Build from a nested mapping ``{root: {node: [leaf, …]}}``; an empty or missing value makes a leaf."""
        return cls.from_paths(_tree_paths(tree))

    @classmethod
    def flat(cls, values: Iterable[str], root: str = "*") -> Hierarchy:
        """Build value → root, the hierarchy of a column without one."""
        return cls.from_paths([(value, root) for value in values])

    @classmethod
    def _from_clean_paths(cls, rows: list[tuple[str, ...]]) -> Hierarchy:
        children: dict[Any, dict[Any, None]] = {}
        root = _identities(rows[0])[0]
        for row in rows:
            line = _identities(row)
            for above, below in itertools.pairwise(line):
                children.setdefault(above, {}).setdefault(below)
        names: list[str] = []
        parents: list[int] = []
        stack = [(root, -1)]
        while stack:
            node, parent = stack.pop()
            number = len(names)
            names.append(node[0])
            parents.append(parent)
            stack.extend((child, number) for child in reversed(children.get(node, {})))
        return cls(tuple(names), tuple(parents))

    # -- structure, as arrays --------------------------------------------------------------------------------------

    @cached_property
    def parent(self) -> IntArray:
        """Parent of every node as an array."""
        return np.array(self.parents, np.int64)

    @cached_property
    def heights(self) -> IntArray:
        """Height of the subtree under every node; a leaf has 0."""
        heights = [0] * len(self.names)
        for node in range(len(self.names) - 1, 0, -1):
            above = self.parents[node]
            heights[above] = max(heights[above], heights[node] + 1)
        return np.array(heights, np.int64)

    @cached_property
    def depths(self) -> IntArray:
        """Number of steps from every node up to the root."""
        depths = [0] * len(self.names)
        for node in range(1, len(self.names)):
            depths[node] = depths[self.parents[node]] + 1
        return np.array(depths, np.int64)

    @cached_property
    def leaf_nodes(self) -> IntArray:
        """Node number of every leaf code."""
        return np.flatnonzero(self.heights == 0)

    @cached_property
    def first_leaf(self) -> IntArray:
        """Least leaf code under every node."""
        first = np.searchsorted(self.leaf_nodes, np.arange(len(self.names)))
        return first.astype(np.int64)

    @cached_property
    def last_leaf(self) -> IntArray:
        """Greatest leaf code under every node."""
        last = [-1] * len(self.names)
        for code, node in enumerate(self.leaf_nodes.tolist()):
            last[node] = code
        for node in range(len(self.names) - 1, 0, -1):
            above = self.parents[node]
            last[above] = max(last[above], last[node])
        return np.array(last, np.int64)

    @property
    def leaf_counts(self) -> IntArray:
        """Number of leaves under every node; a leaf is under itself."""
        return self.last_leaf - self.first_leaf + 1

    @property
    def height(self) -> int:
        """Height of the whole tree."""
        return int(self.heights[0])

    @property
    def root(self) -> str:
        """Label of the root."""
        return self.names[0]

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Labels of the leaves, by code."""
        return tuple(self.names[node] for node in self.leaf_nodes)

    @cached_property
    def code_of(self) -> dict[str, int]:
        """Leaf code of every leaf label."""
        return {name: code for code, name in enumerate(self.leaves)}

    @cached_property
    def _node_of(self) -> dict[str, int]:
        numbers: dict[str, int] = {}
        for node, name in enumerate(self.names):
            numbers.setdefault(name, node)  # in a chain of one label the uppermost stands for all: they mean the same
        return numbers

    @cached_property
    def node_of_label(self) -> IntArray:
        """For every node, the uppermost one with its label: they mean the same."""
        return np.array([self._node_of[name] for name in self.names], np.int64)

    # -- questions by code or node number --------------------------------------------------------------------------

    def lca_of_ranges(self, lo: npt.ArrayLike, hi: npt.ArrayLike) -> IntArray:
        """Node number of the lowest common ancestor of leaf codes ``lo`` to ``hi``, elementwise."""
        nodes = self.leaf_nodes[np.asarray(lo, np.int64)]
        wanted = np.asarray(hi, np.int64)
        short = self.last_leaf[nodes] < wanted
        while short.any():
            nodes = np.where(short, self.parent[nodes], nodes)
            short = self.last_leaf[nodes] < wanted
        return nodes

    def ancestors_at_level(self, level: int) -> IntArray:
        """Node that each leaf code becomes at a level: ``level`` steps up, stopping at the root."""
        nodes = self.leaf_nodes.copy()
        for _ in range(level):
            nodes = np.where(self.parent[nodes] < 0, nodes, self.parent[nodes])
        return nodes

    # -- questions by label ----------------------------------------------------------------------------------------

    def __contains__(self, name: str) -> bool:
        return name in self._node_of

    def node(self, name: str) -> int:
        """Return the number of the node with this label."""
        try:
            return self._node_of[name]
        except KeyError:
            hint = did_you_mean(name, self.names)
            raise PlanError(Problem("unknown-node", f"The hierarchy has no node {name!r}.", hint=hint)) from None

    def lca(self, *names: str) -> str:
        """Label of the lowest common ancestor of nodes."""
        nodes = [self.node(name) for name in names]
        if len(set(nodes)) == 1:
            return names[0]
        lo = min(int(self.first_leaf[node]) for node in nodes)
        hi = max(int(self.last_leaf[node]) for node in nodes)
        found = int(self.lca_of_ranges(lo, hi))
        while any(self.depths[node] < self.depths[found] for node in nodes):
            found = self.parents[found]
        return self.names[found]

    def height_of(self, name: str) -> int:
        """Height of the subtree under a node; a leaf has 0."""
        return int(self.heights[self.node(name)])

    def leaves_under(self, name: str) -> tuple[str, ...]:
        """Labels of the leaves under a node; a leaf is under itself."""
        node = self.node(name)
        return self.leaves[self.first_leaf[node] : self.last_leaf[node] + 1]

    def ancestors(self, name: str) -> tuple[str, ...]:
        """Labels on the way up from a node, itself first, root last."""
        node, line = self.node(name), []
        while node >= 0:
            line.append(self.names[node])
            node = self.parents[node]
        return tuple(line)

    def level(self, level: int) -> tuple[str, ...]:
        """Labels that occur when every leaf goes ``level`` steps up, in tree order."""
        return tuple(self.names[node] for node in np.unique(self.ancestors_at_level(level)))

    @property
    def levels(self) -> int:
        """Number of levels, counting level 0 (the leaves themselves)."""
        return self.height + 1

    # -- writing one -----------------------------------------------------------------------------------------------

    def paths(self) -> tuple[tuple[str, ...], ...]:
        """One path per leaf, each from the leaf to the root."""
        lines = []
        for leaf in self.leaf_nodes.tolist():
            node, line = leaf, []
            while node >= 0:
                line.append(self.names[node])
                node = self.parents[node]
            lines.append(tuple(line))
        return tuple(lines)

    def tree(self) -> dict[str, Any]:
        """Nested mapping of the whole tree; a leaf maps to an empty mapping."""
        nested: list[dict[str, Any]] = [{} for _ in self.names]
        for node in range(1, len(self.names)):
            nested[self.parents[node]][self.names[node]] = nested[node]
        return {self.root: nested[0]}

    def with_leaves_under_root(self, labels: Iterable[str]) -> Hierarchy:
        """Return the tree with more leaves hung directly under the root, last and in the given order."""
        new = tuple(labels)
        return Hierarchy(self.names + new, self.parents + (0,) * len(new))

    def __repr__(self) -> str:
        return f"Hierarchy({self.root!r}: {len(self.leaf_nodes):,} leaves, height {self.height})"

    def _repr_html_(self) -> str:
        from html import escape

        def item(node: int) -> str:
            below = [child for child in range(node + 1, len(self.parents)) if self.parents[child] == node]
            shown = "".join(item(child) for child in below[:12])
            more = f"<li>… {len(below) - 12:,} more</li>" if len(below) > 12 else ""
            return f"<li>{escape(self.names[node])}{f'<ul>{shown}{more}</ul>' if below else ''}</li>"

        return f"<ul>{item(0)}</ul>"


def _tree_paths(tree: Mapping[str, Any]) -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []

    def walk(below: Any, above: tuple[str, ...]) -> None:
        if below is None or below == "" or (isinstance(below, Mapping | list | tuple) and not below):
            paths.append(above)
        elif isinstance(below, Mapping):
            for name, deeper in below.items():
                walk(deeper, (str(name), *above))
        elif isinstance(below, list | tuple):
            for deeper in below:
                walk(deeper if isinstance(deeper, Mapping) else {deeper: None}, above)
        else:
            paths.append((str(below), *above))

    if len(tree) != 1:
        raise PlanError(
            Problem(
                "two-roots",
                f"A tree must have one root. Got {len(tree)} top keys instead.",
                hint="put them under one common key, such as '*'",
            )
        )
    walk(tree, ())
    return paths


def _without_padding(path: Sequence[str]) -> tuple[str, ...]:
    """Drop repeats of the root from the end of a path: ARX pads short paths so."""
    line = tuple(path)
    while len(line) > 2 and line[-1] == line[-2]:
        line = line[:-1]
    return line


def _identities(path: Sequence[str]) -> list[tuple[str, int]]:
    """Root-to-leaf identities; a label repeated down a chain gets 0, 1, … so that each step is a node of its own."""
    line: list[tuple[str, int]] = []
    for name in reversed(path):
        repeat = line[-1][1] + 1 if line and line[-1][0] == name else 0
        line.append((name, repeat))
    return line


def _path_problems(rows: list[tuple[str, ...]]) -> list[Problem]:
    if not rows or not all(rows):
        return [Problem("hierarchy-empty", "The hierarchy has no leaf.", hint="list at least one value")]
    problems: dict[str, Problem] = {}
    parent_of: dict[tuple[str, int], tuple[str, int]] = {}
    children: dict[tuple[str, int], set[tuple[str, int]]] = {}
    leaves: set[tuple[str, int]] = set()

    def report(code: str, node: str, message: str, hint: str) -> None:
        problems.setdefault(f"{code} {node}", Problem(code, message, hint=hint))

    for row in rows:
        line = _identities(row)
        if len(set(line)) < len(line):
            again = next(name for name, count in line if line.count((name, count)) > 1)
            report(
                "cycle",
                again,
                f"Node {again!r} is its own ancestor.",
                "every label may stand once on a way from a leaf to the root",
            )
            continue
        leaves.add(line[-1])
        for above, below in itertools.pairwise(line):
            known = parent_of.setdefault(below, above)
            children.setdefault(above, set()).add(below)
            if known != above:
                report(
                    "two-parents",
                    below[0],
                    f"Node {below[0]!r} has two parents: {known[0]!r} and {above[0]!r}.",
                    "give the two different labels, or put the node in one place only",
                )
    roots = sorted({_identities(row)[0][0] for row in rows})
    if len(roots) > 1:
        report(
            "two-roots",
            "",
            f"The hierarchy has {len(roots)} roots, {roots[0]!r} and {roots[1]!r} among them.",
            "end every line in the same root, such as '*'",
        )
    for node in leaves & children.keys():
        report(
            "value-is-node",
            node[0],
            f"Node {node[0]!r} is both a value and a group of values.",
            f"give the value a label of its own under it, such as '{node[0]} (not specified)'",
        )
    for node, above in parent_of.items():
        if node[1] > 0 and len(children[above]) > 1:
            report(
                "ambiguous-label",
                node[0],
                f"Label {node[0]!r} names both a node and a group of which it is only a part.",
                "rename one of the two, so that a released value means one thing",
            )
    return list(problems.values())
