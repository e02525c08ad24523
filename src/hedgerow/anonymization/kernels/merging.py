"""Merging clusters that are too small with the one that it costs least to merge with (Morton 2013).

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

``state``, ``prices``, ``asked`` and ``tree`` are :class:`Merging`, :class:`MergePrices`, :class:`MergeAsked` and
:class:`BoxTree` of ``tuples/``; but inner loops take the few arrays that they look at, because passing many costs more
than the work.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.codes import (
    CLOSED,
    COLUMN,
    DOWN,
    FAR,
    FORM,
    KIND,
    LAST_RULE,
    NO_CODE,
    OFFSET,
    PLAIN,
    PRODUCT,
    RULES,
    SHARE,
    SINGLE,
    SPANS,
    TABLE,
    UNIT,
    UP,
    WEIGHT,
    WHOLE,
    WIDTH,
)
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.sorting import ranked
from hedgerow.anonymization.kernels.tuples.merging import BoxTree

LEFT, RIGHT, PARENT, FIRST, LAST, LEAST, MOST = range(7)
NONE, SMALL, OTHER = 0, 1, 2
BUCKET = 8


@inner
def price(j, lo, hi, terms, costs):
    """Cost of the codes lo … hi in attribute j."""
    if terms[j, KIND] == TABLE:
        return costs[terms[j, OFFSET] + lo * terms[j, WIDTH] + hi]
    if terms[j, KIND] == SPANS:
        return span_cost(j, lo, hi, terms, costs)
    if lo == hi:
        return terms[j, SINGLE]
    level = 0
    while (2 << level) <= hi - lo:
        level += 1
    row = terms[j, OFFSET] + level * terms[j, WIDTH]
    return max(costs[row + lo], costs[row + hi - (1 << level)])


@inner
def span_cost(j, lo, hi, terms, costs):
    """Cost of a free interval: by its span and the rules it breaks, or by its width alone."""
    wide = costs[terms[j, OFFSET] + terms[j, WIDTH] + hi] - costs[terms[j, OFFSET] + lo]
    form, weight = terms[j, FORM], terms[j, WEIGHT]
    if form == PLAIN:
        return min(wide, np.int64(1 << 56))
    if form == SHARE:
        column = terms[j, COLUMN] // terms[j, UNIT]
        return np.int64(0) if column == 0 else weight * (wide // terms[j, UNIT]) // column
    span = max(wide + terms[j, CLOSED], 1)
    whole = kept = terms[j, WHOLE]
    for rule in range(terms[j, RULES], terms[j, LAST_RULE], 3):  # first code, last code, importance
        if lo <= costs[rule] and hi >= costs[rule + 1]:
            kept -= costs[rule + 2]
    if form == PRODUCT:
        return weight - (weight * kept // whole) // span
    up, down = terms[j, UP], terms[j, DOWN]
    return weight - (weight * up // down) // span - (weight * (down - up) // down) * kept // whole


# -- the tree of boxes ---------------------------------------------------------------------------------------------


@inner
def plant(state, first_cluster, last_cluster, prices):
    """Build the tree over the living clusters of a range; returns it and its depth.

    Attributes of few values are split up first, and entirely: below, a difference in them is certain, and it is dear.
    """
    lo, alive = state.lo, state.alive
    m = lo.shape[1]
    widths = np.empty(m, np.int64)
    for j in range(m):
        widths[j] = prices.terms[j, WIDTH]
    by_values = ranked(widths)
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
    links = np.full((room, 7), -1, np.int64)
    leaf_of = np.zeros(last_cluster - first_cluster, np.int64)
    reach = np.zeros((room, 2 * m), np.int32)
    tree = BoxTree(order, leaf_of, links, reach)
    links[0, FIRST] = 0
    links[0, LAST] = total
    depth_of, deepest = np.zeros(room, np.int64), np.int64(0)
    stack = np.zeros(room, np.int64)  # nodes still to split, the root first
    nodes, waiting = 1, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        begin, end = links[node, FIRST], links[node, LAST]
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
            part, keys = np.empty(end - begin, np.int64), np.empty(end - begin, np.int64)
            for i in range(end - begin):
                part[i] = order[begin + i]
                keys[i] = lo[part[i], chosen]
            rank = ranked(keys)
            for i in range(end - begin):
                order[begin + i] = part[rank[i]]
            below = above = middle  # equal codes stay together: split at the edge that is nearest to the middle
            while below > 0 and keys[rank[below - 1]] == keys[rank[below]]:
                below -= 1
            while above < end - begin and keys[rank[above]] == keys[rank[above - 1]]:
                above += 1
            middle = below if below > 0 and (middle - below <= above - middle or above == end - begin) else above
        links[node, LEFT], links[node, RIGHT] = nodes, nodes + 1
        links[nodes, FIRST], links[nodes, LAST] = begin, begin + middle
        links[nodes + 1, FIRST], links[nodes + 1, LAST] = begin + middle, end
        links[nodes, PARENT] = links[nodes + 1, PARENT] = node
        depth_of[nodes] = depth_of[nodes + 1] = depth_of[node] + 1
        deepest = max(deepest, depth_of[nodes])
        stack[waiting], stack[waiting + 1] = nodes, nodes + 1
        waiting += 2
        nodes += 2
    for node in range(nodes - 1, -1, -1):
        refresh(node, tree, state)
    return tree, deepest


@inner
def refresh(node, tree, state):
    """Work out what a node knows from what is right below it."""
    order, links, reach = tree.order, tree.links, tree.reach
    lo, hi, count, alive = state.lo, state.hi, state.records, state.alive
    m = lo.shape[1]
    links[node, LEAST], links[node, MOST] = FAR, -1
    for j in range(m):
        reach[node, j], reach[node, m + j] = -1, NO_CODE
    if links[node, LEFT] < 0:
        for i in range(links[node, FIRST], links[node, LAST]):
            c = order[i]
            if alive[c]:
                links[node, LEAST] = min(links[node, LEAST], c)
                links[node, MOST] = max(links[node, MOST], count[c])
                for j in range(m):
                    reach[node, j] = max(reach[node, j], lo[c, j])
                    reach[node, m + j] = min(reach[node, m + j], hi[c, j])
        return
    for side in (LEFT, RIGHT):
        below = links[node, side]
        links[node, LEAST] = min(links[node, LEAST], links[below, LEAST])
        links[node, MOST] = max(links[node, MOST], links[below, MOST])
        for j in range(m):
            reach[node, j] = max(reach[node, j], reach[below, j])
            reach[node, m + j] = min(reach[node, m + j], reach[below, m + j])


@inner
def refresh_above(cluster, first_cluster, tree, state):
    """Refresh all nodes over a cluster."""
    node = tree.leaf_of[cluster - first_cluster]
    while node >= 0:
        refresh(node, tree, state)
        node = tree.links[node, PARENT]


# -- finding and making merges -------------------------------------------------------------------------------------


@inner
def plain_cost(small, other, lo, hi, terms, costs, beyond):
    """Cost of a merge that hides nothing; beyond what is known it may be too low."""
    total = np.int64(0)
    for j in range(lo.shape[1]):
        total += price(j, min(lo[small, j], lo[other, j]), max(hi[small, j], hi[other, j]), terms, costs)
        if total > beyond:
            break
    return total


@inner
def hiding_cost(small, other, state, prices, asked):
    """Cost of a merge that may hide cells, and which side's cells it hides."""
    lo, hi, count = state.lo, state.hi, state.records
    terms, costs = prices.terms, prices.costs
    may_hide, whole = asked.may_hide, asked.whole
    plain = hide_small = hide_other = np.int64(0)
    together = count[small] + count[other]
    for j in range(lo.shape[1]):
        a, b = min(lo[small, j], lo[other, j]), max(hi[small, j], hi[other, j])
        joined = price(j, a, b, terms, costs)
        plain += joined
        if may_hide[j]:
            gain = (whole[j] - price(j, lo[other, j], hi[other, j], terms, costs)) * count[other] // together
            hide_small += min(joined, whole[j] - gain)
            gain = (whole[j] - price(j, lo[small, j], hi[small, j], terms, costs)) * count[small] // together
            hide_other += min(joined, whole[j] - gain)
        else:
            hide_small += joined
            hide_other += joined
    if hide_small < plain and hide_small <= hide_other:
        return hide_small, SMALL
    if hide_other < plain:
        return hide_other, OTHER
    return plain, NONE


