"""Clients that make a table on a server are killed (SIGKILL) at any moment; nothing half-made is ever there.

Starting Python and loading kernels takes seconds, so one process that has everything at hand (the nursery) forks those
that are to be killed.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.engines.postgres import PostgresSession
from hedgerow.plan import Plan
from tests.engines.servers import ask, at, execute, fresh, load, relations
from tests.processes.forks import nursery_of

pytestmark = pytest.mark.xdist_group("kill")

PATIENCE = 60.0
NAME = "to_be_killed"
KILLS = 6
NEVER = 1_000_000


def people() -> pa.Table:
    rows = range(300)
    return pa.table(
        {"age": [20 + i * 7 % 50 for i in rows], "ward": ["abc"[i % 3] for i in rows], "ill": [i % 4 for i in rows]}
    )


def plan(k: int) -> Plan:
    age = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10, 20]}}
    return Plan.from_dict(
        {"attributes": {"age": age, "ward": "quasi-identifier", "ill": "sensitive"}, "privacy": {"k": k}}
    )


# ---- the nursery: runs in a process of its own -----------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """What a process is to do, and when it is to die."""

    source: str
    target: str
    k: int
    delay: float = 0.0  # seconds after it began …
    statement: int = 0  # … or else before its so-many-th statement, by its own hand


def nursery() -> None:
    """Fork processes as standard input orders, kill them, and say what became of them."""
    hr.anonymize(people(), plan(3))  # loads kernels
    import adbc_driver_postgresql.dbapi  # noqa: F401 - for those that are forked

    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(live_and_die(Order(**json.loads(line)))), flush=True)


def live_and_die(order: Order) -> dict[str, Any]:
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        try:
            said = f"done {live(order, theirs)}"
        except BaseException:
            said = traceback.format_exc()
        os.write(theirs, said.encode())
        os._exit(0)
    os.close(theirs)
    assert select.select([ours], [], [], PATIENCE)[0]
    text = os.read(ours, 1)  # it begins
    if not order.statement:
        time.sleep(order.delay)
        os.kill(child, signal.SIGKILL)
    stuck = False
    while True:
        if not select.select([ours], [], [], PATIENCE)[0]:
            stuck = True
            os.kill(child, signal.SIGKILL)
            break
        piece = os.read(ours, 65536)
        text += piece
        if not piece:
            break
    _, status = os.waitpid(child, 0)
    os.close(ours)
    return {"said": text.decode(), "killed": os.WIFSIGNALED(status), "stuck": stuck}


def live(order: Order, pipe: int) -> int:
    """Make the table, and return how many statements that took."""
    statements = itertools.count(1)
    heard = PostgresSession._heard

    def counted(session: PostgresSession, work: Any) -> Any:
        if next(statements) == order.statement:
            os.kill(os.getpid(), signal.SIGKILL)
        return heard(session, work)

    PostgresSession._heard = counted  # type: ignore[assignment, method-assign]
    os.write(pipe, b" ")
    hr.anonymize(order.source, plan(order.k), order.target, replace=True, threads=1)
    return next(statements) - 1


# ---- the test's side -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forks() -> Iterator[subprocess.Popen[str]]:
    with nursery_of("tests.robustness.test_kills_postgres", PATIENCE) as process:
        yield process


def kill(forks: subprocess.Popen[str], order: Order) -> int:
    """Have a process live and die; returns 0 if it was killed before it was done, else how many statements it took."""
    assert forks.stdin is not None
    assert forks.stdout is not None
    forks.stdin.write(json.dumps(asdict(order)) + "\n")
    forks.stdin.flush()
    found = json.loads(forks.stdout.readline())
    assert not found["stuck"]
    if found["killed"]:
        return 0
    assert found["said"].strip().startswith("done "), found["said"]
    return int(found["said"].split()[1])


def ended(postgres: str) -> None:
    """Wait until the server has noticed: it still does what the dead client had asked for."""
    query = f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{NAME}'"
    end = time.monotonic() + PATIENCE
    while ask(postgres, query)[0][0]:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("replaces", [False, True], ids=["new", "replaced"])
def test_no_table_is_ever_half_made(
    forks: subprocess.Popen[str], postgres: str, replaces: bool, record_property: Any
) -> None:
    named = f"{postgres}&application_name={NAME}"
    source_name, target = fresh(), fresh("masked")
    load(postgres, people(), source_name)
    source = at(postgres, source_name)
    others = relations(postgres)
    if replaces:
        hr.anonymize(source, plan(3), at(postgres, target))
    started = time.monotonic()
    statements = kill(forks, Order(at(named, source_name), at(named, fresh("whole")), 3, statement=NEVER))
    whole = time.monotonic() - started
    (made,) = relations(postgres) - others - {("public", target)}
    execute(postgres, f"DROP TABLE {made[1]}")
    rng = random.Random(5)
    killed, there = 0, replaces
    for number in range(3 * KILLS):
        moment = {"statement": rng.randint(1, statements)} if number % 2 else {"delay": whole * rng.random()}
        killed += not kill(forks, Order(at(named, source_name), at(named, target), 3 + number % 2, **moment))
        ended(postgres)
        found = relations(postgres) - others
        assert found <= {("public", target)}, found
        assert found or not there, "a release that was there is gone"
        if found:
            check = hr.verify(at(postgres, target), source)
            assert check.kept, check
            if not replaces:
                execute(postgres, f"DROP TABLE {target}")
        if killed == KILLS:
            break
    record_property("killed before it was done", killed)
    assert killed == KILLS
    assert kill(forks, Order(at(named, source_name), at(named, target), 5, statement=NEVER))
    ended(postgres)
    assert hr.verify(at(postgres, target), source).kept
    assert relations(postgres) == others | {("public", target)}
