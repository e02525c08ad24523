"""What a review of the engines found: each of these was wrong once."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.engines.spark import _shown
from hedgerow.outputs.private import PREFIX, PrivateFolder
from hedgerow.plan import Plan
from hedgerow.publishing import folders
from tests.conftest import Run
from tests.engines.servers import ask, at, execute, fresh, load

SECRET = "s3cret"
LOCKED_OUT = f"postgresql://ann:{SECRET}@127.0.0.1:1/health?table=people"


def people(records: int = 40) -> pa.Table:
    draw = random.Random(1)
    return pa.table(
        {
            "id": [f"p{i}" for i in range(records)],
            "sex": [draw.choice("FM") for _ in range(records)],
            "age": pa.array([draw.randint(20, 40) for _ in range(records)], pa.int32()),
            "illness": [draw.choice(["flu", "cold", "x"]) for _ in range(records)],
            "note": [f"n{draw.randint(0, 9)}" for _ in range(records)],
        }
    )


def plan(**more: Any) -> Plan:
    attributes = {
        "id": "identifier",
        "sex": "quasi-identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}},
        "illness": "sensitive",
        "note": "other",
    }
    return Plan.from_dict({"attributes": attributes, "privacy": {"k": 3}, **more})


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


# -- passwords -------------------------------------------------------------------------------------------------------


def test_no_command_that_reads_files_shows_a_password(tmp_path: Path, hedgerow: Run) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(plan().to_yaml())
    hr.anonymize(people(), plan(), tmp_path / "release", link=tmp_path / "link.csv")
    commands: list[tuple[str | Path, ...]] = [
        ("plan", "draft", LOCKED_OUT),
        ("verify", tmp_path / "release", "--original", LOCKED_OUT, "--link", tmp_path / "link.csv"),
        ("verify", tmp_path / "release", "--original", LOCKED_OUT.replace("postgresql", "postgresql+psycopg2")),
        ("release", "create", LOCKED_OUT, file, "--store", tmp_path / "store"),
    ]
    for words in commands:
        done = hedgerow(*words)
        assert done.returncode == 2, words
        assert SECRET not in done.stdout + done.stderr, words
        assert "internal error" not in done.stderr, words
    with pytest.raises(hr.HedgerowError) as caught:
        hr.verify(hr.anonymize(people(), plan()), LOCKED_OUT)
    assert SECRET not in str(caught.value)


def test_keys_in_the_path_of_a_bucket_are_not_shown() -> None:
    assert _shown("s3a://KEY:se/cr@et@bucket/people.parquet") == "s3a://…@bucket/people.parquet"


# -- nothing is ignored without a word -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more", [{"master": "local[2]"}, {"driver_profiles": 5}, {"output": LOCKED_OUT, "format": "csv"}]
)
def test_options_that_would_do_nothing_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(hr.HedgerowError) as caught:
        hr.anonymize(people(), plan(), **more)
    assert caught.value.problems[0].code == "usage"


def test_a_table_in_memory_is_nothing_for_spark() -> None:
    with pytest.raises(hr.HedgerowError, match="Spark frames"):
        hr.anonymize(people(), plan(), engine="spark")


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


# -- the settings of a role ------------------------------------------------------------------------------------------


@pytest.fixture
def role(postgres: str) -> Iterator[str]:
    """A role of its own, whose settings nobody else sees."""
    name = fresh("role")
    execute(postgres, f"CREATE ROLE {name} LOGIN SUPERUSER")
    yield name
    execute(postgres, f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def test_a_server_that_is_impatient(postgres: str, role: str, source: str) -> None:
    execute(postgres, f"ALTER ROLE {role} SET idle_in_transaction_session_timeout = '300ms'")

    def think(stage: str, done: int, total: int) -> None:
        if stage == "measuring":
            time.sleep(0.8)

    target = at(postgres, fresh("masked"))
    mine = [address.replace("//hedgerow@", f"//{role}@") for address in (source, target)]
    assert hr.anonymize(mine[0], plan(), mine[1], progress=think).withheld == 0


def test_operators_of_the_owner_are_not_used(postgres: str, role: str, source: str) -> None:
    schema = fresh("own")
    execute(
        postgres,
        f"CREATE SCHEMA {schema} AUTHORIZATION {role}",
        f"CREATE FUNCTION {schema}.same(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        f"CREATE OPERATOR {schema}.= (LEFTARG = text, RIGHTARG = text, FUNCTION = {schema}.same)",
        f"ALTER ROLE {role} SET search_path = {schema}, pg_catalog, public",
    )
    name = fresh("masked")
    mine = [address.replace("//hedgerow@", f"//{role}@") for address in (source, at(postgres, name))]
    release = hr.anonymize(mine[0], plan(), mine[1])
    assert release.table.num_rows == 40
    assert ask(postgres, f"SELECT COUNT(*) FROM {schema}.{name}") == [(40,)]  # where the role's new tables go
    execute(postgres, f"DROP SCHEMA {schema} CASCADE")


# -- killed and interrupted ------------------------------------------------------------------------------------------

HOLD = "import sys; from hedgerow.outputs import PrivateFolder; f = PrivateFolder(); print(f.path, flush=True);"


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    words = [sys.executable, "-c", HOLD + "sys.stdin.read()"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as held:
        assert held.stdout is not None
        folder = Path(held.stdout.readline().strip())
        (folder / "records.db").write_text("private")
        PrivateFolder().remove()
        assert folder.exists()  # in use
        held.kill()
        held.wait()
    assert folder.exists()
    mine = PrivateFolder()
    assert not folder.exists()
    assert mine.path.exists()
    assert mine.path.name.startswith(PREFIX)
    assert mine.path.stat().st_mode & 0o077 == 0
    mine.remove()
    assert not list(tmp_path.iterdir())


INTERRUPTED = """
import os, signal, time
from hedgerow.cli import app, run

@app.app.command()
def dawdle():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)
    except BaseException:
        raise RuntimeError("Query interrupted") from None  # as DuckDB does

run.run(["dawdle"])
"""


def test_an_interrupt_that_duckdb_puts_into_its_own_words() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (130, "hedgerow: interrupted; nothing was written\n")
