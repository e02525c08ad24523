"""Many groups, and groups of even sizes: splitting what can be split, and moving records to smaller clusters.

See ``clusters.py`` for the arrays.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.clusters import (
    NOWHERE,
    holds,
    join,
    leave,
    loss_of,
    members,
    narrow,
    overgrown,
    with_record,
    without,
)
from hedgerow.anonymization.kernels.codes import COST, FAR, NUMBERED, SIZE
from hedgerow.anonymization.kernels.compiling import kernel
from hedgerow.anonymization.kernels.maintenance import split


@kernel
def split_all(state, index, prices, asked, desk, first, done, stop, tally):
    """Split every cluster of 2k or more as often as both parts hold; returns where to go on, as others do."""
    info, used = state.info, state.used
    c = first
    while c < used[NUMBERED]:
        if stop[0] or overgrown(state, index):
            return c
        while info[c, SIZE] >= 2 * asked.k and split(state, index, prices, asked, desk, c, np.bool_(False)):
            tally[0] += 1
        c += 1
        done[0] += 1
    return c


@kernel
def level(state, index, prices, asked, desk, first, done, stop, listed, begin, tally):
    """Move records to clusters that are smaller by two or more, until none can be moved; cell by cell.

    Of all moves from a cluster the one after which least is lost is made; ties to the first record and cluster.
    Each move lowers the sum of squared sizes. ``listed`` are the clusters, cell by cell, of which those of cell i begin
    at ``begin[i]``. Returns where to go on once the index is planted anew.
    """
    info = state.info
    for cell in range(first, begin.size - 1):
        moved = True
        while moved:
            moved = False
            for i in range(begin[cell], begin[cell + 1]):
                c = listed[i]
                while True:
                    if stop[0] or overgrown(state, index):
                        return cell
                    record, other, best = np.int64(NOWHERE), np.int64(NOWHERE), np.int64(FAR)
                    own = members(state, c)
                    for r in own:
                        if own.size <= asked.k:
                            break
                        rest = without(own, r)
                        gain = info[c, SIZE] * info[c, COST] - loss_of(state, prices, rest)
                        checked = False
                        for h in range(begin[cell], begin[cell + 1]):
                            t = listed[h]
                            if info[t, SIZE] > info[c, SIZE] - 2 or info[t, SIZE] == 0:
                                continue
                            theirs = with_record(members(state, t), r)
                            growth = loss_of(state, prices, theirs) - info[t, SIZE] * info[t, COST]
                            if growth - gain >= best:
                                continue
                            if not checked:
                                if not holds(rest, asked, desk):
                                    break
                                checked = True
                            if narrow(state, asked, theirs) and holds(theirs, asked, desk):
                                record, other, best = r, t, growth - gain
                    if record < 0:
                        break
                    leave(state, index, prices, record)
                    join(state, index, prices, other, record)
                    tally[0] += 1
                    moved = True
        done[0] += 1
    return np.int64(begin.size - 1)
