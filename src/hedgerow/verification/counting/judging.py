"""What tasks of a check do: count cells and rows, judge groups, all of whose rows they have, and pairs of cells."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.types import IntArray
from hedgerow.verification.counting.arrays import sums
from hedgerow.verification.counting.distinct_rows import collect, distinct, plain, text_of
from hedgerow.verification.counting.evidence import Counted
from hedgerow.verification.counting.histograms import Histograms
from hedgerow.verification.counting.many_pairs import PairCounter
from hedgerow.verification.counting.readings import Readings
from hedgerow.verification.counting.tabulation import find_groups
from hedgerow.verification.reading.cells import distinct_cells, trim, without
from hedgerow.verification.values.columns import Column

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK = 1 << 18
"""Rows that are worked on together where they need not all be."""


@dataclass
class GroupSums:
    """What tasks found of some groups.

    Attributes
    ----------
    sizes
        Groups by the number of their rows.
    single, shares
        By sensitive column: groups of exactly one value, and the greatest share of one value.
    labels
        By quasi-identifier: groups by their published value.
    verdicts
        By sensitive column and demand: the worst of what was judged.
    """

    sizes: Counter[int] = field(default_factory=Counter)
    single: Counter[str] = field(default_factory=Counter)
    shares: dict[str, float] = field(default_factory=dict)
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    verdicts: dict[tuple[str, int], Any] = field(default_factory=dict)

    def add(self, other: GroupSums) -> None:
        """Add what another task found of its groups."""
        self.sizes.update(other.sizes)
        self.single.update(other.single)
        for name, share in other.shares.items():
            self.shares[name] = max(self.shares.get(name, 0.0), share)
        for name, labels in other.labels.items():
            self.labels.setdefault(name, Counter()).update(labels)
        for key, verdict in other.verdicts.items():
            known = self.verdicts.get(key)
            if known is None or _worse(verdict) > _worse(known):
                self.verdicts[key] = verdict


def _worse(verdict: Any) -> tuple[bool, float]:
    return not verdict.kept, verdict.badness


@dataclass(frozen=True, eq=False)
class GroupWork:
    """What a task needs to judge groups.

    Attributes
    ----------
    names, sensitive
        The quasi-identifiers, and the sensitive columns with what their values count as.
    kinds
        What the columns hold, as a database says.
    empty
        Texts that stand for a missing quasi-identifier.
    overall
        How often each class of a sensitive column occurs in the release.
    counted_labels
        Quasi-identifiers of which groups are counted by their value.
    demands
        What is asked of sensitive columns.
    missing
        By sensitive column, the texts that stand for a missing value.
    """

    names: tuple[str, ...]
    sensitive: Mapping[str, Readings]
    kinds: tuple[str, ...]
    empty: tuple[str, ...]
    overall: Mapping[str, IntArray]
    counted_labels: frozenset[str]
    demands: tuple[tuple[str, Any], ...]
    missing: Mapping[str, tuple[str, ...]]


def judge_groups(work: GroupWork, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Judge the groups of a task."""
    import pyarrow as pa

    plain = [batch.select(batch.schema.names[:-1]) for batch in batches]  # the last column is the task
    if not any(batch.num_rows for batch in plain):
        return
    rows = collect(plain, [*work.names, *work.sensitive], work.kinds, person=False)
    cells = [without(rows.columns[name], work.empty) if work.empty else rows.columns[name] for name in work.names]
    group = find_groups(cells, len(rows.counts))
    groups = int(group.max()) + 1
    sizes = sums(group, rows.counts, groups)
    found = GroupSums(sizes=_counter(sizes))
    first = np.unique(group, return_index=True)[1]
    for name, column in zip(work.names, cells, strict=True):
        if name in work.counted_labels:
            texts, codes = distinct_cells(column.take(pa.array(first)))
            counts = np.bincount(codes[codes >= 0], minlength=len(texts))
            found.labels[name] = Counter(dict(zip(texts, counts.tolist(), strict=True)))
    for name, known in work.sensitive.items():
        texts, indices = distinct_cells(freed(rows.columns[name], work.missing[name]))
        codes = np.array([*(known.code_of[text] for text in texts), -1], np.int64)[indices]
        histograms = Histograms.of(group, codes, groups, len(known.ways), rows.counts)
        counted = Counted(known.reader, known.ways, known.in_order, histograms, work.overall[name], (0, 0))
        found.single[name] = int((histograms.distinct == 1).sum())
        there = histograms.totals > 0
        found.shares[name] = float((histograms.greatest[there] / histograms.totals[there]).max(initial=0))
        for number, (of, demand) in enumerate(work.demands):
            if of == name:
                found.verdicts[name, number] = demand.judge(counted)
    yield pa.record_batch([pa.array([pickle.dumps(found)], pa.binary())], names=["said"])


