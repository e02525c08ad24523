"""MariaDB and MySQL: tables where they lie, on a server."""

from __future__ import annotations

from typing import Any

from hedgerow.engines.descriptor import EngineDescriptor, EngineWish
from hedgerow.outside.server import is_mariadb


def _opened(wish: EngineWish) -> Any:
    from hedgerow.engines.place import read_place
    from hedgerow.engines.servers import open_server
    from hedgerow.engines.sql import SqlEngine
    from hedgerow.microdata.read import needed_columns

    wanted = None if wish.plan is None else needed_columns(wish.plan, key=True)
    return SqlEngine(open_server(read_place(wish.data), wanted))


DESCRIPTOR = EngineDescriptor(
    name="mariadb",
    title="MariaDB",
    help="on the server of a table",
    order=35,
    reads="tables and views on a MariaDB or MySQL server, named by an address: `mariadb://user@host/database?table=name`",
    takes=is_mariadb,
    suits=lambda data, numbered: is_mariadb(data),
    opened=_opened,
    by_name=False,
)
