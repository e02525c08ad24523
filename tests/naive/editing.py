"""Changing a tree by hand, on nested lists ``[name, children]``; nodes are numbered depth-first from the root (0)."""

from __future__ import annotations

from typing import Any

Twig = list[Any]


class Refused(Exception):
    """The change would not leave a tree."""


def numbered(root: Twig) -> list[Twig]:
    """List the nodes depth-first."""
    found = [root]
    for child in root[1]:
        found += numbered(child)
    return found


def leaves(root: Twig) -> list[str]:
    """List the names of the leaves, from left to right."""
    return [name for name, children in numbered(root) if not children]


def parent_of(root: Twig, node: Twig) -> Twig | None:
    """Find the node above one."""
    for other in numbered(root):
        if any(child is node for child in other[1]):
            return other
    return None


def is_below(node: Twig, upper: Twig) -> bool:
    """Tell whether a node is another one or below it."""
    return any(node is other for other in numbered(upper))


def uppermost(root: Twig, nodes: list[int]) -> list[Twig]:
    """Return the chosen nodes in tree order, without those below another chosen one."""
    everything = numbered(root)
    chosen = [everything[number] for number in sorted(set(nodes))]
    return [node for node in chosen if not any(other is not node and is_below(node, other) for other in chosen)]


def without_empty_groups(root: Twig, groups: list[Twig]) -> None:
    """Take away groups that have no child any more, again and again."""
    while True:
        empty = [node for node in numbered(root) if not node[1] and any(node is group for group in groups)]
        if not empty:
            return
        for node in empty:
            above = parent_of(root, node)
            assert above is not None
            above[1] = [child for child in above[1] if child is not node]


def move(root: Twig, nodes: list[int], parent: int) -> None:
    """Put nodes under another one, in place."""
    everything = numbered(root)
    groups = [node for node in everything if node[1]]
    moved = uppermost(root, nodes)
    target = everything[parent]
    while len(target[1]) == 1 and target[1][0][0] == target[0] and not any(target[1][0] is node for node in moved):
        target = target[1][0]
    if 0 in nodes or not target[1] or any(is_below(target, node) for node in moved):
        raise Refused
    for node in moved:
        above = parent_of(root, node)
        assert above is not None
        if above is not target:
            above[1] = [child for child in above[1] if child is not node]
            target[1].append(node)
    without_empty_groups(root, groups)


def group(root: Twig, nodes: list[int], name: str) -> None:
    """Put siblings under a new node, in place."""
    chosen = uppermost(root, nodes)
    if 0 in nodes or any(parent_of(root, node) is not parent_of(root, chosen[0]) for node in chosen):
        raise Refused
    if not name.strip() or name.strip() in [node[0] for node in numbered(root)]:
        raise Refused
    above = parent_of(root, chosen[0])
    assert above is not None
    children: list[Twig] = []
    for child in above[1]:
        if child is chosen[0]:
            children.append([name.strip(), chosen])
        elif not any(child is node for node in chosen):
            children.append(child)
    above[1] = children


def dissolve(root: Twig, node: int) -> None:
    """Let the children of a group take its place, in place."""
    gone = numbered(root)[node]
    above = parent_of(root, gone)
    if above is None or not gone[1]:
        raise Refused
    above[1] = [new for child in above[1] for new in (gone[1] if child is gone else [child])]


def rename(root: Twig, node: int, name: str) -> None:
    """Give a group another name, in place; groups of the same name are one chain."""
    old = numbered(root)[node]
    if not old[1]:
        raise Refused
    if name.strip() == old[0]:
        return
    if not name.strip() or name.strip() in [other[0] for other in numbered(root)]:
        raise Refused
    known = old[0]
    for other in numbered(root):
        if other[0] == known and other[1]:
            other[0] = name.strip()
