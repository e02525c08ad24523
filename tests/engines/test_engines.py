"""The same table and plan give the same release, to the byte, wherever the table lies."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings

import hedgerow as hr
from hedgerow.outside.mariadb import is_name
from hedgerow.plan import Plan
from tests.engines import mariadb_server
from tests.engines.comparing import same_release
from tests.engines.conftest import HERE, Place
from tests.engines.tables import DROP, QUOTES, cases, hostile, hostile_plan
from tests.naive.adult import COUNTRY_TREE

SUITE = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


# ---- a table that is out to confuse ----------------------------------------------------------------------------------


def test_a_hostile_table(there: Place, tmp_path: Path) -> None:
    facts = same_release(there, hostile(), hostile_plan(), tmp_path, ("csv", "parquet"))
    assert facts["released"] == 90
    assert facts["groups"] > 10


METHODS_BESIDES: dict[str, dict[str, Any]] = {
    "partition": {"method": "partition"},
    "utility": {"method": "utility", "privacy": {"k": 4}},
    "matches-any": {"missing": "matches-any"},
    "models": {"privacy": {"k": 4, "t": {"illness": 0.6}, "alpha": {"stage": 0.9}}},
    "improve": {"method": {"name": "cluster", "improve": "quick"}},
    "seed": {"seed": 7, "method": {"name": "cluster", "join": "loss"}},
}
SUPPRESS = {"method": {"name": "utility", "suppress": True}, "missing": "matches-any", "privacy": {"k": 3}}


@pytest.mark.parametrize("method", METHODS_BESIDES)
def test_other_methods(nearby: Place, tmp_path: Path, method: str) -> None:
    same_release(nearby, hostile(), hostile_plan(**METHODS_BESIDES[method]), tmp_path)


def test_what_groups_have_in_place_of_nodes_and_intervals(there: Place, tmp_path: Path) -> None:
    asked = hostile_plan(method={"name": "cluster", "improve": "quick"}).to_dict()
    for name, publish in ((DROP, "set"), ("flag", "set"), ("pay", "mean")):
        part = asked["attributes"][name]
        asked["attributes"][name] = {**(part if isinstance(part, dict) else {"role": part}), "publish": publish}
    same_release(there, hostile(), Plan.from_dict({**asked, "withhold": "100%"}), tmp_path, ("csv", "parquet"))


@pytest.mark.parametrize("more", [SUPPRESS, {"weights": "association"}], ids=["suppress", "association"])
def test_cells_that_are_suppressed_and_weights_of_association(
    there: Place, tmp_path: Path, more: dict[str, Any]
) -> None:
    same_release(there, hostile(), hostile_plan(**more), tmp_path)


def small(**columns: list[Any]) -> pa.Table:
    """A table of people of whom there are few, with columns of one's own."""
    count = len(next(iter(columns.values())))
    return pa.table({"ward": ["a", "b", "a", "b"] * (count // 4), **columns})


def small_plan(more: dict[str, Any], **keys: Any) -> Plan:
    return Plan.from_dict({"attributes": {"ward": "quasi-identifier", **more}, "privacy": {"k": 2}, **keys})


def test_values_without_a_leaf_are_withheld(there: Place, tmp_path: Path) -> None:
    table = small(city=["Rome", " Rome", "Oslo", QUOTES, "?", None, "Oslo\u2003", "Rome"], ill=list("xyxyxyxy"))
    city = {"role": "quasi-identifier", "hierarchy": {"tree": {"all": {"n": ["Oslo"], "s": ["Rome"]}}}}
    plan = small_plan({"city": {**city, "unknown": "withhold"}, "ill": "other"}, data={"missing": ["?"]})
    facts = same_release(there, table, plan, tmp_path)
    assert facts["withheld"] == 1


def test_limits_withhold_the_same_records(there: Place, tmp_path: Path) -> None:
    table = small(age=[20, 21, 33, 34, 35, 35, 36, 58], ill=["a", "b", None, "a", "b", "b", "c", "d"], n=list(range(8)))
    age = {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 6}}
    plan = small_plan({"age": age, "ill": "sensitive", "n": "other"}, withhold=4)
    assert same_release(there, table, plan, tmp_path)["withheld"] > 0


def persons(kind: pa.DataType) -> pa.Table:
    keys = [8, 8, 9, 10, 11, 11, 12, 100, 9, 10, 12, 7]
    values: list[Any] = [dt.date(2020, 1, key % 28 + 1) for key in keys] if kind == pa.date32() else keys
    if kind == pa.string():
        values = [f" {key}\u00a0"[at % 2 :] for at, key in enumerate(keys)]
    return small(who=pa.array(values, kind), ill=list("abcabcabcabc"), n=list(range(12)))


def test_persons_are_counted(there: Place, tmp_path: Path) -> None:
    plan = small_plan({"ill": "sensitive", "n": "other"}, person="who")
    same_release(there, persons(pa.string()), plan, tmp_path)


@pytest.mark.parametrize("kind", [pa.int64(), pa.date32()], ids=str)
def test_persons_with_keys_of_other_kinds(nearby: Place, tmp_path: Path, kind: pa.DataType) -> None:
    same_release(nearby, persons(kind), small_plan({"ill": "sensitive", "n": "other"}, person="who"), tmp_path)


def test_a_record_without_a_person_is_refused(there: Place) -> None:
    table = small(who=["a", "b", " ? ", None], ill=list("abcd"))
    plan = small_plan({"ill": "sensitive"}, person="who", data={"missing": ["?"]})
    with pytest.raises(hr.DataError) as caught:
        hr.anonymize(there.put(table), plan, engine=there.engine)
    assert [problem.code for problem in caught.value.problems] == ["no-person"]
    assert "2 records" in str(caught.value)


def test_no_other_columns_and_nothing_sensitive(nearby: Place, tmp_path: Path) -> None:
    same_release(nearby, small(age=[1, 2, 3, 4]), small_plan({"age": "quasi-identifier"}), tmp_path, ("csv", "parquet"))


def test_columns_that_hold_nothing(there: Place, tmp_path: Path) -> None:
    """A quasi-identifier, a sensitive and another column in which every value is missing."""
    nothing = pa.array([None] * 4, pa.string())
    table = small(q=nothing, s=pa.array([None] * 4, pa.int32()), o=pa.array([None] * 4, pa.date32()))
    plan = small_plan({"q": "quasi-identifier", "s": "sensitive", "o": "other"})
    same_release(there, table, plan, tmp_path, ("csv", "parquet"))


def test_names_that_statements_use_themselves(there: Place, tmp_path: Path) -> None:
    """Our own names inside statements, and words of SQL."""
    names = [
        "c0",
        "s0",
        "k0",
        "p",
        "t",
        "n",
        "g",
        "class",
        "l0",
        "records",
        "select",
        "number",
        "first",
        "hedgerow_parts",
    ]
    table = pa.table({name: [str((at * 7 + row) % 3) for row in range(12)] for at, name in enumerate(names)})
    roles = ["quasi-identifier", "sensitive", "other"]
    attributes = {name: roles[at % 3] for at, name in enumerate(names)}
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}})
    same_release(there, table, plan, tmp_path)


