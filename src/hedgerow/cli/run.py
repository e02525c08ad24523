"""Running a command: errors become one message and an exit code, and nothing of a record is ever printed."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import warnings
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
    keep_quiet()
    try:
        for sign in (signal.SIGINT, signal.SIGTERM):
            signal.signal(sign, _interrupt)
        from hedgerow.cli.app import app
        from hedgerow.cli.printing import allow_any_text
        from hedgerow.cli.waiting import spare_pandas, tell_of_compiling

        allow_any_text()
        if "--json" not in words:
            tell_of_compiling()
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


def keep_quiet() -> None:
    """Let nothing tell of records in passing: errors of threads and finalizers, warnings of libraries, core dumps."""
    sys.excepthook = lambda kind, error, trace: _say_kind(error)
    sys.unraisablehook = lambda what: _say_kind(what.exc_value)
    threading.excepthook = lambda what: _say_kind(what.exc_value)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    with contextlib.suppress(ImportError, OSError, ValueError):  # not on Windows; else a lower limit stands already
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _say_kind(error: BaseException | None) -> None:
    """Say what kind of error it was, and where, but not its text."""
    if error is not None and not isinstance(error, Interrupted | SystemExit):
        print(f"hedgerow: internal error ({kind_and_place(error)})", file=sys.stderr)


def _report(error: HedgerowError, as_json: bool) -> None:
    from hedgerow.cli.printing import print_json, say_error

    if as_json:
        print_json({"problems": [problem.to_dict() for problem in error.problems]})
    for problem in error.problems:
        say_error(f"hedgerow: {problem}")


def _end() -> NoReturn:
    print("hedgerow: interrupted; nothing was written", file=sys.stderr)
    sys.exit(INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted
