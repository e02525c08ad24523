"""Tables on a PostgreSQL server: read, released and checked there, with few rights, and nothing left behind."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import api
from hedgerow.engines.postgres import PostgresSession
from hedgerow.plan import Plan
from hedgerow.release import making
from tests.engines.conftest import Done
from tests.engines.servers import ask, at, execute, fresh, load, quoted, relations
from tests.processes.postgres import log_of

SECRET = "hunter2"
Command = Callable[..., Done]


def people(records: int = 40) -> pa.Table:
    """Patients with a name that must not be read."""
    rows = range(records)
    return pa.table(
        {
            "secret_name": [f"Person {i}" for i in rows],
            "age": pa.array([20 + i * 7 % 30 for i in rows], pa.int32()),
            "ward": ["ab"[i % 2] for i in rows],
            "illness": [["flu", "cold", "gout"][i % 3] for i in rows],
            "cost": pa.array([Decimal(i % 9) / 4 for i in rows], pa.decimal128(12, 2)),
            "since": [dt.date(2020, 1, 1 + i % 20) for i in rows],
            "smokes": [i % 5 == 0 for i in rows],
            "score": [i / 7 for i in rows],
            "seen": pa.array([dt.datetime(2021, 5, 1, i % 24) for i in rows], pa.timestamp("us")),
        }
    )


ROLES: dict[str, Any] = {
    "secret_name": "identifier",
    "age": {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}},
    "ward": "quasi-identifier",
    "illness": "sensitive",
    **dict.fromkeys(["cost", "since", "smokes", "score", "seen"], "other"),
}


def plan(**more: Any) -> Plan:
    return Plan.from_dict({"attributes": ROLES, "privacy": {"k": 3}, **more})


@pytest.fixture
def source(postgres: str) -> str:
    return load(postgres, people())


@pytest.fixture(scope="session")
def plan_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("plan") / "plan.yaml"
    file.write_text(plan().to_yaml(), encoding="utf-8")
    return file


@contextlib.contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[hr.HedgerowError]]:
    with pytest.raises(hr.HedgerowError) as caught:
        yield caught
    assert [problem.code for problem in caught.value.problems] == [code], str(caught.value)
    assert SECRET not in str(caught.value)


def rows(address: str, table: str) -> list[tuple[Any, ...]]:
    return ask(address, f"SELECT * FROM {quoted(table)}")


# ---- tables and views --------------------------------------------------------------------------------------------------


def test_a_table_becomes_a_table(postgres: str, source: str, tmp_path: Path) -> None:
    name = fresh("masked")
    release = hr.anonymize(source, plan(), at(postgres, name))
    folder = hr.anonymize(people(), plan(), tmp_path / "here", format="parquet")
    assert release.table.equals(folder.table)
    assert release.facts == folder.facts
    assert hr.verify(at(postgres, name)).kept
    assert hr.verify(at(postgres, name), source).kept
    (comment,) = ask(postgres, f"SELECT obj_description('{name}'::regclass)")[0]
    said = json.loads(comment)["hedgerow"]
    assert said["plan"] == (tmp_path / "here" / "plan.yaml").read_text(encoding="utf-8")
    assert said["facts"] == json.loads((tmp_path / "here" / "facts.json").read_text(encoding="utf-8"))


def test_types_stay(postgres: str, source: str) -> None:
    name = fresh("masked")
    hr.anonymize(source, plan(), at(postgres, name))
    query = (
        f"SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '{name}'::regclass"
    )
    types = dict(ask(postgres, query + " AND attnum > 0"))
    assert types == {
        "age": "text",
        "ward": "text",
        "illness": "text",
        "cost": "numeric(12,2)",
        "since": "date",
        "smokes": "boolean",
        "score": "double precision",
        "seen": "timestamp without time zone",
    }


def test_a_table_from_elsewhere_becomes_a_table(postgres: str, tmp_path: Path) -> None:
    name = fresh("masked")
    release = hr.anonymize(people(), plan(), at(postgres, name))
    assert release.table.equals(hr.anonymize(people(), plan()).table)
    assert hr.verify(at(postgres, name)).kept


def test_another_address_of_the_same_server(postgres: str, source: str) -> None:
    """Two connections: the rows go through the client, which compares them too."""
    name = fresh("masked")
    hr.anonymize(source, plan(), at(postgres + "&application_name=x", name))
    assert hr.verify(at(postgres, name), source).kept


@pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW"])
def test_views(postgres: str, source: str, kind: str, tmp_path: Path) -> None:
    table, view = fresh(), fresh("view")
    load(postgres, people(), table)
    execute(postgres, f"CREATE {kind} {view} AS SELECT * FROM {table} WHERE ward = 'a'")
    release = hr.anonymize(at(postgres, view), plan(), tmp_path / "out")
    assert release.facts["records"] == 20
    assert hr.verify(tmp_path / "out", at(postgres, view)).kept
    assert not hr.verify(tmp_path / "out", at(postgres, table)).kept


def test_partitions_enums_domains_and_other_types(postgres: str) -> None:
    name = fresh("parted")
    kind, domain = fresh("mood"), fresh("zip")
    execute(
        postgres,
        f"CREATE TYPE {kind} AS ENUM ('sad', 'happy')",
        f"CREATE DOMAIN {domain} AS text CHECK (length(VALUE) = 5)",
        f"CREATE TABLE {name} (ward char(3), zip {domain}, mood {kind}, who uuid, doc jsonb, amount numeric, tags text[],"
        " at timestamptz, span interval) PARTITION BY LIST (ward)",
        f"CREATE TABLE {name}_a PARTITION OF {name} FOR VALUES IN ('a')",
        f"CREATE TABLE {name}_b PARTITION OF {name} FOR VALUES IN ('b')",
        f"INSERT INTO {name} SELECT CASE i % 2 WHEN 0 THEN 'a' ELSE 'b' END, '1000' || i % 3,"
        " (ARRAY['sad', 'happy'])[i % 2 + 1]::text::"
        + kind
        + ", gen_random_uuid(), '{\"a\": 1}', i / 3.0, ARRAY['x', 'y'],"
        " '2020-01-01 12:00+02', '1 day' FROM generate_series(1, 12) AS i",
    )
    roles = {"ward": "quasi-identifier", "zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [4, 2]}}}
    others = dict.fromkeys(["who", "doc", "amount", "tags", "at", "span"], "other")
    asked = Plan.from_dict({"attributes": {**roles, "mood": "sensitive", **others}, "privacy": {"k": 2}})
    release = hr.anonymize(at(postgres, name), asked, at(postgres, fresh("masked")))
    assert set(release.table["ward"].to_pylist()) <= {"a", "b", "*"}
    assert set(release.table["mood"].to_pylist()) == {"sad", "happy"}
    assert release.table["at"][0].as_py() == dt.datetime(2020, 1, 1, 10, tzinfo=dt.UTC)


def test_text_is_compared_by_its_bytes_whatever_its_collation(postgres: str, tmp_path: Path) -> None:
    name, collation = fresh(), fresh("ci")
    try:
        execute(
            postgres,
            f"CREATE COLLATION {collation} (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        )
    except Exception:
        pytest.skip("needs a server with ICU")
    table = pa.table(
        {"q": ["a", "A", "b", "B"] * 3, "s": ["N/A", "n/a", "x", "X"] * 3, "o": ["Z", "a", "N/A", "é"] * 3}
    )
    roles = {"q": "quasi-identifier", "s": "sensitive", "o": "other"}
    asked = Plan.from_dict({"attributes": roles, "privacy": {"k": 3}, "data": {"missing": ["n/a"]}})
    address = load(postgres, table, name)
    for column in "qso":
        execute(postgres, f"ALTER TABLE {name} ALTER {column} TYPE text COLLATE {collation}")
    found = hr.anonymize(address, asked, at(postgres, fresh("masked")))
    assert found.table.equals(hr.anonymize(table, asked).table)


def test_a_database_in_another_encoding(postgres: str) -> None:
    name = fresh("latin")
    execute(postgres, f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    latin = postgres.replace("/engines?", f"/{name}?")
    execute(
        latin,
        "CREATE TABLE people (ward text, ill text)",
        "INSERT INTO people SELECT convert_from('\\xe9', 'LATIN1'), convert_from('\\xa0fc20', 'LATIN1') FROM generate_series(1, 4)",
    )
    asked = Plan.from_dict({"attributes": {"ward": "quasi-identifier", "ill": "other"}, "privacy": {"k": 2}})
    release = hr.anonymize(latin + "&table=people", asked, latin + "&table=masked")
    assert release.table.to_pydict() == {"ward": ["é"] * 4, "ill": ["ü"] * 4}
    assert hr.verify(latin + "&table=masked", latin + "&table=people").kept
    with refused("encoding"):
        hr.anonymize(latin + "&table=people", asked.replace(data={"missing": ["日"]}))
    execute(postgres, f"CREATE DATABASE {name}_ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    with refused("encoding"):
        hr.anonymize(postgres.replace("/engines?", f"/{name}_ascii?") + "&table=people", asked)


@pytest.mark.parametrize("cell", ["'NaN'::numeric(5, 1)", "'infinity'::date", "'-infinity'::timestamp"])
@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "other"])
def test_what_is_not_finite_is_refused(postgres: str, tmp_path: Path, cell: str, role: str) -> None:
    name = fresh()
    execute(postgres, f"CREATE TABLE {name} AS SELECT 'a' AS ward, {cell} AS x FROM generate_series(1, 3)")
    asked = Plan.from_dict({"attributes": {"ward": "quasi-identifier", "x": role}, "privacy": {"k": 2}})
    with pytest.raises(hr.DataError) as caught:
        hr.anonymize(at(postgres, name), asked, tmp_path / "out")
    assert caught.value.problems[0].code in ("format", "not-a-number")
    assert not re.search("(?i)'?-?infinity|nan'", str(caught.value))


# ---- hostile names -----------------------------------------------------------------------------------------------------

NAMES = [
    'x"; DROP TABLE witness; --',
    "a.b",
    "qu\"o`te's",
    "Groß Ⓜ️",
    "CAPITALS",
    "x" * 63,
    " ",
    "a%41&b=c",
    "$1 ?",
    "\\",
]


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_do_no_harm(postgres: str, name: str) -> None:
    schema, out = f"{fresh()[-12:]}{name}"[:25], f"o{name}"[:63]
    execute(postgres, f"CREATE SCHEMA {quoted(schema)}", "CREATE TABLE IF NOT EXISTS witness (a int)")
    data = load(postgres, people(12), name, schema)
    before = relations(postgres)
    hr.anonymize(data, plan(), at(postgres, out, schema))
    assert relations(postgres) == before | {(schema, out)}
    assert hr.verify(at(postgres, out, schema), data).kept
    hr.anonymize(data, plan(privacy={"k": 4}), at(postgres, out, schema), replace=True)
    assert relations(postgres) == before | {(schema, out)}
    execute(postgres, f"DROP SCHEMA {quoted(schema)} CASCADE")


@pytest.mark.parametrize("name", ["hedgerow_profiles", "hedgerow_parts", "hedgerow_labels", "incoming", "t", "records"])
def test_tables_named_like_ours(postgres: str, name: str) -> None:
    """Temporary tables come first where a name has no schema."""
    schema = fresh("own")
    execute(postgres, f"CREATE SCHEMA {schema}")
    load(postgres, people(12), name, schema)
    path = f"{postgres}&options={quote(f'-c search_path={schema}')}"
    release = hr.anonymize(f"{path}&table={name}", plan(), f"{path}&table={name}_masked")
    assert release.facts["records"] == 12
    other = fresh("other")
    execute(postgres, f"CREATE SCHEMA {other}")
    path = f"{postgres}&options={quote(f'-c search_path={other}')}"
    hr.anonymize(f"{path}&table={schema}.{name}", plan(), f"{path}&table={name}")
    assert (other, name) in relations(postgres)


# ---- few rights --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Steward:
    """A role that may read some columns of one table, and make tables in one schema."""

    address: str
    source: str
    results: str


@pytest.fixture
def steward(postgres: str) -> Steward:
    role, clinic, results = fresh("steward"), fresh("clinic"), fresh("results")
    needed = ", ".join(quoted(name) for name in people().column_names if name != "secret_name")
    execute(postgres, f"CREATE ROLE {role} LOGIN", f"CREATE SCHEMA {clinic}", f"CREATE SCHEMA {results}")
    load(postgres, people(), "people", clinic)
    execute(
        postgres,
        f"ALTER ROLE {role} SET log_statement = 'all'",
        f"GRANT USAGE ON SCHEMA {clinic} TO {role}",
        f"GRANT SELECT ({needed}) ON {clinic}.people TO {role}",
        f"GRANT USAGE, CREATE ON SCHEMA {results} TO {role}",
    )
    address = postgres.replace("hedgerow@", f"{role}@", 1)
    return Steward(address, f"{address}&table={clinic}.people", results)


def test_few_rights_are_enough(
    steward: Steward, postgres: str, tmp_path: Path, plan_file: Path, command: Command
) -> None:
    target = f"{steward.address}&table={steward.results}.masked"
    for words in (
        ["explain", steward.source, plan_file],
        ["anonymize", steward.source, plan_file, "-o", target],
        ["anonymize", steward.source, plan_file, "-o", target, "--replace"],
        ["verify", target, "--original", steward.source],
        ["anonymize", steward.source, plan_file, "-o", tmp_path / "out"],
    ):
        done = command(*words)
        assert done.returncode == 0, done.stderr


def test_without_the_right_it_is_said(steward: Steward, postgres: str, plan_file: Path, command: Command) -> None:
    name = fresh()
    load(postgres, people(), name)
    role = steward.address.partition("://")[2].partition("@")[0]
    execute(postgres, "REVOKE CREATE ON SCHEMA public FROM PUBLIC", f"CREATE SCHEMA {name}_closed")
    good = f"{steward.address}&table={steward.results}.masked"
    wide = Plan.from_dict({"attributes": {**ROLES, "secret_name": "other"}, "privacy": {"k": 3}})
    with refused("no-right"):
        hr.anonymize(steward.source, wide, good)  # a column that the role may not read
    for data, output in (
        (f"{steward.address}&table={name}", good),
        (f"{steward.address}&table={name}_closed.people", good),
        (steward.source, f"{steward.address}&table=public.{name}_masked"),
        (steward.source, f"{steward.address}&table={name}_masked"),
        (steward.source, f"{steward.address}&table={name}_closed.masked"),
    ):
        with refused("no-right") as caught:
            hr.anonymize(data, plan(), output)
        wrong = data if output is good else output
        assert f"?table={quote(wrong.partition('table=')[2], safe='.')}:" in str(caught.value), str(caught.value)
    done = command("anonymize", steward.source, plan_file, "-o", f"{steward.address}&table=public.masked")
    assert done.returncode == 2
    assert "no right to make a table there" in done.stderr
    assert done.stderr.count("hedgerow:") == 1
    release = fresh("masked")
    hr.anonymize(f"{postgres}&table={name}", plan(), f"{postgres}&table={steward.results}.{release}")
    execute(postgres, f"GRANT SELECT ON {steward.results}.{release} TO {role}")
    with refused("no-right"):  # somebody else's release
        hr.anonymize(steward.source, plan(), f"{steward.address}&table={steward.results}.{release}", replace=True)
    assert hr.verify(f"{postgres}&table={steward.results}.{release}").kept


def test_identifiers_are_never_mentioned(steward: Steward, postgres: str) -> None:
    """Only the comment of the release says their names, as part of the plan; no statement reads them."""
    begin = len(log_of(postgres))
    target = f"{steward.address}&table={steward.results}.masked"
    hr.explain(steward.source, plan())
    hr.anonymize(steward.source, plan(), target)
    hr.anonymize(steward.source, plan())
    assert hr.verify(target, steward.source).kept
    log = log_of(postgres)[begin:]
    statements = re.split(r"\n(?=\S[^\n]*(?:LOG|ERROR|DETAIL|STATEMENT): )", log)
    assert sum("GROUP BY" in one for one in statements) >= 4, "the log has what was done"
    naming = [one for one in statements if "secret_name" in one]
    assert len(naming) == 1
    assert "COMMENT ON TABLE" in naming[0]
    assert "Person " not in log
    assert not [one for one in statements if re.search(r"SELECT (t\.)?\* FROM .{0,20}\bpeople", one)]


# ---- what a release promises -------------------------------------------------------------------------------------------


def test_a_table_that_was_tampered_with(postgres: str, source: str, command: Command) -> None:
    name = fresh("masked")
    target = at(postgres, name)
    hr.anonymize(source, plan(), target)
    kept = command("verify", target, "--original", source)
    assert kept.returncode == 0, kept.stderr
    for change in (
        "UPDATE {} SET illness = 'mumps' WHERE ctid = (SELECT min(ctid) FROM {})",
        "UPDATE {} SET cost = cost + 1",
        "UPDATE {} SET since = NULL WHERE ward = 'a'",
        "DELETE FROM {} WHERE ctid = (SELECT min(ctid) FROM {})",
        "INSERT INTO {} SELECT * FROM {} LIMIT 1",
        "ALTER TABLE {} ADD secret_name text",
        "ALTER TABLE {} DROP COLUMN cost",
    ):
        (comment,) = ask(postgres, f"SELECT obj_description('{name}'::regclass)")[0]
        execute(
            postgres,
            f"CREATE TABLE {name}_copy AS TABLE {name}",
            f"COMMENT ON TABLE {name}_copy IS $said${comment}$said$",
        )
        assert hr.verify(at(postgres, f"{name}_copy"), source).kept
        execute(postgres, change.format(f"{name}_copy", f"{name}_copy"))
        assert not hr.verify(at(postgres, f"{name}_copy"), source).kept, change
        execute(postgres, f"DROP TABLE {name}_copy")
    execute(postgres, f"UPDATE {name} SET illness = 'mumps'")
    broken = command("verify", target, "--original", source, "--json")
    assert broken.returncode == 1, broken.stderr
    assert json.loads(broken.stdout)["kept"] is False


def test_only_a_release_is_replaced(postgres: str, source: str) -> None:
    name = fresh("masked")
    target = at(postgres, name)
    load(postgres, people(4), name)
    with refused("output-in-use") as caught:
        hr.anonymize(source, plan(), target)
    assert "--replace" in str(caught.value)
    with refused("output-in-use") as caught:
        hr.anonymize(source, plan(), target, replace=True)
    assert "not a release" in str(caught.value)
    assert len(rows(postgres, name)) == 4
    execute(postgres, f"DROP TABLE {name}")
    hr.anonymize(source, plan(), target, replace=True)
    with refused("output-in-use"):
        hr.anonymize(source, plan(), target)
    hr.anonymize(source, plan(privacy={"k": 5}), target, replace=True)
    (comment,) = ask(postgres, f"SELECT obj_description('{name}'::regclass)")[0]
    assert json.loads(comment)["hedgerow"]["facts"]["k"] == 5
    assert hr.verify(target, source).kept


def test_a_failed_release_leaves_the_one_before(postgres: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = fresh("masked")
    target = at(postgres, name)
    hr.anonymize(source, plan(), target)
    before, everything = rows(postgres, name), relations(postgres)
    with refused("too-few-records"):
        hr.anonymize(source, plan(privacy={"k": 50}), target, replace=True)

    def fail(*words: Any) -> None:
        raise hr.BrokenPromise(hr.Problem("broken-promise", "Something is wrong."))

    from hedgerow.release import tables

    with monkeypatch.context() as patch:
        patch.setattr(tables, "verify_before_publishing", fail)
        with refused("broken-promise"):
            hr.anonymize(source, plan(seed=3), target, replace=True)
    with monkeypatch.context() as patch:
        patch.setattr(PostgresSession, "show", fail)
        with refused("broken-promise"):
            hr.anonymize(source, plan(seed=3), target, replace=True)
    assert rows(postgres, name) == before
    assert relations(postgres) == everything
    assert hr.verify(target, source).kept
    execute(postgres, f"CREATE VIEW {name}_view AS SELECT * FROM {name}")
    with refused("output-in-use") as caught:  # dropping it would drop the view
        hr.anonymize(source, plan(), target, replace=True)
    assert "need the table" in str(caught.value)


def test_an_output_that_exists_is_refused_before_any_work(
    postgres: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = fresh("masked")
    load(postgres, people(4), name)

    def never(*words: Any) -> None:
        raise AssertionError("work was done")

    monkeypatch.setattr(api, "make_where_it_lies", never)
    monkeypatch.setattr("hedgerow.engines.sql.SqlEngine.read", never)
    for replace in (False, True):
        with refused("output-in-use"):
            hr.anonymize(source, plan(), at(postgres, name), replace=replace)


def test_two_at_once(postgres: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second finds the name taken when it comes to it."""
    name = fresh("masked")
    target = at(postgres, name)
    show = PostgresSession.show

    def slow(session: PostgresSession, *words: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(PostgresSession, "show", show)
            hr.anonymize(source, plan(seed=1), target)
        show(session, *words)

    monkeypatch.setattr(PostgresSession, "show", slow)
    with refused("output-in-use") as caught:
        hr.anonymize(source, plan(), target)
    assert "meanwhile" in str(caught.value)
    assert hr.verify(target, source).kept
    assert not [one for _, one in relations(postgres) if one.startswith(".hedgerow")]


@pytest.mark.parametrize("target", ["table", "folder"])
def test_one_snapshot(postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """What others do to the source meanwhile is not seen."""
    name = fresh()
    source = load(postgres, people(), name)
    make = making.make

    def disturbed(*words: Any) -> Any:
        execute(postgres, f"DELETE FROM {name} WHERE ward = 'a'", f"UPDATE {name} SET illness = 'mumps', age = 77")
        execute(postgres, f"INSERT INTO {name} SELECT * FROM {name}")
        return make(*words)

    monkeypatch.setattr(making, "make", disturbed)
    output = at(postgres, f"{name}_masked") if target == "table" else tmp_path / "out"
    release = hr.anonymize(source, plan(), output)
    assert release.facts["records"] == 40
    assert set(release.table["illness"].to_pylist()) == {"flu", "cold", "gout"}
    assert not hr.verify(output, source).kept


def test_the_order_of_rows_tells_nothing(postgres: str) -> None:
    """Rows lie in the order of what is published, whatever the order of the source was."""
    names, orders = [fresh("masked") for _ in range(3)], []
    for name, order in zip(
        names, ([*range(40)], [*range(39, -1, -1)], [*range(0, 40, 2), *range(1, 40, 2)]), strict=True
    ):
        hr.anonymize(load(postgres, people().take(order)), plan(), at(postgres, name))
        orders.append(ask(postgres, f"SELECT {', '.join(['ctid::text', *ROLES][0:1])}, t.*::text FROM {name} AS t"))
    assert orders[0] == orders[1] == orders[2]
    found = hr.anonymize(people(), plan()).table.to_pydict()
    table = ask(postgres, f"SELECT * FROM {names[0]}")
    assert [row[0] for row in table] == found["age"]
    assert [row[2] for row in table] == found["illness"]


# ---- passwords ---------------------------------------------------------------------------------------------------------


def test_no_password_is_ever_shown(
    postgres: str, source: str, plan_file: Path, tmp_path: Path, command: Command
) -> None:
    local = postgres.partition("?")[2]
    user = f"postgresql://hedgerow:{SECRET}@/engines?{local}"
    addresses = [
        f"postgresql://ann:{SECRET}@localhost:1/db?table=people",
        f"postgresql://ann:{SECRET}@/engines?{local}&table=people",
        f"postgresql://ann:{SECRET}@localhost:1/db",
        f"postgresql://ann:{SECRET}@localhost:{SECRET}/db?table=x",
        f"postgresql://ann:hun@{SECRET}@localhost:1/db?table=x",
        f"postgresql://localhost:1/db?user=ann&password={SECRET}&table=x",
        f"{user}&table=nowhere",
        f"{user}&table=nowhere.people",
        f"{user}&table=a.b.c",
        f"{user}&table=",
        f"{user}&table=a&table=b",
        f"Postgresql://ann:{SECRET}@localhost/db?table=x",
        f"postgresql+psycopg2://ann:{SECRET}@localhost/db?table=x",
        f"mysql://ann:{SECRET}@localhost/db",
    ]
    for address in addresses:
        for data, output in ((address, tmp_path / "out"), (people(), address)):
            if data is not address and address == f"{user}&table=nowhere":
                continue  # this one can be made
            with pytest.raises(hr.HedgerowError) as caught:
                hr.anonymize(data, plan(), output)
            assert SECRET not in str(caught.value) + repr(caught.value)
            assert caught.value.__cause__ is None
    for words in (
        ["anonymize", addresses[1], plan_file, "-o", tmp_path / "out", "--json"],
        ["anonymize", source, plan_file, "-o", f"{user}&table=nowhere.masked", "--json"],
        ["verify", f"{user}&table=nowhere", "--json"],
    ):
        done = command(*words)
        assert done.returncode == 2
        assert SECRET not in done.stdout + done.stderr
        assert json.loads(done.stdout)["problems"]
    name = fresh("masked")
    done = command("anonymize", source, plan_file, "-o", f"{user}&table={name}")
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert SECRET not in ask(postgres, f"SELECT obj_description('{name}'::regclass)")[0][0]
    done = command("verify", f"{user}&table={name}", "--original", f"{user}&table=nowhere")
    assert done.returncode == 2
    assert SECRET not in done.stdout + done.stderr


# ---- ends that nobody wants ----------------------------------------------------------------------------------------------


def cut(postgres: str, connection: Any) -> None:
    """End the server's side of a connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]
    ask(postgres, f"SELECT pg_terminate_backend({pid}, 5000)")


@pytest.mark.parametrize("method", ["columns", "upload", "make", "show", "stream"])
def test_a_lost_connection(
    postgres: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    before = relations(postgres)
    there = getattr(PostgresSession, method)

    def cut_first(session: PostgresSession, *words: Any) -> Any:
        cut(postgres, session._connection)
        return there(session, *words)

    monkeypatch.setattr(PostgresSession, method, cut_first)
    with refused("no-connection") as caught:
        hr.anonymize(source, plan(), tmp_path / "out" if method == "stream" else at(postgres, fresh("masked")))
    assert "lost" in str(caught.value)
    assert relations(postgres) == before
    assert list(tmp_path.iterdir()) == []


def slow_view(postgres: str, seconds: float, after: int = 0) -> str:
    """A view that sleeps when it comes to a certain row."""
    table, view = fresh(), fresh("slow")
    load(postgres, people(), table)
    names = ", ".join(quoted(name) for name in people().column_names if name != "age")
    execute(
        postgres,
        f"CREATE VIEW {view} AS SELECT CASE WHEN length(pg_sleep({seconds})::text) = 0 AND age > {after} THEN age END AS age,"
        f" {names} FROM {table}",
    )
    return at(postgres, view)


def until(query: str, postgres: str, patience: float = 20) -> None:
    end = time.monotonic() + patience
    while not ask(postgres, query)[0][0]:
        assert time.monotonic() < end, query
        time.sleep(0.05)


BUSY = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%{}%' AND pid <> pg_backend_pid()"


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_a_long_statement(postgres: str, plan_file: Path, tmp_path: Path, sign: int) -> None:
    view = slow_view(postgres, 60)
    name = view.rpartition("%22slow")[2][:-3]
    before = relations(postgres)
    command = [sys.executable, "-c", "from hedgerow.cli import main; main()", "anonymize", view, str(plan_file)]
    process = subprocess.Popen(
        [*command, "-o", at(postgres, fresh("masked"))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until(BUSY.format(name), postgres)
    start = time.monotonic()
    os.kill(process.pid, sign)
    _, said = process.communicate(timeout=20)
    assert time.monotonic() - start < 8
    assert process.returncode == 130, said
    assert said.strip() == "hedgerow: interrupted; nothing was written"
    until(f"SELECT NOT EXISTS ({BUSY.format(name)} HAVING count(*) > 0)", postgres)
    assert relations(postgres) == before


def test_a_statement_that_is_stopped_on_the_server(postgres: str) -> None:
    view = slow_view(postgres, 60) + "&options=-c%20statement_timeout%3D300"
    with pytest.raises(hr.DataError) as caught:
        hr.explain(view, plan())
    (problem,) = caught.value.problems
    assert problem.code in ("no-connection", "output")
    assert "statement" in problem.message or "could not do" in problem.message


def test_a_backend_that_is_ended_in_the_middle(postgres: str, plan_file: Path) -> None:
    view = slow_view(postgres, 60)
    name = view.rpartition("%22slow")[2][:-3]
    before = relations(postgres)
    caught: list[BaseException] = []

    def work() -> None:
        try:
            hr.anonymize(view, plan(), at(postgres, fresh("masked")))
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    until(BUSY.format(name), postgres)
    end = (
        f"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE query LIKE '%{name}%' AND state = 'active'"
    )
    patience = time.monotonic() + 20
    while thread.is_alive() and time.monotonic() < patience:  # a short statement may have ended by itself
        ask(postgres, end + " AND pid <> pg_backend_pid()")
        thread.join(0.2)
    assert isinstance(caught[0], hr.DataError)
    assert [problem.code for problem in caught[0].problems] == ["no-connection"], str(caught[0])
    assert relations(postgres) == before


def test_a_value_that_the_server_complains_of_is_not_shown(postgres: str) -> None:
    table, view = fresh(), fresh("wrong")
    load(postgres, people(), table)
    names = ", ".join(quoted(name) for name in people().column_names if name != "age")
    execute(postgres, f"CREATE VIEW {view} AS SELECT CAST(secret_name AS integer) AS age, {names} FROM {table}")
    with pytest.raises(hr.DataError) as caught:
        hr.anonymize(at(postgres, view), plan())
    assert "Person" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_full_disk_here_is_what_is_said(
    postgres: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that nobody reads to their end do not hide the fault behind one of the driver's."""
    from hedgerow.engines import export

    def full(rows: Any, path: Path, quoted: bool) -> bool:
        next(iter(rows.batches()))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export, "_write_cells", full)
    with refused("output") as caught:
        hr.anonymize(source, plan(), tmp_path / "out")
    assert "No space left" in str(caught.value)


def test_nothing_is_left_behind(postgres: str, source: str, tmp_path: Path) -> None:
    before = relations(postgres)
    name = fresh("masked")
    hr.anonymize(source, plan(), at(postgres, name))
    hr.anonymize(source, plan(), tmp_path / "out")
    hr.explain(source, plan())
    hr.compare(source, plan(), methods=["plan"])
    assert relations(postgres) == before | {("public", name)}
    until("SELECT count(*) = 0 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'", postgres)


def test_a_name_that_is_too_long_for_the_server(postgres: str) -> None:
    table = people(12).rename_columns(["é" * 40 if name == "cost" else name for name in people().column_names])
    roles = {("é" * 40 if name == "cost" else name): role for name, role in ROLES.items()}
    asked = Plan.from_dict({"attributes": roles, "privacy": {"k": 3}})
    with refused("output") as caught:
        hr.anonymize(table, asked, at(postgres, fresh("masked")))
    assert "63 bytes" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.uint64(), [1, 2, 3, 2**64 - 1]),
        (pa.timestamp("ms", "Europe/Berlin"), [1, 2, 3, 4]),
        (pa.timestamp("ns"), [1000, 2000, 3000, 4000]),
        (pa.date64(), [86_400_000] * 4),
        (pa.int8(), [1, -2, 3, 4]),
        (pa.float32(), [0.1, 0.2, 0.3, 0.4]),
    ],
    ids=str,
)
def test_types_that_a_server_has_not(postgres: str, kind: pa.DataType, values: list[Any]) -> None:
    table = pa.table({"ward": ["a", "b", "a", "b"], "x": pa.array(values, kind)})
    asked = Plan.from_dict({"attributes": {"ward": "quasi-identifier", "x": "other"}, "privacy": {"k": 2}})
    release = hr.anonymize(table, asked, at(postgres, fresh("masked")))
    assert release.table.num_rows == 4
