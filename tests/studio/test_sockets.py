"""A socket speaks for its own page only."""

from __future__ import annotations

from typing import Any

from hedgerow.studio.audit_log import AuditLog
from hedgerow.studio.sessions import Sessions
from hedgerow.studio.settings import Settings
from hedgerow.studio.sockets import _own
from tests.studio.loops import run


class FakeServer:
    """What the check asks of the server of sockets."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def get_environ(self, sid: str) -> dict[str, str]:
        return {"QUERY_STRING": f"EIO=4&client_id={sid}"}

    async def emit(self, name: str, message: Any, room: str) -> None:
        self.sent.append(f"{name} to {room}")


def test_only_messages_of_a_page_about_itself_pass() -> None:
    sessions, server, heard = Sessions(Settings(), AuditLog()), FakeServer(), []
    try:
        _, ann = sessions.begin("ann")
        _, bob = sessions.begin("bob")
        ann.clients.add("page-of-ann")
        bob.clients.add("page-of-bob")
        handler = _own(lambda sid, message: heard.append((sid, message["client_id"])), sessions, server)

        def say(sid: str, message: Any) -> None:
            run(handler(sid, message))

        say("page-of-ann", {"client_id": "page-of-ann"})
        for message in ({"client_id": "page-of-bob"}, {"client_id": None}, {}, "text", {"client_id": ["page-of-ann"]}):
            say("page-of-ann", message)
        assert heard == [("page-of-ann", "page-of-ann")]
        sessions.end(ann)
        say("page-of-ann", {"client_id": "page-of-ann"})
        assert len(heard) == 1
        assert server.sent == ["run_javascript to page-of-ann"]
    finally:
        sessions.close()
