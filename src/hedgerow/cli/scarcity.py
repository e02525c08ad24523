"""Commands where addresses are scarce (``ulimit -v``): a library that gets none ends the process, whoever waits for it.

Such a limit counts what a process maps, not what it uses, and libraries map gigabytes that they never touch. So the
command runs in a process of its own there, and this one is left to say what became of it.
"""

from __future__ import annotations

import os
import sys

from hedgerow import children
from hedgerow.errors import DoneBut, Problem
from hedgerow.memory import address_space

LEAST = 400 << 20
"""Bytes of addresses without which no library can be loaded."""
FAILED = 2
SPOKEN = frozenset({FAILED, DoneBut.exit_code, 130})
"""Codes that nobody but a command of ours ends with."""
HINT = "raise the limit (ulimit -v unlimited); to bound memory itself, use a container or systemd-run -p MemoryMax=8G"


def run() -> None:
    """Run the command line and exit, whatever the limit."""
    room = address_space()
    if room is None or not hasattr(os, "fork"):
        from hedgerow.cli.run import run as run_here

        run_here()
    elif room < LEAST:
        message = f"Programs started here may map {room >> 20:,} MiB; libraries need {LEAST >> 20} at least."
        _say(Problem("no-memory", message, hint=HINT))
        sys.exit(FAILED)
    else:
        sys.exit(_watched(room))


def _watched(room: int) -> int:
    said, code = children.watch(_work)
    done = [line.decode() for line in said.split(b"\n")[:-1]]
    if done and done[-1].startswith("="):
        return int(done[-1][1:])
    if code in SPOKEN:
        return code
    why = f"a library ended the program, most likely because it may map only {room >> 20:,} MiB"
    if done:
        problem = Problem("done-but", f"Done: {'; '.join(done)}. But {why}.", hint=HINT)
    else:
        problem = Problem("no-memory", f"Nothing was written: {why}.", hint=HINT)
    _say(problem)
    return DoneBut.exit_code if done else FAILED


def _work(say: children.Say) -> int:
    from hedgerow.cli.run import run as run_here
    from hedgerow.outputs.moment import tell_also

    tell_also(lambda what: say(f"{what}\n".encode()))
    try:
        run_here()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    say(f"={code}\n".encode())
    return code


def _say(problem: Problem) -> None:
    from hedgerow.cli.printing import say_error

    say_error(f"hedgerow: {problem}")
