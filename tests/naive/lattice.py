"""Full-domain generalization by looking at every node of the lattice (Truta and Vinay 2006).

A node has one level per attribute; level i shows the ancestor i steps above a leaf, stopping at the root.
Records of groups that fail are withheld; a node is feasible if they are at most ``budget``, so with a budget
of all records every node is, even one that releases nothing.

Limits: ``ignore`` them; ``attribute``: levels that take a present leaf beyond its limit are cut off;
``value``: every leaf stops at its own limit, on all levels of the tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal

from .attributes import Record, TreeAttribute
from .conditions import frequencies, max_groups_by_attribute
from .privacy import Demands, Sensitive
from .trees import Node

Levels = tuple[int, ...]
"""A node of the lattice."""
Limits = Literal["ignore", "attribute", "value"]
Condition2 = Literal["sound", "printed", "off"]


@dataclass(frozen=True, eq=False)
class Task:
    """A table, and what is asked of a release of it."""

    attributes: Sequence[TreeAttribute]
    records: Sequence[Record]
    k: int
    sensitive: Sequence[Sensitive]
    demands: Demands
    budget: int = 0
    limits: Limits = "ignore"
    persons: Sequence[int] | None = None

    # ---- levels and nodes ----

    def top(self) -> Levels:
        """The greatest level of every attribute."""
        return tuple(self.allowed_levels(place)[-1] for place in range(len(self.attributes)))

    def allowed_levels(self, place: int) -> list[int]:
        """Levels of an attribute, from 0; only those within the limits if these cut the lattice."""
        attribute = self.attributes[place]
        levels = range(attribute.tree.height(attribute.tree.root) + 1)
        if self.limits != "attribute":
            return list(levels)
        present = {record[place] for record in self.records}
        return [
            level
            for level in levels
            if not any(attribute.breaks_limit(code, self.shown(place, code, level)) for code in present)
        ]

    def nodes(self) -> list[Levels]:
        """All nodes, by height and then by levels."""
        return sorted(product(*(range(level + 1) for level in self.top())), key=lambda node: (sum(node), node))

    def shown(self, place: int, code: int, level: int) -> Node:
        """What a leaf shows at a level."""
        attribute = self.attributes[place]
        path = attribute.tree.paths[attribute.tree.leaves[code]]
        stop = len(path) - 1
        if self.limits == "value":
            stop = path.index(attribute.limits[code])
        return path[min(level, stop)]

    def show(self, record: Record, node: Levels) -> tuple[Node, ...]:
        """What a record shows at a node."""
        return tuple(
            self.shown(place, code, level) for place, (code, level) in enumerate(zip(record, node, strict=True))
        )

    # ---- one node ----

    def groups(self, node: Levels) -> list[list[int]]:
        """Record numbers group by group, nothing withheld, in order of first appearance."""
        found: dict[tuple[Node, ...], list[int]] = {}
        for number, record in enumerate(self.records):
            found.setdefault(self.show(record, node), []).append(number)
        return list(found.values())

    def holds(self, group: Sequence[int]) -> bool:
        """Whether a group has k records (persons) and satisfies every model."""
        size = len(group if self.persons is None else {self.persons[i] for i in group})
        return size >= self.k and self.demands.hold([self.sensitive[i] for i in group])

    def evaluate(self, node: Levels) -> Evaluation:
        """What a node releases and withholds."""
        kept: list[list[int]] = []
        withheld: list[int] = []
        groups = self.groups(node)
        for group in groups:
            if self.holds(group):
                kept.append(group)
            else:
                withheld += group
        return Evaluation(node, kept, sorted(withheld), len(groups))

    def is_feasible(self, node: Levels) -> bool:
        """Whether what a node withholds is within the budget."""
        return len(self.evaluate(node).withheld) <= self.budget

    def small(self, node: Levels) -> int:
        """Records of a node in groups of fewer than k records (persons)."""
        return sum(
            len(group)
            for group in self.groups(node)
            if len(group if self.persons is None else {self.persons[i] for i in group}) < self.k
        )

    def at_levels(self, chosen: dict[int, int]) -> list[Levels]:
        """The nodes at which some attributes, by place, have the levels that somebody chose."""
        return [node for node in self.nodes() if all(node[place] == level for place, level in chosen.items())]


@dataclass(frozen=True)
class Evaluation:
    """A node's groups that hold, the records withheld, and the number of groups before withholding."""

    node: Levels
    groups: Sequence[Sequence[int]]
    withheld: Sequence[int]
    groups_before: int


# ---- minimal nodes ---------------------------------------------------------------------------------------


