"""Which process works on an output, told to those who share nothing with it but a file system without locks.

A number alone would not do: numbers are used again, and other machines and containers have their own. So a process
names the start of its machine, its space of numbers and the moment it began, too. One that says the same of its
machine can tell whether it is still there; any other can only wait for long enough.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

PATIENCE = 24 * 3600.0
"""Seconds after which the work of a process elsewhere counts as left."""


def this_worker() -> str:
    """Name this process."""
    return json.dumps({"machine": _machine(), "process": os.getpid(), "began": _began(os.getpid())})


def is_left(worker: str | None, age: float) -> bool:
    """Tell whether nobody works any more where a process gave its name, so many seconds ago.

    Examples
    --------
    >>> is_left(this_worker(), 1e9), is_left(None, 0), is_left('{"machine": "elsewhere"}', 0)
    (False, True, False)
    """
    if worker is None:
        return True
    try:
        said: Any = json.loads(worker)
        machine, process = str(said["machine"]), int(said.get("process", 0))
        began = said.get("began")
    except (ValueError, KeyError, TypeError, AttributeError):
        return age > PATIENCE
    if machine != _machine() or began is None:
        return age > PATIENCE
    return bool(_began(process) != began)


def seconds_since(moment: float) -> float:
    """Return how many seconds ago a moment was."""
    return time.time() - moment


def _machine() -> str:
    try:
        start = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{start} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # not Linux
        return "unknown"


def _began(process: int) -> str | None:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
