"""β-likeness: no value is much more frequent in a group than in the whole table (Cao and Karras 2012).

t-closeness bounds how far a group is in all; β-likeness how much each value gains on its own, relative to how frequent
it is: a rare illness may not become common in a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hedgerow.plan.concepts import ModelDescriptor
from hedgerow.plan.model import Frozen, Number
from hedgerow.privacy.codes import BETA, ENHANCED, SLACK
from hedgerow.privacy.model import DECIMALS
from hedgerow.privacy.tally import Tally
from hedgerow.types import FloatArray


@dataclass(frozen=True)
class BetaLikeness:
    """Every value's share of a group is at most 1 + ``beta`` times its share p of the whole table.

    ``enhanced``: at most 1 + min(beta, −ln p) times, which holds down values that are frequent already. A group without
    values holds.

    Examples
    --------
    >>> BetaLikeness(1).holds(Tally.of_values("ab", overall="aabb" * 2)).tolist()
    [True]
    >>> BetaLikeness(0.9).holds(Tally.of_values("aa", overall="ab")).tolist()
    [False]
    >>> BetaLikeness(1, enhanced=True).holds(Tally.of_values("aa", overall="ab")).tolist()
    [False]
    """

    beta: float
    enhanced: bool = False
    survives_growth: ClassVar[bool] = False

    def holds(self, tally: Tally) -> npt.NDArray[np.bool_]:
        """Tell, for every group, whether no value has gained too much."""
        share = tally.overall / max(int(tally.overall.sum()), 1)
        bound = np.full(len(share), float(self.beta))
        if self.enhanced:
            bound = np.minimum(bound, -np.log(np.where(share > 0, share, 1.0)))
        met = np.ones(tally.groups, np.bool_)
        met[tally.group[gains(tally) > bound[tally.value] + SLACK]] = False
        return met

    def kernel_code(self) -> tuple[int, float, float, float]:
        """Return the model as the kernels know it."""
        return ENHANCED if self.enhanced else BETA, float(self.beta), 0.0, 1.0

    def __str__(self) -> str:
        return f"{'enhanced ' if self.enhanced else ''}gain of at most {self.beta:g}"


def gains(tally: Tally) -> FloatArray:
    """Return how much more frequent each value is in its group than in the whole table, out of the latter."""
    share = tally.overall / max(int(tally.overall.sum()), 1)
    found: FloatArray = tally.count / tally.total[tally.group] / share[tally.value] - 1.0
    return found


# -- how a plan asks for it ------------------------------------------------------------------------------------------


class Likeness(Frozen):
    """How much more frequent a value may be in a group than in the whole table."""

    at_most: Number = Field(description="greatest gain, out of the share in the whole table: 1 is twice as frequent")
    enhanced: bool = Field(default=False, description="frequent values may gain less: at most −ln of their share")

    @model_validator(mode="before")
    @classmethod
    def _widen(cls, value: Any) -> Any:
        return value if isinstance(value, Mapping | Likeness) else {"at_most": value}

    @model_validator(mode="after")
    def _positive(self) -> Likeness:
        if self.at_most < 0:
            raise PydanticCustomError("at_most", "must be 0 or more")
        return self


def _said(asked: Likeness) -> str:
    return f"{'enhanced ' if asked.enhanced else ''}beta = {asked.at_most}"


DESCRIPTOR = ModelDescriptor(
    name="beta",
    title="β-likeness",
    meaning="No sensitive value is more than 1 + β times as frequent in a group as in the whole release: knowing the "
    "group makes no value much more likely, however rare it is.",
    help="β-likeness: greatest gain of a value's share in a group over that in the whole table",
    order=50,
    form=Likeness,
    keys=frozenset(Likeness.model_fields),
    short={"type": ["number", "string"]},
    make=lambda asked, column: BetaLikeness(float(asked.at_most), asked.enhanced),
    said=_said,
    reached=lambda tally, column: round(max(0.0, float(gains(tally).max(initial=0))), DECIMALS),
    compares_with_all=True,
    ask="a value's gain at most",
    in_words="How much more frequent a value of {column} may be in a group than in the whole table (1: twice)",
    step=0.5,
)
