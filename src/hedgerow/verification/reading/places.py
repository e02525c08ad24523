"""Where a table lies that is checked without fetching its rows: in a database, or in files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class Lender(Protocol):
    """What an engine lends to the check: it runs the check's own statements where the data lies.

    Attributes
    ----------
    text_type
        What CAST makes text: TEXT, VARCHAR or STRING.
    binary
        What stands after a text to compare it by its bytes: ``COLLATE "C"`` in PostgreSQL, nothing in most others.
    nan
        The floating-point value that is no number; None where the database keeps no such value.
    """

    text_type: str
    binary: str
    nan: str | None

    def quote(self, name: str) -> str:
        """Write the name of a column."""

    def literal(self, text: str) -> str:
        """Write a text."""

    def last(self, expression: str) -> str:
        """Order by an expression, with what is missing last."""

    def trimmed(self, text: str, signs: str) -> str:
        """Take some signs away at both ends of a text."""

    def stream(self, query: str) -> Iterator[pa.RecordBatch]:
        """Return what a statement finds, in batches."""

    def ask(self, query: str) -> pa.Table:
        """Return what a statement finds, where that is little."""


class TaskLender(Lender, Protocol):
    """What an engine lends that has tasks do the check's own work where the data lies.

    Attributes
    ----------
    number, whole_number, text, bytes
        The types of small whole numbers, whole numbers, text and bytes.
    cores
        How many tasks are done at the same time.
    """

    number: Any
    whole_number: Any
    text: Any
    bytes: Any
    cores: int

    def task_of(self, columns: str, tasks: int) -> str:
        """Write which of so many tasks a row goes to, given columns in which those of a task agree."""

    def fingerprints(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Write numbers that rows have in common if they agree in some columns, and hardly ever else."""

    def types(self, query: str) -> dict[str, Any]:
        """Return the types of the columns of a statement."""

    def in_tasks(
        self, name: str, query: str, work: Any, columns: Sequence[tuple[str, Any]], dealt: int | None, keep: bool
    ) -> str:
        """Name the rows that tasks make of those of a query; ``task`` says which of so many a row goes to."""


class Host(TaskLender, Protocol):
    """What lends tasks and has room for tables of the check's own."""

    def lay_out(self, name: str, columns: Sequence[str], tables: Iterator[pa.Table]) -> tuple[tuple[str, str], ...]:
        """Put tables into one of this name, in their order, and return the names and kinds of its columns."""


@dataclass(frozen=True)
class PlacedClaim:
    """What became of the records, as a relation beside the original.

    Attributes
    ----------
    relation
        How statements name it. It has quasi-identifiers as they were read (``c0`` and so on), sensitive columns
        (``s0``), the key of the person (``p``) where the plan names one, what the records are published as (``l0``),
        and how many there are (``n``).
    host
        Who has it, and room beside it, where release and original are files: the check puts there what it reads.
    """

    relation: str
    host: Host | None = None


@dataclass(frozen=True)
class InDatabase:
    """A table in a database.

    Attributes
    ----------
    lender
        What runs statements there.
    relation
        SQL text that names the table after FROM.
    columns
        Names and kinds of its columns, in order.
    """

    lender: Lender
    relation: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class InFile:
    """A CSV, Parquet or Arrow file, or a folder of Parquet files that are one table, in the order of their names.

    An original may also be a table in memory.
    """

    path: Path | str | Any


Where = InDatabase | InFile
"""Where a table lies."""


@dataclass(frozen=True)
class LinkClaim:
    """What became of the records, told by kinds of record and not by their numbers.

    Records that agree in quasi-identifiers, sensitive values and person are one *class*.

    Attributes
    ----------
    profiles
        Distinct rows of the original: the quasi-identifiers and sensitive columns by their names, with their values as
        they were read; where the plan names persons then ``person``, the number of the person; then ``class``.
    parts
        ``class``, ``g`` and ``n``: how many records of a class are in a group.
    labels
        ``g``, then what the group is published as: the quasi-identifiers by their names.

    Notes
    -----
    A column of the data may itself be named ``class``, ``person`` or ``g``: of two such columns that of the data is the
    first in ``profiles`` and the last in ``labels``.

    Persons are numbered from 1 in the order of their keys, as DENSE_RANK() does: keys of text are trimmed, emptied
    where they mean a missing value, and ordered by their bytes; other keys are ordered as they are.
    """

    profiles: pa.Table
    parts: pa.Table
    labels: pa.Table
