"""What somebody who holds every version of a release could learn about each person (AUDIT.md).

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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError, Problem
from hedgerow.maintenance.flow import Placement, components_of
from hedgerow.maintenance.history import NOWHERE, History, PublishedVersion, ragged

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

ROUNDING = 1e-12  # what rounding may add to a computed share


@dataclass(frozen=True)
class PairFinding:
    """What the comparison of two consecutive versions found.

    Attributes
    ----------
    kind
        Which comparison.
    version
        The later version.
    checked
        People it was about: those who came or left.
    people
        Positions of the people for whom too little is left.
    groups
        Numbers of the groups of the later version by which it shows.
    unknown
        Failing regions in which nobody is known any more, because the people were erased.
    least_people, least_values
        Least number of rows somebody can hide among, and of values by column: exact where it is too small, and
        otherwise k and p. For the difference: the smallest change that is not none.
    """

    kind: Literal["newcomers", "leavers", "difference"]
    version: int
    checked: int
    people: IntArray = field(repr=False)
    groups: IntArray = field(repr=False)
    unknown: int
    least_people: int | None
    least_values: tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class Audit:
    """What is left of every person's anonymity; people are named by their position in the history.

    Attributes
    ----------
    history, k, p, alpha
        What was looked at and what was asked, p and alpha by sensitive column.
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

    history: History = field(repr=False)
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
        found = np.zeros(self.history.people, bool)
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
        at = next((published for published in self.history.versions if published.number == version), None)
        if at is None:
            raise HedgerowError(Problem("usage", f"The history holds no version {version}."))
        places = at.group_of[self.intersected]
        found = [at.groups[places[places >= 0]]]
        found += [pair.groups for pair in self.pairs if pair.version == version]
        return np.unique(np.concatenate(found))

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain data: numbers only, nothing from a record."""
        alike, names = self.published, self.history.sensitive
        few, certain = self.too_few_values, self.too_certain
        return {
            "k": self.k,
            "p": dict(zip(names, self.p, strict=True)),
            "alpha": dict(zip(names, self.alpha, strict=True)),
            "versions": len(self.history.versions),
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
            f"Audit(versions={len(self.history.versions)}, people={int(self.published.sum())}, k={self.k}, p={self.p},"
            f" leaks={self.leaks})"
        )


def audit(history: History, k: int, p: Sequence[int], alpha: Sequence[float | None] = (), *, since: int = 0) -> Audit:
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
    since
        Pairs of versions are compared only where the later is above this one; for a release whose earlier versions
        were compared before. The other figures are always about all versions.

    Examples
    --------
    Four people in two groups, then in two other groups that share one person with each of the first.

    >>> import pyarrow as pa
    >>> from hedgerow.maintenance.history import build_history
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
    columns = len(history.sensitive)
    demands = tuple(int(least) for least in p) if columns else ()
    limits = tuple(alpha) or (None,) * columns
    if len(demands) != columns or len(limits) != columns:
        message = f"The 'p' and 'alpha' parameters must have one entry for each of the {columns} sensitive columns."
        raise HedgerowError(Problem("usage", message))
    left = _intersect(history)
    findings = []
    for old, new in pairwise(history.versions):
        if new.number > since:
            findings += list(_compare(history, old, new, k, demands))
    return Audit(history, k, demands, limits, *left, tuple(findings), *_history_classes(history))


# ---- intersecting a person's groups ----------------------------------------------------------------------


@dataclass(frozen=True)
class _States:
    """What can be left for somebody: rows of joint values, each with a count."""

    start: IntArray
    value: IntArray
    count: IntArray

    def of(self, rows: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Owner (position in ``rows``), value and count of every entry of these rows."""
        entries, owner = ragged(self.start, rows)
        return owner, self.value[entries], self.count[entries]


