"""Frozen groups: the records of a new table go into the groups that an earlier release published.

Whoever gets a table of the same shape every month may want it recoded as the first one was, so that results can be
compared. Nothing is searched then. A record *fits* a group if each of its values lies within what the group publishes,
and may be published that coarse under the limits of the plan. It joins the finest group that it fits. Groups that do
not meet what the plan demands are dissolved, those with the fewest people first, and their records go to the finest
group that is left, until every group meets it. Records that fit no group are withheld.

How fine a group is does not depend on the new table but on what all groups publish: columns of numbers count with the
width of the interval over the range of all of them, trees with the height of the node over that of the tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.anonymization.resolving import resolve
from hedgerow.anonymization.solving import Solution, cells_of, of_clusters
from hedgerow.anonymization.withholding import Left, Settled
from hedgerow.errors import NoSolution, Problem
from hedgerow.measures.loss import share_lost
from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier, Table
from hedgerow.microdata.columns import MISSING, KeptEnds, Shown
from hedgerow.microdata.recoding import WITHHELD, Recoding
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy.numbers import Number, number_label, parse_half_open, parse_number
from hedgerow.privacy import Requirement
from hedgerow.privacy.requirement import people_by_group
from hedgerow.types import BoolArray, IntArray

Words = npt.NDArray[np.uint64]
MOST_WORDS = 1 << 23  # of bits that are looked at together
NOWHERE = -1


@dataclass(frozen=True)
class Interval:
    """A published interval of numbers: its lower end, the last number in it, and whether it is of whole numbers.

    On a grid the last number is the start of the last step in it.
    """

    low: Decimal
    last: Decimal
    whole: bool


def read_interval(label: str, snap: Number | None) -> Interval | None:
    """Read a published interval back, or None if it is none.

    Examples
    --------
    >>> read_interval("30-42", None)
    Interval(low=Decimal('30'), last=Decimal('42'), whole=True)
    >>> read_interval("30-44", 5)
    Interval(low=Decimal('30'), last=Decimal('40'), whole=True)
    >>> read_interval("[1.5, 3)", Decimal("0.5"))
    Interval(low=Decimal('1.5'), last=Decimal('2.5'), whole=False)
    """
    number, grid = parse_number(label), None if snap is None else Decimal(snap)
    if number is not None:
        return Interval(Decimal(number), _on_grid(Decimal(number), grid), whole=True)
    if label.startswith("[") and label.endswith("]") and "," in label:
        low, high = (parse_number(part) for part in label[1:-1].split(",", 1))
        return None if low is None or high is None else Interval(Decimal(low), Decimal(high), whole=False)
    ends = parse_half_open(label)
    if ends is None:
        return None
    if label.endswith(")"):
        return None if grid is None else Interval(Decimal(ends[0]), Decimal(ends[1]) - grid, whole=False)
    return Interval(Decimal(ends[0]), _on_grid(Decimal(ends[1]) - 1, grid), whole=True)


def _on_grid(number: Decimal, grid: Decimal | None) -> Decimal:
    return number if grid is None else (number / grid).to_integral_value(ROUND_FLOOR) * grid


@dataclass(frozen=True, eq=False)
class FrozenGroups:
    """What the groups of a release publish.

    Attributes
    ----------
    columns
        The quasi-identifiers, in the plan's order.
    labels
        What every group publishes in each of them, all groups different; None is a missing value.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str | None, ...], ...]

    def ends(self, plan: Plan) -> Mapping[str, KeptEnds]:
        """Return, by column of free intervals, the ends of all that is published."""
        found = {}
        for position, name in enumerate(self.columns):
            if plan.attributes[name].free:
                intervals = [one for one in self._intervals(plan, position) if one is not None]
                numbers = sorted({end for one in intervals for end in (one.low, one.last)})
                found[name] = KeptEnds(tuple(map(number_label, numbers)), all(one.whole for one in intervals))
        return found

    def _intervals(self, plan: Plan, position: int) -> list[Interval | None]:
        snap = plan.attributes[self.columns[position]].snap
        return [None if row[position] is None else read_interval(str(row[position]), snap) for row in self.labels]

    def shown(self, plan: Plan, microdata: Microdata) -> tuple[list[Shown], BoolArray]:
        """Return, by column, what groups publish in codes and nodes, and which groups have a place in these columns."""
        columns, possible = [], np.ones(len(self.labels), bool)
        for position, column in enumerate(microdata.columns):
            if isinstance(column, FreeColumn):
                places = _of_numbers(column, self._intervals(plan, position))
            else:
                tree = column.hierarchy
                names = [MISSING if row[position] is None else str(row[position]) for row in self.labels]
                node = np.array([tree.node(name) if name in tree else NOWHERE for name in names], np.int64)
                places = np.stack([tree.first_leaf[node], tree.last_leaf[node], node])
            possible &= places[2 if not isinstance(column, FreeColumn) else 0] != NOWHERE
            columns.append(Shown(*places))
        return columns, possible


def _of_numbers(column: FreeColumn, intervals: Sequence[Interval | None]) -> IntArray:
    """Return least and greatest code of intervals, and −1 as their node; those of no number here are nowhere."""
    scaled, unit = column.intervals.scaled, column.intervals.decimals
    places = np.full((3, len(intervals)), NOWHERE, np.int64)
    for number, one in enumerate(intervals):
        if one is None:
            places[:2, number] = column.missing
        else:
            low = int(one.low.scaleb(unit).to_integral_value(ROUND_FLOOR))
            last = int(one.last.scaleb(unit).to_integral_value(ROUND_CEILING))
            places[0, number] = np.searchsorted(scaled, low, side="right") - 1
            places[1, number] = np.searchsorted(scaled, last)
    return places


# -- who goes where --------------------------------------------------------------------------------------------------


def finest_first(microdata: Microdata, plan: Plan, groups: FrozenGroups) -> FrozenGroups:
    """Order groups by how much a record in them loses; groups that lose alike keep their order."""
    shown, _ = groups.shown(plan, microdata)
    one, lost = np.ones(1, np.int64), []
    for column, of_column in zip(microdata.columns, shown, strict=True):
        which, first = np.unique(np.stack([of_column.lo, of_column.hi, of_column.node]), axis=1, return_inverse=True)
        weight = Fraction(column.weight)
        shares = [
            Fraction(0) if min(lo, hi) < 0 else weight * share_lost(column, Shown(*np.array([[lo], [hi], [node]])), one)
            for lo, hi, node in which.T.tolist()
        ]
        lost.append([shares[number] for number in first.reshape(-1).tolist()])
    total = [sum(of_group, Fraction(0)) for of_group in zip(*lost, strict=True)]
    order = sorted(range(len(total)), key=total.__getitem__)
    return FrozenGroups(groups.columns, tuple(groups.labels[number] for number in order))


def locate(microdata: Microdata, plan: Plan, groups: FrozenGroups) -> IntArray:
    """Return the first group that every profile fits, or −1; whether enough records are in it is not asked."""
    shown, possible = groups.shown(plan, microdata)
    fits = [_Fitting.of_column(column, one) for column, one in zip(microdata.columns, shown, strict=True)]
    return _first_that_fits(microdata, fits, np.arange(len(microdata.profiles)), possible)


def place(microdata: Microdata, plan: Plan, groups: FrozenGroups) -> Recoding:
    """Put the records of a table into the finest groups; groups that would not meet the plan are dissolved."""
    groups = finest_first(microdata, plan, groups)
    shown, live = groups.shown(plan, microdata)
    fits = [_Fitting.of_column(column, one) for column, one in zip(microdata.columns, shown, strict=True)]
    requirement, profiles = Requirement.of_plan(plan, microdata), np.arange(len(microdata.profiles))
    group_of = _first_that_fits(microdata, fits, profiles, live)
    while True:
        of_unit = group_of[microdata.profile_of_unit]
        failing = requirement.fails(microdata, of_unit, len(live)) & live
        if not failing.any():
            break
        people = people_by_group(microdata, of_unit, len(live))
        live = live & ~(failing & (people == people[failing].min()))
        moving = np.flatnonzero((group_of >= 0) & ~live[group_of])
        group_of[moving] = _first_that_fits(microdata, fits, moving, live)
    kept = np.flatnonzero(live)
    number = np.full(len(live) + 1, WITHHELD, np.int64)
    number[kept] = np.arange(len(kept))
    lo, hi, node = (np.stack([getattr(one, part)[kept] for one in shown], axis=1) for part in ("lo", "hi", "node"))
    return Recoding(number[of_unit], lo, hi, node)


