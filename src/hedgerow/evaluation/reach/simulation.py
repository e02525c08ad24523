"""The same chance by trying: seeded, repetition after repetition, with an honest interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from hedgerow.evaluation.reach.cells import CellProbabilities, usage, whole_number
from hedgerow.outside.notebook import html_table

MOST_AT_ONCE = 50_000_000  # cells or records of one repetition, 8 bytes each
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Simulated:
    """How often made-up records reached k.

    Attributes
    ----------
    rate
        Share of the repetitions that did.
    low, high
        Wilson's interval for the chance, at the stated confidence.
    """

    cells: int
    k: int
    records: int
    empty_allowed: bool
    repetitions: int
    successes: int
    rate: float
    low: float
    high: float
    confidence: float
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)

    def _repr_html_(self) -> str:
        rows = ((name.replace("_", " "), cell) for name, cell in self.to_dict().items())
        return html_table(f"{self.successes:,} of {self.repetitions:,} repetitions reached k", ("", ""), rows)


def simulate_chance(
    cells: int | Sequence[float] | CellProbabilities,
    records: int,
    k: int,
    repetitions: int,
    *,
    seed: int = 0,
    empty_allowed: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Simulated:
    """Draw records into cells many times, and count how often every cell has k of them.

    One repetition is in memory at a time. The same seed gives the same draws with the same version of NumPy, whose
    PCG64 generator makes them; NumPy does not promise the same draws from version to version.

    Examples
    --------
    >>> simulate_chance(2**3, 50, 3, repetitions=1000).rate
    0.7...
    """
    among = CellProbabilities.of(cells)
    whole_number("records", records, 0)
    whole_number("k", k, 1)
    whole_number("repetitions", repetitions, 1)
    whole_number("seed", seed, 0)
    successes = 0
    if empty_allowed or records >= among.number * k:  # else no draw can succeed
        one = _repetition(among, records, k, empty_allowed, np.random.Generator(np.random.PCG64(seed)))
        for done in range(repetitions):
            successes += one()
            if progress is not None:
                progress(done + 1, repetitions)
    low, high = wilson(successes, repetitions, CONFIDENCE)
    return Simulated(
        cells=among.number,
        k=k,
        records=records,
        empty_allowed=empty_allowed,
        repetitions=repetitions,
        successes=successes,
        rate=successes / repetitions,
        low=low,
        high=high,
        confidence=CONFIDENCE,
        seed=seed,
    )


def wilson(successes: int, repetitions: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return Wilson's interval for a chance; it stays within 0 and 1 and means something at 0 successes too.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0, 500)], [round(end, 4) for end in wilson(34, 50)]
    ([0.0, 0.0076], [0.5419, 0.7924])
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate, shrink = successes / repetitions, 1 + z * z / repetitions
    centre = (rate + z * z / (2 * repetitions)) / shrink
    half = z / shrink * math.sqrt(rate * (1 - rate) / repetitions + z * z / (4 * repetitions**2))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == repetitions else min(1.0, centre + half)
    return low, high


def _repetition(
    cells: CellProbabilities, records: int, k: int, empty_allowed: bool, draw: np.random.Generator
) -> Callable[[], bool]:
    """Return a function that draws the records once and tells whether every cell is good."""
    sparse = len(cells.times) == 1 and cells.number > records  # most cells stay empty, so only the others are counted
    size = records if sparse else cells.number
    hint = "leave repetitions out: the chance is computed without them"
    if cells.number >= 1 << 63:
        raise usage("There are more cells than can be numbered, so records cannot be drawn into them.", hint)
    if size > MOST_AT_ONCE:
        raise usage(f"One repetition would hold {size:,} numbers, more than {MOST_AT_ONCE:,}.", hint)
    shares = None if sparse else np.repeat(cells.shares, cells.times)

    def one() -> bool:
        if shares is None:
            counts = np.unique(draw.integers(0, cells.number, records), return_counts=True)[1]
            return bool((counts >= k).all())
        counts = draw.multinomial(records, shares)
        return bool(((counts >= k) | (counts == 0) & empty_allowed).all())

    return one
