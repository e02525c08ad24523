"""Many groups, and groups of even sizes: splitting what can be split, and moving records to smaller clusters.

See ``clusters.py`` for the arrays.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.clusters import (
    NOWHERE,
    fits,
    holds,
    join,
    leave,
    loss_of,
    members,
    overgrown,
    with_record,
    without,
)
from hedgerow.anonymization.kernels.codes import COST, FAR, NUMBERED, SIZE
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.maintenance import split
from hedgerow.anonymization.kernels.search_index import cost
from hedgerow.anonymization.kernels.sorting import ranked


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


@inner
def smaller(r, c, here, state, prices, asked, desk):
    """The cluster, of those here that are smaller by two or more, whose loss grows least by a record of another."""
    codes, profile, box, info = state.codes, state.profile, state.box, state.info
    m = codes.shape[1]
    lo, hi = np.empty(m, np.int64), np.empty(m, np.int64)
    found, best = np.int64(NOWHERE), np.int64(FAR)
    for t in here:
        if info[t, SIZE] > info[c, SIZE] - 2:
            continue
        together = np.int64(0)
        for j in range(m):
            v = np.int64(codes[profile[r], j])
            lo[j], hi[j] = min(v, np.int64(box[t, j])), max(v, np.int64(box[t, m + j]))
            together += cost(j, lo[j], hi[j], prices)
        growth = (info[t, SIZE] + 1) * together - info[t, SIZE] * info[t, COST]
        if growth >= best or not fits(lo, hi, asked):
            continue
        if asked.lasts or holds(with_record(members(state, t), r), asked, desk):
            found, best = t, growth
    return found


@kernel
def level(state, index, prices, asked, desk, first, done, stop, listed, begin, tally):
    """Move records to clusters that are smaller by two or more, until none can be moved; cell by cell.

    From each cluster those records go first without which it loses least, ties to the first; each goes where the loss
    grows least. Each move lowers the sum of squared sizes. ``listed`` are the clusters, cell by cell, of which those of
    cell i begin at ``begin[i]``. Returns where to go on once the index is planted anew.
    """
    info = state.info
    for cell in range(first, begin.size - 1):
        here = listed[begin[cell] : begin[cell + 1]]
        moved = here.size > 1
        while moved:
            moved = False
            for c in here:
                if info[c, SIZE] <= asked.k:
                    continue
                least = info[c, SIZE]
                for t in here:
                    least = min(least, info[t, SIZE])
                if least > info[c, SIZE] - 2:
                    continue
                own = members(state, c)
                left = np.empty(own.size, np.int64)
                for i in range(own.size):
                    left[i] = loss_of(state, prices, without(own, own[i]))
                for i in ranked(left):
                    if stop[0] or overgrown(state, index):
                        return cell
                    other = smaller(own[i], c, here, state, prices, asked, desk)
                    if other >= 0 and holds(without(members(state, c), own[i]), asked, desk):
                        leave(state, index, prices, own[i])
                        join(state, index, prices, other, own[i])
                        tally[0] += 1
                        moved = True
        done[0] += 1
    return np.int64(begin.size - 1)