def _intersect(history: History) -> tuple[BoolArray, IntArray, IntArray, FloatArray]:
    """Who was ever published, and values left, people left and confidence of everybody."""
    people, columns = history.people, len(history.sensitive)
    worst = _Worst(
        np.full((people, columns), NOWHERE, np.int64), np.full(people, NOWHERE, np.int64), np.zeros((people, columns))
    )
    # people with the same groups in the same episode share a state, so there are about as many states as groups
    states = _States(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
    state_of = np.full(people, NOWHERE, np.int64)
    last_value = np.full(people, NOWHERE, np.int64)
    for version in history.versions:
        here = np.flatnonzero(version.group_of >= 0)
        changed = here[(state_of[here] >= 0) & (last_value[here] != version.value_of[here])]
        if len(changed):
            worst.note(changed, state_of[changed], _figures(states, history.codes))
            state_of[changed] = NOWHERE
        last_value[here] = version.value_of[here]
        states = _advance(states, state_of, version, here, len(history.vectors))
    known = np.flatnonzero(state_of >= 0)
    worst.note(known, state_of[known], _figures(states, history.codes))
    return state_of >= 0, worst.values_left, worst.people_left, worst.confidence


def _advance(states: _States, state_of: IntArray, version: PublishedVersion, here: IntArray, values: int) -> _States:
    """Intersect the states of the people who are here with their groups; rewrites ``state_of``."""
    groups = len(version.groups)
    joint, of_person = np.unique((state_of[here] + 1) * groups + version.group_of[here], return_inverse=True)
    before, group = joint // max(groups, 1) - 1, joint % max(groups, 1)

    fresh, carried = np.flatnonzero(before < 0), np.flatnonzero(before >= 0)
    published = _States(version.count_start, version.count_value, version.count)
    owner, value, count = published.of(group[fresh])
    carried_owner, carried_value, carried_count = states.of(before[carried])
    cells = version.count_group * values + version.count_value
    wanted = group[carried][carried_owner] * values + carried_value
    at = np.minimum(np.searchsorted(cells, wanted), max(len(cells) - 1, 0))
    stays = cells[at] == wanted if len(cells) else np.zeros(0, bool)
    lesser = np.minimum(carried_count, version.count[at])[stays] if len(cells) else carried_count

    away = np.flatnonzero((state_of >= 0) & (version.group_of < 0))
    kept, of_away = np.unique(state_of[away], return_inverse=True)
    kept_owner, kept_value, kept_count = states.of(kept)

    owners = np.concatenate([fresh[owner], carried[carried_owner[stays]], len(joint) + kept_owner])
    order = np.argsort(owners, kind="stable")
    start = np.searchsorted(owners[order], np.arange(len(joint) + len(kept) + 1)).astype(np.int64)
    state_of[here] = of_person
    state_of[away] = len(joint) + of_away
    return _States(
        start,
        np.concatenate([value, carried_value[stays], kept_value])[order],
        np.concatenate([count, lesser, kept_count])[order],
    )


@dataclass(frozen=True)
class _Worst:
    """The worst of every person's episodes so far."""

    values_left: IntArray
    people_left: IntArray
    confidence: FloatArray

    def note(self, people: IntArray, states: IntArray, figures: tuple[IntArray, IntArray, FloatArray]) -> None:
        values, left, confidence = (figure[states] for figure in figures)
        first = self.people_left[people] < 0
        self.values_left[people] = np.where(first[:, None], values, np.minimum(self.values_left[people], values))
        self.people_left[people] = np.where(first, left, np.minimum(self.people_left[people], left))
        self.confidence[people] = np.maximum(self.confidence[people], confidence)


def _figures(states: _States, codes: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Values by column, people, and share of the likeliest value by column, of every state."""
    number, columns = len(states.start) - 1, codes.shape[1]
    owner, value, count = states.of(np.arange(number))
    people = np.bincount(owner, count, number).astype(np.int64)
    distinct = np.zeros((number, columns), np.int64)
    likeliest = np.zeros((number, columns), np.int64)
    for j in range(columns):
        code = codes[value, j]
        there = code >= 0
        width = int(codes[:, j].max(initial=0)) + 1
        cells, at = np.unique(owner[there] * width + code[there], return_inverse=True)
        distinct[:, j] = np.bincount(cells // width, minlength=number)
        np.maximum.at(likeliest[:, j], cells // width, np.bincount(at, count[there], len(cells)).astype(np.int64))
    return distinct, people, likeliest / np.maximum(people, 1)[:, None]


# ---- history classes -------------------------------------------------------------------------------------


def _history_classes(history: History) -> tuple[IntArray, IntArray]:
    """People of every person's history class, and their values by column where these are fewest."""
    class_of = np.zeros(history.people, np.int64)
    ever = np.zeros(history.people, bool)
    for version in history.versions:
        _, class_of = np.unique(class_of * (len(version.groups) + 1) + version.group_of + 1, return_inverse=True)
        ever |= version.group_of >= 0
    classes = int(class_of.max(initial=-1)) + 1
    people = np.bincount(class_of, minlength=classes)
    fewest = np.full((classes, len(history.sensitive)), np.iinfo(np.int64).max)
    last_value = np.full(history.people, NOWHERE, np.int64)
    for version in history.versions:
        # a class comes and goes as a whole, so its values change only where a member's change
        here = version.group_of >= 0
        anew = np.unique(class_of[here & (version.value_of != last_value)])
        last_value[here] = version.value_of[here]
        look_at = np.zeros(classes, bool)
        look_at[anew] = True
        members = np.flatnonzero(here & look_at[class_of])
        for j in range(len(history.sensitive)):
            code = history.codes[version.value_of[members], j]
            width = int(history.codes[:, j].max(initial=0)) + 1
            cells = np.unique(class_of[members][code >= 0] * width + code[code >= 0])
            distinct = np.bincount(cells // width, minlength=classes)
            fewest[anew, j] = np.minimum(fewest[anew, j], distinct[anew])
    return np.where(ever, people[class_of], NOWHERE), np.where(ever[:, None], fewest[class_of], NOWHERE)


# ---- comparing consecutive versions ----------------------------------------------------------------------


def _compare(
    history: History, old: PublishedVersion, new: PublishedVersion, k: int, p: tuple[int, ...]
) -> Iterator[PairFinding]:
    """Newcomers or leavers, where people only came or only left, and the difference."""
    was, is_now = old.group_of >= 0, new.group_of >= 0
    came, left, both = np.flatnonzero(is_now & ~was), np.flatnonzero(was & ~is_now), was & is_now
    changed_old, changed_new = _changed(old, new)
    if (old.value_of[both] == new.value_of[both]).all():
        if len(came) and not len(left):
            yield from _hidden(history, old, new, came, k, p, "newcomers", lambda groups: groups)
        if len(left) and not len(came):

            def showing(groups: IntArray) -> IntArray:
                within = [_meeting(new, changed_new, old.lo[group], old.hi[group]) for group in groups.tolist()]
                return np.unique(np.concatenate(within)) if within else groups

            yield from _hidden(history, new, old, left, k, p, "leavers", showing)
    if len(changed_old) or len(changed_new):
        yield _difference(history, old, new, (changed_old, changed_new), k, p)


def _changed(old: PublishedVersion, new: PublishedVersion) -> tuple[IntArray, IntArray]:
    """Groups of two versions that the other does not publish, or publishes with other counts."""
    _, in_old, in_new = np.intersect1d(old.groups, new.groups, assume_unique=True, return_indices=True)
    same = old.sizes[in_old] == new.sizes[in_new]
    same &= np.diff(old.count_start)[in_old] == np.diff(new.count_start)[in_new]
    entries_old, owner = ragged(old.count_start, in_old[same])
    entries_new, _ = ragged(new.count_start, in_new[same])
    differ = (old.count_value[entries_old] != new.count_value[entries_new]) | (
        old.count[entries_old] != new.count[entries_new]
    )
    alike = np.flatnonzero(same)
    same[alike[owner[differ]]] = False
    return np.setdiff1d(np.arange(len(old.groups)), in_old[same]), np.setdiff1d(
        np.arange(len(new.groups)), in_new[same]
    )


def _meeting(version: PublishedVersion, among: IntArray, lo: IntArray, hi: IntArray) -> IntArray:
    return among[((version.lo[among] <= hi) & (version.hi[among] >= lo)).all(axis=1)]


def _hidden(
    history: History,
    old: PublishedVersion,
    new: PublishedVersion,
    people: IntArray,
    k: int,
    p: tuple[int, ...],
    kind: Literal["newcomers", "leavers"],
    showing: Callable[[IntArray], IntArray],
) -> Iterator[PairFinding]:
    """Among how many rows of their group people hide who are in one version only, here called the new one.

    Nothing is found, because the reader's assumption does not hold, if old rows cannot all be among the new ones:
    then somebody's quasi-identifiers changed.
    """
    rows = _Rows(old, new, len(history.vectors))
    if not rows.possible:
        return
    groups, group_of = np.unique(new.group_of[people], return_inverse=True)
    figures = [_hidden_in(rows, int(group), history.codes, k, p) for group in groups.tolist()]
    left = np.array([least for least, _ in figures], np.int64)
    values = np.array([distinct for _, distinct in figures], np.int64).reshape(len(groups), len(p))
    fails = (left < k) | (values < np.array(p, np.int64)).any(axis=1)
    later = max(old.number, new.number)
    shown = showing(groups[fails])
    numbers = (new if new.number == later else old).groups[shown]
    yield PairFinding(
        kind,
        later,
        len(people),
        people[fails[group_of]],
        numbers,
        0,
        int(left.min()),
        tuple(values.min(axis=0).tolist()),
    )


class _Rows:
    """Rows of two versions by value, and the placements of old rows among the new, made when they are needed.

    Attributes
    ----------
    free
        For every count of the new version the rows that no old row holds in the placement that is known.
    possible
        Whether the old rows can all be among the new ones.
    """

    def __init__(self, old: PublishedVersion, new: PublishedVersion, values: int) -> None:
        self.old, self.new = old, new
        both = (old.group_of >= 0) & (new.group_of >= 0)
        shape = (values, len(old.groups) + 1, len(new.groups) + 1)
        links = np.ravel_multi_index((old.value_of[both], old.group_of[both], new.group_of[both]), shape)
        distinct, self._link_rows = np.unique(links, return_counts=True)
        self._links = np.stack(np.unravel_index(distinct, shape)).astype(np.int64)
        self._order = [np.argsort(version.count_value, kind="stable") for version in (old, new)]
        self._placements: dict[int, Placement] = {}
        value, was, is_now = self._links
        self.possible = bool(((old.lo[was] <= new.hi[is_now]) & (old.hi[was] >= new.lo[is_now])).all())
        at = np.searchsorted(new.count_group * values + new.count_value, is_now * values + value)
        self.free = new.count - np.bincount(at, self._link_rows, len(new.count)).astype(np.int64)
        if self.possible:
            self._place_unknown(values)

    def _place_unknown(self, values: int) -> None:
        """Find places for rows of people who were erased: they are in the counts, but where they went is not known."""
        known = np.bincount(self._links[0], self._link_rows, values)
        unknown = np.bincount(self.old.count_value, self.old.count, values) > known
        for value in np.flatnonzero(unknown).tolist():
            placement = self.placement(value)
            self.possible &= placement.complete
            first, last = np.searchsorted(self.new.count_value, [value, value + 1], sorter=self._order[1])
            self.free[self._order[1][first:last]] = placement.slack

    def placement(self, value: int) -> Placement:
        """Return the old rows of a value, placed among the new rows of it."""
        if value not in self._placements:
            old_group, old_rows = self._having(0, value)
            new_group, new_rows = self._having(1, value)
            first, last = np.searchsorted(self._links[0], [value, value + 1])
            self._placements[value] = Placement(
                self.old.lo[old_group],
                self.old.hi[old_group],
                old_rows,
                self.new.lo[new_group],
                self.new.hi[new_group],
                new_rows,
                np.searchsorted(old_group, self._links[1, first:last]),
                np.searchsorted(new_group, self._links[2, first:last]),
                self._link_rows[first:last],
            )
        return self._placements[value]

    def position(self, value: int, group: int) -> int:
        """Where a new group stands among those that have the value."""
        return int(np.searchsorted(self._having(1, value)[0], group))

    def _having(self, side: int, value: int) -> tuple[IntArray, IntArray]:
        """Groups of a version that have a value, ascending, and how often."""
        version, order = (self.old, self.new)[side], self._order[side]
        first, last = np.searchsorted(version.count_value, [value, value + 1], sorter=order)
        return version.count_group[order[first:last]], version.count[order[first:last]]


def _hidden_in(rows: _Rows, group: int, codes: IntArray, k: int, p: tuple[int, ...]) -> tuple[int, list[int]]:
    """Rows of a new group that need not be old ones, up to k, and their values by column, up to p."""
    new = rows.new
    first, last = np.searchsorted(new.count_group, [group, group + 1])
    values, free = new.count_value[first:last], rows.free[first:last].copy()
    waiting = np.argsort(free > 0, kind="stable").tolist()  # values without any row of a newcomer come first
    while True:
        distinct = [len(np.unique(column[column >= 0])) for column in codes[values[free > 0]].T]
        enough = all(found >= least for found, least in zip(distinct, p, strict=True))
        if not waiting or (free.sum() >= k and enough):
            return min(int(free.sum()), k), [min(found, least) for found, least in zip(distinct, p, strict=True)]
        at = waiting.pop(0)
        value = int(values[at])
        placement, position = rows.placement(value), rows.position(value, group)
        free[at] = placement.slack[position] + placement.out_of(position)


def _difference(
    history: History,
    old: PublishedVersion,
    new: PublishedVersion,
    changed: tuple[IntArray, IntArray],
    k: int,
    p: tuple[int, ...],
) -> PairFinding:
    """By how much the counts changed in every component of regions that meet."""
    in_old, in_new = components_of(old.lo, old.hi, new.lo, new.hi, *changed)
    components = int(max(in_old.max(initial=-1), in_new.max(initial=-1))) + 1
    values = len(history.vectors)
    cells, amount = [], []
    for version, component, groups, sign in ((old, in_old, changed[0], -1), (new, in_new, changed[1], 1)):
        entries, owner = ragged(version.count_start, groups)
        cells.append(component[groups][owner] * values + version.count_value[entries])
        amount.append(sign * version.count[entries])
    cell, at = np.unique(np.concatenate(cells), return_inverse=True)
    delta = np.bincount(at, np.concatenate(amount), len(cell)).astype(np.int64)
    cell, delta = cell[delta != 0], delta[delta != 0]
    component, value = cell // values, cell % values
    total = np.bincount(component, delta, components).astype(np.int64)
    fails = np.abs(total) < k
    for j, least in enumerate(p):
        code = history.codes[value, j]
        width = int(history.codes[:, j].max(initial=0)) + 1
        distinct = np.bincount(np.unique(component[code >= 0] * width + code[code >= 0]) // width, minlength=components)
        fails |= distinct < least
    fails &= total != 0
    was, is_now = _at(in_old, old.group_of), _at(in_new, new.group_of)
    moved = was != is_now
    failing = np.append(fails, False)  # the last entry is for people who are in no component
    gone, come = moved & failing[was], moved & failing[is_now]
    people = np.flatnonzero(gone | come)
    seen = np.append(np.zeros(components, bool), False)
    seen[was[gone]] = seen[is_now[come]] = True
    changes = np.abs(total[total != 0])
    return PairFinding(
        "difference",
        new.number,
        int(moved.sum()),
        people,
        new.groups[changed[1][failing[in_new[changed[1]]]]],
        int((fails & ~seen[:-1]).sum()),
        int(changes.min()) if len(changes) else None,
        None,
    )


def _at(component: IntArray, group_of: IntArray) -> IntArray:
    """Component of every person; −1 for people who are nowhere or in a component that is not numbered."""
    return np.where(group_of >= 0, np.append(component, NOWHERE)[group_of], NOWHERE)


# ---- facts -----------------------------------------------------------------------------------------------


def _least(figures: IntArray) -> int | None:
    return int(figures.min()) if len(figures) else None


def _highest(figures: FloatArray) -> float | None:
    return round(float(figures.max()), 12) if len(figures) else None
