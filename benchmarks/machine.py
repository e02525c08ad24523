"""What a figure was measured on: the machine, and the versions of what ran."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("numpy", "numba", "duckdb", "pyarrow")


def machine() -> dict[str, str]:
    """Cores, memory, processor and system, in words; nothing that names the machine."""
    return {
        "cores": str(os.cpu_count()),
        "memory": f"{_memory() / 2**30:.0f} GiB",
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Python and the packages that do the work."""
    return {"Python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def describe() -> str:
    """Machine and versions in one sentence.

    Examples
    --------
    >>> describe().endswith(".") and "Python" in describe()
    True
    """
    here = machine()
    parts = [f"{here['cores']} cores", here["memory"], here["processor"], here["system"]]
    return f"{', '.join(parts)}; {', '.join(f'{name} {number}' for name, number in versions().items())}."


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return 0


def _processor() -> str:
    """The name by which the maker sells it; Linux has it in a file, others tell less."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or "a processor without a name"
