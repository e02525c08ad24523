"""A sensitive column, encoded: which values count as different, and a code per record.

Labels are compared after trimming, Unicode normalization (NFKC) and case folding, or 'flu' and 'Flu ' would fake
diversity. With a level of the column's own hierarchy, values that meet there count once. Missing values have no code.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.hierarchy.numbers import Number, parse_number
from hedgerow.hierarchy.tree import Hierarchy, IntArray
from hedgerow.microdata.columns import build_hierarchy, distinct_labels
from hedgerow.plan import Attribute

if TYPE_CHECKING:
    import pyarrow as pa

NO_VALUE = -1


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column.

    Attributes
    ----------
    values
        Number of different values.
    counts
        Records of the whole table by value.
    tree
        Tree over the values, leaf code = value code, if the column has a hierarchy.
    in_order
        Whether the order of the codes means something: numbers, or leaves of a hierarchy.
    weight
        How much its diversity counts; None for the default.
    """

    name: str
    values: int
    counts: IntArray
    tree: Hierarchy | None
    in_order: bool
    weight: Number | None


def fold(label: str) -> str:
    """Bring a label to the form in which labels are compared.

    Examples
    --------
    >>> fold("Flu ") == fold("ﬂu")
    True
    """
    return unicodedata.normalize("NFKC", label).strip().casefold()


def encode_sensitive(
    name: str, attribute: Attribute, values: pa.ChunkedArray
) -> tuple[SensitiveColumn, IntArray, IntArray]:
    """Encode a sensitive column: the column, a code per record (−1: missing), and the records without a leaf."""
    labels, indices = distinct_labels(values)
    present = [label for label in labels if label is not None]
    if attribute.hierarchy is None:
        keys = {label: fold(label) for label in present}
        numbers = {key: parse_number(key) for key in keys.values()}
        in_order = bool(numbers) and all(number is not None for number in numbers.values())
        order = sorted(set(keys.values()), key=lambda key: ((numbers[key] if in_order else 0), key))
        tree = None
    else:
        keys, tree = _by_hierarchy(attribute, present)
        order, in_order = list(tree.leaves), True
    code_of = {key: code for code, key in enumerate(order)}
    lookup = np.array([code_of[keys[label]] if label in keys else NO_VALUE for label in labels], np.int64)
    unplaced = {label for label in present if label not in keys}
    unknown = np.zeros(0, np.int64)
    if unplaced:
        bad = np.array([label in unplaced for label in labels], bool)[indices]
        unknown = np.flatnonzero(bad)
        if attribute.unknown == "error":
            message = (
                f"Column {name!r}: {len(unknown):,} records ({len(unplaced):,} different values) have no leaf in its "
                f"hierarchy; the first is record {int(unknown[0]) + 1:,}."
            )
            hint = "extend the hierarchy, or set 'unknown: withhold' or 'unknown: own-leaf-under-root'"
            raise DataError(Problem("no-leaf", message, hint=hint))
    codes = lookup[indices]
    counts = np.bincount(codes[codes >= 0], minlength=len(order))
    return SensitiveColumn(name, len(order), counts, tree, in_order, attribute.weight), codes, unknown


def _by_hierarchy(attribute: Attribute, present: list[str]) -> tuple[dict[str, str], Hierarchy]:
    """Return the value that each label counts as, and the tree over these values."""
    assert attribute.hierarchy is not None
    if attribute.hierarchy.kind == "tree":
        tree = Hierarchy.from_tree(attribute.hierarchy.tree or {})
        leaf_of = {fold(leaf): leaf for leaf in tree.leaves}
        placed = {label: leaf_of[fold(label)] for label in present if fold(label) in leaf_of}
    else:
        built = build_hierarchy(attribute, present)
        tree, placed = built.hierarchy, dict(built.leaf_of)
    if attribute.unknown == "own-leaf-under-root":
        own = {label: fold(label) for label in present if label not in placed}
        new = sorted({key for key in own.values() if key not in tree})
        tree = tree.with_leaves_under_root(new)
        placed |= {label: key for label, key in own.items() if key in new}
    level = attribute.level or 0
    value_of = dict(zip(tree.leaves, (tree.names[node] for node in tree.ancestors_at_level(level)), strict=True))
    used = dict.fromkeys(value_of[leaf] for leaf in tree.leaves if leaf in set(placed.values()))
    return {label: value_of[leaf] for label, leaf in placed.items()}, _cut_tree(tree, list(used))


def _cut_tree(tree: Hierarchy, values: list[str]) -> Hierarchy:
    """Return the part of a tree above the values; a value that has others below it becomes a leaf under the root."""
    above = {value: tree.ancestors(value) for value in values}
    inner = {name for line in above.values() for name in line[1:]}
    if not values:
        return Hierarchy((tree.root,), (-1,))
    return Hierarchy.from_paths([(value, tree.root) if value in inner else above[value] for value in values])
