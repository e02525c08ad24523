"""A lattice is searched where the table lies, where profiles do not fit here: the release is the same."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.anonymization.lattice import make_space
from hedgerow.anonymization.resolving import resolve
from hedgerow.engines import in_place
from hedgerow.engines.opening import open_engine
from hedgerow.engines.sql import SqlSource
from hedgerow.plan import Plan
from tests.cases.lattices import people, plan
from tests.engines.conftest import HERE, Place
from tests.engines.servers import ask, execute, fresh, load

SEARCHES = ("exact", "global", "hybrid", "local", "divided")


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(in_place.VARIABLE, "0")


@pytest.mark.parametrize("search", SEARCHES)
def test_the_release_is_the_same_byte_for_byte(
    nearby: Place, search: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_same_bytes(nearby, search, tmp_path, monkeypatch)


def test_on_spark_too(there: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_bytes(there, "global", tmp_path, monkeypatch)  # which counts fewest sets: each is a job


def assert_same_bytes(there: Place, search: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, asked = people(1), plan(search)
    data = there.put(table)
    wanted = HERE.files(table, asked, tmp_path)
    monkeypatch.setenv(in_place.VARIABLE, "0")
    made = hr.anonymize(data, asked, engine=there.engine)
    assert made.told["frequency_sets_counted_in_place"] >= made.facts["search"]["tested"] > 0
    assert there.files(data, asked, tmp_path) == wanted
    assert json.loads(wanted["facts.json"])["released"] == table.num_rows


@given(seed=st.integers(0, 1 << 20), records=st.integers(4, 300), search=st.sampled_from(SEARCHES))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_table_gives_what_its_profiles_give(
    seed: int, records: int, search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, asked = people(seed, records), plan(search)

    def made(most: str) -> Any:
        monkeypatch.setenv(in_place.VARIABLE, most)
        try:
            release = hr.anonymize(table, asked, engine="duckdb")
        except hr.HedgerowError as problem:
            return str(problem)
        return dict(release.facts), release.table.to_pydict()

    assert made("0") == made("100000000")


def test_the_server_counts_the_frequency_sets(postgres: str, nothing_here: None) -> None:
    """What the server's own log says that it was asked."""
    address = load(postgres, people(2))
    log = Path(parse_qs(urlsplit(postgres).query)["host"][0], "log")
    execute(postgres, "ALTER ROLE hedgerow SET log_statement = 'all'")
    try:
        start = len(log.read_bytes())
        made = hr.anonymize(address, plan())
    finally:
        execute(postgres, "ALTER ROLE hedgerow RESET log_statement")
    said = log.read_bytes()[start:].decode()
    counted = said.count("FROM pg_temp.hedgerow_numbered AS p")
    assert counted >= made.facts["search"]["tested"]
    assert "GROUP BY" in said
    assert "hedgerow_profiles" not in said  # no profile went there either


def test_a_table_on_the_server_is_made_of_a_table_there(postgres: str, nothing_here: None) -> None:
    table, name = people(3), fresh("released")
    asked = plan("global")
    made = hr.anonymize(load(postgres, table), asked, f"{postgres}&table={name}")
    assert made.verification.kept
    rows = ask(postgres, f"SELECT * FROM {name}")
    wanted = hr.anonymize(table, asked, engine="local").table.to_pydict()
    assert sorted(map(repr, rows)) == sorted(map(repr, zip(*wanted.values(), strict=True)))


def test_limits_are_kept_and_what_they_cost_is_told_alike(nothing_here: None) -> None:
    table, raw = people(4), plan().to_dict()
    raw["attributes"]["zip"]["limits"] = {"level": 2}
    limited = Plan.from_dict(raw)
    there, here = (hr.anonymize(table, limited, engine=engine) for engine in ("duckdb", "local"))
    assert there.told.pop("frequency_sets_counted_in_place")
    assert there.facts == here.facts
    assert there.private["limits_by_attribute"] == here.private["limits_by_attribute"]


@pytest.mark.parametrize(
    "changes",
    [
        {"withhold": "5%"},
        {"privacy": {"k": 3, "p": 2}},
        {"method": "lattice"},
        {"method": "cluster", "rules": []},
        {"weights": "association"},
    ],
)
def test_what_needs_the_profiles_gets_them(changes: dict[str, Any], nothing_here: None) -> None:
    table = people(5)
    there = hr.anonymize(table, plan(**changes), engine="duckdb")
    assert "frequency_sets_counted_in_place" not in there.private
    assert there.facts == hr.anonymize(table, plan(**changes), engine="local").facts


@pytest.mark.parametrize("k", [30, 401])
def test_what_cannot_be_done_is_said_as_ever(k: int, nothing_here: None) -> None:
    raw, messages = plan(privacy={"k": k}).to_dict(), []
    raw["attributes"]["zip"]["limits"] = {"level": 0}
    for engine in ("duckdb", "local"):
        with pytest.raises(hr.HedgerowError) as refused:
            hr.anonymize(people(6), Plan.from_dict(raw), engine=engine)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


def test_a_bound_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(in_place.VARIABLE, "much")
    with pytest.raises(hr.HedgerowError, match=r"HEDGEROW_PROFILE_BYTES .* not a whole number"):
        hr.anonymize(people(7), plan(), engine="duckdb")


def test_frequency_sets_are_those_of_plain_counting(nearby: Place) -> None:
    """Every string of levels of two columns, counted by one loop over the records."""
    draw = np.random.default_rng(0)
    codes = [None if draw.random() < 0.1 else f"{number:03d}" for number in draw.integers(100, 140, 300)]
    sexes = draw.choice(["F", "M", "x"], 300).tolist()
    table = pa.table({"code": codes, "sex": sexes})
    prefix = {"role": "quasi-identifier", "hierarchy": {"prefix": [3, 2, 1, 0]}}
    asked = Plan.from_dict(
        {
            "attributes": {"code": prefix, "sex": "quasi-identifier"},
            "privacy": {"k": 7},
            "method": {"name": "lattice", "objective": "research-value"},
        }
    ).settled()

    def shown(code: str | None, level: int) -> object:  # a missing value stays apart until the root
        return "*" if level == 3 else code if code is None else code[: 3 - level]

    with open_engine(nearby.put(table), asked, nearby.engine) as opened:
        engine: Any = opened
        source = SqlSource(engine.session, asked)
        values = {alias: in_place.Values.of(engine.session, source, alias) for alias in source.names()}
        stand_ins = in_place._by_columns(source, asked, values, 300, engine.session)
        microdata, _ = resolve(stand_ins, asked)
        space = make_space(microdata)
        there = in_place._Numbered(engine.session, source, values, stand_ins, microdata)
        there.number(space)
        checker = there.checker(space, None, 7)
        for levels in itertools.product(range(4), range(2)):
            groups = Counter(
                (shown(code, levels[0]), "*" if levels[1] else sex) for code, sex in zip(codes, sexes, strict=True)
            )
            found = checker.check(checker.base(), levels)
            assert found.withheld == sum(size for size in groups.values() if size < 7), levels
            assert found.groups == sum(size >= 7 for size in groups.values()), levels
