"""What two consecutive versions tell apart: newcomers, leavers, and the difference of their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from hedgerow.maintenance.audit.flow import Placement, components_of
from hedgerow.maintenance.audit.history import NOWHERE, History, PublishedVersion, ragged
from hedgerow.types import IntArray


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


def compare(
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
        self._groups_having: dict[tuple[int, int], tuple[IntArray, IntArray]] = {}
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
        if (side, value) not in self._groups_having:
            version, order = (self.old, self.new)[side], self._order[side]
            first, last = np.searchsorted(version.count_value, [value, value + 1], sorter=order)
            found = version.count_group[order[first:last]], version.count[order[first:last]]
            self._groups_having[side, value] = found
        return self._groups_having[side, value]


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
