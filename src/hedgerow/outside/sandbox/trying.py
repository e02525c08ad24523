"""Tasks that try the sandbox itself: one that answers, and one for each way in which a child can fail."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError, Problem
from hedgerow.outside.sandbox.task import TaskResult


def count_bytes(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Say how many bytes the files have, and give the request back."""
    return TaskResult({"bytes": sum(len(Path(file).read_bytes()) for file in files), "request": dict(request)})


def fail(request: Mapping[str, Any], files: Sequence[str]) -> TaskResult:
    """Fail in the way that is asked for."""
    import pyarrow as pa

    way = request["way"]
    if way == "signal":
        os.kill(os.getpid(), request["number"])
    if way == "memory":
        return TaskResult({"length": len(bytearray(request["bytes"]))})
    if way == "work":
        while True:
            pass
    if way == "sleep":
        time.sleep(request["seconds"])
    if way == "error":
        raise ValueError("a secret of a record")
    if way == "problem":
        raise DataError(Problem("ragged", "Row 7 has 2 cells.", request["place"], "check the quotes"))
    schema = pa.schema([("number", pa.int64())])
    batch = pa.record_batch([pa.array(range(100_000), pa.int64())], schema=schema)
    if way == "endless":
        return TaskResult({}, schema, iter(lambda: batch, None))
    if way == "invalid":
        wrong = pa.DictionaryArray.from_arrays(pa.array([7], pa.int32()), pa.array(["a"]), safe=False)
        return TaskResult({}, pa.schema([("text", wrong.type)]), [pa.record_batch([wrong], names=["text"])])
    return TaskResult(
        {"files": sorted(path.name for path in Path().iterdir()), "environment": sorted(os.environ)},
        schema,
        [batch] * 3,
    )
