"""A version that is worked out but not written yet, and what a store has to be told of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow import measures
from hedgerow.anonymization.clustering import Cells, find_cells
from hedgerow.anonymization.clustering.cells import find_blocks
from hedgerow.anonymization.clustering.costs import Objective
from hedgerow.anonymization.clustering.exact import count_solved, solve_blocks
from hedgerow.anonymization.clustering.improve import EFFORTS
from hedgerow.anonymization.clustering.numbering import recoding_of
from hedgerow.anonymization.counts import Counts
from hedgerow.anonymization.solving import Solution, of_clusters
from hedgerow.anonymization.withholding import Settled
from hedgerow.engines.base import published_labels
from hedgerow.engines.local import LocalEngine
from hedgerow.maintenance import rows
from hedgerow.maintenance.archive import (
    DELETED,
    HELD_BACK,
    NO_LEAF,
    WITHDRAWN,
    Archive,
    ChangedRecords,
    Events,
    Known,
    LivingRecords,
)
from hedgerow.maintenance.auditing import VersionAudit
from hedgerow.maintenance.changes import drift
from hedgerow.maintenance.changes.boxes import KeptBoxes
from hedgerow.maintenance.changes.change import Change
from hedgerow.maintenance.changes.levels import Levels
from hedgerow.maintenance.checking import check
from hedgerow.maintenance.published import group_table, number_groups, value_vectors
from hedgerow.maintenance.record_index import Words, fingerprints
from hedgerow.maintenance.store import NewVersion, VersionRow
from hedgerow.microdata import Microdata, Table
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.release import Release, make_release, verify_privately
from hedgerow.release.facts import KEPT, keeping_facts, release_facts
from hedgerow.types import BoolArray, IntArray
from hedgerow.verification import Verification
from hedgerow.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

REASONS = {"held_back": HELD_BACK, "withdrawn": WITHDRAWN, "no_leaf": NO_LEAF}
SCORES = ("loss", "ntil", "ncp", "granularity", "research_value")


@dataclass(frozen=True, eq=False)
class Candidate:
    """The next version of a release.

    Attributes
    ----------
    archive
        The store it would be appended to.
    before
        The version it follows; none for the first.
    records
        Its records, and what they were before.
    microdata
        Those of them that are in a cluster, encoded as if there were no others: what it publishes is up to them alone.
    change
        Their clusters, and how they came about.
    absent
        Why a record is in no cluster; for the others it means nothing.
    boxes
        What its records keep of what they were published as; None if they keep nothing.
    levels
        The levels at which all are published, on the lattice.
    keeps
        The version up to which nothing that was published may be narrower in this one; 0 if it may.
    made_by
        Version of Hedgerow that made it.
    """

    archive: Archive
    before: LivingRecords | None
    records: ChangedRecords
    microdata: Microdata
    change: Change
    absent: IntArray
    boxes: KeptBoxes | None = None
    levels: Levels | None = None
    keeps: int = 0
    made_by: str = __version__

    @property
    def number(self) -> int:
        """Its version number."""
        return 1 if self.before is None else self.before.number + 1

    @property
    def rows(self) -> pa.Table:
        """Its records as stored: their keys, and their content where all of the store was read."""
        return self.records.rows

    @property
    def table(self) -> Table:
        """Its records as a table, in the order of their keys."""
        return self.records.table

    @property
    def plan(self) -> Plan:
        """The plan of the release."""
        return self.archive.plan

    # -- what it publishes -------------------------------------------------------------------------------------------

    @cached_property
    def solution(self) -> Solution:
        """What its clusters publish and withhold."""
        because = {name: int((self.place == code).sum()) for name, code in REASONS.items()}
        if self.levels is not None:
            found = self.levels.solution(self.microdata, self.plan)
            return replace(found, withheld_because=because)
        requirement = Requirement.of_plan(self.plan, self.microdata)
        cells = find_cells(self.microdata, requirement, ignore_limits=not self.plan.keeps_limits)
        clusters = self._narrowest if self.boxes is None else self.boxes.widened(self.microdata, self._narrowest)
        found = of_clusters(self.microdata, self.plan, cells, clusters)
        details = {**found.details, **self._solved_exactly(requirement, cells, clusters)}
        return replace(found, details=details, withheld_because=because, withheld_is_least=False, blocks_withheld=None)

    def _solved_exactly(self, requirement: Requirement, cells: Cells, clusters: Recoding) -> dict[str, Any]:
        """Say how much of it is grouped in the best way there is, however it came to that, if the plan improves."""
        if self.plan.method.improve not in EFFORTS or self.boxes is not None:  # boxes that are kept wide lose more
            return {}
        block_of = find_blocks(self.microdata, cells, ignore_limits=not self.plan.keeps_limits)
        blocks = Cells.none_failing(self.microdata, block_of)
        objective, looks = Objective.of_plan(self.microdata, self.plan), EFFORTS[self.plan.method.improve].looks
        found = solve_blocks(self.microdata, blocks, requirement, objective, looks, clusters)
        best = found.proven & (found.before == found.after)
        proven = np.zeros(clusters.groups, np.bool_)
        proven[clusters.group_of] = best[blocks.cell_of]  # all records are in a group
        return {"solved_exactly": count_solved(block_of, blocks, replace(clusters, proven=proven))}

    @cached_property
    def _narrowest(self) -> Recoding:
        """Its clusters, published as narrow as their records allow."""
        return recoding_of(self.microdata, self.change.cluster_of)

    @cached_property
    def narrowest(self) -> dict[str, float]:
        """What it would lose if every group were as narrow as its records allow; empty where groups always are.

        For the owner alone: what a reader sees kept wide would be told by the difference.
        """
        if self.boxes is None:
            return {}
        return {"narrowest_ntil": round(float(measures.ntil(self.microdata, self._narrowest)), 12)}

    @cached_property
    def release(self) -> Release:
        """The release, not yet verified."""
        everybody = len(self.microdata.record_of) == len(self.place)
        whole = self.microdata if everybody else self.archive.encode(self.table)
        release = make_release(self.table, Settled(self.plan, whole, self.microdata, self.solution))
        facts = {**release.facts, "version": self.made_by}
        if not self.keeps:
            return replace(release, facts=facts)
        facts = keeping_facts(self.plan, facts)
        private = {**release.private, **self.narrowest}
        before = self.archive.labels_before(self.rows, self.keeps)
        return replace(release, facts=facts, private=private, before=before)

    def facts(self) -> dict[str, Any]:
        """The facts of the release as plain data, as they come back from JSON."""
        if self.known is None:
            found = dict(self.release.facts)
        else:  # the rows are not needed
            counts = Counts.of(self.plan, self.microdata, self.solution.recoding)
            found = release_facts(self.plan, self.table, counts, self.solution) | {"version": self.made_by}
        facts: dict[str, Any] = json.loads(json.dumps(found, default=float))
        return facts

    def verify(self) -> Verification:
        """Check the release against its records."""
        return verify_privately(self.release, LocalEngine(rows.plain_table(self.table)))

    # -- what is new in it -------------------------------------------------------------------------------------------

    @cached_property
    def place(self) -> IntArray:
        """Where every record lies: its cluster, or why it has none."""
        place = self.absent.copy()
        place[self.microdata.record_of] = self.change.cluster_of
        return place

    @cached_property
    def vectors(self) -> tuple[list[str], IntArray]:
        """The different vectors of sensitive values, and which one every unit has."""
        return value_vectors(self.table, self.plan, self.microdata)

    @cached_property
    def _numbered(self) -> tuple[IntArray, pa.Table]:
        """Numbers of its groups, and those of them that changed."""
        if self.before is not None and self.known is not None:
            return self._numbered_in_part(self.before, self.known)
        groups = group_table(self.microdata, self.solution.recoding, self.vectors)
        if self.before is None:
            none = groups.slice(0, 0).append_column("number", [np.zeros(0, np.int64)])
            return number_groups(none, groups)
        return number_groups(self.groups_before, groups)

    def _numbered_in_part(self, before: LivingRecords, known: Known) -> tuple[IntArray, pa.Table]:
        """The same, looking only at groups that are not just as they were."""
        number = self.untouched.copy()
        changed = np.flatnonzero(number < 0)
        groups = group_table(self.microdata, self.solution.recoding.of_groups(changed), self.vectors)
        touched = np.setdiff1d(before.group[before.group >= 0], number)
        alike = known.groups.number[np.isin(known.groups.shown, self._shown[changed])]  # which may have been before
        lookup = np.setdiff1d(np.union1d(touched, alike), number)
        there = self.archive.store.groups_of(lookup.tolist())
        number[changed], events = number_groups(there, groups, int(known.groups.number.max(initial=-1)) + 1)
        return number, events

    @cached_property
    def groups_before(self) -> pa.Table:
        """Every group there ever was, as it was before."""
        return self.archive.store.groups()

    @cached_property
    def _shown(self) -> Words:
        """A fingerprint of what every group shows."""
        return fingerprints(published_labels(self.microdata, self.solution.recoding))

    @cached_property
    def untouched(self) -> IntArray:
        """The number of every group that is just as it was: the same records, the same labels; −1 of the others."""
        assert self.before is not None
        assert self.known is not None
        recoding, before, known = self.solution.recoding, self.before.group, self.known.groups
        units = np.flatnonzero(recoding.group_of >= 0)
        group, record = recoding.group_of[units], self.microdata.record_of[units]
        was = np.where(self.records.came[record], -1, np.append(before, -1)[self.records.at[record]])
        number = np.full(recoding.groups, -1)
        number[group] = was
        same = number >= 0
        same[group[was != number[group]]] = False
        sizes = np.append(np.bincount(before[before >= 0], minlength=1), 0)
        same &= recoding.sizes == sizes[number]
        at = known.at(number)
        same &= at >= 0
        same[same] = known.shown[at[same]] == self._shown[same]
        return np.where(same, number, -1)

    @property
    def group_events(self) -> pa.Table:
        """Groups that are not published as before."""
        return self._numbered[1]

    @property
    def known(self) -> Known | None:
        """What the index says of the version before; None if all of it was read, and is to be checked in full."""
        return None if self.before is None else self.before.known

    @cached_property
    def group_of(self) -> IntArray:
        """Number of every unit's group; −1 if it is not published."""
        group = self.solution.recoding.group_of
        return np.where(group < 0, -1, np.append(self._numbered[0], -1)[group])

    @cached_property
    def _group_of_record(self) -> IntArray:
        """Number of every record's group; −1 if it is not published."""
        group = np.full(len(self.place), -1, np.int64)
        group[self.microdata.record_of] = self.group_of
        return group

    @cached_property
    def _moved(self) -> BoolArray:
        """Which records do not lie where they did."""
        if self.before is None:
            return np.ones(len(self.place), bool)
        at = self.records.at
        moved: BoolArray = (self.before.place[at] != self.place) | (self.before.group[at] != self._group_of_record)
        moved |= at < 0
        return moved

    @cached_property
    def places(self) -> pa.Table:
        """Where records lie now that did not lie there before."""
        import pyarrow as pa

        columns = {"key": self.rows.column("key"), "cluster": self.place, "group_number": self._group_of_record}
        now = pa.table(columns)
        if self.before is None:
            return now
        at = self.records.at
        left = np.ones(len(self.before.place), bool)
        left[at[at >= 0]] = False
        gone = self.before.rows.column("key").filter(pa.array(left))
        nowhere = np.full(len(gone), DELETED, np.int64), np.full(len(gone), -1, np.int64)
        deleted = pa.table({"key": gone, "cluster": nowhere[0], "group_number": nowhere[1]})
        return pa.concat_tables([now.filter(self._moved), deleted])

    # -- what it gives away ------------------------------------------------------------------------------------------

    @cached_property
    def events(self) -> Events:
        """What happened in it to groups, to places and to sensitive values, as an audit takes it.

        Of values it says those of people who came, changed or moved; those of the others were said before.
        """
        import pyarrow as pa

        texts, number = self.vectors
        record = self.microdata.record_of
        told = np.flatnonzero((self.records.came | self._moved)[record])
        vectors = pa.DictionaryArray.from_arrays(pa.array(number[told], pa.int64()), pa.array(texts, pa.string()))
        keys = self.rows.column("key").take(pa.array(record[told]))
        return self.group_events, self.places, pa.table({"key": keys, "values": vectors.cast(pa.string())})

    def and_before(self, past: Events) -> Events:
        """Return everything that happened up to it, given what happened before it."""
        import pyarrow as pa

        now = (_at_version(part, self.number) for part in self.events)
        groups, places, values = (
            pa.concat_tables([then, part.select(then.column_names)]) for then, part in zip(past, now, strict=True)
        )
        return groups, places, values

    # -- writing it --------------------------------------------------------------------------------------------------

    def as_version(self, verb: str, counts: Mapping[str, int], found: VersionAudit, threads: int | None) -> NewVersion:
        """Measure it, check it, and say what is new in it; raises if a promise is broken."""
        facts = self.facts()
        checked = check(self)
        return NewVersion(
            number=self.number,
            parent=None if self.before is None else self.before.number,
            verb=verb,
            plan_digest=self.plan.digest(),
            counts=self._counts(facts, counts),
            scores=self._scores(verb, facts, threads),
            facts=facts,
            verification=checked.said,
            audit=found.said,
            groups=self.group_events,
            records=self.records.new,
            places=self.places,
            index=checked.index,
            audit_state=found.state,
        )

    def _counts(self, facts: Mapping[str, Any], counts: Mapping[str, int]) -> dict[str, Any]:
        return {
            "records": facts["records"],
            "inserted": 0,
            "deleted": 0,
            "updated": 0,
            **counts,
            "released": facts["released"],
            "held_back": int((self.place == HELD_BACK).sum()),
            "withdrawn": int((self.place == WITHDRAWN).sum()),
            "withheld": int((self.place == NO_LEAF).sum()),
            "groups": facts["groups"],
            "cluster_numbers": self.change.used,
            "steps": dict(self.change.steps),
        }

    def _scores(self, verb: str, facts: Mapping[str, Any], threads: int | None) -> dict[str, Any]:
        scores = {name: facts[name] for name in SCORES} | self.narrowest
        if verb in ("create", "restart"):
            samples = drift.sample_losses(self.microdata, self.plan, threads)
            return {**scores, "samples": samples, "fresh_ntil": scores["ntil"], "exact": True, "drift": 0.0}
        base = self.archive.made_afresh()
        return scores | drift.drift_of(
            scores["ntil"],
            facts["records"],
            drift.sample_losses(self.microdata, self.plan, threads),
            {"ntil": base.scores["ntil"], "records": base.counts["records"], "samples": base.scores["samples"]},
        )


def rebuilt(archive: Archive, row: VersionRow) -> Candidate:
    """Work a version that was written out anew, from its records and clusters."""
    state = archive.state(row.number)
    table = state.table
    keeps = row.number - 1 if KEPT in row.facts else 0  # versions of earlier Hedgerows did not
    levels = Levels.of_facts(row.facts, archive.plan) if archive.on_lattice else None
    cells = archive.last_published(state.rows, keeps) if keeps and levels is None else None
    microdata, boxes = archive.encode_keeping(table, state.place >= 0, cells)
    change = Change(state.place[microdata.record_of], state.used, {})
    made_by = row.facts["version"]  # it stays the release of the program that made it
    there = ChangedRecords.unchanged(state)
    return Candidate(archive, None, there, microdata, change, state.place, boxes, levels, keeps, made_by)


def _at_version(events: pa.Table, version: int) -> pa.Table:
    return events.add_column(0, "version", [np.full(events.num_rows, version)])
