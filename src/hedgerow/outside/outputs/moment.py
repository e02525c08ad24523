"""The moment of truth of a command: before it nothing has changed, after it what was asked is done.

It is one call of the system: the rename that shows a release, the end of a transaction. Whatever happens later, a
signal or a full disk, the answer of the command must not be that nothing was changed. So who makes that call says so
here, and who gives the answer asks here. A signal that comes in between waits until it is known what happened.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

from hedgerow.errors import DataError, DoneBut, Problem


class _Account(threading.local):
    """What a command has done so far. Signals are heard by the main thread, which runs the command."""

    kept = False  # whether somebody will ask
    done: tuple[str, ...] = ()
    doubt = ""
    doubtful = ""
    undisturbed = 0
    rehearsing = 0
    put_off = 0
    answered = False


_account = _Account()
_others: list[Callable[[str], object]] = []


def tell_also(hear: Callable[[str], object]) -> None:
    """Let somebody else hear at once what is done: one who is left if this process ends without an answer."""
    _others.append(hear)


def begin() -> None:
    """Begin a command: nothing is done yet."""
    _account.__dict__.clear()
    _account.kept = True


def record(what: str) -> None:
    """Say what has just happened, in words that end "Done: …": the moment of truth is over."""
    if _account.kept and not _account.rehearsing:
        _account.done = (*_account.done, what)
        for hear in _others:
            hear(what)


def suspect(what: str) -> None:
    """Say what may have happened or not, if nobody can find out."""
    if _account.kept and not _account.rehearsing:
        _account.doubt = what


def done() -> tuple[str, ...]:
    """Return what is done by now; nothing if the command has changed nothing.

    Examples
    --------
    >>> begin()
    >>> done()
    ()
    >>> with undisturbed():
    ...     record("the page is written")
    >>> done()
    ('the page is written',)
    """
    return _account.done


def doubt() -> str:
    """Return what may have happened or not."""
    return _account.doubt


@contextlib.contextmanager
def rehearsal() -> Iterator[None]:
    """Put things in place where nobody sees them: that is no moment of truth, and what is done there is not done."""
    _account.rehearsing += 1
    try:
        yield
    except DoneBut as error:
        message = "The output cannot be prepared: the disk did not confirm a part of it. Nothing was changed."
        raise DataError(Problem("output", message, hint=error.problems[0].hint)) from None
    finally:
        _account.rehearsing -= 1


@contextlib.contextmanager
def undisturbed(doubtful: str = "") -> Iterator[None]:
    """Put off signals until the block has ended; then the one that came ends the work.

    A block that may hang, as it waits for a server, says what is ``doubtful`` meanwhile: a second signal ends it, and
    leaves that in doubt.
    """
    before, _account.doubtful = _account.doubtful, doubtful
    _account.undisturbed += 1
    try:
        yield
    except BaseException:
        if _account.undisturbed == 1 and _account.put_off:  # the work ends anyway, so the signal has had its way
            _account.put_off, Interrupted.wanted = 0, True
        raise
    finally:
        _account.undisturbed -= 1
        _account.doubtful = before
    if not _account.undisturbed and _account.put_off:
        _account.put_off = 0
        raise Interrupted


class Interrupted(BaseException):
    """Somebody wants the work to end. Not a KeyboardInterrupt, which typer would swallow with a word of its own.

    A library that runs a handler in the middle of its work may raise an error of its own instead; ``wanted`` tells that
    this is why.
    """

    wanted = False

    def __init__(self) -> None:
        super().__init__()
        Interrupted.wanted = True


def interrupt() -> None:
    """End the work, or put that off: what a handler of signals calls. Who has answered already is not disturbed."""
    if _account.answered:
        return
    if _account.undisturbed and not (_account.put_off and _account.doubtful):
        _account.put_off += 1
        return
    if _account.undisturbed:
        suspect(_account.doubtful)
    raise Interrupted


def answer() -> None:
    """Let no signal change the answer any more."""
    _account.answered = True