def test_names_that_differ_in_capitals_only(there: Place, tmp_path: Path) -> None:
    if there.name == "mariadb":
        pytest.skip("no table there has such names")
    table = pa.table({"Age": [1, 2, 3, 4], "age": [9, 8, 7, 6], "AGE": list("xyzx"), "agE": list("abca")})
    attributes = {"Age": "quasi-identifier", "age": "quasi-identifier", "AGE": "sensitive", "agE": "other"}
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}})
    if there.name == "spark":
        with pytest.raises(hr.DataError, match="capitals"):
            hr.anonymize(there.put(table), plan)
        return
    same_release(there, table, plan, tmp_path, ("csv", "parquet"))


def test_zero_with_and_without_a_sign(nearby: Place, tmp_path: Path) -> None:
    zeros = pa.array([0.0, 0.0, -0.0, -0.0, 0.0, 1.0, -0.0, 1.0] * 3)
    table = small(s=zeros, o=zeros, o2=[*"hgfedcba"] * 3)
    plan = small_plan({"s": "sensitive", "o": "other", "o2": "other"})
    same_release(nearby, table, plan, tmp_path / "forward")
    same_release(nearby, table.take([*reversed(range(24))]), plan, tmp_path / "backward")
    assert HERE.files(table, plan, tmp_path) == HERE.files(table.take([*reversed(range(24))]), plan, tmp_path / "again")


