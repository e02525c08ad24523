"""Blocks of records: which must be withheld, how large they are, and which tasks they go to.

A block is known by one number: that of the limits which its records share. What tells whether it fails — how many
people it has, and how many different sensitive values — is counted, by partial counts that never are more than is
asked. Only where a width is limited must the records themselves be looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.engines.spread.coded import PERSON, Sent, gathered, numbers, ranked, values_of
from hedgerow.microdata.columns import QuasiIdentifier
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BLOCKS = 1 << 62
ALL, PEOPLE = -1, -2
"""What a partial count is of: records, persons, or else values of the sensitive column of that number."""


@dataclass(frozen=True, eq=False)
class LimitKeys:
    """What keeps records apart.

    Attributes
    ----------
    keys
        By quasi-identifier, the number of the limit of every value, from 0; and how many there are.
    """

    keys: tuple[tuple[IntArray, int], ...]

    @classmethod
    def of(
        cls, columns: Sequence[QuasiIdentifier], codes: Sequence[IntArray], ignore_limits: bool = False
    ) -> LimitKeys | None:
        """Number the limits of columns; None if there are more blocks possible than can be numbered."""
        keys = []
        room = 1
        for column, of_value in zip(columns, codes, strict=False):
            by_code = column.free_keys if ignore_limits else column.limit_keys
            known, place = np.unique(by_code, return_inverse=True)
            place = place.reshape(-1)
            keys.append(
                (place[np.maximum(of_value, 0)] if len(place) else np.zeros(len(of_value), np.int64), len(known))
            )
            room *= max(len(known), 1)
        return cls(tuple(keys)) if room < MOST_BLOCKS else None

    def blocks(self, values: Sequence[IntArray]) -> IntArray:
        """Number the blocks of rows, given the numbers of their values."""
        found = np.zeros(len(values[0]), np.int64)
        for (keys, size), of_row in zip(self.keys, values, strict=False):
            if size > 1:
                found = found * size + keys[of_row]
        return found

    def same_as(self, other: LimitKeys, counts: Sequence[IntArray]) -> bool:
        """Tell whether others keep the same records apart, as far as values occur."""
        for (here, _), (there, _), count in zip(self.keys, other.keys, counts, strict=False):
            used = count > 0
            pairs = len(np.unique(np.stack([here[used], there[used]]), axis=1).T)
            if not pairs == len(np.unique(here[used])) == len(np.unique(there[used])):
                return False
        return True


@dataclass(frozen=True, eq=False)
class AskedOfBlocks:
    """What of a requirement no part of a failing block could meet either.

    Attributes
    ----------
    k
        People.
    distinct
        Different values, by sensitive column; 0 where none are asked.
    """

    k: int
    distinct: tuple[int, ...]

    @classmethod
    def of(cls, requirement: Requirement, sensitive: int) -> AskedOfBlocks:
        """Take what survives growth: k and numbers of different values."""
        return cls(requirement.k, tuple(requirement.distinct_wanted(sensitive).tolist()))

    def fails(self, person: bool) -> str:
        """Return a condition on the columns ``n``, ``people`` and ``d0`` and so on of a statement."""
        too_few = [f"{'people' if person else 'n'} < {self.k:d}"]
        too_few += [f"d{number} < {wanted:d}" for number, wanted in enumerate(self.distinct) if wanted]
        return " OR ".join(too_few)

    def counted(self, name: str, person: bool) -> str:
        """Return the statement that puts partial counts together: by variant and block, records and what is asked."""
        found = [f"CAST(SUM(CASE WHEN what = {ALL:d} THEN n ELSE 0 END) AS BIGINT) AS n"]
        if person:
            found.append(f"COUNT(DISTINCT CASE WHEN what = {PEOPLE:d} THEN {PERSON} END) AS people")
        found += [
            f"COUNT(DISTINCT CASE WHEN what = {number:d} THEN code END) AS d{number}"
            for number, wanted in enumerate(self.distinct)
            if wanted
        ]
        return f"SELECT variant, block, {', '.join(found)} FROM {name} GROUP BY variant, block"


def count_blocks(
    sent: Sent, variants: Sequence[LimitKeys], asked: AskedOfBlocks, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Count the blocks of records, under several limits at once: partial counts, enough of them to judge."""
    book = sent.book
    for table in gathered(batches):
        values, n = values_of(book, table), numbers(table, "n")
        keys = table.column(PERSON).combine_chunks() if sent.person else None
        person = ranked(table.column(PERSON))[0] if sent.person else None
        for variant, limits in enumerate(variants):
            blocks, place = np.unique(limits.blocks(values), return_inverse=True)
            place = place.reshape(-1)
            records = np.zeros(len(blocks), np.int64)
            np.add.at(records, place, n)
            partial = _Partial(variant, blocks, keys)
            yield from partial.counts(np.arange(len(blocks)), ALL, np.zeros(len(blocks), np.int64), records)
            if person is not None:
                rows = _some(place, person, asked.k)
                yield from partial.counts(place[rows], PEOPLE, person[rows], None, rows)
            for number, wanted in enumerate(asked.distinct):
                if wanted:
                    codes = book.codes[len(book.columns) + number][values[len(book.columns) + number]]
                    rows = _some(place, codes, wanted)
                    yield from partial.counts(place[rows], number, codes[rows], None)


