"""Nodes of a lattice: see ``lattice.py``, ``hashed_lattice.py`` and ``boxes.py``."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.anonymization.kernels.tuples.arrays import Codes, Levels, Numbers, Small, Words


class View(NamedTuple):
    """Groups of a node."""

    words: Words  # four joint codes of 16 bits
    counts: Small  # records
    bits: Words  # sensitive values that occur; empty if they are not counted


class Address(NamedTuple):
    """How a word becomes the number of its group at a node."""

    table: Codes  # by joint level and joint code, a dense number of the generalized values
    offset: Numbers  # of the node's joint levels in the table
    stride: Numbers  # by joint attribute
    domain: int  # all numbers of groups are below


class Slots(NamedTuple):
    """Scratch space of a check; counts and bits are 0 between calls."""

    counts: Small
    bits: Words
    key: Words
    of_row: Words  # slot of every row


class HashedView(NamedTuple):
    """Groups of a node, told apart by hash."""

    keys: Words
    counts: Small  # records
    bits: Words  # sensitive values that occur; empty if they are not counted
    rows: Numbers  # a row of the table that belongs to the group


class HashedSlots(NamedTuple):
    """Scratch space of a check by hash; counts and bits are 0 between calls."""

    key: Words
    counts: Small
    bits: Words
    of_row: Words  # slot of every row
    moved: Words  # key of every row at the node


class Boxes(NamedTuple):
    """Boxes of nodes, and a heap of those that are to be looked at."""

    lo: Levels  # levels
    up: Levels
    heap: Numbers  # numbers of boxes
    heap_cost: Numbers
    unused: Numbers  # numbers of boxes
    totals: Numbers  # IN_HEAP, UNUSED, VISITED


class Conflicts(NamedTuple):
    """Nodes that are known to fail."""

    levels: Numbers
    packed: Words  # the same, four to a word
