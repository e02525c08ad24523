"""What somebody who holds every version of a release could learn about each person.

The reader is taken to know a person's quasi-identifiers and in which versions the person is, so the reader knows the
person's group in each of them. Six things are looked at:

- *values left*, *people left*, *confidence*: what remains when the person's groups are intersected: the joint sensitive
  values that all of them have, each as often as in the group where it is rarest;
- *newcomers*: when people only came, the rows of a newcomer's group that could be new;
- *leavers*: when people only left, the same with the versions exchanged;
- *difference*: by how much the counts of regions that can be compared changed from one version to the next;
- *history class*: people who were in the same groups all along, and so stay alike even if rows could be linked. It is
  reported, but being alone in it is not a leak.

Where a person's sensitive values changed, each run of versions with the same values (an *episode*) is looked at by
itself, and the worst counts. A missing cell is a value like others for matching rows, but does not count towards p.

Intersecting takes each group as a whole. A reader who knows that nobody left between two versions can sometimes rule
out more, because every old row must be some new row; that reasoning is followed for newcomers and leavers only.

The code shares nothing with what makes a release. Neither keys nor values of records are in its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from hedgerow.errors import HedgerowError, Problem
from hedgerow.maintenance.audit.comparing import PairFinding
from hedgerow.maintenance.audit.history import History
from hedgerow.maintenance.audit.past import Past, PublishedVersion
from hedgerow.maintenance.audit.standing import Standing
from hedgerow.types import BoolArray, FloatArray, IntArray

ROUNDING = 1e-12  # what rounding may add to a computed share


@dataclass(frozen=True, eq=False)
class Audit:
    """What is left of every person's anonymity; people are named by their position in the history.

    Attributes
    ----------
    past
        The newest version, with the names of people, values and columns.
    versions
        How many versions were looked at.
    shown
        Those of them that are at hand; at least the newest.
    k, p, alpha
        What was asked, p and alpha by sensitive column.
    published
        People who were published in some version. The others have −1 in the arrays of numbers.
    values_left
        Values of every sensitive column (columns) left for every person (rows).
    people_left
        How many people a person can be one of.
    confidence
        Share of the likeliest value of every sensitive column (columns) for every person (rows).
    pairs
        What comparing consecutive versions found.
    class_people, class_values
        People of the person's history class, and the values they have in the version in which these are fewest.
    """

    past: Past = field(repr=False)
    versions: int
    shown: tuple[PublishedVersion, ...] = field(repr=False)
    k: int
    p: tuple[int, ...]
    alpha: tuple[float | None, ...]
    published: BoolArray = field(repr=False)
    values_left: IntArray = field(repr=False)
    people_left: IntArray = field(repr=False)
    confidence: FloatArray = field(repr=False)
    pairs: tuple[PairFinding, ...] = field(repr=False)
    class_people: IntArray = field(repr=False)
    class_values: IntArray = field(repr=False)

    @property
    def too_few_values(self) -> BoolArray:
        """People with fewer than p values left, by sensitive column."""
        return self.published[:, None] & (self.values_left < np.array(self.p, np.int64))

    @property
    def too_few_people(self) -> BoolArray:
        """People who are left among fewer than k."""
        return self.published & (self.people_left < self.k)

    @property
    def too_certain(self) -> BoolArray:
        """People of whom a value is likelier than alpha, by sensitive column."""
        limits = np.array([np.inf if alpha is None else alpha for alpha in self.alpha])
        return self.published[:, None] & (self.confidence > limits + ROUNDING)

    def failing_by(self, kind: Literal["newcomers", "leavers", "difference"]) -> BoolArray:
        """People for whom a comparison of consecutive versions leaves too little."""
        found = np.zeros(len(self.published), bool)
        for pair in self.pairs:
            if pair.kind == kind:
                found[pair.people] = True
        return found

    @property
    def intersected(self) -> BoolArray:
        """People for whom intersecting their groups leaves too little: values, people or doubt."""
        return self.too_few_values.any(axis=1) | self.too_few_people | self.too_certain.any(axis=1)

    @property
    def failing(self) -> BoolArray:
        """People for whom anything leaves too little."""
        return (
            self.intersected | self.failing_by("newcomers") | self.failing_by("leavers") | self.failing_by("difference")
        )

    @property
    def leaks(self) -> int:
        """Number of people for whom too little is left; regions that fail count as one where nobody is known now."""
        return int(self.failing.sum()) + sum(pair.unknown for pair in self.pairs)

    def failing_groups(self, version: int) -> IntArray:
        """Return the numbers of the published groups of a version by which something fails.

        These are the groups of everybody for whom intersecting leaves too little, those of newcomers who fail in this
        version, and those that changed in a region in which leavers or the difference fail. A group that vanished is
        not among them.
        """
        at = next((published for published in self.shown if published.number == version), None)
        if at is None:
            raise HedgerowError(Problem("usage", f"The history holds no version {version}."))
        places = at.group_of[self.intersected]
        found = [at.groups[places[places >= 0]]]
        found += [pair.groups for pair in self.pairs if pair.version == version]
        return np.unique(np.concatenate(found))

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain data: numbers only, nothing from a record."""
        alike, names = self.published, self.past.sensitive
        few, certain = self.too_few_values, self.too_certain
        return {
            "k": self.k,
            "p": dict(zip(names, self.p, strict=True)),
            "alpha": dict(zip(names, self.alpha, strict=True)),
            "versions": self.versions,
            "people": int(alike.sum()),
            "leaks": self.leaks,
            "people_left": {"least": _least(self.people_left[alike]), "below_k": int(self.too_few_people.sum())},
            "values_left": {
                name: {"least": _least(self.values_left[alike, j]), "below_p": int(few[:, j].sum())}
                for j, name in enumerate(names)
            },
            "confidence": {
                name: {"highest": _highest(self.confidence[alike, j]), "above_alpha": int(certain[:, j].sum())}
                for j, name in enumerate(names)
            },
            "newcomers": self._pair_facts("newcomers"),
            "leavers": self._pair_facts("leavers"),
            "difference": self._pair_facts("difference"),
            "history_class": {
                "least": _least(self.class_people[alike]),
                "below_k": int((self.class_people[alike] < self.k).sum()),
                "values": {
                    name: {
                        "least": _least(self.class_values[alike, j]),
                        "below_p": int((self.class_values[alike, j] < self.p[j]).sum()),
                    }
                    for j, name in enumerate(names)
                },
            },
        }

    def _pair_facts(self, kind: Literal["newcomers", "leavers", "difference"]) -> dict[str, Any]:
        pairs = [pair for pair in self.pairs if pair.kind == kind]
        least = [pair.least_people for pair in pairs if pair.least_people is not None]
        return {
            "pairs": len(pairs),
            "people": sum(pair.checked for pair in pairs),
            "least": min(least, default=None),
            "failing": int(self.failing_by(kind).sum()),
            "unknown": sum(pair.unknown for pair in pairs),
            "versions": [pair.version for pair in pairs if len(pair.people) or pair.unknown],
        }

    def __repr__(self) -> str:
        return (
            f"Audit(versions={self.versions}, people={int(self.published.sum())}, k={self.k}, p={self.p},"
            f" leaks={self.leaks})"
        )