def test_sensitive_values_that_are_not_numbers(nearby: Place, tmp_path: Path) -> None:
    table = small(s=pa.array([None, None, float("nan"), None]))
    same_release(nearby, table, small_plan({"s": "sensitive"}), tmp_path)


def test_all_white_space_is_trimmed_alike(there: Place, tmp_path: Path) -> None:
    """Every character that Python or Arrow calls white space, at both ends of a cell and inside it."""
    signs = [chr(at) for at in range(1, 0x3100) if chr(at).isspace() or chr(at) in "\u200b\u180e\u2060\ufeff\x08"]
    texts = [text for sign in signs for text in (f"{sign}a{sign}", f"a{sign}b", sign, "a")]
    table = pa.table({"q": texts, "s": texts[::-1], "o": texts})
    plan = Plan.from_dict(
        {"attributes": {"q": "quasi-identifier", "s": "sensitive", "o": "other"}, "privacy": {"k": 2}}
    )
    same_release(there, table, plan, tmp_path)


# ---- any small table -------------------------------------------------------------------------------------------------


def check_generated(there: Place, case: tuple[pa.Table, Plan], folder: Path) -> None:
    table, plan = there.kept(case[0]), case[1]
    wanted: Any
    try:
        wanted = hr.anonymize(table, plan, engine="local")
    except hr.HedgerowError as error:
        wanted = error
    data = there.put(table)
    if isinstance(wanted, hr.HedgerowError):
        with pytest.raises(type(wanted)) as caught:
            hr.anonymize(data, plan, engine=there.engine)
        assert [one.code for one in caught.value.problems] == [one.code for one in wanted.problems]
        return
    found = hr.anonymize(data, plan, engine=there.engine)
    assert found.table.schema == wanted.table.schema
    assert repr(found.table.to_pydict()) == repr(wanted.table.to_pydict())  # NaN equals NaN
    assert found.facts == wanted.facts
    assert found.plan == wanted.plan


@given(case=cases())
@SUITE
def test_generated_tables_in_duckdb(case: tuple[pa.Table, Plan], tmp_path: Path) -> None:
    check_generated(Place("duckdb", lambda table: table), case, tmp_path)


@given(case=cases())
@SUITE
def test_generated_tables_in_postgresql(case: tuple[pa.Table, Plan], tmp_path: Path, postgres: str) -> None:
    from tests.engines.servers import load

    check_generated(Place("postgres", lambda table: load(postgres, table)), case, tmp_path)


@pytest.mark.xdist_group("spark")
@given(case=cases())
@settings(SUITE, max_examples=5)
def test_generated_tables_in_spark(case: tuple[pa.Table, Plan], tmp_path: Path, spark: Any) -> None:
    from tests.engines.conftest import frame

    check_generated(Place("spark", lambda table: frame(spark, table)), case, tmp_path)


@given(case=cases())
@SUITE
def test_generated_tables_in_mariadb(case: tuple[pa.Table, Plan], tmp_path: Path, mariadb: str) -> None:
    assume(all(is_name(name) for name in case[0].column_names))
    place = Place("mariadb", lambda table: mariadb_server.load(mariadb, table), mariadb_server.kept)
    check_generated(place, case, tmp_path)


