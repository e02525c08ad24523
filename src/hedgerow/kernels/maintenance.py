"""Keeping clusters current: joining, splitting, dissolving, borrowing, merging, and search for less loss (INC; SPEC §8).

Clusters are boxes of codes over lists of records. They stand in a tree whose nodes know what bounds the loss of joining
any cluster below: by attribute the greatest lower and the least upper code and the dearest cost, and the least size. A
search with the best found so far therefore looks at few clusters; its answer is exact, and ties go to the lowest number.
Clusters that are split off stand in the leaf of the one they came from.

Records are numbered in canonical order. Arrays travel in tuples:

- ``state``: codes, cell and place of every record, links (FOLLOWING and PREVIOUS record of its cluster); box (lower,
  then upper codes) and info (SIZE … NEXT) of every cluster; used (one number: clusters so far);
- ``tree``: reach (by node: greatest lower codes, least upper codes, dearest costs), about (SMALLEST … LAST_CELL), head
  (first cluster of every leaf);
- ``asked``: k, whether the models survive growth, sensitive codes, value_start, overall, models, trees (all as in
  ``diverse.py``), person, widest (by attribute; −1: no bound), ends (published lower, then upper ends of all codes of the
  attributes with such a bound), end_start;
- ``desk``: scratch space.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from hedgerow.kernels.diverse import total_lack
from hedgerow.kernels.search_index import FAR, TABLE, cost

FOLLOWING, PREVIOUS = 0, 1
SIZE, COST, CELL, HEAD, LEAF, NEXT = range(6)
SMALLEST, LOWEST, FIRST_CELL, LAST_CELL = range(4)
NOWHERE = -1
NO_CODE = (1 << 31) - 1
SWAP_WITH = 6
BESIDE = 8


# -- membership ------------------------------------------------------------------------------------------------------


@nb.njit(nogil=True)
def enlist(state, c, r):
    """Put a record into a cluster's list; its box is left as it is."""
    place, links, info = state[2], state[3], state[5]
    first = info[c, HEAD]
    links[r, PREVIOUS] = NOWHERE
    links[r, FOLLOWING] = first
    if first >= 0:
        links[first, PREVIOUS] = r
    info[c, HEAD] = r
    info[c, SIZE] += 1
    place[r] = c


@nb.njit(nogil=True)
def unlist(state, r):
    """Take a record out of its cluster's list; the box is left as it is."""
    place, links, info = state[2], state[3], state[5]
    before, after = links[r, PREVIOUS], links[r, FOLLOWING]
    if before >= 0:
        links[before, FOLLOWING] = after
    else:
        info[place[r], HEAD] = after
    if after >= 0:
        links[after, PREVIOUS] = before
    info[place[r], SIZE] -= 1
    place[r] = NOWHERE


@nb.njit(nogil=True)
def members(state, c):
    """Records of a cluster, in canonical order."""
    links, info = state[3], state[5]
    found = np.empty(info[c, SIZE], np.int64)
    r = info[c, HEAD]
    for i in range(found.size):
        found[i] = r
        r = links[r, FOLLOWING]
    return np.sort(found)


@nb.njit(nogil=True)
def enclose(state, tree, prices, c):
    """Work out a cluster's box and cost from its records."""
    codes, links, box, info = state[0], state[3], state[4], state[5]
    m = codes.shape[1]
    r = info[c, HEAD]
    if r >= 0:
        for j in range(m):
            box[c, j] = box[c, m + j] = codes[r, j]
        r = links[r, FOLLOWING]
        while r >= 0:
            for j in range(m):
                v = np.int32(codes[r, j])
                box[c, j] = min(box[c, j], v)
                box[c, m + j] = max(box[c, m + j], v)
            r = links[r, FOLLOWING]
    price(state, tree, prices, c)


@nb.njit(nogil=True)
def price(state, tree, prices, c):
    """Work out a cluster's cost from its box, and let the tree know."""
    box, info = state[4], state[5]
    m = box.shape[1] // 2
    total = np.int64(0)
    for j in range(m):
        total += cost(j, box[c, j], box[c, m + j], prices)
    info[c, COST] = total
    tell(state, tree, prices, c)


@nb.njit(nogil=True)
def join(state, tree, prices, c, r):
    """Add a record to a cluster."""
    codes, box, info = state[0], state[4], state[5]
    m = codes.shape[1]
    enlist(state, c, r)
    grown = False
    for j in range(m):
        v = np.int32(codes[r, j])
        if info[c, SIZE] == 1 or v < box[c, j]:
            box[c, j] = v
            grown = True
        if info[c, SIZE] == 1 or v > box[c, m + j]:
            box[c, m + j] = v
            grown = True
    if grown:
        price(state, tree, prices, c)


