"""Drawing values for all records at once, from the raw bits of one bit generator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError, Problem

Indices = npt.NDArray[np.int64]


class Draw:
    """Draws one number per record at a time."""

    def __init__(self, records: int, seed: int) -> None:
        for name, value, least in (("records", records, 1), ("seed", seed, 0)):
            if value < least:
                message = f"The '{name}' parameter must be at least {least}. Got {value} instead."
                raise HedgerowError(Problem("usage", message, hint="leave it out for the default"))
        self._records = records
        self._bits = np.random.PCG64(seed)

    def uniform(self) -> npt.NDArray[np.float64]:
        """Draw numbers from 0 up to, but without, 1."""
        raw = np.asarray(self._bits.random_raw(self._records), np.uint64)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, bound: int | Indices) -> Indices:
        """Draw whole numbers from 0 up to, but without, a bound; one bound for all, or one per record."""
        numbers: Indices = np.floor(self.uniform() * bound).astype(np.int64)
        return numbers

    def bell(self) -> npt.NDArray[np.float64]:
        """Draw from a bell curve of mean 0 and variance 1: the sum of twelve uniform draws."""
        return sum((self.uniform() for _ in range(12)), np.full(self._records, -6.0))

    def choice(self, weights: Sequence[float]) -> Indices:
        """Draw positions in a list of weights."""
        steps = np.cumsum(weights)
        found: Indices = np.searchsorted(steps, self.uniform() * steps[-1], side="right").astype(np.int64)
        return found

    def choice_by(self, row: Indices, weights: Sequence[Sequence[float]]) -> Indices:
        """Draw positions in one of several lists of weights; ``row`` says which list each record draws from."""
        steps = np.cumsum(np.asarray(weights, np.float64), axis=1)
        drawn = self.uniform() * steps[row, -1]
        found = np.empty(self._records, np.int64)
        for number, line in enumerate(steps):
            here = row == number
            found[here] = np.searchsorted(line, drawn[here], side="right")
        return found

    def order(self) -> Indices:
        """Draw an order of the records."""
        return np.argsort(self.uniform(), kind="stable").astype(np.int64)


def labelled(indices: Indices, labels: Sequence[str]) -> list[str]:
    """Name the value of every record."""
    return [labels[index] for index in indices.tolist()]
