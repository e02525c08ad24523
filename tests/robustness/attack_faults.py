"""Calls of the system fail, one at a time, in every command that writes: full disk, broken disk, no right, cut short."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from tests.robustness.campaign import Campaign
from tests.robustness.trials import attempt, fault, need_compiler

CASES = 12


def batch(draw: random.Random, folder: Path) -> Counter[str]:
    """Try some cases."""
    need_compiler()
    tried: Counter[str] = Counter()
    for _ in range(CASES):
        case = fault(draw)
        attempt(case, folder)
        tried[case.deed] += 1
    return tried


CAMPAIGN = Campaign("faults", "injected faults", batch)
