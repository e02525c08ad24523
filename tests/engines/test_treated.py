"""Treated columns are the same, to the byte, wherever the table lies."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import DataError
from hedgerow.plan import Plan
from tests.engines.comparing import same_release
from tests.engines.conftest import Place

RECORDS = 24
PEOPLE = pa.table(
    {
        "age": pa.array([20 + 3 * i for i in range(RECORDS)], pa.int32()),
        "pay": pa.array([None, *(1_000 + 997 * i for i in range(1, RECORDS))], pa.int64()),
        "tax": pa.array([Decimal(37 * i) / 4 - 20 for i in range(RECORDS)], pa.decimal128(9, 2)),
        "said": [f" {7 * i % 90}.50 " if i % 6 else "?" for i in range(RECORDS)],
        "seen": pa.array([dt.date(2020, 1, 15) + dt.timedelta(days=41 * i) for i in range(RECORDS)]),
        "born": [f"{1 + i:02d}.{1 + i % 12:02d}.19{40 + i}" for i in range(RECORDS)],
        "rate": pa.array([i / 8 - 1 for i in range(RECORDS - 1)] + [float("nan")], pa.float64()),
    }
)


def plan(**more: Any) -> Plan:
    attributes = {
        "age": {"role": "quasi-identifier", "hierarchy": {"bands": [10, 20]}, "treat": {"top": 70, "bottom": 29}},
        "said": {"role": "quasi-identifier", "treat": {"round": 30, "top": 60}},
        "pay": {"role": "sensitive", "treat": {"top": {"fewest": 3}, "round": 500}},
        "tax": {"role": "sensitive", "treat": {"round": 5}},
        "seen": {"role": "other", "treat": {"dates": "quarter"}},
        "born": {"role": "other", "treat": {"dates": "year", "form": "%d.%m.%Y"}},
        "rate": {"role": "other", "treat": {"round": 0.5, "bottom": {"quantile": 0.1}}},
    }
    asked = {"attributes": attributes, "privacy": {"k": 3}, "data": {"missing": ["?"]}}
    return Plan.from_dict({**asked, **more})


def test_treated_columns(there: Place, tmp_path: Path) -> None:
    facts = same_release(there, PEOPLE, plan(), tmp_path, ("csv", "parquet"))
    assert facts["treated"]["pay"] == {"top": {"at": 22_000, "fewest": 3}, "round": 500}
    assert facts["treated"]["rate"]["bottom"] == {"at": -1, "quantile": 0.1}


def test_treated_columns_on_the_lattice(nearby: Place, tmp_path: Path) -> None:
    same_release(nearby, PEOPLE, plan(method="lattice"), tmp_path)


def test_points_that_depend_on_who_is_withheld_are_for_the_local_engine(nearby: Place) -> None:
    age = {"role": "quasi-identifier", "hierarchy": {"bands": [10]}, "limit": {"level": 1}}
    asked = plan(withhold="90%", privacy={"k": 4}).to_dict()
    asked["attributes"]["age"] = age
    asked["attributes"]["said"] = "identifier"
    with pytest.raises(DataError, match="only the local engine finds them"):
        hr.anonymize(nearby.put(PEOPLE), Plan.from_dict(asked), engine=nearby.engine)
