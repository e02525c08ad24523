"""Merging clusters where what is published in a column must be disjoint or equal.

Each column is cut into blocks of codes, each code alone at first; see ``clustering/apart.py`` for what a merge does. A
cluster lies in one block of every column, so a merge costs, by column, what the records in all blocks that it unites
lose more: sums over runs of codes, which are kept up to date. It never costs less to unite more. So the tree of
``merging.py`` bounds what a merge with any cluster below a node costs, and the search looks at few of them.

``state``, ``prices`` and ``asked`` are those of ``merging.py``; lo and hi of a cluster are one code in its block here.
``blocks`` is :class:`Blocks` of ``tuples/merging.py``.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.codes import FAR
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.merging import (
    FIRST,
    LAST,
    LEAST,
    LEFT,
    NONE,
    OTHER,
    RIGHT,
    SMALL,
    plant,
    price,
    refresh_above,
    too_small,
)


@inner
def united(j, a, b, blocks):
    """First and last code of the block in which the blocks of two codes would lie together."""
    begin = blocks.begin[j]
    low = min(blocks.first[begin + a], blocks.first[begin + b])
    high = max(blocks.last[begin + a], blocks.last[begin + b])
    if blocks.first[begin + a] == blocks.first[begin + b] or blocks.begin_tree[j] < 0:
        return low, high
    tree = blocks.begin_tree[j]
    node = blocks.leaf[begin + low]
    while blocks.node_last[tree + node] < high:
        node = blocks.parent[tree + node]
    return blocks.node_first[tree + node], blocks.node_last[tree + node]


@inner
def uniting(j, a, b, blocks, prices):
    """What all records lose more if two codes come into one block."""
    begin = blocks.begin[j]
    if blocks.first[begin + a] == blocks.first[begin + b]:
        return np.int64(0)
    low, high = united(j, a, b, blocks)
    at = begin + j  # sums have one place more in each column
    records = blocks.records[at + high + 1] - blocks.records[at + low]
    lost = blocks.lost[at + high + 1] - blocks.lost[at + low]
    return records * (price(j, low, high, prices.terms, prices.costs) >> blocks.shift) - lost


@inner
def hiding(j, gone, state, blocks, prices, asked):
    """What the records of a cluster lose more if they show nothing in a column."""
    at = blocks.begin[j] + state.lo[gone, j]
    now = price(j, blocks.first[at], blocks.last[at], prices.terms, prices.costs) >> blocks.shift
    return blocks.shown[gone, j] * ((asked.whole[j] >> blocks.shift) - now)


@inner
def way(small, other, state, blocks, prices, asked, beyond):
    """Cost of a merge, and which side's cells it hides; beyond what is known it may be too low."""
    plain = hide_small = hide_other = np.int64(0)
    for j in range(state.lo.shape[1]):
        join = uniting(j, state.lo[small, j], state.lo[other, j], blocks, prices)
        plain += join
        if not asked.hides:
            if plain > beyond:
                break
        elif asked.may_hide[j]:
            hide_small += min(join, hiding(j, small, state, blocks, prices, asked))
            hide_other += min(join, hiding(j, other, state, blocks, prices, asked))
        else:
            hide_small += join
            hide_other += join
    if asked.hides:
        if hide_small < plain and hide_small <= hide_other:
            return hide_small, SMALL
        if hide_other < plain:
            return hide_other, OTHER
    return plain, NONE


@inner
def bound(node, small, tree, state, blocks, prices, asked, beyond):
    """Least that a merge with any cluster under a node can cost; beyond what is known it may be too low."""
    m = state.lo.shape[1]
    total = np.int64(0)
    for j in range(m):
        if asked.may_hide[j]:
            continue  # it may cost nothing to hide what little the other shows
        a = min(state.lo[small, j], np.int64(tree.reach[node, j]))
        b = max(state.lo[small, j], np.int64(tree.reach[node, m + j]))
        total += uniting(j, a, b, blocks, prices)
        if total > beyond:
            break
    return total


