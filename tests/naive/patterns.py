"""Decision trees, counting queries and distances between columns, on plain lists.

Rows are single records. A published value is what it may stand for: a pair of numbers (least, greatest) for
trees, a set of values for queries and distances.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

EQUAL_GAINS = 1e-9

Range = tuple[Any, Any]
Feature = tuple[str, str, Sequence[Any]]
"""Name, ``ordered`` or ``label``, and per record a (least, greatest) pair or a label."""


# -- decision tree ---------------------------------------------------------------------------------------------


def tree(
    features: Sequence[Feature], target: Sequence[str], classes: Sequence[str], depth: int, smallest: int
) -> dict[str, Any]:
    """The tree as nested dicts: counts, and where it is split also split, yes, no."""
    return _grow(features, target, classes, list(range(len(target))), depth, smallest)


def _grow(
    features: Sequence[Feature],
    target: Sequence[str],
    classes: Sequence[str],
    rows: list[int],
    depth: int,
    smallest: int,
) -> dict[str, Any]:
    node: dict[str, Any] = {"counts": tuple(sum(target[row] == name for row in rows) for name in classes)}
    if depth == 0:
        return node
    found = []
    for name, kind, values in features:
        found += _splits(name, kind, values, target, classes, rows)
    scored = []
    for split, yes in found:
        inside = set(yes)
        no = [row for row in rows if row not in inside]
        if len(yes) >= smallest and len(no) >= smallest:
            after = len(yes) * entropy(target, yes) + len(no) * entropy(target, no)
            scored.append((entropy(target, rows) - after / len(rows), split, yes))
    most = max((gain for gain, _, _ in scored), default=0.0)
    if most <= EQUAL_GAINS:
        return node
    _, split, yes = next(candidate for candidate in scored if candidate[0] >= most - EQUAL_GAINS)
    inside = set(yes)
    no = [row for row in rows if row not in inside]
    node["split"] = {**split, "overlap": _overlap(features, split, rows)}
    node["yes"] = _grow(features, target, classes, yes, depth - 1, smallest)
    node["no"] = _grow(features, target, classes, no, depth - 1, smallest)
    return node


def entropy(target: Sequence[str], rows: Sequence[int]) -> float:
    """Entropy of the target's shares, natural logarithm."""
    values = [target[row] for row in rows]
    shares = [values.count(value) / len(values) for value in sorted(set(values))]
    return -sum(share * math.log(share) for share in shares)


def _splits(
    name: str, kind: str, values: Sequence[Any], target: Sequence[str], classes: Sequence[str], rows: list[int]
) -> list[tuple[dict[str, Any], list[int]]]:
    """All splits of one feature, each with the rows of its side of yes, in the order in which ties are broken."""
    if kind == "label":
        return _label_splits(name, values, target, classes, rows)
    ends = [None] if all(low == high for low, high in values) else ["from", "to"]
    found = []
    for end in ends:
        at = 1 if end == "to" else 0
        for cut in sorted({values[row][at] for row in rows}):
            below = [row for row in rows if values[row][at] < cut]
            above = [row for row in rows if values[row][at] >= cut]
            found.append(({"column": name, "end": end, "threshold": cut}, below if end == "to" else above))
    return found


def _label_splits(
    name: str, values: Sequence[str], target: Sequence[str], classes: Sequence[str], rows: list[int]
) -> list[tuple[dict[str, Any], list[int]]]:
    labels = sorted({values[row] for row in rows})
    if len(classes) == 2:

        def share(label: str) -> Fraction:
            members = [target[row] for row in rows if values[row] == label]
            return Fraction(members.count(classes[1]), len(members))

        order = sorted(labels, key=lambda label: (-share(label), label))
        sets = [order[:size] for size in range(1, len(order) + 1)]
    else:
        sets = [[label] for label in labels]
    return [
        ({"column": name, "end": None, "labels": tuple(sorted(chosen))}, [r for r in rows if values[r] in chosen])
        for chosen in sets
    ]


def _overlap(features: Sequence[Feature], split: Mapping[str, Any], rows: Sequence[int]) -> int:
    """Records that may lie on either side of the cut."""
    if "labels" in split:
        return 0
    values = next(values for name, _, values in features if name == split["column"])
    return sum(values[row][0] < split["threshold"] <= values[row][1] for row in rows)


# -- counting queries ------------------------------------------------------------------------------------------


def count(records: Sequence[Sequence[Any]], query: Mapping[int, set[Any]]) -> int:
    """Records whose value is asked for in every column of the query."""
    return sum(all(record[place] in asked for place, asked in query.items()) for record in records)


def estimate(published: Sequence[Sequence[set[Any]]], query: Mapping[int, set[Any]]) -> Fraction:
    """What the query is expected to count if each record is anywhere, equally likely, in what is published of it."""
    total = Fraction(0)
    for record in published:
        chance = Fraction(1)
        for place, asked in query.items():
            covered = record[place]
            chance *= Fraction(len(covered & asked), len(covered)) if covered else 0
        total += chance
    return total


def query_error(
    records: Sequence[Sequence[Any]],
    published: Sequence[Sequence[set[Any]]],
    queries: Sequence[Mapping[int, set[Any]]],
) -> tuple[Fraction, Fraction, Fraction]:
    """Mean, median and 90th percentile (nearest rank) of the relative errors."""
    errors = []
    for query in queries:
        true = count(records, query)
        errors.append(abs(estimate(published, query) - true) / max(Fraction(true), Fraction(len(records), 1000)))
    errors.sort()
    rank = math.ceil(Fraction(9, 10) * len(errors))
    return sum(errors, Fraction(0)) / len(errors), statistics.median(errors), errors[rank - 1]


# -- distances -------------------------------------------------------------------------------------------------


def total_variation(raw: Sequence[Any], published: Sequence[set[Any]]) -> Fraction:
    """Half the sum of the differences between the shares of every value."""
    domain = set(raw).union(*published)
    return sum((abs(_share(raw, value) - _spread(published, value)) for value in domain), Fraction(0)) / 2


def earth_movers(raw: Sequence[Any], published: Sequence[set[Any]], values: Sequence[Any]) -> Fraction | None:
    """Mean, over the steps between neighbouring values, of the share of records that cross the step.

    ``values`` are the numbers of the domain, ascending; what is no number is left out.
    """
    kept = [value for value in raw if value in values]
    number_mass = sum((_spread(published, value) for value in values), Fraction(0))
    if not kept or not number_mass:
        return None
    if len(values) == 1:
        return Fraction(0)
    crossed = []
    for place in range(1, len(values)):
        before = sum((_share(kept, value) for value in values[:place]), Fraction(0))
        after = sum((_spread(published, value) for value in values[:place]), Fraction(0)) / number_mass
        crossed.append(abs(before - after))
    return sum(crossed, Fraction(0)) / len(crossed)


def _share(raw: Sequence[Any], value: Any) -> Fraction:
    return Fraction(sum(one == value for one in raw), len(raw))


def _spread(published: Sequence[set[Any]], value: Any) -> Fraction:
    chances = (Fraction(1, len(covered)) for covered in published if value in covered)
    return sum(chances, Fraction(0)) / len(published)
