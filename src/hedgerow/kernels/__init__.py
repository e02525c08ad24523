"""Compiled kernels: arrays in, arrays out. Nothing here knows what a column or a plan is.

Import a kernel through :func:`load`, never at module level: importing numba takes longer than most commands, and its
cache must be set up first (``keeping.py``). Numba compiles a kernel when it is first called: ``compiling.py`` says what
keeps that short, ``signatures.py`` for which types, ``telling.py`` tells whoever waits, and :mod:`hedgerow.preparing`
compiles all kernels ahead.
"""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType


@cache
def load(name: str) -> ModuleType:
    """Import a kernel module, with numba's cache in the user's cache folder."""
    import numba

    from hedgerow.kernels.keeping import folder_of, sources_of
    from hedgerow.kernels.telling import listen

    listen()
    for source in sources_of(name):
        numba.config.CACHE_DIR = str(folder_of(source))  # type: ignore[attr-defined]
        importlib.import_module(f"hedgerow.kernels.{source}")
    return importlib.import_module(f"hedgerow.kernels.{name}")
