"""Options of the engines: passwords are not shown, and nothing is ignored without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.outside.stores import shown_store
from tests.cases.people import people, plan
from tests.conftest import Run

SECRET = "s3cret"
LOCKED_OUT = f"postgresql://ann:{SECRET}@127.0.0.1:1/health?table=people"


# -- passwords -------------------------------------------------------------------------------------------------------


def test_no_command_that_reads_files_shows_a_password(tmp_path: Path, hedgerow: Run) -> None:
    file = tmp_path / "plan.yaml"
    file.write_text(plan().to_yaml())
    hr.anonymize(people(), plan(), tmp_path / "release", link=tmp_path / "link.csv")
    commands: list[tuple[str | Path, ...]] = [
        ("plan", "draft", LOCKED_OUT),
        ("verify", tmp_path / "release", "--original", LOCKED_OUT, "--link", tmp_path / "link.csv"),
        ("verify", tmp_path / "release", "--original", LOCKED_OUT.replace("postgresql", "postgresql+psycopg2")),
        ("release", "create", LOCKED_OUT, file, "--store", tmp_path / "store"),
    ]
    for words in commands:
        done = hedgerow(*words)
        assert done.returncode == 2, words
        assert SECRET not in done.stdout + done.stderr, words
        assert "internal error" not in done.stderr, words
    with pytest.raises(hr.HedgerowError) as caught:
        hr.verify(hr.anonymize(people(), plan()), LOCKED_OUT)
    assert SECRET not in str(caught.value)


def test_keys_in_the_path_of_a_bucket_are_not_shown() -> None:
    assert shown_store("s3a://KEY:se/cr@et@bucket/people.parquet") == "s3a://…@bucket/people.parquet"


# -- nothing is ignored without a word -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more", [{"master": "local[2]"}, {"driver_profiles": 5}, {"output": LOCKED_OUT, "format": "csv"}]
)
def test_options_that_would_do_nothing_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(hr.HedgerowError) as caught:
        hr.anonymize(people(), plan(), **more)
    assert caught.value.problems[0].code == "usage"


def test_a_table_in_memory_is_nothing_for_spark() -> None:
    with pytest.raises(hr.HedgerowError, match="Spark frames"):
        hr.anonymize(people(), plan(), engine="spark")
