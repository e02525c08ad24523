"""Jobs: tasks that run in processes of their own, with progress, and can be cancelled."""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from hedgerow.errors import Problem
from hedgerow.outside import children
from hedgerow.outside.memory import machine_memory
from hedgerow.outside.server import is_server

State = Literal["running", "done", "cancelled", "failed"]
GRACE_SECONDS = 5.0
"""How long a cancelled job may clean up before it is killed."""
MOST_TOLD = 128 << 20
"""Characters of what a job tells at once."""


def most_memory() -> int:
    """Return the bytes of memory that a job may take: three quarters of what the machine has."""
    return machine_memory() // 4 * 3


class Job:
    """A task at work, see :mod:`hedgerow.studio.worker`.

    Attributes
    ----------
    state
        ``running``, then one of the others for good.
    doing, done, total
        How far it is; a total of 0 is not known.
    result, problems
        What came of it.

    Parameters
    ----------
    task
        What is to be done.
    ended
        Called when it is over.
    folder
        Where it may keep things while it works.
    """

    def __init__(
        self, task: Mapping[str, Any], ended: Callable[[Job], None] | None = None, folder: Path | None = None
    ) -> None:
        self.state: State = "running"
        self.doing, self.done, self.total = "starting", 0, 0
        self.result: dict[str, Any] = {}
        self.problems: tuple[Problem, ...] = ()
        self._happened: tuple[str, ...] = ()
        self._began, self._seconds = time.monotonic(), 0.0
        self._cancelled = False
        self._ended = ended
        self._scratch = None if folder is None else folder / f"job-{secrets.token_hex(6)}"
        more = {}
        if self._scratch is not None:  # what it leaves there when it is killed goes with it
            self._scratch.mkdir(mode=0o700)
            more = {"TMPDIR": str(self._scratch)}
        databases = any(is_server(task.get(part)) for part in ("data", "store"))
        self._process = children.start(
            "hedgerow.studio.worker", str(most_memory()), databases=databases, input=True, more=more
        )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(task) + "\n")  # not an argument: an address may hold a password
            self._process.stdin.flush()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        """Tell whether it is still at work."""
        return self.state == "running"

    @property
    def seconds(self) -> float:
        """How long it has run, or ran."""
        return time.monotonic() - self._began if self.running else self._seconds

    def cancel(self) -> None:
        """End it; nothing that it began to write stays."""
        if not self.running:
            return
        self._cancelled = True
        self._process.terminate()
        threading.Thread(target=self._kill_if_need_be, daemon=True).start()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for its end."""
        self._thread.join(seconds)

    def _kill_if_need_be(self) -> None:
        try:
            self._process.wait(GRACE_SECONDS)
        except children.TimeoutExpired:
            self._process.kill()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdin is not None
        finished = False
        while line := self._process.stdout.readline(MOST_TOLD):
            if not line.endswith("\n"):  # it was killed while it wrote, or tells more than can be shown
                self._process.kill()
                break
            told = json.loads(line)
            if "doing" in told:
                self.doing, self.done, self.total = told["doing"], told["done"], told["total"]
            elif "happened" in told:
                self._happened = (*self._happened, told["happened"])
            elif "result" in told:
                self.result, finished = told["result"], True
            else:
                self.problems = tuple(Problem(**problem) for problem in told["problems"])
        self._process.wait()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
        self._seconds = time.monotonic() - self._began
        self.state = self._outcome(finished)
        if self._ended is not None:
            self._ended(self)

    def _outcome(self, finished: bool) -> State:
        if finished:
            return "done"
        if self._happened:
            message = f"Done: {'; '.join(self._happened)}. But the run ended before it could say so."
            self.problems = self.problems or (Problem("done-but", message, hint="look at what is there"),)
            return "failed"
        if self._cancelled:
            self.problems = ()
            return "cancelled"
        if not self.problems:
            message = "The run ended before it was done; perhaps there was not enough memory."
            self.problems = (Problem("internal", message, hint="try fewer columns, or the command line"),)
        return "failed"
