"""Every command that writes is killed, or asked to end, before and after calls of the system."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from tests.robustness.campaign import Campaign
from tests.robustness.trials import attempt, death, need_compiler

CASES = 12


def batch(draw: random.Random, folder: Path) -> Counter[str]:
    """Try some cases."""
    need_compiler()
    tried: Counter[str] = Counter()
    for _ in range(CASES):
        case = death(draw)
        attempt(case, folder)
        tried[case.deed] += 1
    return tried


CAMPAIGN = Campaign("kills", "kills", batch)
