"""How often an attack is right, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any


@dataclass(frozen=True)
class Rate:
    """How often tries were right.

    Attributes
    ----------
    right, tries
        How many were right, of how many.
    low, high
        Ends of the confidence interval of the rate (Wilson 1927).

    Examples
    --------
    >>> Rate.of(20, 100, confidence=0.95)
    Rate(right=20, tries=100, low=0.133367, high=0.288829)
    """

    right: int
    tries: int
    low: float
    high: float

    @classmethod
    def of(cls, right: int, tries: int, confidence: float) -> Rate:
        """Work out the interval for so much confidence; of no tries nothing is known."""
        if not tries:
            return cls(0, 0, 0.0, 1.0)
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        share, more = right / tries, z * z / tries
        middle = (share + more / 2) / (1 + more)
        half = z * math.sqrt(share * (1 - share) / tries + more / (4 * tries)) / (1 + more)
        low = 0.0 if not right else middle - half
        high = 1.0 if right == tries else middle + half
        return cls(right, tries, round(max(low, 0.0), 6), round(min(high, 1.0), 6))

    @property
    def rate(self) -> float:
        """The share that was right."""
        return self.right / self.tries if self.tries else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "right": self.right,
            "tries": self.tries,
            "rate": round(self.rate, 6),
            "low": self.low,
            "high": self.high,
        }
