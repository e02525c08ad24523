"""Households: records that are published linked, and the microdata in which each household is one unit.

A household is what the plan's ``unit`` names: people who live together, or the rows of one person over time. Whoever
publishes its number publishes all of it, so the household has to be one of k: with its size, and the values of all
its members. So households of one size are laid out as *wide* microdata, one unit for each, with the columns of its
first member, its second and so on. Whatever forms groups of records forms groups of these.

Which member comes first is told by their values alone: by limits first, since members under different limits never
share a group; then by the columns that the plan matches by; then by all others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.errors import DataError, Problem
from hedgerow.microdata.columns import Encoded, QuasiIdentifier
from hedgerow.microdata.ordering import Words, number_rows, order_by, pack, starts_of_runs
from hedgerow.types import IntArray

if TYPE_CHECKING:
    from hedgerow.microdata.microdata import Microdata

MEMBER = "\0"
"""Stands between the name of a column and the number of a member: no column has it in its name."""


@dataclass(frozen=True, eq=False)
class Households:
    """Which records belong together.

    Attributes
    ----------
    of
        Household of every unit of the microdata, numbered without gaps in no order that means anything.
    rest
        Rank, for every unit, of what is released of its record as it is.
    same
        Columns that have one value in each household.
    order
        Quasi-identifiers by which members are matched first.
    """

    of: IntArray
    rest: IntArray
    same: frozenset[str]
    order: tuple[str, ...]

    @property
    def count(self) -> int:
        """Number of households."""
        return int(self.of.max(initial=-1)) + 1

    def of_units(self, units: IntArray) -> Households:
        """Return the households of some of the records."""
        number = np.unique(self.of[units], return_inverse=True)[1].reshape(-1)
        return replace(self, of=number, rest=self.rest[units])


@dataclass(frozen=True, eq=False)
class Wide:
    """The households of one size, each one unit.

    Attributes
    ----------
    microdata
        A unit for every household; a column for each that is the same in a household, and one for each member of the
        others.
    members
        Units of the microdata of records: a row for every unit, a column for every member.
    sensitive_of
        The sensitive column of the records' microdata that each of the wide ones is, by position.
    """

    microdata: Microdata
    members: IntArray
    sensitive_of: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of members."""
        return int(self.members.shape[1])


def sizes_of_households(households: Households) -> IntArray:
    """Return the number of records of every household."""
    return np.bincount(households.of, minlength=households.count)


def widen(microdata: Microdata, ignore_limits: bool = False) -> Iterator[Wide]:
    """Lay out the households of every size as microdata of their own, the smallest first."""
    households = microdata.households
    assert households is not None
    codes = [microdata.codes(position)[microdata.profile_of_unit] for position in range(len(microdata.columns))]
    order = _members_in_order(microdata, codes, ignore_limits)
    sizes = sizes_of_households(households)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    for size in np.unique(sizes).tolist():
        members = order[first[sizes == size][:, None] + np.arange(size)]
        yield _wide(microdata, codes, members)


def _members_in_order(microdata: Microdata, codes: list[IntArray], ignore_limits: bool) -> IntArray:
    """Return all units, household by household, the members of each in the order in which they are matched."""
    households = microdata.households
    assert households is not None
    of_members = [position for position, column in enumerate(microdata.columns) if column.name not in households.same]
    keys: list[IntArray] = []
    for position in of_members:
        column = microdata.columns[position]
        _, least, number = np.unique(
            column.free_keys if ignore_limits else column.limit_keys, return_index=True, return_inverse=True
        )
        keys.append(least[number.reshape(-1)][codes[position]])  # the least code under the same limit
    names = [column.name for column in microdata.columns]
    named = [names.index(name) for name in households.order]
    keys += [codes[position].astype(np.int64) for position in dict.fromkeys([*named, *of_members])]
    keys += [column + 1 for column in microdata.sensitive_of.T]
    keys = [households.of, *keys, households.rest]
    return order_by(pack(keys, [int(key.max(initial=0)) + 1 for key in keys]))


