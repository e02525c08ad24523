"""A quasi-identifier column, encoded: its domain (tree or free intervals), its limits, and a code per record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import DataError, PlanError, Problem
from hedgerow.microdata.instead import Figures, Sets, figures_of, sets_of
from hedgerow.microdata.parsing.cleaning import dictionary_encoded
from hedgerow.plan import Attribute, HierarchySpec, Limit
from hedgerow.plan.hierarchy import builders, limits
from hedgerow.plan.hierarchy.intervals import Intervals, segments
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.plan.hierarchy.numbers import Number, half_open_label, number_label, parse_half_open, parse_number
from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.plan.notation import NO_NUMBER
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

MISSING = "\0missing"
MOST_NAMED = 20
"""Records that a message names by their number."""
Codes = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Shown:
    """What groups are published as in one column.

    Attributes
    ----------
    lo, hi
        Least and greatest code of each group.
    node
        Node of the hierarchy that each group is published as; meaningless for free intervals.
    told
        What each group is published as instead, in a column that publishes something else: see ``instead.py``.
    """

    lo: IntArray
    hi: IntArray
    node: IntArray
    told: IntArray | None = None

    def __getitem__(self, groups: npt.NDArray[Any]) -> Shown:
        told = None if self.told is None else self.told[groups]
        return Shown(self.lo[groups], self.hi[groups], self.node[groups], told)


@dataclass(frozen=True, eq=False)
class TreeColumn:
    """A quasi-identifier with a hierarchy.

    Attributes
    ----------
    marked
        Nodes that the owner marked as limits; empty without limits.
    spec
        The hierarchy as a plan states it, with what depended on the data filled in; None for a flat one.
    instead
        What groups are published as in place of nodes; a missing value then stays among its own.
    most
        How many values a set may have, if that is limited.
    """

    name: str
    hierarchy: Hierarchy
    marked: tuple[int, ...]
    weight: Number
    spec: HierarchySpec | None
    instead: Sets | None = None
    most: int | None = None

    @property
    def domain_size(self) -> int:
        """Number of codes."""
        return len(self.hierarchy.leaf_nodes)

    @property
    def missing(self) -> int:
        """Code of a missing value; −1 if none is missing."""
        return self.hierarchy.code_of.get(MISSING, -1)

    @property
    def limit_keys(self) -> IntArray:
        """Key of the limit of every code; codes with equal keys may share a group."""
        keys = limits.limit_of_leaves(self.hierarchy, self.marked)
        if self.instead is not None and self.missing >= 0:
            keys[self.missing] = self.hierarchy.leaf_nodes[self.missing]
        return keys

    @property
    def free_keys(self) -> IntArray:
        """Key of every code when limits are ignored: all may share a group, but for missing ones among sets."""
        keys = np.zeros(self.domain_size, np.int64)
        if self.instead is not None and self.missing >= 0:
            keys[self.missing] = 1
        return keys

    def labels(self, shown: Shown) -> list[str | None]:
        """Published value of each group; None is a missing value."""
        names = self.hierarchy.names
        if self.instead is not None and shown.told is not None:
            texts = self.instead.labels(shown.told)
            return [None if gone else text for text, gone in zip(texts, self.is_missing(shown).tolist(), strict=True)]
        return [None if names[node] == MISSING else names[node] for node in shown.node.tolist()]

    def order_keys(self, shown: Shown) -> tuple[IntArray, ...]:
        """Numbers that order published values and are equal where these are."""
        if shown.told is not None:
            return tuple(shown.told.T)
        return (self.hierarchy.node_of_label[shown.node],)

    def members(self, shown: Shown) -> npt.NDArray[np.bool_]:
        """Tell which codes (columns) each published value (rows) may stand for."""
        if self.instead is not None and shown.told is not None:
            return self.instead.members(shown.told)
        codes, first, last = np.arange(self.domain_size), self.hierarchy.first_leaf, self.hierarchy.last_leaf
        inside: npt.NDArray[np.bool_] = (first[shown.node, None] <= codes) & (codes <= last[shown.node, None])
        return inside

    def values_of(self, shown: Shown) -> IntArray:
        """How many codes each published value may stand for."""
        if self.instead is not None and shown.told is not None:
            return self.instead.sizes(shown.told)
        return self.hierarchy.leaf_counts[shown.node]

    def is_missing(self, shown: Shown) -> npt.NDArray[np.bool_]:
        """Tell which groups are published as a missing value."""
        if self.missing < 0:
            return np.zeros(len(shown.node), bool)
        gone: npt.NDArray[np.bool_] = shown.node == self.hierarchy.leaf_nodes[self.missing]
        return gone

    def covers(self, code: int, shown: Shown) -> npt.NDArray[np.bool_]:
        """Tell which published values a code may be behind."""
        if shown.told is not None:
            return self.members(shown)[:, code]
        first, last = self.hierarchy.first_leaf[shown.node], self.hierarchy.last_leaf[shown.node]
        covered: npt.NDArray[np.bool_] = (first <= code) & (code <= last)
        return covered

    def breaks(self, codes: IntArray, shown: Shown) -> npt.NDArray[np.bool_]:
        """Tell where a code is published as a node beyond its limit, or in a set of too many values."""
        if self.most is not None:
            too_many: npt.NDArray[np.bool_] = self.values_of(shown) > self.most
            return too_many
        if not self.marked:
            return np.zeros(len(codes), bool)
        limit = self.limit_keys[codes]
        depths = self.hierarchy.depths[self.hierarchy.node_of_label]  # what repeats its label up a chain means the same
        broken: npt.NDArray[np.bool_] = depths[shown.node] < depths[limit]
        return broken


@dataclass(frozen=True, eq=False)
class FreeColumn:
    """A quasi-identifier with free intervals; a missing value has the last code and stays among its own."""

    name: str
    intervals: Intervals
    cuts: tuple[Number, ...]
    width: Number | None
    has_missing: bool
    weight: Number
    instead: Figures | None = None

    @property
    def domain_size(self) -> int:
        """Number of codes."""
        return len(self.intervals.scaled) + self.has_missing

    @property
    def missing_code(self) -> int:
        """Code of a missing value, if there is one."""
        return len(self.intervals.scaled)

    @property
    def missing(self) -> int:
        """Code of a missing value; −1 if none is missing."""
        return self.missing_code if self.has_missing else -1

    @property
    def limit_keys(self) -> IntArray:
        """Key of the segment between cut points of every code; missing has one of its own."""
        keys = segments(self.intervals, self.cuts)
        return np.append(keys, len(self.cuts) + 1) if self.has_missing else keys

    @property
    def free_keys(self) -> IntArray:
        """Key of every code when limits are ignored: numbers may mix, missing still may not."""
        keys = np.zeros(len(self.intervals.scaled), np.int64)
        return np.append(keys, 1) if self.has_missing else keys

    @property
    def scaled_width(self) -> int | None:
        """Greatest width as a multiple of the intervals' unit."""
        return None if self.width is None else self.intervals.scale(self.width)

    def low_ends(self) -> IntArray:
        """Published lower end by code; a missing value gets 0."""
        return np.append(self.intervals.low_ends, 0) if self.has_missing else self.intervals.low_ends

    def high_ends(self) -> IntArray:
        """Published upper end by code; a missing value gets 0."""
        return np.append(self.intervals.high_ends, 0) if self.has_missing else self.intervals.high_ends

    def labels(self, shown: Shown) -> list[str | None]:
        """Published value of each group; None is a missing value."""
        if self.instead is not None and shown.told is not None:
            texts = self.instead.labels(shown.told)
            return [None if gone else text for text, gone in zip(texts, self.is_missing(shown).tolist(), strict=True)]
        seen: dict[tuple[int, int], str | None] = {}
        labels = []
        for pair in zip(shown.lo.tolist(), shown.hi.tolist(), strict=True):
            if pair not in seen:
                missing = self.has_missing and pair[1] == self.missing_code
                seen[pair] = None if missing else self.intervals.label(*pair)
            labels.append(seen[pair])
        return labels

    def order_keys(self, shown: Shown) -> tuple[IntArray, ...]:
        """Numbers that order published values and are equal where these are: the ends, missing last."""
        missing = (shown.hi == self.missing_code).astype(np.int64)
        if shown.told is not None:
            return missing, shown.told[:, 0]
        return missing, self.low_ends()[shown.lo], self.high_ends()[shown.hi]

    def is_missing(self, shown: Shown) -> npt.NDArray[np.bool_]:
        """Tell which groups are published as a missing value."""
        gone: npt.NDArray[np.bool_] = (shown.hi == self.missing_code) & self.has_missing
        return gone

    def covers(self, code: int, shown: Shown) -> npt.NDArray[np.bool_]:
        """Tell which published values a code may be behind."""
        covered: npt.NDArray[np.bool_] = (shown.lo <= code) & (code <= shown.hi)
        return covered

    def as_read(self, shown: Shown) -> Shown:
        """What a reader takes published values for: a mean or median for the nearest number, an interval for itself."""
        if self.instead is None or shown.told is None:
            return shown
        code = np.where(self.is_missing(shown), self.missing_code, self.instead.nearest(shown.told))
        return Shown(code, code, shown.node)

    def breaks(self, codes: IntArray, shown: Shown) -> npt.NDArray[np.bool_]:
        """Tell where an interval crosses a cut point or is wider than allowed."""
        keys = self.limit_keys
        broken: npt.NDArray[np.bool_] = keys[shown.lo] != keys[shown.hi]
        if self.scaled_width is not None:
            broken = broken | (self.high_ends()[shown.hi] - self.low_ends()[shown.lo] > self.scaled_width)
        return broken


