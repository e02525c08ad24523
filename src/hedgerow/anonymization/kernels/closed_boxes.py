"""All boxes of a block that a group could be in and that could lower a bound, by depth-first search with lists.

The search chooses a range for one column after the other and keeps the list of the profiles that lie in all ranges so
far, dearest (by the most that a record of it may be priced at) first. A list is cut off

- if it has fewer than k records,
- if its k dearest records are not priced above what the ranges so far cost: no box below can be negative then,
- if its profiles span less than one of the ranges: no group below has that range.

Ranges of a tree column are nodes: see ``bounding/ranges.py`` for how they are laid out. Those of other columns are all
intervals between two values of the list, no wider than the limit.

The search can pause: when there is no more room for what it finds, and every so many steps. All that it remembers lies
in arrays of the caller.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.bare import bare
from hedgerow.anonymization.kernels.codes import BREATH, DONE, FULL
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.neighbours import price
from hedgerow.anonymization.kernels.sorting import sort
from hedgerow.anonymization.kernels.tuples.bounding import BoxDesk, BoxSearch, Found, Ranges  # noqa: F401 - taken
from hedgerow.anonymization.kernels.tuples.searching import Prices  # noqa: F401 - taken as an argument: see keeping.py

COLUMN, RANGE, BEGIN, END, TOP, COST, VALUES, DIFFERENT, FIRST, START, NEXT, LAST, FROM, UPTO = range(14)
"""What the search remembers of a step: column; node (tree columns); where the list begins and ends; where free room for
lists begins; cost of the columns before. Of other columns: where their values stand, and how many (0: not listed yet);
the number of the lower end, those of the first, next and last upper end, and where the list of all between is."""
SHIFT, COUNT = 31, (1 << 31) - 1  # a value and how many records have it, in one number
TOO_DEAR = 1 << 40
SPARE = 2  # times k: so many records priced below the box are kept by name


@inner
def _dearest(cap, counts, begin, end, listed, k):
    """Greatest sum of the prices of k records of a list; −1 if it has fewer."""
    total, left = np.int64(0), k
    for i in range(begin, end):
        u = listed[i]
        if counts[u] >= left:
            return total + left * cap[u]
        total += counts[u] * cap[u]
        left -= counts[u]
    return np.int64(-1)


@inner
def _node_of(j, depth, u, ranges, codes):
    """Node of a profile in a tree column at a depth."""
    return ranges.path[ranges.start[j] + codes[u, j] * ranges.levels[j] + depth]


@inner
def _smallest_node(j, depth, begin, end, listed, ranges, codes):
    """The lowest node, at or below a depth, that holds all profiles of a list."""
    u = listed[begin]
    deepest = ranges.levels[j] - 1
    for i in range(begin + 1, end):
        v = listed[i]
        while deepest > depth and _node_of(j, deepest, u, ranges, codes) != _node_of(j, deepest, v, ranges, codes):
            deepest -= 1
        if deepest <= depth:
            break
    return _node_of(j, deepest, u, ranges, codes)


@inner
def _spans(columns, begin, end, listed, ranges, codes, lows, highs):
    """Tell whether the profiles of a list span the ranges chosen for the first columns."""
    for j in range(columns):
        low, high = lows[j], highs[j]
        if low == high:
            continue
        if ranges.levels[j] > 0:  # low is the node, high its depth below which profiles must differ
            depth = -high
            one = _node_of(j, depth, listed[begin], ranges, codes)
            found = False
            for i in range(begin + 1, end):
                if _node_of(j, depth, listed[i], ranges, codes) != one:
                    found = True
                    break
            if not found:
                return False
        else:
            left, right = False, False
            for i in range(begin, end):
                code = codes[listed[i], j]
                left |= code == low
                right |= code == high
                if left and right:
                    break
            if not (left and right):
                return False
    return True


@inner
def _width(j, low, high, ranges, prices):
    """What an interval costs; more than anything does if it is wider than allowed."""
    first, last = ranges.start[j] + low, ranges.start[j] + high
    if ranges.widest[j] >= 0 and ranges.right[last] - ranges.left[first] > ranges.widest[j]:
        return np.int64(TOO_DEAR)
    return price(j, ranges.lower[first], ranges.upper[last], prices)


@kernel
def find_boxes(search, ranges, prices, desk, found, state, steps):
    """Go on with the search until it is done, out of room, or has made so many steps; returns why it ended.

    ``state`` holds how many steps lie on the stack, boxes and members found, and the work done so far.
    """
    ranges, prices, search, desk, found = bare(ranges), bare(prices), bare(search), bare(desk), bare(found)
    codes, counts, cap, k = search.codes, search.counts, search.cap, search.k
    listed, frame, lows, highs = desk.listed, desk.frame, desk.low, desk.high
    q = codes.shape[1]
    many, boxes, members, work = state[0], state[1], state[2], state[3]
    until = work + steps
    reason = DONE
    while many > 0:
        if work >= until:
            reason = BREATH
            break
        at = many - 1
        j, begin, end = frame[at, COLUMN], frame[at, BEGIN], frame[at, END]
        top, cost = frame[at, TOP], frame[at, COST]
        if j == q:
            if boxes + 1 >= found.start.size or members + (end - begin) > found.member.size:
                reason = FULL
                break
            many -= 1
            gain, spare = np.int64(0), np.int64(0)
            rest = np.int64(-1)
            for i in range(begin, end):
                u = listed[i]
                if cap[u] > cost:
                    gain += counts[u] * (cap[u] - cost)
                elif cap[u] <= cost - gain:  # a group with it is not worth less than nothing
                    break
                elif spare >= SPARE * k:
                    rest = cap[u]
                    break
                else:
                    spare += counts[u]
                found.member[members] = u
                members += 1
            found.cost[boxes], found.rest[boxes] = cost, rest
            boxes += 1
            found.start[boxes] = members
            work += end - begin
            continue
        if ranges.levels[j] > 0:
            many -= 1
            node = frame[at, RANGE]
            depth = ranges.depth[node]
            inner_node = ranges.leaf[node] == 0
            room = top
            if inner_node:
                # how many profiles lie under each child; children are listed in the order in which they occur
                children = np.int64(0)
                for i in range(begin, end):
                    child = _node_of(j, depth + 1, listed[i], ranges, codes)
                    if desk.tally[child] == 0:
                        desk.child[children] = child
                        children += 1
                    desk.tally[child] += 1
                for x in range(children):
                    child = desk.child[x]
                    desk.place[child] = room
                    room += desk.tally[child]
                for i in range(begin, end):
                    u = listed[i]
                    child = _node_of(j, depth + 1, u, ranges, codes)
                    listed[desk.place[child]] = u
                    desk.place[child] += 1
                work += end - begin
                for x in range(children):
                    child = desk.child[x]
                    last = desk.place[child]
                    first = last - desk.tally[child]
                    desk.tally[child] = 0
                    if _dearest(cap, counts, first, last, listed, k) <= k * cost:
                        continue
                    if not _spans(j, first, last, listed, ranges, codes, lows, highs):
                        continue
                    frame[many, COLUMN], frame[many, BEGIN], frame[many, END] = j, first, last
                    frame[many, RANGE] = _smallest_node(j, depth + 1, first, last, listed, ranges, codes)
                    frame[many, TOP], frame[many, COST], frame[many, DIFFERENT] = room, cost, 0
                    many += 1
            with_it = cost + ranges.cost[node]
            lows[j], highs[j] = node, node
            if inner_node:
                highs[j] = -(depth + 1)
            if _dearest(cap, counts, begin, end, listed, k) > k * with_it:
                frame[many, COLUMN], frame[many, BEGIN], frame[many, END] = j + 1, begin, end
                frame[many, RANGE] = 0
                if j + 1 < q and ranges.levels[j + 1] > 0:
                    frame[many, RANGE] = _smallest_node(j + 1, 0, begin, end, listed, ranges, codes)
                frame[many, TOP], frame[many, COST], frame[many, DIFFERENT] = room, with_it, 0
                many += 1
            continue
        # intervals: the step stays until all of its intervals were tried
        if frame[at, DIFFERENT] == 0:
            values = desk.values[: end - begin]
            for i in range(begin, end):
                values[i - begin] = (np.int64(codes[listed[i], j]) << SHIFT) + counts[listed[i]]
            sort(values)
            different = np.int64(1)
            for i in range(1, values.size):
                different += (values[i] >> SHIFT) != (values[i - 1] >> SHIFT)
            x, before = np.int64(-1), np.int64(0)  # values, and how many records have lesser ones
            for i in range(values.size):
                if i == 0 or (values[i] >> SHIFT) != (values[i - 1] >> SHIFT):
                    x += 1
                    listed[top + x], listed[top + different + x] = values[i] >> SHIFT, before
                before += values[i] & COUNT
            listed[top + 2 * different] = before
            frame[at, VALUES], frame[at, DIFFERENT], frame[at, FIRST] = top, different, -1
            frame[at, START], frame[at, NEXT], frame[at, LAST] = 0, 0, -1
            work += 2 * (end - begin)
            top += 2 * different + 1
            frame[at, TOP] = top
        different, values_at = frame[at, DIFFERENT], frame[at, VALUES]
        first, following = frame[at, FIRST], frame[at, NEXT]
        if following > frame[at, LAST]:  # the next lower end, and all upper ends that go with it
            first += 1
            following, lesser = frame[at, START], values_at + different
            while following < different and listed[lesser + following + 1] < listed[lesser + first] + k:
                following += 1
            if following == different:  # fewer than k records are left
                many -= 1
                continue
            most = _dearest(cap, counts, begin, end, listed, k)
            low, last = listed[values_at + first], following - 1
            while last + 1 < different:
                dear = cost + _width(j, low, listed[values_at + last + 1], ranges, prices)
                if most <= k * dear:
                    break
                last += 1
            frame[at, FIRST], frame[at, START], frame[at, NEXT], frame[at, LAST] = first, following, following, last
            work += 1
            if last < following:
                continue
            room, high = top, listed[values_at + last]
            for i in range(begin, end):
                if low <= codes[listed[i], j] <= high:
                    listed[room] = listed[i]
                    room += 1
            work += ((end - begin) >> 2) + 1
            if not _spans(j, top, room, listed, ranges, codes, lows, highs):
                frame[at, LAST] = following - 1
                continue
            frame[at, FROM], frame[at, UPTO] = top, room
            continue
        from_, upto = frame[at, FROM], frame[at, UPTO]
        low, high = listed[values_at + first], listed[values_at + following]
        frame[at, NEXT] = following + 1
        with_it = cost + _width(j, low, high, ranges, prices)
        if _dearest(cap, counts, from_, upto, listed, k) <= k * with_it:
            frame[at, LAST] = following  # wider ones cost no less
            continue
        room = upto
        for i in range(from_, upto):
            if codes[listed[i], j] <= high:
                listed[room] = listed[i]
                room += 1
        work += ((upto - from_) >> 2) + 1
        if _dearest(cap, counts, upto, room, listed, k) <= k * with_it:
            continue
        lows[j], highs[j] = low, high
        if not _spans(j + 1, upto, room, listed, ranges, codes, lows, highs):
            continue
        frame[many, COLUMN], frame[many, BEGIN], frame[many, END] = j + 1, upto, room
        frame[many, RANGE] = 0
        if j + 1 < q and ranges.levels[j + 1] > 0:
            frame[many, RANGE] = _smallest_node(j + 1, 0, upto, room, listed, ranges, codes)
        frame[many, TOP], frame[many, COST], frame[many, DIFFERENT] = room, with_it, 0
        many += 1
    state[0], state[1], state[2], state[3] = many, boxes, members, work
    return reason
