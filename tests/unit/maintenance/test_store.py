"""The store: one suite for SQLite and PostgreSQL (a real server), then what only one of them does."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import random
import re
import resource
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hedgerow.errors import DataError, DoneBut, HedgerowError
from hedgerow.maintenance.store import NewVersion, Store, open_store
from hedgerow.maintenance.store import store as shared
from hedgerow.maintenance.store.address import StoreAddress, read_address
from hedgerow.maintenance.store.schema import ERASURES, GROUPS, META, PLACES, RECORDS, STEPS, VERSIONS
from hedgerow.maintenance.store.state import latest

ROOT = Path(__file__).parents[3]
NUMBERS = itertools.count(1)
META_GIVEN = {"plan": "attributes: {}\n", "title": "clinic é"}


def version(
    number: int,
    records: dict[str, str] | None = None,
    places: dict[str, tuple[int, int]] | None = None,
    groups: dict[int, int] | None = None,
    **other: Any,
) -> NewVersion:
    """Version 1 has four people in two groups; each later one brings a person, and empties group 0."""
    if records is None:
        records = {key: f'["{key}"]' for key in "dbac"} if number == 1 else {f"n{number}": f'["n{number}"]'}
    if places is None:
        places = (
            {"a": (0, 0), "b": (0, 0), "c": (1, 1), "d": (1, 1)} if number == 1 else {f"n{number}": (1, 1), "a": (1, 1)}
        )
    if groups is None:
        groups = {1: 2, 0: 2} if number == 1 else {0: 0, 1: 3 + number}
    told: dict[str, Any] = {
        "parent": number - 1 or None,
        "verb": "create" if number == 1 else "insert",
        "plan_digest": "p" * 64,
        "counts": {"in": len(records), "inserted": 0},
        "scores": {"ntil": 0.1 + number, "é": None},
        "facts": {"records": 4},
        "verification": {"kept": True},
        "audit": {},
        **other,
    }
    return NewVersion(
        number=number,
        records=pa.table(
            {"key": pa.array(list(records), pa.string()), "content": pa.array(list(records.values()), pa.string())}
        ),
        places=pa.table(
            {
                "key": pa.array(list(places), pa.string()),
                "cluster": pa.array([cluster for cluster, _ in places.values()], pa.int64()),
                "group_number": pa.array([group for _, group in places.values()], pa.int64()),
            }
        ),
        groups=pa.table(
            {
                "number": pa.array(list(groups), pa.int64()),
                "shown": pa.array([f'["[{group}]"]' for group in groups], pa.string()),
                "region": pa.array(["[[0,1]]" for _ in groups], pa.string()),
                "size": pa.array(list(groups.values()), pa.int64()),
                "counts": pa.array(["{}" for _ in groups], pa.string()),
            }
        ),
        **told,
    )


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def code(caught: pytest.ExceptionInfo[HedgerowError]) -> str:
    (problem,) = caught.value.problems
    return problem.code


@contextlib.contextmanager
def refused(expected: str) -> Iterator[pytest.ExceptionInfo[HedgerowError]]:
    with pytest.raises(HedgerowError) as caught:
        yield caught
    assert code(caught) == expected, str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__, "the driver's own words are not shown"


def child(script: str, *words: str, **options: Any) -> subprocess.Popen[str]:
    """Run a script in a process of its own, with ``version`` and ``open_store`` at hand."""
    head = "import os, sys\nfrom tests.unit.maintenance.test_store import *\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + script, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        **options,
    )


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place without a store."""
    if request.param == "sqlite":
        return str(tmp_path / "clinic.store")
    return f"{request.getfixturevalue('postgres')}&schema=clinic_{os.getpid()}_{next(NUMBERS)}"


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    """A store with one version."""
    with open_store(address, create=True) as made:
        made.start(META_GIVEN, version(1))
        yield made


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "PATIENCE", 0.2)


def statement(store: Store, query: str, *values: Any) -> None:
    """What another program may do to the tables."""
    names = {table.name: store._name(table) for table in (META, VERSIONS, GROUPS, RECORDS, PLACES, ERASURES)}
    store._run(query.format(**names), *values)


# ---- what goes in comes out -----------------------------------------------------------------------------------


def test_versions_come_back_as_they_were_given(store: Store, address: str) -> None:
    store.append(version(2))
    with open_store(address) as opened:
        assert opened.meta() == {**META_GIVEN, "format": "hedgerow-store", "schema": str(len(STEPS))}
        assert opened.head() == 2
        one, two = opened.versions()
    assert (one.number, one.parent, one.verb, one.plan_digest) == (1, None, "create", "p" * 64)
    assert one.counts == {"in": 4, "inserted": 0}
    assert one.scores == {"ntil": 1.1, "é": None}
    assert (one.facts, one.verification, one.audit) == ({"records": 4}, {"kept": True}, {})
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", one.made_at)
    assert one.tool.startswith("hedgerow ")
    assert (one.previous, two.previous) == ("", one.chain)
    assert two.parent == 1


