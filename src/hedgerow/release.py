"""Release: what may be given to others, with what is known about it; immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.plan import Plan

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Release:
    """A verified release.

    Attributes
    ----------
    table
        The released rows, as an Arrow table; :attr:`data` is the same in the kind of table that was given.
    plan
        The plan it was made with, hierarchies written out.
    facts
        What is true of it: counts, losses, limits; as in ``facts.json``.
    record_of_row
        Private: number of the input record (from 0) behind every released row. Not part of what is shared.
    kind
        The library of the table that was given: ``pandas``, ``polars`` or ``pyarrow``.
    """

    table: pa.Table
    plan: Plan
    facts: Mapping[str, Any]
    record_of_row: npt.NDArray[np.int64]
    kind: str = "pyarrow"

    @property
    def data(self) -> Any:
        """The released rows: a pandas or polars frame if one was given, else an Arrow table."""
        if self.kind == "pandas":
            return self.table.to_pandas()
        if self.kind == "polars":
            import polars

            return polars.from_arrow(self.table)
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
