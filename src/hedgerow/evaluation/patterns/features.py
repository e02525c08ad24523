"""Features and target of a decision tree, from the original records and from a release of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError, Problem, did_you_mean
from hedgerow.evaluation.patterns.covering import decimals_of, scale, scale_of
from hedgerow.evaluation.patterns.observations import Feature, LabelFeature, OrderedFeature, Target
from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier, Table, TreeColumn
from hedgerow.microdata.columns import MISSING, Shown, distinct_labels
from hedgerow.microdata.ordering import order_by, pack, starts_of_runs
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy.numbers import parse_number
from hedgerow.types import IntArray

MOST_CLASSES = 50
MISSING_LABEL = "missing"
NO_VALUE = -1
COARSENED = -2


def raw_features(
    table: Table, plan: Plan, microdata: Microdata, target: str, columns: Sequence[str] | None = None
) -> tuple[tuple[Feature, ...], Target]:
    """Take features and target from the original records.

    Parameters
    ----------
    table, plan, microdata
        The records as read, what the columns are, and the records encoded.
    target
        A column that is released: quasi-identifier, sensitive or other.
    columns
        The quasi-identifiers to look at; all but the target by default. They are looked at in the plan's order.

    Returns
    -------
    tuple
        What :func:`~hedgerow.evaluation.patterns.grow` takes. ``left_out`` of the target counts records whose target
        is ``missing``, and those with a value somewhere that has ``no_leaf``.

    Raises
    ------
    HedgerowError
        For a column that is not there, or a target of too many different values.
    """
    positions = _positions(microdata, target, columns)
    classes = _classes(table, plan, microdata, target)
    units = np.flatnonzero(classes.of_unit >= 0)
    finer = {
        position: _on_no_grid(table, microdata, position)
        for position in positions
        if _is_on_grid(microdata.columns[position]) and not _as_labels(plan, microdata.columns[position])
    }
    keys = [microdata.profile_of_unit[units], classes.of_unit[units], *(part.of_unit[units] for part in finer.values())]
    sizes = [len(microdata.profiles), len(classes.names), *(len(part.low) for part in finer.values())]
    first, counts = _collapsed(keys, sizes)
    unit = units[first]
    features: list[Feature] = []
    for position in positions:
        column = microdata.columns[position]
        if position in finer:
            part = finer[position]
            codes = part.of_unit[unit]
            features.append(OrderedFeature(column.name, part.low[codes], part.high[codes], part.decimals))
        else:
            codes = microdata.codes(position)[microdata.profile_of_unit[unit]].astype(np.int64)
            features.append(_feature(plan, column, _as_they_are(column, codes), np.ones(len(codes), bool)))
    left_out = {"missing": int((classes.of_unit == NO_VALUE).sum()), "no_leaf": len(microdata.unknown)}
    return tuple(features), Target(target, classes.names, classes.of_unit[unit], counts, left_out)


def released_features(
    table: Table,
    plan: Plan,
    microdata: Microdata,
    recoding: Recoding,
    target: str,
    columns: Sequence[str] | None = None,
) -> tuple[tuple[Feature, ...], Target]:
    """Take features and target from a release.

    Numbers that were widened become ranges, other values the label that they are published as. A suppressed cell may
    be any number of its column, or has the label ``missing``.

    Parameters
    ----------
    table, plan, microdata, recoding
        The original records as read, what the columns are, the records encoded, and the release.
    target, columns
        As in :func:`raw_features`.

    Returns
    -------
    tuple
        What :func:`~hedgerow.evaluation.patterns.grow` takes. ``left_out`` of the target counts released records whose
        target is ``missing`` (or suppressed) or ``coarsened`` (published as more than one value), and the ``withheld``.
    """
    positions = _positions(microdata, target, columns)
    classes = _classes(table, plan, microdata, target)
    of_unit = _published_classes(microdata, recoding, classes)
    units = np.flatnonzero((recoding.group_of >= 0) & (of_unit >= 0))
    keys = [recoding.group_of[units], of_unit[units]]
    first, counts = _collapsed(keys, [recoding.groups, len(classes.names)])
    unit = units[first]
    group = recoding.group_of[unit]
    features = []
    for position in positions:
        shown, shows = recoding.shown(position)[group], recoding.shows(position)[group]
        features.append(_feature(plan, microdata.columns[position], shown, shows))
    released = of_unit[recoding.group_of >= 0]
    left_out = {
        "missing": int((released == NO_VALUE).sum()),
        "coarsened": int((released == COARSENED).sum()),
        "withheld": microdata.records - recoding.released,
    }
    return tuple(features), Target(target, classes.names, of_unit[unit], counts, left_out)


# -- features --------------------------------------------------------------------------------------------------------


def _positions(microdata: Microdata, target: str, columns: Sequence[str] | None) -> list[int]:
    names = [column.name for column in microdata.columns]
    for name in columns or ():
        if name not in names:
            message = f"The tree can look at quasi-identifiers only, and {name!r} is none."
            raise HedgerowError(Problem("usage", message, hint=did_you_mean(name, names)))
    return [place for place, name in enumerate(names) if name != target and (columns is None or name in columns)]


def _as_they_are(column: QuasiIdentifier, codes: IntArray) -> Shown:
    """Publish every code as itself."""
    node = column.hierarchy.leaf_nodes[codes] if isinstance(column, TreeColumn) else np.full(len(codes), -1)
    return Shown(codes, codes, node)


def _feature(plan: Plan, column: QuasiIdentifier, shown: Shown, shows: npt.NDArray[np.bool_]) -> Feature:
    numbers = None if _as_labels(plan, column) else scale_of(column)
    if numbers is None:
        return _label_feature(column, shown, shows)
    low, high = numbers.ends(column, column.as_read(shown) if isinstance(column, FreeColumn) else shown)
    low, high = np.where(shows, low, numbers.least), np.where(shows, high, numbers.greatest)
    return OrderedFeature(column.name, low, high, numbers.decimals)


def _as_labels(plan: Plan, column: QuasiIdentifier) -> bool:
    """Tell whether the owner says that the numbers of a column mean no quantity."""
    return plan.attributes[column.name].numeric is False and isinstance(column, TreeColumn)


def _label_feature(column: QuasiIdentifier, shown: Shown, shows: npt.NDArray[np.bool_]) -> LabelFeature:
    if isinstance(column, FreeColumn):  # without a single number
        return LabelFeature(column.name, (MISSING_LABEL,), np.zeros(len(shown.lo), np.int64))
    if shown.told is not None:
        told = [MISSING_LABEL if label is None else label for label in column.labels(shown)]
        distinct, code = np.unique(np.array(told, object), return_inverse=True)
        return LabelFeature(column.name, tuple(distinct.tolist()), code.reshape(-1).astype(np.int64))
    names = [MISSING_LABEL if name == MISSING else name for name in (*column.hierarchy.names, MISSING)]
    nodes = np.where(shows, shown.node, len(names) - 1)
    used = np.unique(nodes)
    labels = sorted({names[node] for node in used.tolist()})
    code_of = {label: code for code, label in enumerate(labels)}
    lookup = np.zeros(len(names), np.int64)
    lookup[used] = [code_of[names[node]] for node in used.tolist()]
    return LabelFeature(column.name, tuple(labels), lookup[nodes])


@dataclass(frozen=True, eq=False)
class _Numbers:
    """The numbers of a column as the table has them: least and greatest by value, and every unit's value."""

    low: IntArray
    high: IntArray
    decimals: int
    of_unit: IntArray


