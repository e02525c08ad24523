"""PostgreSQL: tables where they lie, on a server."""

from __future__ import annotations

from typing import Any

from hedgerow.engines.descriptor import EngineDescriptor, EngineWish
from hedgerow.outside.server import is_postgres


def _opened(wish: EngineWish) -> Any:
    from hedgerow.engines.place import read_place
    from hedgerow.engines.postgres import PostgresSession
    from hedgerow.engines.sql import SqlEngine

    return SqlEngine(PostgresSession(read_place(wish.data)))


DESCRIPTOR = EngineDescriptor(
    name="postgres",
    title="PostgreSQL",
    help="on the server of a table",
    order=30,
    reads="tables and views on a server, named by an address: `postgresql://user@host/database?table=schema.name`",
    takes=is_postgres,
    suits=lambda data, numbered: is_postgres(data),
    opened=_opened,
    by_name=False,
)
