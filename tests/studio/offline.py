"""Screens built without a server and a browser: which controls they have is known in a second."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nicegui import Client, core
from nicegui.page import page
from starlette.requests import Request

from hedgerow.studio.audit_log import AuditLog
from hedgerow.studio.sessions import Session, Sessions
from hedgerow.studio.settings import Settings
from tests.studio.loops import run


@contextmanager
def session_at_work(data: Path) -> Iterator[Session]:
    """Begin a session that works on a table, with the plan that is drafted for it."""
    sessions = Sessions(Settings(folder=data.parent), AuditLog(None))
    try:
        session = sessions.begin("somebody")[1]
        session.bench.open(data)
        yield session
    finally:
        sessions.close()


def controls_of(session: Session, build: Callable[[], object]) -> set[str]:
    """Build something on a page of its own; return the names of the controls on it, and the kinds of our own ones."""
    request = Request(
        {"type": "http", "path": "/offline", "headers": [], "query_string": b"", "state": {"session": session}}
    )
    client = Client(page("/offline"), request=request)

    async def built() -> None:
        core.loop = asyncio.get_running_loop()  # what is built may begin work in it
        with client:
            made = build()
            if isinstance(made, Awaitable):
                await made
        core.loop = None

    async def there(*_: Any, **__: Any) -> None:
        return None

    client.connected = there  # type: ignore[method-assign]
    run(built())
    elements = list(client.elements.values())
    client.delete()
    named = {str(element.props["data-testid"]) for element in elements if "data-testid" in element.props}
    return named | {type(element).__name__ for element in elements}
