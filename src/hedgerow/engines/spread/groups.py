"""Groups, counted and put in order in tasks: each has all records that are published as something in its range."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.engines.spread.book import Book
from hedgerow.engines.spread.coded import PERSON, Sent, gathered, numbers, ranked, summed, values_of, whole
from hedgerow.measures.entropy import records_behind
from hedgerow.microdata import FreeColumn, TreeColumn
from hedgerow.microdata.columns import Shown
from hedgerow.privacy.disclosure import LISTED
from hedgerow.privacy.tally import Tally
from hedgerow.types import IntArray

if TYPE_CHECKING:
    import pyarrow as pa

VALUE, PAIR, SAID, ROWS = range(4)
"""What a row says: how often a column has a published value; how often a value is behind it; the sums of the task; or
how many records are published alike."""
COLUMNS = ("what", "j", "code", "lo", "hi", "node", "groups", "records")


@dataclass(frozen=True)
class GroupLayout:
    """How the answer of a task is laid out: whole numbers, and what is said of all of its groups."""

    book: Book

    @property
    def places(self) -> list[str]:
        """Names of the places of sensitive values."""
        return [f"r{at}" for at in range(len(self.book.sensitive))]

    @property
    def names(self) -> list[str]:
        """Names of the columns that are whole numbers."""
        return [*COLUMNS, *self.book.keys, *self.places, "n"]

    def batch(self, what: int, size: int, said: bytes | None, **columns: IntArray | int) -> pa.RecordBatch:
        """Lay rows out."""
        import pyarrow as pa

        found = [pa.array(np.full(size, what, np.int64))]
        for name in self.names[1:]:
            column = columns.get(name, 0)
            found.append(
                pa.array(np.full(size, column, np.int64) if isinstance(column, int) else column.astype(np.int64))
            )
        return pa.RecordBatch.from_arrays([*found, pa.array([said] * size, pa.binary())], [*self.names, "said"])


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
        The first groups that have one value of some sensitive column: their task and number there, and the column.
    groups
        By task, its groups.
    """

    sizes: Counter[int] = field(default_factory=Counter)
    people: Counter[int] = field(default_factory=Counter)
    breaks: Counter[int] = field(default_factory=Counter)
    exact: Counter[int] = field(default_factory=Counter)
    bits: dict[int, float] = field(default_factory=dict)
    single: Counter[int] = field(default_factory=Counter)
    shares: dict[int, float] = field(default_factory=dict)
    listed: list[tuple[tuple[int, int], str]] = field(default_factory=list)
    groups: dict[int, int] = field(default_factory=dict)

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
        self.groups |= other.groups

    def numbered(self) -> list[tuple[int, str]]:
        """Return the groups that are listed by their number in the release, from 0."""
        tasks = sorted(self.groups)
        before = dict(zip(tasks, np.cumsum([0, *(self.groups[task] for task in tasks)]).tolist(), strict=False))
        return [(before[task] + at, name) for (task, at), name in self.listed]


def bounds_of(samples: Sequence[tuple[tuple[int, ...], int]], tasks: int) -> list[tuple[int, ...]]:
    """Choose what parts published values so that tasks get as many records each, given some of them and their weight.

    Examples
    --------
    >>> bounds_of([((3,), 10), ((1,), 10), ((2,), 10), ((9,), 30)], 3)
    [(3,), (9,)]
    """
    known = sorted(samples)
    ends = np.cumsum([weight for _, weight in known])
    at = np.searchsorted(ends, np.arange(1, tasks) * (ends[-1] / tasks), side="right") if len(known) else []
    return sorted({known[place][0] for place in at if 0 < place < len(known)})


