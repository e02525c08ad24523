"""Clusters that change: members, what is asked of them, the search for the nearest one (Truta and Campan 2007).

A cluster is a box of codes over a list of records. Joining a record raises the loss by the cost of the hull, and by the
size times what the hull costs more than the box: a sum of one non-negative term per attribute. Clusters stand in a
prefix tree over their boxes, attribute by attribute, so the sum on the way down is a lower bound, and a search with the
best found so far looks at few of them. Its answer is exact, and ties go to the lowest number.

The prefix tree does not change. A cluster whose box changes becomes *loose*: it moves to a second tree, balanced and
open to changes, whose nodes know, by attribute, the greatest lower and the least upper code and the dearest cost of the
boxes below. New clusters are loose from the start, and stand near the one they came from.
Once too many are loose, it is worth it to plant the index anew.

Records are numbered in canonical order. ``state``, ``index``, ``prices``, ``asked`` and ``desk`` are :class:`State`,
:class:`Index`, :class:`Prices`, :class:`Asked` and :class:`ClusterDesk` of ``tuples/``.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.codes import (
    CELL,
    COST,
    FAR,
    HEAD,
    LEAF,
    LOOSE,
    LOOSENED,
    NEXT,
    NO_CODE,
    NUMBERED,
    SIZE,
    TABLE,
)
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.diverse import total_lack
from hedgerow.anonymization.kernels.search_index import cost
from hedgerow.anonymization.kernels.sorting import sort
from hedgerow.anonymization.kernels.tuples.changing import Index  # noqa: F401 - taken as an argument: see keeping.py

SMALLEST, LOWEST, FIRST_CELL, LAST_CELL = range(4)
NOWHERE = -1
BESIDE = 8


# -- membership ------------------------------------------------------------------------------------------------------


@inner
def enlist(state, c, r):
    """Put a record into a cluster's list; its box is left as it is."""
    place, following, info = state.place, state.following, state.info
    following[r] = info[c, HEAD]
    info[c, HEAD] = r
    info[c, SIZE] += 1
    place[r] = c


@inner
def unlist(state, r):
    """Take a record out of its cluster's list; the box is left as it is."""
    place, following, info = state.place, state.following, state.info
    c = place[r]
    if info[c, HEAD] == r:
        info[c, HEAD] = following[r]
    else:
        before = info[c, HEAD]
        while following[before] != r:
            before = following[before]
        following[before] = following[r]
    info[c, SIZE] -= 1
    place[r] = NOWHERE


@inner
def members(state, c):
    """Records of a cluster, in canonical order."""
    following, info = state.following, state.info
    found = np.empty(info[c, SIZE], np.int64)
    r = info[c, HEAD]
    for i in range(found.size):
        found[i] = r
        r = following[r]
    sort(found)
    return found


@inner
def enclose(state, index, prices, c):
    """Work out a cluster's box and cost from its records."""
    codes, profile, following, box, info = state.codes, state.profile, state.following, state.box, state.info
    m = codes.shape[1]
    r = np.int64(info[c, HEAD])
    first = True
    while r >= 0:
        for j in range(m):
            v = np.int32(codes[profile[r], j])
            box[c, j] = v if first else min(box[c, j], v)
            box[c, m + j] = v if first else max(box[c, m + j], v)
        first = False
        r = np.int64(following[r])
    price(state, index, prices, c)


@inner
def price(state, index, prices, c):
    """Work out a cluster's cost from its box, and let the index know."""
    box, info = state.box, state.info
    m = box.shape[1] // 2
    total = np.int64(0)
    for j in range(m):
        total += cost(j, box[c, j], box[c, m + j], prices)
    info[c, COST] = total
    tell(state, index, prices, c)


@inner
def join(state, index, prices, c, r):
    """Add a record to a cluster."""
    codes, profile, box, info = state.codes, state.profile, state.box, state.info
    m = codes.shape[1]
    enlist(state, c, r)
    grown = False
    for j in range(m):
        v = np.int32(codes[profile[r], j])
        if info[c, SIZE] == 1 or v < box[c, j]:
            box[c, j] = v
            grown = True
        if info[c, SIZE] == 1 or v > box[c, m + j]:
            box[c, m + j] = v
            grown = True
    if grown:
        price(state, index, prices, c)


