"""What can be wrong with units that are published linked: columns, and what does not go with them."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow.errors import Problem, did_you_mean
from hedgerow.plan.concepts import METHODS
from hedgerow.plan.model import PlanModel
from hedgerow.plan.places import Places

METHODS_OF_UNITS = ("cluster", "partition")
"""Methods that form groups of whole units."""
OTHER_OBJECTIVES = ("research-value", "variance")
"""Objectives that are worked out by column, which units have once for each of their records."""


def check_unit(model: PlanModel, places: Places) -> list[Problem]:
    """Find what is wrong with the units of a plan."""
    return [] if model.unit is None else [*_columns(model, places), *_conflicts(model, places)]


def _columns(model: PlanModel, places: Places) -> Iterator[Problem]:
    """Find a unit column with a role of its own, and columns that cannot be the same, or matched by."""
    unit = model.unit
    assert unit is not None
    role = model.attributes[unit.column].role if unit.column in model.attributes else "identifier"
    if role != "identifier":
        message = f"Column {unit.column!r} is the plan's 'unit', so it must be an identifier. Got {role!r} instead."
        hint = "its own numbers are never released, new ones are"
        yield Problem("conflict", message, places.of(("attributes", unit.column)), hint)
    for part, names, known, what in (
        ("same", unit.same, model.released_columns, "a released column"),
        ("order", unit.order, model.quasi_identifiers, "a quasi-identifier"),
    ):
        for name in names:
            if name not in known:
                message = f"'unit.{part}' names {name!r}, which is not {what}."
                yield Problem("conflict", message, places.of(("unit", part)), did_you_mean(name, known))
            elif part == "order" and name in unit.same:
                message = f"'unit.order' names {name!r}, which is the same for all records of a unit."
                yield Problem("conflict", message, places.of(("unit", part)), "leave it out of one of the two")


def _conflicts(model: PlanModel, places: Places) -> Iterator[Problem]:
    """Find what does not go with units."""
    method = model.method
    against = (
        (("person",), model.person is not None, "a person key", "name what is published linked as the unit alone"),
        (
            ("privacy", "k_map" if model.privacy.k_map is not None else "presence"),
            model.privacy.k_map is not None or model.privacy.presence is not None,
            "k_map, nor with presence",
            "what they count are people, and not units: leave them out",
        ),
        (("missing",), model.missing == "matches-any", "'missing: matches-any'", "leave one of the two out"),
        (("republish",), model.republish != "free", "'republish'", "units are for releases that are made once"),
        (
            ("method", "objective"),
            method.objective in OTHER_OBJECTIVES,
            f"'objective: {method.objective}'",
            "use loss, ncp, granularity or entropy",
        ),
        (("method", "split"), method.split is not None, "'method.split'", "leave it out, or use method: partition"),
        (
            ("method", "name"),
            METHODS[method.name].name not in METHODS_OF_UNITS,
            f"method {method.name}",
            f"use {' or '.join(METHODS_OF_UNITS)}: they form groups of whole units",
        ),
    )
    for path, there, what, hint in against:
        if there:
            yield Problem("conflict", f"'unit' does not go with {what}.", places.of(path), hint)
