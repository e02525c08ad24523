"""Several processes find what one finds: the same strings, the same proofs, the same number of tests.

``HEDGEROW_LATTICES=200`` asks for more lattices than the few of every day.
"""

from __future__ import annotations

import json
import os
import pickle
import random
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.anonymization.lattice import Patience, Research, make_space, research, search_research
from hedgerow.anonymization.lattice.bench import Bench, Order
from hedgerow.anonymization.lattice.crew import Alone, Hire, Processes, Ticket
from hedgerow.measures.research_value import column_values
from hedgerow.privacy import Requirement
from tests.cases.research_value import value_cases
from tests.processes.helpers import forked_helpers

SEARCHES = ("exact", "global", "hybrid", "local", "divided")
KINDS = ["k", "p", "entropy", "mixed"]
search_by: Any = search_research
LATTICES = int(os.environ.get("HEDGEROW_LATTICES", "24"))


class Scattered(Alone):
    """Does orders at any time, in any order, by copies that know nothing of what was done before; some never."""

    def __init__(self, bench: Bench, chance: random.Random) -> None:
        super().__init__(bench)
        self.hands, self._chance, self._given = 3, chance, list[Ticket]()
        self._copies = [pickle.dumps(bench) for _ in range(2)]

    def submit(self, order: Order) -> Ticket:
        ticket = Ticket(order)
        self._given.append(ticket)
        return ticket

    def answer(self, ticket: Ticket) -> Any:
        for one in self._chance.sample(self._given, len(self._given)):
            if one is ticket or self._chance.random() < 0.5:
                bench: Bench = pickle.loads(self._chance.choice(self._copies))
                order = Order(*json.loads(json.dumps(one.order)))
                one.answer, one.done = json.loads(json.dumps(bench.do(order))), True
                self._given.remove(one)
        return ticket.answer

    def forget(self, tickets: Iterable[Ticket]) -> None:
        for ticket in tickets:
            ticket.unwanted = True


def assert_same(found: Research, wanted: Research) -> None:
    for one in fields(Research):
        assert getattr(found, one.name) == getattr(wanted, one.name), one.name


def draw(data: st.DataObject, kind: str) -> tuple[Any, ...]:
    case = data.draw(value_cases(kind, only_trees=True))
    plan = case.plan(method="lattice")
    microdata = case.encode(plan)
    budget = data.draw(st.one_of(st.just(0), st.integers(0, microdata.records)))
    space = make_space(microdata, most_nodes=None)
    return space, Requirement.of_plan(plan, microdata), budget, column_values(microdata, plan)


def compare(case: tuple[Any, ...], hire: Hire, searches: Iterable[Any], checks: int | None = None) -> None:
    for search in searches:
        alone = search_by(*case, search, 2, Patience(checks=checks))
        together = search_by(*case, search, 2, Patience(checks=checks), hire=hire)
        assert_same(together, alone)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=max(LATTICES // 4, 1), deadline=None)
def test_processes_beside_find_what_one_finds(kind: str, data: st.DataObject) -> None:
    case = draw(data, kind)
    with forked_helpers():
        compare(case, lambda bench: Processes(bench, 3, enough=0), SEARCHES)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), seed=st.integers(0, 1 << 30))
@settings(max_examples=10, deadline=None)
def test_who_does_what_and_when_does_not_matter(kind: str, data: st.DataObject, seed: int) -> None:
    case = draw(data, kind)
    chance = random.Random(seed)
    compare(case, lambda bench: Scattered(bench, chance), SEARCHES)
    compare(case, lambda bench: Scattered(bench, chance), ["exact"], data.draw(st.integers(1, 60)))


@given(data=st.data(), seed=st.integers(0, 1 << 30))
@settings(max_examples=10, deadline=None)
def test_a_divided_search_that_lists_no_combinations_is_the_same_too(data: st.DataObject, seed: int) -> None:
    case = draw(data, "k")
    chance = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(research, "MOST_STRINGS", 0)
        patch.setattr(research, "_refuse_large_blocks", lambda levels, block: None)
        compare(case, lambda bench: Scattered(bench, chance), ["divided"])
