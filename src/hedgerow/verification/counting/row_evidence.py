"""Evidence row by row: a link table names the record behind every row of the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.types import IntArray
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.pairs import Pair
from hedgerow.verification.counting.spots import where
from hedgerow.verification.counting.tabulation import (
    count_differences,
    count_pairs,
    count_persons,
    count_surplus,
    count_tuples,
)
from hedgerow.verification.reading.cells import distinct_cells
from hedgerow.verification.reading.link import Link
from hedgerow.verification.reading.original import Original
from hedgerow.verification.values.columns import Cell

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ShownAgain:
    """An original cell, what it was published as before, and what it is published as now: how often, and where."""

    value: Cell
    before: Cell
    label: Cell
    count: int
    row: int


@dataclass(frozen=True)
class RowEvidence(Evidence):
    """All that is at hand to judge a release by, row by row.

    Attributes
    ----------
    link
        The record behind every row.
    before
        What records were last published as in earlier versions: ``record``, from 1, and a label for every
        quasi-identifier.
    """

    link: Link | None = None
    before: pa.Table | None = None

    @property
    def has_link(self) -> bool:
        """Whether a link table was given."""
        return self.link is not None

    @cached_property
    def _order(self) -> tuple[IntArray | None, str]:
        if self.original is None or self.link is None:
            return None, ""
        return self.link.order(self.published.rows, self.original.records)

    @property
    def link_fault(self) -> str:
        """What is wrong with the link table."""
        return self._order[1]

    @property
    def record_of_row(self) -> IntArray:
        """The index of the record behind every row; needs a sound link."""
        order = self._order[0]
        assert order is not None
        return order

    def behind(self, name: str) -> pa.ChunkedArray:
        """Return the original cells of a column in the order of the release's rows."""
        import pyarrow as pa

        assert self.original is not None
        column = self.original.columns[name].cast(pa.large_string()).combine_chunks()
        return pa.chunked_array([column.take(pa.array(self._order[0]))])

    def shown_before(self, name: str, before: pa.Table) -> list[ShownAgain]:
        """Return what lies behind the rows that were published before, what they were shown as, and are now.

        Every distinct triple with its count and its first row; needs a sound link.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        order = self._order[0]
        assert order is not None
        at = pc.index_in(pa.array(order + 1, pa.int64()), before.column("record").combine_chunks())
        rows = np.flatnonzero(at.is_valid().to_numpy(zero_copy_only=False))
        cells = (
            self.behind(name).take(pa.array(rows)),
            before.column(name).take(at.drop_null()),
            self.cells[name].take(pa.array(rows)),
        )
        return [
            ShownAgain(value, shown, label, count, int(rows[first - 1]) + 1)
            for (value, shown, label), count, first in count_tuples(cells)
        ]

    def _fewest_persons(self, key: str, groups: int) -> int:
        return count_persons(self.group_of, self.behind(key), groups)

    def behind_groups(self, name: str) -> Sequence[tuple[int, tuple[Cell, ...], int]]:
        """Return every distinct pair of a group and the original cell behind a row of it, with its count."""
        texts, cells = distinct_cells(self.behind(name))
        values = [*texts, None]
        keys, counts = np.unique(self.group_of * len(values) + cells % len(values), return_counts=True)
        return [
            (key // len(values), (values[key % len(values)],), count)
            for key, count in zip(keys.tolist(), counts.tolist(), strict=True)
        ]

    @cached_property
    def pairs(self) -> Mapping[str, Sequence[Pair]]:
        """Every distinct pair of an original and a published cell, with its count and its first row."""
        return {
            name: [
                Pair((value,), label, count, row) for value, label, count, row in count_pairs(self.behind(name), column)
            ]
            for name, column in self.cells.items()
        }

    def changed(self, original: Original) -> str:
        """Say which columns that are released as they are differ from the records behind them."""
        return where(
            {
                name: count_differences(self.behind(name), self.as_original(name, original))
                for name in self.published.unchanged
            }
        )

    def surplus(self, original: Original) -> str:
        """Say which columns that are released as they are hold a value more often than the original."""
        counts = {
            name: count_surplus(self.as_original(name, original), original.columns[name])
            for name in self.published.unchanged
        }
        return "; ".join(f"{name}: {count} cells too many" for name, count in counts.items() if count)
