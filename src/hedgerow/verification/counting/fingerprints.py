"""Comparing many rows by a number for each, so that the rows themselves need not be held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hedgerow.verification.counting.tallies import Tallies

if TYPE_CHECKING:
    import pyarrow as pa

Marks = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Fingerprints:
    """The fingerprints of rows: numbers of 64 bits, the same for equal rows and for hardly any others.

    Of ten million different rows two have the same number with a chance of 3 in a million.

    Examples
    --------
    >>> import pyarrow as pa
    >>> tallies = Tallies.open()
    >>> one, other = Fingerprints(tallies), Fingerprints(tallies)
    >>> one.add([pa.chunked_array([["a", "a", None]])])
    >>> other.add([pa.chunked_array([["a", None, "b"]])])
    >>> one.surplus(other)
    1
    """

    tallies: Tallies
    parts: list[Marks] = field(default_factory=list)

    def add(self, columns: Sequence[pa.ChunkedArray]) -> None:
        """Add rows, given by their columns of text."""
        self.parts.append(self.tallies.fingerprints(columns))

    def counts(self) -> tuple[Marks, npt.NDArray[np.int64]]:
        """Return the different fingerprints, ascending, and how many rows have each."""
        marks, counts = np.unique(np.concatenate([np.zeros(0, np.uint64), *self.parts]), return_counts=True)
        return marks, counts.astype(np.int64)

    def surplus(self, others: Fingerprints) -> int:
        """Return how many rows remain when each takes an equal one of the others away."""
        (marks, counts), (known, there) = self.counts(), others.counts()
        if not len(known):
            return int(counts.sum())
        at = np.minimum(np.searchsorted(known, marks), len(known) - 1)
        return int(np.maximum(counts - np.where(known[at] == marks, there[at], 0), 0).sum())
