"""The part of a report that says what each limit saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from hedgerow.reports.html.markup import MOST_NAME, fact, marked, name
from hedgerow.reports.level_words import limit_words
from hedgerow.reports.material import Material
from hedgerow.reports.wording import NONE, shorten


def limits(material: Material) -> dict[str, Any]:
    """What each limit may lose and did lose, and what releases without it came to, if they were made."""
    said = material.facts.get("limits_by_attribute")
    told = isinstance(said, Mapping)
    return {
        "told": told,
        "rows": list(_losses(material, [column for column in material.limited if column in said])) if told else [],
        "effects": list(_effects(material)),
    }


def _losses(material: Material, columns: list[str]) -> Iterator[tuple[str, ...]]:
    facts = material.facts
    for column in columns:
        at = ("limits_by_attribute", column)
        limit, attribute = facts.text(*at, "limit"), material.plan.attributes[column]
        by_level = attribute.limit is not None and limit == attribute.limit.describe()
        words = limit_words(attribute) if by_level else limit
        yield (
            name(column),
            marked(words, limit, (*at, "limit")) if len(words) <= MOST_NAME else shorten(words, 120),
            NONE if material.plan.method.suppress else fact(facts, *at, "may_lose", form=".1%"),
            fact(facts, "share_lost_by_attribute", column, form=".1%"),
        )


def _effects(material: Material) -> Iterator[tuple[str, ...]]:
    for effect in material.extras.limit_effects:
        column = name(effect["attribute"])
        if effect.get("problem"):
            yield column, shorten(effect["problem"], 200), "", "", ""
            continue
        yield (
            column,
            shorten(effect["limit"], 90),
            _both(effect["withheld"], ","),
            _both(effect["loss"], ".4f"),
            _both(effect["share_lost"], ".1%"),
        )


def _both(pair: Mapping[str, Any], form: str) -> Markup:
    with_it, without = (format(pair[side], form) for side in ("with", "without"))
    return Markup("{} → <b>{}</b>").format(with_it, without)