def test_the_state_of_every_version_can_be_read(store: Store) -> None:
    store.append(version(2))
    store.append(version(3))
    assert rows(store.records(1)) == [(1, "a", '["a"]'), (1, "b", '["b"]'), (1, "c", '["c"]'), (1, "d", '["d"]')]
    assert rows(store.records())[4:] == [(2, "n2", '["n2"]'), (3, "n3", '["n3"]')]
    assert rows(store.places(1)) == [(1, "a", 0, 0), (1, "b", 0, 0), (1, "c", 1, 1), (1, "d", 1, 1)]
    assert rows(store.places(2)) == [(1, "b", 0, 0), (1, "c", 1, 1), (1, "d", 1, 1), (2, "a", 1, 1), (2, "n2", 1, 1)]
    assert rows(store.places()) == rows(store.places(3))
    assert [row[:2] for row in rows(store.places(3))] == [(1, "b"), (1, "c"), (1, "d"), (2, "n2"), (3, "a"), (3, "n3")]
    assert rows(store.groups(1)) == [(1, 0, '["[0]"]', "[[0,1]]", 2, "{}"), (1, 1, '["[1]"]', "[[0,1]]", 2, "{}")]
    assert [(row[0], row[1], row[4]) for row in rows(store.groups(2))] == [(2, 0, 0), (2, 1, 5)]


def test_every_event_can_be_read_in_order(store: Store) -> None:
    store.append(version(2))
    assert [row[:2] for row in rows(store.all_records())] == [(1, "a"), (1, "b"), (1, "c"), (1, "d"), (2, "n2")]
    assert [row[:2] for row in rows(store.all_places())] == [(1, key) for key in "abcd"] + [(2, "a"), (2, "n2")]
    assert [row[:2] for row in rows(store.all_groups())] == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_columns_are_of_the_promised_kinds(store: Store) -> None:
    for table, read in ((RECORDS, store.records), (PLACES, store.places), (GROUPS, store.groups)):
        assert read().schema == read(1).schema == table.arrow


def test_a_version_that_changes_nothing_can_be_written(store: Store) -> None:
    store.append(version(2, {}, {}, {}))
    assert store.head() == 2
    assert rows(store.places()) == rows(store.places(1))
    assert store.check_chain() == []


def test_dictionary_columns_and_any_order_of_columns_are_taken(store: Store) -> None:
    given = version(2, {"y": "[1]", "x": "[2]"}, {}, {})
    encoded = given.records.set_column(1, "content", given.records["content"].dictionary_encode())
    turned = NewVersion(**{**vars(given), "records": encoded.select(["content", "key"])})
    store.append(turned)
    assert rows(store.all_records())[4:] == [(2, "x", "[2]"), (2, "y", "[1]")]


def test_versions_that_are_not_there_are_named(store: Store) -> None:
    for number in (0, 2, -1):
        with refused("no-version") as caught:
            store.records(number)
        assert "versions 1 to 1" in str(caught.value)


def test_the_latest_event_of_each_name_agrees_with_a_plain_loop() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        events = sorted({(rng.randrange(1, 6), rng.choice("abcdefgh")) for _ in range(rng.randrange(20))})
        table = pa.table(
            {
                "version": pa.array([number for number, _ in events], pa.int64()),
                "key": pa.array([key for _, key in events], pa.string()),
            }
        )
        last = {key: number for number, key in events}
        kept = [(number, key) for number, key in events if last[key] == number]
        assert rows(latest(table, "key")) == kept


@pytest.mark.parametrize("key", ["o'neil", 'a"b', "a;--", "é😀\u2028", "%s ? $1", "\\x00", "", "a\nb", "\ufffe", "ﬀ"])
def test_hostile_keys_do_no_harm(store: Store, key: str) -> None:
    store.append(version(2, {key: json.dumps([key])}, {key: (7, 1)}))
    store.append(version(3))
    assert (2, key, json.dumps([key])) in rows(store.records())
    assert store.erase([key]) == 2
    assert key not in [row[1] for row in rows(store.all_records()) + rows(store.all_places())]
    assert len(rows(store.all_places())) == 6


def test_text_that_no_database_can_keep_is_refused(store: Store) -> None:
    with refused("store-text") as caught:
        store.append(version(2, {"secret\0key": "[]"}))
    assert "secret" not in str(caught.value)
    with refused("store-text"):
        store.append(version(2, {"key": "\0"}))
    with refused("store-text"):
        store.append(version(2, verb="\ud800"))
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b"\xff")]
    )
    with refused("store-text"):
        store.append(NewVersion(**{**vars(version(2)), "records": pa.table({"key": broken, "content": ["[]"]})}))
    for key in ("a\0", "\ud800"):
        with refused("store-text"):
            store.erase([key])
    assert store.head() == 1


