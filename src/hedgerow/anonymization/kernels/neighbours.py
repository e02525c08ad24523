"""Neighbours of every profile of a cell: exact branch and bound on a prefix tree, within a patience.

The distance of two profiles is the cost of the box of the two. On a level of the tree the search goes outward from the
profile's own code, cheaper side first, since costs never fall outward: once both sides are too dear, the rest is too.

Codes arrive *encoded* by attribute, so that least and greatest of a group are found without knowing the kind of price:

====== ============================= ============== ===================================
kind   lower end                     upper end      cost of a box
====== ============================= ============== ===================================
TABLE  offset + code × width         code           ``costs[lower + upper]``
FREE   lower position                upper position upper − lower
STEPS  code                          code           see :func:`dearest_step`
====== ============================= ============== ===================================
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.bare import bare
from hedgerow.anonymization.kernels.codes import FAR, FREE, TABLE
from hedgerow.anonymization.kernels.compiling import inner, kernel, part
from hedgerow.anonymization.kernels.tuples.improving import Searches  # noqa: F401 - arguments: see keeping.py
from hedgerow.anonymization.kernels.tuples.searching import Prices  # noqa: F401

NOWHERE = (1 << 31) - 1
EASY = 8  # the part of the patience that profiles get that are easy to place, where partners are sought
ROUNDS, LOOKED_AT = 1, 10  # how often neighbours of neighbours are looked at, and how many of how many


@inner
def dearest_step(lo, hi, row, width, costs):
    """Greatest of the steps between two codes, by a sparse table whose first row begins at ``row``."""
    if lo == hi:
        return np.int64(0)
    span = hi - lo
    reach = 1
    while 2 * reach <= span:
        reach *= 2
        row += width
    return np.int64(max(costs[row + lo], costs[row + hi - reach]))


@inner
def price(j, lower, upper, prices):
    """Cost, in attribute j, of a box with encoded ends."""
    kind, offset, width, costs = prices.kind, prices.offset, prices.width, prices.costs
    if kind[j] == TABLE:
        return np.int64(costs[lower + upper])
    if kind[j] == FREE:
        return np.int64(upper) - np.int64(lower)
    return dearest_step(np.int64(lower), np.int64(upper), offset[j], width[j], costs)


@part
def cost_with(c, v, box_lower, box_upper, lower, upper, kind, costs, prices):
    """Cost of a group with one more unit, of profile v."""
    worth = np.int64(0)
    for j in range(lower.shape[1]):
        a, b = min(box_lower[c, j], lower[v, j]), max(box_upper[c, j], upper[v, j])
        worth += costs[a + b] if kind[j] == TABLE else price(j, a, b, prices)
    return worth


@inner
def prefix_tree(lower, upper):
    """Lay out a prefix tree of sorted, different profiles: where levels and children begin, and the nodes' ends."""
    n, q = lower.shape
    depth = np.zeros(n, np.int32)  # of the first attribute in which a profile differs from the one before
    level_start = np.zeros(q + 1, np.int64)
    for r in range(n):
        if r > 0:
            j = 0
            while j < q - 1 and lower[r, j] == lower[r - 1, j] and upper[r, j] == upper[r - 1, j]:
                j += 1
            depth[r] = j  # the last at most: different codes may be encoded alike, but each profile has its leaf
        for j in range(depth[r], q):
            level_start[j + 1] += 1
    for j in range(q):
        level_start[j + 1] += level_start[j]
    size = level_start[q]
    node_lower, node_upper = np.empty(size, np.uint32), np.empty(size, np.uint32)
    child = np.full(size + 1, size, np.int32)
    last = np.empty(q, np.int64)
    for j in range(q):
        last[j] = level_start[j] - 1
    for r in range(n):
        for j in range(depth[r], q):
            last[j] += 1
            node_lower[last[j]], node_upper[last[j]] = lower[r, j], upper[r, j]
            if j + 1 < q:
                child[last[j]] = last[j + 1] + 1
    return level_start, node_lower, node_upper, child


@inner
def _first_from(node_upper, begin, end, mark):
    """First of ascending siblings whose upper end is at least a mark."""
    while begin < end:
        middle = (begin + end) >> 1
        if node_upper[middle] < mark:
            begin = middle + 1
        else:
            end = middle
    return begin