QuasiIdentifier = TreeColumn | FreeColumn


@dataclass(frozen=True)
class Encoded:
    """A column's domain and a code per record; ``unknown`` are records that must be withheld."""

    column: QuasiIdentifier
    codes: Codes
    unknown: npt.NDArray[np.bool_] | None


@dataclass(frozen=True)
class KeptEnds:
    """Ends of free intervals that must be possible in a column, though no record may have such a number.

    Attributes
    ----------
    numbers
        Numbers that are codes too.
    whole
        Whether intervals may be written as those of whole numbers alone.
    """

    numbers: tuple[str, ...] = ()
    whole: bool = True


def encode(
    name: str,
    attribute: Attribute,
    values: pa.ChunkedArray,
    counts: IntArray | None = None,
    strict: bool = True,
    ends: KeptEnds | None = None,
) -> Encoded:
    """Encode one quasi-identifier column; ``counts`` says how many records each row stands for, one each without it.

    ``strict``: whether a limit of a flat column must name a value that occurs. ``ends``: for a column of free
    intervals, what else can be published.

    Raises
    ------
    DataError
        Values without a leaf where the plan says ``unknown: error``; the message counts them and names a row.
    """
    labels, indices = distinct_labels(values)
    present = [label for label in labels if label is not None]
    if attribute.free:
        return _encode_free(name, attribute, labels, indices, present, counts, ends or KeptEnds())
    built = build_hierarchy(attribute, present)
    hierarchy, leaf_of = built.hierarchy, dict(built.leaf_of)
    unplaced: tuple[str, ...] = built.unplaced
    if unplaced and attribute.unknown == "own-leaf-under-root":
        own = tuple(label for label in sorted(unplaced) if label not in hierarchy and not label.startswith(NO_NUMBER))
        hierarchy = hierarchy.with_leaves_under_root(own)
        leaf_of |= {label: label for label in own}
        unplaced = tuple(label for label in unplaced if label not in leaf_of)
    unknown = records_without_leaf(name, attribute, labels, indices, set(unplaced), counts)
    if any(label is None for label in labels):
        hierarchy = hierarchy.with_leaves_under_root([MISSING])
    code_of = hierarchy.code_of
    lookup = np.array(
        [code_of[MISSING] if label is None else code_of.get(leaf_of.get(label, ""), 0) for label in labels], np.int64
    )
    codes = _small(lookup[indices], len(hierarchy.leaf_nodes))
    marked = _marked(name, attribute, hierarchy, strict)
    weight = 1 if attribute.weight is None else attribute.weight
    instead = None if attribute.publish is None else sets_of(name, hierarchy.leaves)
    column = TreeColumn(name, hierarchy, marked, weight, _spec(attribute, present), instead, _most(attribute))
    return Encoded(column, codes, unknown)


