"""Applying an earlier release to a new table: the levels that it chose, or the groups that it formed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hedgerow.anonymization.frozen import FrozenGroups, settle_into
from hedgerow.anonymization.withholding import Settled, settle
from hedgerow.engines.base import Engine
from hedgerow.errors import DataError, Problem
from hedgerow.measures import ntil
from hedgerow.microdata import Table
from hedgerow.outside.intake import MOST_JSON_BYTES, read_bytes
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS
from hedgerow.release.making import make_release
from hedgerow.release.release import Release
from hedgerow.types import Progress
from hedgerow.verification import verify_release
from hedgerow.verification.reading.published import read_release

APPLIED = "applied"


@dataclass(frozen=True, eq=False)
class Earlier:
    """A release that is to be applied.

    Attributes
    ----------
    plan
        Its plan, for new tables: where that does not know a value, the record is withheld.
    groups
        What its groups publish; None if it publishes every column at one level.
    facts
        What says in a new release where its groups come from: the fingerprint of the facts of the earlier one, and the
        number of its groups.
    """

    plan: Plan
    groups: FrozenGroups | None
    facts: dict[str, Any]


def read_earlier(folder: Path, withhold: str | int | None = None) -> Earlier:
    """Read the release that is to be applied; it is checked first.

    Parameters
    ----------
    withhold
        How many records of a new table may be withheld; by default what the plan of the release says, else any number.

    Raises
    ------
    BrokenPromise
        If it does not keep its promises.
    DataError
        If it is no release, or of a kind that cannot be applied.
    """
    verify_release(folder).raise_if_broken()
    published = read_release(folder)
    plan, facts = published.plan, published.facts
    if plan.method.suppress or plan.missing == "matches-any":
        what = "hides single cells" if plan.method.suppress else "lets missing values match any other"
        message = f"The release {what}, so its groups cannot be told from its rows."
        raise DataError(Problem("not-applicable", message, str(folder), "apply a release made without that"))
    if plan.publishes_instead:
        message = "The release publishes sets, means or medians of its groups, which new records would have to come to."
        raise DataError(Problem("not-applicable", message, str(folder), "make a release of the new table instead"))
    if plan.privacy.of_population:
        message = "The release makes promises about a population, whose groups it would have to fit anew."
        raise DataError(Problem("not-applicable", message, str(folder), "make a release of the new table instead"))
    if plan.means_of_weights is not None:
        message = "The release shows means of sampling weights by group, which a new table has other ones of."
        raise DataError(Problem("not-applicable", message, str(folder), "make a release of the new table instead"))
    allowed = str(withhold) if withhold is not None else None if plan.withhold is None else plan.withhold.at_most
    fingerprint = hashlib.sha256(read_bytes(folder / "facts.json", MOST_JSON_BYTES, "The file of facts")).hexdigest()
    said = {"facts": f"sha256:{fingerprint}", "groups": int(facts["groups"])}
    if plan.unit is not None:
        message = "The release links units, whose groups are of whole units: a new table has other ones."
        raise DataError(Problem("not-applicable", message, str(folder), "make a release of the new table instead"))
    if METHODS[plan.method.name].needs_levels:
        return Earlier(_for_new_tables(plan, allowed or "100%").with_levels(facts["levels"]), None, said)
    names = plan.quasi_identifiers
    columns = [published.columns[name].to_pylist() for name in names]
    labels = dict.fromkeys(tuple(cell or None for cell in row) for row in zip(*columns, strict=True))
    return Earlier(_for_new_tables(plan, allowed), FrozenGroups(names, tuple(labels)), said)


def _for_new_tables(plan: Plan, withhold: str | None) -> Plan:
    """Return a plan under which a new table of the same shape is recoded."""
    asked = plan.to_dict()
    for name in plan.quasi_identifiers:
        attribute = asked["attributes"][name]
        if plan.attributes[name].unknown == "error" and (plan.attributes[name].free or "hierarchy" in attribute):
            attribute["unknown"] = "withhold"
    for attribute in asked["attributes"].values():  # points stay where they are, whoever lies beyond them now
        treat = attribute.get("treat", {})
        treat |= {end: {"at": treat[end]["at"]} for end in ("top", "bottom") if end in treat}
    method = {key: value for key, value in asked.get("method", {}).items() if key != "certify"}
    data = {key: value for key, value in asked.get("data", {}).items() if key != "format"}
    changes = {"method": method, "data": data, "withhold": withhold}
    dropped = {"republish", "drift", "population", "weight"}
    kept = {key: value for key, value in asked.items() if key not in dropped}
    return Plan.from_dict({key: value for key, value in (kept | changes).items() if value})


def apply_to(earlier: Earlier, source: Engine, threads: int | None, tell: Progress, afresh: bool) -> Release:
    """Make a release of a new table with the groups, or the levels, of an earlier one; it is not verified yet."""
    table = source.read(earlier.plan)
    tell("placing", 0, 0)
    settled = _settled(earlier, table, threads)
    solution = settled.solution
    settled = replace(settled, solution=replace(solution, details={**solution.details, APPLIED: earlier.facts}))
    tell("measuring", 0, 0)
    release = make_release(table, settled, source)
    if not afresh:
        return release
    tell("comparing", 0, 0)
    return replace(release, private={**release.private, "afresh": _afresh(earlier.plan, table, threads)})


def _settled(earlier: Earlier, table: Table, threads: int | None) -> Settled:
    if earlier.groups is None:
        return settle(table, earlier.plan, threads)
    return settle_into(table, earlier.plan, earlier.groups)


def _afresh(plan: Plan, table: Table, threads: int | None) -> dict[str, Any]:
    """Say what a release of the same table by the same plan would come to, if its groups were formed anew."""
    asked = plan.to_dict()
    method = {key: value for key, value in asked.get("method", {}).items() if key != "levels"}
    found = settle(table, plan.replace(method=method).settled(), threads)
    microdata, recoding = found.microdata, found.solution.recoding
    return {"ntil": round(float(ntil(microdata, recoding)), 12), "withheld": microdata.records - recoding.released}
