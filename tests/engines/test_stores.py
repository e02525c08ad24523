"""Releases where only Spark reaches: an object store, a file system that renames, a table of the catalogue."""

from __future__ import annotations

import csv
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.engines import catalogue, stores
from hedgerow.evaluation.synthetic import clinic
from hedgerow.outside.outputs import workers
from tests.engines.conftest import Done
from tests.processes.stores import OBJECTS, RENAMING, address, with_stores
from tests.robustness import attack_tampering as tampering

pytestmark = pytest.mark.xdist_group("spark")
LONG = bool(os.environ.get("HEDGEROW_LONG_TESTS"))
"""Whether everything is tried that takes minutes: all points where a run may end, all tamperings."""
NEVER = 1 << 30
PLAN: dict[str, Any] = {
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}, "limit": {"level": 3}},
        "sex": "quasi-identifier",
        "diagnosis": "sensitive",
        "admitted": "other",
    },
    "privacy": {"k": 3, "p": 2},
}
PLAN_OF_PEOPLE = hr.Plan.from_dict(PLAN)
OTHER_PLAN = hr.Plan.from_dict({**PLAN, "privacy": {"k": 7}})
STEPS = {OBJECTS: 24, RENAMING: 21}
"""How many steps a run takes that replaces nothing."""
NUMBERS = itertools.count()


def people() -> pa.Table:
    made = clinic(400, seed=3)
    return pa.table({name: made.columns[name] for name in PLAN["attributes"]})


@pytest.fixture(scope="module")
def work(spark: Any) -> Iterator[Any]:
    """The session has the stores; what counts their steps, and makes them fail."""
    with with_stores(spark) as counter:
        yield counter


@pytest.fixture(scope="module")
def frame(spark: Any, work: Any) -> Any:
    return spark.createDataFrame(people()).cache()


@pytest.fixture(scope="module")
def wanted() -> pa.Table:
    """The rows of the local engine."""
    return hr.anonymize(people(), PLAN_OF_PEOPLE).table


