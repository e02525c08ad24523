"""Where there are very many records, DuckDB keeps them on disk: the same bytes, and a check that finds faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.engines import duckdb_engine, duckdb_tasks, room
from hedgerow.engines.duckdb_engine import DuckDBEngine
from hedgerow.engines.duckdb_tasks import DuckDBTasks
from hedgerow.engines.spread import rounds
from hedgerow.engines.spread.rows import SpreadLink
from hedgerow.plan import Plan
from hedgerow.release.checking import verify_before_publishing
from hedgerow.release.folders import write_release
from hedgerow.release.making import make_where_it_lies
from tests.engines.tables import hostile, hostile_plan


@pytest.fixture(autouse=True)
def many_is_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every table for one of very many records, and pieces of a few rows for large ones."""
    monkeypatch.setattr(duckdb_engine, "HERE", 0)
    monkeypatch.setattr(duckdb_tasks, "PIECE", 17)


def people(records: int = 150) -> pa.Table:
    return pa.table(
        {
            "who": [f" {at // 2 % 60:02d}"[at % 2 :] for at in range(records)],
            "age": [at * 7 % 60 + 18 for at in range(records)],
            "city": [["Rome", " Rome", "Oslo", "Bari", "Lund", "nowhere"][at * 5 % 6] for at in range(records)],
            "ill": [["flu", "Flu ", "cold", None, "gout"][at * 3 % 5] for at in range(records)],
            "note": [f"=n{at % 7}" for at in range(records)],
        }
    )


TREE = {"tree": {"all": {"n": ["Oslo", "Lund"], "s": ["Rome", "Bari"]}}}
ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "intervals": "free", "limit": {"cuts": [30, 50]}},
    "city": {"role": "quasi-identifier", "hierarchy": TREE, "unknown": "withhold", "limits": ["n", "s"]},
    "ill": "sensitive",
    "note": "other",
}
WIDTH = {"age": {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 9}}}
PLANS: dict[str, dict[str, Any]] = {
    "cluster": {"privacy": {"k": 4}},
    "persons and values": {"privacy": {"k": 3, "p": 2}, "person": "who"},
    "some left over": {"privacy": {"k": 3, "t": 0.3}, "person": "who"},
    "partition": {"privacy": {"k": 4}, "method": "partition"},
    "improved": {"privacy": {"k": 3}, "method": {"name": "cluster", "improve": "quick"}},
    "width": {"privacy": {"k": 4}, "attributes": {**ATTRIBUTES, **WIDTH}},
}


def in_tasks(data: Any, plan: Plan) -> tuple[DuckDBEngine, Any]:
    engine = DuckDBEngine(DuckDBTasks(data, plan, "pyarrow"))
    release = make_where_it_lies(engine, plan)
    assert isinstance(release.rows.link, SpreadLink)
    return engine, release


def same(one: Path, other: Path) -> bool:
    return sorted(p.name for p in one.iterdir()) == sorted(p.name for p in other.iterdir()) and all(
        file.read_bytes() == (other / file.name).read_bytes() for file in one.iterdir()
    )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("what", PLANS)
def test_the_same_bytes(tmp_path: Path, what: str, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"people.{ending}"
    arrow_csv.write_csv(people(), path) if ending == "csv" else pq.write_table(people(), path)
    plan = Plan.from_dict({"attributes": ATTRIBUTES, **PLANS[what]})
    hr.anonymize(path, plan, tmp_path / "local", engine="local")
    made: list[str] = []
    ran = DuckDBTasks.in_tasks

    def noted(self: DuckDBTasks, name: str, *words: Any, **more: Any) -> str:
        made.append(name)
        return ran(self, name, *words, **more)

    monkeypatch.setattr(DuckDBTasks, "in_tasks", noted)
    told: list[tuple[str, int, int]] = []
    hr.anonymize(path, plan, tmp_path / "duckdb", engine="duckdb", progress=lambda *steps: told.append(steps))
    assert ("clustering", 150, 150) in told
    assert "judged" in made  # the check was done there, too
    assert same(tmp_path / "duckdb", tmp_path / "local")


def test_a_hostile_table(tmp_path: Path) -> None:
    table = hostile().drop_columns(["known"])
    attributes = {name: role for name, role in hostile_plan().attributes.items() if name != "known"}
    plan = hostile_plan().model_copy(update={"attributes": attributes})
    path = tmp_path / "people.parquet"
    pq.write_table(table, path)
    for engine in ("local", "duckdb"):
        hr.anonymize(path, plan, tmp_path / engine, engine=engine)
    assert same(tmp_path / "duckdb", tmp_path / "local")


FAULTS: dict[str, Any] = {
    "a cell that is not true": lambda lines: [lines[0], lines[1].replace("Rome", "Oslo"), *lines[2:]],
    "a row is gone": lambda lines: lines[:-1],
    "a row too many": lambda lines: [*lines, lines[-1]],
    "a quotation mark": lambda lines: [*lines[:-1], lines[-1] + '"'],
    "another note": lambda lines: [*lines[:-1], lines[-1].replace("n", "m")],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_in_the_file_is_found(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "people.csv"
    arrow_csv.write_csv(people(), path)
    plan = Plan.from_dict({"attributes": ATTRIBUTES, **PLANS["persons and values"]})
    engine, release = in_tasks(path, plan)
    try:
        folder = tmp_path / "release"
        folder.mkdir()
        write_release(release, folder, "csv", engine)
        assert verify_before_publishing(release, folder, engine).kept
        data = folder / "data.csv"
        wrong = FAULTS[fault](data.read_text().splitlines())
        assert wrong != data.read_text().splitlines()
        data.write_text("\n".join(wrong) + "\n")
        with pytest.raises(hr.BrokenPromise):
            verify_before_publishing(release, folder, engine)
    finally:
        engine.close()


def test_a_huge_block_is_left_to_all_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_tasks, "MOST_IN_TASK", 10)
    monkeypatch.setattr(rounds, "BUNDLE", 80)
    path = tmp_path / "people.csv"
    arrow_csv.write_csv(people(), path)
    plan = Plan.from_dict({"attributes": ATTRIBUTES, **PLANS["cluster"]})
    engine = DuckDBEngine(DuckDBTasks(path, plan, "pyarrow"))
    try:
        assert not isinstance(make_where_it_lies(engine, plan).rows.link, SpreadLink)
    finally:
        engine.close()


def test_too_little_memory_is_said_before_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "people.csv"
    arrow_csv.write_csv(people(), path)
    attributes = {**ATTRIBUTES, "age": {"role": "quasi-identifier", "hierarchy": {"bands": [10]}}}
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}, "method": "lattice", "withhold": 20})
    monkeypatch.setattr(room, "available_memory", lambda: 1_000)
    with pytest.raises(hr.DataError) as caught:
        hr.anonymize(path, plan, tmp_path / "out", engine="duckdb")
    assert [one.code for one in caught.value.problems] == ["no-memory"]
    assert not (tmp_path / "out").exists()
