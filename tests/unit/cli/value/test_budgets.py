"""Searches that end early: budgets of checks and of time, and Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cases.commands import WIDE, Command
from tests.cases.parishes import (
    BY_VALUE,
    files,
    write_hard,
    write_plan,
)
from tests.conftest import Run

# ---- budgets and Ctrl-C ----------------------------------------------------------------------------------------------


def test_a_budget_of_checks_gives_a_bound_and_the_same_bytes_every_time(
    tmp_path: Path, hedgerow: Run, command: Command
) -> None:
    write_hard(tmp_path, 1500, 14)
    for name in ("one", "two"):
        done = hedgerow("anonymize", "hard.csv", "plan.yaml", "-o", name, "--budget", "50", cwd=tmp_path, **WIDE)
        assert (done.returncode, done.stderr) == (0, "")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    facts = json.loads((tmp_path / "one" / "facts.json").read_text())
    found = facts["search"]
    assert (found["name"], found["proven"], found["strings"]) == ("exact", False, 4**14)
    assert 0 < facts["score"] < found["bound"] <= 1
    assert found["tested"] < 1000
    said = f"these levels are worth {facts['score']:.4f}, not proven the most: none is above {found['bound']:.4f}"
    assert said in " ".join(done.stdout.split())
    assert command("verify", "one", "--original", "hard.csv", cwd=tmp_path).returncode == 0
    more = command("anonymize", "hard.csv", "plan.yaml", "-o", "more", "--budget", "5000", "--json", cwd=tmp_path)
    again = json.loads(more.stdout)
    assert again["score"] >= facts["score"]  # patience is never punished
    assert again["search"]["bound"] <= found["bound"]


def test_a_budget_of_time_ends_in_time(tmp_path: Path, command: Command) -> None:
    write_hard(tmp_path, 300, 24)
    start = time.monotonic()
    done = command("anonymize", "hard.csv", "plan.yaml", "-o", "release", "--budget", "0.5s", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - start < 30
    assert json.loads(done.stdout)["search"]["proven"] is False


@pytest.mark.parametrize("budget", ["nonsense", "0", "-5", "0s", "-1s", "nans", "5m", "1.5", ""])
def test_a_budget_that_is_none(folder: Path, command: Command, budget: str) -> None:
    plan = write_plan(folder, BY_VALUE)
    code, _, errors = command("anonymize", "data.csv", plan, "-o", "release", "--budget", budget, cwd=folder)
    assert code == 2
    assert "Invalid value for --budget: must be a time such as 60s, or a number of checks" in errors
    assert not (folder / "release").exists()


class Terminal:
    """A run whose standard error is a terminal, so that it can be watched as somebody at the keyboard does."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.screen, theirs = pty.openpty()
        self.seen = ""
        command = [sys.executable, "-c", "from hedgerow.cli import main; main()", *words]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160"}
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment
        )
        os.close(theirs)

    def wait_for(self, word: str, seconds: float = 120) -> None:
        end = time.monotonic() + seconds
        while word not in self.seen:
            assert time.monotonic() < end, self.seen[-400:]
            self.read()

    def read(self) -> bool:
        if select.select([self.screen], [], [], 0.05)[0]:
            try:
                self.seen += os.read(self.screen, 1 << 16).decode(errors="replace")
            except OSError:  # its other end is closed
                return False
        return True

    def end(self) -> tuple[int, str]:
        """Wait until it ends; its exit code and standard output."""
        while self.process.poll() is None:
            self.read()
        while select.select([self.screen], [], [], 0)[0] and self.read():
            pass
        os.close(self.screen)
        printed, _ = self.process.communicate()
        return self.process.returncode, printed


@pytest.fixture(scope="module")
def searching(tmp_path_factory: pytest.TempPathFactory, hedgerow: Run) -> Path:
    """A table whose exact search takes minutes; a short one was made already, so that everything is compiled."""
    folder = tmp_path_factory.mktemp("hard")
    write_hard(folder, 1000, 30)
    assert hedgerow("anonymize", "hard.csv", "plan.yaml", "-o", "warm", "--budget", "50", cwd=folder).returncode == 0
    return folder


def start_searching(folder: Path, output: str) -> Terminal:
    terminal = Terminal(folder, "anonymize", "hard.csv", "plan.yaml", "-o", output)
    terminal.wait_for("searching")
    time.sleep(2)  # by then it is on its way
    assert terminal.process.poll() is None, terminal.seen[-400:]
    return terminal


def test_the_first_interrupt_ends_the_search_with_the_best_found(searching: Path, hedgerow: Run) -> None:
    terminal = start_searching(searching, "first")
    terminal.process.send_signal(signal.SIGINT)
    terminal.wait_for("ending the search with the best found so far; again to abort")
    code, printed = terminal.end()
    assert code == 0, terminal.seen[-400:]
    assert "not proven the most: none is above" in " ".join(printed.split())
    facts = json.loads((searching / "first" / "facts.json").read_text())
    assert facts["search"]["proven"] is False
    assert 0 < facts["score"] <= facts["search"]["bound"]
    assert hedgerow("verify", "first", "--original", "hard.csv", cwd=searching).returncode == 0


def test_the_second_interrupt_aborts_and_leaves_nothing(searching: Path) -> None:
    before = sorted(path.name for path in searching.iterdir())
    terminal = start_searching(searching, "second")
    terminal.process.send_signal(signal.SIGINT)
    terminal.wait_for("again to abort")
    terminal.process.send_signal(signal.SIGINT)
    code, printed = terminal.end()
    assert (code, printed) == (130, "")
    assert "interrupted; nothing was written" in terminal.seen
    assert sorted(path.name for path in searching.iterdir()) == before


def test_a_request_to_terminate_is_no_request_for_an_answer(searching: Path) -> None:
    before = sorted(path.name for path in searching.iterdir())
    terminal = start_searching(searching, "third")
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.end() == (130, "")
    assert sorted(path.name for path in searching.iterdir()) == before
