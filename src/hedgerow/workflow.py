"""The verbs: anonymize, explain, verify. Command line and studio are faces over these."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hedgerow.clustering import ConstrainedKMember, DiverseClustering, find_cells
from hedgerow.engines import local
from hedgerow.engines.folder import cannot_write, check_free, new_folder
from hedgerow.errors import BrokenPromise, DataError, NoSolution, Problem
from hedgerow.explanation import Explanation, conditions, explain_limits
from hedgerow.microdata import Microdata, Table, TreeColumn
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.release import Release
from hedgerow.reports.facts import facts_to_json, release_facts
from hedgerow.verification import Verification, verify_release

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is (0: unknown)."""


def anonymize(
    data: Any,
    plan: Plan | str | Path,
    output: str | Path | None = None,
    *,
    seed: int | None = None,
    threads: int | None = None,
    format: Literal["csv", "parquet"] | None = None,
    link: str | Path | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Release:
    """Make a verified release of a table.

    Parameters
    ----------
    data
        A path (CSV, Parquet, Arrow) or a pandas, polars or pyarrow table.
    plan
        A plan, or the path of one.
    output
        Folder to write ``data.csv`` (or ``.parquet``), ``plan.yaml`` and ``facts.json`` to. It appears whole and
        verified, or not at all. Without it the release is only returned.
    seed
        Overrides the plan's seed.
    threads
        Threads to cluster with; all processors by default. The result does not depend on it.
    format
        ``csv`` or ``parquet``; by default what the data was.
    link
        Private file to write the link from records to released rows to, outside the output folder.
    replace
        Whether an existing output folder may be replaced.
    progress
        Called now and then during long work.

    Raises
    ------
    NoSolution
        If nothing can be released within the plan.
    BrokenPromise
        If the independent check finds the release wanting; nothing is written then.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"name": list("abcd"), "sex": list("FFMM"), "illness": ["flu", "cold", "flu", "cold"]})
    >>> plan = Plan.from_dict(
    ...     {
    ...         "attributes": {"name": "identifier", "sex": "quasi-identifier", "illness": "sensitive"},
    ...         "privacy": {"k": 2},
    ...     }
    ... )
    >>> anonymize(people, plan)
    Release(4 of 4 records in 2 groups of 2–2, NTIL 0.0000)
    """
    tell = progress or (lambda stage, done, total: None)
    plan = _plan(plan, seed)
    _check_targets(output, link, replace)
    tell("reading", 0, 0)
    table = local.read(data, plan)
    tell("encoding", 0, 0)
    microdata = local.collapse(table, plan)
    recoding, cells = _cluster(microdata, plan, threads, lambda done, total: tell("clustering", done, total))
    tell("measuring", 0, 0)
    facts = release_facts(plan, table, microdata, cells, recoding)
    rows, record_of_row = local.apply(table, plan, microdata, recoding)
    ending = format or ("parquet" if table.format.format == "parquet" or _is_parquet(data) else "csv")
    release = Release(rows, _self_contained(plan, table, microdata), facts, record_of_row, _kind(data))
    with tempfile.TemporaryDirectory(prefix="hedgerow-") as scratch:
        target = Path(scratch) / "release" if output is None else Path(output)
        with new_folder(target, replace) as folder:
            tell("writing", 0, 0)
            _write(release, folder, ending)
            tell("verifying", 0, 0)
            _verify_before_publishing(release, folder, data)
        if link is not None:
            local.write_link(record_of_row, Path(link))
    return release


def explain(data: Any, plan: Plan | str | Path) -> Explanation:
    """Say, before any run, what the limits cost: cells, records that must be withheld, causes, what to lift.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"city": ["Wichita", "Wichita", "Lincoln"]})
    >>> tree = {"US": {"Kansas": ["Wichita"], "Nebraska": ["Lincoln"]}}
    >>> plan = Plan.from_dict(
    ...     {
    ...         "attributes": {
    ...             "city": {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "limits": ["Kansas", "Nebraska"]}
    ...         },
    ...         "privacy": {"k": 2},
    ...     }
    ... )
    >>> explain(people, plan)
    Explanation(3 records in 2 cells; k = 2 withholds 1 records of 1 cells)
    """
    plan = _plan(plan, None)
    return explain_limits(local.collapse(local.read(data, plan), plan), plan)


def verify(release: Release | str | Path, original: Any = None, link: Any = None) -> Verification:
    """Check a release independently of what made it.

    Parameters
    ----------
    release
        A release folder, or a release in memory.
    original
        The table it was made from: lets counts and unchanged columns be checked.
    link
        The private link table: lets, with the original, every cell be checked.
    """
    if not isinstance(release, Release):
        return verify_release(Path(release), original, link)
    with tempfile.TemporaryDirectory(prefix="hedgerow-") as scratch:
        _write(release, Path(scratch), "parquet")
        return verify_release(Path(scratch), original, link)


def save(
    release: Release, output: str | Path, format: Literal["csv", "parquet"] = "csv", replace: bool = False
) -> None:
    """Write a release that was made in memory to a folder, checked once more."""
    with new_folder(Path(output), replace) as folder:
        _write(release, folder, format)
        verify_release(folder).raise_if_broken()


# -- steps -----------------------------------------------------------------------------------------------------------


def _plan(plan: Plan | str | Path, seed: int | None) -> Plan:
    plan = plan if isinstance(plan, Plan) else Plan.load(plan)
    return plan if seed is None else plan.replace(seed=seed)


def _check_targets(output: str | Path | None, link: str | Path | None, replace: bool) -> None:
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


def _cluster(
    microdata: Microdata, plan: Plan, threads: int | None, progress: Callable[[int, int], None]
) -> tuple[Any, Any]:
    """Find cells, refuse what cannot be done, and cluster."""
    requirement = Requirement.of_plan(plan, microdata)
    k = requirement.k
    if microdata.people() < k:
        what = "records" if microdata.person_of is None else "persons"
        message = f"k is {k}, but the table has only {microdata.people():,} {what} that can be released."
        raise NoSolution(Problem("too-few-records", message, hint="lower k, or add records"))
    for condition in conditions(microdata, requirement):
        if condition.p > condition.max_p:
            message = (
                f"p is {condition.p}, but {_listed(condition.columns)} has only {condition.max_p} different values."
            )
            raise NoSolution(Problem("too-few-values", message, hint=f"ask for p = {condition.max_p} or less"))
    cells = find_cells(microdata, requirement, ignore_limits=not plan.keeps_limits)
    withheld = cells.withheld
    allowed = None if plan.withhold is None else plan.withhold.records(microdata.records)
    if withheld == len(microdata.record_of):
        raise NoSolution(
            _blocking(microdata, plan, "all-withheld", f"The limits would withhold every record (k = {k}).")
        )
    if allowed is not None and withheld + len(microdata.unknown) > allowed:
        message = (
            f"{withheld + len(microdata.unknown):,} of {microdata.records:,} records must be withheld, "
            f"but the plan allows {allowed:,}."
        )
        raise NoSolution(_blocking(microdata, plan, "withhold-budget", message))
    workers = threads or os.cpu_count() or 1
    if requirement.models:
        algorithm: Any = DiverseClustering(requirement, plan.seed, workers, plan.method.join)
    else:
        algorithm = ConstrainedKMember(k, plan.seed, workers)
    recoding = algorithm(microdata, progress, cells)
    return recoding.in_published_order(microdata), cells


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)


