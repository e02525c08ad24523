"""Cells to cluster in tasks of Spark and here: the table, the plan, and what must be the same."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.anonymization.clustering import (
    Cells,
    find_cells,
)
from hedgerow.microdata import Microdata, encode_table, read_table
from hedgerow.microdata.recoding import Recoding
from hedgerow.plan import Plan
from hedgerow.privacy import Requirement


def assert_same(found: Recoding, wanted: Recoding) -> None:
    for name in ("group_of", "lo", "hi", "node", "hidden", "proven"):
        one, other = getattr(found, name), getattr(wanted, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert one.dtype == other.dtype, name
            np.testing.assert_array_equal(one, other, name)


def table(records: int, seed: int = 1) -> pa.Table:
    order = random.Random(seed)
    cities = [f"{region}{town}" for region in "ABCDE" for town in range(6)]
    return pa.table(
        {
            "city": pa.array([order.choice([*cities, None]) for _ in range(records)]),
            "age": pa.array([order.choice([None, *range(90)]) for _ in range(records)], pa.int64()),
            "sex": [order.choice(["F", "M"]) for _ in range(records)],
            "ward": [order.choice("abcdefgh") for _ in range(records)],
            "illness": pa.array([order.choice(["flu", "Flu", "asthma", "cold", "gout", None]) for _ in range(records)]),
            "who": [order.randrange(records * 2 // 3) for _ in range(records)],
        }
    )


def plan(privacy: dict[str, Any], person: bool = False) -> Plan:
    tree = {"*": {region: [f"{region}{town}" for town in range(6)] for region in "ABCDE"}}
    raw = {
        "attributes": {
            "city": {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "limit": {"level": 1}},
            "age": {"role": "quasi-identifier", "intervals": "free", "limit": {"cuts": [18, 65]}, "weight": 2},
            "sex": {"role": "quasi-identifier", "limit": {"level": 0}},
            "ward": "quasi-identifier",
            "illness": "sensitive",
        },
        "privacy": privacy,
        **({"person": "who"} if person else {}),
    }
    return Plan.from_dict(raw).settled()


def prepared(plan: Plan, records: int = 4000) -> tuple[Microdata, Cells]:
    microdata = encode_table(read_table(table(records), plan), plan)
    return microdata, find_cells(microdata, Requirement.of_plan(plan, microdata))
