"""Arithmetic on arrays of whole numbers that numpy has only in a slower or in a rounding form."""

from __future__ import annotations

import numpy as np

from hedgerow.types import IntArray


def sums(places: IntArray, numbers: IntArray, size: int) -> IntArray:
    """Add up whole numbers by place.

    Examples
    --------
    >>> sums(np.array([0, 2, 0]), np.array([5, 1, 2]), 3)
    array([7, 0, 1])
    """
    found = np.zeros(size, np.int64)
    np.add.at(found, places, numbers)
    return found


def distinct(numbers: IntArray) -> IntArray:
    """Return the distinct numbers, ascending: ``np.unique``, but several times faster on millions of them.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    numbers = np.sort(numbers)
    return numbers[np.append(True, numbers[1:] != numbers[:-1])] if len(numbers) else numbers


def find(known: IntArray, wanted: IntArray) -> IntArray:
    """Return where numbers stand among distinct ascending ones; −1: nowhere.

    Examples
    --------
    >>> find(np.array([2, 5, 9]), np.array([9, 4, 2]))
    array([ 2, -1,  0])
    """
    if not len(known):
        return np.full(len(wanted), -1, np.int64)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[at] == wanted, at, -1)
