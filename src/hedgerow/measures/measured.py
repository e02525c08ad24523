"""What a measure of a release is given."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from hedgerow.measures.entropy import Bits, bits_by_attribute
from hedgerow.measures.loss import loss_by_attribute
from hedgerow.measures.research_value import ColumnValue, column_values, value_by_attribute
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.types import IntArray


@dataclass(frozen=True, eq=False)
class Measured:
    """A release that is measured: its records, groups and plan.

    Attributes
    ----------
    microdata
        The released records; the others are only counted.
    recoding
        Its groups, as a reader can tell them apart.
    plan
        What was asked.
    most_loss
        How much of the normalized loss the limits allow at most.
    """

    microdata: Microdata
    recoding: Recoding
    plan: Plan
    most_loss: float | None

    @property
    def withheld(self) -> int:
        """Number of records that are not released."""
        return self.microdata.records - self.recoding.released

    @cached_property
    def sizes(self) -> tuple[IntArray, IntArray]:
        """The sizes that groups have, ascending, and how many have each."""
        sizes, groups = np.unique(self.recoding.sizes, return_counts=True)
        return sizes, groups.astype(np.int64)

    @cached_property
    def bits(self) -> dict[str, Bits]:
        """Bits per record that every quasi-identifier had, and lost."""
        return bits_by_attribute(self.microdata, self.recoding)

    @cached_property
    def losses(self) -> dict[str, Fraction]:
        """Loss of every quasi-identifier."""
        return loss_by_attribute(self.microdata, self.recoding)

    @cached_property
    def worths(self) -> tuple[ColumnValue, ...]:
        """What published values are worth, by column."""
        return column_values(self.microdata, self.plan)

    @cached_property
    def values(self) -> dict[str, Fraction]:
        """Research value of every quasi-identifier."""
        return value_by_attribute(self.microdata, self.recoding, self.worths)
