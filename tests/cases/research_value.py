"""Generated tables with rules, weights and research value, for the fast code and for the naive reference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from hedgerow.microdata import FreeColumn, Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.plan.hierarchy import Hierarchy
from tests.cases.sensitive import TREE, Diverse, diverse
from tests.naive import research_value as naive
from tests.naive.attributes import FreeAttribute, TreeAttribute
from tests.naive.trees import Tree

NUMBERS = st.integers(0, 12)


@dataclass(frozen=True)
class ValueCase:
    given: Diverse
    rules: list[dict[str, Any]]
    value: dict[str, Any]

    @property
    def attributes(self) -> dict[str, Any]:
        return self.given.case.attributes

    @property
    def rows(self) -> dict[str, list[Any]]:
        return self.given.case.rows

    @property
    def settings(self) -> naive.Settings:
        blend = self.value.get("lambda")
        return naive.Settings(Fraction(str(self.value["base"])), None if blend is None else Fraction(blend))

    def plan(self, **changes: Any) -> Plan:
        attributes = dict(self.attributes)
        for i in range(len(self.given.sensitive)):
            attributes[f"s{i}"] = {"role": "sensitive"}
            if "hierarchical" in str(self.given.privacy) or "ordered" in str(self.given.privacy):
                attributes[f"s{i}"]["hierarchy"] = {"tree": TREE}
        raw = {
            "attributes": attributes,
            "privacy": self.given.privacy,
            "rules": self.rules,
            "research_value": self.value,
            **({"person": "who"} if self.given.case.persons is not None else {}),
            **changes,
        }
        return Plan.from_dict(raw).settled()

    def table(self) -> pa.Table:
        columns: dict[str, Any] = dict(self.rows)
        for i, column in enumerate(self.given.sensitive):
            columns[f"s{i}"] = pa.array(column, pa.string())
        if self.given.case.persons is not None:
            columns["who"] = self.given.case.persons
        return pa.table(columns)

    def encode(self, plan: Plan) -> Microdata:
        return encode_table(read_table(self.table(), plan), plan)

    def naive_column(self, column: Any) -> naive.Column:
        """The same column for the naive code."""
        asked = self.attributes[column.name]
        values = self.rows[column.name]
        weight = Fraction(str(asked["weight"]))
        limit = asked.get("limit") or {}
        rules = [
            naive.Rule(*_sides(rule), Fraction(str(rule["importance"])))
            for rule in self.rules
            if rule["attribute"] == column.name
        ]
        if isinstance(column, FreeColumn):
            return naive.FreeNumbers(
                FreeAttribute.over(values, limit.get("cuts", ()), limit.get("width"), weight), rules
            )
        if "bands" in asked["hierarchy"]:
            tree, bounds = naive.band_tree(values, asked["hierarchy"]["bands"])
            marked = tree.marked_by_level(limit["level"]) if "level" in limit else set()
            attribute = TreeAttribute(tree, frozenset(marked), weight)
            present = {attribute.code(Fraction(value)) for value in values}
            return naive.NumberTree(attribute, present, rules, bounds)
        tree = Tree.from_nested(asked["hierarchy"]["tree"])
        marked = set(asked.get("limits", ()))
        if "level" in limit:
            marked = tree.marked_by_level(limit["level"])
        attribute = TreeAttribute(tree, frozenset(marked), weight)
        return naive.Categories(attribute, {attribute.code(value) for value in values}, rules)


def _sides(rule: dict[str, Any]) -> tuple[Any, Any]:
    one, other = rule["keep_apart"]
    return (one, other) if isinstance(one, str) else (Fraction(one), Fraction(other))


@st.composite
def value_cases(
    draw: st.DrawFn, kind: str = "k", persons: bool = False, only_trees: bool = False, limits: bool = True
) -> ValueCase:
    """A table of trees, bands and, unless only trees are asked for, free intervals."""
    given = draw(diverse("p" if kind == "k" else kind, persons=persons, only_trees=only_trees))
    if kind == "k":
        given = replace(given, privacy={"k": given.privacy["k"]})
    given = replace(given, weights=None)
    attributes = {name: dict(asked) for name, asked in given.case.attributes.items()}
    rows = dict(given.case.rows)
    records = len(given.sensitive[0])
    if draw(st.booleans()):
        bands = draw(st.sampled_from([[2], [2, 6], [3, 9]]))
        attributes["bands"] = {"role": "quasi-identifier", "hierarchy": {"bands": bands}, "weight": 1}
        if draw(st.integers(0, 3)) == 0:
            attributes["bands"]["limit"] = {"level": 1}
        rows["bands"] = draw(st.lists(NUMBERS, min_size=records, max_size=records))
    if not limits:
        for asked in attributes.values():
            asked.pop("limit", None)
            asked.pop("limits", None)
    rules = []
    for name, asked in attributes.items():
        for number in range(draw(st.integers(0, 2))):
            apart = draw(_apart(asked))
            if apart is not None:
                importance = draw(st.sampled_from([1, 5, "2.5"]))
                rule = {"name": f"{name} {number}", "attribute": name, "keep_apart": apart, "importance": importance}
                rules.append(rule)
    value: dict[str, Any] = {"base": draw(st.sampled_from([0, 1, "0.5", 10]))}
    blend = draw(st.sampled_from([None, None, "0.5", "0.3", "0", "1"]))
    if blend is not None:
        value["lambda"] = blend
    return ValueCase(replace(given, case=replace(given.case, attributes=attributes, rows=rows)), rules, value)


@st.composite
def _apart(draw: st.DrawFn, asked: dict[str, Any]) -> list[Any] | None:
    """Two values to keep apart, or None if the column has no two that can be."""
    hierarchy = asked.get("hierarchy", {})
    if "tree" not in hierarchy:
        low = draw(st.integers(0, 11))
        return [low, draw(st.integers(low + 1, 13))]
    tree = Hierarchy.from_tree(hierarchy["tree"])
    one = draw(st.sampled_from(tree.names))
    others = [
        name
        for name in tree.names
        if name != one and name not in tree.ancestors(one) and one not in tree.ancestors(name)
    ]
    return [one, draw(st.sampled_from(others))] if others else None
