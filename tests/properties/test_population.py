"""k-map and δ-presence: releases hold up to plain counting of the population, and the best levels are the best."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.lattice import find_optimum, make_space
from hedgerow.anonymization.resolving import resolve
from hedgerow.engines.local import LocalEngine
from hedgerow.privacy import Requirement
from tests.naive.population import Task, Ways, judge

PLACES: dict[str, dict[str, list[str]]] = {"*": {"a": ["a1", "a2", "a3"], "b": ["b1", "b2"]}}
PLACE_WAYS = {leaf: (leaf, node, "*") for node, leaves in PLACES["*"].items() for leaf in leaves}
AGES = [str(age) for age in range(20, 40)]
AGE_WAYS = {
    age: (age, f"{int(age) // 5 * 5}-{int(age) // 5 * 5 + 4}", f"{int(age) // 10 * 10}-{int(age) // 10 * 10 + 9}", "*")
    for age in AGES
}
SEX_WAYS = {sex: (sex, "*") for sex in "FM"}
WAYS: list[Ways] = [SEX_WAYS, PLACE_WAYS, AGE_WAYS]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Task, dict[str, Any], list[str]]:
    """A task, its plan without a method, and the columns that the population has."""
    row = st.tuples(st.sampled_from("FM"), st.sampled_from(sorted(PLACE_WAYS)), st.sampled_from(AGES))
    records = draw(st.lists(row, min_size=6, max_size=25))
    population = records + draw(st.lists(row, max_size=120))
    limit = draw(st.sampled_from([None, {"level": 1}, {"nodes": ["a"]}]))
    place: dict[str, Any] = {"role": "quasi-identifier", "hierarchy": {"tree": PLACES}}
    limits = [{value: len(way) - 1 for value, way in ways.items()} for ways in WAYS]
    if limit is not None:
        place["limit" if "level" in limit else "limits"] = limit if "level" in limit else limit["nodes"]
        limits[1] = {leaf: 1 if "level" in limit or way[1] == "a" else 2 for leaf, way in PLACE_WAYS.items()}
    privacy: dict[str, Any] = {"k": 2}
    presence = None
    if draw(st.booleans()):
        privacy["k_map"] = draw(st.integers(2, 30))
    if "k_map" not in privacy or draw(st.booleans()):
        least, most = draw(st.sampled_from([("0", "0.3"), ("0", "0.6"), ("0.1", "0.7"), ("0.2", "1")]))
        presence, privacy["presence"] = (Fraction(least), Fraction(most)), [least, most]
    attributes = {
        "sex": "quasi-identifier",
        "place": place,
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}},
    }
    task = Task(WAYS, limits, records, population, 2, privacy.get("k_map", 0), presence)
    return task, {"attributes": attributes, "privacy": privacy, "withhold": "100%"}, ["sex", "place", "age"]


def table_of(rows: Any) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    return pa.table({name: pa.array(column) for name, column in zip(("sex", "place", "age"), columns, strict=True)})


@pytest.mark.parametrize("method", ["cluster", "lattice", "partition"])
@given(case=cases())
@settings(max_examples=12, deadline=None)
def test_every_published_combination_fits_the_people_that_are_asked(method: str, case: Any) -> None:
    task, plan, _ = case
    try:
        release = hr.anonymize(
            table_of(task.records), hr.Plan.from_dict({**plan, "method": method}), population=table_of(task.population)
        )
    except hr.NoSolution:
        return
    rows = list(zip(*(release.table[name].to_pylist() for name in ("sex", "place", "age")), strict=True))
    levels = release.facts.get("levels")

    def people(labels: Any) -> int:
        if levels is None:
            return task.people(labels)
        at = [levels[name] for name in ("sex", "place", "age")]
        return sum(task.at(person, at) == labels for person in task.population)

    assert judge(task, rows, people)
    assert release.facts["fewest_people"] == min(map(people, rows))
    assert release.facts["population"] == len(task.population)


@given(case=cases(), share=st.sampled_from([0, 0.2, 0.6]))
@settings(max_examples=25, deadline=None)
def test_the_best_levels_are_those_of_exhaustive_search(case: Any, share: float) -> None:
    task, asked, _ = case
    budget = int(share * len(task.records))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "population.csv"
        pyarrow.csv.write_csv(table_of(task.population), file)
        plan = hr.Plan.from_dict({**asked, "method": "lattice", "population": str(file)})
        microdata, settled = resolve(LocalEngine(table_of(task.records)).read(plan), plan)
    found = find_optimum(make_space(microdata), Requirement.of_plan(settled, microdata), budget, "loss")
    expected = task.best(budget)
    assert (None if found is None else pytest.approx(found.score)) == (None if expected is None else float(expected))


@given(case=cases(), extra=st.integers(1, 3))
@settings(max_examples=6, deadline=None)
def test_counts_of_people_are_as_good_as_rows_and_their_order_does_not_matter(case: Any, extra: int) -> None:
    task, plan, _ = case
    rows = table_of(task.population * extra)
    counted = rows.group_by(rows.column_names).aggregate([([], "count_all")])
    asked = hr.Plan.from_dict({**plan, "population": {"file": "unused", "count": "count_all"}})
    try:
        one = hr.anonymize(table_of(task.records), asked, population=counted)
    except hr.NoSolution:
        with pytest.raises(hr.NoSolution):
            hr.anonymize(table_of(task.records), hr.Plan.from_dict(plan), population=rows)
        return
    other = hr.anonymize(table_of(task.records), hr.Plan.from_dict(plan), population=rows)
    assert one.table.equals(other.table)
    same = ("population", "fewest_people", "population_risk_sizes", "presence")
    assert {name: one.facts[name] for name in same} == {name: other.facts[name] for name in same}
