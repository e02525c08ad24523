"""Tables on a MariaDB server: read, released and checked there, with few rights, and nothing left behind."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.engines import mariadb as engine
from hedgerow.engines.mariadb import MariaDbSession
from hedgerow.engines.mariadb_release import MARK
from hedgerow.engines.place import read_place
from hedgerow.evaluation.drafting.examining import examine
from hedgerow.evaluation.people import repeated_people
from hedgerow.outside import mariadb as outside
from hedgerow.outside.server import is_server, shown
from hedgerow.plan import Plan
from tests.cases.people import people, plan
from tests.engines.conftest import Done
from tests.engines.mariadb_server import ask, at, database, execute, kept, load, tables
from tests.engines.servers import fresh, quoted

pytestmark = pytest.mark.xdist_group("mariadb")

SECRET = "hunter2"
FEW = "SELECT, CREATE TEMPORARY TABLES"


@pytest.fixture
def source(mariadb: str) -> str:
    return load(mariadb, people())


@contextlib.contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[hr.HedgerowError]]:
    with pytest.raises(hr.HedgerowError) as caught:
        yield caught
    assert [problem.code for problem in caught.value.problems] == [code], str(caught.value)
    assert SECRET not in str(caught.value)


def small(mariadb: str, definition: str, *rows: str) -> str:
    """A table of some columns, and a ward for each of them that is the same for all."""
    name = fresh()
    execute(mariadb, f"CREATE TABLE {name} (ward CHAR(1), {definition})")
    if rows:
        execute(mariadb, f"INSERT INTO {name} VALUES " + ", ".join(f"('w', {row})" for row in rows))
    return at(mariadb, name)


def released(data: str, *names: str) -> dict[str, list[Any]]:
    """What a release says of columns that it leaves as they are."""
    attributes = {"ward": "quasi-identifier", **dict.fromkeys(names, "other")}
    release = hr.anonymize(data, Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}}))
    return {name: release.table.column(name).to_pylist() for name in names}


# ---- tables and views ------------------------------------------------------------------------------------------------


def test_a_table_becomes_a_table(mariadb: str, source: str, tmp_path: Path) -> None:
    name, before = fresh("masked"), tables(mariadb)
    release = hr.anonymize(source, plan(), at(mariadb, name))
    folder = hr.anonymize(kept(people()), plan(), tmp_path / "here", format="parquet")
    assert release.table.equals(folder.table)
    assert release.facts == folder.facts
    assert hr.verify(at(mariadb, name)).kept
    assert hr.verify(at(mariadb, name), source).kept
    assert tables(mariadb) - before == {name, f"{name}_hedgerow"}
    ((document,),) = ask(mariadb, f"SELECT document FROM {name}_hedgerow")
    said = json.loads(document)["hedgerow"]
    assert said["plan"] == (tmp_path / "here" / "plan.yaml").read_text(encoding="utf-8")
    assert said["facts"] == json.loads((tmp_path / "here" / "facts.json").read_text(encoding="utf-8"))


def test_a_table_of_another_kind_of_place(mariadb: str, postgres: str, source: str, tmp_path: Path) -> None:
    """A table in memory, and one of PostgreSQL, become one here; one from here becomes one there."""
    from tests.engines import servers

    wanted = hr.anonymize(kept(people()), plan(), tmp_path / "here", format="parquet")
    target = at(mariadb, fresh("masked"))
    hr.anonymize(kept(people()), plan(), target, engine="duckdb")
    assert hr.verify(target, kept(people())).kept
    other = servers.at(postgres, fresh("masked"))
    made = hr.anonymize(source, plan(), other)
    assert made.table.to_pydict() == wanted.table.to_pydict()
    back = at(mariadb, fresh("masked"))
    assert hr.anonymize(servers.load(postgres, kept_there(people())), plan(), back).table.num_rows == len(wanted.table)


def kept_there(table: pa.Table) -> pa.Table:
    """PostgreSQL has no whole number of one byte."""
    return pa.table(
        {
            name: column.cast(pa.int16()) if column.type == pa.int8() else column
            for name, column in zip(table.column_names, kept(table).columns, strict=True)
        }
    )


def test_a_view_with_few_rights(mariadb: str, source: str) -> None:
    """Rights on some columns, and to make temporary tables, are enough to read and to check."""
    del source
    base, role = fresh("clinic"), fresh("r")
    there = database(mariadb.replace("/engines?", "/mysql?"), base)
    load(there, people(), "patients")
    names = [quoted(name) for name in plan().released_columns]
    execute(
        there,
        f"CREATE VIEW {quoted('shown')} AS SELECT * FROM patients",
        f"CREATE USER {role}@localhost IDENTIFIED BY '{SECRET}'",
        f"GRANT CREATE TEMPORARY TABLES ON {base}.* TO {role}@localhost",
        f"GRANT SELECT ({', '.join(names)}) ON {base}.shown TO {role}@localhost",
    )
    mine = at(there, "shown").replace("//root@", f"//{role}:{SECRET}@")
    attributes = {name: role for name, role in plan().attributes.items() if name != "id"}
    asked = plan().replace(attributes=attributes)
    assert hr.anonymize(mine, asked).facts == hr.anonymize(kept(people()).drop_columns(["id"]), asked).facts
    with refused("missing-column"):  # the server does not speak of columns that a role may not read
        hr.anonymize(mine, plan())
    with refused("no-right"):
        hr.anonymize(mine, asked, mine.replace("shown", "masked"))
    assert [column.name for column in examine(mine).columns] == list(plan().released_columns)
    execute(there, f"REVOKE CREATE TEMPORARY TABLES ON {base}.* FROM {role}@localhost")
    with refused("no-right") as caught:
        hr.anonymize(mine, asked)
    assert "temporary tables" in str(caught.value)


def test_all_statements_see_the_same_rows(mariadb: str) -> None:
    """Also of a table whose engine knows no transactions: the columns are copied by one statement."""
    name = fresh()
    load(mariadb, people(), name)
    execute(mariadb, f"ALTER TABLE {name} ENGINE = MyISAM")

    def change(stage: str, done: int, total: int) -> None:
        if stage == "writing":
            execute(mariadb, f"UPDATE {name} SET sex = 'z', age = age + 1")

    target = at(mariadb, fresh("masked"))
    release = hr.anonymize(at(mariadb, name), plan(), target, progress=change)
    assert release.facts == hr.anonymize(kept(people()), plan()).facts
    assert not hr.verify(target, at(mariadb, name)).kept


# ---- kinds of values -------------------------------------------------------------------------------------------------


def test_kinds_of_columns(mariadb: str) -> None:
    data = small(
        mariadb,
        "e ENUM('b','a'), y YEAR, u BIGINT UNSIGNED, b BIT(3), x VARBINARY(4), t TIME, f FLOAT, d FLOAT(7,2),"
        " m DECIMAL(50,2), l VARCHAR(9) CHARACTER SET latin1, j JSON, g POINT, i UUID",
        "'a', 2024, 18446744073709551615, b'101', x'00ff', '12:30:00', 16777217, 1.8, 1.5, 'Zürich', '{}',"
        " POINT(1, 2), '123e4567-e89b-12d3-a456-426655440000'",
        "'b', 1999, 1, b'0', NULL, NULL, 0.1, 2.5, NULL, NULL, NULL, NULL, NULL",
    )
    names = ["e", "y", "u", "b", "x", "t", "f", "d", "m", "l", "j", "g", "i"]
    found = released(data, *names)
    assert {name: found[name][0] for name in names} == {
        "e": "a", "y": 2024, "u": 18446744073709551615, "b": 5, "x": "00ff", "t": "12:30:00", "f": 16777216.0,
        "d": pytest.approx(1.8), "m": "1.50", "l": "Zürich", "j": "{}", "g": "POINT(1 2)",
        "i": "123e4567-e89b-12d3-a456-426655440000",
    }  # fmt: skip
    assert found["f"][1] == pytest.approx(0.1, abs=1e-8)
    kinds = {column.name: column.readable for column in examine(data).columns}
    assert {name for name, readable in kinds.items() if not readable} == {"x", "g"}


def test_numbers_of_single_precision_are_as_in_memory(mariadb: str, tmp_path: Path) -> None:
    """The server shows six digits of them; all that they have are released."""
    numbers = pa.array([16777215, 0.1, 1 / 3, 1e-30, 1.8, 16777215, 0.1, None], pa.float32())
    table = pa.table({"ward": ["w"] * 8, "q": numbers, "o": numbers})
    attributes = {"ward": "quasi-identifier", "q": "quasi-identifier", "o": "other"}
    asked = Plan.from_dict({"attributes": attributes, "privacy": {"k": 2}})
    here = hr.anonymize(table, asked, tmp_path / "here")
    there = hr.anonymize(load(mariadb, table), asked, tmp_path / "there")
    assert (tmp_path / "there" / "data.csv").read_bytes() == (tmp_path / "here" / "data.csv").read_bytes()
    assert there.facts == here.facts
    assert "16777215" in (tmp_path / "there" / "data.csv").read_text()
    target = at(mariadb, fresh("masked"))
    hr.anonymize(load(mariadb, table), asked, target)
    assert hr.verify(target, table).kept


def test_texts_longer_than_a_server_sorts_by(mariadb: str, tmp_path: Path) -> None:
    texts = ["x" * 5000 + end for end in "bacbca"] * 2
    table = pa.table({"ward": ["w"] * 12, "q": texts, "s": texts[::-1], "o": texts})
    roles = {"ward": "quasi-identifier", "q": "quasi-identifier", "s": "sensitive", "o": "other"}
    asked = Plan.from_dict({"attributes": roles, "privacy": {"k": 2}})
    hr.anonymize(table, asked, tmp_path / "here")
    hr.anonymize(load(mariadb, table), asked, tmp_path / "there")
    assert (tmp_path / "there" / "data.csv").read_bytes() == (tmp_path / "here" / "data.csv").read_bytes()


def test_dates_that_are_none(mariadb: str) -> None:
    with refused("format") as caught:
        released(small(mariadb, "d DATE", "'0000-00-00'", "'2020-02-00'", "'2020-02-03'"), "d")
    assert "2020" not in str(caught.value)


def test_what_a_server_cannot_keep(mariadb: str) -> None:
    target, before = at(mariadb, fresh("masked")), tables(mariadb)
    for table, code in (
        (pa.table({"ward": ["w", "w"], "n" * 65: [1, 2]}), "output"),
        (pa.table({"ward": ["w", "w"], "n": [1.0, float("inf")]}), "format"),
    ):
        roles = {"ward": "quasi-identifier", table.column_names[1]: "other"}
        with refused(code):
            asked = Plan.from_dict({"attributes": roles, "privacy": {"k": 2}})
            hr.anonymize(table, asked, target, engine="duckdb")
    assert tables(mariadb) == before


def test_names_that_a_server_cannot_select_by(mariadb: str) -> None:
    name = fresh()
    execute(mariadb, f'CREATE TABLE {name} (ward CHAR(1), " odd" INT)', f"INSERT INTO {name} VALUES ('w', 1), ('w', 2)")
    with refused("format"):
        released(at(mariadb, name), " odd")
    assert [column.readable for column in examine(at(mariadb, name)).columns] == [True, False]


# ---- putting a table in place ----------------------------------------------------------------------------------------


def test_only_a_release_is_replaced(mariadb: str, source: str) -> None:
    target = at(mariadb, name := fresh("masked"))
    hr.anonymize(source, plan(), target)
    with refused("output-in-use"):
        hr.anonymize(source, plan(), target)
    before = tables(mariadb)
    hr.anonymize(source, plan(privacy={"k": 4}), target, replace=True)
    assert hr.verify(target, source).kept
    assert tables(mariadb) == before
    execute(mariadb, f"UPDATE {name}_hedgerow SET document = CONCAT(document, ' ')")
    with refused("not-a-release"):
        hr.verify(target)
    other = fresh("mine")
    execute(mariadb, f"CREATE TABLE {other} (a INT)")
    with refused("output-in-use"):
        hr.anonymize(source, plan(), at(mariadb, other), replace=True)
    with refused("not-a-release"):
        hr.verify(at(mariadb, other))
    execute(mariadb, f"CREATE TABLE {other}2_hedgerow (a INT)")
    with refused("output-in-use"):
        hr.anonymize(source, plan(), at(mariadb, f"{other}2"))
    with refused("table-address"):
        hr.anonymize(source, plan(), at(mariadb, "m" * 60))


def test_a_broken_promise_leaves_nothing(mariadb: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written is looked at where it lies: a row that somebody changes there is noticed."""
    make = MariaDbSession.make

    def tampered(session: MariaDbSession, target: Any, query: str) -> Any:
        hidden = make(session, target, query)
        session.run(f"UPDATE {hidden.sql} SET illness = 'gout' LIMIT 1")
        return hidden

    monkeypatch.setattr(MariaDbSession, "make", tampered)
    before = tables(mariadb)
    with pytest.raises(hr.BrokenPromise):
        hr.anonymize(source, plan(), at(mariadb, fresh("masked")))
    assert tables(mariadb) == before


