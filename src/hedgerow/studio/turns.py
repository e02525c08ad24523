"""Turns: how many may be at work at once in the whole studio, and how many of them for one person."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from hedgerow.errors import HedgerowError, Problem


@dataclass(eq=False)
class _Ticket:
    user: str


class Turns:
    """Lets some be at work at once; the others wait in the order in which they came.

    Nobody has more than some of the turns, so that what one person sends cannot keep all others waiting.

    Parameters
    ----------
    most, of_one
        How many may be at work at once, and how many of these for one person.
    patience
        Seconds that somebody waits at most.

    Examples
    --------
    >>> turns = Turns(most=2, of_one=1, patience=0.01)
    >>> with turns.taken("ann"), turns.taken("bob"):
    ...     turns.at_work
    2
    """

    def __init__(self, most: int, of_one: int, patience: float) -> None:
        self._most, self._of_one, self._patience = most, of_one, patience
        self._changed = threading.Condition()
        self._waiting: list[_Ticket] = []
        self._busy: Counter[str] = Counter()

    @property
    def at_work(self) -> int:
        """How many are at work."""
        return self._busy.total()

    @contextlib.contextmanager
    def taken(self, user: str) -> Iterator[None]:
        """Wait for a turn, and give it back at the end.

        Raises
        ------
        HedgerowError
            If none came in time.
        """
        ticket, until = _Ticket(user), time.monotonic() + self._patience
        with self._changed:
            self._waiting.append(ticket)
            try:
                while self._next() is not ticket:
                    if not self._changed.wait(until - time.monotonic()) and time.monotonic() >= until:
                        message = "The studio is busy with other tables."
                        raise HedgerowError(Problem("usage", message, hint="try again in a minute"))
                self._busy[user] += 1
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._busy[user] -= 1
                self._changed.notify_all()

    def _next(self) -> _Ticket | None:
        """Return who may begin: the first of those who have not as much as they may."""
        if self._busy.total() >= self._most:
            return None
        return next((ticket for ticket in self._waiting if self._busy[ticket.user] < self._of_one), None)
