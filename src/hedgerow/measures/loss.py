"""Loss of generalization: IL, total loss and NTIL.

Definitions 8 to 11 of Miller, Campan and Truta 2008, 10 and 11 of Campan, Truta and Cooper 2010, 3 to 5 of Truta and
Campan 2007.

A group loses, per record and attribute, height of its node / height of the tree, or width of its interval / range of
the whole table. A withheld record loses 1 per attribute, a suppressed cell 1. Everything is computed exactly and
rounded once at the end.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier
from hedgerow.microdata.columns import Shown
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan.concepts import MeasureDescriptor
from hedgerow.types import IntArray


def loss_by_attribute(microdata: Microdata, recoding: Recoding) -> dict[str, Fraction]:
    """Total loss of each quasi-identifier, weighted, withheld records included."""
    losses = {}
    for position, column in enumerate(microdata.columns):
        sizes = recoding.showing(position)
        lost = share_lost(column, recoding.shown(position), sizes)
        losses[column.name] = Fraction(column.weight) * (lost + microdata.records - int(sizes.sum()))
    return losses


def share_lost_by_attribute(microdata: Microdata, losses: dict[str, Fraction]) -> dict[str, Fraction]:
    """Loss of each quasi-identifier per record, from 0 to 1, its weight left out; of :func:`loss_by_attribute`."""
    return {
        column.name: losses[column.name] / Fraction(column.weight) / microdata.records for column in microdata.columns
    }


def total_loss(microdata: Microdata, recoding: Recoding) -> Fraction:
    """Sum of all losses, withheld records included."""
    return sum(loss_by_attribute(microdata, recoding).values(), Fraction(0))


def ntil(microdata: Microdata, recoding: Recoding) -> Fraction:
    """Normalized total information loss: 0 if nothing was coarsened, 1 if everything was withheld."""
    weights = sum((Fraction(column.weight) for column in microdata.columns), Fraction(0))
    return total_loss(microdata, recoding) / (microdata.records * weights)


def share_lost(column: QuasiIdentifier, shown: Shown, sizes: IntArray) -> Fraction:
    """Sum, over groups, of records × share lost in one attribute."""
    if isinstance(column, FreeColumn):
        span = column.intervals.span
        widths = column.high_ends()[shown.hi] - column.low_ends()[shown.lo]
        return Fraction(_dot(widths, sizes), span) if span else Fraction(0)
    if shown.told is not None:
        lost, whole = cost_of_set(column.values_of(shown), column.domain_size)
        return Fraction(_dot(lost, sizes), whole)
    height = column.hierarchy.height
    return Fraction(_dot(column.hierarchy.heights[shown.node], sizes), height) if height else Fraction(0)


def cost_of_set(values: IntArray, domain: int) -> tuple[IntArray, int]:
    """What a set of so many values loses: the share of the other values of the column that are in it."""
    return values - 1, max(domain - 1, 1)


def _dot(values: IntArray, sizes: IntArray) -> int:
    """Exact sum of products, beyond 64 bits where need be."""
    if len(values) and int(np.abs(values).max()) * int(sizes.sum()) >= 1 << 62:
        return sum(value * size for value, size in zip(values.tolist(), sizes.tolist(), strict=True))
    return int(np.dot(values, sizes))


DESCRIPTORS = (
    MeasureDescriptor(
        name="loss",
        title="total loss",
        meaning="How many steps of coarsening were taken in all, as shares of the whole way to “nothing left”, "
        "added up over records and columns.",
        help="height of the published node / height of the tree, summed over records and columns; withheld: 1 each",
        order=10,
        of_release=lambda measured: sum(measured.losses.values(), Fraction(0)),
        beside=lambda measured: {
            "loss_by_attribute": measured.losses,
            "share_lost_by_attribute": share_lost_by_attribute(measured.microdata, measured.losses),
        },
    ),
    MeasureDescriptor(
        name="ntil",
        title="normalized total loss (NTIL)",
        meaning="The share of all detail that was lost: 0 if every value is as it was, 1 if everything was withheld.",
        help="total loss / that of withholding everything: 0 if nothing was coarsened, 1 if everything was withheld",
        order=20,
        of_release=lambda measured: ntil(measured.microdata, measured.recoding),
        beside=lambda measured: {"most_loss": measured.most_loss},
        compared=3,
        objective="loss",
        cost_of_nodes=lambda tree, leaves: (tree.heights, tree.height),
        cost_of_sets=cost_of_set,
    ),
)
