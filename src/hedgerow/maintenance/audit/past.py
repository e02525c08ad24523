"""What was published up to a version, played back from the events of a store, one version after the other.

A store keeps events: which groups were published differently than before, and who moved. The audit wants states, and
regions that can be compared by numbers alone. So every published region becomes a box of whole numbers: nodes of a
hierarchy are numbered depth-first, which makes a node a range that holds the ranges of the nodes below it and meets no
other; end points of free intervals are replaced by their ranks; missing is a coordinate of its own. Two regions have a
point in common if and only if their boxes have.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.errors import HedgerowError, Problem
from hedgerow.types import IntArray

NOWHERE = -1
"""Group and value of a person who is not in a version; code of a missing cell; coordinate of a missing region."""


@dataclass(frozen=True, eq=False)
class PublishedVersion:
    """The groups of one version, and where every person of the history is.

    Attributes
    ----------
    number
        Number of the version.
    groups
        Numbers of the published groups, ascending. Elsewhere a group is named by its position in this array.
    sizes
        Records of every group.
    count_group, count_value, count
        How often each joint sensitive value occurs in each group: sorted by group and value, without zeros.
    lo, hi
        Box of every group (rows) in every quasi-identifier (columns), both ends included.
    group_of, value_of
        Position of the group, and joint sensitive value, of every person; −1 if not published in this version.
    """

    number: int
    groups: IntArray = field(repr=False)
    sizes: IntArray = field(repr=False)
    count_group: IntArray = field(repr=False)
    count_value: IntArray = field(repr=False)
    count: IntArray = field(repr=False)
    lo: IntArray = field(repr=False)
    hi: IntArray = field(repr=False)
    group_of: IntArray = field(repr=False)
    value_of: IntArray = field(repr=False)

    @property
    def count_start(self) -> IntArray:
        """Where the counts of every group begin, and where the last ends."""
        return np.searchsorted(self.count_group, np.arange(len(self.groups) + 1)).astype(np.int64)

    @property
    def number_of(self) -> IntArray:
        """Number of every person's group; −1 if not published in this version."""
        return np.append(self.groups, NOWHERE)[self.group_of]