@inner
def node_bound(node, small, lo, hi, reach, terms, costs, beyond):
    """Least that a merge with any cluster under a node can cost; beyond what is known it may be too low."""
    m = lo.shape[1]
    total = np.int64(0)
    for j in range(m):
        a, b = min(lo[small, j], np.int64(reach[node, j])), max(hi[small, j], np.int64(reach[node, m + j]))
        total += price(j, a, b, terms, costs)
        if total > beyond:
            break
    return total


@inner
def hiding_bound(node, small, state, tree, prices, asked):
    """Least that a merge with any cluster under a node can cost if cells may be hidden."""
    lo, hi, count = state.lo, state.hi, state.records
    links, reach = tree.links, tree.reach
    terms, costs = prices.terms, prices.costs
    may_hide, whole = asked.may_hide, asked.whole
    m = lo.shape[1]
    total = np.int64(0)
    for j in range(m):
        a, b = min(lo[small, j], np.int64(reach[node, j])), max(hi[small, j], np.int64(reach[node, m + j]))
        cost = price(j, a, b, terms, costs)
        if may_hide[j]:
            most = links[node, MOST]
            cost = min(cost, whole[j] - whole[j] * most // (count[small] + most))
            gain = whole[j] - price(j, lo[small, j], hi[small, j], terms, costs)
            cost = min(cost, whole[j] - gain * count[small] // (count[small] + 1))
        total += cost
    return total


@inner
def cheapest(small, tree, state, prices, asked, stack, bounds):
    """Find the living cluster that it costs least to merge with; ties to the first. Returns it and what to hide."""
    order, links, reach = tree.order, tree.links, tree.reach
    lo, hi, alive = state.lo, state.hi, state.alive
    terms, costs = prices.terms, prices.costs
    hides = asked.hides
    best, chosen, hide = np.int64(FAR), np.int64(FAR), NONE
    stack[0], bounds[0], depth = 0, 0, 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if bounds[depth] > best or (bounds[depth] == best and links[node, LEAST] > chosen):
            continue
        if links[node, LEFT] < 0:
            for i in range(links[node, FIRST], links[node, LAST]):
                c = order[i]
                if not alive[c] or c == small:
                    continue
                side = NONE
                if hides:
                    cost, side = hiding_cost(small, c, state, prices, asked)
                else:
                    cost = plain_cost(small, c, lo, hi, terms, costs, best)
                if cost < best or (cost == best and c < chosen):
                    best, chosen, hide = cost, c, side
            continue
        near, far = links[node, LEFT], links[node, RIGHT]
        near_bound, far_bound = np.int64(FAR), np.int64(FAR)
        if links[near, LEAST] < FAR:  # else nothing lives there
            near_bound = (
                hiding_bound(near, small, state, tree, prices, asked)
                if hides
                else node_bound(near, small, lo, hi, reach, terms, costs, best)
            )
        if links[far, LEAST] < FAR:
            far_bound = (
                hiding_bound(far, small, state, tree, prices, asked)
                if hides
                else node_bound(far, small, lo, hi, reach, terms, costs, best)
            )
        if far_bound < near_bound:
            near, far, near_bound, far_bound = far, near, far_bound, near_bound
        if far_bound < FAR and far_bound <= best:
            stack[depth], bounds[depth] = far, far_bound
            depth += 1
        if near_bound < FAR and near_bound <= best:
            stack[depth], bounds[depth] = near, near_bound
            depth += 1
    return chosen, hide


@inner
def merge(small, other, hide, state, prices, asked):
    """Merge a cluster into another one, hiding cells of one side where that is worth more."""
    lo, hi, count, bits = state.lo, state.hi, state.records, state.bits
    alive, partner, head = state.alive, state.partner, state.head
    tail, following, hidden = state.tail, state.following, state.hidden
    terms, costs = prices.terms, prices.costs
    may_hide, whole = asked.may_hide, asked.whole
    together = count[small] + count[other]
    for j in range(lo.shape[1]):
        a, b = min(lo[small, j], lo[other, j]), max(hi[small, j], hi[other, j])
        if hide != NONE and may_hide[j]:
            gone, kept = (small, other) if hide == SMALL else (other, small)
            gain = (whole[j] - price(j, lo[kept, j], hi[kept, j], terms, costs)) * count[kept] // together
            if whole[j] - gain < price(j, a, b, terms, costs):
                a, b = lo[kept, j], hi[kept, j]
                p = head[gone]
                while p >= 0:
                    hidden[p, j] = True
                    p = following[p]
        lo[other, j], hi[other, j] = a, b
    count[other] = together
    for w in range(bits.shape[1]):
        bits[other, w] |= bits[small, w]
    alive[small] = False
    partner[small] = other
    following[tail[other]] = head[small]
    tail[other] = tail[small]


@inner
def too_small(cluster, state, asked):
    """Tell whether a cluster has too few records or too few different values of a sensitive column."""
    count, bits = state.records, state.bits
    k, wanted, word_start = asked.k, asked.wanted, asked.word_start
    if count[cluster] < k:
        return True
    for s in range(wanted.size):
        if wanted[s] < 2:
            continue
        different = 0
        for w in range(word_start[s], word_start[s + 1]):
            word = bits[cluster, w]
            while word != 0:
                word &= word - np.uint64(1)
                different += 1
        if different < wanted[s]:
            return True
    return False


@kernel
def merge_cells(cell_start, first_cell, last_cell, state, forced, prices, asked, progress, stop):
    """Merge, cell by cell and in order, every cluster that is too small, or that is forced to merge once.

    Parameters
    ----------
    cell_start
        First cluster of each cell, and the total.
    state, prices, asked
        See above; the state is changed.
    forced
        Clusters that must merge although they are large enough; one that is merged into need not any more.
    progress, stop
        Records done so far, added to; a flag that ends the work early when set.
    """
    count, alive = state.records, state.alive
    for cell in range(first_cell, last_cell):
        first, last = cell_start[cell], cell_start[cell + 1]
        tree, deepest = plant(state, first, last, prices)
        stack, bounds = np.empty(deepest + 2, np.int64), np.empty(deepest + 2, np.int64)  # one more per level
        for small in range(first, last):
            if not alive[small]:
                continue
            records = count[small]
            if forced[small] or too_small(small, state, asked):
                other, hide = cheapest(small, tree, state, prices, asked, stack, bounds)
                if other < FAR:
                    merge(small, other, hide, state, prices, asked)
                    forced[other] = False
                    refresh_above(small, first, tree, state)
                    refresh_above(other, first, tree, state)
            progress[0] += records
            if stop[0] != 0:
                return
