"""A release in a file system of Hadoop: which files it should have, and which lie there.

An object store cannot put a folder in place in one step. There a manifest says which files are the release; it was
written last of all, so without one there is no release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hedgerow.errors import DataError, Problem
from hedgerow.outside.intake import read_json
from hedgerow.verification.reading.listing import NAMED, PART
from hedgerow.verification.result import Promise

FOLDER = re.compile(r"release-[0-9a-f]{32}")
DIGEST = re.compile(r"[0-9a-f]{64}")
ROWS = "data.parquet"
SMALL = 1 << 53
"""Whole numbers that every reader of JSON reads alike."""


@dataclass(frozen=True)
class FileFound:
    """A file of a release, as it lies there.

    Attributes
    ----------
    size
        Its bytes.
    sha256, rows
        The digest of its bytes, and of a file of rows how many it has; None where nobody looked.
    """

    size: int
    sha256: str | None = None
    rows: int | None = None


@dataclass(frozen=True)
class Manifest:
    """What a manifest says.

    Attributes
    ----------
    folder
        The folder with the files.
    files
        Every file of the release.
    """

    folder: str
    files: Mapping[str, FileFound]


def read_manifest(content: bytes, place: str) -> Manifest:
    """Read a manifest.

    Raises
    ------
    DataError
        If it is none.
    """
    try:
        said = read_json(content)
        files = {one["name"]: FileFound(one["bytes"], one["sha256"], one.get("rows")) for one in said["files"]}
        sound = FOLDER.fullmatch(said["folder"]) is not None and len(files) == len(said["files"])
        if sound and all(_is_file(name, one) for name, one in files.items()):
            return Manifest(said["folder"], files)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    message = "The manifest of the release cannot be understood."
    raise DataError(Problem("not-a-release", message, place, "name the place that anonymize wrote to"))


def _is_file(name: object, one: FileFound) -> bool:
    numbers = [one.size] if one.rows is None else [one.size, one.rows]
    return (
        isinstance(name, str)
        and (name in NAMED if one.rows is None else is_part(name))
        and all(type(number) is int and 0 <= number < SMALL for number in numbers)
        and isinstance(one.sha256, str)
        and DIGEST.fullmatch(one.sha256) is not None
    )


def is_part(name: str) -> bool:
    """Tell whether a name is that of a file of rows.

    Examples
    --------
    >>> is_part("data.parquet/part-00000.parquet"), is_part("data.parquet/part-00000-secret.parquet")
    (True, False)
    """
    folder, inside, file = name.partition("/")
    return folder == ROWS and (not inside or PART.fullmatch(file) is not None)


def judge_files(found: Mapping[str, FileFound], strange: int, stated: Mapping[str, FileFound] | None) -> Promise:
    """Say whether the files of a release, and nothing else, lie there, and are those that its manifest states.

    Parameters
    ----------
    found
        The files that lie there and belong to a release by their names.
    strange
        How many others do.
    stated
        What the manifest says; None where releases have none.
    """
    faults = [f"{name} is missing" for name in NAMED if name not in found]
    if not any(is_part(name) for name in found):
        faults.append("no file of rows")
    if strange:
        faults.append(f"{strange} other files or folders")
    if stated is not None:
        gone = [name for name in stated if name not in found]
        more = [name for name in found if name not in stated]
        changed = [name for name, one in found.items() if name in stated and one != stated[name]]
        for names, what in ((gone, "gone"), (more, "not in the manifest"), (changed, "not as the manifest says")):
            if names:
                faults.append(f"{len(names)} files {what}")
    asked = "a release and nothing else" if stated is None else "the files of the manifest and nothing else"
    return Promise("files", asked, "; ".join(faults) or f"{len(found)} files", kept=not faults)


def in_order(names: Sequence[str]) -> list[str]:
    """Return the files of rows in the order of the rows.

    Examples
    --------
    >>> in_order(["data.parquet/part-100000.parquet", "plan.yaml", "data.parquet/part-00001.parquet"])
    ['data.parquet/part-00001.parquet', 'data.parquet/part-100000.parquet']
    """
    return sorted(filter(is_part, names), key=lambda name: (len(name.split("-")[1]) if "-" in name else 0, name))
