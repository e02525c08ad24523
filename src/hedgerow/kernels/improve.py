"""Lower loss for the groups of cells: an annealed search that regroups, then exact exchanges.

The groups of a cell never lose more than at the start: if a search ends with more, the start is kept. Effort is a
number of tries, never a time, and every cell has a generator of its own, so the answer is the same for any number of
threads.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from numba.core import cgutils
from numba.extending import intrinsic

from hedgerow.kernels.exchanges import enclose, exchange
from hedgerow.kernels.neighbours import encode, nearest, price
from hedgerow.kernels.regrouping import LOSS, UNUSED, anneal, holds, new_chance, new_pool

WINDOW = 4  # profiles before and after that a search for neighbours starts with


@nb.njit(nogil=True, cache=True)
def improve_cells(
    codes, unit_start, cell_start, first_cell, last_cell, group_start, prices, asked, effort, seed,
    group_of, box_lo, box_hi, group_size, losses, progress, stop,
):  # fmt: skip
    """Lower the loss of the groups of the cells first_cell … last_cell − 1.

    Parameters
    ----------
    codes, unit_start, cell_start, group_start, prices
        As in ``k_member.cluster_cells``.
    asked
        As in ``regrouping.py``, for all units; what is scratch space there belongs to one thread.
    effort
        Tries for every k units, neighbours of a profile, nodes that a search for them looks at, thousandths of a mean
        group that a try may lose at first, and passes of exchanges.
    seed
        Where the generators start.
    group_of
        Group of every unit, in any numbers; numbered anew, by cell and by first unit. A unit in none (−1) stays so.
    box_lo, box_hi, group_size
        Results: box and size of every group.
    losses
        Results: loss of every cell before and after; of cells too small for two groups, 0.
    progress, stop
        Units done so far, added to; a flag that ends the work early when set.
    """
    for cell in range(first_cell, last_cell):
        first, last = cell_start[cell], cell_start[cell + 1]
        begin, end = unit_start[first], unit_start[last]
        place = _numbered(group_of[begin:end])
        starts = unit_start[first : last + 1] - unit_start[first]
        if stop[0] == 0 and end - begin >= 2 * asked[0]:
            start = place.copy()
            here = _of_units(asked, begin, end)
            before, after = _improve(codes[first:last], starts, place, prices, here, effort, seed, stop)
            if after >= before:
                place[:], after = start, before
            losses[cell, 0], losses[cell, 1] = before, after
            place = _numbered(place)
        group_of[begin:end] = np.where(place < 0, -1, place + group_start[cell])
        _enclose_all(codes[first:last], starts, place, group_start[cell], box_lo, box_hi, group_size)
        progress[0] += end - begin


@nb.njit(nogil=True)
def _numbered(place):
    """Number groups in the order of their first units."""
    number = {np.int64(-1): np.int64(-1)}
    out = np.empty(place.size, np.int64)
    for unit in range(place.size):
        c = np.int64(place[unit])
        if c not in number:
            number[c] = np.int64(len(number) - 1)
        out[unit] = number[c]
    return out


@nb.njit(nogil=True)
def _of_units(asked, begin, end):
    """What is asked, for some of the units."""
    k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, tally, lasts = asked
    who = person[begin:end] if person.size > 0 else person
    return (
        k, what, who, stamp, sensitive[begin:end], value_start, overall, models, trees, wanted, histogram, tally, lasts
    )  # fmt: skip


@nb.njit(nogil=True)
def _enclose_all(codes, starts, place, first_group, box_lo, box_hi, group_size):
    """Fill boxes and sizes of the groups of a cell."""
    for r in range(codes.shape[0]):
        for unit in range(starts[r], starts[r + 1]):
            if place[unit] < 0:
                continue
            c = first_group + place[unit]
            for j in range(codes.shape[1]):
                v = codes[r, j]
                box_lo[c, j] = v if group_size[c] == 0 else min(box_lo[c, j], v)
                box_hi[c, j] = v if group_size[c] == 0 else max(box_hi[c, j], v)
            group_size[c] += 1


@nb.njit(nogil=True)
def _improve(codes, starts, place, prices, asked, effort, seed, stop):
    """Improve one cell; returns its loss before and after."""
    tries, many, patience, heat, passes = effort
    n, q = codes.shape
    units, k = place.size, asked[0]
    capacity, room = units // k + 1, 3 * k
    lower, upper = encode(codes, prices)
    counts = np.diff(starts)
    near, least = _neighbours(lower, upper, counts, prices, k, many, patience)
    cell = (lower, upper, np.repeat(np.arange(n).astype(np.int32), counts), starts, near, least)
    groups = (
        np.full(units, np.int32(-1)), np.empty((capacity, room), np.int32), np.zeros(capacity, np.int32),
        np.zeros(capacity, np.int64), np.zeros((capacity, q), np.uint32), np.zeros((capacity, q), np.uint32),
        np.empty(capacity, np.int32), np.zeros(2, np.int64),
    )  # fmt: skip
    seconds = (np.zeros((capacity, q), np.uint32), np.zeros((capacity, q), np.uint32))
    before = _found(cell, groups, seconds, asked, prices, place)
    chance = new_chance(seed, np.append(codes[0].astype(np.int64), np.int64(units)))
    pool = new_pool(q, room, k)
    _search(cell, groups, seconds, asked, prices, pool, chance, tries * units // k, heat, passes, stop)
    place[:] = groups[0]
    return before, groups[7][LOSS]


# Numba counts the references to an array, one atomic step up and one down, whenever a function is handed it or takes it
# out of a tuple; in functions as small and as often called as these that takes longer than the work. It does not count
# references to arrays whose memory it does not own. So the two functions below hand bare views on. Whoever calls them
# keeps the arrays until they return.


@intrinsic
def bare(_, array):
    """A view of an array without a count of references; it must not outlive the array."""

    def build(context, builder, _, arguments):
        view = context.make_array(array)(context, builder, value=arguments[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), build


@nb.njit(nogil=True)
def _neighbours(lower, upper, counts, prices, k, many, patience):
    """Find the nearest profiles of every profile."""
    return nearest(bare(lower), bare(upper), bare(counts), _bare_prices(prices), k, many, WINDOW, patience)


@nb.njit(nogil=True)
def _search(cell, groups, seconds, asked, prices, pool, chance, tries, heat, passes, stop):
    """Regroup, then exchange."""
    a, b, c, d, e, f = cell
    cell_views = (bare(a), bare(b), bare(c), bare(d), bare(e), bare(f))
    a, b, c, d, e, f, g, h = groups
    group_views = (bare(a), bare(b), bare(c), bare(d), bare(e), bare(f), bare(g), bare(h))
    second_views = (bare(seconds[0]), bare(seconds[1]))
    tables = _bare_prices(prices)
    asked_views = _bare_asked(asked)
    anneal(cell_views, group_views, asked_views, tables, _bare_pool(pool), bare(chance), tries, heat, stop)
    size, room = groups[2], groups[1].shape[1]
    for number in range(size.size):
        if 0 < size[number] <= room:
            enclose(cell_views, group_views, second_views, tables, number)
    for _ in range(passes):
        if exchange(cell_views, group_views, asked_views, tables, second_views, stop) == 0:
            break


@nb.njit(nogil=True)
def _bare_prices(prices):
    kind, offset, width, costs = prices
    return bare(kind), bare(offset), bare(width), bare(costs)


@nb.njit(nogil=True)
def _bare_asked(asked):
    k, what, person, stamp, sensitive, value_start, overall, models, trees, wanted, histogram, tally, lasts = asked
    a, b, c, d, e = models
    t, u, v, w, x = trees
    return (
        k, what, bare(person), bare(stamp), bare(sensitive), bare(value_start), bare(overall),
        (bare(a), bare(b), bare(c), bare(d), bare(e)), (bare(t), bare(u), bare(v), bare(w), bare(x)),
        bare(wanted), bare(histogram), bare(tally), lasts,
    )  # fmt: skip


@nb.njit(nogil=True)
def _bare_pool(pool):
    """The scratch space of a pool, as bare views."""
    units, floor, lower, upper, part, cost, goes, taken, active, whole, made, old = pool
    a, b, c, d, e, f = made
    t, u, v, w, x = old
    return (
        bare(units), bare(floor), bare(lower), bare(upper), bare(part), bare(cost), bare(goes), bare(taken),
        bare(active), bare(whole), (bare(a), bare(b), bare(c), bare(d), bare(e), bare(f)),
        (bare(t), bare(u), bare(v), bare(w), bare(x)),
    )  # fmt: skip


@nb.njit(nogil=True)
def _found(cell, groups, seconds, asked, prices, place):
    """Enter the groups of a cell, large ones cut along the order of their units; returns their loss before cutting.

    The box of a part lies within the box of the whole, so cutting never raises the loss.
    """
    member, size, cost, unused, totals = groups[1], groups[2], groups[3], groups[6], groups[7]
    room = member.shape[1]
    found = place.max() + 1
    start = np.zeros(found + 1, np.int64)
    for unit in range(place.size):
        if place[unit] >= 0:
            start[place[unit] + 1] += 1
    for c in range(found):
        start[c + 1] += start[c]
    units, at = np.empty(start[found], np.int32), start[:-1].copy()
    for unit in range(place.size):
        if place[unit] >= 0:
            units[at[place[unit]]] = unit
            at[place[unit]] += 1
    used, before = 0, np.int64(0)
    for c in range(found):
        mine = units[start[c] : start[c + 1]]
        before += mine.size * _cost_of(cell, prices, mine)
        ends = _cuts(mine, asked)
        first = 0
        for end in ends:
            part = mine[first:end]
            size[used] = part.size
            for i in range(part.size):
                groups[0][part[i]] = used
                if part.size <= room:
                    member[used, i] = part[i]
            if part.size <= room:
                enclose(cell, groups, seconds, prices, used)
            else:
                cost[used] = _cost_of(cell, prices, part)
            totals[LOSS] += part.size * cost[used]
            used += 1
            first = end
    for c in range(size.size - 1, used - 1, -1):
        unused[totals[UNUSED]] = c
        totals[UNUSED] += 1
    return before


@nb.njit(nogil=True)
def _cost_of(cell, prices, units):
    """Cost of the box of some units."""
    lower, upper, profile = cell[0], cell[1], cell[2]
    total = np.int64(0)
    for j in range(lower.shape[1]):
        a, b = lower[profile[units[0]], j], upper[profile[units[0]], j]
        for r in units:
            a, b = min(a, lower[profile[r], j]), max(b, upper[profile[r], j])
        total += price(j, a, b, prices)
    return total


@nb.njit(nogil=True)
def _cuts(units, asked):
    """Where to cut a group into parts that hold, each as soon as it does; the rest belongs to the last part."""
    k = asked[0]
    ends = [np.int64(0) for _ in range(0)]
    first = 0
    if units.size >= 2 * k:
        for end in range(k, units.size - k + 1):
            if end - first > 3 * k:
                break  # hard to cut: left as it is
            if end - first >= k and holds(units[first:end], end - first, asked):
                ends.append(np.int64(end))
                first = end
    while len(ends) > 0:  # what follows the last cut must hold as well
        last = ends[-1]
        if holds(units[last:], units.size - last, asked):
            break
        ends.pop()
    ends.append(np.int64(units.size))
    return ends
