"""``python -m hedgerow`` is the program ``hedgerow``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow


@pytest.mark.parametrize("options", [(), ("-P",)], ids=["as it is", "safe path"])
def test_the_package_runs_as_the_program(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "typer.py").write_text("raise SystemExit('imported from the working folder')")
    words = [sys.executable, *options, "-m", "hedgerow"]
    told = subprocess.run([*words, "--version"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    assert hedgerow.__version__ in told.stdout
    wrong = subprocess.run([*words, "anonymise"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "__main__" not in wrong.stdout + wrong.stderr