@nb.njit(nogil=True)
def leave(state, tree, prices, r):
    """Take a record out of its cluster."""
    codes, box = state[0], state[4]
    c = state[2][r]
    m = codes.shape[1]
    unlist(state, r)
    for j in range(m):
        v = np.int32(codes[r, j])
        if v == box[c, j] or v == box[c, m + j]:
            enclose(state, tree, prices, c)
            return
    tell(state, tree, prices, c)


# -- what is asked ---------------------------------------------------------------------------------------------------


@nb.njit(nogil=True)
def strength(records, asked):
    """Number of persons of some records; of records without a person key."""
    person = asked[7]
    if person.size == 0:
        return records.size
    who = np.sort(person[records])
    different = 0
    for i in range(who.size):
        if i == 0 or who[i] != who[i - 1]:
            different += 1
    return different


@nb.njit(nogil=True)
def holds(records, asked, desk):
    """Tell whether some records meet k and every model as a group."""
    k, sensitive, value_start, overall, models, trees = asked[0], asked[2], asked[3], asked[4], asked[5], asked[6]
    if records.size < k or strength(records, asked) < k:
        return False
    if models[0].size == 0:
        return True
    histogram = desk[0]
    histogram[:] = 0
    for r in records:
        for s in range(sensitive.shape[1]):
            if sensitive[r, s] >= 0:
                histogram[value_start[s] + sensitive[r, s]] += 1
    return total_lack(histogram, value_start, overall, models, trees) == 0


@nb.njit(nogil=True)
def fits(lo, hi, asked):
    """Tell whether a box is nowhere wider than allowed."""
    widest, ends, end_start = asked[8], asked[9], asked[10]
    for j in range(widest.size):
        if widest[j] >= 0:
            many = (end_start[j + 1] - end_start[j]) // 2
            if ends[end_start[j] + many + hi[j]] - ends[end_start[j] + lo[j]] > widest[j]:
                return False
    return True


@nb.njit(nogil=True)
def with_record(records, r):
    """Some records and one more."""
    more = np.empty(records.size + 1, np.int64)
    more[:-1] = records
    more[-1] = r
    return more


@nb.njit(nogil=True)
def may_join(state, asked, desk, c, records):
    """Tell whether records may join a cluster: within every width, and the models still hold."""
    codes, box = state[0], state[4]
    m = codes.shape[1]
    widest = asked[8]
    for j in range(m):
        if widest[j] >= 0:
            lo, hi = box[c, :m].copy(), box[c, m:].copy()
            for r in records:
                for i in range(m):
                    lo[i] = min(lo[i], np.int32(codes[r, i]))
                    hi[i] = max(hi[i], np.int32(codes[r, i]))
            if not fits(lo, hi, asked):
                return False
            break
    if asked[1]:  # the models survive growth
        return True
    return holds(np.concatenate((members(state, c), records)), asked, desk)


# -- the tree of clusters --------------------------------------------------------------------------------------------


