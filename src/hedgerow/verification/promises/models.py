"""The privacy models beyond k: what a plan asks of its sensitive columns, judged group by group.

Missing values never count. What a value counts as is told in :mod:`hedgerow.verification.values.sensitive`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from hedgerow.plan import Attribute, Plan
from hedgerow.plan.concepts import PRIVACY_MODELS
from hedgerow.types import FloatArray
from hedgerow.verification.counting.distances import Distance, Equal, Hierarchical, Ordered
from hedgerow.verification.counting.evidence import Counted, Evidence
from hedgerow.verification.result import Promise, by_meaning_of_missing

TOLERANCE = 1e-12
"""By how much numbers that are not whole may miss what was asked."""
Metric = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True)
class Judged:
    """The worst that was found in a column; of two columns that with the greater ``badness`` is worse."""

    found: int | str
    kept: bool
    badness: float


class Demand(ABC):
    """What is asked of one sensitive column in every group."""

    @property
    @abstractmethod
    def asked(self) -> str:
        """The demand in a few words, followed by 'of' and columns."""

    @abstractmethod
    def judge(self, column: Counted) -> Judged:
        """Judge a column of a release that has at least one group."""


@dataclass(frozen=True)
class DifferentValues(Demand):
    """At least so many different values: p-sensitivity, distinct l-diversity.

    Attributes
    ----------
    least
        How many.
    matching
        Whether they are counted among the rows that a row matches, where the plan lets a missing cell match anything.
    """

    least: int
    matching: bool = False

    @property
    def asked(self) -> str:
        """The demand in a few words."""
        return f"{self.least} different values"

    def judge(self, column: Counted) -> Judged:
        """Find the group with fewest."""
        fewest = int(column.histograms.distinct.min())
        if not self.matching or fewest >= self.least:
            return Judged(fewest, fewest >= self.least, -fewest)
        matching = column.fewest_matching(self.least)
        kept = matching >= self.least
        found = by_meaning_of_missing(f"{matching} or more" if kept else matching, fewest)
        return Judged(found, kept, -matching)


@dataclass(frozen=True)
class Entropy(Demand):
    """Entropy l-diversity: an entropy of at least ln(l); that of a group without values is 0."""

    least: float

    @property
    def asked(self) -> str:
        """The demand in a few words."""
        return f"an entropy of at least ln({_written(self.least)})"

    def judge(self, column: Counted) -> Judged:
        """Find the group of least entropy."""
        lowest = float(column.histograms.entropies.min())
        kept = lowest >= math.log(self.least) - TOLERANCE
        return Judged(f"ln({_written(math.exp(lowest), down=True)})", kept, -lowest)


@dataclass(frozen=True)
class Recursive(Demand):
    """Recursive (c, l)-diversity: the most frequent value is rarer than c times all from the l-th on, compared exactly.

    A group with fewer than l different values fails.
    """

    times: Fraction
    start: int

    @property
    def asked(self) -> str:
        """The demand in a few words."""
        return f"the most frequent below {_written(float(self.times))} times those from number {self.start} on"

    def judge(self, column: Counted) -> Judged:
        """Find the group in which the most frequent value is most frequent."""
        histograms = column.histograms
        fewest = int(histograms.distinct.min())
        if fewest < self.start:
            return Judged(f"a group with {fewest} different values", kept=False, badness=math.inf)
        pairs = zip(histograms.greatest.tolist(), histograms.tails(self.start).tolist(), strict=True)
        worst = max(Fraction(greatest, tail) for greatest, tail in dict.fromkeys(pairs))
        return Judged(f"{_written(float(worst))} times", worst < self.times, float(worst))


@dataclass(frozen=True)
class Alpha(Demand):
    """(alpha, k)-anonymity: no value has a greater share of a group than alpha; nothing is asked without values."""

    most: float

    @property
    def asked(self) -> str:
        """The demand in a few words."""
        return f"a share of at most {_written(self.most)}"

    def judge(self, column: Counted) -> Judged:
        """Find the group of greatest share."""
        greatest = float((column.histograms.greatest / np.maximum(column.histograms.totals, 1)).max())
        return Judged(_written(greatest), greatest <= self.most + TOLERANCE, greatest)


@dataclass(frozen=True)
class Close(Demand):
    """t-closeness: every group's distribution is within t of that of all released records.

    Withheld records play no part in it: else the groups that pass would tell something about them.
    """

    most: float
    metric: Metric

    @property
    def asked(self) -> str:
        """The demand in a few words."""
        return f"a distance ({self.metric}) of at most {_written(self.most)}"

    def distance(self, column: Counted) -> Distance:
        """Return the distance between the classes of a column."""
        if self.metric == "equal":
            return Equal()
        if self.metric == "ordered":
            return Ordered(len(column.ways))
        return Hierarchical(column.ways, column.reader.ways)

    def judge(self, column: Counted) -> Judged:
        """Find the group that is farthest from all released records."""
        if self.metric == "ordered" and not column.in_order:
            return Judged("values that are not all numbers, so have no order", kept=False, badness=math.inf)
        farthest = float(self.distance(column).between(column.histograms, column.overall).max())
        return Judged(_written(farthest), farthest <= self.most + TOLERANCE, farthest)


@dataclass(frozen=True)
class Like(Demand):
    """β-likeness: no value's share of a group is more than 1 + β times that of all released records.

    Attributes
    ----------
    most
        β: by how much a share may grow, out of what it is among all.
    enhanced
        Whether a value may grow by −ln of its share among all at most.
    """

    most: float
    enhanced: bool

    @property
    def asked(self) -> str:
        """The demand in a few words."""
        return f"a gain{' (enhanced)' if self.enhanced else ''} of at most {_written(self.most)}"

    def judge(self, column: Counted) -> Judged:
        """Find the value that is too frequent by most, or else the one that gains most."""
        ratio, among_all = _ratios(column)
        gain = ratio - 1
        allowed = np.minimum(self.most, -np.log(among_all)) if self.enhanced else np.full(len(gain), self.most)
        greatest = max(float(gain.max(initial=0)), 0.0)
        kept = bool((gain <= allowed + TOLERANCE).all())
        return Judged(_written(greatest), kept, greatest)


@dataclass(frozen=True)
class Undisclosing(Demand):
    """δ-disclosure privacy: every value of the release is in every group, its share within a factor e^δ of that of all.

    A group that lacks a value, or has none at all, fails, unless no released record has any.
    """

    most: float

    @property
    def asked(self) -> str:
        """The demand in a few words."""
        return f"all values in every group, shares within e^{_written(self.most)}"

    def judge(self, column: Counted) -> Judged:
        """Find a group that lacks a value, or else the share that is farthest."""
        there = int((column.overall > 0).sum())
        fewest = int(column.histograms.distinct.min())
        if fewest < there:
            return Judged(f"a group with {fewest} of {there} values", kept=False, badness=math.inf)
        farthest = float(np.abs(np.log(_ratios(column)[0])).max(initial=0))
        return Judged(f"e^{_written(farthest)}", farthest <= self.most + TOLERANCE, farthest)


def _ratios(column: Counted) -> tuple[FloatArray, FloatArray]:
    """Return every value's share of its group over that of all released records, and the latter."""
    histograms, everybody = column.histograms, column.overall.sum()
    among_all = column.overall[histograms.code] / everybody
    return histograms.count / (histograms.totals[histograms.group] * among_all), among_all


