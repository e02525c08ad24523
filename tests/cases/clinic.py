"""Some patients of the made-up clinic, and what their owner asks."""

from __future__ import annotations

import pyarrow as pa

from hedgerow.evaluation.synthetic import clinic

PLAN = {
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}, "limit": {"level": 3}},
        "sex": "quasi-identifier",
        "diagnosis": "sensitive",
        "admitted": "other",
    },
    "privacy": {"k": 3, "p": 2},
}


def people() -> pa.Table:
    """Some patients of the made-up clinic."""
    made = clinic(400, seed=3)
    return pa.table({name: made.columns[name] for name in ("age", "sex", "diagnosis", "admitted")})
