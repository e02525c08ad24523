"""What can be wrong with rules and weights: with what the owner says about the value of distinctions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hedgerow.errors import Problem, did_you_mean
from hedgerow.plan.hierarchy.numbers import parse_number
from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.plan.model import Attribute, PlanModel, Rule
from hedgerow.plan.places import Places


def check_rules(model: PlanModel, places: Places) -> list[Problem]:
    """Find rules on columns that are not coarsened, and rules that no release can keep or break."""
    problems = []
    for number, rule in enumerate(model.rules):
        place = places.of(("rules", number))
        if rule.attribute not in model.quasi_identifiers:
            message = f"A rule names {rule.attribute!r}, which is not a quasi-identifier."
            hint = did_you_mean(rule.attribute, model.quasi_identifiers) or "only quasi-identifiers are coarsened"
            problems.append(Problem("conflict", message, place, hint))
            continue
        problems += _check_rule(rule, model.attributes[rule.attribute], place)
    titles = [rule.title for rule in model.rules]
    for title in sorted({title for title in titles if titles.count(title) > 1}):
        message = f"Two rules are called {title!r}."
        problems.append(Problem("conflict", message, places.of(("rules",)), "give each a name of its own"))
    if model.research_value.base < 0:
        message = "'research_value.base' must be 0 or more."
        problems.append(Problem("wrong-value", message, places.of(("research_value", "base")), "0 is the default"))
    return problems


def _check_rule(rule: Rule, attribute: Attribute, place: str) -> list[Problem]:
    one, other = rule.keep_apart
    start = f"Rule {rule.title!r}: "
    if rule.importance <= 0:
        return [Problem("wrong-value", start + "its importance must be above 0.", place, "1 is the default")]
    if attribute.in_numbers:
        numbers = parse_number(one), parse_number(other)
        if numbers[0] is None or numbers[1] is None or numbers[0] >= numbers[1]:
            message = start + "a column of numbers is kept apart at two numbers, the smaller first."
            return [Problem("wrong-value", message, place, "for example keep_apart: [64, 65]")]
        return []
    if one == other:
        message = start + "the two values to keep apart are the same."
        return [Problem("wrong-value", message, place, "name two different ones")]
    if attribute.hierarchy is None or attribute.hierarchy.tree is None:
        return []  # which values there are is known only from the data
    tree = Hierarchy.from_tree(attribute.hierarchy.tree, as_printed=True)
    unknown = [name for name in rule.keep_apart if name not in tree]
    if unknown:
        message = start + f"{unknown[0]!r} is not a node of the hierarchy."
        return [Problem("unknown-node", message, place, did_you_mean(unknown[0], tree.names))]
    twofold = [problem for name in rule.keep_apart for problem in tree.meanings_problem(name)]
    if twofold:
        return [Problem(twofold[0].code, start + twofold[0].message, place, twofold[0].hint)]
    if one in tree.ancestors(other) or other in tree.ancestors(one):
        message = start + f"of {one!r} and {other!r} one holds the other, so no release can keep them apart."
        return [Problem("conflict", message, place, "name two nodes side by side")]
    return []


def check_weights(model: PlanModel, places: Places) -> list[Problem]:
    """Find weights of columns that have none, and weights given twice."""
    problems = []

    def report(code: str, message: str, hint: str, *part: Any) -> None:
        problems.append(Problem(code, message, places.of(("weights", *part)), hint))

    given = [name for name in model.quasi_identifiers if model.attributes[name].weight is not None]
    if model.weights == "association" and given:
        message = f"Weights come from association, but column {given[0]!r} has one of its own."
        report("conflict", message, "keep one of the two")
    if not isinstance(model.weights, Mapping):
        return problems
    for name, weight in model.weights.items():
        if name not in model.quasi_identifiers:
            message = f"'weights' names {name!r}, which is not a quasi-identifier."
            report("conflict", message, did_you_mean(name, model.quasi_identifiers), name)
        elif name in given:
            report("conflict", f"Column {name!r} is given a weight twice.", "keep one of the two", name)
        if weight <= 0:
            report("wrong-value", f"'weights.{name}' must be above 0.", "leave it out for the default", name)
    return problems
