"""The search for the best node of the lattice: frontiers of open nodes, checked on a tree of views.

The same search as in ``lattice/optimal.py``, which says what it does and why, for nodes that the kernel of
``lattice.py`` can check. Views stand one behind the other in ``room``; where it has no place for another, nodes are
checked on the view there is. ``joints``, ``demanded``, ``nodes`` and ``seen`` are those of ``tuples/``.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.codes import CHECKED, FEASIBLE, INFEASIBLE, OPEN, SEEN
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.lattice import check, mark_below, roll_up
from hedgerow.anonymization.kernels.tuples.lattice import Address, Demanded, Joints, Nodes, Seen, Slots, View  # noqa: F401 - arguments: see keeping.py

TIE = 1e-9
FEW = 2  # nodes for which no view of their own is worth its while


@inner
def _limit(best):
    """Up to which score a node may still be the best."""
    return best * (1 + TIE) + TIE if best < np.inf else best


@inner
def _address(node, joints, offset, stride):
    """Where a node's groups are numbered; below which number all are."""
    domain = np.int64(1)
    for s in range(4):
        at = joints.first[s]
        for j in range(node.size):
            if joints.of[j] == s:
                at += node[j] * joints.times[j]
        offset[s], stride[s] = joints.offset[at], domain
        domain *= joints.size[at]
    return domain


@inner
def _part(room, start, rows):
    """A view that stands in the room."""
    return View(room.words[start : start + rows], room.counts[start : start + rows], room.bits[start : start + rows])


@inner
def _rolled(room, start, rows, node, joints, slots, counted, offset, stride):
    """Put the view of a node behind the one it is made from; returns where it stands, and its rows."""
    if start + 2 * rows > room.words.size:
        return start, rows
    domain = _address(node, joints, offset, stride)
    address = Address(joints.table, offset, stride, domain)
    end = start + rows
    return end, roll_up(_part(room, start, rows), address, slots, _part(room, end, rows), counted)


@inner
def _look_at(room, start, rows, node, number, joints, slots, demanded, nodes, seen, records, offset, stride):
    """Check a node and note what follows; returns whether it is feasible."""
    totals, best = seen.totals, seen.best
    totals[CHECKED] += 1
    domain = _address(node, joints, offset, stride)
    withheld, excess, _, _ = check(
        _part(room, start, rows), Address(joints.table, offset, stride, domain), slots, demanded.k,
        demanded.column_bits, demanded.wanted, demanded.gains, offset, demanded.budget, demanded.budget,
    )  # fmt: skip
    if withheld > demanded.budget:
        nodes.state[number] = INFEASIBLE
        mark_below(nodes.state, nodes.extra, node, nodes.stride, np.bool_(True), 0.0)
        return False
    nodes.state[number] = FEASIBLE
    score = nodes.bound[number] + excess / records
    at = totals[SEEN]
    seen.number[at], seen.score[at], seen.withheld[at] = number, score, withheld
    totals[SEEN] += 1
    best[0] = min(best[0], score)
    if excess > 0:
        mark_below(nodes.state, nodes.extra, node, nodes.stride, np.bool_(False), excess / records)
    return True


@inner
def _may_be_better(nodes, number, limit):
    return nodes.state[number] == OPEN and nodes.bound[number] + nodes.extra[number] <= limit


@inner
def _maximal(nodes, limit, level_of, numbers):
    """List the nodes that may be the best of which no other lies one level higher; returns how many."""
    stride, shape = nodes.stride, nodes.shape
    many = np.int64(0)
    level_of[:] = 0
    for number in range(nodes.state.size):
        if _may_be_better(nodes, number, limit):
            maximal = True
            for j in range(shape.size):
                if level_of[j] + 1 < shape[j] and _may_be_better(nodes, number + stride[j], limit):
                    maximal = False
                    break
            if maximal:
                numbers[many] = number
                many += 1
        j = shape.size - 1
        while j >= 0 and level_of[j] == shape[j] - 1:
            level_of[j] = 0
            j -= 1
        if j >= 0:
            level_of[j] += 1
    return many


