"""Regions of two versions and the rows in them: see ``regions.py`` of the kernels."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.anonymization.kernels.tuples.arrays import Flags, Numbers, Small


class Hulls(NamedTuple):
    """Boxes in runs, in an order in which neighbours stand together, and what every eight of them lie in, and so on."""

    lo: Small  # ends of all boxes
    hi: Small
    box: Numbers  # which box stands at every position
    item: Numbers  # what stands there
    first: Numbers  # first position of every run, and the total
    level: Numbers  # first node of every run (rows) on every level (columns)
    node_lo: Small  # ends of what the boxes below every node lie in
    node_hi: Small
    left: Numbers  # boxes below every node that were not taken


class Holdings(NamedTuple):
    """Old rows and the new rows that they are placed among. A cell is a group's rows of one value."""

    lo: Small  # boxes of the old groups
    hi: Small
    box: Numbers  # the one of every old cell
    group: Numbers  # of every new cell
    value: Numbers
    free: Numbers  # rows of every new cell that no old row is placed in
    head: Numbers  # first holding in every new cell, −1 if none
    follow: Numbers  # the next holding in the same new cell
    holder: Numbers  # old cell of every holding
    rows: Numbers  # how many of its rows
    used: Numbers  # holdings, searches and moves so far


class HoldingDesk(NamedTuple):
    """What a search for a place remembers of its way, and the moves that were made."""

    dead: Flags  # old cells from which no way leads to a free row
    seen_old: Numbers  # the last search that came by
    seen_new: Numbers
    from_new: Numbers  # the new cell that an old one would leave
    from_old: Numbers  # the old cell that would take a place in a new one
    queue: Numbers
    found: Numbers
    move_old: Numbers  # moves: which old cell
    move_new: Numbers  # into or out of which new one
    move_step: Numbers  # by how many rows; ±2: the holding was made for it
