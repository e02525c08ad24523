"""Compiled kernels: arrays in, arrays out. Nothing here knows what a column or a plan is.

Import a kernel through :func:`load`, never at module level: importing numba takes longer than most commands, and its
cache must be set up first. The cache folder is keyed by the sources of all kernels together, because numba by itself
does not notice a change in another file; so a kernel may call those of ``search_index.py``.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib
import os
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def load(name: str) -> ModuleType:
    """Import a kernel module, with numba's cache in the user's cache folder."""
    import numba

    numba.config.CACHE_DIR = str(_cache_folder())  # type: ignore[attr-defined]
    return importlib.import_module(f"hedgerow.kernels.{name}")


@cache
def _cache_folder() -> Path:
    sources = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        sources.update(file.read_bytes())
    home = os.environ.get("HEDGEROW_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "hedgerow" / sources.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        private = tempfile.TemporaryDirectory(prefix="hedgerow-kernels-")
        atexit.register(private.cleanup)
        return Path(private.name)
    return folder
