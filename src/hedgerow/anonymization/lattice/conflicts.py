"""The best node of a lattice that is never laid out: conflict-directed branch and bound.

The objective is a sum of one cost per attribute and level, not falling with the level. A node that fails rules out
everything below it. Raised as far as it still fails, it becomes a conflict that rules out most; boxes of nodes are
bounded by what escaping all their conflicts costs at least, and the cheapest box comes next. Its lowest node is checked
only when no known conflict speaks against it: if it holds, it is the best there is. Until then the cheapest box is a
bound on what the best can be, so that the search may stop at any time and say how far it is.

Nodes are checked on the groups of lower ones. Where several processes check (``crew.py``), what a failing node is
raised to in each of three orders, where to climb next and what can be lowered are found out at the same time; answers
are taken in the order in which one process would have found them.

Where more records may be withheld and a model does not survive growth, a node that fails need not rule out those below;
then only what surely fails makes a conflict.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.anonymization import kernels
from hedgerow.anonymization.kernels.codes import ASK, DONE, FAR, FULL, IN_HEAP, UNUSED
from hedgerow.anonymization.kernels.tuples.lattice import Boxes, Conflicts
from hedgerow.anonymization.lattice.bench import Bench, Order
from hedgerow.anonymization.lattice.checker import rises
from hedgerow.anonymization.lattice.crew import Alone, Crew, Hire, Ticket, checks
from hedgerow.anonymization.lattice.space import Node, Space
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray

TURNS = 5_000
BOXES, MOST_BOXES = 1 << 16, 1 << 23
FIRST_DIVE = 10
SALTS = 5
LIKELY = 400
"""Tests that a search takes at least, if it has so many nodes, and a table of more than a few columns."""
PART = 8
"""Tests after which somebody else may go on raising a node."""


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
    hire: Hire = Alone,
    known: Iterable[Node] = (),
    checked: int = 0,
    most: int | None = None,
) -> Best:
    """Find the node of least cost at which at most ``budget`` records are withheld.

    ``hire`` says who checks; ``known`` are nodes of which it is known that they fail, and all below them; ``checked``
    is how many were checked before, ``most`` how many may be checked besides, whatever patience allows.
    """
    patience = patience or Patience()
    patience.restart()
    for salt in range(SALTS):
        bench = Bench(space, requirement, budget, salt)
        crew = hire(bench)
        try:
            crew.expect(min(space.nodes, LIKELY))
            found = _Search(space, requirement, budget, costs, patience, crew, tell, known, checked, most).run()
        finally:
            crew.close()
        if found.node is None or bench.holds(found.node):
            return found
    raise AssertionError("five hashes of 64 bits collided")  # pragma: no cover


class _Search:
    """State of a search."""

    def __init__(
        self,
        space: Space,
        requirement: Requirement,
        budget: int,
        costs: list[list[int]],
        patience: Patience,
        crew: Crew,
        tell: Callable[[int], None] | None,
        known: Iterable[Node],
        checked: int,
        most: int | None,
    ) -> None:
        self.shape, self.budget, self.patience, self.tell = space.shape, budget, patience, tell
        self.rises = rises(requirement, budget)
        self.crew, self.known = crew, known
        self.top = tuple(size - 1 for size in space.shape)
        self.costs = np.full((len(costs), max(map(len, costs))), FAR >> 8, np.int64)
        for j, by_level in enumerate(costs):
            self.costs[j, : len(by_level)] = by_level
        self.corner, self.entropy = _single_attributes(space, requirement, budget)
        self.columns = np.arange(len(self.shape))
        self.checked = checked
        self.most = None if most is None else checked + most
        self.best: Node | None = None
        self.best_cost = FAR
        self.least = 0
        self.frontier = _Frontier(len(self.shape))

    # -- checking ------------------------------------------------------------------------------------------------

    def lost(self, on: Node, node: Node) -> tuple[int, int]:
        """Records withheld at a node, and those of them that every node below withholds too.

        It is checked on the groups of a node at or below it.
        """
        self.checked += 1
        return self.crew.lost(on, node)

    def over(self) -> bool:
        """Tell whether the search must end."""
        return self.patience.over(self.checked) or (self.most is not None and self.checked >= self.most)

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
        for conflict in self.known:
            self.frontier.learn(conflict)
        if self.lost(self.corner, self.top)[0] <= self.budget:
            self.improve(self.top)
        self.patience.may_stop = True
        try:
            if self.best is not None:
                self.climb(self.corner)
            proven = self.branch()
            if self.best is not None and self.rises and proven:  # of nodes that cost the same, a lower one
                self.best = self.lowered(self.best)
        except KeyboardInterrupt:
            if self.best is None:
                raise
            proven = False
        finally:
            self.patience.may_stop = False
        return self.result(proven)

    def branch(self) -> bool:
        """Work through the boxes; returns whether everything was."""
        frontier, asked, next_dive = self.frontier, 0, FIRST_DIVE
        frontier.add(self.corner, self.top, self.cost(self.corner))
        while True:
            if self.tell is not None:
                self.tell(self.checked)
            if self.over():
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
            raising = self.raising(node)
            withheld, surely = self.lost(self.corner, node)
            if withheld <= self.budget:
                self.forget(raising)
                self.improve(node)
                frontier.free(box)
                continue
            if surely <= self.budget:
                self.forget(raising)
                if not frontier.split(box, node, upper, bound, self.cost):
                    return False
                continue
            asked += 1
            if asked >= next_dive and self.best is not None:
                next_dive = asked + max(20, asked // 3)
                self.climb(node)
            self.learn(raising)
            frontier.push(bound, box)

    def forget(self, raising: list[_Raising]) -> None:
        """Leave a node as it is."""
        self.crew.forget(one.ticket for one in raising)

    def learn(self, raising: list[_Raising]) -> None:
        """Learn from a failing node what it was raised to."""
        for one in raising:
            while not one.goes_on(self.crew):
                for other in raising:
                    other.goes_on(self.crew, wait=False)
            self.checked += one.tests
            self.frontier.learn(one.node)

    def raising(self, node: Node) -> list[_Raising]:
        """Have a node raised as far as it still fails, in a few orders of the attributes."""
        step = np.array(
            [self.costs[j, min(level + 1, top)] - self.costs[j, level] for j, (level, top) in self._levels(node)], float
        )
        spread = np.array([self.entropy[j][level] for j, level in enumerate(node)])
        turn = (np.arange(len(node)) * 0.6180339887498949 + 0.37 * len(self.frontier.conflicts)) % 1.0
        orders = (step, -step / (spread + 1e-3), step * (0.2 + 0.8 * turn))
        return [_Raising(self.crew, node, np.argsort(order, kind="stable").tolist()) for order in orders]

    def _levels(self, node: Node) -> Any:
        return enumerate(zip(node, self.top, strict=True))

    # -- good nodes early ------------------------------------------------------------------------------------------

    def climb(self, node: Node) -> None:
        """Raise the attribute that saves most records for its cost until the node holds; then lower what can be."""
        withheld = self.lost(node, node)[0]
        while withheld > self.budget:
            if self.over() and self.best is not None:
                return
            higher = [
                [(*node[:j], one, *node[j + 1 :]) for one in range(level + 1, self.top[j] + 1)]
                for j, level in enumerate(node)
            ]
            found = checks(self.crew, node, [raised for of_one in higher for raised in of_one], all_wanted=True)
            with contextlib.closing(found):
                choices = []
                for j, of_one in enumerate(higher):
                    if self.over() and self.best is not None:
                        return
                    for raised in of_one:
                        self.checked += 1
                        cost = int(self.costs[j, raised[j]] - self.costs[j, node[j]])
                        left = max(next(found)[0], self.budget)
                        choices.append(((withheld - left) / (cost + 1), -cost, -j, -raised[j], left, raised))
            if not choices:
                return
            chosen = max(choices)
            node, withheld = chosen[5], chosen[4] if chosen[4] > self.budget else self.budget
            if self.cost(node) >= self.best_cost and withheld > self.budget:
                return
        self.improve(self.lowered(node))

    def lowered(self, node: Node) -> Node:
        """Lower attributes, the greatest saving first, while the node holds."""
        moved = True
        while moved:
            moved = False
            savings = sorted(
                (int(self.costs[j, lower] - self.costs[j, level]), j, lower)
                for j, level in enumerate(node)
                for lower in range(self.corner[j], level)
            )
            lowered = [(*node[:j], lower, *node[j + 1 :]) for _, j, lower in savings]
            with contextlib.closing(checks(self.crew, self.corner, lowered)) as found:
                for new in lowered:
                    if self.over():
                        return node
                    self.checked += 1
                    if next(found)[0] <= self.budget:
                        node, moved = new, True
                        break
        return node

    def result(self, proven: bool) -> Best:
        """Put together what was found."""
        return Best(self.best, self.least, proven, self.checked, tuple(self.frontier.conflicts))


class _Raising:
    """A node that is being raised; part of the work at a time, so that whoever has nothing to do can go on with it."""

    def __init__(self, crew: Crew, node: Node, order: list[int]) -> None:
        self.node, self.tests, self.done = node, 0, False
        most = PART if crew.hands > 1 else FAR
        self._submit(crew, [order, [[0, len(order)]], None, most])

    def goes_on(self, crew: Crew, wait: bool = True) -> bool:
        """Take what was done, and order more if there is more to do; tells whether all is done."""
        if self.done or not (wait or self.ticket.done):
            return self.done
        node, work, tests = crew.answer(self.ticket)
        self.node, self.tests = tuple(node), self.tests + tests
        _, parts, trial, _ = work
        self.done = not (parts or trial)
        if not self.done:
            self._submit(crew, work)
        return self.done

    def _submit(self, crew: Crew, work: list[Any]) -> None:
        self.ticket: Ticket = crew.submit(Order("raised", self.node, work))


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
