"""Nodes of a lattice: see ``lattice.py``, ``hashed_lattice.py`` and ``boxes.py``."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.anonymization.kernels.tuples.arrays import Codes, Kinds, Levels, Numbers, Shares, Small, Words


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


class Joints(NamedTuple):
    """How the levels of a node become its address: columns are dealt out into joint attributes."""

    table: Codes  # as in the address
    of: Numbers  # joint attribute of every column
    times: Numbers  # by how much a level of the column counts in the number of the joint's levels
    first: Numbers  # where the joint's offsets and sizes begin
    offset: Numbers  # of joint levels in the table
    size: Numbers  # numbers of generalized values of joint levels


class Demanded(NamedTuple):
    """What is asked of groups, and what withholding costs."""

    k: int
    column_bits: Words  # of the values of each sensitive column
    wanted: Numbers  # different values of each; empty if they are not counted
    gains: Shares  # of withholding beyond generalizing, by joint level and code
    budget: int  # records that may be withheld


class Nodes(NamedTuple):
    """What is known of all nodes, one after the other: the last column's levels run fastest."""

    state: Kinds  # open, infeasible, feasible
    extra: Shares  # what withholding costs at least
    bound: Shares  # what generalizing costs
    stride: Numbers  # by column
    shape: Numbers  # levels of every column
    corner: Numbers  # the lowest levels that could be feasible
    entropies: Shares  # by column and level


class Seen(NamedTuple):
    """Feasible nodes that were checked."""

    number: Numbers  # of the node
    score: Shares
    withheld: Numbers
    best: Shares  # the least score
    totals: Numbers  # how many are seen, how many were checked


class Slots(NamedTuple):
    """Scratch space of a check; counts and bits are 0 between calls."""

    counts: Small
    bits: Words
    key: Words
    of_row: Small  # slot of every row


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
