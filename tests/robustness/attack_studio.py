"""Hostile uploads to a team studio: it stays up, others are served, memory comes back, nothing of a file is printed."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from tests.robustness.campaign import Campaign
from tests.robustness.studio_storm import check, rage, team_studio
from tests.studio.loops import run

FILES, AT_ONCE = 8, 4


def batch(draw: random.Random, folder: Path) -> Counter[str]:
    """Let some sessions bring some files each."""
    with team_studio(folder, users=1) as served:
        storm = run(rage(served, draw, FILES, AT_ONCE))
        check(storm, served, folder)
    check(storm, served, folder, ended=True)
    return storm.cases


CAMPAIGN = Campaign("studio", "hostile uploads", batch, share=0.3)
