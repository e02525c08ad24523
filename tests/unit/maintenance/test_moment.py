"""The answer of a command is always true: after exit codes 0 and 4 something has changed, after any other nothing has.

``tests/robustness`` interrupts and fails commands at every call of the system; here are the rules, one by one.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, Problem
from hedgerow.maintenance import create_release, open_release
from hedgerow.maintenance.store import open_store
from hedgerow.maintenance.store.sqlite import SqliteStore
from hedgerow.outside.outputs import moment

PLAN = hr.Plan.from_dict(
    {
        "key": "id",
        "attributes": {"age": {"role": "quasi-identifier", "hierarchy": {"bands": [10, 20]}}},
        "privacy": {"k": 3},
    }
)


def people(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table({"id": [f"p{n}" for n in numbers], "age": [str(20 + n * 7 % 40) for n in numbers]})


@pytest.fixture(autouse=True)
def nobody_wants_an_end() -> Iterator[None]:
    yield
    moment.begin()
    moment.Interrupted.wanted = False


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with create_release(people(0, 12), PLAN, tmp_path / "people.store", threads=1) as release:
        release.insert(people(12, 4))
    return tmp_path / "people.store"


# -- the account ------------------------------------------------------------------------------------------------------


def test_a_signal_waits_until_it_is_known_what_happened() -> None:
    moment.begin()
    with pytest.raises(moment.Interrupted), moment.undisturbed():  # noqa: PT012
        moment.interrupt()
        moment.record("it is there")
    assert moment.done() == ("it is there",)
    with pytest.raises(moment.Interrupted):
        moment.interrupt()
    moment.answer()
    moment.interrupt()  # the answer stands


def test_a_second_signal_ends_what_may_hang_and_leaves_it_in_doubt() -> None:
    moment.begin()
    with pytest.raises(moment.Interrupted), moment.undisturbed("Perhaps it is there."):  # noqa: PT012
        moment.interrupt()
        moment.interrupt()
    assert (moment.done(), moment.doubt()) == ((), "Perhaps it is there.")


def test_what_is_put_in_place_where_nobody_sees_it_does_not_count() -> None:
    moment.begin()
    with moment.rehearsal():
        moment.record("a release in a scratch folder")
    assert moment.done() == ()
    with pytest.raises(DataError, match="Nothing was changed"), moment.rehearsal():
        raise hr.DoneBut(Problem("done-but", "It is in place, but the disk did not confirm it."))


# -- erasing is one transaction ---------------------------------------------------------------------------------------


def test_erasing_that_fails_has_deleted_nobody(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = store.read_bytes()

    def full(*_: Any) -> int:
        raise DataError(Problem("output", "The disk is full. Nothing was changed."))

    monkeypatch.setattr(SqliteStore, "_delete", full)
    with open_release(store, threads=1) as release:
        with pytest.raises(DataError, match="Nothing was changed"):
            release.erase(["p3"])
        assert release.head == 2
    assert store.read_bytes() == before


def test_an_erased_file_that_was_not_written_anew_is_so_the_next_time(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment.begin()
    with open_release(store, threads=1) as release:
        with monkeypatch.context() as patch:
            patch.setattr(SqliteStore, "_forget", lambda _: (_ for _ in ()).throw(moment.Interrupted()))
            with pytest.raises(moment.Interrupted):
                release.erase(["p3"])
        assert moment.done() == (f"they are erased from the store: {store}",)
        (erasure,) = release.erasures()
        assert release.erase(["p3"]) == 0  # the same once more
        assert (release.head, release.erasures()) == (3, [erasure])
        with pytest.raises(DataError, match="in no version"):
            release.erase(["p3", "p4"])  # not what was asked before
        with pytest.raises(DataError, match="in no version"):
            release.erase(["p4", "nobody"])


# -- a retry is recognised --------------------------------------------------------------------------------------------


def test_the_same_insertion_and_deletion_once_more_change_nothing(store: Path) -> None:
    with open_release(store, threads=1) as release:
        assert release.insert(people(12, 4)).number == 2
        with pytest.raises(DataError, match="already"):
            release.insert(people(12, 3))  # other records
        older = people(12, 4).set_column(1, "age", pa.array(["33"] * 4))
        with pytest.raises(DataError, match="already"):
            release.insert(older)
        assert release.delete(keys=["p1", "p2"]).number == 3
        assert release.delete(keys=["p2", "p1"]).number == 3
        for keys in (["p1"], ["p1", "p3"], ["p9999"]):
            with pytest.raises(DataError, match="not in the release"):
                release.delete(keys=keys)
        with pytest.raises(DataError, match="already"):
            release.insert(people(12, 4))  # not the newest version any more
        assert release.head == 3


def test_the_same_creation_once_more_opens_the_store(tmp_path: Path) -> None:
    place = tmp_path / "people.store"
    create_release(people(0, 12), PLAN, place, threads=1).close()
    before = place.read_bytes()
    with create_release(people(0, 12), PLAN, place, threads=1) as release:
        assert release.head == 1
    for table, plan in ((people(0, 11), PLAN), (people(0, 12), PLAN.replace(privacy={"k": 4}))):
        with pytest.raises(DataError, match="There is a store already"):
            create_release(table, plan, place, threads=1)
    assert place.read_bytes() == before
    with open_release(place, threads=1) as release:
        release.insert(people(12, 2))
    with pytest.raises(DataError, match="There is a store already"):
        create_release(people(0, 12), PLAN, place, threads=1)


# -- a commit that fails ----------------------------------------------------------------------------------------------


def failing(when: str) -> Callable[[SqliteStore], None]:
    def commit(store: SqliteStore) -> None:
        assert store._connection is not None
        if when == "after":
            store._connection.execute("COMMIT")
        raise store._what_it_means(sqlite3.OperationalError())

    return commit


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_commit_that_failed_is_looked_for(store: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    moment.begin()
    with open_release(store, threads=1) as release:
        monkeypatch.setattr(SqliteStore, "_commit", failing(when))
        for change in (lambda: release.insert(people(16, 2)), lambda: release.erase(["p3"])):
            with pytest.raises(hr.DoneBut if when == "after" else DataError) as caught:
                change()
            assert caught.value.problems[0].code == ("done-but" if when == "after" else "store-damaged")
    assert len(moment.done()) == (2 if when == "after" else 0)
    with open_store(store) as opened:
        assert opened.head() == (4 if when == "after" else 2)
        assert ("p3" in opened.places()["key"].to_pylist()) == (when == "before")


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_first_commit_that_failed_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    monkeypatch.setattr(SqliteStore, "_commit", failing(when))
    with pytest.raises(hr.DoneBut if when == "after" else DataError):
        create_release(people(0, 12), PLAN, tmp_path / "people.store", threads=1)
    monkeypatch.undo()
    assert (tmp_path / "people.store").exists() == (when == "after")
    if when == "after":
        with open_release(tmp_path / "people.store", threads=1) as release:
            assert release.check()["verification"]["kept"]


def test_a_commit_nobody_knows_about_is_left_in_doubt(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: Any) -> bool:
        raise DataError(Problem("no-connection", "The server is gone."))

    moment.begin()
    with open_release(store, threads=1) as release:
        monkeypatch.setattr(SqliteStore, "_commit", failing("before"))
        monkeypatch.setattr(SqliteStore, "_was_committed", gone)
        with pytest.raises(hr.DoneBut) as caught:
            release.insert(people(16, 2))
    assert (caught.value.exit_code, caught.value.problems[0].code) == (4, "in-doubt")
    assert "version 3" in moment.doubt()


# -- the command line -------------------------------------------------------------------------------------------------

COMMAND = """
import os, signal, sys
from hedgerow.cli import run
from hedgerow.{module} import {owner} as owner

