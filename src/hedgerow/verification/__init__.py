"""The independent check of a release: reads what was written, and shares no code with what wrote it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.verification.check import verify_release
    from hedgerow.verification.in_place import verify_in_place, verify_release_in_place
    from hedgerow.verification.places import CountedLink, InDatabase, InFile, Lender, Where
    from hedgerow.verification.result import Promise, Verification

_HOME = {
    "CountedLink": "places",
    "InDatabase": "places",
    "InFile": "places",
    "Lender": "places",
    "Promise": "result",
    "Verification": "result",
    "Where": "places",
    "verify_in_place": "in_place",
    "verify_release": "check",
    "verify_release_in_place": "in_place",
}

__all__ = [
    "CountedLink",
    "InDatabase",
    "InFile",
    "Lender",
    "Promise",
    "Verification",
    "Where",
    "verify_in_place",
    "verify_release",
    "verify_release_in_place",
]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: the process that parses files needs the parser only."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
