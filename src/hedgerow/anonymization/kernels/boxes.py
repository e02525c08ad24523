"""Branch and bound over boxes of levels, directed by conflicts: an implicit hitting set.

A *box* is all nodes with levels from ``lo`` to ``up``. A *conflict* is a node known to fail, and with it all nodes
below: whatever holds must be above it in at least one attribute. So the least cost of a box is a hitting set over its
conflicts, bounded from below by dual ascent: each conflict in turn is paid what its cheapest way out still costs, and
the payment is taken off all its ways out. Where a conflict leaves one way out, it is taken; a level that would cost
more than the best node known is ruled out.

Costs are whole numbers by attribute and level, not falling with the level. ``boxes`` are :class:`Boxes` and
``conflicts`` are :class:`Conflicts` of ``tuples/``.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.codes import ASK, BREATH, DONE, FAR, FULL, IN_HEAP, UNUSED, VISITED
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.tuples.lattice import Boxes, Conflicts  # noqa: F401 - taken as arguments: see keeping.py

HIGH_BITS = np.uint64(0x8000800080008000)
LOOKED_AT = 200  # conflicts among which the one to branch on is chosen


@inner
def _at_or_above(lo, packed, total, found):
    """Numbers of the conflicts at or above a node: those it violates."""
    words = packed.shape[1]
    mine = np.zeros(words, np.uint64)
    for j in range(lo.size):
        mine[j >> 2] |= np.uint64(lo[j]) << np.uint64(16 * (j & 3))
    hits = 0
    for q in range(total):
        above = True
        for w in range(words):
            if (((packed[q, w] | HIGH_BITS) - mine[w]) & HIGH_BITS) != HIGH_BITS:
                above = False
                break
        if above:
            found[hits] = q
            hits += 1
    return hits


@inner
def _propagate(lo, up, levels, asked, many, kept, ways):
    """Take forced ways out until none is forced. Returns how many conflicts stay open, or −1 if there is no way."""
    m = lo.size
    while True:
        changed, still = False, 0
        for i in range(many):
            q = asked[i]
            violated = True
            for j in range(m):
                if lo[j] > levels[q, j]:
                    violated = False
                    break
            if not violated:
                continue
            out, way = 0, -1
            for j in range(m):
                if levels[q, j] < up[j]:
                    out += 1
                    way = j
            if out == 0:
                return -1
            if out == 1:
                lo[way] = levels[q, way] + 1
                changed = True
            else:
                kept[still] = q
                ways[still] = out
                still += 1
        if not changed:
            return still


@inner
def _bound(lo, up, levels, asked, many, costs, best, rest, kept, ways, sorted_, heads):
    """Least cost of a box, FAR if nothing in it can be better than the best; tightens lo and up.

    Returns the bound and how many conflicts stay open; their numbers are in ``kept``, those with few ways out first.
    """
    m = lo.size
    still = _propagate(lo, up, levels, asked, many, kept, ways)
    if still < 0:
        return np.int64(FAR), 0
    bound = np.int64(0)
    for j in range(m):
        bound += costs[j, lo[j]]
    if bound >= best:
        return np.int64(FAR), 0
    if still == 0:
        return bound, 0
    heads[: m + 2] = 0
    for i in range(still):
        heads[ways[i] + 1] += 1
    for t in range(m + 1):
        heads[t + 1] += heads[t]
    for i in range(still):
        sorted_[heads[ways[i]]] = kept[i]
        heads[ways[i]] += 1
    for i in range(still):
        kept[i] = sorted_[i]
    for j in range(m):
        for level in range(lo[j] + 1, up[j] + 1):
            rest[j, level] = costs[j, level] - costs[j, lo[j]]
    for i in range(still):
        q = kept[i]
        payment = np.int64(FAR)
        for j in range(m):
            if levels[q, j] < up[j]:
                for level in range(max(levels[q, j], lo[j]) + 1, up[j] + 1):
                    payment = min(payment, rest[j, level])
                if payment <= 0:
                    break
        if payment > 0:
            bound += payment
            for j in range(m):
                if levels[q, j] < up[j]:
                    for level in range(max(levels[q, j], lo[j]) + 1, up[j] + 1):
                        rest[j, level] -= payment
    if bound >= best:
        return np.int64(FAR), 0
    for j in range(m):  # levels whose rest alone exceeds what is left to the best are out
        top = up[j]
        for level in range(up[j], lo[j], -1):
            least = np.int64(FAR)
            for above in range(level, up[j] + 1):
                least = min(least, rest[j, above])
            if bound + least >= best:
                top = level - 1
        up[j] = top
    return bound, still


@inner
def _push(heap, heap_cost, totals, cost, box):
    at = totals[IN_HEAP]
    heap[at], heap_cost[at] = box, cost
    totals[IN_HEAP] += 1
    while at > 0:
        above = (at - 1) // 2
        if heap_cost[above] < heap_cost[at] or (heap_cost[above] == heap_cost[at] and heap[above] <= heap[at]):
            break
        heap[above], heap[at] = heap[at], heap[above]
        heap_cost[above], heap_cost[at] = heap_cost[at], heap_cost[above]
        at = above


@inner
def _before(heap, heap_cost, one, other):
    return heap_cost[one] < heap_cost[other] or (heap_cost[one] == heap_cost[other] and heap[one] < heap[other])


@inner
def _pop(heap, heap_cost, totals):
    box, cost = heap[0], heap_cost[0]
    totals[IN_HEAP] -= 1
    size = totals[IN_HEAP]
    heap[0], heap_cost[0] = heap[size], heap_cost[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and _before(heap, heap_cost, below + 1, below):
            below += 1
        if not _before(heap, heap_cost, below, at):
            break
        heap[at], heap[below] = heap[below], heap[at]
        heap_cost[at], heap_cost[below] = heap_cost[below], heap_cost[at]
        at = below
    return box, cost


@kernel
def push(boxes, cost, box):
    """Put a box back."""
    _push(boxes.heap, boxes.heap_cost, boxes.totals, cost, box)


@inner
def _branch_on(kept, still, lo, up, levels, costs):
    """Choose the conflict whose cheapest way out is dearest, per way out; −1 if one has none."""
    chosen, most = np.int64(-1), -1.0
    for i in range(min(still, LOOKED_AT)):
        q = kept[i]
        out, least = 0, np.int64(FAR)
        for j in range(lo.size):
            if levels[q, j] < up[j]:
                out += 1
                least = min(least, costs[j, levels[q, j] + 1] - costs[j, lo[j]])
        if out == 0:
            return np.int64(-1)
        if least / out > most:
            most, chosen = least / out, q
    return chosen


@kernel
def advance(boxes, conflicts, total, costs, best, turns):
    """Work on the boxes until one needs a check of its lowest node, all are done, or for so many turns.

    Returns a status, a box and its bound: ASK (check ``lo`` of the box, which is out of the heap now), DONE, BREATH
    (the bound is that of everything left), FULL (no room for more boxes).
    """
    los, ups, heap = boxes.lo, boxes.up, boxes.heap
    heap_cost, unused, totals = boxes.heap_cost, boxes.unused, boxes.totals
    levels, packed = conflicts.levels, conflicts.packed
    m = los.shape[1]
    rest = np.zeros(costs.shape, np.int64)
    kept, kept_below = np.empty(total + 1, np.int64), np.empty(total + 1, np.int64)
    ways, sorted_ = np.empty(total + 1, np.int64), np.empty(total + 1, np.int64)
    asked, heads = np.empty(total + 1, np.int64), np.empty(m + 3, np.int64)
    lo, up = np.empty(m, np.int64), np.empty(m, np.int64)
    below_lo, below_up = np.empty(m, np.int64), np.empty(m, np.int64)
    ways_out, prices = np.empty(m, np.int64), np.empty(m, np.int64)
    for _ in range(turns):
        if totals[IN_HEAP] == 0:
            return DONE, np.int64(-1), best
        box, before = _pop(heap, heap_cost, totals)
        if before >= best:
            totals[IN_HEAP] = 0
            return DONE, np.int64(-1), best
        totals[VISITED] += 1
        for j in range(m):
            lo[j], up[j] = los[box, j], ups[box, j]
        many = _at_or_above(lo, packed, total, asked)
        bound, still = _bound(lo, up, levels, asked, many, costs, best, rest, kept, ways, sorted_, heads)
        if bound == FAR:
            unused[totals[UNUSED]] = box
            totals[UNUSED] += 1
            continue
        bound = max(bound, before)
        for j in range(m):
            los[box, j], ups[box, j] = lo[j], up[j]
        if bound > before and totals[IN_HEAP] > 0 and bound > heap_cost[0]:  # others come first now
            _push(heap, heap_cost, totals, bound, box)
            continue
        if still == 0:
            return ASK, box, bound
        chosen = _branch_on(kept, still, lo, up, levels, costs)
        if chosen < 0:
            unused[totals[UNUSED]] = box
            totals[UNUSED] += 1
            continue
        if totals[UNUSED] < m + 1:
            _push(heap, heap_cost, totals, bound, box)
            return FULL, box, bound
        out = 0
        for j in range(m):  # ways out, cheapest first
            if levels[chosen, j] < up[j]:
                cost = costs[j, levels[chosen, j] + 1] - costs[j, lo[j]]
                at = out
                while at > 0 and prices[at - 1] > cost:
                    prices[at], ways_out[at] = prices[at - 1], ways_out[at - 1]
                    at -= 1
                prices[at], ways_out[at] = cost, j
                out += 1
        unused[totals[UNUSED]] = box
        totals[UNUSED] += 1
        for i in range(out):
            j = ways_out[i]
            for i2 in range(m):
                below_lo[i2], below_up[i2] = lo[i2], up[i2]
            below_lo[j] = levels[chosen, j] + 1
            cost, _ = _bound(
                below_lo, below_up, levels, kept, still, costs, best, rest, kept_below, ways, sorted_, heads
            )
            if cost < FAR:
                totals[UNUSED] -= 1
                new = unused[totals[UNUSED]]
                for i2 in range(m):
                    los[new, i2], ups[new, i2] = below_lo[i2], below_up[i2]
                _push(heap, heap_cost, totals, max(bound, cost), new)
            up[j] = levels[chosen, j]  # later ways out exclude this one
            if up[j] < lo[j]:
                break
    return BREATH, np.int64(-1), heap_cost[0] if totals[IN_HEAP] > 0 else best
