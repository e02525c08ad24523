"""From a plan to what can be entered in ARX: its hierarchies as files, and a note of the settings."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hedgerow.anonymization.resolving import resolve
from hedgerow.engines.opening import open_engine
from hedgerow.errors import PlanError, Problem
from hedgerow.microdata import TreeColumn
from hedgerow.outside.outputs import new_folder
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy import Hierarchy

KINDS = {
    "quasi-identifier": "Quasi-identifying",
    "sensitive": "Sensitive",
    "other": "Insensitive",
    "identifier": "Identifying",
}
METRICS = {
    "loss": "Precision",
    "ncp": "Loss (nearly: a single value costs nothing here)",
    "granularity": "Loss, aggregated by arithmetic mean",
    "entropy": "Non-uniform entropy",
    "discernibility": "Discernibility",
    "group-size": "Average equivalence class size",
}
NOTES = "settings.txt"


def plan_to_arx(plan: Plan | str | Path, output: str | Path, data: Any = None) -> tuple[str, ...]:
    """Write the hierarchies of a plan as ARX imports them, and a note of what to set there.

    Parameters
    ----------
    plan
        The plan.
    output
        Folder to make.
    data
        The table, where hierarchies depend on it: bands, cuts, prefixes and dates.

    Returns
    -------
    tuple
        The settings, each a line, as in ``settings.txt``.

    Raises
    ------
    PlanError
        If a hierarchy depends on the data, and none is given.
    """
    asked = plan if isinstance(plan, Plan) else Plan.load(plan)
    trees = _trees(asked, data)
    files = {name: f"{number:02}-{_plain(name)}.csv" for number, name in enumerate(trees, 1)}
    settings = tuple(_settings(asked, files))
    with new_folder(Path(output), False, frozenset(), "the hierarchies") as folder:
        for name, tree in trees.items():
            (folder / files[name]).write_text(_table(tree), encoding="utf-8")
        (folder / NOTES).write_text("\n".join(settings) + "\n", encoding="utf-8")
    return settings


def _trees(plan: Plan, data: Any) -> dict[str, Hierarchy]:
    """Return the hierarchies, those of quasi-identifiers first."""
    stated = {
        name: Hierarchy.from_tree(spec.tree, as_printed=True)
        for name, attribute in plan.attributes.items()
        if (spec := attribute.hierarchy) is not None and spec.tree is not None
    }
    depend = [
        name for name in plan.quasi_identifiers if plan.attributes[name].hierarchy is not None and name not in stated
    ]
    if not depend or data is None:
        if depend:
            message = f"Hierarchies of {', '.join(map(repr, depend))} depend on the data."
            raise PlanError(Problem("usage", message, hint="give the table too: --data DATA"))
        return stated
    settled = plan.settled()
    with open_engine(data, settled) as source:
        microdata, _ = resolve(source.read(settled), plan)
    built = {
        column.name: column.hierarchy
        for column in microdata.columns
        if isinstance(column, TreeColumn) and column.name in depend
    }
    return {**{name: built[name] for name in depend if name in built}, **stated}


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:40] or "column"


def _table(tree: Hierarchy) -> str:
    """Write a hierarchy in lines of one length, as ARX asks for: what is short repeats its value at the start."""
    lines = [line for line in tree.paths() if not line[0].startswith("\0")]
    height = max(map(len, lines), default=1)
    text = io.StringIO(newline="")
    padded = ((line[0],) * (height - len(line)) + tuple(line) for line in lines)
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(padded)
    return text.getvalue()


def _settings(plan: Plan, files: dict[str, str]) -> Iterator[str]:
    yield "Settings for ARX, as this plan asks. Import the data, then set:"
    for name, attribute in plan.attributes.items():
        parts = [KINDS[attribute.role]]
        if name in files:
            parts.append(f"hierarchy from {files[name]}")
        if attribute.free:
            parts.append("free intervals have no counterpart: make a hierarchy of intervals")
        if attribute.limit is not None:
            level = attribute.limit.level
            parts.append(
                f"maximum level {level}" if level is not None else f"limit {attribute.limit.describe()}: no counterpart"
            )
        if attribute.weight is not None:
            parts.append(f"weight {attribute.weight}")
        yield f"attribute {name}: {'; '.join(parts)}"
    yield f"privacy model: {plan.privacy.k}-anonymity"
    for name in plan.columns("sensitive"):
        for model, demand in plan.privacy.demands(name).items():
            yield f"privacy model for {name}: {_model(model, demand)}"
    limit = "0%" if plan.withhold is None else str(plan.withhold.at_most)
    yield f"suppression limit: {limit}" + ("" if limit.endswith("%") else " records, as a share of the table")
    objective = plan.method.objective or "loss"
    yield f"quality model: {METRICS.get(objective, f'none that is {objective}')}"
    if plan.method.name != "lattice":
        yield f"method {plan.method.name}: ARX recodes whole columns to one level, as method: lattice does here"
    for key, used in (("person", plan.person), ("rules", plan.rules)):
        if used:
            yield f"{key}: no counterpart"


def _model(model: str, demand: Any) -> str:
    if model == "p":
        return f"distinct-{demand}-diversity"
    if model == "l":
        if demand.distinct is not None:
            return f"distinct-{demand.distinct}-diversity"
        if demand.entropy is not None:
            return f"Shannon-entropy-{demand.entropy}-diversity"
        return f"recursive-({demand.recursive[0]}, {demand.recursive[1]})-diversity"
    if model == "t":
        return f"{demand.at_most}-closeness, {demand.distance or 'by the default'} ground distance"
    if model == "beta":
        return f"{'enhanced' if demand.enhanced else 'basic'}-{demand.at_most}-likeness"
    if model == "delta":
        return f"{float(demand) / math.log(2):.6g}-disclosure privacy (by logarithms to base 2, as ARX has them)"
    return f"{model}: no counterpart"
