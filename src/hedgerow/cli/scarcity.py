"""Commands where addresses are scarce (``ulimit -v``): a library that gets none ends the process, whoever waits for it.

Such a limit counts what a process maps, not what it uses, and libraries map gigabytes that they never touch. So the
command runs in a process of its own there, and this one is left to say what became of it.
"""

from __future__ import annotations

import json
import os
import sys

from hedgerow.cli import run as command
from hedgerow.cli.run import DONE_BUT, FAILED, INTERRUPTED
from hedgerow.errors import Problem
from hedgerow.outside import children
from hedgerow.outside.memory import address_space
from hedgerow.outside.outputs.moment import tell_also

LEAST = 400 << 20
"""Bytes of addresses without which no library can be loaded."""
SPOKEN = frozenset({FAILED, DONE_BUT, INTERRUPTED})
"""Codes that nobody but a command of ours ends with."""
HINT = "raise the limit (ulimit -v unlimited); to bound memory itself, use a container or systemd-run -p MemoryMax=8G"


def run() -> None:
    """Run the command line and exit, whatever the limit."""
    room = address_space()
    if room is None or not hasattr(os, "fork"):
        command.run()
    elif room < LEAST:
        message = f"Programs started here may map {room >> 20:,} MiB; libraries need {LEAST >> 20} at least."
        _say(Problem("no-memory", message, hint=HINT))
        sys.exit(FAILED)
    else:
        sys.exit(_watched(room))


def _watched(room: int) -> int:
    said, code = children.watch(_work)
    done = [json.loads(line) for line in said.split(b"\n")[:-1]]  # and the code at the end, if it got so far
    if done and isinstance(done[-1], int):
        return done[-1]
    if code in SPOKEN:
        return code
    why = f"a library ended the program, most likely because it may map only {room >> 20:,} MiB"
    if done:
        problem = Problem("done-but", f"Done: {'; '.join(done)}. But {why}.", hint=HINT)
    else:
        problem = Problem("no-memory", f"Nothing was written: {why}.", hint=HINT)
    _say(problem)
    return DONE_BUT if done else FAILED


def _work(say: children.Say) -> int:
    tell_also(lambda what: say(json.dumps(what).encode() + b"\n"))
    code = 0
    try:
        command.run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    say(f"{code}\n".encode())
    return code


def _say(problem: Problem) -> None:
    from hedgerow.cli.printing import say_error

    say_error(f"hedgerow: {problem}")
