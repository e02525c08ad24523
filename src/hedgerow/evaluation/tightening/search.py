"""Taking the steps that pay most, while few enough records must be withheld.

A step pays what it takes off *loss at most*: what a release loses if every value becomes as coarse as its limit lets
it, a withheld record counting as lost altogether. What does not pay is not done. There are two ways to go on, and each
is the better one on some tables, so both are gone, and the better end is taken:

- thrift: steps that withhold nobody first, those that pay most before others; then those that pay most for each record
  that they withhold more;
- gain: the step that pays most.

Splitting a class changes only the blocks in it, so what all other steps come to stays known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.clustering.cells import find_cells, number_cells
from hedgerow.evaluation.tightening.columns import Classes, NumberClasses, Step
from hedgerow.microdata import Microdata, QuasiIdentifier
from hedgerow.microdata.ordering import number_rows
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray

MOST_EXACT = 1 << 62
"""Sums below this are added up in 64 bits."""

Tally = dict[int, npt.NDArray[np.object_]]
"""By class: records that its step withholds more; what the others lose less; what the former lose now, by column."""


@dataclass(frozen=True)
class Choice:
    """A step of a column with what it comes to: records withheld more, and loss at most taken off."""

    position: int
    step: Step
    withheld: int
    pays: Fraction

    @property
    def thrift(self) -> tuple[bool, Fraction]:
        """What it pays for each record that it withholds more."""
        return (True, self.pays) if not self.withheld else (False, self.pays / self.withheld)

    @property
    def gain(self) -> Fraction:
        """What it pays."""
        return self.pays


Rank = Callable[[Choice], Any]
"""The greater, the sooner a step is taken."""


def tighten(
    microdata: Microdata,
    requirement: Requirement,
    classes: Sequence[Classes],
    open_columns: Sequence[int],
    allowed: int,
    tell: Callable[[int], None],
) -> list[Classes]:
    """Tighten the limits of some columns while no more records are withheld than allowed.

    Parameters
    ----------
    microdata, requirement
        The records, and what must hold of every group.
    classes
        Every column under the limit that it begins with.
    open_columns
        Positions of the columns whose limits are proposed.
    allowed
        Records in blocks that must be withheld, at most.
    tell
        Called with the number of steps taken.
    """
    done = 0
    ends = []
    for rank in (attrgetter("thrift"), attrgetter("gain")):
        found = _Blocks(microdata, requirement, classes, open_columns)
        taken = [list(classes)]
        while (choice := found.best(allowed, rank)) is not None:
            found.take(choice)
            taken.append(list(found.classes))
            done += 1
            tell(done)
        while len(taken) > 1 and _withheld(microdata, requirement, taken[-1]) > allowed:
            taken.pop()  # a width that was there before withholds more: the last steps were too many
        end = _narrowed(microdata, requirement, taken[-1], open_columns, allowed)
        ends.append((_lost(microdata, requirement, end), end))
    return min(ends, key=itemgetter(0))[1]


class _Blocks:
    """The blocks that limits make, and what every step would come to."""

    def __init__(
        self, microdata: Microdata, requirement: Requirement, classes: Sequence[Classes], open_columns: Sequence[int]
    ) -> None:
        self.classes = list(classes)
        self._microdata, self._requirement, self._open = microdata, requirement, list(open_columns)
        of_unit = microdata.profile_of_unit
        self._codes = [microdata.codes(position)[of_unit].astype(np.int64) for position in range(len(classes))]
        self._weights = [Fraction(each.column.weight) for each in classes]
        whole = max((each.whole for each in classes), default=1)
        self._type = np.int64 if whole * max(len(of_unit), 1) < MOST_EXACT else np.object_
        self._block_of = number_cells(microdata.with_columns(columns_of(classes)))
        self._blocks = int(self._block_of.max(initial=-1)) + 1
        self._failing = requirement.fails(microdata, self._block_of, self._blocks, only_if_it_stays_so=True)[
            self._block_of
        ]
        self._tallies: dict[int, Tally] = {position: {} for position in self._open}
        self._add(np.arange(len(of_unit)), 1)

    def best(self, allowed: int, rank: Rank) -> Choice | None:
        """Return the step to take next; None if none pays or may be taken."""
        room = allowed - int(self._failing.sum())
        choices = (self._choice(position, step) for position in self._open for step in self.classes[position].steps())
        return max((one for one in choices if one.withheld <= room and one.pays > 0), key=rank, default=None)

    def take(self, choice: Choice) -> None:
        """Take a step: only the blocks in the classes that it splits change."""
        codes, old = self._codes[choice.position], self.classes[choice.position]
        units = np.flatnonzero(np.isin(old.keys[codes], choice.step.classes))
        self._add(units, -1)
        self.classes[choice.position] = choice.step.after
        part = self._microdata.of_units(units)
        blocks, number = number_rows([self._block_of[units], choice.step.after.keys[codes[units]]])
        self._failing[units] = self._requirement.fails(part, blocks, number, only_if_it_stays_so=True)[blocks]
        self._block_of[units] = self._blocks + blocks
        self._blocks += number
        self._add(units, 1)

    def _choice(self, position: int, step: Step) -> Choice:
        tally = self._tallies[position]
        parts = [tally[key] for key in step.classes.tolist() if key in tally]
        if not parts:
            return Choice(position, step, 0, Fraction(0))
        withheld, gained, *now = (int(part) for part in np.sum(np.stack(parts), axis=0))
        pays = self._weights[position] * Fraction(gained, self.classes[position].whole)
        for each, weight, lost in zip(self.classes, self._weights, now, strict=True):
            pays -= weight * (withheld - Fraction(lost, each.whole))
        return Choice(position, step, withheld, pays)

    def _add(self, units: IntArray, sign: int) -> None:
        """Add what the steps of whole blocks come to, or take it off."""
        if not len(units):
            return
        part, failing = self._microdata.of_units(units), self._failing[units]
        for position in self._open:
            old, codes = self.classes[position], self._codes[position][units]
            blocks, number = number_rows([self._block_of[units], old.finer[codes]])
            after = failing | self._requirement.fails(part, blocks, number, only_if_it_stays_so=True)[blocks]
            newly = np.flatnonzero(after & ~failing)
            keys, which = np.unique(old.keys[codes], return_inverse=True)
            sums = np.zeros((len(keys), 2 + len(self.classes)), self._type)
            np.add.at(sums[:, 0], which[newly], 1)
            left = np.flatnonzero(~after)
            gains = (old.shares - old.finer_shares).astype(self._type)
            np.add.at(sums[:, 1], which[left], gains[codes[left]])
            for place, each in enumerate(self.classes):
                shares = each.shares.astype(self._type)
                np.add.at(sums[:, 2 + place], which[newly], shares[self._codes[place][units[newly]]])
            tally = self._tallies[position]
            for key, row in zip(keys.tolist(), sums.astype(np.object_), strict=True):
                tally[key] = tally[key] + sign * row if key in tally else sign * row


def _narrowed(
    microdata: Microdata, requirement: Requirement, classes: list[Classes], open_columns: Sequence[int], allowed: int
) -> list[Classes]:
    """Give each column of free intervals the least width that pays, too, while no more than allowed are withheld."""
    found = list(classes)
    lost = _lost(microdata, requirement, found)
    for position in open_columns:
        column = found[position]
        for narrower in column.narrower() if isinstance(column, NumberClasses) else ():
            tried = [*found[:position], narrower, *found[position + 1 :]]
            now = _lost(microdata, requirement, tried)
            if now >= lost or _withheld(microdata, requirement, tried) > allowed:
                break
            found, lost = tried, now
    return found


def _withheld(microdata: Microdata, requirement: Requirement, classes: Sequence[Classes]) -> int:
    return find_cells(microdata.with_columns(columns_of(classes)), requirement).withheld


def _lost(microdata: Microdata, requirement: Requirement, classes: Sequence[Classes]) -> Fraction:
    """Return loss at most, summed over records and columns, exactly."""
    cells = find_cells(microdata.with_columns(columns_of(classes)), requirement)
    left = microdata.profile_of_unit[~cells.failing[cells.cell_of]]
    counts = np.bincount(left, minlength=len(microdata.profiles))
    lost = Fraction(0)
    for position, each in enumerate(classes):
        by_code = np.bincount(microdata.codes(position), counts, len(each.shares)).astype(np.int64)
        total = int((by_code.astype(np.object_) * each.shares.astype(np.object_)).sum())
        lost += Fraction(each.column.weight) * (Fraction(total, each.whole) + cells.withheld)
    return lost


def columns_of(classes: Sequence[Classes]) -> tuple[QuasiIdentifier, ...]:
    """Return the columns under their limits."""
    return tuple(each.column for each in classes)
