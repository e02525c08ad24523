"""What was published, version by version, in the form that the audit looks at.

A release store keeps events: which groups were published differently than before, and who moved. The audit wants the
state of every version, and regions that can be compared across versions by numbers alone. So every published region
becomes a box of whole numbers: nodes of a hierarchy are numbered depth-first, which makes a node a range that holds the
ranges of the nodes below it and meets no other; end points of free intervals are replaced by their ranks; missing is a
coordinate of its own. Two regions have a point in common if and only if their boxes have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True, eq=False)
class History:
    """All versions of a release.

    Attributes
    ----------
    versions
        In the order in which they were published. A version that changed nothing may be left out.
    keys
        Record keys of all people, ascending; a person is named by the position. Private.
    sensitive
        Names of the sensitive columns.
    vectors
        Joint sensitive values: one cell per sensitive column, None if missing. Private.
    codes
        The same as numbers by column: equal where the cells are equal, −1 where they are missing.
    """

    versions: tuple[PublishedVersion, ...]
    keys: tuple[Any, ...] = field(repr=False)
    sensitive: tuple[str, ...]
    vectors: tuple[tuple[Any, ...], ...] = field(repr=False)
    codes: IntArray = field(repr=False)

    @property
    def people(self) -> int:
        """Number of people who ever had a place."""
        return len(self.keys)


def build_history(
    groups_events: pa.Table,
    places_events: pa.Table,
    value_events: pa.Table,
    sensitive_columns: Sequence[str],
    newest: int = 0,
) -> History:
    """Play back the events of a release store.

    Events say what changed; the state in a version is the latest event up to it. Rows may stand in any order.

    Parameters
    ----------
    groups_events
        Columns ``version``, ``number``, ``region``, ``size`` and ``counts``; others are not looked at. ``region`` is a
        JSON list with one entry per quasi-identifier: null (missing), ``[low, high]`` (decimal numbers as text), or
        ``{"path": [node, parent, …, root]}``. ``counts`` is JSON: ``[[[cell or null, …], n], …]`` with one cell per
        sensitive column. Size 0: no longer published; then region and counts are not looked at.
    places_events
        Columns ``version``, ``key`` and ``group_number``: −1 is not published.
    value_events
        Columns ``version``, ``key`` and ``values``: JSON list of the sensitive cells.
    sensitive_columns
        Names of the sensitive columns; without any, all people have one and the same value.
    newest
        There are versions up to this one, even if nothing happened in some of them.

    Raises
    ------
    HedgerowError
        If the events contradict one another: a place in a group that is not published, a person without a value,
        more people with a value in a group than were published.

    Examples
    --------
    >>> groups = {"version": [1, 2], "number": [0, 0], "size": [2, 3], "region": ['[["1", "5"]]'] * 2}
    >>> groups["counts"] = ['[[["flu"], 1], [["cold"], 1]]', '[[["flu"], 2], [["cold"], 1]]']
    >>> places = {"version": [1, 1, 2], "key": ["a", "b", "c"], "group_number": [0, 0, 0]}
    >>> values = {"version": [1, 1, 2], "key": ["a", "b", "c"], "values": ['["flu"]', '["cold"]', '["flu"]']}
    >>> history = build_history(pa.table(groups), pa.table(places), pa.table(values), ["diagnosis"])
    >>> [version.group_of.tolist() for version in history.versions]
    [[0, 0, -1], [0, 0, 0]]
    """
    names = tuple(sensitive_columns)
    keys = tuple(pc.unique(places_events["key"]).sort().to_pylist())
    texts, text_of = _distinct(value_events["values"])
    counts, counts_of = _distinct(groups_events["counts"])
    sized = np.zeros(len(counts), bool)
    sized[counts_of[_integers(groups_events["size"]) > 0]] = True  # the others may say anything
    parsed_counts = [json.loads(text) if there else [] for text, there in zip(counts, sized.tolist(), strict=True)]
    vectors, codes, code_of = _number_vectors(names, texts, parsed_counts)
    value_codes = np.array([code_of[_text(json.loads(text))] for text in texts] if names else [], np.int64)

    moves = _Moves(places_events, keys, _integers(places_events["group_number"]))
    values = _Moves(value_events, keys, value_codes[text_of] if names else None)
    groups = _Groups(groups_events, parsed_counts, counts_of, code_of)
    every = np.arange(1, newest + 1)
    numbers = np.unique(np.concatenate([groups.version, moves.version, values.version, every]))
    at_start = NOWHERE if names else 0
    places, cells = moves.states(numbers, NOWHERE), values.states(numbers, at_start)
    versions = tuple(
        _version(number, rows, groups, place, value, len(vectors))
        for number, rows, place, value in zip(numbers.tolist(), groups.states(numbers), places, cells, strict=True)
    )
    return History(versions, keys, names, vectors, codes)


# ---- states from events ----------------------------------------------------------------------------------


class _Moves:
    """Events about people, sorted by version."""

    def __init__(self, table: pa.Table, keys: tuple[Any, ...], what: IntArray | None) -> None:
        if what is None:  # nothing to know: there are no sensitive columns
            table, what = table.slice(0, 0), np.zeros(0, np.int64)
        column = table["key"].combine_chunks()
        person = pc.fill_null(pc.index_in(column, value_set=pa.array(keys, column.type)), NOWHERE)
        version, who = _integers(table["version"]), _integers(person)
        order = np.argsort(version, kind="stable")
        order = order[who[order] >= 0]
        self.people = len(keys)
        self.version, self._person, self._what = version[order], who[order], what[order]

    def states(self, numbers: IntArray, at_start: int) -> Iterator[IntArray]:
        state = np.full(self.people, at_start, np.int64)
        for first, last in _slices(self.version, numbers):
            if first < last:
                state = state.copy()  # earlier versions keep theirs; a version without moves shares it
                state[self._person[first:last]] = self._what[first:last]
            yield state


class _Groups:
    """Events about groups, sorted by version, with their boxes and counts."""

    def __init__(self, table: pa.Table, parsed_counts: list[Any], counts_of: IntArray, code_of: dict[str, int]) -> None:
        order = np.argsort(_integers(table["version"]), kind="stable")
        self.version = _integers(table["version"])[order]
        self.number = _integers(table["number"])[order]
        self.size = _integers(table["size"])[order]
        published = np.flatnonzero(self.size > 0)  # what is no longer published needs no region
        texts, text_of = _distinct(table["region"].take(order[published]))
        lo, hi = _boxes(json.loads(f"[{','.join(texts)}]"))
        self.lo, self.hi = (np.full((len(order), ends.shape[1]), NOWHERE, np.int64) for ends in (lo, hi))
        self.lo[published], self.hi[published] = lo[text_of], hi[text_of]
        value, count, start = [], [], [0]  # of each text once
        for parsed in parsed_counts:
            for code, times in sorted((code_of[_text(vector)], int(times)) for vector, times in parsed):
                value.append(code)
                count.append(times)
            start.append(len(value))
        which = np.where(self.size > 0, counts_of[order], len(parsed_counts))
        starts = np.array([*start, start[-1]], np.int64)  # the last: of those who are not published
        entries, owner = ragged(starts, which)
        self.value, self.count = np.array(value, np.int64)[entries], np.array(count, np.int64)[entries]
        self.start = np.searchsorted(owner, np.arange(len(order) + 1)).astype(np.int64)

    def states(self, numbers: IntArray) -> Iterator[IntArray]:
        """Yield the events that hold in each version, by ascending group number."""
        known, slot_of = np.unique(self.number, return_inverse=True)
        event = np.full(len(known), NOWHERE, np.int64)
        for first, last in _slices(self.version, numbers):
            rows = np.arange(first, last)
            event[slot_of[first:last]] = np.where(self.size[first:last] > 0, rows, NOWHERE)
            yield event[event >= 0]


def _version(
    number: int, rows: IntArray, groups: _Groups, place: IntArray, value: IntArray, values: int
) -> PublishedVersion:
    numbers = groups.number[rows]
    entries, count_group = ragged(groups.start, rows)
    count_value, count = groups.value[entries], groups.count[entries]
    here = np.flatnonzero(place >= 0)
    at = np.searchsorted(numbers, place[here])
    group_of, value_of = np.full(len(place), NOWHERE, np.int64), np.full(len(place), NOWHERE, np.int64)
    if len(here) and (not len(numbers) or (numbers[np.minimum(at, len(numbers) - 1)] != place[here]).any()):
        raise _contradiction(number, "somebody has a place in a group that is not published")
    if (value[here] < 0).any():
        raise _contradiction(number, "somebody is published without sensitive values")
    group_of[here], value_of[here] = at, value[here]
    cells, people = np.unique(at * values + value[here], return_counts=True)
    published = np.zeros(len(cells), np.int64)
    published_cells = count_group * values + count_value
    _, mine, theirs = np.intersect1d(cells, published_cells, assume_unique=True, return_indices=True)
    published[mine] = count[theirs]
    if (published < people).any():
        raise _contradiction(number, "a group holds more people with a value than were published")
    return PublishedVersion(
        number,
        numbers,
        groups.size[rows],
        count_group,
        count_value,
        count,
        groups.lo[rows],
        groups.hi[rows],
        group_of,
        value_of,
    )


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


def _slices(version: IntArray, numbers: IntArray) -> Iterator[tuple[int, int]]:
    """Where the events of each version begin and end."""
    first, last = np.searchsorted(version, numbers), np.searchsorted(version, numbers, side="right")
    return zip(first.tolist(), last.tolist(), strict=True)


def _integers(column: Any) -> IntArray:
    return np.asarray(column).astype(np.int64)


def _distinct(column: pa.ChunkedArray) -> tuple[list[str], IntArray]:
    """Distinct texts of a column, and for every row the position of its text."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.dictionary.to_pylist(), _integers(encoded.indices)


