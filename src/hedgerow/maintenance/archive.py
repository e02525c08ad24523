"""What a store holds, as records, clusters and events: the one place that turns stored rows into tables and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hedgerow.anonymization.withholding import as_part, part_of, taken
from hedgerow.errors import DataError, PlanError, Problem
from hedgerow.maintenance import rows
from hedgerow.maintenance.changes.boxes import KeptBoxes, PublishedCells
from hedgerow.maintenance.published import value_vectors
from hedgerow.maintenance.reading import are_numbered, place_of, read_records
from hedgerow.maintenance.record_index import GroupIndex, RecordIndex, fingerprints_of
from hedgerow.maintenance.store import Store, VersionRow
from hedgerow.maintenance.store.state import latest
from hedgerow.microdata import Microdata, Table, encode_table
from hedgerow.microdata.columns import KeptEnds
from hedgerow.microdata.microdata import encode_columns
from hedgerow.microdata.read import dictionary_encoded
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS
from hedgerow.types import BoolArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

Events: TypeAlias = "tuple[pa.Table, pa.Table, pa.Table]"
HELD_BACK, NO_LEAF, DELETED, WITHDRAWN = -1, -2, -3, -4  # places that are no cluster
FEW_NUMBERS, MOST_NUMBERS = 1 << 27, 64
"""Numbers of clusters that a store may have given whatever is in it now; and for every record in every version."""


@dataclass(frozen=True, eq=False)
class LivingRecords:
    """The records of one version, in the order of their keys, and where each lies.

    Attributes
    ----------
    number
        The version.
    rows
        ``key`` of the records, and ``content`` unless they were read from the index.
    table
        The records as a table.
    place
        Cluster of every record, or why it has none.
    group
        Number of every record's group; −1 if it is not published.
    used
        Numbers of clusters given so far.
    known
        What the index says of their groups; None if they were read from the rows themselves.
    """

    number: int
    rows: pa.Table
    table: Table
    place: IntArray
    group: IntArray
    used: int
    known: Known | None = None


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of a version without reading all of it.

    Attributes
    ----------
    since
        The version that was last checked in full.
    groups
        Every group there ever was; digests are those of that version.
    untouched
        Which of the groups nothing has happened to since.
    """

    since: int
    groups: GroupIndex
    untouched: BoolArray


@dataclass(frozen=True, eq=False)
class MergedRecords:
    """Records after some were taken out and others put in: ``rows`` and ``table`` as those of living records have them.

    ``at`` says where each was before, by its key; −1 for those whose key is new.
    """

    rows: pa.Table
    table: Table
    at: IntArray


@dataclass(frozen=True, eq=False)
class ChangedRecords:
    """The records after a change, before anything was done about it.

    Attributes
    ----------
    rows, table
        The records, as stored and as a table; in the order of keys. ``rows`` has their keys, and their content where
        all of the store was read.
    at
        Where every record was in the version before, by its key; −1 for those whose key is new.
    came
        Which of them are new, or replace the one with their key.
    new
        ``key`` and ``content`` of these.
    place
        Where every record lay; new ones are held back.
    """

    rows: pa.Table
    table: Table
    at: IntArray
    came: BoolArray
    new: pa.Table
    place: IntArray

    @classmethod
    def unchanged(cls, state: LivingRecords) -> ChangedRecords:
        """Return the records of a version, none of which changed."""
        none = np.zeros(len(state.place), bool)
        return cls(state.rows, state.table, np.arange(len(none)), none, state.rows.slice(0, 0), state.place)

    @classmethod
    def first(cls, stored: pa.Table, table: Table) -> ChangedRecords:
        """Return records that nothing was before."""
        nowhere = np.full(stored.num_rows, -1)
        return cls(stored, table, nowhere, nowhere < 0, stored, np.full(stored.num_rows, HELD_BACK))


