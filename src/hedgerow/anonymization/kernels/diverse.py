"""Greedy clustering of cells under models of attribute disclosure (Campan, Truta and Cooper 2010, GreedyPKClustering).

Records of one profile that agree in the sensitive columns are a *piece*; those that agree in the sensitive columns
alone are a *class*. Two forests index the remaining records: one by profile, one with a tree per class. While a group
lacks something, the classes that help most are searched; once it lacks nothing, all records are.

What a group lacks is an integer: 0 if the model holds, else 1 + the gap in billionths.
"""

from __future__ import annotations

import math

import numpy as np

from hedgerow.anonymization.kernels.codes import FAR
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.search_index import (
    box_cost,
    cheapest,
    cost,
    joined_cost,
    new_desk,
    newcomer,
    numbers,
    plant,
    right_of,
    take,
    unit_starts,
)
from hedgerow.anonymization.kernels.sorting import after, ranked, sort
from hedgerow.anonymization.kernels.tuples.asked import ValueTree
from hedgerow.anonymization.kernels.tuples.searching import People
from hedgerow.privacy.codes import ALPHA, BETA, DELTA, DISTINCT, ENHANCED, ENTROPY, EQUAL, ORDERED, RECURSIVE, SLACK

BILLION = 1e9


@inner
def lack(counts, overall, kind, a, b, c, tree):
    """What counts by value lack for one model.

    ``tree`` is that of the values; one model only looks at it.
    """
    values = counts.size
    n = 0
    different = 0
    greatest = 0
    for v in range(values):
        n += counts[v]
        greatest = max(greatest, counts[v])
        if counts[v] > 0:
            different += 1
    if kind == DISTINCT:
        gap = a - different
        return np.int64(0) if gap <= 0 else np.int64(1 + math.floor(BILLION * gap))
    if kind == ENTROPY:
        entropy = 0.0
        for v in range(values):
            if counts[v] > 0:
                share = counts[v] / n
                entropy -= share * math.log(share)
        gap = a - entropy
        return np.int64(0) if gap <= SLACK else np.int64(1 + math.floor(BILLION * gap))
    if kind == RECURSIVE:
        if n == 0:
            return np.int64(1 + math.floor(BILLION))
        ordered = np.empty(values, np.int64)
        for v in range(values):
            ordered[v] = counts[v]
        sort(ordered)
        tail = 0
        for i in range(values - int(b) + 1):  # all but the b − 1 most frequent
            tail += ordered[i]
        if greatest * c < a * tail:  # whole numbers: exact
            return np.int64(0)
        return np.int64(1 + math.floor(BILLION * ((greatest - a / c * tail) / n)))
    if kind >= BETA:  # and ENHANCED, and DELTA
        return _unlike(counts, overall, kind, a, n)
    if n == 0:
        return np.int64(0)
    if kind == ALPHA:
        gap = greatest / n - a
        return np.int64(0) if gap <= SLACK else np.int64(1 + math.floor(BILLION * gap))
    whole = 0
    for v in range(values):
        whole += overall[v]
    moved = 0.0
    if kind == EQUAL:
        for v in range(values):
            moved += abs(counts[v] / n - overall[v] / whole)
        moved *= 0.5
    elif kind == ORDERED:
        so_far = 0.0
        for v in range(values - 1):
            so_far += counts[v] / n - overall[v] / whole
            moved += abs(so_far)
        moved /= max(values - 1, 1)
    else:
        parent, height, leaf_node = tree.parent, tree.height, tree.leaf_node
        surplus = np.zeros(parent.size)
        lacking = np.zeros(parent.size)
        extra = np.zeros(parent.size)
        for v in range(values):
            extra[leaf_node[v]] = counts[v] / n - overall[v] / whole
        for node in range(parent.size - 1, -1, -1):
            if height[node] > 0:
                moved += height[node] * min(surplus[node], lacking[node])
                extra[node] = surplus[node] - lacking[node]
            if node > 0:
                if extra[node] > 0:
                    surplus[parent[node]] += extra[node]
                else:
                    lacking[parent[node]] -= extra[node]
    gap = moved - a
    return np.int64(0) if gap <= SLACK else np.int64(1 + math.floor(BILLION * gap))


