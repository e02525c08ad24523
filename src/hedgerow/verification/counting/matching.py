"""Which rows a row may be one of, where a missing cell matches anything.

Two rows *match* if they agree in every quasi-identifier that both show. A row matches those of its own group at least,
so groups that are large enough by themselves are never looked at. The others are compared mask by mask: groups that
show the same columns have the same *mask*, and with those of another mask they are compared on what both show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.types import BoolArray, IntArray
from hedgerow.verification.counting.arrays import distinct
from hedgerow.verification.counting.histograms import Histograms

LARGEST_KEY = 1 << 62


@dataclass(frozen=True, eq=False)
class Meeting:
    """Groups that ask which groups they match, and groups that answer because they match some of them.

    Attributes
    ----------
    asking, answering
        The groups; none is in both.
    asking_keys, answering_keys
        A number from 0 for each; those with the same number match.
    keys
        How many numbers there are.
    """

    asking: IntArray
    asking_keys: IntArray
    answering: IntArray
    answering_keys: IntArray
    keys: int


@dataclass(frozen=True, eq=False)
class Matches:
    """The groups of a release, compared with one another.

    Attributes
    ----------
    codes
        The label of every group in every quasi-identifier; −1 is missing. No two groups are the same.
    sizes
        Rows of every group.

    Examples
    --------
    Of F 30, F missing and M 30, the second matches both others, if sex is not missing only the first.

    >>> Matches(np.array([[0, 0], [-1, 0], [1, 0]]), np.array([2, 1, 1])).fewest_rows(2)
    2
    >>> Matches(np.array([[0, 0], [0, -1], [1, 0]]), np.array([2, 1, 1])).fewest_rows(2)
    1
    """

    codes: IntArray
    sizes: IntArray

    @cached_property
    def groups_by_mask(self) -> dict[int, IntArray]:
        """The groups of every mask, which is a number with one bit for each column that they show."""
        shown = np.packbits(self.codes >= 0, axis=1, bitorder="little")
        masks, mask_of = np.unique(shown, axis=0, return_inverse=True)
        order = np.argsort(mask_of.reshape(-1), kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(mask_of.reshape(-1)))[:-1])
        return {int.from_bytes(mask.tobytes(), "little"): part for mask, part in zip(masks, parts, strict=True)}

    def fewest_rows(self, asked: int) -> int:
        """Return the least number of rows that a row matches, itself included."""
        return _least(self.sizes, self.rows, asked)

    def fewest_values(self, values: Histograms, asked: int) -> int:
        """Return the least number of different values among the rows that a row matches, itself included."""
        return _least(values.distinct, lambda enough: self.values(values, enough), asked)

    def rows(self, enough: int) -> IntArray:
        """Count the rows that every group matches; what is not below ``enough`` may be more."""
        found = self.sizes.copy()
        asking = found < enough
        for meetings in self.meetings(asking):
            for meeting in meetings:
                rows = np.zeros(meeting.keys, np.int64)
                np.add.at(rows, meeting.answering_keys, self.sizes[meeting.answering])
                found[meeting.asking] += rows[meeting.asking_keys]
            asking &= found < enough
        return found

    def values(self, values: Histograms, enough: int) -> IntArray:
        """Count the different values among the rows that every group matches; what is not below ``enough`` may be more.

        No more than ``enough`` values are taken from one meeting, so it does not matter how many there are.
        """
        width, groups = max(values.classes, 1), len(self.sizes)
        first = np.searchsorted(values.group, np.arange(groups + 1))
        found = values.distinct.copy()
        asking = found < enough
        own = asking[values.group]
        seen = values.group[own] * width + values.code[own]
        for meetings in self.meetings(asking):
            new = [seen]
            for meeting in meetings:
                low, high = first[meeting.answering], first[meeting.answering + 1]
                held = distinct(np.repeat(meeting.answering_keys, high - low) * width + values.code[_ranges(low, high)])
                start = np.searchsorted(held, np.arange(meeting.keys + 1) * width)
                low = start[meeting.asking_keys]
                high = np.minimum(start[meeting.asking_keys + 1], low + enough)
                new.append(np.repeat(meeting.asking, high - low) * width + held[_ranges(low, high)] % width)
            seen = distinct(np.concatenate(new))
            found = np.maximum(found, np.bincount(seen // width, minlength=groups))
            asking &= found < enough
            seen = seen[asking[seen // width]]
        return found

    def meetings(self, asking: BoolArray) -> Iterator[Iterator[Meeting]]:
        """Bring the groups that ask together with all others that they match, each pair at most once.

        Answers come mask by mask, from the mask with most groups on. Between two of them ``asking`` may be changed, so
        that a group that has heard enough asks no more. Groups of one mask never match, as no two are the same.
        """
        waiting = dict(self.groups_by_mask)
        for mask, answering in sorted(self.groups_by_mask.items(), key=lambda item: (-len(item[1]), item[0])):
            waiting = {other: some for other, part in waiting.items() if len(some := part[asking[part]])}
            if not waiting:
                return
            yield self._meetings(mask, answering, waiting)

    def _meetings(self, mask: int, answering: IntArray, waiting: Mapping[int, IntArray]) -> Iterator[Meeting]:
        by_shared: dict[int, list[IntArray]] = {}
        for other, part in waiting.items():
            if other != mask:
                by_shared.setdefault(mask & other, []).append(part)
        for shared, parts in by_shared.items():
            together = np.concatenate([answering, *parts])
            keys = self._keys(together, shared)
            wanted, asking_keys = np.unique(keys[len(answering) :], return_inverse=True)
            place = np.minimum(np.searchsorted(wanted, keys[: len(answering)]), len(wanted) - 1)
            there = wanted[place] == keys[: len(answering)]
            yield Meeting(together[len(answering) :], asking_keys, answering[there], place[there], len(wanted))

    @cached_property
    def _label_counts(self) -> list[int]:
        return [int(most) + 1 for most in self.codes.max(axis=0, initial=-1)]

    def _keys(self, groups: IntArray, mask: int) -> IntArray:
        """Return one number for every group, the same for those that agree in the columns of a mask."""
        keys, room = np.zeros(len(groups), np.int64), 1
        for column, count in enumerate(self._label_counts):
            if not mask >> column & 1:
                continue
            if room > LARGEST_KEY // count:
                known, keys = np.unique(keys, return_inverse=True)
                room = len(known)
            keys = keys * count + self.codes[groups, column]
            room *= count
        return keys


def _least(own: IntArray, counts: Callable[[int], IntArray], asked: int) -> int:
    """Find the least count over all groups.

    ``counts`` returns counts that are exact below a bound. No count is below a group's own.
    """
    bound = max(asked, int(own.min())) + 1
    while True:
        least = int(counts(bound).min())
        if least < bound:
            return least
        bound *= 2


def _ranges(start: IntArray, stop: IntArray) -> IntArray:
    """Put the numbers of several ranges one after the other.

    Examples
    --------
    >>> _ranges(np.array([7, 3, 0]), np.array([9, 3, 2]))
    array([7, 8, 0, 1])
    """
    lengths = stop - start
    ends = np.cumsum(lengths)
    shifts: IntArray = np.repeat(start - (ends - lengths), lengths)
    return shifts + np.arange(len(shifts))
