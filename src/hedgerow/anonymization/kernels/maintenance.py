"""Steps of a change: joining, splitting, borrowing, dissolving and merging clusters (Truta and Campan 2007).

See ``clusters.py`` for the arrays.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.clusters import (
    NOWHERE,
    best_cluster,
    count_values,
    empty,
    enclose,
    enclosing,
    enlist,
    fits_with,
    holds,
    join,
    leave,
    loss_of,
    may_join,
    members,
    next_near,
    open_cluster,
    overgrown,
    strength,
    unlist,
    widen,
    with_record,
    without,
)
from hedgerow.anonymization.kernels.codes import (
    BORROWED,
    CELL,
    COST,
    DISSOLVED,
    FAR,
    HEAD,
    LEAF,
    LOOSE,
    MERGED,
    NUMBERED,
    SIZE,
)
from hedgerow.anonymization.kernels.compiling import inner, kernel, part
from hedgerow.anonymization.kernels.search_index import cost
from hedgerow.privacy.codes import DISTINCT


@inner
def partner(state, index, prices, asked, desk, c, borrowing):
    """Find the cluster nearest to another, by the cost of their hull, that may help it; returns it and a record.

    Borrowing: one that can spare a record with which the other holds; that record is the second answer. Otherwise one
    that the other's records may all join.
    """
    own = members(state, c)
    least = asked.k if borrowing else np.int64(0)  # nobody else can spare a record
    other, key = next_near(state, index, prices, desk, c, least, np.int64(-1), np.int64(-1))
    while other >= 0:
        if borrowing:
            record = spare(state, prices, asked, desk, other, c, own)
            if record >= 0:
                return other, record
        elif fits_with(state, asked, c, other) and may_join(state, asked, desk, other, own):
            return other, np.int64(NOWHERE)
        other, key = next_near(state, index, prices, desk, c, least, key, other)
    return np.int64(NOWHERE), np.int64(NOWHERE)


@part
def spare(state, prices, asked, desk, donor, c, own):
    """Record that a donor can spare and with which another cluster holds, of least loss; −1 if there is none."""
    theirs = members(state, donor)
    if not holds(theirs, asked, desk):
        return np.int64(NOWHERE)
    found, best = np.int64(NOWHERE), np.int64(FAR)
    alone = np.empty(1, np.int64)
    for i in range(theirs.size):
        rest = without(theirs, theirs[i])
        more = with_record(own, theirs[i])
        alone[0] = theirs[i]
        if holds(rest, asked, desk) and holds(more, asked, desk) and may_join(state, asked, desk, c, alone):
            loss = loss_of(state, prices, rest) + loss_of(state, prices, more)
            if loss < best:
                found, best = theirs[i], loss
    return found


@inner
def extremes(codes, profile, records, side, which, edges):
    """Fill, by attribute, least, second least, greatest and second greatest code of the records on one side."""
    for j in range(edges.shape[0]):
        least = second_least = np.int64(FAR)
        most = second_most = np.int64(-1)
        for i in range(records.size):
            if side[i] == which:
                v = np.int64(codes[profile[records[i]], j])
                if v < least:
                    least, second_least = v, least
                elif v < second_least:
                    second_least = v
                if v > most:
                    most, second_most = v, most
                elif v > second_most:
                    second_most = v
        edges[j, 0], edges[j, 1], edges[j, 2], edges[j, 3] = (least, second_least, most, second_most)


@inner
def on_side(records, side, which):
    """Records on one side."""
    many = 0
    for i in range(records.size):
        if side[i] == which:
            many += 1
    found = np.empty(many, np.int64)
    at = 0
    for i in range(records.size):
        if side[i] == which:
            found[at] = records[i]
            at += 1
    return found


@inner
def divide(state, prices, asked, desk, records):
    """Divide records as a split does; returns 1 for each that goes to the new cluster, all 0 if no split is made."""
    codes, profile, k = state.codes, state.profile, asked.k
    m = codes.shape[1]
    side = np.zeros(records.size, np.int64)
    edges = np.empty((m, 4), np.int64)
    lo, hi = np.full(m, np.int64(FAR)), np.full(m, np.int64(-1))
    staying = records.size
    further = 0
    while staying > 0 and further <= k:
        extremes(codes, profile, records, side, np.int64(0), edges)
        chosen, least = -1, np.int64(FAR)
        for i in range(records.size):
            if side[i] == 0:
                stays = joins = np.int64(0)
                for j in range(m):
                    v = np.int64(codes[profile[records[i]], j])
                    if staying > 1:
                        below = edges[j, 1] if v == edges[j, 0] else edges[j, 0]
                        above = edges[j, 3] if v == edges[j, 2] else edges[j, 2]
                        stays += cost(j, below, above, prices)
                    joins += cost(j, min(lo[j], v), max(hi[j], v), prices)
                loss = stays * (staying - 1) + joins * (records.size - staying + 1)
                if loss < least:
                    chosen, least = i, loss
        side[chosen] = 1
        staying -= 1
        for j in range(m):
            v = np.int64(codes[profile[records[chosen]], j])
            lo[j], hi[j] = min(lo[j], v), max(hi[j], v)
        if records.size - staying < k:
            continue
        moved, kept = on_side(records, side, np.int64(1)), on_side(records, side, np.int64(0))
        if strength(moved, asked) < k:
            continue
        if strength(kept, asked) < k:
            break
        if holds(moved, asked, desk) and holds(kept, asked, desk):
            return side
        further += 1
    side[:] = 0
    return side


@inner
def has_two_of_enough(records, asked, desk):
    """Tell whether two parts of some records could both have as many different values as is asked."""
    sensitive, value_start, models = asked.sensitive, asked.value_start, asked.models
    column, kind, wanted = models.column, models.kind, models.a
    count_values(records, sensitive, value_start, desk.histogram)
    for i in range(column.size):
        if kind[i] == DISTINCT:
            twice = 0
            for v in range(value_start[column[i]], value_start[column[i] + 1]):
                twice += min(desk.histogram[v], 2)
            if twice < 2 * wanted[i]:
                return False
    return True


@part
def split(state, index, prices, asked, desk, c, only_if_less):
    """Split a cluster if both parts hold, optionally only if that lowers the loss; returns whether it did."""
    info = state.info
    if state.used[NUMBERED] == info.shape[0]:
        return False  # no room: only a long search for less loss comes here
    records = members(state, c)
    if not has_two_of_enough(records, asked, desk):
        return False
    side = divide(state, prices, asked, desk, records)
    if not side.any():
        return False
    if only_if_less:
        moved, kept = on_side(records, side, np.int64(1)), on_side(records, side, np.int64(0))
        after = loss_of(state, prices, moved) + loss_of(state, prices, kept)
        if after >= info[c, SIZE] * info[c, COST]:
            return False
    new = open_cluster(state, index, c)
    for i in range(records.size):
        if side[i] == 1:
            unlist(state, records[i])
            enlist(state, new, records[i])
    enclose(state, index, prices, c)
    enclose(state, index, prices, new)
    return True


@part
def settle(state, index, prices, asked, desk, r):
    """Let a record join its best cluster, and split that at 2k; tells whether there was one."""
    c, _ = best_cluster(state, index, prices, asked, desk, r, np.int64(NOWHERE))
    if c < 0:
        return False
    join(state, index, prices, c, r)
    if state.info[c, SIZE] >= 2 * asked.k and strength(members(state, c), asked) >= 2 * asked.k:
        split(state, index, prices, asked, desk, c, np.bool_(False))
    return True


@kernel
def repair(state, index, prices, asked, desk, first, done, stop, last, whole, tally):
    """Borrow for, or dissolve, clusters that do not hold; ``whole``: merge each with its nearest one instead.

    ``tally`` counts the clusters that borrowed, were dissolved and were merged. Returns where to go on once the index
    is planted anew.
    """
    info = state.info
    simple = asked.models.column.size == 0 and asked.person.size == 0
    for c in range(first, last):
        if stop[0] or overgrown(state, index):
            return c
        done[0] += 1
        if info[c, SIZE] == 0 or (simple and info[c, SIZE] >= asked.k) or holds(members(state, c), asked, desk):
            continue
        if whole:
            merge(state, index, prices, asked, desk, c, tally)
            continue
        if not asked.lasts:
            donor, record = partner(state, index, prices, asked, desk, c, np.bool_(True))
            if donor >= 0:
                leave(state, index, prices, record)
                join(state, index, prices, c, record)
                tally[BORROWED] += 1
                continue
        tally[DISSOLVED] += 1
        for r in empty(state, index, prices, c):
            settle(state, index, prices, asked, desk, r)
    return last


@part
def merge(state, index, prices, asked, desk, c, tally):
    """Merge a cluster whole into the nearest that its records may join; without one its records are left without.

    The other takes its box, which may be wider than its records: those must not be published narrower than before.
    """
    m = state.box.shape[1] // 2
    lo, hi = np.empty(m, np.int32), np.empty(m, np.int32)
    for j in range(m):
        lo[j], hi[j] = state.box[c, j], state.box[c, m + j]
    other, _ = partner(state, index, prices, asked, desk, c, np.bool_(False))
    for r in empty(state, index, prices, c):
        if other >= 0:
            join(state, index, prices, other, r)
    if other >= 0:
        widen(state, index, prices, other, lo, hi)
        tally[MERGED] += 1


@kernel
def settle_all(state, index, prices, asked, desk, first, done, stop, records):
    """Let records, in this order, each join its best cluster if there is one.

    Returns where to go on once the index is planted anew.
    """
    for i in range(first, records.size):
        if stop[0] or overgrown(state, index):
            return i
        settle(state, index, prices, asked, desk, records[i])
        done[0] += 1
    return records.size


@kernel
def merge_rest(state, index, prices, asked, desk, records, starts, tally):
    """Merge runs of records without a cluster, each as a whole, into the nearest cluster that they may join."""
    codes, profile, cell, box, info = state.codes, state.profile, state.cell, state.box, state.info
    m = codes.shape[1]
    lo, hi = np.empty(m, np.int64), np.empty(m, np.int64)
    for run in range(starts.size - 1):
        group = records[starts[run] : starts[run + 1]]
        c = state.used[NUMBERED]
        state.used[NUMBERED] += 1
        info[c, SIZE], info[c, HEAD], info[c, CELL] = 0, NOWHERE, cell[group[0]]
        info[c, LEAF], info[c, LOOSE] = 0, 1  # it stands in no leaf, so nothing finds it
        for r in group:
            enlist(state, c, r)
        enclosing(codes, profile, group, lo, hi)
        for j in range(m):
            box[c, j], box[c, m + j] = lo[j], hi[j]
        merge(state, index, prices, asked, desk, c, tally)
