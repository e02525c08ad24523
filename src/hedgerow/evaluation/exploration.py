"""A look at the whole lattice: which nodes satisfy a plan, which are minimal, and which are best by each measure.

An expert chooses among them; the plan then names the levels, and makes the release.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.explanation import Condition, conditions
from hedgerow.anonymization.lattice import MinimalNodes, Node, Space, find_minimal, find_optimum, make_space, samarati
from hedgerow.anonymization.solving import lattice_budget
from hedgerow.errors import HedgerowError, Problem, did_you_mean
from hedgerow.evaluation.nodes import LEVELS, VALUE, Scored, ScoredNode, Scores, sort_keys
from hedgerow.microdata import Microdata
from hedgerow.outside.notebook import html_table
from hedgerow.plan import Plan
from hedgerow.plan.concepts import objectives
from hedgerow.privacy import Requirement
from hedgerow.types import Progress, silent

Which = Literal["notable", "minimal", "best", "all"]
MOST_LISTED = 50
FEW_NODES = 200_000
TIE = 1e-9


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
    records, budget
        Records of the table, and how many may be withheld.
    nodes, satisfying, minimal_nodes
        How many nodes there are, satisfy the plan, and do so with none below them doing so.
    checked
        Nodes looked at to classify all of them.
    which, sort
        Which nodes are listed (*notable*: the minimal ones and the best), and in which order.
    listed
        These nodes with their scores, the best first.
    left_out
        How many more of them there are.
    in_order
        Whether none of those that are left out comes before one that is listed.
    best
        The best node by each objective, listed or not.
    samarati
        What the binary search on height finds, and how many nodes it looks at; None if there are too many for it.
    """

    columns: tuple[str, ...]
    records: int
    budget: int
    nodes: int
    satisfying: int
    minimal_nodes: int
    checked: int
    heights: tuple[Height, ...]
    which: str
    sort: str
    listed: tuple[ScoredNode, ...]
    left_out: int
    in_order: bool
    best: dict[str, ScoredNode]
    samarati: dict[str, Any] | None
    conditions: tuple[Condition, ...]

    def node(self, number: int) -> ScoredNode:
        """Return a node by its number in the list."""
        if not 1 <= number <= len(self.listed):
            message = f"There is no node {number} in the list, which has {len(self.listed):,}."
            raise HedgerowError(Problem("usage", message, hint="take a number that the list shows"))
        return self.listed[number - 1]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)

    def __repr__(self) -> str:
        best = self.best.get("loss")
        shown = "none" if best is None else ", ".join(f"{name} {level}" for name, level in best.levels.items())
        counts = f"{self.nodes:,} nodes, {self.satisfying:,} satisfying, {self.minimal_nodes:,} minimal"
        return f"LatticeView({counts}; best for loss: {shown})"

    def _repr_html_(self) -> str:
        head = ("node", *self.columns, "minimal", "withheld", "groups", "smallest", "best for")
        rows = (
            (one.number, *one.levels.values(), one.minimal, one.withheld, one.groups, one.smallest,
             ", ".join(one.best_for))
            for one in self.listed
        )  # fmt: skip
        return html_table(repr(self), head, rows)


def check_wish(which: str, sort: str | None, most: int) -> None:
    """Refuse a list that there is not, before any work is done."""
    if which not in get_args(Which):
        message = f"There is no list {which!r} of nodes."
        raise HedgerowError(Problem("usage", message, hint="known here: " + ", ".join(get_args(Which))))
    if sort is not None and sort not in sort_keys():
        hint = did_you_mean(sort, sort_keys()) or "known here: " + ", ".join(sort_keys())
        raise HedgerowError(Problem("usage", f"Nodes cannot be sorted by {sort!r}.", hint=hint))
    if most < 1:
        raise HedgerowError(Problem("usage", "At least one node must be listed.", hint="ask for 1 or more"))


