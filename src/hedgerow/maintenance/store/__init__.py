"""The history of a release in a real database: SQLite in one file by default, PostgreSQL by its address.

A store is append-only. Every version is written in one transaction, and says only what is new in it; what was true as
of a version is the latest said up to it. Who is in which group lies in tables of its own, from which people can be
erased.
The versions and what they publish are chained by hashes, so that a change made afterwards is seen.
"""

from __future__ import annotations

from hedgerow.maintenance.store.opening import open_store
from hedgerow.maintenance.store.store import Store
from hedgerow.maintenance.store.version import Erasure, NewVersion, VersionRow

__all__ = ["Erasure", "NewVersion", "Store", "VersionRow", "open_store"]
