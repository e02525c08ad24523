"""Looking at a table on a server: as in memory, in one state, with few rights, and without a password in any word."""

from __future__ import annotations

import datetime as dt
import random
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.engines import opening
from hedgerow.engines.postgres import PostgresSession
from hedgerow.evaluation.drafting import examining
from hedgerow.evaluation.drafting.examining import examine
from hedgerow.evaluation.synthetic import census, clinic
from hedgerow.plan import DataFormat, Plan
from tests.cases.examinations import seen_of
from tests.engines.conftest import Done
from tests.engines.servers import ask, at, execute, fresh, load, quoted, relations
from tests.engines.tables import hostile
from tests.processes.postgres import log_of

SECRET = "hunter2"
Command = Callable[..., Done]


@pytest.mark.parametrize("made_up", [clinic(500), census(2000)], ids=["clinic", "census"])
def test_a_table_is_seen_alike_wherever_it_is(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_up: Any
) -> None:
    table = pa.table(made_up.columns)
    here = examine(table)
    address = load(postgres, table)
    arrow_csv.write_csv(table, tmp_path / "a.csv")
    pq.write_table(table, tmp_path / "a.parquet")
    for source in (address, tmp_path / "a.csv", tmp_path / "a.parquet"):
        assert seen_of(examine(source)) == seen_of(here)
    assert hr.draft_plan(address) == here.to_yaml()
    monkeypatch.setattr(opening, "LARGE_FILE", 0)
    for source in (tmp_path / "a.csv", tmp_path / "a.parquet"):
        assert seen_of(examine(source)) == seen_of(here)


def test_types_hostile_names_and_values(postgres: str) -> None:
    table = hostile()
    here, there = examine(table), examine(load(postgres, table))
    for column, wanted in zip(there.columns, here.columns, strict=True):
        assert column == wanted, column.name
    assert seen_of(there) == seen_of(here)
    assert list(Plan.loads(there.to_yaml()).attributes) == table.column_names