class Archive:
    """A store, read with the plan of the release that it holds."""

    def __init__(self, store: Store, meta: Mapping[str, str] | None = None) -> None:
        self.store = store
        self.meta = dict(store.meta() if meta is None else meta)
        try:
            self.plan, self._asked = (Plan.loads(self.meta[name], base=None) for name in ("plan", "asked"))
        except (PlanError, KeyError):
            raise self._damaged() from None

    @property
    def on_lattice(self) -> bool:
        """Whether everybody is published at one level per column."""
        return METHODS[self.plan.method.name].needs_levels

    def is_plan(self, plan: Plan) -> bool:
        """Tell whether a plan is the one the release was created with, as it was given or as it was written out."""
        return plan.digest() in (self.meta["asked_digest"], self.plan.digest())

    # -- versions ----------------------------------------------------------------------------------------------------

    def row(self, version: int | None = None) -> VersionRow:
        """What is known of a version; of the newest by default."""
        versions = self.store.versions()
        if not versions:
            raise self._damaged()
        number = versions[-1].number if version is None else version
        for row in versions:
            if row.number == number:
                return row
        message = f"The release has no version {number}; its versions are 1 to {versions[-1].number}."
        raise DataError(Problem("no-version", message, hint="see 'hedgerow release history'"))

    def state(self, version: int | None = None) -> LivingRecords:
        """Return the records of a version, the newest by default, and where they lie."""
        import pyarrow.compute as pc

        row = self.row(version)
        places = self.store.places(row.number)
        places = places.filter(pc.not_equal(places.column("cluster"), DELETED)).sort_by("key")
        if places.num_rows != row.counts["records"]:
            message = f"People were erased who were in version {row.number}: it cannot be made again."
            raise DataError(Problem("erased", message, hint="what was published then is not in the store any more"))
        records = self.store.records(row.number).select(["key", "content"])
        records = records.filter(known(records, places)).sort_by("key")
        place, group = (places.column(name).to_numpy().astype(np.int64) for name in ("cluster", "group_number"))
        return LivingRecords(
            row.number, records, self.table(records), place, group, self._used(row, place, group), None
        )

    def newest(self) -> LivingRecords:
        """Return what :meth:`state` does, but read from the index and from what happened since, if there is one."""
        import pyarrow as pa

        row = self.row()
        index = self.index()
        if index is None or index.version > row.number:
            return self.state()
        places, records, groups = (
            latest(since.filter(pa.array(since.column("version").to_numpy() <= row.number)), by)
            for since, by in (
                (self.store.places_since(index.version), "key"),
                (self.store.records_since(index.version), "key"),
                (self.store.groups_since(index.version), "number"),
            )
        )
        gone = places.filter(places.column("cluster").to_numpy() == DELETED)
        records = records.select(["key", "content"])
        if gone.num_rows and records.num_rows:
            records = records.filter(~known(records, gone))
        keys = pa.table({"key": index.keys})
        table = Table(
            {str(self.plan.key): pa.chunked_array([index.keys])} | index.columns,
            len(index.keys),
            tuple(json.loads(self.meta["not_released"])),
            self.plan.data,
        )
        at_gone, at_said = positions(gone, keys), positions(records, keys)
        removed = np.zeros(len(index.keys), bool)
        removed[at_gone[at_gone >= 0]] = removed[at_said[at_said >= 0]] = True
        merged = self.merged(keys, table, removed, records)
        place, group = (np.append(column, -1)[merged.at] for column in (index.place, index.group))
        moved = places.filter(places.column("cluster").to_numpy() != DELETED)
        to = positions(moved, merged.rows)
        if (to < 0).any() or len(place) != row.counts["records"]:
            return self.state()
        place[to] = moved.column("cluster").to_numpy()
        group[to] = moved.column("group_number").to_numpy()
        number = groups.column("number").to_numpy().astype(np.int64)
        every = index.groups.with_more(number, fingerprints_of(groups.column("shown").to_pylist()))
        was = positions(places, keys)
        left = np.concatenate([index.group[was[was >= 0]], index.group[at_said[at_said >= 0]]])
        touched = np.concatenate([number, left, places.column("group_number").to_numpy()])
        untouched = every.at(touched[touched >= 0])
        still = np.ones(len(every.number), bool)
        still[untouched[untouched >= 0]] = False
        still &= every.digest.any(axis=1)
        used = self._used(row, place, group)
        return LivingRecords(
            row.number, merged.rows, merged.table, place, group, used, Known(index.version, every, still)
        )

    def index(self) -> RecordIndex | None:
        """Return the index of the version that was last checked in full, if there is a good one."""
        return RecordIndex.unpack(self.store.index(), rows.schema_of(self.meta["kinds"]))

    def merged(self, keys: pa.Table, table: Table, removed: BoolArray, new: pa.Table | None) -> MergedRecords:
        """Take records out of a table and put new ones in, all in the order of their keys.

        ``keys`` has the content of the records beside their keys, or not; so has what comes back.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        at = np.flatnonzero(~removed)
        if new is None or not new.num_rows:
            if len(at) == len(removed):
                return MergedRecords(keys, table, at)
            columns = {name: taken(column, at) for name, column in table.columns.items()}
            return MergedRecords(keys.take(pa.array(at)), replace(table, columns=columns, records=len(at)), at)
        gone = np.flatnonzero(removed)
        again = positions(new, keys.take(pa.array(gone)))
        at = np.append(at, np.where(again < 0, -1, np.append(gone, -1)[again]))
        chosen = pa.array(np.append(np.flatnonzero(~removed), len(removed) + np.arange(new.num_rows)))
        both = pa.concat_tables([keys, new.select(keys.column_names)]).take(chosen)
        order = pc.sort_indices(both, sort_keys=[("key", "ascending")])
        came = self.table(new)
        columns = {}
        for name, column in table.columns.items():
            whole = _together(column, came.columns[name])
            columns[name] = taken(pa.chunked_array([whole]), chosen.take(order).to_numpy())
        every = both.take(order)
        return MergedRecords(every, replace(table, columns=columns, records=len(at)), at[order.to_numpy()])

    def _used(self, row: VersionRow, place: IntArray, group: IntArray) -> int:
        """How many numbers of clusters were given, if that can be."""
        used = int(row.counts["cluster_numbers"])
        given = max(FEW_NUMBERS, MOST_NUMBERS * (row.number + 1) * (len(place) + 1))
        if not place.max(initial=-1) < used <= given or group.max(initial=-1) > given:  # tables are as long as these
            raise self._damaged()
        return used

    def is_newest(self, verb: str, named: pa.Table) -> bool:
        """Tell whether the newest version is the insertion, or the deletion, of just these records.

        Then the same change was asked before: it was done, and whoever asked did not get to know.
        """
        row = self.row()
        if row.verb != verb:
            return False
        if verb == "insert":
            written = self.store.records_since(row.number - 1)
            wanted = ["key", "content"]
        else:
            written = self.store.places_since(row.number - 1)
            written = written.filter(written.column("cluster").to_numpy() == DELETED)
            wanted = ["key"]
        written = written.filter(written.column("version").to_numpy() == row.number)
        return bool(named.select(wanted).sort_by("key").equals(written.select(wanted).sort_by("key")))

    def made_afresh(self) -> VersionRow:
        """The version that was last made afresh."""
        return [row for row in self.store.versions() if row.verb in ("create", "restart")][-1]

    def groups_of_people(self, version: int) -> dict[str, int]:
        """Group of everybody who is published in a version."""
        places = self.store.places(version)
        pairs = zip(places.column("key").to_pylist(), places.column("group_number").to_pylist(), strict=True)
        return {key: group for key, group in pairs if group >= 0}

    def group_contents(self, version: int) -> dict[int, tuple[int, str]]:
        """Size and sensitive values of every group of a version, by its number."""
        groups = self.store.groups(version)
        columns = (groups.column(name).to_pylist() for name in ("number", "size", "counts"))
        return {number: (size, counts) for number, size, counts in zip(*columns, strict=True) if size}

    # -- tables ------------------------------------------------------------------------------------------------------

    def table(self, stored: pa.Table) -> Table:
        """Turn stored rows back into a table."""
        import pyarrow as pa

        try:
            return rows.to_table(stored, self.plan, self.meta["kinds"], tuple(json.loads(self.meta["not_released"])))
        except (pa.ArrowException, ValueError, KeyError, IndexError):  # their texts may hold cells
            raise self._damaged() from None

    def encode(
        self, table: Table, kept: BoolArray | None = None, ends: Mapping[str, KeptEnds] | None = None
    ) -> Microdata:
        """Encode a table whose rows are in the order of their keys: all, or some as if there were no others.

        What new records may be was looked at when they came. A value that has no leaf here was held back from the
        first version, whose released records the plan was settled by. ``ends`` are those of intervals that are to be
        published although no record has such a number.
        """
        if kept is None or kept.all():
            return encode_table(table, self.lenient, in_order=True, strict=False, ends=ends)
        counts = kept.astype(np.int64)
        part = encode_table(part_of(table, counts), self.lenient, in_order=True, strict=False, ends=ends)
        return as_part(part, table, counts)

    def encode_keeping(
        self, table: Table, kept: BoolArray | None, cells: PublishedCells | None
    ) -> tuple[Microdata, KeptBoxes | None]:
        """Encode a table as :meth:`encode` does, with the boxes that its records are to keep, if they are."""
        microdata = self.encode(table, kept)
        if cells is None:
            return microdata, None
        ends = cells.ends(microdata)
        if ends:
            microdata = self.encode(table, kept, ends)
        return microdata, cells.boxes(microdata)

    @property
    def lenient(self) -> Plan:
        """The plan, under which values without a leaf are withheld instead of refused."""
        attributes = {
            name: attribute.model_copy(update={"unknown": "withhold"}) if attribute.unknown == "error" else attribute
            for name, attribute in self.plan.attributes.items()
        }
        return self.plan.model_copy(update={"attributes": attributes})

    def read(self, data: Any) -> pa.Table:
        """Read new records: ``key``, ``content``, and ``record``, their number in the source; in the order of keys."""
        import pyarrow as pa

        plan = self.plan.model_copy(update={"data": self._asked.data})  # another file may have another delimiter
        table = read_records(data, plan)
        check_values(table, plan, data)
        keys = rows.keys_of(table, plan, place_of(data), are_numbered(data))
        read = rows.to_rows(table, keys, self.meta["kinds"], place_of(data))
        numbers = pa.table({"key": keys, "record": np.arange(1, len(keys) + 1)}).sort_by("key")
        return read.append_column("record", numbers.column("record"))

    def read_keys(self, data: Any) -> pa.Table:
        """Read keys alone: ``key``, in the order of the source."""
        import pyarrow as pa

        only = self.plan.model_copy(update={"attributes": {}, "person": None, "data": self._asked.data})
        keys = rows.keys_of(read_records(data, only), self.plan, place_of(data), are_numbered(data))
        return pa.table({"key": keys, "record": np.arange(1, len(keys) + 1)})

    def _damaged(self) -> DataError:
        message = "The store is not as Hedgerow wrote it."
        return DataError(Problem("store-damaged", message, self.store.shown, "restore it from a copy"))

    # -- what was published ------------------------------------------------------------------------------------------

    def last_published(self, stored: pa.Table, upto: int) -> PublishedCells:
        """Return what every stored row's record was last published as, in the versions up to one."""
        shown, region, which = self._last_groups(stored, upto)
        return PublishedCells.of_groups(self.plan, shown, region, which)

    def labels_before(self, stored: pa.Table, upto: int) -> pa.Table:
        """Return the labels that stored rows were last published with, by quasi-identifier, and ``record``, from 1."""
        import pyarrow as pa

        shown, _, which = self._last_groups(stored, upto)
        labels = [json.loads(text) for text in shown]
        rows = np.flatnonzero(which >= 0)
        found: dict[str, Any] = {"record": pa.array(rows + 1, pa.int64())}
        for position, name in enumerate(self.plan.quasi_identifiers):
            found[name] = pa.array([labels[group][position] for group in which[rows].tolist()], pa.string())
        return pa.table(found)

    def _last_groups(self, stored: pa.Table, upto: int) -> tuple[list[str], list[str], IntArray]:
        """Return what groups showed and where, and in which of them every row's record was last; −1 in none."""
        import pyarrow.compute as pc

        places = self.store.all_places(upto)
        places = latest(places.filter(pc.greater_equal(places.column("group_number"), 0)), "key")
        groups = self.store.all_groups(upto)
        groups = latest(groups.filter(pc.greater(groups.column("size"), 0)), "number")
        row_of = np.full(int(pc.max(groups.column("number")).as_py() or 0) + 1, -1)
        row_of[groups.column("number").to_numpy()] = np.arange(groups.num_rows)
        at = positions(stored, places)
        number = np.append(places.column("group_number").to_numpy(), -1)[at]
        shown, region = (groups.column(name).to_pylist() for name in ("shown", "region"))
        return shown, region, np.where(at < 0, -1, row_of[number])

    # -- events ------------------------------------------------------------------------------------------------------

    def events(self, upto: int) -> Events:
        """Everything that happened to groups, to places and to sensitive values, as an audit takes it.

        Up to a version, because somebody else may be writing the next one.
        """
        import pyarrow as pa

        every = self.store.all_records(upto)
        table = self.table(every)
        microdata = self.encode(table)
        texts, number = value_vectors(table, self.plan, microdata)
        spoken = every.take(microdata.record_of).select(["version", "key"])
        values = spoken.append_column("values", pa.array([texts[one] for one in number.tolist()], pa.string()))
        groups = self.store.all_groups(upto).select(["version", "number", "shown", "region", "size", "counts"])
        return groups, self.store.all_places(upto).select(["version", "key", "cluster", "group_number"]), values


