"""People with pages but no browser: they upload, press buttons and read what is shown, many at a time."""

from __future__ import annotations

import asyncio
import json
import re
import time
import urllib.parse
from collections.abc import Mapping
from typing import Any

import websockets

from tests.studio.servers import Served

PAGE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
ELEMENTS = re.compile(r"String\.raw`(.*?)`", re.DOTALL)


async def request(
    served: Served,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
    sent: int | None = None,
) -> tuple[int, dict[str, str], str]:
    """Send one request; ``sent`` says how much of the body is really sent before the connection is cut."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    try:
        given = {"Host": f"127.0.0.1:{served.port}", "Connection": "close", **headers}
        if body is not None:
            given["Content-Length"] = str(len(body))
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + (body or b"")[:sent])
        await writer.drain()
        if sent is not None:
            return 0, {}, ""
        answer = await reader.read()
    finally:
        writer.close()
    head_text, _, content = answer.decode("utf-8", "replace").partition("\r\n\r\n")
    lines = head_text.split("\r\n")
    found = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    return int(lines[0].split()[1]), found, content


class Visitor:
    """Somebody with a session and one page that is open."""

    def __init__(self, served: Served, headers: Mapping[str, str]) -> None:
        self._served, self.headers = served, dict(headers)
        self.shown: dict[int, dict[str, Any]] = {}

    @classmethod
    async def sign_in(cls, served: Served, name: str, password: str) -> Visitor:
        body = urllib.parse.urlencode({"name": name, "password": password}).encode()
        form = {"Origin": served.url, "Content-Type": "application/x-www-form-urlencoded"}
        _, headers, _ = await request(served, "POST", "/sign-in", form, body)
        return cls(served, {"Cookie": headers["set-cookie"].partition(";")[0], "Origin": served.url})

    async def open(self, path: str) -> None:
        """Open a page and connect its socket."""
        status, _, page = await request(self._served, "GET", path, self.headers)
        assert status == 200, status
        found = json.loads(_unescaped(next(text for text in ELEMENTS.findall(page) if '"tag"' in text)))
        self.shown = {int(number): element for number, element in found.items()}
        self._page = (
            next(iter(re.findall(r"client_id['\"]?\s*:\s*['\"]([0-9a-f-]{36})", page)), None) or PAGE.findall(page)[0]
        )
        query = {
            "client_id": self._page, "EIO": 4, "transport": "websocket", "document_id": self._page,
            "tab_id": self._page, "old_tab_id": "", "next_message_id": 0, "implicit_handshake": "true",
        }  # fmt: skip
        address = f"ws://127.0.0.1:{self._served.port}/_nicegui_ws/socket.io/?{urllib.parse.urlencode(query)}"
        cookie = {"Cookie": self.headers["Cookie"]}
        self._socket = await websockets.connect(
            address, additional_headers=cookie, origin=self._served.url, max_size=None
        )  # type: ignore[arg-type]
        await self._socket.recv()
        await self._socket.send("40")
        self._listening = asyncio.create_task(self._listen())

    async def close(self) -> None:
        self._listening.cancel()
        await self._socket.close()

    async def _listen(self) -> None:
        async for message in self._socket:
            text = message if isinstance(message, str) else message.decode()
            if text == "2":
                await self._socket.send("3")
            elif text.startswith("42"):
                name, content = json.loads(text[2:])[:2]
                if name == "update":
                    for number, element in content.items():
                        if number.lstrip("-").isdigit():
                            self._update(int(number), element)

    def _update(self, number: int, element: Any) -> None:
        if element is None:
            self.shown.pop(number, None)
        else:
            self.shown[number] = element

    # -- what is shown -------------------------------------------------------------------------------------------------

    def find(self, testid: str) -> int | None:
        """Return the number of the element with a name for tests, as far as it is shown."""
        return next(iter(self.named(testid)), None)

    def named(self, testid: str) -> list[int]:
        """Return the numbers of all elements with a name for tests."""
        every = ((number, element.get("props") or {}) for number, element in self.shown.items())
        return [number for number, props in every if testid in (props.get("data-testid"), props.get("testid"))]

    def texts(self) -> list[str]:
        """Return everything that is written on the page."""
        texts = (
            (element.get("text") or (element.get("props") or {}).get("innerHTML")) for element in self.shown.values()
        )
        return [str(text) for text in texts if text]

    async def until(self, condition: Any, seconds: float = 120) -> Any:
        """Wait until something is shown."""
        end = time.monotonic() + seconds
        while True:
            found = condition()
            if found:
                return found
            assert time.monotonic() < end, f"waited for {seconds} s; shown: {self.texts()[-30:]}"
            await asyncio.sleep(0.05)

    # -- what is done --------------------------------------------------------------------------------------------------

    async def say(self, number: int, event: str, *arguments: Any) -> None:
        """Let an element tell the studio that something happened to it."""
        for listener in self.shown[number]["events"]:
            if listener["type"] == event:
                message = {
                    "id": number, "client_id": self._page, "listener_id": listener["listener_id"],
                    "args": [json.dumps(argument) for argument in arguments],
                }  # fmt: skip
                await self._socket.send("42" + json.dumps(["event", message]))
                return
        raise AssertionError(f"{event} is not listened to")

    async def press(self, testid: str) -> None:
        number = await self.until(lambda: self.find(testid))
        await self.say(number, "click", {})

    async def upload(self, name: str, content: bytes, sent: int | None = None) -> tuple[int, str]:
        """Send a file; returns status and answer."""
        path = f"/files?name={urllib.parse.quote(name)}"
        status, _, answer = await request(self._served, "POST", path, self.headers, content, sent)
        return status, answer

    async def bring(self, testid: str, name: str, content: bytes) -> tuple[int, str]:
        """Send a file to a drop zone, as a browser does."""
        status, answer = await self.upload(name, content)
        if status == 200:
            number = await self.until(lambda: self.find(testid))
            await self.say(number, "sent", json.loads(answer))
        return status, answer


def _unescaped(text: str) -> str:
    return (
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&#96;", "`").replace("&#36;", "$").replace("&amp;", "&")
    )
