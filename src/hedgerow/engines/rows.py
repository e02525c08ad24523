"""The rows of a release, wherever they lie, and what is behind them: what an engine's ``apply`` gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from hedgerow.microdata.notes import ColumnNote
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class CountedLink:
    """Which records are behind which groups, where records have no numbers: by classes of records that agree.

    Attributes
    ----------
    profiles
        The values of quasi-identifiers and sensitive columns as they were read, by name, and the ``class`` of each row;
        the person's number too, under the person column's name, where the plan names one.
    parts
        ``class``, ``g`` and ``n``: so many records of a class are in group ``g``.
    labels
        ``g`` and, by name, what the group is published as in every quasi-identifier.
    claim
        The same as one relation where the data lies, as statements name it; empty: there is none. It has the values of
        quasi-identifiers as they are read, ``c0`` and so on, those of sensitive columns, ``s0``, the key of the person
        as it is compared, ``p``, where the plan names one; what the records are published as, ``l0``; and ``n``.
    """

    profiles: pa.Table
    parts: pa.Table
    labels: pa.Table
    claim: str = ""


@dataclass(frozen=True, eq=False)
class Selected:
    """Rows that can be had, in the order of published values.

    Attributes
    ----------
    schema
        Names and types of the columns.
    batches
        Starts the rows from the first.
    query
        Where the data lies in a database: the statement that selects these rows there.
    """

    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]]
    query: str | None = None


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a release; whatever it takes to have them is done when they are first asked for.

    Attributes
    ----------
    select
        Makes them ready.
    link
        Private: what is behind them. The number of the input record (from 0) behind every row; or classes and groups,
        where records have no numbers; None where it is not known any more.
    notes
        What a file that holds labels says of the columns beside their cells.
    numbers
        Columns of text whose cells all are numbers, which a file with types holds as such.
    """

    select: Callable[[], Selected]
    link: IntArray | CountedLink | None = None
    notes: Mapping[str, ColumnNote] = field(default_factory=dict)
    numbers: frozenset[str] = frozenset()

    @classmethod
    def of_table(
        cls,
        table: pa.Table,
        link: IntArray | CountedLink | None = None,
        notes: Mapping[str, ColumnNote] | None = None,
    ) -> Rows:
        """Take rows from a table in memory."""
        return cls(lambda: Selected(table.schema, lambda: iter(table.to_batches())), link, notes or {})

    @cached_property
    def selected(self) -> Selected:
        """The rows, ready."""
        return self.select()

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self.selected.schema

    @property
    def query(self) -> str | None:
        """The statement that selects the rows, where the data lies in a database."""
        return self.selected.query

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Start the rows from the first."""
        return self.selected.batches()
