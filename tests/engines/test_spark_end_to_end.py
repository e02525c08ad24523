"""Whole releases on Spark: a cluster of two workers, tasks that cluster, part files, the command line."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.engines import room
from tests.cases.clinic import PLAN, people
from tests.processes.spark import has_java, in_process, running_cluster

pytestmark = pytest.mark.xdist_group("spark")

CLUSTER = '''
import json, sys, time
from pathlib import Path
from tests.processes.spark import start_spark
import hedgerow as hr
from hedgerow.engines import spark_cells
from hedgerow.engines.spread import rounds
quick = {"spark_speculation_interval": "100ms", "spark_speculation_quantile": "0.3"}
spark = start_spark(sys.argv[1], spark_executor_memory="512m", spark_speculation="true", **quick)
from hedgerow.anonymization.clustering import DiverseClustering
from hedgerow.errors import DataError
from hedgerow.privacy import Requirement
from hedgerow.anonymization.kernels.keeping import folder_of
from tests.cases.spark_cells import assert_same, plan, prepared

# Workers cluster, and write.

called = []
real = rounds.make_in_tasks
rounds.make_in_tasks = lambda *given: called.append(1) or real(*given)

def unsteady_blocks(sent, job, batches):
    from hedgerow.engines.spread.tasks import cluster
    from pyspark import TaskContext
    task = TaskContext.get()
    answer = [*cluster(sent, job, batches)]
    if task.attemptNumber() == 0 and task.partitionId() in (0, 3):
        raise RuntimeError("SECRET")
    if task.attemptNumber() == 0 and task.partitionId() == 1:
        time.sleep(300)  # until a second attempt has overtaken it
    return iter(answer)

rounds.tasks.cluster = unsteady_blocks
folder = sys.argv[2]
frame = spark.read.parquet(folder + "/people.parquet").repartition(5)
release = hr.anonymize(frame, folder + "/plan.yaml", folder + "/release", driver_profiles=0)
print(json.dumps({"rows": release.data.count(), "in_tasks": len(called)}))

# Tasks fail, and are overtaken.

def compiled():
    """Machine code of this checkout's kernels: others may compile theirs into the same home meanwhile."""
    return {path for name in ("diverse", "k_member", "regrouping") for path in folder_of(name).rglob("*")}

def unsteady(sent):
    def cluster(rows):
        from hedgerow.engines.spark_cells import cluster_bundle
        from pyspark import TaskContext
        task = TaskContext.get()
        answer = cluster_bundle(sent.value, rows)
        if task.attemptNumber() == 0 and task.partitionId() in (0, 3):
            raise RuntimeError("SECRET")
        if task.attemptNumber() == 0 and task.partitionId() == 1:
            time.sleep(300)  # until a second attempt has overtaken it
        return answer
    return cluster

spark_cells._task = unsteady
asked = plan({"k": 4, "p": 3}, person=True)
microdata, cells = prepared(asked)
clustering = DiverseClustering(Requirement.of_plan(asked, microdata))
wanted = clustering(microdata, cells=cells)
before = compiled()
assert before
began = time.monotonic()
assert_same(spark_cells.cluster_in_tasks(spark, clustering, microdata, cells), wanted)
assert time.monotonic() - began < 300
assert compiled() == before  # no task compiled anew
tracker = spark.sparkContext.statusTracker()
assert sum(stage.numFailedTasks for stage in map(tracker.getStageInfo, range(500)) if stage is not None) >= 2
print("same")

def failing(sent):
    def cluster(rows):
        raise RuntimeError("SECRET")
    return cluster

spark_cells._task = failing
try:
    spark_cells.cluster_in_tasks(spark, clustering, microdata, cells)
except DataError as error:
    print(error, error.__cause__)
spark.stop()
'''


def put(folder: Path) -> Path:
    """Write the table, the plan, and the release of the local engine."""
    pq.write_table(people(), folder / "people.parquet")
    plan = hr.Plan.from_dict(PLAN)
    (folder / "plan.yaml").write_text(plan.to_yaml())
    hr.anonymize(people(), plan, folder / "here", format="parquet")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the table, the plan, and the release of the local engine."""
    return put(tmp_path)


@pytest.fixture(scope="module")
def on_a_cluster(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of a release that two workers made, and the lines that were printed: five Javas are started once."""
    if not has_java():
        pytest.skip("needs Java 17")
    if sys.platform != "linux":
        pytest.skip("needs two addresses of one machine")
    place = put(tmp_path_factory.mktemp("cluster"))
    with running_cluster() as master:
        done = in_process(CLUSTER, master, place, PYSPARK_PYTHON=sys.executable)
    assert (done.returncode, done.stderr) == (0, "")
    return place, done.stdout.splitlines(keepends=True)


def test_two_workers_that_cluster_and_write(on_a_cluster: tuple[Path, list[str]]) -> None:
    """The parts that executors wrote are the rows of the local engine, in its order, and the release verifies."""
    folder, said = on_a_cluster
    here = pq.read_table(folder / "here" / "data.parquet")
    parts = sorted((folder / "release" / "data.parquet").glob("*.parquet"))
    assert json.loads(said[0]) == {"rows": here.num_rows, "in_tasks": 1}
    assert pa.concat_tables(map(pq.read_table, parts)).to_pylist() == here.to_pylist()
    assert (folder / "release" / "facts.json").read_bytes() == (folder / "here" / "facts.json").read_bytes()
    assert not list((folder / "release" / "data.parquet").glob("[._]*"))
    assert hr.verify(folder / "release", folder / "people.parquet").kept


def test_tasks_that_fail_at_first_or_are_overtaken(on_a_cluster: tuple[Path, list[str]]) -> None:
    log = r"Spark's own log tells more; its log is in \S+\.log, for you alone, as it may hold values of records"
    said = (
        r"same\nSpark: Spark could not do the work \(PYTHON_EXCEPTION\)\. \[no-connection\]\n  hint: "
        + log
        + r" None\n"
    )
    assert re.fullmatch(said, "".join(on_a_cluster[1][1:]))


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


def test_parts_that_tasks_put_in_order(spark: Any, folder: Path) -> None:
    """Without other columns no statement sorts the rows: the parts, one after the other, have them in order."""
    attributes = {name: role for name, role in PLAN["attributes"].items() if name != "admitted"}  # type: ignore[attr-defined]
    plan = hr.Plan.from_dict({**PLAN, "attributes": attributes})
    frame = spark.read.parquet(str(folder / "people.parquet")).repartition(3)
    made = hr.anonymize(frame, plan, folder / "release", driver_profiles=0)
    wanted = hr.anonymize(people(), plan)
    parts = sorted((folder / "release" / "data.parquet").glob("*.parquet"))
    assert len(parts) > 1
    assert pa.concat_tables(map(pq.read_table, parts)).to_pylist() == wanted.table.to_pylist()
    assert made.facts == wanted.facts


def test_what_cannot_fit_the_driver_is_refused_before_the_work(
    spark: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "available_memory", lambda: 1000)
    frame = spark.read.parquet(str(folder / "people.parquet"))
    with pytest.raises(hr.DataError) as caught:
        hr.anonymize(frame, hr.Plan.from_dict({**PLAN, "method": "lattice"}), driver_profiles=10)
    assert [one.code for one in caught.value.problems] == ["no-memory"]
