"""What a box costs, as integer tables for the kernels.

Costs are whole multiples of 1/UNIT, so that sums are exact and ties are ties. UNIT is divisible by every height up to
16. Weights count relative to the greatest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.microdata import FreeColumn, Microdata, TreeColumn

UNIT = 720_720 * 1024
LARGEST_TABLE = 512
TABLE, STEPS, FREE = 0, 1, 2  # as in kernels/search_index.py


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of boxes by attribute, in the microdata's index order; see ``kernels/search_index.py`` for the layout."""

    kind: npt.NDArray[np.uint8]
    offset: npt.NDArray[np.int64]
    width: npt.NDArray[np.int64]
    costs: npt.NDArray[np.int32]

    @property
    def prices(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays as the kernels take them."""
        return self.kind, self.offset, self.width, self.costs


def cost_tables(microdata: Microdata) -> Costs:
    """Lay out the costs of all quasi-identifiers."""
    heaviest = max(Fraction(column.weight) for column in microdata.columns)
    kinds, widths, parts = [], [], []
    for column in microdata.indexed_columns:
        weight = Fraction(column.weight) / heaviest
        if isinstance(column, FreeColumn):
            kind, part = FREE, _free(column, weight)
        elif column.domain_size <= LARGEST_TABLE:
            kind, part = TABLE, pair_table(_step_costs(column, weight)).ravel()
        else:
            kind, part = STEPS, sparse_table(_step_costs(column, weight))
        kinds.append(kind)
        widths.append(column.domain_size)
        parts.append(part)
    offsets = np.cumsum([0] + [len(part) for part in parts[:-1]])
    return Costs(np.array(kinds, np.uint8), offsets.astype(np.int64), np.array(widths, np.int64), np.concatenate(parts))


def _rounded(share: Fraction) -> int:
    return (2 * UNIT * share.numerator + share.denominator) // (2 * share.denominator)


def _step_costs(column: TreeColumn, weight: Fraction) -> npt.NDArray[np.int32]:
    """Cost of the lowest common ancestor of each code and the next."""
    height = column.hierarchy.height
    by_height = [_rounded(weight * Fraction(h, height)) if height else 0 for h in range(height + 1)]
    return np.array(by_height, np.int32)[column.hierarchy.step_heights]


def pair_table(steps: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Lay out, for every two codes, the greatest of the steps between them."""
    size = len(steps) + 1
    table = np.zeros((size, size), steps.dtype)
    for lo in range(size - 1):
        table[lo, lo + 1 :] = np.maximum.accumulate(steps[lo:])
    return np.maximum(table, table.T)


def sparse_table(steps: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Lay out rows of which row r holds, at position i, the greatest of the 2^r steps from i on."""
    size = len(steps) + 1
    rows = [np.append(steps, steps.dtype.type(0))]
    span = 1
    while 2 * span < size:
        above = rows[-1].copy()
        above[:-span] = np.maximum(above[:-span], rows[-1][span:])
        rows.append(above)
        span *= 2
    return np.concatenate(rows)


def _free(column: FreeColumn, weight: Fraction) -> npt.NDArray[np.int32]:
    """Lower positions, then upper positions, of all codes; a missing value lies at the upper end."""
    intervals = column.intervals
    start, span = (int(intervals.low_ends[0]), intervals.span) if len(intervals.scaled) else (0, 0)

    def positions(ends: npt.NDArray[np.int64]) -> list[int]:
        if span == 0:
            return [0] * len(ends)
        up, down = 2 * UNIT * weight.numerator, 2 * span * weight.denominator
        half = span * weight.denominator
        return [(up * (end - start) + half) // down for end in ends.tolist()]

    low, high = positions(intervals.low_ends), positions(intervals.high_ends)
    if column.has_missing:
        last: Any = high[-1] if high else 0
        low.append(last)
        high.append(last)
    return np.array(low + high, np.int32)