@dataclass(frozen=True, eq=False)
class _Fitting:
    """Which groups the codes of a column fit: a bit for each group, and the row of bits that every code has."""

    bits: Words
    row_of: IntArray

    @classmethod
    def of_column(cls, column: QuasiIdentifier, shown: Shown) -> _Fitting:
        """Look at every code that may differ from the one before it, and at every published value once."""
        cells, of_group = np.unique(np.stack([shown.lo, shown.hi, shown.node]), axis=1, return_inverse=True)
        values = Shown(*cells)
        starts = np.arange(column.domain_size)
        if isinstance(column, FreeColumn):  # codes between two ends are covered, and limited, alike
            starts = np.unique(np.concatenate([[0], values.lo, values.hi + 1, [column.missing]]))
            starts = starts[(starts >= 0) & (starts < column.domain_size)]
        pairs = np.repeat(starts, len(values.lo))
        broken = column.breaks(pairs, values[np.tile(np.arange(len(values.lo)), len(starts))])
        covered = np.stack([column.covers(code, values) for code in starts.tolist()])
        fits = covered & ~broken.reshape(covered.shape)
        packed = np.zeros((len(starts), -(-len(shown.lo) // 64) * 8), np.uint8)
        for row, one in enumerate(fits):
            bits = np.packbits(one[of_group.reshape(-1)], bitorder="little")
            packed[row, : len(bits)] = bits
        row_of = np.searchsorted(starts, np.arange(column.domain_size), side="right") - 1
        return cls(packed.view("<u8"), row_of)


def _first_that_fits(microdata: Microdata, fits: Sequence[_Fitting], profiles: IntArray, live: BoolArray) -> IntArray:
    """Return the first live group that every one of some profiles fits, or −1."""
    words = fits[0].bits.shape[1]
    bits = np.zeros(words * 8, np.uint8)
    packed = np.packbits(live, bitorder="little")
    bits[: len(packed)] = packed
    alive, found = bits.view("<u8"), np.full(len(profiles), WITHHELD, np.int64)
    step = max(1, MOST_WORDS // max(1, words))
    for start in range(0, len(profiles), step):
        some = profiles[start : start + step]
        left = np.repeat(alive[None, :], len(some), axis=0)
        for position, of_column in enumerate(fits):
            left &= of_column.bits[of_column.row_of[microdata.codes(position)[some]]]
        first = (left != 0).argmax(axis=1)
        word = left[np.arange(len(some)), first]
        lowest = word & (~word + np.uint64(1))
        bit = np.frexp(lowest.astype(np.float64))[1].astype(np.int64) - 1
        found[start : start + step] = np.where(word == 0, WITHHELD, first * 64 + bit)
    return found


# -- who is withheld -------------------------------------------------------------------------------------------------


def settle_into(table: Table, plan: Plan, groups: FrozenGroups) -> Settled:
    """Settle who of a table is released in frozen groups, so that nothing in it depends on a record that is not.

    Raises
    ------
    NoSolution
        If nobody fits a group that meets the plan, or more would be withheld than it allows.
    """
    ends = groups.ends(plan)
    whole, settled = resolve(table, plan, strict=False, ends=ends)
    left, microdata = Left.of(table, whole, settled), whole
    if len(whole.unknown):
        left, microdata, settled = left.encode(plan, ends=ends)
    far = locate(microdata, settled, groups)[microdata.profile_of_unit] == NOWHERE
    over = int(far.sum())
    if over and not far.all():  # who fits nowhere must not widen a range, and so change which group is the finest
        left, microdata, settled = left.without(plan, microdata, far).encode(plan, ends=ends)
    while True:
        recoding = place(microdata, settled, groups) if len(microdata.record_of) else None
        gone = None if recoding is None else recoding.group_of < 0
        if recoding is None or gone is None or gone.all():
            message = f"No record fits a group of the release that then holds {_demand(settled)}."
            raise NoSolution(Problem("all-withheld", message, hint="make a release afresh"))
        if not gone.any():
            break
        over += int(gone.sum())
        left, microdata, settled = left.without(plan, microdata, gone).encode(plan, ends=ends)
    _check_withheld(microdata, settled, len(microdata.unknown))
    solution = of_clusters(microdata, settled, cells_of(microdata, settled), recoding)
    because = {"fits_no_group": over, "no_leaf": len(microdata.unknown) - over}
    return Settled(settled, whole, microdata, _frozen(solution, because))


def _check_withheld(microdata: Microdata, plan: Plan, withheld: int) -> None:
    allowed = microdata.records if plan.withhold is None else plan.withhold.records(microdata.records)
    if withheld > allowed:
        message = f"{withheld:,} of {microdata.records:,} records fit no group of the release, "
        message += f"but {allowed:,} may be withheld."
        raise NoSolution(Problem("withhold-budget", message, hint="allow more, or make a release afresh"))


def _frozen(solution: Solution, because: dict[str, int]) -> Solution:
    details: dict[str, Any] = {"blocks": solution.details["blocks"]}
    return Solution(solution.recoding, because, False, details, cluster_of=solution.cluster_of)


def _demand(plan: Plan) -> str:
    return f"k = {plan.privacy.k}" + (" and meets the other demands" if plan.columns("sensitive") else "")
