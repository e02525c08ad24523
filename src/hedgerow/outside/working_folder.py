"""The working folder, where data of strangers may lie: nothing is imported from it, no library finds settings there."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

SETTINGS = (".numba_config.yaml",)
"""Files that libraries of ours read as settings where the person stands, while they are imported."""


def module_path() -> list[str]:
    """Return where this process finds modules, without the working folder.

    It stays only if Hedgerow itself was found there.
    """
    here, ours = _real("."), _real(str(Path(__file__).parents[2]))
    return [entry for entry in sys.path if entry and (_real(entry) != here or here == ours)]


def forget_working_folder() -> None:
    """Import nothing from the working folder from now on; for programs, which nobody asked to look there.

    An empty part of ``PYTHONPATH`` means that folder, and ``PYTHONPATH=$PYTHONPATH:…`` has one where it was not set.
    """
    sys.path[:] = module_path()


def import_library(name: str) -> ModuleType:
    """Import a library that would read settings in the working folder; it does not find them.

    With them, whoever puts a file beside a table could break a run, slow it down, or let another program be started.

    Examples
    --------
    >>> import_library("math").__name__
    'math'
    """
    if name in sys.modules:  # whoever imported it has seen to its settings
        return importlib.import_module(name)
    exists = os.path.exists

    def hidden(path: Any) -> bool:
        return not (isinstance(path, str) and path in SETTINGS) and exists(path)

    os.path.exists = hidden  # only these names, as they stand, are not found: no other thread sees a difference
    try:
        return importlib.import_module(name)
    finally:
        os.path.exists = exists


def _real(entry: str) -> str:
    return os.path.realpath(entry)
