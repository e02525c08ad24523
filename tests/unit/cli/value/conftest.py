"""A table that every command of this folder may work on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.parishes import write_table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_table(tmp_path)
