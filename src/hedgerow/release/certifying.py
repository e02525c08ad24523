"""How far from the best possible a release is at most: as a fact of one that is made, or asked of one that was."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.anonymization.withholding import Settled
from hedgerow.engines.place import read_place
from hedgerow.errors import HedgerowError, Problem
from hedgerow.outside.server import is_server
from hedgerow.plan import Plan
from hedgerow.plan.concepts import objectives
from hedgerow.release.facts import facts_to_json
from hedgerow.release.release import Release
from hedgerow.types import Progress
from hedgerow.verification import open_release

if TYPE_CHECKING:
    from hedgerow.anonymization.bounding import Certificate
    from hedgerow.anonymization.lattice import Patience


def certified(settled: Settled, threads: int | None, tell: Progress) -> Settled:
    """Add to the facts how far from the best possible the release is at most, if the plan asks for it."""
    solution = settled.solution
    if settled.plan.method.certify is None:
        return settled
    found = certificate_of(settled, threads, tell).facts()
    return replace(settled, solution=replace(solution, details={**solution.details, "optimality": found}))


def certificate_of(
    settled: Settled, threads: int | None, tell: Progress, patience: Patience | None = None
) -> Certificate:
    """Look for a bound on what any release of these records loses, with the effort that the plan names."""
    from hedgerow.anonymization.bounding import certify  # which few need

    return certify(
        settled.microdata,
        settled.plan,
        settled.solution.recoding,
        settled.plan.method.seconds_to_certify,
        threads,
        lambda done, total: tell("certifying", done, total),
        patience,
    )


def certificate_of_release(found: Certificate, settled: Settled, release: Release | str | Path) -> Certificate:
    """Hold what a release loses, as its facts have it, against a bound; it must release the same records.

    Raises
    ------
    HedgerowError
        If it was made under another plan, or nobody can tell whether it releases the same records.
    """
    plan, facts = _read(release)
    if _asked(plan) != _asked(settled.plan):
        message = "The release was made under another plan, so the bound is not one for it."
        raise HedgerowError(Problem("usage", message, hint="give the plan of the release: plan.yaml in its folder"))
    name = objectives()[found.objective].name
    lost, withheld = facts.get(name), facts.get("withheld")
    least = settled.solution.withheld_is_least or not withheld
    if found.objective == "research-value" or isinstance(lost, bool) or not isinstance(lost, int | float):
        message = f"The facts of the release do not say what it loses by {found.objective}."
        raise HedgerowError(Problem("usage", message, hint="use objective loss, ncp or granularity"))
    if withheld != found.records - found.released or not least:
        message = "The release withholds other records than one by this plan, so the bound is not one for it."
        raise HedgerowError(Problem("usage", message, hint="leave the release out: one is made for comparison"))
    return found.of_loss(Fraction(str(lost)))


def _read(release: Release | str | Path) -> tuple[Plan, Any]:
    if isinstance(release, Release):
        return release.plan, json.loads(facts_to_json(dict(release.facts)))
    if is_server(release):
        from hedgerow.release.tables import read_table  # which few need

        return read_table(read_place(str(release)))
    return open_release(Path(release))[:2]


def _asked(plan: Plan) -> dict[str, Any]:
    """Return what a plan asks of a release, however it is made."""
    said = plan.to_dict()
    return {name: part for name, part in said.items() if name not in ("method", "seed", "data")} | {
        "limits": plan.keeps_limits
    }
