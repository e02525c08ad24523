"""What merging clusters costs, as whole numbers for the kernel: by research value, by NCP, or by plain ranges.

Costs are whole multiples of 1/UNIT of the whole value, every division rounded down, so that ties are ties and a plain
reference can follow. The layout is that of ``kernels/merging.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hedgerow.clustering.costs import pair_table, sparse_table
from hedgerow.clustering.terms import LARGEST_FACTOR, Terms
from hedgerow.hierarchy.tree import IntArray
from hedgerow.measures.research_value import ColumnValue, half_open
from hedgerow.microdata import FreeColumn, TreeColumn

Aim = Literal["utility", "bottom-up", "euclidean"]
UNIT = 1 << 36
LARGEST_TABLE = 400
TABLE, STEPS, SPANS = 0, 1, 2  # as in kernels/merging.py
SHARE, PLAIN = 2, 3  # beside PRODUCT and BLEND


@dataclass(frozen=True, eq=False)
class Prices:
    """Costs by attribute, in the order of the columns that were given.

    Attributes
    ----------
    arrays
        As the kernel takes them.
    whole
        Cost by attribute of showing nothing at all.
    """

    arrays: tuple[Any, ...]
    whole: IntArray


def price_tables(values: tuple[ColumnValue, ...], aim: Aim) -> Prices:
    """Lay out what boxes of the columns cost."""
    rows: list[list[int]] = []
    parts: list[IntArray] = []
    whole: list[int] = []
    at = 0
    for value in values:
        terms, column = Terms.of(value, int(UNIT * value.weight)), value.column
        whole.append(terms.weight)
        numbers, single = [0] * 8, 0
        rules = np.zeros(0, np.int64)
        small = column.domain_size <= LARGEST_TABLE
        if isinstance(column, FreeColumn):
            kind, numbers = TABLE if small else SPANS, _free_terms(column, terms, aim)
            ends = np.concatenate([column.low_ends(), column.high_ends()])
            part = _free_table(value, column, terms, numbers) if small else ends
            rules = np.stack([*value.rule_codes, np.array(terms.importances, np.int64)], axis=1).ravel()
        else:
            by_node = _by_node(value, terms, aim)
            kind, part = (
                (TABLE, _table(column, by_node)) if small else (STEPS, sparse_table(_step_costs(column, by_node)))
            )
            single = int(by_node[column.hierarchy.leaf_nodes[0]]) if column.domain_size else 0
        after = at + len(part)
        rows.append([kind, at, column.domain_size, single, *numbers, after, after + len(rules)])
        parts += [part, rules]
        at = after + len(rules)
    arrays = (np.array(rows, np.int64), np.concatenate(parts).astype(np.int64))
    return Prices(arrays, np.array(whole, np.int64))


def _free_table(value: ColumnValue, column: FreeColumn, terms: Terms, numbers: list[int]) -> IntArray:
    """Cost of every range of codes of a column of few numbers, as ``span_cost`` in the kernel works it out."""
    form, weight, _, _, _, closed, span, unit = numbers
    codes = np.arange(column.domain_size)
    wide = np.maximum(column.high_ends()[None, :] - column.low_ends()[:, None], 0)
    costs: IntArray = np.zeros(wide.shape, np.int64)
    if form == PLAIN:
        costs = np.minimum(wide, 1 << 56)
    elif form == SHARE and span:
        costs = weight * (wide // unit) // (span // unit)
    elif form != SHARE:
        first, last = (codes_of_rules[:, None, None] for codes_of_rules in value.rule_codes)
        broken = (codes[:, None] <= first) & (codes[None, :] >= last)
        costs = terms.costs(np.maximum(wide + closed, 1), broken)
    return costs.ravel()


def _free_terms(column: FreeColumn, terms: Terms, aim: Aim) -> list[int]:
    form = {"utility": terms.form, "bottom-up": SHARE, "euclidean": PLAIN}[aim]
    span = column.intervals.span
    closed = 0 if half_open(column) else 1
    unit = span // LARGEST_FACTOR + 1
    return [form, terms.weight, terms.rules, terms.up, terms.down, closed, span, unit]


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
    codes = np.arange(column.domain_size, dtype=np.int64)
    return by_node[column.hierarchy.lca_of_ranges(codes[:-1], codes[1:])]


def _table(column: TreeColumn, by_node: IntArray) -> IntArray:
    table = pair_table(_step_costs(column, by_node))
    np.fill_diagonal(table, by_node[column.hierarchy.leaf_nodes])
    return table.ravel()
