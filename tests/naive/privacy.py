"""Models against attribute disclosure, judged on a group's histograms of sensitive codes.

A record has one code (from 0) per sensitive attribute, or None if it is missing; missing never counts. A
model looks at one attribute: how often each code occurs in the group, how many values the attribute has,
and how often each occurs in the whole microdata. Sums of floats run over codes ascending.

``survives_growth``: a group that holds still holds with any further record. ``closed_under_union``: two
groups that hold also hold as one. k itself has both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor, log
from typing import ClassVar

from .trees import Node, Tree

Sensitive = tuple[int | None, ...]
"""Sensitive codes of a record, one per sensitive attribute."""
Histogram = Mapping[int, int]
"""How often each code occurs; codes that do not occur are left out."""
Distance = Callable[[Sequence[float], Sequence[float]], float]
"""Earth mover's distance of two distributions over the codes."""

TOLERANCE = 1e-12
LACK_UNIT = 1e9


def histogram(column: Iterable[int | None]) -> dict[int, int]:
    """Counts of the codes that are not missing, by code ascending."""
    return dict(sorted(Counter(code for code in column if code is not None).items()))


def shares(counts: Histogram, n_values: int) -> list[float]:
    """Share of every code; all 0 if nothing was counted."""
    total = sum(counts.values())
    return [counts.get(code, 0) / total if total else 0.0 for code in range(n_values)]


# ---- models ----------------------------------------------------------------------------------------------


class Model(ABC):
    """What every group must satisfy in one sensitive attribute."""

    survives_growth: ClassVar[bool] = False
    closed_under_union: ClassVar[bool] = True

    @abstractmethod
    def holds(self, counts: Histogram, n_values: int, overall: Histogram) -> bool:
        """Whether a group with these counts satisfies the model."""

    @abstractmethod
    def gap(self, counts: Histogram, n_values: int, overall: Histogram) -> float:
        """How far the group is from satisfying it; meaningful only if it does not."""

    def lack(self, counts: Histogram, n_values: int, overall: Histogram) -> int:
        """0 if the model holds, else 1 + floor(1e9 · gap)."""
        if self.holds(counts, n_values, overall):
            return 0
        return 1 + floor(LACK_UNIT * max(0.0, self.gap(counts, n_values, overall)))


@dataclass(frozen=True)
class Distinct(Model):
    """At least p distinct values: p-sensitivity, distinct l-diversity. The one counting model."""

    p: int
    survives_growth: ClassVar[bool] = True

    def holds(self, counts: Histogram, n_values: int, overall: Histogram) -> bool:
        return len(counts) >= self.p

    def gap(self, counts: Histogram, n_values: int, overall: Histogram) -> float:
        return self.p - len(counts)


@dataclass(frozen=True)
class Entropy(Model):
    """Entropy l-diversity: entropy of at least ln(l)."""

    l: float  # noqa: E741 - the papers' letter

    def holds(self, counts: Histogram, n_values: int, overall: Histogram) -> bool:
        return entropy(counts) >= log(self.l) - TOLERANCE

    def gap(self, counts: Histogram, n_values: int, overall: Histogram) -> float:
        return log(self.l) - entropy(counts)


@dataclass(frozen=True)
class Recursive(Model):
    """Recursive (c, l)-diversity: the most frequent value is rarer than c times those from the l-th on.

    A fraction for c is compared exactly. With a float, c · tail is rounded, and where it should equal the
    greatest count the union of two groups that hold may fail (c = 2.2: 55 of tail 25, 99 of tail 45).
    """

    c: float | Fraction
    l: int  # noqa: E741 - the papers' letter

    def holds(self, counts: Histogram, n_values: int, overall: Histogram) -> bool:
        return len(counts) >= self.l and max(counts.values()) < self.c * self.tail(counts)

    def gap(self, counts: Histogram, n_values: int, overall: Histogram) -> float:
        if not counts:
            return 1.0
        return float((max(counts.values()) - self.c * self.tail(counts)) / sum(counts.values()))

    def tail(self, counts: Histogram) -> int:
        """r_l + r_{l+1} + …; 0 if there are fewer than l values."""
        return sum(sorted(counts.values(), reverse=True)[self.l - 1 :])


@dataclass(frozen=True)
class Alpha(Model):
    """(alpha, k)-anonymity: no value has more than a share alpha; nothing to say about a group without values."""

    alpha: float

    def holds(self, counts: Histogram, n_values: int, overall: Histogram) -> bool:
        return greatest_share(counts) <= self.alpha + TOLERANCE

    def gap(self, counts: Histogram, n_values: int, overall: Histogram) -> float:
        return greatest_share(counts) - self.alpha


