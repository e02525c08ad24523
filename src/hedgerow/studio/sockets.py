"""Sockets: a page talks to the studio by one, and may speak for itself only.

The toolkit believes every message about the page that it is for. Here each message must be for the page that its
socket was opened by, which the guard has made sure is one of the same session. A message that is none, or none of
those that our pages send, closes its socket; nothing of it is printed.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from hedgerow.studio.audit_log import AuditLog
from hedgerow.studio.sessions import Sessions

ABOUT_PAGES = ("handshake", "event", "javascript_response", "ack", "log")
"""Messages of the toolkit that name a page."""
PLAIN = ("0", "1", "2", "3")
"""Kinds of messages that our pages send. Others carry bytes in further messages, which would be kept without end."""


def bind_sockets(sessions: Sessions, log: AuditLog) -> None:
    """Let only sockets, no polling, and only messages of a page about itself reach the toolkit."""
    from nicegui import core

    core.app.config.socket_io_js_transports = ["websocket"]
    core.sio.eio.transports = ["websocket"]
    handlers = core.sio.handlers["/"]
    for name in ABOUT_PAGES:
        handlers[name] = _own(handlers[name], sessions, core.sio)
    core.sio.eio.handlers["message"] = _well_formed(core.sio.eio.handlers["message"], core.sio, log)


def _well_formed(handler: Callable[..., Any], sio: Any, log: AuditLog) -> Callable[..., Any]:
    """Wrap what takes the messages of a socket: one that it cannot read closes the socket, and is not shown."""

    async def checked(socket: str, message: Any) -> None:
        try:
            if not isinstance(message, str) or message[:1] not in PLAIN:
                raise ValueError("not a message of our pages")
            await handler(socket, message)
        except Exception:  # whatever it is, it came from outside: handlers of ours tell what goes wrong by themselves
            log.write("refused", reason="malformed message")
            with contextlib.suppress(Exception):
                await sio.eio.disconnect(socket)

    return checked


def _own(handler: Callable[..., Any], sessions: Sessions, sio: Any) -> Callable[..., Any]:
    async def checked(sid: str, message: Any, *more: Any) -> Any:
        asked = parse_qs(sio.get_environ(sid).get("QUERY_STRING", "")).get("client_id", [])
        named = message.get("client_id") if isinstance(message, dict) else None
        if not isinstance(named, str) or asked != [named]:
            return False
        if not sessions.used_by(named):  # the session is over: the page finds out what to do by asking again
            await sio.emit("run_javascript", {"code": "window.location.reload()"}, room=sid)
            return False
        try:
            found = handler(sid, message, *more)
            return await found if inspect.isawaitable(found) else found
        except Exception:  # the message lacks a part, or has parts that are no JSON; handlers of ours raise nothing
            await sio.disconnect(sid)
            return False

    return checked
