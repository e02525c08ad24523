"""Exchanging records between groups: exact steps that lower the loss, until a pass finds none.

For every unit the best of four steps is taken, if it lowers the loss: it *moves* to another group; it is *swapped*
with a unit of another group; it takes the place of a unit, which goes on to a third group (a *path*), or which takes
the place of a third unit, that comes back instead (a *cycle*). A unit leaves without a return only if its group still
holds.

Least and second least lower ends, and greatest and second greatest upper ends, make "the group without this unit"
cheap: the desk has the second ones. See ``regrouping.py`` for the other arrays.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.bare import bare
from hedgerow.anonymization.kernels.codes import FAR, NOTHING, TABLE
from hedgerow.anonymization.kernels.compiling import inner, kernel, part
from hedgerow.anonymization.kernels.demands import holds
from hedgerow.anonymization.kernels.neighbours import cost_with, price
from hedgerow.anonymization.kernels.tuples.improving import ExchangesDesk  # noqa: F401 - taken as an argument: see keeping.py

NO_STEP, MOVE, SWAP, PATH, CYCLE = range(5)
FIRST_GROUPS, SECOND_GROUPS = 30, 24  # groups of so many neighbours are looked at, nearest ones and partners in turn
GOOD_PLACES = 16  # of the places that the unit could take, those from which paths and cycles go on
LOOKED_AT = 24  # members of a group that may give way; of larger groups, so many from a place that moves on
NO_LOWER = np.uint32((1 << 32) - 1)


@kernel
def exchange_in_cells(cells, records, groups, prices, asked, desk, passes, stop):
    """Exchange records between the groups of every cell, so many times at most, by cell; see :mod:`desks`."""
    cells, records, groups = bare(cells), bare(records), bare(groups)
    prices, asked, desk = bare(prices), bare(asked), bare(desk)
    cell_start, group_start, first_unit = cells.profile, cells.group, cells.unit
    for cell in range(cell_start.size - 1):
        first, last = first_unit[cell_start[cell]], first_unit[cell_start[cell + 1]]
        if last - first < 2 * asked.k or passes[cell] == 0:
            continue
        for number in range(group_start[cell], group_start[cell + 1]):
            if 0 < groups.size[number] <= groups.member.shape[1]:
                _enclose(records, groups, desk, prices, number)
        stamp = np.int64(0)
        for _ in range(passes[cell]):
            gained, stamp = _exchange(first, last, first_unit, records, groups, asked, prices, desk, stamp, stop)
            if gained == 0 or stop[0] != 0:
                break


@inner
def _enclose(records, groups, desk, prices, c):
    """Work out a group's box, the second ends, and its cost from its members."""
    lower, upper, profile = records.lower, records.upper, records.profile
    member, size, cost, box_lower, box_upper = groups.member, groups.size, groups.cost, groups.lower, groups.upper
    total = np.int64(0)
    for j in range(lower.shape[1]):
        least, second_least = NO_LOWER, NO_LOWER
        most, second_most = np.uint32(0), np.uint32(0)
        for x in range(size[c]):
            a, b = lower[profile[member[c, x]], j], upper[profile[member[c, x]], j]
            if a < least:
                least, second_least = a, least
            elif a < second_least:
                second_least = a
            if b > most or x == 0:
                most, second_most = b, most
            elif b > second_most:
                second_most = b
        box_lower[c, j], box_upper[c, j] = least, most
        desk.least[c, j], desk.most[c, j] = second_least, second_most
        total += price(j, least, most, prices)
    cost[c] = total


@inner
def _replaced(c, z, v, limit, lower, upper, least, least2, most, most2, kind, costs, prices):
    """Cost of a group with profile v (−1: none) instead of a member of profile z; at least the limit if not below."""
    total = np.int64(0)
    for j in range(lower.shape[1]):
        a = least2[c, j] if lower[z, j] == least[c, j] else least[c, j]
        b = most2[c, j] if upper[z, j] == most[c, j] else most[c, j]
        if v >= 0:
            a, b = min(a, lower[v, j]), max(b, upper[v, j])
        total += costs[a + b] if kind[j] == TABLE else price(j, a, b, prices)
        if total >= limit:
            break
    return total


