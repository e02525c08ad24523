"""Hierarchies as parent maps, walked upwards."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Node = Hashable
"""A node's name, unique within its tree."""


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted tree; ``leaves`` stand in depth-first order, so a leaf's place is its number."""

    root: Node
    parents: Mapping[Node, Node]
    leaves: tuple[Node, ...]

    @classmethod
    def from_parents(cls, parents: Mapping[Node, Node], leaves: Sequence[Node]) -> Tree:
        """Build from {node: parent} and every leaf, listed once.

        Children are ordered by first appearance on the paths of the listed leaves; the leaves are then
        renumbered depth-first, so a list that jumps between branches is put in order.
        """
        children: dict[Node, dict[Node, None]] = {}
        roots: dict[Node, None] = {}
        for leaf in leaves:
            path = _path_up(leaf, parents)
            roots[path[-1]] = None
            for child, parent in zip(reversed(path[:-1]), reversed(path[1:]), strict=True):
                children.setdefault(parent, {})[child] = None
        if len(roots) != 1:
            raise ValueError(f"a tree must have one root. Got {len(roots)} instead.")
        (root,) = roots
        ordered = tuple(_depth_first(root, children))
        if len(set(leaves)) != len(leaves) or set(ordered) != set(leaves):
            raise ValueError("'leaves' must list each leaf once and no inner node.")
        if not set(parents) <= {child for family in children.values() for child in family}:
            raise ValueError("'parents' has a node that leads to no listed leaf.")
        return cls(root, dict(parents), ordered)

    @classmethod
    def from_nested(cls, nested: Mapping[Any, Any]) -> Tree:
        """Build from ``{root: {node: [leaf, ...], leaf: None}}``; a name with nothing below it is a leaf."""
        if len(nested) != 1:
            raise ValueError(f"a tree must have one root. Got {len(nested)} instead.")
        parents: dict[Node, Node] = {}
        leaves: list[Node] = []

        def descend(node: Node, below: Any) -> None:
            family = below.items() if isinstance(below, Mapping) else [(leaf, None) for leaf in below or ()]
            if not family:
                leaves.append(node)
            for child, under in family:
                if child in parents or child in nested:
                    raise ValueError("a node may stand in one place only.")
                parents[child] = node
                descend(child, under)

        for root, below in nested.items():
            descend(root, below)
        return cls.from_parents(parents, leaves)

    @classmethod
    def flat(cls, leaves: Iterable[Node], root: Node = "*") -> Tree:
        """Every leaf directly under the root: value → ``*``."""
        return cls.from_nested({root: list(leaves)})

    @cached_property
    def paths(self) -> dict[Node, tuple[Node, ...]]:
        """For every node, the way up from it (itself first) to the root (last)."""
        nodes = [*self.parents, self.root]
        return {node: _path_up(node, self.parents) for node in nodes}

    @cached_property
    def numbers(self) -> dict[Node, int]:
        """Depth-first number of every leaf."""
        return {leaf: number for number, leaf in enumerate(self.leaves)}

    def lca(self, nodes: Iterable[Node]) -> Node:
        """Lowest common ancestor: walk up from the first node until all others are below."""
        first, *others = nodes
        return next(node for node in self.paths[first] if all(node in self.paths[other] for other in others))

    def leaves_under(self, node: Node) -> tuple[Node, ...]:
        """Leaves of the subtree under the node, depth-first; a leaf is under itself."""
        return tuple(leaf for leaf in self.leaves if node in self.paths[leaf])

    def height(self, node: Node) -> int:
        """Height of the subtree under the node: most steps down to a leaf."""
        return max(self.paths[leaf].index(node) for leaf in self.leaves_under(node))

    def is_proper_ancestor(self, node: Node, of: Node) -> bool:
        """Whether the node lies strictly above ``of``."""
        return node in self.paths[of][1:]

    def limit(self, leaf: Node, marked: Iterable[Node]) -> Node:
        """First marked node on the way up from the leaf (itself included); the root if none is."""
        wanted = set(marked)
        if not wanted <= set(self.paths):
            raise ValueError("'marked' names a node that the tree does not have.")
        return next((node for node in self.paths[leaf] if node in wanted), self.root)

    def limit_set(self, marked: Iterable[Node]) -> set[Node]:
        """Limits of all leaves."""
        wanted = set(marked)
        return {self.limit(leaf, wanted) for leaf in self.leaves}

    def marked_by_level(self, level: int) -> set[Node]:
        """The ancestor ``level`` steps up from each leaf, stopping at the root."""
        return {self.paths[leaf][min(level, len(self.paths[leaf]) - 1)] for leaf in self.leaves}


def _path_up(node: Node, parents: Mapping[Node, Node]) -> tuple[Node, ...]:
    path = [node]
    while path[-1] in parents:
        above = parents[path[-1]]
        if above in path:
            raise ValueError("the parents form a cycle.")
        path.append(above)
    return tuple(path)


def _depth_first(node: Node, children: Mapping[Node, Iterable[Node]]) -> Iterable[Node]:
    if node not in children:
        yield node
    for child in children.get(node, ()):
        yield from _depth_first(child, children)
