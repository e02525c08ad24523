"""Whole commands in processes of their own: the import, and anonymize from CSV to verified output."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.csv

from benchmarks import adult


def run(report: Callable[[str, Any], None]) -> None:
    """Measure with a warm kernel cache; the bare interpreter is the peer of the import."""
    bare = min(_process("pass") for _ in range(5))
    loaded = min(_process("import hedgerow") for _ in range(5))
    report("import hedgerow, s beyond a bare interpreter", round(loaded - bare, 3))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        pyarrow.csv.write_csv(adult.records(), folder / "adult.csv")
        (folder / "plan.yaml").write_text(adult.plan(10).to_yaml())
        command = "import sys; from hedgerow.cli import main; sys.argv[1:] = {!r}; main()"
        words = [
            "anonymize",
            str(folder / "adult.csv"),
            str(folder / "plan.yaml"),
            "-o",
            str(folder / "r"),
            "--replace",
        ]
        _process(command.format(words))  # warm the kernel cache
        report(
            "hedgerow anonymize adult.csv, whole command, s",
            round(min(_process(command.format(words)) for _ in range(5)), 2),
        )


def _process(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
