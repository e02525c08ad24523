"""What is left of everybody after a version, in a form that the next version can be put on top of.

- *Intersecting*: people with the same groups in the same episode share a state, the joint values that all of these
  groups have, each as often as where it is rarest. A group that is published as before leaves the states of those who
  stayed in it as they are: so a version costs what it changed.
- *Episodes* that have ended, because somebody's values changed, are noted with the worst figures of each person.
- *History classes*: people who were in the same groups all along. Those who move leave their class, together with
  whoever moves alike.
- *Pairs*: what comparing consecutive versions found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hedgerow.maintenance.audit.comparing import PairFinding, changed_groups, compare
from hedgerow.maintenance.audit.past import NOWHERE, PublishedVersion, ragged
from hedgerow.types import BoolArray, FloatArray, IntArray

MOST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class States:
    """What can be left for somebody: rows of joint values, each with a count; and what that comes to.

    Attributes
    ----------
    start, value, count
        Where the entries of every state begin, and the last ends; the value and the count of every entry.
    values_left, people_left, confidence
        Values by column, people, and share of the likeliest value by column, of every state.
    """

    start: IntArray
    value: IntArray
    count: IntArray
    values_left: IntArray
    people_left: IntArray
    confidence: FloatArray

    @classmethod
    def of(cls, start: IntArray, value: IntArray, count: IntArray, codes: IntArray) -> States:
        """Work out what rows of values come to."""
        number, columns = len(start) - 1, codes.shape[1]
        owner = np.repeat(np.arange(number), np.diff(start))
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
        return cls(start, value, count, distinct, people, likeliest / np.maximum(people, 1)[:, None])

    def entries(self, rows: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Owner (position in ``rows``), value and count of every entry of these states."""
        entries, owner = ragged(self.start, rows)
        return owner, self.value[entries], self.count[entries]

    def chosen(self, rows: IntArray) -> States:
        """Return some of them."""
        entries, _ = ragged(self.start, rows)
        start = np.concatenate([[0], np.cumsum(np.diff(self.start)[rows])]).astype(np.int64)
        figures = (self.values_left[rows], self.people_left[rows], self.confidence[rows])
        return States(start, self.value[entries], self.count[entries], *figures)

    def with_more(self, other: States) -> States:
        """Return them and others behind them."""
        start = np.append(self.start, self.start[-1] + other.start[1:])
        named = ("value", "count", "values_left", "people_left", "confidence")
        return States(start, *(np.concatenate([getattr(self, name), getattr(other, name)]) for name in named))


