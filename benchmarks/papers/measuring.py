"""Times of algorithms: the fastest of three, or of as many as fit two seconds; what they compile is compiled before.

Processor time is taken, not time by the clock: the algorithms run on one core, and so other jobs of the machine count
for less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")
TIMES = 3
ENOUGH = 2.0  # seconds; what takes longer differs little from run to run


def fastest(work: Callable[[], Made], times: int = TIMES) -> tuple[float, Made]:
    """Processor seconds of the fastest run, and what the work made."""
    least, made = _timed(work)
    spent = least
    for _ in range(times - 1):
        if spent >= ENOUGH:
            break
        seconds = _timed(work)[0]
        least, spent = min(least, seconds), spent + seconds
    return least, made


def _timed(work: Callable[[], Made]) -> tuple[float, Made]:
    start = time.process_time()
    made = work()
    return time.process_time() - start, made
