"""Whether k is within reach of a table at hand, and which column stands in the way.

Everything is about values *as they stand*: how many records are in groups of fewer than k, how many records with the
same distribution would be needed until few enough are, and what dropping or coarsening a single column changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hedgerow.errors import NoSolution, Problem
from hedgerow.evaluation.reach.cells import usage, whole_number
from hedgerow.evaluation.reach.grouping import Profiles, Sizes, coarser_codes, refine
from hedgerow.microdata import Microdata, TreeColumn
from hedgerow.outside.notebook import html_table
from hedgerow.plan import Plan
from hedgerow.types import FloatArray

USUAL_SHARE = 0.05
MOST_TIMES = 1000


@dataclass(frozen=True)
class ReachOutlook:
    """How a table stands with regard to k.

    Attributes
    ----------
    groups
        Different combinations of values.
    below, share_below
        Records in groups of fewer than k, and their share of all records.
    enough
        Whether that share is tolerated.
    records_needed
        Estimate of the number of records, of the same kind, for which the share is tolerated; None if more than 1000
        times what is at hand. Good up to some five times what is at hand, too low beyond.
    records_at_least
        The same as if no combinations occurred but those at hand, each as often as here: a lower estimate.
    unseen_share
        Share of further records that would have a combination that nobody has yet (Good and Turing's estimate: the
        share of those who are alone).
    """

    groups: int
    below: int
    share_below: float
    enough: bool
    records_needed: int | None
    records_at_least: int | None
    unseen_share: float


@dataclass(frozen=True)
class ColumnChange:
    """What a change of one column does.

    Attributes
    ----------
    level
        Level of the hierarchy that the column is coarsened to; None if the column is dropped.
    """

    column: str
    level: int | None
    outlook: ReachOutlook


@dataclass(frozen=True)
class ReachOfK:
    """Whether one k is within reach.

    Attributes
    ----------
    now
        The table as it stands.
    changes
        Every single change: dropping each column, and coarsening it to each level.
    drops
        Columns to drop one after the other, until what is below k is tolerated or no column is left, with the outlook
        after each. Always the one that leaves least below k; then fewest groups; then the one with most values.
    """

    k: int
    now: ReachOutlook
    changes: tuple[ColumnChange, ...]
    drops: tuple[ColumnChange, ...]


@dataclass(frozen=True)
class TableReach:
    """Whether k is within reach of a table.

    Attributes
    ----------
    records
        Records that are counted: all but those with a value that has no leaf.
    without_leaf
        Records that are not, because they will be withheld anyway.
    counted
        What k counts: ``persons`` or ``records``.
    share
        Share of records below k that is tolerated.
    """

    records: int
    without_leaf: int
    people: int
    counted: str
    columns: tuple[str, ...]
    share: float
    reaches: tuple[ReachOfK, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return asdict(self)

    def __repr__(self) -> str:
        found = ", ".join(f"k = {reach.k}: {reach.now.share_below:.1%} below" for reach in self.reaches)
        return f"TableReach({self.records:,} records, {len(self.columns)} columns; {found})"

    def _repr_html_(self) -> str:
        head = ("k", "records below k", "share", "tolerated", "records needed", "columns to drop")
        rows = (
            (reach.k, reach.now.below, reach.now.share_below, reach.now.enough, reach.now.records_needed,
             ", ".join(change.column for change in reach.drops))
            for reach in self.reaches
        )  # fmt: skip
        return html_table(repr(self), head, rows)


def reach_of_table(
    microdata: Microdata,
    k: int | Sequence[int],
    share: float = USUAL_SHARE,
    progress: Callable[[int, int], None] | None = None,
) -> TableReach:
    """Tell how far a table is from k, and which single change of a column would help most.

    Parameters
    ----------
    microdata
        The encoded table.
    k
        How many people every group needs; one number or several.
    share
        Share of records in smaller groups that is tolerated.
    progress
        Called with how many columns were tried as drops, and how many there are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from hedgerow.microdata import encode_table, read_table
    >>> plan = Plan.from_dict(
    ...     {"attributes": {"sex": "quasi-identifier", "zip": "quasi-identifier"}, "privacy": {"k": 2}}
    ... )
    >>> people = pa.table({"sex": list("FFMM"), "zip": ["1", "1", "2", "3"]})
    >>> found = reach_of_table(encode_table(read_table(people, plan), plan), k=2)
    >>> found
    TableReach(4 records, 2 columns; k = 2: 50.0% below)
    >>> [(drop.column, drop.outlook.share_below) for drop in found.reaches[0].drops]
    [('zip', 0.0)]
    """
    wanted = (k,) if isinstance(k, int) else tuple(k)
    if not wanted:
        raise usage("'k' must be one whole number or several.")
    for number in wanted:
        whole_number("k", number, 2)
    if not 0 <= share < 1:
        raise usage(f"'share' must be at least 0 and below 1. Got {share} instead.")
    if not len(microdata.record_of):
        message = "No record is left to count: each has a value without a leaf."
        raise NoSolution(Problem("all-withheld", message, hint="extend the hierarchies"))
    names = tuple(column.name for column in microdata.columns)
    profiles = Profiles.of(microdata)
    now = profiles.sizes(np.arange(len(profiles.records)), len(profiles.records))
    changed = _single_changes(microdata, profiles)
    dropped: dict[tuple[str, ...], Sizes] = {(name,): sizes for name, level, sizes in changed if level is None}
    reaches = []
    for number in wanted:
        if progress is not None:
            progress(0, len(names))
        here = outlook(now, number, share)
        changes = tuple(ColumnChange(name, level, outlook(sizes, number, share)) for name, level, sizes in changed)
        reaches.append(ReachOfK(number, here, changes, _drops(profiles, names, here, dropped, number, share, progress)))
    return TableReach(
        records=len(microdata.record_of),
        without_leaf=len(microdata.unknown),
        people=microdata.people(),
        counted="records" if microdata.person_of is None else "persons",
        columns=names,
        share=share,
        reaches=tuple(reaches),
    )


def tolerated_share(plan: Plan) -> float:
    """Return the share of records that a plan allows to be withheld, or 5 % if it does not state a share.

    Examples
    --------
    >>> raw = {"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}}
    >>> tolerated_share(Plan.from_dict(raw)), tolerated_share(Plan.from_dict({**raw, "withhold": "2%"}))
    (0.05, 0.02)
    """
    text = "" if plan.withhold is None else plan.withhold.at_most.strip()
    return float(text[:-1]) / 100 if text.endswith("%") else USUAL_SHARE


# -- what is expected ------------------------------------------------------------------------------------------------


def outlook(sizes: Sizes, k: int, share: float) -> ReachOutlook:
    """Tell how groups of these sizes stand with regard to k."""
    below = sizes.below(k)
    enough = below / sizes.all_records <= share
    return ReachOutlook(
        groups=int(sizes.groups.sum()),
        below=below,
        share_below=below / sizes.all_records,
        enough=enough,
        records_needed=_records_needed(sizes, estimated_chances(sizes), k, share, enough),
        records_at_least=_records_needed(sizes, sizes.people / sizes.all_people, k, share, enough),
        unseen_share=sizes.alone / sizes.all_people,
    )


def estimated_chances(sizes: Sizes) -> FloatArray:
    """Return the chance that another person has the combination of somebody in a group of each size.

    The rest of the table is another sample of the same kind, in which somebody's group has one fewer: that gives
    (size − 1) / (people − 1). Somebody alone gets Good and Turing's estimate, by how many groups of two there are for
    each group of one. To take size / people would promise everybody company, and so groups of k far too soon.

    Examples
    --------
    >>> estimated_chances(Sizes(np.array([1, 2, 7]), np.array([4, 1, 1]), np.array([4, 2, 7])))
    array([0.03846154, 0.08333333, 0.5       ])
    """
    people = sizes.all_people
    pairs = int(sizes.groups[sizes.people == 2].sum())
    alone = min(1.0, 2 * pairs / max(sizes.alone, 1)) / people
    return np.where(sizes.people == 1, alone, (sizes.people - 1) / max(people - 1, 1))


def expected_share_below(sizes: Sizes, chances: FloatArray, people: int, k: int) -> float:
    """Return the expected share of records in groups of fewer than k, among so many people.

    A person's group is too small if at most k − 2 of the others fall into it.

    Examples
    --------
    >>> two_groups = Sizes(np.array([1]), np.array([2]), np.array([2]))
    >>> expected_share_below(two_groups, np.array([0.5]), 3, 2)  # alone with chance ¼
    0.25
    """
    return float(sizes.records / sizes.all_records @ _at_most(k - 2, people - 1, chances))


def _records_needed(sizes: Sizes, chances: FloatArray, k: int, share: float, enough: bool) -> int | None:
    """Find the least number of records for which the expected share is tolerated; the table at hand has its say.

    Less than half a record below k is as good as none.
    """

    def tolerated(people: int) -> bool:
        return expected_share_below(sizes, chances, people, k) <= max(share, 0.5 / people)

    low, high = 0, MOST_TIMES * sizes.all_people
    if not tolerated(high):
        return sizes.all_records if enough else None
    while high - low > 1:
        middle = (low + high) // 2
        if tolerated(middle):
            high = middle
        else:
            low = middle
    needed = math.ceil(high * sizes.all_records / sizes.all_people)  # people bring as many records as now
    return min(needed, sizes.all_records) if enough else max(needed, sizes.all_records + 1)


def _at_most(most: int, trials: int, chance: FloatArray) -> FloatArray:
    """Return the probability of at most so many successes, for several chances of success."""
    if trials <= most:
        return np.ones_like(chance)
    certain = chance >= 1
    odds = np.where(certain, 0.0, chance / np.where(certain, 1.0, 1 - chance))
    log = trials * np.log1p(-np.where(certain, 0.5, chance))
    total = np.exp(log)
    with np.errstate(divide="ignore"):
        log_odds = np.log(odds)
    for count in range(1, most + 1):
        log = log + log_odds + math.log((trials - count + 1) / count)
        total = total + np.exp(log)
    return np.where(certain, 0.0, np.minimum(total, 1.0))


# -- changes ---------------------------------------------------------------------------------------------------------


def _single_changes(microdata: Microdata, profiles: Profiles) -> list[tuple[str, int | None, Sizes]]:
    """Return the group sizes after every single change of a column."""
    found: list[tuple[str, int | None, Sizes]] = []
    for position, (column, (group_of, groups)) in enumerate(
        zip(microdata.columns, profiles.without_each(), strict=True)
    ):
        found.append((column.name, None, profiles.sizes(group_of, groups)))
        if isinstance(column, TreeColumn):
            for level, nodes in coarser_codes(column):
                coarser = refine(group_of, groups, nodes[profiles.codes[position]], len(column.hierarchy.names))
                found.append((column.name, level, profiles.sizes(*coarser)))
    return found


def _drop_order(after: Sizes, k: int, profiles: Profiles, position: int) -> tuple[int, int, int, int]:
    """Order columns to drop by what is left below k; then by groups, which tell more while k is far away."""
    values = len(np.unique(profiles.codes[position]))
    return after.below(k), int(after.groups.sum()), -values, position


def _drops(
    profiles: Profiles,
    names: tuple[str, ...],
    now: ReachOutlook,
    known: dict[tuple[str, ...], Sizes],
    k: int,
    share: float,
    progress: Callable[[int, int], None] | None,
) -> tuple[ColumnChange, ...]:
    """Drop columns one after the other until few enough records are below k.

    ``known`` holds the group sizes after drops, in order, that were looked at before, and is added to.
    """
    drops: list[ColumnChange] = []
    gone: tuple[str, ...] = ()
    left = list(names)
    while left and not now.enough:
        if (*gone, left[0]) not in known:
            for name, grouping in zip(left, profiles.without_each(), strict=True):
                known[*gone, name] = profiles.sizes(*grouping)
        best = min(
            range(len(left)), key=lambda position: _drop_order(known[*gone, left[position]], k, profiles, position)
        )
        name = left.pop(best)
        gone = (*gone, name)
        now = outlook(known[gone], k, share)
        drops.append(ColumnChange(name, None, now))
        profiles = profiles.without(best)
        if progress is not None:
            progress(len(gone), len(names))
    return tuple(drops)
