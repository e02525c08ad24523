"""People of a population are counted where their table lies, and weights where records have numbers: same bytes, or no."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, HedgerowError
from tests.engines.conftest import HERE, Place, place_of

TREE = {"*": {"a": ["a1", "a2"], "b": ["b1", "b2"]}}
PEOPLE = [(sex, place, age, 1 + age % 3) for sex in "FM" for place in ("a1", "a2", "b1", "b2") for age in range(20, 60)]
NAMES = ("sex", "place", "age", "n")


def table(rows: list[tuple[str, str, int, int]], names: tuple[str, ...] = NAMES) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


SAMPLE = table(PEOPLE[::7]).drop_columns(["n"])
REGISTER = table([*PEOPLE, ("F", "elsewhere", 33, 4)], ("SEX", "place", "age", "people"))


@pytest.fixture(params=["postgres", "mariadb"])
def server(request: pytest.FixtureRequest) -> Place:
    return place_of(request)


def plan(**changes: Any) -> hr.Plan:
    return hr.Plan.from_dict(
        {
            "attributes": {
                "sex": "quasi-identifier",
                "place": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}},
                "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 20]}},
            },
            "privacy": {"k": 2, "k_map": 20, "presence": [0, 0.2]},
            "population": {"columns": {"sex": "SEX", "age": "age", "place": "place"}, "count": "people"},
            **changes,
        }
    )


def address_of(place: Place, people: pa.Table, request: pytest.FixtureRequest) -> Any:
    """Where the population is: where the engine has its tables, as an address if it has one."""
    if place.name == "spark":
        request.getfixturevalue("spark").createDataFrame(people.to_pandas()).createOrReplaceTempView("register")
        return "table:register"
    return place.put(people)


@pytest.mark.parametrize("method", ["cluster", "lattice"])
def test_a_population_is_counted_where_it_lies(
    there: Place, method: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    hr.anonymize(SAMPLE, plan(method=method), tmp_path / "here", population=REGISTER, format="csv")
    expected = {path.name: path.read_bytes() for path in (tmp_path / "here").iterdir()}
    population = address_of(there, REGISTER, request)
    where = {"population": population} if isinstance(population, str) else {}
    named = plan(method=method) if not where else plan(method=method, population={
        "file": population, "columns": {"sex": "SEX", "age": "age", "place": "place"}, "count": "people"})  # fmt: skip
    given = {} if where else {"population": population}
    # Records here, people there; and both there.
    for data, name, engine in ((SAMPLE, "one", "auto"), (there.put(SAMPLE), "both", there.engine)):
        hr.anonymize(data, named, tmp_path / name, format="csv", engine=engine, **given)
        assert {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} == expected
    found = hr.verify(tmp_path / "both", population=population)
    assert found.kept
    assert {"k_map", "presence", "population"} <= {promise.name for promise in found.promises}
    fewer = hr.verify(tmp_path / "both", population=address_of(there, REGISTER.slice(3), request))
    assert "population" in {promise.name for promise in fewer.promises if not promise.kept}


def test_a_population_that_cannot_be_counted_in_says_why(server: Place) -> None:
    population = server.put(REGISTER.rename_columns(["sex", "place", "years", "people"]))
    with pytest.raises(DataError, match="no column 'age', which the plan names") as error:
        hr.anonymize(SAMPLE, plan(population={"columns": ["sex", "age"]}), population=population)
    assert "password" not in str(error.value)
    with pytest.raises(DataError, match="are of nobody in the population"):
        hr.anonymize(SAMPLE, plan(), population=server.put(REGISTER.slice(50)))
    halves = REGISTER.set_column(3, "people", pa.array([1.5] * REGISTER.num_rows))
    with pytest.raises(DataError, match="321 rows do not say how many people they stand for"):
        hr.anonymize(SAMPLE, plan(), population=server.put(halves))


def test_other_verbs_count_in_it_too(server: Place) -> None:
    asked = plan(population={
        "file": server.put(REGISTER), "columns": {"sex": "SEX", "age": "age", "place": "place"}, "count": "people"})  # fmt: skip
    assert hr.propose_limits(SAMPLE, asked).plan.population == asked.population
    assert hr.compare(SAMPLE, asked, methods=["cluster", "lattice"]).to_dict()


def test_weights_are_refused_before_any_work_where_records_have_no_numbers(there: Place, tmp_path: Path) -> None:
    weighted = SAMPLE.append_column("weight", pa.array([10.5] * SAMPLE.num_rows))
    asked = plan(weight="weight", privacy={"k": 2, "k_map": 40}, population=None)
    data = there.put(weighted)
    said: list[tuple[str, int, int]] = []
    with pytest.raises(HedgerowError, match="Sampling weights need the numbers of records"):
        hr.anonymize(data, asked, engine=there.engine, progress=lambda *told: said.append(told))
    assert said == [("reading", 0, 0)]
    assert hr.anonymize(HERE.put(weighted), asked).facts["estimated_risk"]["fewest_people"] >= 40


def test_a_large_file_with_weights_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow.parquet.write_table(
        SAMPLE.append_column("weight", pa.array([10.5] * SAMPLE.num_rows)), tmp_path / "s.parquet"
    )
    monkeypatch.setattr("hedgerow.engines.opening.LARGE_FILE", 1)
    asked = plan(weight="weight", privacy={"k": 2}, population=None)
    assert hr.anonymize(tmp_path / "s.parquet", asked).facts["estimated_risk"]["people"] > 0
