"""Strings of levels are tested in Spark's tasks: the answer of the driver, and jobs that anybody can see."""

from __future__ import annotations

from typing import Any

import pytest

import hedgerow as hr
from hedgerow.anonymization.lattice import Patience, make_space, search_research
from hedgerow.anonymization.lattice.bench import Bench, Order
from hedgerow.anonymization.lattice.crew import Alone
from hedgerow.engines.spark_strings import GROUP, WORDS, Tasks
from hedgerow.measures.research_value import column_values
from hedgerow.microdata import encode_table, read_table
from hedgerow.privacy import Requirement
from tests.cases.lattices import people, plan
from tests.engines.conftest import frame

search_by: Any = search_research
pytestmark = pytest.mark.xdist_group("spark")


def jobs(spark: Any) -> dict[str, set[str]]:
    """What the session's own pages say of its jobs: groups, and the words for them."""
    listed = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    found: dict[str, set[str]] = {}
    for place in range(listed.size()):
        job = listed.apply(place)
        if job.jobGroup().isDefined():
            found.setdefault(job.jobGroup().get(), set()).add(job.description().getOrElse(None))
    return found


def case(search: str) -> tuple[Any, ...]:
    asked, table = plan(search).settled(), people(8, 300)
    microdata = encode_table(read_table(table, asked), asked)
    return make_space(microdata), Requirement.of_plan(asked, microdata), 20, column_values(microdata, asked), search, 2


@pytest.mark.parametrize("search", ["exact", "global", "hybrid", "local", "divided"])
def test_a_search_in_tasks_comes_to_what_the_driver_comes_to(spark: Any, search: str) -> None:
    crews: list[Tasks] = []

    def hire(bench: Bench) -> Tasks:
        crews.append(Tasks(spark, bench))
        return crews[-1]

    given = case(search)
    patience = Patience(checks=40)
    found = search_by(*given, patience, hire=hire)
    assert found == search_by(*given, Patience(checks=40))
    tracker = spark.sparkContext.statusTracker()
    assert any(tracker.getJobIdsForGroup(crew.group) for crew in crews)


def test_the_owner_sees_what_is_counted(spark: Any) -> None:
    table = people(9)
    made = hr.anonymize(frame(spark, table), plan("divided"), driver_profiles=0)
    assert made.facts == hr.anonymize(table, plan("divided"), engine="local").facts
    groups = {group: words for group, words in jobs(spark).items() if group.startswith(GROUP)}
    assert groups
    assert all(words == {WORDS} for words in groups.values())


def test_the_owners_own_jobs_keep_their_group(spark: Any) -> None:
    spark.sparkContext.setJobGroup("mine", "my own")
    try:
        space, requirement, budget, *_ = case("global")
        crew = Tasks(spark, Bench(space, requirement, budget))
        bottom = (0,) * len(space.shape)
        tickets = [crew.submit(Order("lost", bottom, [node])) for node in [bottom, crew._bench.top]]
        unwanted = crew.submit(Order("lost", bottom, [bottom]))
        crew.forget([unwanted])
        alone = Alone(Bench(space, requirement, budget))
        assert [crew.answer(one) for one in tickets] == [alone.answer(alone.submit(one.order)) for one in tickets]
        assert not unwanted.done
        assert len(spark.sparkContext.statusTracker().getJobIdsForGroup(crew.group)) == 1  # both in one job
        crew.close()
        spark.range(3).count()
        assert spark.sparkContext.statusTracker().getJobIdsForGroup("mine")
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def test_an_interruption_cancels_the_jobs(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled: list[str] = []
    context = type(spark.sparkContext)
    cancel = context.cancelJobGroup

    def cancelling(self: Any, name: str) -> None:
        cancelled.append(name)
        cancel(self, name)

    monkeypatch.setattr(context, "cancelJobGroup", cancelling)

    def interrupt(jobs: Any, timeout: float) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("hedgerow.engines.spark_strings.wait", interrupt)
    space, requirement, budget, *_ = case("global")
    crew = Tasks(spark, Bench(space, requirement, budget))
    ticket = crew.submit(Order("lost", (0,) * len(space.shape), [(0,) * len(space.shape)]))
    with pytest.raises(KeyboardInterrupt):
        crew.answer(ticket)
    assert cancelled == [crew.group]
    crew.close()
