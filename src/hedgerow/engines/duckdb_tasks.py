"""Tasks over a table in DuckDB: a statement gives rows, some of them at a time go to a task, its answer to a table.

Statements and tasks are those of :mod:`hedgerow.engines.spread`, which has Spark run them too. Here tasks are threads
of this process, as many at once as there are cores; kernels, numpy and Arrow let others run beside them. So what is in
memory is what so many tasks work on, and what the database holds, whose bound is
:data:`~hedgerow.engines.duckdb.MEMORY`: all else lies in its private folder.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.engines.duckdb import DuckDBSession, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

PIECE = 1 << 18
"""Rows that go to a task where nobody says which."""
WAITING = 1
"""Tasks that are ready, beside those that are done, while their answers are written."""
POLL_SECONDS = 0.2
MOST_IN_TASK = 1_000_000
"""Records of a block at most: a larger one is better worked on by all threads, with news of it, outside tasks."""

Work = Callable[[Iterator["pa.RecordBatch"]], Iterable["pa.RecordBatch"]]


class DuckDBTasks(DuckDBSession):
    """A private database with tasks in threads of this process."""

    def __init__(self, *given: Any, **named: Any) -> None:
        import pyarrow as pa

        self.number, self.whole_number, self.text, self.bytes = pa.int32(), pa.int64(), pa.string(), pa.binary()
        self.cores, self.most_in_task = os.cpu_count() or 1, MOST_IN_TASK
        self.watch: Callable[[int, int], None] | None = None
        """Told how many tasks are done, of how many."""
        super().__init__(*given, **named)
        self._connection.execute("SET preserve_insertion_order = true")  # rows of a release are made in order

    def task_of(self, columns: str, tasks: int) -> str:
        """Write which of so many tasks a row goes to, given columns in which those of a task agree."""
        return f"CAST(HASH({columns}) % {tasks:d} AS INTEGER)"

    def fingerprints(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Write two numbers of 64 bits, the same for rows that agree in some columns, and hardly ever for others."""
        return tuple(f"HASH(ROW({at:d}, {', '.join(columns)}))" for at in range(2))

    def keep_on_disk(self, name: str, query: str) -> str:
        """Keep the rows of a query in the private folder, under a name."""
        with self._own_words():
            self._heard(lambda: self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS {query}"))
        return name

    def types(self, query: str) -> dict[str, Any]:
        """Return the types of the columns of a query."""
        return {field.name: field.type for field in self.schema_of(query)}

    def shown_values(self, query: str, values: pa.Array) -> tuple[pa.Array, Any]:
        """Return as what values are released, given the statement that says so, and the type of that."""
        import pyarrow.compute as pc

        found = self.ask(query)
        at = pc.index_in(values, value_set=found.column("v").combine_chunks().cast(values.type))
        return found.column("s").combine_chunks().take(at), found.schema.field("s").type

    def in_tasks(
        self,
        name: str,
        query: str,
        work: Work,
        columns: Sequence[tuple[str, Any]],
        dealt: int | None = None,
        keep: bool = False,
    ) -> str:
        """Keep the rows that tasks make of those of a query, and return how statements name them.

        Parameters
        ----------
        work
            Given batches of rows, gives others.
        columns
            Names and types of what it gives.
        dealt
            How many tasks there are, if the column ``task`` says to which of them a row goes; else rows are taken as
            they come.
        keep
            Whether the rows are asked for more than once; here they are kept in any case.
        """
        import pyarrow as pa

        schema = pa.schema(list(columns))
        pieces = self._by_size(query) if dealt is None else self._by_task(f"{query} ORDER BY task")
        answers = _answers(pieces, work, schema, self.cores)
        self.store(name, schema, answers if dealt is None else self._watched(answers, dealt))
        return name

    def _watched(self, answers: Iterator[pa.Table], tasks: int) -> Iterator[pa.Table]:
        watch = self.watch or (lambda done, tasks: None)
        for done, answer in enumerate(answers, 1):
            watch(done, tasks)
            yield answer
        watch(tasks, tasks)  # some may have had no rows

    def store(self, name: str, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
        """Put tables into one of the private folder, in their order; statements may run meanwhile."""
        with self._own_words(), contextlib.closing(self._connection.cursor()) as beside:
            beside.register("none_yet", schema.empty_table())
            beside.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM none_yet")
            beside.execute("BEGIN")
            for table in tables:
                if table.num_rows:
                    beside.register("more", table)
                    self._heard(lambda: beside.execute(f"INSERT INTO {name} SELECT * FROM more"))
                    beside.unregister("more")
            beside.execute("COMMIT")

    def lay_out(self, name: str, columns: Sequence[str], tables: Iterator[pa.Table]) -> tuple[tuple[str, str], ...]:
        """Put tables into one of the private folder, and return the names and kinds of its columns."""
        import pyarrow as pa

        first = next(tables)
        inside = [self._inside[name] for name in columns]
        schema = pa.schema([field.with_name(own) for field, own in zip(first.schema, inside, strict=True)])
        self.store(name, schema, (table.rename_columns(inside) for table in itertools.chain([first], tables)))
        found = self.ask(f"SELECT column_name, column_type FROM (DESCRIBE {name})").to_pylist()
        return tuple((column, kind_of(row["column_type"])) for column, row in zip(columns, found, strict=True))

    def _by_size(self, query: str) -> Iterator[list[pa.RecordBatch]]:
        """Put the rows of a query together to pieces of some size."""
        some: list[pa.RecordBatch] = []
        for batch in self.stream(query):
            some.append(batch)
            if sum(one.num_rows for one in some) >= PIECE:
                yield some
                some = []
        if some:
            yield some

    def _by_task(self, query: str) -> Iterator[list[pa.RecordBatch]]:
        """Put together the rows of each task; they come task after task."""
        some: list[pa.RecordBatch] = []
        current = -1
        for batch in self.stream(query):
            task = batch.column("task").to_numpy()
            edges = [0, *(np.flatnonzero(task[1:] != task[:-1]) + 1).tolist(), len(task)]
            for start, end in itertools.pairwise(edges):
                if start == end:
                    continue
                if some and int(task[start]) != current:
                    yield some
                    some = []
                current = int(task[start])
                some.append(batch.slice(start, end - start))
        if some:
            yield some


def _answers(pieces: Iterator[list[pa.RecordBatch]], work: Work, schema: pa.Schema, threads: int) -> Iterator[pa.Table]:
    """Have threads work on pieces, and give their answers in the order of the pieces."""
    started: deque[Future[pa.Table]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for piece in pieces:
                started.append(pool.submit(_answer, work, piece, schema))
                while len(started) > threads + WAITING or (started and started[0].done()):
                    yield _ended(started.popleft())
            while started:
                yield _ended(started.popleft())
        except BaseException:
            for one in started:
                one.cancel()
            raise


def _ended(task: Future[pa.Table]) -> pa.Table:
    """Wait for a task; signals are heard meanwhile."""
    while wait([task], timeout=POLL_SECONDS).not_done:
        pass
    return task.result()


def _answer(work: Work, piece: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    found = [*work(iter(piece))]
    piece.clear()
    return pa.Table.from_batches(found).select(schema.names).cast(schema) if found else schema.empty_table()
