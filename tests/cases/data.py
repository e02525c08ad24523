"""Public data that some tests take: it lies in the folder named by HEDGEROW_DATA, or the test is skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def data(*names: str) -> list[Path]:
    """Return the paths of files in the folder of public data, or skip the test and say what to set."""
    folder = os.environ.get("HEDGEROW_DATA")
    if not folder:
        pytest.skip(f"needs {' and '.join(names)}: name their folder in HEDGEROW_DATA")
    paths = [Path(folder) / name for name in names]
    if missing := [name for name, path in zip(names, paths, strict=True) if not path.exists()]:
        pytest.skip(f"{' and '.join(missing)} not in the folder named by HEDGEROW_DATA")
    return paths
