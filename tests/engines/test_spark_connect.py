"""Releases over Spark Connect, on PySpark's own server: the same rows, and what cannot be done is refused.

The whole engine suite runs over it by ``HEDGEROW_SPARK_CONNECT=1 pytest tests/engines/test_engines.py -k spark``.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.processes.spark import has_java, in_process

pytestmark = pytest.mark.xdist_group("spark")

PROGRAM = """
import json, os, sys
from tests.engines.conftest import frame
from tests.cases.clinic import PLAN, people
from tests.processes.spark import start_connect
import hedgerow as hr

def run(spark, folder):
    table, plan = people(), hr.Plan.from_dict(PLAN)
    data, wanted = frame(spark, table), hr.anonymize(table, plan)
    here = hr.anonymize(data, plan, folder + "/release")
    rows = here.table.to_pylist() == wanted.table.to_pylist()
    yield "fetched", [rows, here.facts == wanted.facts, here.data.count()]

    attributes = {name: role for name, role in PLAN["attributes"].items() if name != "admitted"}
    plan = hr.Plan.from_dict({**PLAN, "attributes": attributes})
    name = f"over_connect_{os.getpid()}"
    there, wanted = hr.anonymize(data, plan, f"table:{name}", driver_profiles=0), hr.anonymize(table, plan)
    rows = [sorted(map(str, one.table.to_pylist())) for one in (there, wanted)]  # a table has no order
    yield "in tasks", [rows[0] == rows[1], there.facts == wanted.facts]
    yield "verified", hr.verify(f"table:{name}", data).kept
    spark.sql(f"DROP TABLE {name}").collect()
    try:
        hr.anonymize(data, plan, "hdfs://store/release")
    except hr.DataError as error:
        yield "refused", [error.problems[0].code, error.problems[0].message]

spark = start_connect()
try:
    print(json.dumps(dict(run(spark, sys.argv[1]))))
finally:
    spark.stop()
"""


def test_the_same_rows_over_connect(tmp_path: Path) -> None:
    if not has_java():
        pytest.skip("needs Java 17")
    done = in_process(PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["fetched"][:2] == [True, True]
    assert said["fetched"][2] > 300
    assert said["in tasks"] == [True, True]
    assert said["verified"]
    assert said["refused"][0] == "usage"
    assert "needs a classic session" in said["refused"][1]
