"""What does not go with columns whose groups are published as something else than a node or an interval."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow.errors import Problem
from hedgerow.plan.concepts import METHODS, objectives
from hedgerow.plan.model import PlanModel
from hedgerow.plan.places import Places

BY_STEPS = ("il-optimization", "steps")


def check_publish(model: PlanModel, places: Places) -> list[Problem]:
    """Find what does not go with the columns of a plan that say what to publish."""
    names = [name for name in model.quasi_identifiers if model.attributes[name].publish is not None]
    found = [problem for name in names for problem in _conflicts(name, model, places)]
    return [*found, *_of_others(model, places)]


def _of_others(model: PlanModel, places: Places) -> Iterator[Problem]:
    """Find what columns that are not grouped by cannot publish: only sampling weights can, as means of groups."""
    for name in model.columns("other"):
        attribute, place = model.attributes[name], places.of(("attributes", name, "publish"))
        if attribute.publish in ("set", "median"):
            message = f"Column {name!r} is not grouped by, so it has no {attribute.publish} of its groups."
            yield Problem("conflict", message, place, "leave 'publish' out")
        if attribute.publish != "mean":
            continue
        if model.weight is None or model.weight.column != name:
            message = f"Column {name!r} is not the plan's 'weight', so means of groups are not published of it."
            yield Problem("conflict", message, place, "make it a quasi-identifier, or leave 'publish' out")
        elif attribute.treat is not None:
            message = f"Column {name!r} is published as means of groups, so it is not rounded too."
            yield Problem("conflict", message, place, "leave one of the two out")


def _conflicts(name: str, model: PlanModel, places: Places) -> Iterator[Problem]:
    method, publish = model.method, model.attributes[name].publish
    goal = objectives().get(method.objective)
    counts = goal is not None and (goal.cost_of_sets is not None or goal.squared)
    here, sets = ("attributes", name, "publish"), publish == "set"
    against = (
        (METHODS[method.name].needs_levels, f"method {method.name}, which publishes levels", "use method: cluster"),
        (
            sets and "objective" in METHODS[method.name].options and not counts,
            f"'objective: {method.objective}', which does not say what a set costs",
            "use loss, ncp or granularity",
        ),
        (
            sets and method.improve in BY_STEPS,
            f"'improve: {method.improve}'",
            "use improve: quick, thorough or longest",
        ),
        (
            sets and method.certify is not None,
            "'certify', which bounds what nodes and intervals lose",
            "leave one of the two out",
        ),
        (
            not sets and method.limits == "ignore",
            "ignored limits, which nobody could count",
            "leave one of the two out",
        ),
        (method.overlap == "forbidden", "'overlap: forbidden'", "leave one of the two out"),
        (model.missing == "matches-any", "'missing: matches-any'", "leave one of the two out"),
        (model.unit is not None, "'unit'", "leave one of the two out"),
        (
            model.population is not None or model.privacy.of_population,
            "demands on a population, where nobody can be looked up by it",
            "leave one of the two out",
        ),
        (
            any(rule.attribute == name for rule in model.rules),
            "rules on the same column",
            "leave one of the two out",
        ),
    )
    for there, what, hint in against:
        if there:
            message = f"Column {name!r}: 'publish: {publish}' does not go with {what}."
            yield Problem("conflict", message, places.of(here), hint)
