"""Groups of least squared error: microaggregation, its annealed improvement, and exact answers where they are cheap.

``points`` has a row for every unit: whole numbers as floats, so that sums of them are exact. Units of a part of the
table stand together, ``start`` says where; the groups of a part are numbered from ``first_group`` on, of which there
are as many as k goes into its units. ``place`` is the group of every unit, −1 in none. See
``clustering/microaggregation.py`` for what is done, and why.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.bare import bare
from hedgerow.anonymization.kernels.chance import below
from hedgerow.anonymization.kernels.codes import NOTHING
from hedgerow.anonymization.kernels.compiling import inner, kernel, part
from hedgerow.anonymization.kernels.demands import holds
from hedgerow.anonymization.kernels.sorting import ranked

FAR_OFF = 1e300
BREATH = 1 << 14  # tries between two looks at the stop flag
COOLER = 0.875  # by what the warmth falls
STEPS = 44  # how often it falls: to a 350th
RUNGS = 1 << 12  # of the ladder of chances
MOVE, DISSOLVE = 10, 1  # of 32 tries, how many move a unit, and how many dissolve a group; the others swap


@inner
def _squared(points, a, b):
    """Squared distance of two units."""
    total = 0.0
    for j in range(points.shape[1]):
        step = points[a, j] - points[b, j]
        total += step * step
    return total


@kernel
def maximum_distance(points, start, first_group, k, place, stop):
    """MDAV (Domingo-Ferrer and Torra 2005): k units about the farthest from the centre, k about the farthest from it.

    The last 2k − 1 units or fewer are one group. Ties go to the first unit.
    """
    points, start, first_group, place = bare(points), bare(start), bare(first_group), bare(place)
    d = points.shape[1]
    for c in range(start.size - 1):
        if stop[0]:
            return
        left = np.empty(start[c + 1] - start[c], np.int64)
        for i in range(left.size):
            left[i] = start[c] + i
        many, group = left.size, first_group[c]
        centre, distance = np.empty(d), np.empty(many)
        while many >= 2 * k:
            for j in range(d):
                total = 0.0
                for i in range(many):
                    total += points[left[i], j]
                centre[j] = total / many
            twice = many >= 3 * k
            far = np.int64(-1)
            for side in range(2 if twice else 1):
                if side == 0:
                    greatest = -1.0
                    for i in range(many):
                        total = 0.0
                        for j in range(d):
                            step = points[left[i], j] - centre[j]
                            total += step * step
                        if total > greatest:
                            greatest, far = total, left[i]
                else:
                    greatest, other = -1.0, far
                    for i in range(many):
                        total = _squared(points, left[i], other)
                        if total > greatest:
                            greatest, far = total, left[i]
                for i in range(many):
                    distance[i] = _squared(points, left[i], far)
                for _ in range(k):
                    nearest = np.int64(0)
                    for i in range(many):
                        if distance[i] < distance[nearest]:
                            nearest = i
                    place[left[nearest]] = group
                    distance[nearest] = FAR_OFF
                kept = 0
                for i in range(many):
                    if distance[i] < FAR_OFF:
                        left[kept] = left[i]
                        kept += 1
                many = kept
                group += 1
        for i in range(many):
            place[left[i]] = group


@kernel
def nearest_units(points, start, near, stop):
    """Find the nearest other units of every unit in its part, the nearest first; −1 where there are no more."""
    points, start, near = bare(points), bare(start), bare(near)
    d, most = points.shape[1], near.shape[1]
    found = np.empty(most)
    for c in range(start.size - 1):
        for u in range(start[c], start[c + 1]):
            if stop[0]:
                return
            many = 0
            for v in range(start[c], start[c + 1]):
                if v == u:
                    continue
                limit = found[most - 1] if many == most else FAR_OFF
                total = 0.0
                for j in range(d):
                    step = points[u, j] - points[v, j]
                    total += step * step
                    if total >= limit:
                        break
                if total >= limit:
                    continue
                at = many if many < most else most - 1
                while at > 0 and found[at - 1] > total:
                    found[at] = found[at - 1]
                    near[u, at] = near[u, at - 1]
                    at -= 1
                found[at] = total
                near[u, at] = v
                if many < most:
                    many += 1
            for i in range(many, most):
                near[u, i] = -1


@kernel
def errors(points, start, first_group, place, error):
    """Squared error of every part; units that are in no group do not count."""
    points, start, first_group, place = bare(points), bare(start), bare(first_group), bare(place)
    d = points.shape[1]
    for c in range(start.size - 1):
        groups = first_group[c + 1] - first_group[c]
        total = 0.0
        sums, many = np.zeros((groups, d)), np.zeros(groups, np.int64)
        for u in range(start[c], start[c + 1]):
            g = place[u] - first_group[c]
            if g >= 0:
                many[g] += 1
                for j in range(d):
                    sums[g, j] += points[u, j]
        for u in range(start[c], start[c + 1]):
            g = place[u] - first_group[c]
            if g >= 0:
                for j in range(d):
                    step = points[u, j] - sums[g, j] / many[g]
                    total += step * step
        error[c] = total


@part
def _away(points, sums, size, square, u, g):
    """By how much the error of a group falls without one of its units."""
    many = size[g]
    if many == 1:
        return 0.0
    total = 0.0
    for j in range(points.shape[1]):
        step = points[u, j] - sums[g, j] / many
        total += step * step
    return total * many / (many - 1)


@part
def _growth(points, sums, size, u, g):
    """By how much the error of a group grows with one more unit."""
    many = size[g]
    total = 0.0
    for j in range(points.shape[1]):
        step = points[u, j] - sums[g, j] / many
        total += step * step
    return total * many / (many + 1)


@inner
def _leave(points, sums, size, square, member, at, squares, u, g):
    """Take a unit out of a group."""
    size[g] -= 1
    last = member[g, size[g]]
    member[g, at[u]] = last
    at[last] = at[u]
    square[g] -= squares[u]
    for j in range(points.shape[1]):
        sums[g, j] -= points[u, j]


@inner
def _join(points, sums, size, square, member, at, squares, place, u, g):
    """Put a unit into a group."""
    member[g, size[g]] = u
    at[u] = size[g]
    place[u] = g
    size[g] += 1
    square[g] += squares[u]
    for j in range(points.shape[1]):
        sums[g, j] += points[u, j]


@inner
def _would_hold(member, size, g, out, into, units, asked):
    """Tell whether a group still holds without one unit and with another; −1 stands for none."""
    many = 0
    for i in range(size[g]):
        if member[g, i] != out:
            units[many] = member[g, i]
            many += 1
    if into >= 0:
        units[many] = into
        many += 1
    return holds(units, many, asked)


@inner
def _split(points, sums, size, square, member, at, squares, place, g, free, k, units, asked):
    """Split a group of 2k or more where that lowers its error most, along the line of two units far apart."""
    many = size[g]
    one, greatest = member[g, 0], -1.0
    for i in range(many):
        total = 0.0
        for j in range(points.shape[1]):
            step = points[member[g, i], j] - sums[g, j] / many
            total += step * step
        if total > greatest:
            one, greatest = member[g, i], total
    other, greatest = one, -1.0
    for i in range(many):
        total = _squared(points, member[g, i], one)
        if total > greatest:
            other, greatest = member[g, i], total
    along, listed = np.empty(many), np.empty(many, np.int64)
    for i in range(many):
        listed[i] = member[g, i]
        along[i] = _squared(points, listed[i], one) - _squared(points, listed[i], other)
    order = ranked(along)
    d = points.shape[1]
    head = np.zeros(d)
    best, cut = -1.0, np.int64(-1)
    for i in range(many - k):
        for j in range(d):
            head[j] += points[listed[order[i]], j]
        here = i + 1
        if here >= k:
            worth = 0.0
            for j in range(d):
                rest = sums[g, j] - head[j]
                worth += head[j] * head[j] / here + rest * rest / (many - here)
            if worth > best:
                best, cut = worth, here
    if cut < 0:
        return False
    if asked.what != NOTHING:
        for i in range(cut):
            units[i] = listed[order[i]]
        if not holds(units, cut, asked):
            return False
        for i in range(cut, many):
            units[i - cut] = listed[order[i]]
        if not holds(units, many - cut, asked):
            return False
    for i in range(cut):
        u = listed[order[i]]
        _leave(points, sums, size, square, member, at, squares, u, g)
        _join(points, sums, size, square, member, at, squares, place, u, free)
    return True


@kernel
def anneal(points, start, first_group, near, place, asked, rooms, tries, heat, ladder, seeds, stop):
    """Swap units of groups that are near each other, move them, dissolve and split groups; at first uphill too.

    Parameters
    ----------
    near
        Nearest units of every unit, see :func:`nearest_units`.
    asked
        What must hold of groups beside k, see ``demands.py``.
    rooms
        The most units that a group may have, by part.
    tries
        How many for every unit.
    heat
        By how much a try may raise the error at first, as a multiple of the mean error of a unit.
    ladder
        Minus the logarithm of every chance that can be drawn.
    seeds
        Where the generator of every part starts.
    """
    points, start, first_group, near = bare(points), bare(start), bare(first_group), bare(near)
    place, rooms, ladder, seeds, asked = bare(place), bare(rooms), bare(ladder), bare(seeds), bare(asked)
    d, k, widest = points.shape[1], asked.k, np.int64(0)
    for c in range(rooms.size):
        widest = max(widest, rooms[c])
    chance = np.empty(1, np.uint64)
    squares, at = np.empty(points.shape[0]), np.zeros(points.shape[0], np.int64)
    units, goes = np.empty(2 * widest + 2, np.int64), np.empty(widest + 1, np.int64)
    groups = first_group[first_group.size - 1]
    sums, size, square = np.zeros((groups, d)), np.zeros(groups, np.int64), np.zeros(groups)
    member, unused = np.empty((groups, widest + 1), np.int64), np.empty(groups, np.int64)
    for c in range(start.size - 1):
        n, free, room = start[c + 1] - start[c], 0, rooms[c]
        close = min(near.shape[1], n - 1)
        if close < 1:
            continue
        chance[0] = seeds[c]
        error = 0.0
        for u in range(start[c], start[c + 1]):
            squares[u] = 0.0
            for j in range(d):
                squares[u] += points[u, j] * points[u, j]
            if place[u] >= 0:
                _join(points, sums, size, square, member, at, squares, place, u, place[u])
        for g in range(first_group[c + 1] - 1, first_group[c] - 1, -1):
            if size[g] == 0:
                unused[free] = g
                free += 1
            else:
                error += square[g]
                for j in range(d):
                    error -= sums[g, j] * sums[g, j] / size[g]
        warmth = heat * error / n
        turns = max(tries * n // STEPS, 1)
        for turn in range((STEPS + 1) * turns):
            if turn % BREATH == 0 and stop[0]:
                return
            if turn % turns == turns - 1:
                warmth = warmth * COOLER if turn < STEPS * turns - 1 else 0.0
            u = start[c] + below(chance, n)
            v = near[u, min(below(chance, close), below(chance, close))]
            if place[u] < 0 or place[v] < 0 or place[u] == place[v]:
                continue
            a, b = place[u], place[v]
            kind = below(chance, 32)
            limit = warmth * ladder[below(chance, RUNGS)]
            if kind < MOVE:
                if size[a] <= k or size[b] >= room:
                    continue
                if _growth(points, sums, size, u, b) - _away(points, sums, size, square, u, a) > limit:
                    continue
                if asked.what != NOTHING and not (
                    _would_hold(member, size, a, u, np.int64(-1), units, asked)
                    and (asked.lasts or _would_hold(member, size, b, np.int64(-1), u, units, asked))
                ):
                    continue
                _leave(points, sums, size, square, member, at, squares, u, a)
                _join(points, sums, size, square, member, at, squares, place, u, b)
            elif kind < MOVE + DISSOLVE:
                if size[a] > 2 * k or (asked.what != NOTHING and not asked.lasts):
                    continue
                lost, many = square[a], size[a]
                for j in range(d):
                    lost -= sums[a, j] * sums[a, j] / many
                placed = 0
                for i in range(many):
                    x = member[a, i]
                    best, least = np.int64(-1), FAR_OFF
                    for y in range(close):
                        g = place[near[x, y]]
                        if g < 0 or g == a or size[g] >= room:
                            continue
                        growth = _growth(points, sums, size, x, g)
                        if growth < least:
                            best, least = g, growth
                    if best < 0 or least - lost > limit:
                        break
                    lost -= least
                    units[placed] = x
                    goes[placed] = best
                    placed += 1
                    # The group grows at once, so that what follows sees it as it will be.
                    size[best] += 1
                    square[best] += squares[x]
                    for j in range(d):
                        sums[best, j] += points[x, j]
                for i in range(placed):
                    g, x = goes[i], units[i]
                    size[g] -= 1
                    square[g] -= squares[x]
                    for j in range(d):
                        sums[g, j] -= points[x, j]
                if placed < many:
                    continue
                for i in range(placed):
                    _leave(points, sums, size, square, member, at, squares, units[i], a)
                    _join(points, sums, size, square, member, at, squares, place, units[i], goes[i])
                unused[free] = a
                free += 1
                for i in range(placed):
                    b = goes[i]
                    if (
                        size[b] >= 2 * k
                        and free > 0
                        and _split(
                            points, sums, size, square, member, at, squares, place, b, unused[free - 1], k, units, asked
                        )
                    ):
                        free -= 1
                continue
            else:
                w = member[b, below(chance, size[b])]
                change = 0.0
                for j in range(d):
                    step = points[w, j] - points[u, j]
                    change += (-2.0 * sums[a, j] - step) * step / size[a] + (2.0 * sums[b, j] - step) * step / size[b]
                if change > limit:
                    continue
                if asked.what != NOTHING and not (
                    _would_hold(member, size, a, u, w, units, asked)
                    and _would_hold(member, size, b, w, u, units, asked)
                ):
                    continue
                _leave(points, sums, size, square, member, at, squares, u, a)
                _leave(points, sums, size, square, member, at, squares, w, b)
                _join(points, sums, size, square, member, at, squares, place, w, a)
                _join(points, sums, size, square, member, at, squares, place, u, b)
            if (
                size[b] >= 2 * k
                and free > 0
                and _split(points, sums, size, square, member, at, squares, place, b, unused[free - 1], k, units, asked)
            ):
                free -= 1


@kernel
def solve_small(points, start, first_group, asked, most, place, solved, stop):
    """Find the best groups of every part of few units by trying all of them; and of every part that is a line.

    A part is a line if its units differ in one coordinate only: then some best groups are runs of between k and 2k − 1
    units along it (Hansen and Mukherjee 2003), if nothing but k is asked. ``solved`` tells which parts were solved.
    """
    points, start, first_group, asked = bare(points), bare(start), bare(first_group), bare(asked)
    place, solved = bare(place), bare(solved)
    k, d = asked.k, points.shape[1]
    units = np.empty(most + 1, np.int64)
    for c in range(start.size - 1):
        if stop[0]:
            return
        first, n = start[c], start[c + 1] - start[c]
        inside = True
        for u in range(first, first + n):
            inside = inside and place[u] >= 0
        differs, along = 0, np.int64(0)
        for j in range(d):
            for u in range(first + 1, first + n):
                if points[u, j] != points[first, j]:
                    differs += 1
                    along = j
                    break
        if not inside:
            continue
        if differs <= 1 and asked.what == NOTHING:
            _solve_line(points, first, n, first_group[c], along, k, place)
            solved[c] = True
        elif n <= most:
            solved[c] = _solve_all(points, first, n, first_group[c], k, asked, units, place)


@inner
def _solve_line(points, first, n, group, along, k, place):
    """Cut units along a line into runs of least error: of all runs that end at a unit, the best goes on."""
    key = np.empty(n)
    for i in range(n):
        key[i] = points[first + i, along]
    order = ranked(key)
    total, squares = np.zeros(n + 1), np.zeros(n + 1)
    middle = key[order[n // 2]]  # sums stay small about it
    for i in range(n):
        x = key[order[i]] - middle
        total[i + 1] = total[i] + x
        squares[i + 1] = squares[i] + x * x
    least, begin = np.full(n + 1, FAR_OFF), np.zeros(n + 1, np.int64)
    least[0] = 0.0
    for end in range(k, n + 1):
        for size in range(k, min(2 * k, end + 1)):
            before = end - size
            if least[before] >= FAR_OFF:
                continue
            s = total[end] - total[before]
            error = least[before] + (squares[end] - squares[before]) - s * s / size
            if error < least[end]:
                least[end], begin[end] = error, before
    end = n
    while end > 0:
        for i in range(begin[end], end):
            place[first + order[i]] = group
        group += 1
        end = begin[end]


@inner
def _solve_all(points, first, n, group, k, asked, units, place):
    """Try all ways to put a few units into groups that hold: of every set of them, the best way with its first unit."""
    d, sets = points.shape[1], 1 << n
    sums, square, error = np.zeros((sets, d)), np.zeros(sets), np.full(sets, FAR_OFF)
    many = np.zeros(sets, np.int64)
    for s in range(1, sets):
        low = 0
        while not (s >> low) & 1:
            low += 1
        rest = s & (s - 1)
        many[s] = many[rest] + 1
        square[s] = square[rest]
        for j in range(d):
            x = points[first + low, j]
            sums[s, j] = sums[rest, j] + x
            square[s] += x * x
        if many[s] < k or (asked.what == NOTHING and many[s] >= 2 * k):
            continue
        if asked.what != NOTHING:
            listed = 0
            for i in range(n):
                if (s >> i) & 1:
                    units[listed] = first + i
                    listed += 1
            if not holds(units, listed, asked):
                continue
        error[s] = square[s]
        for j in range(d):
            error[s] -= sums[s, j] * sums[s, j] / many[s]
    least, taken = np.full(sets, FAR_OFF), np.zeros(sets, np.int64)
    least[0] = 0.0
    for s in range(1, sets):
        low = s & -s
        others = s ^ low
        some = others
        while True:
            mine = some | low
            if error[mine] < FAR_OFF and least[s ^ mine] < FAR_OFF and error[mine] + least[s ^ mine] < least[s]:
                least[s], taken[s] = error[mine] + least[s ^ mine], mine
            if some == 0:
                break
            some = (some - 1) & others
    s = sets - 1
    if least[s] >= FAR_OFF:
        return False
    while s > 0:
        for i in range(n):
            if (taken[s] >> i) & 1:
                place[first + i] = group
        group += 1
        s ^= taken[s]
    return True