def is_below(one: Levels, other: Levels) -> bool:
    """Whether a node lies strictly below another: nowhere higher, somewhere lower."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def all_minimal(task: Task) -> list[Levels]:
    """The feasible nodes with no feasible node below them, by height and then by levels."""
    feasible = [node for node in task.nodes() if task.is_feasible(node)]
    return [node for node in feasible if not any(is_below(other, node) for other in feasible)]


@dataclass(frozen=True)
class Found:
    """A node or None, how many nodes were evaluated, and how many Condition 2 skipped."""

    node: Levels | None
    checked: int
    skipped: int


def samarati(task: Task, condition_2: Condition2 = "sound") -> Found:
    """Algorithm 3: binary search on height; of the height found, the first feasible node by levels.

    Deviations from the paper. Condition 2 skips a node, not the rest of its height. ``printed`` compares it
    with the groups before withholding, which loses nodes when the budget is not 0; ``sound`` allows for as
    many groups more as the budget could withhold. Condition 1 is not asked when everything may be withheld.
    The greatest height is looked at too: the paper takes it for granted. The answer is of least height if
    the models survive growth, or if the budget is 0.
    """
    n = len(task.records)
    found = frequencies(task.sensitive)
    ps = task.demands.least_distinct()
    if task.budget < n and any(p > len(column) for p, column in zip(ps, found, strict=True)):
        return Found(None, 0, 0)
    most_groups = max_groups_by_attribute(found, n, ps) + (task.budget if condition_2 == "sound" else 0)
    checked = skipped = 0

    def first_feasible(height: int) -> Levels | None:
        nonlocal checked, skipped
        for node in task.nodes():
            if sum(node) != height:
                continue
            if condition_2 != "off" and len(task.groups(node)) > most_groups:
                skipped += 1
                continue
            checked += 1
            if task.is_feasible(node):
                return node
        return None

    best: Levels | None = None
    low, high = 0, sum(task.top())
    while low < high:
        middle = (low + high) // 2
        node = first_feasible(middle)
        if node is None:
            low = middle + 1
        else:
            best, high = node, middle
    if best is None:
        best = first_feasible(high)
    return Found(best, checked, skipped)


# ---- objectives ------------------------------------------------------------------------------------------

Objective = Callable[[Task, Evaluation], Fraction | None]
"""Score of an evaluated node, lower is better; None is worse than any number."""


def loss(task: Task, evaluation: Evaluation) -> Fraction:
    """NTIL: height of the value shown over that of its tree; 1 for a withheld record."""
    return mean_share(task, evaluation, lambda attribute, node: attribute.share_lost(node))


def ncp(task: Task, evaluation: Evaluation) -> Fraction:
    """Leaves under the value shown over all leaves, 0 for a single one; 1 for a withheld record."""
    return mean_share(task, evaluation, lambda attribute, node: attribute.share_covered(node))


def granularity(task: Task, evaluation: Evaluation) -> Fraction:
    """ARX's loss: (leaves under the value − 1) / (leaves − 1), 0 in a tree of one leaf; 1 for a withheld record."""

    def share(attribute: TreeAttribute, node: Node) -> Fraction:
        leaves = len(attribute.tree.leaves)
        return Fraction(len(attribute.tree.leaves_under(node)) - 1, leaves - 1) if leaves > 1 else Fraction(0)

    return mean_share(task, evaluation, share)


def mean_share(task: Task, evaluation: Evaluation, share: Callable[[TreeAttribute, Node], Fraction]) -> Fraction:
    """Weighted mean over records and attributes of what each value costs; 1 for every withheld record."""
    total = Fraction(0)
    for place, (attribute, level) in enumerate(zip(task.attributes, evaluation.node, strict=True)):
        codes = (task.records[i][place] for group in evaluation.groups for i in group)
        shown = Counter(task.shown(place, code, level) for code in codes)
        costs = sum((count * share(attribute, node) for node, count in shown.items()), Fraction(0))
        total += attribute.weight * (costs + len(evaluation.withheld))
    return total / (len(task.records) * sum(attribute.weight for attribute in task.attributes))


def discernibility(task: Task, evaluation: Evaluation) -> Fraction:
    """Σ|group|² + n · withheld."""
    squares = sum(len(group) ** 2 for group in evaluation.groups)
    return Fraction(squares + len(task.records) * len(evaluation.withheld))


def average(task: Task, evaluation: Evaluation) -> Fraction | None:
    """n / (groups · k), groups after withholding; None if there is none."""
    groups = len(evaluation.groups)
    return Fraction(len(task.records), groups * task.k) if groups else None


@dataclass(frozen=True)
class Optimum:
    """The best node, its score, and how many records it withholds."""

    node: Levels
    score: Fraction | None
    withheld: int


def optimum(task: Task, objective: Objective) -> Optimum | None:
    """The feasible node of least score; then fewest withheld, least height, least levels."""
    best: tuple[tuple[bool, Fraction, int, int, Levels], Optimum] | None = None
    for node in task.nodes():
        evaluation = task.evaluate(node)
        withheld = len(evaluation.withheld)
        if withheld > task.budget:
            continue
        score = objective(task, evaluation)
        key = (score is None, score or Fraction(0), withheld, sum(node), node)
        if best is None or key < best[0]:
            best = key, Optimum(node, score, withheld)
    return None if best is None else best[1]


# ---- levels kept current ---------------------------------------------------------------------------------


def nearest(task: Task, objective: Objective, before: Levels, only_above: bool) -> Levels | None:
    """The levels of a release after a change: those before if they hold, else the best at or above them.

    If levels are not there any more (limits that cut the lattice), or none at or above hold, the best of all: unless
    levels may only rise.
    """
    if all(level <= most for level, most in zip(before, task.top(), strict=True)):
        if task.is_feasible(before):
            return before
        above = [node for node in task.nodes() if node == before or is_below(before, node)]
        found = best_of(task, objective, above)
        if found is not None:
            return found
    return None if only_above else best_of(task, objective, task.nodes())


def lower(task: Task, objective: Objective, before: Levels) -> Levels | None:
    """The best levels at or below some."""
    return best_of(task, objective, [node for node in task.nodes() if node == before or is_below(node, before)])


def best_of(task: Task, objective: Objective, nodes: Sequence[Levels]) -> Levels | None:
    """Of some nodes the feasible one of least score, that releases somebody; ties as in ``optimum``."""
    found = []
    for node in nodes:
        evaluation = task.evaluate(node)
        withheld = len(evaluation.withheld)
        if withheld <= task.budget and withheld < len(task.records):
            score = objective(task, evaluation)
            found.append(((score is None, score or Fraction(0), withheld, sum(node), node), node))
    return min(found)[1] if found else None
