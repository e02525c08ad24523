"""Memory of the server: what pages of people who left took goes back to the system.

The C library keeps what was freed for later use, for each thread apart. A server that was busy for a minute would hold
for days what it needed then.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys

ARENAS = 2
_MOST_ARENAS = -8  # M_ARENA_MAX


def settle_in() -> None:
    """Do once, when everything is loaded: what is there for good need not be looked at again while people wait."""
    with contextlib.suppress(OSError, AttributeError):
        if sys.platform == "linux":
            ctypes.CDLL(None).mallopt(_MOST_ARENAS, ARENAS)
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Give back to the system what is not in use."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # other C libraries do it by themselves
        if sys.platform == "linux":
            ctypes.CDLL(None).malloc_trim(0)
