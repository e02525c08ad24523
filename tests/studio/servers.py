"""A studio in a process of its own, as a person starts it, and plain requests to it."""

from __future__ import annotations

import contextlib
import http.client
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 60.0


class Served:
    """A studio that is running.

    Attributes
    ----------
    lines
        What it has printed so far.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._links: queue.Queue[str] = queue.Queue()
        self._ready = threading.Event()
        self.url = ""
        threading.Thread(target=self._listen, daemon=True).start()
        if not self._ready.wait(PATIENCE):
            raise AssertionError(f"the studio did not start: {self.lines}")

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"(https?://[^\s/]+)(/enter\?token=\S+)?", line)
            if found:
                self.url = found[1]
                if found[2]:
                    self._links.put(found[0])
                self._ready.set()

    @property
    def port(self) -> int:
        found = urlsplit(self.url).port
        assert found is not None
        return found

    @property
    def held(self) -> float:
        """Megabytes that its process holds."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6

    @property
    def printed(self) -> str:
        return "".join(self.lines)

    def link(self) -> str:
        """A link that lets one browser in; the studio prints the next when it is used."""
        return self._links.get(timeout=PATIENCE)

    def enter(self) -> dict[str, str]:
        """Begin a session without a browser; returns the headers that a page of ours would send."""
        link = urlsplit(self.link())
        status, headers, _ = self.ask("GET", f"{link.path}?{link.query}")
        assert status == 200
        return {"Cookie": headers["set-cookie"].partition(";")[0], "Origin": self.url}

    def ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: Any = None, **how: Any
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request and return status, headers and content."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused while still sending
                connection.request(method, path, body, dict(headers or {}), **how)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def shake_hands(self, path: str, headers: Mapping[str, str]) -> int:
        """Ask for a socket and return the status: 101 if it is granted."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as opened:
            given = {
                "Host": f"127.0.0.1:{self.port}",
                "Upgrade": "websocket",
                "Connection": "Upgrade",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Version": "13",
                **headers,
            }
            lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
            opened.sendall(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
            return int(opened.recv(64).split()[1])


@contextlib.contextmanager
def serving(*words: str | Path, folder: Path, program: bool = False, **environment: str) -> Iterator[Served]:
    """Start a studio in a folder, with temporary files of its own, and end it as Ctrl-C does.

    ``program``: by the command that is installed, which a folder with strange modules in it needs.
    """
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    inline = [sys.executable, "-c", "from hedgerow.cli import main; main()"]
    command = [str(Path(sys.executable).with_name("hedgerow"))] if program else inline
    command += ["studio", "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        [*command, *map(str, words)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch), "PYTHONUNBUFFERED": "1", **environment},
    )
    try:
        yield Served(process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