@dataclass(frozen=True, eq=False)
class Past:
    """The state of a release in one version, and all names that occurred up to it.

    Attributes
    ----------
    number
        The version; 0 before the first.
    sensitive
        Names of the sensitive columns.
    keys
        Record keys of all people who ever had a place; a person is named by the position. Private.
    values
        Joint sensitive values, each as JSON text; a value is named by the position. Private.
    entries
        Published values of every quasi-identifier, each as JSON text; an entry is named by the position.
    groups, sizes
        Numbers of the published groups, ascending, and their records.
    region
        Published value of every group (rows) in every quasi-identifier (columns).
    count_start, count_value, count
        How often each joint value occurs in each group.
    place, value
        Number of every person's group, and the joint value that was said of them last; −1 if none.
    """

    number: int
    sensitive: tuple[str, ...]
    keys: pa.Array = field(repr=False)
    values: tuple[str, ...] = field(repr=False)
    entries: tuple[tuple[str, ...], ...] = field(repr=False)
    groups: IntArray = field(repr=False)
    sizes: IntArray = field(repr=False)
    region: IntArray = field(repr=False)
    count_start: IntArray = field(repr=False)
    count_value: IntArray = field(repr=False)
    count: IntArray = field(repr=False)
    place: IntArray = field(repr=False)
    value: IntArray = field(repr=False)

    @classmethod
    def empty(cls, sensitive: Sequence[str], keys: pa.Array | None = None, values: Sequence[str] = ()) -> Past:
        """Return what there was before the first version; ``keys`` and ``values`` may be known beforehand."""
        none, keys = np.zeros(0, np.int64), pa.array([], pa.string()) if keys is None else keys
        place = np.full(len(keys), NOWHERE, np.int64)
        values = tuple(values) if sensitive else ("[]",)
        value = place if sensitive else np.zeros(len(keys), np.int64)
        region, start = np.zeros((0, 0), np.int64), np.zeros(1, np.int64)
        return cls(0, tuple(sensitive), keys, values, (), none, none, region, start, none, none, place, value)

    @property
    def vectors(self) -> list[list[Any]]:
        """The joint values: one cell per sensitive column, None if missing."""
        return [json.loads(text) for text in self.values]

    @property
    def codes(self) -> IntArray:
        """The joint values as numbers by column: equal where the cells are equal, −1 where they are missing."""
        vectors = self.vectors
        found = np.full((len(vectors), len(self.sensitive)), NOWHERE, np.int64)
        for position in range(len(self.sensitive)):
            cells = sorted({as_text([vector[position]]) for vector in vectors if vector[position] is not None})
            code = {cell: number for number, cell in enumerate(cells)}
            found[:, position] = [code.get(as_text([vector[position]]), NOWHERE) for vector in vectors]
        return found

    # -- one version on ----------------------------------------------------------------------------------------------

    def after(self, number: int, groups: pa.Table, places: pa.Table, values: pa.Table) -> Past:
        """Return the state in the next version, by the events of that version: as a store has them, in any order.

        Raises
        ------
        HedgerowError
            If the events contradict what was before, or one another.
        """
        past = self._with_names(groups, places, values)
        place, value = past.place.copy(), past.value.copy()
        moved = _positions(places["key"], past.keys)
        place[moved] = integers(places["group_number"])
        said = np.zeros(0, np.int64)
        if past.sensitive:
            said = _positions(values["key"], past.keys)
            texts, text_of = distinct(values["values"])
            code_of = {text: code for code, text in enumerate(past.values)}
            codes = np.array([code_of[as_text(json.loads(text))] for text in texts], np.int64)
            there = said >= 0
            value[said[there]], said = codes[text_of[there]], said[there]
        past = replace(past._with_groups(groups), number=number, place=place, value=value)
        touched = np.isin(place, integers(groups["number"])) if len(groups) else np.zeros(len(place), bool)
        touched[moved] = touched[said] = True
        past._check(np.flatnonzero(touched & (place >= 0)))
        return past

    def _with_names(self, groups: pa.Table, places: pa.Table, values: pa.Table) -> Past:
        """Give names to people and values who were not there before."""
        new = places["key"].combine_chunks()
        new = new.filter(pc.invert(pc.is_in(new, value_set=self.keys.cast(new.type)))) if len(self.keys) else new
        keys, many = self.keys, len(new)
        if many:
            keys = pa.concat_arrays([keys.cast(new.type), new])
        found = dict.fromkeys(self.values)
        if self.sensitive:
            for text in distinct(values["values"])[0]:
                found.setdefault(as_text(json.loads(text)))
            published = groups.filter(pc.greater(groups["size"], 0))
            for text in distinct(published["counts"])[0]:
                for vector, _ in json.loads(text):
                    found.setdefault(as_text(vector))
            if any(len(json.loads(text)) != len(self.sensitive) for text in found):
                message = (
                    f"Values and counts must have one cell for each of the {len(self.sensitive)} sensitive columns."
                )
                raise HedgerowError(Problem("usage", message))
        at_start = NOWHERE if self.sensitive else 0
        return replace(
            self,
            keys=keys,
            values=tuple(found),
            place=np.append(self.place, np.full(many, NOWHERE)),
            value=np.append(self.value, np.full(many, at_start)),
        )

    def _with_groups(self, events: pa.Table) -> Past:
        """Replace the groups that are not published as before."""
        number, size = integers(events["number"]), integers(events["size"])
        there = np.flatnonzero(size > 0)  # what is no longer published needs no region
        there = there[np.argsort(number[there], kind="stable")]
        region, entries = self._regions(events["region"].take(pa.array(there)))
        start, value, count = self._counts(events["counts"].take(pa.array(there)))
        stays = np.flatnonzero(~np.isin(self.groups, number))
        order = np.argsort(np.append(self.groups[stays], number[there]), kind="stable")
        kept, _ = ragged(self.count_start, stays)
        lengths = np.append(np.diff(self.count_start)[stays], np.diff(start))
        begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        at, _ = ragged(begins, order)
        before = self.region if self.region.shape[1] == region.shape[1] else np.zeros((0, region.shape[1]), np.int64)
        return replace(
            self,
            entries=entries,
            groups=np.append(self.groups[stays], number[there])[order],
            sizes=np.append(self.sizes[stays], size[there])[order],
            region=np.concatenate([before[stays] if len(before) else before, region])[order],
            count_start=np.concatenate([[0], np.cumsum(lengths[order])]).astype(np.int64),
            count_value=np.append(self.count_value[kept], value)[at],
            count=np.append(self.count[kept], count)[at],
        )

    def _regions(self, column: pa.ChunkedArray) -> tuple[IntArray, tuple[tuple[str, ...], ...]]:
        """Name the published values of regions."""
        texts, text_of = distinct(column)
        regions = json.loads(f"[{','.join(texts)}]")
        if not regions:
            return np.zeros((0, self.region.shape[1]), np.int64), self.entries
        found, entries = [], []
        for position in range(len(regions[0])):
            known = dict.fromkeys(self.entries[position]) if self.entries else {}
            said: dict[Any, str] = {}
            written = []
            for region in regions:
                entry = region[position]
                name = entry if entry is None else tuple(entry["path"] if isinstance(entry, dict) else (None, *entry))
                if name not in said:
                    said[name] = json.dumps(entry, ensure_ascii=False)
                    known.setdefault(said[name])
                written.append(said[name])
            code = {text: number for number, text in enumerate(known)}
            found.append([code[text] for text in written])
            entries.append(tuple(known))
        return np.array(found, np.int64).T[text_of], tuple(entries)

    def _counts(self, column: pa.ChunkedArray) -> tuple[IntArray, IntArray, IntArray]:
        """Read counts: where those of every group begin, and the last ends, their values and how often each occurs."""
        texts, text_of = distinct(column)
        code_of = {text: code for code, text in enumerate(self.values)}
        value, count, start = [], [], [0]  # of each text once
        for text in texts:
            for code, times in sorted((code_of[as_text(vector)], int(times)) for vector, times in json.loads(text)):
                value.append(code)
                count.append(times)
            start.append(len(value))
        starts = np.array(start, np.int64)
        entries, _ = ragged(starts, text_of)
        begins = np.concatenate([[0], np.cumsum(np.diff(starts)[text_of])]).astype(np.int64)
        return begins, np.array(value, np.int64)[entries], np.array(count, np.int64)[entries]

    def _check(self, people: IntArray) -> None:
        """Make sure that some people can be where they are said to be."""
        place, value, values = self.place[people], self.value[people], len(self.values)
        at = np.searchsorted(self.groups, place)
        if len(people) and (not len(self.groups) or (self.groups[np.minimum(at, len(self.groups) - 1)] != place).any()):
            raise self._contradiction("somebody has a place in a group that is not published")
        if (value < 0).any():
            raise self._contradiction("somebody is published without sensitive values")
        cells, members = np.unique(at * values + value, return_counts=True)
        published = np.zeros(len(cells), np.int64)
        owner = np.repeat(np.arange(len(self.groups)), np.diff(self.count_start))
        _, mine, theirs = np.intersect1d(
            cells, owner * values + self.count_value, assume_unique=True, return_indices=True
        )
        published[mine] = self.count[theirs]
        if (published < members).any():
            raise self._contradiction("a group holds more people with a value than were published")

    def _contradiction(self, what: str) -> HedgerowError:
        return HedgerowError(Problem("usage", f"The events of version {self.number} contradict one another: {what}."))

    # -- as the audit looks at it ------------------------------------------------------------------------------------

    def published(self, boxes: Sequence[IntArray], people: int) -> PublishedVersion:
        """Return it with boxes for its regions, given by entry, and with so many people."""
        lookup = np.full(int(self.groups.max(initial=NOWHERE)) + 2, NOWHERE, np.int64)
        lookup[self.groups] = np.arange(len(self.groups))
        later = np.full(people - len(self.place), NOWHERE, np.int64)
        group_of = np.append(lookup[self.place], later)
        lo, hi = (
            np.stack([box[self.region[:, column], end] for column, box in enumerate(boxes)], axis=1)
            if boxes and len(self.groups)
            else np.zeros((len(self.groups), len(boxes)), np.int64)
            for end in (0, 1)
        )
        return PublishedVersion(
            self.number,
            self.groups,
            self.sizes,
            np.repeat(np.arange(len(self.groups)), np.diff(self.count_start)),
            self.count_value,
            self.count,
            lo,
            hi,
            group_of,
            np.where(group_of >= 0, np.append(self.value, later), NOWHERE),
        )