@part
def _insert(y, distance, found, many, far, who):
    """Put a profile in its place among the best so far, so many at most; returns how many are known."""
    p = many - 1
    if found < many:
        p = found
        found += 1
    while p > 0 and far[p - 1] > distance:
        far[p], who[p] = far[p - 1], who[p - 1]
        p -= 1
    far[p], who[p] = distance, y
    return found


@kernel
def nearest_in_cells(lower, upper, counts, cell_start, prices, k, searches, near, distance, least, stop):
    """Find, for every profile of every cell, its neighbours: the nearest others, then its partners.

    *Partners* of a profile are others for which distance − floor is least, where the floor is what a record of the
    other costs at least. So those that are hard to place find others that are hard to place, not only the easy ones
    nearby, which are better off among themselves.

    Parameters
    ----------
    lower, upper
        Encoded codes of the profiles, sorted within each cell.
    counts
        Records of every profile.
    cell_start
        First profile of each cell, and their total.
    searches
        See :class:`Searches`.
    near
        Result: neighbours of every profile, ``searches.nearest`` nearest ones, then partners, best first; ties in the
        order in which they were found; −1 where there are no more.
    distance
        Result: how far each of them is; NOWHERE where there is none.
    least
        Result: distance at which k records are within reach: no group of k that holds the profile costs less per
        record, provided that no search lost its patience.
    """
    prices = bare(prices)
    for cell in range(cell_start.size - 1):
        first, last = cell_start[cell], cell_start[cell + 1]
        _search(
            bare(lower)[first:last], bare(upper)[first:last], bare(counts)[first:last], prices, k, searches,
            bare(near)[first:last], bare(distance)[first:last], bare(least)[first:last], stop,
        )  # fmt: skip
        for r in range(first, last):
            for i in range(near.shape[1]):
                if near[r, i] >= 0:
                    near[r, i] += np.int32(first)


@part
def _distance(u, y, total, limit, lower, upper, kind, costs, prices):
    """Cost of the box of two profiles, added to ``total``; at least the limit if not below."""
    for j in range(lower.shape[1]):
        a, b = min(lower[u, j], lower[y, j]), max(upper[u, j], upper[y, j])
        total += costs[a + b] if kind[j] == TABLE else price(j, a, b, prices)
        if total >= limit:
            break
    return total