def _contradiction(version: int, what: str) -> HedgerowError:
    return HedgerowError(Problem("usage", f"The events of version {version} contradict one another: {what}."))


# ---- values and regions as numbers -----------------------------------------------------------------------


def _text(vector: Sequence[Any]) -> str:
    """One text per vector, so that 1, 1.0 and "1" stay different."""
    return json.dumps(list(vector), ensure_ascii=False)


def _number_vectors(
    names: tuple[str, ...], texts: Sequence[str], parsed_counts: Sequence[Any]
) -> tuple[tuple[tuple[Any, ...], ...], IntArray, dict[str, int]]:
    """All vectors in the order of their texts, their cells as codes, and the position of every text."""
    found = {_text(vector): vector for counts in parsed_counts for vector, _ in counts}
    if names:
        found |= {_text(vector): vector for vector in map(json.loads, texts)}
    else:
        found["[]"] = []
    in_order = sorted(found)
    vectors = tuple(tuple(found[text]) for text in in_order)
    if any(len(vector) != len(names) for vector in vectors):
        message = f"Values and counts must have one cell for each of the {len(names)} sensitive columns."
        raise HedgerowError(Problem("usage", message))
    codes = np.full((len(vectors), len(names)), NOWHERE, np.int64)
    for position in range(len(names)):
        cells = sorted({_text([vector[position]]) for vector in vectors if vector[position] is not None})
        code = {cell: number for number, cell in enumerate(cells)}
        codes[:, position] = [code.get(_text([vector[position]]), NOWHERE) for vector in vectors]
    return vectors, codes, {text: number for number, text in enumerate(in_order)}