def _wide(microdata: Microdata, codes: list[IntArray], members: IntArray) -> Wide:
    from hedgerow.microdata.microdata import collapse  # which makes households too

    households = microdata.households
    assert households is not None
    size = members.shape[1]
    encoded, sensitive, which = [], [], []
    for position, column in enumerate(microdata.columns):
        if column.name in households.same:
            whole = replace(column, weight=column.weight * size)
            encoded.append(Encoded(whole, codes[position][members[:, 0]], None))
            continue
        for member in range(size):
            named: QuasiIdentifier = replace(column, name=f"{column.name}{MEMBER}{member}")
            encoded.append(Encoded(named, codes[position][members[:, member]], None))
    none = np.zeros(0, np.int64)
    for position, values in enumerate(microdata.sensitive):
        times = 1 if values.name in households.same else size
        for member in range(times):
            one = replace(values, name=f"{values.name}{MEMBER}{member}") if times > 1 else values
            sensitive.append((one, microdata.sensitive_of[members[:, member], position], none))
            which.append(position)
    tied = [*(microdata.sensitive_of[:, position] + 1 for position in range(len(microdata.sensitive)))]
    tied.append(households.rest)
    ties = [(key[members[:, member]], int(key.max(initial=0)) + 1) for member in range(size) for key in tied]
    wide = collapse(encoded, sensitive, None, ties)
    return Wide(wide, members[wide.record_of], tuple(which))


def kinds_of_households(households: Households, group_of: IntArray) -> IntArray:
    """Number the different households that are published: those of one number have the same multiset of groups.

    Returns the number of every household; ``group_of`` has the group of every record.
    """
    kind_of = np.zeros(households.count, np.int64)
    order = order_by(pack([households.of, group_of], [households.count, int(group_of.max(initial=0)) + 1]))
    sizes = sizes_of_households(households)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    kinds = 0
    for size in np.unique(sizes).tolist():
        those = sizes == size
        members = group_of[order[first[those][:, None] + np.arange(size)]]
        number, found = number_rows(list(members.T))
        kind_of[those] = kinds + number
        kinds += found
    return kind_of


def released_households(microdata: Microdata, group_of: IntArray) -> tuple[Microdata, IntArray]:
    """Return the records that are in a group, with their groups; a household is released whole or not at all."""
    inside = np.flatnonzero(group_of >= 0)
    return (microdata, group_of) if len(inside) == len(group_of) else (microdata.of_units(inside), group_of[inside])


def alike_by_kind(microdata: Microdata, group_of: IntArray) -> tuple[IntArray, IntArray]:
    """Return, for every kind of household that is published, its records, and the households that are of it."""
    part, groups = released_households(microdata, group_of)
    assert part.households is not None
    kind_of = kinds_of_households(part.households, groups)
    return np.bincount(kind_of[part.households.of]), np.bincount(kind_of)


def drawn_numbers(households: Households, content: Words, release: str) -> IntArray:
    """Draw a number from 1 on for every household, that tells nothing of it but that its records belong together.

    Parameters
    ----------
    households
        All that are released.
    content
        What is published of every record, as words.
    release
        What tells this release from others: the draw follows from it. Only what is published may be in it.

    The order of the draw is that of what the households publish. Those that publish the same are the same to everybody,
    so neither their numbers before nor the order of the rows plays a part.
    """
    order = order_by([households.of.astype(np.uint64), *content])
    starts = starts_of_runs([households.of[order].astype(np.uint64)])
    sizes = np.diff(np.append(starts, len(order)))
    published: dict[int, bytes] = {}
    digest = hashlib.sha256(release.encode())
    matrix = np.stack([word[order] for word in content], axis=1).astype(">u8")
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        published[int(households.of[order[start]])] = matrix[start : start + size].tobytes()
    in_order = sorted(published, key=published.__getitem__)
    for household in in_order:
        digest.update(hashlib.sha256(published[household]).digest())
    key = digest.digest()
    drawn = sorted(range(len(in_order)), key=lambda place: hashlib.sha256(key + place.to_bytes(8, "big")).digest())
    numbers = np.zeros(households.count, np.int64)
    numbers[np.array(in_order, np.int64)[np.array(drawn, np.int64)]] = np.arange(1, len(drawn) + 1)
    return numbers


def check_same(name: str, ranks: IntArray, household_of: IntArray) -> None:
    """Refuse a column that is said to be the same in every household, and is not.

    Raises
    ------
    DataError
        Counting the households; no value is shown.
    """
    order = order_by(pack([household_of, ranks], [int(household_of.max(initial=0)) + 1, int(ranks.max(initial=0)) + 1]))
    household, rank = household_of[order], ranks[order]
    starts = starts_of_runs([household.astype(np.uint64)])
    if not len(starts):
        return
    last = np.append(starts[1:], len(order)) - 1
    differing = int((rank[starts] != rank[last]).sum())
    if differing:
        message = f"Column {name!r} is not the same for all records of a unit: it differs within {differing:,} units."
        hint = "take it out of 'unit.same', or make it the same in the data"
        raise DataError(Problem("differs-in-unit", message, hint=hint))
