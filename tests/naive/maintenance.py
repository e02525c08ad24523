"""Keeping clusters up to date by plain scans: insert, delete, split, dissolve, borrow, optimize (Truta and Campan 2007).

A change starts from all records that are there *after* it, numbered in canonical order, and from what is left of the
old clusters: deleted records are simply absent, and a record without a cluster is new or was held back before. An
update takes the record out of its cluster. Clusters have numbers that are never used again; members are listed in
canonical order. Ties between records go to the first in canonical order, between clusters to the lowest number.

The paper knows k alone. With it, without limits, and as long as a cluster is left, a change is I3M− (``repair``)
and then I3M+ (``insert``); the rest is ours.

Choices where the definitions leave something open are marked "Open:".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from .attributes import Attribute, Box, FreeAttribute, Record
from .cells import cell_key
from .constrained import greedy_cka
from .costs import Costs
from .diverse import Joining, canonical_order, default_weights, greedy_cpka
from .privacy import Demands, Sensitive

Members = list[int]
"""Record numbers, ascending: canonical order."""
Clusters = dict[int, Members]
"""Members of every cluster, by its number."""
Static = Callable[["Task", Sequence[int]], list[Members]]
"""Clusters records afresh: groups in the order they are made; records in none are left out."""


@dataclass(frozen=True, eq=False)
class Task:
    """All records after a change, in canonical order (codes, person, …), and what is asked of every cluster.

    The values of ``attributes`` and the distribution that ``demands`` compare with are those of these records.
    Limits are the attributes' own: to ignore them, leave them out. ``kept`` are corners of what records must not be
    published narrower than: boxes of clusters hold them. ``weights`` (of the sensitive attributes) and
    ``joining`` only serve the static method; the default weights are those of all records.
    """

    attributes: Sequence[Attribute]
    records: Sequence[Record]
    sensitive: Sequence[Sensitive]
    k: int
    demands: Demands
    persons: Sequence[int] | None = None
    seed: int = 0
    weights: Sequence[Fraction] | None = None
    joining: Joining = "increase"
    static: Static | None = None
    kept: Mapping[int, tuple[Record, Record]] | None = None

    def __post_init__(self) -> None:
        keys = [(record, 0 if self.persons is None else self.persons[i]) for i, record in enumerate(self.records)]
        if keys != sorted(keys):
            raise ValueError("the records must come in canonical order.")

    # ---- cost ----

    @cached_property
    def costs(self) -> Costs:
        return Costs(self.attributes)

    def box(self, members: Sequence[int]) -> Box:
        """gen(cl)."""
        corners = [corner for i in members if self.kept and i in self.kept for corner in self.kept[i]]
        return self.costs.box([*(self.records[i] for i in members), *corners])

    def cost(self, members: Sequence[int]) -> int:
        """c of the cluster's box: its loss per record. The box of two clusters' records is the hull of both boxes."""
        return self.costs.cost(self.box(members))

    def loss(self, members: Sequence[int]) -> int:
        """|cl| · c; nothing is lost in an empty cluster."""
        return len(members) * self.cost(members) if members else 0

    # ---- limits ----

    def cell(self, record: int) -> tuple[Hashable, ...]:
        """What records that may be together have in common; widths play no part."""
        return cell_key(self.attributes, self.records[record])

    def is_allowed(self, members: Sequence[int]) -> bool:
        """Whether no free interval of the cluster's box is wider than its greatest width."""
        return not any(
            attribute.is_too_wide(*attribute.ends(shown))
            for attribute, shown in zip(self.attributes, self.box(members), strict=True)
            if isinstance(attribute, FreeAttribute)
        )

    # ---- k and the models ----

    @property
    def survives_growth(self) -> bool:
        """Whether a cluster that holds still holds with any further record; k always does."""
        return self.demands.survive_growth

    def strength(self, members: Sequence[int]) -> int:
        """Records, or distinct persons if persons are given."""
        return len(members if self.persons is None else {self.persons[i] for i in members})

    def holds(self, members: Sequence[int]) -> bool:
        """Whether the cluster has k records (persons) and satisfies every model."""
        return self.strength(members) >= self.k and self.demands.hold([self.sensitive[i] for i in members])


def with_record(members: Sequence[int], record: int) -> Members:
    """cl + r."""
    return sorted([*members, record])


def without_record(members: Sequence[int], record: int) -> Members:
    """cl − r."""
    return [member for member in members if member != record]