def boxes_of(entries: Sequence[Sequence[str]]) -> list[IntArray]:
    """Boxes of published values, by quasi-identifier: one row each, with its ends."""
    found = []
    for texts in entries:
        parsed = [json.loads(text) for text in texts]
        nodes = {tuple(reversed(entry["path"])) for entry in parsed if isinstance(entry, dict)}
        ends = {end: Decimal(end) for entry in parsed if isinstance(entry, list) for end in entry}
        range_of = _tree_ranges(nodes)
        place = {end: len(range_of) + at for at, end in enumerate(sorted(set(ends.values())))}
        boxes = np.full((len(parsed), 2), NOWHERE, np.int64)
        for at, entry in enumerate(parsed):
            if entry is not None:
                boxes[at] = (
                    range_of[tuple(reversed(entry["path"]))]
                    if isinstance(entry, dict)
                    else [place[ends[end]] for end in entry]
                )
        found.append(boxes)
    return found


def _tree_ranges(nodes: set[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[int, int]]:
    """Range of every node, given as its path from the root, and of the nodes above it."""
    # sorted paths are in depth-first order: a path stands right before its continuations
    in_order = sorted({path[: depth + 1] for path in nodes for depth in range(len(path))})
    number = {path: position for position, path in enumerate(in_order)}
    last = list(range(len(in_order)))
    for position in reversed(range(len(in_order))):
        above = in_order[position][:-1]
        if above:
            last[number[above]] = max(last[number[above]], last[position])
    return {path: (position, last[position]) for position, path in enumerate(in_order)}


def ragged(start: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the entries of these rows, one row after the other, and for every entry the position of its row.

    Examples
    --------
    >>> [part.tolist() for part in ragged(np.array([0, 2, 2, 5]), np.array([2, 0]))]
    [[2, 3, 4, 0, 1], [0, 0, 0, 1, 1]]
    """
    length = start[rows + 1] - start[rows]
    owner = np.repeat(np.arange(len(rows)), length)
    before = np.cumsum(length) - length
    return np.arange(len(owner)) + (start[rows] - before)[owner], owner


def as_text(vector: Sequence[Any]) -> str:
    """One text per vector, so that 1, 1.0 and "1" stay different."""
    return json.dumps(list(vector), ensure_ascii=False)


def integers(column: Any) -> IntArray:
    """A column as whole numbers of 64 bits."""
    return np.asarray(column).astype(np.int64)


def distinct(column: pa.ChunkedArray) -> tuple[list[str], IntArray]:
    """Distinct texts of a column, and for every row the position of its text."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.dictionary.to_pylist(), integers(encoded.indices)


def _positions(column: pa.ChunkedArray, keys: pa.Array) -> IntArray:
    """Where the keys of a column stand; −1 where they do not."""
    column = column.combine_chunks()
    found = pc.fill_null(pc.index_in(column, value_set=keys.cast(column.type)), NOWHERE)
    return integers(found)