def _diverse(asked: Any, attribute: Attribute) -> Demand:
    if asked.distinct is not None:
        return DifferentValues(asked.distinct)
    if asked.entropy is not None:
        return Entropy(float(asked.entropy))
    times, start = asked.recursive
    return Recursive(Fraction(times), start)


def _close(asked: Any, attribute: Attribute) -> Demand:
    return Close(float(asked.at_most), asked.distance or ("hierarchical" if attribute.hierarchy else "equal"))


DEMANDS: dict[str, Callable[[Any, Attribute], Demand]] = {
    "p": lambda asked, attribute: DifferentValues(asked, matching=True),
    "l": _diverse,
    "t": _close,
    "alpha": lambda asked, attribute: Alpha(float(asked)),
    "beta": lambda asked, attribute: Like(float(asked.at_most), asked.enhanced),
    "delta": lambda asked, attribute: Undisclosing(float(asked)),
}
"""For every privacy model, by its name, how to read what a plan asks of one sensitive column."""


def check_models(evidence: Evidence) -> Iterator[Promise]:
    """Check one promise for every model that the plan asks for, over all the columns that it is asked of."""
    plan = evidence.plan
    for model in PRIVACY_MODELS.names:
        asked = {name: plan.privacy.demands(name) for name in plan.columns("sensitive")}
        of = [name for name in asked if model in asked[name]]
        if of and model not in DEMANDS:
            yield Promise(
                model, f"a demand on {', '.join(of)}", "nothing: there is no independent check of it", kept=False
            )
        elif of:
            yield _check(
                model, {name: DEMANDS[model](asked[name][model], plan.attributes[name]) for name in of}, evidence
            )


