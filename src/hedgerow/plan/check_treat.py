"""What can be wrong with the treatment of a column: points, and what does not go with them."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.plan.model import Attribute, Treatment

Fault = tuple[str, str]
"""What is wrong, and what to do."""


def treat_faults(attribute: Attribute) -> Iterator[Fault]:
    """Find what is wrong with the treatment of a column."""
    treat = attribute.treat
    assert treat is not None
    yield from _alone(treat)
    yield from _beside(attribute, treat)


def _alone(treat: Treatment) -> Iterator[Fault]:
    given = [name for name in ("top", "bottom", "round", "dates") if getattr(treat, name) is not None]
    if not given:
        yield "'treat' says nothing.", "for example treat: {top: 90}"
    if "dates" in given and len(given) > 1:
        yield f"'treat' speaks of days and of numbers: dates and {given[0]}.", "keep one of the two"
    if treat.form is not None and treat.dates is None:
        yield "'treat.form' says how days are written, but no days are treated.", "leave it out, or add dates: month"
    if treat.round is not None and treat.round <= 0:
        yield "'treat.round' must be above 0.", "for example round: 100"
        return
    points = {name: point for name in ("top", "bottom") if (point := getattr(treat, name)) is not None}
    if len(points) == 2:
        top, bottom = points["top"], points["bottom"]
        if top.at is not None and bottom.at is not None and bottom.at >= top.at:
            yield "'treat.bottom' must lie below 'treat.top'.", "swap them"
        if top.quantile is not None and bottom.quantile is not None and bottom.quantile >= top.quantile:
            yield "'treat.bottom' must lie below 'treat.top'.", "for example bottom: {quantile: 0.01}"


def _beside(attribute: Attribute, treat: Treatment) -> Iterator[Fault]:
    spec = attribute.hierarchy
    if attribute.free and (treat.open_ends or not treat.of_numbers):
        hint = "give it bands or cuts instead; round goes with both"
        yield "free intervals are made of numbers, and what is treated so is no number any more.", hint
    if spec is not None and spec.dates is not None:
        yield "its hierarchy is one of days, which coarsens them already.", "leave 'treat' out, or the hierarchy"
    elif spec is not None and not treat.of_numbers and HIERARCHY_KINDS[spec.kind].as_numbers:
        yield f"a month has no place among {spec.kind}.", "leave the hierarchy out"
    elif spec is not None and HIERARCHY_KINDS[spec.kind].as_numbers:
        for name, asked, own in (("top", treat.top, spec.top), ("bottom", treat.bottom, spec.bottom)):
            if asked is not None and own is not None and asked.at != own:
                yield f"'treat.{name}' and '{name}' of its hierarchy differ.", "keep one of the two"
    placed = attribute.free or (spec is not None and HIERARCHY_KINDS[spec.kind].as_numbers)
    if attribute.unknown == "withhold" and not placed:
        hint = "use unknown: error, or own-leaf-under-root to publish as it is what cannot be treated"
        yield "'unknown: withhold' goes with 'treat' only where bands, cuts or free intervals place numbers.", hint
