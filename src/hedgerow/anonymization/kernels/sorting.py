"""Sorting and searching of whole numbers, in few lines: numpy's own take a second and more to compile."""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.compiling import inner

FEW = 24  # so many are sorted fastest by insertion


@inner
def sort(values):
    """Sort whole numbers in place, ascending."""
    n = values.size
    if n <= FEW:
        for i in range(1, n):
            v = values[i]
            j = i
            while j > 0 and values[j - 1] > v:
                values[j] = values[j - 1]
                j -= 1
            values[j] = v
        return
    for i in range(n // 2 - 1, -1, -1):
        _sink(values, np.int64(i), n)
    for last in range(n - 1, 0, -1):
        values[0], values[last] = values[last], values[0]
        _sink(values, np.int64(0), last)


@inner
def _sink(values, at, n):
    """Let the value at a node of a heap of n sink to its place."""
    v = values[at]
    while True:
        below = 2 * at + 1
        if below >= n:
            break
        if below + 1 < n and values[below + 1] > values[below]:
            below += 1
        if values[below] <= v:
            break
        values[at] = values[below]
        at = below
    values[at] = v


@inner
def ranked(keys):
    """Numbers of the keys in ascending order; of equal keys the first comes first."""
    n = keys.size
    order, other = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    run = 1
    while run < n:  # merge neighbouring runs, twice as long each time
        for begin in range(0, n, 2 * run):
            middle, end = min(begin + run, n), min(begin + 2 * run, n)
            a, b = begin, middle
            for i in range(begin, end):
                if a < middle and (b == end or keys[order[a]] <= keys[order[b]]):
                    other[i] = order[a]
                    a += 1
                else:
                    other[i] = order[b]
                    b += 1
        order, other = other, order
        run *= 2
    return order


@inner
def after(ascending, value):
    """Where a value would be put into ascending ones: after those that equal it."""
    begin, end = 0, ascending.size
    while begin < end:
        middle = (begin + end) // 2
        if ascending[middle] <= value:
            begin = middle + 1
        else:
            end = middle
    return begin
