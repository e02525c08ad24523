"""The command line in a process of its own that is forked, not started: everything is loaded already.

Starting Python and loading libraries takes a second, and hundreds of commands are run. What a command does, prints and
ends with is its own; only how a process starts is not seen here. ``tests/unit/cli/test_module.py`` and
``tests/robustness/test_working_folder.py`` start the program itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.processes.forks import FEW_THREADS, SharedReaders, nursery_of

PATIENCE = 120.0
PLAN = {
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}},
        "sex": "quasi-identifier",
        "ill": "sensitive",
    },
    "privacy": {"k": 3},
}


@dataclass(frozen=True)
class Order:
    """A command, where it runs, what is in its environment besides, and where its words go."""

    words: list[str]
    folder: str
    environment: dict[str, str]
    said: str
    timeout: float


def nursery() -> None:
    """Load everything, then fork processes as standard input orders, and say what became of them."""
    import pyarrow as pa

    import hedgerow as hr
    from hedgerow.cli.app import app  # noqa: F401 - for those that are forked

    ages = pa.table({"age": [*range(20, 40)], "sex": [*"fm" * 10], "ill": [*"abcd" * 5]})
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        hr.anonymize(ages, hr.Plan.from_dict(PLAN), Path(folder) / "release", threads=1)
        hr.verify(Path(folder) / "release", ages)
        hr.anonymize(ages, hr.Plan.from_dict(PLAN | {"method": "lattice"}), threads=1)
    readers = SharedReaders()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(live(Order(**json.loads(line)), readers)), flush=True)


def live(order: Order, readers: SharedReaders) -> int | None:
    """Fork a process that is the command; returns its exit code, or None if it hung and was killed."""
    child = os.fork()
    if child == 0:
        try:
            readers.use()
            act(order)
        finally:
            os._exit(99)
    end = time.monotonic() + order.timeout
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def act(order: Order) -> None:
    """Be the command, with a pipe that nobody writes to as standard input."""
    from hedgerow.cli.run import run

    reading, writing = os.pipe()
    os.dup2(reading, 0)
    os.close(writing)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(Path(order.said) / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
    sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb", closefd=False), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        os.fdopen(2, "wb", 0, closefd=False), encoding="utf-8", errors="backslashreplace", write_through=True
    )
    os.chdir(order.folder)
    os.environ.clear()
    os.environ |= order.environment
    tempfile.tempdir = None
    code: Any = 98
    try:
        run(order.words)
    except SystemExit as ending:
        code = ending.code
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


class CommandLine:
    """Runs commands as ``subprocess.run`` would."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._forks: subprocess.Popen[str] | None = None

    def __call__(
        self, *words: object, cwd: Path | None = None, timeout: float = PATIENCE, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        given = [str(word) for word in words]
        everything = {**os.environ, **environment}
        if any(name.startswith(("PYTHON", "HEDGEROW_")) for name in environment):  # which only a start sees
            command = [sys.executable, "-c", "from hedgerow.cli import main; main()", *given]
            return subprocess.run(
                command, capture_output=True, text=True, cwd=cwd, env=everything, check=False, timeout=timeout
            )
        with tempfile.TemporaryDirectory(prefix="hedgerow-said-") as said:
            code = self._order(Order(given, str(cwd or Path.cwd()), everything | FEW_THREADS, said, timeout))
            if code is None:
                raise subprocess.TimeoutExpired(given, timeout)
            out, error = ((Path(said) / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(given, code, out, error)

    def _order(self, order: Order) -> int | None:
        if self._forks is None:
            self._forks = self._open.enter_context(nursery_of("tests.processes.commands", PATIENCE))
        assert self._forks.stdin is not None
        assert self._forks.stdout is not None
        self._forks.stdin.write(json.dumps(asdict(order)) + "\n")
        self._forks.stdin.flush()
        line = self._forks.stdout.readline()
        assert line, "the nursery has ended"
        code: int | None = json.loads(line)
        return code

    def close(self) -> None:
        """End the process that forks."""
        self._open.close()
