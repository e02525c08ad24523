"""Names of columns: those that only the data has are not shown, and a record in their place is told."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import DataError
from hedgerow.microdata.header import values_among
from hedgerow.microdata.read import check_columns
from hedgerow.plan import Plan


@pytest.mark.parametrize(
    "names",
    [
        ["Smith", "f", "34", "Berlin"],
        ["Smith", "1984-05-02"],
        ["Smith", "02.05.1984 10:30"],
        ["a@b.example", "x"],
        ["10:45", "x"],
        ["3f2504e0-4f89-11d3-9a0c-0305e82c3301", "x"],
        ["1.234,50 €", "x"],
        ["country", "2019", "2021", "2020"],
        ["country", "1", "2"],
    ],
)
def test_values_in_place_of_names(names: list[str]) -> None:
    assert values_among(names) > 0


@pytest.mark.parametrize(
    "names",
    [
        ["", "age", "sex"],
        ["age", "income 2024", "q1", "v2.1", "x_1", "2nd visit"],
        ["country", "2019", "2020", "2021"],
        ["0", "1", "2", "3"],
        ["e-mail", "date", "name@work"],
        ["How often do you see your doctor in a year, if at all?", "zip5", "ICD-10"],
    ],
)
def test_names_that_are_names(names: list[str]) -> None:
    assert values_among(names) == 0


def plan(*names: str) -> Plan:
    return Plan.from_dict({"attributes": dict.fromkeys(names, "quasi-identifier"), "privacy": {"k": 2}})


def refused(names: tuple[str, ...], *asked: str) -> list[tuple[str, str]]:
    with pytest.raises(DataError) as caught:
        check_columns(names, plan(*asked), "people.csv")
    return [(problem.code, f"{problem.message} {problem.hint}") for problem in caught.value.problems]


def test_a_column_that_is_not_there_is_named_and_those_that_are_there_instead_are_counted() -> None:
    ((code, said),) = refused(("age", "Smith", "Meier"), "age", "income")
    assert code == "missing-column"
    assert "'income'" in said
    assert "1 of the 2 that the plan names, and 2 more" in said
    assert "Smith" not in said


def test_a_name_that_is_nearly_right_is_said_by_its_place() -> None:
    ((_, said),) = refused(("Smith", "Ages", "sex"), "age", "sex")
    assert "column 2 has nearly this name" in said
    assert "Ages" not in said


def test_one_message_where_no_column_is_there() -> None:
    ((code, said),) = refused(("Smith", "f"), "age", "sex", "town")
    assert (code, "none of the 3 columns" in said) == ("missing-column", True)
    ((code, said),) = refused(("Smith", "1984-05-02"), "age", "sex", "town")
    assert code == "no-header"
    assert "1984" not in said


def test_names_that_stand_twice_are_shown_only_if_the_plan_names_them() -> None:
    (_, said), (_, other) = refused(("age", "Smith", "age", "Smith"), "age")
    assert "named 'age': the first are columns 1 and 3" in said
    assert "columns 2 and 4" in other
    assert "Smith" not in other


def test_numbers_may_be_names_if_a_person_says_so() -> None:
    table = pa.table({"7": ["a", "b"] * 9, "12": ["c", "d"] * 9})
    with pytest.raises(DataError, match="trust-names"):
        hr.draft_plan(table)
    assert list(Plan.loads(hr.draft_plan(table, trust_names=True)).attributes) == ["7", "12"]


def test_facts_count_columns_that_the_plan_does_not_name() -> None:
    table = pa.table({"age": ["1", "1", "2", "2"], "name": list("abcd"), "Smith": list("wxyz"), "Meier": list("wxyz")})
    asked = Plan.from_dict({"attributes": {"age": "quasi-identifier", "name": "identifier"}, "privacy": {"k": 2}})
    facts = hr.anonymize(table, asked, threads=1).facts
    assert (facts["columns_not_released"], facts["columns_not_in_plan"]) == (["name"], 2)
    assert "Smith" not in repr(facts)
