"""Other processes: what a command took, in time, CPU and memory, with an end to those that take too long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
LAUNCHER = Path(__file__).parent / "launch.py"
PYTHON = sys.executable
PEERS = ROOT / ".peers" / "bin" / "python"
"""The environment of the peers, which ``make`` makes; their versions of numpy and pandas are not ours."""
ANONYMETER = ROOT / ".peers-anonymeter" / "bin" / "python"
"""That of anonymeter, whose numpy is neither ours nor that of the other peers."""


class Failed(Exception):
    """A command that did not end well; the message says why, in one line."""


@dataclass(frozen=True)
class Used:
    """What a process took.

    Attributes
    ----------
    seconds
        From start to end.
    cpu
        Of all its cores, in seconds, the system's share included.
    megabytes
        The most memory it had.
    output
        What it printed.
    """

    seconds: float
    cpu: float
    megabytes: float
    output: str


def use(command: Sequence[str], limit: float = 120, environment: Mapping[str, str] | None = None) -> Used:
    """Run a command to its end, from the root of the checkout.

    Raises
    ------
    Failed
        If it fails, or is not done within the limit, in seconds; then it is ended.
    """
    with tempfile.TemporaryDirectory() as folder:
        used, out, complaints = (Path(folder) / name for name in ("used", "out", "complaints"))
        launcher = [PYTHON, "-I", "-S", str(LAUNCHER), str(used), *command]
        with out.open("wb") as output, complaints.open("wb") as errors:
            process = subprocess.Popen(
                launcher, cwd=ROOT, stdout=output, stderr=errors, env={**os.environ, **(environment or {})},
                start_new_session=True,
            )  # fmt: skip
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # a session of its own: nobody else's processes are in it
                process.wait()
                raise Failed(f"not done after {limit:,.0f} s") from None
        if status or not used.exists():
            last = complaints.read_text(errors="replace").strip().splitlines()[-1:] or [f"status {status}"]
            raise Failed(f"failed: {last[0][:120]}")
        seconds, cpu, megabytes = (float(word) for word in used.read_text().split())
        return Used(seconds, cpu, megabytes, out.read_text(errors="replace"))