def _is_on_grid(column: QuasiIdentifier) -> bool:
    """Tell whether the codes of a column are steps of a grid, so that its own numbers are in the table only."""
    return isinstance(column, FreeColumn) and column.intervals.snap is not None and len(column.intervals.scaled) > 0


def _on_no_grid(table: Table, microdata: Microdata, position: int) -> _Numbers:
    labels, of_record = distinct_labels(table.columns[microdata.columns[position].name])
    parsed = [None if label is None else parse_number(label) for label in labels]
    decimals = max(decimals_of(number) for number in parsed if number is not None)
    scaled = [None if number is None else scale(number, decimals) for number in parsed]
    known = [number for number in scaled if number is not None]
    low = np.array([min(known) if number is None else number for number in scaled], np.int64)
    high = np.array([max(known) if number is None else number for number in scaled], np.int64)
    return _Numbers(low, high, decimals, of_record[microdata.record_of])


# -- the target ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Classes:
    """Values of the target: their names, every unit's, and for a quasi-identifier its position and the codes' own."""

    names: tuple[str, ...]
    of_unit: IntArray
    position: int | None = None
    of_code: IntArray | None = None


def _classes(table: Table, plan: Plan, microdata: Microdata, target: str) -> _Classes:
    if target not in plan.released_columns:
        message = f"There is no released column {target!r} to grow a tree for."
        raise HedgerowError(Problem("usage", message, hint=did_you_mean(target, plan.released_columns)))
    names = [column.name for column in microdata.columns]
    if target in names:
        classes = _codes_as_classes(microdata, names.index(target))
    else:
        classes = _labels_as_classes(table, microdata, target)
    if len(classes.names) > MOST_CLASSES:
        message = f"Column {target!r} has {len(classes.names):,} different values; a tree can tell {MOST_CLASSES}."
        raise HedgerowError(Problem("usage", message, hint="name a column of few values, such as yes and no"))
    return classes


