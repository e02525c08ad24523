"""What is known of a release of which only sums are here, in the form that measures take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.anonymization.counts import Counts, bound_of_loss
from hedgerow.engines.spread.book import Book, SummedMicrodata
from hedgerow.engines.spread.groups import PAIR, VALUE, Sums
from hedgerow.measures.entropy import Bits
from hedgerow.measures.measured import Measured
from hedgerow.microdata import FreeColumn, TreeColumn
from hedgerow.microdata.columns import Shown
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.types import BoolArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class PublishedValues:
    """What a column is published as.

    Attributes
    ----------
    shown
        Its distinct published values.
    groups, records
        How many groups, and records, have each.
    code, of_value, behind
        Of a column with a hierarchy: how often each code is behind a published value.
    """

    shown: Shown
    groups: IntArray
    records: IntArray
    code: IntArray
    of_value: IntArray
    behind: IntArray


@dataclass(frozen=True, eq=False)
class SummedRecoding(Recoding):
    """A recoding of which only this is known: what each column is published as, and how often.

    Attributes
    ----------
    columns
        What is known of every quasi-identifier.
    number
        How many groups there are.
    """

    columns: tuple[PublishedValues, ...] = field(default_factory=tuple)
    number: int = 0

    @classmethod
    def of(cls, columns: tuple[PublishedValues, ...], number: int) -> SummedRecoding:
        """Take what is known."""
        nothing = np.zeros((0, len(columns)), np.int64)
        return cls(np.zeros(0, np.int64), nothing, nothing, nothing, columns=columns, number=number)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self.number

    @property
    def released(self) -> int:
        """Number of records that are in a group."""
        return int(self.columns[0].records.sum())

    def shown(self, position: int) -> Shown:
        """What groups are published as in one quasi-identifier, each value once."""
        return self.columns[position].shown

    def shows(self, position: int) -> BoolArray:
        """Tell which of these show something: all."""
        return np.ones(len(self.columns[position].records), bool)

    def showing(self, position: int) -> IntArray:
        """Number of records of each."""
        return self.columns[position].records

    def times(self, position: int) -> IntArray:
        """Number of groups of each."""
        return self.columns[position].groups


@dataclass(frozen=True, eq=False)
class SummedMeasured(Measured):
    """A release that is measured by sums."""

    sums: Sums = field(default_factory=Sums)

    @cached_property
    def sizes(self) -> tuple[IntArray, IntArray]:
        """The sizes that groups have, ascending, and how many have each."""
        pairs = sorted(self.sums.sizes.items())
        return np.array([size for size, _ in pairs], np.int64), np.array([times for _, times in pairs], np.int64)

    @cached_property
    def bits(self) -> dict[str, Bits]:
        """Bits per record that every quasi-identifier had, and lost."""
        found = {}
        released = self.recoding.released
        for j, column in enumerate(self.microdata.columns):
            records = self.microdata.records_by_code(j)
            there = records[records > 0]
            known = float(there @ np.log2(released / there)) / max(released, 1)
            behind = self.sums.bits.get(j, 0.0) - float(there @ np.log2(there))
            lost = max(behind, 0.0) / max(released, 1)  # what is nearly nothing may be less than that
            share = released / self.microdata.records
            found[column.name] = Bits(known, share * lost + (1 - share) * known)
        return found

    @cached_property
    def values(self) -> dict[str, Fraction]:
        """Research value of every quasi-identifier."""
        assert isinstance(self.recoding, SummedRecoding)
        gone = self.microdata.records - self.recoding.released
        found = {}
        for value, known in zip(self.worths, self.recoding.columns, strict=True):
            if isinstance(value.column, FreeColumn):
                codes, of_value, times = known.shown.lo, np.arange(len(known.records)), known.records
            else:
                codes, of_value, times = known.code, known.of_value, known.behind
            hidden = np.zeros(len(times), bool)
            found[value.column.name] = value.of_release(codes, known.shown, of_value, hidden, gone, times)
        return found


def published_values(book: Book, rows: pa.Table) -> tuple[PublishedValues, ...]:
    """Put together what tasks counted of published values: see :mod:`hedgerow.engines.spread.groups`."""
    table = {name: rows.column(name).to_numpy().astype(np.int64) for name in rows.column_names}
    found = []
    none = np.zeros(0, np.int64)
    for j, column in enumerate(book.columns):
        mine = np.flatnonzero((table["what"] == VALUE) & (table["j"] == j))
        mine = mine[np.lexsort((table["hi"][mine], table["lo"][mine], table["node"][mine]))]
        lo, hi, node = (table[name][mine] for name in ("lo", "hi", "node"))
        code = of_value = behind = none
        if isinstance(column, TreeColumn):
            lo, hi = column.hierarchy.first_leaf[node], column.hierarchy.last_leaf[node]
            pairs = np.flatnonzero((table["what"] == PAIR) & (table["j"] == j))
            pairs = pairs[np.lexsort((table["node"][pairs], table["code"][pairs]))]
            code, behind = table["code"][pairs], table["records"][pairs]
            of_value = np.searchsorted(node, table["node"][pairs])
        shown = Shown(lo, hi, node)
        records, groups = table["records"][mine], table["groups"][mine]
        found.append(PublishedValues(shown, groups, records, code, of_value, behind))
    return tuple(found)


def counts_of(
    plan: Plan,
    known: SummedMicrodata,
    columns: tuple[PublishedValues, ...],
    sums: Sums,
    listed: Sequence[tuple[int, str]],
) -> Counts:
    """Return what the facts of a release are made of; ``listed``: groups and columns of one sensitive value."""
    recoding = SummedRecoding.of(columns, sum(sums.sizes.values()))
    released = known.by_code
    names = [column.name for column in known.columns]
    sensitive = [column.name for column in known.sensitive]
    smallest = min(sums.sizes, default=known.records)
    single = {name: sums.single.get(j, 0) for j, name in enumerate(sensitive)}
    persons = None
    if plan.person is not None:
        persons = known.persons, min(sums.people, default=known.persons)
    return Counts(
        SummedMeasured(known, recoding, plan, bound_of_loss(known, plan, released), sums=sums),
        released,
        smallest,
        {str(size): records for size, records in sorted(sums.people.items())},
        {name: sums.breaks.get(j, 0) for j, name in enumerate(names)},
        {column.name: sums.exact.get(j, 0) for j, column in enumerate(known.columns) if isinstance(column, FreeColumn)},
        {"count": sum(single.values()), "by_attribute": single, "listed": sorted(listed)},
        {name: round(sums.shares.get(j, 0.0), 12) for j, name in enumerate(sensitive)},
        persons,
    )