def total_loss(task: Task, clusters: Mapping[int, Sequence[int]]) -> int:
    """Loss of all clusters; divide by ``costs.UNIT`` for the paper's figure."""
    return sum(task.loss(members) for members in clusters.values())


def next_free(clusters: Mapping[int, Sequence[int]], next_number: int) -> int:
    """The next free number, once clusters may have been added."""
    return max([next_number, *(number + 1 for number in clusters)])


# ---- insert (I3M+) ---------------------------------------------------------------------------------------


def may_join(task: Task, members: Sequence[int], record: int) -> bool:
    """Whether a record may join a cluster, which need not hold if the requirement survives growth."""
    joined = with_record(members, record)
    return (
        task.cell(record) == task.cell(members[0])
        and task.is_allowed(joined)
        and (task.survives_growth or task.holds(joined))
    )


def best_cluster(task: Task, clusters: Clusters, record: int) -> int | None:
    """Number of the cluster, of those the record may join, whose loss grows least; the lowest of several."""
    fit = [number for number in sorted(clusters) if may_join(task, clusters[number], record)]

    def increase(number: int) -> int:
        return task.loss(with_record(clusters[number], record)) - task.loss(clusters[number])

    return min(fit, key=increase, default=None)


def split(task: Task, members: Sequence[int]) -> tuple[Members, Members] | None:
    """What stays and what moves to a new cluster (Split2kCluster); None if no split leaves both holding.

    With k alone exactly k records move, as in the paper. Otherwise up to k more move, until both hold.
    """
    staying, new = list(members), Members()
    further = 0
    while staying and further <= task.k:
        record = min(staying, key=lambda r: task.loss(without_record(staying, r)) + task.loss(with_record(new, r)))
        staying, new = without_record(staying, record), with_record(new, record)
        if task.strength(new) < task.k:
            continue
        if task.strength(staying) < task.k:
            return None
        if task.holds(staying) and task.holds(new):
            return staying, new
        further += 1
    return None


def join_best(task: Task, clusters: Clusters, record: int, next_number: int) -> Clusters | None:
    """Clusters once the record has joined its best one, which is split if it now can be; None if there is none."""
    number = best_cluster(task, clusters, record)
    if number is None:
        return None
    joined = {**clusters, number: with_record(clusters[number], record)}
    halves = split(task, joined[number]) if task.strength(joined[number]) >= 2 * task.k else None
    if halves is None:
        return joined
    staying, new = halves
    return {**joined, number: staying, next_number: new}


def insert(task: Task, clusters: Clusters, records: Sequence[int], next_number: int) -> tuple[Clusters, Members]:
    """I3M+: the records, in canonical order, each join their best cluster; those that fit none are homeless."""
    homeless: Members = []
    for record in sorted(records):
        joined = join_best(task, clusters, record, next_number)
        if joined is None:
            homeless.append(record)
            continue
        clusters, next_number = joined, next_free(joined, next_number)
    return clusters, homeless


# ---- delete (I3M−) ---------------------------------------------------------------------------------------


def neighbours(task: Task, clusters: Clusters, members: Sequence[int]) -> list[int]:
    """Numbers of the clusters in the cell of some records, nearest first: by the cost of the hull of both boxes."""
    same_cell = [number for number in clusters if task.cell(clusters[number][0]) == task.cell(members[0])]
    return sorted(same_cell, key=lambda number: (task.cost(sorted([*clusters[number], *members])), number))


def borrow(task: Task, clusters: Clusters, number: int) -> Clusters | None:
    """Clusters once this one holds with a record of its nearest donor that can do without; None if no donor can."""
    members = clusters[number]
    others = {other: clusters[other] for other in clusters if other != number}
    for donor in neighbours(task, others, members):
        giving = clusters[donor]
        if not task.holds(giving):
            continue
        spare = [
            record
            for record in giving
            if task.holds(without_record(giving, record))
            and task.is_allowed(with_record(members, record))
            and task.holds(with_record(members, record))
        ]
        if spare:
            record = min(spare, key=lambda r: task.loss(without_record(giving, r)) + task.loss(with_record(members, r)))
            return {**clusters, donor: without_record(giving, record), number: with_record(members, record)}
    return None


