"""Everything that can be wrong with a plan, found in one go, each problem with its place and a hint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hedgerow.errors import PlanError, Problem, did_you_mean
from hedgerow.outside.server import is_server
from hedgerow.outside.stores import is_in_spark
from hedgerow.plan.check_levels import check_levels
from hedgerow.plan.check_publish import check_publish
from hedgerow.plan.check_treat import treat_faults
from hedgerow.plan.check_unit import check_unit
from hedgerow.plan.check_value import check_rules, check_weights
from hedgerow.plan.concepts import METHODS, PRIVACY_MODELS, objectives
from hedgerow.plan.grammar import part_of_grammar, validate
from hedgerow.plan.hierarchy.builders import ROOT
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from hedgerow.plan.hierarchy.limits import nodes_by_name
from hedgerow.plan.hierarchy.numbers import parse_number
from hedgerow.plan.hierarchy.tree import Hierarchy
from hedgerow.plan.model import (
    EVERY,
    Attribute,
    HierarchySpec,
    Limit,
    PlanModel,
    Point,
    PopulationTable,
    ResearchValue,
    Role,
    Rule,
    SamplingWeight,
    Treatment,
    Withhold,
    spec_of,
)
from hedgerow.plan.places import Places

PARTS_BY_ROLE: dict[str, set[str]] = {
    "quasi-identifier": {
        "hierarchy",
        "intervals",
        "limit",
        "snap",
        "publish",
        "decimals",
        "weight",
        "numeric",
        "treat",
    },
    "sensitive": {"hierarchy", "weight", "level", "treat"},
    "identifier": set(),
    "other": {"treat", "publish"},
}


LEVELED = ("quasi-identifier",)
"""Roles of columns that a method of whole levels publishes at one level: only these may repeat labels."""


def parse(raw: Any, places: Places, base: Path | None) -> tuple[PlanModel | None, list[Problem]]:
    """Turn plain data into a plan; return what could be read and every problem found."""
    if not isinstance(raw, Mapping):
        hint = "start with 'attributes:' and 'privacy: {k: 5}'"
        from hedgerow.plan.formats import table_endings

        if places.file.lower().endswith(tuple(table_endings())):
            hint = "this looks like a table: DATA comes first, then PLAN"
        return None, [Problem("yaml", "A plan must be a mapping of keys to values.", places.of(()), hint)]
    try:
        model = validate(raw)
    except ValidationError as error:
        problems = [_problem(details, places) for details in error.errors()]
        return None, problems + _check_readable_parts(raw, places, base)
    problems = []
    attributes = {}
    for name, attribute in model.attributes.items():
        attributes[name], found = _check_attribute(name, attribute, places, base, model.method.name)
        problems += found
    model = model.model_copy(update={"attributes": attributes})
    if model.population is not None and model.population.file is not None:
        if base is None:
            message = "A plan that is taken from elsewhere may not name files of this machine."
            hint = "leave 'population.file' out, and give the table when you run"
            problems.append(Problem("no-population", message, places.of(("population",)), hint))
        elif is_server(model.population.file) or is_in_spark(model.population.file):
            pass
        elif "://" in model.population.file:  # it may hold a password, so it is not shown
            message = "'population' is the address of no place that a population can be read from."
            hint = "name a file, a table on a PostgreSQL or MariaDB server, or table:NAME of Spark's catalogue"
            problems.append(Problem("table-address", message, places.of(("population",)), hint))
        else:
            beside = model.population.model_copy(update={"file": str(base / model.population.file)})
            model = model.model_copy(update={"population": beside})
    return model, problems + _check_k(model.privacy.k, places) + _check_whole(model, places)


def _check_readable_parts(raw: Mapping[str, Any], places: Places, base: Path | None) -> list[Problem]:
    """Find the deeper problems of those parts of a plan that can be read although others cannot."""
    problems: list[Problem] = []
    columns = raw.get("attributes")
    for name, part in columns.items() if isinstance(columns, Mapping) else ():
        with suppress(ValidationError):
            known = _known_keys(part, (*Attribute.model_fields, "limits"))
            problems += _check_attribute(name, Attribute.model_validate(known), places, base, _method_name(raw))[1]
    with suppress(ValidationError):
        known = _known_keys(raw.get("privacy"), part_of_grammar("privacy").model_fields)
        problems += _check_k(dict(part_of_grammar("privacy").model_validate(known))["k"], places)
    return problems


def _method_name(raw: Mapping[str, Any]) -> str:
    """Return the method that plain data asks for, as far as it can be read."""
    method = raw.get("method")
    return str(method.get("name") if isinstance(method, Mapping) else method)


def _known_keys(part: Any, names: Iterable[str]) -> Any:
    """Leave out the keys that were reported as unknown already."""
    return {key: value for key, value in part.items() if key in set(names)} if isinstance(part, Mapping) else part


# -- problems that the schema finds ----------------------------------------------------------------------------------


def _problem(details: ErrorDetails, places: Places) -> Problem:
    loc = tuple(part for part in details["loc"])
    if loc == ("weights",) and "column" in details.get("ctx", {}):
        loc = ("weights", details["ctx"]["column"])
    place = places.of(_in_file(loc, places))
    kind, seen = details["type"], details["input"]
    name = _dotted(loc)
    if kind == "extra_forbidden":
        return _unknown_key(loc, place)
    if kind == "missing":
        hint = {"privacy": "add: privacy: {k: 5}", "k": "add k, for example k: 5", "role": _roles_hint("")}.get(
            str(loc[-1]), ""
        )
        return Problem("missing-key", f"{name!r} is required but missing.", place, hint)
    if loc[-1:] == ("role",) or (kind == "literal_error" and len(loc) == 2 and loc[0] == "attributes"):
        return Problem(
            "wrong-value", f"{name!r} must be a role. Got {_shown(seen)} instead.", place, _roles_hint(str(seen))
        )
    wanted = {
        "literal_error": "must be " + str(details.get("ctx", {}).get("expected", "one of the known words")),
        "int_parsing": "must be a whole number",
        "int_from_float": "must be a whole number",
        "int_type": "must be a whole number",
        "string_type": "must be text",
        "string_pattern_mismatch": "must be one plain character",
        "tuple_type": "must be a list",
        "dict_type": "must be a mapping of keys to values",
        "model_type": "must be a mapping of keys to values",
        "model_attributes_type": "must be a mapping of keys to values",
        "too_short": "must not be empty",
        "too_long": "has too many items",
    }.get(kind, details["msg"][:1].lower() + details["msg"][1:])
    hint = ""
    if kind == "literal_error":
        hint = did_you_mean(str(seen), _expected(loc))
    return Problem("wrong-value", f"{name!r} {wanted}. Got {_shown(seen)} instead.", place, hint)


def _unknown_key(loc: tuple[Any, ...], place: str) -> Problem:
    key, around = str(loc[-1]), loc[:-1]
    where = f" in {_dotted(around)!r}" if around else ""
    known = [field.alias or name for name, field in _model_at(around).model_fields.items() if name != "nodes"]
    if _model_at(around) is Attribute:
        known.append("limits")
    return Problem("unknown-key", f"Unknown key {key!r}{where}.", place, did_you_mean(key, known))


def _model_at(loc: tuple[Any, ...]) -> type[BaseModel]:
    if loc and loc[0] == "attributes":
        if loc[2:3] == ("treat",):
            return Point if loc[3:4] in (("top",), ("bottom",)) else Treatment
        models: dict[str, type[BaseModel]] = {"hierarchy": HierarchySpec, "limit": Limit}
        return models.get(str(loc[2]), Attribute) if len(loc) > 2 else Attribute
    models = {
        "data": part_of_grammar("data"),
        "privacy": part_of_grammar("privacy"),
        "method": part_of_grammar("method"),
        "withhold": Withhold,
        "rules": Rule,
        "research_value": ResearchValue,
        "population": PopulationTable,
        "weight": SamplingWeight,
    }
    return models.get(str(loc[0]), PlanModel) if loc else PlanModel


def _expected(loc: tuple[Any, ...]) -> tuple[str, ...]:
    field = _model_at(loc[:-1]).model_fields.get(str(loc[-1]))
    return _words(field.annotation) if field is not None else ()


def _words(annotation: Any) -> tuple[str, ...]:
    """List the words that a (possibly optional) literal type admits."""
    parts = get_args(annotation)
    return tuple(word for part in parts for word in ((part,) if isinstance(part, str) else _words(part)))


def _roles_hint(seen: str) -> str:
    return did_you_mean(seen, get_args(Role)) or "known here: " + ", ".join(get_args(Role))


def _in_file(loc: tuple[Any, ...], places: Places) -> tuple[Any, ...]:
    """Undo the widening of short forms: the file may say ``limits`` where the model says ``limit``."""
    if len(loc) >= 3 and loc[0] == "attributes" and loc[2] == "limit":
        spelled = (*loc[:2], "limits")
        if spelled in places.marks:
            return (*spelled, *(part for part in loc[3:] if part != "nodes"))
    return tuple(part for part in loc if part not in ("nodes", EVERY))


def _dotted(loc: tuple[Any, ...]) -> str:
    return ".".join(str(part) for part in loc if part != EVERY) or "plan"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return "nothing" if value is None else repr(value)


# -- problems of one attribute ---------------------------------------------------------------------------------------


def _check_attribute(
    name: str, attribute: Attribute, places: Places, base: Path | None, method: str
) -> tuple[Attribute, list[Problem]]:
    at: tuple[Any, ...] = ("attributes", name)
    problems: list[Problem] = []

    def report(code: str, message: str, hint: str = "", part: str = "") -> None:
        where = _in_file((*at, part), places) if part else at
        problems.append(Problem(code, message, places.of(where), hint))

    def attempt(action: Callable[[], Any], part: str) -> Any:
        try:
            return action()
        except PlanError as error:
            for problem in error.problems:
                place = places.of(_in_file((*at, part), places))
                message = f"Column {name!r}: {problem.message}"
                if problem.place:
                    message = f"{message} (in {problem.place})"
                problems.append(Problem(problem.code, message, place, problem.hint))
            return None

    if attribute.weight is not None and attribute.weight <= 0:
        report("wrong-value", f"Column {name!r}: 'weight' must be above 0.", "leave it out for the default", "weight")
    may_have = PARTS_BY_ROLE[attribute.role]
    for part in set[str]().union(*PARTS_BY_ROLE.values()):
        if getattr(attribute, part) is not None and part not in may_have:
            hint = "only quasi-identifiers are coarsened" if attribute.role != "quasi-identifier" else "use 'limit'"
            if part == "treat":
                hint = "identifiers are never published"
            if part == "publish":
                hint = "it is for the plan's weight, with the role other"
            report("conflict", f"Column {name!r} is {attribute.role!r}, so it cannot have {part!r}.", hint, part)
    if attribute.treat is not None:
        for message, hint in treat_faults(attribute):
            report("conflict", f"Column {name!r}: {message}", hint, "treat")
    if attribute.hierarchy is not None and attribute.free and attribute.limit is not None:
        message = f"Column {name!r} has a hierarchy and free intervals, so its limit could mean two things."
        report("conflict", message, "keep one of the two, or leave the limit out", "intervals")
    if attribute.snap is not None and (not attribute.free or attribute.snap <= 0):
        report("conflict", f"Column {name!r}: 'snap' must be above 0 and goes with 'intervals: free'.", "", "snap")
    if attribute.free and attribute.unknown == "own-leaf-under-root":
        message = f"Column {name!r}: free intervals have no root to hang a leaf under."
        report("conflict", message, "use error or withhold", "unknown")
    spec, tree = attribute.hierarchy, None
    if spec is not None:
        kind = HIERARCHY_KINDS[spec.kind]
        if kind.is_file and base is None:
            message = f"Column {name!r}: a plan that is taken from elsewhere may not name files of this machine."
            report("hierarchy-file", message, "write the hierarchy out as a tree", "hierarchy")
        else:
            tree = attempt(lambda: kind.check(spec, base or Path()), "hierarchy")
        if tree is not None and not (method in METHODS and METHODS[method].needs_levels and attribute.role in LEVELED):
            place = str((base or Path()) / spec.file) if kind.is_file and spec.file is not None else ""
            tree = attempt(partial(tree.with_plain_labels, place), "hierarchy")
        if kind.is_file and tree is not None:
            attribute = attribute.model_copy(update={"hierarchy": spec_of(tree)})
    if attribute.numeric is False and attribute.free:
        message = f"Column {name!r}: free intervals are numbers."
        report("conflict", message, "leave 'numeric' out, or use a hierarchy instead of the intervals", "numeric")
    leaves = () if tree is None else tree.leaves
    of_numbers = spec is not None and HIERARCHY_KINDS[spec.kind].of_numbers
    of_numbers = of_numbers and all(parse_number(leaf) is not None for leaf in leaves)
    if attribute.numeric and not attribute.free and not of_numbers and attribute.role == "quasi-identifier":
        message = f"Column {name!r}: 'numeric' wants a hierarchy of numbers."
        report("conflict", message, "use bands, cuts or free intervals, or leave it out", "numeric")
    if attribute.free and spec is not None and not of_numbers:
        message = f"Column {name!r} has free intervals, so its hierarchy must be one of numbers."
        report("conflict", message, "keep one of the two", "intervals")
    if attribute.publish == "set" and (spec is not None or attribute.free):
        message = f"Column {name!r}: sets of values are for columns without a hierarchy or intervals."
        report("conflict", message, "leave 'publish' out, or the other", "publish")
    of_numbers_of_groups = attribute.role == "quasi-identifier" and attribute.publish in ("mean", "median")
    if of_numbers_of_groups and (not attribute.free or attribute.snap is not None):
        message = f"Column {name!r}: 'publish: {attribute.publish}' is for free intervals without 'snap'."
        report("conflict", message, "use intervals: free, or leave 'publish' out", "publish")
    if attribute.decimals is not None and not of_numbers_of_groups:
        message = f"Column {name!r}: 'decimals' goes with publish: mean or median."
        report("conflict", message, "leave it out", "decimals")
    if not problems:
        if attribute.limit is not None:
            _check_limit(name, attribute, tree, attempt, report)
        if attribute.level is not None:
            height = _height(spec, tree)
            if height is not None and (attribute.level > height or spec is None):
                message = f"Column {name!r}: 'level' must be one of its hierarchy. Got {attribute.level} instead."
                hint = f"use a level from 0 to {height}" if spec is not None else "give the column a hierarchy"
                report("limit-level", message, hint, "level")
    return attribute, problems


def _check_limit(
    name: str,
    attribute: Attribute,
    tree: Hierarchy | None,
    attempt: Callable[[Callable[[], Any], str], Any],
    report: Callable[..., None],
) -> None:
    limit, spec = attribute.limit, attribute.hierarchy
    assert limit is not None
    if limit.values is not None:
        if attribute.publish != "set":
            message = f"Column {name!r}: a limit of values is one of sets."
            report("limit-kind", message, "add publish: set, or limit it by levels or nodes", "limit")
    elif attribute.free != (limit.cuts is not None or limit.width is not None):
        wants = "cuts and/or a width" if attribute.free else "a level or node names"
        hint = "limit: {cuts: [50000], width: 20000}" if attribute.free else "limit: {level: 1}"
        report("limit-kind", f"Column {name!r}: its limit must be {wants}.", hint, "limit")
    elif limit.level is not None:
        height = _height(spec, tree)
        if height is not None and limit.level > height:
            message = f"Column {name!r}: level {limit.level} is above the hierarchy, whose root is at level {height}."
            report("limit-level", message, f"use a level from 0 to {height}", "limit")
    elif limit.nodes is not None and tree is not None:
        attempt(lambda: nodes_by_name(tree, limit.nodes or ()), "limit")
    elif limit.nodes is not None and spec is not None:
        for node in limit.nodes:
            if not _could_be_node(spec, node):
                message = f"Column {name!r}: limit {node!r} is not a node that the hierarchy can have."
                report("unknown-limit", message, HIERARCHY_KINDS[spec.kind].node_names, "limit")
    elif attribute.snap is not None:
        if limit.width is not None and limit.width < attribute.snap - 1:
            message = f"Column {name!r}: a width below one step of 'snap' admits no value at all."
            report("conflict", message, "widen it, or narrow the grid", "limit")
        if any(cut % attribute.snap != 0 for cut in limit.cuts or ()):
            report(
                "conflict",
                f"Column {name!r}: cut points must lie on the grid of 'snap'.",
                "change one of the two",
                "limit",
            )


def _height(spec: HierarchySpec | None, tree: Hierarchy | None) -> int | None:
    if tree is not None:
        return tree.height
    return 1 if spec is None else HIERARCHY_KINDS[spec.kind].height(spec)


def _could_be_node(spec: HierarchySpec, name: str) -> bool:
    """Tell whether a hierarchy made by a rule could have a node of this name."""
    return name.strip() == ROOT or HIERARCHY_KINDS[spec.kind].could_be_node(spec, name)


# -- problems of the plan as a whole ---------------------------------------------------------------------------------


def _check_k(k: int, places: Places) -> list[Problem]:
    if k >= 2:
        return []
    message = f"'privacy.k' must be at least 2. Got {k} instead."
    return [Problem("k-too-small", message, places.of(("privacy", "k")), "5 is a common choice")]


def _check_whole(model: PlanModel, places: Places) -> list[Problem]:
    problems = []
    if not model.quasi_identifiers:
        hint = "mark the columns that somebody could know from elsewhere, such as age and place, as quasi-identifier"
        problems.append(
            Problem("no-quasi-identifier", "No column is a quasi-identifier.", places.of(("attributes",)), hint)
        )
    for name in model.data.missing_in:
        if name not in model.named_columns:
            hint = did_you_mean(name, model.named_columns)
            message = f"'data.missing_in' names {name!r}, which is not a column of the plan."
            problems.append(Problem("conflict", message, places.of(("data", "missing_in", name)), hint))
    problems += _check_demands(model, places) + _check_method(model, places) + _check_population(model, places)
    problems += check_rules(model, places) + check_weights(model, places) + check_levels(model, places)
    if model.missing == "matches-any" and model.person is not None:
        message = "'missing: matches-any' does not go with a person key."
        problems.append(Problem("conflict", message, places.of(("missing",)), "leave one of the two out"))
    problems += check_unit(model, places) + check_publish(model, places)
    for part in ("key", "person"):
        column = getattr(model, part)
        role = model.attributes[column].role if column in model.attributes else "identifier"
        if column is not None and role != "identifier":
            message = f"Column {column!r} is the plan's {part!r}, so it must be an identifier. Got {role!r} instead."
            problems.append(Problem("conflict", message, places.of(("attributes", column)), "keys are never released"))
    return problems


def _check_demands(model: PlanModel, places: Places) -> list[Problem]:
    """Find demands on columns that are not sensitive, and demands that contradict k or the hierarchy."""
    problems = []
    sensitive = model.columns("sensitive")
    for name, asked in model.privacy.asked.items():
        place = places.of(("privacy", name))
        if asked and not sensitive:
            message = f"'privacy.{name}' asks about sensitive columns, but none is sensitive."
            problems.append(Problem("conflict", message, place, "give some column the role sensitive"))
            continue
        for column in asked:
            if column != EVERY and column not in sensitive:
                message = f"'privacy.{name}' names {column!r}, which is not a sensitive column."
                problems.append(Problem("conflict", message, place, did_you_mean(column, sensitive)))
    for column in sensitive:
        for name, demand in model.privacy.demands(column).items():
            asks, place = PRIVACY_MODELS[name], places.of(("privacy", name))
            count = asks.least_values(demand)
            if count > model.privacy.k:
                message = f"'privacy.{name}' asks for {count} different values in groups of k = {model.privacy.k}."
                problems.append(Problem("conflict", message, place, "let k be at least as large"))
            for message, hint in asks.conflicts(column, model.attributes[column], demand):
                problems.append(Problem("conflict", message, place, hint))
    return list(dict.fromkeys(problems))


def _check_population(model: PlanModel, places: Places) -> list[Problem]:
    """Find demands on a population that there is none for, or that the method cannot keep."""
    problems = []
    for name in (model.population.columns or {}) if model.population is not None else ():
        if name not in model.quasi_identifiers:
            message = f"'population.columns' names {name!r}, which is not a quasi-identifier."
            place, hint = places.of(("population",)), did_you_mean(name, model.quasi_identifiers)
            problems.append(Problem("conflict", message, place, hint))
    for name in model.columns("quasi-identifier") if model.population is not None else ():
        if model.attributes[name].treat is not None:
            message = f"Column {name!r} is treated, so people of a population cannot be counted by it."
            place = places.of(("attributes", name, "treat"))
            problems.append(Problem("conflict", message, place, "coarsen it by a hierarchy instead"))
    if model.weight is not None:
        column, place = model.weight.column, places.of(("weight",))
        role = model.attributes[column].role if column in model.attributes else "identifier"
        if role not in ("identifier", "other"):
            message = (
                f"Column {column!r} holds sampling weights, so it must be other or identifier. Got {role!r} instead."
            )
            hint = "other publishes them, identifier does not"
            problems.append(Problem("conflict", message, places.of(("attributes", column)), hint))
        treat = model.attributes[column].treat if column in model.attributes else None
        if treat is not None and (treat.open_ends or not treat.of_numbers):
            message = f"Column {column!r} holds sampling weights, which must stay numbers."
            problems.append(Problem("conflict", message, places.of(("attributes", column, "treat")), "round them only"))
        if model.person is not None:
            message = "Weights say how many people a record stands for, so every record must be a person of its own."
            problems.append(Problem("conflict", message, place, "leave out the person, or the weight"))
    asked = [name for name in ("k_map", "presence") if getattr(model.privacy, name) is not None]
    for name in asked:
        place = places.of(("privacy", name))
        reasons = {
            "suppressed cells": model.method.suppress or model.missing == "matches-any",
            "overlap: forbidden": model.method.overlap == "forbidden",
            "the lattice by research value": METHODS[model.method.name].needs_levels
            and model.method.objective == "research-value",
        }
        for reason in (reason for reason, there in reasons.items() if there):
            message = f"'privacy.{name}' does not go with {reason}."
            problems.append(Problem("conflict", message, place, "leave one of the two out"))
    return problems


def _check_method(model: PlanModel, places: Places) -> list[Problem]:
    """Find options that the method does not have, and columns that it cannot work on."""
    method, problems = model.method, []

    def conflict(message: str, part: str, hint: str) -> None:
        problems.append(Problem("conflict", message, places.of(("method", part)), hint))

    way = METHODS[method.name]
    if way.needs_levels:
        for column in model.quasi_identifiers:
            if model.attributes[column].free and model.attributes[column].hierarchy is None:
                message = f"Column {column!r} has free intervals, but the {way.title} needs levels."
                hint = "give it a hierarchy such as bands, or use method: cluster"
                problems.append(Problem("conflict", message, places.of(("attributes", column)), hint))
    elif method.limits == "whole-levels":
        conflict("'method.limits: whole-levels' goes with the lattice only.", "limits", "use keep")
    if "objective" not in way.options and method.objective != "loss":
        message = f"'method.objective: {method.objective}' does not go with method {method.name}, which has its own."
        conflict(message, "objective", f"leave it out, or use method {_one_of(_having('objective'))}")
    elif method.objective not in way.objectives and "objective" in way.options:
        those = [one.name for one in METHODS if method.objective in one.objectives and "objective" in one.options]
        message = f"'method.objective: {method.objective}' goes with {_both(those)} only."
        conflict(message, "objective", f"use {_one_of(way.objectives)}")
    elif way.objective_if_improved and method.objective != "loss" and method.improve == "off":
        message = f"'method.objective' goes with method {method.name} only if it is improved."
        conflict(message, "objective", "add improve: quick, or leave it out")
    if method.improve != "off":
        if "improve" not in way.options:
            message = f"'method.improve' does not go with method {method.name}."
            conflict(message, "improve", f"use it with {_one_of(_having('improve'))}")
        if method.suppress or method.overlap == "forbidden":
            message = "'method.improve' does not go with 'suppress', nor with 'overlap: forbidden'."
            conflict(message, "improve", "leave one of the two out")
        if "objective" in way.options and objectives()[method.objective].sizes and method.improve != "steps":
            message = (
                f"'method.objective: {method.objective}' is about sizes of groups, which improve: steps alone keeps."
            )
            conflict(message, "improve", "use improve: steps, or leave it out")
        by_points = "objective" in way.options and objectives()[method.objective].squared
        if by_points and method.improve in ("il-optimization", "steps"):
            message = f"'method.objective: {method.objective}' does not go with improve: {method.improve}."
            conflict(message, "improve", "use improve: quick, thorough or longest")
    if method.certify is not None:
        goal = objectives()[method.goes_by]
        if goal.cost_of_nodes is None and (way.needs_levels or goal.objective != "research-value"):
            message = f"'method.certify' wants a loss that adds up over records. Got {goal.objective} instead."
            conflict(message, "certify", "use objective loss, ncp or granularity, or leave it out")
        if method.suppress:
            conflict("'method.certify' does not go with 'suppress'.", "certify", "leave one of the two out")
    if method.search != "exact" and not ("search" in way.options and method.objective == "research-value"):
        message = f"'method.search: {method.search}' goes with the lattice by research value only."
        conflict(message, "search", "use {name: lattice, objective: research-value}, or leave it out")
    if method.split is not None and "split" not in way.options:
        message = f"'method.split' goes with method {_both(_having('split'))} only."
        conflict(message, "split", "use {name: cluster, split: …}, or leave it out")
    if method.overlap == "forbidden":
        if "overlap" not in way.options:
            message = f"'method.overlap' goes with {_both(_having('overlap'))} only."
            conflict(message, "overlap", "choose one of these methods, or leave it out")
        for column in model.quasi_identifiers:
            limit = model.attributes[column].limit
            if limit is not None and limit.width is not None:
                message = f"'method.overlap: forbidden' widens ranges, but column {column!r} has a greatest width."
                conflict(message, "overlap", "use cuts as its limit, or allow overlap")
    if method.suppress:
        if "suppress" not in way.options:
            message = f"'method.suppress' goes with method {_both(_having('suppress'))} only."
            conflict(message, "suppress", "choose it, or leave this out")
        if model.missing != "matches-any":
            message = "'method.suppress' makes cells missing on one side of a group only."
            hint = "say that this is meant with missing: matches-any at the top of the plan, or leave it out"
            conflict(message, "suppress", hint)
        may = {one.name for one in PRIVACY_MODELS if one.with_suppression}
        if any(set(model.privacy.demands(column)) - may for column in model.columns("sensitive")):
            message = f"'method.suppress' goes with k and {', '.join(sorted(may))} only."
            conflict(message, "suppress", "leave the other demands on sensitive columns out, or do not suppress")
        if model.method.limits == "ignore":
            conflict("'method.suppress' does not go with ignored limits.", "suppress", "leave one of the two out")
    return problems


def _having(option: str) -> list[str]:
    """Name the methods that have an option."""
    return [method.name for method in METHODS if option in method.options]


def _both(names: Sequence[str]) -> str:
    """Write a list as people say it: a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def _one_of(names: Sequence[str]) -> str:
    """Write a choice as people say it: a, b or c."""
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
