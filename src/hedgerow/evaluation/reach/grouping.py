"""Group sizes of a table without one of its columns, or with one of them coarser, for every column in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hedgerow.microdata import Microdata, TreeColumn
from hedgerow.plan.hierarchy.limits import limit_of_leaves
from hedgerow.types import IntArray

ROOM = 2  # a table of so many entries per profile is laid out instead of sorting


@dataclass(frozen=True, eq=False)
class Sizes:
    """How many groups have how many people, and how many records these groups hold.

    People are different persons, or records if no person key is named.
    """

    people: IntArray
    groups: IntArray
    records: IntArray

    @property
    def all_people(self) -> int:
        """People of all groups; one in two groups counts twice."""
        return int(self.people @ self.groups)

    @property
    def all_records(self) -> int:
        """Records of all groups."""
        return int(self.records.sum())

    @property
    def alone(self) -> int:
        """Groups of one."""
        return int(self.groups[self.people == 1].sum())

    def below(self, k: int) -> int:
        """Return how many records are in groups of fewer than k people."""
        return int(self.records[self.people < k].sum())


@dataclass(frozen=True, eq=False)
class Profiles:
    """Different combinations of codes, with what they hold.

    Attributes
    ----------
    codes, domains
        Code of every profile in every column, and how many codes the column has.
    records
        Records of every profile.
    holds
        Pairs of profile and person, each once; None if every record is a person of its own.
    """

    codes: tuple[IntArray, ...]
    domains: tuple[int, ...]
    records: IntArray
    holds: tuple[IntArray, IntArray] | None

    @classmethod
    def of(cls, microdata: Microdata) -> Profiles:
        """Take over the profiles of microdata, columns in the plan's order."""
        codes = tuple(microdata.codes(position).astype(np.int64) for position in range(len(microdata.columns)))
        domains = tuple(column.domain_size for column in microdata.columns)
        holds = None
        if microdata.person_of is not None:
            holds = _different(microdata.profile_of_unit, microdata.person_of)
        return cls(codes, domains, microdata.counts, holds)

    def sizes(self, group_of: IntArray, groups: int) -> Sizes:
        """Return the sizes of groups of profiles."""
        records = _sums(group_of, self.records, groups)
        people = records
        if self.holds is not None:
            pairs = _different(group_of[self.holds[0]], self.holds[1])
            people = np.bincount(pairs[0], minlength=groups)
        groups_of_size = np.bincount(people)
        size = np.flatnonzero(groups_of_size)
        return Sizes(size, groups_of_size[size], _sums(people, records, len(groups_of_size))[size])

    def without(self, column: int) -> Profiles:
        """Return the profiles after dropping a column."""
        kept = [position for position in range(len(self.codes)) if position != column]
        group_of, groups = np.zeros(len(self.records), np.int64), 1
        for position in kept:
            group_of, groups = refine(group_of, groups, self.codes[position], self.domains[position])
        first = np.zeros(groups, np.int64)
        first[group_of] = np.arange(len(group_of))  # any member of a group: they agree on what is kept
        holds = None if self.holds is None else _different(group_of[self.holds[0]], self.holds[1])
        return Profiles(
            tuple(self.codes[position][first] for position in kept),
            tuple(self.domains[position] for position in kept),
            _sums(group_of, self.records, groups),
            holds,
        )

    def without_each(self) -> Iterator[tuple[IntArray, int]]:
        """Yield, for every column, the groups of profiles that agree on all others, and how many there are.

        Profiles that agree on the columns before it have one number, and those that agree on the columns after it have
        one: the pair says it all, so every column costs three sorts however many columns there are.
        """
        after = [(np.zeros(len(self.records), np.int64), 1)]
        for codes, domain in zip(self.codes[:0:-1], self.domains[:0:-1], strict=True):
            after.append(refine(*after[-1], codes, domain))
        before = (np.zeros(len(self.records), np.int64), 1)
        for codes, domain in zip(self.codes, self.domains, strict=True):
            yield refine(*before, *after.pop())
            before = refine(*before, codes, domain)


def refine(group_of: IntArray, groups: int, codes: IntArray, domain: int) -> tuple[IntArray, int]:
    """Split groups by codes; return the new group of every member, and how many groups there are.

    Examples
    --------
    >>> refine(np.array([0, 0, 1, 1]), 2, np.array([5, 7, 5, 5]), 8)
    (array([0, 1, 2, 2]), 3)
    """
    if groups == len(group_of) and groups > 1:
        return group_of, groups  # all are apart already
    keys = group_of * domain + codes
    if groups * domain <= ROOM * len(keys):
        seen = np.zeros(groups * domain, bool)
        seen[keys] = True
        number = np.cumsum(seen) - 1
        return number[keys], int(number[-1]) + 1
    return _numbered(keys, groups * domain)


def _numbered(keys: IntArray, most: int) -> tuple[IntArray, int]:
    """Number keys, all below ``most``, from 0 in ascending order; also return how many different ones there are."""
    bits = len(keys).bit_length()
    if most >> (62 - bits):
        different, which = np.unique(keys, return_inverse=True)
        return which.astype(np.int64, copy=False), len(different)
    words = np.sort(keys << bits | np.arange(len(keys)))  # key and place in one word: sorting words is quickest
    places = words & ((1 << bits) - 1)
    words >>= bits
    number = np.zeros(len(keys), np.int64)
    number[places[1:]] = np.cumsum(words[1:] != words[:-1])
    return number, int(number[places[-1]]) + 1


def coarser_codes(column: TreeColumn) -> Iterator[tuple[int, IntArray]]:
    """Yield the levels that change anything, with the node of every code; the top, if it mixes all, is left out.

    A value stops at its limit, as on the lattice.
    """
    tree = column.hierarchy
    limit = limit_of_leaves(tree, column.marked) if column.marked else np.zeros(column.domain_size, np.int64)
    before = tree.leaf_nodes
    for level in range(1, tree.height + 1):
        nodes = tree.ancestors_at_level(level)
        nodes = tree.node_of_label[np.where(tree.depths[nodes] < tree.depths[limit], limit, nodes)]
        if len(np.unique(nodes)) > 1 and not np.array_equal(nodes, before):
            yield level, nodes
        before = nodes


def _sums(group_of: IntArray, values: IntArray, groups: int) -> IntArray:
    return np.bincount(group_of, values, minlength=groups).astype(np.int64)  # exact: far below 2**53


def _different(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different pairs of two arrays."""
    width = int(second.max(initial=0)) + 1
    keys = np.unique(first.astype(np.int64) * width + second)
    return keys // width, keys % width
