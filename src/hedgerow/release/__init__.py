"""The release: its rows, plan and facts; checked before anything is shown; put in place as a folder or a table.

``making`` puts a solution into a release; ``facts`` is the content of ``facts.json``; ``checking`` has it verified;
``folders``, ``tables`` and ``stores`` put it in place; ``signing`` signs it.

May import: ``engines``, ``verification`` and what is below. Start reading at ``making.py``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hedgerow.release.checking import is_large, verify_before_publishing, where_found
from hedgerow.release.folders import (
    check_targets,
    publish,
    publish_link,
    release_files,
    verify_privately,
    write_release,
)
from hedgerow.release.making import MadeRelease, make, make_release, make_where_it_lies
from hedgerow.release.release import Release

if TYPE_CHECKING:
    from hedgerow.release.stores import check_in_spark, publish_in_spark, read_in_spark, verify_in_spark
    from hedgerow.release.tables import check_table, publish_table, read_table, verify_table

_HOME = {
    "check_in_spark": "stores",
    "check_table": "tables",
    "publish_in_spark": "stores",
    "publish_table": "tables",
    "read_in_spark": "stores",
    "read_table": "tables",
    "verify_in_spark": "stores",
    "verify_table": "tables",
}

__all__ = [
    "MadeRelease",
    "Release",
    "check_in_spark",
    "check_table",
    "check_targets",
    "is_large",
    "make",
    "make_release",
    "make_where_it_lies",
    "publish",
    "publish_in_spark",
    "publish_link",
    "publish_table",
    "read_in_spark",
    "read_table",
    "release_files",
    "verify_before_publishing",
    "verify_in_spark",
    "verify_privately",
    "verify_table",
    "where_found",
    "write_release",
]


def __getattr__(name: str) -> Any:
    """Load what few need when it is first used: servers and Spark."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
