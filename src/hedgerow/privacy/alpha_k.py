"""(alpha, k)-anonymity: no value of the sensitive column prevails in a group (Wong et al. 2006; SPEC §6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.privacy.model import ALPHA, SLACK
from hedgerow.privacy.tally import Tally


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
        greatest = np.zeros(tally.groups)
        np.maximum.at(greatest, tally.group, tally.count / tally.total[tally.group])
        met: npt.NDArray[np.bool_] = greatest <= self.alpha + SLACK
        return met

    def kernel_code(self) -> tuple[int, float, float, float]:
        """Return the model as the kernels know it."""
        return ALPHA, self.alpha, 0.0, 1.0

    def __str__(self) -> str:
        return f"no share above {self.alpha:g}"
