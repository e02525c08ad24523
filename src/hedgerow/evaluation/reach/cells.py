"""Cells that records fall into, and the refusal of arguments that mean nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.errors import HedgerowError, Problem
from hedgerow.types import FloatArray


@dataclass(frozen=True, eq=False)
class CellProbabilities:
    """Cells, those with equal probabilities together.

    Attributes
    ----------
    shares
        The different probabilities.
    times
        How many cells have each.
    """

    shares: FloatArray
    times: tuple[int, ...]

    @classmethod
    def of(cls, cells: int | Sequence[float] | CellProbabilities) -> CellProbabilities:
        """Make them from a number of equally likely cells, or from the probabilities of cells."""
        if isinstance(cells, CellProbabilities):
            return cells
        if isinstance(cells, int):
            whole_number("cells", cells, 1)
            return cls(np.array([1 / cells]), (cells,))
        given = np.asarray(cells, np.float64)
        if given.ndim != 1 or not len(given) or not bool((given > 0).all()) or abs(float(given.sum()) - 1) > 1e-9:
            raise usage("'cells' must be a number of cells, or probabilities above 0 that sum to 1.")
        shares, times = np.unique(given / given.sum(), return_counts=True)
        return cls(shares, tuple(times.tolist()))

    @property
    def number(self) -> int:
        """How many cells there are."""
        return sum(self.times)

    def total(self, values: FloatArray) -> float:
        """Sum a value of each different probability over all cells."""
        return math.fsum(times * value for times, value in zip(self.times, values.tolist(), strict=True))


def usage(message: str, hint: str = "") -> HedgerowError:
    """Return the error for a call with arguments that mean nothing."""
    return HedgerowError(Problem("usage", message, hint=hint))


def whole_number(name: str, value: object, least: int, most: int | None = None) -> None:
    """Refuse anything but a whole number in a range."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= least and (most is None or value <= most):
        return
    wanted = f"of {least:,} or more" if most is None else f"from {least:,} to {most:,}"
    raise usage(f"{name!r} must be a whole number {wanted}. Got {value!r} instead.")
