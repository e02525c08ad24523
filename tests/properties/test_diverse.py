"""Clustering under models equals the naive reference, group by group; every model equals its naive twin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.clustering import DiverseClustering, find_cells
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.naive import privacy as naive
from tests.naive.diverse import greedy_cpka, greedy_pk
from tests.naive.trees import Tree
from tests.properties.test_clustering import Case, cases, naive_attributes

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
def diverse(draw: st.DrawFn, kind: str, persons: bool = False, only_trees: bool = False) -> Diverse:
    case = draw(cases(persons=persons, widths=False, only_trees=only_trees))
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
    elif kind == "mixed":
        privacy["p"] = {names[0]: 2}
        privacy["t"] = {names[-1]: {"at_most": draw(st.sampled_from(["0.3", "0.5"])), "distance": "equal"}}
    else:
        privacy["t"] = {"at_most": draw(st.sampled_from(["0.2", "0.35", "0.5"])), "distance": kind}
    weights = draw(st.one_of(st.none(), st.lists(st.integers(1, 3), min_size=columns, max_size=columns)))
    return Diverse(
        replace(case, k=privacy["k"]), sensitive, privacy, weights, draw(st.sampled_from(["increase", "loss"]))
    )


def encode(given: Diverse) -> tuple[Microdata, Requirement]:
    attributes = dict(given.case.attributes)
    table: dict[str, Any] = dict(given.case.rows)
    tree = "hierarchical" in str(given.privacy) or "ordered" in str(given.privacy)
    for i, column in enumerate(given.sensitive):
        attributes[f"s{i}"] = {"role": "sensitive"}
        if tree:
            attributes[f"s{i}"]["hierarchy"] = {"tree": TREE}
        if given.weights is not None:
            attributes[f"s{i}"]["weight"] = given.weights[i]
        table[f"s{i}"] = pa.array(column, pa.string())
    raw: dict[str, Any] = {"attributes": attributes, "privacy": given.privacy}
    if given.case.persons is not None:
        raw["person"] = "who"
        table["who"] = given.case.persons
    plan = Plan.from_dict(raw)
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
        closeness = given.privacy.get("t", {})
        closeness = closeness if "at_most" in closeness else closeness.get(name)
        if closeness:
            distance = {"equal": naive.equal_distance, "ordered": naive.ordered_distance}.get(closeness["distance"])
            if distance is None:
                distance = naive.hierarchical_distance(Tree.from_nested(TREE))
            found.append(naive.Closeness(float(closeness["at_most"]), distance))
        models.append(found)
    return naive.Demands.over(models, codes, n_values)


def compare(given: Diverse, limits: bool) -> None:
    microdata, requirement = encode(given)
    case = given.case
    attributes = naive_attributes(case, microdata, limits)
    names = [column.name for column in microdata.indexed_columns]
    records = [
        tuple(a.code(case.rows[name][i]) for a, name in zip(attributes, names, strict=True))
        for i in range(microdata.records)
    ]
    codes = codes_of(given)
    demands = naive_demands(given, codes)
    weights = None
    if given.weights is not None:
        used = [
            w if any(v is not None for v in column) else 0
            for w, column in zip(given.weights, given.sensitive, strict=True)
        ]
        weights = [Fraction(weight, sum(used) or 1) for weight in used]
    reference = greedy_cpka if limits else greedy_pk
    expected = reference(
        attributes,
        records,
        codes,
        case.k,
        demands,
        case.seed,
        weights,
        case.persons,
        given.join,  # type: ignore[arg-type]
    )
    fast = DiverseClustering(requirement, case.seed, 1, given.join, ignore_limits=not limits)(microdata)  # type: ignore[arg-type]
    # Compare as multisets of what a record looks like: equal records are interchangeable.
    looks = [
        (tuple(profile), tuple(values), -1 if microdata.person_of is None else int(microdata.person_of[unit]))
        for unit, (profile, values) in enumerate(
            zip(microdata.profiles[microdata.profile_of_unit].tolist(), microdata.sensitive_of.tolist(), strict=True)
        )
    ]
    order = sorted(
        range(len(records)),
        key=lambda i: (
            records[i],
            [(v is None, v or 0) for v in codes[i]],
            0 if case.persons is None else case.persons[i],
        ),
    )
    ranks = []  # the fast code numbers only the values that occur
    for place in range(len(given.sensitive)):
        used = sorted({row[place] for row in codes if row[place] is not None})
        ranks.append({code: rank for rank, code in enumerate(used)})
    person_rank = {p: r for r, p in enumerate(sorted(set(case.persons or ())))}
    shown = [
        (
            records[i],
            tuple(-1 if v is None else rank[v] for v, rank in zip(codes[i], ranks, strict=True)),
            -1 if case.persons is None else person_rank[case.persons[i]],
        )
        for i in order
    ]
    groups: dict[int, list[Any]] = {}
    for unit, group in enumerate(fast.group_of.tolist()):
        groups.setdefault(group, []).append(looks[unit])
    withheld = sorted(groups.pop(-1, []))
    assert withheld == sorted(shown[i] for i in expected.withheld)
    assert sorted(map(sorted, groups.values())) == sorted(sorted(shown[i] for i in group) for group in expected.groups)
    if groups:
        assert not requirement.fails(microdata, fast.group_of, fast.groups).any()


@pytest.mark.parametrize("limits", [True, False])
@given(given=diverse("p"))
@settings(max_examples=80)
def test_p_sensitive_clustering(given: Diverse, limits: bool) -> None:
    compare(given, limits)


@given(given=diverse("p", persons=True))
@settings(max_examples=55)
def test_p_sensitive_clustering_of_persons(given: Diverse) -> None:
    compare(given, limits=True)


@pytest.mark.parametrize("kind", ["entropy", "recursive", "alpha", "equal", "ordered", "hierarchical", "mixed"])
@given(data=st.data())
@settings(max_examples=35)
def test_clustering_under_the_other_models(kind: str, data: st.DataObject) -> None:
    compare(data.draw(diverse(kind)), limits=data.draw(st.booleans()))


@pytest.mark.parametrize("kind", ["p", "entropy", "recursive", "alpha", "equal", "ordered", "hierarchical"])
@given(data=st.data())
@settings(max_examples=35)
def test_models_hold_where_their_naive_twins_do(kind: str, data: st.DataObject) -> None:
    given = data.draw(diverse(kind))
    microdata, requirement = encode(given)
    group_of = np.array(data.draw(st.lists(st.integers(0, 3), min_size=microdata.records, max_size=microdata.records)))
    codes = codes_of(given)
    demands = naive_demands(given, codes)
    rows = [codes[record] for record in microdata.record_of]
    bare = Requirement(0, requirement.models)
    fails = bare.fails(microdata, group_of, 4)
    for group in range(4):
        members = [rows[unit] for unit in range(microdata.records) if group_of[unit] == group]
        assert fails[group] == (not demands.hold(members))


@given(given=diverse("p"))
def test_what_is_withheld_for_counting_models_is_the_failing_cells(given: Diverse) -> None:
    microdata, requirement = encode(given)
    cells = find_cells(microdata, requirement)
    fast = DiverseClustering(requirement, given.case.seed)(microdata)
    assert cells.proven
    assert cells.withheld == microdata.records - fast.released
