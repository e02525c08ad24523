"""What a column is taken to be and what happens to it, in words: the same on the page and in records for machines."""

from __future__ import annotations

from hedgerow.plan import Attribute
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.plan.hierarchy.numbers import number_label
from hedgerow.reports.wording import shorten

MOST_TEXT = 160
WHY = {
    "identifier": "names a person, or could: never read and never released",
    "quasi-identifier": "others may know it of a person: coarsened until groups are large enough",
    "sensitive": "others do not know it and would learn it: released as it is, its variety within groups is checked",
    "other": "taken to be harmless and unknown to others: released as it is, and not looked at",
}


def coarsened(attribute: Attribute) -> str:
    """Say what happens to the values of a column."""
    if attribute.role == "identifier":
        return "not released"
    treat = treated_words(attribute)
    if attribute.role != "quasi-identifier":
        return treat or "released as it is"
    return "; ".join(filter(None, (treat, _coarsened(attribute))))


def treated_words(attribute: Attribute) -> str:
    """Say what becomes of every value of a column first; empty: it stays as it is.

    Examples
    --------
    >>> treated_words(Attribute(role="other", treat={"top": 90, "round": 5}))
    'rounded to 5; from 90 up one value'
    """
    treat = attribute.treat
    if treat is None:
        return ""
    said = [] if treat.round is None else [f"rounded to {number_label(treat.round)}"]
    said += [] if treat.dates is None else [f"days as their {treat.dates}"]
    for point, way in ((treat.top, "up"), (treat.bottom, "down")):
        if point is not None and point.at is not None:
            said.append(f"from {number_label(point.at)} {way} one value")
    return "; ".join(said)


def _coarsened(attribute: Attribute) -> str:
    if attribute.free:
        grid = f", ends moved to a grid of {shorten(str(attribute.snap), MOST_TEXT)}" if attribute.snap else ""
        return "ranges of numbers" + grid
    if attribute.hierarchy is None:
        return "its value, or *"
    spec = attribute.hierarchy
    kind = HIERARCHY_KINDS[spec.kind]
    said = kind.title
    if kind.shows_steps:
        said += f" ({shorten(', '.join(map(str, getattr(spec, kind.name))), 60)})"
    return said
