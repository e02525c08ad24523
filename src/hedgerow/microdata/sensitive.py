"""A sensitive column, encoded: which values count as different, and a code per record.

Labels are compared after trimming, Unicode normalization (NFKC) and case folding, or 'flu' and 'Flu ' would fake
diversity. With a level of the column's own hierarchy, values that meet there count once. Missing values have no code.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.microdata.columns import build_hierarchy, distinct_labels, records_without_leaf
from hedgerow.plan import Attribute, HierarchySpec
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.plan.hierarchy.numbers import BELOW, Number, parse_number, parse_open
from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

NO_VALUE = -1
ITSELF = "\0itself"


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """A sensitive column.

    Attributes
    ----------
    values
        Number of different values.
    counts
        Records of the whole table by value.
    tree, leaf_node
        The column's hierarchy, cut at its level, and the node of every value in it; None and empty without one.
    in_order
        Whether the order of the codes means something: numbers, or leaves of a hierarchy.
    weight
        How much its diversity counts; None for the default.
    spec
        The hierarchy as a plan states it, with what depended on the data filled in.
    """

    name: str
    values: int
    counts: IntArray
    tree: Hierarchy | None
    leaf_node: IntArray
    in_order: bool
    weight: Number | None
    spec: HierarchySpec | None


def fold(label: str) -> str:
    """Bring a label to the form in which labels are compared.

    Examples
    --------
    >>> fold("Flu ") == fold("ﬂu")
    True
    """
    return unicodedata.normalize("NFKC", label).strip().casefold()


def encode_sensitive(
    name: str, attribute: Attribute, values: pa.ChunkedArray, counts: IntArray | None = None
) -> tuple[SensitiveColumn, IntArray, IntArray]:
    """Encode a sensitive column: the column, a code per row (−1: missing), and the rows without a leaf."""
    labels, indices = distinct_labels(values)
    present = [label for label in labels if label is not None]
    if attribute.hierarchy is None:
        keys = {label: fold(label) for label in present}
        places = {key: place for key in keys.values() if (place := _place(key, attribute)) is not None}
        different = set(keys.values())
        in_order = bool(different) and len(places) == len(different)
        order = sorted(different, key=lambda key: places[key] if in_order else (0, key))
        tree, leaf_node = None, np.zeros(0, np.int64)
    else:
        keys, tree = _by_hierarchy(attribute, present)
        used = set(keys.values())
        order, in_order = [leaf for leaf in tree.leaves if leaf in used], True
        leaf_node = tree.leaf_nodes[[tree.code_of[leaf] for leaf in order]]
    code_of = {key: code for code, key in enumerate(order)}
    lookup = np.array([code_of[keys[label]] if label in keys else NO_VALUE for label in labels], np.int64)
    unplaced = {label for label in present if label not in keys}
    without_leaf = records_without_leaf(name, attribute, labels, indices, unplaced, counts)
    unknown = np.zeros(0, np.int64) if without_leaf is None else np.flatnonzero(without_leaf)
    codes = lookup[indices]
    known = codes >= 0
    tally = np.zeros(len(order), np.int64)
    np.add.at(tally, codes[known], 1 if counts is None else counts[known])
    spec = _spec(attribute, present)
    return SensitiveColumn(name, len(order), tally, tree, leaf_node, in_order, attribute.weight, spec), codes, unknown


def _place(key: str, attribute: Attribute) -> tuple[Number, str] | None:
    """Return where a value stands among numbers; of one that is open at the bottom, before those at its point.

    Examples
    --------
    >>> _place("90", Attribute(role="sensitive")), _place("90+", Attribute(role="sensitive", treat={"top": 90}))
    ((90, '90'), (90, '90+'))
    >>> _place("90+", Attribute(role="sensitive")) is None
    True
    """
    number = parse_number(key)
    if number is not None:
        return number, key
    found = parse_open(key) if attribute.treat is not None and attribute.treat.open_ends else None
    return None if found is None else (found[0], "" if found[1] == BELOW else key)


def _spec(attribute: Attribute, present: list[str]) -> HierarchySpec | None:
    spec = attribute.hierarchy
    if spec is None:
        return None
    longest = max((len(fold(label)) for label in present), default=1)
    settled: HierarchySpec = HIERARCHY_KINDS[spec.kind].settled(spec, longest)
    return settled


def _by_hierarchy(attribute: Attribute, present: list[str]) -> tuple[dict[str, str], Hierarchy]:
    """Return the value that each label counts as, and the tree over all values there could be."""
    assert attribute.hierarchy is not None
    if attribute.hierarchy.kind == "tree":
        tree = Hierarchy.from_tree(attribute.hierarchy.tree or {})
        leaf_of = {fold(leaf): leaf for leaf in tree.leaves}
        placed = {label: leaf_of[fold(label)] for label in present if fold(label) in leaf_of}
    else:
        folded = HIERARCHY_KINDS[attribute.hierarchy.kind].folded  # numbers and dates have one form already
        texts = {label: fold(label) if folded else label for label in present}
        built = build_hierarchy(attribute, sorted(set(texts.values())))
        tree = built.hierarchy
        placed = {label: built.leaf_of[text] for label, text in texts.items() if text in built.leaf_of}
    if attribute.unknown == "own-leaf-under-root":
        own = {label: fold(label) for label in present if label not in placed}
        new = sorted({key for key in own.values() if key not in tree})
        tree = tree.with_leaves_under_root(new)
        placed |= {label: key for label, key in own.items() if key in new}
    classes = tree.ancestors_at_level(attribute.level or 0).tolist()
    inner = {above for node in set(classes) for above in _above(tree, node)}
    value_of, paths = {}, {}
    for leaf, node in zip(tree.leaves, classes, strict=True):
        line = (tree.names[node], *(tree.names[above] for above in _above(tree, node)))
        if node in inner:  # other values lie below it: it is a leaf of its own there
            line = (f"{tree.names[node]}{ITSELF}", *line)
        value_of[leaf] = line[0]
        paths[line[0]] = line
    return {label: value_of[leaf] for label, leaf in placed.items()}, Hierarchy.from_paths(paths.values())


def _above(tree: Hierarchy, node: int) -> list[int]:
    """Nodes on the way up from a node, without itself."""
    line = []
    while tree.parents[node] >= 0:
        node = tree.parents[node]
        line.append(node)
    return line