# ---- Adult -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult(adult_rows: list[list[str]]) -> pa.Table:
    age, marital, race, sex, hours, country, income, education = zip(
        *((int(row[0]), row[5], row[8], row[9], int(row[12]), row[13], row[14], row[3]) for row in adult_rows[:6000]),
        strict=True,
    )
    columns = {"age": age, "marital": marital, "race": race, "sex": sex, "country": country}
    return pa.table({**columns, "income": income, "education": education, "hours": [hour // 10 for hour in hours]})


def adult_plan(**more: Any) -> Plan:
    def quasi(**keys: Any) -> dict[str, Any]:
        return {"role": "quasi-identifier", **keys}

    attributes = {
        "age": quasi(hierarchy={"bands": [5, 10, 20]}),
        "marital": quasi(),
        "race": quasi(),
        "sex": quasi(),
        "country": quasi(hierarchy={"tree": COUNTRY_TREE}),
        "income": "sensitive",
        "education": "sensitive",
        "hours": "other",
    }
    return Plan.from_dict({"attributes": attributes, "privacy": {"k": 5}, **more})


RULES = [{"attribute": "age", "keep_apart": [29, 30], "importance": 2}]
METHODS: dict[str, dict[str, Any]] = {
    "cluster": {},
    "p-sensitive": {"privacy": {"k": 5, "p": 2}},
    "lattice": {"method": "lattice", "withhold": "3%"},
    "research-value": {"method": {"name": "lattice", "objective": "research-value"}, "rules": RULES},
    "utility": {"method": "utility", "rules": RULES},
    "partition": {"method": "partition"},
    "split": {"method": {"name": "cluster", "split": 1000}},
}


@pytest.mark.parametrize("method", METHODS)
def test_adult(there: Place, tmp_path: Path, adult: pa.Table, method: str) -> None:
    facts = same_release(there, adult, adult_plan(**METHODS[method]), tmp_path)
    assert facts["records"] == 6000


READINGS: dict[str, Callable[..., dict[str, Any]]] = {
    "explain": lambda data, plan, **where: hr.explain(data, plan, **where).to_dict(),
    "lattice": lambda data, plan, **where: hr.lattice(data, plan, **where).to_dict(),
    "weights": lambda data, plan, **where: hr.weights(data, plan, **where).to_dict(),
    "compare": lambda data, plan, **where: hr.compare(
        data, plan, k=[5], methods=["plan", "bottom-up"], target="income", **where
    ).to_dict(),
    "compare-other": lambda data, plan, **where: hr.compare(
        data, plan, k=[4], methods=["plan"], target="hours", **where
    ).to_dict(),
}


@pytest.mark.parametrize("reading", READINGS)
def test_what_is_said_of_a_table(there: Place, adult: pa.Table, reading: str) -> None:
    plan = adult_plan().replace(withhold="5%")
    table = adult.slice(0, 1500)
    wanted = READINGS[reading](table, plan, engine="local")
    found = READINGS[reading](there.put(table), plan, engine=there.engine)
    assert json.dumps(found, default=str) == json.dumps(wanted, default=str)


# ---- what cannot be done is said in the same words -------------------------------------------------------------------


def refusals(there: Place, table: pa.Table, plan: Plan) -> tuple[list[str], list[str]]:
    said = []
    for place in (HERE, there):
        with pytest.raises(hr.HedgerowError) as caught:
            hr.anonymize(place.put(table), plan, engine=place.engine)
        said.append([f"{problem.code}: {problem.message}" for problem in caught.value.problems])
    return said[0], said[1]


@pytest.mark.parametrize(
    "case", ["missing column", "no records", "no number", "no leaf", "too few", "too many demands", "two faults"]
)
def test_the_same_words(there: Place, case: str) -> None:
    table = small(age=["1", "x", None, "7"], city=["Rome", DROP, "Oslo", DROP])
    tree = {"role": "quasi-identifier", "hierarchy": {"tree": {"all": ["Oslo", "Rome"]}}}
    free = {"role": "quasi-identifier", "intervals": "free"}
    plan = {
        "missing column": small_plan({"agee": "quasi-identifier", "citi": "other"}),
        "no records": small_plan({"age": "quasi-identifier"}),
        "no number": small_plan({"age": free}),
        "no leaf": small_plan({"city": tree}),
        "too few": small_plan({}, privacy={"k": 5}),
        "too many demands": small_plan({"city": "sensitive"}, privacy={"k": 4, "p": 4}),
        "two faults": small_plan({"age": free, "city": tree}),
    }[case]
    table = table.slice(0, 0) if case == "no records" else table
    wanted, found = refusals(there, table, plan)
    assert [one.split(":")[0] for one in found] == [one.split(":")[0] for one in wanted]
    assert DROP not in str(found)
    if case in ("missing column", "no records", "too few", "too many demands"):
        assert found == wanted
