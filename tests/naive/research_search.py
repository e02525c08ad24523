"""Searches for the string of levels of greatest research value: exhaustive, and the thesis's four.

A string is a node of the lattice. ``scores`` give the value of every attribute at every level; that of a string
is their sum. A string passes if the records of its failing groups are at most the task's budget.

Decided here:

- Pre-pruning looks at k and the counting models: what fails these alone fails them in every string.
- A string is tested over all attributes, also those dropped by pre-pruning, which stand at their top level.
- Failure prunes, and blocks are filtered, only if all that is more general than a success succeeds (``rises``).
- Local search also stops at a string it has tested: its pointers are then next to each other, and it would only
  go to and fro between two strings. It tests what it comes to, whether or not hybrid has pruned it.
- Divided search tests combinations by value, then as ``rank`` breaks ties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod

from .lattice import Levels, Task, is_below
from .research_value import Column, Settings, level_value, normalized_weights
from .trees import Node

Scores = Sequence[Sequence[Fraction]]
"""Weighted value of every attribute (first) at every level (second)."""


@dataclass(frozen=True)
class Success:
    """A string that passed, its value, and how many attributes are at their root."""

    levels: Levels
    value: Fraction
    at_root: int


@dataclass(frozen=True)
class Search:
    """What a search found and did.

    ``tested`` counts whole strings, and in ``divided`` strings of blocks too, but not the single levels of
    pre-pruning; ``pruned`` were generated and never tested. ``trail`` are the whole strings in the order tested,
    ``successes`` those of them that passed; ``dropped`` are the places of attributes whose top level failed.
    """

    best: Levels | None
    generated: int
    tested: int
    pruned: int
    successes: tuple[Success, ...]
    trail: tuple[Levels, ...]
    dropped: tuple[int, ...] = ()


# ---- values and tests ------------------------------------------------------------------------------------


def level_scores(task: Task, columns: Sequence[Column], settings: Settings) -> list[list[Fraction]]:
    """Scores of all levels that the task allows; columns stand in the order of its attributes."""
    scores = []
    for place, (column, weight) in enumerate(zip(columns, normalized_weights(columns), strict=True)):
        codes = [record[place] for record in task.records]
        scores.append(
            [
                weight * level_value(column, codes, [task.shown(place, code, level) for code in codes], settings)
                for level in task.allowed_levels(place)
            ]
        )
    return scores


def score(scores: Scores, levels: Levels) -> Fraction:
    """Value of a string."""
    return sum((scores[place][level] for place, level in enumerate(levels)), Fraction(0))


def passes(task: Task, levels: Levels, places: Sequence[int] | None = None) -> bool:
    """Whether a string passes, over all attributes or over some alone."""
    looked_at = range(len(task.attributes)) if places is None else places
    groups: dict[tuple[Node, ...], list[int]] = {}
    for number, record in enumerate(task.records):
        shown = tuple(task.shown(place, record[place], level) for place, level in zip(looked_at, levels, strict=True))
        groups.setdefault(shown, []).append(number)
    return sum(len(group) for group in groups.values() if not task.holds(group)) <= task.budget


def rises(task: Task) -> bool:
    """Whether every string that is more general than one that passes does too."""
    return task.demands.survive_growth or task.budget == 0


def success(task: Task, scores: Scores, levels: Levels) -> Success:
    at_root = sum(is_root(task, place, level) for place, level in enumerate(levels))
    return Success(levels, score(scores, levels), at_root)


def is_root(task: Task, place: int, level: int) -> bool:
    """Whether a level shows the root for every leaf; limits may keep some below it. A single value is no root."""
    tree = task.attributes[place].tree
    shown = {task.shown(place, code, level) for code in range(len(tree.leaves))}
    return shown == {tree.root} and tree.height(tree.root) > 0


def rank(found: Success) -> tuple[Fraction, int, Levels]:
    """Sorts the best first: greatest value, then fewest attributes at their root, then lowest levels."""
    return -found.value, found.at_root, found.levels


def best_of(found: Sequence[Success]) -> Levels | None:
    return min(found, key=rank).levels if found else None


def surviving_levels(task: Task) -> tuple[list[list[int]], tuple[int, ...]]:
    """Pre-pruning: for every attribute the levels that pass alone, and the places of dropped attributes.

    An attribute whose top level fails is dropped: it keeps that level only.
    """
    survivors, dropped = [], []
    lenient = replace(task, demands=task.demands.only_counting())
    for place, top in enumerate(task.top()):
        kept = [level for level in task.allowed_levels(place) if passes(lenient, (level,), [place])]
        if top not in kept:
            dropped.append(place)
            kept = [top]
        survivors.append(kept)
    return survivors, tuple(dropped)


# ---- exhaustive ------------------------------------------------------------------------------------------


def exhaustive(task: Task, scores: Scores) -> Search:
    """Test every string of all levels, by height and then by levels."""
    strings = task.nodes()
    found = tuple(success(task, scores, levels) for levels in strings if passes(task, levels))
    return Search(best_of(found), len(strings), len(strings), 0, found, tuple(strings))


# ---- global, local, hybrid -------------------------------------------------------------------------------


def prune(task: Task, scores: Scores, strings: Sequence[Levels], tested: Levels, passed: bool) -> list[Levels]:
    """What is left after a test.

    Success drops all strings of lower value and all more general ones, failure all more specific ones.
    """
    left = [s for s in strings if s != tested]
    if passed:
        least = score(scores, tested)
        return [s for s in left if score(scores, s) >= least and not is_below(tested, s)]
    return [s for s in left if not (rises(task) and is_below(s, tested))]


@dataclass
class Run:
    """The tests of one search, in order."""

    task: Task
    trail: dict[Levels, bool]

    def test(self, levels: Levels) -> bool:
        self.trail[levels] = passes(self.task, levels)
        return self.trail[levels]

    def result(self, scores: Scores, generated: int, dropped: tuple[int, ...]) -> Search:
        found = tuple(success(self.task, scores, levels) for levels, passed in self.trail.items() if passed)
        tested = len(self.trail)
        return Search(best_of(found), generated, tested, generated - tested, found, tuple(self.trail), dropped)


def halve(run: Run, scores: Scores, strings: Sequence[Levels]) -> None:
    """The global search over a list: test the middle, prune, until none is left.

    Sorted by value ascending; of equal values the more specific comes later.
    """
    left = sorted(strings, key=lambda levels: (score(scores, levels), tuple(-level for level in levels)))
    while left:
        middle = left[len(left) // 2]
        left = prune(run.task, scores, left, middle, run.test(middle))


def follow_pointers(run: Run, survivors: Sequence[Sequence[int]], outcome: Callable[[Levels, bool], None]) -> None:
    """The local search: every attribute halves its surviving levels, all at once.

    Success moves halfway to the most specific level still in reach, failure halfway to the most general.
    """
    lo = [0 for _ in survivors]
    hi = [len(levels) - 1 for levels in survivors]
    mid = [(low + high) // 2 for low, high in zip(lo, hi, strict=True)]
    while True:
        string = tuple(levels[place] for levels, place in zip(survivors, mid, strict=True))
        if string in run.trail:
            return
        passed = run.test(string)
        outcome(string, passed)
        if passed:
            hi = mid
            mid = [(low + high) // 2 for low, high in zip(lo, hi, strict=True)]
        else:
            lo = mid
            mid = [(low + high + 1) // 2 for low, high in zip(lo, hi, strict=True)]


def global_search(task: Task, scores: Scores) -> Search:
    """All strings of surviving levels, halved by value."""
    survivors, dropped = surviving_levels(task)
    strings = list(product(*survivors))
    run = Run(task, {})
    halve(run, scores, strings)
    return run.result(scores, len(strings), dropped)


def local_search(task: Task, scores: Scores) -> Search:
    """Pointers only: no list of strings is generated but those tested. May find nothing."""
    survivors, dropped = surviving_levels(task)
    run = Run(task, {})
    follow_pointers(run, survivors, lambda levels, passed: None)
    return run.result(scores, len(run.trail), dropped)


def hybrid_search(task: Task, scores: Scores) -> Search:
    """Local, pruning the list of all strings with every outcome; then global on what is left."""
    survivors, dropped = surviving_levels(task)
    strings = list(product(*survivors))
    left = list(strings)
    run = Run(task, {})

    def learn(levels: Levels, passed: bool) -> None:
        left[:] = prune(task, scores, left, levels, passed)

    follow_pointers(run, survivors, learn)
    halve(run, scores, left)
    return run.result(scores, len(strings), dropped)


# ---- divided ---------------------------------------------------------------------------------------------


def divided_search(task: Task, scores: Scores, block: int = 4) -> Search:
    """All successes of every block of attributes by itself; then their combinations, best first, to the first success.

    Generated are the strings of the blocks and the combinations; the strings of blocks are all tested.
    """
    survivors, dropped = surviving_levels(task)
    places = range(len(survivors))
    blocks = [places[start : start + block] for start in range(0, len(places), block)]
    of_blocks = sum(prod(len(survivors[place]) for place in among) for among in blocks)
    passed = [
        [s for s in product(*(survivors[place] for place in among)) if not rises(task) or passes(task, s, among)]
        for among in blocks
    ]
    combined = [sum(parts, ()) for parts in product(*passed)]
    trail: list[Levels] = []
    found: tuple[Success, ...] = ()
    for candidate in sorted((success(task, scores, levels) for levels in combined), key=rank):
        trail.append(candidate.levels)
        if passes(task, candidate.levels):
            found = (candidate,)
            break
    untested = len(combined) - len(trail)
    generated = of_blocks + len(combined)
    return Search(best_of(found), generated, generated - untested, untested, found, tuple(trail), dropped)
