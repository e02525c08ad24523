"""Checking a release that somebody has: a folder, a table on a server, or one in memory."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from hedgerow.engines.opening import is_local
from hedgerow.engines.place import read_place
from hedgerow.errors import HedgerowError, Problem
from hedgerow.microdata.frames import taken_over
from hedgerow.outside.outputs import PrivateFolder
from hedgerow.outside.server import check_path, is_server
from hedgerow.outside.stores import is_in_spark, local_path
from hedgerow.release.checking import is_large, where_found
from hedgerow.release.folders import write_release
from hedgerow.release.release import Release
from hedgerow.release.signing import check_signature, note_of_signature
from hedgerow.verification import Verification, verify_release, verify_release_in_place


def verify(
    release: Release | str | Path,
    original: Any = None,
    link: Any = None,
    key: str | Path | None = None,
    master: str | None = None,
    population: Any = None,
) -> Verification:
    """Check a release independently of what made it.

    Parameters
    ----------
    release
        A release folder, the address of a table that is a release, or a release in memory. What lies where only Spark
        reaches (``s3a://…``, ``hdfs://…``, ``table:NAME``) is read by Spark, there.
    original
        The table it was made from, wherever that is: lets counts and unchanged columns be checked, and whether every
        row could have been made from a record of its own.
    link
        The private link table: lets, with the original, every cell be checked.
    key
        File with the public key of who released it: lets the signature in the folder be checked.
    master
        The Spark cluster that reads a release which only Spark reaches, where no session is running.
    population
        The table of the population, wherever that is, where the plan counts people in one: lets ``k_map`` and
        ``presence`` be checked.
    """
    release, original = local_path(release), taken_over(original)
    elsewhere = is_server(release) or is_in_spark(release)
    if key is not None and (elsewhere or isinstance(release, Release)):
        message = "Only a release folder can be signed: a table, or what lies in a store or in memory, has none here."
        raise HedgerowError(Problem("usage", message, hint="leave the key out"))
    if link is not None and (elsewhere or not is_local(original)):
        message = "A link table numbers the records of a file, which a table on a server or in Spark does not have."
        raise HedgerowError(Problem("usage", message, hint="leave the link out, or give the original as a file"))
    with where_found(population, master) as people:
        return _verify(release, original, link, key, master, people)


def _verify(
    release: Release | str | Path, original: Any, link: Any, key: str | Path | None, master: str | None, people: Any
) -> Verification:
    """Check a release, ``people`` being where the population is found."""
    if is_server(release):
        from hedgerow.release.tables import verify_table  # which few need

        with where_found(original) as place:
            return verify_table(read_place(str(release)), place, people)
    if is_in_spark(release):
        from hedgerow.release.stores import verify_in_spark

        with where_found(original) as place:
            return verify_in_spark(str(release), place, master, population=people)
    if isinstance(release, Release):
        with PrivateFolder() as scratch:
            folder = scratch.folder("release")
            write_release(release, folder, "parquet")
            return _verify(folder, original, link, key, master, people)
    check_path(original)
    folder = Path(release)
    if link is None and (not is_local(original) or is_large(folder)):
        with where_found(original) as place:
            found = verify_release_in_place(folder, place, population=people)
    else:
        found = verify_release(folder, original, link, population=people)
    if key is not None:
        return dataclasses.replace(found, promises=(*found.promises, check_signature(folder, key)))
    note = note_of_signature(folder)
    return dataclasses.replace(found, notes=(*found.notes, note)) if note else found
