"""Whether a published cell is true of a value, and whether it holds another: by their labels alone, in plain Python.

A cell of a tree is a node; of free intervals a number, a range of whole numbers (1-9), or a range in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

Path = tuple[str, ...]
RANGE = re.compile(r"(-?\d+)-(-?\d+)")


def ways_up(tree: Mapping[str, Any], above: Path = ()) -> dict[str, Path]:
    """The way from every leaf, itself first, to the root."""
    found: dict[str, Path] = {}
    for name, below in tree.items():
        path = (name, *above)
        if isinstance(below, Mapping) and below:
            found |= ways_up(below, path)
        elif isinstance(below, list):
            found |= {leaf: (leaf, *path) for leaf in below}
        else:
            found[name] = path
    return found


def way_up(ways: Mapping[str, Path], value: str | None) -> tuple[str | None, ...]:
    """The way up from a value; a missing one hangs under the root."""
    return (None, next(iter(ways.values()))[-1]) if value is None else ways[value]


def is_under(ways: Mapping[str, Path], value: str | None, label: str | None) -> bool:
    """Whether a published node is true of a value."""
    return label in way_up(ways, value)


def is_within_limit(
    ways: Mapping[str, Path], value: str | None, label: str | None, level: int | None, marked: Collection[str]
) -> bool:
    """Whether a node that is true of a value is no higher than its limit: a level, or the first marked on the way up."""
    line = way_up(ways, value)
    top = len(line) - 1
    limit = min(level, top) if level is not None else next((at for at, node in enumerate(line) if node in marked), top)
    return line.index(label) <= limit


def node_holds(ways: Mapping[str, Path], value: str | None, inner: str | None, outer: str | None) -> bool:
    """Whether a node that is true of a value stands no lower than another that is."""
    line = way_up(ways, value)
    return line.index(outer) >= line.index(inner)


def ends(label: str) -> tuple[Fraction, Fraction, str]:
    """The ends of a published interval, and what it is: one number, whole numbers, up to and with its end, or without."""
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return Fraction(low), Fraction(high), "with" if label.endswith("]") else "without"
    both = RANGE.fullmatch(label)
    if both is None:
        return Fraction(label), Fraction(label), "number"
    return Fraction(both[1]), Fraction(both[2]), "whole"


def is_within(value: str | None, label: str | None) -> bool:
    """Whether a published interval is true of a number."""
    if value is None or label is None:
        return value is label
    low, high, kind = ends(label)
    number = Fraction(value)
    if kind == "without":
        return low <= number < high
    return low <= number <= high and (kind != "whole" or number.denominator == 1)


def interval_holds(inner: str | None, outer: str | None) -> bool:
    """Whether every number of one interval is in another."""
    if inner is None or outer is None:
        return inner is outer
    low, high, kind = ends(inner)
    if kind == "number":
        return is_within(inner, outer)
    around_low, around_high, around = ends(outer)
    if kind == "whole":  # its ends say all
        return is_within(str(low), outer) and is_within(str(high), outer)
    if around in ("whole", "number") or low < around_low:
        return False
    return high <= around_high if kind == "without" or around == "with" else high < around_high