@inner
def _unlike(counts, overall, kind, a, n):
    """What counts lack to be like those of the whole table, value by value: the sum of what is beyond the bound."""
    whole = 0
    for v in range(counts.size):
        whole += overall[v]
    beyond, fails = 0.0, False
    for v in range(counts.size):
        if overall[v] == 0 or (n == 0 and kind != DELTA):
            continue
        share = overall[v] / whole
        if kind == DELTA:
            if counts[v] == 0:
                fails = True
            far = abs(math.log(max(counts[v], 0.5) / max(n, 1) / share)) - a
        else:
            bound = min(a, -math.log(share)) if kind == ENHANCED else a
            far = counts[v] / n / share - 1.0 - bound
        if far > SLACK:
            fails = True
            beyond += far
    return np.int64(1 + math.floor(BILLION * beyond)) if fails else np.int64(0)


@inner
def total_lack(histogram, value_start, overall, models, trees):
    """What a group's histogram of all sensitive columns lacks, over all models."""
    column, kind, a = models.column, models.kind, models.a
    b, c = models.b, models.c
    total = np.int64(0)
    for m in range(column.size):
        first, last = value_start[column[m]], value_start[column[m] + 1]
        total += lack(histogram[first:last], overall[first:last], kind[m], a[m], b[m], c[m], _tree(trees, m))
    return total


@inner
def _tree(trees, m):
    """The tree of one model."""
    first, last = trees.node_start[m], trees.node_start[m + 1]
    values = trees.leaf_node[trees.leaf_start[m] : trees.leaf_start[m + 1]]
    return ValueTree(trees.parent[first:last], trees.height[first:last], values)


@inner
def _lack_with_each(histogram, value_start, overall, models, trees, out, as_is):
    """Fill what a group lacks in each column with one more record of each value; ``as_is`` without."""
    column, kind, a = models.column, models.kind, models.a
    b, c = models.b, models.c
    for l in range(as_is.size):  # noqa: E741
        as_is[l] = 0
    for i in range(out.size):
        out[i] = 0
    for m in range(column.size):
        l = column[m]  # noqa: E741
        first, last = value_start[l], value_start[l + 1]
        tree = _tree(trees, m)
        part, whole = histogram[first:last], overall[first:last]
        as_is[l] += lack(part, whole, kind[m], a[m], b[m], c[m], tree)
        for v in range(last - first):
            part[v] += 1
            out[first + v] += lack(part, whole, kind[m], a[m], b[m], c[m], tree)
            part[v] -= 1