def test_mistakes_of_the_caller_change_nothing(store: Store) -> None:
    good = version(2)
    with pytest.raises(ValueError, match="two things of the same key in 'records'"):
        store.append(NewVersion(**{**vars(good), "records": pa.concat_tables([good.records, good.records])}))
    with pytest.raises(ValueError, match="must be"):
        store.append(NewVersion(**{**vars(good), "records": good.places}))
    with pytest.raises(ValueError, match="not be empty"):
        store.append(NewVersion(**{**vars(good), "records": pa.table({"key": ["x"], "content": [None]})}))
    with pytest.raises(ValueError, match="JSON"):
        store.append(version(2, scores={"loss": float("nan")}))
    with pytest.raises(TypeError, match="sequence"):
        store.erase("abc")
    with refused("store-changed"):
        store.append(version(5))
    assert store.head() == 1
    assert len(rows(store.all_records())) == 4
    store.append(good)
    assert store.check_chain() == []


# ---- beginning ------------------------------------------------------------------------------------------------


def test_where_there_is_no_store_says_so(address: str) -> None:
    with refused("no-store"):
        open_store(address)
    with open_store(address, create=True) as made:
        assert (made.head(), made.versions(), made.meta(), made.begun) == (0, [], {}, False)
        for use in (
            made.records,
            made.all_places,
            made.check_chain,
            lambda: made.append(version(2)),
            lambda: made.erase(["a"]),
        ):
            with refused("no-store"):
                use()
    with refused("no-store"):
        open_store(address)


def test_a_store_is_not_begun_twice(store: Store, address: str) -> None:
    with refused("store-exists"):
        open_store(address, create=True)
    with refused("store-exists"):
        store.start(META_GIVEN, version(1))
    assert store.head() == 1


def test_of_two_that_begin_a_store_the_later_is_refused(address: str) -> None:
    with open_store(address, create=True) as one, open_store(address, create=True) as two:
        one.start(META_GIVEN, version(1))
        with refused("store-exists"):
            two.start({}, version(1, {"other": "[]"}))
        assert one.meta()["title"] == "clinic é"
    with open_store(address) as opened:
        assert len(rows(opened.records())) == 4


def test_a_failed_beginning_leaves_nothing_behind(address: str) -> None:
    good = version(1)
    twice = NewVersion(**{**vars(good), "places": pa.concat_tables([good.places, good.places])})
    with open_store(address, create=True) as made:
        with pytest.raises(ValueError, match="two things of the same key in 'places'"):
            made.start(META_GIVEN, twice)
        with refused("store-text"):
            made.start({"plan": "\0"}, good)
        with pytest.raises(ValueError, match="own"):
            made.start({"schema": "7"}, good)
        with pytest.raises(ValueError, match="number 1"):
            made.start({}, version(2))
        assert left_behind(address) == []
        made.start(META_GIVEN, good)
        assert made.head() == 1


def left_behind(address: str) -> list[str]:
    """Files or schemas that are there."""
    place = read_address(address)
    if isinstance(place, Path):
        return sorted(path.name for path in place.parent.iterdir())
    return schemas_named(address, place.schema)


def schemas_named(address: str, name: str) -> list[str]:
    """The schemas of this name on the server of ``address``, where nothing but a store may be."""
    with open_store(address, create=True) as probe:
        query = "SELECT CAST(nspname AS TEXT) AS name FROM pg_namespace WHERE nspname = CAST(? AS TEXT)"
        return probe._read(query, pa.schema([("name", pa.string())]), name)["name"].to_pylist()


def test_killed_while_beginning_there_is_no_store(address: str) -> None:
    script = """
with open_store(sys.argv[1], create=True) as made:
    made._commit = lambda: os._exit(9)
    many = {str(number): "[" + "x" * 1000 + "]" for number in range(int(sys.argv[2]))}
    made.start({}, version(1, many))
"""
    for many in ("10", "100000"):  # all in memory, and so much that part of it is in the file already
        run = child(script, address, many)
        assert run.wait(60) == 9, run.communicate()
        with refused("no-store"):
            open_store(address)
    with open_store(address, create=True) as made:
        made.start(META_GIVEN, version(1))
        assert made.check_chain() == []
        assert len(rows(made.records())) == 4


# ---- writing --------------------------------------------------------------------------------------------------


def test_killed_before_the_commit_the_last_version_is_whole(store: Store, address: str) -> None:
    store.append(version(2))
    before = [rows(table) for table in (store.all_records(), store.all_places(), store.all_groups())]
    script = """
store = open_store(sys.argv[1])
store._commit = lambda: os._exit(9)
store.append(version(3, {str(number): "[" + "x" * 1000 + "]" for number in range(int(sys.argv[2]))}))
"""
    for many in ("10", "100000"):
        run = child(script, address, many)
        assert run.wait(60) == 9, run.communicate()
        assert store.head() == 2
        assert [rows(table) for table in (store.all_records(), store.all_places(), store.all_groups())] == before
        assert store.check_chain() == []
    store.append(version(3))
    assert store.check_chain() == []


