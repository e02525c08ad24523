"""Regrouping pools of groups: the annealed part of the search for less loss.

A *pool* is a group that loses much and a few groups of near neighbours of its members. It is taken apart and grouped
anew: groups grow from random records by the cheapest extension, and what is left over joins the cheapest group, a new
one or any other near it. The new groups are kept if they lose less, or not much more: how much more is drawn by chance,
and falls to nothing as the search goes on.

Arrays travel in tuples:

- ``cell``: lower, upper (encoded codes by profile), profile (of every unit), first_unit (of every profile, and the
  total), near (neighbours of every profile), least (what a record of each profile costs at least);
- ``groups``: place (group of every unit, −1 in none), member (units by group), size, cost (per record), lower, upper
  (ends of the boxes), unused (numbers that are free), totals (how many of those; loss of all groups);
- ``asked``: k, what is asked beside it (NOTHING … EVERYTHING), person, stamp, sensitive, value_start, overall, models,
  trees (as in ``diverse.py``), wanted (different values by column), histogram, tally (of a growing group: PEOPLE, then
  different values by column), lasts (whether a group that holds still does with any unit added);
- ``pool``: scratch space, see :func:`new_pool`;
- ``chance``: state of the generator, as its only element.

A group that has more units than ``member`` has room for is *frozen*: its units are not listed, and nothing joins it.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from hedgerow.kernels.diverse import total_lack
from hedgerow.kernels.neighbours import dearest_step, price
from hedgerow.kernels.search_index import FAR, FREE, TABLE

NOTHING, VALUES, EVERYTHING = 0, 1, 2
UNUSED, LOSS = 0, 1
PEOPLE = 0
NOT_MET, TOO_DEAR = -1, -2
BREATH = 256  # tries between two looks at the stop flag
WINDOW = 1 << 16  # units among which bad groups are sought at a time, so that what is looked at stays in the cache
TOURNAMENT = 6
LARGEST_POOL = 6
CLOSE = 12  # neighbours whose groups may enter a pool
ONE_FEWER = 10  # percent of the tries that make one group fewer than they could
EAGER = 24  # sixteenths of its least cost that a hard record may gain on an easy one, at most
DRAWS = np.array([int(-math.log((i + 0.5) / 4096) * (1 << 20)) for i in range(4096)])  # exponential, in 1/2^20


# -- chance ----------------------------------------------------------------------------------------------------------


@nb.njit(nogil=True)
def new_chance(seed, first):
    """Start a generator from a seed and from what tells a cell from others: its first profile and its size."""
    x = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    for v in first:
        x = (x ^ np.uint64(v)) * np.uint64(0xBF58476D1CE4E5B9)
        x ^= x >> np.uint64(29)
    return np.array([x | np.uint64(1)])


@nb.njit(nogil=True, inline="always")
def _bits(chance):
    x = chance[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    chance[0] = x
    return x >> np.uint64(32)


@nb.njit(nogil=True, inline="always")
def below(chance, n):
    """Draw a number from 0 to n − 1."""
    return np.int64((_bits(chance) * np.uint64(n)) >> np.uint64(32))


# -- what is asked ---------------------------------------------------------------------------------------------------


@nb.njit(nogil=True)
def holds(units, many, asked):
    """Tell whether the first units of a list meet k and every model as a group."""
    k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, _, _ = asked
    if many < k:
        return False
    if what == NOTHING:
        return True
    if person.size > 0:
        people = 0
        stamp[-1] += 1
        for i in range(many):
            if stamp[person[units[i]]] != stamp[-1]:
                stamp[person[units[i]]] = stamp[-1]
                people += 1
        if people < k:
            return False
    met = True
    columns = wanted.size
    for i in range(many):
        for column in range(columns):
            v = sensitive[units[i], column]
            if v >= 0:
                histogram[value_start[column] + v] += 1
    if what == VALUES:
        for column in range(columns):
            different = 0
            for i in range(many):  # each value is counted once: where its count is turned over
                v = sensitive[units[i], column]
                if v >= 0 and histogram[value_start[column] + v] > 0:
                    histogram[value_start[column] + v] *= -1
                    different += 1
            if different < wanted[column]:
                met = False
    else:
        met = total_lack(histogram, value_start, overall, models, trees) == 0
    clear(units, 0, many, asked)
    return met


@nb.njit(nogil=True)
def clear(units, first, last, asked):
    """Empty the histogram of the values of some units."""
    sensitive, value_start, histogram = asked[4], asked[5], asked[10]
    for i in range(first, last):
        for column in range(sensitive.shape[1]):
            if sensitive[units[i], column] >= 0:
                histogram[value_start[column] + sensitive[units[i], column]] = 0


# -- the pool --------------------------------------------------------------------------------------------------------


@nb.njit(nogil=True)
def new_pool(q, room, k):
    """Scratch space for pools of groups of up to ``room`` units over q attributes.

    units, floor (least cost of each), lower and upper (by attribute that varies in the pool, and unit), part (cost of
    the growing group with each unit, by attribute), cost (all attributes together), goes (group that a unit left over
    joins); taken (groups of the pool), active (attributes that vary), whole (box of the pool); made, changed: lower,
    upper, size, cost and number (or start in the pool) of the groups that are made, and of those that units join.
    """
    most = LARGEST_POOL * room + 1
    new, old = most // k + 2, most + 1
    return (
        np.empty(most, np.int32), np.empty(most, np.int64), np.empty((q, most), np.uint32),
        np.empty((q, most), np.uint32), np.empty((q, most), np.int32), np.empty(most, np.int64),
        np.empty(most, np.int32), np.empty(LARGEST_POOL, np.int32), np.empty(q, np.int64), np.empty((2, q), np.uint32),
        (np.empty((new, q), np.uint32), np.empty((new, q), np.uint32), np.empty(new, np.int64),
         np.empty(new, np.int64), np.empty(new, np.int64), np.empty(new, np.int64)),
        (np.empty((old, q), np.uint32), np.empty((old, q), np.uint32), np.empty(old, np.int64),
         np.empty(old, np.int64), np.empty(old, np.int64)),
    )  # fmt: skip


@nb.njit(nogil=True)
def collect(c, close, mark, chance, taken, profile, first_unit, near, place, member, size, cost):
    """Choose groups near a group for a pool with it, and mark them; returns how many, and their loss."""
    room = member.shape[1]
    taken[0] = c
    mark[c] = -1
    many, loss = 1, np.int64(size[c]) * cost[c]
    want = 1 + below(chance, LARGEST_POOL)
    for _ in range(3 * want):
        if many == want:
            break
        r = member[c, below(chance, size[c])]
        v = near[profile[r], min(below(chance, close), below(chance, close))]
        if v < 0:
            continue
        other = place[first_unit[v] + below(chance, first_unit[v + 1] - first_unit[v])]
        if other < 0 or mark[other] < 0 or size[other] > room:
            continue
        mark[other] = -1
        taken[many] = other
        many += 1
        loss += np.int64(size[other]) * cost[other]
    return many, loss


@nb.njit(nogil=True)
def fill(
    many, taken, active, whole, units, floor, units_lower, units_upper,
    lower, upper, profile, least, member, size, box_lower, box_upper, kind, costs, prices,
):  # fmt: skip
    """Gather the units of the pool's groups, and the attributes that vary among them.

    Returns the number of units, the number of attributes, what the others cost, and the sum of the least costs.
    """
    attributes, fixed = 0, np.int64(0)
    for j in range(lower.shape[1]):
        a, b = box_lower[taken[0], j], box_upper[taken[0], j]
        constant = True
        for i in range(1, many):
            c = taken[i]
            constant = constant and box_lower[c, j] == a and box_upper[c, j] == b
            a, b = min(a, box_lower[c, j]), max(b, box_upper[c, j])
        whole[0, j], whole[1, j] = a, b
        worth = np.int64(costs[a + b]) if kind[j] == TABLE else price(j, a, b, prices)
        r = member[taken[0], 0]
        if worth == 0 or (constant and lower[profile[r], j] == a and upper[profile[r], j] == b):
            fixed += worth  # every unit has the same code, or all codes together cost nothing
        else:
            active[attributes] = j
            attributes += 1
    total, floors = 0, np.int64(0)
    for i in range(many):
        c = taken[i]
        for x in range(size[c]):
            r = member[c, x]
            v = profile[r]
            units[total], floor[total] = r, least[v]
            floors += least[v]
            for z in range(attributes):
                units_lower[z, total], units_upper[z, total] = lower[v, active[z]], upper[v, active[z]]
            total += 1
    return total, attributes, fixed, floors


@nb.njit(nogil=True)
def _swap(x, b, attributes, units, floor, lower, upper, part, cost):
    """Swap two units of the pool; the costs of the second go to the first, whose own are needed no more."""
    units[x], units[b] = units[b], units[x]
    floor[x], floor[b] = floor[b], floor[x]
    cost[x] = cost[b]
    for z in range(attributes):
        lower[z, x], lower[z, b] = lower[z, b], lower[z, x]
        upper[z, x], upper[z, b] = upper[z, b], upper[z, x]
        part[z, x] = part[z, b]


@nb.njit(nogil=True)
def _reprice(z, a, b, first, last, lower, upper, part, cost, kind, row, width, costs):
    """Work out anew what units cost in one attribute with a group whose ends are a and b."""
    if kind == TABLE:
        for y in range(first, last):
            worth = np.int64(costs[min(a, lower[z, y]) + max(b, upper[z, y])])
            cost[y] += worth - part[z, y]
            part[z, y] = worth
    elif kind == FREE:
        for y in range(first, last):
            worth = np.int64(max(b, upper[z, y])) - np.int64(min(a, lower[z, y]))
            cost[y] += worth - part[z, y]
            part[z, y] = worth
    else:
        for y in range(first, last):
            worth = dearest_step(np.int64(min(a, lower[z, y])), np.int64(max(b, upper[z, y])), row, width, costs)
            cost[y] += worth - part[z, y]
            part[z, y] = worth


# -- growing a group -------------------------------------------------------------------------------------------------


@nb.njit(nogil=True)
def _watch(r, asked, anew):
    """Count the person and the values of a unit that a growing group takes; ``anew``: as its first."""
    person, stamp, sensitive, value_start, histogram, tally = (
        asked[2],
        asked[3],
        asked[4],
        asked[5],
        asked[10],
        asked[11],
    )
    if anew:
        tally[:] = 0
        stamp[-1] += 1
    if person.size == 0:
        tally[PEOPLE] += 1
    elif stamp[person[r]] != stamp[-1]:
        stamp[person[r]] = stamp[-1]
        tally[PEOPLE] += 1
    for column in range(sensitive.shape[1]):
        v = sensitive[r, column]
        if v >= 0:
            if histogram[value_start[column] + v] == 0:
                tally[1 + column] += 1
            histogram[value_start[column] + v] += 1


@nb.njit(nogil=True)
def _most_wanted(asked):
    """Column that lacks most different values, and how many; −1 and 0 if none does."""
    wanted, tally = asked[9], asked[11]
    found, missing = -1, 0
    for column in range(wanted.size):
        if wanted[column] - tally[1 + column] > missing:
            found, missing = column, wanted[column] - tally[1 + column]
    return found, missing


@nb.njit(nogil=True)
def _met(asked):
    """Tell whether the growing group meets the models (k aside)."""
    what, value_start, overall, models, trees, histogram = (
        asked[1], asked[5], asked[6], asked[7], asked[8], asked[10]
    )  # fmt: skip
    if what == EVERYTHING and models[0].size > 0:
        return total_lack(histogram, value_start, overall, models, trees) == 0
    return _most_wanted(asked)[1] == 0


@nb.njit(nogil=True)
def _cheapest(cost, floor, first, last, eager):
    """Unit that it is best to take next; −1 if there is none."""
    found, best = np.int64(-1), np.int64(FAR)
    for y in range(first, last):
        key = 16 * cost[y] - eager * floor[y]
        if key < best:
            found, best = np.int64(y), key
    return found


@nb.njit(nogil=True)
def _cheapest_wanted(units, cost, floor, first, last, eager, lacking, asked):
    """Choose likewise for a group that lacks persons, values, or what a model asks for.

    As long as it lacks persons, only those of new ones are taken; once no more units are to come than values are
    missing, only those with a new value.
    """
    k, what, person, stamp, sensitive, value_start, overall, models, trees, _, histogram, tally, _ = asked
    column, missing = _most_wanted(asked)
    new_person = person.size > 0 and tally[PEOPLE] < k
    new_value = missing > 0 and lacking <= missing
    by_lack = what == EVERYTHING and lacking <= 0 and not new_person and not new_value
    found, best, least = np.int64(-1), np.int64(FAR), np.int64(FAR)
    for y in range(first, last):
        r = units[y]
        if new_person and stamp[person[r]] == stamp[-1]:
            continue
        if new_value and (sensitive[r, column] < 0 or histogram[value_start[column] + sensitive[r, column]] > 0):
            continue
        key, lack = 16 * cost[y] - eager * floor[y], np.int64(0)
        if by_lack:
            for i in range(sensitive.shape[1]):
                if sensitive[r, i] >= 0:
                    histogram[value_start[i] + sensitive[r, i]] += 1
            lack = total_lack(histogram, value_start, overall, models, trees)
            for i in range(sensitive.shape[1]):
                if sensitive[r, i] >= 0:
                    histogram[value_start[i] + sensitive[r, i]] -= 1
        if lack < least or (lack == least and key < best):
            found, best, least = np.int64(y), key, lack
    return found


@nb.njit(nogil=True)
def _grow(
    g, first, last, units, floor, lower, upper, part, cost, attributes, active, lowest, highest, fixed,
    kind, offset, width, costs, k, chance, eager, most,
):  # fmt: skip
    """Grow a group from a random unit of first … last − 1 until it has k; its units move to the front.

    The unit that extends the box most cheaply comes next. One that is costly wherever it goes is preferred to one that
    is not: ``eager`` sixteenths of its least cost count in its favour. Returns the end of the group
    and what it costs; or, in place of the end, TOO_DEAR if its loss would exceed ``most``.
    """
    # Written out: what _swap, _cheapest and _reprice do. Calls would take longer than the work.
    x, end, now = first + below(chance, last - first), first, np.int64(-1)
    for y in range(first, last):
        cost[y] = fixed
    while True:
        free = cost[x] == now
        now = cost[x]
        units[x], units[end] = units[end], units[x]
        floor[x], floor[end] = floor[end], floor[x]
        cost[x] = cost[end]
        for z in range(attributes):
            lower[z, x], lower[z, end] = lower[z, end], lower[z, x]
            upper[z, x], upper[z, end] = upper[z, end], upper[z, x]
            part[z, x] = part[z, end]
        end += 1
        if free and end - first < k:  # the box is as it was: others that lie in it cost nothing either
            x += 1
            while x < last and cost[x] != now:
                x += 1
            if x < last:
                continue
        alone = end - first == 1
        if not free:
            for z in range(attributes):
                a, b = lower[z, end - 1], upper[z, end - 1]
                if not alone:
                    if a >= lowest[g, z] and b <= highest[g, z]:
                        continue
                    a, b = min(a, lowest[g, z]), max(b, highest[g, z])
                lowest[g, z], highest[g, z] = a, b
                if end - first == k:
                    continue
                j = active[z]
                if alone:
                    for y in range(end, last):
                        part[z, y] = 0
                if kind[j] == TABLE:
                    for y in range(end, last):
                        worth = np.int64(costs[min(a, lower[z, y]) + max(b, upper[z, y])])
                        cost[y] += worth - part[z, y]
                        part[z, y] = worth
                else:
                    _reprice(z, a, b, end, last, lower, upper, part, cost, kind[j], offset[j], width[j], costs)
        if end - first == k:
            break
        x, best = end, np.int64(FAR)
        for y in range(end, last):
            key = 16 * cost[y] - eager * floor[y]
            if key < best:
                x, best = y, key
        if k * cost[x] > most:
            return np.int64(TOO_DEAR), now
    return np.int64(end), now


@nb.njit(nogil=True)
def _grow_asked(
    g, first, last, units, floor, lower, upper, part, cost, attributes, active, lowest, highest, fixed,
    kind, offset, width, costs, k, asked, chance, eager, most,
):  # fmt: skip
    """Grow a group from a random unit of first … last − 1 until it holds; its units move to the front.

    As :func:`_grow` does; NOT_MET in place of the end if what is asked cannot be met.
    """
    _swap(first + below(chance, last - first), first, attributes, units, floor, lower, upper, part, cost)
    for y in range(first, last):
        cost[y] = fixed
    for z in range(attributes):
        a, b = lower[z, first], upper[z, first]
        lowest[g, z], highest[g, z] = a, b
        for y in range(first, last):
            part[z, y] = 0
        j = active[z]
        _reprice(
            z, a, b, first, last, lower, upper, part, cost, kind[j], offset[j], width[j], costs
        )  # fmt: skip
    end, now = first + 1, cost[first]
    _watch(units[first], asked, True)
    complete, too_dear = False, False
    while end <= last:
        met = _met(asked)
        complete = met and asked[11][PEOPLE] >= k
        if complete or end == last:
            break
        if met and asked[2].size == 0:
            y = _cheapest(cost, floor, end, last, eager)
        else:
            y = _cheapest_wanted(units, cost, floor, end, last, eager, k - (end - first), asked)
        if y < 0:
            break
        if max(end - first + 1, k) * cost[y] > most:
            too_dear = True
            break
        now = cost[y]
        _swap(y, end, attributes, units, floor, lower, upper, part, cost)
        _watch(units[end], asked, False)
        end += 1
        for z in range(attributes):
            a, b = min(lowest[g, z], lower[z, end - 1]), max(highest[g, z], upper[z, end - 1])
            if a != lowest[g, z] or b != highest[g, z]:
                lowest[g, z], highest[g, z] = a, b
                j = active[z]
                _reprice(
                    z, a, b, end, last, lower, upper, part, cost, kind[j], offset[j], width[j], costs
                )  # fmt: skip
    clear(units, first, end, asked)
    if not complete:
        return np.int64(TOO_DEAR if too_dear else NOT_MET), now
    return np.int64(end), now


@nb.njit(nogil=True, inline="always")
def regroup(
    many, total, attributes, active, fixed, floors, limit, k, plain, asked, chance, room,
    units, floor, lower, upper, part, cost, lowest, highest, made_size, made_cost, made_start,
    kind, offset, width, costs,
):  # fmt: skip
    """Group the units of a pool anew; returns the number of groups, the end of their units, and their loss.

    Gives up, with −1 groups, as soon as the loss must exceed the limit: what is not grouped yet costs at least its
    floors.
    """
    eager = below(chance, EAGER + 1)
    want = total // k
    if (want * k == total and many == 1) or below(chance, 100) < ONE_FEWER:
        want -= 1
    first, lost, new = 0, np.int64(0), 0
    if floors >= limit:
        new, want = -1, 0
    for g in range(want):
        if total - first < k:
            break
        most = limit - lost
        if plain:
            end, now = _grow(
                g, first, total, units, floor, lower, upper, part, cost, attributes, active, lowest, highest, fixed,
                kind, offset, width, costs, k, chance, eager, most,
            )  # fmt: skip
        else:
            end, now = _grow_asked(
                g, first, total, units, floor, lower, upper, part, cost, attributes, active, lowest, highest, fixed,
                kind, offset, width, costs, k, asked, chance, eager, most,
            )  # fmt: skip
        if end < 0 or end - first > room:
            if end == TOO_DEAR or g == 0:
                new = -1
            break  # otherwise what is asked cannot be met with the rest, which joins the others
        made_size[g], made_cost[g], made_start[g] = end - first, now, first
        lost += (end - first) * now
        for y in range(first, end):
            floors -= floor[y]
        first = end
        new = g + 1
        if lost + floors > limit:
            new = -1
            break
    return new, first, lost


@nb.njit(nogil=True)
def place_rest(
    new, first, total, attributes, active, fixed, lost, limit, mark, stamps, chance,
    units, floor, units_lower, units_upper, goes, made_lower, made_upper, made_size, made_cost,
    old_lower, old_upper, old_size, old_cost, old_number,
    lower, upper, profile, first_unit, near, place, size, cost, box_lower, box_upper, room,
    kind, costs, prices,
):  # fmt: skip
    """Let the units left over each join the group whose loss grows least: a new one, or one of its neighbours'.

    Returns whether the loss must exceed the limit, how many groups outside the pool have changed, and the loss.
    """
    q, joined, failed = lower.shape[1], 0, False
    floors = np.int64(0)
    for y in range(first, total):
        floors += floor[y]
    for y in range(first, total):
        floors -= floor[y]
        best, chosen, chosen_cost, where = limit - lost - floors + 1, -1, np.int64(0), 0
        for g in range(new):
            if made_size[g] < room:
                worth = fixed
                for z in range(attributes):
                    a, b = min(made_lower[g, z], units_lower[z, y]), max(made_upper[g, z], units_upper[z, y])
                    j = active[z]
                    worth += costs[a + b] if kind[j] == TABLE else price(j, a, b, prices)
                rise = (made_size[g] + 1) * worth - made_size[g] * made_cost[g]
                if rise < best:
                    best, chosen, chosen_cost, where = rise, g, worth, 0
        v = profile[units[y]]
        for g in range(joined):
            if old_size[g] < room:
                worth = np.int64(0)
                for j in range(q):
                    a, b = min(old_lower[g, j], lower[v, j]), max(old_upper[g, j], upper[v, j])
                    worth += costs[a + b] if kind[j] == TABLE else price(j, a, b, prices)
                rise = (old_size[g] + 1) * worth - old_size[g] * old_cost[g]
                if rise < best:
                    best, chosen, chosen_cost, where = rise, g, worth, 1
        stamps[0] += 1
        for i in range(-1, near.shape[1]):
            w = v if i < 0 else near[v, i]
            if w < 0:
                break
            x = first_unit[w]
            if first_unit[w + 1] - x > 1:
                x += below(chance, first_unit[w + 1] - x)
            c = place[x]
            if c < 0 or mark[c] < 0 or mark[c] == stamps[0]:
                continue
            mark[c] = stamps[0]
            if size[c] >= room or cost[c] >= best:
                continue
            worth = np.int64(0)
            for j in range(q):
                a, b = min(box_lower[c, j], lower[v, j]), max(box_upper[c, j], upper[v, j])
                worth += costs[a + b] if kind[j] == TABLE else price(j, a, b, prices)
            rise = (np.int64(size[c]) + 1) * worth - np.int64(size[c]) * cost[c]
            if rise < best:
                best, chosen, chosen_cost, where = rise, c, worth, 2
        if chosen < 0:
            failed = True
            break
        lost += best
        if where == 0:
            goes[y] = chosen
            made_size[chosen] += 1
            made_cost[chosen] = chosen_cost
            for z in range(attributes):
                made_lower[chosen, z] = min(made_lower[chosen, z], units_lower[z, y])
                made_upper[chosen, z] = max(made_upper[chosen, z], units_upper[z, y])
            continue
        if where == 2:
            mark[chosen] = -1
            old_number[joined], old_size[joined] = chosen, size[chosen]
            for j in range(q):
                old_lower[joined, j], old_upper[joined, j] = box_lower[chosen, j], box_upper[chosen, j]
            chosen = joined
            joined += 1
        goes[y] = -1 - chosen
        old_size[chosen] += 1
        old_cost[chosen] = chosen_cost
        for j in range(q):
            old_lower[chosen, j] = min(old_lower[chosen, j], lower[v, j])
            old_upper[chosen, j] = max(old_upper[chosen, j], upper[v, j])
    return failed, joined, lost


@nb.njit(nogil=True)
def all_hold(member, size, units, goes, made_start, old_number, new, joined, first, total, asked):
    """Tell whether all groups that would be made or changed hold: for models that growth may break."""
    listed = np.empty(member.shape[1] + total, np.int32)
    for g in range(new + joined):
        many = 0
        if g < new:
            end = made_start[g + 1] if g + 1 < new else first
            for y in range(made_start[g], end):
                listed[many] = units[y]
                many += 1
        else:
            for x in range(size[old_number[g - new]]):
                listed[many] = member[old_number[g - new], x]
                many += 1
        wanted = g if g < new else new - 1 - g
        for y in range(first, total):
            if goes[y] == wanted:
                listed[many] = units[y]
                many += 1
        if not holds(listed, many, asked):
            return False
    return True


@nb.njit(nogil=True)
def settle(
    many, new, joined, first, total, attributes, active, taken, whole, units, goes,
    made_lower, made_upper, made_cost, made_start, numbers, old_lower, old_upper, old_cost, old_number,
    place, member, size, cost, box_lower, box_upper, unused, totals,
):  # fmt: skip
    """Replace the groups of the pool by the new ones, and fill in the numbers of these."""
    for i in range(many):
        size[taken[i]], cost[taken[i]] = 0, 0
        unused[totals[UNUSED]] = taken[i]
        totals[UNUSED] += 1
    for g in range(new):
        totals[UNUSED] -= 1
        c = unused[totals[UNUSED]]
        end = made_start[g + 1] if g + 1 < new else first
        for y in range(made_start[g], end):
            member[c, size[c]] = units[y]
            place[units[y]] = c
            size[c] += 1
        cost[c] = made_cost[g]
        for j in range(box_lower.shape[1]):
            box_lower[c, j], box_upper[c, j] = whole[0, j], whole[1, j]
        for z in range(attributes):
            box_lower[c, active[z]], box_upper[c, active[z]] = made_lower[g, z], made_upper[g, z]
        numbers[g] = c
    for g in range(joined):
        c = old_number[g]
        cost[c] = old_cost[g]
        for j in range(box_lower.shape[1]):
            box_lower[c, j], box_upper[c, j] = old_lower[g, j], old_upper[g, j]
    for y in range(first, total):
        c = numbers[goes[y]] if goes[y] >= 0 else old_number[-1 - goes[y]]
        member[c, size[c]] = units[y]
        place[units[y]] = c
        size[c] += 1


@nb.njit(nogil=True, inline="always")
def _excess(c, profile, least, member, size, cost):
    """What a group loses beyond the least that its members cost."""
    excess = np.int64(size[c]) * cost[c]
    if size[c] <= member.shape[1]:
        for x in range(size[c]):
            excess -= least[profile[member[c, x]]]
    return np.float32(excess)


@nb.njit(nogil=True)
def anneal(cell, groups, asked, prices, pool, chance, tries, heat, stop):
    """Try to regroup pools, so many times; ``heat`` is what a try may lose at first, in thousandths of a mean group."""
    kind, offset, width, costs = prices
    lower, upper, profile, first_unit, near, least = cell
    place, member, size, cost, box_lower, box_upper, unused, totals = groups
    units, floor, units_lower, units_upper, part, pool_cost, goes, taken, active, whole, made, old = pool
    made_lower, made_upper, made_size, made_cost, made_start, numbers = made
    old_lower, old_upper, old_size, old_cost, old_number = old
    k, plain, exact = asked[0], asked[1] == NOTHING, asked[1] == EVERYTHING
    n, room, capacity = place.size, member.shape[1], size.size
    close = min(CLOSE, near.shape[1])
    mark, stamps = np.zeros(capacity, np.int64), np.zeros(1, np.int64)
    excess, urgency = np.zeros(capacity, np.float32), np.zeros(capacity, np.float32)
    failures = np.zeros(capacity, np.float32)
    for c in range(capacity):
        if 0 < size[c] <= room:
            excess[c] = urgency[c] = _excess(c, profile, least, member, size, cost)
    window = min(WINDOW, n)
    sweeps = max(1, min(8, tries * k // (8 * n)))
    warmth, base = np.int64(0), 0
    for turn in range(tries):
        if turn % BREATH == 0:
            if stop[0] != 0:
                return
            mean = totals[LOSS] // max(capacity - totals[UNUSED], 1)
            warmth = mean * heat // 1000 * (tries - turn) // tries
            base = turn * sweeps % tries * n // tries
        c = np.int64(-1)
        for _ in range(TOURNAMENT):
            r = base + below(chance, window)
            other = np.int64(place[r if r < n else r - n])
            if other >= 0 and size[other] <= room and (c < 0 or urgency[other] > urgency[c]):
                c = other
        if c < 0 or cost[c] == 0:
            continue
        many, loss = collect(
            c, close, mark, chance, taken, profile, first_unit, near, place, member, size, cost
        )  # fmt: skip
        total, attributes, fixed, floors = fill(
            many, taken, active, whole, units, floor, units_lower, units_upper,
            lower, upper, profile, least, member, size, box_lower, box_upper, kind, costs, prices,
        )  # fmt: skip
        limit = loss
        if warmth > 0:
            limit += warmth * DRAWS[below(chance, DRAWS.size)] >> 20
        new, first, lost = regroup(
            many, total, attributes, active, fixed, floors, limit, k, plain, asked, chance, room,
            units, floor, units_lower, units_upper, part, pool_cost,
            made_lower, made_upper, made_size, made_cost, made_start, kind, offset, width, costs,
        )  # fmt: skip
        failed, joined = new < 0, 0
        if not failed:
            failed, joined, lost = place_rest(
                new, first, total, attributes, active, fixed, lost, limit, mark, stamps, chance,
                units, floor, units_lower, units_upper, goes, made_lower, made_upper, made_size, made_cost,
                old_lower, old_upper, old_size, old_cost, old_number,
                lower, upper, profile, first_unit, near, place, size, cost, box_lower, box_upper, room,
                kind, costs, prices,
            )  # fmt: skip
        for i in range(many):
            mark[taken[i]] = 0
        for g in range(joined):
            mark[old_number[g]] = 0
        if exact and not failed:
            failed = not all_hold(member, size, units, goes, made_start, old_number, new, joined, first, total, asked)
        if failed:
            failures[c] += 1
            urgency[c] = excess[c] / (1 + failures[c])
            continue
        totals[LOSS] += lost - loss
        worse = np.float32(failures[c] + 1 if lost >= loss else 0)
        settle(
            many, new, joined, first, total, attributes, active, taken, whole, units, goes,
            made_lower, made_upper, made_cost, made_start, numbers, old_lower, old_upper, old_cost, old_number,
            place, member, size, cost, box_lower, box_upper, unused, totals,
        )  # fmt: skip
        for g in range(new + joined):
            other = numbers[g] if g < new else old_number[g - new]
            excess[other] = _excess(other, profile, least, member, size, cost)
            failures[other] = worse
            urgency[other] = excess[other] / (1 + worse)
