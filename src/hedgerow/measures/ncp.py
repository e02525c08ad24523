"""Normalized certainty penalty (Xu et al. 2006; SPEC §3)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow.measures.loss import share_lost
from hedgerow.microdata import FreeColumn, Microdata
from hedgerow.recoding import Recoding


def ncp(microdata: Microdata, recoding: Recoding) -> Fraction:
    """Sum over records and attributes of weight × leaves under the node / all leaves (or width / range).

    A single value costs 0, a withheld record its full weights.
    """
    withheld = microdata.records - recoding.released
    sizes = recoding.sizes
    total = Fraction(0)
    for position, column in enumerate(microdata.columns):
        shown = recoding.shown(position)
        if isinstance(column, FreeColumn):
            lost = share_lost(column, shown, sizes)
        else:
            leaves = column.hierarchy.leaf_counts[shown.node]
            lost = Fraction(int(np.dot(np.where(leaves == 1, 0, leaves), sizes)), column.domain_size)
        total += Fraction(column.weight) * (lost + withheld)
    return total


def mean_ncp(microdata: Microdata, recoding: Recoding) -> Fraction:
    """NCP per record and unit of weight, between 0 and 1."""
    weights = sum((Fraction(column.weight) for column in microdata.columns), Fraction(0))
    return ncp(microdata, recoding) / (microdata.records * weights)
