"""l-diversity: distinct, entropy and recursive (c, l) (Machanavajjhala et al. 2007)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hedgerow.plan.concepts import ModelDescriptor
from hedgerow.plan.model import Frozen, Number
from hedgerow.privacy.codes import ENTROPY, RECURSIVE, SLACK
from hedgerow.privacy.model import DECIMALS
from hedgerow.privacy.models.p_sensitive import PSensitive, least_distinct
from hedgerow.privacy.tally import Tally
from hedgerow.types import FloatArray

DistinctL = PSensitive


@dataclass(frozen=True)
class EntropyL:
    """Entropy of the values at least log(l). A group without values fails.

    Not kept when a group grows: one value may come to prevail. So a cell that fails it may still hold groups that do
    not, and what is withheld is not proven least.

    Examples
    --------
    >>> EntropyL(2).holds(Tally.of_values(["a", "b"])).tolist(), EntropyL(2).holds(Tally.of_values("aab")).tolist()
    ([True], [False])
    """

    l: float  # noqa: E741 - the papers' name
    survives_growth: ClassVar[bool] = False

    def holds(self, tally: Tally) -> npt.NDArray[np.bool_]:
        """Tell, for every group, whether its entropy suffices."""
        met: npt.NDArray[np.bool_] = entropies(tally) >= math.log(self.l) - SLACK
        return met

    def kernel_code(self) -> tuple[int, float, float, float]:
        """Return the model as the kernels know it."""
        return ENTROPY, math.log(self.l), 0.0, 1.0

    def __str__(self) -> str:
        return f"entropy of log {self.l:g}"


@dataclass(frozen=True)
class RecursiveCL:
    """The most frequent value occurs less than c times as often as all from the l-th most frequent on together.

    Examples
    --------
    >>> RecursiveCL(2, 2).holds(Tally.of_values("aaabb")).tolist()
    [True]
    """

    c: Fraction | int
    l: int  # noqa: E741 - the papers' name
    survives_growth: ClassVar[bool] = False

    def holds(self, tally: Tally) -> npt.NDArray[np.bool_]:
        """Tell, for every group, whether its most frequent value is rare enough."""
        order = np.lexsort((-tally.count, tally.group))
        group, count = tally.group[order], tally.count[order]
        first = np.searchsorted(group, np.arange(tally.groups))
        rank = np.arange(len(group)) - first[group]
        tail = np.bincount(group, weights=np.where(rank >= self.l - 1, count, 0), minlength=tally.groups)
        most = np.bincount(group, weights=np.where(rank == 0, count, 0), minlength=tally.groups)
        c = Fraction(self.c)
        met: npt.NDArray[np.bool_] = most * c.denominator < c.numerator * tail  # whole numbers: exact
        return met

    def kernel_code(self) -> tuple[int, float, float, float]:
        """Return the model as the kernels know it."""
        c = Fraction(self.c)
        return RECURSIVE, float(c.numerator), float(self.l), float(c.denominator)

    def __str__(self) -> str:
        return f"recursive ({float(self.c):g}, {self.l})"


# -- how a plan asks for it ------------------------------------------------------------------------------------------


class LDiversity(Frozen):
    """How diverse the values of a sensitive column must be in every group; exactly one form."""

    distinct: int | None = Field(default=None, ge=1, description="at least so many different values")
    entropy: Number | None = Field(default=None, description="entropy of the values at least log of this")
    recursive: tuple[Number, int] | None = Field(
        default=None, description="[c, l]: most frequent < c × rest from the l-th"
    )

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        return value if isinstance(value, Mapping | LDiversity) else {"distinct": value}

    @model_validator(mode="after")
    def _one_kind(self) -> LDiversity:
        given = [form for form in ("distinct", "entropy", "recursive") if getattr(self, form) is not None]
        if len(given) != 1:
            raise PydanticCustomError("one_kind", "must have exactly one of distinct, entropy, recursive")
        if self.entropy is not None and self.entropy < 1:
            raise PydanticCustomError("one_kind", "must have an entropy of 1 or more")
        if self.recursive is not None and (self.recursive[0] <= 0 or self.recursive[1] < 1):
            raise PydanticCustomError("one_kind", "must have recursive: [c, l] with c above 0 and l of 1 or more")
        return self


ONE_VALUE = LDiversity(distinct=1)


def entropies(tally: Tally) -> FloatArray:
    """Return the entropy of the values of every group."""
    share = tally.count / tally.total[tally.group]
    found: FloatArray = np.bincount(tally.group, weights=-share * np.log(share), minlength=tally.groups).astype(float)
    return found


def _reached(tally: Tally, column: Any) -> dict[str, Any]:
    """Say which l holds of every group, counted and by entropy; where a group has no values, none does."""
    distinct = least_distinct(tally)
    entropy = math.exp(entropies(tally).min()) if distinct else 0.0
    return {"distinct": distinct, "entropy": round(entropy, DECIMALS)}


def _make(asked: LDiversity, column: Any) -> PSensitive | EntropyL | RecursiveCL:
    if asked.distinct is not None:
        return DistinctL(asked.distinct)
    if asked.entropy is not None:
        return EntropyL(float(asked.entropy))
    assert asked.recursive is not None
    return RecursiveCL(Fraction(asked.recursive[0]), int(asked.recursive[1]))


def _said(asked: LDiversity) -> str:
    if asked.distinct is not None:
        return f"l = {asked.distinct}" if asked.distinct > 1 else ""
    if asked.entropy is not None:
        return f"entropy l = {asked.entropy}"
    assert asked.recursive is not None
    return f"recursive (c, l) = ({asked.recursive[0]}, {asked.recursive[1]})"


def _impossible(asked: LDiversity, column: str, values: int) -> str | None:
    most = asked.entropy or (asked.recursive and asked.recursive[1])
    if most is None or most <= values:
        return None
    return f"l = {most} cannot be met: {column} has {values:,} different values."


DESCRIPTOR = ModelDescriptor(
    name="l",
    title="l-diversity",
    meaning="Every group has sensitive values that are different enough, so that none of them dominates.",
    help="l-diversity: {distinct: n}, {entropy: n} or {recursive: [c, l]}",
    order=20,
    form=LDiversity,
    keys=frozenset(LDiversity.model_fields),
    short={"$ref": "#/$defs/LDiversity"},
    make=_make,
    said=_said,
    asks_nothing=lambda asked: bool(asked == ONE_VALUE),
    least_values=lambda asked: asked.distinct or 0,
    impossible=_impossible,
    reached=_reached,
    ask="l",
    in_words="How evenly values of {column} are spread in every group",
    forms={
        "distinct": "distinct: so many different values",
        "entropy": "entropy at least log of",
        "recursive": "recursive (c, l)",
    },
)
