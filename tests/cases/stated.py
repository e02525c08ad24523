"""All the facts that a release written by hand must state: counted plainly from its rows, or harmless."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from hedgerow.plan import Plan
from hedgerow.verification.values.numbers import read_number, read_span
from hedgerow.verification.values.sensitive import Reader

Cell = Any


def matching(one: Sequence[Cell], other: Sequence[Cell]) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def text(cell: Cell) -> str | None:
    """A cell as a CSV file shows it."""
    return None if cell is None or cell == "" else str(cell).strip()


def facts_of(
    plan: Plan, header: Sequence[str], rows: Sequence[Sequence[Cell]], records: int, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return every fact that a release with this plan states; what is given stays as it is."""
    at = {name: header.index(name) for name in plan.released_columns if name in header}
    quasi = [name for name in plan.quasi_identifiers if name in at]
    rows = [[*row, *[None] * (len(header) - len(row))] for row in rows]
    cells = [tuple(text(row[at[name]]) for name in quasi) for row in rows]
    sizes = Counter(cells)
    matched = {
        one: sum(count for other, count in sizes.items() if matching(one, other))
        if plan.missing == "matches-any"
        else own
        for one, own in sizes.items()
    }
    number = {group: index for index, group in enumerate(dict.fromkeys(cells))}
    listed: list[list[Any]] = []
    shares: dict[str, float] = {}
    for name in plan.columns("sensitive"):
        values = _by_group(plan, name, [row[at[name]] for row in rows], cells) if name in at else {}
        listed += [[number[group], name] for group, found in values.items() if len(found) == 1]
        shares[name] = max((max(found.values()) / found.total() for found in values.values() if found), default=0.0)
    released, breaks = len(rows), dict.fromkeys(plan.quasi_identifiers, 0)
    withheld = given.get("withheld", records - released)
    total = given.get("records", records)
    total = total if type(total) is int else records
    withheld = withheld if type(withheld) is int else records - released
    on_lattice = plan.method.name == "lattice"
    if given.get("limits_broken") and breaks:
        breaks[next(iter(breaks))] = given["limits_broken"]
    facts: dict[str, Any] = {
        "version": "0",
        "plan": plan.digest(),
        "seed": plan.seed,
        "method": plan.method.name,
        "privacy": json.loads(json.dumps(plan.short()["privacy"], default=float)),
        "k": plan.privacy.k,
        "records": records,
        "released": released,
        "withheld": records - released,
        "groups": len(sizes),
        "smallest_group": min(matched.values(), default=0),
        "largest_group": max(sizes.values(), default=0),
        "group_sizes": {str(size): count for size, count in sorted(Counter(sizes.values()).items())},
        "group_risk_sizes": _by_size((matched[group], count) for group, count in sizes.items()),
        "limits": "kept" if plan.keeps_limits else "ignored",
        "limits_broken": 0,
        "limits_broken_by_attribute": breaks,
        "limits_by_attribute": {},
        "loss": 0.5,
        "loss_by_attribute": dict.fromkeys(plan.quasi_identifiers, 0.5),
        "share_lost_by_attribute": dict.fromkeys(plan.quasi_identifiers, 0.5),
        "ntil": 0.5,
        "most_loss": None,
        "ncp": 0.5,
        "granularity": 0.5,
        "entropy": 0.5,
        "bits_by_attribute": dict.fromkeys(plan.quasi_identifiers, 0.5),
        "bits_lost_by_attribute": dict.fromkeys(plan.quasi_identifiers, 0.5),
        "discernibility": sum(size * size for size in sizes.values()) + total * withheld,
        "normalized_average_group_size": float(Fraction(total, len(sizes) * plan.privacy.k)) if sizes else None,
        "research_value": 0.5,
        "research_value_by_attribute": dict.fromkeys(plan.quasi_identifiers, 0.5),
        "mean_group_value": 0.5,
        "exact_end_points": {},
        "attribute_disclosures": {
            "count": len(listed),
            "by_attribute": dict(Counter(name for _, name in listed)),
            "listed": listed,
        },
        "largest_share_of_one_value": shares,
        "columns_released": list(plan.released_columns),
        "columns_not_released": sorted(
            {*plan.columns("identifier"), *(name for name in (plan.key, plan.person) if name is not None)}
        ),
        "columns_not_in_plan": 0,
    }
    if on_lattice:
        facts |= {"levels": {}, "objective": plan.method.objective, "score": 0.5}
        facts["search" if plan.method.objective == "research-value" else "lattice"] = {}
    else:
        facts["blocks"] = min(released, 1)
    if plan.rules:
        facts["rules"] = []
    if plan.missing == "matches-any":
        facts["missing"] = plan.missing
    if plan.method.suppress:
        facts |= {"suppressed_cells": {}, "least_rows_for_a_known_person": None}
    if plan.person is not None:
        facts |= {"persons": records, "smallest_group_persons": min(sizes.values(), default=0)}
    return facts | dict(given)


def exact_ends(plan: Plan, pairs: Mapping[str, Sequence[tuple[Cell, Cell]]]) -> dict[str, int]:
    """Count, by free column, the records whose own value is a published end, from pairs of value and label."""
    found = {}
    for name, cells in pairs.items():
        if plan.attributes[name].free:
            found[name] = sum(
                _is_end(str(value).strip(), str(label))
                for value, label in cells
                if value not in (None, "") and label not in (None, "") and plan.attributes[name].snap is None
            )
    return found


def _is_end(value: str, label: str) -> bool:
    span = read_span(label)
    return span is not None and (span.style == "number" or read_number(value) in (span.low, span.high))


def _by_group(
    plan: Plan, name: str, values: Sequence[Cell], cells: Sequence[tuple[Cell, ...]]
) -> dict[tuple[Cell, ...], Counter[Any]]:
    missing = set(plan.data.missing)
    texts = [None if value is None or str(value).strip() in missing else str(value).strip() for value in values]
    reader = Reader.of(plan.attributes[name], [value for value in dict.fromkeys(texts) if value is not None])
    found: dict[tuple[Cell, ...], Counter[Any]] = {group: Counter() for group in cells}
    for value, group in zip(texts, cells, strict=True):
        reading = None if value is None else reader.read(value)
        if reading is not None:
            found[group][reading.way] += 1
    return found


def _by_size(pairs: Any) -> dict[str, int]:
    rows: Counter[int] = Counter()
    for size, count in pairs:
        rows[size] += count
    return {str(size): rows[size] for size in sorted(rows)}