@nb.njit(nogil=True, cache=True)
def plant(state, prices, order, tree):
    """Lay the clusters, in this order, into the leaves of an empty tree."""
    info = state[5]
    leaves = tree[2].size
    each = max((order.size + leaves - 1) // leaves, 1)
    for i in range(order.size - 1, -1, -1):
        c, leaf = order[i], i // each
        info[c, LEAF] = leaf
        info[c, NEXT] = tree[2][leaf]
        tree[2][leaf] = c
    for leaf in range(leaves):
        tell_leaf(state, tree, prices, leaf)
    for node in range(leaves - 1, 0, -1):
        gather(tree, node)


@nb.njit(nogil=True)
def gather(tree, node):
    """Work out a node's bounds from those of its children."""
    reach, about = tree[0], tree[1]
    m = reach.shape[1] // 3
    a, b = 2 * node, 2 * node + 1
    for j in range(m):
        reach[node, j] = max(reach[a, j], reach[b, j])
        reach[node, m + j] = min(reach[a, m + j], reach[b, m + j])
        reach[node, 2 * m + j] = max(reach[a, 2 * m + j], reach[b, 2 * m + j])
    about[node, SMALLEST] = min(about[a, SMALLEST], about[b, SMALLEST])
    about[node, LOWEST] = min(about[a, LOWEST], about[b, LOWEST])
    about[node, FIRST_CELL] = min(about[a, FIRST_CELL], about[b, FIRST_CELL])
    about[node, LAST_CELL] = max(about[a, LAST_CELL], about[b, LAST_CELL])


@nb.njit(nogil=True)
def tell_leaf(state, tree, prices, leaf):
    """Work out a leaf's bounds from its living clusters."""
    box, info, reach, about = state[4], state[5], tree[0], tree[1]
    m = box.shape[1] // 2
    node = tree[2].size + leaf
    for j in range(m):
        reach[node, j], reach[node, m + j], reach[node, 2 * m + j] = -1, NO_CODE, 0
    about[node, SMALLEST], about[node, LOWEST] = NO_CODE, NO_CODE
    about[node, FIRST_CELL], about[node, LAST_CELL] = NO_CODE, -1
    c = tree[2][leaf]
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


@nb.njit(nogil=True)
def tell(state, tree, prices, c):
    """Let the nodes above a cluster know that it changed."""
    leaf = state[5][c, LEAF]
    tell_leaf(state, tree, prices, leaf)
    node = (tree[2].size + leaf) // 2
    while node >= 1:
        gather(tree, node)
        node //= 2


@nb.njit(nogil=True, inline="always")
def bound(reach, about, kind, offset, width, costs, prices, lo, hi, node, most, joining):
    """Least that joining (or the hull with) any cluster below a node may cost; no further than needed to exceed most.

    Written into its callers, which hand over single arrays: this is the innermost loop.
    """
    m = lo.size
    size = about[node, SMALLEST] if joining else np.int64(0)
    total = np.int64(0)
    for j in range(m):
        below, above = min(lo[j], np.int64(reach[node, j])), max(hi[j], np.int64(reach[node, m + j]))
        if kind[j] == TABLE:
            hull = np.int64(costs[offset[j] + below * width[j] + above])
        else:
            hull = cost(j, below, above, prices)
        total += hull + size * max(hull - np.int64(reach[node, 2 * m + j]), 0)
        if total > most:
            break
    return total


@nb.njit(nogil=True, inline="always")
def hull_cost(box, kind, offset, width, costs, prices, c, lo, hi, most):
    """Cost of the hull of a cluster and a box; no further than needed to exceed the most that matters."""
    m = lo.size
    total = np.int64(0)
    for j in range(m):
        below, above = min(lo[j], np.int64(box[c, j])), max(hi[j], np.int64(box[c, m + j]))
        if kind[j] == TABLE:
            total += np.int64(costs[offset[j] + below * width[j] + above])
        else:
            total += cost(j, below, above, prices)
        if total > most:
            break
    return total


@nb.njit(nogil=True)
def best_cluster(state, tree, prices, asked, desk, r, skip):
    """Cluster that a record may join with the least growth of loss, and that growth; −1 if it may join none."""
    codes, cell, place, box, info = state[0], state[1], state[2], state[4], state[5]
    reach, about, head = tree
    kind, offset, width, costs = prices
    lo, stack, floors = desk[1], desk[2], desk[3]
    free = asked[1] and asked[8].max() < 0
    alone = desk[4]
    alone[0] = r
    for j in range(lo.size):
        lo[j] = codes[r, j]
    found, best, here = np.int64(NOWHERE), np.int64(FAR), cell[r]
    for step in range(-BESIDE, BESIDE + 1):  # records beside it in canonical order are like it: a first good bound
        if 0 <= r + step < cell.size and place[r + step] >= 0 and cell[r + step] == here and place[r + step] != skip:
            c = place[r + step]
            hull = hull_cost(box, kind, offset, width, costs, prices, c, lo, lo, best)
            growth = hull + info[c, SIZE] * max(hull - info[c, COST], 0)
            better = growth < best or (growth == best and c < found)
            if better and (free or may_join(state, asked, desk, c, alone)):
                found, best = c, growth
    depth = 1
    stack[0], floors[0] = 1, 0
    leaves = head.size
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if floors[depth] > best or (floors[depth] == best and about[node, LOWEST] >= found):
            continue
        desk[5][0] += 1
        if node < leaves:
            nearer, further = 2 * node, 2 * node + 1
            floor = np.int64(FAR)
            other = np.int64(FAR)
            if about[nearer, FIRST_CELL] <= here <= about[nearer, LAST_CELL]:
                floor = bound(reach, about, kind, offset, width, costs, prices, lo, lo, nearer, best, True)
            if about[further, FIRST_CELL] <= here <= about[further, LAST_CELL]:
                other = bound(reach, about, kind, offset, width, costs, prices, lo, lo, further, best, True)
            if other < floor:
                nearer, further, floor, other = further, nearer, other, floor
            if other <= best and other < FAR:
                stack[depth], floors[depth] = further, other
                depth += 1
            if floor <= best and floor < FAR:
                stack[depth], floors[depth] = nearer, floor
                depth += 1
            continue
        c = head[node - leaves]
        while c >= 0:
            if info[c, SIZE] > 0 and info[c, CELL] == here and c != skip:
                hull = hull_cost(box, kind, offset, width, costs, prices, c, lo, lo, best)
                growth = hull + info[c, SIZE] * max(hull - info[c, COST], 0)
                better = growth < best or (growth == best and c < found)
                if better and (free or may_join(state, asked, desk, c, alone)):
                    found, best = c, growth
            c = info[c, NEXT]
    return found, best


@nb.njit(nogil=True)
def nearest_partner(state, tree, prices, asked, desk, c, borrowing):
    """Find the cluster nearest to another, by the cost of their hull, that may help it; returns it and a record.

    Borrowing: one that can spare a record with which the other holds; that record is the second answer. Otherwise one
    that the other's records may all join.
    """
    box, info = state[4], state[5]
    reach, about, head = tree
    kind, offset, width, costs = prices
    m = box.shape[1] // 2
    lo, hi = box[c, :m].astype(np.int64), box[c, m:].astype(np.int64)
    stack, floors = desk[2], desk[3]
    found, record, best, here = NOWHERE, NOWHERE, np.int64(FAR), info[c, CELL]
    own = members(state, c)
    depth = 1
    stack[0], floors[0] = 1, 0
    leaves = head.size
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if floors[depth] > best or (floors[depth] == best and about[node, LOWEST] >= found):
            continue
        if node < leaves:
            for child in (2 * node, 2 * node + 1):
                if about[child, FIRST_CELL] <= here <= about[child, LAST_CELL]:
                    floor = bound(reach, about, kind, offset, width, costs, prices, lo, hi, child, best, False)
                    if floor <= best:
                        stack[depth], floors[depth] = child, floor
                        depth += 1
            continue
        other = head[node - leaves]
        while other >= 0:
            if info[other, SIZE] > 0 and info[other, CELL] == here and other != c:
                hull = hull_cost(box, kind, offset, width, costs, prices, other, lo, hi, best)
                if hull < best or (hull == best and other < found):
                    if borrowing:
                        spared = spare(state, prices, asked, desk, other, c, own)
                        if spared >= 0:
                            found, record, best = other, spared, hull
                    elif may_join(state, asked, desk, other, own):
                        found, best = other, hull
            other = info[other, NEXT]
    return found, record


@nb.njit(nogil=True)
def spare(state, prices, asked, desk, donor, c, own):
    """Record that a donor can spare and with which another cluster holds, of least loss; −1 if there is none."""
    theirs = members(state, donor)
    if not holds(theirs, asked, desk):
        return np.int64(NOWHERE)
    found, best = np.int64(NOWHERE), np.int64(FAR)
    alone = np.empty(1, np.int64)
    for i in range(theirs.size):
        rest = np.concatenate((theirs[:i], theirs[i + 1 :]))
        more = with_record(own, theirs[i])
        alone[0] = theirs[i]
        if holds(rest, asked, desk) and holds(more, asked, desk) and may_join(state, asked, desk, c, alone):
            loss = loss_of(state, prices, rest) + loss_of(state, prices, more)
            if loss < best:
                found, best = theirs[i], loss
    return found


@nb.njit(nogil=True)
def loss_of(state, prices, records):
    """Loss of some records as a cluster."""
    codes = state[0]
    total = np.int64(0)
    for j in range(codes.shape[1]):
        lo, hi = codes[records[0], j], codes[records[0], j]
        for r in records:
            lo, hi = min(lo, codes[r, j]), max(hi, codes[r, j])
        total += cost(j, np.int64(lo), np.int64(hi), prices)
    return total * records.size


# -- steps -----------------------------------------------------------------------------------------------------------


@nb.njit(nogil=True)
def extremes(codes, records, side, which, edges):
    """Fill, by attribute, least, second least, greatest and second greatest code of the records on one side."""
    for j in range(edges.shape[0]):
        least = second_least = np.int64(FAR)
        most = second_most = np.int64(-1)
        for i in range(records.size):
            if side[i] == which:
                v = np.int64(codes[records[i], j])
                if v < least:
                    least, second_least = v, least
                elif v < second_least:
                    second_least = v
                if v > most:
                    most, second_most = v, most
                elif v > second_most:
                    second_most = v
        edges[j, 0], edges[j, 1], edges[j, 2], edges[j, 3] = least, second_least, most, second_most


@nb.njit(nogil=True)
def divide(state, prices, asked, desk, records):
    """Divide records as a split does; returns 1 for each that goes to the new cluster, all 0 if no split is made."""
    codes, k = state[0], asked[0]
    m = codes.shape[1]
    side = np.zeros(records.size, np.int64)
    edges = np.empty((m, 4), np.int64)
    lo, hi = np.full(m, np.int64(FAR)), np.full(m, np.int64(-1))
    staying = records.size
    while staying > 0:
        extremes(codes, records, side, 0, edges)
        chosen, least = -1, np.int64(FAR)
        for i in range(records.size):
            if side[i] == 0:
                stays = joins = np.int64(0)
                for j in range(m):
                    v = np.int64(codes[records[i], j])
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
            v = np.int64(codes[records[chosen], j])
            lo[j], hi[j] = min(lo[j], v), max(hi[j], v)
        if records.size - staying < k:
            continue
        moved, kept = records[side == 1], records[side == 0]
        if strength(moved, asked) < k:
            continue
        if strength(kept, asked) < k:
            break
        if holds(moved, asked, desk) and holds(kept, asked, desk):
            return side
    side[:] = 0
    return side


@nb.njit(nogil=True)
def split(state, tree, prices, asked, desk, c, only_if_less):
    """Split a cluster if both parts hold, optionally only if that lowers the loss; returns whether it did."""
    info = state[5]
    if state[6][0] == info.shape[0]:
        return False  # no room: only a long search for less loss comes here
    records = members(state, c)
    side = divide(state, prices, asked, desk, records)
    if side.max() == 0:
        return False
    if only_if_less:
        after = loss_of(state, prices, records[side == 1]) + loss_of(state, prices, records[side == 0])
        if after >= info[c, SIZE] * info[c, COST]:
            return False
    new = open_cluster(state, tree, c)
    for i in range(records.size):
        if side[i] == 1:
            unlist(state, records[i])
            enlist(state, new, records[i])
    enclose(state, tree, prices, c)
    enclose(state, tree, prices, new)
    return True


@nb.njit(nogil=True)
def open_cluster(state, tree, beside):
    """Number a new, empty cluster and put it into the leaf of another."""
    info, used = state[5], state[6]
    new = used[0]
    used[0] += 1
    leaf = info[beside, LEAF]
    info[new, SIZE], info[new, COST], info[new, HEAD] = 0, 0, NOWHERE
    info[new, CELL], info[new, LEAF] = info[beside, CELL], leaf
    info[new, NEXT] = tree[2][leaf]
    tree[2][leaf] = new
    return new


@nb.njit(nogil=True)
def settle(state, tree, prices, asked, desk, r):
    """Let a record join its best cluster, and split that at 2k; tells whether there was one."""
    c, _ = best_cluster(state, tree, prices, asked, desk, r, NOWHERE)
    if c < 0:
        return False
    join(state, tree, prices, c, r)
    if state[5][c, SIZE] >= 2 * asked[0]:
        if asked[7].size == 0 or strength(members(state, c), asked) >= 2 * asked[0]:
            split(state, tree, prices, asked, desk, c, False)
    return True


@nb.njit(nogil=True)
def empty(state, tree, prices, c):
    """Take all records out of a cluster, which vanishes."""
    records = members(state, c)
    for r in records:
        unlist(state, r)
    tell(state, tree, prices, c)
    return records


@nb.njit(nogil=True, cache=True)
def repair(state, tree, prices, asked, desk, clusters, whole, tally, stop):
    """Borrow for, or dissolve, every cluster that does not hold; ``whole``: merge it with its nearest one instead.

    ``tally`` counts the clusters that borrowed, were dissolved and were merged.
    """
    info = state[5]
    simple = asked[5][0].size == 0 and asked[7].size == 0
    for c in range(clusters):
        if stop[0]:
            return
        if info[c, SIZE] == 0 or (simple and info[c, SIZE] >= asked[0]) or holds(members(state, c), asked, desk):
            continue
        if whole:
            merge(state, tree, prices, asked, desk, c, tally)
            continue
        if not asked[1]:
            donor, record = nearest_partner(state, tree, prices, asked, desk, c, True)
            if donor >= 0:
                leave(state, tree, prices, record)
                join(state, tree, prices, c, record)
                tally[0] += 1
                continue
        tally[1] += 1
        for r in empty(state, tree, prices, c):
            settle(state, tree, prices, asked, desk, r)


@nb.njit(nogil=True)
def merge(state, tree, prices, asked, desk, c, tally):
    """Merge a cluster whole into the nearest that its records may join; without one its records are left without."""
    other, _ = nearest_partner(state, tree, prices, asked, desk, c, False)
    for r in empty(state, tree, prices, c):
        if other >= 0:
            join(state, tree, prices, other, r)
    if other >= 0:
        tally[2] += 1


@nb.njit(nogil=True, cache=True)
def settle_all(state, tree, prices, asked, desk, records, done, stop):
    """Let records, in this order, each join its best cluster if there is one."""
    for r in records:
        if stop[0]:
            return
        settle(state, tree, prices, asked, desk, r)
        done[0] += 1


@nb.njit(nogil=True, cache=True)
def merge_rest(state, tree, prices, asked, desk, records, starts, tally):
    """Merge runs of records without a cluster, each as a whole, into the nearest cluster that they may join."""
    info, cell = state[5], state[1]
    for run in range(starts.size - 1):
        group = records[starts[run] : starts[run + 1]]
        c = state[6][0]
        state[6][0] += 1
        info[c, SIZE], info[c, HEAD], info[c, CELL], info[c, LEAF] = 0, NOWHERE, cell[group[0]], 0
        for r in group:  # a cluster that stands in no leaf: nothing finds it
            enlist(state, c, r)
        box, codes = state[4], state[0]
        m = codes.shape[1]
        for j in range(m):
            box[c, j], box[c, m + j] = codes[group, j].min(), codes[group, j].max()
        merge(state, tree, prices, asked, desk, c, tally)


# -- less loss -------------------------------------------------------------------------------------------------------


@nb.njit(nogil=True, cache=True)
def break_covered(state, tree, prices, asked, desk, covers, order, tally, stop):
    """IL_Optimization: break totally covered clusters, in this order, where that lowers the loss.

    ``covers``: what every cluster is published as, as lower and upper codes; and by node of the tree
    the least and the greatest of them.
    """
    info = state[5]
    cheapest = np.full(2 * tree[2].size, np.int64(FAR))
    for leaf in range(tree[2].size):
        node = tree[2].size + leaf
        c = tree[2][leaf]
        while c >= 0:
            cheapest[node] = min(cheapest[node], info[c, COST])
            c = info[c, NEXT]
    for node in range(tree[2].size - 1, 0, -1):
        cheapest[node] = min(cheapest[2 * node], cheapest[2 * node + 1])
    for c in order:
        if stop[0]:
            return
        records = members(state, c)
        goes = np.empty(records.size, np.int64)
        loss = np.int64(0)
        for i in range(records.size):
            goes[i] = cheapest_cover(state, tree, desk, covers, cheapest, records[i], c)
            if goes[i] < 0:
                break
            loss += info[goes[i], COST]
        if goes.size == 0 or goes.min() < 0 or loss >= info[c, SIZE] * info[c, COST]:
            continue
        empty(state, tree, prices, c)
        for i in range(records.size):
            join(state, tree, prices, goes[i], records[i])
        if not asked[1]:
            kept = True
            for i in range(records.size):
                kept = kept and holds(members(state, goes[i]), asked, desk)
            if not kept:
                for r in records:
                    leave(state, tree, prices, r)
                for r in records:
                    join(state, tree, prices, c, r)
                continue
        tally[0] += 1


@nb.njit(nogil=True)
def cheapest_cover(state, tree, desk, covers, cheapest, r, skip):
    """Cluster of least cost that covers a record, other than its own; −1 if none does."""
    codes, cell, info = state[0], state[1], state[5]
    about, head = tree[1], tree[2]
    cover, first, last = covers
    stack = desk[2]
    m = codes.shape[1]
    found, best = np.int64(NOWHERE), np.int64(FAR)
    depth = 1
    stack[0] = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if cheapest[node] > best or (cheapest[node] == best and about[node, LOWEST] >= found):
            continue
        if not (about[node, FIRST_CELL] <= cell[r] <= about[node, LAST_CELL]):
            continue
        inside = True
        for j in range(m):
            v = np.int64(codes[r, j])
            if v < first[node, j] or v > last[node, j]:
                inside = False
                break
        if not inside:
            continue
        if node < head.size:
            a, b = 2 * node, 2 * node + 1
            if cheapest[b] < cheapest[a]:
                a, b = b, a
            stack[depth], stack[depth + 1] = b, a
            depth += 2
            continue
        c = head[node - head.size]
        while c >= 0:
            if info[c, SIZE] > 0 and c != skip and info[c, CELL] == cell[r]:
                if info[c, COST] < best or (info[c, COST] == best and c < found):
                    inside = True
                    for j in range(m):
                        v = np.int64(codes[r, j])
                        if v < cover[c, j] or v > cover[c, m + j]:
                            inside = False
                            break
                    if inside:
                        found, best = c, info[c, COST]
            c = info[c, NEXT]
    return found


@nb.njit(nogil=True, cache=True)
def improve(state, tree, prices, asked, desk, passes, tally, done, stop):
    """Lower the loss by splits, moves, swaps and dissolving, pass by pass, until nothing does; never raise it.

    ``tally`` counts splits, moves, swaps and clusters dissolved.
    """
    info, used = state[5], state[6]
    for _ in range(passes):
        before = tally.sum()
        c = 0
        while c < used[0]:
            if stop[0]:
                return
            if info[c, SIZE] >= 2 * asked[0]:
                while split(state, tree, prices, asked, desk, c, True):
                    tally[0] += 1
            if info[c, SIZE] > 0 and info[c, COST] > 0:
                move_out(state, tree, prices, asked, desk, c, tally)
            if info[c, SIZE] > 0 and info[c, COST] > 0:
                swap_out(state, tree, prices, asked, desk, c, tally)
            if info[c, SIZE] > 0 and info[c, COST] > 0:
                dissolve_if_less(state, tree, prices, asked, desk, c, tally)
            c += 1
            done[0] += 1
        if tally.sum() == before:
            return


@nb.njit(nogil=True)
def move_out(state, tree, prices, asked, desk, c, tally):
    """Move records of a cluster to others where that lowers the loss."""
    info, k = state[5], asked[0]
    for r in members(state, c):
        if info[c, SIZE] <= k:
            return
        own = members(state, c)
        rest = own[own != r]
        gain = info[c, SIZE] * info[c, COST] - loss_of(state, prices, rest)
        if gain <= 0:
            continue
        other, growth = best_cluster(state, tree, prices, asked, desk, r, c)
        if other >= 0 and growth < gain and holds(rest, asked, desk):
            leave(state, tree, prices, r)
            join(state, tree, prices, other, r)
            tally[1] += 1


@nb.njit(nogil=True)
def dissolve_if_less(state, tree, prices, asked, desk, c, tally):
    """Dissolve a cluster, its records each joining the best other one, if that lowers the loss."""
    info = state[5]
    before = info[c, SIZE] * info[c, COST]
    records = empty(state, tree, prices, c)
    after = np.int64(0)
    placed = 0
    for r in records:
        other, growth = best_cluster(state, tree, prices, asked, desk, r, c)
        after += growth
        if other < 0 or after >= before:
            break
        join(state, tree, prices, other, r)
        placed += 1
    if placed == records.size:
        tally[3] += 1
        return
    for i in range(placed - 1, -1, -1):
        leave(state, tree, prices, records[i])
    for r in records:
        join(state, tree, prices, c, r)


@nb.njit(nogil=True)
def swap_out(state, tree, prices, asked, desk, c, tally):
    """Swap records of a cluster with records of clusters near them where that lowers the loss."""
    codes, info = state[0], state[5]
    m = codes.shape[1]
    lo, hi, edges = np.empty(m, np.int64), np.empty(m, np.int64), np.empty((m, 4), np.int64)
    for r in members(state, c):
        own = members(state, c)
        rest = own[own != r]
        if loss_of(state, prices, rest) * own.size >= info[c, SIZE] * info[c, COST] * rest.size:
            continue  # without it the box is as dear: nothing to gain here
        for j in range(m):
            lo[j], hi[j] = codes[rest, j].min(), codes[rest, j].max()
        found, best, where = np.int64(NOWHERE), np.int64(0), np.int64(NOWHERE)
        for other in few_nearest(state, tree, prices, desk, r, c):
            if other < 0:
                break
            theirs = members(state, other)
            extremes(codes, theirs, np.zeros(theirs.size, np.int64), 0, edges)
            now = info[c, SIZE] * info[c, COST] + info[other, SIZE] * info[other, COST]
            for i in range(theirs.size):
                mine = swapped = np.int64(0)
                for j in range(m):
                    v, new = np.int64(codes[theirs[i], j]), np.int64(codes[r, j])
                    below = edges[j, 1] if v == edges[j, 0] else edges[j, 0]
                    above = edges[j, 3] if v == edges[j, 2] else edges[j, 2]
                    mine += cost(j, min(lo[j], v), max(hi[j], v), prices)
                    swapped += cost(j, min(below, new), max(above, new), prices)
                change = mine * info[c, SIZE] + swapped * info[other, SIZE] - now
                if change < best and may_swap(state, asked, desk, rest, theirs, r, theirs[i]):
                    found, best, where = theirs[i], change, other
        if found >= 0:
            leave(state, tree, prices, r)
            leave(state, tree, prices, found)
            join(state, tree, prices, c, found)
            join(state, tree, prices, where, r)
            tally[2] += 1


@nb.njit(nogil=True)
def may_swap(state, asked, desk, rest, theirs, r, z):
    """Tell whether two clusters still hold, within every width, when r goes to one and z to the other."""
    mine, swapped = with_record(rest, z), with_record(theirs[theirs != z], r)
    if not (narrow(state, asked, mine) and narrow(state, asked, swapped)):
        return False
    return holds(mine, asked, desk) and holds(swapped, asked, desk)


@nb.njit(nogil=True)
def narrow(state, asked, records):
    """Tell whether the box of some records is nowhere wider than allowed."""
    if asked[8].max() < 0:
        return True
    codes = state[0]
    m = codes.shape[1]
    lo, hi = np.empty(m, np.int64), np.empty(m, np.int64)
    for j in range(m):
        lo[j], hi[j] = codes[records, j].min(), codes[records, j].max()
    return fits(lo, hi, asked)


@nb.njit(nogil=True)
def few_nearest(state, tree, prices, desk, r, skip):
    """The few clusters of a record's cell with the cheapest hull with it, nearest first; −1 where there are fewer."""
    codes, cell, box, info = state[0], state[1], state[4], state[5]
    reach, about, head = tree
    kind, offset, width, costs = prices
    lo, stack, floors = desk[1], desk[2], desk[3]
    for j in range(lo.size):
        lo[j] = codes[r, j]
    found = np.full(SWAP_WITH, np.int64(NOWHERE))
    keys = np.full(SWAP_WITH, np.int64(FAR))
    last = SWAP_WITH - 1
    depth = 1
    stack[0], floors[0] = 1, 0
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if floors[depth] > keys[last] or (floors[depth] == keys[last] and about[node, LOWEST] >= found[last]):
            continue
        if node < head.size:
            nearer, further = 2 * node, 2 * node + 1
            floor = other = np.int64(FAR)
            if about[nearer, FIRST_CELL] <= cell[r] <= about[nearer, LAST_CELL]:
                floor = bound(reach, about, kind, offset, width, costs, prices, lo, lo, nearer, keys[last], False)
            if about[further, FIRST_CELL] <= cell[r] <= about[further, LAST_CELL]:
                other = bound(reach, about, kind, offset, width, costs, prices, lo, lo, further, keys[last], False)
            if other < floor:
                nearer, further, floor, other = further, nearer, other, floor
            if other <= keys[last] and other < FAR:
                stack[depth], floors[depth] = further, other
                depth += 1
            if floor <= keys[last] and floor < FAR:
                stack[depth], floors[depth] = nearer, floor
                depth += 1
            continue
        c = head[node - head.size]
        while c >= 0:
            if info[c, SIZE] > 0 and c != skip and info[c, CELL] == cell[r]:
                key = hull_cost(box, kind, offset, width, costs, prices, c, lo, lo, keys[last])
                if key < keys[last] or (key == keys[last] and c < found[last]):
                    i = last
                    while i > 0 and (key < keys[i - 1] or (key == keys[i - 1] and c < found[i - 1])):
                        keys[i], found[i] = keys[i - 1], found[i - 1]
                        i -= 1
                    keys[i], found[i] = key, c
            c = info[c, NEXT]
    return found


@nb.njit(nogil=True, cache=True)
def build(state, prices):
    """List the records of every cluster by their places, and work out boxes and costs."""
    codes, cell, place, box, info = state[0], state[1], state[2], state[4], state[5]
    m = codes.shape[1]
    for r in range(place.size - 1, -1, -1):
        c = place[r]
        if c >= 0:
            enlist(state, c, r)
            info[c, CELL] = cell[r]
            first = info[c, SIZE] == 1
            for j in range(m):
                v = np.int32(codes[r, j])
                box[c, j] = v if first else min(box[c, j], v)
                box[c, m + j] = v if first else max(box[c, m + j], v)
    for c in range(state[6][0]):
        total = np.int64(0)
        for j in range(m):
            total += cost(j, box[c, j], box[c, m + j], prices)
        info[c, COST] = total
