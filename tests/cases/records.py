"""Tables with hierarchies, limits and k, and how the product and the references take them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from hedgerow.microdata import FreeColumn, Microdata, TreeColumn, encode_table, read_table
from hedgerow.plan import Plan
from tests.naive.attributes import Attribute, FreeAttribute, TreeAttribute
from tests.naive.trees import Tree


@dataclass(frozen=True)
class Case:
    attributes: dict[str, Any]
    rows: dict[str, list[Any]]
    k: int
    seed: int
    persons: list[int] | None = None


@st.composite
def trees(draw: st.DrawFn, letter: str) -> tuple[dict[str, Any], list[str], list[str]]:
    """A nested mapping with leaves at any depth, its leaves, and all its nodes."""
    names = iter(f"{letter}{i}" for i in range(1000))
    leaves: list[str] = []
    nodes: list[str] = ["*"]

    def grow(depth: int) -> Any:
        below = {}
        for _ in range(draw(st.integers(1, 3))):
            name = next(names)
            nodes.append(name)
            if depth < 3 and draw(st.booleans()):
                below[name] = grow(depth + 1)
            else:
                below[name] = None
                leaves.append(name)
        return below

    return {"*": grow(1)}, leaves, nodes


@st.composite
def cases(
    draw: st.DrawFn,
    persons: bool = False,
    widths: bool = True,
    wide: bool = False,
    only_trees: bool = False,
    at_most: int = 30,
) -> Case:
    records = draw(st.integers(2, at_most)) if not wide else draw(st.integers(60, 110))
    attributes: dict[str, Any] = {}
    rows: dict[str, list[Any]] = {}
    width_left = widths and not persons
    for i in range(draw(st.integers(1, 4)) if not wide else 2):
        name = f"c{i}"
        weight = draw(st.sampled_from([1, 1, 2, "0.5"]))
        if only_trees or draw(st.booleans()):
            tree, leaves, nodes = draw(trees(f"{name}n"))
            if wide:
                tree, leaves = {"*": {f"g{g}": [f"v{g}.{v}" for v in range(30)] for g in range(4)}}, []
                leaves = [leaf for group in tree["*"].values() for leaf in group]
                nodes = ["*", *tree["*"], *leaves]
            limit = draw(st.one_of(st.none(), st.lists(st.sampled_from(nodes), max_size=3), st.integers(0, 2)))
            attributes[name] = {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "weight": weight}
            if isinstance(limit, list) and limit:
                attributes[name]["limits"] = limit
            elif isinstance(limit, int):
                attributes[name]["limit"] = {"level": min(limit, 1)}
            rows[name] = draw(st.lists(st.sampled_from(leaves), min_size=records, max_size=records))
        else:
            most = 12 if not wide else 400
            attributes[name] = {"role": "quasi-identifier", "intervals": "free", "weight": weight}
            free: dict[str, Any] = {}
            if draw(st.booleans()):
                free["cuts"] = draw(st.lists(st.integers(0, most), min_size=1, max_size=2, unique=True))
            if width_left and draw(st.booleans()):
                free["width"] = draw(st.integers(0, most))
                width_left = False
            if free:
                attributes[name]["limit"] = free
            rows[name] = draw(st.lists(st.integers(0, most), min_size=records, max_size=records))
    k = draw(st.integers(2, 5))
    who = draw(st.lists(st.integers(0, 8), min_size=records, max_size=records)) if persons else None
    return Case(attributes, rows, k, draw(st.integers(0, 50)), who)


def encode(case: Case) -> Microdata:
    raw: dict[str, Any] = {"attributes": dict(case.attributes), "privacy": {"k": case.k}}
    table = dict(case.rows)
    if case.persons is not None:
        raw["person"] = "who"
        table["who"] = case.persons
    plan = Plan.from_dict(raw)
    return encode_table(read_table(pa.table(table), plan), plan)


def naive_attributes(case: Case, microdata: Microdata, limits: bool) -> list[Attribute]:
    """The same attributes for the naive code, in the order in which the fast code sorts them."""
    found: list[Attribute] = []
    for column in microdata.indexed_columns:
        asked = case.attributes[column.name]
        weight = Fraction(str(asked["weight"]))
        limit = (asked.get("limit") or {}) if limits else {}
        if isinstance(column, FreeColumn):
            values = case.rows[column.name]
            found.append(FreeAttribute.over(values, limit.get("cuts", ()), limit.get("width"), weight))
        else:
            assert isinstance(column, TreeColumn)
            tree = Tree.from_nested(asked["hierarchy"]["tree"])
            marked = set(asked.get("limits", ())) if limits else set()
            if "level" in limit:
                marked = tree.marked_by_level(limit["level"])
            found.append(TreeAttribute(tree, frozenset(marked), weight))
    return found