@dataclass(frozen=True)
class Likeness(Model):
    """β-likeness (Cao and Karras 2012): no share grows by more than beta times what it is in the whole.

    Enhanced: by more than min(beta, −ln p), p the share in the whole. Nothing to say about a group without values.
    """

    beta: float
    enhanced: bool = False

    def beyond(self, counts: Histogram, overall: Histogram) -> list[float]:
        """By how much the gain of every value is beyond what it may be."""
        if not counts:
            return []
        found = []
        for code in sorted(overall):
            p = overall[code] / sum(overall.values())
            q = counts.get(code, 0) / sum(counts.values())
            found.append(q / p - 1.0 - (min(self.beta, -log(p)) if self.enhanced else self.beta))
        return found

    def holds(self, counts: Histogram, n_values: int, overall: Histogram) -> bool:
        return all(far <= TOLERANCE for far in self.beyond(counts, overall))

    def gap(self, counts: Histogram, n_values: int, overall: Histogram) -> float:
        return total(far for far in self.beyond(counts, overall) if far > TOLERANCE)


@dataclass(frozen=True)
class Disclosure(Model):
    """δ-disclosure privacy (Brickell and Shmatikov 2008): |ln(q/p)| < delta for every value of the whole.

    A value that is not in the group has no logarithm: the group fails. For the gap, it counts as half a record.
    """

    delta: float

    def beyond(self, counts: Histogram, overall: Histogram) -> list[float]:
        """By how much every value is beyond delta."""
        found = []
        for code in sorted(overall):
            p = overall[code] / sum(overall.values())
            q = counts.get(code, 0.5) / max(sum(counts.values()), 1)
            found.append(abs(log(q / p)) - self.delta)
        return found

    def holds(self, counts: Histogram, n_values: int, overall: Histogram) -> bool:
        return set(counts) == set(overall) and all(far <= TOLERANCE for far in self.beyond(counts, overall))

    def gap(self, counts: Histogram, n_values: int, overall: Histogram) -> float:
        return total(far for far in self.beyond(counts, overall) if far > TOLERANCE)


def total(numbers: Iterable[float]) -> float:
    """Sum from left to right, as Python did before 3.12."""
    result = 0.0
    for number in numbers:
        result += number
    return result


def entropy(counts: Histogram) -> float:
    """−Σ (c/n) ln(c/n); 0 for an empty histogram."""
    total = sum(counts.values())
    result = 0.0
    for code in sorted(counts):
        share = counts[code] / total
        result -= share * log(share)
    return result


def greatest_share(counts: Histogram) -> float:
    """Share of the most frequent value; 0 for an empty histogram."""
    return max(counts.values()) / sum(counts.values()) if counts else 0.0


# ---- t-closeness (Li, Li, Venkatasubramanian 2007) -------------------------------------------------------


def equal_distance(p: Sequence[float], q: Sequence[float]) -> float:
    """All values equally far apart: ½ Σ |p − q|."""
    total = 0.0
    for one, other in zip(p, q, strict=True):
        total += abs(one - other)
    return 0.5 * total


def ordered_distance(p: Sequence[float], q: Sequence[float]) -> float:
    """Values in the order of their codes, neighbours 1/(m − 1) apart: (Σ |running Σ (p − q)|) / (m − 1)."""
    if len(p) == 1:
        return 0.0
    carried = total = 0.0
    for one, other in zip(p[:-1], q[:-1], strict=True):
        carried += one - other
        total += abs(carried)
    return total / (len(p) - 1)


def hierarchical_distance(tree: Tree) -> Distance:
    """Two leaves are height(common ancestor) / height(tree) apart; a code is a leaf's number.

    Inner nodes are summed depth first, children before their parent and in the order of their leaves.
    """
    children = children_of(tree)
    full = tree.height(tree.root)

    def distance(p: Sequence[float], q: Sequence[float]) -> float:
        total = 0.0

        def extra(node: Node) -> float:
            nonlocal total
            if node not in children:
                code = tree.numbers[node]
                return p[code] - q[code]
            positive = negative = here = 0.0
            for child in children[node]:
                moved = extra(child)
                here += moved
                positive += max(moved, 0.0)
                negative += max(-moved, 0.0)
            total += tree.height(node) / full * min(positive, negative)
            return here

        extra(tree.root)
        return total

    return distance