@inner
def widen(state, index, prices, c, lo, hi):
    """Let a cluster's box hold another box; nothing happens if it does."""
    box = state.box
    m = box.shape[1] // 2
    grown = False
    for j in range(m):
        if lo[j] < box[c, j]:
            box[c, j] = lo[j]
            grown = True
        if hi[j] > box[c, m + j]:
            box[c, m + j] = hi[j]
            grown = True
    if grown:
        price(state, index, prices, c)


@inner
def leave(state, index, prices, r):
    """Take a record out of its cluster."""
    codes, profile, box = state.codes, state.profile, state.box
    c = state.place[r]
    m = codes.shape[1]
    unlist(state, r)
    for j in range(m):
        v = np.int32(codes[profile[r], j])
        if v == box[c, j] or v == box[c, m + j]:
            enclose(state, index, prices, c)
            return
    tell(state, index, prices, c)


@inner
def empty(state, index, prices, c):
    """Take all records out of a cluster, which vanishes; returns them in canonical order."""
    place, info = state.place, state.info
    records = members(state, c)
    for r in records:
        place[r] = NOWHERE
    info[c, SIZE], info[c, HEAD] = 0, NOWHERE
    tell(state, index, prices, c)
    return records


@inner
def open_cluster(state, index, beside):
    """Number a new, empty cluster, which is loose and stands in the leaf of another."""
    info, used, head = state.info, state.used, index.head
    new = used[NUMBERED]
    used[NUMBERED] += 1
    used[LOOSENED] += 1
    leaf = info[beside, LEAF]
    info[new, SIZE], info[new, COST], info[new, HEAD] = 0, 0, NOWHERE
    info[new, CELL], info[new, LEAF], info[new, LOOSE] = info[beside, CELL], leaf, 1
    info[new, NEXT] = head[leaf]
    head[leaf] = new
    return new


@kernel
def build(state, prices):
    """List the records of every cluster by their places, and work out boxes and costs."""
    codes, profile, cell, place = state.codes, state.profile, state.cell, state.place
    following, box, info, used = state.following, state.box, state.info, state.used
    m = codes.shape[1]
    clusters = used[NUMBERED]
    start = np.zeros(clusters + 1, np.int64)
    for r in range(place.size):
        if place[r] >= 0:
            start[place[r] + 1] += 1
    for c in range(clusters):
        start[c + 1] += start[c]
    at = np.empty(clusters, np.int64)
    for c in range(clusters):
        at[c] = start[c]
    listed = np.empty(start[clusters], np.int32)
    for r in range(place.size):
        c = place[r]
        if c >= 0:
            listed[at[c]] = r
            at[c] += 1
    for c in range(clusters):
        first, last = start[c], start[c + 1]
        info[c, SIZE] = last - first
        if first == last:
            continue
        info[c, HEAD], info[c, CELL] = listed[first], cell[listed[first]]
        for i in range(first, last):
            r = listed[i]
            following[r] = listed[i + 1] if i + 1 < last else NOWHERE
            for j in range(m):
                v = np.int32(codes[profile[r], j])
                box[c, j] = v if i == first else min(box[c, j], v)
                box[c, m + j] = v if i == first else max(box[c, m + j], v)
        total = np.int64(0)
        for j in range(m):
            total += cost(j, box[c, j], box[c, m + j], prices)
        info[c, COST] = total


# -- what is asked ---------------------------------------------------------------------------------------------------


@inner
def strength(records, asked):
    """Number of persons of some records; of records without a person key."""
    person = asked.person
    if person.size == 0:
        return records.size
    who = np.empty(records.size, np.int64)
    for i in range(who.size):
        who[i] = person[records[i]]
    sort(who)
    different = 0
    for i in range(who.size):
        if i == 0 or who[i] != who[i - 1]:
            different += 1
    return different


@inner
def count_values(records, sensitive, value_start, histogram):
    """Fill how often each value of every sensitive column occurs in some records."""
    histogram[:] = 0
    for r in records:
        for s in range(sensitive.shape[1]):
            if sensitive[r, s] >= 0:
                histogram[value_start[s] + sensitive[r, s]] += 1