def _encode_free(
    name: str,
    attribute: Attribute,
    labels: list[str | None],
    indices: IntArray,
    present: list[str],
    counts: IntArray | None,
    ends: KeptEnds,
) -> Encoded:
    not_numbers = {label for label in present if parse_number(label) is None}
    unknown = records_without_leaf(name, attribute, labels, indices, not_numbers, counts)
    numbers = [label for label in present if label not in not_numbers]
    intervals = Intervals.over([*numbers, *ends.numbers], attribute.snap, name, 0 if ends.whole else 1)
    has_missing = any(label is None for label in labels)
    weight = 1 if attribute.weight is None else attribute.weight
    figures = figures_of(name, attribute, intervals)
    column = FreeColumn(name, intervals, *_cuts_and_width(attribute), has_missing, weight, figures)
    lookup = np.zeros(len(labels), np.int64)
    is_number = np.array([label is not None and label not in not_numbers for label in labels], bool)
    lookup[is_number] = intervals.codes(numbers)
    lookup[np.array([label is None for label in labels], bool)] = column.missing_code
    return Encoded(column, _small(lookup[indices], column.domain_size), unknown)


def _cuts_and_width(attribute: Attribute) -> tuple[tuple[Number, ...], Number | None]:
    limit = attribute.limit or Limit(cuts=())
    return tuple(limit.cuts or ()), limit.width


