"""A look at the whole lattice: which nodes satisfy a plan, which are minimal, and which are best by each measure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow import measures
from hedgerow.anonymization.explanation import Condition, conditions
from hedgerow.anonymization.lattice import Node, Space, find_minimal, find_optimum, make_space, recode, samarati
from hedgerow.anonymization.solving import lattice_budget
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.plan.concepts import objectives
from hedgerow.privacy import Requirement

MOST_SCORED = 200
FEW_NODES = 200_000


@dataclass(frozen=True)
class ScoredNode:
    """A node with what its release would be like."""

    levels: dict[str, int]
    withheld: int
    groups: int
    loss: float
    ncp: float
    granularity: float
    discernibility: int


@dataclass(frozen=True)
class Height:
    """The nodes of one height of the lattice."""

    height: int
    nodes: int
    satisfying: int
    minimal: int


@dataclass(frozen=True)
class LatticeView:
    """The lattice of a table under a plan.

    Attributes
    ----------
    nodes, satisfying, minimal_nodes
        How many nodes there are, satisfy the plan, and do so with none below them doing so.
    checked
        Nodes looked at to classify all of them.
    budget
        Records that may be withheld.
    minimal
        Minimal nodes with their scores, lowest first; at most 200 of them.
    best
        Best node by each measure, if any node satisfies the plan.
    samarati
        What the binary search on height finds, and how many nodes it looks at.
    """

    columns: tuple[str, ...]
    nodes: int
    satisfying: int
    minimal_nodes: int
    checked: int
    budget: int
    heights: tuple[Height, ...]
    minimal: tuple[ScoredNode, ...]
    best: dict[str, ScoredNode]
    samarati: dict[str, Any]
    conditions: tuple[Condition, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)

    def __repr__(self) -> str:
        best = self.best.get("loss")
        shown = "none" if best is None else ", ".join(f"{name} {level}" for name, level in best.levels.items())
        counts = f"{self.nodes:,} nodes, {self.satisfying:,} satisfying, {self.minimal_nodes:,} minimal"
        return f"LatticeView({counts}; best for loss: {shown})"


def explore(microdata: Microdata, plan: Plan) -> LatticeView:
    """Classify all nodes of the lattice and score the interesting ones."""
    requirement = Requirement.of_plan(plan, microdata)
    space = make_space(microdata, plan.method.limits)
    budget = lattice_budget(microdata, plan)
    found = find_minimal(space, requirement, budget)
    asked = [
        name
        for name, measure in objectives().items()
        if measure.is_additive or (measure.score_of_node and space.nodes <= FEW_NODES)
    ]
    best = {}
    for objective in asked if found.minimal else ():
        node = find_optimum(space, requirement, budget, objective)
        if node is not None:
            best[objective] = _score(space, requirement, node.node)
    low = samarati(space, requirement, budget)
    names = [column.name for column in microdata.columns]
    return LatticeView(
        columns=tuple(names),
        nodes=space.nodes,
        satisfying=int(found.feasible.sum()),
        minimal_nodes=len(found.minimal),
        checked=found.checked,
        budget=budget,
        heights=_heights(space, found.feasible, found.minimal),
        minimal=tuple(_score(space, requirement, node) for node in found.minimal[:MOST_SCORED]),
        best=best,
        samarati={
            "levels": None if low.node is None else dict(zip(names, low.node, strict=True)),
            "checked": low.checked,
            "skipped": low.skipped,
        },
        conditions=conditions(microdata, requirement),
    )


def _score(space: Space, requirement: Requirement, node: Node) -> ScoredNode:
    microdata = space.microdata
    release = recode(space, requirement, node)
    withheld = microdata.records - release.released

    def rounded(value: Fraction) -> float:
        return round(float(value), 6)

    return ScoredNode(
        dict(zip([column.name for column in microdata.columns], node, strict=True)),
        withheld,
        release.groups,
        rounded(measures.ntil(microdata, release)),
        rounded(measures.mean_ncp(microdata, release)),
        rounded(measures.granularity(microdata, release)),
        measures.discernibility(release.sizes, withheld),
    )


def _heights(space: Space, feasible: Any, minimal: tuple[Node, ...]) -> tuple[Height, ...]:
    height = sum(np.ogrid[tuple(slice(0, size) for size in space.shape)], np.zeros(space.shape, np.int64))
    lowest = np.bincount([sum(node) for node in minimal], minlength=int(height.max()) + 1)
    nodes, satisfying = np.bincount(height.ravel()), np.bincount(height[feasible], minlength=int(height.max()) + 1)
    return tuple(Height(h, int(nodes[h]), int(satisfying[h]), int(lowest[h])) for h in range(int(height.max()) + 1))
