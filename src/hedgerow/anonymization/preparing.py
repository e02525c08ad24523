"""Compiling all kernels ahead, on all processors, so that no later command waits for it."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from hedgerow.anonymization.kernels import load, load_signatures
from hedgerow.anonymization.kernels.keeping import home, is_kept
from hedgerow.anonymization.kernels.telling import SECONDS, NotCompiled, refusing
from hedgerow.errors import DataError, Problem
from hedgerow.outside import children
from hedgerow.types import Progress, silent

COMPILING = "compiling kernels"
TOGETHER = (
    ("clusters", "maintenance", "lowering", "sizes"),
    ("k_member", "diverse"),
    ("neighbours", "regrouping", "exchanges", "exact_blocks"),
    (
        "apart",
        "ascent",
        "boxes",
        "closed_boxes",
        "frontiers",
        "hashed_lattice",
        "lattice",
        "merging",
        "regions",
        "width_runs",
    ),
)
"""Modules that one process compiles, since they have much in common, or little to do."""


@dataclass(frozen=True)
class Prepared:
    """What was prepared.

    Attributes
    ----------
    kernels
        How many kernels there are; all are compiled now.
    compiled
        How many of them were not before.
    seconds
        How long it took.
    folder
        Where they are kept.
    """

    kernels: int
    compiled: int
    seconds: float
    folder: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def prepare(processes: int | None = None, progress: Progress | None = None) -> Prepared:
    """Compile every kernel that is not compiled yet.

    Kernels are otherwise compiled when they are first needed, so that the first command of its kind takes longer. Run
    this once after installing, for instance when an image of a container is built. Kernels are kept for the version of
    Hedgerow, of Python and of numba, and for the kind of processor.

    Parameters
    ----------
    processes
        Processes to compile with. By default all processors.
    progress
        Called with what is being done, how many kernels are done, and how many there are to do.

    Returns
    -------
    Prepared
        How many there were to compile, how long it took, and where they are kept.

    Raises
    ------
    DataError
        If the folder for compiled kernels cannot be written to.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.prepare()  # doctest: +SKIP
    Prepared(kernels=18, compiled=18, seconds=31.2, folder='/home/ada/.cache/hedgerow')
    """
    began = time.monotonic()
    tell = progress or silent
    if not is_kept():
        problem = f"compiled kernels cannot be kept in {home()}: it cannot be written to"
        raise DataError([Problem("output", problem, hint="name another folder with HEDGEROW_CACHE")])
    tell("looking for compiled kernels", 0, 0)
    missing = [name for name in kernel_names() if not is_compiled(name)]
    if missing:
        _compile_in_processes(missing, processes or os.cpu_count() or 1, tell)
    return Prepared(len(kernel_names()), len(missing), round(time.monotonic() - began, 1), str(home()))


def kernel_names() -> tuple[str, ...]:
    """Names of all kernels, as ``module.function``."""
    return tuple(load_signatures())


def is_compiled(name: str) -> bool:
    """Tell whether a kernel is compiled; if so, it is loaded."""
    try:
        with refusing():
            compile_kernel(name)
    except NotCompiled:
        return False
    return True


def compile_kernel(name: str) -> None:
    """Load a kernel; compile it first if it is not compiled."""
    module, _, function = name.partition(".")
    kernel = getattr(load(module), function)
    if hasattr(kernel, "compile"):  # else its machine code is there, or numba is told not to compile anything
        kernel.compile(load_signatures()[name])


def _compile_in_processes(names: Sequence[str], processes: int, tell: Progress) -> None:
    """Compile kernels in processes of their own, those that take longest first."""
    said: SimpleQueue[str] = SimpleQueue()
    waiting, started = deque(_shares(names)), []

    def work() -> None:
        with suppress(IndexError):  # nothing is waiting any more
            while True:
                with children.start("hedgerow.anonymization.preparing", *waiting.popleft()) as child:
                    started.append(child)
                    for line in child.stdout or ():
                        said.put(line.strip())

    workers = [Thread(target=work, daemon=True) for _ in range(min(processes, len(waiting)))]
    done: set[str] = set()
    tell(COMPILING, 0, len(names))
    try:
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers) or not said.empty():
            with suppress(Empty):
                done.add(said.get(timeout=0.1))
                tell(COMPILING, len(done), len(names))
    except BaseException:
        waiting.clear()
        for child in started:
            child.kill()
        raise
    for name in names:  # what a process did not manage is compiled here, and raises here what it raises
        if name not in done:
            compile_kernel(name)


def _shares(names: Sequence[str]) -> list[list[str]]:
    """Kernels by the process that compiles them: those that take longest first."""
    place = {module: number for number, modules in enumerate(TOGETHER) for module in modules}
    shares: dict[object, list[str]] = {}
    for name in names:
        module = name.partition(".")[0]
        shares.setdefault(place.get(module, module), []).append(name)
    return sorted(shares.values(), key=lambda share: -sum(SECONDS.get(name, 1) for name in share))


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        compile_kernel(wanted)
        print(wanted, flush=True)
