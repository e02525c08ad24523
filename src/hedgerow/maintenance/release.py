"""The verbs of a maintained release: create, insert, delete, update, optimize, restart, erase; and looking at it."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias, get_args

import numpy as np

from hedgerow.anonymization.clustering.steps import BY_STEPS, PASSES
from hedgerow.anonymization.resolving import with_kept_points
from hedgerow.anonymization.withholding import Settled, as_part, part_of, settle
from hedgerow.engines.local import LocalEngine
from hedgerow.errors import BrokenPromise, DataError, HedgerowError, NoSolution, PlanError, Problem
from hedgerow.maintenance import rows
from hedgerow.maintenance.archive import (
    HELD_BACK,
    NO_LEAF,
    WITHDRAWN,
    Archive,
    ChangedRecords,
    LivingRecords,
    check_values,
    differing,
    known,
    refuse,
)
from hedgerow.maintenance.audit.audit import Audit
from hedgerow.maintenance.auditing import Auditor, VersionAudit, audit_all
from hedgerow.maintenance.candidate import Candidate, rebuilt
from hedgerow.maintenance.changes.change import Change
from hedgerow.maintenance.changes.levels import Levels
from hedgerow.maintenance.changes.levels import lower as lower_levels
from hedgerow.maintenance.changes.optimize import limited_in_width, optimize
from hedgerow.maintenance.checking import compare_with_index, records_for_change
from hedgerow.maintenance.damage import tells_of_damage
from hedgerow.maintenance.next_version import change_records, exposes, next_version
from hedgerow.maintenance.reading import are_numbered, place_of, read_records
from hedgerow.maintenance.store import Erasure, NewVersion, Store, VersionRow, open_store
from hedgerow.microdata import Microdata, Table
from hedgerow.outside.notebook import html_table
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS, objectives
from hedgerow.plan.plan import settled_plan
from hedgerow.release import Release, check_targets, publish
from hedgerow.types import BoolArray, Improve, IntArray, Progress, silent
from hedgerow.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

MOST_PASSES = 1000
Regrouped: TypeAlias = "tuple[Microdata, Change, IntArray, Levels | None]"
"""Records grouped anew: they and their clusters, why others are absent, and their levels, on the lattice."""


def create_release(
    data: Any,
    plan: Plan | str | Path,
    store: str | Path,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> MaintainedRelease:
    """Make the first version of a maintained release, verify it, and begin its store.

    Parameters
    ----------
    data
        A path (CSV, Parquet, Arrow), the address of a table on a server, or a pandas, polars or pyarrow table.
    plan
        A plan that names the ``key`` of the records.
    store
        A file to create, or ``postgresql://…?schema=name``. If there is a store that holds just this release, made of
        the same table and plan and not changed since, it is opened: it was created before.

    Examples
    --------
    >>> import pyarrow as pa, tempfile
    >>> people = pa.table({"id": list("abcdef"), "age": ["31", "33", "38", "52", "55", "57"]})
    >>> age = {"role": "quasi-identifier", "hierarchy": {"bands": [10, 20]}}
    >>> plan = Plan.from_dict({"key": "id", "attributes": {"age": age}, "privacy": {"k": 3}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with create_release(people, plan, f"{folder}/people.store") as release:
    ...         version = release.insert(pa.table({"id": ["g"], "age": ["36"]}))
    >>> version.number, version.counts["inserted"], version.counts["released"]
    (2, 1, 7)
    """
    tell = progress or silent
    asked = settled_plan(plan)
    _check_plan(asked)
    taken: DataError | None = None
    try:
        opened = open_store(store, create=True)
    except DataError as error:
        if error.problems[0].code != "store-exists":
            raise
        taken, opened = error, open_store(store)
    try:
        if taken is not None and not _may_hold(opened, asked):
            raise taken
        tell("reading", 0, 0)
        table = read_records(data, asked)
        asked, found = with_kept_points(asked, table), tuple(table.treatments)
        check_values(table, asked, data)
        kinds = rows.kinds_of(table, asked)
        stored = rows.to_rows(
            table, rows.keys_of(table, asked, place_of(data), are_numbered(data)), kinds, place_of(data)
        )
        if taken is not None:
            if not stored.equals(opened.records(1).select(["key", "content"]).sort_by("key")):
                raise taken
            return MaintainedRelease(opened, threads, progress)
        table = dataclasses.replace(rows.to_table(stored, asked, kinds, table.not_released), format=table.format)
        tell("encoding", 0, 0)
        made = settle(table, asked, threads, lambda done, total: tell("clustering", done, total), in_order=True)
        if found and len(made.microdata.unknown):
            message = f"The points of {', '.join(map(repr, found))} must be those of the released records, and records "
            hint = "give them as numbers, such as treat: {top: 90}: all versions keep them"
            raise DataError(Problem("point", f"{message}are withheld.", hint=hint))
        change, levels = _begun(made)
        absent = np.full(table.records, HELD_BACK, np.int64)
        absent[made.whole.unknown] = NO_LEAF
        meta = {
            "asked": asked.to_yaml(),
            "asked_digest": asked.digest(),
            "plan": made.plan.to_yaml(),
            "kinds": kinds,
            "not_released": json.dumps(list(table.not_released)),
        }
        records = ChangedRecords.first(stored, table)
        archive = Archive(opened, meta)
        first = Candidate(archive, None, records, made.microdata, change, absent, levels=levels)
        tell("auditing", 0, 0)
        audited = Auditor(archive).audit(first)
        tell("verifying", 0, 0)
        version = first.as_version("create", {"inserted": stored.num_rows}, audited, threads)
        tell("writing", 0, 0)
        opened.start(meta, version)
        return MaintainedRelease(opened, threads, progress)
    except BaseException:
        opened.close()
        raise


def open_release(
    store: str | Path, *, threads: int | None = None, progress: Progress | None = None
) -> MaintainedRelease:
    """Open the store of a maintained release."""
    return MaintainedRelease(open_store(store), threads, progress)


@tells_of_damage
class MaintainedRelease:
    """A release and its history; a context manager. Every verb that changes something returns the new version."""

    def __init__(self, store: Store, threads: int | None = None, progress: Progress | None = None) -> None:
        self._store, self._threads, self._tell = store, threads, progress or silent
        self._archive = Archive(store)

    @property
    def plan(self) -> Plan:
        """The plan of the release, everything filled in that was found out from the first table."""
        return self._archive.plan

    # -- changes -----------------------------------------------------------------------------------------------------

    def insert(self, data: Any, plan: Plan | str | Path | None = None, *, full_check: bool = False) -> VersionRow:
        """Add records whose keys are new; ``plan``, if given, must be the one the release was created with.

        ``full_check``: check all of the new version, and not only what changed, some of the rest and every so-and-so-
        many-th version (:mod:`hedgerow.maintenance.checking`).

        If the newest version is the insertion of just these records, there is no other: the same was asked before.
        """
        self._check_same(plan)
        self._tell("reading", 0, 0)
        new = self._archive.read(data)
        if self._archive.is_newest("insert", new):
            return self._archive.row()
        state = records_for_change(self._archive, full_check)
        refuse(new, known(new, state.rows), "duplicate-key", "in the release already", data, "update them instead")
        return self._append(
            self._changed(
                "insert", state, np.zeros(len(state.place), bool), new, {"inserted": new.num_rows}, full_check
            )
        )

    def delete(self, data: Any = None, *, keys: Sequence[str] | None = None, full_check: bool = False) -> VersionRow:
        """Remove records, given by a table with the key column, or by their keys; ``full_check`` as for ``insert``.

        If the newest version is the deletion of just these records, there is no other: the same was asked before.
        """
        made = self._deletion(data, keys, full_check)
        return self._archive.row() if made is None else self._append(made)

    def _deletion(self, data: Any, keys: Sequence[str] | None, full_check: bool = False) -> NewVersion | None:
        """Work out the version without some records; none if the newest is that."""
        named = self._named(data, keys)
        if self._archive.is_newest("delete", named):
            return None
        state = records_for_change(self._archive, full_check)
        refuse(named, ~known(named, state.rows), "no-such-key", "not in the release", data, "check the keys")
        if named.num_rows == state.rows.num_rows:
            message = "This would delete every record of the release. Nothing was changed."
            raise NoSolution(Problem("all-withheld", message, hint="a release without records is none: drop the store"))
        return self._changed("delete", state, known(state.rows, named), None, {"deleted": named.num_rows}, full_check)

    def update(self, data: Any, plan: Plan | str | Path | None = None, *, full_check: bool = False) -> VersionRow:
        """Replace records by new ones with the same keys; if all are as they were, there is no new version.

        ``full_check`` as for ``insert``.
        """
        self._check_same(plan)
        self._tell("reading", 0, 0)
        new, state = self._archive.read(data), records_for_change(self._archive, full_check)
        refuse(new, ~known(new, state.rows), "no-such-key", "not in the release", data, "insert them instead")
        new = new.filter(differing(new, self._store.records_of(new.column("key").to_pylist())))
        if not new.num_rows:
            return self._archive.row()
        return self._append(
            self._changed("update", state, known(state.rows, new), new, {"updated": new.num_rows}, full_check)
        )

    def optimize(self, passes: int = PASSES, improve: Improve | None = None) -> VersionRow:
        """Lower the loss for the same records; 0 passes and improve off: by the paper's IL_Optimization alone.

        ``improve`` searches further, and regroups most people; None: as the plan's method says. If nothing can be
        improved, there is no new version.
        """
        wide = limited_in_width(self.plan)
        of_plan: Any = self.plan.method.improve
        effort = improve or ("off" if wide or of_plan in BY_STEPS else of_plan)
        if effort not in get_args(Improve):
            *names, last = [repr(name) for name in get_args(Improve)]
            message = f"The 'improve' parameter must be {', '.join(names)} or {last}."
            raise DataError(Problem("usage", message))
        if effort != "off" and wide:
            message = f"Groups of {wide[0]!r} are limited in width; a search cannot regroup those of a release."
            raise PlanError(Problem("conflict", message, hint="use improve: off"))
        if effort != "off" and self._archive.on_lattice:
            message = "A release on the lattice has levels, and no groups that a search could regroup."
            raise PlanError(Problem("conflict", message, hint="use improve: off"))
        if passes not in range(MOST_PASSES + 1):
            message = f"The 'passes' parameter must be a whole number from 0 to {MOST_PASSES:,}."
            raise DataError(Problem("usage", message))

        def lower(state: LivingRecords, table: Table) -> Regrouped:
            tell, threads = self._progress("optimizing"), self._threads or os.cpu_count() or 1
            microdata = self._archive.encode(table, state.place >= 0)
            before = state.place[microdata.record_of]
            if self._archive.on_lattice:
                had = Levels.of_facts(self._archive.row(state.number).facts, self.plan)
                levels = lower_levels(microdata, self.plan, had.node, tell)
                steps = {"lowered": sum(had.node) - sum(levels.node)}
                return microdata, Change(before, state.used, steps), state.place, levels
            change = optimize(microdata, self.plan, before, state.used, int(passes), tell, effort, threads)
            return microdata, change, state.place, None

        return self._regroup("optimize", lower)

    def restart(self) -> VersionRow:
        """Make the release afresh from the same records, as if it were created now."""

        def afresh(state: LivingRecords, table: Table) -> Regrouped:
            kept = (state.place != WITHDRAWN).astype(np.int64)
            part, tell = part_of(table, kept), self._progress("clustering")
            made = settle(part, self._archive.lenient, self._threads, tell, in_order=True)
            change, levels = _begun(made, state.used)
            absent = np.where(kept, HELD_BACK, WITHDRAWN)
            absent[np.flatnonzero(kept)[made.whole.unknown]] = NO_LEAF
            return as_part(made.microdata, table, kept), change, absent, levels

        return self._regroup("restart", afresh)

    def erase(self, keys: Sequence[str]) -> int:
        """Erase people from the private tables of every version; who is still in the release is deleted with it.

        Returns how many rows were erased. Versions that held them cannot be exported any more. Erasing the same people
        once more does no harm: if none of the keys is in any version, and people were erased before, no row is removed
        and the store is only cleaned again.

        Raises
        ------
        DoneBut
            If they are erased, but copies may linger in the file of the store.
        """
        named, state = self._named(None, keys), self._archive.state()
        ever = known(named, self._store.all_places())
        if not (self._store.erasures() and not ever.any()):  # who was erased is kept nowhere
            refuse(named, ~ever, "no-such-key", "in no version of the release", None, "check the keys")
        living = named.filter(known(named, state.rows))
        without = None
        if living.num_rows:
            try:
                without = self._deletion(None, living.column("key").to_pylist())
            except NoSolution as error:
                hint = "loosen what refuses it, such as 'withhold', in a new release without them; then drop this store"
                message = "They are still in the release, and deleting them is refused; so nothing was erased."
                raise NoSolution([*error.problems, Problem(error.problems[0].code, message, hint=hint)]) from None
        return self._store.erase(named.column("key").to_pylist(), without)

    # -- looking -----------------------------------------------------------------------------------------------------

    @property
    def head(self) -> int:
        """Number of the newest version."""
        return self._store.head()

    def history(self) -> list[VersionRow]:
        """Return what is known of every version, oldest first."""
        return self._store.versions()

    def erasures(self) -> list[Erasure]:
        """Return when people were erased, and how many rows; never who."""
        return self._store.erasures()

    def release(self, version: int | None = None) -> Release:
        """Return a version, the newest by default, as a release worked out anew from the store."""
        return self._rebuilt(version).release

    def export(
        self,
        version: int | None,
        output: str | Path,
        *,
        format: str = "csv",
        replace: bool = False,
        link: str | Path | None = None,
    ) -> Release:
        """Write a version to a folder, verified once more, as ``anonymize`` would."""
        check_targets(output, link, replace)
        made = self._rebuilt(version)
        source = LocalEngine(rows.plain_table(made.table))
        publish(made.release, Path(output), format, source, link, replace, self._tell)
        return made.release

    def check(self) -> dict[str, Any]:
        """Check the store: the chain of hashes over all versions, and the promises of the newest one."""
        broken = self._store.check_chain()
        try:
            found = self._rebuilt(None).verify().to_dict()
            compare_with_index(self._archive)
        except HedgerowError as error:
            found = {"kept": False, "promises": [], "problems": [problem.to_dict() for problem in error.problems]}
        return {"chain": not broken, "broken_versions": broken, "head": self.head, "verification": found}

    def audit(self) -> Audit:
        """Work out what somebody who holds every version could learn about each person."""
        self._tell("auditing", 0, 0)
        return audit_all(self._archive, self.head)

    def diff(self, old: int, new: int) -> dict[str, Any]:
        """Say what changed from one version to another, in numbers."""
        before, after = self._archive.row(old), self._archive.row(new)
        was, is_now = (self._archive.groups_of_people(row.number) for row in (before, after))
        both = was.keys() & is_now.keys()
        had, has = (self._archive.group_contents(row.number) for row in (before, after))
        shared = had.keys() & has.keys()
        return {
            "from": before.number,
            "to": after.number,
            "people": {
                "came": len(is_now.keys() - was.keys()),
                "left": len(was.keys() - is_now.keys()),
                "stayed_in_their_group": sum(was[key] == is_now[key] for key in both),
                "changed_groups": sum(was[key] != is_now[key] for key in both),
            },
            "groups": {
                "came": len(has.keys() - had.keys()),
                "vanished": len(had.keys() - has.keys()),
                "changed": sum(had[number] != has[number] for number in shared),
                "unchanged": sum(had[number] == has[number] for number in shared),
            },
            "counts": {"from": before.counts, "to": after.counts},
            "ntil": {"from": before.scores["ntil"], "to": after.scores["ntil"]},
        }

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        newest = self._archive.row()
        counts = newest.counts
        return (
            f"MaintainedRelease(version {newest.number}: {counts['released']:,} of {counts['records']:,} records in "
            f"{counts['groups']:,} groups, {counts['held_back']:,} held back)"
        )

    def _repr_html_(self) -> str:
        head = ("version", "by", "made at (UTC)", "records", "released", "groups", "held back")
        rows = (
            (row.number, row.verb, row.made_at, *map(row.counts.get, ("records", "released", "groups", "held_back")))
            for row in reversed(self.history())
        )
        return html_table(repr(self), head, rows)

    # -- steps -------------------------------------------------------------------------------------------------------

    def _changed(
        self,
        verb: str,
        state: LivingRecords,
        removed: BoolArray,
        new: pa.Table | None,
        counts: dict[str, int],
        full_check: bool,
    ) -> NewVersion:
        """Work out the next version from records that go and records that come."""
        self._tell("encoding", 0, 0)
        changed = change_records(self._archive, state, removed, new)
        made, found = next_version(
            self._archive, state, changed, Auditor(self._archive, full_check), self._threads, self._tell
        )
        return self._verified(verb, made, found, counts)

    def _regroup(self, verb: str, work: Callable[[LivingRecords, Table], Regrouped]) -> VersionRow:
        """Group the same records anew."""
        if self.plan.republish in ("only-coarser", "cohorts"):
            message = f"The plan says 'republish: {self.plan.republish}', so people may not be grouped anew."
            raise PlanError(Problem("republish", message, hint=f"'{verb}' goes with republish: free or gated"))
        self._tell("encoding", 0, 0)
        state = self._archive.state()
        records = ChangedRecords.unchanged(state)
        microdata, change, absent, levels = work(state, state.table)
        made = Candidate(self._archive, state, records, microdata, change, absent, levels=levels)
        if verb == "optimize" and np.array_equal(made.place, state.place) and not change.steps.get("lowered"):
            return self._archive.row()
        self._tell("auditing", 0, 0)
        audited = Auditor(self._archive).audit(made)
        if self.plan.republish == "gated" and audited.found.leaks:
            raise NoSolution(
                Problem("audit", exposes(audited.found), hint="the plan says 'republish: gated': leave it as it is")
            )
        return self._append(self._verified(verb, made, audited, {}))

    def _verified(self, verb: str, made: Candidate, found: VersionAudit, counts: dict[str, int]) -> NewVersion:
        self._tell("verifying", 0, 0)
        return made.as_version(verb, counts, found, self._threads)

    def _append(self, version: NewVersion) -> VersionRow:
        self._tell("writing", 0, 0)
        self._store.append(version)
        return self._archive.row()

    def _rebuilt(self, version: int | None) -> Candidate:
        """Work a version out anew, and make sure that it is what it was."""
        row = self._archive.row(version)
        made = rebuilt(self._archive, row)
        if not _states_the_same(row, made.facts()):
            message = f"Version {row.number} cannot be made again as it was: the store or this program has changed."
            raise BrokenPromise(Problem("broken-promise", message, hint="run 'hedgerow release check'"))
        return made

    def _named(self, data: Any, keys: Sequence[str] | None) -> pa.Table:
        """Read the keys that somebody names, in one of two ways."""
        import pyarrow as pa

        if (data is None) == (keys is None):
            raise DataError(Problem("usage", "Give either a table of keys or the keys themselves.", hint="one of both"))
        if keys is None:
            return self._archive.read_keys(data)
        if isinstance(keys, str):
            raise DataError(Problem("usage", "Keys are given as a list, not as one text.", hint="put it into a list"))
        try:
            column = pa.array(keys)  # numbers are written as in a table
        except pa.ArrowException:
            column = pa.array([str(key) for key in keys], pa.string())
        return self._archive.read_keys(pa.table({str(self.plan.key): column}))

    def _check_same(self, plan: Plan | str | Path | None) -> None:
        if plan is None:
            return
        if not self._archive.is_plan(settled_plan(plan)):
            message = "The release was created with another plan. Nothing was changed."
            hint = "leave the plan out to use the release's own, or create a new release"
            raise PlanError(Problem("other-plan", message, "" if isinstance(plan, Plan) else str(plan), hint))

    def _progress(self, doing: str) -> Callable[[int, int], None]:
        return lambda done, total: self._tell(doing, done, total)


def _begun(made: Settled, used: int = 0) -> tuple[Change, Levels | None]:
    """Take the clusters of a release that was made afresh, or its levels; clusters are numbered on."""
    found = made.solution.cluster_of
    if found is not None:
        return Change(found + used, used + int(found.max(initial=-1)) + 1, {}), None
    everybody = np.zeros(
        len(made.microdata.record_of), np.int64
    )  # on the lattice there is one cluster: who is released
    return Change(everybody, 1, {}), Levels.of_solution(made.solution)


def _states_the_same(row: VersionRow, facts: dict[str, Any]) -> bool:
    """Tell whether the facts of a version are those that it was written with.

    Another version of Hedgerow may have stated more facts, fewer, or some by other names: then those that both state.
    """
    if row.tool == f"hedgerow {__version__}":
        return facts == row.facts
    return all(facts[name] == row.facts[name] for name in facts.keys() & row.facts.keys())


def _may_hold(store: Store, plan: Plan) -> bool:
    """Tell whether a store is that of a release with this plan which was created and never changed."""
    return store.head() == 1 and not store.erasures() and store.meta().get("asked_digest") == plan.digest()


def _check_plan(plan: Plan) -> None:
    problems = []
    if plan.key is None:
        message = "The plan names no 'key', the column by which records are found again."
        problems.append(Problem("missing-key", message, hint="add 'key: <column>' to the plan"))
    if plan.unit is not None:
        message = "A release that links units cannot be maintained: numbers drawn anew would link its versions."
        problems.append(
            Problem("conflict", message, hint="leave 'unit' out of the plan, or make a release of each table")
        )
    if METHODS[plan.method.name].needs_levels and plan.republish in ("gated", "cohorts"):
        message = (
            f"The plan says 'republish: {plan.republish}', but on the lattice newcomers join the groups that are "
            "there: all are published at the same levels."
        )
        problems.append(Problem("conflict", message, hint="use republish: only-coarser, or a method that clusters"))
    for name in plan.publishes_instead:
        message = (
            f"Column {name!r} publishes a {plan.attributes[name].publish} of its group, so a release cannot be "
            "maintained: one who comes or goes changes what the whole group is published as, and versions tell who."
        )
        problems.append(Problem("conflict", message, hint="leave 'publish' out, or make releases one by one"))
    if plan.weight is not None:
        message = "A release of a weighted sample cannot be maintained: weights are those of one sample."
        problems.append(Problem("conflict", message, hint="leave 'weight' out, or make releases one by one"))
    if plan.population is not None:
        message = "A release that counts people in a population cannot be maintained: the population changes as well."
        problems.append(Problem("conflict", message, hint="leave 'population' out, or make releases one by one"))
    if plan.method.suppress:
        message = (
            "A release with suppressed cells cannot be maintained: a newcomer may need a cell that others show, and "
            "cells that come and go tell readers of several versions whose they are."
        )
        problems.append(Problem("conflict", message, hint="leave 'suppress' out of the method"))
    if objectives()[plan.method.goes_by].squared:
        message = (
            f"A release by objective {plan.method.goes_by} cannot be maintained: newcomers join groups by what their "
            "boxes cost, and squared distances say nothing of boxes."
        )
        problems.append(Problem("conflict", message, hint="use objective loss, ncp or granularity"))
    if plan.method.overlap == "forbidden":
        message = (
            "A release whose ranges must not overlap cannot be maintained: one newcomer in a gap between ranges can "
            "move the ranges of everybody."
        )
        problems.append(Problem("conflict", message, hint="leave 'overlap' out of the method"))
    if problems:
        raise PlanError(problems)
