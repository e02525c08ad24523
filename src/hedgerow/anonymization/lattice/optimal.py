"""The best node under a measure, with a budget of records that may be withheld.

Generalization alone gives a lower bound on a node's score, whatever is withheld. Where the models survive growth — or
nothing may be withheld — what must be withheld shrinks upward, so an infeasible node rules out all below it, and what
withholding costs at a node is a lower bound for all below it. Nothing else is pruned by.

    a lower corner from each attribute alone; an incumbent by a chain of best entropy per loss, bisected, then
    improved one level at a time
    repeat  take the maximal open nodes whose bound does not exceed the best score, and check them on a tree of views
    until   none is left

For the other models with a budget the nodes are checked in the order of their bounds until these exceed the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization import kernels
from hedgerow.anonymization.clustering.threads import run_in_threads
from hedgerow.anonymization.kernels.codes import FEASIBLE, INFEASIBLE, OPEN
from hedgerow.anonymization.kernels.tuples.lattice import Nodes, Seen
from hedgerow.anonymization.lattice.checked import Checked
from hedgerow.anonymization.lattice.checker import (
    Checker,
    KernelChecker,
    group_profiles,
    make_checker,
    people_at,
    rises,
)
from hedgerow.anonymization.lattice.space import Node, Space, is_additive
from hedgerow.plan.concepts import objectives
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray

TIE = 1e-9


@dataclass(frozen=True)
class Optimum:
    """The best node and how it was found.

    Attributes
    ----------
    node
        Level of every quasi-identifier.
    score
        Value of the objective; less is better.
    withheld
        Records withheld at the node.
    nodes, checked
        Nodes in the lattice, and nodes looked at.
    below_infeasible, by_bound
        Nodes skipped because a node above them is infeasible, and because they cannot be better.
    """

    node: Node
    score: float
    withheld: int
    nodes: int
    checked: int
    below_infeasible: int
    by_bound: int


def find_optimum(space: Space, requirement: Requirement, budget: int = 0, objective: str = "loss") -> Optimum | None:
    """Find the best node, or None if no node is feasible.

    Ties go to fewer withheld records, then to the lower node, then to the lower levels from the first column on.
    """
    search = _Search(space, requirement, budget, objective)
    if not is_additive(objective):
        search.check_everything()
    elif search.monotone:
        search.check_frontiers()
    else:
        search.check_by_bound()
    return search.result()


class _Search:
    """State of a search: what is known of every node."""

    def __init__(self, space: Space, requirement: Requirement, budget: int, objective: str) -> None:
        self.space, self.requirement, self.budget, self.objective = space, requirement, budget, objective
        self.monotone = rises(requirement, budget)
        self.checker: Checker = make_checker(space, requirement, objective, budget)
        self.records = space.microdata.records - len(space.microdata.unknown)
        self.costs, self.entropies, self.corner = self._by_attribute()
        # What is known of every node, one after the other: the last column's levels run fastest.
        self.state = np.zeros(space.nodes, np.uint8)
        self.extra = np.zeros(space.nodes)
        self.bound = self._bounds().ravel()
        self.strides = np.array([int(np.prod(space.shape[j + 1 :], dtype=np.int64)) for j in range(len(space.shape))])
        self.stride_list = self.strides.tolist()
        self.mark_below = kernels.load("lattice").mark_below
        self.best = np.inf
        self.found: dict[Node, tuple[float, int]] = {}  # score and withheld records of feasible nodes
        self.checked = 0

    @cached_property
    def levels(self) -> IntArray:
        """Levels of every node, column by column."""
        return np.indices(self.space.shape).reshape(len(self.space.shape), -1)

    # -- what single attributes say ------------------------------------------------------------------------------

    def _by_attribute(self) -> tuple[list[list[float]], npt.NDArray[np.float64], list[int]]:
        """Cost and entropy of every level of every attribute, and the lowest level that could be feasible."""
        additive = is_additive(self.objective)
        numerators, denominators = self.space.shares(self.objective if additive else "loss")
        costs, entropies, corner = [], [], []
        for j, (levels, weight) in enumerate(zip(self.space.maps, self.space.weights(), strict=True)):
            by_code = self.space.records_by_code[j].astype(float)
            costs.append(
                [
                    float(weight) * float(np.dot(by_code, cost)) / denominators[j] / self.records if additive else 0.0
                    for cost in numerators[j]
                ]
            )
            entropy, too_small = [], []
            for nodes in levels:
                sizes = np.bincount(nodes, weights=by_code)
                sizes = sizes[sizes > 0]
                share = sizes / self.records
                entropy.append(float(-(share * np.log(share)).sum()))
                too_small.append(float(sizes[sizes < self.requirement.k].sum()))
            entropies.append(entropy)
            fits = [level for level, lost in enumerate(too_small) if lost <= self.budget]
            persons = self.space.microdata.person_of is not None
            corner.append(0 if persons else fits[0] if fits else len(levels))
        padded = np.zeros((len(entropies), max(map(len, entropies))))
        for j, entropy in enumerate(entropies):
            padded[j, : len(entropy)] = entropy
        return costs, padded, corner

    def _bounds(self) -> npt.NDArray[np.float64]:
        bound = np.zeros(self.space.shape)
        for j, costs in enumerate(self.costs):
            shape = [1] * len(self.costs)
            shape[j] = len(costs)
            bound = bound + np.array(costs).reshape(shape)
        return bound

    # -- checking ------------------------------------------------------------------------------------------------

    def number(self, node: Node) -> int:
        """Position of a node among all."""
        total = 0
        for level, stride in zip(node, self.stride_list, strict=True):
            total += level * stride
        return total

    def look_at(self, view: Any, node: Node) -> bool:
        """Check a node and note what follows; returns whether it is feasible."""
        self.checked += 1
        found = self.checker.check(view, node)
        at = self.number(node)
        if found.withheld > self.budget:
            self.state[at] = INFEASIBLE
            if self.monotone or found.surely_withheld > self.budget:
                self.mark_below(self.state, self.extra, np.array(node), self.strides, True, 0.0)
            return False
        self.state[at] = FEASIBLE
        score = self._score(at, found)
        self.found[node] = (score, found.withheld)
        self.best = min(self.best, score)
        if self.monotone and found.excess > 0 and is_additive(self.objective):
            self.mark_below(self.state, self.extra, np.array(node), self.strides, False, found.excess / self.records)
        return True

    def _score(self, at: int, found: Checked) -> float:
        score = objectives()[self.objective].score_of_node
        if score is not None:
            return score(found, self.records, self.requirement.k)
        return float(self.bound[at]) + found.excess / self.records

    def _limit(self) -> float:
        """Up to which score a node may still be the best."""
        return self.best * (1 + TIE) + TIE if np.isfinite(self.best) else np.inf

    def may_be_better(self) -> npt.NDArray[np.bool_]:
        """Tell which nodes are open and not ruled out by their bound."""
        limit = self._limit()
        open_: npt.NDArray[np.bool_] = (self.state == OPEN) & (self.bound + self.extra <= limit)
        return open_

    # -- three ways of going through the lattice -------------------------------------------------------------------

    def check_frontiers(self) -> None:
        """Check maximal open nodes until none is left."""
        if any(low >= size for low, size in zip(self.corner, self.space.shape, strict=True)):
            return
        if isinstance(self.checker, KernelChecker):
            self._search_in_kernel(self.checker)
            return
        for j, low in enumerate(self.corner):
            if low:
                self.state[self.levels[j] < low] = INFEASIBLE
        has_above = [self.levels[j] < size - 1 for j, size in enumerate(self.space.shape)]
        view = self.checker.base()
        corner = tuple(self.corner)
        if any(corner):
            view = self.checker.roll_up(view, corner)
        self._find_incumbent(view, corner)
        while True:
            open_ = self.may_be_better()
            if not open_.any():
                return
            maximal = open_.copy()
            for stride, inside in zip(self.stride_list, has_above, strict=True):
                if inside.any():
                    maximal[:-stride] &= ~(open_[stride:] & inside[:-stride])
            self._check_on_views(np.flatnonzero(maximal), view, corner)

    def check_by_bound(self) -> None:
        """Check nodes in the order of their bounds until these exceed the best score."""
        view = self.checker.base()
        for number in np.argsort(self.bound, kind="stable"):
            if self.bound[number] > self._limit():
                return
            if self.state[number] == OPEN:
                self.look_at(view, tuple(self.levels[:, number].tolist()))

    def check_everything(self) -> None:
        """Check all nodes that are not known to be infeasible, upper ones first."""
        view = self.checker.base()
        for number in np.argsort(-self.levels.sum(axis=0), kind="stable"):
            if self.state[number] == OPEN:
                self.look_at(view, tuple(self.levels[:, number].tolist()))

    def _search_in_kernel(self, checker: KernelChecker) -> None:
        """The same, compiled as a whole."""
        nodes = Nodes(
            state=self.state, extra=self.extra, bound=self.bound, stride=self.strides,
            shape=np.array(self.space.shape, np.int64), corner=np.array(self.corner, np.int64),
            entropies=self.entropies,
        )  # fmt: skip
        for j, low in enumerate(self.corner):
            by_level = self.state.reshape(-1, self.space.shape[j], self.stride_list[j])
            by_level[:, :low] = INFEASIBLE
        many = self.space.nodes
        seen = Seen(
            np.empty(many, np.int64),
            np.empty(many),
            np.empty(many, np.int64),
            np.full(1, np.inf),
            np.zeros(2, np.int64),
        )
        chain = np.array(self._chain(tuple(self.corner)), np.int64)

        def work(first: int, last: int, done: IntArray, stop: IntArray) -> None:
            checker.search(nodes, seen, chain, self.records, stop)

        run_in_threads(work, np.ones(1, np.int64), 1, None)
        found, self.checked = seen.totals.tolist()
        self.best = float(seen.best[0])
        near = np.flatnonzero(seen.score[:found] <= self._limit())
        for number, score, withheld in zip(*(one[near].tolist() for one in seen[:3]), strict=True):
            node = tuple(
                number // stride % size for stride, size in zip(self.stride_list, self.space.shape, strict=True)
            )
            self.found[node] = (score, withheld)

    # -- parts of the first way --------------------------------------------------------------------------------------

    def _find_incumbent(self, view: Any, corner: Node) -> None:
        """Find a good feasible node early: along a chain upward, then by single steps."""
        chain = self._chain(corner)
        low, high = 0, len(chain) - 1
        while low < high:
            middle = (low + high) // 2
            if self.look_at(view, chain[middle]):
                high = middle
            else:
                low = middle + 1
        if self.state[self.number(chain[low])] == OPEN and not self.look_at(view, chain[low]):
            return
        improved = True
        while improved:
            improved = False
            node = min(self.found, key=lambda node: (self.found[node][0], node))
            under = tuple(max(low, level - 1) for low, level in zip(corner, node, strict=True))
            near = self.checker.roll_up(view, under)
            for neighbour in self._neighbours(node, corner):
                at = self.number(neighbour)
                if self.state[at] != OPEN or self.bound[at] + self.extra[at] >= self.best:
                    continue
                before = self.best
                if self.look_at(near, neighbour) and self.best < before:
                    improved = True
                    break

    def _chain(self, corner: Node) -> list[Node]:
        """Go up from a node, level by level, always where most entropy goes for the cost."""
        chain = [corner]
        while True:
            here = chain[-1]
            ratios = [
                (
                    (self.entropies[j, level] - self.entropies[j, level + 1])
                    / (self.costs[j][level + 1] - self.costs[j][level] + 1e-12),
                    -j,
                )
                for j, level in enumerate(here)
                if level + 1 < self.space.shape[j]
            ]
            if not ratios:
                break
            j = -max(ratios)[1]
            chain.append((*here[:j], here[j] + 1, *here[j + 1 :]))
        return chain

    def _neighbours(self, node: Node, corner: Node) -> list[Node]:
        """Nodes one level lower in one attribute, perhaps one higher in another."""
        found = []
        for up in (-1, *range(len(node))):
            if up >= 0 and node[up] + 1 >= self.space.shape[up]:
                continue
            for down in range(len(node)):
                if down != up and node[down] > corner[down]:
                    levels = list(node)
                    levels[down] -= 1
                    if up >= 0:
                        levels[up] += 1
                    found.append(tuple(levels))
        return found

    def _check_on_views(self, nodes: npt.NDArray[np.int64], view: Any, at: Node) -> None:
        """Check an antichain of nodes, by their positions, sharing views of what lies below several of them."""
        limit = self._limit()
        nodes = nodes[(self.state[nodes] == OPEN) & (self.bound[nodes] + self.extra[nodes] <= limit)]
        if len(nodes) <= 2:
            for number in nodes.tolist():
                node = tuple(self.levels[:, number].tolist())
                if self.state[number] == OPEN and not self.look_at(view, node) and self.budget == 0:
                    self._climb(view, node)
            return
        levels = self.levels[:, nodes]
        meet = levels.min(axis=1)
        if tuple(meet.tolist()) != at:
            at = tuple(meet.tolist())
            view = self.checker.roll_up(view, at)
        columns = np.arange(len(meet))
        gains = len(nodes) * self.entropies[columns, meet] - self.entropies[columns[:, None], levels].sum(axis=1)
        split = int(np.argmax(np.where(levels.max(axis=1) > meet, gains, -1.0)))  # some level must differ
        for level in range(self.space.shape[split] - 1, -1, -1):  # the most general part first
            part = nodes[levels[split] == level]
            if len(part):
                self._check_on_views(part, view, at)

    def _climb(self, view: Any, node: Node) -> None:
        """Climb from an infeasible node to a maximal one: it rules out more."""
        view = self.checker.roll_up(view, node)
        for j in range(len(node)):
            for level in range(self.space.shape[j] - 1, node[j], -1):
                higher = (*node[:j], level, *node[j + 1 :])
                known = self.state[self.number(higher)]
                if known == FEASIBLE or (known == OPEN and self.look_at(view, higher)):
                    continue
                node = higher
                break

    # -- the answer ------------------------------------------------------------------------------------------------

    def result(self) -> Optimum | None:
        """Choose among the best nodes found, exactly."""
        if not self.found:
            return None
        near = [node for node, (score, _) in self.found.items() if score <= self._limit()]
        if len(near) > 1:
            near.sort(key=lambda node: (self._exact(node), self.found[node][1], sum(node), node))
        node = near[0]
        score, withheld = self.found[node]
        by_bound = int((self.state == OPEN).sum())
        return Optimum(
            node,
            score,
            withheld,
            self.space.nodes,
            self.checked,
            self.space.nodes - by_bound - self.checked,
            by_bound,
        )

    def _exact(self, node: Node) -> Any:
        """Score of a node without rounding, for ties."""
        if not is_additive(self.objective):
            return self.found[node][0]
        group_of, groups = group_profiles(self.space, node)
        microdata = self.space.microdata
        fitting = people_at(self.space, self.requirement, node, group_of, groups)
        failing = self.requirement.fails(microdata, group_of[microdata.profile_of_unit], groups, fitting=fitting)
        kept = ~failing[group_of]
        counts = microdata.counts
        numerators, denominators = self.space.shares(self.objective)
        total: Any = 0
        for j, (level, weight) in enumerate(zip(node, self.space.weights(), strict=True)):
            cost = numerators[j][level][self.space.codes[:, j]]
            lost = int(np.dot(cost[kept], counts[kept]))
            total += weight * (lost + denominators[j] * int(counts[~kept].sum())) / denominators[j]
        return total