@kernel
def cluster_cells(
    codes, unit_start, unit_class, class_values, person, persons, cell_start, first_cell, last_cell, group_start,
    prices, k, seed, weights, value_start, overall, models, trees, wanted, counting, by_increase,
    group_of, box_lo, box_hi, size, progress, stop,
):  # fmt: skip
    """Cluster the cells first_cell … last_cell − 1 so that every group meets k and the models.

    Parameters (beyond those of ``k_member.cluster_cells``)
    ----------
    unit_class, class_values
        Class of every unit, units sorted by class within their profile; value of each class in every column, −1
        if missing.
    weights
        Integer weight of each column's diversity.
    value_start, overall
        Where each column's values begin among all, and the whole table's counts of all values.
    models, trees
        Column, kind and parameters of every model; trees for those that need one.
    wanted, counting
        Different values wanted of every column; whether counting them is all the models do.
    by_increase
        Whether a record left over joins the group whose loss grows least, rather than is least.
    """
    q = codes.shape[1]
    columns = class_values.shape[1]
    desk = new_desk(q)
    lo, hi, base = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q, np.int64)
    stamp = np.full(persons, -1, np.int64)
    histogram = np.zeros(value_start[columns], np.int64)
    with_value = np.zeros(value_start[columns], np.int64)
    as_is = np.zeros(columns, np.int64)
    for cell in range(first_cell, last_cell):
        first, last = cell_start[cell], cell_start[cell + 1]
        starts, counts = unit_starts(unit_start, first, last)
        records = starts[last - first]
        here = codes[first:last]
        kind_of = unit_class[unit_start[first] : unit_start[last]]
        who = person[unit_start[first] : unit_start[last]] if persons > 0 else person
        out = group_of[unit_start[first] : unit_start[last]]
        classes, local = _compact(kind_of, class_values.shape[0])
        piece_profile, piece_class, piece_first, piece_last = _pieces(starts, local)
        order = ranked(piece_class)  # by class, canonical within
        place, piece_counts = np.empty(order.size, np.int64), np.empty(order.size, np.int64)
        piece_codes, ordered_class = np.empty((order.size, q), codes.dtype), np.empty(order.size, np.int64)
        piece_begin, piece_end = np.empty(order.size, np.int64), np.empty(order.size, np.int64)
        for i in range(order.size):
            p = order[i]
            place[p], ordered_class[i] = i, piece_class[p]
            piece_begin[i], piece_end[i] = piece_first[p], piece_last[p]
            piece_counts[i] = piece_last[p] - piece_first[p]
            for j in range(q):
                piece_codes[i, j] = here[piece_profile[p], j]
        one_tree = np.zeros(last - first, np.int64)
        profiles, all_roots = plant(here, counts, one_tree, numbers(np.int64(0), last - first))
        pieces, roots = plant(piece_codes, piece_counts, ordered_class, order)
        bottom = pieces.level_start[q - 1]
        class_leaves = np.empty(classes.size + 1, np.int64)
        for c in range(classes.size + 1):
            class_leaves[c] = after(ordered_class, c - 1)
        profile_units = (starts[:-1], starts[1:])
        piece_units = (piece_begin, piece_end)
        class_left = np.zeros(classes.size, np.int64)
        for unit in range(records):
            class_left[local[unit]] += 1
        score = np.empty(classes.size, np.int64)
        live = np.full(records, np.int64(1))
        people = People(who, stamp, live, numbers(np.int64(1), records))
        members = np.empty(records, np.int64)
        if persons > 0:
            for unit in range(records):
                stamp[who[unit]] = -1  # a group of the cell before that was not completed bore the next number
        remaining, reported = records, 0
        group = group_start[cell] - 1
        kept_histograms = np.zeros(
            (0 if counting else group_start[cell + 1] - group_start[cell], histogram.size), np.int32
        )
        seed_class = local[seed % records]
        left = np.zeros(histogram.size, np.int64)  # values of the remaining records
        for unit in range(records):
            for l in range(columns):  # noqa: E741
                v = class_values[classes[local[unit]], l]
                if v >= 0:
                    left[value_start[l] + v] += 1
        while remaining > 0:
            if counting and (remaining < k or _too_few(left, value_start, wanted)):
                break  # no further group can be completed
            mark = group + 1
            # The first record of the next most diverse class, seen from the old seed.
            farthest = np.int64(-1)
            for c in range(classes.size):
                if class_left[c] > 0:
                    apart = np.int64(0)
                    for l in range(columns):  # noqa: E741
                        if class_values[classes[c], l] != class_values[classes[seed_class], l]:
                            apart += weights[l]
                    score[c] = apart
                    farthest = max(farthest, apart)
            piece = np.int64(FAR)
            for c in range(classes.size):
                if class_left[c] > 0 and score[c] == farthest:
                    i = right_of(bottom + class_leaves[c], bottom + class_leaves[c + 1], pieces.alive, pieces.rightward)
                    piece = min(piece, order[i - bottom])
            seed_class = piece_class[piece]
            count = 0
            histogram[:] = 0
            complete = False
            while True:
                # Take one unit of the chosen piece.
                unit = newcomer(piece_first[piece], piece_last[piece], people, mark)
                live[unit] = 0
                if persons > 0:
                    stamp[who[unit]] = mark
                members[count] = unit
                count += 1
                remaining -= 1
                r, c = piece_profile[piece], piece_class[piece]
                class_left[c] -= 1
                take(profiles, r)
                take(pieces, place[piece])
                for j in range(q):
                    v = np.int64(here[r, j])
                    lo[j] = v if count == 1 else min(lo[j], v)
                    hi[j] = v if count == 1 else max(hi[j], v)
                    base[j] = cost(j, lo[j], hi[j], prices)
                for l in range(columns):  # noqa: E741
                    v = class_values[classes[c], l]
                    if v >= 0:
                        histogram[value_start[l] + v] += 1
                        left[value_start[l] + v] -= 1
                if counting:
                    lacking = _too_few(histogram, value_start, wanted)
                else:
                    lacking = total_lack(histogram, value_start, overall, models, trees) > 0
                if not lacking and count >= k:
                    complete = True
                    break
                if remaining == 0:
                    break
                if counting and not lacking:
                    _, r = cheapest(
                        profiles, all_roots[0], all_roots[1], lo, hi, base, prices, profile_units, people, mark, desk,
                        np.int64(FAR), np.int64(FAR),
                    )  # fmt: skip
                    if r >= last - first:
                        break
                    unit = newcomer(starts[r], starts[r + 1], people, mark)
                    piece = after(piece_first, unit) - 1
                    continue
                # Score the classes: greater is better.
                if counting:
                    for c in range(classes.size):
                        score[c] = 0
                        for l in range(columns):  # noqa: E741
                            v = class_values[classes[c], l]
                            if v >= 0 and histogram[value_start[l] + v] == 0:
                                score[c] += weights[l]
                else:
                    _lack_with_each(histogram, value_start, overall, models, trees, with_value, as_is)
                    for c in range(classes.size):
                        score[c] = 0
                        for l in range(columns):  # noqa: E741
                            v = class_values[classes[c], l]
                            score[c] -= with_value[value_start[l] + v] if v >= 0 else as_is[l]
                ceiling = np.int64(FAR)
                best, piece = np.int64(FAR), np.int64(FAR)
                while piece == FAR:
                    top = np.int64(-FAR)
                    for c in range(classes.size):
                        if class_left[c] > 0 and score[c] < ceiling:
                            top = max(top, score[c])
                    if top == -FAR:
                        break
                    for c in range(classes.size):
                        if class_left[c] > 0 and score[c] == top:
                            best, piece = cheapest(
                                pieces, roots[c], roots[c + 1], lo, hi, base, prices, piece_units, people, mark, desk,
                                best, piece,
                            )  # fmt: skip
                    ceiling = top
                if piece == FAR:
                    break
            if not complete:
                break
            group += 1
            for i in range(count):
                out[members[i]] = group
            for j in range(q):
                box_lo[group, j] = lo[j]
                box_hi[group, j] = hi[j]
            size[group] = count
            if not counting:
                for v in range(histogram.size):
                    kept_histograms[group - group_start[cell], v] = histogram[v]
            progress[0] += count
            reported += count
            if stop[0] != 0:
                return
        # What is left over: the last, incomplete group, and (with persons) what it could not take.
        kept = group + 1 - group_start[cell]
        if kept == 0:
            _whole_cell(
                here, local, classes, class_values, who, persons, k, value_start, overall, models, trees, wanted,
                counting, histogram, group_start[cell], out, box_lo, box_hi, size,
            )  # fmt: skip
        else:
            for unit in range(records):
                if out[unit] < 0:
                    r = after(starts, unit) - 1
                    _join_best(
                        here[r], class_values[classes[local[unit]]], group_start[cell], kept, kept_histograms,
                        value_start, overall, models, trees, counting, by_increase, prices, box_lo, box_hi, size, out,
                        unit,
                    )  # fmt: skip
        progress[0] += records - reported


