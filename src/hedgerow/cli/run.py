"""Running a command: errors become one message and an exit code, and nothing of a record is ever printed.

The exit code tells whether something has changed: after 0 and 4 it has, after any other it has not. Only
``report`` writes its page about a release that breaks a promise, too, and then ends with 1.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import NoReturn

from hedgerow.errors import DoneBut, HedgerowError, Problem, kind_and_place
from hedgerow.outside.memory import address_space
from hedgerow.outside.outputs import sweep
from hedgerow.outside.outputs.moment import Interrupted, answer, begin, done, doubt, interrupt
from hedgerow.outside.outputs.private import remove_all
from hedgerow.version import __version__

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
DENIAL = re.compile(r" ?Nothing was (changed|written)\.")  # true of the step that failed, not of the command
FAILED, DONE_BUT, INTERRUPTED = 2, DoneBut.exit_code, 130


class ExitCode(BaseException):
    """The exit code of a command that has done its work. It passes through typer, which uses 1 for other things."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"]:  # so short an answer should not wait for all that makes commands
        print(f"hedgerow {__version__}")
        sys.exit()
    keep_quiet()
    begin()
    try:
        for sign in (signal.SIGINT, signal.SIGTERM):
            signal.signal(sign, _interrupt)
        code = _run(words)
    except BaseException as error:
        sys.excepthook = _say_uncaught  # typer has put its own there, which shows the text of an error
        answer()
        code = _code_of(error, as_json="--json" in words)
    answer()
    if any(thread.name == "hedgerow-statement" for thread in threading.enumerate()):  # a statement that does not end
        _leave(code)
    sys.exit(code)


def _run(words: Sequence[str]) -> int:
    """Run a command and print all it has to say; returns what its author meant it to end with."""
    from hedgerow.cli.waiting import READERS, spare_pandas, start_reader, tell_of_compiling

    start_reader(words)
    from hedgerow.cli.app import app
    from hedgerow.cli.printing import allow_any_text

    allow_any_text()
    if "--json" not in words:
        tell_of_compiling()
    spare_pandas(words)
    if words and words[0] in READERS:
        sweep()
    code = 0
    try:
        app(words, standalone_mode=True)
    except ExitCode as verdict:
        code = verdict.code
    except SystemExit as end:
        if end.code and (done() or doubt()):  # rich, or typer, could not print
            raise BrokenPipeError from None
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    sys.stdout.flush()
    return code


def _code_of(error: BaseException, as_json: bool) -> int:
    """Say what went wrong, and what is done all the same; returns the exit code."""
    with contextlib.suppress(OSError, ValueError):
        return _told(error, as_json)
    return DONE_BUT if done() or doubt() else FAILED  # there is nobody to tell


def _told(error: BaseException, as_json: bool) -> int:
    wanted = isinstance(error, Interrupted) or (Interrupted.wanted and isinstance(error, Exception))
    if doubt() and not isinstance(error, DoneBut):
        error = DoneBut(Problem("in-doubt", f"{doubt()} It was interrupted before that was known."))
    elif done() and not isinstance(error, DoneBut):
        error = DoneBut([*_problems_after(error, wanted)])
    elif wanted:
        print("hedgerow: interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    if isinstance(error, HedgerowError):
        _report(error, as_json)
        return error.exit_code
    if isinstance(error, OSError):  # most likely nobody, or no room, for what was printed
        _stop_printing()
    if isinstance(error, BrokenPipeError):
        return 1
    if isinstance(error, OSError) and error.errno:  # a file that failed where nobody expects it
        code = "output" if error.errno in NO_ROOM else "no-file"
        message = f"A file cannot be read or written: {os.strerror(error.errno)}. Nothing was written."
        place = "" if error.filename is None else os.fsdecode(error.filename)
        _report(HedgerowError(Problem(code, message, place, "mend that, then run it again")), as_json)
        return FAILED
    if isinstance(error, MemoryError):
        print("hedgerow: not enough memory for this table; nothing was written", file=sys.stderr)
    elif address_space() is not None:  # libraries tell in many ways that they got none
        place = kind_and_place(error)
        print(f"hedgerow: most likely not enough memory ({place}); nothing was written", file=sys.stderr)
        print("  hint: raise the limit of what a program may map: ulimit -v unlimited", file=sys.stderr)
    else:  # its text may hold cells of the data, so only its kind and place are shown
        print(f"hedgerow: internal error ({kind_and_place(error)}); nothing was written", file=sys.stderr)
        print("  hint: please report this line and what you ran; it holds nothing of your data", file=sys.stderr)
    return FAILED


def _problems_after(error: BaseException, wanted: bool) -> list[Problem]:
    """Say what is done, and what went wrong after that."""
    hint = "look at what is there; running it again does no harm"
    if wanted:
        why = "the command was interrupted before it could say so"
    elif isinstance(error, OSError):
        _stop_printing()
        why = "that could not be printed"
    elif isinstance(error, HedgerowError):
        later = (Problem(one.code, DENIAL.sub("", one.message), one.place, one.hint) for one in error.problems)
        return [Problem("done-but", f"Done: {'; '.join(done())}. But then:", hint=hint), *later]
    else:
        why = f"there was an internal error after that ({kind_and_place(error)})"
    return [Problem("done-but", f"Done: {'; '.join(done())}. But {why}.", hint=hint)]


def keep_quiet() -> None:
    """Let nothing tell of records in passing: errors of threads and finalizers, warnings of libraries, core dumps."""
    sys.excepthook = _say_uncaught
    sys.unraisablehook = lambda what: _say_kind(what.exc_value)
    threading.excepthook = lambda what: _say_kind(what.exc_value)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    with contextlib.suppress(ImportError, OSError, ValueError):  # not on Windows; else a lower limit stands already
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _say_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    _say_kind(error)


def _say_kind(error: BaseException | None) -> None:
    """Say what kind of error it was, and where, but not its text."""
    if isinstance(error, MemoryError):  # it may come again while it is being told
        print("hedgerow: there was not enough memory", file=sys.stderr)
    elif error is not None and not isinstance(error, Interrupted | SystemExit):
        print(f"hedgerow: internal error ({kind_and_place(error)})", file=sys.stderr)


def _report(error: HedgerowError, as_json: bool) -> None:
    from hedgerow.cli.printing import print_json, say_error

    for problem in error.problems:
        say_error(f"hedgerow: {problem}")
    if as_json:
        found = {"done": list(done())} if done() else {}
        print_json({**found, "problems": [problem.to_dict() for problem in error.problems]})
        sys.stdout.flush()


def _stop_printing() -> None:
    """Let the rest of what was printed go nowhere: Python would fail once more at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave(code: int) -> NoReturn:
    """End at once: Python's own end would tear a driver's thread apart, which aborts the process."""
    remove_all()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:
    interrupt()