@inner
def holds(records, asked, desk):
    """Tell whether some records meet k and every model as a group."""
    k, value_start, histogram = asked.k, asked.value_start, desk.histogram
    if records.size < k or strength(records, asked) < k:
        return False
    if asked.models.column.size == 0:
        return True
    count_values(records, asked.sensitive, value_start, histogram)
    return total_lack(histogram, value_start, asked.overall, asked.models, asked.trees) == 0


@inner
def fits(lo, hi, asked):
    """Tell whether a box is nowhere wider than allowed."""
    widest, ends, end_start = asked.widest, asked.ends, asked.end_start
    for j in range(widest.size):
        if widest[j] >= 0:
            many = (end_start[j + 1] - end_start[j]) // 2
            if ends[end_start[j] + many + hi[j]] - ends[end_start[j] + lo[j]] > widest[j]:
                return False
    return True


@inner
def with_record(records, r):
    """Some records and one more."""
    more = np.empty(records.size + 1, np.int64)
    for i in range(records.size):
        more[i] = records[i]
    more[records.size] = r
    return more


@inner
def together(some, others):
    """Some records and others."""
    both = np.empty(some.size + others.size, np.int64)
    for i in range(some.size):
        both[i] = some[i]
    for i in range(others.size):
        both[some.size + i] = others[i]
    return both


@inner
def without(records, r):
    """Some records but one."""
    fewer = np.empty(records.size - 1, np.int64)
    at = 0
    for one in records:
        if one != r:
            fewer[at] = one
            at += 1
    return fewer


@inner
def bounded(asked):
    """Tell whether any attribute has a greatest width."""
    widest = asked.widest
    found = False
    for j in range(widest.size):
        found = found or widest[j] >= 0
    return found


@inner
def may_join(state, asked, desk, c, records):
    """Tell whether records may join a cluster: within every width, and the models still hold."""
    codes, profile, box = state.codes, state.profile, state.box
    m = codes.shape[1]
    widest = asked.widest
    for j in range(m):
        if widest[j] >= 0:
            lo, hi = np.empty(m, np.int64), np.empty(m, np.int64)
            for i in range(m):
                lo[i], hi[i] = box[c, i], box[c, m + i]
                for r in records:
                    v = np.int64(codes[profile[r], i])
                    lo[i], hi[i] = min(lo[i], v), max(hi[i], v)
            if not fits(lo, hi, asked):
                return False
            break
    if asked.lasts:  # the models survive growth
        return True
    return holds(together(members(state, c), records), asked, desk)


@inner
def fits_with(state, asked, c, other):
    """Tell whether the box of two clusters together is nowhere wider than allowed."""
    if not bounded(asked):
        return True
    box = state.box
    m = box.shape[1] // 2
    lo, hi = np.empty(m, np.int64), np.empty(m, np.int64)
    for j in range(m):
        lo[j] = min(box[c, j], box[other, j])
        hi[j] = max(box[c, m + j], box[other, m + j])
    return fits(lo, hi, asked)


@inner
def narrow(state, asked, records):
    """Tell whether the box of some records is nowhere wider than allowed."""
    if not bounded(asked):
        return True
    codes, profile = state.codes, state.profile
    m = codes.shape[1]
    lo, hi = np.empty(m, np.int64), np.empty(m, np.int64)
    enclosing(codes, profile, records, lo, hi)
    return fits(lo, hi, asked)


@inner
def enclosing(codes, profile, records, lo, hi):
    """Fill the box of some records."""
    for j in range(lo.size):
        lo[j] = hi[j] = codes[profile[records[0]], j]
        for r in records:
            v = np.int64(codes[profile[r], j])
            lo[j], hi[j] = min(lo[j], v), max(hi[j], v)


@inner
def loss_of(state, prices, records):
    """Loss of some records as a cluster."""
    codes, profile = state.codes, state.profile
    m = codes.shape[1]
    lo, hi = np.empty(m, np.int64), np.empty(m, np.int64)
    enclosing(codes, profile, records, lo, hi)
    total = np.int64(0)
    for j in range(m):
        total += cost(j, lo[j], hi[j], prices)
    return total * records.size


