"""What a database must offer beside statements so that records can stay there: tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from hedgerow.engines.sql import SqlSession

if TYPE_CHECKING:
    import pyarrow as pa


class TaskSession(SqlSession, Protocol):
    """A database with tasks: executors of Spark, or threads of this process."""

    @property
    def number(self) -> Any:
        """The type of small whole numbers."""

    @property
    def whole_number(self) -> Any:
        """The type of whole numbers."""

    @property
    def text(self) -> Any:
        """The type of texts."""

    @property
    def bytes(self) -> Any:
        """The type of bytes."""

    @property
    def cores(self) -> int:
        """How many tasks are done at the same time."""

    @property
    def most_in_task(self) -> int:
        """Records of a block at most that one task should have."""

    def task_of(self, columns: str, tasks: int) -> str:
        """Write which of so many tasks a row goes to, given columns in which those of a task agree."""

    def fingerprints(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Write numbers that rows have in common if they agree in some columns, and hardly ever else."""

    def keep_on_disk(self, name: str, query: str) -> str:
        """Keep the rows of a query where they lie, on disk, under a name."""

    def in_tasks(
        self,
        name: str,
        query: str,
        work: Callable[[Any], Any],
        columns: Sequence[tuple[str, Any]],
        dealt: int | None = None,
        keep: bool = False,
    ) -> str:
        """Name the rows that tasks make of those of a query; ``task`` says which of so many a row goes to."""

    def types(self, query: str) -> dict[str, Any]:
        """Return the types of the columns of a query."""

    def shown_values(self, query: str, values: pa.Array) -> tuple[pa.Array, Any]:
        """Return as what values are released, given the statement that says so, and the type of that."""
