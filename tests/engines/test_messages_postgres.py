"""What is said of tables and stores on a server, and what the server logs of errors, holds no record."""

from __future__ import annotations

import csv
import os
import random
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from tests.engines.servers import ask, at, execute, fresh, load
from tests.processes.postgres import log_of
from tests.robustness.attack_canaries import Farm
from tests.robustness.canaries import found_in

pytestmark = pytest.mark.xdist_group("postgres")


def told(work: Callable[[], Any]) -> tuple[str, bytes]:
    """Do something that is refused; returns the code, and all that a caller can see of the error."""
    with pytest.raises(hr.HedgerowError) as caught:
        work()
    error = caught.value
    shown = "".join(traceback.format_exception(error, limit=0)) + repr(error) + str(error) + repr(error.__cause__)
    return error.problems[0].code, shown.encode()


def errors_in(log: str) -> bytes:
    """What a server logs of errors when statements are not logged: these are the owner's to switch on."""
    parts = re.split(r"\n(?=\S[^\n]*(?:LOG|ERROR|DETAIL|STATEMENT|HINT|CONTEXT): )", log)
    return "\n".join(part for part in parts if " LOG:  " not in part).encode()


def rows_of(path: Path) -> pa.Table:
    with path.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(header)})


def test_no_record_in_what_is_said_of_tables_and_stores_on_a_server(postgres: str, tmp_path: Path) -> None:
    farm = Farm(tmp_path / "in", random.Random("postgres"))
    begin = len(log_of(postgres))
    people = load(postgres, rows_of(farm.folder / "data.csv"))
    plan = farm.folder / "kept.yaml"
    hr.anonymize(people, plan, at(postgres, fresh("masked")))
    for name in ("other", "node", "tree", "number"):
        bad = farm.folder / f"{name}.yaml"
        _, shown = told(lambda bad=bad: hr.anonymize(people, bad, at(postgres, fresh("masked"))))  # type: ignore[misc]
        assert not found_in(shown), name
    headless = rows_of(farm.folder / "data.csv").rename_columns([*farm.rows[0][:-1], "extra"])
    code, shown = told(lambda: hr.draft_plan(load(postgres, headless)))
    assert (code, found_in(shown)) == ("no-header", [])
    code, shown = told(lambda: hr.anonymize(load(postgres, headless), plan))
    assert (code, found_in(shown)) == ("no-header", [])

    schema = f"canaries_{os.getpid()}"
    with hr.create_release(farm.folder / "data.csv", plan, f"{postgres}&schema={schema}") as release:
        assert not found_in(told(lambda: release.insert(farm.folder / "data.csv"))[1])
        assert not found_in(told(lambda: release.delete(keys=["nobody", farm.rows[0][2]]))[1])
        assert not found_in(told(lambda: release.update(farm.folder / "more.csv"))[1])
        assert not found_in(told(lambda: release.insert(farm.folder / "bad-no-header.csv"))[1])
        assert not found_in(told(lambda: release.erase([farm.rows[0][2]]))[1])
    assert not found_in(errors_in(log_of(postgres)[begin:]))

    # Where the server itself refuses a row, it says which in its own log. We do not.
    with hr.open_release(f"{postgres}&schema={schema}") as release:
        for (table,) in ask(postgres, f"SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = '{schema}'"):
            execute(postgres, f"ALTER TABLE {schema}.{table} ADD CHECK (false) NOT VALID")
        assert not found_in(told(lambda: release.insert(farm.folder / "more.csv"))[1])
