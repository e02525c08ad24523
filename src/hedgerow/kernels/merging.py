"""Merging clusters that are too small with the one that it costs least to merge with (RV; SPEC §7).

Clusters are boxes of codes. They stand in a tree whose nodes know, by attribute, the greatest lower and the least upper
code of the boxes below: a merge with any of those boxes reaches at least so far, which bounds what it costs. The search
for the cheapest partner therefore looks at few boxes, and its answer is exact; ties go to the first cluster.

What a box costs in one attribute is given in one of three ways; all costs are whole numbers:

====== =================================================================================================
kind   cost of (lo, hi)
====== =================================================================================================
TABLE  ``costs[offset + lo * width + hi]``
STEPS  greatest of the steps between lo and hi, by a sparse table; one value costs ``single``
SPANS  by the ends of a free interval and the rules that it breaks: see :func:`span_cost`
====== =================================================================================================

Arrays travel in tuples:

- ``prices``: kind, offset, width, costs, single, terms, rules (see ``clustering/prices.py``);
- ``state``: lo, hi, count, bits, alive, partner, head, tail, following, hidden — of every cluster;
- ``tree``: order, leaf_of, left, right, parent, first, last, reach_lo, reach_hi, least, most;
- ``asked``: k, wanted, word_start, may_hide, whole, overlap — what is asked of clusters and merges.
"""

from __future__ import annotations

import numba as nb
import numpy as np

TABLE, STEPS, SPANS = 0, 1, 2
PRODUCT, BLEND, SHARE, PLAIN = 0, 1, 2, 3
NONE, SMALL, OTHER = 0, 1, 2
BUCKET = 8
FAR = 1 << 62
NO_CODE = (1 << 31) - 1


@nb.njit(nogil=True)
def price(j, lo, hi, prices):
    """Cost of the codes lo … hi in attribute j."""
    kind, offset, width, costs, single, terms, rules = prices
    if kind[j] == TABLE:
        return costs[offset[j] + lo * width[j] + hi]
    if kind[j] == SPANS:
        wide = costs[offset[j] + width[j] + hi] - costs[offset[j] + lo]
        return span_cost(wide, lo, hi, terms[j], rules, j)
    if lo == hi:
        return single[j]
    level = 0
    while (2 << level) <= hi - lo:
        level += 1
    row = offset[j] + level * width[j]
    return max(costs[row + lo], costs[row + hi - (1 << level)])


