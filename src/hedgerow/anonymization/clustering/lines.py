"""What a set of values costs, told by columns of which each has a range: a form that kernels know.

To the kernels a group is a range of codes per column, and what a range costs depends on its two ends. A set is no
range. But a cost that grows by the same for every value is a sum over values, and two values can share a *line*:

    one value · any other value · the other value

The range of a group on that line tells which of the two it has. So a column of n values gets half as many lines, each
of which charges for the values that the range reaches; the column itself takes off what the first value of a set costs
too much, and adds what the second costs besides. Together they cost what the set does, exactly.

With more than 64 values, several share a side of a line, the more frequent ones nearer to the middle. A range then
reaches values that the group may not have, and costs no less than the set.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.microdata import Microdata, TreeColumn
from hedgerow.plan.concepts import MeasureDescriptor
from hedgerow.types import IntArray

MOST_LINES = 32
UNDER_THREE = 2
"""Of so many values every set is one value or all, which a range tells."""


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of one column.

    Attributes
    ----------
    codes
        Place of every value (rows) on every line (columns).
    width
        Places of a line.
    """

    codes: IntArray
    width: int

    @property
    def count(self) -> int:
        """How many lines there are."""
        return int(self.codes.shape[1])

    @property
    def is_exact(self) -> bool:
        """Whether every value has a side of a line to itself, so that lines cost what a set does."""
        return self.width == 3

    @classmethod
    def of(cls, records: IntArray) -> Lines:
        """Lay out the values of a column, given the records of every code.

        Examples
        --------
        >>> Lines.of(np.array([5, 2, 9])).codes.tolist()
        [[1, 0], [2, 1], [0, 1]]
        """
        values = len(records)
        lines = min(-(-values // 2), MOST_LINES)
        rank = np.empty(values, np.int64)
        rank[np.argsort(-records, kind="stable")] = np.arange(values)
        middle = -(-values // (2 * lines))
        codes = np.full((values, lines), middle)
        right, depth = rank // lines % 2, rank // (2 * lines) + 1
        codes[np.arange(values), rank % lines] = middle + np.where(right == 1, depth, -depth)
        return cls(codes, 2 * middle + 1)

    def reached(self) -> IntArray:
        """Count the values that each range of a line reaches, by its ends."""
        ends, middle = np.arange(self.width), self.width // 2
        low, high = np.minimum(ends[:, None], ends[None, :]), np.maximum(ends[:, None], ends[None, :])
        return high - low + 1 - ((low <= middle) & (middle <= high))


def lines_of(microdata: Microdata) -> dict[int, Lines]:
    """Return the lines of all columns that publish sets and have more than two values, by position."""
    return {
        position: Lines.of(microdata.records_by_code(position))
        for position, column in enumerate(microdata.columns)
        if isinstance(column, TreeColumn) and column.instead is not None and column.domain_size > UNDER_THREE
    }


def with_lines(microdata: Microdata, codes: IntArray) -> IntArray:
    """Put the places on all lines beside the codes of profiles, whose columns are in the index order."""
    order = microdata.index_order
    added = [
        lines.codes[codes[:, order.index(position)]].astype(codes.dtype)
        for position, lines in lines_of(microdata).items()
    ]
    return np.ascontiguousarray(np.hstack([codes, *added])) if added else codes


def cost_steps(measure: MeasureDescriptor, values: int, weight: Fraction) -> tuple[Fraction, Fraction]:
    """What the second value of a set costs more than a further one, and what each further one costs."""
    assert measure.cost_of_sets is not None
    costs, whole = measure.cost_of_sets(np.array([1, 2, 3], np.int64), values)
    one, two, three = (weight * Fraction(int(cost), int(whole)) for cost in costs.tolist())
    each = three - two
    return two - one - each, each


def own_table(values: int, second: int, each: int) -> IntArray:
    """What a range costs in the column itself, beside its lines: less for one value, more for several."""
    table = np.full((values, values), second - each, np.int64)
    np.fill_diagonal(table, -each)
    return table
