"""Checking what facts.json says about the risk of being found, and of being found out, by counting again."""

from __future__ import annotations

import numpy as np

from hedgerow.verification.arrays import sums
from hedgerow.verification.end_points import wrong_end_points
from hedgerow.verification.evidence import Evidence
from hedgerow.verification.result import Promise

SIZES = "group_risk_sizes"
SHARES = "largest_share_of_one_value"
CLOSE = 1e-9


def check_risks(evidence: Evidence) -> Promise:
    """Check how many rows are alike, and how much of a group one sensitive value has at most.

    Where k counts persons, only the number of rows can be counted again: the release does not show who is the same
    person.
    """
    faults = _wrong_sizes(evidence) + _wrong_shares(evidence) + wrong_end_points(evidence)
    return Promise("risks", "as facts.json says", "; ".join(faults) or "the same, counted again", kept=not faults)


def _wrong_sizes(evidence: Evidence) -> list[str]:
    stated = evidence.published.facts.get(SIZES)
    if stated is None:
        return ["facts.json does not count the rows by how many are alike"]
    sizes = evidence.sizes
    if evidence.plan.person is not None:
        right = sum(stated.values()) == evidence.published.rows
    else:
        alike = sizes if evidence.matches is None else evidence.matches.rows(evidence.published.rows + 1)
        values, number = np.unique(alike, return_inverse=True)
        rows = sums(number, sizes, len(values))
        right = stated == {str(size): count for size, count in zip(values.tolist(), rows.tolist(), strict=True)}
    return [] if right else ["facts.json counts other rows by how many are alike"]


def _wrong_shares(evidence: Evidence) -> list[str]:
    stated = evidence.published.facts.get(SHARES)
    by = stated if isinstance(stated, dict) else {}
    faults = []
    for name in evidence.sensitive:
        found = evidence.counted(name).histograms
        there = found.totals > 0
        share = float((found.greatest[there] / found.totals[there]).max(initial=0))
        said = by.get(name)
        if not isinstance(said, int | float) or isinstance(said, bool) or not abs(said - share) < CLOSE:
            faults.append(f"one value of {name} has another share at most than facts.json says")
    return faults
