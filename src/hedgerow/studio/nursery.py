"""Where readers come from: a process that has everything loaded, and forks a reader in a moment when one is asked for.

Starting Python and loading what reads tables takes a second or more of a processor; many who bring tables at once would
keep the machine busy with nothing else. The nursery itself never reads anything that people brought.

It is there on Linux. Elsewhere forking is not safe, or not known, and every reader is started by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping
from typing import IO, Any, NoReturn, Protocol

from hedgerow.outside import children

LONGEST_ORDER = 1 << 16
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
LOOK_SECONDS = 1.0


class Talker(Protocol):
    """A process that is asked and answers, line by line."""

    @property
    def stdin(self) -> IO[str] | None:
        """What it reads."""

    @property
    def stdout(self) -> IO[str] | None:
        """What it says; ends when it does."""

    def kill(self) -> None:
        """End it."""

    def wait(self) -> object:
        """Wait until it is gone."""


class Nursling:
    """A reader that came from the nursery."""

    def __init__(self, nursery: Nursery, number: int, to: int, of: int) -> None:
        self._nursery, self._number = nursery, number
        self.stdin: IO[str] | None = os.fdopen(to, "w", encoding="utf-8")
        self.stdout: IO[str] | None = os.fdopen(of, "r", encoding="utf-8")

    def kill(self) -> None:
        """End it."""
        self._nursery.end(self._number)

    def wait(self) -> None:
        """Nothing to wait for: the nursery takes care of it."""


class Nursery:
    """The nursery, as the server sees it: started when it is first needed, and again if it should end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: children.Child | None = None
        self._control: socket.socket | None = None

    @staticmethod
    def possible() -> bool:
        """Tell whether there can be one."""
        return sys.platform == "linux"

    def prepare(self) -> None:
        """Start it ahead of time."""
        with self._lock:
            self._started()

    def bear(self, memory: int, variables: Mapping[str, str]) -> Talker:
        """Return a new reader.

        Parameters
        ----------
        memory
            Bytes of memory that it may take.
        variables
            What its environment has besides that of all children.

        Raises
        ------
        OSError
            If there is no nursery to be had.
        """
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        try:
            with self._lock:
                number = self._order({"memory": memory, "variables": dict(variables)}, theirs_in, theirs_out)
        except BaseException:
            os.close(ours_out)
            os.close(ours_in)
            raise
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        return Nursling(self, number, ours_out, ours_in)

    def end(self, number: int) -> None:
        """End a reader, if it is still there."""
        with self._lock, contextlib.suppress(OSError):
            if self._control is not None:
                self._control.send(json.dumps({"end": number}).encode())

    def close(self) -> None:
        """End it, and all that came from it."""
        with self._lock:
            self._stop()

    def _order(self, order: Mapping[str, Any], *handles: int) -> int:
        for attempt in (1, 2):
            control = self._started()
            try:
                socket.send_fds(control, [json.dumps(order).encode()], handles)
                answer = control.recv(LONGEST_ORDER)
                if answer:
                    return int(answer)
                raise OSError("the nursery has ended")
            except OSError:
                self._stop()
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")

    def _started(self) -> socket.socket:
        if self._control is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                handle = theirs.fileno()
                self._process = children.start("hedgerow.studio.nursery", str(handle), handles=(handle,))
            self._control = ours
        return self._control

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process.wait()
            self._process = None


# -- in the nursery ----------------------------------------------------------------------------------------------------


def main() -> None:
    """Fork readers until the server goes."""
    control = socket.socket(fileno=int(sys.argv[1]))
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # nobody reads what a library might print
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the studio, which ends this process then
    _load()
    library = ctypes.CDLL(None)
    gc.collect()
    gc.freeze()  # or every reader would copy what it shares with the others
    control.settimeout(LOOK_SECONDS)
    alive: set[int] = set()
    while True:
        _reap(alive)
        try:
            order, handles, _, _ = socket.recv_fds(control, LONGEST_ORDER, 2)
        except TimeoutError:
            continue
        if not order:
            break
        asked = json.loads(order)
        if "end" in asked:
            _kill(asked["end"], alive)
            continue
        child = os.fork()
        if child == 0:
            control.close()
            library.prctl(DIE_WITH_PARENT, signal.SIGKILL)
            _be_reader(asked, *handles)
        for handle in handles:
            os.close(handle)
        alive.add(child)
        control.send(str(child).encode())
    for child in list(alive):
        _kill(child, alive)


def _load() -> None:
    """Load all that a reader needs; it starts no threads, which would not be there after a fork."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.parquet
    import yaml  # noqa: F401

    from hedgerow.anonymization.preparing import is_compiled

    pyarrow.array([0])  # with the first array Arrow looks for pandas: once for all readers
    with contextlib.suppress(Exception):  # a reader says what is wrong, if it needs a kernel
        is_compiled("width_runs.cut_cells")  # loads it, if so: the one kernel that limits need


def _reap(alive: set[int]) -> None:
    for child in list(alive):
        if os.waitpid(child, os.WNOHANG)[0]:
            alive.discard(child)


def _kill(child: int, alive: set[int]) -> None:
    if child in alive:  # not taken away yet, so its number is still its own
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        alive.discard(child)


def _be_reader(asked: Mapping[str, Any], to: int, of: int) -> NoReturn:
    from hedgerow.studio.reading import answer_all

    code = 1
    try:
        os.environ.update(asked["variables"])
        tempfile.tempdir = None
        with os.fdopen(to, "r", encoding="utf-8") as questions, os.fdopen(of, "w", encoding="utf-8") as answers:
            answer_all(questions, answers, int(asked["memory"]))
        code = 0
    finally:
        os._exit(code)  # what the nursery had open is not this process's to tidy up


if __name__ == "__main__":
    main()
