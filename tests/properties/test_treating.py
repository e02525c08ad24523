"""Treated values: the maker, the verifier and the plain reference agree on every cell, and on whole releases."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.errors import DataError
from hedgerow.microdata.points import found_in
from hedgerow.microdata.treating import treatment
from hedgerow.plan import Attribute, DataFormat, HierarchySpec
from hedgerow.plan.hierarchy.builders import OpenEnds, bands
from hedgerow.plan.hierarchy.numbers import number_label
from hedgerow.plan.model import Treatment
from hedgerow.verification.values.bands import Bands
from hedgerow.verification.values.treatments import TreatedColumn
from tests.naive import treating as naive

POINTS = st.decimals(-2000, 2000, places=1, allow_nan=False)
BASES = st.sampled_from([Decimal(text) for text in ("1", "5", "100", "0.5", "2.5", "0.01", "30")])
CELLS = st.one_of(
    st.integers(-3000, 3000).map(str),
    st.decimals(-3000, 3000, places=2, allow_nan=False).map(str),
    st.sampled_from(
        ["", "none", "1e3", "+7", "-0", "1.234,5", "1 234", "12.34+", "90+", "10 or less", "0005", ".5", "5."]
    ),
)


@settings(max_examples=300, deadline=None)
@given(
    CELLS,
    st.none() | POINTS,
    st.none() | POINTS,
    st.none() | BASES,
    st.sampled_from([(".", None), (",", "."), (",", " ")]),
)
def test_maker_and_verifier_treat_a_number_as_the_reference_does(
    cell: str, top: Decimal | None, bottom: Decimal | None, base: Decimal | None, signs: tuple[str, str | None]
) -> None:
    if top is not None and bottom is not None and bottom >= top:
        top, bottom = bottom + 1, top
    said = {name: part for name, part in (("top", top), ("bottom", bottom), ("round", base)) if part is not None}
    form = DataFormat(decimal=signs[0], thousands=signs[1])
    attribute = Attribute(role="other", treat=said, unknown="own-leaf-under-root")
    rule = TreatedColumn.of(attribute, form)
    assert attribute.treat is not None
    assert rule is not None
    expected = naive.treated(cell, top, bottom, base, *signs)
    made = treatment(attribute.treat, form)(cell)
    assert made == expected
    assert rule.of_value(cell, written=True) == (cell if expected is None else expected)
    if made is not None:
        assert rule.makes(made)
        assert rule.of_value(made, written=True) == made  # what is treated stays as it is
        again = treatment(attribute.treat, form)(made)
        assert again in (None, made)


@settings(max_examples=100, deadline=None)
@given(st.dates(), st.sampled_from(["month", "quarter", "year"]), st.sampled_from(["%Y-%m-%d", "%d.%m.%Y"]))
def test_maker_and_verifier_name_the_period_of_a_day_as_the_reference_does(day: Any, level: Any, form: str) -> None:
    cell = f"{day.year:04d}-{day.month:02d}-{day.day:02d}"
    if form == "%d.%m.%Y":
        cell = f"{day.day:02d}.{day.month:02d}.{day.year:04d}"
    treat = Treatment(dates=level, form=form)
    rule = TreatedColumn.of(Attribute(role="other", treat=treat), DataFormat())
    assert rule is not None
    expected = naive.period(cell, level, form)
    assert treatment(treat, DataFormat())(cell) == rule.of_value(cell, written=True) == expected
    assert rule.makes(str(expected))
    assert not rule.makes(cell)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(-30, 130), min_size=1, max_size=12),
    st.sampled_from([[5], [5, 20], [1, 10], [3, 9, 27]]),
    st.none() | st.integers(40, 100),
    st.none() | st.integers(-10, 30),
)
def test_bands_with_open_ends_are_those_of_the_reference(
    numbers: list[int], widths: list[int], top: int | None, bottom: int | None
) -> None:
    built = bands(map(str, numbers), widths, OpenEnds(top, bottom))
    ways = {path[0]: list(path) for path in built.hierarchy.paths()}
    ladder = Bands.of(HierarchySpec(bands=tuple(widths), top=top, bottom=bottom), None)
    for number in numbers:
        expected = naive.way_up(number, widths, top, bottom)
        short = list(dict.fromkeys(expected))  # a chain of one name is one node to a reader
        assert list(dict.fromkeys(ways[built.leaf_of[str(number)]])) == short
        assert tuple(expected) in [line.labels for line in ladder.lines(str(number))]
        assert all(ladder.knows(label) for label in expected)
    beyond = [str(number) for number in numbers if top is not None and number >= top]
    assert not any(ladder.knows(label) for label in beyond)


RECORDS = st.lists(
    st.tuples(st.integers(15, 99), st.integers(0, 99_999), st.dates(), st.sampled_from(["F", "M"])),
    min_size=8,
    max_size=20,
)


@settings(max_examples=25, deadline=None)
@given(RECORDS, st.sampled_from(["cluster", "lattice"]), st.booleans())
def test_every_released_cell_is_the_treatment_of_its_record(
    rows: list[tuple[int, int, Any, str]], method: str, written: bool
) -> None:
    age, pay, day, sex = (list(column) for column in zip(*rows, strict=True))
    columns: dict[str, Any] = {"age": age, "pay": pay, "seen": day, "sex": sex}
    if written:
        columns = {name: [str(cell) for cell in column] for name, column in columns.items()}
    plan = hr.Plan.from_dict(
        {
            "attributes": {
                "age": {"role": "quasi-identifier", "hierarchy": {"bands": {"width": [10], "top": 80, "bottom": 19}}},
                "sex": "quasi-identifier",
                "pay": {"role": "sensitive", "treat": {"top": 50_000, "bottom": 1_000, "round": 500}},
                "seen": {"role": "other", "treat": {"dates": "quarter"}},
            },
            "privacy": {"k": 2, "l": 2},
            "method": method,
            "withhold": "100%",
        }
    )
    try:
        release = hr.anonymize(pa.table(columns), plan)
    except hr.NoSolution:
        return
    assert release.record_of_row is not None
    released = release.table.to_pydict()
    for row, record in enumerate(release.record_of_row.tolist()):
        assert released["pay"][row] == naive.treated(str(pay[record]), Decimal(50_000), Decimal(1_000), Decimal(500))
        assert released["seen"][row] == naive.period(str(day[record]), "quarter")
        assert released["age"][row] in naive.way_up(age[record], [10], 80, 19)
    tied = list(zip(*(released[name] for name in ("age", "sex", "pay", "seen")), strict=True))
    by_group: dict[Any, list[Any]] = {}
    for one in tied:
        by_group.setdefault(one[:2], []).append(one[2:])
    assert all(group == sorted(group) for group in by_group.values())  # no order tells what is beyond a point


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.decimals(-500, 500, places=1, allow_nan=False), st.integers(0, 6)), min_size=1, max_size=20),
    st.integers(1, 8),
    st.none() | BASES,
    st.booleans(),
    st.booleans(),
)
def test_points_are_those_that_as_many_people_lie_beyond(
    drawn: list[tuple[Decimal, int]], fewest: int, base: Decimal | None, with_persons: bool, up: bool
) -> None:
    values = [Fraction(value) for value, _ in drawn]
    people = [person for _, person in drawn] if with_persons else list(range(len(drawn)))
    said: dict[str, Any] = {("top" if up else "bottom"): {"fewest": fewest}} | ({} if base is None else {"round": base})
    column = pa.chunked_array([pa.array([str(value) for value, _ in drawn])])
    person = np.array(people, np.int64) if with_persons else None
    attribute = Attribute(role="other", treat=said)
    sign = 1 if up else -1
    if len(set(people)) < fewest:
        with pytest.raises(DataError):
            found_in("x", attribute, column, DataFormat(), None, person)
        return
    found = found_in("x", attribute, column, DataFormat(), None, person)
    point = found.top if up else found.bottom
    expected = sign * naive.highest_point(
        [sign * value for value in values], people, fewest, None if base is None else Fraction(base)
    )
    assert point is not None
    assert Fraction(point.at) == expected
    number = number_label(point.at) + ("+" if up else " or less")
    change = treatment(found, DataFormat())
    assert (
        len({person for (cell, _), person in zip(drawn, people, strict=True) if change(str(cell)) == number}) >= fewest
    )


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(20, 60), st.integers(0, 999)), min_size=12, max_size=30), st.integers(2, 4))
def test_points_that_are_found_are_those_of_the_released_records(rows: list[tuple[int, int]], fewest: int) -> None:
    age, pay = (list(column) for column in zip(*rows, strict=True))
    attributes = {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5]}, "limit": {"level": 1}},
        "pay": {"role": "sensitive", "treat": {"top": {"fewest": fewest}}},
    }
    plan = hr.Plan.from_dict({"attributes": attributes, "privacy": {"k": 3}, "withhold": "100%"})
    people = pa.table({"age": age, "pay": pay})
    try:
        release = hr.anonymize(people, plan)
    except (hr.NoSolution, DataError):
        return
    assert release.record_of_row is not None
    kept = sorted(release.record_of_row.tolist())
    values = [Fraction(pay[record]) for record in kept]
    found = release.plan.attributes["pay"].treat
    assert found is not None
    assert found.top is not None
    assert found.top.at == naive.highest_point(values, kept, fewest)
    again = hr.anonymize(people.take(kept), plan)  # as if there had never been other records
    assert again.table.equals(release.table)
