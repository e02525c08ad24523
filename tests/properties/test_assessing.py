"""An assessment counts what brute force counts, however a table is written."""

from __future__ import annotations

import math
from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from tests.naive import assessing as naive

VALUES = st.sampled_from(["a", "b", "20-29", "*", None])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[tuple[str | None, ...]], list[str | None], list[str] | None]:
    """Records of one to four columns, a sensitive value for each, and perhaps whose it is."""
    width = draw(st.integers(1, 4))
    records = draw(st.lists(st.tuples(*[VALUES] * width), min_size=1, max_size=14))
    ill = draw(st.lists(st.sampled_from(["flu", "cold", "12", None]), min_size=len(records), max_size=len(records)))
    person = draw(st.none() | st.lists(st.sampled_from("pqrs"), min_size=len(records), max_size=len(records)))
    return records, ill, person


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(1, 4))
def test_every_count_is_that_of_brute_force(
    made: tuple[list[tuple[str | None, ...]], list[str | None], list[str] | None], size: int
) -> None:
    """Groups, unique people, smallest combinations, columns that are needed, and what holds of every group."""
    records, ill, person = made
    width = len(records[0])
    names = [f"q{column}" for column in range(width)]
    columns = {name: pa.array([record[at] for record in records], pa.string()) for at, name in enumerate(names)}
    table = pa.table({**columns, "ill": pa.array(ill, pa.string()), "who": person or [""] * len(records)})
    found = hedgerow.assess(table, columns=names, sensitive=["ill"], person="who" if person else None, size=size)

    groups = naive.groups(records, range(width))
    people = [len(naive.people_of(of, person)) for of in groups.values()]
    assert (found.records, found.groups, found.k) == (len(records), len(groups), min(people))
    assert found.unique == people.count(1)
    assert found.people == len(naive.people_of(range(len(records)), person))
    assert found.hidden == sum(set(record) == {"*"} for record in records)

    smallest = naive.smallest(records, min(size, width), person)
    by_columns = {tuple(names.index(name) for name in one.columns): one for one in found.combinations}
    assert set(by_columns) == set(smallest)
    for chosen, one in by_columns.items():
        sizes = [len(naive.people_of(of, person)) for of in naive.groups(records, chosen).values()]
        assert (one.groups, one.smallest, one.unique) == (len(sizes), min(sizes), sizes.count(1))
        assert one.smallest_of == len(smallest[chosen])
    needed, singled_out = naive.needed(records, min(size, width), person)
    assert found.singled_out == singled_out
    for part in found.parts:
        at = names.index(part.column)
        others = [column for column in range(width) if column != at]
        assert part.needed == needed[at]
        assert part.unique_without == len(naive.singled_out(records, others, person))

    values = [[ill[number] for number in of if ill[number] is not None] for of in groups.values()]
    whole = [value for value in ill if value is not None]
    holds = found.holds["ill"]
    assert holds["p"] == holds["l"]["distinct"] == min(len(set(group)) for group in values)
    shares = [max(Counter(group).values()) / len(group) for group in values if group]
    assert math.isclose(holds["alpha"], max(shares, default=0), abs_tol=1e-9)
    entropy = min(naive.entropy_l(group) for group in values) if all(values) else 0.0
    assert math.isclose(holds["l"]["entropy"], entropy, abs_tol=1e-9)
    distances = [naive.equal_distance(group, whole) for group in values if group]
    assert math.isclose(holds["t"]["equal"], max(distances, default=0), abs_tol=1e-9)
    assert found.disclosures[0].groups == sum(len(set(group)) == 1 for group in values)


@settings(max_examples=30, deadline=None)
@given(tables(), st.sampled_from(["k=2", "k=3", "p=2", "k=2,p=2,t=0.4,alpha=0.6", "l=2"]))
def test_what_is_required_holds_where_what_is_reached_says_so(
    made: tuple[list[tuple[str | None, ...]], list[str | None], list[str] | None], require: str
) -> None:
    """The two ways to the same answer agree."""
    records, ill, _ = made
    names = [f"q{column}" for column in range(len(records[0]))]
    columns = {name: pa.array([record[at] for record in records], pa.string()) for at, name in enumerate(names)}
    table = pa.table({**columns, "ill": pa.array(ill, pa.string())})
    found = hedgerow.assess(table, columns=names, sensitive=["ill"], require=require)
    asked = {name: float(value) for name, value in (part.split("=") for part in require.split(","))}
    holds = found.holds["ill"]
    reached = {
        "k": found.k >= asked.get("k", 0),
        "p": holds["p"] >= asked.get("p", 0),
        "l": holds["l"]["distinct"] >= asked.get("l", 0),
        "t": holds["t"]["equal"] <= asked.get("t", 1) + 1e-9,
        "alpha": holds["alpha"] <= asked.get("alpha", 1) + 1e-9,
    }
    assert found.met == all(reached.values())
