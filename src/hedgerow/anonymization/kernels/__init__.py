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


class Kernels:
    """The kernels of a module: called directly if their machine code is there, else by numba, which compiles them."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, function: str) -> Any:
        """Get a kernel ready; anything else of the module comes from numba."""
        from hedgerow.anonymization.kernels import direct
        from hedgerow.anonymization.kernels.keeping import folder_of

        name = f"{self._name}.{function}"
        kernel: Any = direct.found(name, folder_of(self._name))
        if kernel is None:
            kernel = getattr(load_compiling(self._name), function)
            if direct.allowed() and hasattr(kernel, "overloads") and name in load_signatures():
                kernel = Compiling(name, kernel)
        setattr(self, function, kernel)
        return kernel


class Compiling:
    """A kernel that is compiled when it is first called: for direct calls if that can be done, else by numba."""

    def __init__(self, name: str, kernel: Any) -> None:
        self._name, self._kernel, self._ready = name, kernel, False

    def __call__(self, *arguments: Any) -> Any:
        """Call it, after compiling it if need be."""
        self.compile(load_signatures()[self._name])
        return self._kernel(*arguments)

    def compile(self, signature: tuple[Any, ...]) -> None:
        """Compile it, and keep what comes of it."""
        if self._ready:
            return
        from hedgerow.anonymization.kernels import direct, entries
        from hedgerow.anonymization.kernels.keeping import folder_of
        from hedgerow.anonymization.kernels.making import compiling
        from hedgerow.anonymization.kernels.signatures import GIVES_ARRAYS

        with compiling():
            if self._name not in GIVES_ARRAYS:
                folder = folder_of(self._name.partition(".")[0])
                if not direct.is_there(self._name, folder):
                    entries.keep(self._name, self._kernel, signature, folder)
                self._kernel = direct.found(self._name, folder) or self._kernel
            if hasattr(self._kernel, "compile"):
                self._kernel.compile(signature)
        self._ready = True

    def __getattr__(self, name: str) -> Any:
        """Whatever is said of it by whoever compiled it."""
        return getattr(self._kernel, name)


@cache
def load(name: str) -> Any:
    """Return the kernels of a module."""
    return Kernels(name)


@cache
def load_compiling(name: str) -> ModuleType:
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