def test_of_two_writers_one_wins_and_the_other_is_told(store: Store, address: str) -> None:
    with open_store(address) as other:
        store.append(version(2))
        with refused("store-changed") as caught:
            other.append(version(2, {"other": "[]"}))
        assert "Somebody else has written version 2" in str(caught.value)
        assert "run it again" in str(caught.value)
        other.append(version(3))
    assert store.head() == 3
    assert "other" not in [row[1] for row in rows(store.records())]


def test_of_two_processes_that_write_at_once_one_wins(store: Store, address: str) -> None:
    script = """
store = open_store(sys.argv[1])
many = {f"{sys.argv[2]}-{number}": "[]" for number in range(2000)}
print("ready", flush=True)
for number in range(2, 12):
    sys.stdin.readline()
    try:
        store.append(version(number, many))
        print("written", flush=True)
    except DataError as error:
        print(error.problems[0].code, flush=True)
"""
    writers = [child(script, address, name) for name in ("one", "two")]
    try:
        for writer in writers:
            assert writer.stdout.readline() == "ready\n", writer.communicate()
        for number in range(2, 12):
            for writer in writers:
                writer.stdin.write("go\n")
                writer.stdin.flush()
            said = sorted(writer.stdout.readline().strip() for writer in writers)
            assert said == ["store-changed", "written"]
            assert store.head() == number
            assert len({row[1][:3] for row in rows(store.all_records()) if row[0] == number}) == 1
    finally:
        for writer in writers:
            writer.communicate()
    assert store.check_chain() == []


def test_of_two_processes_that_begin_at_once_one_wins(address: str) -> None:
    script = """
store = open_store(sys.argv[1], create=True)
print("ready", flush=True)
sys.stdin.readline()
try:
    store.start({"title": sys.argv[2]}, version(1, {f"{sys.argv[2]}-{number}": "[]" for number in range(2000)}))
    print("written", flush=True)
except DataError as error:
    print(error.problems[0].code, flush=True)
"""
    writers = [child(script, address, name) for name in ("one", "two")]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n", writer.communicate()
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    said = sorted(writer.communicate()[0].strip() for writer in writers)
    assert said == ["store-exists", "written"]
    with open_store(address) as opened:
        assert {row[1][:3] for row in rows(opened.records())} == {opened.meta()["title"]}


@pytest.mark.usefixtures("impatient")
def test_who_waits_too_long_is_told(store: Store, address: str) -> None:
    with open_store(address) as other:
        store._begin()
        statement(store, 'INSERT INTO {versions} SELECT * FROM {versions} WHERE "version" > ?', 99)
        store._write(version(2), shared._prepare(version(2)), "x")
        with refused("store-busy"):
            other.append(version(2))
        store._rollback()
        other.append(version(2))
    assert store.head() == 2


# ---- layouts --------------------------------------------------------------------------------------------------


@pytest.fixture
def old(address: str) -> str:
    """The address of a store as the first Hedgerow made them."""
    with open_store(address, create=True) as made:
        made.steps = STEPS[:1]
        made.start(META_GIVEN, version(1))
        assert made.meta()["schema"] == "1"
        with pytest.raises(HedgerowError):
            statement(made, "DELETE FROM {erasures}")
    return address


def test_an_older_store_is_read_as_it_is(old: str) -> None:
    with open_store(old) as opened:
        assert opened.erasures() == []
        assert opened.check_chain() == []
        assert len(rows(opened.records())) == 4
        assert opened.meta()["schema"] == "1"


def test_an_older_store_is_brought_up_to_date_by_writing(old: str) -> None:
    with open_store(old) as opened:
        before = opened.versions()
        opened.append(version(2))
        assert opened.meta() == {**META_GIVEN, "format": "hedgerow-store", "schema": str(len(STEPS))}
        assert opened.versions()[:1] == before
        assert opened.check_chain() == []
        assert opened.erase(["a"]) == 3
        assert [entry.rows for entry in opened.erasures()] == [3]


def test_erasing_brings_an_older_store_up_to_date_too(old: str) -> None:
    with open_store(old) as opened:
        assert opened.erase(["a"]) == 2
        assert opened.meta()["schema"] == str(len(STEPS))


def test_a_failed_change_does_not_bring_an_older_store_up_to_date(old: str) -> None:
    with open_store(old) as opened:
        good = version(2)
        with pytest.raises(ValueError, match="two things"):
            opened.append(NewVersion(**{**vars(good), "groups": pa.concat_tables([good.groups, good.groups])}))
        assert opened.meta()["schema"] == "1"
        assert opened.head() == 1
        opened.append(good)


def test_two_may_bring_an_older_store_up_to_date(old: str) -> None:
    with open_store(old) as one, open_store(old) as two:
        one.append(version(2))
        two.append(version(3))
        assert two.meta()["schema"] == str(len(STEPS))


def test_a_newer_store_is_left_alone(store: Store, address: str) -> None:
    statement(store, 'UPDATE {meta} SET "value" = ? WHERE "name" = ?', str(len(STEPS) + 1), "schema")
    with refused("store-newer"):
        open_store(address)
    for write in (lambda: store.append(version(2)), lambda: store.erase(["a"])):
        with refused("store-newer"):
            write()
    assert len(rows(store.all_places())) == 4


