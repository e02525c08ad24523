"""The command line in the process of the tests: what it printed, and its exit code."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from hedgerow.cli.run import run

WIDE = {"COLUMNS": "160"}


class Done(NamedTuple):
    """What a command came to; with the names that ``subprocess`` has for it."""

    returncode: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


@contextlib.contextmanager
def _signals_restored() -> Iterator[None]:
    before = {sign: signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def commands(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return what runs the command line, in a folder, without the second that a process takes to start."""

    def call(*words: str | Path, cwd: Path | None = None, **environment: str) -> Done:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        for name, value in (WIDE | environment).items():
            monkeypatch.setenv(name, value)
        with _signals_restored(), pytest.raises(SystemExit) as left:
            run([str(word) for word in words])
        return Done(int(left.value.code or 0), *capsys.readouterr())

    return call
