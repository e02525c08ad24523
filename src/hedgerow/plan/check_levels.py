"""What can be wrong with levels that the owner gives: those chosen for a release, and what each level is worth."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from hedgerow.errors import Problem, did_you_mean
from hedgerow.plan.concepts import METHODS
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.plan.model import Attribute, PlanModel
from hedgerow.plan.places import Places

MOST_WORTH = 100
"""As in the thesis, which gives research values from 0 to 100; the exact search counts them in whole numbers."""


def check_levels(model: PlanModel, places: Places) -> list[Problem]:
    """Find levels of columns that have none, levels above the root, and worths that rise or are too few."""
    return [*_of_method(model, places), *_of_research_value(model, places)]


def _of_method(model: PlanModel, places: Places) -> Iterable[Problem]:
    chosen = model.method.levels
    if chosen is None:
        return
    if "levels" not in METHODS[model.method.name].options:
        message = f"'method.levels' does not go with method {model.method.name}."
        hint = "use it with method: {name: lattice, levels: …}, or leave it out"
        yield Problem("conflict", message, places.of(("method", "levels")), hint)
        return
    for name, level in chosen.items():
        place = places.of(("method", "levels", name))
        if name not in model.quasi_identifiers:
            yield _no_column("'method.levels'", name, model, place)
            continue
        height = known_height(model.attributes[name])
        if height is not None and level > height:
            yield too_high(name, level, height, place)


def _of_research_value(model: PlanModel, places: Places) -> Iterable[Problem]:
    for name, worths in (model.research_value.levels or {}).items():
        place = places.of(("research_value", "levels", name))
        if name not in model.quasi_identifiers:
            yield _no_column("'research_value.levels'", name, model, place)
            continue
        attribute = model.attributes[name]
        if attribute.free and attribute.hierarchy is None:
            message = f"'research_value.levels' names {name!r}, which has free intervals and no levels."
            yield Problem("conflict", message, place, "give it a hierarchy such as bands, or leave it out")
            continue
        if any(not 0 <= worth <= MOST_WORTH for worth in worths):
            message = f"'research_value.levels.{name}' must be numbers from 0 to {MOST_WORTH}."
            yield Problem("wrong-value", message, place, "for example [1, 0.8, 0.3, 0]")
        elif any(above > below for below, above in pairwise(worths)):
            message = f"'research_value.levels.{name}' must never rise: a higher level tells less."
            yield Problem("wrong-value", message, place, "list level 0 first and the root last")
        height = known_height(attribute)
        if height is not None and len(worths) != height + 1:
            yield too_few(name, len(worths), height, place)


def too_high(name: str, level: int, height: int, place: str = "") -> Problem:
    """Say that a column has no such level."""
    message = f"'method.levels': column {name!r} has no level {level}; its root is at level {height}."
    return Problem("limit-level", message, place, f"use a level from 0 to {height}")


def too_few(name: str, given: int, height: int, place: str = "") -> Problem:
    """Say that a column has more levels, or fewer, than worths were given."""
    message = f"'research_value.levels.{name}' lists {given} numbers, but the column has {height + 1} levels."
    return Problem("limit-level", message, place, f"list one for each level from 0 to {height}, the root")


def _no_column(key: str, name: str, model: PlanModel, place: str) -> Problem:
    message = f"{key} names {name!r}, which is not a quasi-identifier."
    hint = did_you_mean(name, model.quasi_identifiers) or "only quasi-identifiers have levels"
    return Problem("conflict", message, place, hint)


def known_height(attribute: Attribute) -> int | None:
    """Return the level of the root, if the plan alone tells."""
    spec: Any = attribute.hierarchy
    if spec is None:
        return 1
    if spec.tree is not None:
        return Hierarchy.from_tree(spec.tree, as_printed=True).height
    return HIERARCHY_KINDS[spec.kind].height(spec)
