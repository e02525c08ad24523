"""Whatever people bring to a studio, only the process that reads it may suffer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from hedgerow.errors import HedgerowError, PlanError
from hedgerow.studio import reader as reader_module
from hedgerow.studio.files import MOST_ARRIVING, Files, Room, TooManyFiles
from hedgerow.studio.reader import Bounds, Readers, TableReader
from hedgerow.studio.turns import Turns
from hedgerow.studio.workbench import Workbench
from tests.robustness.hostile_files import SECRET, bomb, good_csv
from tests.robustness.planted import marks_in, plant
from tests.robustness.studio_storm import PASSWORD, check, leftovers, rage, team_studio
from tests.studio.loops import run
from tests.studio.servers import serving
from tests.studio.visitors import Visitor


def test_a_team_studio_withstands_hostile_uploads(tmp_path: Path) -> None:
    with team_studio(tmp_path, users=3) as served:
        storm = run(rage(served, random.Random("test"), files=24, at_once=12))
        print(storm)
        assert storm.cases.total() >= 24
        check(storm, served, tmp_path)
    check(storm, served, tmp_path, ended=True)


# -- readers ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def readers() -> Iterator[Readers]:
    """Readers that may take little."""
    found = Readers(Bounds(memory=300 << 20, memory_per_byte=0, seconds=20, at_work=2, at_work_of_one=1, alive=2))
    yield found
    found.close()


@pytest.fixture
def bench(readers: Readers, tmp_path: Path) -> Iterator[Workbench]:
    """A workbench with a table that is as it should be."""
    (tmp_path / "fine.csv").write_bytes(good_csv())
    opened = Workbench(tmp_path, TableReader(tmp_path, readers, "ann"))
    opened.open(tmp_path / "fine.csv")
    yield opened
    opened.close()
    assert not list(tmp_path.glob("reading-*"))


def codes(error: pytest.ExceptionInfo[HedgerowError]) -> list[str]:
    return [problem.code for problem in error.value.problems]


def plan_file(folder: Path, text: bytes) -> Path:
    (folder / "brought.yaml").write_bytes(text)
    return folder / "brought.yaml"


def test_a_table_that_takes_too_much_memory_is_one_message_and_the_old_one_stays(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"{SECRET} {number:09d}" * 8 for number in range(900_000)]
    with (
        pa.OSFile(str(tmp_path / "wide.arrow"), "wb") as sink,
        pa.ipc.new_file(sink, pa.schema([("a", "string")])) as file,
    ):
        file.write_table(pa.table({"a": words}))
    monkeypatch.setattr(Bounds, "memory_for", lambda *_: 40 << 20)
    with pytest.raises(HedgerowError) as error:
        bench.open(tmp_path / "wide.arrow")
    monkeypatch.undo()
    assert codes(error)[0] in ("too-much", "unreadable-file")
    assert SECRET not in str(error.value)
    assert bench.source is not None
    assert bench.source.name == "fine.csv"
    assert bench.outlook().records == 300


def test_a_bomb_takes_no_memory_of_ours(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "bomb.parquet").write_bytes(bomb())
    assert len(bomb()) < 1_000_000
    before = memory()
    with contextlib.suppress(HedgerowError):  # it may be taken, or take too much: that of a reader
        bench.open(tmp_path / "bomb.parquet")
    assert memory() - before < 50 << 20


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_reader_that_is_killed_is_one_message_and_then_there_is_another(bench: Workbench) -> None:
    asked: list[HedgerowError] = []

    def ask() -> None:
        try:
            bench.explanation()
        except HedgerowError as error:
            asked.append(error)

    reader = bench._reader
    process = reader._process
    assert process is not None
    os.kill(process._number, signal.SIGSTOP)  # type: ignore[attr-defined]  # at work for long
    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    os.kill(process._number, signal.SIGSEGV)  # type: ignore[attr-defined]
    process.kill()
    thread.join(20)
    assert [error.problems[0].code for error in asked] == ["unreadable-file"]
    assert "damaged" in asked[0].problems[0].message
    assert bench.explanation().records == 300


def test_what_takes_too_long_is_ended(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bounds, "seconds_for", lambda *_: 0.5)
    process = bench._reader._process
    assert process is not None
    os.kill(process._number, signal.SIGSTOP)  # type: ignore[attr-defined]
    with pytest.raises(HedgerowError) as error:
        bench.explanation()
    assert codes(error) == ["too-much"]
    monkeypatch.undo()
    assert bench.explanation().records == 300


def test_an_answer_that_is_too_long_is_refused(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "MOST_ANSWER", 100)
    with pytest.raises(HedgerowError) as error:
        bench.explanation()
    assert codes(error) == ["too-much"]


@pytest.mark.parametrize("text", [b"[" * 100_000, b"{a: " * 50_000, b"\xff\xfe", b"k: 5", b"- " * 60_000])
def test_a_plan_that_hurts_is_refused_and_nothing_changes(bench: Workbench, tmp_path: Path, text: bytes) -> None:
    before = bench.plan
    with pytest.raises(HedgerowError):
        bench.read_plan(plan_file(tmp_path, text), "brought.yaml")
    assert bench.plan is before
    assert bench.outlook().records == 300


def test_a_plan_that_is_brought_opens_no_files(bench: Workbench, tmp_path: Path) -> None:
    text = b"attributes: {town: {role: quasi-identifier, hierarchy: {file: /etc/passwd}}}\nprivacy: {k: 2}\n"
    with pytest.raises(PlanError, match="may not name files"):
        bench.read_plan(plan_file(tmp_path, text), "brought.yaml")


def test_only_some_readers_live_and_those_of_others_are_started_again(readers: Readers, tmp_path: Path) -> None:
    benches = []
    for name in ("a", "b", "c", "d"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "fine.csv").write_bytes(good_csv())
        benches.append(Workbench(folder, TableReader(folder, readers, name)))
        benches[-1].open(folder / "fine.csv")
    assert [one._reader.alive for one in benches] == [False, False, True, True]
    assert [one.outlook().records for one in benches] == [300] * 4
    for one in benches:
        one.close()


def test_the_studio_parses_nothing_itself() -> None:
    """No module of the server imports what reads tables, plans or hierarchies; its process is made of these modules."""
    import subprocess
    import sys

    code = (
        "import sys, hedgerow.studio.serving as s; from fastapi import FastAPI; s._add_screens(FastAPI()); "
        "print(*sorted(sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "hedgerow.studio.pages.data" in loaded
    assert not {
        "hedgerow.evaluation.drafting.examining",
        "hedgerow.studio.reading",
        "pyarrow.csv",
        "pyarrow.parquet",
        "duckdb",
    } & set(loaded)


# -- turns and room --------------------------------------------------------------------------------------------------


def test_nobody_has_all_turns() -> None:
    turns, began, go = Turns(most=3, of_one=2, patience=5), [], threading.Event()

    def work(user: str) -> None:
        with turns.taken(user):
            began.append(user)
            go.wait(5)

    threads = [threading.Thread(target=work, args=(user,)) for user in ("eve", "eve", "eve", "eve", "ann")]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    assert began == ["eve", "eve", "ann"]
    go.set()
    for thread in threads:
        thread.join(5)
    assert sorted(began) == ["ann", "eve", "eve", "eve", "eve"]
    assert turns.at_work == 0


def test_who_waits_too_long_is_told_so() -> None:
    turns = Turns(most=1, of_one=1, patience=0.1)
    with turns.taken("ann"), pytest.raises(HedgerowError, match="busy"), turns.taken("bob"):
        pass
    with turns.taken("bob"):
        assert turns.at_work == 1


def test_uploads_are_bounded_by_number_and_by_bytes(tmp_path: Path) -> None:
    everybody = Room(100)
    ann, bob = (Files(tmp_path, Room(80, everybody)) for _ in range(2))

    async def parts(size: int, wait: float = 0) -> AsyncIterator[bytes]:
        await asyncio.sleep(wait)
        yield b"x" * size

    async def go() -> None:
        first = await ann.receive("a.csv", parts(60))
        for files in (ann, bob):
            with pytest.raises(OSError, match="room"):
                await files.receive("b.csv", parts(50))
        ann.remove(first.id)
        await bob.receive("b.csv", parts(50))
        slow = [asyncio.create_task(ann.receive("c.csv", parts(1, 0.2))) for _ in range(MOST_ARRIVING)]
        await asyncio.sleep(0.05)
        with pytest.raises(TooManyFiles):
            await ann.receive("c.csv", parts(1))
        await asyncio.gather(*slow)

    run(go())
    bob.clear()
    ann.clear()
    assert list(tmp_path.iterdir()) == []
    assert everybody.take(100)


# -- what is left ----------------------------------------------------------------------------------------------------


def test_a_studio_that_was_killed_leaves_nothing_that_the_next_does_not_remove(tmp_path: Path) -> None:
    async def bring(served: object, headers: dict[str, str]) -> None:
        eve = Visitor(served, headers)  # type: ignore[arg-type]
        await eve.open("/data")
        await eve.bring("upload", "fine.csv", good_csv())
        await eve.until(lambda: eve.find("records"))
        await eve.close()

    with serving(folder=tmp_path) as served:
        run(bring(served, served.enter()))
        os.kill(served.process.pid, signal.SIGKILL)
        served.process.wait(10)
    assert leftovers(tmp_path)
    with serving(folder=tmp_path):
        assert not [path for path in leftovers(tmp_path) if path.suffix == ".csv"]
    assert not leftovers(tmp_path)


def test_the_studio_and_its_runs_execute_nothing_of_the_working_folder(tmp_path: Path) -> None:
    marks = plant(tmp_path)

    async def make(served: object, headers: dict[str, str]) -> None:
        eve = Visitor(served, headers)  # type: ignore[arg-type]
        await eve.open("/data")
        await eve.press("made-up")
        await eve.until(lambda: eve.find("records"))
        await eve.close()
        await eve.open("/run")
        await eve.press("start")
        await eve.until(lambda: eve.find("result-1"), 180)
        await eve.close()

    with serving(folder=tmp_path, program=True) as served:
        run(make(served, served.enter()))
    assert marks_in(marks) == []


# -- sockets ---------------------------------------------------------------------------------------------------------


def test_messages_that_are_none_close_the_socket_and_print_nothing(tmp_path: Path) -> None:
    nested = json.dumps("[" * 3_000)
    hostile = [
        '42["event",' + "[" * 100_000,
        '42["event",' + "[" * 900 + "]" * 900 + "]",
        "4" + "2" * 1_000,
        '45100000-["x"]',
        "42{",
        '42"text"',
        "42[]",
        f'42["{SECRET}"]',
        '42["event",{"client_id":"PAGE","id":1,"listener_id":"x","args":[' + nested + "]}]",
        '42["event",{"client_id":"PAGE"}]',
        '42["javascript_response",{"client_id":"PAGE"}]',
        '42["ack",{"client_id":"PAGE","next_message_id":"' + SECRET + '"}]',
        '42["log",{"client_id":"PAGE","level":"' + SECRET + '"}]',
        "Q",
        "",
        b"\x04\x00",
        "x" * (5 << 20),
    ]

    async def go(served: object, headers: dict[str, str]) -> None:
        for message in hostile:
            eve = Visitor(served, headers)  # type: ignore[arg-type]
            await eve.open("/data")
            text = message.replace("PAGE", eve._page) if isinstance(message, str) else message
            await eve._socket.send(text)
            await asyncio.sleep(0.2)
            await eve.close()
        eve = Visitor(served, headers)  # type: ignore[arg-type]
        await eve.open("/data")
        await eve.press("made-up")
        await eve.until(lambda: eve.find("records"))
        await eve.close()

    with serving("--log", "audit.jsonl", folder=tmp_path) as served:
        run(go(served, served.enter()))
        assert served.process.poll() is None
    assert [line for line in served.lines if line.strip() and "http://" not in line and "Enter:" not in line] == [
        "The studio has ended. What was uploaded is removed.\n"
    ]
    log = (tmp_path / "audit.jsonl").read_text()
    assert "malformed message" in log
    assert SECRET not in served.printed + log
    assert PASSWORD not in log
