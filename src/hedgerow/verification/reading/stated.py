"""Every fact that facts.json may state: its kind, when it must be there, and what it takes to count it again.

The one place that says so: the check, its output, the report and the reference all follow it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hedgerow.plan import Plan

Proof = Literal["plan", "rows", "original", "link", "population", "word"]
"""What it takes to know a fact for certain: the plan in the release; its rows; the original too; that and the link; the
table of the population; or nothing does, and the fact is the maker's word."""
LARGEST = 1 << 63


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < LARGEST


def is_number(value: Any) -> bool:
    """Tell whether a fact is a number that something can be: no count is as large as the largest."""
    return (type(value) is int and abs(value) < LARGEST) or (type(value) is float and math.isfinite(value))


def _by_name(of: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(of(part) for part in value.values())


def _or_null(of: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or of(value)


KINDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "whole number": _is_whole,
    "whole number or null": _or_null(_is_whole),
    "number": is_number,
    "number or null": _or_null(is_number),
    "whole numbers by name": _by_name(_is_whole),
    "numbers by name": _by_name(is_number),
    "object": lambda value: isinstance(value, dict),
    "list": lambda value: isinstance(value, list),
    "list of texts": lambda value: isinstance(value, list) and all(isinstance(part, str) for part in value),
}


def _always(plan: Plan) -> bool:
    return True


def _on_lattice(plan: Plan) -> bool:
    return plan.method.name == "lattice"


def _not_on_lattice(plan: Plan) -> bool:
    return plan.method.name != "lattice"


def _by_research_value(plan: Plan) -> bool:
    return _on_lattice(plan) and plan.method.objective == "research-value"


def _by_other_objective(plan: Plan) -> bool:
    return _on_lattice(plan) and plan.method.objective != "research-value"


def _with_person(plan: Plan) -> bool:
    return plan.person is not None


def _with_unit(plan: Plan) -> bool:
    return plan.unit is not None


def _improved(plan: Plan) -> bool:
    return _not_on_lattice(plan) and plan.method.improve != "off"


def _with_population(plan: Plan) -> bool:
    return plan.population is not None


def _suppressing(plan: Plan) -> bool:
    return plan.method.suppress


def _treating(plan: Plan) -> bool:
    return any(part.treat is not None for part in plan.attributes.values())


def _only_coarser(plan: Plan) -> bool:
    return plan.republish == "only-coarser"


KEPT, LEVELS_BEFORE = "republish", "levels_before"


@dataclass(frozen=True)
class Fact:
    """One fact.

    Attributes
    ----------
    name
        Its key in facts.json.
    kind
        What it must be, one of ``KINDS``.
    proof
        What it takes to know it for certain.
    how
        Where it comes from then; of the maker's word, what of it is checked all the same.
    due
        Whether a release with this plan states it.
    optional
        Whether it may be left out all the same.
    unless
        Another fact that, where it is stated, lets this one be left out.
    """

    name: str
    kind: str
    proof: Proof
    how: str
    due: Callable[[Plan], bool] = _always
    optional: bool = False
    unless: str = ""


_OWN = "not counted again"

FACTS: tuple[Fact, ...] = (
    Fact("version", "text", "word", _OWN),
    Fact("plan", "text", "plan", "the fingerprint of the plan"),
    Fact("seed", "whole number", "plan", "as in the plan"),
    Fact("method", "text", "plan", "as in the plan"),
    Fact("privacy", "object", "plan", "as in the plan"),
    Fact("k", "whole number", "plan", "as in the plan"),
    Fact("records", "whole number", "original", "records of the original; always released + withheld"),
    Fact("released", "whole number", "rows", "rows"),
    Fact("withheld", "whole number", "original", "records of the original less rows"),
    Fact("blocks", "whole number", "word", "but no more than rows", _not_on_lattice),
    Fact("split", "object", "word", _OWN, lambda plan: plan.method.split is not None, optional=True),
    Fact(
        "solved_exactly", "whole numbers by name", "word",
        "but no more of them than blocks, and no more records than rows", _improved, optional=True,
    ),
    Fact("levels", "whole numbers by name", "link", "cells against records; as the plan chooses", _on_lattice),
    Fact("objective", "text", "plan", "as in the plan", _on_lattice),
    Fact("score", "number", "word", "but the sum of what levels are worth, where the plan says so of all", _on_lattice),
    Fact("lattice", "object", "word", _OWN, _by_other_objective, unless=LEVELS_BEFORE),
    Fact("search", "object", "word", _OWN, _by_research_value, unless=LEVELS_BEFORE),
    Fact(LEVELS_BEFORE, "whole numbers by name", "word", "but of the quasi-identifiers", _on_lattice, optional=True),
    Fact("optimality", "object", "word", _OWN, lambda plan: plan.method.certify is not None, optional=True),
    Fact("groups", "whole number", "rows", "rows that agree in every quasi-identifier"),
    Fact("smallest_group", "whole number", "rows", "rows of the smallest group, or that a row matches"),
    Fact("largest_group", "whole number", "rows", "rows of the largest group"),
    Fact("group_sizes", "whole numbers by name", "rows", "groups by their rows"),
    Fact("group_risk_sizes", "whole numbers by name", "rows", "rows by how many are alike"),
    Fact("limits", "text", "plan", "as in the plan"),
    Fact("limits_broken", "whole number", "link", "cells against their records; else bounds"),
    Fact("limits_broken_by_attribute", "whole numbers by name", "link", "the same by column; always adds up"),
    Fact("limits_by_attribute", "object", "word", "but of the columns with a limit, in the words of the plan"),
    Fact("loss", "number", "word", _OWN),
    Fact("loss_by_attribute", "numbers by name", "word", "but of the quasi-identifiers"),
    Fact("share_lost_by_attribute", "numbers by name", "word", "but of the quasi-identifiers"),
    Fact("ntil", "number", "word", _OWN),
    Fact("most_loss", "number or null", "word", _OWN),
    Fact("ncp", "number", "word", _OWN),
    Fact("granularity", "number", "word", _OWN),
    Fact("entropy", "number", "word", _OWN),
    Fact("squared_error", "number", "word", _OWN, lambda plan: plan.method.objective == "variance"),
    Fact("bits_by_attribute", "numbers by name", "word", "but of the quasi-identifiers"),
    Fact("bits_lost_by_attribute", "numbers by name", "word", "but of the quasi-identifiers"),
    Fact("discernibility", "whole number", "original", "Σ group size² + records · withheld"),
    Fact("normalized_average_group_size", "number or null", "original", "records / (groups · k)"),
    Fact("research_value", "number", "word", _OWN),
    Fact("research_value_by_attribute", "numbers by name", "word", "but of the quasi-identifiers"),
    Fact("mean_group_value", "number", "word", _OWN),
    Fact("exact_end_points", "whole numbers by name", "link", "cells against their records; else bounds", unless=KEPT),
    Fact("attribute_disclosures", "object", "rows", "groups with one value of a sensitive column"),
    Fact("largest_share_of_one_value", "numbers by name", "rows", "the sensitive values of every group"),
    Fact("columns_released", "list of texts", "plan", "as in the plan"),
    Fact("columns_not_released", "list of texts", "word", "but none of the columns released, and all identifiers"),
    Fact("columns_not_in_plan", "whole number", "word", _OWN),
    Fact("treated", "object", "plan", "as in the plan", _treating),
    Fact("rules", "list", "rows", "groups that break each rule", lambda plan: bool(plan.rules)),
    Fact("worths_given", "list of texts", "plan", "as in the plan", lambda plan: bool(plan.research_value.levels)),
    Fact("missing", "text", "plan", "as in the plan", lambda plan: plan.missing == "matches-any"),
    Fact("suppressed_cells", "whole numbers by name", "link", "cells against their records; else bounds", _suppressing),
    Fact("least_rows_for_a_known_person", "whole number or null", "word", "but no more than rows", _suppressing),
    Fact("estimated_risk", "object", "link", "weights and groups of the records", lambda plan: plan.weight is not None),
    Fact("population", "whole number", "population", "people of the population", _with_population),
    Fact("population_columns", "list of texts", "plan", "as in the plan", _with_population),
    Fact("fewest_people", "whole number", "population", "people who fit each published combination", _with_population),
    Fact("population_risk_sizes", "whole numbers by name", "population", "rows by how many people fit them",
         _with_population),
    Fact("presence", "list", "population", "rows of each combination among the people who fit it", _with_population),
    Fact("persons", "whole number", "word", "but within what groups and records allow", _with_person),
    Fact("smallest_group_persons", "whole number", "link", "persons of the group with fewest", _with_person),
    Fact("units", "object", "rows", "units and how many are alike; `ntil_not_linked` is the maker's word", _with_unit),
    Fact(KEPT, "text", "plan", "as in the plan", _only_coarser, optional=True),
    Fact("applied", "object", "word", _OWN, optional=True),
)  # fmt: skip
"""All facts, in the order in which they are written."""
BY_NAME: Mapping[str, Fact] = {fact.name: fact for fact in FACTS}


def read_facts(stated: Mapping[str, Any], plan: Plan) -> tuple[dict[str, Any], list[str]]:
    """Take what is stated as it must be, and say what is not: facts that lack, are of another kind, or are no facts.

    A name that no release has is counted, not repeated: nobody knows what it is.

    Examples
    --------
    >>> plan = Plan.from_dict({"attributes": {"sex": "quasi-identifier"}, "privacy": {"k": 2}})
    >>> sound, faults = read_facts({"k": "2", "released": 4, "Alice": 1}, plan)
    >>> sound, faults[1:]
    ({'released': 4}, ['k is no whole number', '1 facts that a release with this plan does not have'])
    """
    sound = {}
    lacking, wrong = [], []
    for fact in FACTS:
        if fact.name not in stated:
            if fact.due(plan) and not fact.optional and not (fact.unless in stated and BY_NAME[fact.unless].due(plan)):
                lacking.append(fact.name)
        elif not KINDS[fact.kind](stated[fact.name]):
            wrong.append(f"{fact.name} is no {fact.kind}")
        elif fact.due(plan):
            sound[fact.name] = stated[fact.name]
    strange = sum(name not in BY_NAME or not BY_NAME[name].due(plan) for name in stated)
    faults = [f"lacks {', '.join(lacking)}"] if lacking else []
    faults += wrong
    if strange:
        faults.append(f"{strange} facts that a release with this plan does not have")
    return sound, faults


def is_proven(fact: Fact, plan: Plan, original: bool, linked: bool, population: bool = False) -> bool:
    """Tell whether a fact is found again with what is at hand; otherwise it is the maker's word."""
    if fact.name == "group_risk_sizes" and plan.person is not None:
        return False  # the release does not show who is the same person
    at_hand = {"plan": True, "rows": True, "original": original, "link": linked, "population": population}
    return at_hand.get(fact.proof, False)
