"""Files that are not read into memory: the same bytes and the same words, and nothing stays in temporary folders."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.engines import opening
from hedgerow.engines.duckdb import DuckDBSession
from hedgerow.plan import Plan
from tests.engines.tables import hostile, hostile_plan


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "LARGE_FILE", 0)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files of our own, to see what stays."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write(table: pa.Table, path: Path) -> None:
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    elif path.suffix == ".arrow":
        pyarrow.feather.write_feather(table, path, compression="uncompressed")
    else:
        pq.write_table(table, path, row_group_size=20)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_a_large_file_gives_the_same_bytes(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    path = tmp_path / f"people.{ending}"
    table = hostile()
    write(table.drop_columns(["ratio"]) if ending == "csv" else table, path)
    attributes = {name: role for name, role in hostile_plan().attributes.items() if ending != "csv" or name != "ratio"}
    plan = hostile_plan().model_copy(update={"attributes": attributes})
    hr.anonymize(path, plan, tmp_path / "local", engine="local")
    monkeypatch.setattr(opening, "LARGE_FILE", 0)
    opened = []
    begin = DuckDBSession.__init__

    def noted(session: DuckDBSession, *words: Any) -> None:
        begin(session, *words)
        opened.append(session)
        assert [stat.S_IMODE(path.stat().st_mode) for path in scratch.iterdir()] == [0o700]

    monkeypatch.setattr(DuckDBSession, "__init__", noted)
    hr.anonymize(path, plan, tmp_path / "duckdb")
    assert len(opened) == 1
    assert written(tmp_path / "duckdb") == written(tmp_path / "local")
    assert list(scratch.iterdir()) == []
    assert hr.verify(tmp_path / "duckdb", path).kept


@pytest.mark.parametrize("more", [{}, {"person": "person"}])
def test_persons_in_a_file(tmp_path: Path, more: dict[str, Any]) -> None:
    path = tmp_path / "people.csv"
    path.write_text("person,ward,ill\n" + "".join(f" {i // 2},{'ab'[i % 2]},{i % 3}\n" for i in range(20)))
    plan = Plan.from_dict({"attributes": {"ward": "quasi-identifier", "ill": "sensitive"}, "privacy": {"k": 3}, **more})
    for engine in ("local", "duckdb"):
        hr.anonymize(path, plan, tmp_path / engine, engine=engine)
    assert written(tmp_path / "duckdb") == written(tmp_path / "local")


PLAN = Plan.from_dict({"attributes": {"ward": "quasi-identifier", "ill": "other"}, "privacy": {"k": 2}})
FAULTS = {
    "ragged": b"ward,ill\na,x\na,x,y\nb,y\nb\n",
    "bad encoding": b"ward,ill\na,x\na,\xff\nb,y\n",
    "missing column": b"ward,sick\na,x\na,y\n",
    "no delimiter": b"ward:ill\na:x\na:y\n",
    "no records": b"ward,ill\n",
    "nothing": b"",
    "twice": b"ward,ill,ill\na,x,y\n",
    "too few": b"ward,ill\na,x\n",
    "not parquet": b"PAR1 is what it says",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_told_in_the_same_words(tmp_path: Path, scratch: Path, fault: str) -> None:
    path = tmp_path / ("people.parquet" if fault == "not parquet" else "people.csv")
    path.write_bytes(FAULTS[fault])
    said = []
    for engine in ("local", "duckdb"):
        with pytest.raises(hr.HedgerowError) as caught:
            hr.anonymize(path, PLAN, tmp_path / "out", engine=engine)
        said.append((type(caught.value), caught.value.problems))
        assert caught.value.__cause__ is None
    assert said[0] == said[1]
    assert list(scratch.iterdir()) == []
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("everything_is_large")
def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for place in (tmp_path / "nowhere.csv", tmp_path):
        with pytest.raises(hr.DataError) as caught:
            hr.anonymize(place, PLAN, engine="duckdb")
        assert caught.value.problems[0].code == "no-file"


@pytest.mark.parametrize("fault", ["load", "read", "apply", "write", "verify"])
def test_nothing_stays_after_a_failure(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(b"ward,ill\n" + b"a,x\nb,y\n" * 4)

    def fail(*words: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        {
            "load": "hedgerow.engines.duckdb.DuckDBSession._load",
            "read": "hedgerow.engines.sql.gathered",
            "apply": "hedgerow.engines.sql.parts_of",
            "write": "hedgerow.engines.export._write_cells",
            "verify": "hedgerow.release.folders.verify_before_publishing",
        }[fault],
        fail,
    )
    with pytest.raises(KeyboardInterrupt):
        hr.anonymize(path, PLAN, tmp_path / "out", engine="duckdb")
    assert list(scratch.iterdir()) == []
    assert not (tmp_path / "out").exists()


def test_no_word_of_the_database_is_passed_on(tmp_path: Path) -> None:
    """What DuckDB says may hold cells of the table."""
    session = DuckDBSession(pa.table({"ward": ["secret"], "ill": ["x"]}), PLAN, "pyarrow")
    query = f"SELECT CAST({session.quote('ward')} AS INTEGER) AS x FROM records"
    try:
        for ask in (session.ask, lambda text: list(session.stream(text))):
            with pytest.raises(hr.DataError) as caught:
                ask(query)
            assert "secret" not in str(caught.value)
            assert caught.value.__suppress_context__
    finally:
        session.close()


KINDS = [
    pa.timestamp("ms", "UTC"),
    pa.timestamp("us", "Europe/Berlin"),
    pa.timestamp("ns"),
    pa.timestamp("s"),
    pa.uint64(),
    pa.uint8(),
    pa.date64(),
    pa.decimal128(38, 4),
    pa.float32(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.string()),
]


def values(kind: pa.DataType) -> pa.Array:
    numbers = pa.array([1, 2, None, 1, 3, 4])
    if "str" in str(kind):
        return numbers.cast(pa.string()).cast(kind)
    if pa.types.is_date64(kind) or str(kind) == "timestamp[ns]":  # the check does not look at less than a microsecond
        return pa.array([None if one is None else one * 86_400_000 for one in numbers.to_pylist()], kind)
    return numbers.cast(pa.int64()).cast(kind)


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "other"])
@pytest.mark.parametrize("place", ["memory", "file"])
def test_types_stay(tmp_path: Path, role: str, place: str) -> None:
    table = pa.table({"ward": ["a", "b"] * 3, **{str(kind): values(kind) for kind in KINDS}})
    attributes = {"ward": "quasi-identifier", **{str(kind): role for kind in KINDS}}
    plan = Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}})
    pq.write_table(table, tmp_path / "people.parquet")
    for engine in ("local", "duckdb"):
        data = table if place == "memory" else tmp_path / "people.parquet"
        hr.anonymize(data, plan, tmp_path / engine, engine=engine, format="parquet")
    assert written(tmp_path / "duckdb") == written(tmp_path / "local")


def test_pandas_and_polars_through_duckdb() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"ward": ["a", "b"] * 3, "ill": ["x", None, "y"] * 2}
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns)):
        wanted = hr.anonymize(frame, PLAN, engine="local")
        found = hr.anonymize(frame, PLAN, engine="duckdb")
        assert type(found.data) is type(frame)
        assert found.table.equals(wanted.table)


def test_an_interrupt_while_a_file_is_read(tmp_path: Path, scratch: Path) -> None:
    """One that comes while DuckDB reads: it is neither lost nor turned into something else."""
    path = tmp_path / "people.csv"
    path.write_bytes(b"ward,ill\n" + b"a,x\nb,y\n" * 4)

    class Enough(BaseException):
        pass

    def stop(stage: str, done: int, total: int) -> None:
        if done:
            raise Enough

    with pytest.raises(Enough):
        hr.anonymize(path, PLAN, tmp_path / "out", engine="duckdb", progress=stop)
    assert list(scratch.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "scratch"]


ENDLESS = """
import os, signal, sys, threading, time
import pyarrow as pa
from hedgerow.cli import app, run
from hedgerow.engines.duckdb import DuckDBSession
from hedgerow.plan import Plan

@app.app.command()
def dawdle():
    plan = Plan.from_dict({"attributes": {"a": "quasi-identifier"}, "privacy": {"k": 2}})
    session = DuckDBSession(pa.table({"a": ["x"] * 10}), plan, "pyarrow")
    threading.Timer(1.0, lambda: (print(time.time(), flush=True), os.kill(os.getpid(), signal.SIGINT))).start()
    session.ask("SELECT count(*) AS n FROM range(1000000) AS a, range(10000000) AS b WHERE hash(a.range) < hash(b.range)")

try:
    run.run(["dawdle"])
finally:
    print(time.time())
"""


def test_an_interrupt_ends_a_statement_that_runs(scratch: Path) -> None:
    """Nobody closes the session: what is left of it goes with the process."""
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    assert (done.returncode, done.stderr) == (130, "hedgerow: interrupted; nothing was written\n")
    asked, ended = map(float, done.stdout.split())
    assert ended - asked < 5  # a second or two, on a machine that has other things to do
    assert list(scratch.iterdir()) == []
