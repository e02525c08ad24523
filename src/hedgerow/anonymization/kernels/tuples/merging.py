"""Clusters that are merged: see ``merging.py`` of the kernels."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.anonymization.kernels.tuples.arrays import Flags, Numbers, Small, Words


class Merging(NamedTuple):
    """Clusters that are merged; at first each profile is one."""

    lo: Numbers  # boxes
    hi: Numbers
    records: Numbers  # how many
    bits: Words  # sensitive values that occur
    alive: Flags  # not merged into another
    partner: Numbers  # that it was merged into, −1 if none
    head: Numbers  # first and last profile
    tail: Numbers
    following: Numbers  # next profile of the same cluster
    hidden: Flags  # cells that are not shown, by profile and attribute


class MergePrices(NamedTuple):
    """What boxes cost when clusters are merged."""

    terms: Numbers  # KIND … LAST_RULE of every attribute
    costs: Numbers  # tables, ends of intervals, rules


class MergeAsked(NamedTuple):
    """What is asked of clusters that are merged, and of merges."""

    k: int
    wanted: Numbers  # different values by sensitive column
    word_start: Numbers  # first word of every sensitive column's bits, and the total
    may_hide: Flags  # by attribute
    whole: Numbers  # cost of showing nothing, by attribute
    overlap: Flags  # by attribute, whether ranges must not partially overlap
    hides: bool  # whether any attribute may hide
    special: bool  # whether any may hide or must not overlap


class Family(NamedTuple):
    """Ranges of codes that no other range may partially overlap, by attribute."""

    starts: Numbers
    ends: Numbers
    uses: Numbers  # clusters that have the range; 0 if the place is free
    total: Numbers  # places in use so far


class BoxTree(NamedTuple):
    """The tree over the boxes of a cell."""

    order: Numbers  # clusters, leaf by leaf
    leaf_of: Numbers  # leaf of every cluster
    links: Numbers  # LEFT … MOST of every node
    reach: Small  # codes that a merge with any cluster below reaches
