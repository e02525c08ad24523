"""Release: what may be given to others, with what is known about it; immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.engines.rows import Rows
from hedgerow.errors import HedgerowError, Problem
from hedgerow.plan import Plan
from hedgerow.plan.concepts import MEASURES
from hedgerow.types import IntArray
from hedgerow.verification import Verification

if TYPE_CHECKING:
    import pyarrow as pa


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
    verification
        What the independent check found, of what was written, against the data it was made from.
    before
        Private, never written: what records were last published as, ``record`` (from 1) and a label for every
        quasi-identifier, where they must not be published narrower than that.
    population
        Private, never written: where the table of the population is, if there is one.
    """

    rows: Rows
    plan: Plan
    facts: Mapping[str, Any]
    kind: str = "pyarrow"
    private: Mapping[str, Any] = field(default_factory=dict)
    verification: Verification | None = None
    before: pa.Table | None = None
    population: str | None = None

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
        found = [name for measure in MEASURES for name in (measure.name, f"{measure.name}_by_attribute")]
        return {name: self.facts[name] for name in found if name in self.facts}

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
