"""What a person wishes a hierarchy to be, read and built. No screen here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.drafting.column import Column
from hedgerow.errors import PlanError, Problem
from hedgerow.hierarchy import Hierarchy, builders
from hedgerow.hierarchy.numbers import Number, number_label, parse_number
from hedgerow.plan import Attribute


@dataclass(frozen=True)
class Wanted:
    """What a person has chosen.

    Attributes
    ----------
    keys
        What would stand in the plan for the column.
    built
        The tree over the values that occur; None for free intervals.
    """

    keys: dict[str, Any]
    built: builders.Built | None


def wanted(kind: str, typed: dict[str, Any], labels: list[str], given: Hierarchy | None = None) -> Wanted:
    """Read what a person typed and build the tree of it.

    Raises
    ------
    PlanError
        Saying what is wrong with it.

    Examples
    --------
    >>> found = wanted("bands", {"bands": "5, 20", "unknown": "error"}, ["37", "41"])
    >>> found.keys["hierarchy"], found.built.hierarchy.paths()[0]
    ({'bands': [5, 20]}, ('37', '35-39', '20-39', '*'))
    """
    unknown = typed.get("unknown", "error")
    keys: dict[str, Any] = {"intervals": None, "snap": None, "numeric": None, "hierarchy": None, "unknown": unknown}
    if kind == "free":
        snap = _numbers(typed.get("snap", ""))
        if len(snap) > 1:
            raise PlanError(Problem("wrong-value", "This must be one number.", hint="write decimals with a point"))
        fits = unknown if unknown != "own-leaf-under-root" else "error"
        return Wanted(keys | {"intervals": "free", "snap": snap[0] if snap else None, "unknown": fits}, None)
    if kind == "flat":
        return Wanted(keys, builders.flat(sorted(labels)))
    if kind == "tree":
        if given is None:
            raise PlanError(Problem("hierarchy-file", "No file has been given yet.", hint="drop one above"))
        return Wanted(keys | {"hierarchy": {"tree": given.tree()}}, builders.place_in(given, labels))
    if kind == "bands":
        widths = _numbers(typed["bands"])
        return Wanted(keys | {"hierarchy": {"bands": widths}}, builders.bands(labels, widths))
    if kind == "cuts":
        lists = [_numbers(line) for line in str(typed["cuts"]).splitlines() if line.strip()]
        return Wanted(keys | {"hierarchy": {"cuts": lists}}, builders.cuts(labels, lists))
    if kind == "prefix":
        kept = [int(number) for number in _numbers(typed["prefix"])]
        length = typed.get("length")
        rule: dict[str, Any] = {"prefix": kept} | ({"length": length} if length else {})
        return Wanted(keys | {"hierarchy": rule}, builders.prefixes(labels, kept, length))
    levels = [level for level in builders.DATE_LEVELS if level in (typed.get("dates") or ())]
    form = str(typed.get("form") or "").strip() or None
    spec: dict[str, Any] = {"dates": levels} | ({"form": form} if form else {})
    return Wanted(keys | {"hierarchy": spec}, builders.dates(labels, levels, form))


def _numbers(text: Any) -> list[Number]:
    parts = str(text or "").replace(";", ",").replace(",", " ").split()
    found = [parse_number(part) for part in parts]
    if None in found:
        message = "This must be a list of numbers."
        raise PlanError(
            Problem(
                "wrong-value", message, hint="put commas between them, and points before decimals, such as 2.5, 5, 10"
            )
        )
    return [number for number in found if number is not None]


def first_choice(column: Column, attribute: Attribute) -> tuple[str, dict[str, Any]]:
    """Return how a column is coarsened now, and for every other way something to begin with."""
    numbers = sorted(column.numbers)
    low, high = (numbers[0], numbers[-1]) if numbers else (0, 100)
    width = _round_width(high - low)
    start = int(low // width) * width
    points = [start + width * step for step in range(int((high - start) // width) + 2)]
    longest = max(column.longest, 2)
    typed: dict[str, Any] = {
        "bands": f"{width}, {2 * width}, {4 * width}",
        "cuts": ", ".join(map(str, points)),
        "prefix": ", ".join(map(str, sorted({longest - 1, longest // 2}, reverse=True))),
        "dates": ["month", "year"],
        "form": "",
        "snap": "" if attribute.snap is None else number_label(attribute.snap),
        "unknown": attribute.unknown,
    }
    spec = attribute.hierarchy
    if attribute.free:
        return "free", typed
    if spec is None:
        return "flat", typed
    if spec.bands is not None:
        typed["bands"] = ", ".join(map(number_label, spec.bands))
    elif spec.cuts is not None:
        typed["cuts"] = "\n".join(", ".join(map(number_label, points)) for points in spec.cuts)
    elif spec.prefix is not None:
        typed |= {"prefix": ", ".join(map(str, spec.prefix)), "length": spec.length}
    elif spec.dates is not None:
        typed |= {"dates": list(spec.dates), "form": spec.form or ""}
    return spec.kind, typed


def _round_width(span: Number) -> int:
    """Return a round width that makes some ten bands of a span.

    Examples
    --------
    >>> _round_width(73), _round_width(99_000), _round_width(3)
    (5, 10000, 1)
    """
    tens = 1
    while span > 15 * 5 * tens:
        tens *= 10
    return next(width for width in (tens, 2 * tens, 5 * tens) if span <= 15 * width)


def records_under(tree: Hierarchy, leaf_of: dict[str, str], counts: Any) -> list[int]:
    """Count the records under every node of a tree.

    Examples
    --------
    >>> records_under(Hierarchy.flat(["F", "M"]), {"F": "F", "M": "M"}, {"F": 3, "M": 4})
    [7, 3, 4]
    """
    by_leaf = np.zeros(len(tree.leaf_nodes), np.int64)
    for label, leaf in leaf_of.items():
        by_leaf[tree.code_of[leaf]] += counts[label]
    upto = np.concatenate([[0], np.cumsum(by_leaf)])
    return [int(count) for count in upto[tree.last_leaf + 1] - upto[tree.first_leaf]]
