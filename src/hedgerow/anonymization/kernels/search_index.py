"""The search index: remaining records in prefix trees over their codes, searched by branch and bound.

Greedy clustering asks, k times per group, "which remaining record raises the loss least?". The cost of joining a group
is a sum of one non-negative term per attribute, so the sum on the way down a prefix tree is a lower bound, and a search
with the best found so far prunes nearly everything. The furthest record is the same with upper bounds. Both answers
are exact, and ties go to the first leaf in order.

A group is a box [lo, hi] of codes per attribute. What a box costs in one attribute is given in one of three ways:

====== =================================================================================================
kind   cost of (lo, hi)
====== =================================================================================================
TABLE  ``costs[offset + lo * width + hi]`` — trees of few leaves
STEPS  greatest of the steps between lo and hi, by a sparse table — trees of many leaves
FREE   ``costs[offset + width + hi] − costs[offset + lo]`` — free intervals: upper and lower positions
====== =================================================================================================

A *forest* is one or more prefix trees over the same leaves' codes. ``prices``, ``forest``, ``people`` and ``desk`` are
:class:`Prices`, :class:`Forest`, :class:`People` and :class:`SearchDesk` of ``tuples/``.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.codes import FAR, FREE, TABLE
from hedgerow.anonymization.kernels.compiling import inner
from hedgerow.anonymization.kernels.tuples.searching import Forest, SearchDesk

WIDE = 48  # from so many siblings on, search outward from the box instead of from the left


@inner
def cost(j, lo, hi, prices):
    """Cost of the codes lo … hi in attribute j."""
    kind, offset, width, costs = prices.kind, prices.offset, prices.width, prices.costs
    if kind[j] == TABLE:
        return np.int64(costs[offset[j] + lo * width[j] + hi])
    if kind[j] == FREE:
        return np.int64(costs[offset[j] + width[j] + hi]) - np.int64(costs[offset[j] + lo])
    if lo == hi:
        return np.int64(0)
    level = 0
    span = hi - lo
    while (2 << level) <= span:
        level += 1
    row = offset[j] + level * width[j]
    return np.int64(max(costs[row + lo], costs[row + hi - (1 << level)]))


@inner
def new_desk(q):
    """Scratch space for searches over q attributes."""
    at, upto, low, high = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64)
    begin, end, partial = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64)
    return SearchDesk(at, upto, low, high, begin, end, partial)


@inner
def numbers(first, many):
    """So many whole numbers from the first one on."""
    found = np.empty(many, np.int64)
    for i in range(many):
        found[i] = first + i
    return found


@inner
def unit_starts(unit_start, first, last):
    """Where the units of the profiles first … last − 1 begin, counted from the first, and how many each has."""
    starts, counts = np.empty(last - first + 1, np.int64), np.empty(last - first, np.int64)
    for r in range(last - first):
        starts[r] = unit_start[first + r] - unit_start[first]
        counts[r] = unit_start[first + r + 1] - unit_start[first + r]
    starts[last - first] = unit_start[last] - unit_start[first]
    return starts, counts


@inner
def plant(codes, counts, tree, order):
    """Build a forest of leaves given in the order of (tree, codes); ``order`` is each leaf's rank for ties.

    Nodes are numbered level by level, siblings together and ascending. Returns the forest and, for each tree, where
    its top nodes begin (and the end of the last).
    """
    n, q = codes.shape
    trees = tree[n - 1] + 1
    depth = np.zeros(n, np.int64)  # of the first attribute in which a leaf differs from the one before
    for r in range(1, n):
        if tree[r] == tree[r - 1]:
            j = 0
            while codes[r, j] == codes[r - 1, j]:
                j += 1
            depth[r] = j
    level_start = np.zeros(q + 1, np.int64)
    for j in range(q):
        total = 0
        for r in range(n):
            if depth[r] <= j:
                total += 1
        level_start[j + 1] = level_start[j] + total
    size = level_start[q]
    value = np.empty(size, np.int64)
    child = np.full(size + 1, size, np.int64)  # where a node's children begin; the next node's begin is their end
    parent = np.full(size, -1, np.int64)
    alive = np.zeros(size, np.int64)
    leaf = np.empty(size, np.int64)
    roots = np.zeros(trees + 1, np.int64)
    position = np.empty(q, np.int64)
    for j in range(q):
        position[j] = level_start[j] - 1
    for r in range(n):
        for j in range(depth[r], q):
            position[j] += 1
            node = position[j]
            value[node] = codes[r, j]
            leaf[node] = order[r]
            if j + 1 < q:
                child[node] = position[j + 1] + 1
            if j > 0:
                parent[node] = position[j - 1]
        roots[tree[r] + 1] = position[0] + 1
        for j in range(q):
            alive[position[j]] += counts[r]
    rightward, leftward = numbers(np.int64(1), size), numbers(np.int64(-1), size)
    return Forest(level_start, value, child, parent, alive, leaf, rightward, leftward), roots


@inner
def take(forest, r):
    """Remove one record of leaf r."""
    level_start, parent, alive = forest.level_start, forest.parent, forest.alive
    node = level_start[level_start.size - 2] + r
    while node >= 0:
        alive[node] -= 1
        node = parent[node]


@inner
def right_of(i, end, alive, jump):
    """First live one at or after i, before end."""
    at = i
    while at < end and alive[at] == 0:
        at = jump[at]
    while i < at:
        following = jump[i]
        jump[i] = at
        i = following
    return at


@inner
def left_of(i, begin, alive, jump):
    """Last live one at or before i, not before begin; begin − 1 if there is none."""
    at = i
    while at >= begin and alive[at] == 0:
        at = jump[at]
    while i > at:
        following = jump[i]
        jump[i] = at
        i = following
    return at


@inner
def _lower(value, begin, end, code):
    """First sibling whose code is at least the given one."""
    while begin < end:
        middle = (begin + end) >> 1
        if value[middle] < code:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner
def _joined(i, j, value, lo, hi, prices):
    """Cost, in attribute j, of the box widened to node i."""
    v = value[i]
    return cost(j, min(lo[j], v), max(hi[j], v), prices)


@inner
def _plateau_begin(b, floor, j, value, lo, hi, prices):
    """First of the siblings floor … b that costs as much as b (costs between them never turn), or b itself."""
    if prices.kind[j] == FREE:
        return b  # different numbers hardly ever cost the same
    wanted = _joined(b, j, value, lo, hi, prices)
    while floor < b:
        middle = (floor + b) >> 1
        if _joined(middle, j, value, lo, hi, prices) == wanted:
            b = middle
        else:
            floor = middle + 1
    return b


@inner
def _plateau_end(a, ceiling, j, value, lo, hi, prices):
    """Last of the siblings a … ceiling that costs as much as a (costs between them never turn), or a itself."""
    if prices.kind[j] == FREE:
        return a
    wanted = _joined(a, j, value, lo, hi, prices)
    while a < ceiling:
        middle = (a + ceiling + 1) >> 1
        if _joined(middle, j, value, lo, hi, prices) == wanted:
            a = middle
        else:
            ceiling = middle - 1
    return a


@inner
def newcomer(first, last, people, mark):
    """First live unit of first … last − 1 whose person does not bear the mark; −1 if there is none."""
    person, stamp, live, jump = people.person, people.stamp, people.live, people.jump
    unit = right_of(first, last, live, jump)
    while unit < last and person.size > 0 and stamp[person[unit]] == mark:
        unit = right_of(unit + 1, last, live, jump)
    return unit if unit < last else np.int64(-1)


# Both searches go depth first. At each level they look at a run of siblings from ``at`` to ``upto``, ascending.
# Few siblings are one run. Of many, runs of equal cost are taken one after the other: cheapest (or furthest) first,
# what is left lying between ``begin`` and ``low`` and between ``high`` and ``end``.


@inner
def cheapest(forest, top, bottom, lo, hi, base, prices, units, people, mark, desk, best, best_leaf):
    """Leaf of least rise in the box's cost, under the top nodes ``top … bottom − 1``; ties to the first.

    ``base`` is the box's cost by attribute, ``units`` where each leaf's units begin and end, ``best`` and
    ``best_leaf`` (its rank) what is known already. Returns both, improved or not; a leaf is taken only if one of its
    units is of a person without the mark.
    """
    unit_first, unit_last = units
    level_start, value, child, alive = forest.level_start, forest.value, forest.child, forest.alive
    leaf, rightward, leftward = forest.leaf, forest.rightward, forest.leftward
    at, upto, low, high = desk.at, desk.upto, desk.low, desk.high
    begin, end, partial = desk.begin, desk.end, desk.partial
    q = level_start.size - 1
    last_level = level_start[q - 1]
    if right_of(top, bottom, alive, rightward) >= bottom:
        return best, best_leaf
    # A first bound: go down by a cheapest child each time.
    a, b, total, node = top, bottom, np.int64(0), np.int64(-1)
    for j in range(q):
        least, node = np.int64(FAR), np.int64(-1)
        if b - a <= WIDE:
            i = right_of(a, b, alive, rightward)
            while i < b:
                rise = _joined(i, j, value, lo, hi, prices) - base[j]
                if rise < least:
                    least, node = rise, i
                    if rise == 0:
                        break
                i = right_of(i + 1, b, alive, rightward)
        else:
            middle = _lower(value, a, b, lo[j])
            i = right_of(middle, b, alive, rightward)
            if i < b:
                least, node = _joined(i, j, value, lo, hi, prices) - base[j], i
            i = left_of(middle - 1, a, alive, leftward)
            if i >= a:
                rise = _joined(i, j, value, lo, hi, prices) - base[j]
                if rise < least:
                    least, node = rise, i
        total += least
        if total > best:
            break
        a, b = child[node], child[node + 1]
    if total < best or (total == best and leaf[node] < best_leaf):
        r = node - last_level
        if newcomer(unit_first[r], unit_last[r], people, mark) >= 0:
            best, best_leaf = total, leaf[node]
    j = np.int64(0)
    begin[0], end[0], partial[0] = top, bottom, 0
    opened = True
    while j >= 0:
        if opened:
            opened = False
            if end[j] - begin[j] <= WIDE:
                at[j], upto[j] = right_of(begin[j], end[j], alive, rightward), end[j] - 1
                low[j], high[j] = begin[j] - 1, end[j]
            else:
                middle = _lower(value, begin[j], end[j], lo[j])
                at[j], upto[j] = 1, 0
                low[j] = left_of(middle - 1, begin[j], alive, leftward)
                high[j] = right_of(middle, end[j], alive, rightward)
        if at[j] > upto[j]:
            near, rise = np.int64(0), np.int64(FAR)
            if high[j] < end[j]:
                near, rise = 1, _joined(high[j], j, value, lo, hi, prices) - base[j]
            if low[j] >= begin[j]:
                other = _joined(low[j], j, value, lo, hi, prices) - base[j]
                if other <= rise:
                    near, rise = -1, other
            if near == 0 or partial[j] + rise > best:
                j -= 1  # nothing is left, or all that is left costs too much
                continue
            if near < 0:
                upto[j] = low[j]
                i = _plateau_begin(low[j], begin[j], j, value, lo, hi, prices)
                at[j] = right_of(i, end[j], alive, rightward)
                low[j] = left_of(i - 1, begin[j], alive, leftward)
            else:
                at[j] = high[j]
                upto[j] = _plateau_end(high[j], end[j] - 1, j, value, lo, hi, prices)
                high[j] = right_of(upto[j] + 1, end[j], alive, rightward)
        i = at[j]
        reached = partial[j] + _joined(i, j, value, lo, hi, prices) - base[j]
        if reached > best or (reached == best and leaf[i] >= best_leaf):
            if end[j] - begin[j] > WIDE:
                at[j] = upto[j] + 1  # the rest of the run costs as much and comes later
            elif partial[j] == best and leaf[i] >= best_leaf:
                j -= 1  # the rest costs no less and comes later
            else:
                at[j] = right_of(i + 1, end[j], alive, rightward)
            continue
        at[j] = right_of(i + 1, end[j], alive, rightward)
        if j == q - 1:
            r = i - last_level
            if newcomer(unit_first[r], unit_last[r], people, mark) >= 0:
                best, best_leaf = reached, leaf[i]
            continue
        j += 1
        begin[j], end[j], partial[j] = child[i], child[i + 1], reached
        opened = True
    return best, best_leaf


@inner
def furthest(forest, top, bottom, point, prices, desk):
    """Leaf at the greatest distance from a point, under the top nodes ``top … bottom − 1``; ties to the first."""
    level_start, value, child, alive = forest.level_start, forest.value, forest.child, forest.alive
    leaf, rightward, leftward = forest.leaf, forest.rightward, forest.leftward
    at, upto, low, high = desk.at, desk.upto, desk.low, desk.high
    begin, end, partial = desk.begin, desk.end, desk.partial
    width = prices.width
    q = level_start.size - 1
    reach = np.zeros(q + 1, np.int64)  # what levels j … can add at most
    for j in range(q - 1, -1, -1):
        left_end = cost(j, np.int64(0), point[j], prices)
        right_end = cost(j, point[j], width[j] - 1, prices)
        reach[j] = reach[j + 1] + max(left_end, right_end)
    best, best_leaf = np.int64(-1), np.int64(FAR)
    j = np.int64(0)
    begin[0], end[0], partial[0] = top, bottom, 0
    opened = True
    while j >= 0:
        if opened:
            opened = False
            first = right_of(begin[j], end[j], alive, rightward)
            last = left_of(end[j] - 1, begin[j], alive, leftward)
            if end[j] - begin[j] <= WIDE:
                at[j], upto[j], low[j], high[j] = first, last, 1, 0
            else:
                at[j], upto[j], low[j], high[j] = 1, 0, first, last
        if at[j] > upto[j]:
            if low[j] > high[j]:
                j -= 1
                continue
            near = _joined(low[j], j, value, point, point, prices)
            far = _joined(high[j], j, value, point, point, prices)
            if partial[j] + max(near, far) + reach[j + 1] < best:
                j -= 1
                continue
            middle = _lower(value, low[j], high[j] + 1, point[j])
            if near >= far and middle > low[j]:
                at[j] = low[j]
                upto[j] = _plateau_end(low[j], middle - 1, j, value, point, point, prices)
                low[j] = right_of(upto[j] + 1, high[j] + 1, alive, rightward)
            else:
                upto[j] = high[j]
                i = _plateau_begin(high[j], max(low[j], middle), j, value, point, point, prices)
                at[j] = right_of(i, end[j], alive, rightward)
                high[j] = left_of(i - 1, low[j], alive, leftward)
        i = at[j]
        gain = _joined(i, j, value, point, point, prices)
        bound = partial[j] + gain + reach[j + 1]
        at[j] = right_of(i + 1, end[j], alive, rightward)
        if bound < best or (bound == best and leaf[i] >= best_leaf):
            if end[j] - begin[j] > WIDE:
                at[j] = upto[j] + 1
            continue
        if j == q - 1:
            best, best_leaf = bound, leaf[i]
            continue
        j += 1
        begin[j], end[j], partial[j] = child[i], child[i + 1], partial[j - 1] + gain
        opened = True
    return best_leaf


@inner
def box_cost(lo, hi, prices):
    """Cost of a box, all attributes together."""
    total = np.int64(0)
    for j in range(lo.size):
        total += cost(j, np.int64(lo[j]), np.int64(hi[j]), prices)
    return total


@inner
def joined_cost(lo, hi, codes, prices):
    """Cost of a box widened to one more record."""
    total = np.int64(0)
    for j in range(lo.size):
        v = np.int64(codes[j])
        total += cost(j, min(np.int64(lo[j]), v), max(np.int64(hi[j]), v), prices)
    return total