def _most(attribute: Attribute) -> int | None:
    return None if attribute.limit is None else attribute.limit.values


def build_hierarchy(attribute: Attribute, present: list[str]) -> builders.Built:
    """Build the tree of a column over the labels that occur in it."""
    spec = attribute.hierarchy
    if spec is None:
        return builders.flat(sorted(present))
    return HIERARCHY_KINDS[spec.kind].build(spec, present)


def _spec(attribute: Attribute, present: list[str]) -> HierarchySpec | None:
    spec = attribute.hierarchy
    if spec is None:
        return None
    settled: HierarchySpec = HIERARCHY_KINDS[spec.kind].settled(spec, max(map(len, present), default=1))
    return settled


def _marked(name: str, attribute: Attribute, hierarchy: Hierarchy, strict: bool = True) -> tuple[int, ...]:
    """Return the nodes that the owner marked.

    A name that fits the rule of the hierarchy but that no record lies under limits nobody here; the plan's own check
    has refused those that do not fit. A flat column has no rule: there a name that does not occur is refused.
    """
    limit = attribute.limit
    if limit is None:
        return ()
    if limit.level is not None:
        return limits.nodes_by_level(hierarchy, limit.level)
    if attribute.hierarchy is None and strict:
        absent = [node for node in limit.nodes or () if node not in hierarchy]
        if absent:
            message = f"Column {name!r}: limit {absent[0]!r} is not a value that occurs in it."
            raise PlanError(Problem("unknown-limit", message, hint="check the spelling, or use limit: {level: 0}"))
    names = (name for node in limit.nodes or () for name in spellings(node))
    return limits.nodes_by_name(hierarchy, [name for name in names if name in hierarchy])


def spellings(node: str) -> set[str]:
    """Return the names that a node may have: numbers and intervals are written in more than one way."""
    names = {node}
    number, ends = parse_number(node), parse_half_open(node)
    if number is not None:
        names.add(number_label(number))
    elif ends is not None:
        names |= {half_open_label(*ends, whole=whole) for whole in (True, False)}
    return names