@pytest.mark.parametrize("said", [" ", "two", "0", "-1", "²"])
def test_a_store_that_does_not_say_its_layout_is_damaged(store: Store, address: str, said: str) -> None:
    statement(store, 'UPDATE {meta} SET "value" = ? WHERE "name" = ?', said, "schema")
    with refused("store-damaged"):
        open_store(address)


# ---- the chain ------------------------------------------------------------------------------------------------

TAMPERED: dict[str, tuple[str, list[int]]] = {
    "counts": ("""UPDATE {versions} SET "counts" = '{{}}' WHERE "version" = 2""", [2]),
    "spaces": ("""UPDATE {versions} SET "audit" = '{{ }}' WHERE "version" = 2""", [2]),
    "not JSON": ("""UPDATE {versions} SET "audit" = 'x' WHERE "version" = 3""", [3]),
    "verb": ("""UPDATE {versions} SET "verb" = 'create' WHERE "version" = 3""", [3]),
    "parent": ('UPDATE {versions} SET "parent" = NULL WHERE "version" = 3', [3]),
    "chain": ("""UPDATE {versions} SET "chain" = 'x' WHERE "version" = 2""", [2, 3]),
    "previous": ("""UPDATE {versions} SET "previous" = '' WHERE "version" = 2""", [2]),
    "size": ('UPDATE {groups} SET "size" = 9 WHERE "version" = 1 AND "number" = 1', [1]),
    "shown": ("""UPDATE {groups} SET "shown" = '[]' WHERE "version" = 4 AND "number" = 1""", [4]),
    "less": ('DELETE FROM {groups} WHERE "version" = 2 AND "number" = 0', [2]),
    "more": ("""INSERT INTO {groups} VALUES (3, 9, '', '', 1, '')""", [3]),
    "nobody's": ("""INSERT INTO {groups} VALUES (9, 9, '', '', 1, '')""", [9]),
    "gone": ('DELETE FROM {versions} WHERE "version" = 3', [3, 4]),
    "first gone": ('DELETE FROM {versions} WHERE "version" = 1', [1, 2]),
    "time": ("""UPDATE {versions} SET "made_at" = 'x' WHERE "version" = 2""", []),
    "private": ("DELETE FROM {places}", []),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_what_was_changed_afterwards_is_found(store: Store, what: str) -> None:
    for number in (2, 3, 4):
        store.append(version(number))
    assert store.check_chain() == []
    query, found = TAMPERED[what]
    statement(store, query)
    assert store.check_chain() == found


def test_what_is_not_readable_is_said_to_be_damaged(store: Store) -> None:
    for text in ("{", "[1]"):
        statement(store, 'UPDATE {versions} SET "facts" = ?', text)
        with refused("store-damaged"):
            store.versions()


def test_the_chain_depends_on_what_is_written_only(postgres: str, tmp_path: Path) -> None:
    chains = []
    places = [str(tmp_path / "one"), str(tmp_path / "two"), f"{postgres}&schema=chain_{os.getpid()}"]
    for turned, place in enumerate(places):
        with open_store(place, create=True) as made:
            groups = {1: 2, 0: 2, 5: 7}
            ordered = dict(sorted(groups.items())) if turned else groups
            made.start(
                {"place": place}, version(1, groups=ordered, facts=dict([("a", 1), ("b", 2)][:: -1 if turned else 1]))
            )
            made.append(version(2, {place: "[]"}))
            chains.append([row.chain for row in made.versions()])
    assert chains[0] == chains[1] == chains[2]


def test_the_chain_can_be_followed_without_hedgerow(store: Store) -> None:
    store.append(version(2))
    chain = ""
    for row in store.versions():
        lines = [
            json.dumps([row["number"], row["shown"], row["region"], row["size"], row["counts"]], separators=(",", ":"))
            + "\n"
            for row in store.all_groups().filter(pc.field("version") == row.number).to_pylist()
        ]
        groups = hashlib.sha256("".join(lines).encode()).hexdigest()
        said = {**vars(row), "version": row.number}
        for name in ("counts", "scores", "facts", "verification", "audit"):
            said[name] = json.dumps(said[name], sort_keys=True, separators=(",", ":"))
        for name in ("number", "made_at", "previous", "chain"):
            del said[name]
        public = json.dumps(said, sort_keys=True, separators=(",", ":"))
        chain = hashlib.sha256(f"{chain}\n{public}\n{groups}".encode()).hexdigest()
        assert row.chain == chain


# ---- erasing --------------------------------------------------------------------------------------------------


def test_erased_people_are_gone_from_every_version(store: Store) -> None:
    store.append(version(2))
    store.append(version(3, {"a": '["changed"]'}))
    assert store.erase(["a", "c", "a", "nobody"]) == 2 + 3 + 2
    for number in (1, 2, 3):
        assert {"a", "c"}.isdisjoint(store.records(number)["key"].to_pylist() + store.places(number)["key"].to_pylist())
    assert len(rows(store.all_groups())) == 6
    assert store.check_chain() == []
    (entry,) = store.erasures()
    assert (entry.number, entry.head, entry.rows) == (1, 3, 7)
    assert store.erase(["b"]) == 2
    assert [(entry.number, entry.rows) for entry in store.erasures()] == [(1, 7), (2, 2)]
    assert store.erase(["b"]) == store.erase([]) == 0
    assert len(store.erasures()) == 2
    store.append(version(4))
    assert store.check_chain() == []


@pytest.mark.usefixtures("impatient")
def test_an_erasure_that_fails_removes_nothing(store: Store, address: str) -> None:
    with open_store(address) as other:
        store._begin()
        store._delete(PLACES, '["a"]')
        with refused("store-busy"):
            other.erase(["a"])
        store._rollback()
    assert len(rows(store.places())) == 4
    assert store.erasures() == []


def test_no_byte_of_an_erased_person_is_left_in_the_file(tmp_path: Path) -> None:
    # Small pages that split often: overwriting alone leaves copies behind here.
    rng, path = random.Random(0), tmp_path / "store"
    people = [f"KEY{number:05d}X" for number in rng.sample(range(100_000), 4000)]
    with open_store(path, create=True) as made:
        for number in range(1, 6):
            some = {key: f'["{key}{"y" * rng.randrange(50, 400)}"]' for key in rng.sample(people, 1500)}
            given = version(number, some, dict.fromkeys(some, (1, 1)))
            made.start({}, given) if number == 1 else made.append(given)
        gone = rng.sample(people, 1000)
        assert made.erase(gone) > 1000
    content = path.read_bytes()
    assert [key for key in gone if key.encode() in content] == []
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    with open_store(path) as opened:
        assert opened.check_chain() == []


# ---- a file ---------------------------------------------------------------------------------------------------


def test_only_its_owner_may_read_the_file(tmp_path: Path) -> None:
    path, empty = tmp_path / "store", tmp_path / "empty"
    empty.touch(0o666)
    before = os.umask(0)
    try:
        for place in (path, empty):
            with open_store(place, create=True) as made:
                made.start({}, version(1))
                made._begin()
                statement(made, "DELETE FROM {places}")
                assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob(f"{place.name}*")} == {0o600}
    finally:
        os.umask(before)