def _blocking(microdata: Microdata, plan: Plan, code: str, message: str) -> Problem:
    """Name the attribute, limit and change that matter most."""
    found = explain_limits(microdata, plan)
    for cause in found.causes[:3]:
        message += f" The limit of {cause.attribute!r} ({cause.limit}) alone withholds {cause.alone:,}."
    hints = [f"{lift.attribute}: {lift.change} saves {lift.saves:,}" for lift in found.lifts[:3]]
    return Problem(code, message, hint="; ".join(hints) or "lower k, or lift several limits together")


def _self_contained(plan: Plan, table: Table, microdata: Microdata) -> Plan:
    """Return the plan with everything filled in that was found out from the data."""
    attributes = dict(plan.attributes)
    for column in microdata.columns:
        if isinstance(column, TreeColumn):
            attributes[column.name] = attributes[column.name].model_copy(update={"hierarchy": column.spec})
    return plan.model_copy(update={"attributes": attributes, "data": table.format})


def _write(release: Release, folder: Path, ending: str) -> None:
    try:
        local.write(release.table, folder / f"data.{ending}")
        (folder / "plan.yaml").write_text(release.plan.to_yaml(), encoding="utf-8")
        (folder / "facts.json").write_text(facts_to_json(dict(release.facts)), encoding="utf-8")
    except OSError as error:
        raise cannot_write(folder, error) from None


def _verify_before_publishing(release: Release, folder: Path, data: Any) -> None:
    """Check what was written against the original; nothing may be published that does not pass."""
    import pyarrow as pa

    rows = np.arange(1, len(release.record_of_row) + 1)
    link = pa.table({"record": release.record_of_row + 1, "row": rows})
    try:
        verify_release(folder, data, link).raise_if_broken()
    except BrokenPromise as error:
        hint = "please report this: it is our fault, and no data is lost"
        raise BrokenPromise(
            Problem(problem.code, f"{problem.message} Nothing was written.", hint=hint) for problem in error.problems
        ) from None


def _kind(data: Any) -> str:
    module = type(data).__module__.split(".")[0]
    return module if module in ("pandas", "polars") else "pyarrow"


def _is_parquet(data: Any) -> bool:
    return isinstance(data, str | Path) and Path(data).suffix.lower() in (".parquet", ".pq")