def deal_ranges(
    names: Sequence[str], bounds: Sequence[tuple[int, ...]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Say which task every record goes to, by what it is published as: to the first what comes before the first bound.

    So tasks one after the other have groups in the order of a release.
    """
    import pyarrow as pa

    for table in gathered(batches):
        words = [
            np.concatenate([[bound[at] for bound in bounds], numbers(table, name)]).astype(np.int64)
            for at, name in enumerate(names)
        ]
        is_row = np.arange(len(words[0])) >= len(bounds)
        order = np.lexsort([is_row, *words[::-1]])  # what is a bound itself comes after it
        task = np.zeros(len(order), np.int32)
        task[order] = np.cumsum(~is_row[order])
        yield from table.append_column("task", pa.array(task[len(bounds) :])).to_batches()


def count_groups(sent: Sent, in_rows: bool, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the groups of a task; ``in_rows``: give their rows too, in order, with the places of sensitive values."""
    import pyarrow as pa

    table = whole(batches)
    if table is None:
        return
    book = sent.book
    task = int(table.column("task")[0].as_py())
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
    layout = GroupLayout(book)
    if in_rows:
        yield from _rows(layout, words, n, values[len(book.columns) :])
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
        yield from _values(layout, j, shown, sizes)
        if isinstance(column, TreeColumn):
            yield from _pairs(layout, j, codes, node[group], n)
    for j, of in enumerate(book.sensitive):
        codes = book.codes[len(book.columns) + j][values[len(book.columns) + j]]
        tally = _tally(group, codes, n, len(starts), of.values)
        single = np.flatnonzero(tally.distinct == 1)
        sums.single[j] = len(single)
        sums.shares[j] = float((tally.count / tally.total[tally.group]).max(initial=0))
        sums.listed += [((task, at), of.name) for at in single[:LISTED].tolist()]
    sums.listed = sorted(sums.listed)[:LISTED]
    sums.groups = {task: len(starts)}
    yield layout.batch(SAID, 1, pickle.dumps(sums))


def _tally(group: IntArray, codes: IntArray, n: IntArray, groups: int, values: int) -> Tally:
    """Count values by group, rows standing for several records."""
    there, width = codes >= 0, max(values, 1)
    keys, place = np.unique(group[there] * width + codes[there], return_inverse=True)
    count = np.zeros(len(keys), np.int64)
    np.add.at(count, place.reshape(-1), n[there])
    return Tally(groups, values, keys // width, keys % width, count, np.zeros(values, np.int64))


def _rows(
    layout: GroupLayout, words: list[IntArray], n: IntArray, values: Sequence[IntArray]
) -> Iterator[pa.RecordBatch]:
    """Give the rows of groups, in the order of a release: what is published alike is one, with its number."""
    ranks = [rank[of_row] for (rank, _), of_row in zip(layout.book.ranks, values, strict=True)]
    order = np.lexsort([*ranks[::-1], *words[::-1]])
    keys = [key[order] for key in (*words, *ranks)]
    new = np.zeros(len(order), bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    starts = np.flatnonzero(new)
    found = dict(zip((*layout.book.keys, *layout.places), (key[starts] for key in keys), strict=True))
    yield layout.batch(ROWS, len(starts), None, n=np.add.reduceat(n[order], starts), **found)


def _values(layout: GroupLayout, j: int, shown: Shown, sizes: IntArray) -> Iterator[pa.RecordBatch]:
    """Count the groups, and the records, of every published value of a column."""
    ends = np.stack([shown.lo, shown.hi, shown.node])
    if len(shown.node) and (shown.node >= 0).all():
        ends[:2] = 0  # the node says it all
    known, place = np.unique(ends, axis=1, return_inverse=True)
    place = place.reshape(-1)
    groups, records = np.bincount(place), np.zeros(known.shape[1], np.int64)
    np.add.at(records, place, sizes)
    yield layout.batch(
        VALUE, len(groups), None, j=j, lo=known[0], hi=known[1], node=known[2], groups=groups, records=records
    )


def _pairs(layout: GroupLayout, j: int, codes: IntArray, node: IntArray, n: IntArray) -> Iterator[pa.RecordBatch]:
    """Count how often a value is behind a published one."""
    width = int(node.max(initial=0)) + 1
    known, place = np.unique(codes * width + node, return_inverse=True)
    records = np.zeros(len(known), np.int64)
    np.add.at(records, place.reshape(-1), n)
    yield layout.batch(PAIR, len(known), None, j=j, code=known // width, node=known % width, records=records)


def _counter(sizes: IntArray) -> Counter[int]:
    known, groups = np.unique(sizes, return_counts=True)
    return Counter(dict(zip(known.tolist(), groups.tolist(), strict=True)))
