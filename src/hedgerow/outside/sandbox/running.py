"""Asking for a task to be run in a child."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow.errors import HedgerowError, Problem
from hedgerow.outside.children import neutral_folder, without_libraries_of_r
from hedgerow.outside.intake import open_regular
from hedgerow.outside.sandbox.answer import Answer, Here
from hedgerow.outside.sandbox.limits import Limits
from hedgerow.outside.sandbox.task import ORDER
from hedgerow.outside.working_folder import module_path

FORKS = hasattr(os, "fork")
"""Whether there are children; Windows has none, and files are parsed in the process itself, without limits."""
PIPE = 1 << 20
START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from hedgerow.outside.sandbox.template import main; main(int(sys.argv[2]))"
)
KEPT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""What children see of the environment: only where programs and libraries lie."""
OURS = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class _Template:
    """The process that children are forked from, started when it is first needed."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew in a forked process: the other one's template is not ours."""
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def order(self, order: bytes, handles: Sequence[int]) -> None:
        """Hand over a task; a template that was ended meanwhile is started again."""
        with self._lock:
            for attempt in (1, 2):
                control = self._started()
                try:
                    socket.send_fds(control, [order], list(handles))
                    return
                except OSError:
                    self._stop()
                    if attempt == 2:
                        raise

    def prepare(self) -> None:
        """Start it ahead of time."""
        with self._lock:
            self._started()

    def _started(self) -> socket.socket:
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        if self._control is None:
            ours, theirs = socket.socketpair()
            given = without_libraries_of_r(os.environ)
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-c", START, json.dumps(module_path()), str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=neutral_folder(),
                    env={**{name: given[name] for name in KEPT if name in given}, **OURS},
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            self._control = ours
        return self._control

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._control = self._process = None


_template = _Template()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_template.forget)


def prepare() -> None:
    """Start what children are forked from, so that the first task need not wait for it."""
    if FORKS:
        _template.prepare()


def stay_here() -> None:
    """Run tasks in this process from now on: it is a child with limits already, which reads for nobody else."""
    global FORKS
    FORKS = False


def _widen(pipe: int) -> None:
    """Let a pipe hold more at once, where that can be asked for."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)


def run(
    task: str,
    request: Mapping[str, Any],
    files: Sequence[str | Path] = (),
    *,
    place: str | None = None,
    limits: Limits | None = None,
    what: str = "The data",
) -> Answer:
    """Run a function of ours in a child process, and return its answer, to be used in a ``with`` statement.

    Any thread may call it, and any number at once.

    Parameters
    ----------
    task
        ``module:function``, a :data:`~hedgerow.outside.sandbox.task.Task` of this package.
    request
        What it is told, as plain data.
    files
        What it may read: regular files. They are opened here; the child gets descriptors.
    place
        How messages name what is read; by default the first file.
    limits
        What it may take; by default by the size of the files.
    what
        What messages call a file that cannot be opened.

    Raises
    ------
    DataError
        ``no-file`` for a file that cannot be opened; ``too-much`` if it takes more than the limits, ``unreadable-file``
        if the child crashed.
    HedgerowError
        Whatever the task raised.
    """
    shown = place or (str(files[0]) if files else "data")
    if not FORKS:
        return _here(task, request, files, shown, what)
    with contextlib.ExitStack() as opened:
        handles = []
        for file in files:
            handles.append(open_regular(file, what))
            opened.callback(os.close, handles[-1])
        limits = limits or Limits.of_size(sum(os.fstat(handle).st_size for handle in handles))
        order = ORDER.pack(task.encode(), limits.memory, limits.seconds, limits.output)
        talk, theirs = socket.socketpair()
        pipe, sink = os.pipe()
        _widen(pipe)
        answer = Answer(shown, limits, talk, pipe)
        opened.callback(os.close, sink)
        opened.callback(theirs.close)
        try:
            _template.order(order, [theirs.fileno(), sink, *handles])
            told = json.dumps(request).encode()
            talk.sendall(len(told).to_bytes(8, "little") + told)
        except OSError:
            answer.close()
            message = "The process that reads files cannot be started, or has ended."
            raise HedgerowError(
                Problem("internal", message, hint="try again; the machine may be short of memory")
            ) from None
        except BaseException:
            answer.close()
            raise
    try:
        return answer.begin()
    except BaseException:
        answer.close()
        raise


def _here(task: str, request: Mapping[str, Any], files: Sequence[str | Path], place: str, what: str) -> Answer:
    for file in files:
        os.close(open_regular(file, what))
    module, _, name = task.partition(":")
    found = getattr(importlib.import_module(module), name)(request, [str(file) for file in files])
    return Here(found, place)
