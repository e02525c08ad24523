"""(alpha, k)-anonymity: no value of the sensitive column prevails in a group (Wong et al. 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.plan.concepts import ModelDescriptor
from hedgerow.plan.model import Share
from hedgerow.privacy.codes import ALPHA, SLACK
from hedgerow.privacy.model import DECIMALS
from hedgerow.privacy.tally import Tally
from hedgerow.types import FloatArray


@dataclass(frozen=True)
class AlphaShare:
    """No value makes up more than ``alpha`` of a group's values; a group without values holds.

    Examples
    --------
    >>> AlphaShare(0.5).holds(Tally.of_values("aab")).tolist()
    [False]
    """

    alpha: float
    survives_growth: ClassVar[bool] = False

    def holds(self, tally: Tally) -> npt.NDArray[np.bool_]:
        """Tell, for every group, whether its most frequent value is rare enough."""
        met: npt.NDArray[np.bool_] = greatest_shares(tally) <= self.alpha + SLACK
        return met

    def kernel_code(self) -> tuple[int, float, float, float]:
        """Return the model as the kernels know it."""
        return ALPHA, self.alpha, 0.0, 1.0

    def __str__(self) -> str:
        return f"no share above {self.alpha:g}"


def greatest_shares(tally: Tally) -> FloatArray:
    """Return the share of the most frequent value of every group; 0 for a group without values."""
    greatest = np.zeros(tally.groups)
    np.maximum.at(greatest, tally.group, tally.count / tally.total[tally.group])
    return greatest


def _impossible(asked: Any, column: str, values: int) -> str | None:
    if float(asked) * values >= 1:
        return None
    text = f"alpha = {asked} cannot be met: {column} has {values:,} different values, so one of"
    return f"{text} them has more than that of any group."


DESCRIPTOR = ModelDescriptor(
    name="alpha",
    title="(alpha, k)-anonymity",
    meaning="The largest share of one sensitive value in any group: whoever knows the group guesses right at "
    "most that often.",
    help="greatest share of one value in a group",
    order=40,
    form=Share,
    short={"type": ["number", "string"]},
    make=lambda asked, column: AlphaShare(float(asked)),
    said=lambda asked: f"alpha = {asked}",
    greatest_share=float,
    impossible=_impossible,
    reached=lambda tally, column: round(float(greatest_shares(tally).max(initial=0)), DECIMALS),
    ask="one value's share at most",
    in_words="Share of one value of {column} in a group, at most",
    step=0.05,
)
