"""Tables on servers, in parts and in memory, checked against each other; what is returned was checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.release import folders
from tests.cases.people import people, plan
from tests.engines.servers import at, fresh, load


@pytest.fixture
def source(postgres: str) -> str:
    return load(postgres, people())


# -- what is returned was checked ------------------------------------------------------------------------------------


def test_rows_that_are_returned_are_those_that_were_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    table = people()
    kept = hr.anonymize(table, plan(), engine="duckdb").table
    write = folders.write_release

    def write_once(release: hr.Release, *more: Any) -> str:
        name = write(release, *more)
        object.__setattr__(release.rows, "batches", lambda: iter([]))  # a source that gives something else next time
        return name

    monkeypatch.setattr(folders, "write_release", write_once)
    assert hr.anonymize(table, plan(), engine="duckdb").table.equals(kept)


# -- verify ----------------------------------------------------------------------------------------------------------


def test_a_table_on_a_server_against_a_table_in_memory(postgres: str, source: str) -> None:
    target = at(postgres, fresh("masked"))
    hr.anonymize(source, plan(), target)
    assert hr.verify(target, people()).kept
    changed = people().set_column(4, "note", pa.array(["other"] * 40))
    assert not hr.verify(target, changed).kept
    with pytest.raises(hr.HedgerowError, match="link table"):
        hr.verify(target, source, link="link.csv")


def test_a_release_in_memory_against_a_table_on_a_server(source: str) -> None:
    assert hr.verify(hr.anonymize(source, plan()), source).kept


def test_a_release_in_parts_against_a_table_in_memory(tmp_path: Path) -> None:
    release = hr.anonymize(people(), plan(), tmp_path / "release", format="parquet")
    file = tmp_path / "release" / "data.parquet"
    file.unlink()
    file.mkdir()
    pq.write_table(release.table, file / "part-00000.parquet")
    assert hr.verify(tmp_path / "release", people()).kept
    assert hr.verify(tmp_path / "release", people().to_pandas()).kept
