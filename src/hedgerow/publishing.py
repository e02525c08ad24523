"""From a solution to a release that may be written: facts, rows, files, and the check before anything is published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.engines import local
from hedgerow.engines.folder import cannot_write
from hedgerow.errors import BrokenPromise, Problem
from hedgerow.microdata import Microdata, Table, TreeColumn
from hedgerow.plan import Plan
from hedgerow.release import Release
from hedgerow.reports.facts import facts_to_json, release_facts
from hedgerow.solving import Solution
from hedgerow.verification import Verification, verify_release


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


def write_release(release: Release, folder: Path, ending: str) -> None:
    """Write the files of a release into a folder."""
    try:
        local.write(release.table, folder / f"data.{ending}")
        (folder / "plan.yaml").write_text(release.plan.to_yaml(), encoding="utf-8")
        (folder / "facts.json").write_text(facts_to_json(dict(release.facts)), encoding="utf-8")
    except OSError as error:
        raise cannot_write(folder, error) from None


def write_link(release: Release, path: Path) -> None:
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