@kernel
def search(room, rows, joints, slots, demanded, nodes, seen, chain, records, stop):
    """Find the least score of all nodes from the corner up.

    Parameters
    ----------
    room, rows
        Room for views, and the rows of the first, which stands there; scratch space.
    joints, slots, demanded, nodes, seen
        See ``tuples/``.
    chain
        Nodes from the corner upward, among which the first feasible one is sought.
    records
        Records of the table.
    stop
        A flag that ends the search when set.
    """
    stride, shape, corner, entropies = nodes.stride, nodes.shape, nodes.corner, nodes.entropies
    state, bound, extra, best, totals = nodes.state, nodes.bound, nodes.extra, seen.best, seen.totals
    m, counted = shape.size, demanded.wanted.size > 0
    offset, joint_stride = np.zeros(4, np.int64), np.zeros(4, np.int64)
    node, under, level_of = np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    start, top = np.int64(0), np.int64(0)
    corner_number = np.int64(0)
    for j in range(m):
        corner_number += corner[j] * stride[j]
        top = max(top, shape[j])
    if corner_number > 0:
        start, rows = _rolled(room, start, rows, corner, joints, slots, counted, offset, joint_stride)

    # A good node early: by bisecting a chain, then by single steps.
    low, high = np.int64(0), np.int64(chain.shape[0] - 1)
    while low <= high:
        middle, is_last = (low + high) // 2, low == high
        number = np.int64(0)
        for j in range(m):
            node[j] = chain[middle, j]
            number += node[j] * stride[j]
        feasible = state[number] == FEASIBLE or _look_at(
            room, start, rows, node, number, joints, slots, demanded, nodes, seen, records, offset, joint_stride
        )
        if is_last:
            break
        if feasible:
            high = middle
        else:
            low = middle + 1
    improved = totals[SEEN] > 0
    while improved:
        improved = False
        here = np.int64(-1)
        for at in range(totals[SEEN]):
            if here < 0 or (seen.score[at], seen.number[at]) < (seen.score[here], seen.number[here]):
                here = at
        here = seen.number[here]
        for j in range(m):
            level_of[j] = here // stride[j] % shape[j]
            under[j] = max(corner[j], level_of[j] - 1)
        view, many = _rolled(room, start, rows, under, joints, slots, counted, offset, joint_stride)
        for step in range((m + 1) * m):
            up, down = step // m - 1, step % m
            if up == down or level_of[down] <= corner[down] or (up >= 0 and level_of[up] + 1 >= shape[up]):
                continue
            number = here - stride[down]
            for j in range(m):
                node[j] = level_of[j]
            node[down] -= 1
            if up >= 0:
                node[up] += 1
                number += stride[up]
            if state[number] != OPEN or bound[number] + extra[number] >= best[0]:
                continue
            before = best[0]
            if stop[0] != 0:
                return
            if (
                _look_at(
                    room, view, many, node, number, joints, slots, demanded, nodes, seen, records, offset, joint_stride
                )
                and best[0] < before
            ):
                improved = True
                break

    # Maximal open nodes, until there are none.
    numbers = np.empty(state.size, np.int64)
    begins = np.empty(top + 1, np.int64)
    while True:
        many = _maximal(nodes, _limit(best[0]), level_of, numbers)
        if many == 0:
            return
        levels = np.empty((many, m), np.int64)
        order, moved = np.empty(many, np.int64), np.empty(many, np.int64)
        frame = np.empty((many + 1, 5), np.int64)  # first and last in the order; start, rows and node of the view
        for i in range(many):
            order[i] = i
            for j in range(m):
                levels[i, j] = numbers[i] // stride[j] % shape[j]
        frame[0, 0], frame[0, 1], frame[0, 2], frame[0, 3], frame[0, 4] = 0, many, start, rows, corner_number
        depth = 1
        while depth > 0:
            if stop[0] != 0:
                return
            depth -= 1
            first, last, view, many, below = frame[depth]
            limit, kept = _limit(best[0]), first
            for i in range(first, last):
                if _may_be_better(nodes, numbers[order[i]], limit):
                    order[kept] = order[i]
                    kept += 1
            last = kept
            if last - first <= FEW:
                for i in range(first, last):
                    number = numbers[order[i]]
                    if state[number] != OPEN:
                        continue
                    for j in range(m):
                        node[j] = levels[order[i], j]
                    if (
                        _look_at(
                            room, view, many, node, number, joints, slots, demanded, nodes, seen, records, offset,
                            joint_stride,
                        )
                        or demanded.budget > 0
                    ):  # fmt: skip
                        continue
                    # Climb to a maximal infeasible node: it rules out more.
                    near, few = _rolled(room, view, many, node, joints, slots, counted, offset, joint_stride)
                    for j in range(m):
                        was = node[j]
                        for level in range(shape[j] - 1, was, -1):
                            node[j] = level
                            higher = number + (level - was) * stride[j]
                            known = state[higher]
                            if known == FEASIBLE or (
                                known == OPEN
                                and _look_at(
                                    room, near, few, node, higher, joints, slots, demanded, nodes, seen, records,
                                    offset, joint_stride,
                                )
                            ):  # fmt: skip
                                node[j] = was
                                continue
                            number = higher
                            break
                continue
            split, most, meet = np.int64(0), -2.0, np.int64(0)
            for j in range(m):
                least, greatest, together = shape[j], np.int64(0), 0.0
                for i in range(first, last):
                    level = levels[order[i], j]
                    least, greatest = min(least, level), max(greatest, level)
                    together += entropies[j, level]
                under[j] = least
                meet += least * stride[j]
                gain = (last - first) * entropies[j, least] - together if greatest > least else -1.0
                if gain > most:
                    split, most = np.int64(j), gain
            if meet != below:
                view, many = _rolled(room, view, many, under, joints, slots, counted, offset, joint_stride)
            # Nodes by their levels of the column, the most general on top.
            begins[:] = 0
            for i in range(first, last):
                moved[i] = order[i]
                begins[levels[order[i], split] + 1] += 1
            for level in range(shape[split]):
                begins[level + 1] += begins[level]
                if begins[level + 1] > begins[level]:
                    frame[depth, 0], frame[depth, 1] = first + begins[level], first + begins[level + 1]
                    frame[depth, 2], frame[depth, 3], frame[depth, 4] = view, many, meet
                    depth += 1
            for i in range(first, last):
                level = levels[moved[i], split]
                order[first + begins[level]] = moved[i]
                begins[level] += 1
