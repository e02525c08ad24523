"""Putting a release where only Spark reaches, and checking it there: a Hadoop file system, or a table of a catalogue.

Rows are written by the executors, and read by them for the check; plan and facts lie beside them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hedgerow.engines.base import Engine
from hedgerow.engines.catalogue import Catalogue, said_of
from hedgerow.engines.hadoop import Hadoop
from hedgerow.engines.rows import Rows, Selected
from hedgerow.engines.spark import SparkTable
from hedgerow.engines.spark_driver import open_spark
from hedgerow.engines.spark_engine import SparkEngine
from hedgerow.engines.stores import MANIFEST, MARKER, ROWS, checked_address, manifest_of, new_release
from hedgerow.engines.stores import check_free as check_store
from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.outside.intake import MOST_JSON_BYTES, read_json
from hedgerow.outside.stores import is_store, shown_store
from hedgerow.plan import Plan
from hedgerow.release.checking import in_database, verify_before_publishing
from hedgerow.release.facts import facts_to_json
from hedgerow.release.folders import release_files
from hedgerow.release.release import Release
from hedgerow.types import Progress, silent
from hedgerow.verification import InDatabase, Promise, Verification, Where, verify_in_place
from hedgerow.verification.reading.stored import FOLDER, FileFound, in_order, is_part, judge_files, read_manifest

if TYPE_CHECKING:
    import pyarrow as pa

PATH = "A path in a Hadoop file system"
MOST_PLAN_BYTES = 64 << 20
SMALL_FILES = {"plan.yaml": MOST_PLAN_BYTES, "facts.json": MOST_JSON_BYTES}


def check_in_spark(output: str, engine: Engine, replace: bool) -> None:
    """Refuse, before any work, a place in Spark that holds something, or that may not be replaced."""
    session = _session_of(engine)
    if is_store(output):
        check_store(Hadoop(session.classic(PATH), checked_address(output)), replace, release_files())
    else:
        Catalogue(session, output).check_free(replace)


def publish_in_spark(
    release: Release, output: str, engine: Engine, replace: bool = False, tell: Progress = silent
) -> Release:
    """Put a release where only Spark reaches, checked against its data first; it appears whole, or not at all.

    Returns the release with what the check found, and its rows as they lie there.
    """
    session = _session_of(engine)
    assert release.rows.query is not None
    if is_store(output):
        return _publish_to_store(release, checked_address(output), session, engine, replace, tell)
    return _publish_as_table(release, output, session, engine, replace, tell)


def _publish_to_store(
    release: Release, output: str, session: SparkTable, engine: Engine, replace: bool, tell: Progress
) -> Release:
    assert release.rows.query is not None
    schema = release.rows.schema
    with new_release(session, output, replace, release_files()) as made:
        tell("writing", 0, 0)
        session.write_files(release.rows.query, made.rows)
        made.write("plan.yaml", release.plan.to_yaml())
        made.write("facts.json", facts_to_json(dict(release.facts)))
        tell("verifying", 0, 0)
        relation, columns = session.open_files([f"{made.rows}/{one.name}" for one in made.parts()])
        found = verify_before_publishing(release, in_database(session, relation, columns), engine)
    return dataclasses.replace(release, rows=_rows(output, session, schema), verification=found)


def _publish_as_table(
    release: Release, output: str, session: SparkTable, engine: Engine, replace: bool, tell: Progress
) -> Release:
    assert release.rows.query is not None
    schema = release.rows.schema
    catalogue = Catalogue(session, output)
    catalogue.check_free(replace)
    tell("writing", 0, 0)
    hidden = catalogue.make(release.rows.query)
    try:
        tell("verifying", 0, 0)
        relation, columns = session.open_other(hidden.sql)
        found = verify_before_publishing(release, in_database(session, relation, columns), engine)
        facts = json.loads(facts_to_json(dict(release.facts)))
        catalogue.show(hidden, said_of(release.plan.to_yaml(), facts), replace)
    except BaseException:
        catalogue.drop(hidden)
        raise
    return dataclasses.replace(release, rows=_rows(output, session, schema), verification=found)


# -- checking ------------------------------------------------------------------------------------------------------


def verify_in_spark(
    release: str,
    original: Where | None = None,
    master: str | None = None,
    spark: Any = None,
    population: Where | None = None,
) -> Verification:
    """Check a release where only Spark reaches, where it lies: executors read it, and what comes here are counts."""
    with _opened(release, original, master, spark) as stored:
        if stored.promise is not None and (not stored.promise.kept or stored.files is None):
            return Verification((stored.promise,), shown_store(release))
        plan, facts = stored.said()
        try:
            found = verify_in_place(plan, facts, stored.table(), original, population=population)
        except DataError as error:
            if stored.promise is None or error.problems[0].code != "format":
                raise
            found = Verification((Promise("readable", "a table", error.problems[0].message, kept=False),))
    first = () if stored.promise is None else (stored.promise,)
    return dataclasses.replace(found, promises=(*first, *found.promises), place=shown_store(release))


def read_in_spark(release: str, master: str | None = None) -> tuple[Plan, Mapping[str, Any]]:
    """Read the plan and the facts of a release where only Spark reaches."""
    with _opened(release, None, master, None, digests=False) as stored:
        return stored.said()


@dataclass
class _Stored:
    """A release as it lies in Spark's reach.

    Attributes
    ----------
    promise
        Whether its files are what they should be; None for a table.
    files
        The files of its rows, in order; None for a table, or where there is none.
    """

    session: SparkTable
    address: str
    promise: Promise | None
    files: list[str] | None
    folder: str = ""
    catalogue: Catalogue | None = None

    def said(self) -> tuple[Plan, Mapping[str, Any]]:
        """Read the plan and the facts."""
        place = shown_store(self.address)
        try:
            if self.catalogue is not None:
                said = read_json(self.catalogue.text() or "")
                plan, facts = said["plan"], said["facts"]
            else:
                store = Hadoop(self.session.spark, self.folder)
                plan = store.read(f"{self.folder}/plan.yaml", MOST_PLAN_BYTES, "The plan").decode()
                facts = read_json(store.read(f"{self.folder}/facts.json", MOST_JSON_BYTES, "The file of facts"))
        except (ValueError, KeyError, TypeError):
            plan = facts = None
        if not isinstance(plan, str) or not isinstance(facts, dict):
            message = "This is not a release: its plan and facts are not there, or cannot be read."
            raise DataError(Problem("not-a-release", message, place, "name what anonymize made"))
        return Plan.loads(plan, file=f"the plan of {place}", base=None), facts

    def table(self) -> InDatabase:
        """Open its rows."""
        if self.catalogue is not None:
            relation, columns = self.session.open_other(self.catalogue.target.sql)
        else:
            assert self.files is not None
            relation, columns = self.session.open_files([f"{self.folder}/{name}" for name in self.files])
        return in_database(self.session, relation, columns)


@contextlib.contextmanager
def _opened(
    release: str, original: Where | None, master: str | None, spark: Any, digests: bool = True
) -> Iterator[_Stored]:
    """Open a release in the session of its original, or else in one of ours."""
    lender = original.lender if isinstance(original, InDatabase) else None
    with contextlib.ExitStack() as stack:
        if isinstance(lender, SparkTable):
            session = lender
        else:
            session = SparkTable.of_session(spark or open_spark(master), shown_store(release))
            stack.callback(session.close)
        if not is_store(release):
            catalogue = Catalogue(session, release)
            if not catalogue.exists(catalogue.target):
                raise DataError(Problem("no-file", "Spark finds no such table.", release, "check the name"))
            yield _Stored(session, release, None, None, catalogue=catalogue)
            return
        yield _in_store(session, checked_address(release), digests)


def _in_store(session: SparkTable, address: str, digests: bool) -> _Stored:
    store = Hadoop(session.classic(PATH), address)
    held = {one.name: one for one in store.list(address)}
    if MANIFEST in held:
        manifest = read_manifest(manifest_of(store), store.place)
        folder, stated = f"{address}/{manifest.folder}", manifest.files
        others = [name for name in held if not name.startswith(MARKER) and FOLDER.fullmatch(name) is None]
        strange = len(others) - 1
    elif not held:
        raise DataError(Problem("no-file", "The release does not exist.", store.place, "check the address"))
    elif store.renames:
        folder, stated, strange = address, None, 0
    else:
        message = "The release is not whole: it has no manifest, which is written last of all."
        raise DataError(Problem("not-a-release", message, store.place, "make it again"))
    found, more = _files(store, folder)
    if stated is not None and digests and set(found) == set(stated):
        found = _looked_into(session, store, folder, found)
    elif stated is not None:
        stated = {name: FileFound(one.size) for name, one in stated.items()}
    promise = judge_files(found, strange + more, stated)
    return _Stored(session, address, promise, in_order(list(found)) or None, folder)


def _files(store: Hadoop, folder: str) -> tuple[dict[str, FileFound], int]:
    """Return the files of a release by their names, and how many others there are."""
    found, strange = {}, 0
    for one in store.list(folder):
        if one.name == ROWS and one.is_folder:
            for part in store.list(f"{folder}/{ROWS}"):
                name = f"{ROWS}/{part.name}"
                if part.is_folder or not is_part(name):
                    strange += 1
                else:
                    found[name] = FileFound(part.size)
        elif one.name in (ROWS, *SMALL_FILES) and not one.is_folder:
            found[one.name] = FileFound(one.size)
        else:
            strange += 1
    return found, strange


def _looked_into(
    session: SparkTable, store: Hadoop, folder: str, found: Mapping[str, FileFound]
) -> dict[str, FileFound]:
    """Take the digests of files, and count their rows."""
    parts = [name for name in found if is_part(name)]
    try:
        contents = session.file_contents([f"{folder}/{name}" for name in parts])
    except DataError as error:
        if error.problems[0].code != "format":
            raise
        contents = {}  # some file is no Parquet file: then it is not what the manifest says
    looked = {}
    for name, one in found.items():
        if name in SMALL_FILES:
            content = store.read(f"{folder}/{name}", SMALL_FILES[name], "A file of the release")
            looked[name] = FileFound(one.size, hashlib.sha256(content).hexdigest())
        else:
            known = contents.get(name.rpartition("/")[2])
            looked[name] = one if known is None else FileFound(one.size, known.sha256, known.rows)
    return looked


# -- the rows ------------------------------------------------------------------------------------------------------


def _session_of(engine: Engine) -> SparkTable:
    if not isinstance(engine, SparkEngine):
        message = "Only the Spark engine writes to a Hadoop file system, or to a table of a Spark catalogue."
        raise HedgerowError(Problem("usage", message, hint="use --engine spark, or write to a folder"))
    return engine.session


def _rows(output: str, session: SparkTable, schema: pa.Schema) -> Rows:
    """Take rows from where they lie, whenever they are asked for."""
    spark = session.spark

    def batches() -> Iterator[pa.RecordBatch]:
        with _opened(output, None, None, spark, digests=False) as stored:
            yield from stored.session.stream(f"SELECT * FROM {stored.table().relation}")

    return Rows(lambda: Selected(schema, batches))
