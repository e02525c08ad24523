"""Ways to coarsen a column that its values suggest."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import Plan
from hedgerow.evaluation.drafting.column import SeenColumn
from hedgerow.evaluation.drafting.suggesting import groups_alike, suggestions, within
from hedgerow.plan import HierarchySpec
from hedgerow.plan.hierarchy.kind import HIERARCHY_KINDS
from tests.naive import alike as naive

WORDS = st.text(alphabet="abÄ1 -", max_size=12)
DAYS = [dt.date(1950, 1, 1) + dt.timedelta(days=97 * step) for step in range(250)]
COLUMNS = {
    "age": [str(age) for age in range(95)],
    "day": [day.isoformat() for day in DAYS],
    "Aufnahme": [f"{day:%d.%m.%Y}" for day in DAYS[:20]],
    "zip": ["01067", "01099", "80331", "80469", "90402", "90461"],
    "diagnosis": ["J18.9", "I10", "E11.9", "E10.1", "I50.1", "J45.0", "J45.9", "S72.0"],
    "city": ["Köln", "Koln", "Düsseldorf", "Duesseldorf", "Dusseldorf", "Bonn", "Wuppertal", "Wupertal"],
}


def column(name: str) -> SeenColumn:
    counts = dict.fromkeys(COLUMNS[name], 3)
    return SeenColumn(name, sum(counts.values()), counts)


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("age", ["age groups: 0-17, 18-29, 30-44, 45-64, 65 and above", "bands of 5, 10, 20"]),
        (
            "day",
            [
                "the month, then the year, then the decade, then 20 years, then 40 years",
                "the year, then the decade, then 20 years, then 40 years",
            ],
        ),
        ("Aufnahme", ["the month, then the quarter, then the year"]),
        ("zip", ["the first 3 characters, then 1"]),
        ("diagnosis", ["the first 3 characters, then 2, then 1"]),
        ("city", ["values spelled nearly alike: 7 values in 3 groups"]),
    ],
)
def test_values_suggest_how_they_are_coarsened(name: str, titles: list[str]) -> None:
    assert [found.title for found in suggestions(column(name))] == titles


@pytest.mark.parametrize("name", COLUMNS)
def test_every_suggestion_is_a_plan_that_places_all_values(name: str) -> None:
    for found in suggestions(column(name)):
        plan = Plan.from_dict(
            {"attributes": {name: {"role": "quasi-identifier", "hierarchy": dict(found.rule)}}, "privacy": {"k": 2}}
        )
        spec = plan.attributes[name].hierarchy
        assert isinstance(spec, HierarchySpec)
        built = HIERARCHY_KINDS[spec.kind].build(spec, COLUMNS[name])
        assert not built.unplaced
        assert built.hierarchy.height > 1


@pytest.mark.parametrize("labels", [[], ["yes", "no"], ["red", "green", "blue"], [str(n) for n in range(5)]])
def test_a_handful_of_values_suggests_nothing(labels: list[str]) -> None:
    assert suggestions(SeenColumn("x", 30, dict.fromkeys(labels, 10))) == ()


@given(WORDS, WORDS, st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_letters_that_differ_are_counted_as_the_reference_counts_them(one: str, other: str, most: int) -> None:
    assert within(one, other, most) == (naive.distance(one, other) <= most)


@given(st.dictionaries(st.text(alphabet="abcdeé12", min_size=1, max_size=10), st.integers(1, 9), max_size=8))
@settings(max_examples=60, deadline=None)
def test_groups_are_those_of_the_reference_whatever_the_order(counts: dict[str, int]) -> None:
    found = groups_alike(counts)
    assert {frozenset(group) for group in found} == naive.groups(list(counts))
    assert found == groups_alike(dict(sorted(counts.items(), reverse=True)))
    for group in found:
        assert list(group) == sorted(group, key=lambda label: (-counts[label], label))
