"""Working out the next version of a release as its plan's ``republish`` allows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.errors import NoSolution, Problem
from hedgerow.maintained.archive import HELD_BACK, WITHDRAWN, Archive, BoolArray, Events, IntArray, State, known
from hedgerow.maintained.candidate import Candidate
from hedgerow.maintenance import republish
from hedgerow.maintenance.audit import Audit
from hedgerow.maintenance.change import Change, maintain
from hedgerow.microdata import Microdata, Table
from hedgerow.plan import Plan
from hedgerow.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

AUDITED_AT_ONCE = 50_000  # records up to which every version is audited as it is made; above, on request


@dataclass(frozen=True, eq=False)
class Changed:
    """The records after a change, before anything was done about it.

    Attributes
    ----------
    rows, table, microdata
        The records, as stored, as a table and encoded; all in the order of keys.
    place
        Where every record lay; new ones are held back.
    """

    rows: pa.Table
    table: Table
    microdata: Microdata
    place: IntArray


def change_records(archive: Archive, state: State, removed: BoolArray, new: pa.Table | None) -> Changed:
    """Take records out of a version and put new ones in.

    A record that is replaced by its like stays where it lies; one that was withdrawn for good stays withdrawn.
    """
    import pyarrow as pa

    kept, place = state.rows.filter(~removed), state.place[~removed]
    if new is not None:
        kept = pa.concat_tables([kept, new.select(["key", "content"])])
        place = np.append(place, np.full(new.num_rows, HELD_BACK))
    order = pa.compute.sort_indices(kept, sort_keys=[("key", "ascending")]).to_numpy()
    every, place = kept.take(order), place[order]
    table = archive.table(every)
    if new is not None and removed.any():
        place = _leave_in_place(archive, state, removed, table, place)
    return Changed(every, table, archive.encode(table), place)


def _leave_in_place(archive: Archive, state: State, removed: BoolArray, table: Table, place: IntArray) -> IntArray:
    """Let replaced records lie where they did if nothing changed that groups depend on, or they were withdrawn."""
    plan = archive.plan
    before = archive.table(state.rows.filter(removed))
    at = np.flatnonzero(known(_keys(table, plan), state.rows.filter(removed)))
    same = np.ones(len(at), bool)
    for name in (*plan.columns("quasi-identifier", "sensitive"), *filter(None, [plan.person])):
        if name == plan.key:
            continue
        then, now = before.columns[name].to_pylist(), table.columns[name].take(at).to_pylist()
        same &= np.array([a == b for a, b in zip(then, now, strict=True)], bool)
    same |= state.place[removed] == WITHDRAWN
    place = place.copy()
    place[at[same]] = state.place[removed][same]
    return place


def _keys(table: Table, plan: Plan) -> pa.Table:
    import pyarrow as pa

    return pa.table({"key": table.columns[str(plan.key)]})


def next_version(
    archive: Archive, state: State, changed: Changed, threads: int | None, tell: Progress
) -> tuple[Candidate, Audit | None]:
    """Work out the version that follows a change of records, and its audit unless it is too large for that.

    Raises
    ------
    NoSolution
        If the plan is ``gated`` or ``cohorts`` and the audit finds something against every way to make it.
    """
    plan, microdata = archive.plan, changed.microdata
    sizes = [np.bincount(part[part >= 0], minlength=state.used) for part in (state.place, changed.place)]
    place = changed.place[microdata.record_of]
    cluster_of = np.where(place < 0, -1, place)
    lost = np.flatnonzero(sizes[0] != sizes[1])
    before = republish.Before(cluster_of, state.used, place == WITHDRAWN, lost)
    nobody = np.zeros(len(place), bool)

    def candidate(change: Change, withdrawn: BoolArray) -> Candidate:
        return Candidate(archive, state, changed.rows, changed.table, microdata, change, withdrawn)

    def progress(done: int, total: int) -> None:
        tell("maintaining", done, total)

    tell("maintaining", 0, 0)
    if plan.republish == "free":
        made = candidate(maintain(microdata, plan, before.cluster_of, before.used, threads, progress), nobody)
    elif plan.republish == "only-coarser":
        made = candidate(republish.only_coarser(microdata, plan, before), nobody)
    else:
        return _gated(microdata, plan, before, candidate, archive.events(state.number), tell)
    return made, audit_if_small(made, tell)


def audit_if_small(made: Candidate, tell: Progress) -> Audit | None:
    """Audit a version, unless it is so large that this is better done on request."""
    if len(made.place) > AUDITED_AT_ONCE:
        return None
    tell("auditing", 0, 0)
    return made.audit()


def _gated(
    microdata: Microdata,
    plan: Plan,
    before: republish.Before,
    candidate: Callable[[Change, BoolArray], Candidate],
    past: Events,
    tell: Progress,
) -> tuple[Candidate, Audit]:
    """Find a version that the audit has nothing against, withdrawing and holding back more as long as it has."""
    stay = before.lost if plan.republish == "gated" else np.zeros(0, np.int64)
    newcomers = (before.cluster_of < 0) & ~before.withdrawn
    held = np.zeros(len(newcomers), bool)
    while True:
        change, withdrawn = republish.cohorts(microdata, plan, before, stay, held)
        made = candidate(change, withdrawn)
        tell("auditing", 0, 0)
        found = made.audit(past)
        if not found.leaks:
            return made, found
        failing = np.isin(made.group_of, found.failing_groups(made.number))
        leaving = np.intersect1d(stay, change.cluster_of[failing])
        waiting = failing & newcomers & ~held
        if len(leaving):
            stay = np.setdiff1d(stay, leaving)
        elif waiting.any():
            held = held | waiting
        elif len(stay):
            stay = stay[:0]
        elif (newcomers & ~held).any():
            held = newcomers
        else:
            hint = "combine it with other changes, so that those who come or leave are k at least, with p values"
            raise NoSolution(Problem("audit", exposes(found), hint=hint))


def exposes(found: Audit) -> str:
    """Say why a change is refused."""
    return f"The audit finds {found.leaks:,} people whom this change would expose. Nothing was changed."
