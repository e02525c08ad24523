"""The process that children are forked from: it has loaded what readers need, and never sees a stranger's byte.

A new interpreter with Arrow takes a quarter of a second to start, a fork a hundredth. The process that asks may have
threads, and cannot be forked safely; this one has none of its own. It ends when the one that asks does.

For every task it gets descriptors over its socket: one to talk on, one for the answer, and the files. It forks a
child, watches it, and says how it ended. When the asker hangs up, it ends the child.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any

from hedgerow.errors import HedgerowError, kind_and_place
from hedgerow.outside import children
from hedgerow.outside.sandbox.bounds import check_batch
from hedgerow.outside.sandbox.sparing import NoPandas
from hedgerow.outside.sandbox.task import MOST_FILES, ORDER, TaskResult

LENGTH = struct.Struct("<Q")
DIE_WITH_PARENT = 1


def main(handle: int) -> None:
    """Serve until the other side hangs up."""
    control = socket.socket(fileno=handle)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    sys.meta_path.insert(0, NoPandas())  # every child would load it
    for name in ("pyarrow", "pyarrow.csv", "pyarrow.parquet", "pyarrow.compute"):
        importlib.import_module(name)
    _warm_up()
    gc.freeze()
    talking: dict[int, int] = {}  # descriptor to talk on, by child
    while True:
        poll = select.poll()
        poll.register(control.fileno(), select.POLLIN)
        poll.register(woken, select.POLLIN)
        for talk in talking.values():
            poll.register(talk, 0)  # tells only that the other side hung up
        ready = {number for number, _ in poll.poll()}
        if woken in ready:
            os.read(woken, 1 << 12)
        _reap(talking)
        for child, talk in list(talking.items()):
            if talk in ready:
                _kill(child)
                os.close(talking.pop(child))
        if control.fileno() in ready:
            order, handles, _, _ = socket.recv_fds(control, ORDER.size, MOST_FILES + 2)
            if len(order) < ORDER.size or len(handles) < 2:
                for child in talking:
                    _kill(child)
                return
            _begin(control, order, handles, talking)


def _warm_up() -> None:
    """Let Arrow make, once for all children, what it makes at first use: its functions, its tables of characters."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pc.utf8_trim_whitespace(pa.array([" "])).dictionary_encode().validate(full=True)


def _begin(control: socket.socket, order: bytes, handles: list[int], talking: dict[int, int]) -> None:
    talk, answer, *files = handles
    name, memory, seconds, output = ORDER.unpack(order)
    task = name.rstrip(b"\0").decode()
    importlib.import_module(task.partition(":")[0])  # once, for all children to come
    child = os.fork()
    if child == 0:
        control.close()
        for other in talking.values():
            os.close(other)
        _work(task, talk, answer, files, memory, seconds, output)
    for number in (answer, *files):
        os.close(number)
    talking[child] = talk


def _reap(talking: dict[int, int]) -> None:
    while True:
        try:
            child, status, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        talk = talking.pop(child, None)
        if talk is not None:
            ended = {"ended": os.waitstatus_to_exitcode(status), "peak": used.ru_maxrss}
            _tell(talk, ended)
            os.close(talk)


def _kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


def _tell(talk: int, word: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):  # whoever asked is gone
        os.write(talk, json.dumps(word).encode() + b"\n")


# -- in the child ----------------------------------------------------------------------------------------------------


def _work(
    task: str, talk: int, answer: int, files: Sequence[int], memory: int, seconds: int, output: int
) -> None:  # never returns
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        confine(memory, seconds)
        size = LENGTH.unpack(_exactly(talk, LENGTH.size))[0]
        request = json.loads(_exactly(talk, size))
        module, _, name = task.partition(":")
        function = getattr(importlib.import_module(module), name)
        with os.fdopen(answer, "wb", buffering=0) as sink:
            found = function(request, [f"/dev/fd/{number}" for number in files])
            _send(found, str(request.get("place", "data")), sink, output)
        code = 0
    except HedgerowError as error:
        _tell(talk, {"kind": type(error).__name__, "problems": [problem.to_dict() for problem in error.problems]})
    except MemoryError:  # Arrow's own is one, too
        _tell(talk, {"failed": "memory"})
    except TooMuchOutput:
        _tell(talk, {"failed": "output"})
    except BaseException as error:  # its text may hold cells
        _tell(talk, {"failed": "error", "what": kind_and_place(error)})
    finally:
        os._exit(code)  # nothing is tidied up: a thread of a library may still be at work


def confine(memory: int, seconds: int) -> None:
    """Bound what this process may take from now on."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    children.confine(memory)
    children.lower(resource.RLIMIT_CPU, seconds, seconds + 1)  # the first ends it with a signal that tells why
    children.lower(resource.RLIMIT_FSIZE, 0)


class TooMuchOutput(Exception):
    """The answer is longer than it may be."""


class _Counted:
    """A file to write to, up to so many bytes."""

    def __init__(self, sink: IO[bytes], most: int) -> None:
        self._sink, self._left = sink, most
        self.closed = False

    def write(self, data: Any) -> int:
        rest = memoryview(data)
        self._left -= len(rest)
        if self._left < 0:
            raise TooMuchOutput
        while rest:
            rest = rest[self._sink.write(rest) :]
        return len(memoryview(data))

    def flush(self) -> None:
        pass


def _send(found: TaskResult, place: str, raw: IO[bytes], output: int) -> None:
    import pyarrow as pa

    sink = _Counted(raw, output)
    facts = json.dumps(found.facts).encode()
    sink.write(LENGTH.pack(len(facts)) + facts)
    if found.schema is None:
        return
    with pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), found.schema) as stream:
        for batch in checked(found, place):
            stream.write_batch(batch)


def checked(found: TaskResult, place: str) -> Iterator[Any]:
    """Give the rows that a task found, each batch checked."""
    for batch in found.batches:
        check_batch(batch, place)
        yield batch


def _exactly(handle: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(handle, min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
