"""A block that is solved exactly: see ``exact_blocks.py``."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.anonymization.kernels.tuples.arrays import Flags, Numbers, NumberTable, Small


class Block(NamedTuple):
    """Desk of exact solving: the records of a block, numbered from 0, over the attributes that vary among them."""

    unit: Numbers  # of every record
    kind: Numbers  # the first record that is like this one
    rank: NumberTable  # of its code among those that occur, by attribute
    costs: Small  # by attribute, least and greatest rank
    first_cost: Numbers  # of every attribute
    codes: Numbers  # how many occur, by attribute
    apart: NumberTable  # cost of the box of two records
    near: NumberTable  # the other records, nearest first, those alike together
    level: Numbers  # which group a record is in; −1: in none yet


class Remainders(NamedTuple):
    """Desk of exact solving: by group, what is left when it begins."""

    left: Numbers  # records
    lost: Numbers  # by the groups before it
    floor: NumberTable  # what each record that is left costs at least
    floors: Numbers  # all of these together
    dearest: NumberTable  # the greatest of them added up: none, the first, the first two, …
    pivot_floor: Numbers  # the greatest of all, that of the group's first record
    least: Numbers  # by record: what the cheapest k records with it cost as a group, each


class Frames(NamedTuple):
    """Desk of exact solving: groups with one, two, … records, one inside the other; first those of the first group."""

    record: Numbers  # the last one
    size: Numbers
    cost: Numbers  # per record
    floors: Numbers  # of its records
    lower: NumberTable  # ranks of the box
    upper: NumberTable
    tried: Flags  # whether it was taken as it is
    many: Numbers  # records that may come next
    next: Numbers  # which of them does
    listed: NumberTable  # these records, cheapest first
    price: NumberTable  # cost with each
    out: Numbers  # if there are two groups left: records that are in the other,
    out_cost: Numbers  # and its box
    out_lower: NumberTable
    out_upper: NumberTable


class ExactDesk(NamedTuple):
    """Scratch space of exact solving."""

    block: Block
    levels: Remainders
    frames: Frames
    best: Numbers  # group of every record, as well as is known
    units: Numbers  # of a group that is checked
