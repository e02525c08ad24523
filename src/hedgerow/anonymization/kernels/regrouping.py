"""Regrouping pools of groups: the annealed part of the search for less loss.

A *pool* is a group that loses much and a few groups of its members' partners and near neighbours. It is taken apart and
grouped anew: groups grow from random records by the cheapest extension, and what is left over joins the cheapest group,
a new one or one that a neighbour is in. The new groups are kept if they lose less, or not much more: how much more is
drawn by chance, and falls to nothing as the search goes on. A cell ends with the best grouping that it has had.

Profiles, units and groups are numbered through all cells. ``cells``, ``records``, ``groups`` and ``asked`` are
:class:`Starts`, :class:`Records`, :class:`UnitGroups` and :class:`Demands` of ``tuples/``. A group that has more units
than ``member`` has room for is *frozen*: its units are not listed, and nothing joins it. Costs are below 2^26 for all
attributes together, so that 16 times as much fits 32 bits.
"""

from __future__ import annotations

import math

import numpy as np

from hedgerow.anonymization.kernels.bare import bare
from hedgerow.anonymization.kernels.chance import below
from hedgerow.anonymization.kernels.codes import EVERYTHING, FREE, NOTHING, TABLE
from hedgerow.anonymization.kernels.compiling import inner, kernel, part
from hedgerow.anonymization.kernels.demands import clear, holds, is_choosy, met, most_wanted, take
from hedgerow.anonymization.kernels.desks import LARGEST_POOL
from hedgerow.anonymization.kernels.neighbours import NOWHERE, cost_with, dearest_step, price
from hedgerow.anonymization.kernels.tuples.improving import RegroupingDesk  # noqa: F401 - taken: see keeping.py

BREATH = 256  # tries between two looks at the stop flag
WINDOW = 1 << 16  # units among which bad groups are sought at a time, so that what is looked at stays in the cache
TOURNAMENT = 6
CLOSE = 12  # nearest neighbours whose groups may enter a pool, beside those of all partners
PARTNERS = 80  # percent of the draws that look among partners
ONE_FEWER = 10  # percent of the tries that make one group fewer than they could
EAGER = 8  # sixteenths of its floor that a hard record may gain on an easy one, at most
BLUR = 24  # 32nds by which a floor is made greater or less for that, at most
NEW, CHANGED, OUTSIDE = 0, 1, 2  # kinds of groups that a unit left over may join


@part
def _excess(c, profile, least, member, size, cost):
    """What a group loses beyond the least that its members cost."""
    excess = np.int64(size[c]) * cost[c]
    if size[c] <= member.shape[1]:
        for x in range(size[c]):
            excess -= least[profile[member[c, x]]]
    return np.float32(excess)


@inner
def warmth_of(mean, loss, heat, turn, tries):
    """What a try may lose on average: the less, the later it is and the less its pool and the cell lose a group."""
    share = heat * ((tries - turn) << 20) // (1000 * tries)
    return np.int64(math.sqrt(np.float64(mean) * np.float64(loss))) * share >> 20


@part
def _collect(c, chance, others, nearest, taken, mark, profile, first_unit, near, place, member, size, cost):
    """Choose groups for a pool with a group, and mark them; returns how many, and their loss."""
    room = member.shape[1]
    close, partners = min(CLOSE, nearest, others), min(near.shape[1] - nearest, others)
    taken[0] = c
    mark[c] = -1
    many, loss = 1, np.int64(size[c]) * cost[c]
    want = 1 + below(chance, LARGEST_POOL)
    for _ in range(3 * want):
        if many == want:
            break
        r = member[c, below(chance, size[c])]
        if below(chance, 100) < PARTNERS:
            v = near[profile[r], nearest + min(below(chance, partners), below(chance, partners))]
        else:
            v = near[profile[r], min(below(chance, close), below(chance, close))]
        if v >= 0:
            other = place[first_unit[v] + below(chance, first_unit[v + 1] - first_unit[v])]
            if other >= 0 and mark[other] >= 0 and size[other] <= room:
                mark[other] = -1
                taken[many] = other
                many += 1
                loss += np.int64(size[other]) * cost[other]
    return many, loss