def test_the_draft_of_a_table_on_a_server_runs_there(postgres: str, tmp_path: Path, command: Command) -> None:
    address = load(postgres, pa.table(clinic(300).columns))
    done = command("plan", "draft", address, "-o", tmp_path / "plan.yaml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("drafted ")
    assert hr.explain(address, tmp_path / "plan.yaml").withheld == 0
    assert "host=" not in done.stdout
    printed = command("plan", "draft", address)
    assert printed.stdout == (tmp_path / "plan.yaml").read_text(encoding="utf-8")


def test_types_of_the_servers_own(postgres: str) -> None:
    name, mood = fresh("own"), fresh("mood")
    execute(
        postgres,
        f"CREATE TYPE {mood} AS ENUM ('sad', 'happy')",
        f"CREATE TABLE {name} (ward char(3), mood {mood}, who uuid, net inet, amount numeric, at time,"
        " tags text[], doc jsonb, photo bytea, span interval, part int4range, spot point, born date, pay numeric(9, 2))",
        f"INSERT INTO {name} SELECT 'a', 'sad', gen_random_uuid(), '10.0.0.1', i / 4.0, '09:30', ARRAY['x'], '{{}}',"
        " 'x', '1 day', '[1,2)', '(1,2)', CASE WHEN i = 7 THEN 'infinity'::date ELSE '2020-01-01' END,"
        " CASE WHEN i = 7 THEN 'NaN' ELSE 1.5 END FROM generate_series(1, 40) AS i",
    )
    seen = examine(at(postgres, name))
    readable = {column.name: column.readable for column in seen.columns}
    plain = ["ward", "mood", "who", "net", "amount", "at"]
    assert [name for name, is_so in readable.items() if is_so] == plain
    assert seen.records == 40
    assert len(seen.preview) == 40
    assert seen.preview[0][:2] == ("a", "sad")
    plan = Plan.loads(seen.to_yaml())
    assert set(plan.columns("identifier")) >= {"tags", "doc", "photo", "span", "part", "spot", "born", "pay"}
    assert hr.explain(at(postgres, name), plan).withheld == 0


def test_views_are_looked_at(postgres: str) -> None:
    table, view = fresh(), fresh("view")
    load(postgres, pa.table({"ward": ["a", "b"] * 40, "sex": ["f", "m", "m", "f"] * 20}), table)
    execute(postgres, f"CREATE VIEW {view} AS SELECT * FROM {table} WHERE ward = 'a'")
    assert examine(at(postgres, view)).records == 40


@pytest.mark.parametrize("rows", [0, 5])
def test_what_is_counted_is_one_state_and_nothing_is_changed(
    postgres: str, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    name = fresh()
    address = load(postgres, pa.table({"a": ["x", "y"] * 20, "b": ["x", "y"] * 20}), name)
    before = relations(postgres)
    statements: list[str] = []
    heard = PostgresSession.ask

    def noted(session: PostgresSession, query: str) -> Any:
        statements.append(query)
        return heard(session, query)

    monkeypatch.setattr(PostgresSession, "ask", noted)

    def meanwhile(stage: str, done: int, total: int) -> None:
        assert (stage, total) == ("looking at columns", 2)
        if done == 1:
            execute(postgres, f"INSERT INTO {name} VALUES ('z', 'z')")

    seen = examine(address, progress=meanwhile, rows=rows)
    assert [column.counts for column in seen.columns] == [{"x": 20, "y": 20}] * 2
    assert len(seen.preview) == rows
    assert sum("GROUP BY" in statement for statement in statements) == 2
    assert sum(f"LIMIT {rows}" in statement for statement in statements) == bool(rows)
    assert relations(postgres) == before


def test_of_very_many_values_those_are_kept_that_most_records_have(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(0)
    table = pa.table(
        {
            "name": [f"Person {i}" for i in range(3000)],
            "pay": pa.array([draw.randrange(0, 100_000, 10) if i % 3 else None for i in range(3000)]),
            "owed": pa.array([Decimal(i % 900) / 4 for i in range(3000)], pa.decimal128(9, 2)),
            "since": [dt.date(1980, 1, 1) + dt.timedelta(days=i // 3) for i in range(3000)],
            "town": [f" Town {i // 2}" for i in range(2000)] + ["Kiel"] * 900 + [""] * 100,
        }
    )
    here, address = examine(table), load(postgres, table)
    monkeypatch.setattr(examining, "MOST_VALUES", 500)
    seen = examine(address)
    for whole, column in zip(here.columns, seen.columns, strict=True):
        assert column.partial
        assert len(column.counts) <= 500
        assert (column.distinct, column.filled) == (whole.distinct, whole.filled)
        assert column.counts.items() <= whole.counts.items()
    assert [(found.role, found.rule) for found in seen.proposals] == [(said.role, said.rule) for said in here.proposals]
    assert seen.columns[4].counts["Kiel"] == 900
    assert examine(address).columns == seen.columns


# ---- what cannot be looked at ------------------------------------------------------------------------------------------


def code_of(address: str, **more: Any) -> str:
    with pytest.raises(hr.HedgerowError) as caught:
        examine(address, **more)
    assert SECRET not in str(caught.value)
    (problem,) = caught.value.problems
    return problem.code


def test_an_empty_table_and_one_that_is_not_there(postgres: str) -> None:
    assert code_of(load(postgres, pa.table({"a": pa.array([], pa.string())}))) == "empty"
    assert code_of(at(postgres, fresh("nowhere"))) == "no-table"
    assert code_of(at(postgres, "t", "nowhere")) == "no-table"


def role_on(postgres: str, statements: list[str]) -> str:
    """The address of the server for a role of its own, with a password that it does not ask for."""
    role = fresh("role")
    execute(postgres, f"CREATE ROLE {role} LOGIN", *(statement.format(role=role) for statement in statements))
    return postgres.replace("://hedgerow@", f"://{role}:{SECRET}@")


def test_columns_without_the_right_to_them_are_left_out(postgres: str) -> None:
    name = fresh()
    load(postgres, pa.table({"name": ["Kim"] * 40, "age": [str(i) for i in range(40)], "sex": ["f", "m"] * 20}), name)
    mine = role_on(postgres, [f"GRANT SELECT (age, sex) ON {quoted(name)} TO {{role}}"])
    seen = examine(at(mine, name))
    assert [column.allowed for column in seen.columns] == [False, True, True]
    assert seen.records == 40
    assert seen.preview[0] == (None, "0", "f")
    assert "may not read it" in seen.to_yaml()
    plan = Plan.loads(seen.to_yaml())
    assert plan.columns("identifier")[0] == "name"
    assert hr.explain(at(mine, name), plan).records == 40


def test_a_role_without_rights_is_told_so(postgres: str) -> None:
    name = fresh()
    load(postgres, pa.table({"age": ["1"] * 40}), name)
    assert code_of(at(role_on(postgres, []), name)) == "no-right"
    view = fresh("view")
    execute(postgres, f"CREATE VIEW {view} WITH (security_invoker) AS SELECT * FROM {name}")
    mine = role_on(postgres, [f"GRANT SELECT ON {view} TO {{role}}"])
    assert code_of(at(mine, view)) == "no-right"


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ann:{SECRET}@127.0.0.1:1/health?table=people",
        f"postgresql://ann:{SECRET}@127.0.0.1:1/health",
        f"postgresql://ann:{SECRET}@127.0.0.1:1/health?table=a.b.c",
    ],
)
def test_no_password_is_shown(address: str, command: Command, tmp_path: Path) -> None:
    code_of(address)
    done = command("plan", "draft", address, "-o", tmp_path / "plan.yaml")
    assert done.returncode == 2
    assert SECRET not in done.stdout + done.stderr
    assert not (tmp_path / "plan.yaml").exists()


def test_no_password_and_no_value_in_what_is_printed_or_logged(postgres: str, command: Command, tmp_path: Path) -> None:
    name = fresh()
    load(postgres, pa.table({"name": ["Kimberley"] * 40, "sex": ["f", "m"] * 20}), name)
    mine = role_on(postgres, [f"GRANT SELECT ON {name} TO {{role}}"])
    done = command("plan", "draft", at(mine, name), "-o", tmp_path / "plan.yaml")
    assert done.returncode == 0, done.stderr
    drafted = (tmp_path / "plan.yaml").read_text(encoding="utf-8")
    for word in (SECRET, "Kimberley"):
        assert word not in done.stdout + done.stderr + drafted + repr(examine(at(mine, name))) + log_of(postgres)


def test_a_stated_form_is_kept(postgres: str) -> None:
    address = load(postgres, pa.table({"sex": ["f", "m", "?", "x "] * 20}))
    assert examine(address).columns[0].counts == {"f": 20, "m": 20, "x": 20}
    assert examine(address, DataFormat(missing=("x",))).columns[0].counts == {"f": 20, "m": 20, "?": 20}


def test_it_ends_when_it_is_told_to(postgres: str) -> None:
    address = load(postgres, pa.table({"a": ["x", "y"] * 20, "b": ["x", "y"] * 20}))

    def stop(stage: str, done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        examine(address, progress=stop)
    query = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    for _ in range(100):  # the server notices a moment later
        if ask(postgres, query) == [(0,)]:
            return
        time.sleep(0.05)
    raise AssertionError("the connection is still open")
