"""p-sensitive k-anonymity: at least p different sensitive values in every group (Truta and Vinay 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.plan.concepts import ModelDescriptor
from hedgerow.plan.model import Count
from hedgerow.privacy.codes import DISTINCT
from hedgerow.privacy.tally import Tally


@dataclass(frozen=True)
class PSensitive:
    """At least ``p`` different values; missing never counts.

    Examples
    --------
    >>> PSensitive(p=2).holds(Tally.of_values(["flu", "cold"])).tolist()
    [True]
    """

    p: int
    survives_growth: ClassVar[bool] = True

    def holds(self, tally: Tally) -> npt.NDArray[np.bool_]:
        """Tell, for every group, whether it has p different values."""
        met: npt.NDArray[np.bool_] = tally.distinct >= self.p
        return met

    def kernel_code(self) -> tuple[int, float, float, float]:
        """Return the model as the kernels know it."""
        return DISTINCT, float(self.p), 0.0, 1.0

    def __str__(self) -> str:
        return f"{self.p} different values"


def least_distinct(tally: Tally) -> int:
    """Return how many different values every group has at least."""
    return int(tally.distinct.min()) if tally.groups else 0


DESCRIPTOR = ModelDescriptor(
    name="p",
    title="p-sensitivity",
    meaning="Every group has at least p different values of a sensitive column, so that none is certain.",
    help="at least p different values of every sensitive column",
    order=10,
    form=Count,
    short={"type": "integer"},
    make=lambda asked, column: PSensitive(asked),
    said=lambda asked: f"p = {asked}" if asked > 1 else "",
    asks_nothing=lambda asked: bool(asked == 1),
    least_values=int,
    reached=lambda tally, column: least_distinct(tally),
    with_suppression=True,
    ask="different values at least",
    in_words="Different values of {column} in every group, at least",
)
