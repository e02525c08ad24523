"""A release that stays current: created once, then changed by inserts, deletes and updates, every version verified.

The history lies in a store (one SQLite file, or a PostgreSQL schema). A change reads the newest version, works out the
next one, checks it as any release is checked, audits what holders of all versions could learn, and appends it in one
transaction: all of it, or nothing.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from hedgerow.clustering import find_cells
from hedgerow.engines import local
from hedgerow.engines.folder import new_folder
from hedgerow.errors import BrokenPromise, DataError, NoSolution, PlanError, Problem
from hedgerow.maintenance import drift, republish, rows
from hedgerow.maintenance.audit import Audit, audit
from hedgerow.maintenance.change import Change, maintain
from hedgerow.maintenance.clusters import recoding_of
from hedgerow.maintenance.history import build_history
from hedgerow.maintenance.optimize import PASSES, optimize
from hedgerow.maintenance.published import audited_columns, group_table, number_groups, value_vectors
from hedgerow.microdata import Microdata, Table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.publishing import make_release, self_contained, verify_before_publishing, write_link, write_release
from hedgerow.release import Release
from hedgerow.solving import Solution, of_clusters, solve
from hedgerow.store import NewVersion, Store, VersionRow, open_store
from hedgerow.workflow import collapse

if TYPE_CHECKING:
    import pyarrow as pa

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Progress = Callable[[str, int, int], None]
HELD_BACK, NO_LEAF, DELETED, WITHDRAWN = -1, -2, -3, -4
AUDITED_AT_ONCE = 100_000  # records up to which every change is audited in full; above, 'release audit' does it


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
        A path (CSV, Parquet, Arrow) or a pandas, polars or pyarrow table.
    plan
        A plan that names the ``key`` of the records and clusters.
    store
        A file to create, or ``postgresql://…?schema=name``.

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
    tell = progress or _silent
    asked = (plan if isinstance(plan, Plan) else Plan.load(plan)).settled()
    _check_plan(asked)
    opened = open_store(store, create=True)
    try:
        tell("reading", 0, 0)
        table = local.read(data, asked, key=True)
        place = str(data) if isinstance(data, str | Path) else "data"
        keys = rows.keys_of(table, asked, place)
        kinds = rows.kinds_of(table, asked)
        stored = rows.to_rows(table, keys, asked, kinds, place)
        table = rows.to_table(stored, asked, kinds, table.not_released)
        tell("encoding", 0, 0)
        microdata, resolved = collapse(table, asked, in_order=True)
        settled = self_contained(resolved, table, microdata)
        tell("clustering", 0, 0)
        solution = solve(microdata, settled, threads, lambda done, total: tell("clustering", done, total))
        meta = {
            "asked": asked.to_yaml(),
            "asked_digest": asked.digest(),
            "plan": settled.to_yaml(),
            "kinds": kinds,
            "not_released": json.dumps(list(table.not_released)),
        }
        release = MaintainedRelease(opened, threads, progress, meta)
        release._begin(stored, table, microdata, solution)
        return release
    except BaseException:
        opened.close()
        raise


def open_release(
    store: str | Path, *, threads: int | None = None, progress: Progress | None = None
) -> MaintainedRelease:
    """Open the store of a maintained release."""
    return MaintainedRelease(open_store(store), threads, progress)


@dataclass(frozen=True, eq=False)
class _State:
    """The records of one version, in the order of their keys, and where each lies."""

    number: int
    rows: pa.Table
    place: IntArray
    used: int


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A version that is worked out but not written."""

    rows: pa.Table
    table: Table
    microdata: Microdata
    solution: Solution
    place: IntArray
    used: int
    steps: Mapping[str, int]
    groups: pa.Table
    events: pa.Table
    group_of: IntArray
    vectors: tuple[list[str], IntArray]


