"""The reader of a session: a process that reads what people bring, so that the server never does.

A table, a plan or a hierarchy of a stranger may crash what parses it, or unpack to more than there is memory. The
reader answers questions about them, in plain data. It is bound in memory, a question in time, an answer in length. If
it ends, what it kept is lost and nothing else: it is started again for the next question.

It keeps the table that it has read, encoded, so that what a limit comes to is known in a moment.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow import errors
from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.outside import children
from hedgerow.outside.memory import machine_memory
from hedgerow.outside.server import is_server
from hedgerow.studio.nursery import Nursery, Talker
from hedgerow.studio.turns import Turns

MOST_ANSWER = 24 << 20
"""Characters of an answer; more would keep the server busy for too long."""
MOST_ASKED = 4
"""Questions that a session may have open at once."""
IDLE_SECONDS = 180.0
"""A reader that nobody asked for so long is ended: the table is read again when it is needed."""


@dataclass(frozen=True)
class Bounds:
    """What readers may take.

    Attributes
    ----------
    memory, memory_per_byte
        Bytes of memory, and how many more for each byte of the file.
    seconds, bytes_per_second
        Of a question, and how many bytes of the file give one more.
    at_work, at_work_of_one
        Readers at work at once, and those of one person.
    alive
        Readers that are there at once, at work or not.
    patience
        Seconds to wait for a turn.
    """

    memory: int = 1 << 30
    memory_per_byte: int = 16
    seconds: float = 120.0
    bytes_per_second: int = 1 << 20
    at_work: int = 4
    at_work_of_one: int = 2
    alive: int = 8
    patience: float = 300.0

    def memory_for(self, place: str | None) -> int:
        """Return the bytes that a reader of a place may take: never more than three quarters of the machine's."""
        asked = 4 << 30 if place is not None and is_server(place) else self.memory + self.memory_per_byte * _size(place)
        return min(asked, machine_memory() // 4 * 3)

    def seconds_for(self, place: str | None) -> float:
        """Return how long a question about a place may take."""
        return self.seconds + (600 if place is not None and is_server(place) else _size(place) / self.bytes_per_second)


class Readers:
    """All readers of a studio."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        self.turns = Turns(self.bounds.at_work, self.bounds.at_work_of_one, self.bounds.patience)
        self._alive: list[TableReader] = []
        self._lock = threading.Lock()
        self._nursery = Nursery() if Nursery.possible() else None

    def prepare(self) -> None:
        """Get ready to start readers quickly."""
        if self._nursery is not None:
            with contextlib.suppress(OSError):
                self._nursery.prepare()

    def start(self, memory: int, reaches: bool, scratch: Path) -> Talker:
        """Start the process of a reader, which may have to reach a database."""
        variables = {"TMPDIR": str(scratch)}
        if self._nursery is not None:
            given = children.environment(os.environ, reaches)
            with contextlib.suppress(OSError):
                return self._nursery.bear(memory, {**given, **variables})
        return children.start("hedgerow.studio.reading", str(memory), databases=reaches, input=True, more=variables)

    def close(self) -> None:
        """End them all."""
        if self._nursery is not None:
            self._nursery.close()

    def begin(self, reader: TableReader) -> None:
        """Note that a reader is started; one that is longest unused makes room for it."""
        with self._lock:
            self._alive = [other for other in self._alive if other.alive and other is not reader] + [reader]
            idle = sorted((one for one in self._alive if not one.busy and one is not reader), key=lambda one: one.used)
            for oldest in idle[: max(0, len(self._alive) - self.bounds.alive)]:
                oldest.rest()

    def sweep(self) -> None:
        """End readers that nobody asked for long."""
        with self._lock:
            alive = list(self._alive)
        for reader in alive:
            if time.monotonic() - reader.used > IDLE_SECONDS:
                reader.rest()


class TableReader:
    """Asks questions of a process of its own; see :mod:`hedgerow.studio.reading`.

    Parameters
    ----------
    folder
        Where it may keep things while it works.
    readers
        The others of the studio.
    user
        Whose it is.
    """

    def __init__(self, folder: Path, readers: Readers | None = None, user: str = "owner") -> None:
        self._folder, self._user = folder, user
        self._readers = readers or Readers()
        self._alone = readers is None
        self._process: Talker | None = None
        self._scratch: Path | None = None
        self._place: str | None = None
        self._reaches = False  # a database
        self._lock = threading.Lock()
        self._asked = 0
        self._closed = False
        self.used = time.monotonic()

    @property
    def alive(self) -> bool:
        """Tell whether its process is there."""
        return self._process is not None

    @property
    def busy(self) -> bool:
        """Tell whether it is at work, or somebody waits for it."""
        return self._asked > 0

    def ask(self, question: str, place: str | None = None, **more: Any) -> dict[str, Any]:
        """Ask a question and wait for the answer.

        Parameters
        ----------
        question
            One of those that :mod:`hedgerow.studio.reading` answers.
        place
            The table that it is about.
        more
            What else there is to say, as plain data.

        Raises
        ------
        HedgerowError
            What is wrong, as the reader says; or that it took too much, or ended.
        """
        with self._in_turn():
            try:
                answer = self._answer({"question": question, "place": place, **more}, place)
            except BaseException:
                self._end()
                raise
            if "problems" in answer:
                if question == "examine" or answer.get("spent"):  # there is nothing here that is worth keeping
                    self._end()
                raise _error(answer)
            found: dict[str, Any] = answer["answer"]
            return found

    def rest(self) -> None:
        """End the process, unless it is at work."""
        if self._lock.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._lock.release()

    def close(self) -> None:
        """End the process now, whatever it does, for good."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()  # whoever waits for an answer gets an error, and tidies up
        self._readers.turns.wake()
        if self._lock.acquire(timeout=5):
            try:
                self._end()
            finally:
                self._lock.release()
        if self._alone:
            self._readers.close()

    # -- steps ---------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _in_turn(self) -> Iterator[None]:
        if self._asked >= MOST_ASKED:
            raise HedgerowError(Problem("usage", "Too much is asked at once.", hint="wait for the first answers"))
        self._asked += 1
        try:
            with self._lock, self._readers.turns.taken(self._user, lambda: self._closed):
                if self._closed:
                    raise HedgerowError(Problem("usage", "The session is over.", hint="begin another one"))
                try:
                    yield
                finally:
                    self._end_if_closed()
        finally:
            self._asked -= 1
            self.used = time.monotonic()

    def _end_if_closed(self) -> None:
        if self._closed:  # meanwhile
            self._end()

    def _answer(self, message: Mapping[str, Any], place: str | None) -> dict[str, Any]:
        bounds = self._readers.bounds
        reaches = any(is_server(part) for part in (place, message.get("store")))
        if (place is not None and place != self._place) or reaches > self._reaches:
            place = place or self._place
            self._end()
        process = self._process or self._start(place, reaches)
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        seconds = bounds.seconds_for(place)
        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            with contextlib.suppress(OSError):
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()
            line = process.stdout.readline(MOST_ANSWER + 1)
        finally:
            timer.cancel()
        if late.is_set():
            raise _too_much(f"Reading this takes more than {seconds:,.0f} seconds.")
        if not line:
            raise self._broke_off(bounds.memory_for(place))
        if not line.endswith("\n"):
            raise _too_much("There is more in this than the studio can show.")
        found: dict[str, Any] = json.loads(line)
        return found

    def _start(self, place: str | None, reaches: bool) -> Talker:
        self._scratch = self._folder / f"reading-{secrets.token_hex(6)}"
        self._scratch.mkdir(mode=0o700)
        process = self._readers.start(self._readers.bounds.memory_for(place), reaches, self._scratch)
        self._process, self._place, self._reaches = process, place, reaches
        self._readers.begin(self)
        return process

    def _broke_off(self, memory: int) -> HedgerowError:
        if self._closed:
            return HedgerowError(Problem("usage", "The session is over.", hint="begin another one"))
        message = "Reading this broke off: the file is damaged, or unpacks to more"
        hint = "check that the file is whole; for very large tables use the command line"
        return DataError(Problem("unreadable-file", f"{message} than {memory >> 20:,} MB of memory.", hint=hint))

    def _end(self) -> None:
        process = self._process
        self._process, self._place, self._reaches = None, None, False
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    assert pipe is not None
                    pipe.close()
            process.wait()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = None


def _size(place: str | None) -> int:
    if place is None or is_server(place):
        return 0
    try:
        return Path(place).stat().st_size
    except OSError:
        return 0


def _too_much(message: str) -> DataError:
    return DataError(Problem("too-much", message, hint="give a smaller table, or use the command line"))


def _error(answer: Mapping[str, Any]) -> HedgerowError:
    kind = getattr(errors, str(answer.get("kind")), DataError)
    if not (isinstance(kind, type) and issubclass(kind, HedgerowError)):
        kind = DataError
    found: HedgerowError = kind([Problem(**problem) for problem in answer["problems"]])
    return found
