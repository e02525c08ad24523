"""Hierarchies as lines from leaf to root: reading them from a nested mapping, and everything that can be wrong.

There are two readings. Usually a label stands for one group of values, and may be repeated only up a chain, where it
means the same. *As printed*, as in tables of papers, a label may stand on several levels for different groups, such as
*Other*; a node is then told by its whole way up.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.errors import PlanError, Problem

DEEPEST_PRINTED = 64
"""Steps from a leaf to the root: as printed, a node is told by all that are above it."""


def tree_paths(tree: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return one path per leaf of a nested mapping, each from the leaf to the root."""
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


def without_padding(path: Sequence[str]) -> tuple[str, ...]:
    """Drop repeats of the root from the end of a path: ARX pads short paths so."""
    line = tuple(path)
    while len(line) > 2 and line[-1] == line[-2]:
        line = line[:-1]
    return line


def identities(path: Sequence[str]) -> list[tuple[str, int]]:
    """Root-to-leaf identities; a label repeated down a chain gets 0, 1, … so that each step is a node of its own."""
    line: list[tuple[str, int]] = []
    for name in reversed(path):
        repeat = line[-1][1] + 1 if line and line[-1][0] == name else 0
        line.append((name, repeat))
    return line


def ways_of(path: Sequence[str]) -> list[tuple[str, ...]]:
    """Root-to-leaf identities of a hierarchy as printed: each node is its whole way up."""
    return [tuple(path[at:]) for at in range(len(path) - 1, -1, -1)]


def printed_problems(rows: list[tuple[str, ...]]) -> list[Problem]:
    """Find what is wrong with a hierarchy in which a label may stand on several levels."""
    if not rows or not all(rows) or max(map(len, rows)) > DEEPEST_PRINTED:
        return path_problems(rows)
    problems: dict[str, Problem] = {}
    at_level: dict[tuple[str, int], tuple[str, ...]] = {}
    inner = {way for row in rows for way in ways_of(row)[:-1]}
    for row in rows:
        for level, name in enumerate(row):
            way = row[level:]
            known = at_level.setdefault((name, level), way)
            longer, shorter = sorted((known, way), key=len, reverse=True)
            if known == way or (level > 0 and longer[len(longer) - len(shorter) :] == shorter):
                continue
            parents = [other[1] if len(other) > 1 else "none" for other in (known, way)]
            message = f"Node {name!r} has two parents on level {level}: {parents[0]!r} and {parents[1]!r}."
            hint = "give the two different labels, or put the node in one place only"
            problems.setdefault(f"two-parents {name}", Problem("two-parents", message, hint=hint))
        if row in inner:
            message = f"Node {row[0]!r} is both a value and a group of values."
            hint = f"give the value a label of its own under it, such as '{row[0]} (not specified)'"
            problems.setdefault(f"value-is-node {row[0]}", Problem("value-is-node", message, hint=hint))
    roots = sorted({row[-1] for row in rows})
    if len(roots) > 1:
        message = f"The hierarchy has {len(roots)} roots, {roots[0]!r} and {roots[1]!r} among them."
        problems["two-roots"] = Problem("two-roots", message, hint="end every line in the same root, such as '*'")
    return list(problems.values())


def path_problems(rows: list[tuple[str, ...]]) -> list[Problem]:
    """Find what is wrong with a hierarchy in which every label stands for one group of values."""
    if not rows or not all(rows):
        return [Problem("hierarchy-empty", "The hierarchy has no leaf.", hint="list at least one value")]
    problems: dict[str, Problem] = {}
    parent_of: dict[tuple[str, int], tuple[str, int]] = {}
    children: dict[tuple[str, int], set[tuple[str, int]]] = {}
    leaves: set[tuple[str, int]] = set()

    def report(code: str, node: str, message: str, hint: str) -> None:
        problems.setdefault(f"{code} {node}", Problem(code, message, hint=hint))

    for row in rows:
        line = identities(row)
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
    roots = sorted({identities(row)[0][0] for row in rows})
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
