"""An assessment agrees with pycanon."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest

import hedgerow

TABLES = int(os.environ.get("HEDGEROW_PEER_TABLES", "60"))
SCRIPT = """
import json, sys
import pandas as pd
from pycanon import anonymity
found = []
for table in json.load(sys.stdin):
    frame = pd.DataFrame(table["columns"])
    if table["numbers"]:
        frame["ill"] = frame["ill"].astype(int)
    asked = frame, table["names"], ["ill"]
    alpha, k = anonymity.alpha_k_anonymity(*asked)
    found.append([anonymity.k_anonymity(frame, table["names"]), k, float(alpha),
        int(anonymity.l_diversity(*asked)), float(anonymity.entropy_l_diversity(*asked)),
        float(anonymity.t_closeness(*asked))])
json.dump(found, sys.stdout)
"""


def _made(seed: int) -> dict[str, Any]:
    """A table of up to five columns, with more or fewer values, and a sensitive one of words or of numbers."""
    draw = random.Random(seed)
    records, width = draw.randint(2, 60), draw.randint(1, 5)
    names = [f"q{column}" for column in range(width)]
    columns: dict[str, list[str]] = {
        name: [f"v{draw.randrange(draw.choice([2, 3]))}" for _ in range(records)] for name in names
    }
    numbers = draw.random() < 0.5
    few = draw.randint(2, 6)
    values = ["0", "5"] + [str(draw.randrange(few) * 5) for _ in range(records - 2)]  # pycanon divides by values - 1
    columns["ill"] = values if numbers else [f"i{value}" for value in values]
    return {"columns": columns, "names": names, "numbers": numbers}


def test_an_assessment_agrees_with_pycanon() -> None:
    """k, l (counted and by entropy), t and alpha of generated tables."""
    tables = [_made(seed) for seed in range(TABLES)]
    ran = subprocess.run(
        [sys.executable, "-I", "-c", SCRIPT],
        input=json.dumps(tables),
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    for table, (k, k_too, alpha, distinct, entropy, t) in zip(tables, json.loads(ran.stdout), strict=True):
        found = hedgerow.assess(pa.table(table["columns"]), columns=table["names"], sensitive=["ill"], size=1)
        holds = found.holds["ill"]
        assert found.k == k == k_too
        assert holds["l"]["distinct"] == distinct
        assert holds["alpha"] == pytest.approx(alpha)
        near = holds["l"]["entropy"]  # pycanon gives the whole number below, and loses one to rounding now and then
        assert entropy in {math.floor(near - 1e-9), math.floor(near + 1e-9)}
        assert holds["t"]["ordered" if table["numbers"] else "equal"] == pytest.approx(t, abs=1e-9)