@pytest.mark.parametrize("content", [b"name,age\nann,30\n", b"x" * 10_000, b"SQLite format 3\0" + b"x" * 5000])
def test_a_file_that_is_not_a_store_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "patients.csv"
    path.write_bytes(content)
    for create in (False, True):
        with refused("not-a-store"):
            open_store(path, create=create)
    assert path.read_bytes() == content


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE versions (name, value)")
        other.commit()
        for create in (False, True):
            with refused("not-a-store"):
                open_store(path, create=create)
        for name in ("meta", "groups", "records", "places"):
            other.execute(f"CREATE TABLE {name} (x)")
        other.execute("INSERT INTO meta VALUES (1)")
        other.commit()
    content = path.read_bytes()
    for create in (False, True):
        with refused("not-a-store"):
            open_store(path, create=create)
    assert path.read_bytes() == content


def test_a_file_that_comes_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with open_store(path, create=True) as made:
        path.write_text("mine")
        with refused("not-a-store"):
            made.start({}, version(1))
    assert path.read_text() == "mine"


def test_a_file_that_somebody_clears_away_meanwhile_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store"
    with open_store(path, create=True) as made:
        connect = made._connect  # type: ignore[attr-defined]

        def connect_before_it_goes() -> None:
            connect()
            path.unlink()

        monkeypatch.setattr(made, "_connect", connect_before_it_goes)
        with refused("store-busy"):
            made.start({}, version(1))
        monkeypatch.undo()
        made.start({}, version(1))
    with open_store(path) as opened:
        assert opened.head() == 1


def test_places_that_cannot_hold_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere" / "store")
    with refused("not-a-store"):
        open_store(tmp_path)
    with refused("no-store"):
        open_store(tmp_path / "nowhere" / "store")
    for place in (tmp_path / "nowhere" / "store", tmp_path / "file" / "store", tmp_path / "link"):
        with (
            refused("output") if place.name == "store" else pytest.raises(DataError),
            open_store(place, create=True) as made,
        ):
            made.start({}, version(1))
    with refused("store-address"):
        open_store("")
    with refused("no-file"):
        open_store(tmp_path / ("x" * 5000))


def test_names_that_mean_something_in_an_address_are_paths(tmp_path: Path) -> None:
    for name in ("a?mode=memory", "b#c", "d%41", "é 😀", ":memory:", "file:x"):
        with open_store(tmp_path / name, create=True) as made:
            made.start({}, version(1))
        assert (tmp_path / name).stat().st_size > 0


