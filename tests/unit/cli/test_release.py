"""``hedgerow release``: every verb as a user runs it, what goes wrong on purpose, and that no key or value is shown."""

from __future__ import annotations

import io
import json
import os
import pty
import random
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.cli.run import run
from hedgerow.reports.charts.plots import drift_plot

SECRET = "Quasimodo"
"""Part of every key."""
ILLNESSES = ("lumbago", "scurvy", "dropsy")
CITIES = {"Kansas": ["Wichita", "Topeka"], "Nebraska": ["Lincoln", "Omaha"]}
HEADER = "id,age,city,sex,illness"
PLAN = """\
key: id
attributes:
  age: {role: quasi-identifier, hierarchy: {bands: [5, 10, 20]}}
  city:
    role: quasi-identifier
    hierarchy: {tree: {US: {Kansas: [Wichita, Topeka], Nebraska: [Lincoln, Omaha]}}}
    limits: [Kansas, Nebraska]
  sex: quasi-identifier
  illness: sensitive
privacy: {k: 4}
"""
STORE = "people.store"


class Done(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as plain data."""
        return json.loads(self.out)


Command = Callable[..., Done]


def people(numbers: Iterable[int], seed: int = 0) -> list[str]:
    """Records by number; another seed, other values."""
    rows = []
    for number in numbers:
        draw = random.Random(f"{seed}/{number}")
        city = draw.choice([city for cities in CITIES.values() for city in cities])
        rows.append(f"{SECRET}{number},{draw.randint(18, 89)},{city},{draw.choice('FM')},{draw.choice(ILLNESSES)}")
    return rows


def write(path: Path, rows: list[str], header: str = HEADER) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> Command:
    """Run ``hedgerow release`` in this process and folder; no key and no value may be in what it says."""

    def call(*words: str | Path, store: str | None = STORE, stdin: bytes | None = None) -> Done:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.delenv("HEDGEROW_STORE", raising=False)
        if store is not None:
            monkeypatch.setenv("HEDGEROW_STORE", store)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin or b"")))
        before = {sign: signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)}
        capsys.readouterr()
        try:
            with pytest.raises(SystemExit) as left:
                run(["release", *map(str, words)])
        finally:
            for sign, handler in before.items():
                signal.signal(sign, handler)
        done = Done(int(left.value.code or 0), *capsys.readouterr())
        for word in (SECRET, *ILLNESSES, *(city for cities in CITIES.values() for city in cities)):
            assert word not in done.out + done.err
        assert "internal error" not in done.err
        return done

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "first.csv", people(range(120)))
    write(tmp_path / "late.csv", people(range(120, 140)))
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store with a release of 120 people."""
    folder = tmp_path_factory.mktemp("begun")
    table = write(folder / "first.csv", people(range(120)))
    with hr.create_release(table, hr.Plan.loads(PLAN), folder / STORE):
        pass
    return (folder / STORE).read_bytes()


@pytest.fixture
def created(command: Command, folder: Path, begun: bytes) -> Command:
    """The command line, with a release of 120 people that was created."""
    (folder / STORE).write_bytes(begun)
    return command


def plan_with(folder: Path, text: str) -> None:
    (folder / "plan.yaml").write_text(PLAN + text)


# ---- the verbs -------------------------------------------------------------------------------------------------------


def test_every_verb_says_what_it_did(created: Command, folder: Path) -> None:
    done = created("insert", "late.csv", "--plan", "plan.yaml", "--threads", "1")
    assert done.code == 0
    assert "2, by insert: 20 records came" in done.out
    assert "120 → 140; 140 released" in done.out
    assert "every promise is kept" in done.out
    assert "(NTIL)" in done.out
    assert "made afresh" in done.out
    assert "whoever holds both versions" in done.out

    write(folder / "gone.csv", people(range(5)))
    assert "3, by delete: 5 records left" in created("delete", "gone.csv").out
    assert "4, by delete: 2 records left" in created("delete", "--keys", f"{SECRET}5, {SECRET}6").out
    lines = f"{SECRET}7\r\n\n  {SECRET}8\n".encode()
    assert "5, by delete: 2 records left" in created("delete", "--keys-from", "-", stdin=lines).out
    (folder / "keys.txt").write_bytes(b"\xef\xbb\xbf" + f"{SECRET}9\n".encode())
    assert "6, by delete: 1 record left" in created("delete", "--keys-from", "keys.txt").out

    write(folder / "moved.csv", people(range(20, 26), seed=1))
    assert "7, by update: 6 records changed" in created("update", "moved.csv", "--plan", "plan.yaml").out
    again = created("update", "moved.csv")
    assert again.code == 0
    assert again.out == "Nothing to change: the records are so already. Version 7 stays the newest.\n"
    unchanged = created("update", "moved.csv", "--json").json
    assert (unchanged["changed"], unchanged["version"]) == (False, 7)

    assert "8, by optimize" in created("optimize", "--passes", "2").out
    done = created("optimize", "--passes", "0")
    assert (done.code, done.out) == (
        0,
        "Nothing to change: no step from here loses less. Version 8 stays the newest.\n",
    )
    assert "just made afresh" in created("restart").out
    verbs = [row["verb"] for row in created("history", "--json").json["versions"]]
    assert verbs == ["create", "insert", *["delete"] * 4, "update", "optimize", "restart"]
    assert created("check").code == 0


def test_a_change_as_json(created: Command) -> None:
    found = created("insert", "late.csv", "--json").json
    assert found["changed"] is True
    assert (found["version"], found["parent"], found["verb"], found["verified"]) == (2, 1, "insert", True)
    assert (found["counts"]["inserted"], found["counts"]["records"], found["before"]["counts"]["records"]) == (
        20,
        140,
        120,
    )
    assert {"ntil", "fresh_ntil", "drift"} <= set(found["scores"])
    assert found["audit"]["versions"] == 2
    assert (found["advise_above"], found["start_over"]) == (None, False)
    assert "facts" not in found


def test_the_store_may_be_an_option(command: Command) -> None:
    assert command("create", "first.csv", "plan.yaml", "--store", "other.store", store=None).code == 0
    assert command("history", "--store", "other.store", store="nothing.store").code == 0
    missing = command("history", store=None)
    assert missing.code == 2
    assert "--store" in missing.err


def test_drift_beyond_the_threshold_advises_to_start_over(command: Command, folder: Path) -> None:
    plan_with(folder, "drift: {advise_above: 1%}\n")
    write(folder / "few.csv", people(range(200)))
    write(folder / "many.csv", people(range(200, 400)))
    assert command("create", "few.csv", "plan.yaml").code == 0
    found = command("insert", "many.csv", "--json").json
    assert found["scores"]["drift"] > 0.01
    assert found["start_over"] is True
    shown = command("history").out
    assert "the plan advises to start over above 1%" in shown
    assert "hedgerow release restart" in shown
    write(folder / "more.csv", people(range(400, 410)))
    assert "hedgerow release restart" in command("insert", "more.csv").out
    assert command("restart", "--json").json["start_over"] is False
    assert "hedgerow release restart" not in command("history").out


def test_advice_where_the_plan_forbids_to_start_over(command: Command, folder: Path) -> None:
    plan_with(folder, "drift: {advise_above: 0%}\nrepublish: only-coarser\n")
    write(folder / "few.csv", people(range(30)))
    write(folder / "many.csv", people(range(30, 130)))
    command("create", "few.csv", "plan.yaml")
    shown = command("insert", "many.csv").out
    assert "hedgerow release restart" not in shown
    assert "only-coarser" in shown
    for verb in ("restart", "optimize"):
        refused = command(verb)
        assert (refused.code, "[republish]" in refused.err) == (2, True)


def test_history_and_its_plot(created: Command, folder: Path) -> None:
    created("insert", "late.csv")
    done = created("history", "--plot", "drift.svg")
    assert done.code == 0
    lines = [line for line in done.out.splitlines() if line.strip().startswith(("1 ", "2 "))]
    assert [line.split()[3] for line in lines] == ["create", "insert"]
    assert max(map(len, done.out.splitlines())) <= 100
    assert (folder / "drift.svg").read_text().count("<svg") == 1
    first = (folder / "drift.svg").read_bytes()
    created("history", "--plot", "drift.svg")
    assert (folder / "drift.svg").read_bytes() == first
    refused = created("history", "--plot", "drift.pdf")
    assert (refused.code, "[output]" in refused.err) == (2, True)


def test_a_plot_of_many_versions(tmp_path: Path) -> None:
    rows = [
        {"version": n, "verb": "insert", "scores": {"ntil": 0.3, "fresh_ntil": None if n == 5 else 0.29}}
        for n in range(1, 200)
    ]
    shown = drift_plot(rows, tmp_path / "drift.svg").read_text()
    assert shown.count(">insert</text>") == 12
    assert all(f">{version}</text>" in shown for version in (1, 199))


def test_the_history_of_a_large_release_fits_a_terminal() -> None:
    from rich.console import Console

    from hedgerow.reports.terminal.maintained import history_summary

    counts = {"records": 12_345_678, "inserted": 1_234_567, "deleted": 123_456, "updated": 123_456, "held_back": 12_345}
    counts |= {"withdrawn": 0, "withheld": 0, "groups": 1_234_567}
    row = {"version": 100, "made_at": "2026-11-15T15:45:00Z", "verb": "optimize", "counts": counts, "audit": {}}
    row["scores"] = {"ntil": 0.1234, "drift": None}
    console = Console(width=100, file=io.StringIO())
    console.print(history_summary({"republish": "free", "advise_above": None, "versions": [row]}))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    for part in ("12,345,678", "1,234,567", "123,456", "12,345", "optimize", "2026-11-15", "15:45", "0.1234"):
        assert part in shown
    assert "not audited" in shown


def test_a_version_that_was_not_audited_says_so(created: Command) -> None:
    """Hedgerow 0.1.0 did not audit large versions."""
    from rich.console import Console

    from hedgerow.reports.terminal.maintained import change_summary

    row = created("insert", "late.csv", "--json").json | {"audit": {}}
    console = Console(width=100, file=io.StringIO())
    console.print(change_summary(row))
    assert "not audited: run hedgerow release audit" in console.file.getvalue()  # type: ignore[attr-defined]


def test_diff(created: Command) -> None:
    created("insert", "late.csv")
    found = created("diff", "1", "latest", "--json").json
    assert (found["from"], found["to"], found["people"]["came"], found["people"]["left"]) == (1, 2, 20, 0)
    shown = created("diff", "1", "2").out
    assert "from version 1 to version 2" in shown
    assert "20 came, 0 left" in shown


def test_export(created: Command, folder: Path) -> None:
    created("insert", "late.csv")
    done = created("export", "1", "-o", "one")
    assert done.code == 0
    assert "version 1 verified and written to one" in done.out
    assert sorted(file.name for file in (folder / "one").iterdir()) == ["data.csv", "facts.json", "plan.yaml"]
    facts = created("export", "latest", "-o", "two", "--format", "parquet", "--link", "link.csv", "--json").json
    assert facts.pop("verdict")["state"] in ("clear", "remains")
    assert facts == json.loads((folder / "two" / "facts.json").read_text())
    assert facts["records"] == 140
    assert pq.read_table(folder / "two" / "data.parquet").column_names == ["age", "city", "sex", "illness"]
    assert (folder / "link.csv").stat().st_mode & 0o777 == 0o600
    assert created("export", "2", "-o", "one").code == 2
    assert created("export", "2", "-o", "one", "--replace").code == 0
    assert SECRET not in (folder / "one" / "data.csv").read_text()
    assert created("export", "2", "-o", "three", "--format", "xlsx").code == 2


# ---- audit and check -------------------------------------------------------------------------------------------------


def test_audit_explains_itself(created: Command, folder: Path) -> None:
    alone = created("audit")
    assert "Too much about nobody, of 120 people" in alone.out
    write(folder / "one.csv", people([200]))
    created("insert", "one.csv")
    found = created("audit", "--json").json
    assert found["leaks"] > 0
    assert found["newcomers"]["failing"] == 1
    done = created("audit")
    assert done.code == 0  # the plan promises nothing about readers of all versions
    assert f"Too much about {found['leaks']} p" in done.out
    for check in ("people left", "values left, illness", "confidence, illness", "newcomers", "leavers", "difference"):
        assert done.out.count(check) >= 2  # in the table, and what it means
    assert "history class" in done.out
    assert "what to do" in done.out
    assert "republish: gated" in done.out
    assert created("audit", "--strict").code == 1
    assert created("audit", "--strict", "--json").code == 1


def test_audit_of_p_and_alpha(command: Command, folder: Path) -> None:
    (folder / "plan.yaml").write_text(PLAN.replace("{k: 4}", "{k: 4, p: 2, alpha: 0.9}"))
    command("create", "first.csv", "plan.yaml")
    shown = command("audit").out
    assert "2 or more" in shown
    assert "90% at most" in shown


@pytest.mark.parametrize("rule", ["gated", "cohorts"])
def test_rules_that_promise_no_leak(command: Command, folder: Path, rule: str) -> None:
    plan_with(folder, f"republish: {rule}\n")
    assert command("create", "first.csv", "plan.yaml").code == 0
    write(folder / "one.csv", people([200]))
    inserted = command("insert", "one.csv")
    assert inserted.code == 0
    assert "learns too much about nobody" in inserted.out
    deleted = command("delete", "--keys", f"{SECRET}3")
    assert deleted.code == 0
    assert "withdrawn for good" in deleted.out
    audited = command("audit")
    assert (audited.code, "Too much about nobody" in audited.out) == (0, True)


def test_a_leak_under_a_rule_that_promises_none_is_a_broken_promise(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan_with(folder, "republish: cohorts\n")
    command("create", "first.csv", "plan.yaml")
    from hedgerow.maintenance import MaintainedRelease

    leaky = MaintainedRelease.audit

    class Leaky:
        def __init__(self, found: Any) -> None:
            self.found = found

        def to_dict(self) -> dict[str, Any]:
            return {**self.found.to_dict(), "leaks": 3}

    monkeypatch.setattr(MaintainedRelease, "audit", lambda release: Leaky(leaky(release)))
    done = command("audit")
    assert done.code == 1
    assert "this must not be" in done.out


def test_check_notices_a_store_that_was_changed(created: Command, folder: Path) -> None:
    created("insert", "late.csv")
    fine = created("check", "--json")
    assert fine.code == 0
    assert (fine.json["chain"], fine.json["verification"]["kept"]) == (True, True)
    with sqlite3.connect(folder / STORE) as database:
        database.execute("UPDATE versions SET tool = 'another' WHERE version = 1")
    done = created("check")
    assert done.code == 1
    assert "CHANGED since it was written: version 1" in done.out
    found = created("check", "--json")
    assert (found.code, found.json["chain"], found.json["broken_versions"]) == (1, False, [1])


# ---- erasing ---------------------------------------------------------------------------------------------------------


def test_erase(created: Command, folder: Path) -> None:
    created("insert", "late.csv")
    created("delete", "--keys", f"{SECRET}1")
    done = created("erase", "--keys", f"{SECRET}1", "--yes")
    assert done.code == 0
    assert "about 1 person" in done.out
    assert "by delete" not in done.out  # who had left before is not deleted again
    found = created("erase", "--keys-from", "-", "--yes", "--json", stdin=f"{SECRET}2\n{SECRET}3\n".encode()).json
    assert (found["people"], found["version"], found["deletion"]["counts"]["deleted"]) == (2, 4, 2)
    shown = created("erase", "--keys", f"{SECRET}4", "--yes").out
    assert "5, by delete: 1 record left" in shown
    raw = (folder / STORE).read_bytes()
    assert f"{SECRET}1".encode() + b'"' not in raw
    refused = created("export", "1", "-o", "one")
    assert (refused.code, "[erased]" in refused.err) == (2, True)
    assert not (folder / "one").exists()
    assert created("export", "latest", "-o", "newest").code == 0
    assert created("check").code == 0
    assert created("audit").code == 0


def test_erase_wants_a_yes(created: Command) -> None:
    before = created("history", "--json").out
    for words in (("--keys", f"{SECRET}1"), ("--keys-from", "-")):
        done = created("erase", *words, stdin=f"{SECRET}1\n".encode())
        assert done.code == 2
        assert "--yes" in done.err
    assert created("history", "--json").out == before


@pytest.mark.parametrize(("answer", "code"), [("n", 130), ("y", 0)])
def test_erase_asks_on_a_terminal(created: Command, folder: Path, answer: str, code: int) -> None:
    words = [sys.executable, "-c", "from hedgerow.cli import main; main()", "release", "erase", "--keys", f"{SECRET}1"]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "HEDGEROW_STORE": STORE, "COLUMNS": "100"}
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment)
    os.close(theirs)
    said, deadline, answered = b"", time.monotonic() + 60, False
    while time.monotonic() < deadline:
        ready, _, _ = select.select([ours], [], [], 0.1)
        if ready:
            try:
                said += os.read(ours, 4096)
            except OSError:
                break
        if not answered and b"[y/N]" in said:
            os.write(ours, answer.encode() + b"\n")
            answered = True
        if process.poll() is not None and not ready:
            break
    os.close(ours)
    assert process.wait(10) == code
    text = said.decode()
    assert "cannot be undone" in " ".join(text.split())
    assert SECRET not in text
    assert created("history", "--json").json["versions"][-1]["version"] == (2 if code == 0 else 1)


