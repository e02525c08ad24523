"""What it takes to test strings of levels, in whichever process: an order says what to test, an answer what was found.

Orders and answers are plain data, so that they can go to other processes. What an order is answered with depends on
nothing but the order: a search that gives many at once, and takes the answers in its own turn, goes the same way.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hedgerow.anonymization.lattice.checker import Checker, GeneralChecker, make_checker, rises
from hedgerow.anonymization.lattice.space import Node, Space
from hedgerow.privacy import Requirement

Elsewhere = Callable[[Space, "Node | None"], Checker]
"""Makes what counts the groups of some columns, or of all, of a table that lies elsewhere."""


KEPT = 12
"""Views that are kept, where each has memory of its own."""


class Order(NamedTuple):
    """What is to be found out.

    ``("lost", on, nodes)``
        What each of some nodes loses, tested on the groups of another that lies below all of them.
    ``("raised", node, work)``
        A failing node, raised in an order of its attributes as far as it still fails, or as a number of tests goes.
    ``("block", members, levels)``
        Which strings of some levels of some attributes pass, all others left out, which fail, and how many were tested.
    """

    what: str
    first: Any
    second: Any


class Bench:
    """Tests strings in this process.

    Parameters
    ----------
    space, requirement, budget
        The lattice, what is asked of groups, and how many records may be withheld.
    salt
        If given, wide lattices are tested by hash; whoever reports a node must confirm it.
    by_blocks
        Whether blocks of attributes will be asked for. These need the table itself, other orders do not.
    """

    def __init__(
        self,
        space: Space,
        requirement: Requirement,
        budget: int,
        salt: int | None = None,
        by_blocks: bool = False,
    ) -> None:
        self.requirement, self.budget, self.salt = requirement, budget, salt
        self.rises = rises(requirement, budget)
        self.profiles = len(space.codes)
        self.top = tuple(size - 1 for size in space.shape)
        self.tests = 0
        self._space: Space | None = space
        self._by_blocks = by_blocks
        self._checker: Checker | None = None
        self._views: list[tuple[Node, Any]] = []
        self._elsewhere: Elsewhere | None = None

    @property
    def space(self) -> Space:
        """The lattice."""
        assert self._space is not None
        return self._space

    def checked_by(self, elsewhere: Elsewhere) -> None:
        """Have groups counted elsewhere, where the table lies: the profiles of the lattice are not the table's."""
        self._elsewhere = elsewhere

    def holds(self, node: Node) -> bool:
        """Confirm a node without hashing."""
        if self._elsewhere is not None:
            return True
        general = GeneralChecker(self.space, self.requirement, "research-value")
        return general.check(general.base(), node).withheld <= self.budget

    def __getstate__(self) -> dict[str, Any]:
        if not self._by_blocks:
            self._prepare()
        kept = {**self.__dict__, "_views": [], "tests": 0}
        return kept if self._by_blocks else {**kept, "_space": None}

    def do(self, order: Order) -> Any:
        """Do what is ordered; counts all tests that it takes."""
        what, first, second = order
        if what == "lost":
            return [self.lost(tuple(first), tuple(node)) for node in second]
        if what == "raised":
            return self.raised(tuple(first), list(second))
        return self.block(tuple(first), [list(levels) for levels in second])

    def lost(self, on: Node, node: Node) -> tuple[int, int]:
        """Records withheld at a node, and those of them that every node below withholds too."""
        self.tests += 1
        view = self._view(on)
        assert self._checker is not None
        found = self._checker.check(view, node)
        return int(found.withheld), int(found.withheld if self.rises else found.surely_withheld)

    def raised(self, node: Node, work: list[Any]) -> tuple[Node, list[Any], int]:
        """Raise attributes in order, halves of the list at once, while the node surely fails.

        ``work`` is the order of the attributes; ranges of it that are to be raised, the last one first; a range with
        levels at which it is to be tried, or None; and how many tests may be made. Returns the node, what is left of
        the work, and how many tests were made.
        """
        order, parts, trial, most = work
        tests = 0
        while (parts or trial) and tests < most:
            if trial is None:
                first, last = parts.pop()
                levels = list(node)
                for j in order[first:last]:
                    levels[j] = self.top[j]
            else:
                first, last, levels = trial
            trial = None
            if tuple(levels) == node:
                continue
            tests += 1
            if self.lost(node, tuple(levels))[1] > self.budget:
                node = tuple(levels)
            elif last - first > 1:
                middle = (first + last) // 2
                parts += [[middle, last], [first, middle]]
            else:
                levels[order[first]] -= 1
                trial = [first, last, levels]
        return node, [order, parts, trial, most], tests

    def block(self, members: Node, levels: list[list[int]]) -> tuple[list[Node], list[Node], int]:
        """Test the strings of some attributes alone, from general to specific, but for those that fail for sure."""
        space, before = self.space, self.tests
        part = Space(space.microdata, space.codes[:, members], tuple(space.maps[j] for j in members))
        checker = self._checker_of(part, members)
        view = checker.roll_up(checker.base(), tuple(of_one[0] for of_one in levels))
        passing: list[Node] = []
        failing = np.zeros((16, len(members)), np.int64)
        fails = 0
        for node in sorted(itertools.product(*levels), key=lambda node: -sum(node)):
            if self.rises and (failing[:fails] >= np.array(node)).all(axis=1).any():
                continue
            self.tests += 1
            if checker.check(view, node).withheld <= self.budget or not self.rises:
                passing.append(node)
                continue
            if fails == len(failing):
                failing = np.concatenate([failing, np.zeros_like(failing)])
            failing[fails] = node
            fails += 1
        return passing, [tuple(node) for node in failing[:fails].tolist()], self.tests - before

    def _prepare(self) -> Checker:
        if self._checker is None:
            self._checker = self._checker_of(self.space, None)
        return self._checker

    def _checker_of(self, space: Space, members: Node | None) -> Checker:
        if self._elsewhere is not None:
            return self._elsewhere(space, members)
        salt = self.salt if members is None else None
        return make_checker(space, self.requirement, "research-value", self.budget, salt)

    def _view(self, on: Node) -> Any:
        """Return the groups of a node, rolled up from the most general of those at hand; a few are kept."""
        checker = self._prepare()
        if not self._views:
            self._views = [((0,) * len(self.top), checker.base())]
        for node, view in reversed(self._views):
            if node == on:
                return view
        if checker.views_stand_alone:
            below = max((pair for pair in self._views if _is_below(pair[0], on)), key=lambda pair: sum(pair[0]))
            if len(self._views) == KEPT:
                del self._views[2]  # the first ones are asked for again and again
        else:
            while not _is_below(self._views[-1][0], on):
                self._views.pop()
            below = self._views[-1]
        self._views.append((on, checker.roll_up(below[1], on)))
        return self._views[-1][1]


def _is_below(low: Node, high: Node) -> bool:
    return all(one <= other for one, other in zip(low, high, strict=True))
