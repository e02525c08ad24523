"""Telling that a kernel is being compiled, which happens at its first call and takes seconds.

It is always logged. Whoever runs commands for people asks to be told with :func:`tell`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

SECONDS = {
    "ascent.ascend": 2,
    "boxes.advance": 2,
    "closed_boxes.find_boxes": 4,
    "diverse.cluster_cells": 9,
    "exact_blocks.solve_cells": 10,
    "exchanges.exchange_in_cells": 7,
    "k_member.cluster_cells": 4,
    "lowering.improve": 15,
    "maintenance.repair": 6,
    "maintenance.settle_all": 10,
    "merging.merge_cells": 5,
    "neighbours.nearest_in_cells": 5,
    "regrouping.regroup_cells": 13,
    "sizes.level": 5,
    "sizes.split_all": 5,
}
"""Roughly how long kernels take to compile, by ``module.function``; others about one second."""

_tellers: list[Callable[[str, int], None]] = []
_refused = ContextVar("_refused", default=False)


class NotCompiled(Exception):
    """A kernel would have to be compiled."""


@contextmanager
def refusing() -> Iterator[None]:
    """Within, raise :exc:`NotCompiled` rather than compile a kernel."""
    token = _refused.set(True)
    try:
        yield
    finally:
        _refused.reset(token)


def tell(teller: Callable[[str, int], None]) -> None:
    """Call ``teller`` with the name of every kernel that is going to be compiled, and roughly how long that takes."""
    _tellers.append(teller)


def announce(name: str) -> None:
    """Tell that a kernel is going to be compiled; within :func:`refusing`, refuse it."""
    if _refused.get():
        raise NotCompiled
    seconds = SECONDS.get(name, 1)
    logging.getLogger(__name__).info("compiling %s for this machine, once: about %d s", name, seconds)
    for teller in _tellers:
        teller(name, seconds)


@cache
def listen() -> None:
    """Let numba say when it compiles a kernel that it keeps itself."""
    from numba.core import event

    class Compiling(event.Listener):
        def on_start(self, happening: Any) -> None:
            function = happening.data["dispatcher"]
            if _is_kernel(function):
                announce(name_of(function))

        def on_end(self, happening: Any) -> None:
            """Nobody asks."""

    event.register("numba:compile", Compiling())


def name_of(function: Any) -> str:
    """Name of a kernel, as ``module.function``."""
    return f"{function.py_func.__module__.rpartition('.')[2]}.{function.py_func.__name__}"


def _is_kernel(function: Any) -> bool:
    """Tell whether a function is one of those that are kept on disk, rather than one that only kernels call."""
    ours = function.py_func.__module__.startswith("hedgerow.anonymization.kernels.")
    return ours and function.stats.cache_path is not None
