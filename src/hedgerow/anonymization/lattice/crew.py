"""Who tests strings of levels: this process, and others beside it once there is enough to do.

Whoever searches gives orders, several at once if it knows or guesses what it will need, and takes the answers in its
own turn. An answer depends on nothing but its order, and only tests whose answers are taken count; so a search comes to
the same, and counts the same, however many processes there are and whoever was faster.

The helpers are children of this process: they have the lattice from memory that all of them share, do one order after
the other, and end when this process does, however that happens (``helper.py``). If one is lost, what it had to do is
done here.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hedgerow.anonymization.lattice.bench import Bench, Order
from hedgerow.anonymization.lattice.space import Node
from hedgerow.outside import children
from hedgerow.outside.shared_memory import lay_out, shared_memory

ENOUGH = 40_000_000
"""Profiles that tests look at, one after the other, from which on there are helpers: a fifth of a second's work."""
AHEAD = 2
"""Orders that are given to a helper at once, so that it need not wait for us."""
CHUNKS = 8
"""Parts, by process, into which tests are dealt out."""
HELPER = "hedgerow.anonymization.lattice.helper"


@dataclass(eq=False)
class Ticket:
    """An order that was given; ``answer`` is there when ``done``."""

    order: Order
    done: bool = False
    answer: Any = None
    unwanted: bool = False


class Crew(Protocol):
    """Does orders; an answer is the same whoever gave it."""

    @property
    def hands(self) -> int:
        """How many orders can be done at a time."""

    def expect(self, tests: int) -> None:
        """Get ready for so many tests, roughly."""

    def submit(self, order: Order) -> Ticket:
        """Give an order."""

    def answer(self, ticket: Ticket) -> Any:
        """Wait for the answer to an order."""

    def forget(self, tickets: Iterable[Ticket]) -> None:
        """Take orders back: their answers are not wanted any more."""

    def lost(self, on: Node, node: Node) -> tuple[int, int]:
        """Test a node here and now."""

    def close(self) -> None:
        """Let everybody go."""


Hire = Callable[[Bench], Crew]


class Alone:
    """Does every order itself, when its answer is asked for."""

    hands = 1

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def expect(self, tests: int) -> None:
        """There is nothing to get ready."""

    def submit(self, order: Order) -> Ticket:
        """Note an order."""
        return Ticket(order)

    def answer(self, ticket: Ticket) -> Any:
        """Do it."""
        if not ticket.done:
            ticket.answer, ticket.done = self._bench.do(ticket.order), True
        return ticket.answer

    def forget(self, tickets: Iterable[Ticket]) -> None:
        """Nothing was done yet."""

    def lost(self, on: Node, node: Node) -> tuple[int, int]:
        """Test a node."""
        return self._bench.lost(on, node)

    def close(self) -> None:
        """There is nobody to let go."""


