"""Limits: the coarsest node each leaf may become (MAGVal in the papers)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hedgerow.errors import PlanError, Problem, did_you_mean
from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.types import IntArray


def nodes_by_name(hierarchy: Hierarchy, names: Iterable[str]) -> tuple[int, ...]:
    """Return the nodes that the owner marked by name.

    Raises
    ------
    PlanError
        Naming every label that the hierarchy does not have, or has for two different groups.
    """
    marked, problems = [], []
    for name in names:
        twofold = hierarchy.meanings_problem(name)
        if twofold:
            problems += twofold
        elif name in hierarchy:
            marked.append(hierarchy.node(name))
        else:
            hint = did_you_mean(name, hierarchy.names)
            problems.append(Problem("unknown-limit", f"Limit {name!r} is not a node of the hierarchy.", hint=hint))
    if problems:
        raise PlanError(problems)
    return tuple(sorted(set(marked)))


def nodes_by_level(hierarchy: Hierarchy, level: int) -> tuple[int, ...]:
    """Mark every node at a level: what each leaf becomes ``level`` steps up, stopping at the root."""
    return tuple(int(node) for node in np.unique(hierarchy.ancestors_at_level(level)))


def limit_of_leaves(hierarchy: Hierarchy, marked: Iterable[int]) -> IntArray:
    """Limit node of every leaf code: the first marked node on the way up, the root if there is none.

    Examples
    --------
    >>> h = Hierarchy.from_tree({"US": {"Midwest": {"Kansas": ["Wichita"], "Nebraska": ["Lincoln"]}}})
    >>> [h.names[node] for node in limit_of_leaves(h, nodes_by_name(h, ["Kansas", "Midwest"]))]
    ['Kansas', 'Midwest']
    """
    is_marked = np.zeros(len(hierarchy.names), bool)
    is_marked[list(marked)] = True
    is_marked[0] = True
    limit = np.zeros(len(hierarchy.names), np.int64)
    for node in range(1, len(hierarchy.names)):  # parents come before children
        limit[node] = node if is_marked[node] else limit[hierarchy.parents[node]]
    return limit[hierarchy.leaf_nodes]
