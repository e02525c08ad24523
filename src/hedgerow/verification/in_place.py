"""The check of a release where it lies, in counted form: rows are counted, not fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError, Problem
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS
from hedgerow.verification.check import conclude
from hedgerow.verification.counting.counted_evidence import CountedEvidence
from hedgerow.verification.counting.laying import lay_out_original, lay_out_released
from hedgerow.verification.counting.placed_evidence import PlacedEvidence, read_placed, read_placed_original
from hedgerow.verification.counting.population import read_people
from hedgerow.verification.counting.sources import count_original, count_released, open_original, open_released
from hedgerow.verification.counting.statements import count_rows
from hedgerow.verification.counting.tallies import Tallies
from hedgerow.verification.promises.models import demands_of
from hedgerow.verification.reading.places import Host, InDatabase, InFile, LinkClaim, PlacedClaim, Where
from hedgerow.verification.reading.published import Unreadable, list_release, open_release
from hedgerow.verification.result import Promise, Verification

LARGE = 1_000_000
"""Rows of a release above which it is judged by tasks where it lies, if there are tasks."""


def verify_in_place(
    plan: Plan,
    facts: Mapping[str, Any],
    released: Where,
    original: Where | None = None,
    link: LinkClaim | PlacedClaim | None = None,
    population: Any = None,
) -> Verification:
    """Check a release where it lies against its plan and facts, and against the original where that is given.

    Every promise means the same as for :func:`~hedgerow.verification.verify_release`, but rows have no numbers here:
    what was found counts cells.

    Parameters
    ----------
    plan, facts
        What was asked, and what is said of the release.
    released
        The table of the release.
    original
        The table that it was made from.
    link
        What became of the records. Needs the original.
    population
        The table of the population, where the plan counts people in one; or where that lies.

    Returns
    -------
    Verification
        Every promise that can be checked with what is given. A data file that is no table is a broken promise,
        ``readable``, and the only one then.

    Raises
    ------
    DataError
        If the original cannot be read, or the link has not the tables and columns that it should have.
    """
    place = released.relation if isinstance(released, InDatabase) else str(released.path)
    if link is not None and original is None:
        message = "A link can be used only together with the original."
        raise DataError(Problem("usage", message, hint="give the original too"))
    if isinstance(link, PlacedClaim) and link.host is not None:
        return _beside_the_claim(plan, facts, released, original, link, link.host)
    if isinstance(released, InDatabase) and (isinstance(link, PlacedClaim) or _is_large(plan, released, original)):
        return _in_sums(plan, facts, released, original, link if isinstance(link, PlacedClaim) else None)
    assert not isinstance(link, PlacedClaim)
    try:
        table = open_released(released, plan)
        published = count_released(table, plan, facts)
    except DataError as error:
        if isinstance(released, InDatabase):  # the database is at fault, not the release
            raise
        return Verification((Promise("readable", "a table", error.problems[0].message, kept=False),), place)
    source = None if original is None else open_original(original, plan.data)
    records = None if source is None else count_original(source, plan, link is not None)
    tallies = Tallies.open()
    try:
        evidence = CountedEvidence(published, records, tallies, table, source, link)
        people = None if population is None else read_people(population, plan)
        return conclude(evidence, place, people)
    finally:
        tallies.close()


def _beside_the_claim(
    plan: Plan, facts: Mapping[str, Any], released: Where, original: Where | None, claim: PlacedClaim, host: Host
) -> Verification:
    """Check a release in files: what is read of it and of the original is put beside the claim, not into memory."""
    assert isinstance(released, InFile)
    assert isinstance(original, InFile)
    try:
        rows = lay_out_released(host, released, plan)
    except Unreadable as error:
        return Verification((Promise("readable", "a table", str(error), kept=False),), str(released.path))
    found = _in_sums(plan, facts, rows, lay_out_original(host, original, plan), claim)
    return replace(found, place=str(released.path))


def _is_large(plan: Plan, released: InDatabase, original: Where | None) -> bool:
    """Tell whether a release is better judged where it lies: there are tasks for it, and very many rows."""
    beside = original is None or (isinstance(original, InDatabase) and original.lender is released.lender)
    usual = plan.data.decimal == "." and plan.data.thousands is None and plan.weight is None and plan.population is None
    usual = usual and plan.unit is None and not plan.publishes_instead
    apart = plan.missing == "matches-any" or plan.method.suppress or METHODS[plan.method.name].needs_levels
    apart = apart or not usual or any(part.treat is not None for part in plan.attributes.values())
    if apart or not beside or not hasattr(released.lender, "in_tasks"):
        return False
    return int(released.lender.ask(count_rows(released, [])).column(0)[0].as_py()) > LARGE


def _in_sums(
    plan: Plan, facts: Mapping[str, Any], released: InDatabase, original: Where | None, claim: PlacedClaim | None
) -> Verification:
    """Check a release of which only sums come here."""
    source = original if isinstance(original, InDatabase) else None
    records = None if source is None else read_placed_original(source, plan)
    evidence = PlacedEvidence(
        read_placed(released, plan, facts), records, released, source, claim, tuple(demands_of(plan))
    )
    return conclude(evidence, released.relation)


def verify_release_in_place(
    folder: Path | str,
    original: Where | None = None,
    link: LinkClaim | PlacedClaim | None = None,
    population: Any = None,
    rows: InDatabase | None = None,
) -> Verification:
    """Check a release folder in counted form: its data is a file, or a folder of Parquet files, of any size.

    ``rows``: the data of the folder as a table, where others than this process read it.
    """
    listing = list_release(Path(folder))
    if listing.unsafe:
        return Verification((listing.promise,), str(folder))
    plan, facts, data = open_release(Path(folder))
    found = verify_in_place(plan, facts, rows or InFile(data), original, link, population)
    return replace(found, promises=(listing.promise, *found.promises), place=str(folder))
