"""All minimal nodes: feasible, with no other feasible node below (Truta and Vinay 2006, p-k-minimal generalization)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.kernels.codes import FEASIBLE, INFEASIBLE, OPEN
from hedgerow.anonymization.lattice.checker import Checker, make_checker, rises
from hedgerow.anonymization.lattice.space import Node, Space
from hedgerow.privacy import Requirement
from hedgerow.types import Steps


@dataclass(frozen=True, eq=False)
class MinimalNodes:
    """Minimal nodes, and what is known of every node.

    Attributes
    ----------
    minimal
        The minimal nodes, lowest first.
    feasible
        Whether each node is feasible.
    checked
        Nodes looked at.
    """

    minimal: tuple[Node, ...]
    feasible: npt.NDArray[np.bool_]
    checked: int


def find_minimal(space: Space, requirement: Requirement, budget: int = 0, tell: Steps | None = None) -> MinimalNodes:
    """Classify every node and pick the minimal ones.

    Where feasibility rises with the lattice (the models survive growth, or nothing may be withheld) boxes of nodes are
    halved: an infeasible top rules out a box, a feasible bottom rules it in. Otherwise every node is checked.
    """
    checker = make_checker(space, requirement, "loss")
    state = np.zeros(space.shape, np.uint8)
    if rises(requirement, budget):
        checked = _halve(space, checker, budget, state, tell)
    else:
        view = checker.base()
        for done, node in enumerate(np.ndindex(*space.shape)):
            if tell is not None:
                tell(done, space.nodes)
            state[node] = FEASIBLE if checker.check(view, node).withheld <= budget else INFEASIBLE
        checked = space.nodes
    feasible = state == FEASIBLE
    above = np.zeros_like(feasible)  # some other feasible node lies below
    for j in range(feasible.ndim):
        for level in range(1, feasible.shape[j]):
            here, under = [slice(None)] * feasible.ndim, [slice(None)] * feasible.ndim
            here[j], under[j] = slice(level, level + 1), slice(level - 1, level)
            above[tuple(here)] |= feasible[tuple(under)] | above[tuple(under)]
    nodes = [tuple(int(level) for level in node) for node in np.argwhere(feasible & ~above)]
    return MinimalNodes(tuple(sorted(nodes, key=lambda node: (sum(node), node))), feasible, checked)


def _halve(space: Space, checker: Checker, budget: int, state: npt.NDArray[np.uint8], tell: Steps | None) -> int:
    """Classify all nodes by halving boxes; returns how many were checked."""
    checked = 0
    top = tuple(size - 1 for size in space.shape)

    def classify(view: Any, node: Node) -> None:
        nonlocal checked
        if state[node] != OPEN:
            return
        checked += 1
        if tell is not None:
            tell(checked, 0)
        if checker.check(view, node).withheld <= budget:
            state[tuple(slice(level, None) for level in node)] = FEASIBLE
        else:
            state[tuple(slice(0, level + 1) for level in node)] = INFEASIBLE

    boxes: list[tuple[Node, Node, Any]] = [((0,) * len(top), top, checker.base())]
    while boxes:
        low, high, view = boxes.pop()
        if state[low] == FEASIBLE or state[high] == INFEASIBLE:
            continue
        classify(view, high)
        classify(view, low)
        if state[low] == FEASIBLE or state[high] == INFEASIBLE or low == high:
            continue
        j = max(range(len(top)), key=lambda j: (high[j] - low[j], -j))
        middle = (low[j] + high[j]) // 2
        upper = (*low[:j], middle + 1, *low[j + 1 :])
        boxes.append((low, (*high[:j], middle, *high[j + 1 :]), view))
        boxes.append((upper, high, checker.roll_up(view, upper)))
    return checked