kept = owner.{name}

def after(*words, **more):
    found = kept(*words, **more)
    os.kill(os.getpid(), signal.{sign})
    return found

owner.{name} = after
run.run(sys.argv[1:])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["id,age", *(f"p{n},{20 + n * 7 % 40}" for n in range(12))]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "new.csv").write_text("id,age\np12,24\np13,31\n")
    (tmp_path / "plan.yaml").write_text(PLAN.to_yaml())
    return tmp_path


def run(folder: Path, code: str, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, cwd=folder, text=True, check=False, timeout=120, stderr=subprocess.PIPE, **more)


def interrupted_after(module: str, owner: str, name: str, sign: str = "SIGTERM") -> str:
    return COMMAND.format(module=module, owner=owner, name=name, sign=sign)


def test_an_interrupted_command_says_what_is_done(folder: Path) -> None:
    commit = interrupted_after("maintenance.store.sqlite", "SqliteStore", "_commit")
    put = interrupted_after("outside.outputs", "folder", "_put", "SIGINT")
    store = ("--store", "s.store", "--threads", "1")
    cases: list[tuple[str, tuple[str, ...], str]] = [
        (commit, ("release", "create", "data.csv", "plan.yaml", *store), "version 1 is in the store"),
        (commit, ("release", "insert", "new.csv", *store), "version 2 is in the store"),
        (commit, ("release", "erase", "--yes", "--keys", "p3", *store), "they are erased"),
        (put, ("anonymize", "data.csv", "plan.yaml", "-o", "out"), "the release is in place"),
        (put, ("anonymize", "data.csv", "plan.yaml", "-o", "out", "--replace"), "the release is in place"),
    ]
    for code, words, what in cases:
        done = run(folder, code, *words, stdout=subprocess.DEVNULL)
        assert (done.returncode, what in done.stderr) == (4, True), (words, done.stderr)
        assert "nothing was" not in done.stderr
    plain = "from hedgerow.cli import main; main()"
    again = run(folder, plain, *cases[2][1], "--json", stdout=subprocess.PIPE)
    assert (again.returncode, json.loads(again.stdout)["rows"]) == (0, 0)
    assert hr.verify(folder / "out", folder / "data.csv").kept
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []
    with open_release(folder / "s.store") as release:
        assert [row.verb for row in release.history()] == ["create", "insert", "delete"]


def test_an_interrupt_before_the_moment_has_changed_nothing(folder: Path) -> None:
    writing = interrupted_after("maintenance.store.sqlite", "SqliteStore", "_insert")
    done = run(folder, writing, "release", "create", "data.csv", "plan.yaml", "--store", "s.store")
    assert (done.returncode, done.stderr) == (130, "hedgerow: interrupted; nothing was written\n")
    assert not (folder / "s.store").exists()


def test_what_cannot_be_printed_is_done_all_the_same(folder: Path) -> None:
    plain = "from hedgerow.cli import main; main()"
    words = ("anonymize", "data.csv", "plan.yaml", "--json", "-o")
    with Path("/dev/full").open("w") as full:
        done = run(folder, plain, *words, "full", stdout=full)
    assert (done.returncode, "the release is in place" in done.stderr) == (4, True), done.stderr
    assert "could not be printed" in done.stderr
    reader, writer = os.pipe()
    os.close(reader)
    done = run(
        folder, plain, *words, "nobody", stdout=writer, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    )
    os.close(writer)
    assert (done.returncode, "the release is in place" in done.stderr) == (4, True), done.stderr
    assert hr.verify(folder / "full").kept
    assert hr.verify(folder / "nobody").kept
