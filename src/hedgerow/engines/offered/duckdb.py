"""DuckDB: files larger than memory, through a private database on disk."""

from __future__ import annotations

from typing import Any

from hedgerow.engines.descriptor import EngineDescriptor, EngineWish
from hedgerow.engines.kinds_of_data import is_local


def _opened(wish: EngineWish) -> Any:
    from hedgerow.engines.duckdb_engine import DuckDBEngine
    from hedgerow.engines.duckdb_tasks import DuckDBTasks
    from hedgerow.engines.local import LocalEngine

    return DuckDBEngine(DuckDBTasks(wish.data, wish.plan, LocalEngine(wish.data).library, wish.tell))


def _suits(data: Any, numbered: bool) -> bool:
    from hedgerow.engines.opening import is_large_file

    return not numbered and is_large_file(data)


DESCRIPTOR = EngineDescriptor(
    name="duckdb",
    title="DuckDB",
    help="on a file larger than that",
    order=20,
    reads="files, and tables in memory; without being asked for, files above 256 MB",
    takes=is_local,
    suits=_suits,
    opened=_opened,
)
