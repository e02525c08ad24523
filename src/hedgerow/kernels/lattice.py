"""Checking a node of the lattice: how many records its groups make fail, and what that costs.

A *view* is a table of groups: codes, number of records, and a bit for every sensitive value that occurs. Attributes are
packed into a few joint codes; a table gives, for every joint level and joint code, a dense number of the generalized
values. Pass 1 finds every row's slot and adds up counts and bits; pass 2 looks at every slot once and clears it. A node
above another is checked on the other's view, which has fewer rows.

Arrays travel in tuples:

- ``view``: codes (rows × joint attributes, four or more), counts, bits;
- ``address``: table, offsets of the node's levels in it, strides, size of the key space;
- ``slots``: scratch space: counts, bits, keys, and the slot of every row.
"""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(nogil=True)
def _ones(word):
    """Number of bits set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@nb.njit(nogil=True)
def _fill(view, address, slots, counted):
    """Pass 1: the slot of every row; counts and, if values are counted, bits by slot."""
    codes, counts, bits = view
    table, offset, stride, domain = address
    slot_count, slot_bits, slot_key, slot_of = slots
    rows, joints = codes.shape
    size, shift = 16, 60
    while size < 2 * rows:
        size *= 2
        shift -= 1
    direct = domain <= 2 * size  # a larger key space is hashed: fewer slots stay in the processor's cache
    last = np.uint64(size - 1)
    o0, o1, o2, o3 = np.uint64(offset[0]), np.uint64(offset[1]), np.uint64(offset[2]), np.uint64(offset[3])
    s1, s2, s3 = np.uint64(stride[1]), np.uint64(stride[2]), np.uint64(stride[3])
    for row in range(np.uint64(rows)):
        key = np.uint64(table[o0 + np.uint64(codes[row, 0])])
        key += np.uint64(table[o1 + np.uint64(codes[row, 1])]) * s1
        key += np.uint64(table[o2 + np.uint64(codes[row, 2])]) * s2
        key += np.uint64(table[o3 + np.uint64(codes[row, 3])]) * s3
        for s in range(4, joints):
            key += np.uint64(table[np.uint64(offset[s]) + np.uint64(codes[row, s])]) * np.uint64(stride[s])
        at = key
        if not direct:
            at = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(shift)
            while slot_count[at] != 0 and slot_key[at] != key:
                at = (at + np.uint64(1)) & last
            slot_key[at] = key
        slot_count[at] += counts[row]
        if counted:
            slot_bits[at] |= bits[row]
        slot_of[row] = at


@nb.njit(nogil=True)
def _too_few(bits, column_bits, wanted):
    """Whether a group has too few different values of some sensitive column."""
    for column in range(wanted.size):
        if wanted[column] > 1 and _ones(bits & column_bits[column]) < wanted[column]:
            return True
    return False


@nb.njit(nogil=True, cache=True)
def check(view, address, slots, k, column_bits, wanted, gains, gain_offset):
    """Check a node on a view.

    Returns the number of records in groups that fail, what withholding them costs beyond generalizing them (``gains``
    by joint level and code), the number of groups that hold, and the sum of their squared sizes.
    """
    counted = wanted.size > 0
    _fill(view, address, slots, counted)
    codes = view[0]
    slot_count, slot_bits, _, slot_of = slots
    withheld, groups, squares = np.int64(0), np.int64(0), 0.0
    excess = 0.0
    for row in range(np.uint64(codes.shape[0])):
        at = slot_of[row]
        count = slot_count[at]
        if count > 0:
            if count < k or (counted and _too_few(slot_bits[at], column_bits, wanted)):
                withheld += count
                gain = 0.0
                for s in range(codes.shape[1]):
                    gain += gains[gain_offset[s] + codes[row, s]]
                excess += count * gain
            else:
                groups += 1
                squares += np.float64(count) * count
            slot_count[at] = 0
            if counted:
                slot_bits[at] = 0
    return withheld, excess, groups, squares


@nb.njit(nogil=True, cache=True)
def roll_up(view, address, slots):
    """Groups of a node as a smaller view; each keeps the codes of one of its rows."""
    codes, counts, bits = view
    slot_count, slot_bits, _, slot_of = slots
    counted = slot_bits.size > 1
    _fill(view, address, slots, counted)
    rows, joints = codes.shape
    new_codes, new_counts, new_bits = np.empty_like(codes), np.empty_like(counts), np.empty_like(bits)
    total = 0
    for row in range(rows):
        at = slot_of[row]
        if slot_count[at] > 0:
            for s in range(joints):
                new_codes[total, s] = codes[row, s]
            new_counts[total] = slot_count[at]
            slot_count[at] = 0
            new_bits[total] = 0
            if counted:
                new_bits[total] = slot_bits[at]
                slot_bits[at] = 0
            total += 1
    return new_codes[:total], new_counts[:total], new_bits[:total]