@inner
def _compact(kind_of, total):
    """Number the classes that occur; returns them ascending, and the number of each unit's class."""
    seen = np.zeros(total, np.bool_)
    for unit in range(kind_of.size):
        seen[kind_of[unit]] = True
    classes, number = np.empty(total, np.int64), np.empty(total, np.int64)
    many = 0
    for c in range(total):
        if seen[c]:
            classes[many], number[c] = c, many
            many += 1
    local = np.empty(kind_of.size, np.int64)
    for unit in range(kind_of.size):
        local[unit] = number[kind_of[unit]]
    return classes[:many], local


@inner
def _pieces(starts, local):
    """Runs of units of one profile and class: profile, class, first unit, and the unit after the last."""
    n = local.size
    profile, kind = np.empty(n, np.int64), np.empty(n, np.int64)
    first, last = np.empty(n, np.int64), np.empty(n, np.int64)
    total = 0
    for r in range(starts.size - 1):
        for unit in range(starts[r], starts[r + 1]):
            if unit == starts[r] or local[unit] != local[unit - 1]:
                profile[total], kind[total], first[total] = r, local[unit], unit
                total += 1
            last[total - 1] = unit + 1
    return profile[:total], kind[:total], first[:total], last[:total]


@inner
def _too_few(histogram, value_start, wanted):
    """Whether some column has fewer different values than wanted."""
    for l in range(wanted.size):  # noqa: E741
        different = 0
        for v in range(value_start[l], value_start[l + 1]):
            if histogram[v] > 0:
                different += 1
        if different < wanted[l]:
            return True
    return False


