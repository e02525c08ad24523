"""Processes that change a release are killed (SIGKILL), over and over; the last committed version is whole every time.

Starting Python and loading kernels takes seconds, so one process that has everything at hand (the nursery) forks those
that are to be killed. What a process does at version n follows from n alone: the test knows what must be in the store.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import DataError
from hedgerow.maintenance import MaintainedRelease, create_release, open_release
from hedgerow.maintenance.store import open_store
from hedgerow.maintenance.store import sqlite as sqlite_store
from hedgerow.maintenance.store.postgres import PostgresStore
from hedgerow.maintenance.store.sqlite import SqliteStore
from hedgerow.plan import Plan
from tests.processes.forks import SharedReaders, nursery_of

pytestmark = pytest.mark.xdist_group("kill")

NUMBERS = itertools.count(1)
KILLS = 24
PATIENCE = 120.0  # seconds until a process counts as stuck
DELETED = -3
COLUMNS = ("age", "city", "ill")
Model = dict[str, tuple[str, ...]]


def the_plan() -> Plan:
    tree = {"all": {"A": ["a1", "a2"], "B": ["b1", "b2"]}}
    age = {"role": "quasi-identifier", "intervals": "free", "limit": {"width": 25}}
    city = {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "limits": ["A", "B"]}
    attributes = {"age": age, "city": city, "ill": "sensitive"}
    return Plan.from_dict({"key": "id", "attributes": attributes, "privacy": {"k": 2, "p": 2}})


# ---- what happens at each version --------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """How one version comes from the one before, and what is in it then."""

    verb: str
    rows: Model
    after: Model

    def apply(self, release: MaintainedRelease) -> None:
        if self.verb == "insert":
            release.insert(table(self.rows))
        elif self.verb == "update":
            release.update(table(self.rows))
        elif self.verb == "delete":
            release.delete(keys=list(self.rows))
        elif self.verb == "erase":
            release.erase(list(self.rows))
        elif self.verb == "restart" or release.head == release.optimize().number:
            release.restart()


def table(rows: Model) -> pa.Table:
    cells = zip(*rows.values(), strict=True)
    return pa.table({"id": list(rows), **dict(zip(COLUMNS, map(list, cells), strict=True))})


@functools.cache
def step(number: int) -> Step:
    """What happens at a version; the first is the creation."""
    rng = random.Random(number)

    def person() -> tuple[str, ...]:
        ages, cities, ills = range(20, 60), ("a1", "a2", "b1", "b2"), ("flu", "cold", "gout")
        return str(rng.choice(ages)), rng.choice(cities), rng.choice(ills)

    if number == 1:
        first = {f"person {at}": person() for at in range(16)}
        return Step("create", first, first)
    before = step(number - 1).after
    verbs = ["insert"] * 4 + ["update"] * 2 + ["optimize", "restart"] + ["delete", "delete", "erase"]
    verb = rng.choice(verbs if len(before) > 12 else verbs[:8])
    if verb == "insert":
        rows = {f"person {number}.{at}": person() for at in range(rng.randint(1, 4))}
        return Step(verb, rows, {**before, **rows})
    some = rng.sample(sorted(before), rng.randint(1, 3))
    if verb == "update":
        rows = {key: (person()[0], before[key][1], "mumps" if before[key][2] == "flu" else "flu") for key in some}
        return Step(verb, rows, {**before, **rows})
    if verb in ("delete", "erase"):
        rows = {key: before[key] for key in some}
        return Step(verb, rows, {key: row for key, row in before.items() if key not in rows})
    return Step(verb, {}, before)


# ---- the nursery: runs in a process of its own ----------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """How a process is to live and die."""

    address: str
    begins: int = 1  # it is killed some time after it began to write for the so-many-th time …
    delay: float = 0.0  # … seconds later
    statement: int = 0  # or else, it kills itself before the so-many-th statement that writes
    little_memory: bool = False  # SQLite then writes to its file long before it commits


def nursery() -> None:
    """Fork processes as standard input orders, see them killed, and say what became of them."""
    warm_up()
    readers = SharedReaders()
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(live_and_die(Order(**json.loads(line)), readers)), flush=True)


def warm_up() -> None:
    """Load everything that a change needs: what is forked has it then."""
    with (
        tempfile.TemporaryDirectory() as folder,
        create_release(table(step(1).after), the_plan(), f"{folder}/warm.store", threads=1) as release,
    ):
        for at in range(2, 12):
            step(at).apply(release)


def live_and_die(order: Order, readers: SharedReaders) -> dict[str, Any]:
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        try:
            readers.use()
            live(order, functools.partial(say, theirs))
        except BaseException:
            say(theirs, "failed", traceback.format_exc())
        finally:
            os._exit(1)
    os.close(theirs)
    said: list[list[Any]] = []
    text, stuck = b"", False
    begins = 0 if order.statement else order.begins
    while True:
        if not select.select([ours], [], [], PATIENCE)[0]:
            stuck = True
            break
        piece = os.read(ours, 65536)
        text += piece
        said = [json.loads(line) for line in text.split(b"\n")[:-1]]
        if not piece:
            break
        if begins and sum(word == "begin" for word, _ in said) >= begins:
            begins = 0
            time.sleep(order.delay)
            os.kill(child, signal.SIGKILL)
    os.kill(child, signal.SIGKILL)  # who is dead already does not mind: nobody has waited for it yet
    _, status = os.waitpid(child, 0)
    os.close(ours)
    return {"said": said, "killed": os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, "stuck": stuck}


def say(pipe: int, word: str, what: Any) -> None:
    os.write(pipe, json.dumps([word, what]).encode() + b"\n")


def live(order: Order, tell: Callable[[str, Any], None]) -> None:
    """Make one version after the other, as long as it lasts."""
    watch_writing(order, tell)
    if order.little_memory:
        sqlite_store.SETTINGS = (*sqlite_store.SETTINGS, "PRAGMA cache_size = 1", "PRAGMA cache_spill = 1")  # type: ignore[assignment]
    try:
        release = open_release(order.address, threads=1)
    except DataError as error:
        if error.problems[0].code != "no-store":
            raise
        release = create_release(table(step(1).after), the_plan(), order.address, threads=1)
    while True:
        step(release.head + 1).apply(release)


def watch_writing(order: Order, tell: Callable[[str, Any], None]) -> None:
    """Tell when writing begins and ends; and end by its own hand at a statement, if so ordered."""
    statements = itertools.count(1)
    writing: list[str] = []

    def told(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(store: Any, *args: Any) -> Any:
            tell("begin", name)
            writing.append(name)
            result = method(store, *args)
            writing.clear()
            tell("end", name)
            return result

        return wrapped

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(store: Any, *args: Any) -> Any:
            if writing and next(statements) == order.statement:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(store, *args)

        return wrapped

    def connected(connect: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(store: Any) -> None:
            connect(store)
            query = "SELECT CAST(pg_backend_pid() AS BIGINT) AS pid"
            tell("server", store._read(query, pa.schema([("pid", pa.int64())]))["pid"][0].as_py())

        return wrapped

    for kind in (SqliteStore, PostgresStore):
        for name in ("start", "append", "erase"):
            setattr(kind, name, told(name, getattr(kind, name)))
        for name in ("_run", "_insert", "_delete"):
            setattr(kind, name, counted(getattr(kind, name)))
    PostgresStore._connect = connected(PostgresStore._connect)  # type: ignore[method-assign]


# ---- the test's side ------------------------------------------------------------------------------------------


@dataclass
class Nursery:
    """The process that forks."""

    process: subprocess.Popen[str]

    def order(self, order: Order) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(vars(order)) + "\n")
        self.process.stdin.flush()

    def outcome(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the nursery has ended"
        found: dict[str, Any] = json.loads(line)
        failures = [what for word, what in found["said"] if word == "failed"]
        assert not failures, failures[0]
        assert not found["stuck"]
        assert found["killed"]
        return found


@pytest.fixture(scope="module")
def forks() -> Iterator[Nursery]:
    with nursery_of("tests.robustness.test_kills", PATIENCE) as process:
        yield Nursery(process)


@dataclass
class Life:
    """A store, and what is known of it."""

    address: str
    head: int = 0
    kills: int = 0
    chains: list[str] = field(default_factory=list)
    erased: set[int] = field(default_factory=set)

    def check(self, said: list[list[Any]]) -> bool:
        """What was committed is there and whole; returns whether the process died while it wrote."""
        self.kills += 1
        began = [what for word, what in said if word == "begin"]
        ended = [what for word, what in said if word == "end"]
        if not self.head and not ended and not self.begun():
            return bool(began)
        with open_release(self.address) as release:
            self.check_release(release, self.head + len(ended), self.head + len(began))
        return len(began) > len(ended)

    def begun(self) -> bool:
        """Whether the first version was committed; if not, there is nothing that could be opened."""
        with contextlib.suppress(DataError), open_store(self.address, create=True):
            return False
        return True

    def check_release(self, release: MaintainedRelease, least: int, most: int) -> None:
        history = release.history()
        head = len(history)
        assert least <= head <= most
        assert [row.number for row in history] == list(range(1, head + 1))
        assert [row.chain for row in history][: len(self.chains)] == self.chains
        for row in history[self.head :]:
            self.check_counts(row.number, row.verb, row.counts)
        checked = release.check()
        assert (checked["chain"], checked["head"]) == (True, head)
        assert checked["verification"]["kept"]
        self.head, self.chains = head, [row.chain for row in history]
        self.check_records()

    def check_counts(self, number: int, verb: str, counts: dict[str, Any]) -> None:
        made = step(number)
        assert verb in {"erase": ("delete",), "optimize": ("optimize", "restart")}.get(made.verb, (made.verb,))
        assert counts["records"] == len(made.after)
        parts = ("released", "held_back", "withdrawn", "withheld")
        assert counts["records"] == sum(counts[part] for part in parts)
        if number > 1:
            assert len(made.after) == len(step(number - 1).after) + counts["inserted"] - counts["deleted"]

    def check_records(self) -> None:
        """Nobody is lost, nobody is invented."""
        with open_store(self.address) as store:
            places, records = store.places(), store.records()
        clusters = dict(zip(places["key"].to_pylist(), places["cluster"].to_pylist(), strict=True))
        contents = dict(zip(records["key"].to_pylist(), records["content"].to_pylist(), strict=True))
        living = {key: tuple(json.loads(contents[key])) for key, at in clusters.items() if at != DELETED}
        assert living == step(self.head).after

    def finish(self, folder: Path) -> None:
        """The next changes work, and what comes out of the store verifies."""
        with open_release(self.address) as release:
            for _ in range(2):
                step(release.head + 1).apply(release)
            self.check_release(release, self.head + 2, self.head + 2)
            out = folder / f"out-{next(NUMBERS)}"
            link = folder / f"{out.name}.csv"
            release.export(None, out, link=link)
        original = table(dict(sorted(step(self.head).after.items())))
        hr.verify(out, original, link=link).raise_if_broken()


def orders(seed: int) -> Iterator[Callable[[str], Order]]:
    """Ways to die, most of them while writing."""
    rng = random.Random(seed)
    while True:
        delay = rng.choice([0.0, rng.uniform(0, 0.01), rng.uniform(0, 0.05)])  # writing takes about 0.02
        statement = rng.choice([0, 0, rng.randint(1, 14)])
        yield functools.partial(
            Order, begins=rng.choice([1, 1, 1, 2]), delay=delay, statement=statement, little_memory=rng.random() < 0.5
        )


def kill(forks: Nursery, lives: list[Life], times: int, seed: int, wait: Callable[[list[list[Any]]], None]) -> int:
    """Kill processes, each time at the next store; while one works on it, the one before is looked at."""
    pending: tuple[Life, list[list[Any]]] | None = None
    writing = 0
    for life, order in zip(itertools.islice(itertools.cycle(lives), times), orders(seed), strict=False):
        forks.order(order(life.address))
        if pending is not None:
            writing += pending[0].check(pending[1])
        said = forks.outcome()["said"]
        wait(said)
        pending = life, said
    assert pending is not None
    return writing + pending[0].check(pending[1])


def test_a_file_is_whole_after_every_kill(
    forks: Nursery, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    lives = [Life(str(tmp_path / f"{name}.store")) for name in ("one", "two")]
    writing = kill(forks, lives, KILLS, 0, lambda said: None)
    record_property("killed while writing", writing)
    assert sum(life.kills for life in lives) == KILLS
    for life in lives:
        life.finish(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.store*")) == ["one.store", "two.store"]


def test_a_database_is_whole_after_every_kill_of_a_client(
    forks: Nursery, tmp_path: Path, postgres: str, record_property: Callable[[str, object], None]
) -> None:
    from adbc_driver_postgresql import dbapi

    lives = [Life(f"{postgres}&schema=kill_{os.getpid()}_{next(NUMBERS)}") for _ in range(2)]

    with contextlib.closing(dbapi.connect(postgres, autocommit=True)) as connection:

        def wait(said: list[list[Any]]) -> None:
            """Until the server has noticed: it still does what the dead client had asked for."""
            servers = [what for word, what in said if word == "server"]
            until = time.monotonic() + PATIENCE
            while servers:
                with connection.cursor() as cursor:
                    cursor.execute("SELECT CAST(pid AS BIGINT) AS pid FROM pg_stat_activity")
                    running = {row[0] for row in cursor.fetchall()}
                servers = [pid for pid in servers if pid in running]
                assert time.monotonic() < until
                time.sleep(0.01 if servers else 0)

        writing = kill(forks, lives, KILLS, 99, wait)
    record_property("killed while writing", writing)
    assert sum(life.kills for life in lives) == KILLS
    for life in lives:
        life.finish(tmp_path)
