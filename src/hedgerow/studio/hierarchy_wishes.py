"""What a person wishes a hierarchy to be, read and built. No screen here."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.errors import PlanError, Problem
from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.evaluation.drafting.suggesting import suggestions
from hedgerow.plan import Attribute, HierarchySpec
from hedgerow.plan.hierarchy import Hierarchy, builders
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS, typed_numbers
from hedgerow.plan.hierarchy.numbers import number_label

NUMERIC: dict[str, bool | None] = {"": None, "numbers": True, "words": False}
"""Whether rules and research value see numbers, as a person chooses it; None: as the kind of hierarchy has it."""


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
    keys: dict[str, Any] = {
        "intervals": None,
        "snap": None,
        "hierarchy": None,
        "publish": None,
        "unknown": unknown,
        "decimals": None,
    }
    keys["numeric"] = NUMERIC[typed.get("numeric", "")]
    if kind == "free":
        snap = typed_numbers(typed.get("snap", ""))
        if len(snap) > 1:
            raise PlanError(Problem("wrong-value", "This must be one number.", hint="write decimals with a point"))
        fits = unknown if unknown != "own-leaf-under-root" else "error"
        keys |= {"intervals": "free", "snap": snap[0] if snap else None, "unknown": fits}
        return Wanted(keys | _figures(typed), None)
    if kind == "flat":
        return Wanted(keys | _sets(typed), builders.flat(sorted(labels)))
    if kind == "tree":
        if given is None:
            raise PlanError(Problem("hierarchy-file", "No file has been given yet.", hint="drop one above"))
        return Wanted(keys | {"hierarchy": {"tree": given.tree()}}, builders.place_in(given, labels))
    rule = HIERARCHY_KINDS[kind].rule
    assert rule is not None
    asked = rule.read(typed)
    spec = HierarchySpec.model_construct(**asked)  # the builder says what is wrong with it, in words for a person
    return Wanted(keys | {"hierarchy": asked}, HIERARCHY_KINDS[kind].build(spec, labels))


def _figures(typed: dict[str, Any]) -> dict[str, Any]:
    """Read whether groups publish the mean or the median of their numbers, and with how many decimal places.

    Examples
    --------
    >>> _figures({"publish": "mean", "decimals": "2"}), _figures({"publish": "mean"}), _figures({"publish": "set"})
    ({'publish': 'mean', 'decimals': 2}, {'publish': 'mean', 'decimals': None}, {})
    """
    if typed.get("publish") not in ("mean", "median"):
        return {}
    return {"publish": typed["publish"], "decimals": _whole(typed.get("decimals", ""), 0)}


def _whole(text: str, least: int) -> int | None:
    """Read one whole number, or none."""
    found = typed_numbers(text)
    if len(found) > 1 or any(not isinstance(one, int) or one < least for one in found):
        raise PlanError(Problem("wrong-value", "This must be one whole number.", hint="or leave it empty"))
    return int(found[0]) if found else None


def _sets(typed: dict[str, Any]) -> dict[str, Any]:
    """Read whether groups publish the sets of their values, and how many these may have.

    Examples
    --------
    >>> _sets({"publish": "set", "values": "3"}), _sets({"publish": "", "values": "3"})
    ({'publish': 'set', 'limit': {'values': 3}}, {})
    """
    if typed.get("publish") != "set":
        return {}
    most = _whole(typed.get("values", ""), 1)
    return {"publish": "set", "limit": None if most is None else {"values": most}}


def first_choice(column: SeenColumn, attribute: Attribute) -> tuple[str, dict[str, Any]]:
    """Return how a column is coarsened now, and for every other way something to begin with."""
    typed: dict[str, Any] = {
        "snap": "" if attribute.snap is None else number_label(attribute.snap),
        "publish": attribute.publish or "",
        "decimals": "" if attribute.decimals is None else str(attribute.decimals),
        "values": "" if attribute.limit is None or attribute.limit.values is None else str(attribute.limit.values),
        "unknown": attribute.unknown,
        "numeric": next(word for word, numeric in NUMERIC.items() if numeric == attribute.numeric),
    }
    numbers = sorted(column.numbers)
    for kind in HIERARCHY_KINDS:
        if kind.rule is not None:
            typed |= kind.rule.begin(numbers, column.longest)
    if attribute.free:
        return "free", typed
    if attribute.hierarchy is None:
        return "flat", typed
    now = HIERARCHY_KINDS[attribute.hierarchy.kind]
    return now.name, typed | dict(now.rule.typed(attribute.hierarchy) if now.rule is not None else {})


def suggested(column: SeenColumn) -> list[dict[str, Any]]:
    """Return what the values of a column suggest, as a person would have chosen and typed it."""
    found = []
    for suggestion in suggestions(column):
        spec = HierarchySpec.model_validate(suggestion.rule)
        rule = HIERARCHY_KINDS[spec.kind].rule
        tree = None if spec.tree is None else Hierarchy.from_tree(spec.tree, as_printed=True)
        given = None if tree is None else {"names": tree.names, "parents": tree.parents}
        typed = {} if rule is None else dict(rule.typed(spec))
        found.append({"title": suggestion.title, "kind": spec.kind, "typed": typed, "given": given})
    return found


def from_spreadsheet(text: str) -> str:
    r"""Turn rows that were pasted from a spreadsheet into a hierarchy file.

    Rows that are shorter go on with their last cell; where the last cells differ, ``*`` goes above them.

    Examples
    --------
    >>> print(from_spreadsheet("Reno\tWest\nWichita\tMidwest\tKansas"), end="")
    Reno;West;West;*
    Wichita;Midwest;Kansas;*
    """
    delimiter = next((mark for mark in "\t;," if mark in text), "\t")
    cells = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text), delimiter=delimiter)]
    rows = []
    for row in cells:
        while row and not row[-1]:
            row.pop()
        if row:
            rows.append(row)
    wide = max(map(len, rows), default=0)
    rows = [row + [row[-1]] * (wide - len(row)) for row in rows]
    if len({row[-1] for row in rows}) > 1 or wide == 1:
        rows = [[*row, "*"] for row in rows]
    written = io.StringIO()
    csv.writer(written, delimiter=";", lineterminator="\n").writerows(rows)
    return written.getvalue()


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