def check_values(table: Table, plan: Plan, data: Any) -> None:
    """Refuse values without a leaf while the records still have the numbers that they have in their source."""
    if not are_numbered(data):
        table = replace(table, counts=np.ones(table.records, np.int64))
    try:
        encode_columns(table, plan)
    except DataError as error:
        found = [problem for problem in error.problems if problem.code in ("no-leaf", "not-a-number", "too-precise")]
        if found:
            place, said = place_of(data), "Nothing was changed."
            raise DataError(Problem(one.code, f"{one.message} {said}", place, one.hint) for one in found) from None


def positions(these: pa.Table, those: pa.Table) -> IntArray:
    """Where the keys of one table stand in another; −1 for those that do not."""
    import pyarrow.compute as pc

    if len(those) > 8 * len(these):  # look the few up among the many, without a table of the many
        hits = np.flatnonzero(pc.is_in(those.column("key"), these.column("key").combine_chunks()).to_numpy())
        found = pc.index_in(these.column("key"), those.column("key").take(hits).combine_chunks()).fill_null(-1)
        return np.asarray(np.append(hits, -1)[found.to_numpy()], np.int64)
    found = pc.index_in(these.column("key"), those.column("key").combine_chunks()).fill_null(-1)
    return np.asarray(found.to_numpy(), np.int64)


