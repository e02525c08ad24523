"""Covering most records of a cell by runs of values no wider than allowed, each large and diverse enough.

Records are sorted by value. ``best[i]`` is the best that can be done with the first i: most records covered, then
fewest runs. A run from j to i is allowed if it is narrow enough, holds k people and enough different values of every
sensitive column; the bounds on j only move rightward as i grows, so a queue of candidates answers each step in
constant time. Ties: a record is left uncovered where that is as good; otherwise the longest run is taken.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.compiling import kernel


@kernel
def cut_cells(low, high, starts, tags, sizes, wanted, width, run_of):
    """Cut the cells between ``starts`` into runs; returns their number.

    Parameters
    ----------
    low, high
        Published ends of every record's value, ascending within each cell.
    tags, sizes
        What is counted of every record (rows): its person, its sensitive values; −1 does not count. Number of
        different tags of every kind (columns).
    wanted
        Different tags of every kind that a run must have.
    width
        Greatest difference of the ends of a run.
    run_of
        Takes the run of every record, −1 if none covers it.
    """
    n = low.size
    kinds = wanted.size
    runs = 0
    most = n + 1
    score = np.empty(n + 1, np.int64)
    choice = np.empty(n + 1, np.int64)
    queue = np.empty(n + 1, np.int64)
    offset = np.zeros(kinds + 1, np.int64)
    for kind in range(kinds):
        offset[kind + 1] = offset[kind] + sizes[kind]
    seen = np.zeros(offset[kinds], np.int64)
    different = np.zeros(kinds, np.int64)
    for cell in range(starts.size - 1):
        begin, end = starts[cell], starts[cell + 1]
        score[begin] = 0
        head, tail = 0, 0
        narrow, offered = begin, begin  # runs may start at narrow or later; starts before offered are in the queue
        window = begin  # the run from here to i − 1 has all that is wanted, or all there is
        for i in range(begin + 1, end + 1):
            while narrow < i and high[i - 1] - low[narrow] > width:
                narrow += 1  # i itself if a single value is published wider than allowed
            for kind in range(kinds):
                tag = tags[i - 1, kind]
                if tag >= 0:
                    seen[offset[kind] + tag] += 1
                    if seen[offset[kind] + tag] == 1:
                        different[kind] += 1
            enough = True
            for kind in range(kinds):
                enough = enough and different[kind] >= wanted[kind]
            while enough and window < i - 1:  # shorten while all that is wanted stays
                for kind in range(kinds):
                    tag = tags[window, kind]
                    if tag >= 0 and seen[offset[kind] + tag] == 1 and different[kind] == wanted[kind]:
                        break
                else:
                    for kind in range(kinds):
                        tag = tags[window, kind]
                        if tag >= 0:
                            seen[offset[kind] + tag] -= 1
                            if seen[offset[kind] + tag] == 0:
                                different[kind] -= 1
                    window += 1
                    continue
                break
            latest = window if enough else begin - 1
            while offered <= latest:
                value = score[offered] - offered * most
                while tail > head and score[queue[tail - 1]] - queue[tail - 1] * most < value:
                    tail -= 1
                queue[tail] = offered
                tail += 1
                offered += 1
            while head < tail and queue[head] < narrow:
                head += 1
            score[i], choice[i] = score[i - 1], -1
            if head < tail:
                j = queue[head]
                value = score[j] + (i - j) * most - 1
                if value > score[i]:
                    score[i], choice[i] = value, j
        seen[:] = 0
        different[:] = 0
        i = end
        while i > begin:
            j = choice[i]
            if j < 0:
                i -= 1
                run_of[i] = -1
                continue
            for r in range(j, i):
                run_of[r] = runs
            runs += 1
            i = j
    return runs
