"""The local engine: everything in memory."""

from __future__ import annotations

from typing import Any

from hedgerow.engines.descriptor import EngineDescriptor, EngineWish
from hedgerow.engines.kinds_of_data import is_local


def _opened(wish: EngineWish) -> Any:
    from hedgerow.engines.local import LocalEngine

    return LocalEngine(wish.data)


DESCRIPTOR = EngineDescriptor(
    name="local",
    title="local",
    help="in memory",
    order=10,
    reads="files, and tables in memory",
    takes=is_local,
    suits=lambda data, numbered: True,
    opened=_opened,
    numbers_records=True,
)
