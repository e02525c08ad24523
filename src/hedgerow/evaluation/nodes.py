"""Nodes of the lattice as an expert compares them: what each would withhold, lose and be worth, in the order asked for.

To score a node is to make its release, so of many nodes only some are. Which are the first in an order is known
without that where the order is by a sum over columns, which bounds the score of a node from below, or by what a check
of a node tells.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.lattice import Node, Space, recode
from hedgerow.anonymization.lattice.checker import Checker, group_profiles, make_checker, people_at
from hedgerow.anonymization.lattice.research import level_values
from hedgerow.anonymization.lattice.space import is_additive
from hedgerow.measures.measured import Measured
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.plan.concepts import objectives
from hedgerow.privacy import Requirement
from hedgerow.types import Steps

VALUE = "research-value"
LEVELS, WITHHELD, GROUPS, SMALLEST = "levels", "withheld", "groups", "smallest"
MOST_CHECKED = 20_000
"""Nodes that are checked to find the first in an order that no bound tells."""
SLACK = 1e-6


def sort_keys() -> tuple[str, ...]:
    """Return what nodes can be sorted by."""
    return (LEVELS, WITHHELD, GROUPS, SMALLEST, *objectives())


@dataclass(frozen=True)
class ScoredNode:
    """A node with what its release would be like.

    Attributes
    ----------
    number
        Its place in the list, from 1; 0 if it is not listed.
    levels
        Level of every quasi-identifier.
    minimal, chosen
        Whether no node below it satisfies the plan, and whether the plan chooses it.
    best_for
        Objectives of which no node that satisfies the plan has less (of research value: more).
    withheld, groups, smallest
        Records withheld, groups released, and records in the smallest of them.
    value
        Research value of its levels, by which searches go.
    scores
        Its release by every objective; of none that nothing can be said of.
    """

    number: int
    levels: dict[str, int]
    minimal: bool
    chosen: bool
    best_for: tuple[str, ...]
    withheld: int
    groups: int
    smallest: int
    value: float
    scores: dict[str, float | None]


@dataclass(frozen=True)
class Scored:
    """What the release of a node would be like, before it stands in a list."""

    node: Node
    withheld: int
    groups: int
    smallest: int
    value: float
    scores: Mapping[str, float | None]


class Scores:
    """Scores nodes of a lattice, each once."""

    def __init__(self, space: Space, plan: Plan, requirement: Requirement) -> None:
        self._space, self._plan, self._requirement = space, plan, requirement
        self._known: dict[Node, Scored] = {}
        self._measures = objectives()

    @property
    def _microdata(self) -> Microdata:
        return self._space.microdata

    @cached_property
    def values(self) -> list[list[Fraction]]:
        """Research value of every level, by column."""
        return level_values(self._space, column_values(self._microdata, self._plan))

    def value(self, node: Node) -> Fraction:
        """Research value of the levels of a node."""
        return sum((self.values[j][level] for j, level in enumerate(node)), Fraction(0))

    def of(self, node: Node) -> Scored:
        """Score a node."""
        if node not in self._known:
            release = recode(self._space, self._requirement, node)
            measured = Measured(self._microdata, release, self._plan, None)
            scores = {name: _rounded(measure.of_release(measured)) for name, measure in self._measures.items()}
            smallest = int(release.sizes.min()) if release.groups else 0
            value = round(float(self.value(node)), 6)
            self._known[node] = Scored(node, measured.withheld, release.groups, smallest, value, scores)
        return self._known[node]

    # -- the first in an order ---------------------------------------------------------------------------------------

    def first(self, nodes: npt.NDArray[np.int16], key: str, most: int, tell: Steps) -> tuple[list[Scored], bool]:
        """Return the first of some nodes in an order, and whether no other node comes before these.

        The nodes are rows, in the order of their levels, which decides where nothing else does: sorting is stable.
        """
        if len(nodes) <= most:
            found = []
            for done, node in enumerate(_tuples(nodes)):
                tell(done, len(nodes))
                found.append(self.of(node))
            return sorted(found, key=self.order(key)), True
        heights = nodes.sum(axis=1)
        if key == LEVELS:
            order = np.argsort(heights, kind="stable")[:most]
            return self._all_of(nodes[order], key, tell), True
        if key == VALUE:
            worth: npt.NDArray[np.float64] = sum(
                (np.array([float(value) for value in by_level])[nodes[:, j]] for j, by_level in enumerate(self.values)),
                np.zeros(len(nodes)),
            )
            order = np.lexsort((heights, -np.round(worth, 12)))[:most]
            return self._all_of(nodes[order], key, tell), True
        if key in self._measures and is_additive(key):
            return self._by_bound(nodes, key, most, tell)
        checked = len(nodes) <= MOST_CHECKED
        order = np.argsort(heights, kind="stable")
        if checked:
            told = self._checked(key, tell)
            ranks = [told(node, done, len(nodes)) for done, node in enumerate(_tuples(nodes[order]))]
            order = order[np.argsort(np.array(ranks), kind="stable")]
        return self._all_of(nodes[order[:most]], key, tell), checked

    def _all_of(self, nodes: npt.NDArray[np.int16], key: str, tell: Steps) -> list[Scored]:
        return self.first(nodes, key, len(nodes), tell)[0]

    def _by_bound(self, nodes: npt.NDArray[np.int16], key: str, most: int, tell: Steps) -> tuple[list[Scored], bool]:
        """Score nodes in the order of what generalization alone costs, until the others must cost more."""
        bounds = self._generalized(nodes, key)
        order = np.lexsort((nodes.sum(axis=1), np.round(bounds, 12)))
        worst: list[float] = []  # of the best so far, as a heap of their negatives
        found: list[Scored] = []
        for place in order.tolist():
            if len(worst) == most and bounds[place] > -worst[0] + SLACK:
                return sorted(found, key=self.order(key))[:most], True
            if len(found) >= max(4 * most, 400):
                return sorted(found, key=self.order(key))[:most], False
            tell(len(found), 0)
            scored = self.of(tuple(nodes[place].tolist()))
            found.append(scored)
            heapq.heappush(worst, -float(scored.scores[key] or 0))
            if len(worst) > most:
                heapq.heappop(worst)
        return sorted(found, key=self.order(key))[:most], True

    def _generalized(self, nodes: npt.NDArray[np.int16], key: str) -> npt.NDArray[np.float64]:
        """What generalization alone costs at nodes: withholding only adds to it."""
        counts = self._microdata.counts
        released = self._microdata.records
        numerators, denominators = self._space.shares(key)
        total = np.zeros(len(nodes))
        for j, weight in enumerate(self._space.weights()):
            codes = self._space.codes[:, j]
            by_level = [float(np.dot(cost[codes], counts)) / denominators[j] / released for cost in numerators[j]]
            total += float(weight) * np.array(by_level)[nodes[:, j]]
        return total

    def _checked(self, key: str, tell: Steps) -> Callable[[Node, int, int], float]:
        """Return what tells the rank of a node by a check of it."""
        if key == SMALLEST:
            return self._smallest(tell)
        checker: Checker = make_checker(self._space, self._requirement, "loss")
        view = checker.base()
        score = self._measures[key].score_of_node if key in self._measures else None
        records = self._microdata.records

        def told(node: Node, done: int, total: int) -> float:
            tell(done, total)
            found = checker.check(view, node)
            if score is not None:
                return score(found, records, self._requirement.k)
            return float(found.withheld if key == WITHHELD else -found.groups)

        return told

    def _smallest(self, tell: Steps) -> Callable[[Node, int, int], float]:
        """Return what tells the rank of a node by the smallest group that it releases."""

        def told(node: Node, done: int, total: int) -> float:
            tell(done, total)
            group_of_profile, groups = group_profiles(self._space, node)
            group_of = group_of_profile[self._microdata.profile_of_unit]
            fitting = people_at(self._space, self._requirement, node, group_of_profile, groups)
            failing = self._requirement.fails(self._microdata, group_of, groups, fitting=fitting)
            sizes = np.bincount(group_of, minlength=groups)[~failing]
            return -float(sizes.min()) if len(sizes) else 0.0

        return told

    def order(self, key: str) -> Callable[[Scored], tuple[Any, ...]]:
        """Return what sorts scored nodes: the best first, then the lowest."""

        def rank(scored: Scored) -> float:
            if key == WITHHELD:
                return scored.withheld
            if key in (GROUPS, SMALLEST):
                return -(scored.groups if key == GROUPS else scored.smallest)
            if key == VALUE:
                return -scored.value
            if key == LEVELS:
                return 0
            score = scored.scores[key]
            if score is None:
                return float("inf")
            return -score if self._measures[key].more_is_better else score

        return lambda scored: (rank(scored), sum(scored.node), scored.node)


def _tuples(nodes: npt.NDArray[np.int16]) -> Sequence[Node]:
    return [tuple(node) for node in nodes.tolist()]


def _rounded(value: Fraction | float | None) -> float | None:
    return None if value is None else round(float(value), 6)
