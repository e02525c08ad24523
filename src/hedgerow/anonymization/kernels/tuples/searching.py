"""What boxes cost, and the index of greedy clustering: see ``search_index.py``."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.anonymization.kernels.tuples.arrays import Kinds, Numbers, Small


class Prices(NamedTuple):
    """What boxes cost, by attribute: see ``search_index.py``."""

    kind: Kinds  # TABLE, STEPS or FREE
    offset: Numbers  # where the attribute's part of the costs begins
    width: Numbers  # different codes
    costs: Small


class Forest(NamedTuple):
    """Prefix trees over codes. Nodes are numbered level by level, siblings together and ascending."""

    level_start: Numbers  # first node of every level, and the total
    value: Numbers  # code of every node
    child: Numbers  # first child of every node; that of the next is the end
    parent: Numbers  # −1 at the top
    alive: Numbers  # records left below every node
    leaf: Numbers  # rank for ties of the first leaf below
    rightward: Numbers  # jumps over nodes without records, shortened as they are used
    leftward: Numbers


class SearchDesk(NamedTuple):
    """What a search in a forest remembers of its way, by level."""

    at: Numbers  # the run of siblings that is looked at
    upto: Numbers
    low: Numbers  # what is left on both sides of it
    high: Numbers
    begin: Numbers  # all siblings
    end: Numbers
    partial: Numbers  # cost so far


class People(NamedTuple):
    """Who the units of a cell are."""

    person: Numbers  # of every unit; empty if there is no key
    stamp: Numbers  # by person, the last group that took one of its units
    live: Numbers  # 1 if a unit is in no group yet
    jump: Numbers  # jumps over units that are