def children_of(tree: Tree) -> dict[Node, list[Node]]:
    """Children of every inner node, in the order of their leaves."""
    found: dict[Node, dict[Node, None]] = {}
    for leaf in tree.leaves:
        path = tree.paths[leaf]
        for child, parent in pairwise(path):
            found.setdefault(parent, {})[child] = None
    return {parent: list(family) for parent, family in found.items()}


@dataclass(frozen=True)
class Closeness(Model):
    """t-closeness: the group's distribution is within t of the whole's; so is that of a group without values."""

    t: float
    distance: Distance = equal_distance

    def holds(self, counts: Histogram, n_values: int, overall: Histogram) -> bool:
        return not counts or self.from_overall(counts, n_values, overall) <= self.t + TOLERANCE

    def gap(self, counts: Histogram, n_values: int, overall: Histogram) -> float:
        return self.from_overall(counts, n_values, overall) - self.t

    def from_overall(self, counts: Histogram, n_values: int, overall: Histogram) -> float:
        """Distance of the group's distribution from that of the whole microdata."""
        return self.distance(shares(counts, n_values), shares(overall, n_values))


# ---- what is asked of a group ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Demands:
    """The models of every sensitive attribute, and what they need to know of the whole microdata."""

    models: tuple[tuple[Model, ...], ...]
    n_values: tuple[int, ...]
    overall: tuple[Histogram, ...]

    @classmethod
    def over(
        cls,
        models: Sequence[Sequence[Model]],
        microdata: Sequence[Sensitive],
        n_values: Sequence[int] | None = None,
    ) -> Demands:
        """Models by sensitive attribute; an attribute has max code + 1 values unless ``n_values`` says more."""
        overall = [histogram(row[place] for row in microdata) for place in range(len(models))]
        if n_values is None:
            n_values = [max(counts, default=-1) + 1 for counts in overall]
        return cls(tuple(map(tuple, models)), tuple(n_values), tuple(overall))

    @classmethod
    def counting(cls, ps: Sequence[int], microdata: Sequence[Sensitive]) -> Demands:
        """At least p_l distinct values of attribute l; 0 and 1 ask for nothing."""
        return cls.over([(Distinct(p),) if p > 1 else () for p in ps], microdata)

    @property
    def are_counting(self) -> bool:
        """Whether all models count distinct values."""
        return all(isinstance(model, Distinct) for models in self.models for model in models)

    @property
    def survive_growth(self) -> bool:
        """Whether all models survive growth."""
        return all(model.survives_growth for models in self.models for model in models)

    def only_counting(self) -> Demands:
        """The counting models alone."""
        kept = tuple(tuple(model for model in models if isinstance(model, Distinct)) for models in self.models)
        return Demands(kept, self.n_values, self.overall)

    def least_distinct(self) -> list[int]:
        """For every attribute the greatest p asked for, 0 if none."""
        return [max((model.p for model in models if isinstance(model, Distinct)), default=0) for models in self.models]

    def hold(self, members: Sequence[Sensitive]) -> bool:
        """Whether every model holds in a group."""
        return self.lack(members) == 0

    def lack(self, members: Sequence[Sensitive]) -> int:
        """Total lack of a group: the sum over attributes and models."""
        total = 0
        for place, models in enumerate(self.models):
            counts = histogram(row[place] for row in members)
            for model in models:
                total += model.lack(counts, self.n_values[place], self.overall[place])
        return total


# ---- judging a release -----------------------------------------------------------------------------------


def distinct_values(members: Iterable[Sensitive], place: int) -> int:
    """Number of distinct values of a sensitive attribute in a group."""
    return len(histogram(row[place] for row in members))


def sensitivity(groups: Sequence[Sequence[int]], sensitive: Sequence[Sensitive]) -> int:
    """The greatest p for which a release is p-sensitive: least number of distinct values anywhere."""
    places = range(len(sensitive[0]))
    return min(distinct_values([sensitive[i] for i in group], place) for group in groups for place in places)


def attribute_disclosures(groups: Sequence[Sequence[int]], sensitive: Sequence[Sensitive]) -> list[tuple[int, int]]:
    """The (group, sensitive attribute) pairs with one distinct value."""
    return [
        (number, place)
        for number, group in enumerate(groups)
        for place in range(len(sensitive[0]))
        if distinct_values([sensitive[i] for i in group], place) == 1
    ]
