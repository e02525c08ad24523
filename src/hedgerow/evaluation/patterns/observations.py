"""What a decision tree looks at: features and a target, over rows that each stand for a number of records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

import numpy as np

from hedgerow.plan.hierarchy.numbers import Number, simplest
from hedgerow.types import IntArray


@dataclass(frozen=True, eq=False)
class OrderedFeature:
    """A column of numbers, or of ranges of numbers.

    Attributes
    ----------
    lower, upper
        Least and greatest number that each row may have, times 10^decimals; equal where the number itself is known.
    decimals
        Number of decimal places.
    """

    name: str
    lower: IntArray
    upper: IntArray
    decimals: int = 0
    kind = "ordered"

    @cached_property
    def exact(self) -> bool:
        """Tell whether every row has a number, not a range."""
        return bool(np.array_equal(self.lower, self.upper))

    def number(self, scaled: int) -> Number:
        """Return a number as people write it."""
        return simplest(Decimal(int(scaled)).scaleb(-self.decimals))


@dataclass(frozen=True, eq=False)
class LabelFeature:
    """A column of labels without an order.

    Attributes
    ----------
    labels
        The different labels; where two do equally well, the first wins.
    codes
        Position of each row's label among them.
    """

    name: str
    labels: tuple[str, ...]
    codes: IntArray
    kind = "label"


Feature = OrderedFeature | LabelFeature


@dataclass(frozen=True, eq=False)
class Target:
    """The column to tell from the others, and how many records each row stands for.

    Attributes
    ----------
    classes
        The different values; the last one is the positive one of two.
    codes
        Position of each row's value among them.
    counts
        Records that each row stands for.
    left_out
        Records that are in no row, by reason.
    """

    name: str
    classes: tuple[str, ...]
    codes: IntArray
    counts: IntArray
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """Number of records in the rows."""
        return int(self.counts.sum())
