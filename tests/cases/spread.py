"""Tasks as Spark might run them, in this process: DuckDB has the statements, and every task is tried more than once."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.engines.duckdb import DuckDBSession, kind_of
from hedgerow.engines.spread.rounds import SpreadRelease, make_in_tasks
from hedgerow.engines.spread.rows import SpreadLink
from hedgerow.engines.sql import SqlColumn, SqlEngine
from hedgerow.plan import Plan
from hedgerow.release.checking import in_database, verify_before_publishing
from hedgerow.release.facts import facts_to_json
from hedgerow.release.making import make_where_it_lies
from hedgerow.release.release import Release
from hedgerow.types import Progress
from hedgerow.verification import Verification


class TasksHere(DuckDBSession):
    """A table in DuckDB with tasks in this process, which get their rows in any order and are tried once or twice."""

    number, whole_number, text, bytes, cores = pa.int32(), pa.int64(), pa.string(), pa.binary(), 3
    most_in_task = 1 << 62

    def __init__(self, table: pa.Table, plan: Plan, seed: int = 0) -> None:
        super().__init__(table, plan, "pyarrow")
        self.origin = None  # it lies here, as a table lies in Spark
        self._order = random.Random(seed)
        self._connection.execute("SET preserve_insertion_order = true")

    def task_of(self, columns: str, tasks: int) -> str:
        return f"CAST(HASH({columns}) % {tasks:d} AS INTEGER)"

    def fingerprints(self, columns: Sequence[str]) -> tuple[str, ...]:
        return (f"HASH(ROW({', '.join(columns)}))",)

    def keep_on_disk(self, name: str, query: str) -> str:
        return self.keep(name, query)

    def types(self, query: str) -> dict[str, Any]:
        return {field.name: field.type for field in self.schema_of(query)}

    def shown_values(self, query: str, values: pa.Array) -> tuple[pa.Array, Any]:
        import pyarrow.compute as pc

        found = self.ask(query)
        at = pc.index_in(values, value_set=found.column("v").combine_chunks().cast(values.type))
        return found.column("s").combine_chunks().take(at), found.schema.field("s").type

    def in_tasks(
        self,
        name: str,
        query: str,
        work: Callable[..., Any],
        columns: Sequence[tuple[str, Any]],
        dealt: int | None = None,
        keep: bool = False,
    ) -> str:
        rows, sent = self.ask(query), pickle.dumps(work)
        if dealt is None:
            cut = sorted(self._order.sample(range(rows.num_rows + 1), min(2, rows.num_rows)))
            ends = [0, *cut, rows.num_rows]
            parts = [rows.slice(start, end - start) for start, end in itertools.pairwise(ends)]
        else:
            task = rows.column("task").to_numpy()
            assert not len(task) or (task.min() >= 0 and task.max() < dealt)
            parts = [
                rows.take(pa.array(self._order.sample(mine, len(mine)), pa.int64()))
                for mine in (np.flatnonzero(task == number).tolist() for number in range(dealt))
            ]
        schema, found = pa.schema(list(columns)), []
        for part in parts:
            size = self._order.randint(1, 9)
            tries = [
                [*pickle.loads(sent)(iter(part.to_batches(max_chunksize=size)))]
                for _ in range(self._order.randint(1, 2))
            ]
            answers = [
                pa.Table.from_batches(one).select(schema.names).cast(schema) if one else schema.empty_table()
                for one in tries
            ]
            assert dealt is None or all(answer.equals(answers[0]) for answer in answers)
            found.append(answers[-1])
        return self.upload(name, pa.concat_tables(found))


@dataclass(frozen=True, eq=False)
class EngineWithTasks(SqlEngine):
    """An engine whose tasks are those of this process, however few records there are."""

    def make_in_tasks(self, plan: Plan, tell: Progress, threads: int | None = None) -> SpreadRelease | None:
        return make_in_tasks(self.session, plan, tell)


@dataclass(frozen=True, eq=False)
class Spread:
    """A release made in tasks, and what checks it."""

    engine: EngineWithTasks
    release: Release

    @classmethod
    def of(cls, table: pa.Table, plan: Plan, seed: int = 0) -> Spread:
        engine = EngineWithTasks(TasksHere(table, plan, seed))
        return cls(engine, make_where_it_lies(engine, plan))

    @property
    def facts(self) -> str:
        return facts_to_json(dict(self.release.facts))

    @property
    def is_spread(self) -> bool:
        """Whether the release was made in tasks."""
        return isinstance(self.release.rows.link, SpreadLink)

    def check(self, rows: pa.Table | None = None, facts: dict[str, Any] | None = None) -> Verification:
        """Check rows where they lie, those of the release or others, with the claim of the release."""
        session: Any = self.engine.session
        rows = self.release.table if rows is None else rows
        relation = session.upload("released", rows.rename_columns([f"r{at}" for at in range(rows.num_columns)]))
        described = session.ask("SELECT column_name, column_type FROM (DESCRIBE released)").to_pylist()
        kinds = [kind_of(row["column_type"]) for row in described]
        inside = ", ".join(f"r{at} AS {session.quote(name)}" for at, name in enumerate(rows.column_names))
        relation = session.keep("released_here", f"SELECT {inside} FROM {relation}")
        columns = tuple(SqlColumn(name, kind) for name, kind in zip(rows.column_names, kinds, strict=True))
        release = self.release if facts is None else dataclasses.replace(self.release, facts=facts)
        return verify_before_publishing(release, in_database(session, relation, columns), self.engine)
