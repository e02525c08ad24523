"""What a child sends back, read as it comes."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from hedgerow import errors
from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.outside.sandbox.bounds import check_batch
from hedgerow.outside.sandbox.limits import ROOM, Limits
from hedgerow.outside.sandbox.task import TaskResult

if TYPE_CHECKING:
    import pyarrow as pa

LENGTH = 8
CHUNK = 1 << 20
FINE = 0


class Answer:
    """The answer of a child; to be used in a ``with`` statement, and ended with it.

    Attributes
    ----------
    facts
        The plain data that the task found.
    """

    facts: Mapping[str, Any]

    def __init__(self, place: str, limits: Limits, talk: socket.socket, pipe: int) -> None:
        self._place, self._limits = place, limits
        self._talk, self._pipe = talk, pipe
        self._taken = 0
        self.closed = False
        self._reader: Any = None

    def begin(self) -> Self:
        """Wait for the facts."""
        size = int.from_bytes(self._exactly(LENGTH), "little")
        self.facts = json.loads(self._exactly(size))
        return self

    @property
    def schema(self) -> pa.Schema:
        """The columns of the table that the task found."""
        return self._stream().schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows, once, as they come."""
        stream = self._stream()
        while True:
            batch = self._next(stream)
            if batch is None:
                break
            yield batch
        self._check_end()

    def table(self) -> pa.Table:
        """Return all rows as one table."""
        import pyarrow as pa

        return pa.Table.from_batches(list(self.batches()), self.schema)

    def close(self) -> None:
        """End the child, if it is still at work."""
        if not self.closed:
            self.closed = True
            self._talk.close()
            os.close(self._pipe)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- reading -----------------------------------------------------------------------------------------------------

    def _stream(self) -> Any:
        import pyarrow as pa

        if self._reader is None:
            try:
                self._reader = pa.ipc.open_stream(
                    pa.PythonFile(_Pipe(self), mode="r"), options=pa.ipc.IpcReadOptions(use_threads=False)
                )
            except (pa.ArrowException, OSError, EOFError):
                self._say_why()
        return self._reader

    def _next(self, stream: Any) -> pa.RecordBatch | None:
        import pyarrow as pa

        try:
            return stream.read_next_batch()
        except StopIteration:
            return None
        except (pa.ArrowException, OSError, EOFError):
            self._say_why()

    def read(self, size: int) -> bytes:
        """Read some bytes; fewer only where the answer ends."""
        parts: list[bytes] = []
        while size > 0:
            self._wait(self._pipe)
            part = os.read(self._pipe, min(size, CHUNK))
            if not part:
                break
            self._taken += len(part)
            if self._taken > self._limits.output + CHUNK:
                raise self._too_much()
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _exactly(self, size: int) -> bytes:
        found = self.read(size)
        if len(found) < size:
            self._say_why()
        return found

    def _wait(self, handle: int) -> None:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(self._limits.patience * 1000):
            raise self._too_long()

    # -- how it ended ------------------------------------------------------------------------------------------------

    def _check_end(self) -> None:
        if self._words().get("ended") != FINE:
            self._say_why()

    def _words(self) -> dict[str, Any]:
        """Return all that was said of how the child ended."""
        if not hasattr(self, "_said"):
            text, until = b"", time.monotonic() + self._limits.patience
            while b'"ended"' not in text or not text.endswith(b"\n"):
                self._wait(self._talk.fileno())
                try:
                    part = self._talk.recv(CHUNK)
                except ConnectionResetError:  # the template itself has ended
                    part = b""
                if not part or time.monotonic() > until:
                    break
                text += part
            self._said: dict[str, Any] = {}
            for line in text.splitlines():
                self._said |= json.loads(line)
        return self._said

    def _say_why(self) -> NoReturn:
        said = self._words()
        if "problems" in said:
            kind = getattr(errors, said["kind"], DataError)
            kind = kind if isinstance(kind, type) and issubclass(kind, HedgerowError) else DataError
            raise kind([Problem(**problem) for problem in said["problems"]])
        failed, ended = said.get("failed"), said.get("ended", 0)
        if failed in ("memory", "output"):
            raise self._too_much()
        if ended == -signal.SIGXCPU:
            raise self._too_long()
        if ended == -signal.SIGKILL:
            message = "The process that read the file was ended from outside; the machine may be short of memory."
            raise DataError(Problem("too-much", message, self._place, "try again when there is more memory"))
        what = f" ({said['what']})" if failed == "error" else ""
        message = f"The file is damaged: reading it failed{what}."
        raise DataError(
            Problem("unreadable-file", message, self._place, "check that the file is whole, or write it anew")
        )

    def _too_much(self) -> DataError:
        message = (
            f"The file takes more than {self._limits.memory >> 20:,} MiB of memory to read, too much for its size."
        )
        return DataError(Problem("too-much", message, self._place, _more()))

    def _too_long(self) -> DataError:
        message = f"The file takes more than {self._limits.seconds:,} seconds to read, too long for its size."
        return DataError(Problem("too-much", message, self._place, _more()))


def _more() -> str:
    return f"if you trust the file, allow ten times as much: set {ROOM}=10 in the environment"


class Here(Answer):
    """The answer of a task that was run in this process, where there is no forking."""

    def __init__(self, found: TaskResult, place: str) -> None:
        self.facts = found.facts
        self._found, self._place = found, place

    @property
    def schema(self) -> pa.Schema:
        """The columns of the table that the task found."""
        return self._found.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows, once."""
        for batch in self._found.batches:
            check_batch(batch, self._place)
            yield batch

    def close(self) -> None:
        """Let go of it."""


class _Pipe:
    """The answer as a file that Arrow reads."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        return self._answer.read(size)

    def close(self) -> None:
        self.closed = True
