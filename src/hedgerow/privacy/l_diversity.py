"""l-diversity: distinct, entropy and recursive (c, l) (Machanavajjhala et al. 2007; SPEC §6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.privacy.model import ENTROPY, RECURSIVE, SLACK
from hedgerow.privacy.p_sensitive import PSensitive
from hedgerow.privacy.tally import Tally

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
        share = tally.count / tally.total[tally.group]
        entropy = -np.bincount(tally.group, weights=share * np.log(share), minlength=tally.groups)
        met: npt.NDArray[np.bool_] = entropy >= math.log(self.l) - SLACK
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
