"""Research value of a published value in whole numbers: what its span and the rules that it breaks cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.kernels.codes import BLEND, PRODUCT
from hedgerow.measures.research_value import ColumnValue
from hedgerow.types import IntArray

LARGEST_FACTOR = 1 << 24


@dataclass(frozen=True)
class Terms:
    """What turns a span and broken rules into a cost, every division rounded down.

    Attributes
    ----------
    form
        PRODUCT: granularity × rules kept; BLEND: λ · granularity + (1 − λ) · rules kept.
    weight
        Cost of a column of which nothing is left.
    rules
        Base and all importances together.
    up, down
        λ as a ratio.
    importances
        What each rule counts, out of ``rules``.
    """

    form: int
    weight: int
    rules: int
    up: int
    down: int
    importances: tuple[int, ...]

    @classmethod
    def of(cls, value: ColumnValue, weight: int) -> Terms:
        """Lay out the terms of a column whose whole value is ``weight``."""
        parts = [value.base, *value.importances]
        scale = math.lcm(*(part.denominator for part in parts))
        total = int(sum(parts, Fraction(0)) * scale)
        if total >= LARGEST_FACTOR:
            parts = [Fraction(max(int(part * LARGEST_FACTOR / total * scale), 1)) for part in parts]
            scale, total = 1, int(sum(parts, Fraction(0)))
        importances = tuple(int(part * scale) for part in parts[1:])
        blend = Fraction(0) if value.blend is None else value.blend.limit_denominator(1000)
        form = PRODUCT if value.blend is None else BLEND
        return cls(form, weight, max(total, 1), blend.numerator, blend.denominator, importances)

    def costs(self, spans: IntArray, broken: npt.NDArray[np.bool_]) -> IntArray:
        """Costs of values of these spans; ``broken`` says rule by rule (first axis) which of them break it."""
        kept = np.full(spans.shape, self.rules)
        for importance, gone in zip(self.importances, broken, strict=True):
            kept = kept - importance * gone
        costs: IntArray = self.weight - (self.weight * kept // self.rules) // spans
        if self.form == BLEND:
            by_rules = (self.weight * (self.down - self.up) // self.down) * kept // self.rules
            costs = self.weight - (self.weight * self.up // self.down) // spans - by_rules
        return costs