def test_what_a_dead_client_left_is_swept_away(mariadb: str, source: str) -> None:
    """Hidden tables go if nobody holds their lock; those of somebody at work, and of others, stay."""
    left, work, alike = (f".hedgerow-{sign * 32}" for sign in "abz")
    execute(mariadb, *(f"CREATE TABLE {quoted(name)} (a INT)" for name in (left, f"{left}-old_hedgerow", work, alike)))
    with contextlib.closing(MariaDbSession(read_place(source))) as session:
        session.run(f"DO GET_LOCK('{work}', 0)")
        hr.anonymize(source, plan(), at(mariadb, fresh("masked")))
        assert {name for name in tables(mariadb) if name.startswith(".hedgerow")} == {work, alike}
    execute(mariadb, f"DROP TABLE {quoted(work)}, {quoted(alike)}")


@pytest.mark.parametrize("when", ["before", "after", "unknown"])
def test_a_connection_that_breaks_in_the_moment_of_truth(
    mariadb: str, source: str, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    run = MariaDbSession.run

    def broken(session: MariaDbSession, statement: str) -> None:
        if not statement.startswith("RENAME"):
            return run(session, statement)
        if when == "after":
            run(session, statement)
        execute(mariadb, f"KILL CONNECTION {session._connection.thread_id()}")
        if when == "unknown":
            monkeypatch.setattr(MariaDbSession, "_looked_up", lambda *words: None)
        return run(session, "SELECT 1")

    monkeypatch.setattr(MariaDbSession, "run", broken)
    name = fresh("masked")
    if when == "after":
        assert hr.anonymize(source, plan(), at(mariadb, name)).facts["released"] == 40
    elif when == "before":
        with refused("no-connection"):
            hr.anonymize(source, plan(), at(mariadb, name))
    else:
        with pytest.raises(hr.DoneBut) as caught:
            hr.anonymize(source, plan(), at(mariadb, name))
        assert [problem.code for problem in caught.value.problems] == ["in-doubt"]
    monkeypatch.undo()
    assert (name in tables(mariadb)) is (when == "after")
    hr.anonymize(source, plan(), at(mariadb, fresh("masked")))
    assert not {name for name in tables(mariadb) if name.startswith(".hedgerow")}


# ---- addresses and connections ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        (f"mysql://ann:{SECRET}@h:3307/db?table=t", "mysql://ann@h:3307/db?table=t"),
        (f"mariadb://ann:{SECRET}@h/db?ssl_ca=/x&table=a.b", "mariadb://ann@h/db?table=a.b"),
        (f"mariadb://ann:hun@ter2{SECRET}@h/db?table=t", "mariadb://…?table=t"),
    ],
)
def test_what_is_shown_of_an_address(address: str, wanted: str) -> None:
    assert is_server(address)
    assert shown(address) == wanted
    place = read_place(address)
    assert place.shown == wanted
    assert SECRET not in repr(place) + repr(outside.read_url(place.url))


