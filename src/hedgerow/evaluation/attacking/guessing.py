"""Guessing: somebody who knows columns of a person guesses what is sensitive, with the release and without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.evaluation.attacking.known import SeenRelease
from hedgerow.evaluation.attacking.rates import Rate
from hedgerow.types import BoolArray, IntArray

NO_GUESS = -2


@dataclass(frozen=True)
class Guessing:
    """How often one sensitive column was guessed.

    Attributes
    ----------
    with_release
        By the value that most rows have which fit what is known.
    without
        By a baseline that never saw the release.
    baseline
        ``control``: the same attack on people who are not in the release, so what it tells of everybody; ``commonest``:
        the value that most people have.
    """

    column: str
    with_release: Rate
    without: Rate
    baseline: str

    @property
    def gained(self) -> float:
        """What the release adds: of what the baseline does not guess, how much more is guessed; below 0: none."""
        left = 1 - self.without.rate
        return (self.with_release.rate - self.without.rate) / left if left else 0.0

    @property
    def surely_gained(self) -> bool:
        """Whether the two intervals have nothing in common, and more is guessed with the release."""
        return self.with_release.low > self.without.high

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "column": self.column,
            "with_release": self.with_release.to_dict(),
            "without": self.without.to_dict(),
            "baseline": self.baseline,
            "gained": round(self.gained, 6),
            "surely_gained": self.surely_gained,
        }


def guesses(
    seen: SeenRelease, found: Iterator[tuple[IntArray, BoolArray]], released: IntArray, people: int
) -> IntArray:
    """Guessing a sensitive column of people: what most rows have that were found for each, the first of several values.

    ``released`` has the value of every row, −1 where there is none: that is never guessed.
    """
    values = int(released.max(initial=-1)) + 1
    ordered = released[seen.rows_by_group]
    guess = np.full(people, NO_GUESS, np.int64)
    for those, groups in found:
        for person, fits in zip(those.tolist(), groups, strict=True):
            parts = [ordered[seen.starts[group] : seen.starts[group + 1]] for group in np.flatnonzero(fits).tolist()]
            cells = np.concatenate([np.zeros(0, np.int64), *parts])
            counts = np.bincount(cells[cells >= 0], minlength=values)
            if counts.sum():
                guess[person] = int(np.argmax(counts))
    return guess


def rate_of(guess: IntArray, true: IntArray, confidence: float) -> Rate:
    """Count right guesses; people who have no value are not guessed at."""
    there = true >= 0
    return Rate.of(int((guess[there] == true[there]).sum()), int(there.sum()), confidence)
