"""Running a command: errors become one message and an exit code, and nothing of a record is ever printed."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from hedgerow.errors import HedgerowError, kind_and_place
from hedgerow.version import __version__

INTERRUPTED = 130


class Interrupted(BaseException):
    """Somebody wants the work to end. Not a KeyboardInterrupt, which typer would swallow with a word of its own.

    A library that runs a handler in the middle of its work may raise an error of its own instead, as DuckDB does;
    ``wanted`` tells that this is why.
    """

    wanted = False

    def __init__(self) -> None:
        super().__init__()
        Interrupted.wanted = True


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"]:  # so short an answer should not wait for all that makes commands
        print(f"hedgerow {__version__}")
        sys.exit()
    from hedgerow.cli.waiting import spare_pandas, start_reader, tell_of_compiling

    start_reader(words)
    from hedgerow.cli.app import app

    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, _interrupt)
    if "--json" not in words:
        tell_of_compiling()
    try:
        spare_pandas(words)
        app(words, standalone_mode=True)
    except HedgerowError as error:
        if Interrupted.wanted:
            _end()
        _report(error, as_json="--json" in words)
        sys.exit(error.exit_code)
    except Interrupted:
        _end()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except MemoryError:
        print("hedgerow: not enough memory for this table; nothing was written", file=sys.stderr)
        sys.exit(2)
    except Exception as error:  # its text may hold cells of the data, so only its kind and place are shown
        if Interrupted.wanted:
            _end()
        print(f"hedgerow: internal error ({kind_and_place(error)}); nothing was written", file=sys.stderr)
        print("  hint: please report this line and what you ran; it holds nothing of your data", file=sys.stderr)
        sys.exit(2)


def _report(error: HedgerowError, as_json: bool) -> None:
    if as_json:
        problems = [problem.to_dict() for problem in error.problems]
        print(json.dumps({"problems": problems}, indent=2, ensure_ascii=False))
    for problem in error.problems:
        print(f"hedgerow: {problem}", file=sys.stderr)


def _end() -> NoReturn:
    print("hedgerow: interrupted; nothing was written", file=sys.stderr)
    sys.exit(INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted
