"""Doing what may take long in another thread, so that signals are heard meanwhile."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

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
        answers: queue.SimpleQueue[tuple[Found | None, BaseException | None]] = queue.SimpleQueue()

        def answer() -> None:
            try:
                answers.put((work(), None))
            except BaseException as error:
                answers.put((None, error))

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(LISTENING)  # some libraries let a wait go on through a signal (SA_RESTART)
            found, error = answers.get()
        except BaseException:
            self._cancel()
            thread.join(STUBBORN)
            self.stuck = thread.is_alive()
            raise
        if error is not None:
            raise error
        return found  # type: ignore[return-value]