@inner
def _may(groups, asked, listed, c, out, into):
    """Tell whether a group holds without one unit and with another (−1: with none)."""
    many = np.int64(0)
    for x in range(groups.size[c]):
        if groups.member[c, x] != out:
            listed[many] = groups.member[c, x]
            many += 1
    if into >= 0:
        listed[many] = into
        many += 1
    return holds(listed, many, asked)


@inner
def _grows(groups, asked, listed, c, into):
    """Tell whether a group holds with one more unit."""
    return asked.lasts or _may(groups, asked, listed, c, np.int64(-1), into)


@part
def _groups_near(v, many, mark, stamp, found, first_unit, near, nearest, place, size, room):
    """List the groups of a profile's neighbours that do not bear the mark; returns how many."""
    total = 0
    for i in range(-1, many):
        w = v
        if i >= 0:
            column = (i >> 1) + (nearest if i & 1 else 0)
            if column >= (near.shape[1] if i & 1 else nearest):
                continue
            w = near[v, column]
        c = np.int64(-1) if w < 0 else np.int64(place[first_unit[w]])
        if c >= 0 and mark[c] != stamp and size[c] <= room:
            mark[c] = stamp
            found[total] = c
            total += 1
    return total


@part
def _drop(groups, r):
    place, member, size = groups.place, groups.member, groups.size
    c = place[r]
    size[c] -= 1
    for x in range(size[c]):
        if member[c, x] == r:
            member[c, x] = member[c, size[c]]
            break


@part
def _put(groups, r, c):
    place, member, size = groups.place, groups.member, groups.size
    member[c, size[c]] = r
    size[c] += 1
    place[r] = c


