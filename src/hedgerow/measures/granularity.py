"""Granularity: the share of a column's leaves that a published value stands for; ARX's loss."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow.measures.loss import share_lost
from hedgerow.microdata import FreeColumn, Microdata
from hedgerow.recoding import Recoding


def granularity(microdata: Microdata, recoding: Recoding) -> Fraction:
    """Mean over records and columns of (leaves under the node − 1)/(leaves − 1); 1 for a withheld record.

    Free intervals count as width / range.
    """
    withheld = microdata.records - recoding.released
    sizes = recoding.sizes
    total, weights = Fraction(0), Fraction(0)
    for position, column in enumerate(microdata.columns):
        shown = recoding.shown(position)
        if isinstance(column, FreeColumn):
            lost = share_lost(column, shown, sizes)
        else:
            leaves = column.hierarchy.leaf_counts[shown.node]
            lost = Fraction(int(np.dot(leaves - 1, sizes)), max(column.domain_size - 1, 1))
        total += Fraction(column.weight) * (lost + withheld)
        weights += Fraction(column.weight)
    return total / (microdata.records * weights)