@part
def _reprice(z, a, b, first, last, units_lower, units_upper, part, pool_cost, kind, row, width, costs):
    """Work out anew what units of the pool cost in one attribute with a group whose ends are a and b."""
    if kind == TABLE:
        for y in range(first, last):
            worth = costs[min(a, units_lower[z, y]) + max(b, units_upper[z, y])]
            pool_cost[y] += worth - part[z, y]
            part[z, y] = worth
    elif kind == FREE:
        for y in range(first, last):
            worth = np.int32(max(b, units_upper[z, y]) - min(a, units_lower[z, y]))
            pool_cost[y] += worth - part[z, y]
            part[z, y] = worth
    else:
        for y in range(first, last):
            lo, hi = np.int64(min(a, units_lower[z, y])), np.int64(max(b, units_upper[z, y]))
            worth = np.int32(dearest_step(lo, hi, row, width, costs))
            pool_cost[y] += worth - part[z, y]
            part[z, y] = worth


@kernel
def regroup_cells(cells, records, groups, prices, asked, desk, tries_each, heat, seeds, progress, stop):
    """Regroup pools of the groups of every cell, and end with the best grouping there was.

    In the end only the places of the units are right, not what else is known of the groups.

    Parameters
    ----------
    cells, records, groups, prices, asked
        See ``tuples/``.
    desk
        Scratch space, see :mod:`desks`.
    tries_each
        How often for every k units, by cell.
    heat
        What a try may lose at first, in thousandths of what a group loses: see :func:`warmth_of`.
    seeds
        Where the generator of every cell starts.
    progress, stop
        Units done so far, added to; a flag that ends the work early when set.
    """
    cells, records, groups, prices, asked = bare(cells), bare(records), bare(groups), bare(prices), bare(asked)
    desk, seeds, progress, stop = bare(desk), bare(seeds), bare(progress), bare(stop)
    cell_start, group_start, first_unit = cells.profile, cells.group, cells.unit
    lower, upper, profile = records.lower, records.upper, records.profile
    near, distance, least, nearest = records.near, records.distance, records.least, records.nearest
    place, member, size, cost = groups.place, groups.member, groups.size, groups.cost
    box_lower, box_upper = groups.lower, groups.upper
    kind, offset, width, costs = prices.kind, prices.offset, prices.width, prices.costs
    k, plain, exact = asked.k, asked.what == NOTHING, asked.what == EVERYTHING
    q, room = lower.shape[1], member.shape[1]
    by_group, pool, made, old = desk.by_group, desk.pool, desk.made, desk.changed
    chance, draws, mark, unused = by_group.chance, by_group.draws, by_group.mark, by_group.unused
    excess, urgency, failures = by_group.excess, by_group.urgency, by_group.failures
    kept, touched, is_touched = by_group.kept, by_group.touched, by_group.is_touched
    taken, active, whole, units = pool.taken, pool.active, pool.whole, pool.units
    floor, weight, goes, key, listed = pool.floor, pool.weight, pool.goes, pool.key, pool.listed
    pool_cost, part, units_lower, units_upper = pool.cost, pool.part, pool.units_lower, pool.units_upper
    made_lower, made_upper, made_size = made.lower, made.upper, made.size
    made_cost, made_start, number = made.cost, made.start, made.number
    old_lower, old_upper, old_size = old.lower, old.upper, old.size
    old_cost, old_number = old.cost, old.number

    for cell in range(cell_start.size - 1):
        begin = first_unit[cell_start[cell]]
        n = first_unit[cell_start[cell + 1]] - begin
        if n < 2 * k or tries_each[cell] == 0:
            progress[0] += n
            continue
        chance[0] = seeds[cell]
        others = cell_start[cell + 1] - cell_start[cell] - 1  # beside a profile; less than there is room for neighbours
        spare, stamp, total_loss = 0, np.int64(0), np.int64(0)
        for c in range(group_start[cell + 1] - 1, group_start[cell] - 1, -1):
            if size[c] == 0:
                unused[spare] = c
                spare += 1
            total_loss += np.int64(size[c]) * cost[c]
            if 0 < size[c] <= room:
                excess[c] = urgency[c] = _excess(c, profile, least, member, size, cost)
        tries = tries_each[cell] * n // k
        window = min(WINDOW, n)
        sweeps = max(1, min(8, tries_each[cell] // 8))
        base, reported = np.int64(0), np.int64(0)
        best_loss, touches = total_loss, np.int64(0)
        for turn in range(tries):
            if turn % BREATH == 0:
                if stop[0] != 0 or total_loss == 0:
                    break
                progress[0] += n * turn // tries - reported
                reported = n * turn // tries
                base = turn * sweeps % tries * n // tries
            c = np.int64(-1)
            for _ in range(TOURNAMENT):
                r = base + below(chance, window)
                other = np.int64(place[begin + (r if r < n else r - n)])
                if other >= 0 and size[other] <= room and (c < 0 or urgency[other] > urgency[c]):
                    c = other
            if c < 0 or cost[c] == 0:
                continue
            many, loss = _collect(
                c, chance, others, nearest, taken, mark, profile, first_unit, near, place, member, size, cost
            )  # fmt: skip

            # Gather the units of the pool's groups, and the attributes that vary among them; the others cost the same.
            attributes, fixed, v = 0, np.int32(0), profile[member[c, 0]]
            for j in range(q):
                a, b = box_lower[c, j], box_upper[c, j]
                for i in range(1, many):
                    a, b = min(a, box_lower[taken[i], j]), max(b, box_upper[taken[i], j])
                whole[0, j], whole[1, j] = a, b
                if lower[v, j] == a and upper[v, j] == b:
                    fixed += np.int32(price(j, a, b, prices))
                else:
                    active[attributes] = j
                    attributes += 1
            total, floors = np.int64(0), np.int64(0)
            for i in range(many):
                for x in range(size[taken[i]]):
                    r = member[taken[i], x]
                    v = profile[r]
                    units[total], floor[total] = r, least[v]
                    weight[total] = np.int32(np.int64(least[v]) * (32 - BLUR + below(chance, 2 * BLUR + 1)) >> 5)
                    floors += least[v]
                    for z in range(attributes):
                        units_lower[z, total], units_upper[z, total] = lower[v, active[z]], upper[v, active[z]]
                    total += 1
            mean = total_loss // (group_start[cell + 1] - group_start[cell] - spare)
            limit = loss + (warmth_of(mean, loss // many, heat, turn, tries) * draws[below(chance, draws.size)] >> 20)

            # Grow new groups, each from a random unit by the cheapest extension; a unit that is costly wherever it goes
            # is preferred to one that is not. Give up as soon as the loss must exceed the limit: what is not grouped
            # yet costs at least its floor.
            eager = np.int32(below(chance, EAGER + 1))
            want = total // k
            if (many == 1 and total == k) or below(chance, 100) < ONE_FEWER:
                want -= 1
            new, first, lost, failed = np.int64(0), np.int64(0), np.int64(0), floors >= limit
            while new < want and total - first >= k and not failed:
                x, end, now, complete = first + below(chance, total - first), first, np.int32(-1), False
                for y in range(first, total):
                    pool_cost[y] = fixed
                while x >= 0:
                    free = pool_cost[x] == now
                    now = pool_cost[x]
                    units[x], units[end] = units[end], units[x]
                    floor[x], floor[end] = floor[end], floor[x]
                    weight[x], weight[end] = weight[end], weight[x]
                    floors -= floor[end]
                    pool_cost[x] = pool_cost[end]
                    for z in range(attributes):
                        units_lower[z, x], units_lower[z, end] = units_lower[z, end], units_lower[z, x]
                        units_upper[z, x], units_upper[z, end] = units_upper[z, end], units_upper[z, x]
                        part[z, x] = part[z, end]
                    end += 1
                    choosy, complete = False, end - first >= k
                    if not plain:
                        take(units[end - 1], asked, end - first == 1)
                        complete = complete and met(asked)
                        choosy = not complete and is_choosy(k - (end - first), asked)
                    if free and not complete and not choosy:  # the box is as it was: others in it cost nothing either
                        x += 1
                        while x < total and pool_cost[x] != now:
                            x += 1
                        if x < total:
                            continue
                    if not free:
                        alone = end - first == 1
                        for z in range(attributes):
                            a, b = units_lower[z, end - 1], units_upper[z, end - 1]
                            if not alone:
                                if a >= made_lower[new, z] and b <= made_upper[new, z]:
                                    continue
                                a, b = min(a, made_lower[new, z]), max(b, made_upper[new, z])
                            made_lower[new, z], made_upper[new, z] = a, b
                            if complete:
                                continue
                            if alone:
                                for y in range(end, total):
                                    part[z, y] = 0
                            j = active[z]
                            _reprice(
                                z, a, b, end, total, units_lower, units_upper, part, pool_cost,
                                kind[j], offset[j], width[j], costs,
                            )  # fmt: skip
                    if complete or end == total:
                        break
                    if not choosy:
                        x, best_key = end, np.int32(NOWHERE)
                        for y in range(end, total):
                            mine = np.int32(np.int32(16) * pool_cost[y] - eager * weight[y])
                            if mine < best_key:
                                x, best_key = y, mine
                    else:
                        for y in range(end, total):
                            key[y] = np.int32(16) * pool_cost[y] - eager * weight[y]
                        x = most_wanted(units, key, end, total, k - (end - first), asked)
                    if x >= 0:
                        grown, rise = end - first + 1, np.int64(pool_cost[x])
                        if max(k * rise, grown * rise + floors - floor[x]) > limit - lost:
                            failed = True
                            break
                if not plain:
                    clear(units, first, end, asked)
                if failed or not complete or end - first > room:
                    failed = failed or new == 0
                    for y in range(first, end):
                        floors += floor[y]
                    break  # otherwise what is asked cannot be met with the rest, which joins the others
                made_size[new], made_cost[new], made_start[new] = end - first, now, first
                lost += (end - first) * np.int64(now)
                first = end
                new += 1
                failed = lost + floors > limit
            made_start[new] = first

            # Each unit left over joins the group whose loss grows least: a new one, one that another such unit has
            # joined, or one of its neighbours'.
            joined = np.int64(0)
            for y in range(first, total):
                if failed:
                    break
                floors -= floor[y]
                best, chosen, chosen_cost, where = limit - lost - floors + 1, np.int64(-1), np.int64(0), NEW
                for g in range(new):
                    if made_size[g] < room and made_cost[g] < best:
                        worth = np.int64(fixed)
                        for z in range(attributes):
                            a = min(made_lower[g, z], units_lower[z, y])
                            b = max(made_upper[g, z], units_upper[z, y])
                            worth += costs[a + b] if kind[active[z]] == TABLE else price(active[z], a, b, prices)
                        rise = (made_size[g] + 1) * worth - made_size[g] * made_cost[g]
                        if rise < best:
                            best, chosen, chosen_cost, where = rise, np.int64(g), worth, NEW
                v = profile[units[y]]
                for g in range(joined):
                    if old_size[g] < room:
                        worth = cost_with(g, v, old_lower, old_upper, lower, upper, kind, costs, prices)
                        rise = (old_size[g] + 1) * worth - old_size[g] * old_cost[g]
                        if rise < best:
                            best, chosen, chosen_cost, where = rise, np.int64(g), worth, CHANGED
                stamp += 1
                too_far = False
                for i in range(-1, near.shape[1]):
                    w, far = v, np.int64(0)
                    if i >= 0:
                        if too_far and i < nearest:
                            continue
                        w, far = near[v, i], np.int64(distance[v, i])
                        too_far = (
                            w < 0 or far >= best
                        )  # a group costs no less than two of its members: so much it grows
                        if too_far:
                            continue
                    x = first_unit[w]
                    if first_unit[w + 1] - x > 1:
                        x += below(chance, first_unit[w + 1] - x)
                    other = np.int64(place[x])
                    if other < 0 or mark[other] < 0 or mark[other] == stamp:
                        continue
                    mark[other] = stamp
                    here, each = np.int64(size[other]), np.int64(cost[other])
                    if here >= room or each >= best or far + max(far - each, 0) * here >= best:
                        continue
                    worth = cost_with(other, v, box_lower, box_upper, lower, upper, kind, costs, prices)
                    rise = (here + 1) * worth - here * each
                    if rise < best:
                        best, chosen, chosen_cost, where = rise, other, worth, OUTSIDE
                if chosen < 0:
                    failed = True
                    break
                lost += best
                if where == NEW:
                    goes[y] = chosen
                    made_size[chosen] += 1
                    made_cost[chosen] = chosen_cost
                    for z in range(attributes):
                        made_lower[chosen, z] = min(made_lower[chosen, z], units_lower[z, y])
                        made_upper[chosen, z] = max(made_upper[chosen, z], units_upper[z, y])
                    continue
                if where == OUTSIDE:
                    mark[chosen] = -1
                    old_number[joined], old_size[joined] = chosen, size[chosen]
                    for j in range(q):
                        old_lower[joined, j], old_upper[joined, j] = box_lower[chosen, j], box_upper[chosen, j]
                    chosen = np.int64(joined)
                    joined += 1
                goes[y] = -1 - chosen
                old_size[chosen] += 1
                old_cost[chosen] = chosen_cost
                for j in range(q):
                    old_lower[chosen, j] = min(old_lower[chosen, j], lower[v, j])
                    old_upper[chosen, j] = max(old_upper[chosen, j], upper[v, j])
            for i in range(many):
                mark[taken[i]] = 0
            for g in range(joined):
                mark[old_number[g]] = 0
            if exact and not failed:
                failed = not _all_hold(
                    member, size, units, goes, made_start, old_number, new, joined, total, listed, asked
                )  # fmt: skip
            if failed:
                failures[c] += 1
                urgency[c] = excess[c] / (1 + failures[c])
                continue

            # Replace the groups of the pool by the new ones, and remember whose group is not that of the best any more.
            total_loss += lost - loss
            for y in range(total):
                if not is_touched[units[y]]:
                    is_touched[units[y]] = True
                    touched[touches] = units[y]
                    touches += 1
            worse = np.float32(failures[c] + 1 if lost >= loss else 0)
            for i in range(many):
                size[taken[i]], cost[taken[i]] = 0, 0
                unused[spare] = taken[i]
                spare += 1
            for g in range(new):
                spare -= 1
                number[g] = unused[spare]
                other = number[g]
                for y in range(made_start[g], made_start[g + 1]):
                    member[other, size[other]] = units[y]
                    place[units[y]] = other
                    size[other] += 1
                cost[other] = made_cost[g]
                for j in range(q):
                    box_lower[other, j], box_upper[other, j] = whole[0, j], whole[1, j]
                for z in range(attributes):
                    box_lower[other, active[z]] = made_lower[g, z]
                    box_upper[other, active[z]] = made_upper[g, z]
            for g in range(joined):
                other = old_number[g]
                cost[other] = old_cost[g]
                for j in range(q):
                    box_lower[other, j], box_upper[other, j] = old_lower[g, j], old_upper[g, j]
            for y in range(first, total):
                other = number[goes[y]] if goes[y] >= 0 else old_number[-1 - goes[y]]
                member[other, size[other]] = units[y]
                place[units[y]] = other
                size[other] += 1
            for g in range(new + joined):
                other = number[g] if g < new else old_number[g - new]
                excess[other] = _excess(other, profile, least, member, size, cost)
                failures[other] = worse
                urgency[other] = excess[other] / (1 + worse)
            if total_loss < best_loss:
                best_loss = total_loss
                for i in range(touches):
                    kept[touched[i]] = place[touched[i]]
                    is_touched[touched[i]] = False
                touches = 0
        for i in range(touches):
            place[touched[i]] = kept[touched[i]] if total_loss > best_loss else place[touched[i]]
            is_touched[touched[i]] = False
        progress[0] += n - reported


@inner
def _all_hold(member, size, units, goes, made_start, old_number, new, joined, total, listed, asked):
    """Tell whether all groups that would be made or changed hold: for models that growth may break."""
    for g in range(new + joined):
        many = np.int64(0)
        if g < new:
            for y in range(made_start[g], made_start[g + 1]):
                listed[many] = units[y]
                many += 1
        else:
            for x in range(size[old_number[g - new]]):
                listed[many] = member[old_number[g - new], x]
                many += 1
        wanted = g if g < new else new - 1 - g
        for y in range(made_start[new], total):
            if goes[y] == wanted:
                listed[many] = units[y]
                many += 1
        if not holds(listed, many, asked):
            return False
    return True
