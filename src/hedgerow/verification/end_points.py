"""Exact ends: released records of whom a free interval shows the exact value, as facts.json counts them."""

from __future__ import annotations

from hedgerow.verification.columns import Cell
from hedgerow.verification.evidence import Evidence
from hedgerow.verification.numbers import Span, read_number, read_span

EXACT = "exact_end_points"


def wrong_end_points(evidence: Evidence) -> list[str]:
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
        pairs = [(pair, None if pair.label is None else read_span(pair.label)) for pair in evidence.pairs[name]]
        shown = [(pair.count, [_shows(span, value) for value in pair.values]) for pair, span in pairs]
        return sum(count for count, ends in shown if all(ends)), sum(count for count, ends in shown if any(ends))
    spans = [(None if label is None else read_span(label), count) for label, count, _ in evidence.labels[name]]
    alone = sum(count for span, count in spans if span is not None and span.style == "number")
    return alone, sum(count for span, count in spans if span is not None)


def _shows(span: Span | None, value: Cell) -> bool:
    number = None if value is None else read_number(value)
    return span is not None and number is not None and number in (span.low, span.high)
