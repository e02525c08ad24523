"""Checking a node of the lattice: how many records its groups make fail, and what that costs.

A *view* is a table of groups: a word of codes, the number of records, and a bit for every sensitive value that occurs.
Attributes are packed into four joint codes of 16 bits, one word in all; a table gives, for every joint level and joint
code, a dense number of the generalized values. Pass 1 finds every row's slot and adds up counts and bits; pass 2 looks
at every slot once and clears it. A node above another is checked on the other's view, which has fewer rows.

``view``, ``address`` and ``slots`` are :class:`View`, :class:`Address` and :class:`Slots` of ``tuples/``.
"""

from __future__ import annotations

import numpy as np

from hedgerow.anonymization.kernels.codes import INFEASIBLE, OPEN
from hedgerow.anonymization.kernels.compiling import inner, kernel
from hedgerow.anonymization.kernels.tuples.lattice import Address, Slots, View  # noqa: F401 - taken as arguments: see keeping.py

JOINT = np.uint64(0xFFFF)


@inner
def _ones(word):
    """Number of bits set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inner
def _fill(view, address, slots, counted):
    """Pass 1: the slot of every row; counts and, if values are counted, bits by slot."""
    words, counts, bits = view.words, view.counts, view.bits
    table, offset, stride, domain = address.table, address.offset, address.stride, address.domain
    slot_count, slot_bits, slot_key, slot_of = slots.counts, slots.bits, slots.key, slots.of_row
    o0, o1, o2, o3 = np.uint64(offset[0]), np.uint64(offset[1]), np.uint64(offset[2]), np.uint64(offset[3])
    s1, s2, s3 = np.uint64(stride[1]), np.uint64(stride[2]), np.uint64(stride[3])
    if domain <= slot_count.size:
        for row in range(np.uint64(words.size)):
            word = words[row]
            at = np.uint64(table[o0 + (word & JOINT)])
            at += np.uint64(table[o1 + ((word >> np.uint64(16)) & JOINT)]) * s1
            at += np.uint64(table[o2 + ((word >> np.uint64(32)) & JOINT)]) * s2
            at += np.uint64(table[o3 + (word >> np.uint64(48))]) * s3
            slot_count[at] += counts[row]
            if counted:
                slot_bits[at] |= bits[row]
            slot_of[row] = np.int32(at)
        return
    shift = 60
    while (1 << (64 - shift)) < 2 * words.size:
        shift -= 1
    last = np.uint64((1 << (64 - shift)) - 1)
    for row in range(np.uint64(words.size)):
        word = words[row]
        key = np.uint64(table[o0 + (word & JOINT)])
        key += np.uint64(table[o1 + ((word >> np.uint64(16)) & JOINT)]) * s1
        key += np.uint64(table[o2 + ((word >> np.uint64(32)) & JOINT)]) * s2
        key += np.uint64(table[o3 + (word >> np.uint64(48))]) * s3
        at = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(shift)
        while slot_count[at] != 0 and slot_key[at] != key:
            at = (at + np.uint64(1)) & last
        slot_key[at] = key
        slot_count[at] += counts[row]
        if counted:
            slot_bits[at] |= bits[row]
        slot_of[row] = np.int32(at)


@inner
def _too_few(bits, column_bits, wanted):
    """Whether a group has too few different values of some sensitive column."""
    for column in range(wanted.size):
        if wanted[column] > 1 and _ones(bits & column_bits[column]) < wanted[column]:
            return True
    return False


@kernel
def check(view, address, slots, k, column_bits, wanted, gains, gain_offset, budget, enough):
    """Check a node on a view.

    Returns the number of records in groups that fail, what withholding them costs beyond generalizing them (``gains``
    by joint level and code; only if they are within the budget), the number of groups that hold, and the sum of their
    squared sizes. Once more than enough records fail, it returns what it has.
    """
    counted = wanted.size > 0
    _fill(view, address, slots, counted)
    words = view.words
    slot_count, slot_bits, slot_of = slots.counts, slots.bits, slots.of_row
    g0, g1, g2, g3 = (
        np.uint64(gain_offset[0]),
        np.uint64(gain_offset[1]),
        np.uint64(gain_offset[2]),
        np.uint64(gain_offset[3]),
    )
    withheld, groups, squares = np.int64(0), np.int64(0), np.int64(0)
    excess = 0.0
    for row in range(np.uint64(words.size)):
        at = np.uint64(slot_of[row])
        count = np.int64(slot_count[at])  # 0 if another row of the group came before
        slot_count[at] = 0
        holds = count >= k
        if counted:
            holds = holds and not _too_few(slot_bits[at], column_bits, wanted)
            slot_bits[at] = 0
        kept = count if holds else 0
        groups += 1 if holds else 0
        squares += kept * kept
        withheld += count - kept
        if count != kept and withheld <= budget:
            word = words[row]
            gain = gains[g0 + (word & JOINT)] + gains[g1 + ((word >> np.uint64(16)) & JOINT)]
            gain += gains[g2 + ((word >> np.uint64(32)) & JOINT)] + gains[g3 + (word >> np.uint64(48))]
            excess += count * gain
        if withheld > enough:  # the slots must be left as they were
            for left in range(row, np.uint64(words.size)):
                at = np.uint64(slot_of[left])
                slot_count[at] = 0
                if counted:
                    slot_bits[at] = 0
            break
    return withheld, excess, groups, squares


@kernel
def mark_below(state, extra, levels, strides, infeasible, excess):
    """Note what a check says of all nodes below one: that they are infeasible, or what withholding costs at least."""
    m = levels.size
    current = np.zeros(m, np.int64)
    at = np.int64(0)
    inner = levels[m - 1] + 1
    while True:
        for node in range(at, at + inner):
            if infeasible:
                if state[node] == OPEN:
                    state[node] = INFEASIBLE
            elif extra[node] < excess:
                extra[node] = excess
        j = m - 2
        while j >= 0 and current[j] == levels[j]:
            at -= current[j] * strides[j]
            current[j] = 0
            j -= 1
        if j < 0:
            return
        current[j] += 1
        at += strides[j]


@kernel
def roll_up(view, address, slots, new, counted):
    """Write the groups of a node as a smaller view; each keeps the word of one of its rows. Returns their number."""
    _fill(view, address, slots, counted)
    words = view.words
    new_words, new_counts, new_bits = new.words, new.counts, new.bits
    slot_count, slot_bits, slot_of = slots.counts, slots.bits, slots.of_row
    total = np.uint64(0)
    for row in range(np.uint64(words.size)):
        at = np.uint64(slot_of[row])
        count = slot_count[at]
        if count > 0:
            new_words[total] = words[row]
            new_counts[total] = count
            slot_count[at] = 0
            if counted:
                new_bits[total] = slot_bits[at]
                slot_bits[at] = 0
            total += np.uint64(1)
    return np.int64(total)
