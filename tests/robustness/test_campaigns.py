"""Every campaign, one batch of it: ``make torture`` runs the same for hours."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.robustness.__main__ import campaigns


@pytest.mark.parametrize("name", campaigns())
def test_an_attack_finds_nothing(name: str, tmp_path: Path) -> None:
    assert campaigns()[name].batch(random.Random("test-0"), tmp_path).total() > 0
