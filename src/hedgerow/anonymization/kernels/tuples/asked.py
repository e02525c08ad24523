"""What is asked of groups."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.anonymization.kernels.tuples.arrays import Numbers, Shares


class Models(NamedTuple):
    """Models of attribute disclosure, one row each."""

    column: Numbers  # of the sensitive columns
    kind: Numbers  # as in privacy/codes.py
    a: Shares  # parameters, as ``diverse.lack`` takes them
    b: Shares
    c: Shares


class Trees(NamedTuple):
    """Trees of sensitive values, for the models that need one, one after the other."""

    parent: Numbers  # of every node
    height: Shares  # of every node, as a share of its tree's
    leaf_node: Numbers  # of every value
    node_start: Numbers  # first node of every model's tree, and the total
    leaf_start: Numbers  # first value likewise


class ValueTree(NamedTuple):
    """The tree of one model."""

    parent: Numbers
    height: Shares
    leaf_node: Numbers


class Demands(NamedTuple):
    """What is asked of groups of units, and space to count what they have: see ``demands.py``."""

    k: int
    what: int  # is asked beside k records: NOTHING … EVERYTHING
    person: Numbers  # of every unit; empty if there is no key
    stamp: Numbers  # desk: by person, the last group that counted it; then the number of that group
    sensitive: Numbers  # codes by unit and column, −1 if missing
    value_start: Numbers  # first value of every column among all, and the total
    overall: Numbers  # the whole table's counts of all values
    models: Models
    trees: Trees
    wanted: Numbers  # different values by column
    histogram: Numbers  # desk: counts of all values; empty between calls
    tally: Numbers  # desk: of a growing group, persons, then different values by column
    lasts: bool  # whether a group that holds still does with any unit added
