"""Measures that count leaves: normalized certainty penalty, and granularity, which is ARX's loss."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from hedgerow.measures.loss import cost_of_set, share_lost
from hedgerow.microdata import FreeColumn, Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan.concepts import MeasureDescriptor
from hedgerow.types import IntArray


def ncp(microdata: Microdata, recoding: Recoding) -> Fraction:
    """Sum over records and attributes of weight × leaves under the node / all leaves (or width / range).

    A single value costs 0, a withheld record its full weights (Xu et al. 2006).
    """
    return _total(microdata, recoding, lambda leaves: np.where(leaves == 1, 0, leaves), lambda domain: domain)


def mean_ncp(microdata: Microdata, recoding: Recoding) -> Fraction:
    """NCP per record and unit of weight, between 0 and 1."""
    return ncp(microdata, recoding) / _most(microdata)


def granularity(microdata: Microdata, recoding: Recoding) -> Fraction:
    """Mean over records and columns of (leaves under the node − 1)/(leaves − 1); 1 for a withheld record.

    Free intervals count as width / range.
    """
    total = _total(microdata, recoding, lambda leaves: leaves - 1, lambda domain: max(domain - 1, 1))
    return total / _most(microdata)


def _total(
    microdata: Microdata, recoding: Recoding, cost: Callable[[IntArray], IntArray], whole: Callable[[int], int]
) -> Fraction:
    """Weighted sum over records and attributes of what the leaves under a published node cost, out of the whole."""
    total = Fraction(0)
    for position, column in enumerate(microdata.columns):
        sizes = recoding.showing(position)
        shown = recoding.shown(position)
        if isinstance(column, FreeColumn):
            lost = share_lost(column, shown, sizes)
        else:
            lost = Fraction(int(np.dot(cost(column.values_of(shown)), sizes)), whole(column.domain_size))
        total += Fraction(column.weight) * (lost + microdata.records - int(sizes.sum()))
    return total


def _most(microdata: Microdata) -> Fraction:
    """What it would cost to withhold everything."""
    return microdata.records * sum((Fraction(column.weight) for column in microdata.columns), Fraction(0))


DESCRIPTORS = (
    MeasureDescriptor(
        name="ncp",
        title="normalized certainty penalty (NCP)",
        meaning="How large a part of all possible values a published value stands for, on average: 0 if each "
        "stands for itself, 1 if each could be anything.",
        help="leaves under the published node / all leaves, mean over records and columns; 0 for one value",
        order=30,
        of_release=lambda measured: mean_ncp(measured.microdata, measured.recoding),
        compared=4,
        objective="ncp",
        cost_of_nodes=lambda tree, leaves: (np.where(tree.leaf_counts == 1, 0, tree.leaf_counts), leaves),
        cost_of_sets=lambda values, domain: (np.where(values == 1, 0, values), domain),
    ),
    MeasureDescriptor(
        name="granularity",
        title="granularity (ARX's loss)",
        meaning="The same idea as ARX counts it: how many other values a published value could stand for, out of "
        "all others, on average.",
        help="(leaves under the published node − 1) / (all leaves − 1), mean over records and columns",
        order=40,
        of_release=lambda measured: granularity(measured.microdata, measured.recoding),
        compared=5,
        objective="granularity",
        cost_of_nodes=lambda tree, leaves: (tree.leaf_counts - 1, leaves - 1),
        cost_of_sets=cost_of_set,
    ),
)