@inner
def cheapest_apart(small, tree, state, blocks, prices, asked, stack, bounds):
    """Find the living cluster that it costs least to merge with; ties to the first. Returns it and what to hide."""
    links, order = tree.links, tree.order
    best, chosen, hides = np.int64(FAR), np.int64(FAR), NONE
    stack[0], bounds[0], depth = 0, 0, 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if bounds[depth] > best or (bounds[depth] == best and links[node, LEAST] > chosen):
            continue
        if links[node, LEFT] < 0:
            for i in range(links[node, FIRST], links[node, LAST]):
                c = order[i]
                if state.alive[c] and c != small:
                    cost, side = way(small, c, state, blocks, prices, asked, best)
                    if cost < best or (cost == best and c < chosen):
                        best, chosen, hides = cost, c, side
            continue
        near, far = links[node, LEFT], links[node, RIGHT]
        near_bound, far_bound = np.int64(FAR), np.int64(FAR)
        if links[near, LEAST] < FAR:  # else nothing lives there
            near_bound = bound(near, small, tree, state, blocks, prices, asked, best)
        if links[far, LEAST] < FAR:
            far_bound = bound(far, small, tree, state, blocks, prices, asked, best)
        if far_bound < near_bound:
            near, far, near_bound, far_bound = far, near, far_bound, near_bound
        if far_bound < FAR and far_bound <= best:
            stack[depth], bounds[depth] = far, far_bound
            depth += 1
        if near_bound < FAR and near_bound <= best:
            stack[depth], bounds[depth] = near, near_bound
            depth += 1
    return chosen, hides


@inner
def unite(j, low, high, blocks, prices):
    """Make one block of some codes, and bring the sums of losses up to date."""
    begin = blocks.begin[j]
    cost = price(j, low, high, prices.terms, prices.costs) >> blocks.shift
    at = begin + j
    before = blocks.lost[at + high + 1]
    for code in range(low, high + 1):
        blocks.first[begin + code], blocks.last[begin + code] = low, high
        records = blocks.records[at + code + 1] - blocks.records[at + code]
        blocks.lost[at + code + 1] = blocks.lost[at + code] + records * cost
    more = blocks.lost[at + high + 1] - before
    for code in range(high + 1, blocks.begin[j + 1] - begin):
        blocks.lost[at + code + 1] += more


@inner
def hide(j, gone, state, blocks, prices):
    """Let the records of a cluster show nothing in a column, and bring the sums up to date."""
    begin, at = blocks.begin[j], blocks.begin[j] + j
    cost = price(
        j, blocks.first[begin + state.lo[gone, j]], blocks.last[begin + state.lo[gone, j]], prices.terms, prices.costs
    )
    p = state.head[gone]
    while p >= 0:
        if not state.hidden[p, j]:
            state.hidden[p, j] = True
            for code in range(blocks.codes[p, j], blocks.begin[j + 1] - begin):
                blocks.records[at + code + 1] -= blocks.units[p]
                blocks.lost[at + code + 1] -= blocks.units[p] * (cost >> blocks.shift)
        p = state.following[p]
    blocks.shown[gone, j] = 0


@inner
def absorb(stays, gone, state, blocks, forced):
    """Make two clusters one, which need not merge any more."""
    state.records[stays] += state.records[gone]
    for w in range(state.bits.shape[1]):
        state.bits[stays, w] |= state.bits[gone, w]
    for j in range(state.lo.shape[1]):
        blocks.shown[stays, j] += blocks.shown[gone, j]
    state.alive[gone] = False
    state.partner[gone] = stays
    state.following[state.tail[stays]] = state.head[gone]
    state.tail[stays] = state.tail[gone]
    forced[stays] = False


@inner
def same_blocks(one, other, state, blocks):
    """Tell whether two clusters are of one cell and lie in the same block of every column."""
    if blocks.cell[one] != blocks.cell[other]:
        return False
    for j in range(state.lo.shape[1]):
        begin = blocks.begin[j]
        if blocks.first[begin + state.lo[one, j]] != blocks.first[begin + state.lo[other, j]]:
            return False
    return True