@dataclass(frozen=True, eq=False)
class Standing:
    """What is left of everybody after a version.

    Attributes
    ----------
    states, state_of
        What is left in the episode that everybody is in, and whose it is; −1 for people who were never published.
    last_value
        The joint value that everybody was published with last.
    ended, ended_values, ended_people, ended_confidence
        People with episodes that have ended, ascending, and the worst figures of these.
    class_of
        The history class of everybody; −1 for people who were never published.
    class_values
        Values of every class by column, in the version in which these are fewest.
    gave_up, gave_up_in, gave_up_value
        People whose published values changed, in which version, and what they were before.
    pairs
        What comparing consecutive versions found.
    """

    states: States
    state_of: IntArray
    last_value: IntArray
    ended: IntArray
    ended_values: IntArray
    ended_people: IntArray
    ended_confidence: FloatArray
    class_of: IntArray
    class_values: IntArray
    gave_up: IntArray
    gave_up_in: IntArray
    gave_up_value: IntArray
    pairs: tuple[PairFinding, ...]

    @classmethod
    def empty(cls, columns: int) -> Standing:
        """Return what there is before the first version."""
        none, table, shares = np.zeros(0, np.int64), np.zeros((0, columns), np.int64), np.zeros((0, columns))
        states = States(np.zeros(1, np.int64), none, none, table, none, shares)
        return cls(states, none, none, none, table, none, shares, none, table, none, none, none, ())

    def after(
        self, old: PublishedVersion | None, new: PublishedVersion, codes: IntArray, k: int, p: tuple[int, ...]
    ) -> Standing:
        """Return what is left after the next version, given what was published before it, with the same people.

        Parameters
        ----------
        old
            The version before; None if there is none.
        new
            The version.
        codes
            Joint values as numbers by column.
        k, p
            What is asked when the two are compared.
        """
        people = len(new.group_of)
        found = self._for_people(people)
        was = np.full(people, NOWHERE, np.int64) if old is None else old.number_of
        number, here = new.number_of, new.group_of >= 0
        changed = np.ones(len(new.groups) + 1, bool)
        if old is not None:
            changed[:] = False
            changed[changed_groups(old, new)[1]] = True
            found = replace(found, pairs=(*found.pairs, *compare(codes, old, new, k, p)))
        other = here & (found.last_value != new.value_of)
        given_up = np.flatnonzero(other & (found.last_value >= 0))
        found = found._with_ended(given_up)
        joining = np.flatnonzero(here & (other | (was != number) | changed[new.group_of]))
        last_value = np.where(here, new.value_of, found.last_value)
        found = replace(
            found._intersected(new, joining, codes),
            last_value=last_value,
            gave_up=np.append(found.gave_up, given_up),
            gave_up_in=np.append(found.gave_up_in, np.full(len(given_up), new.number)),
            gave_up_value=np.append(found.gave_up_value, found.last_value[given_up]),
        )
        return found._classed(was, number, given_up, codes)

    def _for_people(self, people: int) -> Standing:
        """Return the same with people who were never published behind the others."""
        more = np.full(people - len(self.state_of), NOWHERE, np.int64)
        state_of, last_value, class_of = (
            np.append(part, more) for part in (self.state_of, self.last_value, self.class_of)
        )
        return replace(self, state_of=state_of, last_value=last_value, class_of=class_of)

    # -- intersecting ------------------------------------------------------------------------------------------------

    def _with_ended(self, people: IntArray) -> Standing:
        """Note the figures of people whose episode ends, where they are the worst; they have no state then."""
        if not len(people):
            return self
        rows, state_of = self.state_of[people], self.state_of.copy()
        state_of[people] = NOWHERE
        merged, at = np.unique(np.append(self.ended, people), return_inverse=True)
        values = np.full((len(merged), self.ended_values.shape[1]), MOST)
        left, confidence = np.full(len(merged), MOST), np.zeros(values.shape)
        np.minimum.at(values, at, np.concatenate([self.ended_values, self.states.values_left[rows]]))
        np.minimum.at(left, at, np.append(self.ended_people, self.states.people_left[rows]))
        np.maximum.at(confidence, at, np.concatenate([self.ended_confidence, self.states.confidence[rows]]))
        return replace(
            self,
            state_of=state_of,
            ended=merged,
            ended_values=values,
            ended_people=left,
            ended_confidence=confidence,
        )

    def _intersected(self, version: PublishedVersion, joining: IntArray, codes: IntArray) -> Standing:
        """Intersect the states of some people who are here with their groups."""
        values, groups = len(codes), max(len(version.groups), 1)
        pairs, of_person = np.unique(
            (self.state_of[joining] + 1) * groups + version.group_of[joining], return_inverse=True
        )
        before, group = pairs // groups - 1, pairs % groups
        fresh, carried = np.flatnonzero(before < 0), np.flatnonzero(before >= 0)
        entries, owner = ragged(version.count_start, group[fresh])
        carried_owner, carried_value, carried_count = self.states.entries(before[carried])
        cells = version.count_group * values + version.count_value
        wanted = group[carried][carried_owner] * values + carried_value
        at = np.minimum(np.searchsorted(cells, wanted), max(len(cells) - 1, 0))
        stays = cells[at] == wanted if len(cells) else np.zeros(0, bool)
        lesser = np.minimum(carried_count, version.count[at])[stays] if len(cells) else carried_count
        owners = np.concatenate([fresh[owner], carried[carried_owner[stays]]])
        order = np.argsort(owners, kind="stable")
        start = np.searchsorted(owners[order], np.arange(len(pairs) + 1)).astype(np.int64)
        value = np.concatenate([version.count_value[entries], carried_value[stays]])[order]
        made = States.of(start, value, np.concatenate([version.count[entries], lesser])[order], codes)
        state_of = self.state_of.copy()
        state_of[joining] = len(self.states.people_left) + of_person.reshape(-1)
        states = self.states.with_more(made)
        used = np.zeros(len(states.people_left), bool)
        used[state_of[state_of >= 0]] = True
        if used.all():
            return replace(self, states=states, state_of=state_of)
        number = np.append(np.cumsum(used) - 1, NOWHERE)
        return replace(self, states=states.chosen(np.flatnonzero(used)), state_of=number[state_of])

    # -- history classes ---------------------------------------------------------------------------------------------

    def _classed(self, was: IntArray, number: IntArray, given_up: IntArray, codes: IntArray) -> Standing:
        """Let people who moved leave their classes, and look again at the classes that changed."""
        movers = np.flatnonzero(was != number)
        class_of, classes = self.class_of.copy(), len(self.class_values)
        left = np.unique(self.class_of[movers])
        groups = int(number.max(initial=0)) + 2
        pairs, of_mover = np.unique((self.class_of[movers] + 1) * groups + number[movers] + 1, return_inverse=True)
        class_of[movers] = classes + of_mover.reshape(-1)
        touched = np.zeros(classes + len(pairs) + 1, bool)
        touched[left[left >= 0]] = True
        touched[classes:-1] = True
        touched[class_of[given_up]] = True
        members = np.flatnonzero(touched[class_of] & (class_of >= 0))
        fewest = np.concatenate([self.class_values, np.full((len(pairs), codes.shape[1]), MOST)])
        fewest[touched[:-1]] = MOST
        self._note_values(class_of, members, codes, fewest)
        used = np.zeros(len(fewest), bool)
        used[class_of[class_of >= 0]] = True
        renumbered = np.append(np.cumsum(used) - 1, NOWHERE)
        return replace(self, class_of=renumbered[class_of], class_values=fewest[used])

    def _note_values(self, class_of: IntArray, members: IntArray, codes: IntArray, fewest: IntArray) -> None:
        """Count the values of classes as they are, and as they were before each change of somebody's values."""
        value = self.last_value.copy()
        _count_values(class_of, members, value, codes, fewest)
        among = np.zeros(len(value), bool)
        among[members] = True
        entries = np.flatnonzero(among[self.gave_up])
        for version in np.unique(self.gave_up_in[entries])[::-1].tolist():
            now = entries[self.gave_up_in[entries] == version]
            value[self.gave_up[now]] = self.gave_up_value[now]
            looked_at = np.isin(class_of[members], class_of[self.gave_up[now]])
            _count_values(class_of, members[looked_at], value, codes, fewest)

    def classes(self) -> tuple[IntArray, IntArray]:
        """People of everybody's class, and its values by column where these are fewest; −1 for the never published."""
        published = self.class_of >= 0
        people = np.append(np.bincount(self.class_of[published], minlength=len(self.class_values)), NOWHERE)
        values = np.concatenate([self.class_values, np.full((1, self.class_values.shape[1]), NOWHERE)])
        return people[self.class_of], values[self.class_of]

    def left(self) -> tuple[BoolArray, IntArray, IntArray, FloatArray]:
        """Who was ever published, and values left, people left and confidence of everybody, in the worst episode."""
        columns = self.states.values_left.shape[1]
        values = np.concatenate([self.states.values_left, np.full((1, columns), NOWHERE)])[self.state_of]
        people = np.append(self.states.people_left, NOWHERE)[self.state_of]
        confidence = np.concatenate([self.states.confidence, np.zeros((1, columns))])[self.state_of]
        values[self.ended] = np.minimum(values[self.ended], self.ended_values)
        people[self.ended] = np.minimum(people[self.ended], self.ended_people)
        confidence[self.ended] = np.maximum(confidence[self.ended], self.ended_confidence)
        return self.state_of >= 0, values, people, confidence


def _count_values(class_of: IntArray, members: IntArray, value: IntArray, codes: IntArray, fewest: IntArray) -> None:
    """Count the different values of the classes that some people are all members of; keeps the lower number."""
    here = np.unique(class_of[members])
    for j in range(codes.shape[1]):
        code = codes[value[members], j]
        width = int(codes[:, j].max(initial=0)) + 1
        cells = np.unique(class_of[members][code >= 0] * width + code[code >= 0])
        different = np.bincount(cells // width, minlength=len(fewest))
        fewest[here, j] = np.minimum(fewest[here, j], different[here])
