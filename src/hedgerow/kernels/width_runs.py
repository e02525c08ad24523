"""Covering most records of a cell by runs of values no wider than allowed, each with k people (SPEC §2, width).

Records are sorted by value. ``best[i]`` is the best that can be done with the first i: most records covered, then
fewest runs. A run from j to i is allowed if it is narrow enough and holds k people; both limits on j only move
rightward as i grows, so a queue of candidates answers each step in constant time. Ties: a record is left uncovered
where that is as good; otherwise the longest run is taken.
"""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(nogil=True, cache=True)
def cut_cells(low, high, starts, person, persons, k, width):
    """Cut the cells between ``starts`` into runs; returns a run per record, −1 if none covers it, and their number."""
    n = low.size
    run_of = np.empty(n, np.int64)
    runs = 0
    most = n + 1
    score = np.empty(n + 1, np.int64)
    choice = np.empty(n + 1, np.int64)
    queue = np.empty(n + 1, np.int64)
    seen = np.zeros(persons, np.int64)
    for cell in range(starts.size - 1):
        begin, end = starts[cell], starts[cell + 1]
        score[begin] = 0
        head, tail = 0, 0
        narrow, offered = begin, begin  # runs may start at narrow or later; starts before offered are in the queue
        window, people = begin, 0  # people among records window … i − 1
        for i in range(begin + 1, end + 1):
            while high[i - 1] - low[narrow] > width:
                narrow += 1
            if persons > 0:
                if seen[person[i - 1]] == 0:
                    people += 1
                seen[person[i - 1]] += 1
                while people >= k:
                    seen[person[window]] -= 1
                    if seen[person[window]] == 0:
                        people -= 1
                    window += 1
                latest = window - 1  # the run from here to i is the shortest with k people
            else:
                latest = i - k
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
        if persons > 0:
            for r in range(begin, end):
                seen[person[r]] = 0
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
    return run_of, runs
