"""Frames of any library are read alike, once, and numbers that were codes are noticed."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.microdata.frames import LostZerosWarning
from hedgerow.plan import Plan

CELLS: dict[str, list[Any]] = {
    "zip": ["01234", "01239", "01234", "55555"] * 2,
    "age": [1, 2, 1, 2, 1, 2, 1, None],
    "ill": ["a", "b", None, "b", "a", "b", "a", "b"],
}
TABLE = pa.table(CELLS)


class Capsule:
    """A table of a library that nobody knows."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


def once() -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(max_chunksize=3))


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas-nullable": lambda: pd.DataFrame(CELLS).convert_dtypes(),
    "pandas-arrow": lambda: pd.DataFrame(CELLS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas-categories": lambda: pd.DataFrame(CELLS).astype({"zip": "category", "ill": "category", "age": "Int64"}),
    "polars": lambda: pl.DataFrame(CELLS),
    "polars-lazy": lambda: pl.LazyFrame(CELLS),
    "polars-categories": lambda: pl.DataFrame(CELLS).with_columns(pl.col("zip").cast(pl.Categorical)),
    "duckdb": lambda: duckdb.from_arrow(TABLE).filter("true"),
    "stream": once,
    "capsule": Capsule,
}


def plan(zip_code: dict[str, Any]) -> Plan:
    attributes = {
        "zip": {"role": "quasi-identifier", "hierarchy": zip_code},
        "age": "quasi-identifier",
        "ill": "sensitive",
    }
    return Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}})


PREFIX = {"prefix": [2, 1], "length": 5}


@pytest.mark.parametrize("engine", ["local", "duckdb"])
@pytest.mark.parametrize("frame", FRAMES)
def test_frames_of_every_library_give_the_same_release(frame: str, engine: str) -> None:
    wanted = hr.anonymize(TABLE, plan(PREFIX))
    with warnings.catch_warnings():
        warnings.simplefilter("error", LostZerosWarning)
        found = hr.anonymize(FRAMES[frame](), plan(PREFIX), engine=engine)
    assert found.table.to_pydict() == wanted.table.to_pydict()
    assert found.facts == wanted.facts


@pytest.mark.parametrize("frame", ["stream", "polars-lazy", "duckdb"])
def test_what_can_be_read_once_is_enough_for_every_verb(frame: str, tmp_path: Any) -> None:
    assert hr.draft_plan(FRAMES[frame]()) == hr.draft_plan(TABLE)
    assert (
        hr.assess(FRAMES[frame](), columns=["zip", "age"]).to_dict()
        == hr.assess(TABLE, columns=["zip", "age"]).to_dict()
    )
    hr.anonymize(TABLE, plan(PREFIX), tmp_path / "out")
    assert hr.verify(tmp_path / "out", FRAMES[frame]()).kept


def test_a_query_that_waits_is_asked_once() -> None:
    """A relation may come to other rows the next time; the check must see those that were released."""
    asked = []

    def draw(frame: pl.DataFrame) -> pl.DataFrame:
        asked.append(1)
        return frame

    hr.anonymize(pl.LazyFrame(CELLS).map_batches(draw), plan(PREFIX))
    assert asked == [1]


def seen(table: pa.Table, asked: Plan) -> None:
    """Have a table read; that there is no leaf for some of its values is another matter."""
    with contextlib.suppress(hr.DataError):
        hr.anonymize(table, asked)


TREE = {"tree": {"all": {"north": ["01234", "01239"], "south": ["55555"]}}}


@pytest.mark.parametrize(
    ("numbers", "hierarchy", "words"),
    [
        (pa.int64(), PREFIX, "texts of 5 characters"),
        (pa.float64(), PREFIX, "texts of 5 characters"),
        (pa.int64(), TREE, "codes that begin with 0"),
    ],
    ids=["prefix", "prefix-float", "tree"],
)
def test_codes_that_have_become_numbers_are_noticed(
    numbers: pa.DataType, hierarchy: dict[str, Any], words: str
) -> None:
    table = TABLE.set_column(0, "zip", pa.array(list(map(int, CELLS["zip"]))).cast(numbers))
    with pytest.warns(LostZerosWarning, match=f"Column 'zip' holds numbers, but the plan speaks of {words}") as caught:
        seen(table, plan(hierarchy))
    assert "1234" not in "".join(str(one.message) for one in caught)


@pytest.mark.parametrize("hierarchy", [{"prefix": [2, 1]}, {"bands": [10, 100]}], ids=str)
def test_numbers_that_are_numbers_are_not_noticed(hierarchy: dict[str, Any]) -> None:
    table = TABLE.set_column(0, "zip", pa.array(list(map(int, CELLS["zip"]))))
    with warnings.catch_warnings():
        warnings.simplefilter("error", LostZerosWarning)
        hr.anonymize(table, plan(hierarchy))