# -- the prefix tree -------------------------------------------------------------------------------------------------


@kernel
def plant(state, prices, depth, index):
    """Build the index over living clusters, given in the order of (cell, box).

    Parameters
    ----------
    depth
        Of every cluster, the first attribute in which its box differs from the one before; 0 in another cell.
    index
        What is built, as long as it will be; it has the order of the clusters, and nothing else yet.
    """
    box, info, order = state.box, state.info, index.order
    m = box.shape[1] // 2
    n, leaves, cells = order.size, index.head.size, index.roots.size - 1
    low, high, dear, smallest, lowest = index.low, index.high, index.dear, index.smallest, index.lowest
    child, begin, roots = index.child, index.begin, index.roots
    level_start = np.zeros(m + 1, np.int64)
    for j in range(m):
        total = 0
        for i in range(n):
            if depth[i] <= j:
                total += 1
        level_start[j + 1] = level_start[j] + total
    for node in range(smallest.size):
        smallest[node] = lowest[node] = np.int32(NO_CODE)
    for node in range(child.size):
        child[node] = level_start[m]  # where a node's children begin; the next node's begin is their end
        begin[node] = n  # where the clusters of a node of the last level begin in the order
    for cell in range(cells + 1):
        roots[cell] = 0
    position = np.empty(m, np.int64)
    for j in range(m):
        position[j] = level_start[j] - 1
    for i in range(n):
        c = order[i]
        for j in range(depth[i], m):
            position[j] += 1
            node = position[j]
            low[node], high[node] = box[c, j], box[c, m + j]
            dear[node] = cost(j, box[c, j], box[c, m + j], prices)
            if j + 1 < m:
                child[node] = position[j + 1] + 1
            else:
                begin[node] = i
        roots[info[c, CELL] + 1] = position[0] + 1
        for j in range(m):
            node = position[j]
            smallest[node] = min(smallest[node], np.int32(info[c, SIZE]))
            lowest[node] = min(lowest[node], np.int32(c))
        info[c, LOOSE] = 0
        info[c, LEAF] = i * leaves // n
    for cell in range(cells):
        roots[cell + 1] = max(roots[cell + 1], roots[cell])
    reach, about, head = index.reach, index.about, index.head
    for node in range(2 * leaves):
        for j in range(3 * m):
            reach[node, j] = 0
        for j in range(4):
            about[node, j] = NO_CODE
        about[node, LAST_CELL] = -1
    for leaf in range(leaves):
        head[leaf] = NOWHERE
    state.used[LOOSENED] = 0


@inner
def overgrown(state, index):
    """Tell whether so many clusters are loose that the index should be planted anew."""
    return state.used[LOOSENED] > 256 + index.order.size // 8


# -- the tree of loose clusters --------------------------------------------------------------------------------------


@inner
def tell(state, index, prices, c):
    """Let the index know that a cluster changed: it is loose from now on."""
    info, head = state.info, index.head
    leaf = info[c, LEAF]
    if info[c, LOOSE] == 0:
        info[c, LOOSE] = 1
        state.used[LOOSENED] += 1
        info[c, NEXT] = head[leaf]
        head[leaf] = c
    tell_leaf(state, index, prices, leaf)
    node = (head.size + leaf) // 2
    while node >= 1:
        gather(index.reach, index.about, node)
        node //= 2


@inner
def tell_leaf(state, index, prices, leaf):
    """Work out a leaf's bounds from its living clusters."""
    box, info, reach, about, head = state.box, state.info, index.reach, index.about, index.head
    m = box.shape[1] // 2
    node = head.size + leaf
    for j in range(m):
        reach[node, j], reach[node, m + j], reach[node, 2 * m + j] = -1, NO_CODE, 0
    about[node, SMALLEST], about[node, LOWEST] = NO_CODE, NO_CODE
    about[node, FIRST_CELL], about[node, LAST_CELL] = NO_CODE, -1
    c = head[leaf]
    while c >= 0:
        if info[c, SIZE] > 0:
            for j in range(m):
                reach[node, j] = max(reach[node, j], box[c, j])
                reach[node, m + j] = min(reach[node, m + j], box[c, m + j])
                dear = np.int32(cost(j, box[c, j], box[c, m + j], prices))
                reach[node, 2 * m + j] = max(reach[node, 2 * m + j], dear)
            about[node, SMALLEST] = min(about[node, SMALLEST], info[c, SIZE])
            about[node, LOWEST] = min(about[node, LOWEST], c)
            about[node, FIRST_CELL] = min(about[node, FIRST_CELL], info[c, CELL])
            about[node, LAST_CELL] = max(about[node, LAST_CELL], info[c, CELL])
        c = info[c, NEXT]