# ---- wrong on purpose ------------------------------------------------------------------------------------------------

NEW = people([300])[0]
WRONG: dict[str, tuple[tuple[str, ...], dict[str, str], int, str]] = {
    "unknown key deleted": (("delete", "--keys", f"{SECRET}999"), {}, 2, "no-such-key"),
    "unknown key among known ones": (("delete", "--keys", f"{SECRET}1,{SECRET}999"), {}, 2, "no-such-key"),
    "unknown key erased": (("erase", "--yes", "--keys", f"{SECRET}999"), {}, 2, "no-such-key"),
    "unknown key updated": (("update", "x.csv"), {"x.csv": f"{HEADER}\n{NEW}\n"}, 2, "no-such-key"),
    "unknown key in a file": (("delete", "x.csv"), {"x.csv": f"id\n{SECRET}999\n"}, 2, "no-such-key"),
    "key twice in the file": (("insert", "x.csv"), {"x.csv": f"{HEADER}\n{NEW}\n{NEW}\n"}, 2, "duplicate-key"),
    "key twice among keys": (("delete", "--keys", f"{SECRET}1,{SECRET}1"), {}, 2, "duplicate-key"),
    "key already in the store": (("insert", "first.csv"), {}, 2, "duplicate-key"),
    "record without a key": (("insert", "x.csv"), {"x.csv": f"{HEADER}\n,30,Omaha,F,scurvy\n"}, 2, "no-key"),
    "value with no leaf": (
        ("insert", "x.csv"), {"x.csv": f"{HEADER}\n{SECRET}300,30,{SECRET}ville,F,scurvy\n"}, 2, "no-leaf",
    ),
    "update to a value with no leaf": (
        ("update", "x.csv"), {"x.csv": f"{HEADER}\n{SECRET}3,30,{SECRET}ville,F,scurvy\n"}, 2, "no-leaf",
    ),
    "column missing": (("insert", "x.csv"), {"x.csv": f"id,age,city,sex\n{SECRET}300,3,Omaha,F\n"}, 2, "missing-column"),
    "key column missing": (("delete", "x.csv"), {"x.csv": f"name\n{SECRET}3\n"}, 2, "missing-column"),
    "file missing": (("insert", "nothing.csv"), {}, 2, "no-file"),
    "file without records": (("insert", "x.csv"), {"x.csv": f"{HEADER}\n"}, 2, "empty"),
    "everybody deleted": (("delete", "first.csv"), {}, 3, "all-withheld"),
    "another plan": (("insert", "late.csv", "--plan", "x.yaml"), {"x.yaml": PLAN.replace("k: 4", "k: 5")}, 2, "other-plan"),
    "another plan for update": (
        ("update", "first.csv", "--plan", "x.yaml"), {"x.yaml": PLAN.replace("k: 4", "k: 5")}, 2, "other-plan",
    ),
    "no plan there": (("insert", "late.csv", "--plan", "nothing.yaml"), {}, 2, "no-file"),
    "plan without key": (
        ("create", "first.csv", "x.yaml", "--store", "x.store"), {"x.yaml": PLAN.replace("key: id\n", "")}, 2, "missing-key",
    ),
    "lattice plan": (
        ("create", "first.csv", "x.yaml", "--store", "x.store"), {"x.yaml": PLAN + "method: lattice\nrepublish: gated\n"}, 2, "conflict",
    ),
    "key twice at the start": (
        ("create", "x.csv", "plan.yaml", "--store", "x.store"), {"x.csv": f"{HEADER}\n{NEW}\n{NEW}\n"}, 2, "duplicate-key",
    ),
    "too few at the start": (
        ("create", "x.csv", "plan.yaml", "--store", "x.store"), {"x.csv": f"{HEADER}\n{NEW}\n"}, 3, "too-few-records",
    ),
    "store missing": (("insert", "late.csv", "--store", "nothing.store"), {}, 2, "no-store"),
    "store already there": (("create", "late.csv", "plan.yaml"), {}, 2, "store-exists"),
    "no store at all": (("history", "--store", "x.store"), {"x.store": "just some text\n" * 99}, 2, "not-a-store"),
    "no store to create in": (
        ("create", "first.csv", "plan.yaml", "--store", "x.store"), {"x.store": "some text\n" * 99}, 2, "not-a-store",
    ),
    "store address": (("history", "--store", "mysql://root:hunter2@host/x"), {}, 2, "store-address"),
    "no such version exported": (("export", "7", "-o", "out"), {}, 2, "no-version"),
    "no such version compared": (("diff", "1", "7"), {}, 2, "no-version"),
    "a version that is none": (("export", "newest", "-o", "out"), {}, 2, "VERSION"),
    "version 0": (("export", "0", "-o", "out"), {}, 2, "VERSION"),
    "two ways of naming keys": (("delete", "first.csv", "--keys", f"{SECRET}1"), {}, 2, "usage"),
    "two other ways": (("delete", "--keys", f"{SECRET}1", "--keys-from", "first.csv"), {}, 2, "usage"),
    "no way of naming keys": (("delete",), {}, 2, "usage"),
    "no key named": (("delete", "--keys", " , "), {}, 2, "usage"),
    "blanks instead of commas": (("delete", "--keys", f"{SECRET}1", f"{SECRET}2", f"{SECRET}3"), {}, 2, "usage"),
    "blanks when erasing": (("erase", "--yes", "--keys", f"{SECRET}1", f"{SECRET}2"), {}, 2, "usage"),
    "no keys to erase": (("erase", "--yes"), {}, 2, "usage"),
    "keys in no file": (("delete", "--keys-from", "nothing.txt"), {}, 2, "no-file"),
    "keys in a folder": (("delete", "--keys-from", "."), {}, 2, "no-file"),
    "fewer than no passes": (("optimize", "--passes", "-1"), {}, 2, "--passes"),
    "passes in words": (("optimize", "--passes", "many"), {}, 2, "--passes"),
    "an effort nobody knows": (("optimize", "--improve", "hard"), {}, 2, "--improve"),
    "passes without end": (("optimize", "--passes", "1000000000"), {}, 2, "--passes"),
    "no thread": (("insert", "late.csv", "--threads", "0"), {}, 2, "--threads"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_and_changes_nothing(created: Command, folder: Path, what: str) -> None:
    words, files, code, sign = WRONG[what]
    for name, text in files.items():
        (folder / name).write_text(text)
    before = created("history", "--json").out
    there = {file.name: file.read_bytes() for file in folder.iterdir()}
    done = created(*words)
    assert done.code == code
    assert sign in done.err
    assert "hunter2" not in done.err
    assert created("history", "--json").out == before
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == there


def test_problems_as_json(created: Command) -> None:
    done = created("insert", "first.csv", "--json")
    assert (done.code, [problem["code"] for problem in done.json["problems"]]) == (2, ["duplicate-key"])


def test_keys_that_are_not_text(created: Command, folder: Path) -> None:
    (folder / "keys.txt").write_bytes(b"\xff\xfe\x00")
    done = created("delete", "--keys-from", "keys.txt")
    assert (done.code, "[encoding]" in done.err) == (2, True)


def test_help_warns_of_keys_on_the_command_line(command: Command) -> None:
    for verb in ("delete", "erase"):
        told = " ".join(command(verb, "--help").out.replace("│", " ").split())
        assert "shell's history" in told
        assert "--keys-from" in told


def test_the_plan_of_an_export_is_the_one_asked_for(created: Command, folder: Path) -> None:
    created("export", "latest", "-o", "out")
    assert hr.Plan.load(folder / "out" / "plan.yaml").privacy.k == 4
