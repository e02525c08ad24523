"""The value of a bound at given prices, and prices that raise it: deflected subgradient steps.

Everything that is claimed is a sum of whole numbers; only where the next prices are looked for, there are fractions.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.bare import bare
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.tuples.bounding import Found, Walk  # noqa: F401 - taken as arguments: see keeping.py

BEFORE, STALLED, SHRINK = 0.9, 8, 0.7
"""How much of the last direction is kept; after how many steps without success steps become shorter, and how much."""


@inner
def _value(found, boxes, counts, price, k, cover, dear, who):
    """Σ prices + Σ over boxes of the cheapest group of k or more, if that is below 0; how often records are in one."""
    total = np.int64(0)
    for u in range(counts.size):
        total += counts[u] * price[u]
        cover[u] = 0
    start, member, cost_of, rest_of = found.start, found.member, found.cost, found.rest
    for b in range(boxes):
        cost = cost_of[b]
        worth, records = np.int64(0), np.int64(0)
        for i in range(start[b], start[b + 1]):
            u = member[i]
            if price[u] > cost:
                worth += counts[u] * (cost - price[u])
                records += counts[u]
        if worth == 0:
            continue
        filled = np.int64(0)
        if records < k:  # those that cost more than they are priced at are needed too: the dearest
            need = k - records
            rest = rest_of[b]
            for i in range(start[b], start[b + 1]):
                u = member[i]
                p = price[u]
                if p > cost or p <= rest:
                    continue
                for _ in range(min(counts[u], need)):
                    y = filled
                    if filled < need:
                        filled += 1
                    elif p > dear[need - 1]:
                        y = need - 1
                    else:
                        break
                    while y > 0 and dear[y - 1] < p:
                        dear[y], who[y] = dear[y - 1], who[y - 1]
                        y -= 1
                    dear[y], who[y] = p, u
            if filled < need and rest < 0:
                continue  # too few others are worth it
            for y in range(filled):
                worth += cost - dear[y]
            worth += (need - filled) * (cost - rest)
            if worth >= 0:
                continue
        total += worth
        for i in range(start[b], start[b + 1]):
            u = member[i]
            if price[u] > cost:
                cover[u] += counts[u]
        for y in range(filled):
            cover[who[y]] += 1
    return total


@kernel
def ascend(found, boxes, counts, cap, k, known, steps, walk, best, state):
    """Make some steps towards prices, none above its cap, at which the bound is greatest.

    Parameters
    ----------
    found, boxes
        Every box that can be below 0 at such prices, and how many there are.
    known
        What some grouping loses: the bound is not above it.
    walk
        Where it stands by now, so that it can go on: prices and direction by profile, and the length of a step as a
        share of the way to what is known.
    best
        Result: prices of the greatest bound found.
    state
        Result: the greatest bound, after how many steps it was found last, and whether there is nothing left to find.
    """
    found, counts, cap, best, walk = bare(found), bare(counts), bare(cap), bare(best), bare(walk)
    place, way, length = walk.place, walk.way, walk.length
    n = counts.size
    now, cover = np.empty(n, np.int64), np.empty(n, np.int64)
    dear, who = np.empty(k, np.int64), np.empty(k, np.int32)
    for _ in range(steps):
        for u in range(n):
            now[u] = np.int64(place[u])
        value = _value(found, boxes, counts, now, k, cover, dear, who)
        if value > state[0]:
            state[0], state[1] = value, 0
            for u in range(n):
                best[u] = now[u]
            if value >= known:
                state[2] = 1
                return
        else:
            state[1] += 1
        if state[1] >= STALLED:
            length[0] *= SHRINK
            state[1] = 0
            for u in range(n):
                now[u] = best[u]
                place[u] = best[u]
            value = _value(found, boxes, counts, now, k, cover, dear, who)
        norm = 0.0
        for u in range(n):
            way[u] = BEFORE * way[u] + (1 - BEFORE) * (counts[u] - cover[u])
            norm += way[u] * way[u] / counts[u]
        if norm == 0.0:
            state[2] = 1
            return
        step = length[0] * (known - value) / norm
        for u in range(n):
            place[u] = min(max(place[u] + step * way[u] / counts[u], 0.0), np.float64(cap[u]))
