"""A team studio, many sessions that bring hostile files at once, and somebody who only wants to work."""

from __future__ import annotations

import asyncio
import contextlib
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hedgerow.outside.outputs.private import LOCK
from hedgerow.studio.users import add_user
from tests.robustness.hostile_files import SECRET, good_csv, hostile
from tests.studio.servers import Served, serving
from tests.studio.visitors import Visitor, request

PASSWORD = "a password that is long"
OF_ONE = 6
"""Sessions that one person may have."""
PATIENCE = 240.0


@dataclass
class Storm:
    """What came of it.

    Attributes
    ----------
    cases
        Files by kind, and by how the studio took them.
    waits, fair_waits
        Seconds that somebody else waited for each page; and how many these would be if no other program wanted a
        processor.
    seconds
        How long it lasted.
    idle, peak, after
        Megabytes of memory of the server before, at most, and afterwards; and of all processes together.
    """

    cases: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    fair_waits: list[float] = field(default_factory=list)
    seconds: float = 0.0
    idle: tuple[float, float] = (0, 0)
    peak: tuple[float, float] = (0, 0)
    after: tuple[float, float] = (0, 0)

    def __str__(self) -> str:
        memory = ", ".join(
            f"{name} {server:,.0f} MB ({together:,.0f} MB with children)"
            for name, (server, together) in (("idle", self.idle), ("peak", self.peak), ("after", self.after))
        )
        waits = "; ".join(
            f"median {statistics.median(found):.3f} s, most {max(found):.3f} s{what}"
            for found, what in ((self.waits, ""), (self.fair_waits, " without other programs"))
        )
        return f"{dict(self.cases)} in {self.seconds:.0f} s\n{len(self.waits):,} pages: {waits}\nserver {memory}"


@contextlib.contextmanager
def team_studio(folder: Path, users: int) -> Iterator[Served]:
    """Start a studio for a team of so many, and one more."""
    for name in ("ann", *(f"eve{number}" for number in range(users))):
        add_user(folder / "users", name, PASSWORD)
    with serving("--auth", "users", "--upload-limit", "20M", "--log", "audit.jsonl", folder=folder) as served:
        yield served


def memory_of(process: int) -> tuple[float, float]:
    """Return the megabytes that a process holds, and that it and all below it hold."""
    parents, sizes = {}, {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                parents[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
                sizes[int(path.name)] = int((path / "statm").read_text().split()[1]) * 4096 / 1e6
    below = {process}
    while more := {child for child, parent in parents.items() if parent in below} - below:
        below |= more
    return sizes.get(process, 0.0), sum(sizes.get(one, 0.0) for one in below)


async def rage(served: Served, draw: random.Random, files: int, at_once: int, settle: float = 0.0) -> Storm:
    """Let many sessions bring hostile files, and look after somebody else meanwhile."""
    storm = Storm()
    ann = await Visitor.sign_in(served, "ann", PASSWORD)
    await ann.open("/data")
    await ann.bring("upload", "fine.csv", good_csv())
    await ann.until(lambda: ann.find("records"))
    storm.idle = storm.peak = memory_of(served.process.pid)
    waiting = [hostile(draw) for _ in range(files)]
    bad = [await Visitor.sign_in(served, f"eve{number // OF_ONE}", PASSWORD) for number in range(at_once)]
    for eve in bad:
        await eve.open("/data")
    over = asyncio.Event()
    watch = asyncio.create_task(_watch(served, ann, storm, over))
    began = time.monotonic()
    try:
        seeds = [random.Random(draw.random()) for _ in bad]
        await asyncio.gather(*(_attack(eve, waiting, storm, seed) for eve, seed in zip(bad, seeds, strict=True)))
    finally:
        over.set()
        await watch
    storm.seconds = time.monotonic() - began
    for eve in bad:
        await eve.close()
        await request(served, "POST", "/sign-out", eve.headers, b"")
    await ann.open("/limits")  # still at work, with the table of before
    await ann.until(lambda: ann.find("blocks"))
    await asyncio.sleep(settle)
    storm.after = memory_of(served.process.pid)
    await ann.close()
    return storm


async def _watch(served: Served, ann: Visitor, storm: Storm, over: asyncio.Event) -> None:
    """Ask for pages all the time, and note how long each takes, in seconds of a machine that has nothing else to do."""
    while not over.is_set():
        for path in ("/data", "/limits", "/sign-in"):
            slowness, began = _slowness(), time.monotonic()
            status, _, _ = await request(served, "GET", path, ann.headers)
            waited = time.monotonic() - began
            storm.waits.append(waited)
            storm.fair_waits.append(waited / max(1.0, (slowness + _slowness()) / 2))
            assert status in (200, 303), status
        now = memory_of(served.process.pid)
        storm.peak = max(storm.peak[0], now[0]), max(storm.peak[1], now[1])
        await asyncio.sleep(0.1)


def _slowness() -> float:
    """Tell how many times longer some work takes than it would if nobody else wanted a processor."""
    began, used = time.monotonic(), time.process_time()
    while time.process_time() - used < 0.01:
        pass
    return (time.monotonic() - began) / 0.01


async def _attack(eve: Visitor, waiting: list[tuple[str, str, bytes]], storm: Storm, draw: random.Random) -> None:
    has_table = False
    while waiting:
        kind, name, content = waiting.pop()
        if draw.random() < 0.1:
            await eve.upload(name, content, sent=len(content) // 2)
            storm.cases[f"{kind}, aborted"] += 1
        if kind == "plan" and not has_table:
            has_table = await _bring(eve, "upload", "fine.csv", good_csv()) == "taken"
        outcome = await _bring(eve, "upload-plan" if kind == "plan" and has_table else "upload", name, content)
        has_table = has_table or outcome == "taken"
        storm.cases[f"{kind}, {outcome}"] += 1


async def _bring(eve: Visitor, zone: str, name: str, content: bytes) -> str:
    """Bring a file, and wait until the studio says what is wrong, in words without a value, or shows the table."""
    if eve.find(zone) is None:
        if zone == "upload":
            await eve.press("another")
        else:  # the page shows ways to another table: the one at work comes back with a new page
            await eve.close()
            await eve.open("/data")
        await eve.until(lambda: eve.find(zone))
    before = set(eve.shown)
    status, answer = await eve.bring(zone, name, content)
    assert status == 200, (status, answer)

    def new(testid: str) -> list[int]:
        return [number for number in eve.named(testid) if number not in before]

    found = await eve.until(lambda: new("problem") or new("records"), PATIENCE)
    if not new("problem"):
        return "taken"
    words = [str(element.get("text")) for number, element in eve.shown.items() if number not in before]
    assert not any(SECRET in word or "Internal error" in word for word in words), words
    assert found
    return "refused"


def leftovers(folder: Path) -> list[Path]:
    """Return the files that were brought and are still there: those of sessions, without what the studio needs."""
    return [path for path in (folder / "scratch").rglob("*") if path.is_file() and path.name != LOCK]


def check(storm: Storm, served: Served, folder: Path, ended: bool = False) -> None:
    """Make sure that nobody was harmed."""
    assert ended or served.process.poll() is None, "the studio has ended"
    assert SECRET not in served.printed
    assert "Traceback" not in served.printed
    assert "internal error" not in served.printed, served.printed
    assert SECRET not in (folder / "audit.jsonl").read_text()
    assert max(storm.fair_waits) < 1, storm
    assert storm.after[0] <= 1.5 * storm.idle[0], storm
    assert storm.after[1] <= 1.5 * storm.idle[1], storm
    left = leftovers(folder)
    assert len(left) <= (0 if ended else 1), left  # what ann works on
