"""Release: what may be given to others, with what is known about it; immutable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError, Problem
from hedgerow.plan import Plan

if TYPE_CHECKING:
    import pyarrow as pa


IntArray = npt.NDArray[np.int64]


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
    """

    profiles: pa.Table
    parts: pa.Table
    labels: pa.Table


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
    """

    select: Callable[[], Selected]
    link: IntArray | CountedLink | None = None

    @classmethod
    def of_table(cls, table: pa.Table, link: IntArray | CountedLink | None = None) -> Rows:
        """Take rows from a table in memory."""
        return cls(lambda: Selected(table.schema, lambda: iter(table.to_batches())), link)

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


@dataclass(frozen=True, eq=False)
class Release:
    """A verified release.

    Attributes
    ----------
    rows
        The released rows, wherever they are; :attr:`table` has them as an Arrow table, :attr:`data` in the kind of
        table that was given.
    plan
        The plan it was made with, hierarchies written out.
    facts
        What is true of it: counts, losses, limits; as in ``facts.json``.
    kind
        The library of the table that was given: ``pandas``, ``polars``, ``spark`` or ``pyarrow``.
    private
        What the owner may be told besides, because it depends on values of withheld records: why they are withheld.
        Never written.
    """

    rows: Rows
    plan: Plan
    facts: Mapping[str, Any]
    kind: str = "pyarrow"
    private: Mapping[str, Any] = field(default_factory=dict)

    @property
    def told(self) -> dict[str, Any]:
        """All that the owner is told: the facts, and with them what is private. Not for sharing."""
        limits = {name: dict(about) for name, about in self.facts["limits_by_attribute"].items()}
        for name, about in self.private.get("limits_by_attribute", {}).items():
            limits[name] = limits.get(name, {}) | about
        return {**self.facts, **self.private, "limits_by_attribute": limits}

    @cached_property
    def table(self) -> pa.Table:
        """The released rows as an Arrow table."""
        import pyarrow as pa

        return pa.Table.from_batches(self.rows.batches(), self.rows.schema)

    @property
    def record_of_row(self) -> IntArray:
        """Private: number of the input record (from 0) behind every released row. Not part of what is shared."""
        if not isinstance(self.rows.link, np.ndarray):
            message = "Records have no numbers where this release was made."
            raise HedgerowError(Problem("usage", message, hint="use the local engine"))
        return self.rows.link

    @property
    def data(self) -> Any:
        """The released rows: a pandas, polars or Spark frame if one was given, else an Arrow table."""
        if self.kind == "pandas":
            return self.table.to_pandas()
        if self.kind == "polars":
            import polars

            return polars.from_arrow(self.table)
        if self.kind == "spark":
            from pyspark.sql import SparkSession

            return SparkSession.active().createDataFrame(self.table)
        return self.table

    @property
    def groups(self) -> int:
        """Number of groups that a reader can tell apart."""
        return int(self.facts["groups"])

    @property
    def withheld(self) -> int:
        """Number of records that are not released."""
        return int(self.facts["withheld"])

    @property
    def scores(self) -> dict[str, Any]:
        """The measures of the release."""
        return {name: self.facts[name] for name in SCORES}

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand the released rows to any library that takes Arrow."""
        return self.table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        facts = self.facts
        return (
            f"Release({facts['released']:,} of {facts['records']:,} records in {facts['groups']:,} groups of "
            f"{min(map(int, facts['group_sizes']), default=0):,}–{facts['largest_group']:,}, NTIL {facts['ntil']:.4f})"
        )

    def _repr_html_(self) -> str:
        from html import escape

        names = ("records", "released", "withheld", "groups", "smallest_group", "ntil", "limits_broken")
        rows = "".join(f"<tr><th>{name.replace('_', ' ')}</th><td>{self.facts[name]}</td></tr>" for name in names)
        head = "".join(f"<th>{escape(name)}</th>" for name in self.table.column_names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row.values()) + "</tr>"
            for row in self.table.slice(0, 5).to_pylist()
        )
        return f"<table>{rows}</table><table><tr>{head}</tr>{body}</table>"


SCORES = (
    "loss",
    "ntil",
    "ncp",
    "granularity",
    "discernibility",
    "normalized_average_group_size",
    "research_value",
    "loss_by_attribute",
)
