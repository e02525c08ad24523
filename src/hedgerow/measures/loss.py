"""Loss of generalization: IL, total loss and NTIL (CKA Def. 8–11, CPKA Def. 10–11, INC Def. 3–5; SPEC §3).

A group loses, per record and attribute, height of its node / height of the tree, or width of its interval / range of
the whole table. A withheld record loses 1 per attribute, a suppressed cell 1. Everything is computed exactly and
rounded once at the end.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier
from hedgerow.microdata.columns import Shown
from hedgerow.recoding import IntArray, Recoding


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
    height = column.hierarchy.height
    return Fraction(_dot(column.hierarchy.heights[shown.node], sizes), height) if height else Fraction(0)


def _dot(values: IntArray, sizes: IntArray) -> int:
    """Exact sum of products, beyond 64 bits where need be."""
    if len(values) and int(np.abs(values).max()) * int(sizes.sum()) >= 1 << 62:
        return sum(value * size for value, size in zip(values.tolist(), sizes.tolist(), strict=True))
    return int(np.dot(values, sizes))
