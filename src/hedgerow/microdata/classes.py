"""Classes: the records that no algorithm can tell apart, because codes, person and sensitive values agree."""

from __future__ import annotations

import numpy as np

from hedgerow.microdata.microdata import Microdata, ranks
from hedgerow.microdata.ordering import starts_of_runs
from hedgerow.microdata.read import Table
from hedgerow.plan import Plan
from hedgerow.types import IntArray


def number_classes(plan: Plan, table: Table, microdata: Microdata) -> IntArray:
    """Number the classes and return that of every row of a table; −1: not in the microdata."""
    within = [*([plan.person] if plan.person is not None else []), *plan.columns("sensitive")]
    first = starts_of_runs([microdata.record_of.astype(np.uint64)])  # units are sorted by class, then by row
    rows = microdata.record_of[first]
    keys = [microdata.profile_of_unit[first], *(ranks(table.columns[name])[0][rows] for name in within)]
    changes = np.zeros(len(rows), bool)
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    class_of = np.full(table.records if table.counts is None else len(table.counts), -1, np.int64)
    class_of[rows] = np.cumsum(changes)
    return class_of
