"""From microdata and a plan to a recoding: choosing the method, and saying what blocks where there is no solution."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.anonymization.clustering import (
    Cells,
    Improved,
    Linked,
    Microaggregation,
    Objective,
    Split,
    Stepped,
    find_cells,
    split_cells,
)
from hedgerow.anonymization.clustering.cells import find_blocks
from hedgerow.anonymization.clustering.costs import LOSS
from hedgerow.anonymization.clustering.exact import count_solved
from hedgerow.anonymization.clustering.peopled import with_people
from hedgerow.anonymization.clustering.steps import BY_STEPS, sizes_of
from hedgerow.anonymization.executing import HERE, Clustering, Executor
from hedgerow.anonymization.explanation import conditions, explain_limits
from hedgerow.anonymization.lattice import (
    Node,
    Patience,
    Research,
    Space,
    failing_at,
    find_optimum,
    make_space,
    recode,
    search_research,
)
from hedgerow.anonymization.lattice.checker import make_checker
from hedgerow.anonymization.lattice.crew import Hire
from hedgerow.errors import NoSolution, Problem
from hedgerow.measures import total_loss
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import Microdata
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.plan.concepts import METHODS
from hedgerow.privacy import Requirement
from hedgerow.types import IntArray, Steps


@dataclass(frozen=True, eq=False)
class Solution:
    """A recoding and how it came about.

    Attributes
    ----------
    recoding
        Groups in the order of their published values.
    withheld_because
        Private: number of records withheld, by reason.
    withheld_is_least
        Private: whether no release within the limits, by any method, withholds fewer.
    details
        Facts that only this method has.
    blocks_withheld
        Private: number of cells withheld whole; None if the method knows no cells.
    cluster_of
        Cluster of every unit, −1 in none, as the clustering made them: clusters that are published alike are one group
        of the recoding. None if the method does not cluster.
    search_of_all
        Private: what the search of the lattice looked at while records were still to be withheld; empty if none were.
    """

    recoding: Recoding
    withheld_because: dict[str, int]
    withheld_is_least: bool
    details: dict[str, Any]
    blocks_withheld: int | None = None
    cluster_of: IntArray | None = None
    search_of_all: dict[str, Any] = field(default_factory=dict)


def solve(
    microdata: Microdata,
    plan: Plan,
    threads: int | None = None,
    progress: Steps | None = None,
    patience: Patience | None = None,
    executor: Executor = HERE,
    cells: Cells | None = None,
    budget: int | None = None,
    research: Research | None = None,
) -> Solution:
    """Find a release of microdata as a plan asks.

    ``threads`` bounds the threads of a clustering, and the processes of a search by research value; ``patience`` is for
    the searches of that kind that could go on for long; ``executor`` runs these here or elsewhere.
    ``cells`` may be given if they are known already, ``budget`` if a node of the lattice may withhold fewer records
    than the plan allows; ``research`` is what a search for levels has come to, where it was made elsewhere.

    Raises
    ------
    NoSolution
        Naming the attribute, the limit and the change that matter most.
    """
    requirement = Requirement.of_plan(plan, microdata)
    refuse_the_impossible(microdata, requirement)
    if METHODS[plan.method.name].needs_levels:
        _check_budget(microdata, plan, len(microdata.unknown))
        budget = lattice_budget(microdata, plan) if budget is None else budget
        if plan.method.objective == "research-value":
            hire = executor.hire(microdata, threads or os.cpu_count() or 1)
            return _by_research_value(microdata, plan, requirement, budget, progress, patience, hire, research)
        return _by_lattice(microdata, plan, requirement, budget)
    cells = cells or cells_of(microdata, plan)
    return _by_clustering(microdata, plan, requirement, cells, threads or os.cpu_count() or 1, progress, executor)


def cells_of(microdata: Microdata, plan: Plan) -> Cells:
    """Split microdata into the cells that a plan clusters within."""
    requirement = Requirement.of_plan(plan, microdata)
    refuse_the_impossible(microdata, requirement)
    return find_cells(microdata, requirement, ignore_limits=not plan.keeps_limits)


def refuse_too_many(microdata: Microdata, plan: Plan, withheld: int) -> None:
    """Refuse to withhold every record, or more than the plan allows, and name the limits that do.

    Raises
    ------
    NoSolution
        Naming the attribute, the limit and the change that matter most.
    """
    if withheld == microdata.records:
        message = f"The limits would withhold every record (k = {plan.privacy.k})."
        raise NoSolution(_blocking(microdata, plan, "all-withheld", message))
    _check_budget(microdata, plan, withheld)


def lattice_budget(microdata: Microdata, plan: Plan) -> int:
    """Records that a node of the lattice may withhold, beyond those whose value has no leaf."""
    allowed = 0 if plan.withhold is None else plan.withhold.records(microdata.records)
    return max(0, allowed - len(microdata.unknown))


def refuse_the_impossible(microdata: Microdata, requirement: Requirement) -> None:
    """Refuse demands that no release of a table could meet.

    Raises
    ------
    NoSolution
        Fewer people than k, or fewer different values than p.
    """
    if microdata.people() < requirement.k:
        what = "units" if microdata.households is not None else "records" if microdata.person_of is None else "persons"
        message = f"k is {requirement.k}, but the table has only {microdata.people():,} {what} that can be released."
        raise NoSolution(Problem("too-few-records", message, hint="lower k, or add records"))
    for condition in conditions(microdata, requirement):
        if condition.p > condition.max_p:
            names = _listed(condition.columns)
            message = f"p is {condition.p}, but {names} has only {condition.max_p} different values."
            raise NoSolution(Problem("too-few-values", message, hint=f"ask for p = {condition.max_p} or less"))


def _by_clustering(
    microdata: Microdata,
    plan: Plan,
    requirement: Requirement,
    cells: Cells,
    threads: int,
    progress: Steps | None,
    executor: Executor,
) -> Solution:
    refuse_too_many(microdata, plan, cells.withheld + len(microdata.unknown))
    split = split_of(microdata, plan, requirement.of_records, cells)
    within = cells if split is None else split.cells
    clustering = clustering_of(microdata, plan, requirement.of_records, threads)
    clusters = executor.run(clustering, microdata, within, progress)
    clusters = with_people(microdata, requirement, cells.cell_of, clusters, Objective.of_plan(microdata, plan))
    solution = of_clusters(microdata, plan, cells, clusters)
    facts = {} if split is None else {"split": split_facts(microdata, plan, requirement, split, threads)}
    if clusters.proven is not None:
        blocks = find_blocks(microdata, cells, ignore_limits=not plan.keeps_limits)
        facts["solved_exactly"] = count_solved(blocks, within, clusters)
    return replace(solution, details={**solution.details, **facts})


def of_clusters(microdata: Microdata, plan: Plan, cells: Cells, clusters: Recoding) -> Solution:
    """Say what clusters within cells give away and withhold, and refuse what the plan does not allow."""
    recoding = clusters.in_published_order(microdata)
    if plan.publishes_instead and plan.keeps_limits:
        clusters, recoding = without_clashes(microdata, clusters, recoding)
    withheld = microdata.records - recoding.released
    if not recoding.groups:
        hint = "loosen the demands on the sensitive columns, or lower k" if microdata.sensitive else "lower k"
        raise NoSolution(Problem("all-withheld", "No group could be formed that meets every demand.", hint=hint))
    _check_budget(microdata, plan, withheld)
    unknown = len(microdata.unknown)
    in_failing = int((clusters.group_of[cells.failing[cells.cell_of]] < 0).sum())
    because = {"failing_block": in_failing, "fits_no_group": withheld - in_failing - unknown, "no_leaf": unknown}
    least = cells.proven and withheld == cells.withheld + unknown
    failing = int(cells.failing.sum())
    details = {"blocks": len(cells.people) - failing}
    return Solution(recoding, because, least, details, failing, clusters.group_of)


def without_clashes(microdata: Microdata, clusters: Recoding, recoding: Recoding) -> tuple[Recoding, Recoding]:
    """Withhold clusters until none are published alike that break a limit together; returns them, and the groups.

    Two clusters may have the same mean, and be one group to readers, though their numbers lie further apart than a
    limit allows. Of those that are published alike, the largest stays.
    """
    while True:
        broken = np.zeros(recoding.groups, bool)
        for position in recoding.told:
            column, shown = microdata.columns[position], recoding.shown(position)
            broken |= column.breaks(recoding.lo[:, position], shown)
        if not broken.any():
            return clusters, recoding
        group_of_cluster = np.zeros(clusters.groups, np.int64)
        inside = clusters.group_of >= 0
        group_of_cluster[clusters.group_of[inside]] = recoding.group_of[inside]
        order = np.lexsort((np.arange(clusters.groups), -clusters.sizes, group_of_cluster))
        first = np.zeros(clusters.groups, bool)
        first[order[np.append(True, np.diff(group_of_cluster[order]) > 0)]] = True
        clusters = clusters.of_groups(np.flatnonzero(first | ~broken[group_of_cluster]))
        recoding = clusters.in_published_order(microdata)


def cluster(
    microdata: Microdata, plan: Plan, requirement: Requirement, cells: Cells, threads: int, progress: Steps | None
) -> Recoding:
    """Run the clustering that the plan names, with its splitting; groups are numbered as they are made."""
    split = split_of(microdata, plan, requirement, cells)
    within = cells if split is None else split.cells
    return HERE.run(clustering_of(microdata, plan, requirement.of_records, threads), microdata, within, progress)


def clustering_of(microdata: Microdata, plan: Plan, requirement: Requirement, threads: int) -> Clustering:
    """Return the clustering that the plan names; it is to be run inside cells."""
    if microdata.households is not None:

        def make(wide: Microdata, of_members: Requirement) -> Clustering:
            return clustering_of(wide, plan, of_members, threads)

        return Linked(requirement, make, Objective.of_plan(microdata, plan), not plan.keeps_limits)
    objective = Objective.of_plan(microdata, plan)
    of_plan = METHODS[plan.method.name].make
    assert of_plan is not None
    if objective.points:
        simple = not requirement.models and microdata.person_of is None
        start = None if simple else of_plan(microdata, plan, requirement, threads, LOSS)
        by_error: Any = plan.method.improve
        return Microaggregation(start, requirement, objective, by_error, plan.seed, threads)
    clustering: Clustering = of_plan(microdata, plan, requirement, threads, objective)
    sizes = sizes_of(plan) if "objective" in METHODS[plan.method.name].options else ""
    improve: Any = plan.method.improve
    if improve in BY_STEPS or sizes:
        return Stepped(clustering, requirement, improve, sizes, objective)
    if improve == "off":
        return clustering
    return Improved(clustering, requirement, improve, objective, plan.seed, threads)


def split_of(microdata: Microdata, plan: Plan, requirement: Requirement, cells: Cells) -> Split | None:
    """Split the cells that are larger than the plan wants; None if it does not ask for that."""
    return None if plan.method.split is None else split_cells(microdata, cells, requirement, plan.method.split)


def split_facts(
    microdata: Microdata, plan: Plan, requirement: Requirement, split: Split, threads: int
) -> dict[str, Any]:
    """Say what was split, and what it cost in the smallest two parts that were one before.

    The loss of clustering the two apart is divided by that of clustering them together; None if nothing was split, or
    if they lose nothing together.
    """
    return facts_of_splitting(
        plan, split.cells_split, split.parts, loss_of_splitting(microdata, plan, requirement, split, threads)
    )


def facts_of_splitting(plan: Plan, blocks: int, parts: int, ratio: Fraction | None) -> dict[str, Any]:
    """Put the facts of splitting together."""
    return {
        "most_profiles": plan.method.split,
        "blocks": blocks,
        "parts": parts,
        "sampled_loss_ratio": None if ratio is None else _rounded(ratio),
    }


def loss_of_splitting(
    microdata: Microdata, plan: Plan, requirement: Requirement, split: Split, threads: int
) -> Fraction | None:
    """Return what the smallest two parts that were one lose apart, out of what they lose together."""
    if split.siblings is None:
        return None
    units = np.flatnonzero(split.siblings >= 0)
    both, side = microdata.of_units(units), split.siblings[units]
    clustering = clustering_of(both, plan, requirement, threads)
    apart, together = (
        total_loss(both, HERE.run(clustering, both, Cells.none_failing(both, cell_of), None))
        for cell_of in (side, np.zeros_like(side))
    )
    return None if together == 0 else apart / together


def _by_lattice(microdata: Microdata, plan: Plan, requirement: Requirement, budget: int) -> Solution:
    space = make_space(microdata, plan.method.limits, chosen=plan.method.levels)
    _refuse_chosen(space, plan, requirement, budget)
    best = find_optimum(space, requirement, budget, plan.method.objective)
    if best is None or best.withheld == len(microdata.record_of):
        raise NoSolution(_no_node(space, requirement, budget, plan.method.levels))
    details = {
        "objective": plan.method.objective,
        "score": round(best.score, 12),
        "lattice": {
            "nodes": best.nodes,
            "checked": best.checked,
            "below_infeasible": best.below_infeasible,
            "by_bound": best.by_bound,
        },
    }
    return at_node(space, requirement, best.node, details)


def _by_research_value(
    microdata: Microdata,
    plan: Plan,
    requirement: Requirement,
    budget: int,
    progress: Steps | None,
    patience: Patience | None,
    hire: Hire,
    research: Research | None,
) -> Solution:
    method, budget = plan.method, min(budget, len(microdata.record_of) - 1)  # something must be released
    space = make_space(microdata, method.limits, most_nodes=None, chosen=method.levels)
    if research is None:
        _refuse_chosen(space, plan, requirement, budget)
        research = search_levels(space, plan, requirement, budget, progress, patience, hire)
    found = research
    if found.best is None:
        raise NoSolution(_no_string(space, requirement, budget, found, method.levels))
    details = {
        "objective": method.objective,
        "score": _rounded(found.best.value),
        "search": _search_facts(space, found),
    }
    return at_node(space, requirement, found.best.node, details)


def search_levels(
    space: Space,
    plan: Plan,
    requirement: Requirement,
    budget: int,
    progress: Steps | None,
    patience: Patience | None,
    hire: Hire,
) -> Research:
    """Search the lattice by research value, as the method of a plan says."""
    values, method = column_values(space.microdata, plan), plan.method
    tell = None if progress is None else lambda checked: progress(checked, 0)
    return search_research(space, requirement, budget, values, method.search, method.block, patience, tell, hire)


def at_node(space: Space, requirement: Requirement, node: Node, details: dict[str, Any]) -> Solution:
    """Publish a node of the lattice."""
    microdata = space.microdata
    recoding = recode(space, requirement, node).in_published_order(microdata)
    unknown = len(microdata.unknown)
    because = {"failing_group": microdata.records - recoding.released - unknown, "no_leaf": unknown}
    return Solution(recoding, because, False, {"levels": space.named(node), **details})


def _search_facts(space: Space, found: Research) -> dict[str, Any]:
    """What the search looked at, and the best of what it found."""
    return {
        "name": found.search,
        "strings": found.strings,
        "generated": found.generated,
        "tested": found.tested,
        "pruned": found.pruned,
        "conflicts": len(found.conflicts),
        "dropped": [space.columns[position].name for position in found.dropped],
        "proven": found.proven,
        "bound": _rounded(found.bound),
        "succeeded": found.succeeded,
        "successes": [
            {"levels": space.named(success.node), "value": _rounded(success.value), "at_root": success.at_root}
            for success in found.successes
        ],
    }


def _rounded(value: Fraction) -> float:
    return round(float(value), 12)


def _check_budget(microdata: Microdata, plan: Plan, withheld: int) -> None:
    allowed = None if plan.withhold is None else plan.withhold.records(microdata.records)
    if allowed is not None and withheld > allowed:
        message = f"{withheld:,} of {microdata.records:,} records must be withheld, but the plan allows {allowed:,}."
        raise NoSolution(_blocking(microdata, plan, "withhold-budget", message))


def _blocking(microdata: Microdata, plan: Plan, code: str, message: str) -> Problem:
    """Name the attribute, limit and change that matter most."""
    found = explain_limits(microdata, plan)
    for cause in found.causes[:3]:
        if cause.alone:
            message += f" The limit of {cause.attribute!r} ({cause.limit}) alone withholds {cause.alone:,}."
        elif cause.saves:
            message += f" Without the limit of {cause.attribute!r} ({cause.limit}) it would be {cause.saves:,} fewer."
    hints = [f"{lift.attribute}: {lift.change} saves {lift.saves:,}" for lift in found.lifts[:3]]
    return Problem(code, message, hint="; ".join(hints) or "lower k, or lift several limits together")


def _refuse_chosen(space: Space, plan: Plan, requirement: Requirement, budget: int) -> None:
    """Refuse the node that the owner chose, if the plan chooses one and it withholds too much, and say why it does."""
    if set(plan.method.levels or ()) != set(plan.quasi_identifiers):
        return
    node = (0,) * len(space.maps)
    failing = failing_at(space, plan, requirement, node)
    withheld = failing.withheld
    if withheld <= budget and withheld < len(space.microdata.record_of):
        return
    unknown = len(space.microdata.unknown)
    message = f"The chosen node {space.name(node)} would withhold {withheld:,} of {space.microdata.records:,} records, "
    message += f"but the plan allows {budget:,}" if withheld > budget else "and nothing would be released"
    message += f" beside {unknown:,} without a leaf." if unknown else "."
    for demand, records in failing.by_demand:
        message += f" {records:,} are in groups that fail {demand}."
    hint = "choose higher levels: 'hedgerow lattice' lists the nodes that meet the plan"
    if withheld < len(space.microdata.record_of):
        hint = f"allow it with withhold: {{at_most: {withheld + unknown}}}, or {hint}"
    raise NoSolution(Problem("chosen-node", message, hint=hint))


def _no_string(
    space: Space, requirement: Requirement, budget: int, found: Research, chosen: Mapping[str, int] | None
) -> Problem:
    """Say why a search by research value found nothing."""
    if found.proven:
        return _no_node(space, requirement, budget, chosen)
    message = f"The {found.search} search tested {found.tested:,} strings of levels, and none of them passes."
    longer = found.search in ("exact", "divided")
    hint = "give it a larger budget" if longer else "use search: exact, which finds one if there is one"
    return Problem("no-node", message, hint=hint)


def _no_node(space: Space, requirement: Requirement, budget: int, chosen: Mapping[str, int] | None = None) -> Problem:
    """Say how many records even the coarsest node withholds."""
    checker = make_checker(space, requirement, "loss")
    top = tuple(size - 1 for size in space.shape)
    withheld = checker.check(checker.base(), top).withheld
    fixed = " with " + ", ".join(f"{name} {level}" for name, level in chosen.items()) if chosen else ""
    message = (
        f"No node of the lattice{fixed} meets the plan: at most {budget:,} records may be withheld, "
        f"but even the coarsest node {space.name(top)} withholds {withheld:,}."
    )
    hint = f"allow it with withhold: {{at_most: {withheld}}}, or loosen limits or demands"
    return Problem("no-node", message, hint=f"{hint}, or choose fewer levels" if chosen else hint)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
