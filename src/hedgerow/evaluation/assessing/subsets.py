"""Which combinations of columns single people out: counted for every combination up to a size, none guessed.

A combination singles somebody out if nobody else has these values in it; then so does every larger one. What is worth
knowing are therefore the *smallest* combinations of each person: those of which every column is needed. (Elliot et al.
2002 call them minimal sample uniques.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from hedgerow.evaluation.assessing.people import Crowd, split
from hedgerow.types import IntArray, Progress

Flags = npt.NDArray[np.bool_]
Bits = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Chosen = tuple[int, ...]
USUAL_SIZE = 3
MOST_WORK = 300_000_000
"""Units times combinations, up to which all combinations of a size are looked at unless somebody asks for more."""
MOST_SCORED = 20
"""Columns up to which units get scores: beyond, one column less would count more than all else together."""
TELL = "combinations"


@dataclass(frozen=True)
class Subset:
    """What a combination of columns tells apart.

    Attributes
    ----------
    columns
        Positions of the columns.
    groups, smallest
        How many different combinations of values occur, and the number of people in the smallest such group.
    unique
        People whom it singles out.
    smallest_of
        People whom it singles out, but none of its columns can be missed.
    """

    columns: Chosen
    groups: int
    smallest: int
    unique: int
    smallest_of: int


@dataclass(frozen=True)
class Subsets:
    """All combinations up to a size.

    Attributes
    ----------
    size
        The size up to which all were looked at.
    listed
        The combinations, those of fewer columns first.
    singled_out
        People whom one of them singles out.
    needed
        By column: people of whom a smallest combination has it.
    score
        By unit: what its smallest combinations count together; 0 if there are too many columns to score.
    whole_score, part_of_score
        What the smallest combinations of all records count together; and, by column, those that have it.
    """

    size: int
    listed: tuple[Subset, ...]
    singled_out: int
    needed: tuple[int, ...]
    score: Floats
    whole_score: float
    part_of_score: tuple[float, ...]


def affordable_size(columns: int, units: int) -> int:
    """Return the size up to which all combinations are looked at if nobody says: 3, or less where that takes long.

    Examples
    --------
    >>> affordable_size(9, 30_000), affordable_size(36, 200_000), affordable_size(2, 100)
    (3, 2, 2)
    """
    size = work = 0
    while size < min(USUAL_SIZE, columns):
        work += math.comb(columns, size + 1) * units
        if size and work > MOST_WORK:
            break
        size += 1
    return size


def every_subset(people: Crowd, size: int, tell: Progress) -> Subsets:
    """Look at every combination of at most so many columns."""
    columns = len(people.codes)
    values = [int(column.max(initial=0)) + 1 for column in people.codes]
    total = sum(math.comb(columns, length) for length in range(1, size + 1))
    listed: list[Subset] = []
    by_some = np.zeros(people.units, bool)
    needs = [np.zeros(people.units, bool) for _ in range(columns)]
    score = np.zeros(people.units)
    whole_score, part_of_score = 0.0, [0.0] * columns
    below: dict[Chosen, Bits] = {}  # combinations of one column less: whom they single out, a bit for each unit
    for length in range(1, size + 1):
        found: dict[Chosen, Bits] = {}
        for chosen, group, groups in _of_length(people.codes, values, length):
            tell(TELL, len(listed), total)
            sizes = people.in_groups(group, groups)
            alone: Flags = sizes[group] == 1
            smallest = alone.copy()
            for shorter in combinations(chosen, length - 1) if length > 1 else ():
                smallest &= ~np.unpackbits(below[shorter], count=people.units).view(bool)
            counts_for = float(math.factorial(columns - length)) if columns <= MOST_SCORED else 0.0
            score[smallest] += counts_for
            of_records = counts_for * float(people.records[smallest].sum())
            whole_score += of_records
            for position in chosen:
                needs[position] |= smallest
                part_of_score[position] += of_records
            by_some |= smallest
            found[chosen] = np.packbits(alone)
            of_smallest = len(np.unique(group[smallest]))
            unique = int((sizes == 1).sum())
            listed.append(Subset(chosen, groups, int(sizes.min()), unique, of_smallest))
        below = found
    needed = tuple(people.number(flags) for flags in needs)
    return Subsets(size, tuple(listed), people.number(by_some), needed, score, whole_score, tuple(part_of_score))


def without_each(people: Crowd) -> list[int]:
    """Count, for every column, the people whom all the others together still single out.

    The columns are left out by halves, so that each is told apart by far fewer steps than one by one.
    """
    found = [0] * len(people.codes)
    values = [int(column.max(initial=0)) + 1 for column in people.codes]

    def descend(group: IntArray, groups: int, left: Sequence[int]) -> None:
        if len(left) == 1:
            found[left[0]] = int((people.in_groups(group, groups) == 1).sum())
            return
        half = len(left) // 2
        for kept, other in ((left[:half], left[half:]), (left[half:], left[:half])):
            finer, number = group, groups
            for position in other:
                finer, number = split(finer, people.codes[position], values[position])
            descend(finer, number, kept)

    descend(np.zeros(people.units, np.int64), 1, range(len(people.codes)))
    return found


def all_together(people: Crowd) -> tuple[IntArray, int]:
    """Return the group of every unit by all columns."""
    group, groups = np.zeros(people.units, np.int64), 1
    for column in people.codes:
        group, groups = split(group, column, int(column.max(initial=0)) + 1)
    return group, groups


def _of_length(codes: Sequence[IntArray], values: Sequence[int], length: int) -> Iterator[tuple[Chosen, IntArray, int]]:
    """Give every combination of so many columns, with the group of every unit; those that begin alike share work."""

    def descend(chosen: Chosen, group: IntArray, groups: int) -> Iterator[tuple[Chosen, IntArray, int]]:
        first = chosen[-1] + 1 if chosen else 0
        for position in range(first, len(codes) - (length - len(chosen)) + 1):
            finer, number = split(group, codes[position], values[position])
            if len(chosen) + 1 == length:
                yield (*chosen, position), finer, number
            else:
                yield from descend((*chosen, position), finer, number)

    yield from descend((), np.zeros(len(codes[0]), np.int64), 1)