@dataclass(frozen=True, eq=False)
class PairWork:
    """What a task needs to judge pairs of original and published cells.

    Attributes
    ----------
    judges
        By quasi-identifier, what judges it.
    kinds, missing
        What the original columns hold, as a database says, and the texts that stand for a missing value there.
    empty
        Published texts that stand for one.
    """

    judges: tuple[Column, ...]
    kinds: tuple[str, ...]
    missing: tuple[tuple[str, ...], ...]
    empty: tuple[str, ...]


def judge_pairs(work: PairWork, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Judge the claimed records of a task: for every quasi-identifier ``j`` what is wrong, and what is shown.

    ``lost`` counts what is said of no records.
    """
    import pyarrow as pa

    known = [PairCounter() for _ in work.judges]
    lost = 0
    for table in in_chunks(batches):
        n = np.asarray(table.column(table.num_columns - 1).cast(pa.int64()).fill_null(0).to_numpy(), np.int64)
        lost += int((n < 1).sum())
        for j, pairs in enumerate(known):
            value = cells_of(table.column(2 * j), work.kinds[j], work.missing[j])
            label = cells_of(table.column(2 * j + 1), "text", work.empty)
            pairs.add(value, label, n)
    for j, (judge, pairs) in enumerate(zip(work.judges, known, strict=True)):
        found = pairs.many.judged(judge)
        told = (j, found.untrue[0], found.broken[0], found.exact, found.maybe_exact, 0 if j else lost)
        names = ["j", "untrue", "broken", "exact", "maybe", "lost"]
        yield pa.record_batch([pa.array([number], pa.int64()) for number in told], names=names)


def count_cells(
    kinds: Sequence[str], missing: Sequence[Sequence[str]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Count the cells of every column by itself: ``j``, the cell as text, and ``n``."""
    import pyarrow as pa

    total: list[Counter[str | None]] = [Counter() for _ in kinds]
    for table in in_chunks(batches):
        for counter, column, kind, markers in zip(total, table.columns, kinds, missing, strict=True):
            texts, codes = cells_of(column, kind, markers)
            counts = np.bincount(codes, minlength=len(texts)).tolist()
            for text, count in zip(texts, counts, strict=True):
                if count:
                    counter[text] += count
    for j, counter in enumerate(total):
        columns = [pa.array([j] * len(counter), pa.int64()), pa.array(list(counter), pa.string())]
        counts = pa.array(list(counter.values()), pa.int64())
        yield pa.record_batch([*columns, counts], names=["j", "cell", "n"])


def count_alike(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count rows that agree, as far as they come together: ``n``."""
    for table in in_chunks(batches):
        found = table.group_by(table.column_names, use_threads=False).aggregate([([], "count_all")])
        yield from found.rename_columns([*table.column_names, "n"]).to_batches()


def cells_of(column: pa.ChunkedArray, kind: str, missing: Sequence[str]) -> tuple[list[str | None], IntArray]:
    """Return the cells of a column, each read once, and by row which one it has; several may be the same text."""
    encoded = distinct(column.combine_chunks())
    texts = freed(text_of(encoded.dictionary, kind)[0], missing).to_pylist()
    codes = np.asarray(encoded.indices.fill_null(len(texts)).to_numpy(), np.int64)
    return [*texts, None], codes


def in_chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Put small batches together, without wrappers around their cells."""
    import pyarrow as pa

    some: list[pa.RecordBatch] = []
    for batch in batches:
        some.append(pa.record_batch([plain(column) for column in batch.columns], names=batch.schema.names))
        if sum(one.num_rows for one in some) >= CHUNK:
            yield pa.Table.from_batches(some)
            some = []
    if sum(one.num_rows for one in some):
        yield pa.Table.from_batches(some)


def freed(column: pa.ChunkedArray, missing: Sequence[str]) -> pa.ChunkedArray:
    """Trim cells, and empty those that mean a missing value, if there are such texts."""
    return trim(column, missing) if missing else column


def _counter(sizes: IntArray) -> Counter[int]:
    known, counts = np.unique(sizes, return_counts=True)
    return Counter(dict(zip(known.tolist(), counts.tolist(), strict=True)))
