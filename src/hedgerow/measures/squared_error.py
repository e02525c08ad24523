"""Squared error within groups: how far records lie from the centre of their group, as microaggregation has it.

Domingo-Ferrer and Mateo-Sanz 2002: SSE / SST, the sum of squared distances of records to the centres of their groups
over that to the centre of all. Numbers are standardized; a missing one lies in the middle, apart from all numbers by a
distance of its own. Values of a hierarchy that are no numbers become points such that the squared distance of two is
the height of their lowest common ancestor over that of the tree, so 1 for two values of a flat column. Columns count by
their weights.

A record that is withheld, and a cell that is suppressed, is as far off as a record is from the centre of all.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan.concepts import MeasureDescriptor
from hedgerow.plan.hierarchy.numbers import counted_as
from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.types import IntArray

GRID = 1 << 16
"""Parts of a standard deviation in which points are counted, so that sums of them are exact."""
DECIMALS = 12
Points = npt.NDArray[np.float64]


def points_of(column: QuasiIdentifier, records: IntArray) -> Points:
    """Where every code of a column lies, one row each; ``records`` says how many records have each code.

    Whole numbers, as floats: parts of a standard deviation, times the root of the column's weight.
    """
    numbers = _numbers(column)
    if numbers is None:
        points = _tree_points(column.hierarchy)  # type: ignore[union-attr] # free columns have numbers
    else:
        points = _standardized(numbers, records)
        if column.missing >= 0:
            apart = np.zeros((len(points), 1))
            apart[column.missing] = 1
            points = np.hstack([points, apart])
    return np.rint(points * (GRID * math.sqrt(column.weight)))


def _numbers(column: QuasiIdentifier) -> list[Fraction | None] | None:
    """The number that every code stands for, None where it is missing; or None if the values are no numbers."""
    if isinstance(column, FreeColumn):
        ends = zip(column.low_ends().tolist(), column.high_ends().tolist(), strict=True)
        return [None if code == column.missing else Fraction(a + b, 2) for code, (a, b) in enumerate(ends)]
    tree = column.hierarchy
    labels = [tree.names[node] for node in tree.leaf_nodes.tolist()]
    parsed = [None if code == column.missing else counted_as(label) for code, label in enumerate(labels)]
    if any(number is None and code != column.missing for code, number in enumerate(parsed)):
        return None
    return [None if number is None else Fraction(number) for number in parsed]


def _standardized(numbers: list[Fraction | None], records: IntArray) -> Points:
    """Numbers as distances from their mean, in standard deviations; a missing one lies at the mean."""
    counts = records.tolist()
    known = [(float(number), count) for number, count in zip(numbers, counts, strict=True) if number is not None]
    total = sum(count for _, count in known)
    mean = math.fsum(number * count for number, count in known) / max(total, 1)
    spread = math.sqrt(math.fsum((number - mean) ** 2 * count for number, count in known) / max(total, 1))
    points = [0.0 if number is None or spread == 0 else (float(number) - mean) / spread for number in numbers]
    return np.array(points, np.float64).reshape(-1, 1)


def _tree_points(tree: Hierarchy) -> Points:
    """A coordinate for every node that some leaves are under and others are not: how far it is from its parent.

    Two leaves differ in the coordinates of the nodes below their lowest common ancestor, on both sides.
    """
    leaves = np.arange(len(tree.leaf_nodes))
    heights = tree.heights.astype(np.float64)
    whole = max(float(heights[0]), 1.0)
    columns = []
    for node in range(1, len(tree.parents)):
        first, last = int(tree.first_leaf[node]), int(tree.last_leaf[node])
        step = heights[tree.parents[node]] - heights[node]
        if last < first or step <= 0:
            continue
        columns.append(np.where((first <= leaves) & (leaves <= last), math.sqrt(step / whole / 2), 0.0))
    return np.stack(columns, axis=1) if columns else np.zeros((len(leaves), 0))


def squared_error(microdata: Microdata, recoding: Recoding) -> float:
    """SSE / SST over all columns; the share withheld if all records are alike."""
    within = around = 0.0
    for position, column in enumerate(microdata.columns):
        points = points_of(column, microdata.records_by_code(position))
        codes = microdata.codes(position)[microdata.profile_of_unit]
        shows = np.append(recoding.shows(position), False)[recoding.group_of]  # −1: withheld
        spread = _squares(points[codes], np.zeros(len(codes), np.int64))
        inside = _squares(points[codes[shows]], recoding.group_of[shows])
        share = int(shows.sum()) / microdata.records
        around += spread * microdata.records / max(len(codes), 1)
        within += inside + (1 - share) * spread * microdata.records / max(len(codes), 1)
    if around == 0:
        return round(1 - recoding.released / microdata.records, DECIMALS)
    return round(within / around, DECIMALS)


def _squares(points: Points, group_of: IntArray) -> float:
    """Sum of squared distances of points to the centres of their groups."""
    if not len(points):
        return 0.0
    sizes = np.bincount(group_of)
    total = 0.0
    for coordinate in points.T:
        sums = np.bincount(group_of, weights=coordinate)
        total += float((coordinate * coordinate).sum()) - float((sums * sums / np.maximum(sizes, 1)).sum())
    return max(total, 0.0)


DESCRIPTOR = MeasureDescriptor(
    name="squared_error",
    title="squared error within groups",
    meaning="How far records lie from the centre of their group, as a share of how far they lie from the centre of "
    "all: 0 if groups hold equal records only, 1 if they tell nothing.",
    help="SSE / SST: squared distances to the centres of groups / to the centre of all, numbers standardized",
    order=47,
    of_release=lambda measured: squared_error(measured.microdata, measured.recoding),
    objective="variance",
    squared=True,
)
