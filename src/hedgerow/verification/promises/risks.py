"""Checking what facts.json says about the risk of being found, and of being found out, by counting again."""

from __future__ import annotations

import numpy as np

from hedgerow.verification.counting.arrays import sums
from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.result import Promise
from hedgerow.verification.values.numbers import read_span

SIZES = "group_risk_sizes"
SHARES = "largest_share_of_one_value"
EXACT = "exact_end_points"
CLOSE = 1e-9


def check_risks(evidence: Evidence) -> Promise:
    """Check how many rows are alike, and how much of a group one sensitive value has at most.

    Where k counts persons, only the number of rows can be counted again: the release does not show who is the same
    person.
    """
    faults = _wrong_sizes(evidence) + _wrong_shares(evidence) + _wrong_end_points(evidence)
    return Promise("risks", "as facts.json says", "; ".join(faults) or "the same, counted again", kept=not faults)


def _wrong_sizes(evidence: Evidence) -> list[str]:
    stated = evidence.published.facts.get(SIZES)
    if stated is None:
        return ["facts.json does not count the rows by how many are alike"]
    if evidence.units is not None:
        found, records = np.unique(evidence.units.alike[evidence.units.unit_of], return_counts=True)
        right = stated == {str(size): count for size, count in zip(found.tolist(), records.tolist(), strict=True)}
    elif evidence.plan.person is not None:
        right = sum(stated.values()) == evidence.published.rows
    else:
        values, counts = evidence.size_counts
        rows = values * counts
        if evidence.matches is not None:
            values, number = np.unique(evidence.matches.rows(evidence.published.rows + 1), return_inverse=True)
            rows = sums(number, evidence.sizes, len(values))
        right = stated == {str(size): count for size, count in zip(values.tolist(), rows.tolist(), strict=True)}
    return [] if right else ["facts.json counts other rows by how many are alike"]


def _wrong_shares(evidence: Evidence) -> list[str]:
    stated = evidence.published.facts.get(SHARES)
    by = stated if isinstance(stated, dict) else {}
    faults = []
    for name in evidence.sensitive:
        share = evidence.largest_share(name)
        said = by.get(name)
        if not isinstance(said, int | float) or isinstance(said, bool) or not abs(said - share) < CLOSE:
            faults.append(f"one value of {name} has another share at most than facts.json says")
    return faults


def _wrong_end_points(evidence: Evidence) -> list[str]:
    """Say of which columns facts.json counts other exact ends than there are, or can be."""
    stated = evidence.published.facts.get(EXACT, {})
    faults = []
    for name in evidence.cells:
        if name not in stated:
            continue
        least, most = _exact_ends(evidence, name)
        if not least <= stated[name] <= most:
            there = str(least) if least == most else f"{least} to {most}"
            faults.append(f"{name}: {there} published ends are exact, facts.json says otherwise")
    return faults


def _exact_ends(evidence: Evidence, name: str) -> tuple[int, int]:
    """Return how many records of a column have a published end as their value, at least and at most.

    With the original and the link they are counted. Otherwise a record published as a single number is one, and any
    other in a range may be. None is where ends are moved to a grid.
    """
    if evidence.plan.attributes[name].snap is not None:
        return 0, 0
    if evidence.linked:
        judged = evidence.judged_pairs(name)
        return judged.exact, judged.maybe_exact
    spans = [(None if label is None else read_span(label), count) for label, count, _ in evidence.labels[name]]
    alone = sum(count for span, count in spans if span is not None and span.style == "number")
    return alone, sum(count for span, count in spans if span is not None)