def checks(
    crew: Crew, on: Node, nodes: Sequence[Node], all_wanted: bool = False
) -> Generator[tuple[int, int], None, None]:
    """Check nodes on the groups of another, in their order; a few ahead if there are hands for it.

    ``all_wanted``: whether most answers will be taken, so that they are better dealt out in large parts.
    """
    if crew.hands == 1:
        for node in nodes:
            yield crew.lost(on, node)
        return
    size = max(1, min(64, len(nodes) // (CHUNKS * crew.hands))) if all_wanted else 1
    parts = deque(nodes[start : start + size] for start in range(0, len(nodes), size))
    given: deque[Ticket] = deque()
    try:
        while parts or given:
            while parts and (all_wanted or len(given) < CHUNKS * crew.hands):
                part = parts.popleft()
                given.append(crew.submit(Order("lost", on, part)))
            for found in crew.answer(given.popleft()):
                yield found[0], found[1]
    finally:
        crew.forget(given)


@dataclass(eq=False)
class _Helper:
    """A process beside this one, and what it was given."""

    child: children.Child
    ready: bool = False
    given: deque[Ticket] = field(default_factory=deque)
    heard: bytes = b""

    def send(self, ticket: Ticket) -> None:
        """Give it an order."""
        self.given.append(ticket)
        self.say(ticket.order)

    def say(self, what: object) -> None:
        """Tell it something."""
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps(what) + "\n")
        self.child.stdin.flush()

    def hear(self) -> None:
        """Take what it has said; it says so once that it is ready, then an answer for every order."""
        said = os.read(self.handle, 1 << 16)
        if not said:
            raise BrokenPipeError
        *lines, self.heard = (self.heard + said).split(b"\n")
        for line in lines:
            if not self.ready:
                self.ready = True
                continue
            ticket = self.given.popleft()
            ticket.answer, ticket.done = json.loads(line), True

    @property
    def handle(self) -> int:
        assert self.child.stdout is not None
        return self.child.stdout.fileno()


class Processes(Alone):
    """Does orders here and in helpers, so many processes in all.

    Parameters
    ----------
    bench
        Tests strings in this process.
    processes
        This one and all helpers.
    enough
        Profiles that tests look at, or will, those of one after the other, from which on there are helpers; they get
        ready while the work goes on. 0: they are waited for before anything is done.
    """

    def __init__(self, bench: Bench, processes: int, enough: int | None = None) -> None:
        super().__init__(bench)
        self.hands = processes if os.name == "posix" else 1
        self._enough = ENOUGH if enough is None else enough
        self._started = False
        self._helpers: list[_Helper] = []
        self._waiting: deque[Ticket] = deque()

    def expect(self, tests: int) -> None:
        """Start helpers if so many tests are worth it."""
        if not self._started and self.hands > 1 and tests * self._bench.profiles >= self._enough:
            self._start()

    def submit(self, order: Order) -> Ticket:
        """Give an order."""
        ticket = Ticket(order)
        self._waiting.append(ticket)
        self._deal()
        return ticket

    def answer(self, ticket: Ticket) -> Any:
        """Wait for an answer; meanwhile something else that was ordered is done here."""
        while True:
            self._deal()
            if ticket.done:
                return ticket.answer
            if ticket in self._waiting:
                self._do_here(ticket)
            elif self._waiting:
                self._do_here(self._waiting[0])
            else:
                self._hear(None)

    def forget(self, tickets: Iterable[Ticket]) -> None:
        """Take back what nobody began."""
        for ticket in tickets:
            ticket.unwanted = True
            if ticket in self._waiting:
                self._waiting.remove(ticket)

    def lost(self, on: Node, node: Node) -> tuple[int, int]:
        """Test a node here; helpers get something to do before."""
        if self._helpers or not self._started:
            self._deal()
        return super().lost(on, node)

    def close(self) -> None:
        """Let the helpers go, whatever they are doing."""
        for helper in self._helpers:
            _end(helper)
        self._helpers = []

    @property
    def helpers(self) -> list[int]:
        """Numbers of the processes beside this one."""
        return [helper.child.pid for helper in self._helpers]

    def _do_here(self, ticket: Ticket) -> None:
        self._waiting.remove(ticket)
        ticket.answer, ticket.done = self._bench.do(ticket.order), True

    def _deal(self) -> None:
        """Deal out what is waiting: an order to each helper, and one to go on with if that leaves enough for others."""
        self.expect(self._bench.tests)
        if not self._started:
            return
        self._hear(0)
        for ahead in range(AHEAD):
            for helper in [helper for helper in self._helpers if helper.ready]:
                if len(self._waiting) > 2 * ahead * self.hands and len(helper.given) <= ahead:
                    self._give(helper, self._waiting.popleft())

    def _give(self, helper: _Helper, ticket: Ticket) -> None:
        try:
            helper.send(ticket)
        except OSError:
            self._lose(helper)

    def _hear(self, seconds: float | None) -> None:
        """Take what helpers have said; None: wait until one says something."""
        if not self._helpers:
            return
        said, _, _ = select.select([helper.handle for helper in self._helpers], [], [], seconds)
        for helper in [helper for helper in self._helpers if helper.handle in said]:
            try:
                helper.hear()
            except (OSError, ValueError):
                self._lose(helper)

    def _lose(self, helper: _Helper) -> None:
        """Do ourselves what a helper that is gone had to do."""
        self._helpers.remove(helper)
        self._waiting.extendleft(ticket for ticket in reversed(helper.given) if not ticket.unwanted)
        _end(helper)

    def _start(self) -> None:
        """Start helpers; they load what they need while the lattice is made ready and laid out."""
        self._started = True
        try:
            with shared_memory() as handle:
                for _ in range(self.hands - 1):
                    child = children.start(HELPER, str(handle), input=True, handles=[handle])
                    self._helpers.append(_Helper(child))
                sizes = lay_out(handle, self._bench)
                for helper in self._helpers:
                    helper.say(sizes)
        except (OSError, MemoryError):  # then there are none
            self.close()
        while not self._enough and not all(helper.ready for helper in self._helpers):
            self._hear(None)


def _end(helper: _Helper) -> None:
    helper.child.kill()
    helper.child.wait()
    for stream in (helper.child.stdin, helper.child.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):  # what was not sent any more
                stream.close()


def hire(processes: int) -> Hire:
    """Return what hires a crew of so many processes.

    Examples
    --------
    >>> hire(1).__name__
    'Alone'
    """
    return Alone if processes == 1 else lambda bench: Processes(bench, processes)
