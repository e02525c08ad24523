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
    hides: bool  # whether any attribute may hide


class Blocks(NamedTuple):
    """Runs of codes into which each attribute is cut, where what is published must be disjoint or equal."""

    begin: Numbers  # first place of every attribute's codes, and the total
    first: Numbers  # by code: first and last code of its block
    last: Numbers
    records: Numbers  # sums, by attribute one place more: records before a code that show it, and what they lose
    lost: Numbers
    begin_tree: Numbers  # first place of every attribute's nodes; −1 without a hierarchy
    leaf: Numbers  # by code: node of its leaf
    parent: Numbers  # by node
    node_first: Numbers  # first and last code under a node
    node_last: Numbers
    codes: Numbers  # of every profile, as it is
    units: Numbers  # records of every profile
    shown: Numbers  # records of every cluster that show something, by attribute
    cell: Numbers  # of every cluster
    slots: Numbers  # hash table of clusters, −1 where there is none
    filled: Numbers
    shift: int  # bits by which prices are rounded down, so that sums fit


class BoxTree(NamedTuple):
    """The tree over the boxes of a cell."""

    order: Numbers  # clusters, leaf by leaf
    leaf_of: Numbers  # leaf of every cluster
    links: Numbers  # LEFT … MOST of every node
    reach: Small  # codes that a merge with any cluster below reaches
