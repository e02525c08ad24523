"""What the limits cost, before anything is run (OUT).

How many cells there are, which records must be withheld, which limit causes how much of it, and the single limits
whose lifting would save most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.anonymization.clustering.cells import find_blocks, find_cells
from hedgerow.anonymization.clustering.exact import count_small
from hedgerow.anonymization.clustering.improve import EFFORTS
from hedgerow.errors import HedgerowError
from hedgerow.measures import column_values
from hedgerow.microdata import FreeColumn, Microdata, QuasiIdentifier, TreeColumn
from hedgerow.microdata.columns import without_limit
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS, PRIVACY_MODELS
from hedgerow.plan.hierarchy import limits
from hedgerow.plan.hierarchy.numbers import number_label
from hedgerow.privacy import Requirement, max_groups, max_p
from hedgerow.types import FloatArray, IntArray


@dataclass(frozen=True)
class Cause:
    """What the limits of one attribute cost.

    Attributes
    ----------
    saves
        Records fewer to withhold if this attribute had no limit.
    alone
        Records to withhold if no other attribute had a limit.
    """

    attribute: str
    limit: str
    saves: int
    alone: int


@dataclass(frozen=True)
class Lift:
    """One limit that could be lifted.

    Attributes
    ----------
    change
        What to change in the plan.
    saves
        Records fewer to withhold.
    loosens
        Records whose limit would become coarser.
    """

    attribute: str
    change: str
    saves: int
    loosens: int


@dataclass(frozen=True)
class Condition:
    """The two necessary conditions for p different values in every group (Truta and Vinay 2006, Theorems 1–2).

    Attributes
    ----------
    max_p
        No release can have more different values in every group than this.
    max_groups
        No release with p different values in every group has more groups than this.
    """

    p: int
    columns: tuple[str, ...]
    max_p: int
    max_groups: int


@dataclass(frozen=True, eq=False)
class Outlook:
    """What the limits come to, worked out in a moment: what a person sees while moving one.

    Attributes
    ----------
    blocks, blocks_withheld
        Cells that the limits make of the table, and those of which no part can be released.
    withheld, withheld_unknown
        Records that must be withheld, and those of them that have a value without a leaf.
    allowed
        Records that the plan allows to be withheld: on the lattice none if it says nothing, else then any (None).
    proven, others_may_not_fit
        As in :class:`Explanation`.
    most_loss
        The loss (NTIL) of no release within the limits that withholds only these records is above this.
    withheld_by_profile
        Records of every profile that must be withheld, without those that have a value without a leaf.
    impossible
        What else is asked that no release of this table can meet, in words.
    """

    records: int
    blocks: int
    blocks_withheld: int
    withheld: int
    withheld_unknown: int
    allowed: int | None
    proven: bool
    others_may_not_fit: bool
    most_loss: float
    withheld_by_profile: IntArray
    conditions: tuple[Condition, ...] = ()
    impossible: tuple[str, ...] = ()

    def obstacles(self) -> tuple[str, ...]:
        """Say what no release can meet, whatever else is chosen."""
        found = []
        if self.allowed is not None and self.withheld > self.allowed:
            text = f"{self.withheld:,} records must be withheld, but at most {self.allowed:,} may be."
            found.append(f"{text} Lift a limit, lower k, or allow more.")
        if self.records and self.withheld == self.records:
            found.append("Every record would have to be withheld: nothing could be released.")
        for condition in self.conditions:
            if condition.p > condition.max_p:
                text = f"p = {condition.p} cannot be met: {', '.join(condition.columns)} together allow at most"
                found.append(f"{text} {condition.max_p:,} different values in every group.")
        return (*found, *self.impossible)


@dataclass(frozen=True)
class Explanation:
    """What can be said before any run.

    Attributes
    ----------
    withheld
        Records that must be withheld: in cells of fewer than k people, or with a value that has no leaf.
    allowed
        Records that the plan allows to be withheld: on the lattice none if it says nothing, else then any (None).
    others_may_not_fit
        Whether more may be withheld because they fit no group: models other than counting values are asked for.
    proven
        Whether ``withheld`` is provably the smallest number that any release within the limits withholds.
    most_loss
        The loss (NTIL) of no release within the limits that withholds only these records is above this.
    in_small_blocks
        Records of blocks small enough for it to be tried to group them in the best possible way; 0 without ``improve``.
    """

    records: int
    people: int
    k: int
    profiles: int
    blocks: int
    blocks_withheld: int
    withheld: int
    withheld_unknown: int
    allowed: int | None
    proven: bool
    others_may_not_fit: bool
    causes: tuple[Cause, ...]
    lifts: tuple[Lift, ...]
    most_loss: float
    in_small_blocks: int
    conditions: tuple[Condition, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)

    def __repr__(self) -> str:
        return (
            f"Explanation({self.records:,} records in {self.blocks:,} blocks; "
            f"k = {self.k} withholds {self.withheld:,} records of {self.blocks_withheld:,} blocks)"
        )

    def _repr_html_(self) -> str:
        from html import escape

        head = "<tr><th>attribute</th><th>change</th><th>saves</th><th>loosens</th></tr>"
        rows = "".join(
            f"<tr><td>{escape(lift.attribute)}</td><td>{escape(lift.change)}</td><td>{lift.saves:,}</td>"
            f"<td>{lift.loosens:,}</td></tr>"
            for lift in self.lifts
        )
        return f"<p>{escape(repr(self))}</p><table>{head}{rows}</table>"


def look_ahead(microdata: Microdata, plan: Plan) -> Outlook:
    """Say at once what the limits of a plan come to on microdata."""
    requirement = Requirement.of_plan(plan, microdata)
    cells = find_cells(microdata, requirement)
    gone = cells.failing[cells.cell_of]
    by_profile = np.bincount(microdata.profile_of_unit[gone], minlength=len(microdata.profiles))
    withheld, unknown = cells.withheld, len(microdata.unknown)
    return Outlook(
        records=microdata.records,
        blocks=len(cells.people),
        blocks_withheld=int(cells.failing.sum()),
        withheld=withheld + unknown,
        withheld_unknown=unknown,
        allowed=_allowed(plan, microdata.records),
        proven=cells.proven,
        others_may_not_fit=not requirement.survives_growth,
        most_loss=most_loss(microdata, by_profile),
        withheld_by_profile=by_profile,
        conditions=conditions(microdata, requirement),
        impossible=tuple(_impossible(microdata, plan)),
    )


def _allowed(plan: Plan, records: int) -> int | None:
    """Return how many records may be withheld; on the lattice none, unless the plan says otherwise."""
    if plan.withhold is None:
        return 0 if METHODS[plan.method.name].needs_levels else None
    return plan.withhold.records(records)


def _impossible(microdata: Microdata, plan: Plan) -> Iterator[str]:
    """Say what is asked of sensitive columns that have too few values for it, and of values that do not exist."""
    for column in microdata.sensitive:
        distinct = int((np.asarray(column.counts) > 0).sum())
        for name, asked in plan.privacy.demands(column.name).items():
            said = PRIVACY_MODELS[name].impossible(asked, column.name, distinct)
            if said is not None:
                yield said
    if not plan.rules:
        return
    try:
        column_values(microdata, plan)
    except HedgerowError as error:
        yield from (problem.message for problem in error.problems)


def most_loss(microdata: Microdata, withheld_by_profile: IntArray) -> float:
    """Return the loss (NTIL) if every released value were as coarse as its limit lets it be."""
    released = microdata.counts - withheld_by_profile
    by_code = [
        np.bincount(microdata.codes(position), weights=released, minlength=column.domain_size).astype(np.int64)
        for position, column in enumerate(microdata.columns)
    ]
    return most_loss_by_code(microdata.columns, by_code, microdata.records)


def most_loss_by_code(columns: Sequence[QuasiIdentifier], released: Sequence[IntArray], records: int) -> float:
    """Return the same, from the released records of every code of every column."""
    weights = sum(Fraction(column.weight) for column in columns)
    if not weights or not records:
        return 0.0
    lost = (records - int(released[0].sum())) * float(weights)
    for column, by_code in zip(columns, released, strict=True):
        lost += float(column.weight) * float((most_shares(column) * by_code).sum())
    return round(lost / (records * float(weights)), 12)


def most_shares(column: QuasiIdentifier) -> FloatArray:
    """Return, for every code of a column, the greatest share of it that can be lost within its limits."""
    if isinstance(column, TreeColumn) and column.most is not None:
        share = min(column.most - 1, column.domain_size - 1) / max(column.domain_size - 1, 1)
        return np.where(np.arange(column.domain_size) == column.missing, 0.0, share)
    if isinstance(column, TreeColumn):
        return column.hierarchy.heights[column.limit_keys] / max(column.hierarchy.height, 1)
    numbers, span = len(column.intervals.scaled), column.intervals.span
    shares = np.zeros(column.domain_size)
    if not span:
        return shares
    lows, highs, keys = column.intervals.low_ends, column.intervals.high_ends, column.limit_keys[:numbers]
    first = np.searchsorted(keys, keys)  # segments ascend with the numbers
    last = np.searchsorted(keys, keys, side="right") - 1
    reach = highs[last] - lows[first]
    if column.scaled_width is not None:
        reach = np.minimum(reach, column.scaled_width)
    shares[:numbers] = np.minimum(reach / span, 1)
    return shares


def explain_limits(microdata: Microdata, plan: Plan) -> Explanation:
    """Compute what the limits of a plan cost on microdata."""
    outlook = look_ahead(microdata, plan)
    requirement = Requirement.of_plan(plan, microdata)
    withheld = outlook.withheld - outlook.withheld_unknown
    lifts = []
    if withheld:
        for column in _limited(microdata):
            for change, changed in _single_lifts(column, plan):
                saves = withheld - _withheld(microdata, _swap(microdata.columns, changed), requirement)
                if saves > 0:
                    lifts.append(Lift(column.name, change, saves, _loosened(microdata, column, changed)))
    return Explanation(
        records=microdata.records,
        people=microdata.people(),
        k=requirement.k,
        profiles=len(microdata.profiles),
        blocks=outlook.blocks,
        blocks_withheld=outlook.blocks_withheld,
        withheld=outlook.withheld,
        withheld_unknown=outlook.withheld_unknown,
        allowed=outlook.allowed,
        proven=outlook.proven,
        others_may_not_fit=outlook.others_may_not_fit,
        causes=find_causes(microdata, plan, withheld),
        lifts=tuple(sorted(lifts, key=lambda lift: (-lift.saves, lift.loosens, lift.attribute, lift.change))),
        most_loss=outlook.most_loss,
        in_small_blocks=_in_small_blocks(microdata, plan, requirement),
        conditions=outlook.conditions,
    )


def _in_small_blocks(microdata: Microdata, plan: Plan, requirement: Requirement) -> int:
    if plan.method.improve not in EFFORTS or microdata.households is not None:
        return 0
    cells = find_cells(microdata, requirement)
    k = max(requirement.k, int(requirement.distinct_wanted(len(microdata.sensitive)).max(initial=1)))
    return count_small(find_blocks(microdata, cells), cells, k, EFFORTS[plan.method.improve].looks)


def find_causes(microdata: Microdata, plan: Plan, withheld: int) -> tuple[Cause, ...]:
    """Say what the limits of each attribute cost; ``withheld`` records are in failing cells with all of them."""
    requirement = Requirement.of_plan(plan, microdata)
    bare = tuple(without_limit(column) for column in microdata.columns)
    causes = []
    for column in _limited(microdata):
        lifted = _withheld(microdata, _swap(microdata.columns, without_limit(column)), requirement)
        alone = _withheld(microdata, _swap(bare, column), requirement)
        limit = plan.attributes[column.name].limit
        causes.append(Cause(column.name, limit.describe() if limit else "", withheld - lifted, alone))
    return tuple(sorted(causes, key=lambda cause: (-cause.saves, -cause.alone, cause.attribute)))


def conditions(microdata: Microdata, requirement: Requirement) -> tuple[Condition, ...]:
    """Work out, for every p that is asked, what the table allows at most."""
    wanted = requirement.distinct_wanted(len(microdata.sensitive)).tolist()
    found = []
    for p in sorted({p for p in wanted if p > 1}):
        columns = [column for column, asked in zip(microdata.sensitive, wanted, strict=True) if asked >= p]
        counts = [column.counts for column in columns]
        names = tuple(column.name for column in columns)
        found.append(Condition(p, names, max_p(counts), max_groups(counts, microdata.records, p)))
    return tuple(found)


def _limited(microdata: Microdata) -> list[QuasiIdentifier]:
    return [column for column in microdata.columns if _is_limited(column)]


def _is_limited(column: QuasiIdentifier) -> bool:
    if isinstance(column, TreeColumn):
        return bool(column.marked) or column.most is not None
    return bool(column.cuts) or column.width is not None


def _swap(columns: tuple[QuasiIdentifier, ...], new: QuasiIdentifier) -> tuple[QuasiIdentifier, ...]:
    return tuple(new if column.name == new.name else column for column in columns)


def _withheld(microdata: Microdata, columns: tuple[QuasiIdentifier, ...], requirement: Requirement) -> int:
    return find_cells(microdata.with_columns(columns), requirement).withheld


def _single_lifts(column: QuasiIdentifier, plan: Plan) -> Iterator[tuple[str, QuasiIdentifier]]:
    """Yield every single change to a column's limits that loosens them, in the words of the plan."""
    limit = plan.attributes[column.name].limit
    assert limit is not None
    if isinstance(column, FreeColumn):
        for cut in column.cuts:
            left = tuple(other for other in column.cuts if other != cut)
            yield f"remove the cut at {number_label(cut)}", replace(column, cuts=left)
        if column.width is not None:
            yield f"widen to {number_label(2 * column.width)}", replace(column, width=2 * column.width)
            yield "remove the width", replace(column, width=None)
    elif limit.values is not None:
        yield f"allow {2 * limit.values} values", replace(column, most=2 * limit.values)
        yield "remove the greatest number of values", replace(column, most=None)
    elif limit.level is not None:
        for level in range(limit.level + 1, column.hierarchy.height + 1):
            marked = limits.nodes_by_level(column.hierarchy, level)
            yield f"raise the level to {level}", replace(column, marked=marked)
    else:
        for node in column.marked:
            left_marked = tuple(other for other in column.marked if other != node)
            yield f"lift {column.hierarchy.names[node]!r}", replace(column, marked=left_marked)
        if len(column.marked) > 1:
            yield "remove all its limits", replace(column, marked=())


def _loosened(microdata: Microdata, old: QuasiIdentifier, new: QuasiIdentifier) -> int:
    """Count the records whose limit the change makes coarser."""
    position = [column.name for column in microdata.columns].index(old.name)
    codes = microdata.codes(position)
    counts = microdata.counts
    if isinstance(old, FreeColumn) and isinstance(new, FreeColumn):
        if old.width != new.width:
            return int(counts[codes < len(old.intervals.scaled)].sum())
        before, after = old.limit_keys, new.limit_keys
        merged = {key for key in np.unique(after) if len(np.unique(before[after == key])) > 1}
        return int(counts[np.isin(after[codes], list(merged))].sum())
    if isinstance(old, TreeColumn) and isinstance(new, TreeColumn) and old.most != new.most:
        return int(counts[codes != old.missing].sum())
    return int(counts[old.limit_keys[codes] != new.limit_keys[codes]].sum())
