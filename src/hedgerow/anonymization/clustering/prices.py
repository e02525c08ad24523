"""What merging clusters costs, as whole numbers for the kernel: by research value, by NCP, or by plain ranges.

Costs are whole multiples of 1/UNIT of the whole value, every division rounded down, so that ties are ties and a plain
reference can follow. The layout is that of ``kernels/merging.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hedgerow.anonymization.clustering.costs import pair_table, sparse_table
from hedgerow.anonymization.clustering.terms import LARGEST_FACTOR, Terms
from hedgerow.anonymization.kernels import codes
from hedgerow.anonymization.kernels.tuples.merging import MergePrices
from hedgerow.measures.research_value import ColumnValue, half_open
from hedgerow.microdata import FreeColumn, TreeColumn
from hedgerow.types import IntArray

Aim = Literal["utility", "bottom-up", "euclidean"]
UNIT = 1 << 36
LARGEST_TABLE = 400


@dataclass(frozen=True, eq=False)
class PriceTables:
    """Costs by attribute, in the order of the columns that were given.

    Attributes
    ----------
    arrays
        As the kernel takes them.
    whole
        Cost by attribute of showing nothing at all.
    """

    arrays: MergePrices
    whole: IntArray


def price_tables(values: tuple[ColumnValue, ...], aim: Aim) -> PriceTables:
    """Lay out what boxes of the columns cost."""
    rows: list[dict[int, int]] = []
    parts: list[IntArray] = []
    whole: list[int] = []
    at = 0
    for value in values:
        terms, column = Terms.of(value, int(UNIT * value.weight)), value.column
        whole.append(terms.weight)
        rules = np.zeros(0, np.int64)
        small = column.domain_size <= LARGEST_TABLE
        if isinstance(column, FreeColumn):
            row = _free_row(column, terms, aim)
            row[codes.KIND] = codes.TABLE if small else codes.SPANS
            ends = np.concatenate([column.low_ends(), column.high_ends()])
            part = _free_table(value, column, terms, row) if small else ends
            rules = np.stack([*value.rule_codes, np.array(terms.importances, np.int64)], axis=1).ravel()
        else:
            by_node = _by_node(value, terms, aim)
            part = _table(column, by_node) if small else sparse_table(_step_costs(column, by_node))
            row = {codes.KIND: codes.TABLE if small else codes.STEPS}
            row[codes.SINGLE] = int(by_node[column.hierarchy.leaf_nodes[0]]) if column.domain_size else 0
        after = at + len(part)
        row |= {codes.OFFSET: at, codes.WIDTH: column.domain_size}
        row |= {codes.RULES: after, codes.LAST_RULE: after + len(rules)}
        rows.append(row)
        parts += [part, rules]
        at = after + len(rules)
    table = [[row.get(number, 0) for number in range(codes.PRICE_COLUMNS)] for row in rows]
    arrays = MergePrices(np.array(table, np.int64), np.concatenate(parts).astype(np.int64))
    return PriceTables(arrays, np.array(whole, np.int64))


def _free_table(value: ColumnValue, column: FreeColumn, terms: Terms, row: dict[int, int]) -> IntArray:
    """Cost of every range of codes of a column of few numbers, as ``span_cost`` in the kernel works it out."""
    form, span, unit = row[codes.FORM], row[codes.COLUMN], row[codes.UNIT]
    values = np.arange(column.domain_size)
    wide = np.maximum(column.high_ends()[None, :] - column.low_ends()[:, None], 0)
    costs: IntArray = np.zeros(wide.shape, np.int64)
    if form == codes.PLAIN:
        costs = np.minimum(wide, 1 << 56)
    elif form == codes.SHARE and span:
        costs = row[codes.WEIGHT] * (wide // unit) // (span // unit)
    elif form != codes.SHARE:
        first, last = (codes_of_rules[:, None, None] for codes_of_rules in value.rule_codes)
        broken = (values[:, None] <= first) & (values[None, :] >= last)
        costs = terms.costs(np.maximum(wide + row[codes.CLOSED], 1), broken)
    return costs.ravel()


def _free_row(column: FreeColumn, terms: Terms, aim: Aim) -> dict[int, int]:
    """What the kernel must know to work out the costs of free intervals."""
    span = column.intervals.span
    return {
        codes.FORM: {"utility": terms.form, "bottom-up": codes.SHARE, "euclidean": codes.PLAIN}[aim],
        codes.WEIGHT: terms.weight,
        codes.WHOLE: terms.rules,
        codes.UP: terms.up,
        codes.DOWN: terms.down,
        codes.CLOSED: 0 if half_open(column) else 1,
        codes.COLUMN: span,
        codes.UNIT: span // LARGEST_FACTOR + 1,
    }


def _by_node(value: ColumnValue, terms: Terms, aim: Aim) -> IntArray:
    """Cost of every node of a hierarchy."""
    spans = value.spans_by_node
    if aim == "utility":
        return terms.costs(spans, value.breaks_by_node)
    if aim == "euclidean":
        return spans - 1
    numbers = value.in_numbers
    whole = max(value.whole_span - (1 if numbers else 0), 0)
    wide = spans - 1 if numbers else np.where(spans > 1, spans, 0)
    costs = [terms.weight * int(step) // whole if whole else 0 for step in wide]
    return np.array(costs, np.int64)


def _step_costs(column: TreeColumn, by_node: IntArray) -> IntArray:
    """Cost of the lowest common ancestor of each code and the next."""
    values = np.arange(column.domain_size, dtype=np.int64)
    return by_node[column.hierarchy.lca_of_ranges(values[:-1], values[1:])]


def _table(column: TreeColumn, by_node: IntArray) -> IntArray:
    table = pair_table(_step_costs(column, by_node))
    np.fill_diagonal(table, by_node[column.hierarchy.leaf_nodes])
    return table.ravel()
