"""Clusters that change: see ``clusters.py``."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.anonymization.kernels.tuples.arrays import Codes, Numbers, Small
from hedgerow.anonymization.kernels.tuples.asked import Models, Trees


class State(NamedTuple):
    """Records in canonical order, and clusters that change."""

    codes: Codes  # of every profile
    profile: Numbers  # of every record
    cell: Numbers  # of every record
    place: Numbers  # cluster of every record, −1 in none
    following: Small  # next record of the same cluster
    box: Small  # lower, then upper codes of every cluster
    info: Numbers  # SIZE … LOOSE of every cluster
    used: Numbers  # NUMBERED, LOOSENED


class Index(NamedTuple):
    """The prefix tree over the boxes of clusters, level by level, and the tree of loose clusters."""

    low: Small  # codes of every node
    high: Small
    dear: Small  # cost of these codes
    smallest: Small  # least size of a cluster below
    lowest: Small  # least number of a cluster below
    child: Numbers  # first child of every node; that of the next is the end
    begin: Numbers  # on the last level, first cluster of every node in the order
    roots: Numbers  # first top node of every cell, and the total
    order: Numbers  # clusters in the order of the tree
    reach: Small  # loose: greatest lower and least upper codes below, and the dearest costs
    about: Numbers  # loose: SMALLEST … LAST_CELL below
    head: Numbers  # loose: first cluster of every leaf


class Asked(NamedTuple):
    """What is asked of clusters."""

    k: int
    lasts: bool  # whether a cluster that holds still does with any record added
    sensitive: Numbers  # codes by record and column, −1 if missing
    value_start: Numbers  # first value of every column among all, and the total
    overall: Numbers  # the whole table's counts of all values
    models: Models
    trees: Trees
    person: Numbers  # of every record; empty if there is no key
    widest: Numbers  # greatest width by attribute, −1 without
    ends: Numbers  # published lower, then upper ends of all codes of the attributes that have one
    end_start: Numbers  # first end of every attribute, and the total


class ClusterDesk(NamedTuple):
    """Space for counting values, and what a search for clusters remembers of its way."""

    histogram: Numbers
    at: Numbers  # by level of the prefix tree: the next node, the end, the sum so far, the hull's cost so far
    end: Numbers
    sums: Numbers
    hulls: Numbers
    stack: Numbers  # in the tree of loose clusters: nodes to look at, and their bounds
    floors: Numbers
    codes: Numbers  # of the record that is looked for


class Covers(NamedTuple):
    """What clusters are published as, in a balanced tree: 1 is its root, 2i and 2i + 1 are below i."""

    order: Numbers  # clusters in the order of the leaves
    first: Small  # by node: least cell and published codes
    last: Small  # by node: greatest cell and published codes
    cheapest: Numbers  # by node: least cost
    lowest: Numbers  # by node: least number of a cluster