@dataclass(frozen=True, eq=False)
class _Partial:
    """Lays partial counts of blocks out as rows; ``keys`` are those of the persons of all rows that are counted."""

    variant: int
    blocks: IntArray
    keys: Any

    def counts(
        self, at: IntArray, what: int, code: IntArray, records: IntArray | None, rows: IntArray | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Give a row for each of some blocks; ``rows`` are those of its persons."""
        import pyarrow as pa

        columns: dict[str, Any] = {
            "variant": pa.array(np.full(len(at), self.variant, np.int32)),
            "block": pa.array(self.blocks[at]),
            "what": pa.array(np.full(len(at), what, np.int32)),
            "code": pa.array(code.astype(np.int64)),
            "n": pa.array(np.zeros(len(at), np.int64) if records is None else records),
        }
        if self.keys is not None:
            columns[PERSON] = pa.nulls(len(at), self.keys.type) if rows is None else self.keys.take(pa.array(rows))
        yield from pa.table(columns).to_batches()


def _some(place: IntArray, code: IntArray, most: int) -> IntArray:
    """Return rows that show so many different codes, −1 being none, of every place, or all that it has."""
    there = np.flatnonzero(code >= 0)
    order = there[np.lexsort((code[there], place[there]))]
    new = np.ones(len(order), bool)
    new[1:] = (place[order[1:]] != place[order[:-1]]) | (code[order[1:]] != code[order[:-1]])
    order = order[new]
    starts = np.ones(len(order), bool)
    starts[1:] = place[order[1:]] != place[order[:-1]]
    first = np.flatnonzero(starts)
    nth = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    return order[nth < most]


def keep_blocks(
    sent: Sent, limits: LimitKeys, failing: IntArray, keep: bool, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Give the records of all blocks but some, or of these alone."""
    import pyarrow as pa

    for table in gathered(batches):
        block = limits.blocks(values_of(sent.book, table))
        yield from table.filter(pa.array(np.isin(block, failing) != keep)).to_batches()


def count_values(sent: Sent, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the values of records, column by column: ``j``, the number of the value, and ``n``."""
    import pyarrow as pa

    totals = [np.zeros(size, np.int64) for size in sent.book.sizes]
    for table in gathered(batches):
        n = numbers(table, "n")
        for total, of_row in zip(totals, values_of(sent.book, table), strict=True):
            total += np.bincount(of_row, weights=n, minlength=len(total)).astype(np.int64)
    for j, total in enumerate(totals):
        there = np.flatnonzero(total)
        yield pa.record_batch(
            [pa.array(np.full(len(there), j, np.int32)), pa.array(there), pa.array(total[there])], names=["j", "v", "n"]
        )


@dataclass(frozen=True, eq=False)
class Bundles:
    """Which task each block goes to.

    Attributes
    ----------
    number
        How many tasks there are.
    large, of_large
        Blocks that have a place of their own choice, ascending, and their tasks; all others are dealt by their number.
    """

    number: int
    large: IntArray
    of_large: IntArray

    @classmethod
    def of(cls, blocks: IntArray, records: IntArray, total: int, number: int) -> Bundles:
        """Deal out large blocks, the largest first, each to the task that has least."""
        load = np.full(number, (total - int(records.sum())) / number)
        task = np.zeros(len(blocks), np.int64)
        for at in np.lexsort((blocks, -records)).tolist():
            task[at] = int(np.argmin(load))
            load[task[at]] += records[at]
        order = np.argsort(blocks)
        return cls(number, blocks[order], task[order])

    def tasks(self, blocks: IntArray) -> IntArray:
        """Return the task of every row, given its block."""
        mixed = blocks.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        found = ((mixed >> np.uint64(33)) % np.uint64(self.number)).astype(np.int64)
        if len(self.large):
            at = np.minimum(np.searchsorted(self.large, blocks), len(self.large) - 1)
            found = np.where(self.large[at] == blocks, self.of_large[at], found)
        return found


def deal_out(
    sent: Sent, limits: LimitKeys, bundles: Bundles, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Say which task every record goes to."""
    import pyarrow as pa

    for table in gathered(batches):
        task = bundles.tasks(limits.blocks(values_of(sent.book, table)))
        yield from table.append_column("task", pa.array(task.astype(np.int32))).to_batches()
