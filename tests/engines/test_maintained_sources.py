"""Maintained releases fed from tables on a server and from large files: the same as from small ones."""

from __future__ import annotations

import random
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from hedgerow.engines import opening
from hedgerow.errors import DataError
from hedgerow.maintenance import create_release, open_release
from hedgerow.plan import Plan
from tests.cases.commands import Command
from tests.engines.servers import at, fresh, load

TREE = {"all": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}
PLAN = {
    "key": "id",
    "attributes": {
        "age": {"role": "quasi-identifier", "intervals": "free"},
        "city": {"role": "quasi-identifier", "hierarchy": {"tree": TREE}, "limits": ["A", "B"]},
        "ill": "sensitive",
        "note": "other",
    },
    "privacy": {"k": 3, "p": 2},
}
Given = Callable[[pa.Table], Any]


def clinic(size: int, start: int = 0, typed: bool = False) -> pa.Table:
    rng = random.Random(start)
    keys = range(start, start + size)
    ages = [rng.randint(20, 70) for _ in keys]
    return pa.table(
        {
            "name": [f"Name {number}" for number in keys],
            "id": pa.array(keys, pa.int64()) if typed else [f" p{number:04}" for number in keys],
            "age": pa.array(ages, pa.int32()) if typed else [str(age) for age in ages],
            "city": [rng.choice(["a1", "a2", "b1", "b2"]) for _ in keys],
            "ill": [rng.choice(["flu", "cold", ""]) for _ in keys],
            "note": [f"é{rng.randint(0, 3)} " for _ in keys],
        }
    )


def story(given: Given, store: Path | str, typed: bool) -> list[str]:
    """The chain of a release whose records all come as they are given."""
    with create_release(given(clinic(60, 0, typed)), Plan.from_dict(PLAN), store) as release:
        release.insert(given(clinic(12, 60, typed)))
        release.delete(given(clinic(5, 20, typed).select(["id"])))
        release.update(given(clinic(9, 63, typed).set_column(4, "ill", pa.array(["mumps"] * 9))))
        assert release.check()["verification"]["kept"]
        return [row.chain for row in release.history()]


@pytest.mark.parametrize("typed", [False, True])
def test_a_table_on_a_server_is_as_one_in_memory(tmp_path: Path, postgres: str, typed: bool) -> None:
    local = story(lambda table: table, tmp_path / "local.store", typed)
    assert story(lambda table: load(postgres, table), tmp_path / "server.store", typed) == local
    place = f"{postgres}&schema={fresh()}"
    assert story(lambda table: load(postgres, table), place, typed) == local


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("typed", [False, True])
def test_a_large_file_is_as_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, typed: bool
) -> None:
    def given(table: pa.Table) -> Path:
        path = tmp_path / f"{uuid.uuid4().hex}.{form}"
        arrow_csv.write_csv(table, path) if form == "csv" else pq.write_table(table, path, row_group_size=7)
        return path

    small = story(given, tmp_path / "small.store", typed)
    monkeypatch.setattr(opening, "LARGE_FILE", 0)
    assert story(given, tmp_path / "large.store", typed) == small


def test_what_is_wrong_on_a_server_is_said_without_numbers_of_records(tmp_path: Path, postgres: str) -> None:
    with create_release(clinic(60), Plan.from_dict(PLAN), tmp_path / "x.store") as release:
        nowhere = clinic(3, 90).set_column(3, "city", pa.array(["a1", "Atlantis", "a1"]))
        twice = pa.concat_tables([clinic(2, 90), clinic(2, 90)])
        wrong = {
            "duplicate-key": [clinic(3, 58), twice],
            "no-leaf": [nowhere],
            "missing-column": [clinic(3, 90).drop_columns(["ill"])],
            "empty": [clinic(1, 90).slice(1)],
        }
        for code, tables in wrong.items():
            for table in tables:
                with pytest.raises(DataError) as caught:
                    release.insert(load(postgres, table))
                assert [problem.code for problem in caught.value.problems] == [code]
                said = str(caught.value)
                assert "first" not in said
                assert "Atlantis" not in said
                assert "table=" in said
        addresses = {
            "no-table": at(postgres, "nothing"),
            "no-connection": "postgresql://ann:hunter2@localhost:1/health?table=people",
            "table-address": "postgresql://ann:hunter2@localhost:1/health",
        }
        for code, address in addresses.items():
            with pytest.raises(DataError) as caught:
                release.insert(address)
            assert [problem.code for problem in caught.value.problems] == [code]
            assert "hunter2" not in str(caught.value)
        assert release.head == 1


def test_the_command_line_takes_tables_on_a_server(tmp_path: Path, postgres: str, command: Command) -> None:
    (tmp_path / "plan.yaml").write_text(Plan.from_dict(PLAN).to_yaml())
    store = str(tmp_path / "x.store")
    for arguments in (
        ("create", load(postgres, clinic(60)), str(tmp_path / "plan.yaml")),
        ("insert", load(postgres, clinic(12, 60))),
        ("update", load(postgres, clinic(3, 60).set_column(3, "city", pa.array(["b1"] * 3)))),
        ("delete", load(postgres, clinic(4).select(["id"]))),
    ):
        assert command("release", *arguments, "--store", store).returncode == 0
    with open_release(store) as release:
        assert [row.verb for row in release.history()] == ["create", "insert", "update", "delete"]
        assert release.history()[-1].counts["records"] == 68


MEASURE = """
import resource, sys
from hedgerow.maintenance.reading import read_records
from hedgerow.plan import Plan
from hedgerow.engines import opening
opening.LARGE_FILE = 0
plan = Plan.loads(open(sys.argv[2]).read(), base=None)
read_records(sys.argv[1], plan)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def test_a_large_file_takes_a_bounded_memory_for_each_record(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(Plan.from_dict(PLAN).to_yaml())
    peaks, sizes = [], (20_000, 320_000)
    for size in sizes:
        rng = random.Random(size)
        text = "x" * 400  # a wide column that is not needed
        with (tmp_path / f"{size}.csv").open("w") as file:
            file.write("wide,id,age,city,ill,note\n")
            file.writelines(f"{text},p{n},{rng.randint(0, 99)},a1,flu,n{n % 9}\n" for n in range(size))
        run = subprocess.run(
            [sys.executable, "-c", MEASURE, tmp_path / f"{size}.csv", tmp_path / "plan.yaml"],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(run.stdout))
    assert (peaks[1] - peaks[0]) / (sizes[1] - sizes[0]) < 200  # of 430 bytes that a record has in the file