@part
def _search(lower, upper, counts, prices, k, searches, near, distance, least, stop):
    """Find the neighbours of the profiles of one cell, numbered from 0: first the nearest, then the partners.

    Both are the same search for the least *distance − floor*; floors are nothing while the nearest are sought. No
    profile below a node has a higher floor than ``top`` of it.
    """
    kind, costs = prices.kind, prices.costs
    n, q = lower.shape
    level_start, node_lower, node_upper, child = prefix_tree(lower, upper)
    bottom = level_start[q - 1]
    near[:], distance[:], least[:] = -1, NOWHERE, 0
    most = near.shape[1]
    far, who = np.empty(most, np.int64), np.empty(most, np.int32)
    seen, unsure, top = np.full(n, np.int64(-1)), np.zeros(n, np.bool_), np.zeros(level_start[q], np.int32)
    begin, end = np.empty(q, np.int64), np.empty(q, np.int64)
    left, right, ceiling = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64)
    left_cost, right_cost, partial = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64)
    ceiling[0] = 0
    column, many, patience, window = np.int64(0), np.int64(searches.nearest), searches.patience, searches.window
    hard = np.int64(0)  # a profile with at least this floor is worth the whole patience
    while column < most:
        for u in range(n):
            if stop[0] != 0:
                return
            found, limit = np.int64(0), np.int64(FAR)
            mark = column * n + u
            seen[u] = mark
            first, last = max(0, u - window), min(n, u + window + 1)
            for i in range(first - many - column, last):
                y = np.int32(i)
                if i < first - many:  # the nearest, while partners are sought
                    y = near[u, i - first + many + column]
                elif i < first:  # neighbours of the profile before
                    y = np.int32(-1) if u == 0 else near[u - 1, i - first + many + column]
                if y < 0 or seen[y] == mark:
                    continue
                seen[y] = mark
                total = _distance(u, y, -np.int64(top[bottom + y]), limit, lower, upper, kind, costs, prices)
                if total < limit:
                    found = _insert(y, total, found, many, far, who)
                    if found == many:
                        limit = far[many - 1]
            j, looked = np.int64(0), np.int64(0 if hard <= top[bottom + u] else patience - patience // EASY)
            begin[0], end[0], partial[0] = 0, level_start[1], 0
            opened = True
            while j >= 0 and looked < patience:
                if opened:
                    opened = False
                    right[j] = _first_from(node_upper, begin[j], end[j], upper[u, j])
                    left[j] = right[j] - 1
                    left_cost[j] = right_cost[j] = FAR
                    if right[j] < end[j]:
                        i = right[j]
                        a, b = min(lower[u, j], node_lower[i]), max(upper[u, j], node_upper[i])
                        right_cost[j] = costs[a + b] if kind[j] == TABLE else price(j, a, b, prices)
                    if left[j] >= begin[j]:
                        i = left[j]
                        a, b = min(lower[u, j], node_lower[i]), max(upper[u, j], node_upper[i])
                        left_cost[j] = costs[a + b] if kind[j] == TABLE else price(j, a, b, prices)
                looked += 1
                if right_cost[j] <= left_cost[j]:
                    i, reached = right[j], partial[j] + right_cost[j]
                    if reached - ceiling[j] >= limit or i >= end[j]:
                        j -= 1
                        continue
                    right[j] += 1
                    right_cost[j] = FAR
                    if i + 1 < end[j]:
                        a, b = min(lower[u, j], node_lower[i + 1]), max(upper[u, j], node_upper[i + 1])
                        right_cost[j] = costs[a + b] if kind[j] == TABLE else price(j, a, b, prices)
                else:
                    i, reached = left[j], partial[j] + left_cost[j]
                    if reached - ceiling[j] >= limit:
                        j -= 1
                        continue
                    left[j] -= 1
                    left_cost[j] = FAR
                    if i - 1 >= begin[j]:
                        a, b = min(lower[u, j], node_lower[i - 1]), max(upper[u, j], node_upper[i - 1])
                        left_cost[j] = costs[a + b] if kind[j] == TABLE else price(j, a, b, prices)
                if reached - top[i] >= limit:
                    continue
                if j < q - 1:
                    j += 1
                    begin[j], end[j], partial[j], ceiling[j] = child[i], child[i + 1], reached, top[i]
                    opened = True
                    continue
                y = np.int32(i - bottom)
                if seen[y] != mark:
                    found = _insert(y, reached - top[i], found, many, far, who)
                    if found == many:
                        limit = far[many - 1]
            unsure[u] = j >= 0
            for i in range(found):
                near[u, column + i] = who[i]
                distance[u, column + i] = np.int32(far[i] + top[bottom + who[i]])
        if column > 0:
            break
        for _ in range(ROUNDS):
            for u in range(n):
                if unsure[u] and stop[0] == 0:
                    _look_around(u, n, many, lower, upper, kind, costs, prices, near, distance, far, who, seen)
        for u in range(n):
            within = counts[u]
            for j in range(q):
                least[u] += price(j, lower[u, j], upper[u, j], prices)
            for i in range(many):
                if within < k and near[u, i] >= 0:
                    within += counts[near[u, i]]
                    least[u] = distance[u, i]
            top[bottom + u] = least[u]
            hard += least[u]
        hard //= n
        for j in range(q - 2, -1, -1):
            for i in range(level_start[j], level_start[j + 1]):
                for x in range(child[i], child[i + 1]):
                    top[i] = max(top[i], top[x])
        for i in range(level_start[1]):
            ceiling[0] = max(ceiling[0], np.int64(top[i]))
        seen[:] = -1
        column, many, patience, window = many, most - many, searches.partner_patience, np.int64(0)


@inner
def _look_around(u, n, many, lower, upper, kind, costs, prices, near, distance, far, who, seen):
    """Look for nearer profiles among the neighbours of the nearest ones: those near a profile are near each other."""
    found = np.int64(0)
    mark = n + u  # as seen by this search
    seen[u] = mark
    while found < many and near[u, found] >= 0:
        far[found], who[found] = distance[u, found], near[u, found]
        seen[who[found]] = mark
        found += 1
    limit = far[many - 1] if found == many else np.int64(NOWHERE)
    for i in range(min(found, LOOKED_AT)):
        for x in range(min(many, LOOKED_AT)):
            y = near[near[u, i], x]
            if y < 0 or seen[y] == mark:
                continue
            seen[y] = mark
            total = _distance(u, y, np.int64(0), limit, lower, upper, kind, costs, prices)
            if total < limit:
                found = _insert(y, total, found, many, far, who)
                if found == many:
                    limit = far[many - 1]
    for i in range(found):
        near[u, i], distance[u, i] = who[i], far[i]
