"""Runs of commands in which the so-many-th call that touches a file fails, or is met by a signal.

Starting Python and loading kernels takes seconds, so one process that has everything at hand (the nursery) forks those
that are to fail. A small library in C (``faults.c``, loaded before the C library's own) counts the calls below the
folder of a case; which of them fails, and how, is set in the process that was forked.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import mmap
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.processes.forks import FEW_THREADS, ROOT, SharedReaders

SOURCE = Path(__file__).parent / "faults.c"
PATIENCE = 30.0  # seconds until a process counts as stuck
NOTHING, FAIL, SHORT, BEFORE, AFTER = range(5)
READS, NO_EXCHANGE, OWN_READER = 1, 2, 4


@dataclass(frozen=True)
class Order:
    """A command to run, and what is to happen to it.

    Attributes
    ----------
    words
        The command; if the first is ``@save`` or ``@check``, a function of :mod:`tests.robustness.deeds`.
    folder
        The folder of the case: the command runs in ``work``, and has ``tmp`` for temporary files.
    number
        The call that is met; none by default.
    how
        Whether it fails, is cut short, or is met by a signal before or after it.
    what
        The error or the signal.
    flags
        Whether reading counts too, whether the system can exchange two folders, and whether the command starts the
        process that its readers are forked from itself, which takes most of its time.
    """

    words: tuple[str, ...]
    folder: str
    number: int = 0
    how: int = NOTHING
    what: int = 0
    flags: int = 0


@dataclass(frozen=True)
class Outcome:
    """What became of a run."""

    code: int  # of the signal that ended it, negative
    calls: int
    hit: str
    out: str = field(repr=False)
    errors: str = field(repr=False)
    stuck: bool = False


# ---- the side that orders --------------------------------------------------------------------------------------------


def has_compiler() -> bool:
    """Whether there is a C compiler, without which no fault can be injected."""
    return shutil.which("cc") is not None


@functools.cache
def library() -> Path:
    """Compile the library, once for each version of its source."""
    made = Path(tempfile.gettempdir()) / f"hedgerow-faults-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]}.so"
    if not made.exists():
        new = made.with_suffix(f".{os.getpid()}")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", new, SOURCE, "-ldl"], check=True)
        new.replace(made)
    return made


class Nursery:
    """The process that forks. It ends when we do, or when it is closed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", "from tests.robustness.nursery import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **FEW_THREADS, "PYTHONPATH": str(ROOT), "LD_PRELOAD": str(library())},
        )
        assert self._line() == "ready\n"

    def __call__(self, order: Order) -> Outcome:
        """Have a command run."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(order)) + "\n")
        self._process.stdin.flush()
        line = self._line()
        assert line, "the nursery has ended"
        return Outcome(**json.loads(line))

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@functools.cache
def nursery() -> Nursery:
    """Return the nursery of this process."""
    return Nursery()


# ---- the nursery -----------------------------------------------------------------------------------------------------


def serve() -> None:
    """Fork processes as standard input orders, and say what became of them."""
    from tests.robustness import deeds

    shim = ctypes.CDLL(os.environ.pop("LD_PRELOAD"))
    page = mmap.mmap(-1, 4096)
    shim.faults_share(ctypes.byref(ctypes.c_char.from_buffer(page)))
    shim.faults_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_int]
    answers = os.fdopen(os.dup(1), "w")
    with tempfile.TemporaryDirectory() as folder:
        deeds.warm_up(Path(folder))
    readers = SharedReaders()
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        said = json.loads(line)
        order = Order(**{**said, "words": tuple(said["words"])})
        answers.write(json.dumps(asdict(_fork(order, shim, page, readers))) + "\n")
        answers.flush()


def _fork(order: Order, shim: Any, page: mmap.mmap, readers: SharedReaders) -> Outcome:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            if not order.flags & OWN_READER:
                readers.use()
            _live(order, shim, out.fileno(), errors.fileno())
        end, status, stuck = time.monotonic() + PATIENCE, 0, False
        while not (found := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > end:
                stuck = True
                os.kill(child, signal.SIGKILL)
                found = os.waitpid(child, 0)
                break
            time.sleep(0.002)
        status = found[1]
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    hit = page[8:72].split(b"\0")[0].decode()
    return Outcome(os.waitstatus_to_exitcode(status), int.from_bytes(page[:8], sys.byteorder), hit, *texts, stuck)  # type: ignore[call-arg]


def _live(order: Order, shim: Any, out: int, errors: int) -> None:
    """Run a command as a process of its own would, up to its end."""
    code = 99
    try:
        os.dup2(out, 1)
        os.dup2(errors, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        folder = Path(order.folder)
        os.chdir(folder / "work")
        tempfile.tempdir = str(folder / "tmp")
        os.environ["TMPDIR"] = tempfile.tempdir
        from tests.robustness import deeds

        work = functools.partial(deeds.run, order.words)
        shim.faults_arm(str(folder).encode(), order.number, order.how, order.what, order.flags)
        code = work()
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
            sys.stderr.flush()
    finally:
        os._exit(code)