def dissolve(task: Task, clusters: Clusters, number: int, next_number: int) -> tuple[Clusters, Members]:
    """DisperseLessKCluster: the cluster vanishes, its records join their best clusters or are homeless."""
    others = {other: clusters[other] for other in clusters if other != number}
    return insert(task, others, clusters[number], next_number)


def repair(task: Task, clusters: Clusters, next_number: int) -> tuple[Clusters, Members]:
    """I3M−: every cluster that does not hold when its turn comes borrows a record or is dissolved (steps 1 and 2)."""
    clusters = without_empty(clusters)
    homeless: Members = []
    for number in sorted(clusters):  # clusters that splits add hold, and get no turn
        if task.holds(clusters[number]):
            continue
        kept = None if task.survives_growth else borrow(task, clusters, number)
        if kept is not None:
            clusters = kept
            continue
        clusters, left = dissolve(task, clusters, number, next_number)
        next_number = next_free(clusters, next_number)
        homeless += left
    return clusters, sorted(homeless)


def without_empty(clusters: Mapping[int, Sequence[int]]) -> Clusters:
    """The clusters that have records, by number, members in canonical order."""
    return {number: sorted(clusters[number]) for number in sorted(clusters) if clusters[number]}


# ---- a change --------------------------------------------------------------------------------------------


def change(task: Task, clusters: Mapping[int, Sequence[int]], next_number: int) -> tuple[Clusters, Members]:
    """Clusters after a change, and the records held back.

    ``clusters`` hold what is left of their records; all other records are new or were held back before. Clusters
    that are added are numbered from ``next_number``, without gaps.
    """
    homeless = homeless_of(task, clusters, next_number)
    kept, dissolved = repair(task, without_empty(clusters), next_number)  # 1, 2
    next_number = next_free(kept, next_number)
    kept, homeless = insert(task, kept, [*homeless, *dissolved], next_number)  # 3
    next_number = next_free(kept, next_number)
    kept, homeless = cluster_afresh(task, kept, homeless, next_number)  # 4
    if not task.survives_growth:
        kept, homeless = merge_homeless(task, kept, homeless)  # 5
    return without_empty(kept), homeless  # 6


def homeless_of(task: Task, clusters: Mapping[int, Sequence[int]], next_number: int) -> Members:
    """Records without a cluster, ascending."""
    placed = [record for members in clusters.values() for record in members]
    if len(set(placed)) != len(placed) or next_free(clusters, next_number) != next_number:
        raise ValueError("a record may be in one cluster only, and 'next_number' must be free.")
    return sorted(set(range(len(task.records))) - set(placed))


def cluster_afresh(
    task: Task, clusters: Clusters, homeless: Sequence[int], next_number: int
) -> tuple[Clusters, Members]:
    """The groups that the static method makes of the homeless are new clusters, numbered as they are made."""
    groups = (task.static or static_groups)(task, homeless)
    added = {next_number + place: sorted(group) for place, group in enumerate(groups)}
    placed = {record for group in groups for record in group}
    return {**clusters, **added}, [record for record in homeless if record not in placed]


def static_groups(task: Task, homeless: Sequence[int]) -> list[Members]:
    """GreedyCKA, or GreedyCPKA if there are models, over some of the records.

    Open: groups come as ``greedy_cka`` and ``greedy_cpka`` list them: by cell in order of its first record in *their*
    canonical order (codes, then sensitive codes if there are models, then person), within a cell by run of values
    from left to right if there is a greatest width, then as they are made. Costs, default weights and the overall
    distribution are those of all records. A greatest width together with persons or models is not defined there.
    """
    records = [task.records[i] for i in homeless]
    persons = None if task.persons is None else [task.persons[i] for i in homeless]
    if not any(task.demands.models):
        # Canonical order is by codes and person here too, so positions are places in ``homeless``.
        found = greedy_cka(task.attributes, records, task.k, task.seed, persons)
        return [[homeless[position] for position in group] for group in found.groups]
    sensitive = [task.sensitive[i] for i in homeless]
    weights = default_weights(task.sensitive) if task.weights is None else task.weights
    found = greedy_cpka(
        task.attributes, records, sensitive, task.k, task.demands, task.seed, weights, persons, task.joining
    )
    order = canonical_order(records, sensitive, persons)
    return [[homeless[order[position]] for position in group] for group in found.groups]


