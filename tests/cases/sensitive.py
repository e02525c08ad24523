"""The same tables with sensitive columns and models of attribute disclosure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.cases.records import Case, cases
from tests.naive import privacy as naive
from tests.naive.trees import Tree

VALUES = ["v0", "v1", "v2", "v3", "v4"]
TREE = {"*": {"A": ["v0", "v1"], "B": {"C": ["v2", "v3"], "v4": None}}}


@dataclass(frozen=True)
class Diverse:
    case: Case
    sensitive: list[list[str | None]]
    privacy: dict[str, Any]
    weights: list[int] | None
    join: str


@st.composite
def diverse(draw: st.DrawFn, kind: str, persons: bool = False, only_trees: bool = False, at_most: int = 30) -> Diverse:
    case = draw(cases(persons=persons, widths=False, only_trees=only_trees, at_most=at_most))
    records = len(next(iter(case.rows.values())))
    columns = draw(st.integers(1, 2))
    value = st.sampled_from([*VALUES[: draw(st.integers(2, 5))], None])
    sensitive = [draw(st.lists(value, min_size=records, max_size=records)) for _ in range(columns)]
    names = [f"s{i}" for i in range(columns)]
    privacy: dict[str, Any] = {"k": draw(st.integers(2, 4))}
    if kind == "p":
        privacy["p"] = {name: draw(st.integers(1, min(3, privacy["k"]))) for name in names}
    elif kind == "entropy":
        privacy["l"] = {"entropy": draw(st.sampled_from(["1.5", "2", "2.2"]))}
    elif kind == "recursive":
        privacy["l"] = {"recursive": [draw(st.sampled_from([1, 2, "2.5"])), draw(st.integers(2, 3))]}
    elif kind == "alpha":
        privacy["alpha"] = draw(st.sampled_from(["0.5", "0.7"]))
    elif kind == "beta":
        gain = draw(st.sampled_from(["0.5", "1", "2.5"]))
        privacy["beta"] = {"at_most": gain, "enhanced": True} if draw(st.booleans()) else gain
    elif kind == "delta":
        privacy["delta"] = draw(st.sampled_from(["0.4", "1", "2"]))
    elif kind == "mixed":
        privacy["p"] = {names[0]: 2}
        privacy["t"] = {names[-1]: {"at_most": draw(st.sampled_from(["0.3", "0.5"])), "distance": "equal"}}
    else:
        privacy["t"] = {"at_most": draw(st.sampled_from(["0.2", "0.35", "0.5"])), "distance": kind}
    weights = draw(st.one_of(st.none(), st.lists(st.integers(1, 3), min_size=columns, max_size=columns)))
    return Diverse(
        replace(case, k=privacy["k"]), sensitive, privacy, weights, draw(st.sampled_from(["increase", "loss"]))
    )


def plan_of(given: Diverse) -> dict[str, Any]:
    """The plan of a case, without its method."""
    attributes = dict(given.case.attributes)
    tree = "hierarchical" in str(given.privacy) or "ordered" in str(given.privacy)
    for i in range(len(given.sensitive)):
        attributes[f"s{i}"] = {"role": "sensitive"}
        if tree:
            attributes[f"s{i}"]["hierarchy"] = {"tree": TREE}
        if given.weights is not None:
            attributes[f"s{i}"]["weight"] = given.weights[i]
    raw: dict[str, Any] = {"attributes": attributes, "privacy": given.privacy}
    return raw if given.case.persons is None else {**raw, "person": "who"}


def encode(given: Diverse) -> tuple[Microdata, Requirement]:
    table: dict[str, Any] = dict(given.case.rows)
    for i, column in enumerate(given.sensitive):
        table[f"s{i}"] = pa.array(column, pa.string())
    if given.case.persons is not None:
        table["who"] = given.case.persons
    plan = Plan.from_dict(plan_of(given))
    microdata = encode_table(read_table(pa.table(table), plan), plan)
    return microdata, Requirement.of_plan(plan, microdata)


def values_of(given: Diverse) -> list[list[str]]:
    """The values that have a code, in order: with a hierarchical distance all of the tree, else those that occur."""
    if "hierarchical" in str(given.privacy):
        return [VALUES for _ in given.sensitive]
    return [sorted({value for value in column if value is not None}) for column in given.sensitive]


def codes_of(given: Diverse) -> list[tuple[int | None, ...]]:
    """Sensitive codes by record."""
    lookups = [{value: code for code, value in enumerate(values)} for values in values_of(given)]
    return [
        tuple(None if value is None else lookup[value] for value, lookup in zip(row, lookups, strict=True))
        for row in zip(*given.sensitive, strict=True)
    ]


def naive_demands(given: Diverse, codes: list[tuple[int | None, ...]]) -> naive.Demands:
    models: list[list[naive.Model]] = []
    n_values = []
    for i in range(len(given.sensitive)):
        n_values.append(len(values_of(given)[i]))
        found: list[naive.Model] = []
        name = f"s{i}"
        asked = given.privacy.get("p", {})
        p = asked if isinstance(asked, int) else asked.get(name, 1)
        if p > 1:
            found.append(naive.Distinct(p))
        level = given.privacy.get("l", {})
        if "entropy" in level:
            found.append(naive.Entropy(float(level["entropy"])))
        if "recursive" in level:
            found.append(naive.Recursive(Fraction(str(level["recursive"][0])), level["recursive"][1]))
        if "alpha" in given.privacy:
            found.append(naive.Alpha(float(given.privacy["alpha"])))
        if "beta" in given.privacy:
            likeness = given.privacy["beta"]
            enhanced = isinstance(likeness, dict)
            found.append(naive.Likeness(float(likeness["at_most"] if enhanced else likeness), enhanced))
        if "delta" in given.privacy:
            found.append(naive.Disclosure(float(given.privacy["delta"])))
        closeness = given.privacy.get("t", {})
        closeness = closeness if "at_most" in closeness else closeness.get(name)
        if closeness:
            distance = {"equal": naive.equal_distance, "ordered": naive.ordered_distance}.get(closeness["distance"])
            if distance is None:
                distance = naive.hierarchical_distance(Tree.from_nested(TREE))  # type: ignore[assignment]
            found.append(naive.Closeness(float(closeness["at_most"]), distance))
        models.append(found)
    return naive.Demands.over(models, codes, n_values)