@inner
def gather(reach, about, node):
    """Work out a node's bounds from those of its children; an empty child bounds nothing."""
    m = reach.shape[1] // 3
    a, b = 2 * node, 2 * node + 1
    if about[a, LAST_CELL] < 0:
        a = b
    if about[b, LAST_CELL] < 0:
        b = a
    for j in range(m):
        reach[node, j] = max(reach[a, j], reach[b, j])
        reach[node, m + j] = min(reach[a, m + j], reach[b, m + j])
        reach[node, 2 * m + j] = max(reach[a, 2 * m + j], reach[b, 2 * m + j])
    about[node, SMALLEST] = min(about[a, SMALLEST], about[b, SMALLEST])
    about[node, LOWEST] = min(about[a, LOWEST], about[b, LOWEST])
    about[node, FIRST_CELL] = min(about[a, FIRST_CELL], about[b, FIRST_CELL])
    about[node, LAST_CELL] = max(about[a, LAST_CELL], about[b, LAST_CELL])


# -- the search ------------------------------------------------------------------------------------------------------


@inner
def nearest(state, index, prices, desk, lo, hi, cell, joining, skip, least, floor, number, seed, best):
    """Find the next cluster of a cell of more than ``least`` records, after a given one in the order of (key, number).

    The key is the growth of the loss when a record joins (lo = hi = its codes), or the cost of the hull with a box.
    ``seed`` and ``best`` are a cluster that comes after the given one, and its key; or −1 and FAR. Returns the cluster,
    −1 if there is none, and its key.
    """
    box, info = state.box, state.info
    low, high, dear, smallest = index.low, index.high, index.dear, index.smallest
    lowest, child, begin, roots = index.lowest, index.child, index.begin, index.roots
    order, reach, about, head = index.order, index.reach, index.about, index.head
    kind, offset, width, costs = prices.kind, prices.offset, prices.width, prices.costs
    at, end, sums, hulls = desk.at, desk.end, desk.sums, desk.hulls
    m = lo.size
    found = seed
    # Clusters in the prefix tree.
    j = np.int64(0)
    at[0], end[0], sums[0], hulls[0] = roots[cell], roots[cell + 1], 0, 0
    while j >= 0:
        if at[j] == end[j]:
            j -= 1
            continue
        node = at[j]
        at[j] += 1
        below, above = min(lo[j], np.int64(low[node])), max(hi[j], np.int64(high[node]))
        if kind[j] == TABLE:  # said once more here: this is the innermost loop
            hull = np.int64(costs[offset[j] + below * width[j] + above])
        else:
            hull = cost(j, below, above, prices)
        total = sums[j] + hull
        if joining:
            total += np.int64(smallest[node]) * (hull - np.int64(dear[node]))
        if total > best or (total == best and lowest[node] >= found):
            continue
        if j + 1 < m:
            sums[j + 1], hulls[j + 1] = total, hulls[j] + hull
            j += 1
            at[j], end[j] = child[node], child[node + 1]
            continue
        for i in range(begin[node], begin[node + 1]):
            c = order[i]
            if info[c, LOOSE] == 0 and c != skip and info[c, SIZE] > least:
                key = hulls[j] + hull
                if joining:
                    key += info[c, SIZE] * (key - info[c, COST])
                if (key < best or (key == best and c < found)) and (key > floor or (key == floor and c > number)):
                    found, best = c, key
    # Loose clusters.
    stack, floors = desk.stack, desk.floors
    depth = 0
    if about[1, LAST_CELL] >= 0:
        stack[0], floors[0] = 1, 0
        depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if floors[depth] > best or (floors[depth] == best and about[node, LOWEST] >= found):
            continue
        if node < head.size:
            for one in range(2 * node, 2 * node + 2):
                if not (about[one, FIRST_CELL] <= cell <= about[one, LAST_CELL]):
                    continue
                size = about[one, SMALLEST] if joining else np.int64(0)
                total = np.int64(0)
                for j in range(m):
                    below = min(lo[j], np.int64(reach[one, j]))
                    above = max(hi[j], np.int64(reach[one, m + j]))
                    if kind[j] == TABLE:
                        hull = np.int64(costs[offset[j] + below * width[j] + above])
                    else:
                        hull = cost(j, below, above, prices)
                    total += hull + size * max(hull - np.int64(reach[one, 2 * m + j]), 0)
                    if total > best:
                        break
                if total <= best:
                    stack[depth], floors[depth] = one, total
                    depth += 1
            continue
        c = head[node - head.size]
        while c >= 0:
            if info[c, SIZE] > least and info[c, CELL] == cell and c != skip:
                key = np.int64(0)
                for j in range(m):
                    below, above = (min(lo[j], np.int64(box[c, j])), max(hi[j], np.int64(box[c, m + j])))
                    if kind[j] == TABLE:
                        key += np.int64(costs[offset[j] + below * width[j] + above])
                    else:
                        key += cost(j, below, above, prices)
                if joining:
                    key += info[c, SIZE] * (key - info[c, COST])
                if (key < best or (key == best and c < found)) and (key > floor or (key == floor and c > number)):
                    found, best = c, key
            c = info[c, NEXT]
    return found, best


