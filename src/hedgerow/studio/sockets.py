"""Sockets: a page talks to the studio by one, and may speak for itself only.

The toolkit believes every message about the page that it is for. Here each message must be for the page that its
socket was opened by, which the guard has made sure is one of the same session.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from hedgerow.studio.sessions import Sessions

ABOUT_PAGES = ("handshake", "event", "javascript_response", "ack", "log")
"""Messages of the toolkit that name a page."""


def bind_sockets(sessions: Sessions) -> None:
    """Let only sockets, no polling, and only messages of a page about itself reach the toolkit."""
    from nicegui import core

    core.app.config.socket_io_js_transports = ["websocket"]
    core.sio.eio.transports = ["websocket"]
    handlers = core.sio.handlers["/"]
    for name in ABOUT_PAGES:
        handlers[name] = _own(handlers[name], sessions, core.sio)


def _own(handler: Callable[..., Any], sessions: Sessions, sio: Any) -> Callable[..., Any]:
    async def checked(sid: str, message: Any, *more: Any) -> Any:
        asked = parse_qs(sio.get_environ(sid).get("QUERY_STRING", "")).get("client_id", [])
        named = message.get("client_id") if isinstance(message, dict) else None
        if not isinstance(named, str) or asked != [named]:
            return False
        if not sessions.used_by(named):  # the session is over: the page finds out what to do by asking again
            await sio.emit("run_javascript", {"code": "window.location.reload()"}, room=sid)
            return False
        found = handler(sid, message, *more)
        return await found if inspect.isawaitable(found) else found

    return checked