@inner
def gather(living, total, grown, first_cluster, last_cluster, tree, state, blocks, forced):
    """Make one of all clusters that lie in the same blocks, some of which have ``grown``; returns how many live.

    ``tree`` is that of the clusters from the first to the last one.
    """
    m = state.lo.shape[1]
    mask = np.uint64(blocks.slots.size - 1)
    used = 0
    for i in range(total):
        c = living[i]
        if not state.alive[c]:
            continue
        touched = False
        for j in range(m):
            if grown[j, 0] <= state.lo[c, j] <= grown[j, 1]:
                touched = True
                break
        if not touched:
            continue
        key = np.uint64(blocks.cell[c]) + np.uint64(1)
        for j in range(m):
            key = (key ^ np.uint64(blocks.first[blocks.begin[j] + state.lo[c, j]])) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        slot = np.int64(key & mask)
        while blocks.slots[slot] >= 0 and not same_blocks(blocks.slots[slot], c, state, blocks):
            slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
        if blocks.slots[slot] < 0:
            blocks.slots[slot] = c
            blocks.filled[used] = slot
            used += 1
        else:
            absorb(blocks.slots[slot], c, state, blocks, forced)
            if first_cluster <= c < last_cluster:
                refresh_above(c, first_cluster, tree, state)
    for i in range(used):
        blocks.slots[blocks.filled[i]] = -1
    left = 0
    for i in range(total):
        if state.alive[living[i]]:
            living[left] = living[i]
            left += 1
    return np.int64(left)


@kernel
def begin(prices, blocks):
    """Work out what records lose while each code is alone."""
    for j in range(blocks.begin.size - 1):
        at = blocks.begin[j] + j
        for code in range(blocks.begin[j + 1] - blocks.begin[j]):
            cost = price(j, code, code, prices.terms, prices.costs) >> blocks.shift
            records = blocks.records[at + code + 1] - blocks.records[at + code]
            blocks.lost[at + code + 1] = blocks.lost[at + code] + records * cost


@kernel
def merge_apart(cell_start, first_cell, last_cell, state, forced, prices, asked, blocks, living, progress, stop):
    """Merge, in order, every cluster that is too small, or that is forced to merge once.

    Parameters
    ----------
    cell_start
        First cluster of each cell, and the total.
    state, prices, asked, blocks
        See above; state and blocks are changed.
    forced
        Clusters that must merge although they are large enough; one that has grown need not any more.
    living
        Numbers of the living clusters of all cells, ascending; changed.
    progress, stop
        Records done so far, added to; a flag that ends the work early when set.
    """
    m = state.lo.shape[1]
    total = np.int64(0)
    for c in range(state.alive.size):
        if state.alive[c]:
            living[total] = c
            total += 1
    grown = np.empty((m, 2), np.int64)
    for cell in range(first_cell, last_cell):
        first, last = cell_start[cell], cell_start[cell + 1]
        tree, deepest = plant(state, first, last, prices)
        stack, bounds = np.empty(deepest + 2, np.int64), np.empty(deepest + 2, np.int64)  # one more per level
        for small in range(first, last):
            progress[0] += blocks.units[small]
            while state.alive[small] and (forced[small] or too_small(small, state, asked)):
                chosen, hides = cheapest_apart(small, tree, state, blocks, prices, asked, stack, bounds)
                if chosen == FAR:
                    break
                for j in range(m):
                    grown[j, 0], grown[j, 1] = 0, -1
                    a, b = state.lo[small, j], state.lo[chosen, j]
                    if blocks.first[blocks.begin[j] + a] == blocks.first[blocks.begin[j] + b]:
                        continue
                    gone = small if hides == SMALL else chosen
                    if hides != NONE and asked.may_hide[j]:
                        join = uniting(j, a, b, blocks, prices)
                        if hiding(j, gone, state, blocks, prices, asked) < join:
                            hide(j, gone, state, blocks, prices)
                            state.lo[gone, j] = state.hi[gone, j] = b if hides == SMALL else a
                            continue
                    grown[j, 0], grown[j, 1] = united(j, a, b, blocks)
                    unite(j, grown[j, 0], grown[j, 1], blocks, prices)
                absorb(min(small, chosen), max(small, chosen), state, blocks, forced)
                refresh_above(small, first, tree, state)
                refresh_above(chosen, first, tree, state)
                total = gather(living, total, grown, first, last, tree, state, blocks, forced)
            if stop[0] != 0:
                return
