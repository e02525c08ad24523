"""Reading the records that come to a release, wherever they lie: each of them, since a store keeps each.

A file, or a table in memory, is read as ever. A file that is better not read whole, and a table on a server, come piece
by piece: of text only the distinct values are held, and a number for every record.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from hedgerow.engines import local
from hedgerow.engines.descriptor import EngineWish
from hedgerow.engines.opening import is_large_file, suited
from hedgerow.engines.place import read_place
from hedgerow.microdata import Table
from hedgerow.microdata.frames import taken_over
from hedgerow.microdata.read import read_gathered
from hedgerow.outside.server import check_path, is_server
from hedgerow.plan import Plan


def read_records(data: Any, plan: Plan) -> Table:
    """Read every record of some data: the columns that a plan needs, and the key."""
    data = taken_over(data)
    check_path(data)
    if is_server(data):
        with contextlib.closing(suited(data).opened(EngineWish(data, plan))) as engine:
            found: Table = engine.records(plan)
            return found
    if is_large_file(data):
        return read_gathered(data, plan)
    return local.read(data, plan, key=True)


def are_numbered(data: Any) -> bool:
    """Tell whether the records of some data have numbers that mean something to whoever gave it."""
    return not is_server(data)


def place_of(data: Any) -> str:
    """How messages name a source: never with a password."""
    if is_server(data):
        return read_place(data).shown
    return str(data) if isinstance(data, str | Path) else "data"
