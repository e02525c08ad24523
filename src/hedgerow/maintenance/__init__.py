"""A release that stays current: created once, then changed by inserts, deletes and updates, every version verified.

The history lies in a ``store/`` (one SQLite file, or a PostgreSQL schema). A change reads the newest version, works out
the next one (``changes/``), checks it as any release is checked, audits what holders of all versions could learn
(``audit/``), and appends it in one transaction: all of it, or nothing.

May import: ``release`` and what is below, not ``evaluation``. Start reading at ``release.py``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.maintenance.release import MaintainedRelease, create_release, open_release

__all__ = ["MaintainedRelease", "create_release", "open_release"]


def __getattr__(name: str) -> Any:
    """Load the verbs when they are first used: who wants the store alone loads no more than that."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("hedgerow.maintenance.release"), name)
