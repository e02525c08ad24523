"""Code in an interpreter of its own, with a cache of kernels of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMMAND = "import hedgerow.cli.waiting as waiting; waiting.WORTH_A_WORD = 0; from hedgerow.cli import main; main()"
"""The command line, which tells at once that it compiles."""


def run(code: str, *words: str, cwd: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HEDGEROW_CACHE": str(cache)}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=True)