def explore(
    microdata: Microdata,
    plan: Plan,
    which: Which = "notable",
    sort: str | None = None,
    most: int = MOST_LISTED,
    chosen: dict[str, int] | None = None,
    tell: Progress = silent,
) -> LatticeView:
    """Classify all nodes of the lattice, and list some with their scores.

    Levels that the plan chooses are those of the lattice; ``chosen`` is a node to mark in the list. By default the list
    is sorted by the objective of the plan.
    """
    check_wish(which, sort, most)
    sort = sort or (plan.method.objective if plan.method.objective in objectives() else LEVELS)
    requirement = Requirement.of_plan(plan, microdata)
    space = make_space(microdata, plan.method.limits, chosen=plan.method.levels)
    budget = lattice_budget(microdata, plan)
    tell("looking at nodes", 0, 0)
    found = find_minimal(space, requirement, budget, lambda done, total: tell("looking at nodes", done, total))
    scores = Scores(space, plan, requirement)
    best = _best(space, requirement, budget, found, scores, tell) if found.minimal else {}
    nodes = _listed(found, which, best)
    first, in_order = scores.first(nodes, sort, most, lambda done, total: tell("scoring nodes", done, total))
    low = samarati(space, requirement, budget) if space.nodes <= FEW_NODES else None
    minimal = set(found.minimal)
    numbers = {scored.node: number for number, scored in enumerate(first, 1)}

    def told(node: Node) -> ScoredNode:
        return _scored(numbers.get(node, 0), scores.of(node), space, node in minimal, chosen, best)

    return LatticeView(
        columns=tuple(column.name for column in microdata.columns),
        records=microdata.records,
        budget=budget,
        nodes=space.nodes,
        satisfying=int(found.feasible.sum()),
        minimal_nodes=len(found.minimal),
        checked=found.checked,
        heights=_heights(space, found.feasible, found.minimal),
        which=which,
        sort=sort,
        listed=tuple(told(scored.node) for scored in first),
        left_out=len(nodes) - len(first),
        in_order=in_order,
        best={objective: told(node) for objective, node in best.items()},
        samarati=None
        if low is None
        else {
            "levels": None if low.node is None else space.named(low.node),
            "checked": low.checked,
            "skipped": low.skipped,
        },
        conditions=conditions(microdata, requirement),
    )


def _best(
    space: Space, requirement: Requirement, budget: int, found: MinimalNodes, scores: Scores, tell: Progress
) -> dict[str, Node]:
    """Return the best node by every objective that can be searched for."""
    best: dict[str, Node] = {}
    for name, measure in objectives().items():
        tell(f"best by {name}", 0, 0)
        if measure.is_additive or (measure.score_of_node and space.nodes <= FEW_NODES):
            node = find_optimum(space, requirement, budget, name)
            if node is not None:
                best[name] = node.node
        elif name == VALUE:
            best[name] = _worth_most(found.feasible, scores)
    return best


def _worth_most(feasible: npt.NDArray[np.bool_], scores: Scores) -> Node:
    """Return the feasible node of greatest research value, of several the lowest."""
    worth = np.zeros(())
    for by_level in scores.values:
        worth = np.add.outer(worth, np.array([float(value) for value in by_level]))
    most = worth[feasible].max()
    near = np.argwhere(feasible & (worth >= most - TIE))
    return min((tuple(node) for node in near.tolist()), key=lambda node: (-scores.value(node), sum(node), node))


def _rows(mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.int16]:
    """Return the places where a mask is true, one in a row, in a quarter of the memory that numpy would take."""
    places = np.flatnonzero(mask)
    rows = np.empty((len(places), mask.ndim), np.int16)
    for axis in range(mask.ndim - 1, -1, -1):
        places, rows[:, axis] = np.divmod(places, mask.shape[axis])
    return rows


def _listed(found: MinimalNodes, which: Which, best: dict[str, Node]) -> npt.NDArray[np.int16]:
    """Return the nodes that the list is about, one in a row."""
    if which == "all":
        return _rows(found.feasible)
    nodes = dict.fromkeys(found.minimal if which != "best" else ())
    nodes |= dict.fromkeys(best.values() if which != "minimal" else ())
    return np.array(sorted(nodes), np.int16).reshape(-1, found.feasible.ndim)


def _scored(
    number: int, scored: Scored, space: Space, minimal: bool, chosen: dict[str, int] | None, best: dict[str, Node]
) -> ScoredNode:
    levels = space.named(scored.node)
    return ScoredNode(
        number=number,
        levels=levels,
        minimal=minimal,
        chosen=levels == chosen,
        best_for=tuple(name for name, node in best.items() if node == scored.node),
        withheld=scored.withheld,
        groups=scored.groups,
        smallest=scored.smallest,
        value=scored.value,
        scores=dict(scored.scores),
    )


def _heights(space: Space, feasible: Any, minimal: tuple[Node, ...]) -> tuple[Height, ...]:
    height = sum(np.ogrid[tuple(slice(0, size) for size in space.shape)], np.zeros(space.shape, np.int64))
    lowest = np.bincount([sum(node) for node in minimal], minlength=int(height.max()) + 1)
    nodes, satisfying = np.bincount(height.ravel()), np.bincount(height[feasible], minlength=int(height.max()) + 1)
    return tuple(Height(h, int(nodes[h]), int(satisfying[h]), int(lowest[h])) for h in range(int(height.max()) + 1))


def without_levels(plan: Plan, levels: dict[str, int] | None = None) -> tuple[Plan, dict[str, int] | None]:
    """Return the plan for a look at the lattice, and the node that it chooses; ``levels`` are those to keep to."""
    chosen = plan.method.levels
    if plan.method.name != "lattice":
        plan = plan.replace(method={"name": "lattice", "limits": plan.method.limits})
    method = {name: part for name, part in plan.to_dict()["method"].items() if name != "levels"}
    return plan.replace(method={**method, **({"levels": levels} if levels else {})}), chosen
