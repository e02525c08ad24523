"""A hierarchy: a rooted tree over one attribute whose leaves are the values that may occur.

Nodes are numbered in depth-first order, root first, and leaves get codes 0, 1, 2, … in the same order. So every node
covers a run of codes, and the lowest common ancestor of a set of leaves is that of its least and greatest code: to
the algorithms a group is a box ``[lo, hi]``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import PlanError, Problem, did_you_mean
from hedgerow.plan.hierarchy.paths import (
    identities,
    path_problems,
    printed_problems,
    tree_paths,
    ways_of,
    without_padding,
)
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
    def from_paths(cls, paths: Iterable[Sequence[str]], as_printed: bool = False) -> Hierarchy:
        """Build from one path per leaf, each from the leaf to the root (as ARX writes them).

        Parameters
        ----------
        paths
            The paths.
        as_printed
            Whether a label may stand on several levels for different groups, as in printed tables: ``Asian;Other;*``
            and ``Black;Other;*`` beside ``Asian;Other;Other;*``. That is sound where one level of all is published.

        Raises
        ------
        PlanError
            With every problem found: two parents, a cycle, more than one root, an ambiguous label.
        """
        rows = [without_padding(path) for path in paths]
        problems = path_problems(rows)
        if problems and as_printed:
            problems = printed_problems(rows)
            identify: Callable[[Sequence[str]], list[Any]] = ways_of
        else:
            identify = identities
        if problems:
            raise PlanError(problems)
        return cls._from_clean_paths(rows, identify)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any], as_printed: bool = False) -> Hierarchy:
        """Build from a nested mapping ``{root: {node: [leaf, …]}}``; an empty or missing value makes a leaf."""
        return cls.from_paths(tree_paths(tree), as_printed)

    @classmethod
    def flat(cls, values: Iterable[str], root: str = "*") -> Hierarchy:
        """Build value → root, the hierarchy of a column without one."""
        return cls.from_paths([(value, root) for value in values])

    @classmethod
    def _from_clean_paths(
        cls, rows: list[tuple[str, ...]], identify: Callable[[Sequence[str]], list[Any]]
    ) -> Hierarchy:
        children: dict[Any, dict[Any, None]] = {}
        root = identify(rows[0])[0]
        for row in rows:
            line = identify(row)
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
        """For every node, the uppermost one of its chain with its label and its leaves: they mean the same."""
        first, last = self.first_leaf.tolist(), self.last_leaf.tolist()
        found = list(range(len(self.names)))
        for node, above in enumerate(self.parents[1:], 1):
            if self.names[node] == self.names[above] and (first[node], last[node]) == (first[above], last[above]):
                found[node] = found[above]
        return np.array(found, np.int64)

    # -- labels that stand for several groups, as in printed tables -------------------------------------------------

    @cached_property
    def meanings(self) -> dict[str, tuple[int, ...]]:
        """The nodes of every label that stands for several groups of values, one node for each group."""
        if len(set(self.names)) == len(self.names):
            return {}
        spans: dict[str, dict[tuple[int, int], int]] = {}
        for node, name in enumerate(self.names):
            spans.setdefault(name, {}).setdefault((int(self.first_leaf[node]), int(self.last_leaf[node])), node)
        return {name: tuple(nodes.values()) for name, nodes in spans.items() if len(nodes) > 1}

    def meanings_problem(self, name: str) -> list[Problem]:
        """Say which two groups a label stands for, if it does for several."""
        nodes = self.meanings.get(name, ())
        return [] if not nodes else [self.two_groups(nodes[-1], nodes[-2])]

    def two_groups(self, one: int, other: int) -> Problem:
        """Say that two nodes share a label and not their values, with a line of the hierarchy for each."""
        lines = [self._line_of(node, beside) for node, beside in ((one, other), (other, one))]
        message = f"{self.names[one]!r} stands for two different groups, {lines[0]} and {lines[1]}."
        return Problem("ambiguous-label", message, hint="give one of the two another name")

    def _line_of(self, node: int, beside: int) -> str:
        """Name a node by its level on a line of the hierarchy, if can be one that another node is not on."""
        leaves = range(int(self.first_leaf[node]), int(self.last_leaf[node]) + 1)
        others = range(int(self.first_leaf[beside]), int(self.last_leaf[beside]) + 1)
        line = self.paths()[next((leaf for leaf in leaves if leaf not in others), leaves[0])]
        level = len(line) - 1 - int(self.depths[node])
        return f"level {level} of the line {';'.join(line)!r}"

    def two_meanings(self, nodes: IntArray) -> tuple[int, int] | None:
        """Return two of these nodes that share a label and not their values; None if every label means one thing."""
        if not self.meanings:
            return None
        seen: dict[str, int] = {}
        for node in np.unique(self.node_of_label[nodes]).tolist():
            if self.names[node] in self.meanings:
                other = seen.setdefault(self.names[node], node)
                if self.leaf_counts[other] != self.leaf_counts[node] or self.last_leaf[other] != self.last_leaf[node]:
                    return other, node
        return None

    def with_plain_labels(self, place: str = "") -> Hierarchy:
        """Return the tree if every label stands on one level, for methods that publish several levels side by side.

        Raises
        ------
        PlanError
            With every label that does not.
        """
        repeats = len(set(self.names)) < len(self.names)
        problems = path_problems(list(self.paths())) if repeats else []
        if problems:
            problems = [one for one in problems if one.code != "ambiguous-label"]
            problems += [one for name in self.meanings for one in self.meanings_problem(name)]
            also = "or choose method: lattice, which publishes one level of it"
            raise PlanError(
                Problem(one.code, one.message, one.place or place, f"{one.hint}; {also}") for one in problems
            )
        return self

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
        return self.way(self.node(name))

    def way(self, node: int) -> tuple[str, ...]:
        """Labels on the way up from a node by its number, itself first, root last."""
        line = []
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
        return tuple(self.way(leaf) for leaf in self.leaf_nodes.tolist())

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