def _boxes(regions: Sequence[Sequence[Any]]) -> tuple[IntArray, IntArray]:
    """Boxes of regions: one row each, one column per quasi-identifier."""
    columns = len(regions[0]) if regions else 0
    lo, hi = np.empty((len(regions), columns), np.int64), np.empty((len(regions), columns), np.int64)
    for j in range(columns):
        number: dict[Any, int] = {}
        of_row = [number.setdefault(_hashable(region[j]), len(number)) for region in regions]
        nodes = {path[1:] for path in number if path is not None and path[0] is None}
        ends = {end: Decimal(end) for pair in number if pair is not None and pair[0] is not None for end in pair}
        range_of = _tree_ranges(nodes)
        place = {end: len(range_of) + at for at, end in enumerate(sorted(set(ends.values())))}
        boxes = np.full((len(number), 2), NOWHERE, np.int64)
        for entry, at in number.items():
            if entry is not None:
                boxes[at] = range_of[entry[1:]] if entry[0] is None else [place[ends[end]] for end in entry]
        lo[:, j], hi[:, j] = boxes[of_row].T
    return lo, hi


def _hashable(entry: Any) -> tuple[Any, ...] | None:
    """A region of one column as something that can be looked up: a path from the root behind None, or two ends."""
    if entry is None:
        return None
    return (None, *reversed(entry["path"])) if isinstance(entry, dict) else tuple(entry)


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
