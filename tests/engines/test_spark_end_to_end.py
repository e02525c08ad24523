"""Whole releases on Spark: a cluster of two workers, tasks that cluster, part files, the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.evaluation.synthetic import clinic
from tests.processes.spark import in_process

pytestmark = pytest.mark.xdist_group("spark")

PLAN = {
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}, "limit": {"level": 3}},
        "sex": "quasi-identifier",
        "diagnosis": "sensitive",
        "admitted": "other",
    },
    "privacy": {"k": 3, "p": 2},
}

SCRIPT = """
import json, sys
from tests.processes.spark import start_spark
import hedgerow as hr
from hedgerow.engines import spark_engine

called = []
real = spark_engine.cluster_in_tasks
spark_engine.cluster_in_tasks = lambda *given: called.append(1) or real(*given)
spark = start_spark("local-cluster[2,1,1024]")
folder = sys.argv[1]
frame = spark.read.parquet(folder + "/people.parquet").repartition(5)
release = hr.anonymize(frame, folder + "/plan.yaml", folder + "/release", driver_profiles=0)
rows = release.data.count()
spark.stop()
print(json.dumps({"rows": rows, "in_tasks": len(called)}))
"""


def people() -> pa.Table:
    """Some patients of the made-up clinic."""
    made = clinic(400, seed=3)
    return pa.table({name: made.columns[name] for name in ("age", "sex", "diagnosis", "admitted")})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the table, the plan, and the release of the local engine."""
    pq.write_table(people(), tmp_path / "people.parquet")
    plan = hr.Plan.from_dict(PLAN)
    (tmp_path / "plan.yaml").write_text(plan.to_yaml())
    hr.anonymize(people(), plan, tmp_path / "here", format="parquet")
    return tmp_path


def test_two_workers_that_cluster_and_write(folder: Path) -> None:
    """The parts that executors wrote are the rows of the local engine, in its order, and the release verifies."""
    done = in_process(SCRIPT, folder)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    here = pq.read_table(folder / "here" / "data.parquet")
    parts = sorted((folder / "release" / "data.parquet").glob("*.parquet"))
    assert said == {"rows": here.num_rows, "in_tasks": 1}
    assert pa.concat_tables(map(pq.read_table, parts)).to_pylist() == here.to_pylist()
    assert (folder / "release" / "facts.json").read_bytes() == (folder / "here" / "facts.json").read_bytes()
    assert not list((folder / "release" / "data.parquet").glob("[._]*"))
    assert hr.verify(folder / "release", folder / "people.parquet").kept


def test_a_frame_without_an_output(spark: Any, folder: Path) -> None:
    """The release of a frame is a frame."""
    release = hr.anonymize(spark.read.parquet(str(folder / "people.parquet")), folder / "plan.yaml")
    assert release.data.count() == pq.read_table(folder / "here" / "data.parquet").num_rows
    assert release.facts["released"] == release.data.count()


def test_one_file_is_the_same_bytes(spark: Any, folder: Path) -> None:
    """The ordered export of a frame is that of the local engine."""
    frame = spark.read.parquet(str(folder / "people.parquet")).repartition(3)
    hr.anonymize(frame, folder / "plan.yaml", folder / "release", format="parquet")
    for name in ("data.parquet", "facts.json", "plan.yaml"):
        assert (folder / "release" / name).read_bytes() == (folder / "here" / name).read_bytes()
