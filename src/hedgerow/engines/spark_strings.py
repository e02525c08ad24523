"""Testing strings of levels in Spark's tasks: what is ordered together is one job, each order a task of its own.

The lattice goes out once, as a broadcast; a task tests by the same kernels as the driver would, so that its answer is
the same however often it is tried. Jobs stand in a group of their own, by which Spark's pages and its status tracker
know them.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from hedgerow.anonymization.lattice.bench import Bench, Order
from hedgerow.anonymization.lattice.crew import Ticket
from hedgerow.anonymization.lattice.space import Node
from hedgerow.engines.spark import own_words

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

POLL_SECONDS = 0.05
GROUP = "hedgerow-counting"
WORDS = "Hedgerow: counting the groups of strings of levels"


class Tasks:
    """Does orders in tasks, all that are waiting when an answer is needed in one job."""

    def __init__(self, spark: SparkSession, bench: Bench) -> None:
        with own_words("Spark"):
            self.hands = int(spark.sparkContext.defaultParallelism)
        self.group = f"{GROUP}-{uuid.uuid4().hex}"
        self._spark, self._bench = spark, bench
        self._sent: Any = None
        self._waiting: list[Ticket] = []
        self._pool = ThreadPoolExecutor(1)  # a job's group is that of its thread; the owner's thread keeps its own

    def expect(self, tests: int) -> None:
        """There is nothing to get ready."""

    def submit(self, order: Order) -> Ticket:
        """Note an order."""
        ticket = Ticket(order)
        self._waiting.append(ticket)
        return ticket

    def answer(self, ticket: Ticket) -> Any:
        """Do everything that waits, if this is not done yet."""
        if not ticket.done:
            given, self._waiting = self._waiting, []
            for one, answer in zip(given, self._run([one.order for one in given]), strict=True):
                one.answer, one.done = answer, True
        return ticket.answer

    def forget(self, tickets: Iterable[Ticket]) -> None:
        """Take back what was not done."""
        unwanted = set(map(id, tickets))
        self._waiting = [ticket for ticket in self._waiting if id(ticket) not in unwanted]

    def lost(self, on: Node, node: Node) -> tuple[int, int]:
        """Test one node; a job would take longer than that."""
        return self._bench.lost(on, node)

    def close(self) -> None:
        """Let the lattice go; once is enough, and twice no harm."""
        self._pool.shutdown()
        if self._sent is not None:
            with own_words("Spark"):
                self._sent.destroy()
            self._sent = None

    def _run(self, orders: list[Order]) -> list[Any]:
        context = self._spark.sparkContext
        with own_words("Spark"):
            if self._sent is None:
                self._bench.lost(self._bench.top, self._bench.top)  # kernels are compiled once, and kept
                self._sent = context.broadcast((self._bench, os.environ.get("HEDGEROW_CACHE")))
            work = context.parallelize(list(map(tuple, orders)), len(orders)).map(_task(self._sent))

            def run() -> list[Any]:
                context.setJobGroup(self.group, WORDS, interruptOnCancel=True)
                return list(work.collect())

            job = self._pool.submit(run)
            try:
                while wait([job], timeout=POLL_SECONDS).not_done:
                    pass
            except BaseException:
                context.cancelJobGroup(self.group)
                raise
            return job.result()


def _task(sent: Any) -> Any:
    """Return what a task does; it is sent as it is, and knows what is broadcast."""

    def test(order: Any) -> Any:
        from hedgerow.engines.spark_strings import do

        bench, cache = sent.value
        return do(bench, cache, order)

    return test


def do(bench: Bench, cache: str | None, order: Any) -> Any:
    """Do an order in a task."""
    if cache is not None:
        os.environ.setdefault("HEDGEROW_CACHE", cache)
    return bench.do(Order(*order))
