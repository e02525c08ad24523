"""Tables and plans for searches of the lattice by research value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.plan import Plan


def people(seed: int, records: int = 400) -> pa.Table:
    draw = np.random.default_rng(seed)

    def some(values: list[Any], share: float = 0.0) -> list[Any]:
        found = draw.choice(len(values), records, p=np.arange(len(values), 0, -1) / sum(range(1, len(values) + 1)))
        return [None if draw.random() < share else values[place] for place in found]

    return pa.table(
        {
            "age": pa.array(some(list(range(18, 90)))),
            "zip": pa.array(some([f"{number:05d}" for number in range(43101, 43990, 37)], 0.05)),
            "sex": pa.array(some(["F", " F", "M", "x"])),
            "income": pa.array(some([None, 1.5, 2.0, 2.5])),
            "illness": pa.array(some(["flu", "cold", "gout", ""], 0.1)),
            "note": pa.array(some(["b", "a", None, "c"])),
            "name": pa.array([f"person {number}" for number in range(records)]),
        }
    )


def plan(search: str = "exact", **changes: Any) -> Plan:
    return Plan.from_dict(
        {
            "attributes": {
                "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 40]}},
                "zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [5, 3, 2, 0]}},
                "sex": "quasi-identifier",
                "income": {"role": "quasi-identifier", "hierarchy": {"bands": [1]}},
                "illness": "sensitive",
                "note": "other",
                "name": "identifier",
            },
            "privacy": {"k": 4},
            "method": {"name": "lattice", "objective": "research-value", "search": search, "block": 2},
            "rules": [{"attribute": "age", "keep_apart": [39, 40], "importance": 3}],
            **changes,
        }
    )
