"""Proposed limits: those of a plain reference, never more withheld than asked, and how near they are to the best."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.explanation import look_ahead
from hedgerow.engines.opening import read_microdata
from hedgerow.microdata import FreeColumn
from tests.naive import tightening as naive
from tests.naive.trees import Tree

QI = "quasi-identifier"
CITY = {"US": {"West": {"CA": ["LA", "SD"], "OR": ["Salem"]}, "Mid": {"KS": ["Topeka", "Hays"], "NE": ["Omaha"]}}}
JOB = {"any": {"office": ["clerk", "boss"], "field": ["farmer"]}}
CITIES, JOBS = ["LA", "SD", "Salem", "Topeka", "Hays", "Omaha"], ["clerk", "boss", "farmer"]
ATTRIBUTES: dict[str, Any] = {
    "city": {"role": QI, "hierarchy": {"tree": CITY}},
    "job": {"role": QI, "hierarchy": {"tree": JOB}, "weight": "0.7"},
    "sex": QI,
    "age": {"role": QI, "intervals": "free", "weight": 2},
    "band": {"role": QI, "hierarchy": {"bands": [5, 20]}},
    "ill": "sensitive",
}
RECORDS = st.lists(
    st.tuples(
        st.sampled_from(CITIES),
        st.sampled_from(JOBS),
        st.sampled_from("fm"),
        st.integers(-3, 120),
        st.integers(0, 50),
        st.sampled_from("abc"),
    ),
    min_size=4,
    max_size=30,
)


def asked(names: list[str], k: int, **models: Any) -> hr.Plan:
    attributes = {name: ATTRIBUTES[name] for name in [*names, "ill"]}
    return hr.Plan.from_dict({"attributes": attributes, "privacy": {"k": k, **models}})


def table_of(rows: list[Any]) -> pa.Table:
    return pa.table({name: [str(row[at]) for row in rows] for at, name in enumerate(ATTRIBUTES)})


def classes_of(table: pa.Table, plan: hr.Plan) -> tuple[list[set[frozenset[str]]], int, float]:
    """The classes of values that the limits of a plan make, and what is withheld with them."""
    microdata, settled = read_microdata(table, plan)
    found = []
    for column in microdata.columns:
        labels = (
            [str(column.intervals.number(code)) for code in range(len(column.intervals.scaled))]
            if isinstance(column, FreeColumn)
            else list(column.hierarchy.leaves)
        )
        keys = column.limit_keys
        found.append({frozenset(np.array(labels)[keys == key].tolist()) for key in np.unique(keys)})
    outlook = look_ahead(microdata, settled)
    return found, outlook.withheld, outlook.most_loss


def naive_column(name: str, rows: list[Any]) -> naive.Column:
    at = list(ATTRIBUTES).index(name)
    counts = Counter(row[at] for row in rows)
    spec = ATTRIBUTES[name]
    weight = Fraction(str(spec.get("weight", 1))) if isinstance(spec, dict) else Fraction(1)
    if name in ("city", "job"):
        return naive.TreeColumn(Tree.from_nested(CITY if name == "city" else JOB), weight)
    if name == "sex":
        return naive.TreeColumn(Tree.flat(sorted(counts)), weight, by_rule=True)
    if name == "band":
        nested: dict[str, dict[str, list[int]]] = {}
        for number in sorted(counts):
            wide, narrow = (f"{number // width * width}-{number // width * width + width - 1}" for width in (20, 5))
            nested.setdefault(wide, {}).setdefault(narrow, []).append(number)
        return naive.TreeColumn(Tree.from_nested({"*": nested}), weight, by_rule=True)
    numbers = tuple(sorted(counts))
    return naive.NumberColumn(numbers, tuple(counts[number] for number in numbers), weight)


@settings(max_examples=60, deadline=None)
@given(
    rows=RECORDS,
    names=st.lists(st.sampled_from(list(ATTRIBUTES)[:-1]), min_size=1, max_size=3, unique=True),
    k=st.integers(2, 4),
    p=st.integers(1, 2),
    share=st.sampled_from([0, 5, 20, 50]),
)
def test_the_steps_are_those_of_the_reference(rows: list[Any], names: list[str], k: int, p: int, share: int) -> None:
    table, plan = table_of(rows), asked(names, k, **({"p": p} if p > 1 else {}))
    proposed = hr.propose_limits(table, plan, withhold=f"{share}%")
    columns = [naive_column(name, rows) for name in names]
    places = [list(ATTRIBUTES).index(name) for name in names]
    records = [tuple(row[place] for place in places) for row in rows]

    def fails(block: list[int]) -> bool:
        return len(block) < k or len({rows[number][5] for number in block}) < p

    allowed = share * len(rows) // 100
    limits: list[naive.Classes] = [(column.everything(),) for column in columns]
    if len(naive.withheld(records, limits, fails)) <= allowed:
        limits = naive.propose(columns, records, fails, allowed)
    expected = [{frozenset(map(str, values)) for values in classes} for classes in limits]
    without_widths = proposed.plan.to_dict()
    for attribute in without_widths["attributes"].values():
        if isinstance(attribute, dict) and (attribute.get("limit") or {}).get("width") is not None:
            attribute["limit"] = {"cuts": attribute["limit"].get("cuts") or []}
    found, _, _ = classes_of(table, hr.Plan.from_dict(without_widths))
    assert found == expected


@settings(max_examples=40, deadline=None)
@given(rows=RECORDS, k=st.integers(2, 4), share=st.integers(0, 60))
def test_together_they_withhold_no_more_than_asked(rows: list[Any], k: int, share: int) -> None:
    table, plan = table_of(rows), asked(["city", "age", "band"], k, p=2)
    proposed = hr.propose_limits(table, plan, withhold=f"{share}%")
    _, withheld, most_loss = classes_of(table, proposed.plan)
    _, before, loss_before = classes_of(table, plan)
    assert (withheld, most_loss) == (proposed.withheld, proposed.most_loss)
    assert withheld == hr.explain(table, proposed.plan).withheld
    assert withheld <= max(before, share * len(rows) // 100)
    assert most_loss <= loss_before


def made_up(seed: int) -> tuple[list[naive.TreeColumn], list[naive.Record]]:
    """Trees small enough to try all limits of, and records that are not spread evenly."""
    draw = random.Random(seed)
    trees = [Tree.from_nested(CITY), Tree.from_nested(JOB)]
    columns = [naive.TreeColumn(tree) for tree in trees]
    weights = [[draw.random() ** 2 + 0.02 for _ in tree.leaves] for tree in trees]
    records = []
    for _ in range(draw.randint(40, 120)):
        records.append(tuple(draw.choices(tree.leaves, each)[0] for tree, each in zip(trees, weights, strict=True)))
    return columns, records


def test_they_are_near_the_best_there_is() -> None:
    """The figures of docs/explanation/limits-and-blocks.md."""
    best, gaps = 0, []

    def fails(block: list[int]) -> bool:
        return len(block) < 5

    for seed in range(100):
        columns, records = made_up(seed)
        allowed = len(records) * 5 // 100
        limits = naive.propose(columns, records, fails, allowed)
        reached = naive.most_loss(columns, records, limits, naive.withheld(records, limits, fails))
        least, _ = naive.best_of_all(columns, records, fails, allowed)
        assert reached >= least
        best += reached == least
        gaps.append(float((reached - least) / (2 * len(records))))
    assert (best, round(max(gaps), 3), round(sum(gaps) / len(gaps), 4)) == (88, 0.19, 0.0085)
