"""How long a search may go on, from the command line: a budget, and Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

from hedgerow.anonymization.lattice import Patience
from hedgerow.outside.outputs.moment import interrupt


def patience_of(budget: str | None) -> Patience:
    """Read a budget: ``60s`` is a time, ``5000`` a number of checks."""
    if budget is None:
        return Patience()
    text = budget.strip()
    try:
        if text.endswith("s"):
            seconds = float(text[:-1])
            if seconds > 0:
                return Patience(seconds=seconds)
        elif int(text) > 0:
            return Patience(checks=int(text))
    except ValueError:
        pass
    raise typer.BadParameter("must be a time such as 60s, or a number of checks such as 5000", param_hint="--budget")


@contextmanager
def stoppable(patience: Patience) -> Iterator[Patience]:
    """Let the first Ctrl-C end a search that has an answer, and any other end the command."""

    def stop(number: int, frame: FrameType | None) -> None:
        if not patience.may_stop or patience.stopped:
            interrupt()
            return
        patience.stop()
        print("hedgerow: ending the search with the best found so far; again to abort", file=sys.stderr)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield patience
    finally:
        signal.signal(signal.SIGINT, before)