def test_a_damaged_file_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "store"
    with open_store(path, create=True) as made:
        made.start({}, version(1))
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\x07" * (len(content) - 4096))
    with refused("store-damaged"):
        open_store(path)
    path.write_bytes(content)
    with open_store(path) as opened:
        statement(opened, 'UPDATE {places} SET "cluster" = ?', "text")
        with refused("store-damaged"):
            opened.places()
        statement(opened, 'UPDATE {records} SET "content" = CAST(? AS TEXT)', b"\xff")
        with refused("store-damaged"):
            opened.records()


def limited(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


FULL = """
try:
    store = open_store(sys.argv[1], create=sys.argv[2] == "create")
    many = {str(number): "[" + "x" * 1000 + "]" for number in range(20000)}
    store.start({}, version(1, many)) if sys.argv[2] == "create" else store.append(version(2, many))
except DataError as error:
    print(error.problems[0].code, "Nothing was changed." in str(error), str(error).count(chr(10)))
"""


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store"
    run = child(FULL, str(path), "create", preexec_fn=limited(1_000_000))
    assert run.communicate() == ("output True 1\n", "")
    assert list(tmp_path.iterdir()) == []
    with open_store(path, create=True) as made:
        made.start({}, version(1))
    run = child(FULL, str(path), "append", preexec_fn=limited(1_000_000))
    assert run.communicate() == ("output True 1\n", "")
    with open_store(path) as opened:
        assert opened.head() == 1
        assert opened.check_chain() == []
        opened.append(version(2))


READ_ONLY = """
import numpy, pyarrow.compute, tempfile
from hedgerow.errors import DataError
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "store")
    with open_store(path, create=True) as made:
        made.start({}, version(1))
    content = path.read_bytes()
    path.chmod(0o444)
    Path(folder).chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65534)  # nothing is forbidden to root
    with open_store(path) as store:
        print(store.head(), store.check_chain(), len(store.places()))
        for write in (lambda: store.append(version(2)), lambda: store.erase(["a"])):
            try:
                write()
            except DataError as error:
                print(error.problems[0].code)
    os.seteuid(os.getuid())
    assert path.read_bytes() == content
    Path(folder).chmod(0o755)
"""


def test_a_store_may_be_read_where_it_may_not_be_written() -> None:
    assert child(READ_ONLY).communicate() == ("1 [] 4\noutput\noutput\n", "")


@pytest.mark.usefixtures("impatient")
def test_an_erased_file_that_cannot_be_written_anew_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store"
    with open_store(path, create=True) as made:
        made.start({}, version(1))
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
            commit = made._commit

            def commit_while_somebody_reads() -> None:
                commit()
                reader.execute("BEGIN")
                reader.execute("SELECT * FROM places").fetchone()

            monkeypatch.setattr(made, "_commit", commit_while_somebody_reads)
            with pytest.raises(DoneBut, match="The rows are erased") as caught:
                made.erase(["a"])
            assert caught.value.problems[0].code == "done-but"
            assert "Nothing was changed" not in str(caught.value)
            reader.execute("ROLLBACK")
        assert "a" not in made.places()["key"].to_pylist()


# ---- a server -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema", ['a"b', "a'; DROP SCHEMA public; --", "Groß 😀", "what? $1", "a.b", " ", "%41", "x" * 63]
)
def test_hostile_names_of_schemas_do_no_harm(postgres: str, schema: str) -> None:
    address = f"{postgres}&schema={quote(schema, safe='')}"
    with open_store(address, create=True) as made:
        made.start({}, version(1))
        made.append(version(2))
        assert made.erase(["a"]) == 3
        assert made.check_chain() == []
    # Not by way of the schema "public": other tests have their tables there.
    assert schemas_named(f"{postgres}&schema=probe_{os.getpid()}", "public") == ["public"]
    with refused("store-exists"):
        open_store(address, create=True)


def test_a_schema_that_is_not_a_store_is_left_alone(postgres: str) -> None:
    address = f"{postgres}&schema=foreign_{os.getpid()}"
    with open_store(address, create=True) as made:
        made._run(f"CREATE SCHEMA {made._schema}")  # type: ignore[attr-defined]
        assert open_store(address, create=True).look() is False
        statement(made, 'CREATE TABLE {meta} ("name" TEXT, "value" TEXT)')
        with refused("store-exists"):
            made.start({}, version(1))
    for create in (False, True):
        with refused("not-a-store"):
            open_store(address, create=create)
    with refused("not-a-store"):
        open_store(f"{postgres}&schema=information_schema")


def test_a_store_may_begin_in_an_empty_schema(postgres: str) -> None:
    address = f"{postgres}&schema=empty_{os.getpid()}"
    with open_store(address, create=True) as made:
        made._run(f"CREATE SCHEMA {made._schema}")  # type: ignore[attr-defined]
        made.start({}, version(1))
        assert made.head() == 1


def test_a_server_that_may_only_be_read(postgres: str) -> None:
    address = f"{postgres}&schema=only_read_{os.getpid()}"
    with open_store(address, create=True) as made:
        made.start({}, version(1))
    with open_store(address + "&options=-c%20default_transaction_read_only%3Don") as opened:
        with refused("output"):
            opened.append(version(2))
        assert opened.head() == 1