@nb.njit(nogil=True)
def span_cost(wide, lo, hi, terms, rules, j):
    """Cost of a free interval of a width.

    Terms: form, weight, what all rules count, numerator and denominator of λ, 1 if both ends belong to the interval,
    the width of the whole column, and what widths are divided by so that products fit.
    """
    form, weight, whole, up, down, closed, column, unit = terms
    if form == PLAIN:
        return min(wide, np.int64(1 << 56))
    if form == SHARE:
        return np.int64(0) if column == 0 else weight * (wide // unit) // (column // unit)
    span = max(wide + closed, 1)
    start, first, last, importance = rules
    kept = whole
    for r in range(start[j], start[j + 1]):
        if lo <= first[r] and hi >= last[r]:
            kept -= importance[r]
    if form == PRODUCT:
        return weight - (weight * kept // whole) // span
    return weight - weight * up // (down * span) - (weight * (down - up) // down) * kept // whole


# -- the tree of boxes ---------------------------------------------------------------------------------------------


@nb.njit(nogil=True)
def plant(state, first_cluster, last_cluster, prices):
    """Build the tree over the living clusters of a range.

    Attributes of few values are split up first, and entirely: below, a difference in them is certain, and it is dear.
    """
    lo, alive = state[0], state[4]
    m = lo.shape[1]
    by_values = np.argsort(prices[2], kind="mergesort")
    total = 0
    for c in range(first_cluster, last_cluster):
        total += alive[c]
    order = np.empty(total, np.int64)
    at = 0
    for c in range(first_cluster, last_cluster):
        if alive[c]:
            order[at] = c
            at += 1
    room = 2 * total + 1
    left, right, parent = np.full(room, -1, np.int64), np.full(room, -1, np.int64), np.full(room, -1, np.int64)
    first, last = np.zeros(room, np.int64), np.zeros(room, np.int64)
    leaf_of = np.zeros(last_cluster - first_cluster, np.int64)
    reach_lo, reach_hi = np.zeros((room, m), np.int32), np.zeros((room, m), np.int32)
    least, most = np.zeros(room, np.int64), np.zeros(room, np.int64)
    tree = (order, leaf_of, left, right, parent, first, last, reach_lo, reach_hi, least, most)
    last[0] = total
    nodes, stack = 1, [0]
    while len(stack) > 0:
        node = stack.pop()
        begin, end = first[node], last[node]
        if end - begin <= BUCKET:
            for i in range(begin, end):
                leaf_of[order[i] - first_cluster] = node
            continue
        chosen = -1
        for j in by_values:
            for i in range(begin + 1, end):
                if lo[order[i], j] != lo[order[begin], j]:
                    chosen = j
                    break
            if chosen >= 0:
                break
        middle = (end - begin) // 2
        if chosen >= 0:
            part = order[begin:end]
            keys = np.empty(end - begin, np.int64)
            for i in range(end - begin):
                keys[i] = lo[part[i], chosen]
            ranked = np.argsort(keys, kind="mergesort")
            part[:] = part[ranked]
            below = above = middle  # equal codes stay together: split at the edge that is nearest to the middle
            while below > 0 and keys[ranked[below - 1]] == keys[ranked[below]]:
                below -= 1
            while above < end - begin and keys[ranked[above]] == keys[ranked[above - 1]]:
                above += 1
            middle = below if below > 0 and (middle - below <= above - middle or above == end - begin) else above
        left[node], right[node] = nodes, nodes + 1
        first[nodes], last[nodes] = begin, begin + middle
        first[nodes + 1], last[nodes + 1] = begin + middle, end
        parent[nodes] = parent[nodes + 1] = node
        stack.append(nodes)
        stack.append(nodes + 1)
        nodes += 2
    for node in range(nodes - 1, -1, -1):
        refresh(node, tree, state)
    return tree


@nb.njit(nogil=True)
def refresh(node, tree, state):
    """Work out what a node knows from what is right below it."""
    order, left, right = tree[0], tree[2], tree[3]
    first, last, reach_lo, reach_hi, least, most = tree[5], tree[6], tree[7], tree[8], tree[9], tree[10]
    lo, hi, count, alive = state[0], state[1], state[2], state[4]
    m = lo.shape[1]
    least[node], most[node] = FAR, -1
    for j in range(m):
        reach_lo[node, j], reach_hi[node, j] = -1, NO_CODE
    if left[node] < 0:
        for i in range(first[node], last[node]):
            c = order[i]
            if alive[c]:
                least[node], most[node] = min(least[node], c), max(most[node], count[c])
                for j in range(m):
                    reach_lo[node, j] = max(reach_lo[node, j], lo[c, j])
                    reach_hi[node, j] = min(reach_hi[node, j], hi[c, j])
        return
    for below in (left[node], right[node]):
        least[node], most[node] = min(least[node], least[below]), max(most[node], most[below])
        for j in range(m):
            reach_lo[node, j] = max(reach_lo[node, j], reach_lo[below, j])
            reach_hi[node, j] = min(reach_hi[node, j], reach_hi[below, j])


@nb.njit(nogil=True)
def refresh_above(cluster, first_cluster, tree, state):
    """Refresh all nodes over a cluster."""
    node = tree[1][cluster - first_cluster]
    while node >= 0:
        refresh(node, tree, state)
        node = tree[4][node]


# -- ranges that must not partially overlap ------------------------------------------------------------------------


@nb.njit(nogil=True)
def widen(j, lo, hi, family):
    """Widen a range of codes until it overlaps none of the family partially."""
    starts, ends, uses, total = family
    moved = True
    while moved:
        moved = False
        for i in range(total[j]):
            if uses[j, i] == 0:
                continue
            a, b = starts[j, i], ends[j, i]
            if a < lo and lo <= b and b < hi:
                lo, moved = a, True
            elif lo < a and a <= hi and hi < b:
                hi, moved = b, True
    return lo, hi


@nb.njit(nogil=True)
def note(j, lo, hi, change, family):
    """Add a range to the family, or take it away; single values overlap nothing partially and are left out."""
    if lo == hi:
        return
    starts, ends, uses, total = family
    free = -1
    for i in range(total[j]):
        if uses[j, i] == 0:
            free = i
        elif starts[j, i] == lo and ends[j, i] == hi:
            uses[j, i] += change
            return
    if free < 0:
        free = total[j]
        total[j] += 1
    starts[j, free], ends[j, free], uses[j, free] = lo, hi, change


# -- finding and making merges -------------------------------------------------------------------------------------


@nb.njit(nogil=True)
def merge_cost(small, other, state, prices, asked, family, beyond):
    """Cost of a merge and which side's cells are hidden; a cost beyond what is known may be too low."""
    lo, hi, count = state[0], state[1], state[2]
    may_hide, whole, overlap = asked[3], asked[4], asked[5]
    plain = hide_small = hide_other = np.int64(0)
    hides = False
    together = count[small] + count[other]
    for j in range(lo.shape[1]):
        a, b = min(lo[small, j], lo[other, j]), max(hi[small, j], hi[other, j])
        if overlap[j]:
            a, b = widen(j, a, b, family)
        joined = price(j, a, b, prices)
        plain += joined
        if may_hide[j]:
            hides = True
            gain = (whole[j] - price(j, lo[other, j], hi[other, j], prices)) * count[other] // together
            hide_small += min(joined, whole[j] - gain)
            gain = (whole[j] - price(j, lo[small, j], hi[small, j], prices)) * count[small] // together
            hide_other += min(joined, whole[j] - gain)
        else:
            hide_small += joined
            hide_other += joined
        if not hides and plain > beyond:
            return plain, NONE
    if hide_small < plain and hide_small <= hide_other:
        return hide_small, SMALL
    if hide_other < plain:
        return hide_other, OTHER
    return plain, NONE


@nb.njit(nogil=True)
def node_bound(node, small, tree, state, prices, asked):
    """Least that a merge with any cluster under a node can cost."""
    lo, hi, count = state[0], state[1], state[2]
    reach_lo, reach_hi, most = tree[7], tree[8], tree[10]
    may_hide, whole = asked[3], asked[4]
    total = np.int64(0)
    for j in range(lo.shape[1]):
        cost = price(j, min(lo[small, j], reach_lo[node, j]), max(hi[small, j], reach_hi[node, j]), prices)
        if may_hide[j]:
            cost = min(cost, whole[j] - whole[j] * most[node] // (count[small] + most[node]))
            gain = whole[j] - price(j, lo[small, j], hi[small, j], prices)
            cost = min(cost, whole[j] - gain * count[small] // (count[small] + 1))
        total += cost
    return total


@nb.njit(nogil=True)
def cheapest(small, tree, state, prices, asked, family, stack, bounds):
    """Find the living cluster that it costs least to merge with; ties to the first. Returns it and what to hide."""
    order, left, right, first, last, least = tree[0], tree[2], tree[3], tree[5], tree[6], tree[9]
    alive = state[4]
    best, chosen, hide = np.int64(FAR), np.int64(-1), NONE
    stack[0], bounds[0], depth = 0, 0, 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if bounds[depth] > best or (bounds[depth] == best and least[node] > chosen):
            continue
        if left[node] < 0:
            for i in range(first[node], last[node]):
                c = order[i]
                if alive[c] and c != small:
                    cost, side = merge_cost(small, c, state, prices, asked, family, best)
                    if cost < best or (cost == best and c < chosen):
                        best, chosen, hide = cost, c, side
            continue
        near, far = left[node], right[node]
        near_bound, far_bound = np.int64(FAR), np.int64(FAR)
        if least[near] < FAR:
            near_bound = node_bound(near, small, tree, state, prices, asked)
        if least[far] < FAR:
            far_bound = node_bound(far, small, tree, state, prices, asked)
        if far_bound < near_bound:
            near, far, near_bound, far_bound = far, near, far_bound, near_bound
        if far_bound < FAR:
            stack[depth], bounds[depth] = far, far_bound
            depth += 1
        if near_bound < FAR:
            stack[depth], bounds[depth] = near, near_bound
            depth += 1
    return chosen, hide


@nb.njit(nogil=True)
def merge(small, other, hide, state, prices, asked, family):
    """Merge a cluster into another one, hiding cells of one side where that is worth more."""
    lo, hi, count, bits, alive, partner, head, tail, following, hidden = state
    may_hide, whole, overlap = asked[3], asked[4], asked[5]
    together = count[small] + count[other]
    for j in range(lo.shape[1]):
        a, b = min(lo[small, j], lo[other, j]), max(hi[small, j], hi[other, j])
        if overlap[j]:
            a, b = widen(j, a, b, family)
        if hide != NONE and may_hide[j]:
            gone, kept = (small, other) if hide == SMALL else (other, small)
            gain = (whole[j] - price(j, lo[kept, j], hi[kept, j], prices)) * count[kept] // together
            if whole[j] - gain < price(j, a, b, prices):
                a, b = lo[kept, j], hi[kept, j]
                p = head[gone]
                while p >= 0:
                    hidden[p, j] = True
                    p = following[p]
        if overlap[j]:
            note(j, lo[small, j], hi[small, j], -1, family)
            note(j, lo[other, j], hi[other, j], -1, family)
            note(j, a, b, 1, family)
        lo[other, j], hi[other, j] = a, b
    count[other] = together
    for w in range(bits.shape[1]):
        bits[other, w] |= bits[small, w]
    alive[small] = False
    partner[small] = other
    following[tail[other]] = head[small]
    tail[other] = tail[small]


@nb.njit(nogil=True)
def too_small(cluster, state, asked):
    """Tell whether a cluster has too few records or too few different values of a sensitive column."""
    count, bits = state[2], state[3]
    k, wanted, word_start = asked[0], asked[1], asked[2]
    if count[cluster] < k:
        return True
    for s in range(wanted.size):
        different = 0
        for w in range(word_start[s], word_start[s + 1]):
            word = bits[cluster, w]
            while word != 0:
                word &= word - np.uint64(1)
                different += 1
        if different < wanted[s]:
            return True
    return False


@nb.njit(nogil=True, cache=True)
def merge_cells(cell_start, first_cell, last_cell, state, forced, prices, asked, family, progress, stop):
    """Merge, cell by cell and in order, every cluster that is too small, or that is forced to merge once.

    Parameters
    ----------
    cell_start
        First cluster of each cell, and the total.
    state, prices, asked
        See above; the state is changed.
    forced
        Clusters that must merge although they are large enough; one that is merged into need not any more.
    family
        Ranges of codes that no other range may partially overlap, by attribute.
    progress, stop
        Records done so far, added to; a flag that ends the work early when set.
    """
    count, alive = state[2], state[4]
    stack, bounds = np.empty(256, np.int64), np.empty(256, np.int64)
    for cell in range(first_cell, last_cell):
        first, last = cell_start[cell], cell_start[cell + 1]
        tree = plant(state, first, last, prices)
        for small in range(first, last):
            if not alive[small]:
                continue
            records = count[small]
            if forced[small] or too_small(small, state, asked):
                other, hide = cheapest(small, tree, state, prices, asked, family, stack, bounds)
                if other >= 0:
                    merge(small, other, hide, state, prices, asked, family)
                    forced[other] = False
                    refresh_above(small, first, tree, state)
                    refresh_above(other, first, tree, state)
            progress[0] += records
            if stop[0] != 0:
                return
