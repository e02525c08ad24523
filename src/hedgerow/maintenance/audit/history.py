"""All versions of a release, in the form that the audit looks at."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.maintenance.audit.past import Past, PublishedVersion, as_text, boxes_of, distinct, integers
from hedgerow.types import IntArray


@dataclass(frozen=True, eq=False)
class History:
    """All versions of a release.

    Attributes
    ----------
    versions
        In the order in which they were published. A version that changed nothing may be left out.
    past
        Their state in the end, with the names of all people and values.
    """

    versions: tuple[PublishedVersion, ...]
    past: Past = field(repr=False)

    @property
    def keys(self) -> tuple[Any, ...]:
        """Record keys of all people, ascending; a person is named by the position. Private."""
        return tuple(self.past.keys.to_pylist())

    @property
    def vectors(self) -> tuple[tuple[Any, ...], ...]:
        """Joint sensitive values: one cell per sensitive column, None if missing. Private."""
        return tuple(map(tuple, self.past.vectors))


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
    keys = pc.unique(places_events["key"]).sort()
    states = [Past.empty(sensitive_columns, keys, sorted(_values(groups_events, value_events)))]
    events = [_by_version(table) for table in (groups_events, places_events, value_events)]
    numbers = np.unique(np.concatenate([*(version for version, _ in events), np.arange(1, newest + 1)]))
    for number in numbers.tolist():
        parts = (table.slice(*_slice(version, number)) for version, table in events)
        states.append(states[-1].after(number, *parts))
    boxes, people = boxes_of(states[-1].entries), len(keys)
    return History(tuple(state.published(boxes, people) for state in states[1:]), states[-1])


def _values(groups: pa.Table, values: pa.Table) -> Iterator[str]:
    """All joint values that were ever published or said of somebody."""
    for text in distinct(groups.filter(pc.greater(groups["size"], 0))["counts"])[0]:
        yield from (as_text(vector) for vector, _ in json.loads(text))
    for text in distinct(values["values"])[0]:
        yield as_text(json.loads(text))


def _by_version(table: pa.Table) -> tuple[IntArray, pa.Table]:
    """Sort events by version, and return these beside them."""
    version = integers(table["version"])
    order = np.argsort(version, kind="stable")
    if (order != np.arange(len(order))).any():
        table = table.take(pa.array(order))
    return version[order], table


def _slice(version: IntArray, number: int) -> tuple[int, int]:
    first, last = np.searchsorted(version, [number, number + 1]).tolist()
    return first, last - first
