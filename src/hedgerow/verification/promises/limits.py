"""Limits: how coarse a value may be published; and the levels of the lattice."""

from __future__ import annotations

from collections.abc import Mapping

from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.spots import Spot, spot, where
from hedgerow.verification.result import Promise
from hedgerow.verification.values.columns import TreeJudge


def check_limits(evidence: Evidence) -> Promise:
    """Count the cells that break a limit: exactly with the original and the link, else those that do for certain."""
    stated, keeps = evidence.published.fact("limits_broken"), evidence.plan.keeps_limits
    asked: int | str = 0 if keeps else "reported"
    broken, possible = _broken_limits(evidence)
    total = sum(count for count, _ in broken.values())
    open_cells = sum(possible.values())
    agrees = stated is not None and total <= stated <= total + open_cells
    found: int | str = total
    if total and keeps:
        found = f"{total}: {where(broken)}"
    if open_cells:
        found = f"{found} for certain; {open_cells} more cells can be judged only with the original and the link table"
    if not agrees:
        found = f"{found}; but facts.json says {'nothing' if stated is None else stated}"
    wrong = _wrong_by_column(evidence, broken, possible) if agrees else ""
    if wrong:
        found = f"{found}; but {wrong}"
    return Promise("limits", asked, found, agrees and not wrong and (not keeps or (total == 0 and stated == 0)))


def _wrong_by_column(evidence: Evidence, broken: Mapping[str, Spot], possible: Mapping[str, int]) -> str:
    """Say what is wrong with the cells beyond a limit that facts.json counts by column."""
    by = evidence.published.facts.get("limits_broken_by_attribute", {})
    wrong = [
        name
        for name, count in by.items()
        if name in broken and not broken[name][0] <= count <= broken[name][0] + possible[name]
    ]
    if wrong:
        return f"facts.json counts others of {', '.join(wrong)}"
    if by and sum(by.values()) != evidence.published.fact("limits_broken"):
        return "what facts.json counts by column does not add up"
    return ""


def _broken_limits(evidence: Evidence) -> tuple[dict[str, Spot], dict[str, int]]:
    """Return, by column, the cells that break a limit for certain, and how many more may."""
    if evidence.linked:
        broken = {name: evidence.judged_pairs(name).broken for name in evidence.cells}
        return broken, dict.fromkeys(broken, 0)
    risks = {
        name: [(evidence.judges[name].risk(label), count, row) for label, count, row in labels]
        for name, labels in evidence.labels.items()
    }
    sure = {name: spot((count, row) for risk, count, row in cells if risk == "sure") for name, cells in risks.items()}
    return sure, {name: sum(count for risk, count, _ in cells if risk == "some") for name, cells in risks.items()}


def check_levels(evidence: Evidence) -> Promise:
    """Check that every record is published where the level of its column takes it.

    That is the ancestor so many steps up, the root at most, and where every value stops at its own limit, that at
    most. A missing value is a leaf directly under the root.
    """
    asked = "one level per column"
    stated = evidence.published.facts.get("levels")
    levels = dict(stated) if isinstance(stated, dict) else {}
    sound = [name for name in evidence.pairs if type(levels.get(name)) is int and levels[name] >= 0]
    faults = [f"facts.json has no level of {name}" for name in evidence.pairs if name not in sound]
    if any(name not in evidence.plan.quasi_identifiers for name in levels):
        faults.append("facts.json has levels of other columns")
    within_limits = evidence.plan.method.limits == "keep"
    spots = {}
    for name in sound:
        judge = evidence.judges[name]
        assert isinstance(judge, TreeJudge)  # a plan with free intervals has no lattice
        spots[name] = spot(
            (pair.count, pair.row)
            for pair in evidence.pairs[name]
            if any(pair.label not in judge.at_level(value, levels[name], within_limits) for value in pair.values)
        )
    found = "; ".join([*faults, *([where(spots)] if where(spots) else [])])
    agrees = ", ".join(f"{name} {levels[name]}" for name in sound)
    return Promise("levels", asked, found or agrees, kept=not found)
