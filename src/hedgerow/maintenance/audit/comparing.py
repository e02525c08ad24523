"""What two consecutive versions tell apart: newcomers, leavers, and the difference of their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from hedgerow.maintenance.audit.flow import RowsInCells, components_of
from hedgerow.maintenance.audit.past import NOWHERE, PublishedVersion, ragged
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
    codes: IntArray, old: PublishedVersion, new: PublishedVersion, k: int, p: tuple[int, ...]
) -> Iterator[PairFinding]:
    """Newcomers or leavers, where people only came or only left, and the difference."""
    was, is_now = old.group_of >= 0, new.group_of >= 0
    came, left, both = np.flatnonzero(is_now & ~was), np.flatnonzero(was & ~is_now), was & is_now
    changed_old, changed_new = changed_groups(old, new)
    if (old.value_of[both] == new.value_of[both]).all():
        if len(came) and not len(left):
            yield from _hidden(codes, old, new, came, k, p, "newcomers", lambda groups: groups)
        if len(left) and not len(came):

            def showing(groups: IntArray) -> IntArray:
                within = [_meeting(new, changed_new, old.lo[group], old.hi[group]) for group in groups.tolist()]
                return np.unique(np.concatenate(within)) if within else groups

            yield from _hidden(codes, new, old, left, k, p, "leavers", showing)
    if len(changed_old) or len(changed_new):
        yield _difference(codes, old, new, (changed_old, changed_new), k, p)


def changed_groups(old: PublishedVersion, new: PublishedVersion) -> tuple[IntArray, IntArray]:
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
    codes: IntArray,
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
    rows = _rows(old, new, len(codes))
    groups, group_of = np.unique(new.group_of[people], return_inverse=True)
    found = None if rows is None else rows.hidden(groups, codes, k, p)
    if found is None:
        return
    left, values = found
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


def _rows(old: PublishedVersion, new: PublishedVersion, values: int) -> RowsInCells | None:
    """Lay out the rows of two versions; None if people who are in both cannot be where the reader takes them to be."""
    both = (old.group_of >= 0) & (new.group_of >= 0)
    was, is_now, value = old.group_of[both], new.group_of[both], old.value_of[both]
    links, rows = np.unique((was * len(new.groups) + is_now) * values + value, return_counts=True)
    was, is_now, value = links // values // len(new.groups), links // values % len(new.groups), links % values
    if not ((old.lo[was] <= new.hi[is_now]) & (old.hi[was] >= new.lo[is_now])).all():
        return None
    at_old = np.searchsorted(old.count_group * values + old.count_value, was * values + value)
    at_new = np.searchsorted(new.count_group * values + new.count_value, is_now * values + value)
    sides = ((side.lo, side.hi, side.count_group, side.count_value, side.count) for side in (old, new))
    return RowsInCells(*next(sides), *next(sides), at_old, at_new, rows.astype(np.int64))


def _difference(
    codes: IntArray,
    old: PublishedVersion,
    new: PublishedVersion,
    changed: tuple[IntArray, IntArray],
    k: int,
    p: tuple[int, ...],
) -> PairFinding:
    """By how much the counts changed in every component of regions that meet."""
    in_old, in_new = components_of(old.lo, old.hi, new.lo, new.hi, *changed)
    components = int(max(in_old.max(initial=-1), in_new.max(initial=-1))) + 1
    values = len(codes)
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
        code = codes[value, j]
        width = int(codes[:, j].max(initial=0)) + 1
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