def _labels_as_classes(table: Table, microdata: Microdata, target: str) -> _Classes:
    labels, of_record = distinct_labels(table.columns[target])
    used = np.unique(of_record[microdata.record_of])
    names = sorted({label for label in (labels[place] for place in used.tolist()) if label is not None})
    code_of: dict[str | None, int] = {name: code for code, name in enumerate(names)}
    lookup = np.array([code_of.get(label, NO_VALUE) for label in labels], np.int64)
    return _Classes(tuple(names), lookup[of_record[microdata.record_of]])


def _codes_as_classes(microdata: Microdata, position: int) -> _Classes:
    column = microdata.columns[position]
    codes = microdata.codes(position).astype(np.int64)
    used = np.unique(codes)
    labels = column.labels(_as_they_are(column, used))
    of_code = np.full(column.domain_size, NO_VALUE)
    named = [(code, label) for code, label in zip(used.tolist(), labels, strict=True) if label is not None]
    of_code[[code for code, _ in named]] = np.arange(len(named))
    of_unit = of_code[codes][microdata.profile_of_unit]
    return _Classes(tuple(label for _, label in named), of_unit, position, of_code)


def _published_classes(microdata: Microdata, recoding: Recoding, classes: _Classes) -> IntArray:
    """Value of the target of every unit, as far as the release tells it."""
    if classes.position is None or classes.of_code is None:
        return classes.of_unit
    column, shown = microdata.columns[classes.position], recoding.shown(classes.position)
    if isinstance(column, TreeColumn):
        hierarchy = column.hierarchy
        is_leaf = np.isin(hierarchy.node_of_label, hierarchy.node_of_label[hierarchy.leaf_nodes])
        single, code = is_leaf[shown.node], hierarchy.first_leaf[shown.node]
    else:
        single, code = shown.lo == shown.hi, shown.lo
    of_group = np.where(single, classes.of_code[code], COARSENED)
    of_group = np.where(recoding.shows(classes.position), of_group, NO_VALUE)
    of_unit = np.full(len(recoding.group_of), NO_VALUE)
    released = recoding.group_of >= 0
    of_unit[released] = of_group[recoding.group_of[released]]
    return of_unit


def _collapsed(keys: Sequence[IntArray], sizes: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return one position of every different combination of keys, in their order, and how often it occurs."""
    words = pack(keys, sizes)
    order = order_by(words)
    starts = starts_of_runs([word[order] for word in words])
    return order[starts], np.diff(np.append(starts, len(order)))
