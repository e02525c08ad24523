"""Putting a release into a folder: written beside it, checked, then moved into place whole."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from pathlib import Path

from hedgerow.engines import local
from hedgerow.engines.base import Engine
from hedgerow.engines.export import read_back
from hedgerow.engines.local import LocalEngine
from hedgerow.engines.release_dialect import ReleaseDialect
from hedgerow.errors import DataError, Problem
from hedgerow.outside.outputs import PreparedFile, PrivateFolder, cannot_write, check_free, new_file, new_folder
from hedgerow.outside.outputs.file import FOR_ITS_OWNER, refuse_existing, sweep_beside
from hedgerow.outside.server import check_path
from hedgerow.plan.formats import release_formats
from hedgerow.release.checking import verify_before_publishing
from hedgerow.release.facts import facts_to_json
from hedgerow.release.release import Release
from hedgerow.types import Progress, silent
from hedgerow.verification import Verification


def release_files() -> frozenset[str]:
    """Return the names that the files of a release may have: a folder that holds any other is never replaced."""
    rows = {one.released_file for one in release_formats()}
    return frozenset(rows | {"plan.yaml", "facts.json", "signature.json"})


def check_targets(output: str | Path | None, link: str | Path | None, replace: bool) -> None:
    """Refuse, before any work, a place that a release or its private link may not be written to."""
    check_path(output)
    if link is not None:
        sweep_beside(Path(link))  # also if the output is refused
    if output is not None:
        check_free(Path(output), replace, release_files())
    if link is None:
        return
    refuse_existing(Path(link), "The link table exists already.", "choose another file: it is never overwritten")
    if output is not None and Path(os.path.abspath(link)).is_relative_to(os.path.abspath(output)):  # noqa: PTH100
        message = "The link table is private and must not lie in the release folder."
        raise DataError(Problem("output", message, str(link), "name a file outside of it"))
    if not Path(link).parent.is_dir():
        raise DataError(Problem("no-file", "The folder for the link table does not exist.", str(link), "create it"))


def publish(
    release: Release,
    output: Path,
    form: str,
    engine: Engine,
    link: str | Path | None = None,
    replace: bool = False,
    tell: Progress = silent,
) -> Release:
    """Write a release to a folder, checked against its data first; it appears whole, with its link, or not at all.

    Returns the release with what the check found, and its rows as they were written, where they are not in memory.
    """
    with contextlib.ExitStack() as stack:
        linked = None
        if link is not None:
            linked = PreparedFile(Path(link), FOR_ITS_OWNER, replace=False)
            stack.callback(linked.remove)
        with new_folder(output, replace, release_files(), then=None if linked is None else linked.put) as folder:
            tell("writing", 0, 0)
            name = write_release(release, folder, form, engine)
            tell("verifying", 0, 0)
            found = verify_before_publishing(release, folder, engine)
            if linked is not None:
                _write_link(release, linked)
        if linked is not None:
            linked.confirm()
    rows = release.rows if release.rows.query is None else read_back(output / name, release.plan)
    return dataclasses.replace(release, rows=rows, verification=found)


def publish_link(release: Release, link: str | Path) -> None:
    """Write the private link of a release that stays in memory."""
    with new_file(link, "the link table", mode=FOR_ITS_OWNER) as file:
        local.write_link(release.record_of_row, file.path)


def verify_privately(release: Release, engine: Engine) -> Verification:
    """Write a release to a private place that does not last, and check it against the data it was made from."""
    with PrivateFolder() as scratch:
        folder = scratch.folder("release")
        write_release(release, folder, "parquet")
        return verify_before_publishing(release, folder, engine)


def write_release(release: Release, folder: Path, form: str, engine: Engine | None = None) -> str:
    """Write the files of a release into a folder, and return the name of the one with the rows."""
    try:
        name = (engine or LocalEngine()).write(release.rows, folder, form, ReleaseDialect.of(release.plan))
        (folder / "plan.yaml").write_text(release.plan.to_yaml(), encoding="utf-8")
        (folder / "facts.json").write_text(facts_to_json(dict(release.facts)), encoding="utf-8")
        _give_one_time(folder)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return name


def _give_one_time(folder: Path) -> None:
    """Give all files one time, in whole seconds: how long the work on each took is nobody's business."""
    now = int(time.time())
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (now, now))


def _write_link(release: Release, file: PreparedFile) -> None:
    """Write the private link from records to released rows; it gets its name when the release has its own."""
    try:
        local.write_link(release.record_of_row, file.path)
        file.seal()
    except OSError as error:
        raise cannot_write(file.target, error) from None
