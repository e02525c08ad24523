"""Linking: somebody who knows columns of a person picks a row, and is right or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.evaluation.attacking.known import Knowledge, SeenRelease
from hedgerow.evaluation.attacking.rates import Rate
from hedgerow.types import BoolArray, IntArray


@dataclass(frozen=True)
class Linkage:
    """An attack that picks one row, or one linked unit, for everybody.

    Attributes
    ----------
    rate
        How often it was right.
    expected
        How often it is right on average, over all draws among what fits alike.
    fewest
        The fewest rows, or units, that anybody was left with to pick from.
    bound
        What the plan promises: it is right no more often. None if it promises nothing against who knows this.
    """

    rate: Rate
    expected: float
    fewest: int
    bound: float | None

    @property
    def beaten(self) -> bool:
        """Whether the promise is beaten beyond all doubt that the confidence leaves."""
        return self.bound is not None and self.rate.low > self.bound + 1e-12

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        told = {"expected": round(self.expected, 6), "fewest": self.fewest, "bound": self.bound, "beaten": self.beaten}
        return self.rate.to_dict() | told


@dataclass(frozen=True)
class Setting:
    """What all attacks share: the draw, the confidence, and what is promised."""

    draw: np.random.Generator
    confidence: float
    bound: float | None


def own_rows(seen: SeenRelease, known: Knowledge, setting: Setting) -> IntArray:
    """Take for everybody a row that may be theirs, where no link says which is; −1 where none may be."""
    rows = np.full(known.people, -1, np.int64)
    for people, fits in known.possible(len(seen.sizes)):
        for person, groups in zip(people.tolist(), fits, strict=True):
            rows[person] = _picked(seen, np.flatnonzero(groups), setting.draw)
    return rows


def _picked(seen: SeenRelease, groups: IntArray, draw: np.random.Generator) -> int:
    """Pick one row among those of some groups, each as likely; −1 if there is none."""
    sizes = seen.sizes[groups]
    total = int(sizes.sum())
    if not total:
        return -1
    place = int(draw.integers(0, total))
    at = int(np.searchsorted(np.cumsum(sizes), place, side="right"))
    within = place - int(sizes[:at].sum())
    return int(seen.rows_by_group[seen.starts[groups[at]] + within])


def link_rows(
    seen: SeenRelease, found: Iterator[tuple[IntArray, BoolArray]], own: IntArray, setting: Setting
) -> Linkage:
    """Pick one row for everybody, among the groups that were found for each."""
    right, expected, fewest, tries = 0, 0.0, len(seen.group_of), 0
    group_of_own = np.where(own < 0, -1, seen.group_of[own])
    for people, groups in found:
        for person, those in zip(people.tolist(), groups, strict=True):
            if own[person] < 0:
                continue
            tries += 1
            candidates = int(seen.sizes[those].sum())
            fewest = min(fewest, candidates)
            if those[group_of_own[person]]:
                expected += 1 / candidates
                right += int(setting.draw.integers(0, candidates) == 0)  # one of them is the person's
    return Linkage(Rate.of(right, tries, setting.confidence), expected / max(tries, 1), fewest, setting.bound)


def link_people(seen: SeenRelease, people: Knowledge, rows: IntArray, own: IntArray, setting: Setting) -> Linkage:
    """Pick somebody of a register for each of some rows, among those whom what is published contradicts least.

    ``own`` says who of the register is behind each row, −1 if nobody is: whoever is picked for it is the wrong one.
    """
    groups, group = np.unique(seen.group_of[rows], return_inverse=True)
    group = group.reshape(-1)
    right, expected, fewest = 0, 0.0, people.people
    for those, fits in people.behind(groups):
        counts = fits.sum(axis=0)
        fewest = min(fewest, int(counts.min()))
        for at in np.flatnonzero((group >= those[0]) & (group <= those[-1])).tolist():
            candidates = int(counts[group[at] - those[0]])
            if own[at] >= 0 and fits[own[at], group[at] - those[0]]:
                expected += 1 / candidates
                right += int(setting.draw.integers(0, candidates) == 0)  # one of them is the right one
    return Linkage(Rate.of(right, len(rows), setting.confidence), expected / max(len(rows), 1), fewest, setting.bound)


@dataclass(frozen=True)
class UnitKinds:
    """Linked units: which groups the rows of each kind of unit are in, how many units are of it, by size."""

    kinds: dict[int, list[tuple[tuple[int, ...], int]]]

    @classmethod
    def of(cls, unit_of_row: IntArray, group_of: IntArray) -> UnitKinds:
        """Gather the units of a release."""
        members: dict[int, list[int]] = defaultdict(list)
        for unit, group in zip(unit_of_row.tolist(), group_of.tolist(), strict=True):
            members[unit].append(group)
        counted: dict[tuple[int, ...], int] = defaultdict(int)
        for groups in members.values():
            counted[tuple(sorted(groups))] += 1
        kinds: dict[int, list[tuple[tuple[int, ...], int]]] = defaultdict(list)
        for kind, count in sorted(counted.items()):
            kinds[len(kind)].append((kind, count))
        return cls(dict(kinds))


def link_units(
    known: Knowledge,
    households: Sequence[IntArray],
    units: UnitKinds,
    own: Sequence[tuple[int, ...] | None],
    setting: Setting,
) -> Linkage:
    """Pick one unit for every household that is known whole: of its size, with somebody for each of its members.

    ``households`` has the people of each, ``own`` of which groups their rows are: None if it is not released.
    """
    right, expected, tries = 0, 0.0, 0
    fewest = sum(count for kinds in units.kinds.values() for _, count in kinds)
    for people, kind in zip(households, own, strict=True):
        if kind is None:
            continue
        tries += 1
        those = fitting(known, known.codes, known.columns, people, units)
        candidates = sum(count for _, count in those)
        fewest = min(fewest, candidates) if candidates else fewest
        if any(one == kind for one, _ in those):
            expected += 1 / candidates
            right += int(setting.draw.integers(0, candidates) == 0)
    return Linkage(Rate.of(right, tries, setting.confidence), expected / max(tries, 1), fewest, setting.bound)


def own_kinds(
    known: Knowledge, households: Sequence[IntArray], units: UnitKinds, setting: Setting
) -> list[tuple[int, ...] | None]:
    """Take a kind of unit that may be theirs for every household, where no link says; None where none may be."""
    found: list[tuple[int, ...] | None] = []
    for people in households:
        those = fitting(known, known.true, tuple(known.shown), people, units)
        counts = np.array([count for _, count in those], float)
        found.append(those[int(setting.draw.choice(len(those), p=counts / counts.sum()))][0] if those else None)
    return found


def fitting(
    known: Knowledge, codes: Mapping[str, IntArray], columns: Sequence[str], people: IntArray, units: UnitKinds
) -> list[tuple[tuple[int, ...], int]]:
    """Return the kinds of units in which everybody of a household can be somebody of their own, and nobody is left."""
    size = len(people)
    kinds = units.kinds.get(size, [])
    rows = np.array([kind for kind, _ in kinds], np.int64).reshape(len(kinds), size)
    fits = np.ones((size, len(kinds), size), bool)
    for name in columns:
        shown = known.shown[name]
        fits &= shown.covers[codes[name][people]][:, shown.label_of[rows]]
    somebody, somewhere = np.any(fits, axis=0), np.any(fits, axis=2)
    hopeful = np.flatnonzero(np.all(somewhere, axis=0) & np.all(somebody, axis=1))
    return [kinds[at] for at in hopeful.tolist() if _all_placed(fits[:, at, :])]


def _all_placed(fits: BoolArray) -> bool:
    """Tell whether every person (rows) can be somebody (columns) of their own, by augmenting paths."""
    holder: dict[int, int] = {}

    def place(person: int, looked: set[int]) -> bool:
        for spot in np.flatnonzero(fits[person]).tolist():
            if spot not in looked:
                looked.add(spot)
                if spot not in holder or place(holder[spot], looked):
                    holder[spot] = person
                    return True
        return False

    return all(place(person, set()) for person in range(len(fits)))
