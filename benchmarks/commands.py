"""Whole commands in processes of their own: the import, and anonymize from CSV to verified output."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.csv

from benchmarks import adult
from benchmarks.results import Report


def run(report: Report) -> None:
    """Measure with a warm kernel cache; the bare interpreter is the peer of the import."""
    bare = min(_process("pass") for _ in range(5))
    loaded = min(_process("import hedgerow") for _ in range(5))
    report.time("import hedgerow, beyond a bare interpreter", loaded - bare)
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
        whole = min(_process(command.format(words)) for _ in range(5))
        report.time("hedgerow anonymize adult.csv, whole command", whole)


def _process(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
