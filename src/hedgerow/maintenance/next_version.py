"""Working out the next version of a release as its plan's ``republish`` allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.anonymization.solving import lattice_budget, refuse_too_many
from hedgerow.errors import NoSolution, Problem
from hedgerow.maintenance.archive import (
    HELD_BACK,
    NO_LEAF,
    WITHDRAWN,
    Archive,
    ChangedRecords,
    LivingRecords,
    MergedRecords,
)
from hedgerow.maintenance.audit.audit import Audit
from hedgerow.maintenance.auditing import Auditor, VersionAudit
from hedgerow.maintenance.candidate import Candidate
from hedgerow.maintenance.changes import republish
from hedgerow.maintenance.changes.boxes import KeptBoxes
from hedgerow.maintenance.changes.change import Change, maintain
from hedgerow.maintenance.changes.levels import Levels, nearest
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.types import BoolArray, IntArray, Progress, Steps

if TYPE_CHECKING:
    import pyarrow as pa

Work = Callable[[Microdata, IntArray, KeptBoxes | None], tuple[Change, BoolArray]]
"""Takes records, the clusters they were in, −1 in none, and the boxes they are to keep, if they are; returns the
change, and whom it withdraws for good."""


def change_records(archive: Archive, state: LivingRecords, removed: BoolArray, new: pa.Table | None) -> ChangedRecords:
    """Take records out of a version and put new ones in.

    A record that is replaced by its like stays where it lies; one that was withdrawn for good stays withdrawn. Under
    ``republish: only-coarser`` a record whose quasi-identifiers stay is its like: elsewhere it might show.
    """
    import pyarrow as pa

    merged = archive.merged(state.rows, state.table, removed, new)
    came = (merged.at < 0) | np.append(removed, False)[merged.at]
    place = np.where(came, HELD_BACK, np.append(state.place, HELD_BACK)[merged.at])
    if new is not None and removed.any():
        _leave_in_place(archive.plan, state, merged, np.flatnonzero(came & (merged.at >= 0)), place)
    none = pa.table({"key": pa.array([], pa.string()), "content": pa.array([], pa.string())})
    written = none if new is None else new.select(["key", "content"])
    return ChangedRecords(merged.rows, merged.table, merged.at, came, written, place)


def _leave_in_place(
    plan: Plan, state: LivingRecords, merged: MergedRecords, replaced: IntArray, place: IntArray
) -> None:
    """Let replaced records lie where they did if nothing changed that groups depend on, or they were withdrawn."""
    import pyarrow as pa

    before = merged.at[replaced]
    same = np.ones(len(replaced), bool)
    roles = ("quasi-identifier",) if plan.republish == "only-coarser" else ("quasi-identifier", "sensitive")
    for name in (*plan.columns(*roles), *filter(None, [plan.person])):
        if name == plan.key:
            continue
        then = state.table.columns[name].take(pa.array(before)).to_pylist()
        now = merged.table.columns[name].take(pa.array(replaced)).to_pylist()
        same &= np.array([a == b for a, b in zip(then, now, strict=True)], bool)
    same |= state.place[before] == WITHDRAWN
    place[replaced[same]] = state.place[before[same]]


def next_version(
    archive: Archive,
    state: LivingRecords,
    changed: ChangedRecords,
    auditor: Auditor,
    threads: int | None,
    tell: Progress,
) -> tuple[Candidate, VersionAudit]:
    """Work out the version that follows a change of records, and its audit.

    Raises
    ------
    NoSolution
        If the plan is ``gated`` or ``cohorts`` and the audit finds something against every way to make it.
    """
    plan = archive.plan
    sizes = [np.bincount(part[part >= 0], minlength=state.used) for part in (state.place, changed.place)]
    lost = np.flatnonzero(sizes[0] != sizes[1])

    def progress(done: int, total: int) -> None:
        tell("maintaining", done, total)

    def freely(microdata: Microdata, before: IntArray, boxes: KeptBoxes | None) -> tuple[Change, BoolArray]:
        if boxes is None:
            change = maintain(microdata, plan, before, state.used, threads, progress)
        else:
            change = republish.only_coarser(microdata, plan, before, state.used, boxes)
        return change, np.zeros(len(before), bool)

    tell("maintaining", 0, 0)
    if archive.on_lattice:
        made = _at_levels(archive, state, changed, progress)
    elif plan.republish in ("free", "only-coarser"):
        made = _settled(archive, state, changed, freely)
    else:
        return _gated(archive, state, changed, lost, auditor, tell)
    tell("auditing", 0, 0)
    return made, auditor.audit(made)


def _settled(
    archive: Archive, state: LivingRecords, changed: ChangedRecords, work: Work, held: BoolArray | None = None
) -> Candidate:
    """Work a change out until it holds nobody back: each time, from those records alone that are left.

    So what is published does not depend on anybody who is not. ``held`` are held back from the start.
    """
    absent = np.where(changed.place == WITHDRAWN, WITHDRAWN, 0)
    if held is not None:
        absent[held] = HELD_BACK
    cells = None
    if archive.plan.republish == "only-coarser":
        cells = archive.last_published(changed.rows, state.number)
    while True:
        kept = absent == 0
        microdata, boxes = archive.encode_keeping(changed.table, kept, cells)
        known = np.zeros(len(absent), bool)
        known[microdata.record_of] = True
        if (kept & ~known).any():
            absent[kept & ~known] = NO_LEAF  # and what else they hold must not play a part
            continue
        place = changed.place[microdata.record_of]
        change, withdrawn = work(microdata, np.where(place < 0, -1, place), boxes)
        out = change.cluster_of < 0
        if not out.any():
            keeps = 0 if boxes is None else state.number
            return Candidate(archive, state, changed, microdata, change, absent, boxes, keeps=keeps)
        absent[microdata.record_of[out]] = np.where(withdrawn[out], WITHDRAWN, HELD_BACK)
        if absent.all():
            message = "No group would be left that meets every demand. Nothing was changed."
            raise NoSolution(Problem("all-withheld", message, hint="combine it with other changes"))


def _at_levels(archive: Archive, state: LivingRecords, changed: ChangedRecords, progress: Steps) -> Candidate:
    """Publish all at the levels of the version before, or the nearest that hold; whose groups fail are held back.

    In rounds, as a fresh release is made: the last one sees nobody who is held back, and finds levels for the others.
    """
    plan, before = archive.plan, Levels.of_facts(archive.row(state.number).facts, archive.plan)
    absent = np.zeros(len(changed.place), np.int64)
    while True:
        kept = absent == 0
        microdata = archive.encode(changed.table, kept)
        known = np.zeros(len(absent), bool)
        known[microdata.record_of] = True
        if (kept & ~known).any():
            absent[kept & ~known] = NO_LEAF
            continue
        refuse_too_many(microdata, plan, len(microdata.unknown))
        budget, levels = lattice_budget(microdata, plan), None
        if (absent == HELD_BACK).any():  # there are levels at which all who are left stay, unless t-closeness is asked
            levels = nearest(microdata, plan, before.node, 0, progress)
        levels = levels or nearest(microdata, plan, before.node, budget, progress)
        if levels is None:
            message = "No levels at or above those of the release meet every demand. Nothing was changed."
            if plan.republish != "only-coarser":
                message = "No levels meet every demand. Nothing was changed."
            raise NoSolution(Problem("no-node", message, hint="combine it with other changes, or create a new release"))
        out = levels.solution(microdata, plan).recoding.group_of < 0
        if not out.any():
            ups = [max(now - then, 0) for now, then in zip(levels.node, before.node, strict=True)]
            downs = [max(then - now, 0) for now, then in zip(levels.node, before.node, strict=True)]
            change = Change(np.zeros(len(out), np.int64), 1, {"raised": sum(ups), "lowered": sum(downs)})
            keeps = state.number if plan.republish == "only-coarser" else 0
            return Candidate(archive, state, changed, microdata, change, absent, None, levels, keeps)
        absent[microdata.record_of[out]] = HELD_BACK


def _gated(
    archive: Archive,
    state: LivingRecords,
    changed: ChangedRecords,
    lost: IntArray,
    auditor: Auditor,
    tell: Progress,
) -> tuple[Candidate, VersionAudit]:
    """Find a version that the audit has nothing against, withdrawing and holding back more as long as it has."""
    plan = archive.plan
    stay = lost if plan.republish == "gated" else np.zeros(0, np.int64)
    newcomers = (changed.place < 0) & (changed.place != WITHDRAWN)
    held = np.zeros(len(newcomers), bool)

    def together(microdata: Microdata, before: IntArray, _: KeptBoxes | None) -> tuple[Change, BoolArray]:
        return republish.cohorts(microdata, plan, before, state.used, np.setdiff1d(lost, stay))

    while True:
        made = _settled(archive, state, changed, together, held)
        tell("auditing", 0, 0)
        audited = auditor.audit(made)
        found = audited.found
        if not found.leaks:
            return made, audited
        failing = np.isin(made.group_of, found.failing_groups(made.number))
        leaving = np.intersect1d(stay, made.change.cluster_of[failing])
        waiting = np.zeros(len(held), bool)
        waiting[made.microdata.record_of[failing]] = True
        waiting &= newcomers & ~held
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