def _together(one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.Array:
    """Put two columns of one kind into one array."""
    import pyarrow as pa

    if pa.types.is_dictionary(one.type):
        parts = [dictionary_encoded(column) for column in (one, other)]
        return dictionary_encoded(pa.chunked_array(parts))
    return pa.chunked_array([*one.chunks, *other.chunks], one.type).combine_chunks()


def known(these: pa.Table, those: pa.Table) -> BoolArray:
    """Tell which keys of one table are in another."""
    return positions(these, those) >= 0


def differing(these: pa.Table, those: pa.Table) -> BoolArray:
    """Tell which records of one table are not in another with the same content."""
    import pyarrow.compute as pc

    at = positions(these, those)
    same = pc.equal(these.column("content"), those.column("content").take(np.maximum(at, 0))) if len(those) else None
    return (at < 0) | (True if same is None else ~np.asarray(same.to_numpy(), bool))


def refuse(named: pa.Table, wrong: BoolArray, code: str, what: str, data: Any, hint: str) -> None:
    """Refuse records by their keys, without naming one."""
    if wrong.any():
        first, many = int(named.column("record").to_numpy()[wrong].min()), int(wrong.sum())
        subject = "1 key is" if many == 1 else f"{many:,} keys are"
        where = f"; the first is that of record {first:,}" if are_numbered(data) else ""
        message = f"{subject} {what}{where}. Nothing was changed."
        raise DataError(Problem(code, message, place_of(data), hint))