def test_a_role_without_rights(postgres: str) -> None:
    address = f"{postgres}&schema=rights_{os.getpid()}"
    with open_store(address, create=True) as made:
        made.start({}, version(1))
        made._run(f"CREATE ROLE stranger_{os.getpid()} LOGIN")
    strange = address.replace("hedgerow@", f"stranger_{os.getpid()}@", 1)
    with refused("no-connection"):
        open_store(strange)
    with open_store(strange + "_other", create=True) as made, refused("no-connection"):
        made.start({}, version(1))


def test_a_lost_connection_leaves_the_last_version_whole(postgres: str) -> None:
    address = f"{postgres}&schema=lost_{os.getpid()}"
    with open_store(address, create=True) as made:
        made.start({}, version(1))
        number = pa.schema([("pid", pa.int64())])
        pid = made._read("SELECT CAST(pg_backend_pid() AS BIGINT) AS pid", number)["pid"][0].as_py()
        commit = made._commit

        def cut_and_commit() -> None:
            with open_store(address) as other:
                kill = "SELECT CAST(CAST(pg_terminate_backend(CAST(? AS INTEGER), 5000) AS INTEGER) AS BIGINT) AS pid"
                assert other._read(kill, number, pid)["pid"][0].as_py() == 1
            commit()

        made._commit = cut_and_commit  # type: ignore[method-assign]
        with refused("no-connection"):
            made.append(version(2))
    with open_store(address) as opened:
        assert opened.head() == 1
        opened.append(version(2))
        assert opened.check_chain() == []


def test_no_password_is_ever_shown(postgres: str) -> None:
    local = postgres.partition("?")[2]
    addresses = [
        "postgresql://ann:hunter2@localhost:1/db",
        "postgresql://ann:hun/ter2@localhost:1/db",
        "postgresql://ann:hun?ter2@localhost:1/db",
        "postgresql://ann:hun@ter2@localhost:1/db",
        "postgresql://ann:hunter2@localhost:hunter2/db",
        "postgresql://localhost:1/db?user=ann&password=hunter2",
        "postgresql://localhost:1/db?password=hun@ter2",
        "postgresql://localhost:1/db?hunter2=1",
        "postgresql://ann:hunter2@[::1/db",
        f"postgresql://ann:hunter2@/postgres?{local}",
        f"postgresql://ann:hunter2@/nowhere?{local}",
        "postgresql://ann:%zzhunter2@localhost:1/db",
    ]
    for address in addresses:
        with refused("no-connection") as caught:
            open_store(address)
        assert not re.search("hun|ter2|%zz", str(caught.value)), str(caught.value)
        place = read_address(address)
        assert not re.search("hun.?ter2|%zz", repr(place) + str(getattr(place, "shown", "")))


def test_why_a_server_cannot_be_reached_is_said(postgres: str) -> None:
    for address, reason in (
        (postgres.replace("/postgres?", "/nowhere?"), "no such database"),
        (postgres.replace("hedgerow@", "nobody@"), "no such role"),
        ("postgresql://localhost:1/db", "no server is listening"),
        ("postgresql:///db?host=/nowhere", "no server is listening"),
    ):
        with refused("no-connection") as caught:
            open_store(address)
        assert reason in str(caught.value)


def test_addresses_are_understood() -> None:
    assert read_address("a/b.store") == Path("a/b.store")
    plain = read_address("postgres://h/db")
    assert isinstance(plain, StoreAddress)
    assert (plain.url, plain.schema) == ("postgres://h/db?connect_timeout=10", "hedgerow")
    full = read_address("postgresql://u:p@h:5433/db?sslmode=require&schema=a%20b&connect_timeout=3")
    assert isinstance(full, StoreAddress)
    assert (full.url, full.schema) == ("postgresql://u:p@h:5433/db?sslmode=require&connect_timeout=3", "a b")
    assert full.shown == "postgresql://u@h:5433/db?schema=a%20b"
    assert "p@" not in repr(full)
    for wrong in ("", "a\0b", "mysql://h/db", "sqlite:///x", "postgresql://h/db?schema=", "postgresql://h/\0"):
        with refused("store-address"):
            read_address(wrong)
    for schema in ("a%00b", "pg_x", "x" * 64, "é" * 32, "a&schema=b"):
        with refused("store-address"):
            read_address(f"postgresql://h/db?schema={schema}")


def test_without_the_driver_the_way_to_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql.dbapi", None)
    with refused("usage") as caught:
        open_store("postgresql://h/db")
    assert "[postgres]'" in str(caught.value)


def test_importing_the_store_loads_no_driver() -> None:
    code = "import sys, hedgerow.maintenance.store; print([name for name in ('pyarrow', 'numpy', 'adbc_driver_manager') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_closed_store_says_so(store: Store) -> None:
    store.close()
    store.close()
    with refused("no-store"):
        store.head()
    assert "clinic" in repr(store)