@pytest.mark.parametrize(
    "address",
    [f"mariadb://ann:{SECRET}@h/db?table=t&charset=latin1", f"mariadb://ann:{SECRET}@h:x/db?table=t",
     f"mariadb://ann:{SECRET}@h/db?table=t&ssl_verify_identity=maybe", f"mariadb://ann:{SECRET}@h/db%00?table=t",
     f"mariadb://ann:{SECRET}@h/db?table=%F0%9F%98%80", f"mariadb://ann:{SECRET}@h/db?table={'a' * 65}",
     f"mariadb://ann:{SECRET}@h/db"],
)  # fmt: skip
def test_addresses_that_cannot_be(address: str) -> None:
    with refused("table-address"):
        hr.anonymize(address, plan())


def test_servers_that_do_not_let_us_in(mariadb: str, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = source.replace("//root@", f"//root:{SECRET}@")
    for address, words in (
        (wrong, "does not accept the role or its password"),
        (source.replace("%2Fs&", "%2Fnot&"), "no server is listening"),
        (source.replace("/engines?", "/nowhere?"), "no such database"),
        (f"mysql://ann:{SECRET}@localhost:1/db?table=t", "no server is listening"),
    ):
        with refused("no-connection") as caught:
            hr.anonymize(address, plan())
        assert words in str(caught.value)
    monkeypatch.setenv(outside.PASSWORD, SECRET)
    with refused("no-connection"):
        hr.anonymize(source, plan())
    monkeypatch.delenv(outside.PASSWORD)
    with refused("no-table"):
        hr.anonymize(at(mariadb, "absent"), plan())
    monkeypatch.setattr(engine, "OLDEST", {True: ((99, 0), "x"), False: ((99, 0), "x")})
    with refused("no-connection") as caught:
        hr.anonymize(source, plan())
    assert "older than" in str(caught.value)


def test_a_role_and_its_password_in_a_file(
    mariadb: str, source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    role = fresh("r")
    execute(
        mariadb,
        f"CREATE USER {role}@localhost IDENTIFIED BY '{SECRET}'",
        f"GRANT {FEW} ON engines.* TO {role}@localhost",
    )
    (tmp_path / ".my.cnf").write_text(f"[client]\nuser={role}\npassword={SECRET}\n")
    monkeypatch.setattr(outside, "SETTINGS_FILE", str(tmp_path / ".my.cnf"))
    assert hr.anonymize(source.replace("//root@", "//"), plan()).facts["records"] == 40
    (tmp_path / ".my.cnf").write_text(f"[client\npassword={SECRET}\n")
    with refused("no-connection"):
        hr.anonymize(source.replace("//root@", "//"), plan())


def test_a_driver_that_is_not_there(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", absent)
    with refused("usage") as caught:
        hr.anonymize(source, plan())
    assert "[mariadb]" in str(caught.value)


# ---- the other verbs -------------------------------------------------------------------------------------------------


def test_the_other_verbs_take_such_tables(mariadb: str, source: str, tmp_path: Path, command: Any) -> None:
    here = kept(people())
    assert hr.explain(source, plan()).to_dict() == hr.explain(here, plan()).to_dict()
    scored = re.sub(r"# Coarsen first[^:]*:[^.]*\.\n", "", hr.draft_plan(here))  # a table on a server is not scored
    assert hr.draft_plan(source) == scored
    names = ["age", "sex"]
    assert hr.assess(source, columns=names).to_dict()["records"] == hr.assess(here, columns=names).to_dict()["records"]
    file = tmp_path / "plan.yaml"
    file.write_text(plan().to_yaml(), encoding="utf-8")
    target = at(mariadb, fresh("masked"))
    done: Done = command("anonymize", source, file, "-o", target)
    assert done.returncode == 0, done.stderr
    assert command("verify", target, "--original", source).returncode == 0
    assert command("report", target, "-o", tmp_path / "page.html").returncode == 0
    assert repeated_people(source, plan()) == repeated_people(here, plan())
    store = create_store(tmp_path, source)
    assert store.exists()


def create_store(folder: Path, source: str) -> Path:
    from hedgerow.maintenance import create_release

    asked = Plan.from_dict({"key": "id", "attributes": {"age": "quasi-identifier"}, "privacy": {"k": 3}})
    with create_release(source, asked, folder / "s.store") as release:
        assert release.plan.key == "id"
    return folder / "s.store"


def test_a_person_who_ends_it_is_heard(mariadb: str, source: str) -> None:
    """A statement on the way is stopped on the server, and the connection goes on."""
    with contextlib.closing(MariaDbSession(read_place(source))) as session:
        rows: Any = session.stream("SELECT seq FROM seq_1_to_50000000")
        assert next(rows).num_rows > 0
        rows.close()
        assert session.ask("SELECT 1 AS n").to_pydict() == {"n": [1]}


def test_a_mark_is_short_enough() -> None:
    assert len(MARK) + 64 < 2048
