"""The guard before everything the studio serves: who may ask, from where, and how much may be sent.

The toolkit answers any Host and any Origin and limits uploads in the browser only. So, before a request reaches it:

- the *Host* must be one of ours, or a page elsewhere could reach us under a name of its own (DNS rebinding);
- the *Origin*, which browsers send with sockets and with everything that is posted, must be ours, and must be there;
- the *cookie* must be that of a session; without it only the door can be reached;
- what is sent must be small, and an upload within the limit, whether its length is said or it comes in pieces.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from hedgerow.studio.audit_log import AuditLog
from hedgerow.studio.sessions import Session, Sessions

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SMALL = 1 << 20
"""Bytes that anything but an upload may have."""
UPLOADS = "/files"
SOCKETS = "/_nicegui_ws/"
DOORS = ("/enter", "/sign-in")
"""What can be reached without a session."""
SAFE = ("GET", "HEAD")

HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        b"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; object-src 'none'; "
        b"base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # without it browsers say nothing of the origin of our own forms
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True)
class Rules:
    """What the guard lets through.

    Attributes
    ----------
    hosts
        Values of the Host header, in small letters, with the port where it is not the usual one.
    origins
        Values of the Origin header.
    upload_bytes
        Greatest upload.
    cookie
        Name of the session's cookie.
    """

    hosts: frozenset[str]
    origins: frozenset[str]
    upload_bytes: int
    cookie: str
    signs_in: bool = False


class Guard:
    """Wraps an application; what is refused never reaches it."""

    def __init__(self, app: App, rules: Rules, sessions: Sessions, log: AuditLog) -> None:
        self.app, self._rules, self._sessions, self._log = app, rules, sessions, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on with its session."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal, session = self._judge(scope)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
            return
        scope.setdefault("state", {})["session"] = session
        if scope["type"] == "websocket":
            try:
                await self.app(scope, receive, send)
            except Exception:  # a frame that is none; the server would print what it was
                self._log.write("refused", session, reason="malformed message")
                with contextlib.suppress(Exception):
                    await send({"type": "websocket.close", "code": 1002})
            return
        limit = self._rules.upload_bytes if scope["path"] == UPLOADS else SMALL
        exchange = _Exchange(self.app, limit, receive, send)
        await exchange.run(scope)
        if exchange.ended:
            self._log.write("refused", session, reason="too large")

    def _judge(self, scope: Scope) -> tuple[tuple[int, str] | None, Session | None]:
        """Say why a request is refused, or whose it is."""
        headers = _headers(scope)
        if headers.get("host", "").lower() not in self._rules.hosts:
            self._log.write("refused", reason="host")
            return (421, "This name is not served here."), None
        origin, socket = headers.get("origin"), scope["type"] == "websocket"
        needed = socket or scope["method"] not in SAFE
        if (origin is not None or needed) and origin not in self._rules.origins:
            self._log.write("refused", reason="origin")
            return (403, "Requests from other pages are refused."), None
        if not socket and scope["path"].startswith(SOCKETS):
            return (403, "Pages talk to the studio by sockets only."), None
        session = self._sessions.find(_cookie(headers.get("cookie", ""), self._rules.cookie))
        if session is None and (socket or scope["path"] not in DOORS):
            self._log.write("refused", reason="no session")
            if self._rules.signs_in:
                return (401, SIGN_IN), None
            return (401, NO_SESSION), None
        if session is not None and socket and not _own_page(scope, session):
            self._log.write("refused", session, reason="page of another session")
            return (403, "This page belongs to another session."), None
        return None, session


NOBODY_THERE = "No response returned."
"""What the toolkit raises when the browser went before it was answered."""


class _Exchange:
    """A request and its answer; ends it when more is sent than may be."""

    def __init__(self, app: App, limit: int, receive: Receive, send: Send) -> None:
        self._app, self._limit, self._receive, self._send = app, limit, receive, send
        self._received, self._begun, self.ended = 0, False, False

    async def run(self, scope: Scope) -> None:
        said = _headers(scope).get("content-length", "")
        if said and (not said.isdigit() or int(said) > self._limit):
            await self._too_much()
            return
        try:
            await self._app(scope, self._counted, self._answered)
        except RuntimeError as error:
            if self._begun or str(error) != NOBODY_THERE:
                raise

    async def _counted(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._received += len(message.get("body", b""))
            if self._received > self._limit:
                await self._too_much()
                return {"type": "http.disconnect"}  # what reads it cleans up as if the browser had gone
        return message

    async def _answered(self, message: Message) -> None:
        if self.ended:
            return
        if message["type"] == "http.response.start":
            self._begun = True
            message = {**message, "headers": [*message.get("headers", []), *HEADERS]}
        await self._send(message)

    async def _too_much(self) -> None:
        if not self._begun:
            await _answer(self._send, 413, f"More than {self._limit:,} bytes were sent.", close=True)
        self.ended = True


NO_SESSION = (
    "This studio needs the link that it printed where it was started. Each link works once: press Enter there for "
    "another one."
)
SIGN_IN = "Sign in first."


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers; of one that is given twice, the two together, which fits no rule."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _cookie(text: str, name: str) -> str | None:
    """Find our cookie among those that other programs of this machine may have set."""
    for part in text.split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return None


def _own_page(scope: Scope, session: Session) -> bool:
    if not scope["path"].startswith(SOCKETS):
        return True
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("client_id", [])
    return len(asked) == 1 and asked[0] in session.clients


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await receive()  # the request to connect
        await send({"type": "websocket.close", "code": 1008, "reason": text})
    elif text is SIGN_IN and scope["method"] in SAFE and "text/html" in _headers(scope).get("accept", ""):
        await _answer(send, 303, text, (b"location", b"/sign-in"))
    else:
        await _answer(send, status, text, close=True)


async def _answer(send: Send, status: int, text: str, *more: tuple[bytes, bytes], close: bool = False) -> None:
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *HEADERS,
        *more,
    ]
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
