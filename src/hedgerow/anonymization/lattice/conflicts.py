"""The best node of a lattice that is never laid out: conflict-directed branch and bound.

The objective is a sum of one cost per attribute and level, not falling with the level. A node that fails rules out
everything below it. Raised as far as it still fails, it becomes a conflict that rules out most; boxes of nodes are
bounded by what escaping all their conflicts costs at least, and the cheapest box comes next. Its lowest node is checked
only when no known conflict speaks against it: if it holds, it is the best there is. Until then the cheapest box is a
bound on what the best can be, so that the search may stop at any time and say how far it is.

Nodes are checked on views of lower ones. Where more records may be withheld and a model does not survive growth, a node
that fails need not rule out those below; then only what surely fails makes a conflict.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.anonymization import kernels
from hedgerow.anonymization.kernels.codes import ASK, DONE, FAR, FULL, IN_HEAP, UNUSED
from hedgerow.anonymization.kernels.tuples.lattice import Boxes, Conflicts
from hedgerow.anonymization.lattice.checker import Checker, GeneralChecker, make_checker, rises
from hedgerow.anonymization.lattice.space import Node, Space
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray

TURNS = 5_000
BOXES, MOST_BOXES = 1 << 16, 1 << 23
FIRST_DIVE = 10
SALTS = 5


@dataclass(eq=False)
class Patience:
    """How long a search may go on; it can be ended from outside at any time.

    Attributes
    ----------
    seconds
        Time it may take; the answer then depends on the machine.
    checks
        Nodes it may check; the answer does not depend on the machine.
    """

    seconds: float | None = None
    checks: int | None = None
    stopped: bool = False
    may_stop: bool = False
    _start: float = field(default_factory=time.monotonic)

    def stop(self) -> None:
        """Ask the search to end with what it has."""
        self.stopped = True

    def restart(self) -> None:
        """Begin anew: count the time from now."""
        self.stopped = False
        self._start = time.monotonic()

    def over(self, checks: int) -> bool:
        """Tell whether the search must end."""
        late = self.seconds is not None and time.monotonic() - self._start > self.seconds
        return self.stopped or late or (self.checks is not None and checks >= self.checks)


@dataclass(frozen=True)
class Best:
    """What a search found.

    Attributes
    ----------
    node
        The best node found, or None if none holds (if proven) or none was found.
    least
        What any node that holds costs at least.
    proven
        Whether nothing better exists.
    checked, conflicts
        Nodes checked, conflicts found.
    """

    node: Node | None
    least: int
    proven: bool
    checked: int
    conflicts: tuple[Node, ...]


def find_best(
    space: Space,
    requirement: Requirement,
    budget: int,
    costs: list[list[int]],
    patience: Patience | None = None,
    tell: Callable[[int], None] | None = None,
) -> Best:
    """Find the node of least cost at which at most ``budget`` records are withheld."""
    patience = patience or Patience()
    patience.restart()
    for salt in range(SALTS):
        found = _Search(space, requirement, budget, costs, patience, salt, tell).run()
        if found.node is None or _holds(space, requirement, budget, found.node):
            return found
    raise AssertionError("five hashes of 64 bits collided")  # pragma: no cover


def _holds(space: Space, requirement: Requirement, budget: int, node: Node) -> bool:
    """Confirm a node without hashing."""
    general = GeneralChecker(space, requirement, "research-value")
    return general.check(general.base(), node).withheld <= budget


class _Search:
    """State of a search."""

    def __init__(
        self,
        space: Space,
        requirement: Requirement,
        budget: int,
        costs: list[list[int]],
        patience: Patience,
        salt: int,
        tell: Callable[[int], None] | None,
    ) -> None:
        self.shape, self.budget, self.patience, self.tell = space.shape, budget, patience, tell
        self.rises = rises(requirement, budget)
        self.checker: Checker = make_checker(space, requirement, "research-value", budget, salt)
        self.top = tuple(size - 1 for size in space.shape)
        self.costs = np.full((len(costs), max(map(len, costs))), FAR >> 8, np.int64)
        for j, by_level in enumerate(costs):
            self.costs[j, : len(by_level)] = by_level
        self.corner, self.entropy = _single_attributes(space, requirement, budget)
        self.columns = np.arange(len(self.shape))
        self.checked = 0
        self.best: Node | None = None
        self.best_cost = FAR
        self.least = 0
        self.frontier = _Frontier(len(self.shape))

    # -- checking ------------------------------------------------------------------------------------------------

    def lost(self, view: Any, node: Node) -> tuple[int, int]:
        """Records withheld at a node, and those of them that every node below withholds too."""
        self.checked += 1
        found = self.checker.check(view, node)
        return found.withheld, found.withheld if self.rises else found.surely_withheld

    def cost(self, node: Node) -> int:
        """Cost of a node."""
        return int(self.costs[self.columns, list(node)].sum())

    def improve(self, node: Node) -> None:
        """Note a node that holds."""
        if self.cost(node) < self.best_cost:
            self.best, self.best_cost = node, self.cost(node)

    # -- the search ------------------------------------------------------------------------------------------------

    def run(self) -> Best:
        """Search until the best is proven or patience is over."""
        if any(low >= size for low, size in zip(self.corner, self.shape, strict=True)):
            return self.result(proven=True)
        for j, low in enumerate(self.corner):
            if low:  # what fails by itself is a conflict too, and part of the proof
                self.frontier.learn((*self.top[:j], low - 1, *self.top[j + 1 :]))
        base = self.checker.base()
        bottom = self.checker.roll_up(base, self.corner) if any(self.corner) else base
        if self.lost(bottom, self.top)[0] <= self.budget:
            self.improve(self.top)
        self.patience.may_stop = True
        try:
            if self.best is not None:
                self.climb(bottom, self.corner, bottom)
            proven = self.branch(bottom)
            if self.best is not None and self.rises and proven:  # of nodes that cost the same, a lower one
                self.best = self.lowered(self.best, bottom)
        except KeyboardInterrupt:
            if self.best is None:
                raise
            proven = False
        finally:
            self.patience.may_stop = False
        return self.result(proven)

    def branch(self, bottom: Any) -> bool:
        """Work through the boxes; returns whether everything was."""
        frontier, asked, next_dive = self.frontier, 0, FIRST_DIVE
        frontier.add(self.corner, self.top, self.cost(self.corner))
        while True:
            if self.tell is not None:
                self.tell(self.checked)
            if self.patience.over(self.checked):
                self.least = min(max(self.least, frontier.least()), self.best_cost)
                return False
            status, box, bound = frontier.advance(self.costs, self.best_cost)
            self.least = min(max(self.least, bound), self.best_cost)
            if status == DONE:
                self.least = self.best_cost
                return True
            if status == FULL and not frontier.grow():
                return False
            if status != ASK:
                continue
            node, upper = frontier.box(box)
            withheld, surely = self.lost(bottom, node)
            if withheld <= self.budget:
                self.improve(node)
                frontier.free(box)
                continue
            if surely <= self.budget:
                if not frontier.split(box, node, upper, bound, self.cost):
                    return False
                continue
            view = self.checker.roll_up(bottom, node)
            asked += 1
            if asked >= next_dive and self.best is not None:
                next_dive = asked + max(20, asked // 3)
                self.climb(view, node, bottom)
                view = self.checker.roll_up(bottom, node)
            self.learn(view, node)
            frontier.push(bound, box)

    def learn(self, view: Any, node: Node) -> None:
        """Raise a failing node as far as it still fails, in a few orders of the attributes."""
        step = np.array(
            [self.costs[j, min(level + 1, top)] - self.costs[j, level] for j, (level, top) in self._levels(node)], float
        )
        spread = np.array([self.entropy[j][level] for j, level in enumerate(node)])
        turn = (np.arange(len(node)) * 0.6180339887498949 + 0.37 * len(self.frontier.conflicts)) % 1.0
        for order in (step, -step / (spread + 1e-3), step * (0.2 + 0.8 * turn)):
            self.frontier.learn(self.raised(view, node, np.argsort(order, kind="stable").tolist()))

    def _levels(self, node: Node) -> Any:
        return enumerate(zip(node, self.top, strict=True))

    def raised(self, view: Any, node: Node, order: list[int]) -> Node:
        """Raise the attributes in order, halves of the list at once, while the node surely fails."""
        parts = [(0, len(order))]
        while parts:
            first, last = parts.pop()
            levels = list(node)
            for j in order[first:last]:
                levels[j] = self.top[j]
            single = order[first]
            while tuple(levels) != node:
                if self.lost(view, tuple(levels))[1] > self.budget:
                    node = tuple(levels)
                    view = self.checker.roll_up(view, node)
                    break
                if last - first > 1:
                    middle = (first + last) // 2
                    parts += [(middle, last), (first, middle)]
                    break
                levels[single] -= 1
        return node

    # -- good nodes early ------------------------------------------------------------------------------------------

    def climb(self, view: Any, node: Node, bottom: Any) -> None:
        """Raise the attribute that saves most records for its cost until the node holds; then lower what can be."""
        withheld = self.lost(view, node)[0]
        while withheld > self.budget:
            if self.patience.over(self.checked) and self.best is not None:
                return
            choices = []
            for j, level in enumerate(node):
                if self.patience.over(self.checked) and self.best is not None:
                    return
                for higher in range(level + 1, self.top[j] + 1):
                    raised = (*node[:j], higher, *node[j + 1 :])
                    cost = int(self.costs[j, higher] - self.costs[j, level])
                    left = max(self.lost(view, raised)[0], self.budget)
                    choices.append(((withheld - left) / (cost + 1), -cost, -j, -higher, left, raised))
            if not choices:
                return
            chosen = max(choices)
            node, withheld = chosen[5], chosen[4] if chosen[4] > self.budget else self.budget
            if self.cost(node) >= self.best_cost and withheld > self.budget:
                return
            view = self.checker.roll_up(view, node)
        self.improve(self.lowered(node, bottom))

    def lowered(self, node: Node, bottom: Any) -> Node:
        """Lower attributes, the greatest saving first, while the node holds."""
        moved = True
        while moved:
            moved = False
            savings = sorted(
                (int(self.costs[j, lower] - self.costs[j, level]), j, lower)
                for j, level in enumerate(node)
                for lower in range(self.corner[j], level)
            )
            for _, j, lower in savings:
                if self.patience.over(self.checked):
                    return node
                new = (*node[:j], lower, *node[j + 1 :])
                if self.lost(bottom, new)[0] <= self.budget:
                    node, moved = new, True
                    break
        return node

    def result(self, proven: bool) -> Best:
        """Put together what was found."""
        return Best(self.best, self.least, proven, self.checked, tuple(self.frontier.conflicts))


class _Frontier:
    """The boxes still to be looked at, and the conflicts known."""

    def __init__(self, columns: int) -> None:
        self._kernel = kernels.load("boxes")
        self._lo = np.zeros((BOXES, columns), np.uint16)
        self._up = np.zeros((BOXES, columns), np.uint16)
        self._heap = np.zeros(BOXES, np.int64)
        self._heap_cost = np.zeros(BOXES, np.int64)
        self._unused = np.arange(BOXES - 1, -1, -1, dtype=np.int64)
        self._totals = np.array([0, BOXES, 0], np.int64)
        self._levels = np.zeros((1 << 10, columns), np.int64)
        self._packed = np.zeros((1 << 10, -(-columns // 4)), np.uint64)
        self.conflicts: dict[Node, None] = {}

    @property
    def _boxes(self) -> Boxes:
        return Boxes(self._lo, self._up, self._heap, self._heap_cost, self._unused, self._totals)

    def advance(self, costs: IntArray, best: int) -> tuple[int, int, int]:
        """Let the kernel work for a while."""
        status, box, bound = self._kernel.advance(
            self._boxes, Conflicts(self._levels, self._packed), len(self.conflicts), costs, best, TURNS
        )
        return int(status), int(box), int(bound)

    def least(self) -> int:
        """Least bound of what is left."""
        return int(self._heap_cost[0]) if self._totals[IN_HEAP] else FAR

    def box(self, box: int) -> tuple[Node, Node]:
        """Lowest and highest node of a box."""
        return tuple(self._lo[box].tolist()), tuple(self._up[box].tolist())

    def add(self, lo: Node, up: Node, cost: int) -> None:
        """Add a box."""
        self._totals[UNUSED] -= 1
        box = int(self._unused[self._totals[UNUSED]])
        self._lo[box], self._up[box] = lo, up
        self.push(cost, box)

    def push(self, cost: int, box: int) -> None:
        """Put a box back into the queue."""
        self._kernel.push(self._boxes, cost, box)

    def free(self, box: int) -> None:
        """Forget a box."""
        self._unused[self._totals[UNUSED]] = box
        self._totals[UNUSED] += 1

    def split(self, box: int, lo: Node, up: Node, bound: int, cost: Callable[[Node], int]) -> bool:
        """Replace a box by boxes that hold all its nodes but the lowest; tells whether there was room for them."""
        if self._totals[UNUSED] < len(lo) and not self.grow():
            self.push(bound, box)
            return False
        self.free(box)
        upper = list(up)
        for j, level in enumerate(lo):
            if level < up[j]:
                raised = (*lo[:j], level + 1, *lo[j + 1 :])
                self.add(raised, tuple(upper), max(bound, cost(raised)))
                upper[j] = level
        return True

    def learn(self, conflict: Node) -> None:
        """Note a conflict."""
        number = len(self.conflicts)
        if conflict in self.conflicts:
            return
        if number == len(self._levels):
            self._levels = np.concatenate([self._levels, np.zeros_like(self._levels)])
            self._packed = np.concatenate([self._packed, np.zeros_like(self._packed)])
        self.conflicts[conflict] = None
        self._levels[number] = conflict
        for j, level in enumerate(conflict):
            self._packed[number, j >> 2] |= np.uint64(level << 16 * (j & 3))

    def grow(self) -> bool:
        """Make room for twice as many boxes, within reason."""
        room = len(self._heap)
        if 2 * room > MOST_BOXES:
            return False
        self._lo = np.concatenate([self._lo, np.zeros_like(self._lo)])
        self._up = np.concatenate([self._up, np.zeros_like(self._up)])
        self._heap = np.concatenate([self._heap, np.zeros_like(self._heap)])
        self._heap_cost = np.concatenate([self._heap_cost, np.zeros_like(self._heap_cost)])
        unused = self._unused[: self._totals[UNUSED]]
        self._unused = np.zeros(2 * room, np.int64)
        self._unused[: room + len(unused)] = np.concatenate([np.arange(2 * room - 1, room - 1, -1), unused])
        self._totals[UNUSED] += room
        return True


def _single_attributes(space: Space, requirement: Requirement, budget: int) -> tuple[Node, list[list[float]]]:
    """Lowest level of every attribute that could hold by itself, and the entropy of every level."""
    counts = space.microdata.counts
    corner, entropies = [], []
    for j, levels in enumerate(space.maps):
        by_code = np.bincount(space.codes[:, j], weights=counts, minlength=len(levels[0]))
        entropy, fits = [], []
        for level, nodes in enumerate(levels):
            sizes = np.bincount(nodes, weights=by_code)
            sizes = sizes[sizes > 0]
            share = sizes / sizes.sum()
            entropy.append(float(-(share * np.log(share)).sum()))
            if float(sizes[sizes < requirement.k].sum()) <= budget:
                fits.append(level)
        entropies.append(entropy)
        corner.append(0 if space.microdata.person_of is not None else fits[0] if fits else len(levels))
    return tuple(corner), entropies
