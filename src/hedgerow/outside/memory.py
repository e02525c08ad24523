"""How much memory there is to take, as far as the system tells."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")


def available_memory() -> int | None:
    """Return the bytes that a process could take now: of the machine, or of the container that it runs in.

    None where the system does not tell, as outside Linux.

    Examples
    --------
    >>> available_memory() is None or available_memory() > 0
    True
    """
    found = [*_of_machine(), *_of_group()]
    return max(min(found), 0) if found else None


def address_space() -> int | None:
    """Return the bytes that a process may map at all (``ulimit -v``); None if that has no limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def machine_memory() -> int:
    """Return how many bytes of memory the machine has; 8 GiB if it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 << 30


def _of_machine() -> Iterator[int]:
    with contextlib.suppress(OSError):
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
        if found:
            yield int(found[1]) * 1024


def _of_group() -> Iterator[int]:
    """Yield what the control groups of this process leave, from its own up to the root."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                yield from _left(GROUPS, path, "memory.max", "memory.current", "inactive_file")
            elif "memory" in controllers.split(","):
                of_old = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
                yield from _left(GROUPS / "memory", path, *of_old)


def _left(root: Path, path: str, limit: str, used: str, idle: str) -> Iterator[int]:
    place = root / path.strip("/")
    for group in (place, *place.parents):
        with contextlib.suppress(OSError, ValueError):  # no limit is the word "max"; the root has no file
            bound = int((group / limit).read_text())
            taken = int((group / used).read_text())
            cached = re.search(rf"^{idle} (\d+)", (group / "memory.stat").read_text(), re.MULTILINE)
            yield bound - taken + (int(cached[1]) if cached else 0)
        if group == root:
            return