def audit(history: History, k: int, p: Sequence[int], alpha: Sequence[float | None] = ()) -> Audit:
    """Say what somebody who holds all versions can learn about every person.

    Parameters
    ----------
    history
        All versions, with everybody's place in them.
    k
        Least number of people somebody must be left among.
    p
        Least number of values that must be left, by sensitive column; 0 asks for nothing. A missing cell is no value,
        so p = 1 is not met where nothing but missing cells is left.
    alpha
        Greatest share of one value among those left, by sensitive column; None, or no alpha at all, asks for nothing.

    Examples
    --------
    Four people in two groups, then in two other groups that share one person with each of the first.

    >>> import pyarrow as pa
    >>> from hedgerow.maintenance.audit.history import build_history
    >>> groups = {"version": [1, 1, 2, 2, 2, 2], "number": [0, 1, 0, 1, 2, 3], "size": [2, 2, 0, 0, 2, 2]}
    >>> one, two = '[[["flu"], 1], [["cold"], 1]]', '[[["gout"], 1], [["mumps"], 1]]'
    >>> three, four = '[[["flu"], 1], [["gout"], 1]]', '[[["cold"], 1], [["mumps"], 1]]'
    >>> groups["counts"] = [one, two, "[]", "[]", three, four]
    >>> groups["region"] = ['[["1", "4"]]', '[["2", "5"]]', "[null]", "[null]", '[["1", "3"]]', '[["3", "5"]]']
    >>> places = {"version": [1, 1, 1, 1, 2, 2, 2, 2], "key": [*"abcd", *"abcd"]}
    >>> places["group_number"] = [0, 0, 1, 1, 2, 3, 2, 3]
    >>> values = {"version": [1] * 4, "key": [*"abcd"], "values": ['["flu"]', '["cold"]', '["gout"]', '["mumps"]']}
    >>> history = build_history(pa.table(groups), pa.table(places), pa.table(values), ["diagnosis"])
    >>> audit(history, 2, [2])
    Audit(versions=2, people=4, k=2, p=(2,), leaks=4)
    """
    asked = AskedOfPeople.of(k, p, alpha, len(history.past.sensitive))
    return conclude(stand(history, asked), history.past, history.versions, len(history.versions), asked)


@dataclass(frozen=True)
class AskedOfPeople:
    """What is asked of every person.

    Attributes
    ----------
    k, p, alpha
        As :func:`audit` takes them; p and alpha have one entry for each sensitive column.
    """

    k: int
    p: tuple[int, ...]
    alpha: tuple[float | None, ...]

    @classmethod
    def of(cls, k: int, p: Sequence[int], alpha: Sequence[float | None], columns: int) -> AskedOfPeople:
        """Check that there is one entry for each of some sensitive columns."""
        demands = tuple(int(least) for least in p) if columns else ()
        limits = tuple(alpha) or (None,) * columns
        if len(demands) != columns or len(limits) != columns:
            message = f"The 'p' and 'alpha' parameters must have one entry for each of the {columns} sensitive columns."
            raise HedgerowError(Problem("usage", message))
        return cls(k, demands, limits)


def stand(history: History, asked: AskedOfPeople) -> Standing:
    """Work out the standing of everybody after all versions of a history."""
    standing, old, codes = Standing.empty(len(asked.p)), None, history.past.codes
    for new in history.versions:
        standing, old = standing.after(old, new, codes, asked.k, asked.p), new
    return standing


def conclude(
    standing: Standing, past: Past, shown: Sequence[PublishedVersion], versions: int, asked: AskedOfPeople
) -> Audit:
    """Say what the standing of everybody after some versions comes to."""
    return Audit(
        past, versions, tuple(shown), asked.k, asked.p, asked.alpha, *standing.left(), standing.pairs,
        *standing.classes(),
    )  # fmt: skip


# ---- facts -----------------------------------------------------------------------------------------------


def _least(figures: IntArray) -> int | None:
    return int(figures.min()) if len(figures) else None


def _highest(figures: FloatArray) -> float | None:
    return round(float(figures.max()), 12) if len(figures) else None
