"""Ranges of free intervals that overlap in part: intersect, and neither holds the other."""

from __future__ import annotations

import bisect
from collections.abc import Iterable

from hedgerow.verification.counting.evidence import Evidence
from hedgerow.verification.counting.spots import first_in_row
from hedgerow.verification.result import Promise
from hedgerow.verification.values.numbers import Exact, Span, read_span

End = tuple[Exact, bool]
"""The upper end of a range, and whether it belongs to it."""


def check_overlap(evidence: Evidence) -> Promise:
    """Check that no two ranges of a column of free intervals overlap in part."""
    asked = "ranges of a column apart, or one within the other"
    columns = [name for name in evidence.cells if evidence.plan.attributes[name].free]
    faults = []
    for name in columns:
        found = {read_span(label): row for label, _, row in evidence.labels[name] if label is not None}
        crossing = partial_overlaps(span for span in found if span is not None)
        if crossing:
            row = first_in_row(min(found[span] for span in crossing))
            faults.append(f"{name}: {len(crossing)} ranges overlap others in part{row}")
    return Promise("overlap", asked, "; ".join(faults) or f"so in {len(columns)} columns", kept=not faults)


def partial_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Return the ranges that overlap in part with one that begins below them.

    Examples
    --------
    >>> [str(span) for span in partial_overlaps(map(read_span, ["10-19", "15", "19-25", "20-30", "12-18"]))]
    ['19-25', '20-30']
    """
    crossing = []
    ends: list[End] = []  # of those that begin no later; of ranges with one beginning the longest comes first
    for span in sorted(sorted(spans, key=_end, reverse=True), key=lambda span: span.low):
        ends_within = bisect.bisect_left(ends, _end(span)) - bisect.bisect_left(ends, (span.low, True))
        if ends_within > 0:
            crossing.append(span)
        bisect.insort(ends, _end(span))
    return crossing


def _end(span: Span) -> End:
    return span.high, span.style != "half-open"
