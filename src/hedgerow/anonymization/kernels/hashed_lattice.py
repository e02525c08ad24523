"""Checking a node of a lattice of many attributes: groups are told apart by a hash of 64 bits.

The key of a row is the sum of one random number per attribute, by level and code. Moving to another node adds the
differences of the attributes that change. Two groups of one key would count as one: so a node that is found to fail
does fail, while one that is found to hold must be confirmed without hashing.

``view`` and ``slots`` are :class:`HashedView` and :class:`HashedSlots` of ``tuples/``. ``moves`` says which
attributes change: attribute, old offset, new offset in the table of random numbers.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.tuples.lattice import HashedSlots, HashedView  # noqa: F401 - taken as arguments: see keeping.py


@inner
def _ones(word):
    """Number of bits set."""
    total = 0
    while word != 0:
        word &= word - np.uint64(1)
        total += 1
    return total


@inner
def _fill(view, codes, randoms, moves, slots, counted):
    """Work out the key of every row at the node, its slot, and what is in the slots."""
    keys, counts, bits, rows = view.keys, view.counts, view.bits, view.rows
    slot_key, slot_count, slot_bits = slots.key, slots.counts, slots.bits
    slot_of, moved = slots.of_row, slots.moved
    n = keys.size
    for i in range(n):
        moved[i] = keys[i]
    for m in range(moves.shape[0]):
        column, old, new = codes[moves[m, 0]], moves[m, 1], moves[m, 2]
        for i in range(n):
            code = column[rows[i]]
            moved[i] += randoms[new + code] - randoms[old + code]
    shift = 60
    while (1 << (64 - shift)) < 2 * n:
        shift -= 1
    last = np.uint64((1 << (64 - shift)) - 1)
    for i in range(n):
        key = moved[i]
        at = key >> np.uint64(shift)
        while slot_count[at] != 0 and slot_key[at] != key:
            at = (at + np.uint64(1)) & last
        slot_key[at] = key
        slot_count[at] += counts[i]
        if counted:
            slot_bits[at] |= bits[i]
        slot_of[i] = at


@kernel
def check(view, codes, randoms, moves, slots, k, column_bits, wanted):
    """Return the records in groups that fail, the number of groups that hold, and the sum of their squared sizes."""
    counted = wanted.size > 0
    _fill(view, codes, randoms, moves, slots, counted)
    slot_count, slot_bits, slot_of = slots.counts, slots.bits, slots.of_row
    withheld, groups, squares = np.int64(0), np.int64(0), np.int64(0)
    for i in range(view.keys.size):
        at = slot_of[i]
        count = np.int64(slot_count[at])
        if count == 0:  # another row of the group came before
            continue
        slot_count[at] = 0
        holds = count >= k
        if counted:
            for s in range(wanted.size):
                if holds and wanted[s] > 1 and _ones(slot_bits[at] & column_bits[s]) < wanted[s]:
                    holds = False
            slot_bits[at] = 0
        if holds:
            groups += 1
            squares += count * count
        else:
            withheld += count
    return withheld, groups, squares


@kernel
def roll_up(view, codes, randoms, moves, slots, counted, new):
    """Write the groups of a node as a smaller view; returns their number."""
    _fill(view, codes, randoms, moves, slots, counted)
    slot_count, slot_bits, slot_of, moved = slots.counts, slots.bits, slots.of_row, slots.moved
    keys, counts, bits, rows = new.keys, new.counts, new.bits, new.rows
    total = 0
    for i in range(view.keys.size):
        at = slot_of[i]
        if slot_count[at] != 0:
            keys[total], counts[total], rows[total] = moved[i], slot_count[at], view.rows[i]
            slot_count[at] = 0
            if counted:
                bits[total] = slot_bits[at]
                slot_bits[at] = 0
            total += 1
    return total
