"""Doing what may take long in another thread, so that signals are heard meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

NAME = "hedgerow-statement"
"""Of threads that wait for a database; who ends the process looks for them."""
LISTENING = 0.2
"""Seconds between looks at signals while a statement runs."""
STUBBORN = 5.0
"""Seconds that a statement which was cancelled gets to end."""


class Hearing:
    """Has a database work, and hears signals: one that ends the work, ends it there.

    Python hears a signal between two steps of its own, not while a driver waits for a database.

    Attributes
    ----------
    stuck
        Whether a statement could not be stopped: it still uses the connection.

    Examples
    --------
    >>> Hearing(cancel=lambda: None)(lambda: 6 * 7)
    42
    """

    def __init__(self, cancel: Callable[[], None]) -> None:
        self._cancel = cancel
        self.stuck = False

    def __call__(self, work: Callable[[], Found]) -> Found:
        """Do some work, and return what comes of it."""
        answers: list[tuple[Found | None, BaseException | None]] = []
        ended = threading.Event()  # a join that a signal ends takes the thread for ended, too (bpo-45274)

        def answer() -> None:
            try:
                answers.append((work(), None))
            except BaseException as error:
                answers.append((None, error))
            finally:
                ended.set()

        thread = threading.Thread(target=answer, name=NAME, daemon=True)
        try:
            thread.start()
            while not ended.wait(LISTENING):  # some libraries let a wait go on through a signal (SA_RESTART)
                pass
        except BaseException:
            self._stop(ended)
            raise
        ((found, error),) = answers
        if error is not None:
            raise error
        return found  # type: ignore[return-value]

    def _stop(self, ended: threading.Event) -> None:
        end = time.monotonic() + STUBBORN
        while not ended.is_set() and time.monotonic() < end:
            self._cancel()  # again and again: a statement that is only about to begin does not hear it
            ended.wait(LISTENING)
        self.stuck = not ended.is_set()
