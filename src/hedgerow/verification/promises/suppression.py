"""Single cells that were made missing: where that is allowed, and whether facts.json counts them."""

from __future__ import annotations

from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.result import Promise
from hedgerow.verification.values.columns import may_suppress

SUPPRESSED = "suppressed_cells"


def check_suppressed(evidence: Evidence) -> Promise:
    """Check how many cells of each column were made missing, and that none was where that is not allowed."""
    plan = evidence.plan
    asked = "as facts.json says, only in columns without a limit"
    stated = evidence.published.facts.get(SUPPRESSED)
    counts = stated if isinstance(stated, dict) else {}
    faults = [] if isinstance(stated, dict) else [f"facts.json has no {SUPPRESSED!r}"]
    if any(name not in plan.quasi_identifiers for name in counts):
        faults.append("facts.json counts other columns")
    lacking = [name for name in counts if name in plan.quasi_identifiers and name not in evidence.cells]
    if lacking:
        faults.append("missing columns: " + ", ".join(lacking))
    for name in evidence.cells:
        least, most = _made_missing(evidence, name)
        there = str(least) if least == most else f"{least} to {most}"
        claim = counts.get(name, 0)
        if type(claim) is not int or not least <= claim <= most:
            faults.append(f"{name}: {there} cells were made missing, facts.json says otherwise")
        if not may_suppress(plan, name) and (least or claim):
            faults.append(f"{name}: none may be made missing")
    shown = ", ".join(f"{count} of {name}" for name, count in counts.items() if count)
    return Promise("suppressed", asked, "; ".join(faults) or shown or "none", kept=not faults)


def _made_missing(evidence: Evidence, name: str) -> tuple[int, int]:
    """Return how many cells of a column were made missing, at least and at most.

    With the original and the link they are counted. Otherwise a missing cell may have been missing before: all that are
    missing now may be meant and, with the original, no fewer than those by which they are more than before.
    """
    if evidence.linked:
        pairs = evidence.pairs[name]
        exact = sum(
            pair.count for pair in pairs if pair.label is None and any(value is not None for value in pair.values)
        )
        return exact, exact
    now = sum(count for label, count, _ in evidence.labels[name] if label is None)
    if evidence.original is None:
        return 0, now
    before = evidence.original.missing(name)
    return max(0, now - before), min(now, evidence.original.records - before)
