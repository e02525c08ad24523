"""The check of a version before it is written: of all of it, or of what changed and a part of the rest.

A full check has the verifier look at the whole version, read anew from the store's tables, and leaves an index behind
with a digest of every group. A check in part has the verifier look at a release of the groups that changed and of some
that did not, each as it is published, against the records behind it. That the latter are still what a full check saw is
known by their digests: of their rows in the tables, which are read again for it. Of all other groups nothing is read
but the index. They hold the same records as before and show the same labels; whoever wrote to their rows meanwhile is
found out by the next check that reads them: another part of them with every version, all of them with the next full
check.

What is about all groups at once (t-closeness, levels of the lattice, missing cells that match anything, cells that may
only get coarser) is always checked in full, as is a small release.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.anonymization.clustering import find_cells
from hedgerow.anonymization.solving import of_clusters
from hedgerow.anonymization.withholding import Settled
from hedgerow.engines.local import LocalEngine
from hedgerow.errors import DataError, Problem
from hedgerow.maintenance import rows
from hedgerow.maintenance.archive import Archive, Known, LivingRecords
from hedgerow.maintenance.record_index import (
    GroupIndex,
    RecordIndex,
    differing_digests,
    digests_of,
    fingerprints_of,
)
from hedgerow.maintenance.store.state import latest
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS, PRIVACY_MODELS
from hedgerow.privacy import Requirement
from hedgerow.release import make_release, verify_privately
from hedgerow.types import IntArray
from hedgerow.verification import Verification

if TYPE_CHECKING:
    import pyarrow as pa

    from hedgerow.maintenance.candidate import Candidate

FULL_EVERY = 10  # versions: every so-and-so-many-th is checked in full
ALWAYS_FULL = 20_000  # records up to which a full check costs next to nothing
READ_AGAIN = 2_000  # groups without a change that a check in part reads again, at most


@dataclass(frozen=True, eq=False)
class VersionCheck:
    """What a check found, as plain data with what it covered; and the index that a full one leaves behind."""

    said: dict[str, Any]
    index: bytes | None


def needs_all(plan: Plan) -> bool:
    """Tell whether something that a plan asks is about all groups at once."""
    sensitive = plan.columns("sensitive")
    asked = {model for name in sensitive for model in plan.privacy.demands(name)}
    return (
        METHODS[plan.method.name].needs_levels
        or plan.republish == "only-coarser"
        or plan.missing == "matches-any"
        or any(PRIVACY_MODELS[model].compares_with_all for model in asked)
    )


def records_for_change(archive: Archive, full: bool) -> LivingRecords:
    """Return the records that a change begins with: from the store's tables if all is to be checked, else by the index.

    Raises
    ------
    DataError
        If all is read, and is not what the index says of it.
    """
    row = archive.row()
    if needs_all(archive.plan) or row.counts["records"] <= ALWAYS_FULL:
        return archive.state()
    state = archive.newest()
    if state.known is None:
        return state
    if full or row.number + 1 - state.known.since >= FULL_EVERY:
        every = archive.state()
        _compare(archive, state, state.known, every)
        return every
    return state


def compare_with_index(archive: Archive) -> None:
    """Compare all that the tables hold with what a full check saw of it; raises if it differs."""
    state = archive.newest()
    if state.known is not None:
        _compare(archive, state, state.known, archive.state())


def check(made: Candidate) -> VersionCheck:
    """Check a version, and say how; raises if a promise is broken or the store does not hold what it did."""
    if made.known is None:
        found = made.verify()
        size = len(made.place)
        index = _index_of(made).pack() if size > ALWAYS_FULL and not needs_all(made.plan) else None
        groups = made.solution.recoding.groups
        return VersionCheck(_said(found, {"how": "full", "groups": groups}), index)
    assert made.before is not None
    changed = np.flatnonzero(made.untouched < 0)
    again = _read_again(made, made.known)
    _compare_groups(made.archive, made.before, made.known, made.untouched[again])
    found = _verify_some(made, np.sort(np.append(changed, again)))
    covered = {
        "how": "in part",
        "groups": made.solution.recoding.groups,
        "changed": len(changed),
        "read_again": len(again),
        "last_full": made.known.since,
    }
    return VersionCheck(_said(found, covered), None)


def _said(found: Verification, covered: dict[str, Any]) -> dict[str, Any]:
    return {**found.to_dict(), "covered": covered}


# -- in part -----------------------------------------------------------------------------------------------------------


def _read_again(made: Candidate, known: Known) -> IntArray:
    """Choose groups without a change to be read again: a part of them, and with every version another."""
    number = made.untouched
    at = known.groups.at(number)
    there = np.flatnonzero((number >= 0) & (at >= 0))
    there = there[known.untouched[at[there]]]
    there = there[np.argsort(number[there], kind="stable")]
    many = min(READ_AGAIN, -(-len(there) // FULL_EVERY))
    first = (made.number * many) % max(len(there), 1)
    return there[(first + np.arange(many)) % max(len(there), 1)]


def _verify_some(made: Candidate, groups: IntArray) -> Verification:
    """Have the verifier look at some groups as if they were a release of their own."""
    import pyarrow as pa

    if not len(groups):
        groups = np.arange(min(1, made.solution.recoding.groups))
    recoding = made.solution.recoding.of_groups(groups)
    units = np.flatnonzero(recoding.group_of >= 0)
    recoding = replace(recoding, group_of=recoding.group_of[units], proven=None)
    microdata = made.microdata.of_units(units)
    records, record_of = np.unique(microdata.record_of, return_inverse=True)
    columns = {name: column.take(pa.array(records)) for name, column in made.table.columns.items()}
    table = replace(made.table, columns=columns, records=len(records))
    microdata = replace(microdata, record_of=record_of.reshape(-1).astype(np.int64))
    requirement = Requirement.of_plan(made.plan, microdata)
    cells = find_cells(microdata, requirement, ignore_limits=not made.plan.keeps_limits)
    solution = of_clusters(microdata, made.plan, cells, recoding)
    release = make_release(table, Settled(made.plan, microdata, microdata, solution))
    return verify_privately(release, LocalEngine(rows.plain_table(table)))


def _compare_groups(archive: Archive, before: LivingRecords, known: Known, numbers: IntArray) -> None:
    """Read some groups again, and compare them with what they were when they were checked in full."""
    import pyarrow as pa

    if not len(numbers):
        return
    store = archive.store
    inside = np.flatnonzero(np.isin(before.group, numbers))
    keys = before.rows.column("key").take(pa.array(inside))
    records = store.records_of(keys.to_pylist()).select(["key", "content"]).sort_by("key")
    places = store.places_of(keys.to_pylist()).sort_by("key")
    found, digest = digests_of(store.groups_of(numbers.tolist()), records, before.group[inside]) if (
        records.num_rows == len(inside)
    ) else (numbers[:0], known.groups.digest[:0])  # fmt: skip
    same = len(found) == len(numbers) and places.num_rows == len(inside)
    if same:
        wrong = differing_digests(digest, known.groups.digest[known.groups.at(found)])
        for name, said in (("cluster", before.place), ("group_number", before.group)):
            same &= bool((places.column(name).to_numpy() == said[inside]).all())
        same &= not wrong.any() and _same_columns(archive, records, before, inside)
    if not same:
        raise tampered(archive)


def _same_columns(archive: Archive, records: pa.Table, before: LivingRecords, inside: IntArray) -> bool:
    """Tell whether records of the tables are those of the index."""
    import pyarrow as pa

    read = archive.table(records)
    return all(
        _plain(column).equals(_plain(before.table.columns[name].take(pa.array(inside))))
        for name, column in read.columns.items()
    )


def _plain(column: Any) -> Any:
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return column.cast(kind).combine_chunks()


def tampered(archive: Archive) -> DataError:
    """Say that groups are not what they were when they were checked in full."""
    message = "Groups that no version changed are not what they were when they were checked. Nothing was changed."
    hint = "another program wrote to the store: run 'hedgerow release check', and go back to a copy that is whole"
    return DataError(Problem("store-damaged", message, archive.store.shown, hint))


# -- in full -----------------------------------------------------------------------------------------------------------


def _compare(archive: Archive, state: LivingRecords, known: Known, every: LivingRecords) -> None:
    """Compare all that the tables hold with what the index says of it."""
    same = (
        state.rows.column("key").equals(every.rows.column("key"))
        and np.array_equal(state.place, every.place)
        and np.array_equal(state.group, every.group)
        and all(
            _plain(column).equals(_plain(state.table.columns[name])) for name, column in every.table.columns.items()
        )
    )
    if same:
        untouched = known.groups.number[known.untouched]
        group = np.where(np.isin(every.group, untouched), every.group, -1)
        found, digest = digests_of(archive.store.groups(), every.rows, group)
        same = np.array_equal(found, untouched)
        same = same and not differing_digests(digest, known.groups.digest[known.untouched]).any()
    if not same:
        raise tampered(archive)


def _index_of(made: Candidate) -> RecordIndex:
    """Make the index of a version that was checked in full."""
    import pyarrow as pa

    groups = made.group_events
    if made.before is not None:
        there = made.groups_before.select(groups.column_names)
        both = pa.concat_tables([there, groups])
        said = np.append(np.zeros(len(there), np.int64), np.ones(len(groups), np.int64))
        groups = latest(both.add_column(0, "version", [said]), "number")
    groups = groups.sort_by("number")
    number = groups.column("number").to_numpy().astype(np.int64)
    group = np.full(len(made.place), -1, np.int64)
    group[made.microdata.record_of] = made.group_of
    found, digest = digests_of(groups, made.rows, group)
    every = np.zeros((len(number), digest.shape[1]), np.uint8)
    every[np.searchsorted(number, found)] = digest
    shown = fingerprints_of(groups.column("shown").to_pylist())
    names = rows.schema_of(made.archive.meta["kinds"]).names
    columns = {name: made.table.columns[name] for name in names}
    keys = made.rows.column("key").combine_chunks()
    return RecordIndex(made.number, keys, columns, made.place, group, GroupIndex(number, shown, every))
