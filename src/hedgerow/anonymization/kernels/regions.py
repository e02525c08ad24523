"""Regions of two versions of a release: which of them hang together, and which old rows may be which new rows.

Boxes stand in an order in which neighbours stand together, and every eight of them have a hull, every eight hulls one
above, and so on. Whoever looks for boxes that meet another goes along the order and leaves out what lies under a hull
that does not meet it.

Rows: how many of the old rows that are placed in one new group can be placed in others at once is a maximum flow. It is
found from the placement that is known to be true, along augmenting paths (Ford and Fulkerson 1956), nearest first.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.bare import bare
from hedgerow.anonymization.kernels.codes import HELD, MOVES, SEARCHED
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.tuples.regions import HoldingDesk, Holdings, Hulls  # noqa: F401 - taken as arguments: see keeping.py

FANOUT = 3  # bits: eight of a level have a hull


# -- boxes -----------------------------------------------------------------------------------------------------------


@kernel
def enclose(hulls):
    """Work out what the boxes below every node lie in."""
    hulls = bare(hulls)
    columns, levels = hulls.lo.shape[1], hulls.level.shape[1]
    for run in range(hulls.first.size - 1):
        begin = hulls.first[run]
        size = hulls.first[run + 1] - begin
        for above in range(levels):
            for position in range(size):
                if above:
                    if position << FANOUT * above >= size:
                        break
                    child = hulls.level[run, above - 1] + position
                else:
                    child = begin + position
                node = hulls.level[run, above] + (position >> FANOUT)
                if position & ((1 << FANOUT) - 1) == 0:
                    hulls.left[node] = 0
                hulls.left[node] += 1 if above == 0 else hulls.left[child]
                for j in range(columns):
                    if above:
                        lo, hi = hulls.node_lo[child, j], hulls.node_hi[child, j]
                    else:
                        lo, hi = hulls.lo[hulls.box[child], j], hulls.hi[hulls.box[child], j]
                    if position & ((1 << FANOUT) - 1) == 0:
                        hulls.node_lo[node, j], hulls.node_hi[node, j] = lo, hi
                    else:
                        hulls.node_lo[node, j] = min(hulls.node_lo[node, j], lo)
                        hulls.node_hi[node, j] = max(hulls.node_hi[node, j], hi)


@inner
def _meets(lo, hi, row, other_lo, other_hi, other):
    """Tell whether two boxes meet."""
    j, columns = 0, lo.shape[1]
    while j < columns and lo[row, j] <= other_hi[other, j] and hi[row, j] >= other_lo[other, j]:
        j += 1
    return j == columns


@inner
def _meeting(hulls, run, lo, hi, row, found):
    """Find the boxes of a run, of those with any left above them, that meet one; returns how many, by position."""
    begin, levels = hulls.first[run], hulls.level.shape[1]
    size = hulls.first[run + 1] - begin
    many, position, at = 0, 0, levels
    while position < size:
        if at:
            node = hulls.level[run, at - 1] + (position >> FANOUT * at)
            if hulls.left[node] and _meets(hulls.node_lo, hulls.node_hi, node, lo, hi, row):
                at -= 1
                continue
        elif _meets(hulls.lo, hulls.hi, hulls.box[begin + position], lo, hi, row):
            found[many] = begin + position
            many += 1
        position += 1 << FANOUT * at
        while at < levels and position & ((1 << FANOUT * (at + 1)) - 1) == 0:
            at += 1
    return many


@inner
def _take(hulls, position):
    """Take a box of the first run: there is one less below the nodes above it."""
    for above in range(hulls.level.shape[1]):
        hulls.left[hulls.level[0, above] + (position >> FANOUT * (above + 1))] -= 1


@kernel
def connect(old, new, old_seeds, new_seeds, old_part, new_part, queue, found):
    """Number the components of the graph of old and new boxes that meet, as far as they hold a seed.

    Both have one run, and each box stands in it once. Parts are −1 at first, and stay so where there is no seed.
    Returns how many components there are.
    """
    old, new = bare(old), bare(new)
    olds = old_part.size
    parts = 0
    for at in range(old_seeds.size + new_seeds.size):
        is_old = at < old_seeds.size
        position = old_seeds[at] if is_old else new_seeds[at - old_seeds.size]
        if (old_part[position] if is_old else new_part[position]) >= 0:
            continue
        if is_old:
            old_part[position] = parts
            _take(old, position)
            queue[0] = position
        else:
            new_part[position] = parts
            _take(new, position)
            queue[0] = olds + position
        head, tail = 0, 1
        while head < tail:
            position = queue[head]
            head += 1
            if position < olds:
                many = _meeting(new, np.int64(0), old.lo, old.hi, old.box[position], found)
                for i in range(many):
                    other = found[i]
                    if new_part[other] < 0:
                        new_part[other] = parts
                        _take(new, other)
                        queue[tail] = olds + other
                        tail += 1
            else:
                many = _meeting(old, np.int64(0), new.lo, new.hi, new.box[position - olds], found)
                for i in range(many):
                    other = found[i]
                    if old_part[other] < 0:
                        old_part[other] = parts
                        _take(old, other)
                        queue[tail] = other
                        tail += 1
        parts += 1
    return parts


# -- rows ------------------------------------------------------------------------------------------------------------


@inner
def _holding(rows, old, new):
    """Find the holding of an old cell in a new one; −1 if there is none."""
    node = rows.head[new]
    while node >= 0 and rows.holder[node] != old:
        node = rows.follow[node]
    return node


@inner
def _move(rows, desk, old, new, step):
    """Move one row of an old cell into a new cell, or out of it, and remember that."""
    node = _holding(rows, old, new)
    made = node < 0
    if made:
        node = rows.used[HELD]
        rows.used[HELD] += 1
        rows.holder[node], rows.rows[node] = old, 0
        rows.follow[node] = rows.head[new]
        rows.head[new] = node
    rows.rows[node] += step
    rows.free[new] -= step
    at = rows.used[MOVES]
    rows.used[MOVES] += 1
    desk.move_old[at], desk.move_new[at], desk.move_step[at] = old, new, 2 * step if made else step


@inner
def _undo(rows, desk):
    """Undo all moves that are remembered."""
    while rows.used[MOVES]:
        rows.used[MOVES] -= 1
        at = rows.used[MOVES]
        old, new, step = desk.move_old[at], desk.move_new[at], desk.move_step[at]
        node = _holding(rows, old, new)
        made = step == 2 or step == -2
        if made:
            step //= 2
        rows.rows[node] -= step
        rows.free[new] += step
        if made:  # it is the newest of all, and stands first
            rows.head[new] = rows.follow[node]
            rows.used[HELD] -= 1


@inner
def _visit(rows, desk, old, new, search, tail):
    """Put an old cell into the queue, unless it was there or leads nowhere; returns the end of the queue."""
    if desk.seen_old[old] == search or desk.dead[old]:
        return tail
    desk.seen_old[old] = search
    desk.from_new[old] = new
    desk.queue[tail] = old
    return tail + 1


@inner
def _place_one(hulls, rows, desk, value, closed, homeless):
    """Find another place for a row of the closed cell, or one for a row of a homeless old cell: 1 if there is one.

    0 if there is none, and −1 if there is no room to remember the moves.
    """
    rows.used[SEARCHED] += 1
    search = rows.used[SEARCHED]
    tail = 0
    if closed < 0:
        tail = _visit(rows, desk, homeless, np.int64(-1), search, tail)
    else:
        desk.seen_new[closed] = search
        node = rows.head[closed]
        while node >= 0:
            if rows.rows[node] > 0:
                tail = _visit(rows, desk, rows.holder[node], closed, search, tail)
            node = rows.follow[node]
    head = 0
    while head < tail:
        old = desk.queue[head]
        head += 1
        many = _meeting(hulls, value, rows.lo, rows.hi, rows.box[old], desk.found)
        for i in range(many):
            new = hulls.item[desk.found[i]]
            if desk.seen_new[new] == search:
                continue
            desk.seen_new[new] = search
            desk.from_old[new] = old
            if rows.free[new] > 0:
                return _along(rows, desk, new, closed)
            node = rows.head[new]
            while node >= 0:
                if rows.rows[node] > 0:
                    tail = _visit(rows, desk, rows.holder[node], new, search, tail)
                node = rows.follow[node]
    if rows.used[MOVES] == 0 and (closed < 0 or rows.free[closed] == 0):
        for i in range(tail):
            desk.dead[desk.queue[i]] = True
    return 0


@inner
def _along(rows, desk, new, closed):
    """Move rows along the way that was found."""
    steps, at = 0, new
    while at != closed and at >= 0:
        steps += 2
        at = desk.from_new[desk.from_old[at]]
    if rows.used[MOVES] + steps > desk.move_old.size:
        return -1
    at = new
    while at != closed and at >= 0:
        old = desk.from_old[at]
        _move(rows, desk, old, at, np.int64(1))
        at = desk.from_new[old]
        if at >= 0:
            _move(rows, desk, old, at, np.int64(-1))
    return 1


@kernel
def settle(hulls, rows, desk, homeless, many, value):
    """Find places for old rows of which nobody knows where they went, as many as each old cell has of them.

    Returns 1 if all have one, 0 if not all can have one, and −1 if there is no more room for moves.
    """
    hulls, rows, desk = bare(hulls), bare(rows), bare(desk)
    for at in range(homeless.size):
        while many[at]:
            found = _place_one(hulls, rows, desk, value[at], np.int64(-1), homeless[at])
            if found < 1:
                return found
            many[at] -= 1
    return 1


@kernel
def hide(hulls, rows, desk, groups, cell_start, codes, stamps, k, wanted, at, last, least, values):
    """Among how many rows that need not be old ones somebody can hide in each of some new groups.

    Parameters
    ----------
    groups, at, last
        The groups, and which of them to look at.
    cell_start
        First cell of every new group, and the total.
    codes, stamps
        Values by column (rows) as numbers, −1 if missing; and for each of these numbers the last group that had it.
    k, wanted
        Rows that are enough, and different values of every column.
    least, values
        Takes the rows, up to k, and their different values by column, up to what is wanted.

    Returns the first group that was not looked at for want of room, or the last.
    """
    hulls, rows, desk = bare(hulls), bare(rows), bare(desk)
    columns = wanted.size
    distinct = np.zeros(columns, np.int64)
    while at < last:
        group = groups[at]
        begin, end = cell_start[group], cell_start[group + 1]
        total, lacking = 0, 0
        distinct[:] = 0
        for j in range(columns):
            lacking += wanted[j] > 0
        for turn in range(3):  # 0: rows that are free; 1 and 2: rows that can be made so, of values without one first
            for cell in range(begin, end):
                was_free = rows.free[cell] > 0
                if (turn == 0 and not was_free) or (turn == 1 and was_free) or (turn == 2 and not was_free):
                    continue
                if turn == 0:
                    total += rows.free[cell]
                    lacking -= _count(codes, stamps, distinct, wanted, rows.value[cell], at + 1)
                    continue
                counted = was_free
                while total < k or lacking:
                    found = _place_one(hulls, rows, desk, rows.value[cell], np.int64(cell), np.int64(-1))
                    if found < 0:
                        _undo(rows, desk)
                        return at
                    if found == 0:
                        break
                    total += 1
                    if not counted:
                        counted = True
                        lacking -= _count(codes, stamps, distinct, wanted, rows.value[cell], at + 1)
                _undo(rows, desk)
        least[at] = min(total, k)
        for j in range(columns):
            values[at, j] = min(distinct[j], wanted[j])
        at += 1
    return at


@inner
def _count(codes, stamps, distinct, wanted, value, stamp):
    """Count a value in the columns in which the group did not have it; returns in how many there are enough now."""
    enough = 0
    for j in range(wanted.size):
        code = codes[j, value]
        if code >= 0 and stamps[j, code] != stamp:
            stamps[j, code] = stamp
            distinct[j] += 1
            enough += distinct[j] == wanted[j]
    return enough
