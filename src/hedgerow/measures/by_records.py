"""Costs of published values that depend on how many records they may stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.microdata import TreeColumn
from hedgerow.plan.concepts import MeasureDescriptor
from hedgerow.types import IntArray


def costs_of_nodes(measure: MeasureDescriptor, column: TreeColumn, records: IntArray) -> tuple[Any, int]:
    """What a value costs that is published as each node, and out of what, as a measure that adds up has it."""
    tree = column.hierarchy
    if measure.cost_of_nodes is not None:
        return measure.cost_of_nodes(tree, column.domain_size)
    assert measure.cost_by_records is not None
    before = np.concatenate([[0], np.cumsum(records)]).astype(np.int64)
    return measure.cost_by_records(before[tree.last_leaf + 1] - before[tree.first_leaf], int(before[-1]))