def records_without_leaf(
    name: str,
    attribute: Attribute,
    labels: list[str | None],
    indices: IntArray,
    unplaced: set[str],
    counts: IntArray | None = None,
) -> npt.NDArray[np.bool_] | None:
    """Mark the rows whose value has no leaf, or refuse them, as the plan says."""
    if not unplaced:
        return None
    bad = np.array([label in unplaced for label in labels], bool)[indices]
    if attribute.unknown == "withhold":
        return bad
    spec = attribute.hierarchy
    numeric = attribute.free or (spec is not None and HIERARCHY_KINDS[spec.kind].as_numbers)
    what = "are not numbers that it covers" if numeric else "have no leaf in its hierarchy"
    message = f"Column {name!r}: {in_records(bad, counts, f' ({len(unplaced):,} different values) {what}')}."
    hint = "extend the hierarchy, add a missing marker to data.missing, or set 'unknown: withhold'"
    if not attribute.free:
        hint += " or 'unknown: own-leaf-under-root'"
    raise DataError(Problem("not-a-number" if numeric else "no-leaf", message, hint=hint))


def in_records(bad: npt.NDArray[np.bool_], counts: IntArray | None, what: str) -> str:
    """Say how many records something is true of, and which they are; a collapsed table does not number them.

    Examples
    --------
    >>> in_records(np.array([False, True]), None, " have no leaf"), in_records(np.array([True]), np.array([7]), " fail")
    ('1 records have no leaf; the first is record 2', '7 records fail')
    >>> in_records(np.array([True, False, True]), None, " have no leaf")
    '2 records have no leaf: records 1, 3'
    """
    if counts is not None:
        return f"{int(counts[bad].sum()):,} records{what}"
    found = np.flatnonzero(bad)
    numbers = ", ".join(f"{number + 1:,}" for number in found[:MOST_NAMED].tolist())
    if len(found) == 1:
        return f"1 records{what}; the first is record {numbers}"
    more = ", …" if len(found) > MOST_NAMED else ""
    return f"{len(found):,} records{what}: records {numbers}{more}"


def distinct_labels(values: pa.ChunkedArray) -> tuple[list[str | None], IntArray]:
    """Return the distinct labels of a column and, per record, which one it has; None is missing."""
    import pyarrow as pa

    if pa.types.is_timestamp(values.type):  # the same moment is the same label, whatever zone it is written in
        values = values.cast(pa.timestamp("us", values.type.tz and "UTC"), safe=False)  # Python knows no nanoseconds
    array = dictionary_encoded(values)
    labels: list[Any] = array.dictionary.to_pylist()
    if not pa.types.is_dictionary(values.type):
        labels = [_label(value) for value in labels]
    indices = array.indices
    numbers = indices.fill_null(len(labels)).to_numpy(zero_copy_only=False).astype(np.int64)
    if indices.null_count:
        labels = [*labels, None]
    return labels, numbers


def _label(value: Any) -> str | None:
    """Write a typed value as text, the same for equal values of different types."""
    if value is None or value != value:  # NaN is missing
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return number_label(value)
    if isinstance(value, float):
        number = parse_number(repr(value))
        return repr(value) if number is None else number_label(number)
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value).strip()


def _small(codes: IntArray, size: int) -> Codes:
    """Store codes in the smallest unsigned type that holds the domain."""
    kind = np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.uint32
    return codes.astype(kind)


def without_limit(column: QuasiIdentifier) -> QuasiIdentifier:
    """Return a column with its limits lifted."""
    if isinstance(column, TreeColumn):
        return replace(column, marked=(), most=None)
    return replace(column, cuts=(), width=None)


def with_limit(column: QuasiIdentifier, attribute: Attribute) -> QuasiIdentifier:
    """Return a column with the limits that a plan sets."""
    if isinstance(column, TreeColumn):
        marked = _marked(column.name, attribute, column.hierarchy)
        return replace(column, marked=marked, most=_most(attribute))
    cuts, width = _cuts_and_width(attribute)
    return replace(column, cuts=cuts, width=width)