def check_members(evidence: Evidence) -> Iterator[Promise]:
    """Check that what is asked of sensitive columns holds of the members of linked units who are published alike, too.

    Whoever knows a whole unit looks for a member among those of the units like it, not in all of the member's group.
    """
    rows = evidence.units
    demands = [
        (name, model, DEMANDS[model](asked, evidence.plan.attributes[name]))
        for name in evidence.sensitive
        for model, asked in evidence.plan.privacy.demands(name).items()
        if model in DEMANDS
    ]
    if not demands or rows is None:
        return
    faults = []
    for name, model, demand in demands if rows.members else ():
        verdict = demand.judge(evidence.counted_by(name, rows.member_of, rows.members))
        faults += [] if verdict.kept else [f"{model} of {name}: {verdict.found}"]
    yield Promise("members", "the same of each member of units alike", "; ".join(faults) or "so it is", kept=not faults)


def demands_of(plan: Plan) -> list[tuple[str, Demand]]:
    """Return every demand on a sensitive column, and what judges it."""
    return [
        (name, DEMANDS[model](asked, plan.attributes[name]))
        for name in plan.columns("sensitive")
        for model, asked in plan.privacy.demands(name).items()
        if model in DEMANDS
    ]


def _check(model: str, demands: Mapping[str, Demand], evidence: Evidence) -> Promise:
    asked = _asked(demands, evidence.plan.columns("sensitive"))
    lacking = [name for name in demands if name not in evidence.sensitive]
    if lacking:
        return Promise(model, asked, "missing columns: " + ", ".join(lacking), kept=False)
    if evidence.groups.groups == 0:
        return Promise(model, asked, "no groups", kept=True)
    verdicts = {name: evidence.judged(demand, name) for name, demand in demands.items()}
    kept = all(verdict.kept for verdict in verdicts.values())
    if len({demand.asked for demand in demands.values()}) == 1:
        worst = max(verdicts.values(), key=lambda verdict: (not verdict.kept, verdict.badness))
        return Promise(model, asked, worst.found, kept)
    return Promise(model, asked, "; ".join(f"{name}: {verdict.found}" for name, verdict in verdicts.items()), kept)


def _asked(demands: Mapping[str, Demand], sensitive: tuple[str, ...]) -> int | str:
    """Say what is asked: once if it is the same of all columns, a bare number if it can be."""
    first = next(iter(demands.values()))
    if len({demand.asked for demand in demands.values()}) > 1:
        return "; ".join(f"{demand.asked} of {name}" for name, demand in demands.items())
    if isinstance(first, DifferentValues) and len(demands) == len(sensitive):
        return first.least
    return f"{first.asked} of {', '.join(demands)}"


def _written(number: float, down: bool = False) -> str:
    """Write a number with up to four decimals, rounded up or down so that it never looks better than it is.

    Examples
    --------
    >>> _written(1 / 3), _written(1 / 3, down=True), _written(0.1 + 0.2), _written(2.0)
    ('0.3334', '0.3333', '0.3', '2')
    """
    scaled = round(number * 10_000, 6)
    return f"{(math.floor(scaled) if down else math.ceil(scaled)) / 10_000:.4f}".rstrip("0").rstrip(".")
