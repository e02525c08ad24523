"""What a box costs, as integer tables for the kernels.

Costs are whole multiples of 1/UNIT, so that sums are exact and ties are ties. UNIT is divisible by every height up to
16. Weights count relative to the greatest one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.clustering.lines import cost_steps, lines_of, own_table
from hedgerow.anonymization.clustering.terms import Terms
from hedgerow.anonymization.kernels.codes import FREE, STEPS, TABLE
from hedgerow.anonymization.kernels.tuples.searching import Prices
from hedgerow.measures.by_records import costs_of_nodes
from hedgerow.measures.research_value import ColumnValue, column_values, half_open
from hedgerow.measures.squared_error import Points, points_of
from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier, TreeColumn
from hedgerow.plan import Plan
from hedgerow.plan.concepts import MeasureDescriptor, objectives
from hedgerow.types import IntArray

UNIT = 720_720 * 1024
LARGEST_TABLE = 512
LARGEST_SPAN_TABLE = 2048


@dataclass(frozen=True, eq=False)
class Objective:
    """What groups are to have least of, per record and column, weighted.

    Attributes
    ----------
    name
        ``loss``: height of the node / height of the tree. ``ncp``: leaves under the node / all leaves, 0 for one.
        ``granularity``: (leaves − 1) / (all leaves − 1). ``research-value``: the share of the column's research value
        that is lost, rules included. Free intervals count as width / range, except for research value; there, too, if
        they have more than 2,048 different numbers: one over the span then hardly tells one interval from another.
        ``entropy``: the logarithm of the number of records that the published value may stand for; in a column of more
        than 2,048 different values, see :func:`_by_records`.
    values
        What published values are worth, by column in the plan's order; for ``research-value`` only.
    records
        Records by code, by column in the plan's order; for an objective that looks at them only.
    points
        Where every code lies, by column in the plan's order; for ``variance`` only, which looks at no boxes.
    """

    name: str = "loss"
    values: tuple[ColumnValue, ...] = ()
    records: tuple[IntArray, ...] = ()
    points: tuple[Points, ...] = ()

    @classmethod
    def of_plan(cls, microdata: Microdata, plan: Plan) -> Objective:
        """Take what a plan names, or else what its method is made for."""
        name = plan.method.goes_by
        if objectives()[name].sizes:
            name = "loss"  # sizes come first, by other means
        counted = objectives()[name].cost_by_records is not None
        return cls(
            name,
            column_values(microdata, plan) if name == "research-value" else (),
            tuple(microdata.records_by_code(position) for position in range(len(microdata.columns)) if counted),
            tuple(
                points_of(column, microdata.records_by_code(position))
                for position, column in enumerate(microdata.columns)
                if objectives()[name].squared
            ),
        )

    @property
    def counts_sets(self) -> bool:
        """Whether it says what a set of values costs."""
        return objectives()[self.name].cost_of_sets is not None

    @property
    def warmth(self) -> float:
        """How warm a search is to be that goes by what groups lose, relative to other objectives.

        By numbers of records, single values cost most of what groups do, whatever the groups. The rest is what all
        values tell, and groups lose about a quarter of that.
        """
        if not self.records:
            return 1.0
        cost_by_records = objectives()[self.name].cost_by_records
        assert cost_by_records is not None
        fixed = []
        for records in self.records:
            total = int(records.sum())
            cost, whole = cost_by_records(records, total)
            fixed.append(float(np.dot(cost, records)) / max(total * whole, 1))
        return (1 - sum(fixed) / len(fixed)) / 4


LOSS = Objective()


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of boxes by attribute, in the microdata's index order; see ``kernels/search_index.py`` for the layout.

    Attributes
    ----------
    columns
        How many attributes are columns. What follows are lines of sets of values: see ``lines.py``.
    sets
        Attributes that are columns of sets, each with the first of its lines.
    exact
        Whether sets cost what their lines say, not only no more.
    """

    kind: npt.NDArray[np.uint8]
    offset: npt.NDArray[np.int64]
    width: npt.NDArray[np.int64]
    costs: npt.NDArray[np.int32]
    columns: int
    sets: tuple[tuple[int, int], ...] = ()
    exact: bool = True

    @property
    def prices(self) -> Prices:
        """The arrays as the kernels take them."""
        return Prices(self.kind, self.offset, self.width, self.costs)

    def ends(self, lo: npt.NDArray[Any], hi: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Encode the ends of boxes as ``kernels/neighbours.py`` takes them."""
        lower, upper = lo.astype(np.uint32), hi.astype(np.uint32)
        for j, (kind, offset, width) in enumerate(zip(self.kind, self.offset, self.width, strict=True)):
            if kind == TABLE:
                lower[:, j] = offset + lo[:, j].astype(np.int64) * width
            elif kind == FREE:
                lower[:, j] = self.costs[offset + lo[:, j].astype(np.int64)]
                upper[:, j] = self.costs[offset + width + hi[:, j].astype(np.int64)]
        return lower, upper

    def of_boxes(self, lower: npt.NDArray[np.uint32], upper: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        """Costs of boxes with encoded ends."""
        total = np.zeros(len(lower), np.int64)
        for j, (kind, offset, width) in enumerate(zip(self.kind, self.offset, self.width, strict=True)):
            a, b = lower[:, j].astype(np.int64), upper[:, j].astype(np.int64)
            if kind == TABLE:
                total += self.costs[a + b]
            elif kind == FREE:
                total += b - a
            else:
                row = np.frexp(np.maximum(b - a, 1))[1].astype(np.int64) - 1  # of the sparse table: ⌊log₂ span⌋
                first = offset + row * width
                total += np.where(b > a, np.maximum(self.costs[first + a], self.costs[first + b - (1 << row)]), 0)
        return total

    def rounded(self) -> Costs:
        """Costs in a coarser unit, rounded down, of which those of all attributes together are below 2^26.

        What lines take off for the first value of a set is rounded as what they charge for it.
        """
        unit = np.int32(-(-UNIT * (self.columns + len(self.sets)) >> 26))
        return replace(self, costs=np.sign(self.costs) * (np.abs(self.costs) // unit))

    def of_two(self) -> Costs:
        """Costs of boxes of two profiles, told by the columns alone."""
        if not self.sets:
            return self
        costs = self.costs.copy()
        for column, line in self.sets:
            width, at = int(self.width[column]), int(self.offset[column])
            each = int(costs[self.offset[line]])
            table = costs[at : at + width * width].reshape(width, width)
            table += np.where(np.eye(width, dtype=bool), each, 2 * each).astype(np.int32)
        kept = slice(0, self.columns)
        return Costs(self.kind[kept], self.offset[kept], self.width[kept], costs, self.columns)


def cost_tables(microdata: Microdata, objective: Objective = LOSS, sets: bool = False) -> Costs:
    """Lay out the costs of all quasi-identifiers; ``sets``: with the lines of those that publish sets of values."""
    heaviest = max(Fraction(column.weight) for column in microdata.columns)
    kinds, widths, parts = [], [], []
    lines = lines_of(microdata) if sets and objective.counts_sets else {}
    steps_of_sets = {
        position: cost_steps(objectives()[objective.name], column.domain_size, Fraction(column.weight) / heaviest)
        for position, column in enumerate(microdata.columns)
        if position in lines
    }
    for position in microdata.index_order:
        column = microdata.columns[position]
        weight = Fraction(column.weight) / heaviest
        value = objective.values[position] if objective.name == "research-value" else None
        if position in lines:
            second, each = map(_rounded, steps_of_sets[position])
            kind, part = TABLE, own_table(column.domain_size, second, each).astype(np.int32).ravel()
        elif objective.records:
            kind, part = _by_records(column, weight, objectives()[objective.name], objective.records[position])
        elif isinstance(column, FreeColumn):
            if value is None or column.domain_size > LARGEST_SPAN_TABLE:
                kind, part = FREE, _free(column, weight)
            else:
                kind, part = TABLE, _span_table(value, weight)
        else:
            steps = _step_costs(column, weight, objective, value)
            small = column.domain_size <= LARGEST_TABLE
            kind, part = (TABLE, pair_table(steps).ravel()) if small else (STEPS, sparse_table(steps))
        kinds.append(kind)
        widths.append(column.domain_size)
        parts.append(part)
    columns, first_line = len(kinds), {}
    for position, of_column in lines.items():
        first_line[position] = len(kinds)
        each = _rounded(steps_of_sets[position][1])
        kinds += [TABLE] * of_column.count
        widths += [of_column.width] * of_column.count
        parts += [(of_column.reached() * each).astype(np.int32).ravel()] * of_column.count
    offsets = np.cumsum([0] + [len(part) for part in parts[:-1]])
    return Costs(
        np.array(kinds, np.uint8),
        offsets.astype(np.int64),
        np.array(widths, np.int64),
        np.concatenate(parts),
        columns,
        tuple((microdata.index_order.index(position), line) for position, line in first_line.items()),
        all(of_column.is_exact for of_column in lines.values()),
    )


def _rounded(share: Fraction) -> int:
    return (2 * UNIT * share.numerator + share.denominator) // (2 * share.denominator)


def _step_costs(
    column: TreeColumn, weight: Fraction, objective: Objective, value: ColumnValue | None
) -> npt.NDArray[np.int32]:
    """Cost of the lowest common ancestor of each code and the next."""
    tree = column.hierarchy
    by_node = _by_worth(value, weight) if value is not None else _by_measure(column, weight, objective)
    codes = np.arange(column.domain_size, dtype=np.int64)
    return by_node[tree.lca_of_ranges(codes[:-1], codes[1:])]


def _by_measure(column: TreeColumn, weight: Fraction, objective: Objective) -> npt.NDArray[np.int32]:
    """Cost of every node as the measure has it that is the objective."""
    cost = objectives()[objective.name].cost_of_nodes
    assert cost is not None
    return _in_units(*cost(column.hierarchy, column.domain_size), weight)


def _in_units(costs: IntArray, whole: int, weight: Fraction) -> npt.NDArray[np.int32]:
    """Costs out of a whole, which costs as much as the weight."""
    different, place = np.unique(costs, return_inverse=True)
    rounded = [_rounded(weight * Fraction(one, max(int(whole), 1))) for one in different.tolist()]
    return np.array(rounded, np.int32)[place].reshape(costs.shape)


def _by_records(
    column: QuasiIdentifier, weight: Fraction, measure: MeasureDescriptor, records: IntArray
) -> tuple[int, npt.NDArray[np.int32]]:
    """Cost of every box by how many records its published value may stand for.

    In a column of more than 2,048 different values, for which a table of all boxes would be too large, single values
    of a tree cost nothing, and free intervals cost the share of the records in them.
    """
    before = np.concatenate([[0], np.cumsum(records)]).astype(np.int64)
    small = column.domain_size <= LARGEST_SPAN_TABLE
    if isinstance(column, FreeColumn):
        if not small:
            ends = np.concatenate([before[:-1], before[1:]])
            return FREE, _in_units(ends, int(before[-1]), weight)
        assert measure.cost_by_records is not None
        boxes = np.maximum(before[None, 1:] - before[:-1, None], 0)
        boxes = np.maximum(boxes, boxes.T)
        return TABLE, _in_units(*measure.cost_by_records(boxes, int(before[-1])), weight).ravel()
    tree, codes = column.hierarchy, np.arange(column.domain_size, dtype=np.int64)
    by_node = _in_units(*costs_of_nodes(measure, column, records), weight)
    steps = by_node[tree.lca_of_ranges(codes[:-1], codes[1:])]
    if not small:
        return STEPS, sparse_table(steps)
    table = pair_table(steps)
    np.fill_diagonal(table, by_node[tree.leaf_nodes])
    return TABLE, table.ravel()


def _by_worth(value: ColumnValue, weight: Fraction) -> npt.NDArray[np.int32]:
    """Cost of every node by the research value that is lost in it."""
    assert isinstance(value.column, TreeColumn)
    costs = Terms.of(value, _rounded(weight)).costs(value.spans_by_node, value.breaks_by_node)
    costs -= costs.min(initial=0)  # rounding may leave a little on single values
    parents = value.column.hierarchy.parents
    for node in range(len(costs) - 1, 0, -1):  # the kernels rely on it that a wider box never costs less
        costs[parents[node]] = max(costs[parents[node]], costs[node])
    return costs.astype(np.int32)


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


def _span_table(value: ColumnValue, weight: Fraction) -> npt.NDArray[np.int32]:
    """Cost of every range of codes of a column of few numbers, by research value."""
    column = value.column
    assert isinstance(column, FreeColumn)
    low, high = _ends(column)
    codes = np.arange(column.domain_size)
    first, last = (codes_of_rules[:, None, None] for codes_of_rules in value.rule_codes)
    broken = (codes[:, None] <= first) & (codes[None, :] >= last)
    spans = np.maximum(high[None, :] - low[:, None] + (0 if half_open(column) else 1), 1)
    costs = Terms.of(value, _rounded(weight)).costs(spans, broken)
    return np.maximum(costs, costs.T).ravel().astype(np.int32)


def _ends(column: FreeColumn) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Published ends of all codes; a missing value lies at the upper end."""
    low, high = column.low_ends().copy(), column.high_ends().copy()
    if column.has_missing:
        low[-1] = high[-1] = high[-2] if len(high) > 1 else 0
    return low, high
