"""A release on the lattice, kept current: its levels stay while they hold; else the nearest that do take their place.

Everybody is published at one level per column, so a change regroups nobody as long as the levels hold: newcomers join
whom they look like, and no group of those who stay is cut up. *Nearest* are, of all levels at or above the present
ones in every column, those of which the plan's objective has least, or of research value most, with ties as in a fresh
search. Nobody is then published narrower than before.

Levels that are not there any more (``limits: whole-levels`` leaves one out as soon as somebody's value would go beyond
its limit), or models that a group may lose by growing, can rule out all of these. Then the whole lattice is searched,
unless the plan says ``republish: only-coarser``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from hedgerow.anonymization.lattice import Node, Space, find_optimum, make_space, recode, search_research
from hedgerow.anonymization.lattice.research import level_values
from hedgerow.anonymization.solving import Solution, at_node
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import Microdata
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from hedgerow.types import Steps

BEFORE = "levels_before"
"""The fact by which a version is known whose levels come from those of the version before."""
RESEARCH, WHOLE = "research-value", "whole-levels"
ORDER = (
    *("levels", "objective", "score", "lattice", "search", BEFORE),
    *("nodes", "checked", "below_infeasible", "by_bound"),
    *("name", "strings", "generated", "tested", "pruned", "conflicts", "dropped", "proven", "bound", "succeeded"),
    *("successes", "value", "at_root"),
)
"""Names in the details of levels, in the order in which facts state them: a store keeps them sorted."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of a version.

    Attributes
    ----------
    node
        Level of every quasi-identifier, in the plan's order.
    details
        Facts about them that only their maker knows: how they were found, or where they come from.
    """

    node: Node
    details: Mapping[str, Any]

    @classmethod
    def of_solution(cls, solution: Solution) -> Levels:
        """Take the levels of a release that was just made."""
        names = [name for name in ORDER if name in solution.details]
        return cls(tuple(solution.details["levels"].values()), {name: solution.details[name] for name in names})

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], plan: Plan) -> Levels:
        """Take the levels that a version was written with."""
        names = ("levels", "objective", "score", "lattice", "search", BEFORE)
        known = {name: facts[name] for name in names if name in facts}
        node = tuple(facts["levels"][name] for name in plan.quasi_identifiers)
        return cls(node, _in_order(known, plan.quasi_identifiers))

    def solution(self, microdata: Microdata, plan: Plan) -> Solution:
        """Publish all records at them."""
        requirement = Requirement.of_plan(plan, microdata)
        return at_node(_space(microdata, plan), requirement, self.node, dict(self.details))


def nearest(
    microdata: Microdata, plan: Plan, before: Node, budget: int, progress: Steps | None = None
) -> Levels | None:
    """Keep levels if they hold, withholding no more than so many records; else find the nearest that do."""
    space, requirement = _space(microdata, plan), Requirement.of_plan(plan, microdata)
    floor = tuple(min(level, size - 1) for level, size in zip(before, space.shape, strict=True))
    if floor == before or plan.method.limits != WHOLE:  # else a level is not to be had any more
        if int((recode(space, requirement, floor).group_of < 0).sum()) <= budget:
            return _levels(space, plan, floor, before)
        above = _best(_between(space, floor, None), plan, requirement, budget, progress)
        if above is not None:
            return _levels(space, plan, tuple(low + up for low, up in zip(floor, above, strict=True)), before)
    if plan.republish == "only-coarser":
        return None
    found = _best(space, plan, requirement, budget, progress)
    return None if found is None else _levels(space, plan, found, before)


def lower(microdata: Microdata, plan: Plan, before: Node, progress: Steps | None = None) -> Levels:
    """Find the best of the levels at or below some that hold, withholding nobody."""
    space, requirement = _space(microdata, plan), Requirement.of_plan(plan, microdata)
    found = _best(_between(space, None, before), plan, requirement, 0, progress)
    return _levels(space, plan, before if found is None else found, before)


def _space(microdata: Microdata, plan: Plan) -> Space:
    if plan.method.objective == RESEARCH:
        return make_space(microdata, plan.method.limits, most_nodes=None)
    return make_space(microdata, plan.method.limits)


def _between(space: Space, lowest: Node | None, highest: Node | None) -> Space:
    """Return the part of a lattice from some levels up to others; its own levels are counted from the lowest."""
    first = (0,) * len(space.maps) if lowest is None else lowest
    last = tuple(size - 1 for size in space.shape) if highest is None else highest
    maps = tuple(levels[low : high + 1] for levels, low, high in zip(space.maps, first, last, strict=True))
    return replace(space, maps=maps)


def _best(space: Space, plan: Plan, requirement: Requirement, budget: int, progress: Steps | None) -> Node | None:
    """Find the node of a lattice that the plan's objective likes best; None if none holds."""
    if plan.method.objective != RESEARCH:
        found = find_optimum(space, requirement, budget, plan.method.objective)
        return None if found is None or found.withheld == len(space.microdata.record_of) else found.node
    budget = min(budget, len(space.microdata.record_of) - 1)  # something must be released
    values, method = column_values(space.microdata, plan), plan.method
    tell = None if progress is None else lambda checked: progress(checked, 0)
    for search in dict.fromkeys([method.search, "exact"]):  # the thesis's may find none where there are some
        best = search_research(space, requirement, budget, values, search, method.block, None, tell).best
        if best is not None:
            return best.node
    return None


def _levels(space: Space, plan: Plan, node: Node, before: Node) -> Levels:
    """Say of levels what facts state, whichever way they were found."""
    details: dict[str, Any] = {"levels": _named(plan, node), "objective": plan.method.objective, "score": 0.0}
    if plan.method.objective == RESEARCH:
        worth = level_values(space, column_values(space.microdata, plan))
        value = sum((worth[position][level] for position, level in enumerate(node)), Fraction(0))
        details["score"] = round(float(value), 12)
    return Levels(node, {**details, BEFORE: _named(plan, before)})


def _named(plan: Plan, node: Node) -> dict[str, int]:
    return {name: int(level) for name, level in zip(plan.quasi_identifiers, node, strict=True)}


def _in_order(details: Any, columns: tuple[str, ...]) -> Any:
    """Put what is said of levels, whatever it holds, into the order in which facts say it."""
    if isinstance(details, list):
        return [_in_order(part, columns) for part in details]
    if not isinstance(details, Mapping):
        return details
    return {
        name: {column: details[name][column] for column in columns}
        if name in ("levels", BEFORE)
        else _in_order(details[name], columns)
        for name in sorted(details, key=ORDER.index)
    }
