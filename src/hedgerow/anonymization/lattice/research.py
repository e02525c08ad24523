"""Searches for the string of levels of greatest research value (Morton 2013).

*Pre-pruning* looks at every attribute alone: levels that fail by themselves are left out, and an attribute that fails
at its top is published there. *Global*, *local*, *hybrid* and *divided* are the thesis's; what it leaves open is
decided so that they are deterministic (ties, rounding of middles). *Exact* is ours: it proves its answer like global
and never lists the strings; see ``conflicts.py``.

A string is tested by the groups of all attributes together. With a budget of records that may be withheld it passes if
no more than those are in groups that fail.

Several processes may test (``crew.py``). Global and hybrid search go on as if what is being tested failed, as most
strings do, and go back where it passes; divided search deals out its blocks, and tests combinations ahead; local
search, each string of which depends on the one before, is left to one.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.lattice.bench import Bench, Order
from hedgerow.anonymization.lattice.checker import rises
from hedgerow.anonymization.lattice.conflicts import Patience, find_best
from hedgerow.anonymization.lattice.crew import Alone, Crew, Hire, Ticket
from hedgerow.anonymization.lattice.space import Node, Space
from hedgerow.errors import NoSolution, Problem
from hedgerow.measures.research_value import ColumnValue
from hedgerow.privacy import Requirement

SearchName = Literal["exact", "global", "local", "hybrid", "divided"]
MOST_STRINGS = 1_000_000
MOST_CHECKS = 200_000
"""Strings of all attributes that a divided search tests if it cannot list their combinations."""
MOST_SUCCESSES = 20
SCALE = 1 << 40
Tell = Callable[[int], None]
Choice = tuple[tuple[int, int], ...]
_State = tuple[npt.NDArray[np.int16], Any, npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class Success:
    """A string that passes.

    Attributes
    ----------
    node
        Its levels.
    value
        Its research value.
    at_root
        Attributes of which nothing is left to tell.
    """

    node: Node
    value: Fraction
    at_root: int


@dataclass(frozen=True)
class Research:
    """What a search found and how.

    Attributes
    ----------
    best
        A string of greatest value among those tested; None if none was found. Of equal ones, global, local and hybrid
        return the one with fewest attributes at their root, then lowest levels; the others any, always the same.
    successes
        The best of the strings that were tested and pass.
    succeeded
        How many strings were tested and pass.
    strings
        Strings of all levels.
    generated, tested, pruned
        Strings that the search listed (None if it lists none), tested, and dropped without a test.
    dropped
        Positions of attributes that fail at their top level even alone.
    bound
        No string that passes has a greater value than this.
    proven
        Whether the best is proven to be the best.
    conflicts
        Exact search: strings that fail although as general as can be; together they prove the bound.
    """

    search: SearchName
    best: Success | None
    successes: tuple[Success, ...]
    succeeded: int
    strings: int
    generated: int | None
    tested: int
    pruned: int | None
    dropped: tuple[int, ...]
    bound: Fraction
    proven: bool
    conflicts: tuple[Node, ...] = ()


def level_values(space: Space, values: tuple[ColumnValue, ...]) -> list[list[Fraction]]:
    """Research value of every level of every attribute."""
    return [
        [value.of_level(nodes, level) for nodes, level in zip(levels, space.numbers(j), strict=True)]
        for j, (value, levels) in enumerate(zip(values, space.maps, strict=True))
    ]


def search_research(
    space: Space,
    requirement: Requirement,
    budget: int,
    values: tuple[ColumnValue, ...],
    search: SearchName = "exact",
    block: int = 4,
    patience: Patience | None = None,
    tell: Tell | None = None,
    hire: Hire = Alone,
) -> Research:
    """Find a string of great research value; ``hire`` says who tests, which changes nothing but the time it takes.

    Raises
    ------
    NoSolution
        If the strings of a search that lists them are too many.
    """
    looking = _Looking(space, requirement, budget, level_values(space, values), tell, hire)
    if search == "exact":
        return looking.exact(patience)
    levels, dropped = looking.pre_prune()
    if search == "divided":
        _refuse_large_blocks(levels, block)
    looking.crew = hire(Bench(space, requirement, budget, by_blocks=search == "divided"))
    try:
        if search == "local":
            return looking.local(levels, dropped)
        if search == "divided":
            return looking.divided(levels, dropped, block, patience)
        return looking.by_list(levels, dropped, hybrid=search == "hybrid")
    finally:
        looking.crew.close()


class _Looking:
    """Tests strings, and remembers what passed."""

    def __init__(
        self,
        space: Space,
        requirement: Requirement,
        budget: int,
        by_level: list[list[Fraction]],
        tell: Tell | None,
        hire: Hire,
    ) -> None:
        self.space, self.requirement, self.budget, self.by_level, self.tell = space, requirement, budget, by_level, tell
        self.hire = hire
        self.crew: Crew
        self.bottom = (0,) * len(space.maps)
        self.tested = 0
        self.passed: dict[Node, None] = {}
        self.rises = rises(requirement, budget)

    def test(self, node: Node) -> bool:
        """Test a string."""
        return self.take(node, self.order(node))

    def order(self, node: Node) -> Ticket:
        """Have a string tested."""
        return self.crew.submit(Order("lost", self.bottom, [node]))

    def take(self, node: Node, ticket: Ticket) -> bool:
        """Take what a test has come to; only such tests count."""
        self.tested += 1
        if self.tell is not None:
            self.tell(self.tested)
        passes = bool(self.crew.answer(ticket)[0][0] <= self.budget)
        if passes:
            self.passed[node] = None
        return passes

    def value(self, node: Node) -> Fraction:
        """Research value of a string."""
        return sum((self.by_level[j][level] for j, level in enumerate(node)), Fraction(0))

    # -- the thesis's searches -------------------------------------------------------------------------------------

    def pre_prune(self) -> tuple[list[list[int]], tuple[int, ...]]:
        """Levels of every attribute that could pass, and the attributes of which not even the top does."""
        microdata = self.space.microdata
        levels, dropped = [], []
        for j, maps in enumerate(self.space.maps):
            passing = []
            for level, nodes in enumerate(maps):
                group_of = nodes[self.space.codes[:, j]][microdata.profile_of_unit]
                groups = int(group_of.max(initial=0)) + 1
                failing = self.requirement.fails(microdata, group_of, groups, only_if_it_stays_so=True)
                if int(failing[group_of].sum()) <= self.budget:
                    passing.append(level)
            if not passing:
                dropped.append(j)
                passing = [len(maps) - 1]
            levels.append(passing)
        return levels, tuple(dropped)

    def by_list(self, levels: list[list[int]], dropped: tuple[int, ...], hybrid: bool) -> Research:
        """Search the sorted list of all strings from its middle, after a local search if hybrid."""
        strings = _Strings(self, levels)
        generated = len(strings.levels)
        if hybrid:
            self.halve(levels, strings.learn)
        given: deque[tuple[Node, _State, Ticket]] = deque()
        ahead = 1 if self.crew.hands == 1 else 2 * self.crew.hands
        while given or strings.open.any():
            while len(given) < ahead and strings.open.any():
                node = strings.middle()
                given.append((node, strings.as_it_is(), self.order(node)))
                strings.learn(node, passes=False)
            node, before, ticket = given.popleft()
            if self.take(node, ticket):  # what was given after that was in vain
                self.crew.forget(later for _, _, later in given)
                given.clear()
                strings.go_back(before)
                strings.learn(node, passes=True)
        return self.result("hybrid" if hybrid else "global", generated, dropped, proven=True)

    def local(self, levels: list[list[int]], dropped: tuple[int, ...]) -> Research:
        """Search every attribute by halves at the same time."""
        self.halve(levels, lambda node, passes: None)
        return self.result("local", None, dropped, proven=False)

    def halve(self, levels: list[list[int]], learn: Callable[[Node, bool], None]) -> None:
        """Test the string of middles, and move all of them towards specific if it passes, else towards general."""
        low, high = [0] * len(levels), [len(passing) - 1 for passing in levels]
        middle = [(a + b) // 2 for a, b in zip(low, high, strict=True)]
        seen: set[Node] = set()
        while True:
            node = tuple(passing[at] for passing, at in zip(levels, middle, strict=True))
            if node in seen:
                return
            seen.add(node)
            passes = self.test(node)
            learn(node, passes)
            if passes:
                high = list(middle)
                middle = [(a + b) // 2 for a, b in zip(low, high, strict=True)]
            else:
                low = list(middle)
                middle = [(a + b + 1) // 2 for a, b in zip(low, high, strict=True)]

    def divided(
        self, levels: list[list[int]], dropped: tuple[int, ...], block: int, patience: Patience | None
    ) -> Research:
        """Find all strings that pass in each block of attributes alone; test their combinations, greatest first.

        Too many combinations are not listed: what fails in a block rules out all strings that hold it, and the search
        for the best of the others goes on by conflicts, as the exact search does, for a bounded number of tests.
        """
        parts, failing = self.of_blocks(levels, block)
        generated = _size(levels, block)
        combinations = int(np.prod([len(part) for part in parts], dtype=object))
        if combinations > MOST_STRINGS:
            self.crew.close()  # the search by conflicts hires one of its own
            return self.by_conflicts("divided", dropped, patience, failing, MOST_CHECKS)
        totals = np.zeros((), np.int64)
        for part in parts:
            worth = [_scaled(sum((self.by_level[j][level] for j, level in found), Fraction(0))) for found in part]
            totals = np.add.outer(totals, np.array(worth, np.int64))
        order = iter(np.argsort(-totals, axis=None, kind="stable").tolist())
        given: deque[tuple[Node, Ticket]] = deque()
        ahead = 1 if self.crew.hands == 1 else 2 * self.crew.hands
        while True:
            for at in itertools.islice(order, ahead - len(given)):
                node = [passing[-1] for passing in levels]
                for part, choice in zip(parts, np.unravel_index(at, totals.shape), strict=True):
                    for j, level in part[int(choice)]:
                        node[j] = level
                given.append((tuple(node), self.order(tuple(node))))
            if not given or self.take(*given.popleft()):
                break
        return self.result("divided", generated + combinations, dropped, proven=True)

    def of_blocks(self, levels: list[list[int]], block: int) -> tuple[list[list[Choice]], list[Node]]:
        """Strings of every block that pass, and strings of all attributes that fail because of one block."""
        top = tuple(size - 1 for size in self.space.shape)
        blocks = [range(first, min(first + block, len(levels))) for first in range(0, len(levels), block)]
        self.crew.expect(_size(levels, block))
        given = [self.crew.submit(Order("block", list(inside), [levels[j] for j in inside])) for inside in blocks]
        parts, failing = [], []
        for inside, ticket in zip(blocks, given, strict=True):
            passing, fails, tested = self.crew.answer(ticket)
            self.tested += tested
            if self.tell is not None:
                self.tell(self.tested)
            parts.append([tuple(zip(inside, found, strict=True)) for found in passing])
            failing += [(*top[: inside.start], *found, *top[inside.stop :]) for found in fails]
        return parts, failing

    # -- ours ------------------------------------------------------------------------------------------------------

    def exact(self, patience: Patience | None) -> Research:
        """Find the best string without listing them; see ``conflicts.py``."""
        return self.by_conflicts("exact", (), patience)

    def by_conflicts(
        self,
        search: SearchName,
        dropped: tuple[int, ...],
        patience: Patience | None,
        known: Iterable[Node] = (),
        most: int | None = None,
    ) -> Research:
        """Find the best string by what fails; some of that may be known, and ``most`` bounds how many are tested."""
        costs = [[_scaled(by_level[0] - value) for value in by_level] for by_level in self.by_level]
        found = find_best(
            self.space, self.requirement, self.budget, costs, patience, self.tell, self.hire, known, self.tested, most
        )
        self.tested = found.checked
        if found.node is not None:
            self.passed[found.node] = None
        best = sum((by_level[0] for by_level in self.by_level), Fraction(0))
        bound = best - Fraction(found.least, SCALE)
        return self.result(search, None, dropped, found.proven, bound, found.conflicts)

    # -- the answer ------------------------------------------------------------------------------------------------

    def result(
        self,
        search: SearchName,
        generated: int | None,
        dropped: tuple[int, ...],
        proven: bool,
        bound: Fraction | None = None,
        conflicts: tuple[Node, ...] = (),
    ) -> Research:
        """Sort the strings that passed: greatest value, fewest attributes at their root, lowest levels."""
        found = [Success(node, self.value(node), self._at_root(node)) for node in self.passed]
        found.sort(key=lambda success: (-success.value, success.at_root, success.node))
        best = found[0] if found else None
        most = sum((by_level[0] for by_level in self.by_level), Fraction(0))
        if bound is None or (proven and best is not None):
            bound = best.value if proven and best is not None else most
        pruned = None if generated is None else max(generated - self.tested, 0)
        return Research(
            search,
            best,
            tuple(found[:MOST_SUCCESSES]),
            len(found),
            self.space.nodes,
            generated,
            self.tested,
            pruned,
            dropped,
            bound,
            proven,
            conflicts,
        )

    def _at_root(self, node: Node) -> int:
        return sum(
            bool((self.space.maps[j][level] == 0).all()) and self.space.columns[j].hierarchy.height > 0
            for j, level in enumerate(node)
        )


class _Strings:
    """The list of all strings, sorted by value, and which of them are still open."""

    def __init__(self, looking: _Looking, levels: list[list[int]]) -> None:
        size = int(np.prod([len(passing) for passing in levels], dtype=object))
        if size > MOST_STRINGS:
            raise _too_many(size)
        grid = np.meshgrid(*(np.array(passing) for passing in levels), indexing="ij")
        strings = np.stack([part.ravel() for part in grid], axis=1).astype(np.int16)
        exact = _common([[looking.by_level[j][level] for level in passing] for j, passing in enumerate(levels)])
        totals: Any = np.zeros((), object)
        for worth in exact:
            totals = np.add.outer(totals, np.array(worth, object))
        totals = totals.ravel()
        rank = np.unique(totals, return_inverse=True)[1].reshape(-1)
        # ascending by value; of equal ones the more specific comes later
        order = np.lexsort((*(-strings[:, ::-1]).T, rank))
        self.levels: npt.NDArray[np.int16] = strings[order]
        self.values = rank[order]
        self.open = np.ones(len(order), bool)
        self.rises = looking.rises

    def as_it_is(self) -> _State:
        """What is open now."""
        return self.levels, self.values, self.open.copy()

    def go_back(self, state: _State) -> None:
        """Have open what was open before."""
        self.levels, self.values, self.open = state

    def middle(self) -> Node:
        """The string in the middle of those that are open."""
        left = np.flatnonzero(self.open)
        return tuple(self.levels[left[len(left) // 2]].tolist())

    def learn(self, node: Node, passes: bool) -> None:
        """Drop what a test decides about other strings."""
        here = np.array(node, np.int16)
        same = np.flatnonzero((self.levels == here).all(axis=1))
        if len(same):
            if passes:
                self.open &= self.values >= self.values[same[0]]
                self.open &= ~(self.levels >= here).all(axis=1)
            elif self.rises:
                self.open &= ~(self.levels <= here).all(axis=1)
            self.open[same[0]] = False
        if 2 * int(self.open.sum()) < len(self.open):  # forget what is decided
            self.levels, self.values = self.levels[self.open], self.values[self.open]
            self.open = np.ones(len(self.values), bool)


def _common(values: list[list[Fraction]]) -> list[list[int]]:
    """Bring all values to one denominator."""
    denominators = {value.denominator for by_level in values for value in by_level}
    common = 1
    for denominator in denominators:
        common = common * denominator // np.gcd.reduce(np.array([common, denominator], object))
    return [[int(value * common) for value in by_level] for by_level in values]


def _scaled(value: Fraction) -> int:
    return (2 * SCALE * value.numerator + value.denominator) // (2 * value.denominator)


def _size(levels: list[list[int]], block: int) -> int:
    """Number of strings of all blocks."""
    return sum(_sizes(levels, block))


def _sizes(levels: list[list[int]], block: int) -> list[int]:
    counts = [len(passing) for passing in levels]
    return [int(np.prod(counts[first : first + block], dtype=object)) for first in range(0, len(counts), block)]


def _refuse_large_blocks(levels: list[list[int]], block: int) -> None:
    """Refuse, before any block is looked at, blocks of too many strings."""
    size = max(_sizes(levels, block))
    if size > MOST_STRINGS:
        message = f"A block of this search would list {size:,} strings of levels, more than {MOST_STRINGS:,}."
        hint = f"use a smaller block than {block}, or search: exact, which lists none"
        raise NoSolution(Problem("too-many-nodes", message, hint=hint))


def _too_many(strings: int) -> NoSolution:
    message = f"This search would list {strings:,} strings of levels, more than {MOST_STRINGS:,}."
    return NoSolution(Problem("too-many-nodes", message, hint="use search: exact, which lists none, or local"))
