"""A release in a Hadoop file system: written where nobody reads it, then put in place in one step.

Where a folder gets another name in one step (HDFS), the release is written to a hidden folder beside its place, and
renamed. An object store has no such step: it copies and deletes file by file, and a run that is killed leaves some of
them. So there the files go to a fresh folder in the place, under a name that no other run has, and a manifest, which
names the folder and every file with its length, rows and digest, is written last of all, by one call that stores a
file whole or not at all. Without manifest there is no release.

What killed runs left is removed by the next run for the same place. A marker beside it says who works there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from hedgerow.engines.hadoop import Hadoop, HadoopFile
from hedgerow.engines.spark import SparkTable
from hedgerow.errors import DataError, DoneBut, Problem
from hedgerow.outside.intake import read_json
from hedgerow.outside.outputs.moment import record, suspect, undisturbed
from hedgerow.outside.outputs.workers import is_left, seconds_since, this_worker
from hedgerow.outside.stores import shown_store

MANIFEST = "manifest.json"
ROWS = "data.parquet"
FOLDER, MARKER = "release-", "_working-"
NEW, OLD, WORKING = "new", "old", "_working"
MOST_MARKER_BYTES, MOST_MANIFEST_BYTES = 4096, 64 << 20


@dataclass
class NewRelease:
    """A release that is being written.

    Attributes
    ----------
    folder
        Where its files go.
    """

    store: Hadoop
    session: SparkTable
    folder: str
    small: dict[str, bytes] = field(default_factory=dict)
    manifest: bytes = b""

    @property
    def rows(self) -> str:
        """The folder of its rows."""
        return f"{self.folder}/{ROWS}"

    def parts(self) -> list[HadoopFile]:
        """The files of its rows, in order."""
        return [one for one in self.store.list(self.rows) if one.name.endswith(".parquet")]

    def write(self, name: str, text: str) -> None:
        """Write a small file."""
        self.small[name] = text.encode()
        self.store.write(f"{self.folder}/{name}", self.small[name])

    def seal(self) -> None:
        """Take stock of what was written, as it lies there now."""
        parts = self.parts()
        counted = self.session.file_contents([f"{self.rows}/{one.name}" for one in parts])
        files = [
            {"name": f"{ROWS}/{one.name}", "bytes": one.size, "rows": counted[one.name].rows,
             "sha256": counted[one.name].sha256}
            for one in parts
        ]  # fmt: skip
        for name, content in sorted(self.small.items()):
            if self.store.read(f"{self.folder}/{name}", len(content), "A file of the release") != content:
                message = "What was written is not what lies there."
                raise DataError(Problem("output", message, self.store.place, "run it again"))
            files.append({"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
        said = {"hedgerow": 1, "folder": self.folder.rpartition("/")[2], "files": files}
        self.manifest = (json.dumps(said, indent=1) + "\n").encode()


@contextlib.contextmanager
def new_release(session: SparkTable, address: str, replace: bool, own: frozenset[str]) -> Iterator[NewRelease]:
    """Yield a release to be written, which is put in place if the block ends well, and vanishes otherwise.

    Raises
    ------
    DataError
        If there is something already that may not be replaced, or the store fails. Nothing has changed then.
    DoneBut
        If it is not known whether the release is in place.
    """
    store = Hadoop(session.spark, address)
    check_free(store, replace, own)
    mark = uuid.uuid4().hex
    if store.renames:
        beside = f"{_beside(address)}{mark}"
        marker, folder, swept = f"{beside}/{WORKING}", f"{beside}/{NEW}", beside
    else:
        marker, folder = f"{address}/{MARKER}{mark}", f"{address}/{FOLDER}{mark}"
        swept = folder
    try:
        store.write(marker, this_worker().encode())
        store.make_folder(folder)
        made = NewRelease(store, session, folder)
        yield made
        made.seal()
        what = f"the release is in place: {shown_store(address)}"
        with undisturbed(f"It is not known whether {what}."):
            _settled(store, what, *_steps(store, address, made, replace, own))
            record(what)
    except BaseException:
        with contextlib.suppress(DataError):
            if not (store.renames and store.exists(f"{swept}/{OLD}") and not store.exists(address)):
                store.remove(swept)
                store.remove(marker)
        raise
    with contextlib.suppress(DataError):  # the next run does it
        store.remove(f"{swept}" if store.renames else marker)
        sweep(store)


def check_free(store: Hadoop, replace: bool, own: frozenset[str]) -> None:
    """Refuse a place that holds something; only a release may be replaced. What killed runs left is removed first."""
    sweep(store)
    address = store.address
    if store.is_file(address):
        message = "The output is a file, not a folder."
        raise DataError(Problem("output-in-use", message, store.place, "name a folder"))
    held = {one.name for one in store.list(address)}
    if not store.renames:
        held = {name for name in held if not name.startswith((MARKER, FOLDER))}
    _check_held(held, replace, own if store.renames else frozenset({MANIFEST}), store.place)


def _check_held(held: set[str], replace: bool, own: frozenset[str], place: str) -> None:
    if held and not replace:
        hint = "choose another folder, or replace it with --replace"
        raise DataError(Problem("output-in-use", "The output folder is not empty.", place, hint))
    if held - own:
        message = "The output folder holds other files than a release does, so it is not replaced."
        raise DataError(Problem("output-in-use", message, place, "choose another folder"))


# -- the moment of truth -------------------------------------------------------------------------------------------


def _steps(
    store: Hadoop, address: str, made: NewRelease, replace: bool, own: frozenset[str]
) -> tuple[Callable[[], None], Callable[[], bool]]:
    """Return what puts a release in place, and what tells whether it is there."""
    if not store.renames:
        wanted = f"{address}/{MANIFEST}"

        def put_manifest() -> None:
            there = {f"{ROWS}/{one.name}": one.size for one in made.parts()}
            stated = {one["name"]: one["bytes"] for one in json.loads(made.manifest)["files"] if "rows" in one}
            if there != stated:
                message = "Files of the release have vanished before it was in place."
                raise DataError(Problem("output", message, store.place, "let nobody else write there meanwhile"))
            store.write(wanted, made.manifest, replace)

        return put_manifest, lambda: manifest_of(store) == made.manifest

    hidden = made.folder.rpartition("/")[0]
    mark = json.loads(made.manifest)

    def put_folder() -> None:
        if replace and store.exists(address):
            _check_held({one.name for one in store.list(address)}, replace, own, store.place)
            store.rename(address, f"{hidden}/{OLD}")
        elif store.exists(address):  # an empty folder
            _check_held({one.name for one in store.list(address)}, False, own, store.place)
            store.remove(address)
        try:
            store.rename(made.folder, address)
        except DataError:
            if store.exists(f"{hidden}/{OLD}") and not store.exists(address):
                store.rename(f"{hidden}/{OLD}", address)
            raise

    def is_there() -> bool:
        parts = {f"{ROWS}/{one.name}": one.size for one in store.list(f"{address}/{ROWS}")}
        return parts == {one["name"]: one["bytes"] for one in mark["files"] if "rows" in one} and not store.exists(
            made.folder
        )

    return put_folder, is_there


def _settled(store: Hadoop, what: str, put: Callable[[], None], is_there: Callable[[], bool]) -> None:
    """Put a release in place; if that fails, find out whether it is there all the same."""
    try:
        put()
    except DataError as error:
        try:
            done = is_there()
        except DataError:
            suspect(f"It is not known whether {what}.")
            message = "The store failed while the release was put in place: it is there whole, or not at all."
            hint = "check whether it is there; if not, run the same again"
            raise DoneBut(Problem("in-doubt", message, store.place, hint)) from None
        if not done:
            raise error


# -- what killed runs left -----------------------------------------------------------------------------------------


def sweep(store: Hadoop) -> None:
    """Remove what runs that were killed have left, and put back what one had moved aside to replace it."""
    if store.renames:
        _sweep_beside(store)
    else:
        _sweep_inside(store)


def _sweep_beside(store: Hadoop) -> None:
    parent, prefix = _beside(store.address).rpartition("/")[::2]
    for left in store.list(parent):
        if not left.name.startswith(prefix) or not left.is_folder:
            continue
        folder = f"{parent}/{left.name}"
        held = {one.name: one for one in store.list(folder)}
        if not _is_left(store, folder, held.get(WORKING), left.changed):
            continue
        if OLD in held and not store.exists(store.address):
            store.rename(f"{folder}/{OLD}", store.address)
        store.remove(folder)


def _sweep_inside(store: Hadoop) -> None:
    held = {one.name: one for one in store.list(store.address)}
    kept = _named(manifest_of(store)) if MANIFEST in held else ""
    for name, one in held.items():
        if name.startswith(FOLDER) and name != kept:
            marker = held.get(MARKER + name.removeprefix(FOLDER))
            if _is_left(store, store.address, marker, one.changed):
                store.remove(f"{store.address}/{name}")
    remain = {one.name for one in store.list(store.address)}
    for name, one in held.items():
        folder = FOLDER + name.removeprefix(MARKER)
        is_free = folder == kept or folder not in remain
        if name.startswith(MARKER) and is_free and _is_left(store, store.address, one, one.changed):
            store.remove(f"{store.address}/{name}")


def _is_left(store: Hadoop, folder: str, marker: HadoopFile | None, changed: float) -> bool:
    if marker is None:
        return is_left(None, seconds_since(changed))
    try:
        said = store.read(f"{folder}/{marker.name}", MOST_MARKER_BYTES, "A marker").decode(errors="replace")
    except DataError as error:
        if error.problems[0].code == "no-file":  # whoever it was has just ended
            return False
        raise
    return is_left(said, seconds_since(max(marker.changed, changed)))


def manifest_of(store: Hadoop) -> bytes:
    """Return the manifest of a release in an object store."""
    return store.read(f"{store.address}/{MANIFEST}", MOST_MANIFEST_BYTES, "The manifest")


def _named(manifest: bytes) -> str:
    try:
        said = read_json(manifest)
        return str(said["folder"]) if isinstance(said, Mapping) else ""
    except (ValueError, KeyError):
        return ""


def _beside(address: str) -> str:
    parent, _, name = address.rpartition("/")
    return f"{parent}/.{name}.hedgerow-"


def checked_address(address: str) -> str:
    """Return the address of a folder for a release, or refuse one that is none.

    Examples
    --------
    >>> checked_address("hdfs:///data/release/")
    'hdfs:///data/release'
    >>> checked_address("s3a://bucket")
    Traceback (most recent call last):
    hedgerow.errors.DataError: s3a://bucket: The address names no folder. [output]
      hint: for example s3a://bucket/release
    """
    plain = address.rstrip("/")
    scheme, _, rest = plain.partition("://")
    if "/" not in rest or any(part in (".", "..", "") for part in rest.split("/")[1:]):
        hint = f"for example {scheme}://bucket/release"
        raise DataError(Problem("output", "The address names no folder.", shown_store(address), hint))
    return plain