@pytest.fixture
def dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs be those of a process that has ended: what they leave is left."""
    program = "from hedgerow.outside.outputs.workers import this_worker; print(this_worker())"
    name = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    assert workers.is_left(name, 0.0)
    monkeypatch.setattr(stores, "this_worker", lambda: name)
    monkeypatch.setattr(catalogue, "this_worker", lambda: name)


def parts(place: Path) -> list[Path]:
    return sorted(path for path in place.rglob("part-*.parquet") if path.is_file())


def left(home: Path, place: Path, scheme: str) -> list[str]:
    """What lies there that belongs to no release."""
    own = {"release"} if scheme == RENAMING else set()
    strange = [path.name for path in home.iterdir() if path.name not in {"release", *own}]
    if scheme == OBJECTS and place.is_dir():
        manifest = place / "manifest.json"
        folder = json.loads(manifest.read_text())["folder"] if manifest.exists() else None
        strange += [path.name for path in place.iterdir() if path.name not in ("manifest.json", folder)]
    return strange


@pytest.mark.parametrize("scheme", [OBJECTS, RENAMING])
def test_a_release_in_a_store(scheme: str, frame: Any, work: Any, wanted: pa.Table, tmp_path: Path) -> None:
    """The rows are those of the local engine, in its order; it verifies there; nothing else lies there."""
    target, place = address(scheme, tmp_path / "release"), tmp_path / "release"
    work.start(NEVER)
    in_tasks = 0 if scheme == OBJECTS else None  # records that stay on the executors, or come to the driver
    release = hr.anonymize(frame.repartition(3), PLAN_OF_PEOPLE, target, driver_profiles=in_tasks)
    assert release.verification.kept
    assert release.table.to_pylist() == wanted.to_pylist()
    assert pa.concat_tables(map(pq.read_table, parts(place))).to_pylist() == wanted.to_pylist()
    assert left(tmp_path, place, scheme) == []
    found = hr.verify(target)
    assert found.kept
    assert found.promises[0].name == "files"
    assert hr.verify(target, frame).kept
    assert int(work.steps()) <= STEPS[scheme]
    assert not hr.verify(target, frame.limit(350).localCheckpoint()).kept
    folder = place if scheme == RENAMING else parts(place)[0].parents[1]
    assert hr.verify(folder, people()).kept  # what was fetched from there is a release folder

    with pytest.raises(hr.DataError, match="not empty"):
        hr.anonymize(frame, PLAN_OF_PEOPLE, target)
    before = parts(place)
    assert hr.anonymize(frame, OTHER_PLAN, target, replace=True).facts["smallest_group"] >= 7
    assert hr.verify(target).kept
    assert left(tmp_path, place, scheme) == []
    assert not set(before) & set(parts(place))
    (place / "notes.txt").write_text("mine")
    with pytest.raises(hr.DataError, match="other files"):
        hr.anonymize(frame, PLAN_OF_PEOPLE, target, replace=True)
    assert not hr.verify(target).kept


@pytest.mark.parametrize(("scheme", "replace"), [(OBJECTS, False), (OBJECTS, True), (RENAMING, True)])
def test_a_store_that_is_gone_at_any_step(
    scheme: str, replace: bool, frame: Any, work: Any, dead: None, tmp_path: Path
) -> None:
    """Whatever the step: the old release, the new one, or none; the next run works, and leaves nothing else."""
    target, place, kept = address(scheme, tmp_path / "release"), tmp_path / "release", tmp_path.parent / f"{scheme}-old"
    work.start(NEVER)
    if not kept.exists():
        hr.anonymize(frame, PLAN_OF_PEOPLE, target)
        shutil.copytree(place, kept)
    steps = STEPS[scheme] + (4 if replace else 0)
    some = random.Random(f"{scheme} {replace}").sample(range(steps - 4, steps), 1)
    for last in range(steps) if LONG else some:
        shutil.rmtree(place, ignore_errors=True)
        if replace:
            shutil.copytree(kept, place)
        work.start(last)
        asked = OTHER_PLAN if replace else PLAN_OF_PEOPLE
        ended = code_of(partial(hr.anonymize, frame, asked, target, replace=replace))
        assert ended in ("kept", "output", "in-doubt", "no-connection"), last
        work.start(NEVER)
        read = code_of(partial(hr.verify, target))
        none = ("no-file", "not-a-release")  # on HDFS between two renames, too: the next run puts back what was there
        assert read == "kept" or (read in none and (not replace or scheme == RENAMING)), last
        hr.anonymize(frame, PLAN_OF_PEOPLE, target, replace=True)
        assert left(tmp_path, place, scheme) == [], last
        assert not LONG or hr.verify(target).kept


def test_the_work_of_somebody_else_is_left_alone(frame: Any, work: Any, tmp_path: Path) -> None:
    """A marker of a process that lives, or of another machine, which may; and of one there that must have ended."""
    place = tmp_path / "release"
    for mark, worker, age in (
        ("a" * 32, workers.this_worker(), 0),
        ("b" * 32, '{"machine": "x", "process": 1, "began": "1"}', 0),
        ("c" * 32, '{"machine": "x", "process": 1, "began": "1"}', workers.PATIENCE + 60),
    ):
        (place / f"release-{mark}").mkdir(parents=True)
        marker = place / f"_working-{mark}"
        marker.write_text(worker)
        for path in (marker, place / f"release-{mark}"):
            os.utime(path, (path.stat().st_mtime - age,) * 2)
    hr.anonymize(frame, PLAN_OF_PEOPLE, address(OBJECTS, place))
    assert {path.name[:9] for path in place.glob("release-*")} >= {"release-a", "release-b"}
    assert not (place / ("release-" + "c" * 32)).exists()
    assert not (place / ("_working-" + "c" * 32)).exists()


def code_of(work: Callable[[], Any]) -> str:
    """The code of an error, or whether all promises are kept."""
    try:
        found = work()
    except hr.HedgerowError as error:
        return error.problems[0].code
    return "kept" if getattr(found, "verification", found).kept else "broken"


def rewritten(manifest: Path, change: Callable[[dict[str, Any]], None]) -> None:
    said = json.loads(manifest.read_text())
    change(said)
    manifest.write_text(json.dumps(said))


def test_what_the_manifest_says_is_looked_at(frame: Any, work: Any, tmp_path: Path) -> None:
    place, target = tmp_path / "release", address(OBJECTS, tmp_path / "release")
    hr.anonymize(frame, PLAN_OF_PEOPLE, target)
    manifest, part = place / "manifest.json", parts(place)[0]
    sound, rows = manifest.read_text(), part.read_bytes()
    facts = part.parents[1] / "facts.json"

    def broken() -> str:
        found = hr.verify(target)
        manifest.write_text(sound)
        part.write_bytes(rows)
        assert found.broken[0].name == "files"
        return str(found.broken[0].found)

    part.write_bytes(rows[:-1] + bytes([rows[-1] ^ 1]))
    assert "1 files not as the manifest says" in broken()
    pq.write_table(pq.read_table(part).slice(1), part)
    assert "1 files not as the manifest says" in broken()
    rewritten(manifest, lambda said: said["files"][0].update(rows=said["files"][0]["rows"] - 1))
    assert "1 files not as the manifest says" in broken()
    rewritten(manifest, lambda said: said["files"].pop(0))
    assert "1 files not in the manifest" in broken()
    said = facts.read_text()
    facts.write_text(said.replace('"released": 400', '"released": 401'))
    assert "not as the manifest says" in broken()
    facts.write_text(said)
    part.unlink()
    assert "no file of rows; 1 files gone" in broken()
    for wrong in ("", "[]", sound[:-9], sound.replace("release-", "../release-"), sound.replace("data.parquet/", "x/")):
        manifest.write_text(wrong)
        with pytest.raises(hr.DataError, match="manifest of the release cannot be understood"):
            hr.verify(target)
    manifest.unlink()
    with pytest.raises(hr.DataError, match="is not whole: it has no manifest"):
        hr.verify(target)
    with pytest.raises(hr.DataError, match="does not exist"):
        hr.verify(address(OBJECTS, tmp_path / "nothing"))


CHANGES = [tampering.edit_plan_and_facts, tampering.add_file, tampering.damage_bytes, tampering.change_label,
           tampering.swap_values, tampering.show_identifier]  # fmt: skip


@pytest.mark.parametrize("change", tampering.ANY_FORM[2:] + tampering.OF_CSV if LONG else CHANGES)
def test_tampering_is_seen_there_as_it_is_here(change: Any, spark: Any, work: Any, tmp_path: Path) -> None:
    """What is broken in a changed release is told alike by Spark, where it lies, and by the check of a folder."""
    if change in (tampering.link_file, tampering.cut_row, tampering.turn_rows):
        pytest.skip("a store has no links, Parquet no short rows, and rows counted there no numbers")
    rng = random.Random(3)
    case = tampering.Case(tmp_path / "case", rng)
    kinds = list(tampering.PLANS) if LONG else ["p"]
    for name in kinds:
        shutil.rmtree(case.home, ignore_errors=True)
        home = tmp_path / name
        home.mkdir()
        of_rows = change in tampering.OF_CSV
        shutil.copytree(tampering.made(name, "csv" if of_rows else "parts", home), case.home)
        what, _ = change(case)
        if of_rows:
            as_parquet(case.folder / "data.csv")
        here = told(lambda: hr.verify(case.folder, case.home / "original.parquet"))
        there = told(
            lambda: hr.verify(address(RENAMING, case.folder), spark.read.parquet(str(case.home / "original.parquet")))
        )
        assert here == there, (what, name)
        tampering.MADE.clear()


def told(check: Callable[[], hr.Verification]) -> list[str]:
    try:
        return [one.name for one in check().broken]
    except hr.HedgerowError as error:
        return [error.problems[0].code]


def as_parquet(file: Path) -> None:
    """Write the rows of a CSV file as Parquet files of a folder instead; cells are text, empty ones missing."""
    with file.open(encoding="utf-8", newline="") as opened:
        header, *rows = csv.reader(opened)
    columns = [[row[at] or None for row in rows] for at in range(len(header))]
    file.unlink()
    folder = file.with_name("data.parquet")
    folder.mkdir()
    table = pa.table([pa.array(column, pa.string()) for column in columns], names=header)
    pq.write_table(table, folder / "part-00000.parquet")


def test_from_the_command_line(command: Callable[..., Done], work: Any, tmp_path: Path) -> None:
    """What is written and checked is told as ever, and messages hold no keys."""
    pq.write_table(people(), tmp_path / "people.parquet")
    (tmp_path / "plan.yaml").write_text(PLAN_OF_PEOPLE.to_yaml())
    target = address(OBJECTS, tmp_path / "release").replace("bucket", "key:secret@bucket")
    given = ["anonymize", tmp_path / "people.parquet", tmp_path / "plan.yaml", "-o", target]
    made = command(*given)
    assert (made.returncode, made.stderr) == (0, "")
    assert "verified and written to s3a://…@bucket" in made.stdout.replace("\n", "")
    assert "secret" not in made.stdout
    checked = command("verify", target, "--original", tmp_path / "people.parquet")
    assert (checked.returncode, checked.stderr) == (0, "")
    again = command(*given)
    assert again.returncode == 2
    assert "secret" not in again.stderr
    assert command("verify", target, "--json").returncode == 0
    rows = parts(tmp_path / "release")[0]
    rows.write_bytes(rows.read_bytes()[:-4])
    assert command("verify", target).returncode == 1
    refused = command("anonymize", tmp_path / "people.parquet", tmp_path / "plan.yaml", "-o", "gs://bucket/release")
    assert refused.returncode == 2
    assert "no file system for gs://" in refused.stderr
    assert command(*given[:-1], "s3a://bucket").returncode == 2
    assert command(*given, "--engine", "duckdb").returncode == 2
    assert command(*given, "--format", "csv").returncode == 2


# -- tables of the catalogue ---------------------------------------------------------------------------------------


@pytest.fixture
def table(spark: Any) -> Iterator[str]:
    name = f"released_{os.getpid()}_{next(NUMBERS)}"
    yield name
    for one in spark.sql("SHOW TABLES").collect():
        if not one.isTemporary and one.tableName.startswith((name, "hedgerow_")):
            spark.sql(f"DROP TABLE {one.tableName}")


def tables(spark: Any) -> list[str]:
    """Those of the tests here: pages of the documentation may have made others in the same session."""
    found = [one.tableName for one in spark.sql("SHOW TABLES").collect() if not one.isTemporary]
    return sorted(name for name in found if name.startswith(("released_", "hedgerow_")))


def test_a_release_as_a_table(
    spark: Any, frame: Any, wanted: pa.Table, table: str, command: Callable[..., Done]
) -> None:
    target = f"table:default.{table}"
    release = hr.anonymize(frame, PLAN_OF_PEOPLE, target)
    assert release.verification.kept
    assert release.table.to_pylist() == wanted.to_pylist()
    assert tables(spark) == [table]
    assert hr.verify(target).kept
    assert hr.verify(f"table:{table}", frame).kept
    said = {row.key: row.value for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}
    assert not any(key.startswith(("hedgerow.worker", "hedgerow.since")) for key in said)
    assert json.loads(release_text(said))["facts"]["released"] == 400
    with pytest.raises(hr.DataError, match="exists already"):
        hr.anonymize(frame, PLAN_OF_PEOPLE, target)
    assert hr.anonymize(frame, OTHER_PLAN, target, replace=True).facts["smallest_group"] >= 7
    assert command("verify", target).returncode == 0
    assert tables(spark) == [table]
    spark.sql(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1")
    assert command("verify", target).returncode == 1
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {table}_seen AS SELECT * FROM {table}")
    with pytest.raises(hr.DataError, match="not a release"):
        hr.anonymize(frame, PLAN_OF_PEOPLE, f"table:{plain_table(spark, table)}", replace=True)
    with pytest.raises(hr.DataError, match="no such table"):
        hr.verify("table:nothing_of_that_name")


def plain_table(spark: Any, table: str) -> str:
    spark.sql(f"CREATE TABLE {table}_plain USING parquet AS SELECT 1 AS x")
    return f"{table}_plain"


def release_text(properties: dict[str, str]) -> str:
    numbers = sorted(int(key.rpartition(".")[2]) for key in properties if key.startswith("hedgerow.release."))
    return "".join(properties[f"hedgerow.release.{number}"] for number in numbers)


@pytest.mark.parametrize("moment", ["made", "aside"])
def test_a_table_that_a_killed_run_left(
    spark: Any, frame: Any, table: str, dead: None, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making and showing there is a hidden table; between two renames the old one has another name."""
    hr.anonymize(frame, PLAN_OF_PEOPLE, f"table:{table}")

    class Killed(BaseException):
        pass

    def killed(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(catalogue.Catalogue, "drop", lambda *_: None)
        rename = catalogue.Catalogue._rename
        if moment == "made":
            patch.setattr(catalogue.Catalogue, "show", killed)
        else:
            patch.setattr(
                catalogue.Catalogue,
                "_rename",
                lambda self, one, to: killed() if one.parts[-1].startswith("hedgerow_new") else rename(self, one, to),
            )
        with pytest.raises(Killed):
            hr.anonymize(frame, OTHER_PLAN, f"table:{table}", replace=True)
    assert len(tables(spark)) == 2
    with pytest.raises(hr.DataError, match="exists already"):  # what was there is put back first
        hr.anonymize(frame, OTHER_PLAN, f"table:{table}")
    assert tables(spark) == [table]
    assert hr.verify(f"table:{table}").kept
