"""A process that has everything at hand and forks others, which are to be killed: starting Python takes seconds."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from hedgerow.outside.sandbox import running

ROOT = Path(__file__).parents[2]
FEW_THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}


@contextlib.contextmanager
def nursery_of(module: str, patience: float) -> Iterator[subprocess.Popen[str]]:
    """Run the function ``nursery`` of a module of tests, which says when it is ready, and let it end."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", f"from {module} import nursery; nursery()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **FEW_THREADS, "PYTHONPATH": str(ROOT)},
    )
    with process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.stdin.close()
        process.wait(patience)


class SharedReaders:
    """The process that readers are forked from, started once for all that a nursery forks: it takes as long as they."""

    def __init__(self) -> None:
        running.prepare()
        self._control = running._template._control

    def use(self) -> None:
        """Let this process, which was forked and has forgotten it, use it too."""
        running._template._control = self._control
