"""A few people, and a plan for them."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

from hedgerow.plan import Plan


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
