"""The best groups there are, of all records of a small block: branch and bound.

The record that costs most at least, the *pivot*, is in some group. All groups that may hold it are looked at, cheap
records first; what is left after each is divided likewise. A group, or a beginning of one, is given up as soon as the
loss must reach that of the best grouping known: records that have no group yet cost at least their *floor*, the
greater of what the cheapest k records with it cost as a group, and what it takes to have enough records within reach
among those that are left; those of the group that is growing cost at least what its box does, with as many of the
cheapest records as it still needs. Records that are alike are interchangeable, so they enter a group in their order.
Where only two groups are left, what one leaves out widens the box of the other.

With k alone no group need have 2k records: it could be divided, and would not cost more. Demands are asked of whole
groups. They are closed under union, so records that do not meet them together cannot be divided into groups that do.

Effort is counted in *looks*: costs of a box with a record more. ``cells``, ``prices`` and ``asked`` are
:class:`Starts`, :class:`Prices` and :class:`Demands` of ``tuples/``; a block is a cell without its withheld records.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.bare import bare
from hedgerow.anonymization.kernels.codes import FAR, NOTHING
from hedgerow.anonymization.kernels.compiling import inner, kernel, part
from hedgerow.anonymization.kernels.demands import PEOPLE, clear, holds, take
from hedgerow.anonymization.kernels.diverse import total_lack
from hedgerow.anonymization.kernels.search_index import cost
from hedgerow.anonymization.kernels.tuples.exact import ExactDesk  # noqa: F401 - taken as an argument: see keeping.py
from hedgerow.anonymization.kernels.tuples.improving import Starts  # noqa: F401 - taken as an argument: see keeping.py


@kernel
def solve_cells(cells, codes, profile, place, prices, asked, desk, most, looks, lost, proven, progress, stop):
    """Find the best groups of the records of every cell that are in a group, if they are few enough.

    Parameters
    ----------
    cells, codes, profile
        Where cells, groups and profiles begin; codes of the profiles; profile of every unit.
    place
        Group of every unit, −1 in none; better ones are put in their place.
    desk
        Scratch space, see :mod:`desks`.
    most, looks
        Records of a block, at most; how much of an effort to make for each.
    lost
        What the groups of every cell lose. A cell that has FAR has no groups yet: its records are all to be in one.
    proven
        Whether no groups lose less; if that is known already, the cell is left as it is.
    progress, stop
        Units of cells that are solved, added to; a flag that ends the work early when set.
    """
    cells, codes, profile, place = bare(cells), bare(codes), bare(profile), bare(place)
    prices, asked, desk, lost, proven = bare(prices), bare(asked), bare(desk), bare(lost), bare(proven)
    progress, stop = bare(progress), bare(stop)
    for cell in range(cells.profile.size - 1):
        if stop[0] != 0:
            return
        first, last = cells.unit[cells.profile[cell]], cells.unit[cells.profile[cell + 1]]
        if proven[cell]:
            progress[0] += last - first
            continue
        n = np.int64(0)
        for r in range(first, last):
            if place[r] >= 0:
                if n < most:
                    desk.block.unit[n] = r
                n += 1
        if n > most or n == 0:
            continue
        q, fixed = _lay_out(n, codes, profile, prices, asked, desk.block)
        before = lost[cell]
        best, left = _divide(n, q, before if before == FAR else before - n * fixed, looks, asked, desk)
        proven[cell] = left >= 0
        if best < FAR and best + n * fixed < before:
            lost[cell] = best + n * fixed
            for i in range(n):
                place[desk.block.unit[i]] = cells.group[cell] + desk.best[i]
        if proven[cell]:
            progress[0] += last - first


@inner
def _lay_out(n, codes, profile, prices, asked, block):
    """Lay out the records of a block; returns how many attributes vary, and what the others cost."""
    unit, kind, rank, costs = block.unit, block.kind, block.rank, block.costs
    apart, near, scratch = block.apart, block.near, block.level
    q, size, fixed = np.int64(0), np.int64(0), np.int64(0)
    for j in range(codes.shape[1]):
        w = np.int64(0)  # different codes, ascending
        for r in range(n):
            code, i = np.int64(codes[profile[unit[r]], j]), np.int64(0)
            while i < w and scratch[i] < code:
                i += 1
            if i == w or scratch[i] != code:
                for x in range(w, i, -1):
                    scratch[x] = scratch[x - 1]
                scratch[i] = code
                w += 1
        if w < 2:
            fixed += cost(j, scratch[0], scratch[0], prices) if w else np.int64(0)
            continue
        for r in range(n):
            code, i = np.int64(codes[profile[unit[r]], j]), np.int64(0)
            while scratch[i] != code:
                i += 1
            rank[r, q] = i
        block.first_cost[q], block.codes[q] = size, w
        for a in range(w):
            for b in range(a, w):
                costs[size + a * w + b] = cost(j, scratch[a], scratch[b], prices)
        size += w * w
        q += 1
    for r in range(n):
        kind[r] = r
        for s in range(r):
            if kind[s] == s and _alike(unit[r], unit[s], profile, asked):
                kind[r] = s
                break
        for s in range(r + 1):
            apart[r, s] = apart[s, r] = _cost_of_two(r, s, q, block)
    for r in range(n):
        many = np.int64(0)
        for s in range(n):
            if s == r:
                continue
            i = many
            while i > 0 and (
                apart[r, near[r, i - 1]] > apart[r, s]
                or (apart[r, near[r, i - 1]] == apart[r, s] and kind[near[r, i - 1]] > kind[s])
            ):
                near[r, i] = near[r, i - 1]
                i -= 1
            near[r, i] = s
            many += 1
    return q, fixed


@inner
def _alike(a, b, profile, asked):
    """Tell whether two units can change places."""
    if profile[a] != profile[b]:
        return False
    if asked.person.size > 0 and asked.person[a] != asked.person[b]:
        return False
    alike = True
    for column in range(asked.sensitive.shape[1]):
        alike = alike and asked.sensitive[a, column] == asked.sensitive[b, column]
    return alike


@inner
def _cost_of_two(r, s, q, block):
    """Cost of the box of two records."""
    total = np.int64(0)
    for j in range(q):
        a, b = block.rank[r, j], block.rank[s, j]
        total += block.costs[block.first_cost[j] + min(a, b) * block.codes[j] + max(a, b)]
    return total


@part
def _cost_with(s, q, lower, upper, block):
    """Cost of a box with a record more."""
    total = np.int64(0)
    for j in range(q):
        rank = block.rank[s, j]
        total += block.costs[block.first_cost[j] + min(lower[j], rank) * block.codes[j] + max(upper[j], rank)]
    return total


@inner
def _widen(lower, upper, s, q, from_lower, from_upper, block):
    """Set a box to another with a record more."""
    for j in range(q):
        lower[j], upper[j] = min(from_lower[j], block.rank[s, j]), max(from_upper[j], block.rank[s, j])


@part
def _divide(n, q, best, looks, asked, desk):
    """Divide the records of a block so that they lose less than ``best``; returns the loss, and looks left.

    If looks left are negative, it is not proven that there is nothing better.
    """
    block, levels, frames, found = desk.block, desk.levels, desk.frames, desk.best
    kind, rank, near, level_of, apart = block.kind, block.rank, block.near, block.level, block.apart
    left, lost, floor, floors = levels.left, levels.lost, levels.floor, levels.floors
    dearest, pivot_floor = levels.dearest, levels.pivot_floor
    record, size, cost_of, within = frames.record, frames.size, frames.cost, frames.floors
    lower, upper, tried, many, turn = frames.lower, frames.upper, frames.tried, frames.many, frames.next
    listed, price, out, out_cost = frames.listed, frames.price, frames.out, frames.out_cost
    out_lower, out_upper = frames.out_lower, frames.out_upper
    k, plain = asked.k, asked.what == NOTHING
    for r in range(n):
        level_of[r] = -1
    looks = _least_costs(n, q, k, looks, desk)
    g, f, opening = np.int64(0), np.int64(-1), True  # the group, the frame on top, whether the group is to begin
    left[0], lost[0] = n, 0
    while g >= 0 and looks >= 0:
        rest = left[g]
        if opening:
            opening = False
            looks -= rest
            if looks < 0:
                break
            whole, more = _rest_as_one(n, q, g, rest, best, asked, desk)
            if whole < best:
                best = whole
                for r in range(n):
                    found[r] = level_of[r] if level_of[r] >= 0 else g
            pivot = _floors(n, g, asked, desk) if more else np.int64(-1)
            if pivot < 0 or lost[g] + floors[g] >= best:
                g -= 1
                continue
            f += 1
            level_of[pivot] = g
            record[f], size[f], cost_of[f], within[f] = pivot, 1, apart[pivot, pivot], floor[g, pivot]
            tried[f], turn[f], out[f], out_cost[f] = False, 0, 0, 0
            for j in range(q):
                lower[f, j] = upper[f, j] = rank[pivot, j]
            i = np.int64(0)
            for x in range(n - 1):
                s = near[pivot, x]
                if level_of[s] < 0:
                    listed[f, i], price[f, i] = s, apart[pivot, s]
                    i += 1
            many[f] = i
            continue

        m, two = size[f], rest < 3 * k
        if not tried[f]:
            tried[f] = True
            less = m >= k and rest - m >= k and lost[g] + m * cost_of[f] + floors[g] - within[f] < best
            if less and (plain or _holds(f, m, asked, desk)):
                left[g + 1], lost[g + 1] = rest - m, lost[g] + m * cost_of[f]
                g += 1
                opening = True
                continue
        i, further = turn[f], max(k - m, np.int64(1))
        grown = m < (min(rest - k, 2 * k - 1) if plain else rest - k) and i + further <= many[f]
        least = lost[g] + floors[g] - within[f]
        if grown:  # the group takes so many of these at least, hence costs as much as the last of them
            dear = max(pivot_floor[g], price[f, i + further - 1])
            grown = least - dearest[g, further] + max(m + 1, k) * dear < best
        if grown and two:
            grown = _two_left(f, m, cost_of[f], rest, k, desk) + lost[g] < best
        if not grown:
            level_of[record[f]] = -1
            f -= 1
            if m == 1:
                g -= 1
            continue

        s, worth = listed[f, i], price[f, i]
        after = i + 1
        while after < many[f] and kind[listed[f, after]] == kind[s]:
            after += 1
        turn[f] = after
        with_s = within[f] + floor[g, s]
        dear = max(pivot_floor[g], worth)
        fits = lost[g] + floors[g] - with_s - dearest[g, further - 1] + max(m + 1, k) * dear < best
        up = f + 1
        if fits:
            record[up], size[up], cost_of[up], within[up] = s, m + 1, worth, with_s
            tried[up], turn[up], out[up], out_cost[up] = False, 0, out[f], out_cost[f]
            _widen(lower[up], upper[up], s, q, lower[f], upper[f], block)
            if two:
                for j in range(q):
                    out_lower[up, j], out_upper[up, j] = out_lower[f, j], out_upper[f, j]
        if two:  # from now on they are left out here
            for x in range(i, after):
                _leave_out(f, listed[f, x], q, desk)
        if not fits:
            continue
        looks -= many[f] - i
        if looks < 0:
            break
        coming = max(k - m - 2, np.int64(0))  # beside s and the one that is listed
        least = lost[g] + floors[g] - with_s - dearest[g, coming]
        count = np.int64(0)
        for x in range(i + 1, many[f]):
            v = listed[f, x]
            worth = _cost_with(v, q, lower[up], upper[up], block)
            if least - floor[g, v] + max(m + 2, k) * max(pivot_floor[g], worth) < best:
                y = count
                while y > 0 and price[up, y - 1] > worth:
                    price[up, y], listed[up, y] = price[up, y - 1], listed[up, y - 1]
                    y -= 1
                price[up, y], listed[up, y] = worth, v
                count += 1
            elif two:
                _leave_out(up, v, q, desk)
        many[up] = count
        if two and lost[g] + _two_left(up, m + 1, cost_of[up], rest, k, desk) >= best:
            continue
        level_of[s] = g
        f = up
    return best, looks


@inner
def _least_costs(n, q, k, looks, desk):
    """Find what the cheapest k records cost as a group, for every record that is among them; returns looks left."""
    block, frames, least = desk.block, desk.frames, desk.levels.least
    rank, near, kind = block.rank, block.near, block.kind
    lower, upper, many, turn = frames.lower, frames.upper, frames.many, frames.next
    listed, price, record = frames.listed, frames.price, frames.record
    for r in range(n):
        least[r] = FAR if k > 1 else block.apart[r, r]
    for r in range(n):
        if k == 1:
            break
        if kind[r] != r:
            least[r] = least[kind[r]]
            continue
        f = np.int64(0)
        best = least[r]
        for j in range(q):
            lower[0, j] = upper[0, j] = rank[r, j]
        for x in range(n - 1):
            listed[0, x], price[0, x] = near[r, x], block.apart[r, near[r, x]]
        many[0], turn[0], record[0] = n - 1, 0, r
        while f >= 0 and looks >= 0:
            i, further = turn[f], k - 1 - f
            if i + further > many[f] or price[f, i + further - 1] >= best:
                f -= 1
                continue
            s = listed[f, i]
            after = i + 1
            while after < many[f] and kind[listed[f, after]] == kind[s]:
                after += 1
            turn[f] = after
            if further == 1:
                best = price[f, i]
                for x in range(f + 1):
                    least[record[x]] = min(least[record[x]], best)
                least[s] = min(least[s], best)
                f -= 1
                continue
            looks -= many[f] - i
            up = f + 1
            record[up], turn[up] = s, 0
            _widen(lower[up], upper[up], s, q, lower[f], upper[f], block)
            count = np.int64(0)
            for x in range(i + 1, many[f]):
                v = listed[f, x]
                worth = _cost_with(v, q, lower[up], upper[up], block)
                if worth < best:
                    y = count
                    while y > 0 and price[up, y - 1] > worth:
                        price[up, y], listed[up, y] = price[up, y - 1], listed[up, y - 1]
                        y -= 1
                    price[up, y], listed[up, y] = worth, v
                    count += 1
            many[up] = count
            f = up
    return looks


@inner
def _rest_as_one(n, q, g, rest, best, asked, desk):
    """Loss with all that is left as one group, FAR if it must not be; and whether there may be another way."""
    block, units = desk.block, desk.units
    level_of, rank = block.level, block.rank
    k, plain = asked.k, asked.what == NOTHING
    more, enough = rest >= 2 * k, rest >= k
    if not plain:
        i = np.int64(0)
        for r in range(n):
            if level_of[r] < 0:
                units[i] = block.unit[r]
                take(units[i], asked, i == 0)
                i += 1
        enough = _counted(asked)
        lack = total_lack(asked.histogram, asked.value_start, asked.overall, asked.models, asked.trees)
        clear(units, np.int64(0), rest, asked)
        more = more and enough and lack <= asked.models.column.size  # by more than what rounding could explain
        enough = enough and lack == 0
    if not enough or (plain and more):
        return np.int64(FAR), more
    total, lower, upper = np.int64(0), np.int64(0), np.int64(0)
    for j in range(q):
        lower, upper = block.codes[j], np.int64(0)
        for r in range(n):
            if level_of[r] < 0:
                lower, upper = min(lower, rank[r, j]), max(upper, rank[r, j])
        total += block.costs[block.first_cost[j] + lower * block.codes[j] + upper]
    return desk.levels.lost[g] + rest * total, more


@inner
def _counted(asked):
    """Tell whether the growing group has as many persons, and as many different values, as it must."""
    enough = asked.tally[PEOPLE] >= asked.k
    for column in range(asked.wanted.size):
        enough = enough and asked.tally[1 + column] >= asked.wanted[column]
    return enough


@inner
def _floors(n, g, asked, desk):
    """Work out what every record that is left costs at least; returns the dearest, or −1 if one finds no group."""
    block, levels, units = desk.block, desk.levels, desk.units
    level_of, near, apart = block.level, block.near, block.apart
    floor, dearest = levels.floor, levels.dearest
    k, plain = asked.k, asked.what == NOTHING
    pivot, sum_of_all, known = np.int64(-1), np.int64(0), np.int64(0)
    for r in range(n):
        if level_of[r] >= 0:
            continue
        reach, have, x = apart[r, r], np.int64(1), np.int64(0)
        enough = k == 1
        if not plain:
            units[0] = block.unit[r]
            take(units[0], asked, np.bool_(True))
            enough = _counted(asked)
        while not enough and x < n - 1:
            s = near[r, x]
            x += 1
            if level_of[s] >= 0:
                continue
            reach = apart[r, s]
            if not plain:
                units[have] = block.unit[s]
                take(units[have], asked, np.bool_(False))
            have += 1
            enough = have >= k if plain else _counted(asked)
        if not plain:
            clear(units, np.int64(0), have, asked)
        if not enough:
            return np.int64(-1)
        reach = max(reach, levels.least[r])
        floor[g, r] = reach
        sum_of_all += reach
        y = known  # the greatest come first
        while y > 0 and dearest[g, y] < reach:
            dearest[g, y + 1] = dearest[g, y]
            y -= 1
        dearest[g, y + 1] = reach
        known += 1
        if pivot < 0 or reach > floor[g, pivot]:
            pivot = np.int64(r)
    levels.floors[g], levels.pivot_floor[g] = sum_of_all, floor[g, pivot]
    dearest[g, 0] = 0
    for y in range(1, known):  # without the pivot's
        dearest[g, y] = dearest[g, y - 1] + dearest[g, y + 1]
    return pivot


@inner
def _holds(f, m, asked, desk):
    """Tell whether the group of a frame holds as it is."""
    for x in range(m):
        desk.units[x] = desk.block.unit[desk.frames.record[f - x]]
    return holds(desk.units, m, asked)


@inner
def _leave_out(f, s, q, desk):
    """Put a record into the other of the last two groups."""
    frames = desk.frames
    if frames.out[f] == 0:
        for j in range(q):
            frames.out_lower[f, j] = frames.out_upper[f, j] = desk.block.rank[s, j]
    else:
        _widen(
            frames.out_lower[f], frames.out_upper[f], s, q, frames.out_lower[f], frames.out_upper[f], desk.block
        )  # fmt: skip
    frames.out[f] += 1
    frames.out_cost[f] = _cost_with(s, q, frames.out_lower[f], frames.out_upper[f], desk.block)


@inner
def _two_left(f, m, cost_of, rest, k, desk):
    """Loss, at least, of the last two groups, given the box of what one has and that of what it leaves out."""
    out, out_cost = desk.frames.out[f], desk.frames.out_cost[f]
    mine, other = max(m, k), max(out, k)
    if mine + other > rest:
        return np.int64(FAR)
    return mine * cost_of + other * out_cost + (rest - mine - other) * min(cost_of, out_cost)
