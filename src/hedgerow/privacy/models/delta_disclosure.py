"""δ-disclosure privacy: no value is much likelier or unlikelier in a group (Brickell and Shmatikov 2008).

Every value of the whole table must occur in every group, neither e^δ times as frequent as there nor e^δ times as rare:
that a group lacks a value tells something too. This is the paper's definition with natural logarithms; equality, which
it excludes, cannot occur, because e^δ is never a fraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from hedgerow.plan.concepts import ModelDescriptor
from hedgerow.plan.model import Number
from hedgerow.privacy.codes import DELTA, SLACK
from hedgerow.privacy.model import DECIMALS
from hedgerow.privacy.tally import Tally
from hedgerow.types import FloatArray


@dataclass(frozen=True)
class DeltaDisclosure:
    """Every value of the table has a share of the group within a factor e^``delta`` of its share of the table.

    A group that lacks a value fails, and so does one without any.

    Examples
    --------
    >>> DeltaDisclosure(0.7).holds(Tally.of_values("aab", overall="ab")).tolist()
    [True]
    >>> DeltaDisclosure(9).holds(Tally.of_values("aa", overall="aab")).tolist()
    [False]
    """

    delta: float
    survives_growth: ClassVar[bool] = False

    def holds(self, tally: Tally) -> npt.NDArray[np.bool_]:
        """Tell, for every group, whether all values occur, about as often as they should."""
        met: npt.NDArray[np.bool_] = _farthest(tally) <= self.delta + SLACK
        return met

    def kernel_code(self) -> tuple[int, float, float, float]:
        """Return the model as the kernels know it."""
        return DELTA, float(self.delta), 0.0, 1.0

    def __str__(self) -> str:
        return f"shares within a factor e^{self.delta:g}"


def _farthest(tally: Tally) -> FloatArray:
    """Return, for every group, the greatest |ln| of a value's share there over that in the table; lacking one: inf."""
    share = tally.overall / max(int(tally.overall.sum()), 1)
    away = np.abs(np.log(tally.count / tally.total[tally.group] / share[tally.value]))
    found = np.where(tally.distinct < int((tally.overall > 0).sum()), np.inf, 0.0)
    np.maximum.at(found, tally.group, away)
    return found


def _reached(tally: Tally) -> float | None:
    farthest = float(_farthest(tally).max(initial=0))
    return round(farthest, DECIMALS) if np.isfinite(farthest) else None


def _above_zero(asked: Number) -> Number:
    if asked <= 0:
        raise PydanticCustomError("delta", "must be above 0")
    return asked


DESCRIPTOR = ModelDescriptor(
    name="delta",
    title="δ-disclosure privacy",
    meaning="Every sensitive value occurs in every group, at most e^δ times as often or as rarely as in the whole "
    "release: neither its presence nor its absence tells much.",
    help="δ-disclosure privacy: all values in every group, shares within a factor e^δ of those in the whole table",
    order=60,
    form=Annotated[Number, AfterValidator(_above_zero)],
    short={"type": ["number", "string"]},
    make=lambda asked, column: DeltaDisclosure(float(asked)),
    said=lambda asked: f"delta = {asked}",
    reached=lambda tally, column: _reached(tally),
    compares_with_all=True,
    ask="ln of a share's change at most",
    in_words="How much likelier or unlikelier a group may make a value of {column}: at most by a factor e to this",
    step=0.1,
)
