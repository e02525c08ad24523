"""Groups, counted in tasks: all records that are published alike come to one task, and only sums leave it."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.engines.spread.coded import PERSON, Sent, gathered, numbers, ranked, summed, values_of, whole
from hedgerow.measures.entropy import records_behind
from hedgerow.microdata import FreeColumn, TreeColumn
from hedgerow.microdata.columns import Shown
from hedgerow.privacy.disclosure import LISTED
from hedgerow.privacy.tally import Tally
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

VALUE, PAIR, SAID = range(3)
"""What a row says: how often a column has a published value; how often a value is behind it; the sums of the task."""
COLUMNS = ("what", "j", "code", "lo", "hi", "node", "groups", "records")


@dataclass
class Sums:
    """What is known of some groups, all of whose records are among those that were counted.

    Attributes
    ----------
    sizes
        Groups by the number of their records.
    people
        Records by the people of their group.
    breaks, exact, bits
        By quasi-identifier: records beyond their limit, records whose value is a published end, and the sum over
        records of the logarithm of the records that their published value may stand for.
    single, shares
        By sensitive column: groups that have one value, and the greatest share of one value in a group.
    listed
        The first groups that have one value of some sensitive column: what they are published as, and the column.
    """

    sizes: Counter[int] = field(default_factory=Counter)
    people: Counter[int] = field(default_factory=Counter)
    breaks: Counter[int] = field(default_factory=Counter)
    exact: Counter[int] = field(default_factory=Counter)
    bits: dict[int, float] = field(default_factory=dict)
    single: Counter[int] = field(default_factory=Counter)
    shares: dict[int, float] = field(default_factory=dict)
    listed: list[tuple[tuple[int, ...], str]] = field(default_factory=list)

    def add(self, other: Sums) -> None:
        """Add the sums of other groups."""
        for mine, more in (
            (self.sizes, other.sizes),
            (self.people, other.people),
            (self.breaks, other.breaks),
            (self.exact, other.exact),
            (self.single, other.single),
        ):
            mine.update(more)
        for j, bits in other.bits.items():
            self.bits[j] = self.bits.get(j, 0.0) + bits
        for j, share in other.shares.items():
            self.shares[j] = max(self.shares.get(j, 0.0), share)
        self.listed = sorted([*self.listed, *other.listed])[:LISTED]


def deal_groups(names: Sequence[str], tasks: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Say which task every record goes to, by what it is published as."""
    import pyarrow as pa

    for batch in batches:
        table = pa.Table.from_batches([batch])
        mixed = np.zeros(table.num_rows, np.uint64)
        for name in names:
            mixed = (mixed ^ numbers(table, name).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        task = ((mixed >> np.uint64(20)) % np.uint64(tasks)).astype(np.int32)
        yield from table.append_column("task", pa.array(task)).to_batches()


def count_groups(sent: Sent, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the groups of a task."""
    import pyarrow as pa

    table = whole(batches)
    if table is None:
        return
    book = sent.book
    table = summed(table, [*sent.names, *book.keys])
    words = [numbers(table, name) for name in book.keys]
    order = np.lexsort(words[::-1])
    table, words = table.take(pa.array(order)), [word[order] for word in words]
    change = np.zeros(len(order), bool)
    change[:1] = True
    for word in words:
        change[1:] |= word[1:] != word[:-1]
    starts, group = np.flatnonzero(change), np.cumsum(change) - 1
    n, values = numbers(table, "n"), values_of(book, table)
    sizes = np.add.reduceat(n, starts)
    sums = Sums(sizes=_counter(sizes))
    people = sizes
    if sent.person:
        person, persons = ranked(table.column(PERSON))
        people = np.bincount(np.unique(group * persons + person) // persons, minlength=len(starts))
    np.add.at(total := np.zeros(int(people.max()) + 1, np.int64), people, sizes)
    sums.people = Counter({int(size): int(total[size]) for size in np.flatnonzero(total)})
    for j, column in enumerate(book.columns):
        codes = book.codes[j][values[j]]
        lo, hi = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
        node = np.full(len(lo), -1, np.int64)
        if isinstance(column, TreeColumn):
            node = column.hierarchy.lca_of_ranges(lo, hi)
        shown = Shown(lo, hi, node)
        sums.breaks[j] = int(n[column.breaks(codes, shown[group])].sum())
        if isinstance(column, FreeColumn):
            ends = ((codes == lo[group]) | (codes == hi[group])) & (codes < column.missing_code)
            sums.exact[j] = 0 if column.intervals.snap is not None else int(n[ends].sum())
        behind = records_behind(column, shown, book.by_code(j))
        sums.bits[j] = float(np.dot(np.log2(behind), sizes))
        yield from _values(j, shown, sizes)
        if isinstance(column, TreeColumn):
            yield from _pairs(j, codes, node[group], n)
    for j, of in enumerate(book.sensitive):
        codes = book.codes[len(book.columns) + j][values[len(book.columns) + j]]
        tally = _tally(group, codes, n, len(starts), of.values)
        single = np.flatnonzero(tally.distinct == 1)
        sums.single[j] = len(single)
        sums.shares[j] = float((tally.count / tally.total[tally.group]).max(initial=0))
        first = starts[single[:LISTED]]
        sums.listed += [(tuple(int(word[at]) for word in words), of.name) for at in first.tolist()]
    sums.listed = sorted(sums.listed)[:LISTED]
    yield _batch(SAID, 1, said=pickle.dumps(sums))


def _tally(group: IntArray, codes: IntArray, n: IntArray, groups: int, values: int) -> Tally:
    """Count values by group, rows standing for several records."""
    there, width = codes >= 0, max(values, 1)
    keys, place = np.unique(group[there] * width + codes[there], return_inverse=True)
    count = np.zeros(len(keys), np.int64)
    np.add.at(count, place.reshape(-1), n[there])
    return Tally(groups, values, keys // width, keys % width, count, np.zeros(values, np.int64))


def _values(j: int, shown: Shown, sizes: IntArray) -> Iterator[pa.RecordBatch]:
    """Count the groups, and the records, of every published value of a column."""
    ends = np.stack([shown.lo, shown.hi, shown.node])
    if len(shown.node) and (shown.node >= 0).all():
        ends[:2] = 0  # the node says it all
    known, place = np.unique(ends, axis=1, return_inverse=True)
    place = place.reshape(-1)
    groups, records = np.bincount(place), np.zeros(known.shape[1], np.int64)
    np.add.at(records, place, sizes)
    yield _batch(VALUE, len(groups), j=j, lo=known[0], hi=known[1], node=known[2], groups=groups, records=records)


def _pairs(j: int, codes: IntArray, node: IntArray, n: IntArray) -> Iterator[pa.RecordBatch]:
    """Count how often a value is behind a published one."""
    width = int(node.max(initial=0)) + 1
    known, place = np.unique(codes * width + node, return_inverse=True)
    records = np.zeros(len(known), np.int64)
    np.add.at(records, place.reshape(-1), n)
    yield _batch(PAIR, len(known), j=j, code=known // width, node=known % width, records=records)


def _batch(what: int, size: int, said: bytes | None = None, **columns: IntArray | int) -> pa.RecordBatch:
    import pyarrow as pa

    found = [pa.array(np.full(size, what, np.int64))]
    for name in COLUMNS[1:]:
        column = columns.get(name, 0)
        found.append(pa.array(np.full(size, column, np.int64) if isinstance(column, int) else column.astype(np.int64)))
    found.append(pa.array([said] * size, pa.binary()))
    return pa.RecordBatch.from_arrays(found, [*COLUMNS, "said"])


def _counter(sizes: IntArray) -> Counter[int]:
    known, groups = np.unique(sizes, return_counts=True)
    return Counter(dict(zip(known.tolist(), groups.tolist(), strict=True)))


def count_before(
    names: Sequence[str], marks: Sequence[tuple[int, ...]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Count the groups that come before each of some: ``mark`` and ``n``."""
    import pyarrow as pa

    found = np.zeros(len(marks) + 1, np.int64)
    for table in gathered(batches):
        words = [
            np.concatenate([[mark[at] for mark in marks], numbers(table, name)]).astype(np.int64)
            for at, name in enumerate(names)
        ]
        is_group = np.arange(len(words[0])) >= len(marks)
        order = np.lexsort([is_group, *words[::-1]])  # a group that is one of them comes after itself
        passed = np.cumsum(~is_group[order])  # so many of them come no later than this group
        found += np.bincount(passed[is_group[order]], minlength=len(marks) + 1)
    before = np.cumsum(found)[: len(marks)]
    yield pa.record_batch([pa.array(np.arange(len(marks))), pa.array(before)], names=["mark", "n"])
