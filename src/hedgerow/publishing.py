"""From a solution to a release that may be written: facts, rows, files, and the check before anything is published."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.engines import local
from hedgerow.engines.folder import cannot_write, check_free, new_folder
from hedgerow.errors import BrokenPromise, DataError, Problem
from hedgerow.microdata import Microdata, Table, TreeColumn
from hedgerow.plan import Plan
from hedgerow.release import Release
from hedgerow.reports.facts import facts_to_json, release_facts
from hedgerow.solving import Solution
from hedgerow.verification import Verification, verify_release

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is (0: unknown)."""


def silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""


def make_release(table: Table, plan: Plan, microdata: Microdata, solution: Solution, kind: str = "pyarrow") -> Release:
    """Put a solution into rows and facts; what comes out is not verified yet."""
    facts = release_facts(plan, table, microdata, solution)
    rows, record_of_row = local.apply(table, plan, microdata, solution.recoding)
    return Release(rows, plan, facts, record_of_row, kind)


def self_contained(plan: Plan, table: Table, microdata: Microdata) -> Plan:
    """Return the plan with everything filled in that was found out from the data."""
    attributes = dict(plan.attributes)
    for column in microdata.columns:
        if isinstance(column, TreeColumn):
            attributes[column.name] = attributes[column.name].model_copy(update={"hierarchy": column.spec})
    for sensitive in microdata.sensitive:
        attributes[sensitive.name] = attributes[sensitive.name].model_copy(update={"hierarchy": sensitive.spec})
    return plan.model_copy(update={"attributes": attributes, "data": table.format})


def check_targets(output: str | Path | None, link: str | Path | None, replace: bool) -> None:
    """Refuse, before any work, a place that a release or its private link may not be written to."""
    if output is not None:
        check_free(Path(output), replace)
    if link is None:
        return
    if Path(link).exists():
        message = "The link table exists already."
        raise DataError(Problem("output-in-use", message, str(link), "choose another file: it is never overwritten"))
    if output is not None and Path(os.path.abspath(link)).is_relative_to(os.path.abspath(output)):  # noqa: PTH100
        message = "The link table is private and must not lie in the release folder."
        raise DataError(Problem("output", message, str(link), "name a file outside of it"))
    if not Path(link).parent.is_dir():
        raise DataError(Problem("no-file", "The folder for the link table does not exist.", str(link), "create it"))


def publish(
    release: Release,
    output: Path,
    ending: str,
    data: Any,
    link: str | Path | None = None,
    replace: bool = False,
    tell: Progress = silent,
) -> None:
    """Write a release to a folder, checked against its data first; it appears whole, with its link, or not at all."""
    with contextlib.ExitStack() as undo:
        with new_folder(output, replace) as folder:
            tell("writing", 0, 0)
            write_release(release, folder, ending)
            tell("verifying", 0, 0)
            verify_before_publishing(release, folder, data)
            if link is not None:
                _write_link(release, Path(link))
                undo.callback(Path(link).unlink)
        undo.pop_all()  # the release is in place, so its link stays


def verify_privately(release: Release, data: Any) -> Verification:
    """Write a release to a private place that does not last, and check it against the data it was made from."""
    with tempfile.TemporaryDirectory(prefix="hedgerow-") as scratch:
        write_release(release, Path(scratch), "parquet")
        return verify_before_publishing(release, Path(scratch), data)


def write_release(release: Release, folder: Path, ending: str) -> None:
    """Write the files of a release into a folder."""
    try:
        local.write(release.table, folder / f"data.{ending}")
        (folder / "plan.yaml").write_text(release.plan.to_yaml(), encoding="utf-8")
        (folder / "facts.json").write_text(facts_to_json(dict(release.facts)), encoding="utf-8")
    except OSError as error:
        raise cannot_write(folder, error) from None


def _write_link(release: Release, path: Path) -> None:
    """Write the private link from records to released rows."""
    try:
        local.write_link(release.record_of_row, path)
    except OSError as error:
        raise cannot_write(path, error) from None


def verify_before_publishing(release: Release, folder: Path, data: Any) -> Verification:
    """Check what was written against the original; nothing may be published that does not pass."""
    import pyarrow as pa

    rows = np.arange(1, len(release.record_of_row) + 1)
    link = pa.table({"record": release.record_of_row + 1, "row": rows})
    found = verify_release(folder, data, link)
    try:
        found.raise_if_broken()
    except BrokenPromise as error:
        hint = "please report this: it is our fault, and no data is lost"
        raise BrokenPromise(
            Problem(problem.code, f"{problem.message} Nothing was written.", hint=hint) for problem in error.problems
        ) from None
    return found
