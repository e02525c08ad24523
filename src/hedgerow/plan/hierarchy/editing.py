"""Changing a tree by hand: move, group, dissolve and rename nodes, and carry the limits over.

Every function returns a new tree with the same leaves, in an order that depends on the tree alone, not on the order of
the clicks. A group that loses its last child goes with it. A tree over the records of a table may hold a leaf for
missing values, whose name starts with a zero character: it is no part of a plan, so it is left out of what comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hedgerow.errors import PlanError, Problem
from hedgerow.plan.hierarchy.tree import Hierarchy

NOT_OF_THE_PLAN = "\0"


@dataclass(eq=False)
class _Twig:
    """A node while the tree is being changed."""

    name: str
    above: _Twig | None
    below: list[_Twig] = field(default_factory=list)


def of_plan(hierarchy: Hierarchy) -> Hierarchy:
    r"""Return the tree without the leaf for missing values, as a plan holds it; other nodes keep their numbers.

    Examples
    --------
    >>> of_plan(Hierarchy.flat(["F", "M"]).with_leaves_under_root(["\0missing"])).leaves
    ('F', 'M')
    """
    names, parents = list(hierarchy.names), list(hierarchy.parents)
    while len(names) > 1 and names[-1].startswith(NOT_OF_THE_PLAN):
        names.pop()
        parents.pop()
    return hierarchy if len(names) == len(hierarchy.names) else Hierarchy(tuple(names), tuple(parents))


def move(hierarchy: Hierarchy, nodes: Sequence[int], parent: int) -> Hierarchy:
    """Put nodes, with all that is below them, under another node, last among its children.

    Nodes that are there already stay where they are, and so do nodes below another one that moves.

    Raises
    ------
    PlanError
        The new place is a value or below a node that moves, or one label would mean two things.

    Examples
    --------
    >>> place = Hierarchy.from_tree({"US": {"West": ["Reno", "Lincoln"], "Midwest": ["Wichita"]}})
    >>> move(place, [place.node("Lincoln")], place.node("Midwest")).tree()
    {'US': {'West': {'Reno': {}}, 'Midwest': {'Wichita': {}, 'Lincoln': {}}}}
    """
    hierarchy = of_plan(hierarchy)
    twigs = _twigs(hierarchy)
    moved = _chosen(hierarchy, twigs, nodes)
    _refuse_root(hierarchy, nodes, "moved")
    target = twigs[_known(hierarchy, parent)]
    while len(target.below) == 1 and target.below[0].name == target.name and target.below[0] not in moved:
        target = target.below[0]  # a label repeated down a chain means one thing: what comes new goes to its end
    if not target.below:
        message = f"Node {target.name!r} is a value, so nothing can be put under it."
        raise PlanError(Problem("value-is-node", message, hint="put both into a new group"))
    line_up = _line_up(target)
    if any(twig in line_up for twig in moved):
        message = f"Node {target.name!r} cannot be moved under itself."
        raise PlanError(Problem("cycle", message, hint="choose a node that is not below what you move"))
    for twig in moved:
        old = twig.above
        if old is not None and old is not target:
            twig.above = target
            target.below.append(twig)
            _cut_off(twig, old)
    return _grown(twigs[0])


def group(hierarchy: Hierarchy, nodes: Sequence[int], name: str) -> Hierarchy:
    """Put nodes that share a parent under a new node in the place of the first of them.

    Raises
    ------
    PlanError
        The nodes have different parents, or the name is empty or taken.

    Examples
    --------
    >>> colours = Hierarchy.flat(["red", "blue", "orange"])
    >>> group(colours, [colours.node("orange"), colours.node("red")], "warm").tree()
    {'*': {'warm': {'red': {}, 'orange': {}}, 'blue': {}}}
    """
    hierarchy = of_plan(hierarchy)
    twigs = _twigs(hierarchy)
    chosen = _chosen(hierarchy, twigs, nodes)
    _refuse_root(hierarchy, nodes, "put in a group")
    name = _free_name(hierarchy, name)
    above = chosen[0].above
    assert above is not None
    if any(twig.above is not above for twig in chosen):
        message = "Only nodes directly under the same node can be put in a group."
        raise PlanError(Problem("usage", message, hint="move them under one node first"))
    new = _Twig(name, above, list(chosen))
    above.below[above.below.index(chosen[0])] = new
    grouped = {id(twig) for twig in chosen}
    above.below = [twig for twig in above.below if id(twig) not in grouped]
    return _grown(twigs[0])


def dissolve(hierarchy: Hierarchy, node: int) -> Hierarchy:
    """Take a group away: its children take its place under its parent.

    Raises
    ------
    PlanError
        The node is a value or the root.

    Examples
    --------
    >>> place = Hierarchy.from_tree({"US": {"West": ["Reno", "Elko"], "Midwest": ["Wichita"]}})
    >>> dissolve(place, place.node("West")).tree()
    {'US': {'Reno': {}, 'Elko': {}, 'Midwest': {'Wichita': {}}}}
    """
    hierarchy = of_plan(hierarchy)
    twigs = _twigs(hierarchy)
    gone = twigs[_known(hierarchy, node)]
    _refuse_root(hierarchy, [node], "dissolved")
    if not gone.below:
        raise PlanError(Problem("usage", f"Node {gone.name!r} is a value, so it cannot be dissolved.", hint="move it"))
    assert gone.above is not None
    place = gone.above.below.index(gone)
    gone.above.below[place : place + 1] = gone.below
    return _grown(twigs[0])


def rename(hierarchy: Hierarchy, node: int, name: str) -> Hierarchy:
    """Give a group another name; where its label is repeated down a chain of groups, all of them get it.

    Raises
    ------
    PlanError
        The node is a value, whose name is what the data holds, or the name is empty or taken.

    Examples
    --------
    >>> place = Hierarchy.from_tree({"US": {"West": ["Reno"]}})
    >>> rename(place, place.node("West"), "West Coast").tree()
    {'US': {'West Coast': {'Reno': {}}}}
    """
    hierarchy = of_plan(hierarchy)
    twigs = _twigs(hierarchy)
    old = twigs[_known(hierarchy, node)]
    if not old.below:
        message = f"Node {old.name!r} is a value: its name is what the data holds, so it stays."
        raise PlanError(Problem("usage", message, hint="put it in a group and name the group"))
    if name.strip() != old.name:
        name, known = _free_name(hierarchy, name), old.name
        for twig in twigs:
            if twig.name == known and twig.below:
                twig.name = name
    return _grown(twigs[0])


def carried_limits(before: Hierarchy, after: Hierarchy, names: Iterable[str]) -> tuple[str, ...]:
    """Name the limits of a changed tree: those that it still has, and the best there is for each that is gone.

    A limit that is gone gives way to the uppermost new nodes, or nodes that were below it, that cover nothing but its
    leaves. So a limit follows a node that is renamed, and passes to the children of one that is dissolved.

    Examples
    --------
    >>> place = Hierarchy.from_tree({"US": {"West": {"Nevada": ["Reno", "Elko"]}, "Midwest": ["Wichita"]}})
    >>> carried_limits(place, rename(place, place.node("West"), "West Coast"), ["West", "Midwest"])
    ('West Coast', 'Midwest')
    >>> carried_limits(place, dissolve(place, place.node("West")), ["West"])
    ('Nevada',)
    """
    kept = []
    for name in names:
        if name in after or name not in before:
            kept.append(name)
        else:
            kept += _heirs(before, after, name)
    return tuple(dict.fromkeys(kept))


def _heirs(before: Hierarchy, after: Hierarchy, name: str) -> list[str]:
    old = before.node(name)
    leaves = set(before.leaves_under(name))
    once_below = {
        before.names[node]
        for node in range(old + 1, len(before.names))
        if before.first_leaf[old] <= before.first_leaf[node] <= before.last_leaf[node] <= before.last_leaf[old]
    }
    outside = [0]  # outside[i]: how many of the first i leaves the old limit did not cover
    for leaf in after.leaves:
        outside.append(outside[-1] + (leaf not in leaves))
    first, last = after.first_leaf.tolist(), after.last_leaf.tolist()
    heirs: list[str] = []
    done = -1  # last leaf that has an heir: parents come before children, so the uppermost is met first
    for node, label in enumerate(after.names):
        may_be = label in once_below or label not in before
        if may_be and first[node] > done and outside[first[node]] == outside[last[node] + 1]:
            heirs.append(label)
            done = last[node]
    return heirs


def _twigs(hierarchy: Hierarchy) -> list[_Twig]:
    twigs: list[_Twig] = []
    for name, parent in zip(hierarchy.names, hierarchy.parents, strict=True):
        twig = _Twig(name, twigs[parent] if parent >= 0 else None)
        if twig.above is not None:
            twig.above.below.append(twig)
        twigs.append(twig)
    return twigs


def _known(hierarchy: Hierarchy, node: int) -> int:
    if not 0 <= node < len(hierarchy.names):
        raise PlanError(Problem("unknown-node", f"The hierarchy has no node number {node}."))
    return node


def _chosen(hierarchy: Hierarchy, twigs: list[_Twig], nodes: Sequence[int]) -> list[_Twig]:
    """Return the nodes in the order of the tree, without those below another one."""
    if not nodes:
        raise PlanError(Problem("usage", "No node is chosen.", hint="choose one or more"))
    chosen = {_known(hierarchy, node) for node in nodes}
    tops = []
    for node in sorted(chosen):
        above = hierarchy.parents[node]
        while above >= 0 and above not in chosen:
            above = hierarchy.parents[above]
        if above < 0:
            tops.append(twigs[node])
    return tops


def _refuse_root(hierarchy: Hierarchy, nodes: Sequence[int], what: str) -> None:
    if 0 in nodes:
        message = f"Node {hierarchy.root!r} is the root of the tree, so it cannot be {what}."
        raise PlanError(Problem("usage", message, hint="choose a node below it"))


def _free_name(hierarchy: Hierarchy, name: str) -> str:
    name = name.strip()
    if not name or name.startswith(NOT_OF_THE_PLAN):
        raise PlanError(Problem("usage", "A group must have a name.", hint="type one"))
    if name in hierarchy:
        message = f"The name {name!r} is taken by another node."
        raise PlanError(Problem("ambiguous-label", message, hint="choose one that the tree does not have"))
    return name


def _line_up(twig: _Twig) -> list[_Twig]:
    line: list[_Twig] = []
    step: _Twig | None = twig
    while step is not None:
        line.append(step)
        step = step.above
    return line


def _cut_off(twig: _Twig, above: _Twig | None) -> None:
    """Take a node from the one that was above it, and take away every group that is empty then."""
    while above is not None:
        above.below.remove(twig)
        if above.below:
            return
        twig, above = above, above.above


def _grown(root: _Twig) -> Hierarchy:
    """Number the nodes afresh, and refuse what would not be a tree of a plan."""
    paths: list[tuple[str, ...]] = []
    stack: list[tuple[_Twig, tuple[str, ...]]] = [(root, (root.name,))]
    while stack:
        twig, path = stack.pop()
        if not twig.below:
            paths.append(path)
        stack.extend((child, (child.name, *path)) for child in reversed(twig.below))
    return Hierarchy.from_paths(paths)
