"""Compiled kernels: arrays in, arrays out. Nothing here knows what a column or a plan is.

Import a kernel through :func:`load`, never at module level: importing numba takes longer than most commands, and its
cache must be set up first (``keeping.py``). Numba compiles a kernel when it is first called: ``compiling.py`` says what
keeps that short, ``signatures.py`` for which types, ``telling.py`` tells whoever waits, and
:mod:`hedgerow.anonymization.preparing` compiles all kernels ahead.

What callers need to lay out arguments loads no numba: ``codes.py`` has the numbers, ``tuples/`` the names.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from types import ModuleType
from typing import Any

from hedgerow.outside.working_folder import import_library


@cache
def load(name: str) -> ModuleType:
    """Import a kernel module, with numba's cache in the user's cache folder."""
    from hedgerow.anonymization.kernels.keeping import KERNELS, folder_of, sources_of
    from hedgerow.anonymization.kernels.telling import listen

    numba = _numba()
    listen()
    for source in sources_of(f"{KERNELS}.{name}"):
        package, _, module = source.rpartition(".")
        if package == KERNELS:
            numba.config.CACHE_DIR = str(folder_of(module))
        importlib.import_module(source)
    return importlib.import_module(f"{KERNELS}.{name}")


def load_signatures() -> dict[str, Any]:
    """Return the types that every kernel is called with, by ``module.function``."""
    _numba()
    from hedgerow.anonymization.kernels.signatures import KERNELS

    return KERNELS


@cache
def _numba() -> Any:
    """Import numba without the settings that it would read where the person stands, now and at every compilation."""
    numba: Any = import_library("numba")
    settings = import_library("numba.core.config")
    settings._config_fname = os.devnull  # type: ignore[attr-defined]
    settings.reload_config()  # forgets them, if numba was imported elsewhere
    return numba
