"""What a bound looks at: see ``closed_boxes.py`` and ``ascent.py``."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.anonymization.kernels.tuples.arrays import Codes, Numbers, Shares, Small


class Ranges(NamedTuple):
    """The ranges that boxes are made of, by column."""

    levels: Numbers  # levels of a tree column; 0 of others, whose ranges are all intervals
    start: Numbers  # where the column's part begins: of the paths, or of the ends by code
    path: Small  # tree columns: node by code and depth, from the root on; below a leaf, the leaf
    cost: Numbers  # by node
    depth: Numbers
    leaf: Numbers  # 1 if it has no nodes below
    lower: Codes  # others: ends by code, as ``neighbours.price`` takes them
    upper: Codes
    left: Numbers  # the same as they are published
    right: Numbers
    widest: Numbers  # by column, the greatest width allowed; −1 without


class BoxSearch(NamedTuple):
    """The profiles of a block, dearest first."""

    codes: Codes
    counts: Numbers
    cap: Numbers  # the most that a record of it may be priced at
    k: int


class BoxDesk(NamedTuple):
    """What the search for boxes remembers, see ``closed_boxes.py``."""

    frame: Numbers
    listed: Small
    low: Numbers
    high: Numbers
    tally: Numbers
    place: Numbers
    child: Numbers
    values: Numbers


class Found(NamedTuple):
    """Boxes and the profiles in them."""

    start: Numbers
    member: Small
    cost: Numbers
    rest: Numbers  # the most that a record in the box is priced at which is not listed; −1 if none matters


class Walk(NamedTuple):
    """Where the search for prices stands."""

    place: Shares  # price by profile
    way: Shares  # direction
    length: Shares  # of a step: one number
