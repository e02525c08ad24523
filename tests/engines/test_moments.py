"""Moments in a zone, and times of day: the same labels and the same release wherever the table lies, and it verifies."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.plan import Plan
from tests.engines.comparing import same_release
from tests.engines.conftest import HERE, Place

FIRST = dt.datetime(2024, 1, 30, 22, 30, tzinfo=dt.UTC)  # the next day in Berlin, the day before the next in India
ZONED = [
    pa.timestamp("us", "UTC"),
    pa.timestamp("us", "Europe/Berlin"),
    pa.timestamp("s", "+05:30"),
    pa.timestamp("us"),
]
TIMES = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]


def moments(kind: pa.DataType, records: int = 24) -> pa.Table:
    """People who were seen at the ends of days and of months, some twice."""
    seconds = [int(FIRST.timestamp()) + number // 2 * 43_200 for number in range(records)]
    seen = pa.array(seconds, pa.int64()).cast(pa.timestamp("s", kind.tz)).cast(kind)
    return pa.table({"seen": seen, "sex": ["f", "m"] * (records // 2)})


def asked(hierarchy: dict[str, object]) -> Plan:
    attributes = {"seen": {"role": "quasi-identifier", **hierarchy}, "sex": "quasi-identifier"}
    return Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}})


@pytest.mark.parametrize("kind", ZONED, ids=str)
@pytest.mark.parametrize("hierarchy", [{}, {"hierarchy": {"dates": ["month", "year"]}}], ids=["flat", "dates"])
def test_moments_in_a_zone_are_those_of_utc(
    there: Place, tmp_path: Path, kind: pa.DataType, hierarchy: dict[str, object]
) -> None:
    facts = same_release(there, moments(kind), asked(hierarchy), tmp_path, ("csv", "parquet"))
    assert facts["released"] == 24


@pytest.mark.parametrize("kind", ZONED[1:3], ids=str)
def test_a_zone_does_not_change_the_release(tmp_path: Path, kind: pa.DataType) -> None:
    plan = asked({"hierarchy": {"dates": ["month", "year"]}})
    wanted = HERE.files(moments(ZONED[0]), plan, tmp_path / "utc", "csv")
    assert HERE.files(moments(kind), plan, tmp_path / "zone", "csv") == wanted


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_parts_of_a_second_below_a_millionth_do_not_count(engine: str, tmp_path: Path) -> None:
    """Python knows none, and pandas, which does, may not be there."""
    numbers = [1_700_000_000_000_000_000 + number for number in range(8)]
    for zone in (None, "Asia/Tokyo"):
        table = pa.table({"seen": pa.array(numbers, pa.timestamp("ns", zone)), "sex": ["f", "m"] * 4})
        release = hr.anonymize(table, asked({}), tmp_path / f"{zone}".replace("/", "-"), engine=engine)
        assert release.facts["groups"] == 2


@pytest.mark.parametrize("kind", TIMES, ids=str)
@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_times_of_day_in_every_role(engine: str, kind: pa.DataType, tmp_path: Path) -> None:
    more = {"s": 1, "ms": 500, "us": 500, "ns": 500}[kind.unit]
    day = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}[kind.unit]
    numbers = [day // 24 * (number // 4) + more * (number % 4 // 2) for number in range(24)]
    arrays = pa.array(numbers, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)
    table = pa.table({"at": arrays, "ill": arrays, "left": arrays})
    roles = {"at": "quasi-identifier", "ill": "sensitive", "left": "other"}
    plan = Plan.from_dict({"attributes": roles, "privacy": {"k": 2}})
    for form in ("csv", "parquet"):
        hr.anonymize(table, plan, tmp_path / form, format=form, engine=engine)
        assert hr.verify(tmp_path / form, original=table).kept
        wanted = hr.anonymize(table, plan, tmp_path / f"{form}-here", format=form)
        name = f"data.{form}"
        assert (tmp_path / form / name).read_bytes() == (tmp_path / f"{form}-here" / name).read_bytes()
        assert wanted.facts["released"] == 24
    assert "00:00:00,00:00:00,00:00:00" in (tmp_path / "csv" / "data.csv").read_text()
