"""Objects that several of our processes read: their arrays lie once in memory, for all children together.

What is laid out has no name and is never on the disk where the system can do without: a child gets an open handle.
Pages are shared as long as nobody writes to them; what a child writes is its own.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import pickle
import tempfile
from collections.abc import Iterator
from typing import Any

ALIGNED = 64
"""Arrays begin at multiples of so many bytes, as compiled code likes them."""


@contextlib.contextmanager
def shared_memory() -> Iterator[int]:
    """Open memory for children that are started meanwhile; they get the handle, and keep it.

    Examples
    --------
    >>> with shared_memory() as handle:
    ...     received(handle, lay_out(handle, {"codes": [1, 2]}))
    {'codes': [1, 2]}
    """
    handle = _memory()
    try:
        yield handle
    finally:
        os.close(handle)


def lay_out(handle: int, thing: Any) -> list[int]:
    """Lay something out; returns the sizes of its parts: what is not arrays, then the arrays."""
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(thing, protocol=5, buffer_callback=arrays.append)
    parts = [memoryview(head), *(array.raw() for array in arrays)]
    sizes = [part.nbytes for part in parts]
    with os.fdopen(os.dup(handle), "wb") as file:
        for start, part in zip(_starts(sizes), parts, strict=True):
            file.seek(start)
            file.write(part)
        file.truncate(_starts([*sizes, 0])[-1] + 1)  # a mapping must not be empty
    return sizes


def received(handle: int, sizes: list[int]) -> Any:
    """Take what a parent has laid out; its arrays stay where they are, and what is written to them stays here."""
    room = memoryview(mmap.mmap(handle, 0, access=mmap.ACCESS_COPY))
    parts = [room[start : start + size] for start, size in zip(_starts(sizes), sizes, strict=True)]
    return pickle.loads(parts[0], buffers=parts[1:])  # what our own parent laid out a moment ago


def _starts(sizes: list[int]) -> list[int]:
    starts, at = [], 0
    for size in sizes:
        starts.append(at)
        at += -(-size // ALIGNED) * ALIGNED
    return starts


def _memory() -> int:
    """Open memory that has no name; where there is no such thing, a file that has none."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("hedgerow", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