class MaintainedRelease:
    """A release and its history; a context manager. Every verb that changes something returns the new version."""

    def __init__(
        self,
        store: Store,
        threads: int | None = None,
        progress: Progress | None = None,
        meta: Mapping[str, str] | None = None,
    ) -> None:
        self._store, self._threads, self._tell = store, threads, progress or _silent
        self._meta = dict(store.meta() if meta is None else meta)
        self._asked = Plan.loads(self._meta["asked"])
        self.plan = Plan.loads(self._meta["plan"])

    # -- changes -----------------------------------------------------------------------------------------------------

    def insert(self, data: Any, plan: Plan | str | Path | None = None) -> VersionRow:
        """Add records whose keys are new; ``plan``, if given, must be the one the release was created with."""
        self._check_same(plan)
        state, new = self._state(), self._read(data)
        self._refuse(new, _known(new, state.rows), "duplicate-key", "are in the release already", data, "update them")
        return self._change("insert", state, new, removed=None, counts={"inserted": new.num_rows})

    def delete(self, data: Any = None, *, keys: Sequence[str] | None = None) -> VersionRow:
        """Remove records, given by a table with the key column, or by their keys."""
        import pyarrow as pa

        state = self._state()
        gone = self._keys_only(data, keys)
        named = pa.table({"key": gone})
        self._refuse(named, ~_known(named, state.rows), "no-such-key", "are not in the release", data, "check the keys")
        if len(gone) == state.rows.num_rows:
            message = "This would delete every record of the release. Nothing was changed."
            raise NoSolution(Problem("all-withheld", message, hint="a release without records is none: drop the store"))
        removed = _known(state.rows, named)
        return self._change("delete", state, None, removed, counts={"deleted": len(gone)})

    def update(self, data: Any, plan: Plan | str | Path | None = None) -> VersionRow:
        """Replace records by new ones with the same keys."""
        self._check_same(plan)
        state, new = self._state(), self._read(data)
        self._refuse(new, ~_known(new, state.rows), "no-such-key", "are not in the release", data, "insert them")
        contents = dict(
            zip(state.rows.column("key").to_pylist(), state.rows.column("content").to_pylist(), strict=True)
        )
        pairs = zip(new.column("key").to_pylist(), new.column("content").to_pylist(), strict=True)
        differs = np.array([contents[key] != content for key, content in pairs], bool)
        changed = new.filter(differs)
        if not changed.num_rows:
            return self._row(None)  # nothing to change, so no new version
        removed = _known(state.rows, changed)
        return self._change("update", state, changed, removed, counts={"updated": changed.num_rows})

    def optimize(self, passes: int = PASSES) -> VersionRow:
        """Lower the loss for the same records; 0 passes: by the paper's IL_Optimization alone."""
        self._refuse_regrouping("optimize")
        return self._regroup("optimize", lambda microdata, cluster_of, used: optimize(
            microdata, self.plan, cluster_of, used, passes, self._progress("optimizing")
        ))  # fmt: skip

    def restart(self) -> VersionRow:
        """Make the release afresh from the same records, as if it were created now."""
        self._refuse_regrouping("restart")

        def afresh(microdata: Microdata, cluster_of: IntArray, used: int) -> Change:
            found = solve(microdata, self.plan, self._threads, self._progress("clustering")).cluster_of
            assert found is not None
            return Change(np.where(found < 0, -1, found + used), used + int(found.max()) + 1, {})

        return self._regroup("restart", afresh)

    def erase(self, keys: Sequence[str]) -> int:
        """Erase people from the private tables of every version; who is still in the release is deleted first.

        Returns how many rows were erased.
        """
        import pyarrow as pa

        named = pa.table({"key": self._keys_only(None, keys)})
        ever = self._store.all_places()
        self._refuse(named, ~_known(named, ever), "no-such-key", "were never in the release", None, "check the keys")
        state = self._state()
        living = named.filter(_known(named, state.rows))
        if living.num_rows:
            self.delete(keys=living.column("key").to_pylist())
        return self._store.erase(named.column("key").to_pylist())

    # -- looking -----------------------------------------------------------------------------------------------------

    @property
    def head(self) -> int:
        """Number of the newest version."""
        return self._store.head()

    def history(self) -> list[VersionRow]:
        """Return what is known of every version, oldest first."""
        return self._store.versions()

    def release(self, version: int | None = None) -> Release:
        """Return a version as a release, worked out anew from the store."""
        made = self._rebuild(version)
        return make_release(made.table, self.plan, made.microdata, made.solution)

    def export(
        self,
        version: int | None,
        output: str | Path,
        *,
        format: Literal["csv", "parquet"] = "csv",
        replace: bool = False,
        link: str | Path | None = None,
    ) -> Release:
        """Write a version to a folder, verified once more, as ``anonymize`` would."""
        made = self._rebuild(version)
        release = make_release(made.table, self.plan, made.microdata, made.solution)
        row = self._row(version)
        if json.loads(json.dumps(dict(release.facts), default=float)) != row.facts:
            message = f"Version {row.number} cannot be made again as it was: the store or this program has changed."
            raise BrokenPromise(
                Problem("broken-promise", message, hint="check the store with 'hedgerow release check'")
            )
        with contextlib.ExitStack() as undo:
            with new_folder(Path(output), replace) as folder:
                write_release(release, folder, format)
                verify_before_publishing(release, folder, rows.plain_table(made.table))
                if link is not None:
                    write_link(release, Path(link))
                    undo.callback(Path(link).unlink)
            undo.pop_all()
        return release

    def check(self) -> dict[str, Any]:
        """Check the store: the chain of hashes over all versions, and the promises of the newest one."""
        broken = self._store.check_chain()
        made = self._rebuild(None)
        release = make_release(made.table, self.plan, made.microdata, made.solution)
        with tempfile.TemporaryDirectory(prefix="hedgerow-") as scratch:
            write_release(release, Path(scratch), "parquet")
            found = verify_before_publishing(release, Path(scratch), rows.plain_table(made.table))
        return {"chain": not broken, "broken_versions": broken, "head": self.head, "verification": found.to_dict()}

    def audit(self) -> Audit:
        """Work out what somebody who holds every version could learn about each person."""
        self._tell("auditing", 0, 0)
        return self._audit(self._events())

    def diff(self, old: int, new: int) -> dict[str, Any]:
        """Say what changed from one version to another, in numbers."""
        before, after = self._row(old), self._row(new)
        where = [self._groups_of_people(row.number) for row in (before, after)]
        both = where[0].keys() & where[1].keys()
        groups = [self._sizes(row.number) for row in (before, after)]
        shared = groups[0].keys() & groups[1].keys()
        return {
            "from": before.number,
            "to": after.number,
            "people": {
                "came": len(where[1].keys() - where[0].keys()),
                "left": len(where[0].keys() - where[1].keys()),
                "stayed_in_their_group": sum(where[0][key] == where[1][key] for key in both),
                "changed_groups": sum(where[0][key] != where[1][key] for key in both),
            },
            "groups": {
                "came": len(groups[1].keys() - groups[0].keys()),
                "vanished": len(groups[0].keys() - groups[1].keys()),
                "changed": sum(groups[0][number] != groups[1][number] for number in shared),
                "unchanged": sum(groups[0][number] == groups[1][number] for number in shared),
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
        newest = self._store.versions()[-1]
        counts = newest.counts
        return (
            f"MaintainedRelease(version {newest.number}: {counts['released']:,} of {counts['records']:,} records in "
            f"{counts['groups']:,} groups, {counts['held_back']:,} held back)"
        )

    # -- steps of a change -------------------------------------------------------------------------------------------

    def _begin(self, stored: pa.Table, table: Table, microdata: Microdata, solution: Solution) -> None:
        """Write the first version."""
        found = solution.cluster_of
        assert found is not None
        used = int(found.max(initial=-1)) + 1
        place = _place_of(microdata, found, np.zeros(len(found), bool))
        made = self._candidate(stored, table, microdata, solution, place, used, {}, None)
        version = self._version("create", 1, made, None, {"inserted": stored.num_rows}, self._audit_if_small(made, 1))
        self._store.start(self._meta, version)

    def _change(
        self, verb: str, state: _State, new: pa.Table | None, removed: BoolArray | None, counts: dict[str, int]
    ) -> VersionRow:
        """Work out the next version from records that go and records that come, and write it."""
        import pyarrow as pa

        self._tell("encoding", 0, 0)
        stays = np.ones(state.rows.num_rows, bool) if removed is None else ~removed
        kept = state.rows.filter(stays)
        every = kept if new is None else pa.concat_tables([kept, new.select(["key", "content"])])
        place = state.place[stays]
        place = place if new is None else np.append(place, np.full(new.num_rows, HELD_BACK))
        order = np.argsort(np.array(every.column("key").to_pylist(), object), kind="stable")
        every, place = every.take(order), place[order]
        table = self._table(every)
        microdata = local.collapse(table, self.plan, in_order=True)
        place = self._keep_if_alike(verb, state, table, microdata, place, new)
        sizes = [np.bincount(part[part >= 0], minlength=state.used) for part in (state.place, place)]
        lost = np.flatnonzero(sizes[0] != sizes[1])
        before = republish.Before(
            np.where(place < 0, -1, place)[microdata.record_of],
            state.used,
            (place == WITHDRAWN)[microdata.record_of],
            lost,
        )
        made, found = self._republished(every, table, microdata, before, state.number)
        return self._append(verb, state, made, found, counts)

    def _keep_if_alike(
        self, verb: str, state: _State, table: Table, microdata: Microdata, place: IntArray, new: pa.Table | None
    ) -> IntArray:
        """Let updated records stay where they are if nothing changed that groups depend on."""
        if verb != "update" or new is None or not new.num_rows:
            return place
        names = [*self.plan.columns("quasi-identifier", "sensitive"), *filter(None, [self.plan.person])]
        old = _known(state.rows, new)
        before = self._table(state.rows.filter(old))
        at = np.flatnonzero(_known_in_table(table, self.plan, new))
        same = np.ones(len(at), bool)
        for name in names:
            then, now = before.columns[name].to_pylist(), table.columns[name].take(at).to_pylist()
            same &= np.array([a == b for a, b in zip(then, now, strict=True)], bool)
        place = place.copy()
        place[at[same]] = state.place[old][same]
        return place

    def _republished(
        self, every: pa.Table, table: Table, microdata: Microdata, before: republish.Before, parent: int
    ) -> tuple[_Candidate, Audit | None]:
        """Apply the plan's rule about what a new version may change."""

        def candidate(change: Change, withdrawn: BoolArray) -> _Candidate:
            cells = find_cells(microdata, Requirement.of_plan(self.plan, microdata), not self.plan.keeps_limits)
            solution = of_clusters(microdata, self.plan, cells, recoding_of(microdata, change.cluster_of))
            place = _place_of(microdata, change.cluster_of, withdrawn)
            return self._candidate(every, table, microdata, solution, place, change.used, change.steps, parent)

        nobody = np.zeros(len(before.cluster_of), bool)
        self._tell("maintaining", 0, 0)
        if self.plan.republish == "free":
            progress = self._progress("maintaining")
            change = maintain(microdata, self.plan, before.cluster_of, before.used, self._threads, progress)
            made = candidate(change, nobody)
            return made, self._audit_if_small(made, parent + 1)
        if self.plan.republish == "only-coarser":
            made = candidate(republish.only_coarser(microdata, self.plan, before), nobody)
            return made, self._audit_if_small(made, parent + 1)
        return self._gate(microdata, before, candidate, parent + 1)

    def _gate(
        self,
        microdata: Microdata,
        before: republish.Before,
        candidate: Callable[[Change, BoolArray], _Candidate],
        number: int,
    ) -> tuple[_Candidate, Audit]:
        """Find a version that the audit has nothing against, withdrawing and holding back more as long as it has."""
        gated = self.plan.republish == "gated"
        stay = republish.still_hold(microdata, self.plan, before) if gated else np.zeros(0, np.int64)
        newcomers = before.cluster_of < 0
        held = np.zeros(len(newcomers), bool)
        while True:
            change, withdrawn = republish.cohorts(microdata, self.plan, before, stay, held)
            made = candidate(change, withdrawn)
            found = self._audit(self._events(made, number))
            if not found.leaks:
                return made, found
            failing = np.isin(made.group_of, found.failing_groups(number))
            leaving = np.intersect1d(stay, change.cluster_of[failing])
            waiting = failing & newcomers & ~held
            if len(leaving):
                stay = np.setdiff1d(stay, leaving)
            elif waiting.any():
                held = held | waiting
            elif len(stay):
                stay = stay[:0]
            elif not held.all() and (newcomers & ~held).any():
                held = held | newcomers
            else:
                message = f"The audit finds {found.leaks:,} people whom this change would expose. Nothing was changed."
                hint = "combine it with other changes, so that those who come or leave are k at least, with p values"
                raise NoSolution(Problem("audit", message, hint=hint))

    def _regroup(self, verb: str, work: Callable[[Microdata, IntArray, int], Change]) -> VersionRow:
        """Group the same records anew."""
        state = self._state()
        table = self._table(state.rows)
        self._tell("encoding", 0, 0)
        microdata = local.collapse(table, self.plan, in_order=True)
        cluster_of = np.where(state.place < 0, -1, state.place)[microdata.record_of]
        change = work(microdata, cluster_of, state.used)
        cells = find_cells(microdata, Requirement.of_plan(self.plan, microdata), not self.plan.keeps_limits)
        solution = of_clusters(microdata, self.plan, cells, recoding_of(microdata, change.cluster_of))
        withdrawn = (state.place == WITHDRAWN)[microdata.record_of]
        place = _place_of(microdata, change.cluster_of, withdrawn)
        args = (state.rows, table, microdata, solution, place, change.used, change.steps, state.number)
        made = self._candidate(*args)
        if self.plan.republish == "gated":
            found: Audit | None = self._audit(self._events(made, state.number + 1))
            if found is not None and found.leaks:
                message = f"The audit finds {found.leaks:,} people whom this would expose. Nothing was changed."
                raise NoSolution(Problem("audit", message, hint="the plan says 'republish: gated': leave it as it is"))
        else:
            found = self._audit_if_small(made, state.number + 1)
        return self._append(verb, state, made, found, {})

    def _append(
        self, verb: str, state: _State, made: _Candidate, found: Audit | None, counts: dict[str, int]
    ) -> VersionRow:
        version = self._version(verb, state.number + 1, made, state, counts, found)
        self._tell("writing", 0, 0)
        self._store.append(version)
        return self._store.versions()[-1]

    def _candidate(
        self,
        every: pa.Table,
        table: Table,
        microdata: Microdata,
        solution: Solution,
        place: IntArray,
        used: int,
        steps: Mapping[str, int],
        parent: int | None,
    ) -> _Candidate:
        vectors = value_vectors(table, self.plan, microdata)
        groups = group_table(microdata, solution.recoding, vectors)
        numbers, events = number_groups(_no_groups(groups) if parent is None else self._store.groups(), groups)
        group = solution.recoding.group_of
        group_of = np.where(group < 0, -1, np.append(numbers, -1)[group])
        return _Candidate(every, table, microdata, solution, place, used, steps, groups, events, group_of, vectors)

    def _version(
        self,
        verb: str,
        number: int,
        made: _Candidate,
        state: _State | None,
        counts: dict[str, int],
        found: Audit | None,
    ) -> NewVersion:
        """Make a version ready to be written: measure it, check it, and say what is new in it."""
        self._tell("measuring", 0, 0)
        release = make_release(made.table, self.plan, made.microdata, made.solution)
        facts = json.loads(json.dumps(dict(release.facts), default=float))
        scores = {name: facts[name] for name in ("loss", "ntil", "ncp", "granularity", "research_value")}
        samples = drift.sample_losses(made.microdata, self.plan, self._threads)
        base = self._base() if verb not in ("create", "restart") else None
        if base is None:
            scores["samples"] = samples
            scores |= {"fresh_ntil": scores["ntil"], "exact": True, "drift": 0.0}
        else:
            scores |= drift.drift_of(scores["ntil"], facts["records"], samples, base)
        self._tell("verifying", 0, 0)
        with tempfile.TemporaryDirectory(prefix="hedgerow-") as scratch:
            write_release(release, Path(scratch), "parquet")
            checked = verify_before_publishing(release, Path(scratch), rows.plain_table(made.table))
        return NewVersion(
            number=number,
            parent=None if state is None else state.number,
            verb=verb,
            plan_digest=self.plan.digest(),
            counts=self._counts(made, facts, counts),
            scores=scores,
            facts=facts,
            verification=checked.to_dict(),
            audit={} if found is None else found.to_dict(),
            groups=made.events,
            records=_new_rows(made.rows, None if state is None else state.rows),
            places=self._place_events(made, state),
        )

    def _counts(self, made: _Candidate, facts: Mapping[str, Any], counts: dict[str, int]) -> dict[str, Any]:
        place = made.place
        return {
            "records": facts["records"],
            "inserted": 0,
            "deleted": 0,
            "updated": 0,
            **counts,
            "released": facts["released"],
            "held_back": int((place == HELD_BACK).sum()),
            "withdrawn": int((place == WITHDRAWN).sum()),
            "withheld": int((place == NO_LEAF).sum()),
            "groups": facts["groups"],
            "cluster_numbers": made.used,
            "steps": dict(made.steps),
        }

    def _place_events(self, made: _Candidate, state: _State | None) -> pa.Table:
        """Where records lie now that did not lie there before."""
        import pyarrow as pa

        group = np.full(len(made.place), -1, np.int64)
        group[made.microdata.record_of] = made.group_of
        keys = made.rows.column("key").to_pylist()
        if state is None:
            return pa.table({"key": keys, "cluster": made.place, "group_number": group})
        before = self._store.places()
        then = zip(before.column("cluster").to_pylist(), before.column("group_number").to_pylist(), strict=True)
        known = dict(zip(before.column("key").to_pylist(), then, strict=True))
        now = zip(keys, made.place.tolist(), group.tolist(), strict=True)
        changed = [(key, cluster, number) for key, cluster, number in now if known.get(key) != (cluster, number)]
        gone = set(state.rows.column("key").to_pylist()) - set(keys)
        changed += [(key, DELETED, -1) for key in sorted(gone)]
        columns = list(zip(*changed, strict=True)) if changed else [(), (), ()]
        kinds = (("key", pa.string()), ("cluster", pa.int64()), ("group_number", pa.int64()))
        return pa.table({name: pa.array(list(part), kind) for (name, kind), part in zip(kinds, columns, strict=True)})

    # -- auditing ----------------------------------------------------------------------------------------------------

    def _audit(self, events: tuple[pa.Table, pa.Table, pa.Table]) -> Audit:
        columns = audited_columns(self.plan)
        asked = [self._asked_of(name) for name in columns]
        history = build_history(*events, columns)
        return audit(history, self.plan.privacy.k, [p for p, _ in asked], [alpha for _, alpha in asked])

    def _asked_of(self, column: str) -> tuple[int, float | None]:
        """How many values of an audited column must be left, and how certain somebody may be of one."""
        name = column.removesuffix(" (level)")
        leveled = self.plan.attributes[name].level is not None
        if leveled and column == name:
            return 0, None  # what is asked, is asked of it at its level
        demands = self.plan.privacy.demands(name)
        distinct = getattr(demands.get("l"), "distinct", None)
        alpha = demands.get("alpha")
        return max(demands.get("p") or 0, distinct or 0), None if alpha is None else float(alpha)

    def _audit_if_small(self, made: _Candidate, number: int) -> Audit | None:
        if len(made.place) > AUDITED_AT_ONCE:
            return None
        self._tell("auditing", 0, 0)
        return self._audit(self._events(made, number))

    def _events(self, made: _Candidate | None = None, number: int = 0) -> tuple[pa.Table, pa.Table, pa.Table]:
        """Everything that happened to groups, places and sensitive values; with a candidate's as the newest version."""
        import pyarrow as pa

        tables: list[list[pa.Table]] = [[], [], []]
        if self._store.head():
            tables[0].append(
                self._store.all_groups().select(["version", "number", "shown", "region", "size", "counts"])
            )
            tables[1].append(self._store.all_places().select(["version", "key", "cluster", "group_number"]))
            tables[2].append(self._all_values())
        if made is not None:
            state = self._state() if number > 1 else None
            tables[0].append(_at_version(made.events, number))
            tables[1].append(_at_version(self._place_events(made, state), number))
            tables[2].append(_at_version(self._values(made), number))
        groups, places, values = (pa.concat_tables(part) for part in tables)
        return groups, places, values

    def _values(self, made: _Candidate) -> pa.Table:
        import pyarrow as pa

        texts, number = made.vectors
        keys = np.array(made.rows.column("key").to_pylist(), object)[made.microdata.record_of]
        return pa.table({"key": pa.array(keys, pa.string()), "values": pa.array([texts[i] for i in number.tolist()])})

    def _all_values(self) -> pa.Table:
        """The sensitive values of all records of all versions, as they were said."""
        import pyarrow as pa

        every = self._store.all_records()
        table = self._table(every)
        microdata = local.collapse(table, self.plan, in_order=True)
        texts, number = value_vectors(table, self.plan, microdata)
        known = every.take(microdata.record_of)
        return pa.table(
            {
                "version": known.column("version"),
                "key": known.column("key"),
                "values": pa.array([texts[i] for i in number.tolist()], pa.string()),
            }
        )

    # -- reading -----------------------------------------------------------------------------------------------------

    def _state(self, version: int | None = None) -> _State:
        """Return the records of a version, the newest by default, in the order of their keys."""
        import pyarrow.compute as pc

        row = self._row(version)
        places = self._store.places(row.number)
        places = places.filter(pc.not_equal(places.column("cluster"), DELETED)).sort_by("key")
        if places.num_rows != row.counts["records"]:
            message = f"People were erased who were in version {row.number}: it cannot be made again."
            raise DataError(Problem("erased", message, hint="what was published then is not in the store any more"))
        records = self._store.records(row.number).select(["key", "content"])
        records = records.filter(pc.is_in(records.column("key"), places.column("key").combine_chunks())).sort_by("key")
        place = places.column("cluster").to_numpy().astype(np.int64)
        return _State(row.number, records, place, int(row.counts["cluster_numbers"]))

    def _rebuild(self, version: int | None) -> _Candidate:
        """Work a version out anew from its records and clusters."""
        state = self._state(version)
        table = self._table(state.rows)
        microdata = local.collapse(table, self.plan, in_order=True)
        cluster_of = np.where(state.place < 0, -1, state.place)[microdata.record_of]
        cells = find_cells(microdata, Requirement.of_plan(self.plan, microdata), not self.plan.keeps_limits)
        solution = of_clusters(microdata, self.plan, cells, recoding_of(microdata, cluster_of))
        vectors = (["[]"], np.zeros(len(cluster_of), np.int64))
        empty = state.rows.slice(0, 0)
        nothing = np.zeros(0, np.int64)
        return _Candidate(
            state.rows, table, microdata, solution, state.place, state.used, {}, empty, empty, nothing, vectors
        )

    def _table(self, stored: pa.Table) -> Table:
        return rows.to_table(stored, self.plan, self._meta["kinds"], tuple(json.loads(self._meta["not_released"])))

    def _read(self, data: Any) -> pa.Table:
        self._tell("reading", 0, 0)
        place = str(data) if isinstance(data, str | Path) else "data"
        table = local.read(data, replace_data(self.plan, self._asked), key=True)
        keys = rows.keys_of(table, self.plan, place)
        read = rows.to_rows(table, keys, self.plan, self._meta["kinds"], place)
        order = np.argsort(np.array(keys.to_pylist(), object), kind="stable")
        return read.append_column("record", [order + 1])

    def _keys_only(self, data: Any, keys: Sequence[str] | None) -> pa.Array:
        import pyarrow as pa

        if (data is None) == (keys is None):
            raise DataError(Problem("usage", "Give either a table of keys or the keys themselves.", hint="one of both"))
        if keys is not None:
            source: Any = pa.table({str(self.plan.key): pa.array([str(key) for key in keys], pa.string())})
        else:
            source = data
        only = self.plan.model_copy(
            update={"attributes": {}, "person": None, "data": self._asked.data},
        )
        table = local.read(source, only, key=True)
        return rows.keys_of(table, self.plan, str(data) if isinstance(data, str | Path) else "keys")

    def _row(self, version: int | None) -> VersionRow:
        versions = self._store.versions()
        number = versions[-1].number if version is None else version
        for row in versions:
            if row.number == number:
                return row
        message = f"The release has no version {number}; its versions are 1 to {versions[-1].number}."
        raise DataError(Problem("no-version", message, hint="see 'hedgerow release history'"))

    def _base(self) -> dict[str, Any]:
        """What is needed to estimate a fresh release: the version that was last made afresh."""
        fresh = [row for row in self._store.versions() if row.verb in ("create", "restart")][-1]
        return {
            "ntil": fresh.scores["ntil"],
            "records": fresh.counts["records"],
            "samples": fresh.scores.get("samples", {}),
        }

    def _groups_of_people(self, version: int) -> dict[str, int]:
        places = self._store.places(version)
        pairs = zip(places.column("key").to_pylist(), places.column("group_number").to_pylist(), strict=True)
        return {key: group for key, group in pairs if group >= 0}

    def _sizes(self, version: int) -> dict[int, tuple[int, str]]:
        groups = self._store.groups(version)
        columns = (groups.column(name).to_pylist() for name in ("number", "size", "counts"))
        return {number: (size, counts) for number, size, counts in zip(*columns, strict=True) if size}

    # -- refusals ----------------------------------------------------------------------------------------------------

    def _refuse(self, named: pa.Table, wrong: BoolArray, code: str, what: str, data: Any, hint: str) -> None:
        """Refuse records by their keys, without naming one."""
        if not wrong.any():
            return
        at = np.flatnonzero(wrong)
        first = int(named.column("record").to_numpy()[at].min()) if "record" in named.column_names else int(at[0]) + 1
        message = f"{len(at):,} keys {what}; the first is that of record {first:,}. Nothing was changed."
        place = str(data) if isinstance(data, str | Path) else ""
        raise DataError(Problem(code, message, place, hint))

    def _check_same(self, plan: Plan | str | Path | None) -> None:
        if plan is None:
            return
        given = (plan if isinstance(plan, Plan) else Plan.load(plan)).settled()
        if given.digest() not in (self._meta["asked_digest"], self.plan.digest()):
            message = "The release was created with another plan. Nothing was changed."
            hint = "leave the plan out to use the release's own, or create a new release"
            raise PlanError(Problem("other-plan", message, "" if isinstance(plan, Plan) else str(plan), hint))

    def _refuse_regrouping(self, verb: str) -> None:
        if self.plan.republish in ("only-coarser", "cohorts"):
            message = f"The plan says 'republish: {self.plan.republish}', so people may not be grouped anew."
            raise PlanError(Problem("republish", message, hint=f"'{verb}' goes with republish: free or gated"))

    def _progress(self, stage: str) -> Callable[[int, int], None]:
        return lambda done, total: self._tell(stage, done, total)


def replace_data(plan: Plan, asked: Plan) -> Plan:
    """Return a plan that reads files as the asked one says: another file may have another delimiter."""
    return plan.model_copy(update={"data": asked.data})


def _silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""


def _check_plan(plan: Plan) -> None:
    problems = []
    if plan.key is None:
        message = "The plan names no 'key', the column by which records are found again."
        problems.append(Problem("missing-key", message, hint="add 'key: <column>' to the plan"))
    if plan.method.name == "lattice":
        message = "A release made on the lattice cannot be maintained: a change may move every level."
        problems.append(Problem("conflict", message, hint="use a method that clusters, such as method: cluster"))
    if plan.method.suppress or (plan.merges and plan.method.overlap != "allowed"):
        message = "A release with suppressed cells, or ranges that must not overlap, cannot be maintained."
        problems.append(Problem("conflict", message, hint="leave 'suppress' and 'overlap' out of the method"))
    if problems:
        raise PlanError(problems)


def _place_of(microdata: Microdata, cluster_of: IntArray, withdrawn: BoolArray) -> IntArray:
    """Where every record lies: its cluster, or why it has none."""
    place = np.full(microdata.records, NO_LEAF, np.int64)
    place[microdata.record_of] = np.where(cluster_of >= 0, cluster_of, np.where(withdrawn, WITHDRAWN, HELD_BACK))
    return place


def _known(these: pa.Table, those: pa.Table) -> BoolArray:
    """Tell which keys of one table are in another."""
    import pyarrow.compute as pc

    found = pc.is_in(these.column("key"), those.column("key").combine_chunks())
    return np.asarray(found.to_numpy(), bool)


def _known_in_table(table: Table, plan: Plan, those: pa.Table) -> BoolArray:
    import pyarrow as pa

    return _known(pa.table({"key": table.columns[str(plan.key)]}), those)


def _new_rows(now: pa.Table, before: pa.Table | None) -> pa.Table:
    """Records that are new or changed."""
    if before is None:
        return now
    known = dict(zip(before.column("key").to_pylist(), before.column("content").to_pylist(), strict=True))
    pairs = zip(now.column("key").to_pylist(), now.column("content").to_pylist(), strict=True)
    return now.filter(np.array([known.get(key) != content for key, content in pairs], bool))


def _no_groups(like: pa.Table) -> pa.Table:
    none = like.slice(0, 0)
    return none.append_column("number", [np.zeros(0, np.int64)])


def _at_version(events: pa.Table, version: int) -> pa.Table:
    return events.add_column(0, "version", [np.full(events.num_rows, version)])
