"""What is promised of a population is counted again: right releases pass, and whatever is tampered with is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, PlanError
from hedgerow.verification import Verification

TREE = {"*": {"a": ["a1", "a2"], "b": ["b1", "b2"]}}
PEOPLE = [(sex, place, age) for sex in "FM" for place in ("a1", "a2", "b1", "b2") for age in range(20, 60)]
SAMPLE = PEOPLE[::7]


def table(rows: list[tuple[str, str, int]]) -> pa.Table:
    sex, place, age = zip(*rows, strict=True)
    return pa.table({"sex": list(sex), "place": list(place), "age": list(map(str, age))})


def plan(method: str = "cluster", **privacy: Any) -> hr.Plan:
    return hr.Plan.from_dict(
        {
            "attributes": {
                "sex": "quasi-identifier",
                "place": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}},
                "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 20]}},
            },
            "privacy": {"k": 2, **privacy},
            "method": method,
        }
    )


@pytest.fixture
def release(tmp_path: Path) -> Path:
    asked = plan(k_map=10, presence=[0, 0.2])
    hr.anonymize(table(SAMPLE), asked, tmp_path / "out", population=table(PEOPLE))
    return tmp_path / "out"


def broken(found: Verification) -> set[str]:
    return {promise.name for promise in found.promises if not promise.kept}


def changed(release: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    facts = json.loads((release / "facts.json").read_text())
    change(facts)
    (release / "facts.json").write_text(json.dumps(facts))


def test_a_right_release_is_counted_again(release: Path) -> None:
    found = hr.verify(release, population=table(PEOPLE))
    assert found.kept
    assert {"k_map", "presence", "population"} <= {promise.name for promise in found.promises}
    assert {"fewest_people", "population_risk_sizes", "presence", "population"} <= set(found.recounted)


def test_without_the_population_it_says_that_nothing_was_counted(release: Path) -> None:
    found = hr.verify(release)
    assert found.kept
    assert "not counted" in str(found["k_map"].found)
    assert "fewest_people" in found.makers_word
    changed(release, lambda facts: facts.update(fewest_people=9))  # what the facts admit is so for certain
    assert broken(hr.verify(release)) == {"k_map"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("population", 319), ("fewest_people", 321), ("population_risk_sizes", {"10": 46}), ("presence", [0.0, 0.2])],
)
def test_facts_that_are_not_so_are_refused(release: Path, name: str, value: Any) -> None:
    changed(release, lambda facts: facts.update({name: value}))
    assert "population" in broken(hr.verify(release, population=table(PEOPLE)))


def test_another_population_is_noticed(release: Path) -> None:
    fewer = table([person for person in PEOPLE if int(person[2]) % 4 or person in SAMPLE])
    assert "population" in broken(hr.verify(release, population=fewer))


def test_a_row_that_is_published_too_narrow_breaks_the_promise(release: Path) -> None:
    lines = (release / "data.csv").read_text().splitlines(keepends=True)
    lines[1] = "F,a1,20\n"
    (release / "data.csv").write_text("".join(lines))
    assert {"k_map", "presence", "k"} <= broken(hr.verify(release, population=table(PEOPLE)))


def test_the_file_of_the_population_stays_behind(tmp_path: Path) -> None:
    pa.csv.write_csv(table(PEOPLE), tmp_path / "register.csv")
    (tmp_path / "plan.yaml").write_text("population: register.csv\n" + plan(k_map=20).to_yaml())
    made = hr.anonymize(table(SAMPLE), tmp_path / "plan.yaml", tmp_path / "out")
    written = "".join(file.read_text() for file in (tmp_path / "out").iterdir())
    assert "register" not in written
    assert str(tmp_path) not in written
    assert made.plan.population is not None
    assert made.plan.population.columns == {"sex": "sex", "place": "place", "age": "age"}


def test_a_record_of_nobody_in_the_population_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 of 47 records are of nobody in the population") as error:
        hr.anonymize(table([*SAMPLE, ("F", "a1", 99)]), plan(k_map=5), population=table(PEOPLE))
    assert "99" not in str(error.value)


def test_populations_that_cannot_be_counted_in_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no table of it is given"):
        hr.anonymize(table(SAMPLE), plan(k_map=5))
    with pytest.raises(DataError, match="none of the quasi-identifiers"):
        hr.anonymize(table(SAMPLE), plan(k_map=5), population=pa.table({"x": ["1"]}))
    asked = plan(k_map=5).replace(population={"columns": {"sex": "SEX"}})
    with pytest.raises(DataError, match="no column 'SEX'"):
        hr.anonymize(table(SAMPLE), asked, population=table(PEOPLE))
    counted = table(PEOPLE).append_column("n", pa.array(["a dozen"] * len(PEOPLE)))
    with pytest.raises(DataError, match="how many people they stand for") as error:
        hr.anonymize(table(SAMPLE), plan(k_map=5).replace(population={"count": "n"}), population=counted)
    assert "dozen" not in str(error.value)
    with pytest.raises(DataError, match="does not exist"):
        hr.anonymize(table(SAMPLE), plan(k_map=5), population=tmp_path / "gone.csv")


@pytest.mark.parametrize(
    ("privacy", "more", "match"),
    [
        ({"k_map": 1}, {}, "greater than or equal to 2"),
        ({"presence": [0.5, 0.2]}, {}, "in this order"),
        ({"presence": [0, 2]}, {}, "from 0 to 1"),
        ({"k_map": 5}, {"method": {"name": "lattice", "objective": "research-value"}}, "by research value"),
        ({"k_map": 5}, {"method": {"name": "utility", "overlap": "forbidden"}}, "overlap: forbidden"),
        ({"k_map": 5}, {"population": {"columns": ["name"]}}, "not a quasi-identifier"),
    ],
)
def test_plans_that_cannot_be_kept_are_refused(privacy: dict[str, Any], more: dict[str, Any], match: str) -> None:
    asked = {**plan().to_dict(), **more, "privacy": {"k": 2, **privacy}}
    with pytest.raises(PlanError, match=match):
        hr.Plan.from_dict(asked)


@pytest.mark.parametrize("method", ["cluster", "lattice", "bottom-up", "partition"])
def test_the_journalist_has_the_population_before_them(tmp_path: Path, method: str) -> None:
    from hedgerow.reports.verdict import verdict_on

    made = hr.anonymize(table(SAMPLE), plan(method, k_map=20), population=table(PEOPLE))
    assert verdict_on(made) is not None
    assert made.facts["fewest_people"] >= 20
    assert sum(made.facts["population_risk_sizes"].values()) == made.facts["released"]


def test_the_same_release_in_duckdb(tmp_path: Path) -> None:
    pa.csv.write_csv(table(SAMPLE), tmp_path / "data.csv")
    for engine in ("local", "duckdb"):
        hr.anonymize(tmp_path / "data.csv", plan(k_map=20), tmp_path / engine, engine=engine, population=table(PEOPLE))
    names = ("data.csv", "plan.yaml", "facts.json")
    one, other = ([(tmp_path / engine / name).read_bytes() for name in names] for engine in ("local", "duckdb"))
    assert one == other


def test_limits_that_are_lifted_or_proposed_count_in_the_population_too(tmp_path: Path) -> None:
    """Without the limit on places nobody more would be withheld; nor are people lost who had the limit before."""
    pa.csv.write_csv(table(PEOPLE), tmp_path / "register.csv")
    asked = plan(k_map=20).to_dict() | {"population": str(tmp_path / "register.csv")}
    asked["attributes"]["place"]["limit"] = {"level": 1}
    limited = hr.Plan.from_dict(asked)
    found = hr.explain(table(SAMPLE), limited).to_dict()
    assert [(cause["saves"], cause["alone"]) for cause in found["causes"]] == [(0, 0)]
    proposed = hr.propose_limits(table(SAMPLE), plan(k_map=20).replace(population=str(tmp_path / "register.csv")))
    made = hr.anonymize(table(SAMPLE), proposed.plan, tmp_path / "out", population=table(PEOPLE))
    assert made.facts["fewest_people"] >= 20


def test_an_address_that_nothing_reads_is_refused_and_not_shown() -> None:
    address = "oracle://ann:secret@db.example/people"
    with pytest.raises(PlanError, match="address of no place") as told:
        plan(k_map=5).replace(population=address)
    with pytest.raises(DataError, match="none of a PostgreSQL or MariaDB server") as said:
        hr.anonymize(table(SAMPLE), plan(k_map=5), population=address)
    assert "secret" not in str(told.value) + str(said.value)
    known = plan(k_map=5).replace(population="postgresql://ann:secret@db.example/people?table=t")
    assert known.population is not None
    assert known.population.file == "postgresql://ann:secret@db.example/people?table=t"
