"""What is left of a person when all groups they were ever in are intersected; and people with the same history."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.maintenance.audit.history import NOWHERE, History, PublishedVersion, ragged
from hedgerow.types import BoolArray, FloatArray, IntArray


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


def intersect(history: History) -> tuple[BoolArray, IntArray, IntArray, FloatArray]:
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


def history_classes(history: History) -> tuple[IntArray, IntArray]:
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
