"""Every campaign, some batches of it: ``make torture`` runs the same for hours."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.robustness.__main__ import campaigns

BATCHES = 2


@pytest.mark.parametrize("number", range(BATCHES))
@pytest.mark.parametrize("name", campaigns())
def test_an_attack_finds_nothing(name: str, number: int, tmp_path: Path) -> None:
    assert campaigns()[name].batch(random.Random(f"test-{number}"), tmp_path).total() > 0
