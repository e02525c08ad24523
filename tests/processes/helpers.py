"""Helpers of a search, forked from the tests' own process: Python need not be started for each."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import IO
from unittest import mock

from hedgerow.anonymization.lattice import crew, helper
from hedgerow.outside import children


class Forked:
    """What the search needs of a child."""

    def __init__(self, handle: int) -> None:
        (theirs, ours), (heard, said) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(ours)
            os.dup2(theirs, 0)
            os.dup2(said, 1)
            sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
            try:
                helper.main(os.dup(handle))
            finally:
                os._exit(0)
        os.close(theirs)
        os.close(said)
        self.stdin: IO[str] = os.fdopen(ours, "w")
        self.stdout: IO[str] = os.fdopen(heard)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        return os.waitpid(self.pid, 0)[1]


def _start(module: str, *words: str, input: bool, handles: Sequence[int]) -> Forked:
    assert module == crew.HELPER
    assert input
    assert [int(words[0])] == list(handles)
    return Forked(int(words[0]))


@contextlib.contextmanager
def forked_helpers() -> Iterator[None]:
    """Have helpers forked."""
    with mock.patch.object(children, "start", _start):
        yield
