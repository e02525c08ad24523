"""An earlier release applied to a new table: the rows that plain loops give, checked, and nothing of who is withheld."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import hedgerow as hr
from tests.naive import frozen as naive

WAYS = {"a1": ("a1", "A", "all"), "a2": ("a2", "A", "all"), "b1": ("b1", "B", "all"), "b2": ("b2", "B", "all")}
TREE = {"all": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}
HEIGHT = {**dict.fromkeys(WAYS, 0), "A": 1, "B": 1, "all": 2}
COLUMNS = ("place", "age", "ill")


def plan(k: int, p: int, limits: bool) -> hr.Plan:
    place: dict[str, Any] = {"role": "quasi-identifier", "hierarchy": {"tree": TREE}}
    privacy = {"k": k, **({"p": p} if p > 1 else {})}
    return hr.Plan.from_dict(
        {
            "attributes": {
                "place": {**place, **({"limits": ["A", "B"]} if limits else {})},
                "age": {
                    "role": "quasi-identifier",
                    "intervals": "free",
                    **({"limit": {"cuts": [30]}} if limits else {}),
                },
                "ill": "sensitive",
            },
            "privacy": privacy,
        }
    )


def table(rows: list[tuple[str, ...]]) -> pa.Table:
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)})


def people(number: int) -> st.SearchStrategy[list[tuple[str, ...]]]:
    one = st.tuples(st.sampled_from(sorted(WAYS)), st.integers(20, 45).map(str), st.sampled_from("xyz"))
    return st.lists(one, min_size=number, max_size=30)


def at(*ages: int, place: str = "a1") -> list[tuple[str, ...]]:
    return [(place, str(age), "x") for age in ages]


@given(people(8), people(3), st.integers(2, 3), st.integers(1, 2), st.booleans())
@example(  # somebody far away, who fits nowhere, must not change which group is the finest
    at(20, 20, 20, 20, 21, 21, 21, 21, 21) + at(20, 20, 24, place="a2") + at(20, 23, place="b1"),
    at(20, 20, 20, 20, 21, 22) + at(20, 20, place="a2"),
    2,
    1,
    False,
)
@settings(max_examples=15)
def test_records_go_where_plain_loops_put_them(
    first: list[tuple[str, ...]], second: list[tuple[str, ...]], k: int, p: int, limits: bool
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "first"
        try:
            earlier = hr.anonymize(table(first), plan(k, p, limits), folder)
        except hr.NoSolution:
            assume(False)
        groups = list(dict.fromkeys(zip(*(earlier.table[name].to_pylist() for name in COLUMNS[:2]), strict=True)))
        ends = [int(end) for _, age in groups for end in age.split("-")]
        span = max(ends) - min(ends)

        def loss(group: naive.Row) -> Fraction:
            low, high = str(group[1]).split("-")[0], str(group[1]).split("-")[-1]
            return Fraction(HEIGHT[str(group[0])], 2) + (Fraction(int(high) - int(low), span) if span else 0)

        def meets(members: list[int]) -> bool:
            return len(members) >= k and len({second[number][2] for number in members}) >= p

        within = [naive.in_ways(WAYS), naive.in_interval]
        found = naive.placed([row[:2] for row in second], groups, within, loss, meets)
        expected = sorted((*shown, row[2]) for shown, row in zip(found, second, strict=True) if shown is not None)
        if not expected:
            with pytest.raises(hr.NoSolution):
                hr.apply(folder, table(second))
            return
        made = hr.apply(folder, table(second))
        assert sorted(zip(*(made.table[name].to_pylist() for name in COLUMNS), strict=True)) == expected
        assert made.private["withheld_because"] == {"fits_no_group": found.count(None), "no_leaf": 0}
        _withheld_people_may_be_anybody(folder, made, second, found)


def _withheld_people_may_be_anybody(
    folder: Path, made: hr.Release, second: list[tuple[str, ...]], found: list[naive.Row | None]
) -> None:
    """Somebody far away from everything in the place of each who is withheld changes nothing."""
    others = [row if shown is not None else ("b2", "99", "z") for row, shown in zip(second, found, strict=True)]
    again = hr.apply(folder, table(others))
    assert again.table == made.table
    assert again.facts == made.facts


def test_levels_of_a_lattice_are_passed_on(tmp_path: Path) -> None:
    dice = Random(3)
    rows = [(dice.choice("ab") + dice.choice("12"), str(dice.randrange(20, 60)), dice.choice("xyz")) for _ in range(60)]
    asked = {
        "attributes": {
            "place": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}},
            "age": {"role": "quasi-identifier", "hierarchy": {"bands": [10, 20]}},
            "ill": "sensitive",
        },
        "privacy": {"k": 5},
        "method": "lattice",
        "withhold": "10%",
    }
    earlier = hr.anonymize(table(rows), hr.Plan.from_dict(asked), tmp_path / "first")
    again = hr.apply(tmp_path / "first", table([*rows, ("zz", "30", "x")]), withhold="50%")
    assert again.facts["levels"] == earlier.facts["levels"]
    assert again.private["withheld_because"]["no_leaf"] == 1
    assert again.facts["applied"]["groups"] == earlier.groups
    with pytest.raises(hr.NoSolution):
        hr.apply(tmp_path / "first", table(rows[:7]))


def test_what_cannot_be_applied_is_refused_with_the_reason(tmp_path: Path) -> None:
    rows = table([("a1", str(age), "x") for age in (20, 21, 22, 40, 41, 42)])
    method = {"name": "utility", "suppress": True}
    hr.anonymize(rows, plan(2, 1, False).replace(method=method, missing="matches-any"), tmp_path / "first")
    with pytest.raises(hr.DataError, match="hides single cells"):
        hr.apply(tmp_path / "first", rows)


def test_numbers_on_a_grid_are_read_back(tmp_path: Path) -> None:
    for snap, ages in ((5, ["20", "23", "41", "47"]), ("0.5", ["1.2", "1.9", "3", "3.4"])):
        asked = plan(2, 1, False)
        attributes = asked.to_dict()["attributes"]
        attributes["age"]["snap"] = snap
        rows = table([("a1", age, "x") for age in ages])
        folder = tmp_path / str(snap)
        first = hr.anonymize(rows, asked.replace(attributes=attributes), folder)
        assert hr.apply(folder, rows).table == first.table
