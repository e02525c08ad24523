"""The groups of a version as a store keeps them: what they show, where they lie, which sensitive values they have.

A group keeps its number as long as it shows the same; versions hold only the groups that changed.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.microdata import FreeColumn, Microdata, Table, TreeColumn
from hedgerow.microdata.columns import distinct_labels
from hedgerow.microdata.ordering import number_rows
from hedgerow.microdata.recoding import Recoding
from hedgerow.microdata.sensitive import fold
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy.numbers import number_label
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa


def group_table(microdata: Microdata, recoding: Recoding, vectors: tuple[list[str], IntArray]) -> pa.Table:
    """Lay out the groups of a release, in its order: ``shown``, ``region``, ``size`` and ``counts``."""
    import pyarrow as pa

    labels = recoding.labels(microdata)
    regions = [_regions(column, recoding, position) for position, column in enumerate(microdata.columns)]
    shown = [json.dumps(row, ensure_ascii=False) for row in zip(*labels, strict=True)]
    region = ["[" + ",".join(row) + "]" for row in zip(*regions, strict=True)]
    return pa.table(
        {
            "shown": pa.array(shown, pa.string()),
            "region": pa.array(region, pa.string()),
            "size": recoding.sizes,
            "counts": pa.array(_counts(*vectors, recoding), pa.string()),
        }
    )


def number_groups(before: pa.Table, after: pa.Table, following: int = 0) -> tuple[IntArray, pa.Table]:
    """Number the groups of a new version, and return those that differ from the state before.

    Parameters
    ----------
    before
        Every group there ever was, as it is now: ``number``, ``shown``, ``region``, ``size`` (0: not now), ``counts``;
        or all but those that are now just as they were.
    after
        The groups of the new version, or all but these.
    following
        The least number that a new group may be given.
    """
    import pyarrow as pa

    known = dict(zip(before.column("shown").to_pylist(), range(before.num_rows), strict=True))
    number_before = before.column("number").to_pylist()
    state = list(zip(*(before.column(name).to_pylist() for name in ("region", "size", "counts")), strict=True))
    following = max(following, max(number_before, default=-1) + 1)
    numbers, changed = [], []
    still = np.zeros(before.num_rows, bool)
    rows = zip(*(after.column(name).to_pylist() for name in ("shown", "region", "size", "counts")), strict=True)
    for shown, *now in rows:
        at = known.get(shown)
        if at is None:
            number, following = following, following + 1
        else:
            number = number_before[at]
            still[at] = True
        numbers.append(number)
        if at is None or state[at] != tuple(now):
            changed.append((number, shown, *now))
    shown_before = before.column("shown")
    for at in np.flatnonzero(~still & (before.column("size").to_numpy() > 0)).tolist():
        changed.append((number_before[at], shown_before[at].as_py(), "[]", 0, "[]"))
    text, whole = pa.string(), pa.int64()
    kinds = pa.schema([("number", whole), ("shown", text), ("region", text), ("size", whole), ("counts", text)])
    columns = list(zip(*changed, strict=True)) if changed else [()] * len(kinds)
    events = pa.table([pa.array(list(column), field.type) for column, field in zip(columns, kinds, strict=True)], kinds)
    return np.array(numbers, np.int64), events


def audited_columns(plan: Plan) -> list[tuple[str, bool]]:
    """What an audit compares: the sensitive columns, and those with a level once more at that level (True)."""
    names = plan.columns("sensitive")
    return [(name, False) for name in names] + [
        (name, True) for name in names if plan.attributes[name].level is not None
    ]


def value_vectors(table: Table, plan: Plan, microdata: Microdata) -> tuple[list[str], IntArray]:
    """Return the different vectors of sensitive values as JSON text, and which one every unit has."""
    units = len(microdata.record_of)
    columns: list[tuple[list[str | None], IntArray]] = []
    for name in plan.columns("sensitive"):
        labels, indices = distinct_labels(table.columns[name])
        columns.append(([None if label is None else fold(label) for label in labels], indices[microdata.record_of]))
    for position, column in enumerate(microdata.sensitive):
        if plan.attributes[column.name].level is not None and column.tree is not None:
            names = [*(column.tree.names[node] for node in column.leaf_node.tolist()), None]
            columns.append((names, microdata.sensitive_of[:, position]))  # −1, missing, is the last
    if not columns:
        return ["[]"], np.zeros(units, np.int64)
    number, different = number_rows([np.where(codes < 0, len(names), codes) for names, codes in columns])
    first = np.zeros(different, np.int64)
    first[number[::-1]] = np.arange(units)[::-1]
    rows = ([names[codes[unit]] for names, codes in columns] for unit in first.tolist())
    return [json.dumps(row, ensure_ascii=False) for row in rows], number


def _counts(texts: list[str], number: IntArray, recoding: Recoding) -> list[str]:
    """How often each vector of sensitive values is in each group, as JSON text; those written alike are one."""
    inside = recoding.group_of >= 0
    pairs, count = np.unique(recoding.group_of[inside] * len(texts) + number[inside], return_counts=True)
    parts: list[dict[str, int]] = [{} for _ in range(recoding.groups)]
    for pair, many in zip(pairs.tolist(), count.tolist(), strict=True):
        part, text = parts[pair // len(texts)], texts[pair % len(texts)]
        part[text] = part.get(text, 0) + many
    return ["[" + ", ".join(f"[{text}, {many}]" for text, many in sorted(part.items())) + "]" for part in parts]


def _regions(column: Any, recoding: Recoding, position: int) -> list[str]:
    """Where groups lie in one column, as JSON: the path to the root, the ends of an interval, or null if missing."""
    shown = recoding.shown(position)
    if isinstance(column, TreeColumn):
        written = {node: json.dumps({"path": _path(column, node)}) for node in np.unique(shown.node).tolist()}
        return [written[node] for node in shown.node.tolist()]
    assert isinstance(column, FreeColumn)
    missing = column.is_missing(shown)
    low, high = column.low_ends()[shown.lo], column.high_ends()[shown.hi]
    ends = {end: _text(column, end) for end in np.unique(np.concatenate([low, high])).tolist()}
    return [
        "null" if gone else json.dumps([ends[first], ends[last]])
        for gone, first, last in zip(missing.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def _path(column: TreeColumn, node: int) -> list[str]:
    tree = column.hierarchy
    names = []
    while node >= 0:
        names.append(tree.names[node])
        node = int(tree.parent[node])
    return names


def _text(column: FreeColumn, end: int) -> str:
    return number_label(Decimal(end).scaleb(-column.intervals.decimals))
