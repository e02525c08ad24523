"""What a column is taken to be and what happens to it, in words: the same on the page and in records for machines."""

from __future__ import annotations

from hedgerow.plan import Attribute
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.reports.wording import shorten

MOST_TEXT = 160
WHY = {
    "identifier": "names a person, or could: never read and never released",
    "quasi-identifier": "others may know it of a person: coarsened until groups are large enough",
    "sensitive": "others do not know it and would learn it: released as it is, its spread in groups is looked at",
    "other": "taken to be harmless and unknown to others: released as it is, and not looked at",
}


def coarsened(attribute: Attribute) -> str:
    """Say what happens to the values of a column."""
    if attribute.role == "identifier":
        return "not released"
    if attribute.role != "quasi-identifier":
        return "released as it is"
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
