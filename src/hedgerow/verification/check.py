"""The check itself: one promise after the other, over the release as it was written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, Problem
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.population import PeopleRead, read_people
from hedgerow.verification.counting.row_evidence import RowEvidence
from hedgerow.verification.promises.agreement import check_facts, check_plan
from hedgerow.verification.promises.coarser import check_only_coarser
from hedgerow.verification.promises.counts import check_counts
from hedgerow.verification.promises.group_values import check_group_values
from hedgerow.verification.promises.groups import check_disclosures, check_k
from hedgerow.verification.promises.limits import check_levels, check_limits
from hedgerow.verification.promises.models import check_members, check_models
from hedgerow.verification.promises.overlap import check_overlap
from hedgerow.verification.promises.population import check_population
from hedgerow.verification.promises.possible import check_possible
from hedgerow.verification.promises.risks import check_risks
from hedgerow.verification.promises.rules import check_rules
from hedgerow.verification.promises.suppression import check_suppressed
from hedgerow.verification.promises.treatments import check_treated
from hedgerow.verification.promises.truth import check_hierarchy, check_roles, check_truthful, check_unchanged
from hedgerow.verification.promises.units import check_units
from hedgerow.verification.promises.weights import check_weights
from hedgerow.verification.reading.link import read_link
from hedgerow.verification.reading.original import read_original
from hedgerow.verification.reading.published import Unreadable, list_release, read_release
from hedgerow.verification.reading.stated import FACTS, is_proven
from hedgerow.verification.result import Promise, Verification

if TYPE_CHECKING:
    import pyarrow as pa


def verify_release(
    folder: Path | str,
    original: Any = None,
    link: Any = None,
    before: pa.Table | None = None,
    population: Any = None,
) -> Verification:
    """Check a release against its own plan and facts, and against the original where that is given.

    Parameters
    ----------
    folder
        The release: ``data.csv`` or ``data.parquet``, ``plan.yaml`` and ``facts.json``.
    original
        The data it was made from: a path, or anything that hands over an Arrow stream.
    link
        The private link table: a path to a CSV file ``record,row``, a table, or a pair of arrays (record, row).
        Needs the original.
    before
        What records were last published as, in earlier versions of the release: ``record`` (from 1) and a label for
        every quasi-identifier. Needs the link: no record may be published narrower.
    population
        The table of the population, where the plan counts people in one; or where that lies.

    Returns
    -------
    Verification
        Every promise that can be checked with what is given. A data file that is no table (a row with too few cells,
        bytes that are no text) is a broken promise, ``readable``, and the last one then. Where a name of the release
        is a link or no plain file, nothing is opened, and ``files`` is the only promise.

    Raises
    ------
    DataError
        If the folder is not a release, or the original or the link table cannot be read.
    PlanError
        If the plan of the release cannot be understood.
    """
    folder = Path(folder)
    if link is not None and original is None:
        message = "A link table can be used only together with the original."
        raise DataError(Problem("usage", message, hint="give the original too"))
    listing = list_release(folder)
    if listing.unsafe:
        return Verification((listing.promise,), str(folder))
    try:
        published = read_release(folder)
    except Unreadable as error:
        return Verification((listing.promise, Promise("readable", "a table", str(error), kept=False)), str(folder))
    source = None if original is None else read_original(original, published.plan)
    people = None if population is None else read_people(population, published.plan)
    evidence = RowEvidence(published, source, None if link is None else read_link(link), before)
    found = conclude(evidence, str(folder), people)
    return replace(found, promises=(listing.promise, *found.promises))


def conclude(evidence: Evidence, place: str, people: PeopleRead | None = None) -> Verification:
    """Check every promise, and say which facts were found again and which are the maker's word."""
    found = tuple(promises(evidence, people))
    stated = [fact for fact in FACTS if fact.name in evidence.published.facts]
    at_hand = evidence.original is not None, evidence.linked, people is not None
    proven = [is_proven(fact, evidence.plan, *at_hand) for fact in stated]
    return Verification(
        found,
        place,
        tuple(fact.name for fact, known in zip(stated, proven, strict=True) if known),
        tuple(fact.name for fact, known in zip(stated, proven, strict=True) if not known),
    )


def promises(evidence: Evidence, people: PeopleRead | None = None) -> Iterable[Promise]:
    """Check one promise after the other."""
    yield check_plan(evidence.published)
    yield check_facts(evidence.published)
    yield check_roles(evidence.published)
    yield check_hierarchy(evidence)
    yield check_k(evidence)
    yield from check_models(evidence)
    if evidence.plan.weight is not None:
        yield from check_weights(evidence)
    if evidence.plan.population is not None:
        yield from check_population(evidence, people)
    if evidence.plan.unit is not None:
        yield from check_members(evidence)
        yield from check_units(evidence)
    if any(part.treat is not None for part in evidence.plan.attributes.values()):
        yield check_treated(evidence)
    yield check_limits(evidence)
    if evidence.plan.publishes_instead and evidence.linked:
        yield check_group_values(evidence)
    if evidence.plan.method.suppress:
        yield check_suppressed(evidence)
    if evidence.plan.method.overlap == "forbidden":
        yield check_overlap(evidence)
    if evidence.plan.method.name == "lattice" and evidence.linked:
        yield check_levels(evidence)
    if isinstance(evidence, RowEvidence) and evidence.before is not None:
        yield check_only_coarser(evidence, evidence.before)
    if evidence.plan.rules:
        yield check_rules(evidence)
    yield check_counts(evidence)
    yield check_disclosures(evidence)
    yield check_risks(evidence)
    if evidence.original is not None:
        if evidence.has_link:
            yield check_truthful(evidence, evidence.original)
        else:
            yield check_unchanged(evidence, evidence.original)
            yield check_possible(evidence, evidence.original)