@inner
def _whole_cell(
    here, local, classes, class_values, who, persons, k, value_start, overall, models, trees, wanted, counting,
    histogram, group, out, box_lo, box_hi, size,
):  # fmt: skip
    """Make a cell one group if it meets everything; otherwise all of it is withheld."""
    people = local.size
    if persons > 0:
        ordered = np.empty(who.size, np.int64)
        for unit in range(who.size):
            ordered[unit] = who[unit]
        sort(ordered)
        people = 0
        for unit in range(who.size):
            if unit == 0 or ordered[unit] != ordered[unit - 1]:
                people += 1
    histogram[:] = 0
    for unit in range(local.size):
        for l in range(class_values.shape[1]):  # noqa: E741
            v = class_values[classes[local[unit]], l]
            if v >= 0:
                histogram[value_start[l] + v] += 1
    if counting:
        lacking = _too_few(histogram, value_start, wanted)
    else:
        lacking = total_lack(histogram, value_start, overall, models, trees) > 0
    if people < k or lacking:
        return
    out[:] = group
    size[group] = local.size
    for j in range(here.shape[1]):
        box_lo[group, j] = box_hi[group, j] = here[0, j]
        for r in range(here.shape[0]):
            box_lo[group, j] = min(box_lo[group, j], here[r, j])
            box_hi[group, j] = max(box_hi[group, j], here[r, j])


@inner
def _join_best(
    record, values, first_group, kept, histograms, value_start, overall, models, trees, counting, by_increase, prices,
    box_lo, box_hi, size, out, unit,
):  # fmt: skip
    """Let a record left over join the best group that still meets the models with it; ties to the first."""
    best, chosen = np.int64(FAR), np.int64(-1)
    for group in range(first_group, first_group + kept):
        rise = (size[group] + 1) * joined_cost(box_lo[group], box_hi[group], record, prices)
        if by_increase:
            rise -= size[group] * box_cost(box_lo[group], box_hi[group], prices)
        if rise < best:
            if not counting:
                trial = np.empty(histograms.shape[1], np.int64)
                for v in range(trial.size):
                    trial[v] = histograms[group - first_group, v]
                for l in range(values.size):  # noqa: E741
                    if values[l] >= 0:
                        trial[value_start[l] + values[l]] += 1
                if total_lack(trial, value_start, overall, models, trees) > 0:
                    continue
            best, chosen = rise, group
    if chosen < 0:
        return
    out[unit] = chosen
    size[chosen] += 1
    for j in range(record.size):
        box_lo[chosen, j] = min(box_lo[chosen, j], record[j])
        box_hi[chosen, j] = max(box_hi[chosen, j], record[j])
    if not counting:
        for l in range(values.size):  # noqa: E741
            if values[l] >= 0:
                histograms[chosen - first_group, value_start[l] + values[l]] += 1
