"""Sorting records by many columns at once: codes are packed into 64-bit words first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Words = list[npt.NDArray[np.uint64]]


def pack(codes: Sequence[npt.NDArray[Any]], sizes: Sequence[int]) -> Words:
    """Pack code columns into as few words as hold them, most significant column first.

    Examples
    --------
    >>> [word.tolist() for word in pack([np.array([1, 0]), np.array([2, 9])], [2, 10])]
    [[12, 9]]
    """
    words: Words = []
    room = 1
    for column, size in zip(codes, sizes, strict=True):
        if not words or room * max(size, 1) > 1 << 63:
            words.append(column.astype(np.uint64))
            room = max(size, 1)
        else:
            words[-1] = words[-1] * np.uint64(max(size, 1)) + column.astype(np.uint64)
            room *= max(size, 1)
    return words


def unpack(words: Sequence[npt.NDArray[Any]], sizes: Sequence[int]) -> list[npt.NDArray[np.int64]]:
    """Return the code columns that :func:`pack` packed.

    Examples
    --------
    >>> [column.tolist() for column in unpack(pack([np.array([1, 0]), np.array([2, 9])], [2, 10]), [2, 10])]
    [[1, 0], [2, 9]]
    """
    found: list[npt.NDArray[np.int64]] = []
    for word, shared in zip(words, shares_of_words(sizes), strict=True):
        rest, some = word.astype(np.int64), []
        for size in reversed(shared):
            some.append(rest % size)
            rest = rest // size
        found += some[::-1]
    return found


def shares_of_words(sizes: Sequence[int]) -> list[list[int]]:
    """Return which sizes share a word as :func:`pack` packs them.

    Examples
    --------
    >>> shares_of_words([1 << 40, 1 << 20, 1 << 20])
    [[1099511627776, 1048576], [1048576]]
    """
    found: list[list[int]] = []
    room = 1
    for size in (max(size, 1) for size in sizes):
        if not found or room * size > 1 << 63:
            found.append([size])
            room = size
        else:
            found[-1].append(size)
            room *= size
    return found


def order_by(words: Words) -> npt.NDArray[np.int64]:
    """Return a permutation that sorts by the words, the first one most significant.

    Callers put everything into the words that may show in a release, so rows that are equal here may change places.
    """
    if len(words) == 1:
        return np.argsort(words[0])
    return np.lexsort(words[::-1])


def starts_of_runs(words: Words) -> npt.NDArray[np.int64]:
    """Return where a sorted sequence changes, 0 first; nothing for an empty one."""
    if not words or not len(words[0]):
        return np.zeros(0, np.int64)
    changes = np.ones(len(words[0]), bool)
    changes[1:] = False
    for word in words:
        changes[1:] |= word[1:] != word[:-1]
    return np.flatnonzero(changes)


def number_rows(columns: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.int64], int]:
    """Number the different rows of code columns in their order; returns every row's number and how many there are.

    Examples
    --------
    >>> number, rows = number_rows([np.array([1, 0, 1]), np.array([2, 9, 2])])
    >>> number.tolist(), rows
    ([1, 0, 1], 2)
    """
    words = pack(columns, [int(column.max(initial=0)) + 1 for column in columns])
    order = order_by(words)
    starts = starts_of_runs([word[order] for word in words])
    number = np.empty(len(order), np.int64)
    number[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    return number, len(starts)
