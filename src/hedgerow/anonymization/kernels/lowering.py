"""Lower loss for clusters as they stand: IL_Optimization, and a local search beyond it (Truta and Campan 2007).

See ``clusters.py`` for the arrays.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.clusters import (
    NOWHERE,
    best_cluster,
    empty,
    enclosing,
    holds,
    join,
    leave,
    loss_of,
    members,
    narrow,
    nearest,
    overgrown,
    with_record,
    without,
)
from hedgerow.anonymization.kernels.codes import (
    ANY_SIZES,
    BROKEN_UP,
    CELL,
    COST,
    EVEN,
    FAR,
    MOVED,
    NUMBERED,
    SIZE,
    SPLIT,
    SWAPPED,
)
from hedgerow.anonymization.kernels.compiling import inner, kernel, part
from hedgerow.anonymization.kernels.maintenance import extremes, split
from hedgerow.anonymization.kernels.search_index import cost

SWAP_WITH = 6


@kernel
def break_covered(state, index, prices, asked, desk, covers, by_loss, tally):
    """IL_Optimization: break totally covered clusters, in the order ``by_loss``, where that lowers the loss.

    ``covers`` are :class:`Covers` of ``tuples/``.
    """
    info = state.info
    for c in by_loss:
        records = members(state, c)
        goes = np.full(records.size, np.int64(NOWHERE))
        covered = records.size > 0
        loss = np.int64(0)
        for i in range(records.size):
            goes[i] = cheapest_cover(state, covers, desk, records[i], c)
            if goes[i] < 0:
                covered = False
                break
            loss += info[goes[i], COST]
        if not covered or loss >= info[c, SIZE] * info[c, COST]:
            continue
        empty(state, index, prices, c)
        for i in range(records.size):
            join(state, index, prices, goes[i], records[i])
        kept = True
        if not asked.lasts:
            for i in range(records.size):
                kept = kept and holds(members(state, goes[i]), asked, desk)
        if kept:
            tally[0] += 1
            continue
        for r in records:
            leave(state, index, prices, r)
        for r in records:
            join(state, index, prices, c, r)


@inner
def cheapest_cover(state, covers, desk, r, skip):
    """Cluster of least cost that covers a record, other than its own; −1 if none does."""
    codes, profile, cell, info = state.codes, state.profile, state.cell, state.info
    order, first, last = covers.order, covers.first, covers.last
    cheapest, lowest = covers.cheapest, covers.lowest
    stack = desk.stack
    m = codes.shape[1]
    leaves = cheapest.size // 2
    found, best = np.int64(NOWHERE), np.int64(FAR)
    depth = 1
    stack[0] = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if cheapest[node] > best or (cheapest[node] == best and lowest[node] >= found):
            continue
        inside = first[node, 0] <= cell[r] <= last[node, 0]
        for j in range(m):
            v = np.int64(codes[profile[r], j])
            if not inside or v < first[node, j + 1] or v > last[node, j + 1]:
                inside = False
                break
        if not inside:
            continue
        if node < leaves:
            a, b = 2 * node, 2 * node + 1
            if cheapest[b] < cheapest[a]:
                a, b = b, a
            stack[depth], stack[depth + 1] = b, a
            depth += 2
        elif info[order[node - leaves], SIZE] > 0 and order[node - leaves] != skip:
            found, best = order[node - leaves], cheapest[node]
    return found


@kernel
def improve(state, index, prices, asked, desk, first, done, stop, sizes, tally):
    """Go over the clusters and lower the loss by splits, moves, swaps and dissolving; never raise it.

    ``sizes`` says what may not be undone: MANY clusters, or EVEN sizes, of which the sum of squares may not rise.

    ``tally`` counts splits, moves, swaps and clusters dissolved. Returns where to go on once the index is planted anew.
    """
    info, used = state.info, state.used
    c = first
    while c < used[NUMBERED]:
        if stop[0] or overgrown(state, index):
            return c
        if info[c, SIZE] >= 2 * asked.k:
            while split(state, index, prices, asked, desk, c, np.bool_(True)):
                tally[SPLIT] += 1
        if info[c, SIZE] > 0 and info[c, COST] > 0:
            move_out(state, index, prices, asked, desk, c, sizes, tally)
        if info[c, SIZE] > 0 and info[c, COST] > 0:
            swap_out(state, index, prices, asked, desk, c, tally)
        if sizes == ANY_SIZES and info[c, SIZE] > 0 and info[c, COST] > 0:
            dissolve_if_less(state, index, prices, asked, desk, c, tally)
        c += 1
        done[0] += 1
    return c


@part
def move_out(state, index, prices, asked, desk, c, sizes, tally):
    """Move records of a cluster to others where that lowers the loss."""
    info, k = state.info, asked.k
    for r in members(state, c):
        if info[c, SIZE] <= k:
            return
        own = members(state, c)
        rest = without(own, r)
        gain = info[c, SIZE] * info[c, COST] - loss_of(state, prices, rest)
        if gain <= 0:
            continue
        other, growth = best_cluster(state, index, prices, asked, desk, r, c)
        if sizes == EVEN and other >= 0 and info[other, SIZE] >= info[c, SIZE]:
            continue
        if other >= 0 and growth < gain and holds(rest, asked, desk):
            leave(state, index, prices, r)
            join(state, index, prices, other, r)
            tally[MOVED] += 1


@part
def dissolve_if_less(state, index, prices, asked, desk, c, tally):
    """Dissolve a cluster, its records each joining the best other one, if that lowers the loss."""
    info = state.info
    before = info[c, SIZE] * info[c, COST]
    records = empty(state, index, prices, c)
    after = np.int64(0)
    placed = 0
    for r in records:
        other, growth = best_cluster(state, index, prices, asked, desk, r, c)
        after += growth
        if other < 0 or after >= before:
            break
        join(state, index, prices, other, r)
        placed += 1
    if placed == records.size:
        tally[BROKEN_UP] += 1
        return
    for i in range(placed - 1, -1, -1):
        leave(state, index, prices, records[i])
    for r in records:
        join(state, index, prices, c, r)


@part
def swap_out(state, index, prices, asked, desk, c, tally):
    """Swap records of a cluster with records of clusters near them where that lowers the loss."""
    codes, profile, info = state.codes, state.profile, state.info
    m = codes.shape[1]
    lo, hi, alone = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    edges = np.empty((m, 4), np.int64)
    for r in members(state, c):
        own = members(state, c)
        rest = without(own, r)
        if rest.size == 0:
            return  # on a grid a single record may have a cost
        if loss_of(state, prices, rest) * own.size >= info[c, SIZE] * info[c, COST] * rest.size:
            continue  # without it the box is as dear: nothing to gain here
        enclosing(codes, profile, rest, lo, hi)
        for j in range(m):
            alone[j] = codes[profile[r], j]
        found, best, where = np.int64(NOWHERE), np.int64(0), np.int64(NOWHERE)
        other, key = np.int64(NOWHERE), np.int64(-1)
        for _ in range(SWAP_WITH):
            other, key = nearest(
                state, index, prices, desk, alone, alone, info[c, CELL], np.bool_(False), c, np.int64(0), key, other,
                np.int64(NOWHERE), np.int64(FAR),
            )  # fmt: skip
            if other < 0:
                break
            theirs = members(state, other)
            extremes(codes, profile, theirs, np.zeros(theirs.size, np.int64), np.int64(0), edges)
            now = info[c, SIZE] * info[c, COST] + info[other, SIZE] * info[other, COST]
            for i in range(theirs.size):
                mine = swapped = np.int64(0)
                for j in range(m):
                    v, new = np.int64(codes[profile[theirs[i]], j]), alone[j]
                    below = edges[j, 1] if v == edges[j, 0] else edges[j, 0]
                    above = edges[j, 3] if v == edges[j, 2] else edges[j, 2]
                    mine += cost(j, min(lo[j], v), max(hi[j], v), prices)
                    swapped += cost(j, min(below, new), max(above, new), prices)
                change = mine * info[c, SIZE] + swapped * info[other, SIZE] - now
                if change < best and may_swap(state, asked, desk, rest, theirs, r, theirs[i]):
                    found, best, where = theirs[i], change, other
        if found >= 0:
            leave(state, index, prices, r)
            leave(state, index, prices, found)
            join(state, index, prices, c, found)
            join(state, index, prices, where, r)
            tally[SWAPPED] += 1


@part
def may_swap(state, asked, desk, rest, theirs, r, z):
    """Tell whether two clusters still hold, within every width, when r goes to one and z to the other."""
    mine, swapped = with_record(rest, z), with_record(without(theirs, z), r)
    if not (narrow(state, asked, mine) and narrow(state, asked, swapped)):
        return False
    return holds(mine, asked, desk) and holds(swapped, asked, desk)