@part
def _exchange(first, last, first_unit, records, groups, asked, prices, desk, stamp, stop):
    """Go over the units of a cell once and take the steps that lower the loss; returns by how much, and the stamp."""
    kind, costs = prices.kind, prices.costs
    lower, upper, profile = records.lower, records.upper, records.profile
    near, nearest = records.near, records.nearest
    place, member, size = groups.place, groups.member, groups.size
    cost, least, most = groups.cost, groups.lower, groups.upper
    least2, most2, mark, listed = desk.least, desk.most, desk.mark, desk.listed
    plain = asked.what == NOTHING
    room, k = member.shape[1], asked.k
    first_groups, second_groups = np.empty(FIRST_GROUPS + 1, np.int64), np.empty(SECOND_GROUPS + 1, np.int64)
    good_group, good_unit = np.empty(GOOD_PLACES, np.int64), np.empty(GOOD_PLACES, np.int64)
    good_rise = np.empty(GOOD_PLACES, np.int64)
    gained = np.int64(0)
    for r in range(first, last):
        if stop[0] != 0:
            break
        own = np.int64(place[r])
        if own < 0 or size[own] > room or cost[own] == 0 or size[own] < 2:
            continue
        v, own_size = profile[r], np.int64(size[own])
        nobody, far = np.int32(-1), np.int64(FAR)
        without = _replaced(own, v, nobody, far, lower, upper, least, least2, most, most2, kind, costs, prices)
        gain = own_size * (cost[own] - without)  # that a replacement of the unit can gain in its own group
        may_leave = own_size > k
        if gain == 0 and not may_leave:
            continue
        if may_leave and not plain:
            may_leave = _may(groups, asked, listed, own, r, np.int64(-1))
        leaving = own_size * cost[own] - (own_size - 1) * without
        stamp += 1
        mark[own] = stamp
        best, step = np.int64(0), NO_STEP
        group1, unit1, group2, unit2 = np.int64(-1), np.int64(-1), np.int64(-1), np.int64(-1)
        good = 0
        for i in range(
            _groups_near(v, FIRST_GROUPS, mark, stamp, first_groups, first_unit, near, nearest, place, size, room)
        ):
            c = first_groups[i]
            many = np.int64(size[c])
            if may_leave:
                change = (
                    (many + 1) * cost_with(c, v, least, most, lower, upper, kind, costs, prices)
                    - many * cost[c]
                    - leaving
                )
                if change < best and size[c] < room and (plain or _grows(groups, asked, listed, c, r)):
                    best, step, group1 = change, MOVE, c
            ceiling = gain if good < GOOD_PLACES else min(gain, good_rise[good - 1])
            limit = cost[c] + ceiling // many + 1
            for x in range(min(many, LOOKED_AT)):
                z = np.int64(member[c, (x + r - first) % many if many > LOOKED_AT else x])
                now = _replaced(
                    c, profile[z], v, limit, lower, upper, least, least2, most, most2, kind, costs, prices
                )  # fmt: skip
                rise = many * (now - cost[c])
                if now >= limit or rise >= gain or not (plain or _may(groups, asked, listed, c, z, r)):
                    continue
                ceiling = cost[own] + (best - rise) // own_size + 1
                change = _replaced(
                    own, v, profile[z], ceiling, lower, upper, least, least2, most, most2, kind, costs, prices
                )  # fmt: skip
                change = rise + own_size * (change - cost[own])
                if change < best and (plain or _may(groups, asked, listed, own, r, z)):
                    best, step, group1, unit1 = change, SWAP, c, z
                if good < GOOD_PLACES or rise < good_rise[good - 1]:
                    good = min(good + 1, GOOD_PLACES)
                    p = good - 1
                    while p > 0 and good_rise[p - 1] > rise:
                        good_rise[p], good_group[p], good_unit[p] = (
                            good_rise[p - 1],
                            good_group[p - 1],
                            good_unit[p - 1],
                        )
                        p -= 1
                    good_rise[p], good_group[p], good_unit[p] = rise, c, z
                    if good == GOOD_PLACES:
                        limit = cost[c] + min(gain, good_rise[good - 1]) // many + 1
        for h in range(good):
            rise, z = good_rise[h], good_unit[h]
            if rise - gain >= best and not may_leave:
                break
            stamp += 1
            mark[own] = mark[good_group[h]] = stamp
            for i in range(
                _groups_near(
                    profile[z], SECOND_GROUPS, mark, stamp, second_groups, first_unit, near, nearest, place, size, room
                )
            ):
                c = second_groups[i]
                many = np.int64(size[c])
                if may_leave:
                    change = (
                        (many + 1) * cost_with(c, profile[z], least, most, lower, upper, kind, costs, prices)
                        - many * cost[c]
                        - leaving
                        + rise
                    )
                    if change < best and size[c] < room and (plain or _grows(groups, asked, listed, c, z)):
                        best, step, group1, unit1, group2 = change, PATH, good_group[h], z, c
                limit = cost[c] + (gain - rise + best) // many + 1
                for x in range(min(many, LOOKED_AT)):
                    w = np.int64(member[c, (x + r - first) % many if many > LOOKED_AT else x])
                    now = _replaced(
                    c, profile[w], profile[z], limit, lower, upper, least, least2, most, most2, kind, costs, prices
                )  # fmt: skip
                    if now >= limit:
                        continue
                    further = rise + many * (now - cost[c])
                    ceiling = cost[own] + (best - further) // own_size + 1
                    change = _replaced(
                    own, v, profile[w], ceiling, lower, upper, least, least2, most, most2, kind, costs, prices
                )  # fmt: skip
                    change = further + own_size * (change - cost[own])
                    if change < best and (
                        plain or (_may(groups, asked, listed, own, r, w) and _may(groups, asked, listed, c, w, z))
                    ):
                        best, step, group1, unit1, group2, unit2 = change, CYCLE, good_group[h], z, c, w
                        limit = cost[c] + (gain - rise + best) // many + 1
        if step == NO_STEP:
            continue
        gained -= best
        _drop(groups, r)
        if step != MOVE:
            _drop(groups, unit1)
        if step == CYCLE:
            _drop(groups, unit2)
            _put(groups, unit2, own)
        _put(groups, r, group1)
        if step == SWAP:
            _put(groups, unit1, own)
        elif step != MOVE:
            _put(groups, unit1, group2)
            _enclose(records, groups, desk, prices, group2)
        _enclose(records, groups, desk, prices, own)
        _enclose(records, groups, desk, prices, group1)
    return gained, stamp
