"""Divided search with more combinations than it lists: the best all the same, or a bound; refusals come at once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.lattice import make_space, research, search_research
from hedgerow.errors import NoSolution
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import encode_table, read_table
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement
from tests.cases.research_value import value_cases
from tests.cases.sensitive import codes_of, naive_demands
from tests.naive import research_search as naive
from tests.naive.lattice import Task

search_by: Any = search_research
NEARLY = Fraction(1, 10**9)


def case(data: st.DataObject, kind: str) -> tuple[Any, ...]:
    drawn = data.draw(value_cases(kind, only_trees=True))
    plan = drawn.plan(method="lattice")
    microdata = drawn.encode(plan)
    columns = [drawn.naive_column(column) for column in microdata.columns]
    records = [
        tuple(column.code(drawn.rows[name][i]) for column, name in zip(columns, drawn.attributes, strict=True))
        for i in range(microdata.records)
    ]
    codes = codes_of(drawn.given)
    budget = data.draw(st.one_of(st.just(0), st.integers(0, microdata.records)))
    attributes: Any = [column.attribute for column in columns]
    demands = naive_demands(drawn.given, codes)
    task = Task(attributes, records, plan.privacy.k, codes, demands, budget, "value", drawn.given.case.persons)
    space = make_space(microdata, most_nodes=None)
    given_all = space, Requirement.of_plan(plan, microdata), budget, column_values(microdata, plan), "divided"
    return given_all, task, naive.level_scores(task, columns, drawn.settings)


@pytest.mark.parametrize("kind", ["k", "p", "entropy", "mixed"])
@given(data=st.data(), block=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_combinations_that_are_not_listed_hide_nothing(kind: str, data: st.DataObject, block: int) -> None:
    arguments, task, scores = case(data, kind)
    best = naive.exhaustive(task, scores)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(research, "MOST_STRINGS", 0)
        patch.setattr(research, "_refuse_large_blocks", lambda levels, block: None)
        found = search_by(*arguments, block)
    assert found.proven
    assert (found.best is None) == (best.best is None)
    if found.best is not None and best.best is not None:
        assert abs(found.best.value - naive.score(scores, best.best)) < NEARLY
        assert naive.passes(task, found.best.node)
    if found.generated is None and naive.rises(task):
        for conflict in found.conflicts:  # what a block ruled out fails, counted plainly
            assert not naive.passes(task, conflict)


@given(data=st.data(), most=st.integers(0, 20))
@settings(max_examples=20, deadline=None)
def test_a_search_that_ends_early_says_what_none_exceeds(data: st.DataObject, most: int) -> None:
    arguments, task, scores = case(data, "k")
    best = naive.exhaustive(task, scores)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(research, "MOST_STRINGS", 0)
        patch.setattr(research, "MOST_CHECKS", most)
        patch.setattr(research, "_refuse_large_blocks", lambda levels, block: None)
        found, again = search_by(*arguments, 2), search_by(*arguments, 2)
    assert found == again
    if best.best is not None:
        assert found.bound >= naive.score(scores, best.best) - NEARLY


def test_blocks_that_are_too_large_are_refused_before_anything_is_tested() -> None:
    names = [f"c{number}" for number in range(14)]
    table = pa.table(
        {name: [str(10 + (place * 7 + number) % 3) for place in range(30)] for number, name in enumerate(names)}
    )
    attribute = {"role": "quasi-identifier", "hierarchy": {"prefix": [2, 1, 0]}}
    plan = Plan.from_dict({"attributes": dict.fromkeys(names, attribute), "privacy": {"k": 2}, "method": "lattice"})
    microdata = encode_table(read_table(table, plan), plan)
    space, values = make_space(microdata, most_nodes=None), column_values(microdata, plan)
    tested: list[int] = []
    with pytest.raises(NoSolution, match=r"A block of this search would list 4,782,969 strings") as refused:
        search_research(space, Requirement(2), 0, values, "divided", 14, tell=tested.append)
    assert "smaller block than 14" in str(refused.value)
    assert not tested
    found = search_research(space, Requirement(2), 0, values, "divided", 4, tell=tested.append)
    assert found.best is not None