@inner
def best_cluster(state, index, prices, asked, desk, r, skip):
    """Cluster that a record may join with the least growth of loss, and that growth; −1 if it may join none."""
    codes, profile, cell, place = state.codes, state.profile, state.cell, state.place
    box, info = state.box, state.info
    kind, offset, width, costs = prices.kind, prices.offset, prices.width, prices.costs
    m = codes.shape[1]
    lo = desk.codes
    for j in range(m):
        lo[j] = codes[profile[r], j]
    # Records beside it in canonical order are like it: their clusters give a first good bound.
    found, best = np.int64(NOWHERE), np.int64(FAR)
    for step in range(-BESIDE, BESIDE + 1):
        if 0 <= r + step < cell.size and place[r + step] >= 0 and cell[r + step] == cell[r]:
            c = np.int64(place[r + step])
            if c in (skip, found):
                continue
            key = np.int64(0)
            for j in range(m):
                below, above = min(lo[j], np.int64(box[c, j])), max(lo[j], np.int64(box[c, m + j]))
                if kind[j] == TABLE:
                    key += np.int64(costs[offset[j] + below * width[j] + above])
                else:
                    key += cost(j, below, above, prices)
            key += info[c, SIZE] * (key - info[c, COST])
            if key < best or (key == best and c < found):
                found, best = c, key
    joining, least, none = np.bool_(True), np.int64(0), np.int64(NOWHERE)
    found, best = nearest(state, index, prices, desk, lo, lo, cell[r], joining, skip, least, none, none, found, best)
    if asked.lasts and not bounded(asked):
        return found, best
    alone = np.full(1, np.int64(r))
    while found >= 0 and not may_join(state, asked, desk, found, alone):
        found, best = nearest(
            state, index, prices, desk, lo, lo, cell[r], joining, skip, least, best, found, none, np.int64(FAR)
        )
    return found, best


@inner
def next_near(state, index, prices, desk, c, least, floor, number):
    """Next cluster of more than ``least`` records, in the order of (cost of its hull with another, number)."""
    box, info = state.box, state.info
    m = box.shape[1] // 2
    lo, hi = np.empty(m, np.int64), np.empty(m, np.int64)
    for j in range(m):
        lo[j], hi[j] = box[c, j], box[c, m + j]
    return nearest(
        state,
        index,
        prices,
        desk,
        lo,
        hi,
        info[c, CELL],
        np.bool_(False),
        c,
        least,
        floor,
        number,
        np.int64(NOWHERE),
        np.int64(FAR),
    )