def merge_homeless(task: Task, clusters: Clusters, homeless: Sequence[int]) -> tuple[Clusters, Members]:
    """All homeless of a cell together are merged into its nearest cluster that holds with them, if any does.

    Open: clusters of step 4 qualify too, and the merged cluster is not split.
    """
    held_back: Members = []
    by_cell: dict[tuple[Hashable, ...], Members] = {}
    for record in homeless:
        by_cell.setdefault(task.cell(record), []).append(record)
    for members in by_cell.values():
        merged = merge(task, clusters, members, must_hold=True)
        if merged is None:
            held_back += members
        else:
            clusters = merged
    return clusters, sorted(held_back)


def merge(task: Task, clusters: Clusters, members: Sequence[int], must_hold: bool) -> Clusters | None:
    """Clusters once some records are merged whole into the nearest that can take them; None if none can."""
    for number in neighbours(task, clusters, members):
        union = sorted([*clusters[number], *members])
        if task.is_allowed(union) and (task.holds(union) or not must_hold):
            return {**clusters, number: union}
    return None


def change_only_coarser(
    task: Task, clusters: Mapping[int, Sequence[int]], next_number: int
) -> tuple[Clusters, Members]:
    """A change after which everybody's old cluster is whole, in the same cluster or a larger one, or held back.

    No splits, no dissolving: a cluster that does not hold when its turn comes (by number) is merged whole into the
    nearest that can take it. Records without a cluster never join old ones.

    Open: if the requirement survives growth, a cluster may be merged into one that does not hold yet (its number is
    then higher, and its turn comes). Records of a cluster that fits nowhere are held back at once: the static method
    gets only those that had no cluster when the change began. Where a cluster is too wide because of what its records
    must not be published narrower than, those that must not be published as themselves are held back.
    """
    newcomers = homeless_of(task, clusters, next_number)
    kept = without_empty(clusters)
    held_back: Members = []
    for number in sorted(kept):
        if task.holds(kept[number]):
            continue
        members = kept.pop(number)
        merged = merge(task, kept, members, must_hold=not task.survives_growth)
        if merged is None:
            held_back += members
        else:
            kept = merged
    kept, rest = cluster_afresh(task, kept, newcomers, next_number)
    for number, members in kept.items():
        if not task.is_allowed(members):
            wide = [r for r in members if task.kept and set(task.kept.get(r, ())) - {task.records[r]}]
            kept[number] = [r for r in members if r not in wide]
            held_back += wide
    return without_empty(kept), sorted([*held_back, *rest])


# ---- IL_Optimization -------------------------------------------------------------------------------------


def covering(task: Task, clusters: Clusters, record: int) -> list[int]:
    """Numbers of the clusters that cover a record: it is not theirs, and with it their box stays the same."""
    return [
        number
        for number in sorted(clusters)
        if record not in clusters[number]
        and task.cell(record) == task.cell(clusters[number][0])
        and task.box(with_record(clusters[number], record)) == task.box(clusters[number])
    ]


def totally_covered(task: Task, clusters: Clusters) -> list[int]:
    """Numbers of the clusters whose records are all covered by others, the greatest loss first."""
    found = [
        number for number, members in clusters.items() if all(covering(task, clusters, record) for record in members)
    ]
    return sorted(found, key=lambda number: (-task.loss(clusters[number]), number))


def broken(task: Task, clusters: Clusters, number: int) -> Clusters | None:
    """Clusters once each record of one went to the covering cluster of least loss per record.

    None if some record has no cover any more, or if models that do not survive growth fail in a receiver.
    """
    others = {other: clusters[other] for other in clusters if other != number}
    receivers: set[int] = set()
    for record in clusters[number]:
        covers = covering(task, others, record)
        if not covers:
            return None
        receiver = min(covers, key=lambda other: task.cost(others[other]))
        others = {**others, receiver: with_record(others[receiver], record)}
        receivers.add(receiver)
    if not task.survives_growth and not all(task.holds(others[receiver]) for receiver in receivers):
        return None
    return others


def optimize(task: Task, clusters: Mapping[int, Sequence[int]]) -> Clusters:
    """IL_Optimization: break the totally covered clusters of the start, keeping every break that lowers the loss.

    Which clusters are totally covered, and their order, is settled at the start; records that came in by an earlier
    break are broken out along with the others.
    """
    current = without_empty(clusters)
    for number in totally_covered(task, current):
        after = broken(task, current, number)
        if after is not None and total_loss(task, after) < total_loss(task, current):
            current = after
    return current
