"""Counting what columns of text hold: groups, labels, pairs, differences; equal cells get equal numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.types import IntArray
from hedgerow.verification.counting.arrays import sums
from hedgerow.verification.counting.numbering import number_cells, number_rows
from hedgerow.verification.reading.cells import distinct_cells

if TYPE_CHECKING:
    import pyarrow as pa

Counts = IntArray | None
"""How many rows each row stands for; None: one each. Rows that stand for others have no numbers of their own."""
Labels = list[str | None]


@dataclass(frozen=True)
class RowGroups:
    """Number of groups, rows of the smallest and the largest, and persons of the one with fewest."""

    groups: int
    smallest: int
    largest: int
    fewest_persons: int | None = None


def find_groups(columns: Sequence[pa.ChunkedArray], rows: int, order: IntArray | None = None) -> IntArray:
    """Return the group of every row: of those that agree in all columns, missing being a value of its own.

    Groups are numbered from 0 in the order in which they first appear: that of the rows, or of the numbers ``order``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> find_groups([pa.chunked_array([["b", None, "b", "a", None]])], 5)
    array([0, 1, 0, 2, 1])
    """
    none = np.zeros(0, np.int64)
    number, _, size = number_rows(((distinct_cells(column)[1], none) for column in columns), rows, 0)
    place = np.arange(rows) if order is None else order
    first = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(first, number, place)
    rank = np.empty(size, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(size)
    return rank[number]


def count_groups(sizes: IntArray) -> RowGroups:
    """Say how many groups there are, and how large they are."""
    return RowGroups(len(sizes), int(sizes.min(initial=sizes.max(initial=0))), int(sizes.max(initial=0)))


def count_persons(group_of: IntArray, persons: pa.ChunkedArray, groups: int) -> int:
    """Return how many different persons the group with fewest has; a missing key is nobody's."""
    keys, person_of = distinct_cells(persons)
    there = person_of >= 0
    pairs = np.unique(group_of[there] * (len(keys) + 1) + person_of[there])
    return int(np.bincount(pairs // (len(keys) + 1), minlength=groups).min(initial=len(keys)))


def count_labels(column: pa.ChunkedArray, counts: Counts = None) -> list[tuple[str | None, int, int]]:
    """Return every distinct cell with its count and the first row that has it, from 1.

    Examples
    --------
    >>> import pyarrow as pa
    >>> sorted(count_labels(pa.chunked_array([["b", "a", "b"]])))
    [('a', 1, 2), ('b', 2, 1)]
    """
    texts, cells = distinct_cells(column)
    labels: Labels = [*texts, None]
    return [(labels[code], count, row) for code, count, row in _count(np.where(cells < 0, len(texts), cells), counts)]


def count_pairs(original: pa.ChunkedArray, published: pa.ChunkedArray) -> list[tuple[str | None, str | None, int, int]]:
    """Return every distinct pair of an original and a published cell with its count and its first row, from 1."""
    (before, value_of), (after, label_of) = distinct_cells(original), distinct_cells(published)
    values: Labels = [*before, None]
    labels: Labels = [*after, None]
    keys = np.where(value_of < 0, len(before), value_of) * len(labels) + np.where(label_of < 0, len(after), label_of)
    return [
        (values[key // len(labels)], labels[key % len(labels)], count, row) for key, count, row in _count(keys, None)
    ]


def count_tuples(columns: Sequence[pa.ChunkedArray]) -> list[tuple[tuple[str | None, ...], int, int]]:
    """Return every distinct row of some columns of text with its count and the first row that is so, from 1.

    Examples
    --------
    >>> import pyarrow as pa
    >>> count_tuples([pa.chunked_array([["b", "a", "b"]]), pa.chunked_array([["x", None, "x"]])])
    [(('b', 'x'), 2, 1), (('a', None), 1, 2)]
    """
    coded = [distinct_cells(column) for column in columns]
    none = np.zeros(0, np.int64)
    number, _, _ = number_rows(((codes, none) for _, codes in coded), len(columns[0]), 0)
    labels: list[Labels] = [[*texts, None] for texts, _ in coded]  # missing is −1: the last
    found = [
        (tuple(texts[codes[row - 1]] for texts, (_, codes) in zip(labels, coded, strict=True)), count, row)
        for _, count, row in _count(number, None)
    ]
    return sorted(found, key=lambda one: one[2])


def count_differences(original: pa.ChunkedArray, published: pa.ChunkedArray) -> tuple[int, int]:
    """Return how many rows differ, missing being equal to missing only, and the first that does, from 1; 0: none."""
    before, after = number_cells(encoded(original), encoded(published))
    differing = np.flatnonzero(before != after)
    return len(differing), int(differing[0]) + 1 if len(differing) else 0


def count_surplus(published: pa.ChunkedArray, original: pa.ChunkedArray) -> int:
    """Return how many published cells remain when each takes an equal original cell away; missing is a cell too."""
    here, there = number_cells(encoded(published), encoded(original))
    size = int(max(here.max(initial=-1), there.max(initial=-1))) + 2
    left = np.bincount(here + 1, minlength=size) - np.bincount(there + 1, minlength=size)
    return int(np.maximum(left, 0).sum())


def _count(codes: IntArray, counts: Counts) -> list[tuple[int, int, int]]:
    """Return every distinct number with its count and its first row."""
    known, first, number = np.unique(codes, return_index=True, return_inverse=True)
    if counts is None:
        total = np.bincount(number.reshape(-1), minlength=len(known))
        return list(zip(known.tolist(), total.tolist(), (first + 1).tolist(), strict=True))
    total = sums(number.reshape(-1), counts, len(known))
    return [(code, count, 0) for code, count in zip(known.tolist(), total.tolist(), strict=True)]


def encoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of text dictionary-encoded, with few numbers and plain text."""
    import pyarrow as pa

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return encoded.cast(pa.dictionary(pa.int32(), pa.string()))
